#include "passes/splat.h"

#include <cmath>
#include <complex>
#include <type_traits>

#include "base/for_dtype.h"
#include "ir/region.h"
#include "ops/broadcast.h"

namespace rondo::passes {

namespace {

// Threshold: Broadcasts and reshapes that are followed to a splat: compile time; other rewrites
// shorten the chains. Not measured.
constexpr int kLongestChain = 8;

template <class T>
bool element_is(T x, SplatValue value) {
  if constexpr (is_complex(dtype_of<T>)) {
    return element_is(x.real(), value) &&
           element_is(x.imag(), value == SplatValue::kNegativeZero ? SplatValue::kNegativeZero
                                                                   : SplatValue::kZero);
  } else if constexpr (std::is_same_v<T, bool>) {
    return value != SplatValue::kNegativeZero && x == (value != SplatValue::kZero);
  } else if constexpr (is_integer(dtype_of<T>)) {
    switch (value) {
      case SplatValue::kZero:
        return x == 0;
      case SplatValue::kNegativeZero:
        return false;
      case SplatValue::kOne:
        return x == 1;
      case SplatValue::kAllOnes:
        return x == static_cast<T>(-1);
    }
    return false;
  } else {
    const double wide = static_cast<double>(x);
    switch (value) {
      case SplatValue::kZero:
        return wide == 0 && !std::signbit(wide);
      case SplatValue::kNegativeZero:
        return wide == 0 && std::signbit(wide);
      case SplatValue::kOne:
        return wide == 1;
      case SplatValue::kAllOnes:
        return false;
    }
    return false;
  }
}

}  // namespace

Tensor splat_source(const Tensor& tensor) {
  const ir::Node* node = tensor.node();
  for (int i = 0; i < kLongestChain; i++) {
    if (ir::is_constant(node)) {
      const Literal& value = node->attrs<ir::ConstantAttributes>().value;
      return value.elements() > 0 && value.elements() <= ir::kCopiedConstantElements
                 ? Tensor::of(node)
                 : Tensor();
    }
    if (node->op != &ops::kBroadcastInDim && node->op != &ops::kReshape) return {};
    node = node->operands[0].node();
  }
  return {};
}

bool is_splat(const Tensor& tensor, SplatValue value) {
  const Tensor source = splat_source(tensor);
  if (source.empty()) return false;
  const Literal& literal = source.node()->attrs<ir::ConstantAttributes>().value;
  return for_any_dtype(literal.dtype(), [&]<class T>() {
    const T* elements = reinterpret_cast<const T*>(literal.bytes());
    for (std::int64_t i = 0; i < literal.elements(); i++) {
      if (!element_is(elements[i], value)) return false;
    }
    return true;
  });
}

}  // namespace rondo::passes
