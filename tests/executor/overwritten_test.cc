// Arrays that loops write over before anybody reads what they begin with.
#include "executor/overwritten.h"

#include <functional>

#include "control_flow/counted.h"
#include "executor/agreement.h"
#include "ir/function_data.h"

namespace rondo::testing {
namespace {

using lower::Opcode;

constexpr std::int64_t kRows = 8, kColumns = 40;

/// Leaves memory that is no zeros for the results and the arena of the next run.
void leave_numbers(const TensorType& type) {
  std::vector<Literal> blocks;
  for (int i = 0; i < 8; i++) blocks.push_back(ramp(type.shape, 3, 7));
}

/// The results on memory that holds other numbers before.
void expect_whole(const Function& f, const std::vector<Literal>& arguments) {
  const auto want = compile(f, {.executor = Executor::kReference}).run(arguments);
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

// Not vectorized: each element follows from one of another lane.
Tensor turned(const Tensor& h, const Tensor& x) { return reverse(h, {0}) + x; }

Function scanned(const ScanOptions& options, const Shape& xs) {
  return trace(
      [&](Tensor h, Tensor xs) {
        const auto [last, ys] = scan(
            [](Tensor h, Tensor x) {
              const Tensor next = turned(h, x);
              return std::pair(next, std::pair(next, reverse(next, {0})));
            },
            h, xs, options);
        return std::tuple(last, ys.first, ys.second);
      },
      f32({kColumns}), TensorType{DType::kF32, xs});
}

TEST(Overwritten, StackedYsAreNotFilledBefore) {
  const Literal h = ramp({kColumns}, 0.25f, -3);
  for (const bool reverse : {false, true}) {
    const Function rows = scanned({.reverse = reverse}, {kRows, kColumns});
    EXPECT_EQ(Lowered(rows).count_before(Opcode::kRepeat, Opcode::kStore), 0) << Lowered(rows);
    expect_whole(rows, {h, ramp({kRows, kColumns}, 0.01f, -1)});
    const Function columns = scanned({.reverse = reverse, .axis = 1}, {kColumns, kRows});
    expect_whole(columns, {h, ramp({kColumns, kRows}, 0.01f, -1)});
  }
  for (const std::int64_t unroll : {2, 3}) {
    const Function f = scanned({.unroll = unroll}, {kRows, kColumns});
    expect_whole(f, {h, ramp({kRows, kColumns}, 0.01f, -1)});
  }
}

TEST(Overwritten, StackedYsOfALoopInALoopAndTheirGradientsAreWhole) {
  const auto loss = [](Tensor h, Tensor xs) {
    return sum(scan(
                   [&](Tensor h, Tensor x) {
                     const auto [last, ys] = scan(
                         [&](Tensor h, Tensor i) {
                           const Tensor next = turned(h, x * i);
                           return std::pair(next, next);
                         },
                         h, xs[0]);
                     return std::pair(last, sum(ys * ys, {0}));
                   },
                   h, xs)
                   .second);
  };
  const std::vector<Literal> arguments = {ramp({kColumns}, 0.25f, -3),
                                          ramp({kRows, kColumns}, 0.01f, -1)};
  expect_whole(trace(loss, f32({kColumns}), f32({kRows, kColumns})), arguments);
  expect_whole(trace(grad(loss), f32({kColumns}), f32({kRows, kColumns})), arguments);
}

struct Trips {
  std::int64_t first = 0, limit = kRows, step = 1;
  bool reverse = false;
  std::int64_t carries = 0;  // of the user's, which a run tells
};

using Update = std::function<Tensor(const Tensor& history, const Tensor& i, const Tensor& row)>;

/// A history whose part each trip writes.
Function with_history(const Trips& trips, const Update& update_of) {
  return trace(
      [&](Tensor row) {
        control_flow::CountedLoop loop;
        loop.first = Tensor(static_cast<int>(trips.first));
        loop.limit = Tensor(static_cast<int>(trips.limit));
        loop.step = trips.step;
        loop.reverse = trips.reverse;
        loop.names = {"history"};
        loop.carries = trips.carries;
        return control_flow::emit_counted(
            loop, {full(f32({kRows, kColumns}), -1)},
            [&](const Tensor& i, std::vector<Tensor> state) -> std::vector<Tensor> {
              return {update_of(state[0], i, turned(row, convert(i, DType::kF32)))};
            })[0];
      },
      f32({kColumns}));
}

void expect_overwritten(bool wanted, const Trips& trips, const Update& update_of) {
  const Function f = with_history(trips, update_of);
  for (const ir::Node* node : f.body()) {
    if (node->regions.empty()) continue;
    EXPECT_EQ(executor::is_dead_initialization(*node, 1), wanted) << f.str();
    EXPECT_FALSE(executor::is_dead_initialization(*node, 0));
  }
  expect_whole(f, {ramp({kColumns}, 0.25f, -3)});
}

Tensor whole_row(const Tensor& history, const Tensor& i, const Tensor& row) {
  return update(history, i, row);
}

TEST(Overwritten, IsWhatEachTripWritesARowOf) {
  expect_overwritten(true, {}, whole_row);
  expect_overwritten(true, {.reverse = true}, whole_row);
  expect_overwritten(true, {.limit = kRows + 3}, whole_row);  // the last row again
}

TEST(Overwritten, IsNotWhatKeepsRows) {
  expect_overwritten(false, {.limit = kRows - 1}, whole_row);
  expect_overwritten(false, {.first = 1}, whole_row);
  expect_overwritten(false, {.first = 1, .limit = kRows + 1}, whole_row);
  expect_overwritten(false, {.limit = 2 * kRows, .step = 2}, whole_row);
  expect_overwritten(false, {.limit = kRows - 1, .reverse = true}, whole_row);
  expect_overwritten(false, {}, [](const Tensor& history, const Tensor& i, const Tensor& row) {
    return update(history, i / 2, row);
  });
  expect_overwritten(false, {}, [](const Tensor& history, const Tensor& i, const Tensor& row) {
    return dynamic_update_slice(
        history, slice(reshape(row, {2, kColumns / 2}), {0, 0}, {1, kColumns / 2}), {i, 0});
  });
}

TEST(Overwritten, IsNotWhatIsReadOrTold) {
  expect_overwritten(false, {.carries = 1}, whole_row);
  expect_overwritten(false, {}, [](const Tensor& history, const Tensor& i, const Tensor& row) {
    return update(history, i, row + history[kRows - 1]);
  });
  expect_overwritten(false, {}, [](const Tensor& history, const Tensor& i, const Tensor& row) {
    return update(update(history, i, row), i, row * history[kRows - 1 - i]);
  });
}

}  // namespace
}  // namespace rondo::testing
