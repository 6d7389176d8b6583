#include "executor/pieces.h"

#include <algorithm>
#include <atomic>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/parallel.h"

namespace rondo::executor {

namespace {

// Ops on lanes that take some ten times as long as it takes to wake a thread; and of a piece.
constexpr std::int64_t kLeastWork = std::int64_t{1} << 20, kWorkOfPiece = std::int64_t{1} << 18;
// No two pieces write to one line of the cache, and no block of lanes is in two.
constexpr std::int64_t kMultiple = 256;

}  // namespace

std::unique_ptr<const Pieces> Pieces::of(const Unit& whole) {
  if (whole.guarded) return nullptr;
  auto divided =
      lower::divided(*whole.program, static_cast<std::uint32_t>(whole.function.params().size()));
  if (!divided || divided->work < kLeastWork) return nullptr;
  auto made = std::make_unique<Pieces>();
  made->piece_argument_ = divided->piece_argument;
  made->lanes_ = divided->lanes;
  const std::int64_t pieces = std::clamp<std::int64_t>(divided->work / kWorkOfPiece, 2, 64);
  made->lanes_of_piece_ = (divided->lanes / pieces + kMultiple) / kMultiple * kMultiple;
  made->unit_.function = whole.function;
  made->unit_.prepare(std::move(divided->program), whole.native != nullptr);
  return made;
}

bool Pieces::run(int threads, std::byte* const* arguments, std::byte* const* results,
                 std::int64_t* total_trips) const {
  const std::int64_t pieces = (lanes_ + lanes_of_piece_ - 1) / lanes_of_piece_;
  const std::size_t loops = unit_.program->loops.size();
  // Of each piece its trips, its totals, and what its lanes count.
  std::vector<std::int64_t> counts(static_cast<std::size_t>(pieces) * 4 * loops, 0);
  std::atomic<bool> failed{false};
  parallel_for(pieces, threads, [&](std::int64_t piece) {
    std::int64_t first_and_count[2] = {piece * lanes_of_piece_, 0};
    first_and_count[1] = std::min(lanes_of_piece_, lanes_ - first_and_count[0]);
    absl::InlinedVector<std::byte*, 16> with_piece(arguments, arguments + piece_argument_);
    with_piece.push_back(reinterpret_cast<std::byte*>(first_and_count));
    lower::RunFrame frame;
    frame.arguments = with_piece.data();
    frame.results = results;
    frame.trips = counts.data() + static_cast<std::size_t>(piece) * 4 * loops;
    frame.total_trips = frame.trips + loops;
    frame.lane_trips = frame.total_trips + loops;
    if (unit_.run(frame, [](lower::Status) {}) != lower::Status::kDone)
      failed.store(true, std::memory_order_relaxed);
  });
  if (failed.load(std::memory_order_relaxed)) return false;
  if (!total_trips) return true;
  for (std::size_t loop = 0; loop < loops; loop++) {
    std::int64_t most = 0;
    for (std::size_t piece = 0; piece < static_cast<std::size_t>(pieces); piece++)
      most = std::max(most, counts[(4 * piece + 1) * loops + loop]);
    total_trips[loop] += most;
  }
  return true;
}

}  // namespace rondo::executor
