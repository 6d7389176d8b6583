// The reports of a long program while it runs under jit.
#include <stop_token>
#include <string>
#include <vector>

#include "support/expect.h"

namespace rondo {
namespace {

/// `training` halves x n times, and reports each trip by progress().
Tensor training(Tensor x, Tensor n) {
  const auto trip = [&](Tensor i, Tensor w) {
    const Tensor done = progress(i + 1, n);
    const auto halve = [](Tensor, Tensor v) { return v * 0.5; };
    return fori_loop(0, 2, halve, w, {.name = "inner"}) + 0 * convert(done, DType::kF64);
  };
  return fori_loop(0, n, trip, x, {.name = "training"});
}

TEST(ProgressUnderJit, TellsWhatTheProgramTells) {
  const auto train = jit(training);
  std::vector<std::string> told;
  RunOptions options;
  options.on_progress = [&](const Progress& now) {
    if (now.loop != "progress") return;  // the loop's own, a few times per second
    told.push_back(std::to_string(now.trip) + "/" + std::to_string(*now.of));
  };
  EXPECT_EQ(train.with(options)(64.0, 3).item<double>(), 1);
  EXPECT_EQ(told, (std::vector<std::string>{"1/3", "2/3", "3/3"}));
  // Not for a call without the option, but for those in a scope.
  told.clear();
  EXPECT_EQ(train(64.0, 1).item<double>(), 16);
  EXPECT_TRUE(told.empty());
  const RunScope scope(options);
  EXPECT_EQ(train(64.0, 2).item<double>(), 4);
  EXPECT_EQ(told, (std::vector<std::string>{"1/2", "2/2"}));
}

TEST(ProgressUnderJit, TellsOfALoopByItselfAndOfHowManyTrips) {
  const auto count = jit([](Tensor n) {
    return fori_loop(std::int64_t{0}, n, [](Tensor, Tensor s) { return s + 1; },
                     Tensor(std::int64_t{0}), {.name = "count"});
  });
  constexpr std::int64_t kForever = std::int64_t{1} << 40;
  std::stop_source source;
  RunOptions options;
  options.stop_token = source.get_token();
  std::vector<std::int64_t> trips;
  options.on_progress = [&](const Progress& now) {
    EXPECT_EQ(now.loop, "count");
    EXPECT_EQ(now.of, kForever);
    trips.push_back(now.trip);
    if (trips.size() == 2) source.request_stop();
  };
  EXPECT_THROW((void)count.with(options)(kForever).eval(), Stopped);
  ASSERT_EQ(trips.size(), 2u);
  EXPECT_GT(trips[0], 0);
  EXPECT_GT(trips[1], trips[0]);
}

}  // namespace
}  // namespace rondo
