// Shared by the tests of the passes: counting nodes, and running a program with and without the
// passes.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/for_dtype.h"
#include "ir/node.h"
#include "passes/optimize.h"
#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo::testing {

/// How often an op occurs in a program, at any depth.
inline std::int64_t count(const Function& function, const std::string& op) {
  const FunctionStats stats = function.stats();
  const auto found = stats.ops.find(op);
  return found == stats.ops.end() ? 0 : found->second;
}

/// All nodes but constants, at any depth.
inline std::int64_t count_computed(const Function& function) {
  return function.stats().nodes - count(function, "constant");
}

/// The first node of an op in the function itself.
inline const ir::Node* find_node(const Function& function, const std::string& op) {
  for (const ir::Node* node : function.body()) {
    if (node->op->name == op) return node;
  }
  return nullptr;
}

/// Equal bit by bit, except for the bits of NaN.
inline bool same_values(const Literal& a, const Literal& b) {
  if (a.type() != b.type()) return false;
  return for_dtype(a.dtype(), [&]<class T>() {
    const T* x = reinterpret_cast<const T*>(a.bytes());
    const T* y = reinterpret_cast<const T*>(b.bytes());
    auto is_nan = [](const T& value) {
      if constexpr (is_complex(dtype_of<T>))
        return std::isnan(value.real()) || std::isnan(value.imag());
      else if constexpr (is_floating(dtype_of<T>))
        return std::isnan(static_cast<double>(value));
      else
        return false;
    };
    for (std::int64_t i = 0; i < a.elements(); i++) {
      // By their bytes: zeros of either sign differ. NOLINTNEXTLINE(bugprone-suspicious-memory*)
      if (std::memcmp(&x[i], &y[i], sizeof(T)) != 0 && !(is_nan(x[i]) && is_nan(y[i])))
        return false;
    }
    return true;
  });
}

/// Runs the program as it is and after the passes, and expects the same values. Returns the
/// optimised program.
inline Function expect_same_results(const Function& function,
                                    const std::vector<Literal>& arguments) {
  Function optimized = passes::optimize(function);
  EXPECT_NO_THROW(optimized.verify()) << function.str() << "\nbecame\n" << optimized.str();
  EXPECT_EQ(optimized.params(), function.params());
  EXPECT_EQ(optimized.results(), function.results());
  const std::vector<Literal> plain =
      compile(function, {.optimize = false, .contract = false}).run(arguments);
  const std::vector<Literal> fast =
      compile(optimized, {.optimize = false, .contract = false}).run(arguments);
  EXPECT_EQ(plain.size(), fast.size());
  for (std::size_t i = 0; i < std::min(plain.size(), fast.size()); i++) {
    EXPECT_TRUE(same_values(plain[i], fast[i])) << "result " << i << " is " << plain[i].str()
                                                << ", after the passes " << fast[i].str() << "\n"
                                                << function.str() << "\nbecame\n"
                                                << optimized.str();
  }
  return optimized;
}

/// Difficult values of a dtype, as many as fill a vector of kHardValues.
inline constexpr std::int64_t kHardValues = 12;
inline Literal hard_values(DType dtype, std::int64_t shift = 0) {
  return for_dtype(dtype, [&]<class T>() {
    std::vector<T> values;
    for (std::int64_t i = 0; i < kHardValues; i++) {
      const std::int64_t k = (i + shift) % kHardValues;
      if constexpr (std::is_same_v<T, bool>) {
        values.push_back(k % 2 == 0);
      } else if constexpr (std::is_integral_v<T>) {
        const T all[] = {0,
                         1,
                         static_cast<T>(-1),
                         2,
                         std::numeric_limits<T>::min(),
                         std::numeric_limits<T>::max(),
                         7,
                         100,
                         static_cast<T>(-100),
                         3,
                         static_cast<T>(-3),
                         64};
        values.push_back(all[k]);
      } else {
        const double infinity = std::numeric_limits<double>::infinity(),
                     nan = std::numeric_limits<double>::quiet_NaN();
        const double all[] = {0.0, -0.0, 1.0,  -1.0, infinity, -infinity,
                              nan, 0.5,  -2.5, 1e30, -1e-40,   3.0};
        if constexpr (is_complex(dtype_of<T>)) {
          using Part = typename T::value_type;
          values.push_back(
              T(static_cast<Part>(all[k]), static_cast<Part>(all[(k + 5) % kHardValues])));
        } else if constexpr (std::is_floating_point_v<T>) {
          values.push_back(static_cast<T>(all[k]));
        } else {
          values.push_back(T(static_cast<float>(all[k])));
        }
      }
    }
    return Literal::from(values, {kHardValues});
  });
}

}  // namespace rondo::testing
