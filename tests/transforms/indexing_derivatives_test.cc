// Derivatives of gather and scatter, with indices that are repeated or out of range.
#include <gtest/gtest.h>

#include "ir/region.h"
#include "ops/scatter.h"
#include "support/expect.h"
#include "transforms/derivative_rows.h"

namespace rondo {
namespace {

using testing::bent;
using testing::derivative_error;
using testing::expect_error;
using testing::expect_values;
using testing::Many;
using testing::random_array;
using testing::weighed;
using testing::Windows;

class WindowDerivatives : public ::testing::TestWithParam<Windows> {
 protected:
  const Windows& row() const { return GetParam(); }
  Tensor indices() const { return constant(row().indices); }

  template <class Combine>
  void check_scatter(Combine combine, DType dtype = DType::kF64) const {
    const auto f = [&](const Many& x) {
      return Many{scatter(x[0], indices(), x[1], row().dims, combine)};
    };
    const std::vector<Literal> at{random_array({dtype, row().array}, 1),
                                  random_array({dtype, row().windows}, 2)};
    EXPECT_EQ(derivative_error(bent(f), at), "");
  }
};

TEST_P(WindowDerivatives, OfGather) {
  const auto f = [&](const Many& x) {
    return Many{gather(x[0], indices(), row().gather_dims(), row().sizes)};
  };
  EXPECT_EQ(derivative_error(bent(f), {random_array({DType::kF64, row().array}, 1)}), "");
  EXPECT_EQ(derivative_error(bent(f), {random_array({DType::kC128, row().array}, 1)}), "");
}

TEST_P(WindowDerivatives, OfScatterThatAdds) {
  const auto add = [](const Tensor& a, const Tensor& b) { return a + b; };
  check_scatter(add);
  check_scatter(add, DType::kC128);
}
TEST_P(WindowDerivatives, OfScatterThatOverwrites) {
  check_scatter([](const Tensor&, const Tensor& b) { return b; });
}
TEST_P(WindowDerivatives, OfScatterThatTakesTheMaximum) {
  check_scatter([](const Tensor& a, const Tensor& b) { return maximum(a, b); });
}
TEST_P(WindowDerivatives, OfScatterThatTakesTheMinimum) {
  check_scatter([](const Tensor& a, const Tensor& b) { return minimum(a, b); });
}
TEST_P(WindowDerivatives, OfScatterThatMultiplies) {
  check_scatter([](const Tensor& a, const Tensor& b) { return a * b; });
}
TEST_P(WindowDerivatives, OfScatterWithAnotherCombiner) {
  check_scatter([](const Tensor& a, const Tensor& b) { return a * 0.5 + sin(b) * a + b; });
}

INSTANTIATE_TEST_SUITE_P(Rows, WindowDerivatives, ::testing::ValuesIn(testing::window_rows()),
                         [](const auto& info) { return std::string(info.param.name); });

TEST(IndexingDerivative, OfTakeAlongAnAxis) {
  const Literal places = Literal::from(std::vector<std::int32_t>{3, 0, 3, -1}, {2, 2});
  const auto f = [&](const Many& x) {
    return Many{take(x[0], constant(places), 1), take(x[0], 2, 0)};
  };
  EXPECT_EQ(derivative_error(bent(f), {random_array(f64({3, 4, 2}), 1)}), "");
}

/// Two arrays at once, which only parsed programs have.
std::vector<Tensor> scatter_two(const Many& arrays, const Tensor& places, const Many& updates,
                                const std::function<Many(std::span<const Tensor>)>& combine) {
  std::vector<TensorType> scalars;
  for (int twice = 0; twice < 2; twice++) {
    for (const Tensor& array : arrays) scalars.push_back({array.dtype(), {}});
  }
  const auto at = SourceLocation::current();
  return ir::make_many(ops::kScatter, {arrays[0], arrays[1], places, updates[0], updates[1]},
                       ops::ScatterAttributes{{{}, {0}, {0}, 1}}, at,
                       {ir::trace_closed("combine", "the combiner", scalars, combine, at)});
}

TEST(IndexingDerivative, OfAScatterIntoTwoArrays) {
  const std::vector<Literal> at{random_array(f64({4}), 1), random_array(f64({4}), 2),
                                random_array(f64({3}), 3), random_array(f64({3}), 4)};
  const auto places = [] { return constant({1, 3, 1}); };
  const auto overwrite = [&](const Many& x) {
    return scatter_two({x[0], x[1]}, places(), {x[2], x[3]}, [](std::span<const Tensor> p) {
      return Many{p[2], p[3]};
    });
  };
  EXPECT_EQ(derivative_error(bent(overwrite), at), "");
  const auto entangled = [&](const Many& x) {
    return scatter_two({x[0], x[1]}, places(), {x[2], x[3]}, [](std::span<const Tensor> p) {
      return Many{p[0] * p[3] + p[2], p[1] - p[0] * p[2]};
    });
  };
  EXPECT_EQ(derivative_error(bent(entangled), at), "");
  const auto beside_integers = [&](const Many& x) {
    return Many{scatter_two({x[0], constant({0, 0, 0, 0})}, places(), {x[2], constant({5, 6, 7})},
                            [](std::span<const Tensor> p) {
                              return Many{p[2], p[3]};
                            })[0],
                x[1], x[3]};
  };
  EXPECT_EQ(derivative_error(bent(beside_integers), at), "");
}

// The numbers are those of jax.grad, JAX 0.10.2: lax.gather(mode='clip'), lax.scatter,
// lax.scatter_add, lax.scatter_max, and lax.scatter_mul(unique_indices=True).

TEST(IndexingDerivative, OfClampedGatherAsInJax) {
  const Tensor places = constant({-9, 0, 2, 7, 2});
  expect_values<double>(
      grad([&](const Tensor& x) { return weighed(take(x, places)); })(constant({1.0, 2.0, 3.0})),
      {3}, {11, 0, 11100});
}

const ScatterDims kSingle{{}, {0}, {0}, 1};

template <class Combine>
auto gradients(const Tensor& x, const Tensor& places, const Tensor& updates, Combine combine) {
  return grad<0, 1>([&](const Tensor& a, const Tensor& u) {
    return weighed(scatter(a, places, u, kSingle, combine));
  })(x, updates);
}

TEST(IndexingDerivative, OfAnOverwrittenElementAsInJax) {
  const auto [of_x, of_updates] =
      gradients(constant({0.0, 1.0, 2.0, 3.0, 4.0}), constant({1, 3, 1}), constant({1.0, 1.0, 1.0}),
                [](const Tensor&, const Tensor& b) { return b; });
  expect_values<double>(of_x, {5}, {1, 0, 100, 0, 10000});
  expect_values<double>(of_updates, {3}, {0, 1000, 10});
}

TEST(IndexingDerivative, OfADroppedUpdateAsInJax) {
  const auto [of_x, of_updates] =
      gradients(constant({0.0, 1.0, 2.0, 3.0, 4.0}), constant({1, 7, 1}), constant({1.0, 1.0, 1.0}),
                [](const Tensor& a, const Tensor& b) { return a + b; });
  expect_values<double>(of_x, {5}, {1, 10, 100, 1000, 10000});
  expect_values<double>(of_updates, {3}, {10, 0, 10});
}

TEST(IndexingDerivative, EqualsOfTheGreatestShareAsInJax) {
  const auto [of_x, of_updates] = gradients(
      constant({0.0, 5.0, 2.0, 1.0, 4.0}), constant({1, 3, 1, 0}), constant({5.0, 9.0, 5.0, -1.0}),
      [](const Tensor& a, const Tensor& b) { return maximum(a, b); });
  testing::expect_close<double>(of_x, {5}, {1, 10.0 / 3, 100, 0, 10000}, 1e-15);
  testing::expect_close<double>(of_updates, {4}, {10.0 / 3, 1000, 10.0 / 3, 0}, 1e-15);
}

TEST(IndexingDerivative, OfProductsWithZerosAsInJax) {
  const auto [of_x, of_updates] =
      gradients(constant({1.0, 5.0, 2.0, 0.0, 4.0}), constant({1, 3}), constant({0.0, 9.0}),
                [](const Tensor& a, const Tensor& b) { return a * b; });
  expect_values<double>(of_x, {5}, {1, 0, 100, 9000, 10000});
  expect_values<double>(of_updates, {2}, {50, 0});
}

// JAX has no derivative if two factors go to one position: each gets the product of the others.
TEST(IndexingDerivative, OfProductsAtOnePlace) {
  const auto [of_x, of_updates] =
      gradients(constant({1.0, 5.0}), constant({1, 1, 1}), constant({2.0, 0.0, 3.0}),
                [](const Tensor& a, const Tensor& b) { return a * b; });
  expect_values<double>(of_x, {2}, {1, 0});
  expect_values<double>(of_updates, {3}, {0, 300, 0});
}

TEST(IndexingDerivative, ACombinerThatIsNotElementwiseIsRefused) {
  const auto f = [](const Tensor& x) {
    return sum(scatter(x, constant({1}), ones(f64({1, 2})), {{1}, {0}, {0}, 1},
                       [](const Tensor& a, const Tensor& b) {
                         return sum(stack({a, b}, 0));
                       }));
  };
  expect_error(
      [&] {
        grad(f)(zeros(f64({3, 2}))).eval();
      },
      {"scatter: no derivative passes its combiner, which uses reshape",
       "indexing_derivatives_test.cc", "rondo::scan"});
}

}  // namespace
}  // namespace rondo
