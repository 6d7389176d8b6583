#include "control_flow/index_form.h"

#include <algorithm>
#include <limits>

#include "base/for_dtype.h"
#include "control_flow/counted.h"
#include "ir/function_data.h"
#include "ops/elementwise.h"

namespace rondo::control_flow {

namespace {

using Form = std::optional<IndexForm>;

bool is_index(const TensorType& type) { return is_integer(type.dtype) && type.shape.rank() == 0; }

Form sum(const IndexForm& a, const IndexForm& b, std::int64_t times) {
  IndexForm c, scaled;
  if (__builtin_mul_overflow(b.offset, times, &scaled.offset) ||
      __builtin_mul_overflow(b.slope, times, &scaled.slope) ||
      __builtin_add_overflow(a.offset, scaled.offset, &c.offset) ||
      __builtin_add_overflow(a.slope, scaled.slope, &c.slope))
    return std::nullopt;
  return c;
}

struct Ends {
  std::int64_t least, largest;
};
/// Over all trips; nullopt if a value has more than 64 bits.
std::optional<Ends> ends(const IndexForm& form, std::int64_t trips) {
  std::int64_t way = 0, last = 0;
  if (__builtin_mul_overflow(form.slope, trips - 1, &way) ||
      __builtin_add_overflow(form.offset, way, &last))
    return std::nullopt;
  return Ends{std::min(form.offset, last), std::max(form.offset, last)};
}

}  // namespace

IndexForms::IndexForms(const Function& body, const Tensor& counter, IndexForm form,
                       std::int64_t trips)
    : trips_(trips) {
  forms_.emplace(counter.node(), form);
  for (const ir::Node* node : body.body()) {
    if (node->types.size() != 1 || !is_index(node->type())) continue;
    if (const Form made = checked(computed(*node), node->type().dtype)) forms_.emplace(node, *made);
  }
}

Form IndexForms::of(const Tensor& scalar) const {
  const auto found = forms_.find(scalar.node());
  if (found != forms_.end()) return found->second;
  if (!is_index(scalar.type()) || scalar.dtype() == DType::kU64) return std::nullopt;
  const std::optional<std::int64_t> value = static_bound(scalar);
  return value ? Form({*value, 0}) : std::nullopt;
}

Form IndexForms::checked(Form form, DType dtype) const {
  const std::optional<Ends> values = form ? ends(*form, trips_) : std::nullopt;
  if (!values) return std::nullopt;
  const bool fits = for_dtype(dtype, [&]<class T>() {
    if constexpr (std::is_same_v<T, bool> || !std::is_integral_v<T>)
      return false;
    else if constexpr (std::is_same_v<T, std::uint64_t>)
      return values->least >= 0;
    else
      return values->least >= std::int64_t{std::numeric_limits<T>::min()} &&
             values->largest <= std::int64_t{std::numeric_limits<T>::max()};
  });
  return fits ? form : std::nullopt;
}

std::optional<bool> IndexForms::decided(const Tensor& predicate) const {
  const ir::Node* const node = predicate.node();
  if (node->op != &ops::kCompare) return std::nullopt;
  const Form a = of(node->operands[0]), b = of(node->operands[1]);
  const Form difference = a && b ? sum(*a, *b, -1) : std::nullopt;
  const std::optional<Ends> values = difference ? ends(*difference, trips_) : std::nullopt;
  if (!values) return std::nullopt;
  const auto [least, largest] = *values;
  const auto when = [](bool always, bool never) -> std::optional<bool> {
    return always || never ? std::optional(always) : std::nullopt;
  };
  using enum ops::Direction;
  switch (node->attrs<ops::CompareAttributes>().direction) {
    case kLt:
      return when(largest < 0, least >= 0);
    case kLe:
      return when(largest <= 0, least > 0);
    case kGt:
      return when(least > 0, largest <= 0);
    case kGe:
      return when(least >= 0, largest < 0);
    case kEq:
      return when(least == 0 && largest == 0, least > 0 || largest < 0);
    case kNe:
      return when(least > 0 || largest < 0, least == 0 && largest == 0);
  }
  return std::nullopt;
}

Form IndexForms::computed(const ir::Node& node) const {
  const ir::Operands& x = node.operands;
  if (node.op == &ops::kSelect) {
    const std::optional<bool> first = decided(x[0]);
    return first ? of(x[*first ? 1 : 2]) : std::nullopt;
  }
  if (node.op == &ops::kConvert) return of(x[0]);
  if (node.op == &ops::kClamp) {
    const Form low = of(x[0]), value = of(x[1]), high = of(x[2]);
    if (!low || !value || !high || low->slope != 0 || high->slope != 0) return std::nullopt;
    const std::optional<Ends> values = ends(*value, trips_);
    return values && values->least >= low->offset && values->largest <= high->offset ? value
                                                                                     : std::nullopt;
  }
  if (x.size() != 2) return std::nullopt;
  const Form a = of(x[0]), b = of(x[1]);
  if (!a || !b) return std::nullopt;
  if (node.op == &ops::kAdd) return sum(*a, *b, 1);
  if (node.op == &ops::kSubtract) return sum(*a, *b, -1);
  if (node.op == &ops::kMultiply && b->slope == 0) return sum({}, *a, b->offset);
  if (node.op == &ops::kMultiply && a->slope == 0) return sum({}, *b, a->offset);
  return std::nullopt;
}

}  // namespace rondo::control_flow
