// Programs that move and combine large arrays on several threads: they are bound by memory.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <stop_token>
#include <string>
#include <thread>
#include <tuple>
#include <vector>

#include "executor/on_threads.h"

namespace rondo {
namespace {

using testing::expect_others_to_help;
using testing::expect_same_on_threads;
using testing::on_threads;
using testing::StopsLater;
using testing::thread_seconds;
using testing::work_seconds;

/// More than one block of a sum, and no whole number of them.
constexpr std::int64_t kLong = (std::int64_t{1} << 20) + 300'007;

template <class T>
Literal thread_numbers(Shape shape) {
  std::vector<T> values(static_cast<std::size_t>(shape.elements()));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = static_cast<T>(static_cast<double>(i * 7919 % 10007) * 0.0125 - 31);
  return Literal::from(values, shape);
}

TEST(ThreadsOnArrays, CombineLongRows) {
  const auto sums = [](Tensor x) {
    return std::tuple(sum(x), mean(x), max(x), min(x), any(x > 90.0f), all(x > -31.5f));
  };
  const auto in_f64 = [](Tensor x) { return std::pair(sum(1.0 / x), prod(1.0 + x * 1e-9)); };
  const Literal x = thread_numbers<float>({kLong}), y = thread_numbers<double>({kLong}),
                z = thread_numbers<std::int32_t>({kLong});
  expect_same_on_threads(trace(sums, x), {x});
  expect_same_on_threads(trace(in_f64, y), {y});
  expect_same_on_threads(
      trace([](Tensor v) { return std::tuple(sum(v), prod(v | 1), max(v), min(v)); }, z), {z});
}

TEST(ThreadsOnArrays, CombineRowsThatStayAndThoseThatNoOneLoopGoesThrough) {
  const Literal x = thread_numbers<float>({2, kLong}), c = thread_numbers<float>({2}),
                y = thread_numbers<float>({1100, 1300}), d = thread_numbers<float>({1100});
  const auto combined = [](Tensor v, Tensor w) {
    const Tensor less = v - expand_dims(w, 1);
    return std::tuple(sum(v, {1}), max(v, {1}), sum(less), max(less), sum(v, {0}));
  };
  expect_same_on_threads(trace(combined, x, c), {x, c});
  expect_same_on_threads(trace(combined, y, d), {y, d});
}

TEST(ThreadsOnArrays, FindWhatIsNoNumber) {
  std::vector<float> values(static_cast<std::size_t>(kLong), -0.0f);
  const auto extremes = [](Tensor x) { return std::pair(max(x), min(x)); };
  const auto of = [&] {
    const Literal x = Literal::from(values, {kLong});
    return compile(trace(extremes, x)).run({x}, on_threads(3));
  };
  EXPECT_TRUE(std::signbit(of()[0].item<float>()));
  values[values.size() / 2] = 0.0f;
  EXPECT_FALSE(std::signbit(of()[0].item<float>()));
  EXPECT_TRUE(std::signbit(of()[1].item<float>()));
  values[values.size() - 3] = std::numeric_limits<float>::quiet_NaN();
  EXPECT_TRUE(std::isnan(of()[0].item<float>()));
  EXPECT_TRUE(std::isnan(of()[1].item<float>()));
}

TEST(ThreadsOnArrays, MoveElements) {
  const Literal x = thread_numbers<float>({1030, 517}), y = thread_numbers<float>({1030, 517});
  const auto moved = [](Tensor v, Tensor w) {
    return std::tuple(transpose(v), concatenate({v, w}, 0), concatenate({v, w}, 1),
                      reverse(v, {0, 1}), slice(v, {3, 5}, {1000, 500}),
                      broadcast_to(v[7], {700, 517}));
  };
  expect_same_on_threads(trace(moved, x, y), {x, y});
}

TEST(ThreadsOnArrays, AddUpAndSortTheirRows) {
  const Literal x = thread_numbers<float>({300, 5000}),
                y = thread_numbers<std::int32_t>({40, 3, 9000});
  const auto in_rows = [](Tensor v) {
    return std::tuple(cumsum(v, 1), cumsum(v, 1, true), cummax(v, 1), sort(v, 1), argsort(v, 1));
  };
  const auto within = [](Tensor v) {
    return std::tuple(cumsum(v, 1), sort(v, 1), argsort(v, 2), sort(v, 0));
  };
  expect_same_on_threads(trace(in_rows, x), {x});
  expect_same_on_threads(trace(within, y), {y});
  const auto by_absolute = [](Tensor v) {
    return sort_by(v, 1, [](Tensor a, Tensor b) { return abs(a) < abs(b); });
  };
  const Literal few = thread_numbers<float>({20, 30});
  expect_same_on_threads(trace(by_absolute, few), {few});
}

TEST(ThreadsOnArrays, MultiplyByVectorsAndManySmallMatrices) {
  const Literal matrix = thread_numbers<float>({2100, 1700}), left = thread_numbers<float>({2100}),
                right = thread_numbers<float>({1700}), many = thread_numbers<float>({3000, 12, 20}),
                others = thread_numbers<float>({3000, 20, 9});
  const auto products = [](Tensor m, Tensor l, Tensor r) {
    return std::pair(matmul(m, r), matmul(l, m));
  };
  expect_same_on_threads(trace(products, matrix, left, right), {matrix, left, right});
  const auto batched = [](Tensor a, Tensor b) { return matmul(a, b); };
  expect_same_on_threads(trace(batched, many, others), {many, others});
}

TEST(ThreadsOnArrays, HaveHelp) {
  const Literal x = thread_numbers<float>({1 << 22}), rows = thread_numbers<float>({400, 20000}),
                square = thread_numbers<float>({2048, 2048}), side = thread_numbers<float>({2048});
  const auto expect_help = [](const Function& f, const std::vector<Literal>& arguments) {
    expect_others_to_help(f, arguments, 0.01);
  };
  expect_help(trace([](Tensor v) { return sum(v); }, x), {x});
  expect_help(trace([](Tensor v) { return max(v); }, x), {x});
  expect_help(trace([](Tensor v) { return cumsum(v, 1); }, rows), {rows});
  expect_help(trace([](Tensor v) { return sort(v, 1); }, rows), {rows});
  const auto spread = [](Tensor v, Tensor w) { return sum(v - expand_dims(w, 1)); };
  expect_help(trace(spread, square, side), {square, side});
  expect_help(trace([](Tensor v, Tensor w) { return matmul(v, w); }, square, side), {square, side});
}

/// A kernel that takes many seconds, and sums.
Tensor long_work(Tensor x) {
  return fori_loop(0, 1000, [](Tensor, Tensor v) { return sort(v * -0.75f, 1) + sum(v) * 1e-9f; },
                   x, {.name = "long"});
}

TEST(ThreadsOnArrays, EndSoonAfterTheyAreToldTo) {
  const Literal x = thread_numbers<float>({200, 40000});
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    const Executable run = compile(trace(long_work, x), {.executor = executor});
    RunOptions options = on_threads(2);
    options.deadline = std::chrono::milliseconds(30);
    const double start = thread_seconds();
    EXPECT_THROW(run.run({x}, options), DeadlineExceeded);
    EXPECT_LT(thread_seconds() - start, 500 * work_seconds());
    const StopsLater stop(0.05);
    options = on_threads(2);
    options.stop_token = stop.token();
    EXPECT_THROW(run.run({x}, options), Interrupted);
    EXPECT_LT(stop.seconds_since(), 500 * work_seconds());
  }
}

}  // namespace
}  // namespace rondo
