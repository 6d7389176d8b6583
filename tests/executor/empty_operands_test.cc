// Operands without elements in vectorized loops are not read.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <numeric>
#include <utility>
#include <vector>

#include "executor/agreement.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

/// y = y / 2 + 1 in five trips, with a history into which an update of no elements is written.
Tensor halved(const Tensor& history, const Tensor& none, const Tensor& start, bool writes) {
  const auto lane = [&](Tensor rows, Tensor empty) {
    using State = std::pair<Tensor, Tensor>;
    const auto trip = [&](Tensor i, State s) {
      const Tensor kept = writes ? update(s.first, i + 1, s.second) : s.first;
      return State(dynamic_update_slice(kept, empty, {i + start}), s.second * 0.5f + 1.0f);
    };
    const State end = fori_loop(0, 5, trip, State(rows, rows[0]));
    return concatenate({end.first, expand_dims(end.second, 0)}, 0);
  };
  return vmap(lane)(history, none);
}

TEST(EmptyOperands, OfUpdatesAtARuntimeIndexAreNotRead) {
  for (const bool writes : {false, true}) {
    for (const std::int64_t lanes : {1, 3, 20}) {
      for (const std::int64_t length : {4, 40}) {
        SCOPED_TRACE(::testing::Message() << lanes << " lanes of " << length << ", " << writes);
        std::vector<float> rows(static_cast<std::size_t>(lanes * length));
        std::iota(rows.begin(), rows.end(), 1.0f);
        std::vector<float> want;
        for (std::int64_t lane = 0; lane < lanes; lane++) {
          std::vector<float> history(rows.begin() + lane * length,
                                     rows.begin() + (lane + 1) * length);
          float y = history[0];
          for (int i = 0; i < 5; i++) {
            if (writes)
              history[static_cast<std::size_t>(std::min<std::int64_t>(i + 1, length - 1))] = y;
            y = y * 0.5f + 1.0f;
          }
          history.push_back(y);
          want.insert(want.end(), history.begin(), history.end());
        }
        const Literal x = Literal::from(rows, {lanes, length}), start = Literal::scalar(1);
        const Function f =
            trace([&](Tensor h, Tensor none, Tensor i) { return halved(h, none, i, writes); },
                  f32({lanes, length}), f32({lanes, 0}), s32());
        for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
          // A null pointer is memory of no bytes.
          const std::byte* arguments[] = {x.bytes(), nullptr, start.bytes()};
          std::vector<float> got(want.size());
          std::byte* results[] = {reinterpret_cast<std::byte*>(got.data())};
          compile(f, {.executor = executor}).run_on_memory(arguments, results);
          EXPECT_EQ(got, want);
        }
      }
    }
  }
}

}  // namespace
}  // namespace rondo
