// Arrays that are updated at fixed places from other elements of themselves, as by stencils: their
// next value is written to a second buffer, and no part of it is moved.
#include <gmock/gmock.h>

#include <cstdint>
#include <vector>

#include "executor/agreement.h"
#include "executor/on_threads.h"

namespace rondo {
namespace {

using testing::expect_agreement;
using testing::Lowered;
using testing::uneven;

const Range kInner = range(1, -1), kBefore = range({}, -2), kAfter = range(2);

Tensor heat_step(const Tensor& u) {
  const Tensor flow = slice(u, kBefore, kInner) + slice(u, kAfter, kInner) +
                      slice(u, kInner, kBefore) + slice(u, kInner, kAfter) -
                      4.0f * slice(u, kInner, kInner);
  return update(u, {kInner, kInner}, slice(u, kInner, kInner) + 0.2f * flow);
}

Function heat(std::int64_t rows, std::int64_t columns, int trips) {
  const auto f = [=](Tensor x) {
    return fori_loop(
        0, trips, [](Tensor, Tensor u) { return heat_step(u); }, x);
  };
  return trace(f, f32({rows, columns}));
}

/// Loops exchange two buffers, if this is expected, and move nothing in a trip.
void expect_buffered(const Function& function, bool expected = true) {
  const Lowered lowered(function);
  EXPECT_EQ(lowered.exchanged_pointers(), expected ? 2 : 0) << lowered;
  EXPECT_EQ(lowered.count_in_loops(lower::Opcode::kCopy), 0) << lowered;
}

TEST(BufferedUpdates, KeepTheBorderOfAStencil) {
  for (const int trips : {3, 4, 51}) {
    for (const std::int64_t columns : {16, 33, 128}) {
      SCOPED_TRACE(::testing::Message() << trips << " trips of 9 x " << columns);
      const Function f = heat(9, columns, trips);
      expect_buffered(f);
      EXPECT_EQ(Lowered(f).count_in_loops(lower::Opcode::kStore), 1) << Lowered(f);
      const Literal x = uneven<float>({9, columns});
      const std::vector<Literal> got = expect_agreement(f, {x});
      const auto width = static_cast<std::size_t>(columns);
      std::vector<float> now(x.data<float>().begin(), x.data<float>().end());
      for (int trip = 0; trip < trips; trip++) {
        std::vector<float> next = now;
        for (std::size_t i = 1; i < 8; i++) {
          for (std::size_t j = 1; j + 1 < width; j++) {
            const std::size_t at = i * width + j;
            next[at] = now[at] + 0.2f * (now[at - width] + now[at + width] + now[at - 1] +
                                         now[at + 1] - 4 * now[at]);
          }
        }
        now = next;
      }
      for (std::size_t i = 0; i < now.size(); i++)
        EXPECT_NEAR(got[0].data<float>()[i], now[i], 1e-6) << i;
    }
  }
}

TEST(BufferedUpdates, AreInPlaceWhereThatMovesLess) {
  // Two copies of the array cost more than two of its inner elements.
  expect_buffered(heat(9, 33, 2), false);
  (void)expect_agreement(heat(9, 33, 2), {uneven<float>({9, 33})});
  // Elements of their own, whatever the way to them.
  const auto own = [](Tensor x) {
    const auto trip = [](Tensor, Tensor u) {
      return update(u, {kInner, kInner}, slice(sin(u), kInner, kInner) * 0.5f);
    };
    return fori_loop(0, 20, trip, x);
  };
  const Literal x = uneven<float>({9, 33});
  expect_buffered(trace(own, x), false);
  (void)expect_agreement(trace(own, x), {x});
  // Inner elements that are in memory in any case, because others are computed from them.
  const auto until = [](Tensor x) {
    const auto trip = [](Tensor u, Tensor) {
      const Tensor next = 0.5f * slice(u, kBefore, kInner) + 0.4f * slice(u, kAfter, kInner);
      const Tensor old = slice(u, kInner, kInner);
      return std::pair(update(u, {kInner, kInner}, next), max(abs(next - old)));
    };
    return while_loop([](Tensor, Tensor change) { return change > 1e-3f; }, trip,
                      std::pair(x, Tensor(1.0f)));
  };
  expect_buffered(trace(until, x), false);
  (void)expect_agreement(trace(until, x), {x});
  // A row that moves, and a few elements of others.
  const auto rows = [](Tensor x) {
    const auto trip = [](Tensor k, Tensor u) { return update(u, k, u[(k + 1) % 9] * 0.5f); };
    return fori_loop(0, 9, trip, x);
  };
  expect_buffered(trace(rows, x), false);
  (void)expect_agreement(trace(rows, x), {x});
}

TEST(BufferedUpdates, FollowOneAnother) {
  // The border follows the inner elements.
  const auto f = [](Tensor x) {
    const auto trip = [](Tensor, Tensor u) {
      const Tensor inner = heat_step(u);
      const Tensor top = update(inner, {range(0, 1), kInner}, slice(inner, range(1, 2), kInner));
      return update(top, {range(), range(0, 1)}, slice(top, range(), range(1, 2)));
    };
    return fori_loop(0, 7, trip, x);
  };
  const Literal x = uneven<float>({9, 33});
  expect_buffered(trace(f, x));
  (void)expect_agreement(trace(f, x), {x});
}

TEST(BufferedUpdates, ReadNoElementsOfAnEarlierTrip) {
  // Between the updates elements are read that a later one writes: in the second buffer they would
  // be those of the trip before the last.
  const auto moves_on = [](Tensor x) {
    const auto trip = [](Tensor, Tensor u) {
      const Tensor inner = heat_step(u);
      return update(inner, {range(0, 1)}, slice(inner, range(0, 1)) + slice(inner, range(1, 2)));
    };
    return fori_loop(0, 7, trip, x);
  };
  const auto corner = [](Tensor x) {
    const auto trip = [](Tensor, Tensor u) {
      const Tensor inner = heat_step(u);
      const Tensor top = update(inner, {range(0, 1)}, slice(inner, range(1, 2)));
      return update(top, {range(), range(0, 1)}, slice(top, range(), range(1, 2)));
    };
    return fori_loop(0, 7, trip, x);
  };
  const auto sums = [](Tensor x) {
    const auto trip = [](Tensor, Tensor u) {
      const Tensor inner = heat_step(u);
      return update(inner, {range(0, 1)}, expand_dims(sum(inner, {0}), 0));
    };
    return fori_loop(0, 7, trip, x);
  };
  const Literal x = uneven<float>({9, 33});
  for (const Function& f : {trace(moves_on, x), trace(corner, x), trace(sums, x)}) {
    EXPECT_EQ(Lowered(f).exchanged_pointers(), 0) << Lowered(f);
    (void)expect_agreement(f, {x});
  }
}

TEST(BufferedUpdates, OfTwoFieldsReadOneAnother) {
  const auto f = [](Tensor e, Tensor h) {
    const auto trip = [](Tensor, Tensor e, Tensor h) {
      const Tensor next =
          update(h, {range({}, -1)},
                 slice(h, range({}, -1)) + 0.5f * (slice(e, range(1)) - slice(e, range({}, -1))));
      const Tensor mixed = slice(e, kBefore) + slice(e, kAfter);
      return std::pair(update(e, {kInner}, mixed * 0.25f + slice(next, kInner)), next);
    };
    return fori_loop(0, 12, trip, std::pair(e, h));
  };
  const Literal e = uneven<float>({70}), h = uneven<float>({70});
  (void)expect_agreement(trace(f, e, h), {e, h});
  expect_buffered(trace(f, e, h));
}

TEST(BufferedUpdates, OfTheStateBeforeTheLastAreCopied) {
  const auto f = [](Tensor x, Tensor y) {
    const auto trip = [](Tensor, Tensor now, Tensor before) {
      return std::pair(heat_step(now) - 0.1f * before, now);
    };
    const auto same = [](Tensor, Tensor now, Tensor before) {
      return std::pair(update(now, {kInner, kInner}, slice(before, kBefore, kAfter)), now);
    };
    const auto first = fori_loop(0, 5, trip, std::pair(x, y));
    return std::pair(first, fori_loop(0, 5, same, std::pair(x, y)));
  };
  const Literal x = uneven<float>({9, 33}), y = testing::ramp({9, 33}, 0.01f, -1);
  (void)expect_agreement(trace(f, x, y), {x, y});
}

TEST(BufferedUpdates, MayBeginWhereALoopFindsThem) {
  // The place is the same in all trips, but known only when the loop begins.
  const auto f = [](Tensor x, Tensor start) {
    const auto trip = [&](Tensor, Tensor u) {
      const Tensor part = slice(u, range({}, 6), range(1, 21)) + slice(u, range(3), range({}, -13));
      return dynamic_update_slice(u, part * 0.4f, {start, start});
    };
    return fori_loop(0, 9, trip, x);
  };
  const Literal x = uneven<float>({9, 33});
  const Function function = trace(f, x.type(), s32());
  expect_buffered(function);
  for (const int start : {-5, 0, 2, 3, 40})
    (void)expect_agreement(function, {x, Literal::scalar(start)});
  // And different ones.
  const auto moving = [](Tensor x) {
    const auto trip = [&](Tensor k, Tensor u) {
      const Tensor part = slice(u, range({}, 6), range(1, 21)) * 0.5f;
      return dynamic_update_slice(u, part, {k, k});
    };
    return fori_loop(0, 9, trip, x);
  };
  expect_buffered(trace(moving, x), false);
  (void)expect_agreement(trace(moving, x), {x});
}

TEST(BufferedUpdates, AreMadeInLoopsOfAllKinds) {
  const auto until = [](Tensor x) {
    return while_loop([](Tensor u, Tensor k) { return (k < 30) & (max(u) > 0.3f); },
                      [](Tensor u, Tensor k) { return std::pair(heat_step(u), k + 1); },
                      std::pair(x, Tensor(0)));
  };
  const auto inside = [](Tensor x) {
    const auto day = [](Tensor k, Tensor u) {
      const Tensor after = fori_loop(
          0, k, [](Tensor, Tensor v) { return heat_step(v); }, u);
      return cond(
          k > 2, [](Tensor v) { return heat_step(v); }, [](Tensor v) { return v * 0.9f; }, after);
    };
    return fori_loop(0, 6, day, x);
  };
  const auto recorded = [](Tensor x) {
    const auto step = [](Tensor u, Tensor k) {
      const Tensor next = heat_step(u);
      return std::pair(next, next[4] * convert(k, DType::kF32));
    };
    return scan(step, x, arange(7));
  };
  const Literal x = uneven<float>({9, 33}), batch = uneven<float>({3, 9, 33});
  (void)expect_agreement(trace(until, x), {x});
  (void)expect_agreement(trace(inside, x), {x});
  (void)expect_agreement(trace(recorded, x), {x});
  const auto f = [](Tensor x) {
    return sum(fori_loop(
                   0, 8, [](Tensor, Tensor u) { return heat_step(u); }, x) *
               x);
  };
  (void)expect_agreement(trace(vmap(f), batch), {batch});
  (void)expect_agreement(trace(grad(f), x), {x});
  testing::expect_same_on_threads(heat(300, 200, 7), {uneven<float>({300, 200})});
}

TEST(BufferedUpdates, LeaveTheStateOfATripWhereALimitSays) {
  const Executable run = compile(heat(9, 33, 50));
  const Literal x = uneven<float>({9, 33});
  RunOptions options;
  for (const std::int64_t most : {3, 4}) {
    options.max_iterations = most;
    try {
      (void)run.run({x}, options);
      ADD_FAILURE() << "it ended";
    } catch (const Interrupted& ended) {
      ASSERT_EQ(ended.carry().size(), 1u);
      const Literal want = compile(heat(9, 33, static_cast<int>(most))).run({x})[0];
      EXPECT_TRUE(ended.carry()[0].second.identical(want));
    }
  }
}

}  // namespace
}  // namespace rondo
