// Shared by the tests of the readers: running programs, and reading what was printed.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/rondo.h"

namespace rondo::testing {

inline std::vector<Literal> run(const Function& function, const std::vector<Literal>& arguments) {
  return compile(function).run(arguments);
}
inline Literal floats(const std::vector<float>& values, const Shape& shape) {
  return Literal::from(values, shape);
}
/// 0, 1, 2, ... in row-major order.
inline Literal iota_of(const Shape& shape) {
  std::vector<float> values(static_cast<std::size_t>(TensorType{DType::kF32, shape}.elements()));
  for (std::size_t i = 0; i < values.size(); i++) values[i] = static_cast<float>(i);
  return floats(values, shape);
}

/// What `print` writes is read as the same program: the same results, and the same text again.
template <class Print>
void expect_round_trip(const Function& program, const std::vector<Literal>& arguments, Print print,
                       Function (*parse)(std::string_view)) {
  const std::string text = print(program);
  const Function read = parse(text);
  EXPECT_EQ(read.params(), program.params());
  const std::string again = print(read);
  EXPECT_EQ(again, print(parse(again))) << text;
  const std::vector<Literal> expected = run(program, arguments), got = run(read, arguments);
  ASSERT_EQ(got.size(), expected.size());
  for (std::size_t i = 0; i < got.size(); i++)
    EXPECT_TRUE(got[i].identical(expected[i])) << text << got[i] << expected[i];
}

}  // namespace rondo::testing
