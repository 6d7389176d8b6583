// Lane loops over arrays that exceed the caches: the same results with non-temporal stores.
#include "native/lane_streams.h"

#include <algorithm>

#include "native/run_native.h"
#include "support/native_steps.h"

namespace rondo::native_code {
namespace {

using lower::Status;
using lower::Type;
using lower::Value;
using NativeLaneStreams = NativeTest;

constexpr std::int64_t kLarge = std::int64_t{64} << 20;

/// out = 2 x + 1 for `count` lanes, in buffers with a declared size of `bytes`.
template <class T>
lower::Program doubled(std::int64_t count, std::int64_t bytes, bool in_place = false) {
  constexpr Type type = type_of_host<T>();
  TestProgram p;
  const Value out = p.result(0, bytes);
  const Value x = in_place ? out : p.argument(0, bytes);
  const auto lanes = p.begin_lanes(p.index(count));
  const Value i = p.program().lanes[lanes].index;
  p.program().lanes[lanes].known_count = count;
  p.store_at(p.fma(p.number(type, 2), p.load_at(type, x, i, sizeof(T)), p.number(type, 1)), out, i,
             sizeof(T));
  p.end_lanes();
  return p.finish();
}

// The results are directly before an inaccessible page, for many counts and at addresses at which
// aligned non-temporal vector stores would fault.
template <class T>
void expect_doubled() {
  for (std::int64_t count : {0, 1, 15, 16, 64, 67, 128, 129, 200, 256, 1000, 1024}) {
    const lower::Program program = doubled<T>(count, kLarge);
    std::vector<T> x, want;
    for (std::int64_t k = 0; k < count; k++) {
      x.push_back(static_cast<T>(k) - 5);
      want.push_back(2 * x.back() + 1);
    }
    for (const Target* target : targets()) {
      Buffers buffers;
      buffers.add_argument(x);
      buffers.add_result(sizeof(T) * x.size());
      ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
      EXPECT_EQ(buffers.result<T>(0), want) << count << " " << target->name;
    }
  }
}

TEST_F(NativeLaneStreams, OfFloats) { expect_doubled<float>(); }
TEST_F(NativeLaneStreams, OfDoubles) { expect_doubled<double>(); }

TEST_F(NativeLaneStreams, AreLargeArraysThatAreWrittenOnly) {
  const auto fences = [](const lower::Program& program) {
    return count(steps(program, targets().back()), is(Kind::kFence)) > 0;
  };
  EXPECT_EQ(fences(doubled<float>(1000, kLarge)), targets().back()->streams_stores);
  EXPECT_FALSE(fences(doubled<float>(1000, 4000)));
  EXPECT_FALSE(fences(doubled<float>(1000, kLarge, /*in_place=*/true)));
}

// Whole vectors of the rest stream as well: no such store follows the fence.
TEST_F(NativeLaneStreams, EndBeforeTheFence) {
  for (const std::int64_t count : {999, 1000, 1008, 1040, 1056, 1071}) {
    for (const Target* target : targets()) {
      const Steps all = steps(doubled<float>(count, kLarge), target);
      const auto fence = std::ranges::find(all, Kind::kFence, &Instruction::kind);
      ASSERT_EQ(fence != all.end(), target->streams_stores);
      const auto streams = [](const Instruction& i) { return i.kind == Kind::kStore && i.streams; };
      EXPECT_EQ(std::any_of(all.begin(), fence, streams), target->streams_stores);
      EXPECT_TRUE(std::none_of(fence, all.end(), streams)) << count << " " << target->name;
    }
  }
}

}  // namespace
}  // namespace rondo::native_code
