// The value handle of traced and lazy programs, and its operators.
#pragma once

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iosfwd>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/array_adaptor.h"
#include "rondo/detail/is_numbers.h"
#include "rondo/detail/reference_count.h"
#include "rondo/error.h"
#include "rondo/literal.h"
#include "rondo/type.h"

namespace rondo {

namespace ir {
struct Node;
class KnownValue;
}  // namespace ir

/// C++ values that convert to tensors implicitly: arithmetic types and std::complex, float16,
/// bfloat16, SmallNumber.
template <class T>
concept ScalarValue = HostScalar<std::remove_cvref_t<T>>;

/// A C++ scalar that becomes a tensor. Exactly one of the members is meaningful, by dtype.
struct Scalar {
  DType dtype;
  std::int64_t integer = 0;  // pred and integers; the bits of u64
  double real = 0;           // floats, and the real part
  double imaginary = 0;

  template <ScalarValue T>
  static Scalar of(const T& value) {
    Scalar s{dtype_of<T>};
    if constexpr (std::is_integral_v<T>) {
      s.integer = static_cast<std::int64_t>(value);
    } else if constexpr (is_integer(dtype_of<T>)) {
      s.integer = static_cast<int>(value);
    } else if constexpr (is_complex(dtype_of<T>)) {
      s.real = value.real();
      s.imaginary = value.imag();
    } else {
      s.real = static_cast<double>(value);
    }
    return s;
  }
};

/// A handle to a value: a node of the program being recorded and the number of its result. Copies
/// share the node.
///
/// Outside a traced function a tensor is lazy: ops on it record a graph, and eval() runs it.
/// Inside, it is a value that is known only when the traced program runs. A default-constructed
/// tensor is empty; using it throws TraceError.
class[[RONDO_VISIBLE nodiscard(
    "rondo: no op changes a tensor, and what nothing uses does not run: use the result")]] Tensor {
 public:
  Tensor() noexcept = default;
  /// A scalar of the C++ type's dtype: `Tensor(1)` is s32[], `Tensor(2.5f)` f32[].
  template <ScalarValue T>
  Tensor(const T& scalar, SourceLocation at = SourceLocation::current())
      : Tensor(from_scalar(Scalar::of(scalar), at)) {}
  Tensor(const Literal& value, SourceLocation at = SourceLocation::current());
  /// An array of another library, such as an Eigen matrix (rondo/array_adaptor.h): a copy.
  template <AdaptedArray T>
  Tensor(const T& array, SourceLocation at = SourceLocation::current())
      : Tensor(ArrayAdaptor<T>::literal(array), at) {}
  Tensor(std::nullptr_t) = delete;
  // clang-format off
  template <class T, detail::Why kWhy = "rondo: a pointer is no tensor; rondo::constant(v) makes one of a C array or a std::vector v"> Tensor(T*) = delete;
  template <class T, detail::Why kWhy = "rondo: write rondo::constant(v) to make a tensor of the numbers in v"> requires(detail::kIsNumbers<T>) Tensor(const T&) = delete;
  template <ScalarValue A, ScalarValue B, detail::Why kWhy = "rondo: braces alone are no array: write Tensor x = rondo::constant({1.0f, 2.0f})", ScalarValue... More> Tensor(const A&, const B&, const More&...) = delete;
  template <class T, detail::Why kWhy = "rondo: a Tensor has no value while it is traced; outside a trace ask for it: x.item<float>() of a scalar, x.eval().data<float>() of all elements"> requires(std::is_arithmetic_v<T> && !std::is_same_v<T, bool>) explicit operator T() const = delete;
  // clang-format on

  Tensor(const Tensor& other) noexcept
      : held_(other.held_), result_(other.result_), scalar_(other.scalar_) {
    if (held_) detail::add_reference(counted(held_));
  }
  Tensor(Tensor && other) noexcept
      : held_(std::exchange(other.held_, 0)), result_(other.result_), scalar_(other.scalar_) {}
  Tensor& operator=(const Tensor& other)& noexcept { return *this = Tensor(other); }
  Tensor& operator=(Tensor&& other)& noexcept {
    Tensor taken(std::move(other));
    std::swap(held_, taken.held_);
    std::swap(result_, taken.result_);
    std::swap(scalar_, taken.scalar_);
    return *this;
  }
  // clang-format off
  template <class T, detail::Why kWhy = "rondo: this assigns to a copy and changes nothing; for a row write x = rondo::update(x, i, row)"> void operator=(T&&) && = delete;
  // clang-format on
  ~Tensor() {
    // clang-analyzer takes a value that was moved into a std::tuple for uninitialized.
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.Branch)
    if (held_ && detail::drop_reference(counted(held_))) destroy(held_);
  }

  // By value if the tensor is a temporary, which may be destroyed after the line.
  const TensorType& type() const&;
  TensorType type()&& { return std::as_const(*this).type(); }
  const Shape& shape() const& { return type().shape; }
  Shape shape()&& { return std::as_const(*this).type().shape; }
  DType dtype() const { return type().dtype; }
  std::int64_t rank() const { return shape().rank(); }
  /// The size of an axis; negative axes count from the end. Throws TraceError if it is out of
  /// range.
  std::int64_t dim(std::int64_t axis, SourceLocation at = SourceLocation::current()) const;
  bool empty() const noexcept { return held_ == 0; }

  /// Computes the value with all that it depends on. Throws TraceError inside a traced function,
  /// where there is no value yet.
  Literal eval(SourceLocation at = SourceLocation::current()) const;
  /// The value as an array of another library: `Eigen::VectorXf y = f(x);`. Throws TraceError if
  /// the dtype or shape is not that of T, and inside a traced function.
  template <AdaptedResult T>
  operator T() const {
    return ArrayAdaptor<T>::from(value_for("a conversion to an array"));
  }
  /// eval() for what `user` names in errors.
  Literal value_for(const char* user, SourceLocation at = {}) const;
  /// eval() of a scalar. Throws Error if it is no scalar of dtype T.
  template <ScalarValue T>
  T item(SourceLocation at = SourceLocation::current()) const {
    return eval(at).template item<T>();
  }

  /// Row `i` of axis 0: an int (negative counts from the end; out of range throws) or an integer
  /// scalar tensor (clamped).
  Tensor operator[](const class Operand& index) const;

  // clang-format off
  explicit operator bool() const = delete;  // a Tensor has no value while it is traced: choose with rondo::where, rondo::cond or rondo::while_loop; outside a trace, ask for item<bool>(). The greater of two is rondo::maximum(a, b), the lesser rondo::minimum(a, b), and for std::clamp there is rondo::clamp(lo, x, hi)
  // clang-format on

  Tensor& operator+=(const class Operand& other)&;
  Tensor& operator-=(const class Operand& other)&;
  Tensor& operator*=(const class Operand& other)&;
  Tensor& operator/=(const class Operand& other)&;
  // clang-format off
  template <class T, detail::Why kWhy = "rondo: this changes a copy only; for a row write x = rondo::update(x, i, row) with row = x[i] + v"> void operator+=(const T&) && = delete;
  template <class T, detail::Why kWhy = "rondo: this changes a copy only; for a row write x = rondo::update(x, i, row) with row = x[i] - v"> void operator-=(const T&) && = delete;
  template <class T, detail::Why kWhy = "rondo: this changes a copy only; for a row write x = rondo::update(x, i, row) with row = x[i] * v"> void operator*=(const T&) && = delete;
  template <class T, detail::Why kWhy = "rondo: this changes a copy only; for a row write x = rondo::update(x, i, row) with row = x[i] / v"> void operator/=(const T&) && = delete;
  // clang-format on

  /// The node that computes the value, for code that walks programs; null when empty. Creates the
  /// node of a value that has none yet.
  const ir::Node* node() const {
    return held_ & kIsValue ? node_of_value() : reinterpret_cast<const ir::Node*>(held_);
  }
  /// The value of a tensor that was created with its value; null for any other.
  const ir::KnownValue* value() const noexcept {
    return held_ & kIsValue ? reinterpret_cast<const ir::KnownValue*>(held_ ^ kIsValue) : nullptr;
  }
  std::uint32_t result() const noexcept { return result_; }
  /// Created from a C++ scalar and not used in an op: it takes the dtype that the context expects.
  bool is_scalar_literal() const noexcept { return scalar_; }
  /// A handle to result `result` of `node`.
  static Tensor of(const ir::Node* node, std::uint32_t result = 0) noexcept {
    Tensor t = adopt(node);
    t.result_ = result;
    detail::add_reference(counted(t.held_));
    return t;
  }
  /// The same for a new node or value; takes ownership of its first count.
  static Tensor adopt(const ir::Node* node) noexcept {
    Tensor t;
    t.held_ = reinterpret_cast<std::uintptr_t>(node);
    return t;
  }
  static Tensor adopt(const ir::KnownValue* value) noexcept {
    Tensor t;
    t.held_ = reinterpret_cast<std::uintptr_t>(value) | kIsValue;
    return t;
  }
  bool same_as(const Tensor& other) const noexcept {
    if (held_ != other.held_) return ((held_ | other.held_) & kIsValue) && is_same_constant(other);
    return result_ == other.result_;
  }

 private:
  static constexpr std::uintptr_t kIsValue = 1;

  static Tensor from_scalar(const Scalar& value, SourceLocation at);
  /// Both kinds of objects begin with their count.
  static std::atomic<std::uint32_t>& counted(std::uintptr_t held) noexcept {
    // NOLINTNEXTLINE(clang-analyzer-core.uninitialized.UndefReturn): no handle holds null here
    return reinterpret_cast<const detail::Counted*>(held & ~kIsValue)->references;
  }
  static void destroy(std::uintptr_t held) noexcept;
  const ir::Node* node_of_value() const;
  bool is_same_constant(const Tensor& other) const noexcept;

  std::uintptr_t held_ = 0;  // a node; or a value, plus kIsValue
  std::uint32_t result_ = 0;
  bool scalar_ = false;
};

/// The argument type of ops: a tensor, a literal, or a C++ scalar (which takes the dtype of the
/// tensor operand), with the line of the call. Converts implicitly; exists only for the call.
class Operand {
 public:
  Operand(const Tensor& tensor, SourceLocation at = SourceLocation::current())
      : tensor_(&tensor), at_(at) {}
  Operand(const Literal& value, SourceLocation at = SourceLocation::current())
      : owned_(value, at), tensor_(&owned_), at_(at) {}
  template <ScalarValue T>
  Operand(const T& value, SourceLocation at = SourceLocation::current())
      : scalar_(Scalar::of(value)), at_(at) {}
  // clang-format off
  template <class T, detail::Why kWhy = "rondo: a pointer is no tensor; rondo::constant(v) makes one of a C array or a std::vector v"> Operand(T*) = delete;
  template <class T, detail::Why kWhy = "rondo: write rondo::constant(v) to make a tensor of the numbers in v"> requires(detail::kIsNumbers<T>) Operand(const T&) = delete;
  // Products of tensors are element by element: matmul(Tensor(matrix), x) says what is meant.
  template <AdaptedArray T> Operand(const T&) = delete;
  // clang-format on
  Operand(const Operand&) = delete;
  Operand& operator=(const Operand&) = delete;

  bool is_scalar() const noexcept { return tensor_ == nullptr; }
  const Scalar& scalar() const noexcept { return scalar_; }
  /// The tensor; only if !is_scalar().
  const Tensor& tensor() const noexcept { return *tensor_; }
  /// The tensor, or the scalar as a tensor of its C++ type's dtype.
  RONDO_API Tensor any() const;
  /// The tensor, or the scalar converted exactly to `dtype`. Throws TraceError if that is inexact.
  RONDO_API Tensor as(DType dtype) const;
  const SourceLocation& at() const noexcept { return at_; }

 private:
  Tensor owned_;
  const Tensor* tensor_ = nullptr;
  Scalar scalar_{DType::kPred};
  SourceLocation at_;
};

// Elementwise, with NumPy broadcasting. Operand dtypes must be equal; a C++ scalar takes the
// tensor's dtype. All throw TraceError on dtypes that differ or do not fit the operator, on shapes
// that do not broadcast, and on a scalar that the tensor's dtype cannot represent.
/// The sum; integers wrap, for pred it is `or`. Any dtype, which is the result's. Differentiable in
/// both.
RONDO_API Tensor operator+(const Operand& a, const Operand& b);
/// The difference; integers wrap. Integers, floats and complex numbers. Differentiable in both.
RONDO_API Tensor operator-(const Operand& a, const Operand& b);
/// The product, element by element; integers wrap, for pred it is `and`. Any dtype. Differentiable
/// in both. The product of matrices is matmul.
RONDO_API Tensor operator*(const Operand& a, const Operand& b);
/// The quotient. Integers truncate towards zero; x / 0 is -1 (all ones unsigned), as in XLA. Throws
/// TraceError for pred. Differentiable in both.
RONDO_API Tensor operator/(const Operand& a, const Operand& b);
/// The remainder of a division that truncates, with the sign of the dividend; integer x % 0 is x,
/// floating NaN. Integers and floats. Differentiable in both: by a it is 1. mod has the divisor's
/// sign.
RONDO_API Tensor operator%(const Operand& a, const Operand& b);
/// The and of the bits of integers, or of preds; of no other dtypes. The result has no derivative.
RONDO_API Tensor operator&(const Operand& a, const Operand& b);
/// The or of the bits of integers, or of preds; of no other dtypes. The result has no derivative.
RONDO_API Tensor operator|(const Operand& a, const Operand& b);
/// The exclusive or of the bits of integers, or of preds; of no other dtypes. The result has no
/// derivative.
RONDO_API Tensor operator^(const Operand& a, const Operand& b);
/// The bits of integers shifted to the left; 0 for shifts by the width or more, or negative ones.
RONDO_API Tensor operator<<(const Operand& a, const Operand& b);
/// The bits of integers shifted to the right: copies of the sign enter for signed dtypes, zeros for
/// unsigned ones. Shifts by the width or more, or negative ones, leave only those.
RONDO_API Tensor operator>>(const Operand& a, const Operand& b);
// Comparisons return pred. With NaN all but != are false.
/// pred: whether a is less than b. Any dtype, false before true. Complex numbers are compared by
/// their real and then by their imaginary parts.
RONDO_API Tensor operator<(const Operand& a, const Operand& b);
/// pred: whether a is less than b or equal to it. Not the negation of a > b if one is NaN.
RONDO_API Tensor operator<=(const Operand& a, const Operand& b);
/// pred: whether a is greater than b; the same as b < a.
RONDO_API Tensor operator>(const Operand& a, const Operand& b);
/// pred: whether a is greater than b or equal to it. Not the negation of a < b if one is NaN.
RONDO_API Tensor operator>=(const Operand& a, const Operand& b);
/// pred: whether the elements are equal, one result for each. Any dtype. +0 equals -0; NaN equals
/// nothing.
RONDO_API Tensor operator==(const Operand& a, const Operand& b);
/// pred: whether the elements differ: the negation of ==, so true for NaN.
RONDO_API Tensor operator!=(const Operand& a, const Operand& b);
RONDO_API Tensor operator-(const Operand& x);
RONDO_API Tensor operator+(const Operand& x);
/// All bits of integers inverted; logical not of a pred.
RONDO_API Tensor operator~(const Operand& x);
/// Logical not of a pred.
RONDO_API Tensor operator!(const Operand& x);
/// The same: an exact match, because the built-in `!` (through the deleted conversion to bool) is
/// as good as one through Operand.
inline Tensor operator!(const Tensor& x) { return !Operand(x, SourceLocation{}); }
// && and || would have to know their left side before they look at the right one.
// clang-format off
template <class A, class B, detail::Why kWhy = "rondo: combine preds with & in place of &&: (a < x) & (x < b)"> requires(std::is_same_v<A, Tensor> || std::is_same_v<B, Tensor>) void operator&&(const A&, const B&) = delete;
template <class A, class B, detail::Why kWhy = "rondo: combine preds with | in place of ||: (x < a) | (b < x)"> requires(std::is_same_v<A, Tensor> || std::is_same_v<B, Tensor>) void operator||(const A&, const B&) = delete;
// clang-format on

inline Tensor& Tensor::operator+=(const Operand& other) & {
  return *this = Operand(*this, other.at()) + other;
}
inline Tensor& Tensor::operator-=(const Operand& other) & {
  return *this = Operand(*this, other.at()) - other;
}
inline Tensor& Tensor::operator*=(const Operand& other) & {
  return *this = Operand(*this, other.at()) * other;
}
inline Tensor& Tensor::operator/=(const Operand& other) & {
  return *this = Operand(*this, other.at()) / other;
}

/// Evaluates a lazy tensor and prints type and elements; prints the type and name of a traced one.
RONDO_API std::ostream& operator<<(std::ostream& out, const Tensor& tensor);

}  // namespace rondo
