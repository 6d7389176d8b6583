// Arrays whose elements are all written before they are read: loops do not initialize them.
#include <tuple>
#include <utility>
#include <vector>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

using lower::Opcode;

constexpr std::int64_t kSetRows = 8, kSetColumns = 40;

/// Leaves non-zero memory for the results and the arena of the next run.
void leave_numbers(const TensorType& type) {
  std::vector<Literal> blocks;
  for (int i = 0; i < 8; i++) blocks.push_back(ramp(type.shape, 3, 7));
}

/// The results on memory with other previous content.
void expect_whole(const Function& f, const std::vector<Literal>& arguments) {
  const auto want =
      compile(f, {.contract = false, .executor = Executor::kReference}).run(arguments);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable compiled = compile(f, {.contract = false, .executor = executor});
    for (const Literal& result : want) leave_numbers(result.type());
    const auto got = compiled.run(arguments);
    for (std::size_t i = 0; i < want.size(); i++) {
      SCOPED_TRACE(compiled.program());
      expect_equal(got[i], want[i]);
    }
  }
}

// Not vectorized: each element depends on one of another lane.
Tensor turned_rows(const Tensor& h, const Tensor& x) { return reverse(h, {0}) + x; }

Function scanned(const ScanOptions& options, const Shape& xs) {
  return trace(
      [&](Tensor h, Tensor xs) {
        const auto [last, ys] = scan(
            [](Tensor h, Tensor x) {
              const Tensor next = turned_rows(h, x);
              return std::pair(next, std::pair(next, reverse(next, {0})));
            },
            h, xs, options);
        return std::tuple(last, ys.first, ys.second);
      },
      f32({kSetColumns}), TensorType{DType::kF32, xs});
}

TEST(Unset, StackedYsAreNotFilledBefore) {
  const Literal h = ramp({kSetColumns}, 0.25f, -3);
  for (const bool reverse : {false, true}) {
    const Function rows = scanned({.reverse = reverse}, {kSetRows, kSetColumns});
    EXPECT_EQ(Lowered(rows).count_before_loops(Opcode::kStore), 0) << Lowered(rows);
    expect_whole(rows, {h, ramp({kSetRows, kSetColumns}, 0.01f, -1)});
    const Function columns = scanned({.reverse = reverse, .axis = 1}, {kSetColumns, kSetRows});
    expect_whole(columns, {h, ramp({kSetColumns, kSetRows}, 0.01f, -1)});
  }
  for (const std::int64_t unroll : {2, 3}) {
    const Function f = scanned({.unroll = unroll}, {kSetRows, kSetColumns});
    expect_whole(f, {h, ramp({kSetRows, kSetColumns}, 0.01f, -1)});
  }
}

TEST(Unset, StackedYsOfALoopInALoopAndTheirGradientsAreWhole) {
  const auto loss = [](Tensor h, Tensor xs) {
    return sum(scan(
                   [&](Tensor h, Tensor x) {
                     const auto [last, ys] = scan(
                         [&](Tensor h, Tensor i) {
                           const Tensor next = turned_rows(h, x * i);
                           return std::pair(next, next);
                         },
                         h, xs[0]);
                     return std::pair(last, sum(ys * ys, {0}));
                   },
                   h, xs)
                   .second);
  };
  const std::vector<Literal> arguments = {ramp({kSetColumns}, 0.25f, -3),
                                          ramp({kSetRows, kSetColumns}, 0.01f, -1)};
  expect_whole(trace(loss, f32({kSetColumns}), f32({kSetRows, kSetColumns})), arguments);
  expect_whole(trace(grad(loss), f32({kSetColumns}), f32({kSetRows, kSetColumns})), arguments);
}

// Rows for residuals, in slots and for a promised number of trips, most of which are never written.
TEST(Unset, RowsForTheBackwardPassAreReadWhereTheyWereWritten) {
  for (const WhileOptions& options :
       {WhileOptions{}, WhileOptions{.checkpoint = Checkpoint::online(5)},
        WhileOptions{.checkpoint = Checkpoint::tape()}, WhileOptions{.max_trip_count = 40}}) {
    const auto loss = [&](Tensor h, Tensor n) {
      const auto last = while_loop(
          [&](Tensor i, Tensor) { return i < n; },
          [](Tensor i, Tensor h) { return std::pair(i + 1, turned_rows(h, h * h * 0.25f)); },
          std::pair(Tensor(0), h), options);
      return sum(last.second);
    };
    const Function slope = trace(grad(loss), f32({kSetColumns}), s32());
    const Function lanes = trace(vmap(grad(loss)), f32({3, kSetColumns}), s32({3}));
    for (const int n : {0, 1, 3, 30}) {
      expect_whole(slope, {ramp({kSetColumns}, 0.05f, -1), Literal::scalar(n)});
      expect_whole(lanes, {ramp({3, kSetColumns}, 0.02f, -1),
                           Literal::from<std::int32_t>({n, 2 * n / 3, 0}, {3})});
    }
  }
}

}  // namespace
}  // namespace rondo::testing
