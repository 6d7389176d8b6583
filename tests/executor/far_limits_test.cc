// Limits that no run reaches: the results are those without limits.
#include "support/far_limits.h"

#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "executor/agreement.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

using testing::FarLimits;

constexpr Executor kLimitedBy[] = {Executor::kBytecode, Executor::kCompiled};

/// Runs with each choice of limits give `want`.
void expect_with_all_limits(const Function& function, const std::vector<Literal>& arguments,
                            const std::vector<Literal>& want) {
  const FarLimits limits;
  for (const Executor executor : kLimitedBy) {
    const Executable program = compile(function, {.executor = executor});
    for (unsigned kinds = 0; kinds <= FarLimits::kAll; kinds++) {
      SCOPED_TRACE(::testing::Message() << "executor " << static_cast<int>(executor) << ", with "
                                        << FarLimits::name(kinds));
      const std::vector<Literal> got = program.run(arguments, limits.options(kinds));
      ASSERT_EQ(got.size(), want.size());
      for (std::size_t i = 0; i < want.size(); i++) testing::expect_equal(got[i], want[i]);
    }
  }
}

/// How many trips a lane makes while `goes_on` holds for the trip's number and the lane's limit.
std::vector<Literal> counts(const std::vector<int>& limits, int most,
                            const std::function<bool(int, int)>& goes_on) {
  std::vector<int> counts;
  for (const int limit : limits) {
    int count = 0;
    while (count < most && goes_on(count, limit)) count++;
    counts.push_back(count);
  }
  return {Literal::from(counts, {static_cast<std::int64_t>(counts.size())})};
}

/// Predicates that hold again for a lane that is done, after further trips of the others.
TEST(FarLimits, LeaveALaneThatIsDoneAsItIs) {
  struct Condition {
    std::function<Tensor(Tensor, Tensor)> traced;
    std::function<bool(int, int)> plain;
  };
  const std::vector<Condition> conditions = {
      {[](Tensor i, Tensor n) { return i != n; }, [](int i, int n) { return i != n; }},
      {[](Tensor i, Tensor n) { return i < n; }, [](int i, int n) { return i < n; }},
      {[](Tensor i, Tensor n) { return (i < n) | (i > n + 1); },
       [](int i, int n) { return i < n || i > n + 1; }},
      {[](Tensor i, Tensor n) { return (i + 1) % n != 0; },
       [](int i, int n) { return (i + 1) % n != 0; }}};
  for (const int lanes : {2, 3, 16, 67}) {
    // Beyond the trips of some chunks.
    for (const int most : {6, 4500}) {
      std::vector<int> limits;
      for (int i = 0; i < lanes; i++) limits.push_back(2 + (i * 7 + most / 3) % (most - 3));
      const Literal argument = Literal::from(limits, {lanes});
      for (std::size_t k = 0; k < conditions.size(); k++) {
        SCOPED_TRACE(::testing::Message() << lanes << " lanes, condition " << k << ", " << most);
        const auto lane = [&](Tensor limit) {
          return while_scan([&](Tensor i) { return conditions[k].traced(i, limit); },
                            [](Tensor i) { return std::pair(i + 1, i); }, Tensor(0),
                            {.max_trip_count = most})
              .count;
        };
        const Function f = trace([&](Tensor n) { return vmap(lane)(n); }, argument);
        ASSERT_NO_FATAL_FAILURE(
            expect_with_all_limits(f, {argument}, counts(limits, most, conditions[k].plain)));
      }
    }
  }
}

}  // namespace
}  // namespace rondo
