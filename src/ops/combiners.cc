#include "ops/combiners.h"

#include <array>
#include <atomic>
#include <limits>
#include <memory>
#include <mutex>

#include "base/small_format.h"
#include "ir/function_data.h"
#include "ir/region.h"
#include "ops/elementwise.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace {

constexpr std::size_t kCombinerCount = static_cast<std::size_t>(Combiner::kOr) + 1;

/// The number at most, or at least, equal to all others.
template <class T>
T extreme_of(bool lowest) {
  constexpr DType kDType = dtype_of<T>;
  if constexpr (is_pred(kDType)) {
    return !lowest;
  } else if constexpr (is_integer(kDType)) {
    const auto [least, greatest] = integer_limits(kDType);
    return lowest ? static_cast<T>(least) : static_cast<T>(greatest);
  } else if constexpr (is_small(kDType)) {
    constexpr SmallFormat kFormat = small_format(kDType);
    const int most = kFormat.specials == SmallFormat::Specials::kInfinity
                         ? kFormat.infinity()
                         : kFormat.greatest_finite();
    return T::from_bits(static_cast<std::uint8_t>(most | (lowest ? 1 << kFormat.sign_bit() : 0)));
  } else {
    constexpr float kInfinity = std::numeric_limits<float>::infinity();
    return T(lowest ? -kInfinity : kInfinity);
  }
}

}  // namespace

Tensor combined(Combiner combiner, const Tensor& a, const Tensor& b, SourceLocation at) {
  switch (combiner) {
    case Combiner::kAdd:
      return Operand(a, at) + Operand(b, at);
    case Combiner::kMultiply:
      return Operand(a, at) * Operand(b, at);
    case Combiner::kMaximum:
      return maximum({a, at}, {b, at});
    case Combiner::kMinimum:
      return minimum({a, at}, {b, at});
    case Combiner::kAnd:
      return Operand(a, at) & Operand(b, at);
    case Combiner::kOr:
      return Operand(a, at) | Operand(b, at);
    case Combiner::kOther:
      break;
  }
  throw InternalError("a combiner that does not exist");
}

std::string_view combiner_name(Combiner combiner) {
  return field_words(combiner)[static_cast<std::size_t>(combiner)];
}

std::span<const std::string_view> field_words(Combiner) {
  static constexpr std::array<std::string_view, kCombinerCount> kNames{
      "combine", "add", "multiply", "maximum", "minimum", "and", "or"};
  return kNames;
}

const Function& combiner_region(Combiner combiner, DType dtype) {
  // Kept for good: regions may be asked for while other static objects are destroyed.
  static auto& table =
      *new std::array<std::atomic<const Function*>, kCombinerCount * kDTypeCount>{};
  static auto& mutex = *new std::mutex;
  std::atomic<const Function*>& place =
      table[static_cast<std::size_t>(combiner) * kDTypeCount + static_cast<std::size_t>(dtype)];
  if (const Function* made = place.load(std::memory_order_acquire)) return *made;
  const std::lock_guard lock(mutex);
  if (const Function* made = place.load(std::memory_order_relaxed)) return *made;
  const ir::LocationScope nowhere{SourceLocation()};  // it has many users
  const TensorType scalar{dtype, {}};
  const std::string name = fmt::format("{}_{}", combiner_name(combiner), dtype_name(dtype));
  const Function* made = new Function(ir::trace_closed(name, name, std::array{scalar, scalar},
                                                       [&](std::span<const Tensor> p) {
                                                         return std::vector<Tensor>{
                                                             combined(combiner, p[0], p[1], {})};
                                                       },
                                                       {}));
  FunctionAccess::notes(*made).add(FunctionNotes::kPermanent);
  place.store(made, std::memory_order_release);
  return *made;
}

Combiner known_combiner(const Function& region) {
  if (region.parameters().size() != 2 || region.body().size() != 1 || region.outputs().size() != 1)
    return Combiner::kOther;
  const Node* node = region.body()[0];
  const Tensor &a = region.parameters()[0], &b = region.parameters()[1];
  if (node->operands.size() != 2 || node->types.size() != 1 || region.outputs()[0].node() != node)
    return Combiner::kOther;
  const bool straight = node->operand(0).same_as(a) && node->operand(1).same_as(b);
  const bool swapped = node->operand(0).same_as(b) && node->operand(1).same_as(a);
  if ((!straight && !swapped) || a.type() != node->type() || b.type() != node->type())
    return Combiner::kOther;
  if (node->op == &kAdd) return Combiner::kAdd;
  if (node->op == &kMultiply) return Combiner::kMultiply;
  if (node->op == &kMaximum) return Combiner::kMaximum;
  if (node->op == &kMinimum) return Combiner::kMinimum;
  if (node->op == &kAnd) return Combiner::kAnd;
  if (node->op == &kOr) return Combiner::kOr;
  return Combiner::kOther;
}

Literal combiner_identity(Combiner combiner, DType dtype) {
  return for_any_dtype(dtype, [&]<class T>() -> Literal {
    switch (combiner) {
      case Combiner::kAdd:
        return Literal::scalar(T(0));
      case Combiner::kMultiply:
        return Literal::scalar(T(1));
      case Combiner::kMaximum:
        if constexpr (!kIsComplex<T>) return Literal::scalar(extreme_of<T>(true));
        break;
      case Combiner::kMinimum:
        if constexpr (!kIsComplex<T>) return Literal::scalar(extreme_of<T>(false));
        break;
      case Combiner::kAnd:
        if constexpr (std::is_same_v<T, bool>)
          return Literal::scalar(true);
        else if constexpr (is_integer(dtype_of<T>))
          return Literal::scalar(static_cast<T>(-1));
        break;
      case Combiner::kOr:
        if constexpr (is_pred(dtype_of<T>) || is_integer(dtype_of<T>)) return Literal::scalar(T(0));
        break;
      case Combiner::kOther:
        break;
    }
    throw InternalError("a combiner that the dtype does not have");
  });
}

}  // namespace rondo::ops
