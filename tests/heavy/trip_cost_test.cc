// The cost of a trip does not grow with what it does not touch, nor with the number of trips: loops
// that read one row of a table in each trip, and their gradients, on all executors.
#include <gtest/gtest.h>

#include <vector>

#include "gradients/loops.h"
#include "support/processor_time.h"

namespace rondo::testing {
namespace {

constexpr int kTrips = 400;
constexpr std::int64_t kFewRows = 1000, kManyRows = 256 * kFewRows;

struct Case {
  LoopKind kind;
  Checkpoint policy;
  bool is_gradient;
};

std::vector<Case> cases() {
  std::vector<Case> all;
  for (const LoopKind kind : {LoopKind::kWhile, LoopKind::kFori, LoopKind::kScan}) {
    all.push_back({kind, {}, false});
    for (const Checkpoint policy :
         {Checkpoint::automatic(), Checkpoint::tape(), Checkpoint::online(32),
          Checkpoint::revolve(32), Checkpoint::periodic(20)})
      all.push_back({kind, policy, true});
  }
  return all;
}

/// The loop, with a branch and a loop in it that read rows.
Function program(const Case& of, std::int64_t rows, int trips) {
  const auto f = [=](Tensor table, Tensor x) {
    const auto row = [=](Tensor i) { return table[i * 7 % static_cast<int>(rows)]; };
    const auto body = [=](const Tensor& i, const Tensor& y) {
      const Tensor some = cond(
          y > 0.3, [=] { return row(i) * y; }, [=] { return y + 0.5; });
      return fori_loop(
          0, 2, [=](Tensor j, Tensor z) { return sin(z) * row(i + j) + 0.1; }, some);
    };
    return run_loop(of.kind, {.known = trips, .promised = 2 * trips}, body, x, of.policy);
  };
  return of.is_gradient ? trace(grad(f), f64({rows}), f64()) : trace(f, f64({rows}), f64());
}

double seconds(const Case& of, std::int64_t rows, int trips, Executor executor) {
  const Literal table =
      Literal::from(std::vector<double>(static_cast<std::size_t>(rows), 0.75), {rows});
  const Executable runs = compile(program(of, rows, trips), {.executor = executor});
  return least_seconds([&] { (void)runs.run({table, Literal::scalar(0.4)}); }, 4);
}

TEST(TripCost, IsThatOfWhatATripTouches) {
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    for (const Case& of : cases()) {
      SCOPED_TRACE(::testing::Message()
                   << "executor " << static_cast<int>(executor) << ", " << name_of(of.kind) << ", "
                   << (of.is_gradient ? name_of(of.policy) : "forward"));
      // There are the table and the sum of its cotangents: 2 MB each to fill.
      EXPECT_LT(seconds(of, kManyRows, kTrips, executor),
                3 * seconds(of, kFewRows, kTrips, executor) + 2 * work_seconds());
      // Slots are reused repeatedly, so a trip takes a few more bodies.
      EXPECT_LT(seconds(of, kFewRows, 8 * kTrips, executor),
                20 * seconds(of, kFewRows, kTrips, executor) + work_seconds());
    }
  }
}

}  // namespace
}  // namespace rondo::testing
