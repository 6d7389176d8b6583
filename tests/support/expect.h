// Shared by the tests: comparing tensors with plain C++ values, and errors with their texts.
#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <vector>

#include "rondo/rondo.h"

namespace rondo::testing {

/// Type and elements, exactly (NaN equals NaN, -0 equals 0).
template <class T>
void expect_values(const Literal& got, const Shape& shape, const std::vector<T>& want) {
  ASSERT_EQ(got.type(), (TensorType{dtype_of<T>, shape}));
  const auto data = got.data<T>();
  ASSERT_EQ(data.size(), want.size());
  for (std::size_t i = 0; i < want.size(); i++) {
    const T expected = want[i];
    if constexpr (std::is_floating_point_v<T>) {
      if (std::isnan(expected)) {
        EXPECT_TRUE(std::isnan(data[i])) << "element " << i << " is " << data[i];
        continue;
      }
    }
    EXPECT_EQ(data[i], expected) << "element " << i;
  }
}
template <class T>
void expect_values(const Tensor& got, const Shape& shape, const std::vector<T>& want) {
  expect_values(got.eval(), shape, want);
}
template <class T>
requires ScalarValue<T>
void expect_scalar(const Tensor& got, T want) {
  expect_values(got.eval(), Shape{}, std::vector<T>{want});
}

/// What a stopped run throws.
template <class E>
E caught(const Executable& program, const std::vector<Literal>& arguments,
         const RunOptions& options) {
  try {
    program.run(arguments, options);
  } catch (const E& error) {
    return error;
  }
  throw std::runtime_error("the run was not ended as expected");
}

/// Type exactly, elements within atol + rtol |want|; NaNs and infinities in the same positions.
template <class T>
void expect_close(const Literal& got, const Shape& shape, const std::vector<T>& want,
                  double rtol = 1e-6, double atol = 0) {
  ASSERT_EQ(got.type(), (TensorType{dtype_of<T>, shape}));
  const auto data = got.data<T>();
  ASSERT_EQ(data.size(), want.size());
  for (std::size_t i = 0; i < want.size(); i++) {
    const double x = static_cast<double>(data[i]), y = static_cast<double>(want[i]);
    if (std::isnan(y) || std::isinf(y)) {
      EXPECT_TRUE(std::isnan(y) ? std::isnan(x) : x == y)
          << "element " << i << ": " << x << ", expected " << y;
    } else {
      EXPECT_LE(std::abs(x - y), atol + rtol * std::abs(y))
          << "element " << i << ": " << x << ", expected " << y;
    }
  }
}
template <class T>
void expect_close(const Tensor& got, const Shape& shape, const std::vector<T>& want,
                  double rtol = 1e-6, double atol = 0) {
  expect_close(got.eval(), shape, want, rtol, atol);
}

/// Whether a message gives a remedy, on a separate line: a sentence, or code to write.
inline bool has_remedy(const std::string& message) {
  for (std::size_t at = message.find("\n  "); at != std::string::npos;
       at = message.find("\n  ", at + 1)) {
    if (message[at + 3] >= 'A' && message[at + 3] <= 'Z') return true;
  }
  return message.find(": write ") != std::string::npos;
}

/// `call` throws `Exception`, and its text has all the `parts`. It gives a remedy, unless the error
/// is a plugin's or Rondo's own.
template <class Exception = TraceError, class Call>
void expect_error(Call&& call, const std::vector<std::string>& parts) {
  try {
    call();
  } catch (const Exception& error) {
    for (const std::string& part : parts) {
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos)
          << "'" << part << "' is not in: " << error.what();
    }
    if (std::is_same_v<Exception, TraceError> || std::is_same_v<Exception, ExecutionError> ||
        std::is_same_v<Exception, ParseError>) {
      EXPECT_TRUE(has_remedy(error.what())) << "no remedy: " << error.what();
    }
    return;
  }
  ADD_FAILURE() << "nothing was thrown";
}

}  // namespace rondo::testing
