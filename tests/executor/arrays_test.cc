// Arrays on the compiled executor: access maps, slices, reductions, calls of kernels.
#include "executor/agreement.h"

namespace rondo::testing {
namespace {

Literal counting(const std::vector<std::int64_t>& dims) {
  const Shape shape(dims);
  std::vector<float> values;
  for (std::int64_t i = 0; i < shape.elements(); i++)
    values.push_back(static_cast<float>((i * 37) % 101) - 50);
  return Literal::from(values, shape);
}

template <class F>
void check_arrays(F f, const std::vector<std::vector<std::int64_t>>& shapes) {
  std::vector<TensorType> types;
  std::vector<Literal> arguments;
  for (const auto& shape : shapes) {
    types.push_back({DType::kF32, Shape(shape)});
    arguments.push_back(counting(shape));
  }
  expect_agreement(trace(f, types), arguments);
}

using Tensors = std::vector<Tensor>;

TEST(Arrays, IndexMaps) {
  check_arrays([](const Tensors& x) { return transpose(x[0], {2, 0, 1}) * 2; }, {{3, 4, 5}});
  check_arrays([](const Tensors& x) { return reverse(x[0], {0, 2}) + x[0]; }, {{3, 4, 5}});
  check_arrays(
      [](const Tensors& x) {
        return slice(x[0] * 3, {1, 0, 2}, {3, 4, 5}, {1, 3, 2});
      },
      {{3, 4, 5}});
  check_arrays(
      [](const Tensors& x) {
        return broadcast_to(x[1], {3, 4, 5}) + x[0];
      },
      {{3, 4, 5}, {5}});
  check_arrays(
      [](const Tensors& x) {
        return broadcast_to(reverse(exp(x[1] * 0), {0}), {7, 5});
      },
      {{3, 4, 5}, {5}});
  check_arrays(
      [](const Tensors& x) {
        return reverse(transpose(slice(x[0], {0, 1}, {9, 8})), {1});
      },
      {{9, 11}});
  check_arrays(
      [](const Tensors& x) {
        return iota(f32({3, 4}), 1) + iota(f32({3, 4}), 0) * x[0];
      },
      {{3, 4}});
  check_arrays([](const Tensors& x) { return reshape(x[0] + 1, {6, 10}) * 2; }, {{3, 4, 5}});
  check_arrays([](const Tensors& x) { return x[0] + x[0]; }, {{0, 5}});
}

TEST(Arrays, Parts) {
  check_arrays(
      [](const Tensors& x) {
        return concatenate({x[0], x[1] * 2, x[0]}, 1);
      },
      {{3, 4}, {3, 2}});
  check_arrays(
      [](const Tensors& x) {
        return concatenate({reverse(x[0], {0}), x[1]}, 0);
      },
      {{4}, {3}});
  check_arrays([](const Tensors& x) { return pad(x[0], 7, {1, -1}, {2, 3}, {0, 2}); }, {{3, 4}});
  check_arrays([](const Tensors& x) { return pad(x[0], 7, {-2}, {-3}, {1}); }, {{4}});
  check_arrays(
      [](const Tensors& x) {
        const Tensor start = convert(x[2], DType::kS32);
        return dynamic_update_slice(x[0], x[1], {start, start});
      },
      {{5, 6}, {2, 3}, {}});
  check_arrays(
      [](const Tensors& x) {
        // The slice is read from other positions of the array into which it is written.
        const Tensor part = reverse(slice(x[0] + 0, {0}, {5}), {0});
        return dynamic_update_slice(x[0] * 1, part, {Tensor(2)});
      },
      {{9}});
}

TEST(Arrays, Reductions) {
  for (const std::vector<std::int64_t>& axes :
       {std::vector<std::int64_t>{0}, {1}, {2}, {0, 1}, {0, 2}, {1, 2}, {0, 1, 2}}) {
    check_arrays([&](const Tensors& x) { return sum(x[0], axes); }, {{3, 40, 70}});
    check_arrays([&](const Tensors& x) { return max(x[0] * 2, axes); }, {{3, 4, 5}});
    check_arrays([&](const Tensors& x) { return prod(x[0] * 0.01f, axes); }, {{3, 4, 5}});
    check_arrays(
        [&](const Tensors& x) {
          return sum(transpose(x[0], {1, 2, 0}), axes);
        },
        {{3, 4, 70}});
    check_arrays([&](const Tensors& x) { return any(x[0] > 40, axes); }, {{3, 4, 5}});
  }
  check_arrays([](const Tensors& x) { return sum(broadcast_to(x[0], {50, 30})); }, {{30}});
  check_arrays([](const Tensors& x) { return sum(x[0]); }, {{0, 5}});
  check_arrays([](const Tensors& x) { return max(x[0], {0}); }, {{1, 5}});
  for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{1}, {0, 1}, {1, 2}})
    check_arrays([&](const Tensors& x) { return sum(x[0] + 1, axes) + 3; }, {{3, 0, 2}});
  for (const std::vector<std::int64_t>& axes : {std::vector<std::int64_t>{2}, {0, 2}, {1, 2}})
    check_arrays([&](const Tensors& x) { return prod(x[0], axes) + 3; }, {{3, 2, 0}});
}

TEST(Arrays, PartsThatShareTheirValuesAreWrittenTogether) {
  // The sum and the difference of each pair, of an expression with many ops.
  const Function f = trace(
      [](Tensor x) {
        const Tensor a = exp(slice(x, {0, 0}, {40, 1})), b = exp(slice(x, {0, 1}, {40, 2}));
        return concatenate({a + b, a - b}, 1);
      },
      f32({40, 2}));
  const Lowered lowered(f);
  EXPECT_EQ(lowered.count(lower::Opcode::kLanes), 1) << lowered;
  EXPECT_EQ(compile(f, {.executor = Executor::kCompiled}).memory_plan().arena_bytes, 0) << lowered;
  const Literal x = ramp({40, 2}, 0.0625f, -2);
  const std::vector<Literal> results = expect_agreement(f, {x});
  const auto got = results[0].data<float>(), from = x.data<float>();
  for (std::size_t i = 0; i < from.size(); i += 2) {
    EXPECT_LE(ulps(got[i], std::exp(from[i]) + std::exp(from[i + 1])), 4);
    EXPECT_NEAR(got[i + 1], std::exp(from[i]) - std::exp(from[i + 1]), 1e-4);
  }
  // Slices with other readers, and slices that share nothing.
  check_arrays(
      [](const Tensors& x) {
        const Tensor a = tanh(x[0]), b = a * x[1];
        return concatenate({a + b, b, b, a - 1}, 0) + sum(b);
      },
      {{5, 7}, {5, 7}});
  check_arrays(
      [](const Tensors& x) {
        return concatenate({x[0] + 1, x[1] * 2, x[0]}, 1);
      },
      {{9, 3}, {9, 3}});
  check_arrays(
      [](const Tensors& x) {
        return concatenate({x[0] + x[1], x[0] * x[1]}, 0) * 0.5f;
      },
      {{0, 3}, {0, 3}});
}

TEST(Arrays, KernelsAmongLoops) {
  check_arrays([](const Tensors& x) { return sort(x[0] * -1) + 1; }, {{40}});
  check_arrays([](const Tensors& x) { return dot(x[0] + 1, x[1]) * 2; }, {{3, 4}, {4, 5}});
  check_arrays([](const Tensors& x) { return cumsum(x[0], 0); }, {{7}});
  check_arrays(
      [](const Tensors& x) {
        return fori_loop(
            0, 3, [&](Tensor, Tensor y) { return dot(x[1], y) * 0.01f; }, x[0]);
      },
      {{5}, {5, 5}});
}

TEST(Arrays, ScansStackTheirRows) {
  check_arrays(
      [](const Tensors& x) {
        return scan(
            [](Tensor h, Tensor x) {
              const Tensor next = h * 0.5f + x;
              return std::tuple(next, next * 2);
            },
            x[0], x[1]);
      },
      {{4}, {9, 4}});
  check_arrays(
      [](const Tensors& x) {
        return grad([](Tensor h, Tensor xs) {
          auto [last, ys] = scan(
              [](Tensor h, Tensor x) {
                const Tensor next = h * x + x * x;
                return std::tuple(next, next * h);
              },
              h, xs);
          return sum(ys * ys) + sum(last);
        })(x[0] * 0.01f, x[1] * 0.01f);
      },
      {{4}, {9, 4}});
}

}  // namespace
}  // namespace rondo::testing
