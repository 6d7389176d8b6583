// Cotangents while they are summed up: the backward pass comes to a value once for each of its
// uses.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// A cotangent that is zero but for a part of its array: that of a table of which a row was read.
/// It is added in place, so that it costs the part and not the array, however many there are.
struct CotangentPart {
  std::function<Tensor(const Tensor& sum)> add_to;  // the sum with the part added
  std::function<Tensor()> alone;                    // the part among zeros
  SourceLocation at;
};

/// The sum of the cotangents of one value. Parts wait for the first cotangent of the whole array
/// and are added to that.
class CotangentSum {
 public:
  CotangentSum() = default;
  /// Begins with what other uses have given.
  explicit CotangentSum(Tensor sum) : whole_(std::move(sum)) {}

  /// An empty Tensor is zero and adds nothing.
  void add(const Tensor& cotangent);
  void add(CotangentPart part);
  bool empty() const { return whole_.empty() && parts_.empty(); }
  /// Was anything added?
  bool changed() const { return changed_; }
  /// The sum, or an empty Tensor where there is none; nothing is left.
  Tensor take();

 private:
  Tensor whole_;
  std::vector<CotangentPart> parts_;  // none where there is a whole
  bool changed_ = false;
};

/// An array that a construct overwrites part by part, and that its backward pass has as it was.
struct RestoredArray {
  Tensor before;  // the construct's operand
  Tensor after;   // the construct's result
  Tensor again;   // equal to `before`, made in the backward pass from `after`
};

/// The sums of several values, those of the operands of a construct or the parameters of a region:
/// what a pullback adds to. Two of them may be one, where an operand stands twice.
class Cotangents {
 public:
  Cotangents() = default;
  /// Of `sums`, which must live as long.
  explicit Cotangents(std::span<CotangentSum> sums) {
    for (CotangentSum& sum : sums) sums_.push_back(&sum);
  }
  /// The next value's sum; null where its cotangent is not wanted, so that what is added is lost.
  void append(CotangentSum* sum) { sums_.push_back(sum); }
  std::size_t size() const { return sums_.size(); }
  CotangentSum* operator[](std::size_t i) const { return sums_[i]; }
  /// Those from value `first` on.
  Cotangents from(std::size_t first) const;
  /// The same, which tell what is restored to `list`. It must live as long.
  Cotangents telling(std::vector<RestoredArray>* list) const {
    Cotangents all = *this;
    all.restored_ = list;
    return all;
  }
  /// The same, which tell what is restored to whom `other` does.
  Cotangents telling_as(const Cotangents& other) const { return telling(other.restored_); }
  /// A backward pass has an array as it was: for the one around it, if it is asked.
  void tell(RestoredArray array) const {
    if (restored_) restored_->push_back(std::move(array));
  }

  bool is_zero(std::size_t i) const { return !sums_[i] || sums_[i]->empty(); }
  void add(std::size_t i, const Tensor& cotangent) const {
    if (sums_[i]) sums_[i]->add(cotangent);
  }
  void add(std::size_t i, CotangentPart part) const {
    if (sums_[i]) sums_[i]->add(std::move(part));
  }
  /// One cotangent for each value.
  void add_all(std::span<const Tensor> cotangents) const;
  /// The sum so far of value i, for a construct that goes on with it and adds the result: nothing
  /// is left. Zeros of the type where there is none.
  Tensor take(std::size_t i, const TensorType& type) const;

 private:
  std::vector<CotangentSum*> sums_;
  std::vector<RestoredArray>* restored_ = nullptr;
};

}  // namespace rondo::ir
