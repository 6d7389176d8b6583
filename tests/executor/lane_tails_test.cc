// Every form of a vectorized loop, on every number of lanes from none to beyond a block: all masks
// of tails. A lane gives the same bits however many other lanes there are.
#include <algorithm>
#include <chrono>
#include <cstring>
#include <functional>
#include <ostream>
#include <stop_token>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "executor/agreement.h"

namespace rondo {
namespace {

using testing::expect_agreement;
using testing::expect_equal;
using testing::runs_by_lane;

constexpr std::int64_t kMostLanes = 67;

struct Form {
  std::string name;
  std::int64_t least;  // lanes from which such a loop is interchanged
  /// For f32[3] per lane. Lanes with different values make different numbers of trips.
  std::function<Tensor(Tensor)> of_lane;
  /// For f32[lanes, 3], as written without vmap.
  std::function<Tensor(Tensor)> of_all = nullptr;
};

void PrintTo(const Form& form, std::ostream* out) { *out << form.name; }

Tensor turned(Tensor row) { return row * 0.75f + reverse(row, {0}) * 0.5f; }

Tensor counted(Tensor row) {
  return fori_loop(
      0, 5, [](Tensor i, Tensor s) { return s * 0.5f + convert(i, DType::kF32); }, row[0]);
}

Tensor rows(Tensor row) {
  return fori_loop(
      0, 5,
      [](Tensor i, Tensor s) {
        const Tensor next = turned(s) - sum(s) * 0.125f;
        return update(next, i % 3, s[(i + 1) % 3]);
      },
      row);
}

Tensor rows_that_stop(Tensor row) {
  return while_loop([](Tensor s) { return sum(s * s) < 60.0f; },
                    [](Tensor s) { return turned(s) + 0.5f; }, row);
}

Tensor swapped_rows(Tensor row) {
  const auto [a, b, n] =
      while_loop([&](Tensor, Tensor, Tensor n) { return convert(n, DType::kF32) < row[0]; },
                 [](Tensor a, Tensor b, Tensor n) { return std::tuple(b, turned(a), n + 1); },
                 std::tuple(row, row + 1.0f, Tensor(0)));
  return a - b * 0.5f;
}

Tensor history(Tensor row) {
  return fori_loop(
      1, 9, [&](Tensor i, Tensor past) { return update(past, i, past[i - 1] * 0.75f + row[1]); },
      full(f32({9}), 0.25f) + row[0]);
}

Tensor history_that_stops(Tensor row) {
  const auto [n, path] =
      while_loop([&](Tensor n, Tensor) { return convert(n, DType::kF32) < row[2]; },
                 [&](Tensor n, Tensor path) {
                   return std::pair(n + 1, update(path, n, convert(n, DType::kF32) - row[0]));
                 },
                 std::pair(Tensor(0), full(f32({12}), -1.0f)));
  return path;
}

Tensor branches(Tensor row) {
  return fori_loop(
      0, 7,
      [&](Tensor i, Tensor s) {
        return cond(
            i < 3, [&](Tensor v) { return turned(v) + row; },
            [](Tensor v) { return reverse(v, {0}); }, s);
      },
      row);
}

/// The inner loop makes no trips at first, and in some lanes none at all.
Tensor loops(Tensor row) {
  return fori_loop(
      0, 6,
      [&](Tensor i, Tensor s) {
        const Tensor moved = fori_loop(
            Tensor(0), i - 2, [](Tensor, Tensor v) { return v * 0.5f + 1.0f; }, s);
        return while_loop([](Tensor v) { return abs(v) > 2.0f; },
                          [](Tensor v) { return v * 0.25f; }, moved + row[1]);
      },
      row[0]);
}

Tensor while_any(Tensor all) {
  const auto on = [](Tensor v) { return v < 9.0f; };
  return while_loop([&](Tensor v) { return any(on(v)); },
                    [&](Tensor v) { return where(on(v), v * 1.25f + 2.0f, v); }, all);
}

std::vector<Form> forms() {
  return {{"counted", 2, counted},
          {"rows", 8, rows},
          {"rows that stop", 2, rows_that_stop},
          {"rows that change places", 2, swapped_rows},
          {"history", 8, history},
          {"history that stops", 2, history_that_stops},
          {"branches", 8, branches},
          {"loops", 2, loops},
          {"while any", 1, nullptr, while_any}};
}

Literal lane_numbers(std::int64_t lanes) {
  std::vector<float> values(static_cast<std::size_t>(3 * lanes));
  for (std::size_t i = 0; i < values.size(); i++)
    values[i] = static_cast<float>(i * 37 % 101) * 0.125f - 3.0f;
  return Literal::from(values, {lanes, 3});
}

class LaneTails : public ::testing::TestWithParam<Form> {
 protected:
  static Function program(std::int64_t lanes) {
    const Form& form = GetParam();
    return trace(form.of_all ? form.of_all : vmap(form.of_lane), f32({lanes, 3}));
  }
};

TEST_P(LaneTails, OfEveryLength) {
  const Literal all = expect_agreement(program(kMostLanes), {lane_numbers(kMostLanes)})[0];
  const auto bytes_of_lane = static_cast<std::size_t>(all.type().bytes() / kMostLanes);
  for (std::int64_t lanes = 0; lanes < kMostLanes; lanes++) {
    SCOPED_TRACE(::testing::Message() << lanes << " lanes");
    const Function function = program(lanes);
    EXPECT_EQ(runs_by_lane(function), lanes >= GetParam().least);
    const Literal got = expect_agreement(function, {lane_numbers(lanes)})[0];
    EXPECT_EQ(
        std::memcmp(got.bytes(), all.bytes(), bytes_of_lane * static_cast<std::size_t>(lanes)), 0);
  }
}

TEST_P(LaneTails, OfRunsThatCouldBeEnded) {
  for (const std::int64_t lanes : {1, 7, 8, 17, 64, 67}) {
    SCOPED_TRACE(::testing::Message() << lanes << " lanes");
    for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
      const Executable compiled =
          compile(program(lanes), {.contract = false, .executor = executor});
      const Literal want = compiled.run({lane_numbers(lanes)})[0];
      const std::int64_t trips = compiled.stats().loops[0].trips;
      std::stop_source source;
      for (const RunOptions& options :
           {RunOptions{.deadline = std::chrono::hours(1)}, RunOptions{.max_iterations = 1000},
            RunOptions{.stop_token = source.get_token()}}) {
        expect_equal(compiled.run({lane_numbers(lanes)}, options)[0], want);
        EXPECT_EQ(compiled.stats().loops[0].trips, trips);
      }
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Forms, LaneTails, ::testing::ValuesIn(forms()), [](const auto& form) {
  std::string name = form.param.name;
  std::replace(name.begin(), name.end(), ' ', '_');
  return name;
});

}  // namespace
}  // namespace rondo
