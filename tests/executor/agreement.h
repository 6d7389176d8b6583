// Compares a program on the compiled executor with the reference.
#pragma once

#include <gtest/gtest.h>

#include <bit>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "rondo/rondo.h"
#include "support/lowered.h"

namespace rondo::testing {

/// first, first + step, …
inline Literal ramp(const Shape& shape, float step, float first) {
  std::vector<float> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); i++) values[i] = first + step * static_cast<float>(i);
  return Literal::from(values, shape);
}

/// Numbers from -0.5 to 0.5 without order.
template <class T>
Literal uneven(const Shape& shape) {
  Literal x = Literal::zeros({dtype_of<T>, shape});
  T next = T(0.37);
  for (T& element : x.mutable_data<T>()) {
    next = T(3.9) * next * (1 - next);
    element = next - T(0.5);
  }
  return x;
}

/// The distance of two floats in units of the last place; huge if exactly one is NaN.
template <class T>
double ulps(T a, T b) {
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b) ? 0 : INFINITY;
  if (a == b) return 0;
  if (std::isinf(a) || std::isinf(b)) return INFINITY;
  const T scale = std::max(std::abs(a), std::abs(b));
  const T unit = std::nextafter(scale, std::numeric_limits<T>::infinity()) - scale;
  return static_cast<double>(std::abs(a - b) / unit);
}

/// Equal bits (any NaN for a NaN).
inline void expect_equal(const Literal& got, const Literal& want) {
  ASSERT_EQ(got.type(), want.type());
  if (got.identical(want)) return;
  const auto compare = [&]<class T>(T) {
    using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
    const auto a = got.data<T>(), b = want.data<T>();
    for (std::size_t i = 0; i < a.size(); i++) {
      const bool same = std::bit_cast<Bits>(a[i]) == std::bit_cast<Bits>(b[i]) ||
                        (std::isnan(a[i]) && std::isnan(b[i]));
      ASSERT_TRUE(same) << "element " << i << ": " << a[i] << ", the reference has " << b[i];
    }
  };
  if (got.dtype() == DType::kF32) return compare(float());
  if (got.dtype() == DType::kF64) return compare(double());
  FAIL() << got.str() << "\nthe reference has\n" << want.str();
}

/// Whether the program has loops with a predicate, and all of them are vectorized.
inline bool runs_by_lane(const Function& function) { return Lowered(function).is_vectorized(); }

/// Whether the program calls kernels rather than inlining their loops.
inline bool calls_kernels(const Function& function) { return Lowered(function).kernel_calls() > 0; }

/// Expects that the program's loops copy no memory.
inline void expect_no_copies(const Function& function) {
  const Lowered program(function);
  EXPECT_EQ(program.count_in_loops(lower::Opcode::kCopy), 0) << program;
}

/// The results of bytecode and native code on `arguments`, compared bit by bit with the
/// reference's.
inline std::vector<Literal> expect_agreement(const Function& function,
                                             const std::vector<Literal>& arguments) {
  const std::vector<Literal> want =
      compile(function, {.executor = Executor::kReference}).run(arguments);
  std::vector<Literal> got;
  for (Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable compiled = compile(function, {.contract = false, .executor = executor});
    got = compiled.run(arguments);
    EXPECT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < std::min(got.size(), want.size()); i++) {
      SCOPED_TRACE(::testing::Message() << "result " << i << " of\n" << compiled.program());
      expect_equal(got[i], want[i]);
    }
  }
  return got;
}

}  // namespace rondo::testing
