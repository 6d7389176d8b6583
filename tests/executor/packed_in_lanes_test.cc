// Nested loops that run by lane, and multiply by a matrix from outside of both.
#include <cmath>
#include <vector>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

constexpr int kLanes = 33, kWords = 8;

/// The equivalent plain code, for one lane.
std::vector<float> plain(std::vector<float> v, const std::vector<float>& matrix) {
  const auto sum = [&] {
    double total = 0;
    for (const float x : v) total += x;
    return total;
  };
  for (int trip = 0; trip < 3; trip++) {
    while (sum() < 2) {
      std::vector<float> next(kWords);
      for (std::size_t i = 0; i < kWords; i++) {
        float product = 0;
        for (std::size_t j = 0; j < kWords; j++) product += matrix[i * kWords + j] * v[j];
        next[i] = v[i] + product + 0.1f;
      }
      v = next;
    }
    for (float& x : v) x *= 0.25f;
  }
  return v;
}

/// The matrix is not copied again by each lane, which would be lanes in lanes.
TEST(PackedInLanes, OfALoopInALoop) {
  const auto lane = [](Tensor v, Tensor matrix) {
    return fori_loop(
        0, 3,
        [&](Tensor, Tensor v) {
          return while_loop([](Tensor v) { return sum(v) < 2.0f; },
                            [&](Tensor v) { return v + matmul(matrix, v) + 0.1f; }, v) *
                 0.25f;
        },
        v);
  };
  const Function f = trace(
      [&](Tensor v, Tensor matrix) { return vmap([&](Tensor v) { return lane(v, matrix); })(v); },
      f32({kLanes, kWords}), f32({kWords, kWords}));
  std::vector<float> values, matrix;
  for (int i = 0; i < kLanes * kWords; i++)
    values.push_back(static_cast<float>(i * 7 % 31) / 64 - 0.25f);
  for (int i = 0; i < kWords * kWords; i++)
    matrix.push_back(static_cast<float>(i * 5 % 13) / 256 - 0.01f);
  const std::vector<Literal> arguments = {Literal::from(values, {kLanes, kWords}),
                                          Literal::from(matrix, {kWords, kWords})};
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Literal got = compile(f, {.executor = executor}).run(arguments)[0];
    for (int l = 0; l < kLanes; l++) {
      const auto first = values.begin() + std::ptrdiff_t{l} * kWords;
      const std::vector<float> want = plain({first, first + kWords}, matrix);
      for (std::size_t i = 0; i < kWords; i++)
        ASSERT_NEAR(got.data<float>()[static_cast<std::size_t>(l) * kWords + i], want[i], 1e-5)
            << "lane " << l;
    }
  }
}

}  // namespace
}  // namespace rondo::testing
