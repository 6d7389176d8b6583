#include "ir/cotangents.h"

#include <utility>

#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ir {

void CotangentSum::add(const Tensor& cotangent) {
  if (cotangent.empty()) return;
  changed_ = true;
  if (!whole_.empty()) {
    whole_ = whole_ + cotangent;
    return;
  }
  whole_ = cotangent;
  for (const CotangentPart& part : std::exchange(parts_, {})) add(part);
}

void CotangentSum::add(CotangentPart part) {
  changed_ = true;
  if (whole_.empty()) {
    parts_.push_back(std::move(part));
    return;
  }
  const LocationScope scope(part.at);
  whole_ = part.add_to(whole_);
}

Tensor CotangentSum::take() {
  if (whole_.empty() && !parts_.empty()) {
    const CotangentPart first = std::move(parts_.front());
    parts_.erase(parts_.begin());
    const LocationScope scope(first.at);
    add(first.alone());
  }
  return std::exchange(whole_, {});
}

Cotangents Cotangents::from(std::size_t first) const {
  Cotangents rest;
  rest.restored_ = restored_;
  rest.sums_.assign(sums_.begin() + static_cast<std::ptrdiff_t>(first), sums_.end());
  return rest;
}

void Cotangents::add_all(std::span<const Tensor> cotangents) const {
  for (std::size_t i = 0; i < cotangents.size(); i++) add(i, cotangents[i]);
}

Tensor Cotangents::take(std::size_t i, const TensorType& type) const {
  Tensor sum = sums_[i] ? sums_[i]->take() : Tensor();
  return sum.empty() ? zeros(type) : sum;
}

}  // namespace rondo::ir
