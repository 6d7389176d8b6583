// vmap(f, {0, std::nullopt}), as it is written in Python.
#include <gtest/gtest.h>

#include <optional>

#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_values;

TEST(Vmap, TakesTheAxesAlone) {
  const auto f = [](Tensor x, Tensor y) { return sum(x) * y; };
  const Tensor rows = constant({{1.0f, 2.0f}, {3.0f, 4.0f}, {5.0f, 6.0f}});
  expect_values<float>(vmap(f, {0, std::nullopt})(rows, 10.0f), {3}, {30, 70, 110});
  expect_values<float>(vmap(f, {1, 0})(rows, constant({1.0f, 2.0f})), {2}, {9, 24});
  expect_values<float>(vmap([](Tensor v) { return sum(v); }, {1})(rows), {2}, {9, 12});
  expect_values<float>(vmap([](Tensor v) { return sum(v); }, {})(rows), {3}, {3, 7, 11});
  expect_values<float>(vmap([](Tensor v) { return v; }, {0}, 1)(rows), {2, 3}, {1, 3, 5, 2, 4, 6});
}

}  // namespace
}  // namespace rondo
