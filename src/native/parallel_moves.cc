#include "native/parallel_moves.h"

#include <vector>

#include "absl/container/flat_hash_map.h"

namespace rondo::native_code {

// A place that another move still reads must not be written yet. Once only cycles remain, one value
// goes to scratch.
void move_in_parallel(std::span<const ParallelMove> moves,
                      absl::FunctionRef<void(std::size_t)> move,
                      absl::FunctionRef<void(std::size_t)> save,
                      absl::FunctionRef<void(std::size_t)> move_saved) {
  absl::flat_hash_map<std::uint64_t, int> readers;  // for each place, among the remaining moves
  absl::flat_hash_map<std::uint64_t, std::size_t> writer;
  for (std::size_t m = 0; m < moves.size(); m++) {
    if (moves[m].from != 0) readers[moves[m].from]++;
    writer[moves[m].to] = m;
  }
  std::vector<bool> done(moves.size());
  std::vector<std::size_t> ready;
  for (std::size_t m = 0; m < moves.size(); m++) {
    if (!readers.contains(moves[m].to)) ready.push_back(m);
  }
  std::uint64_t in_scratch = 0;
  const auto run_ready = [&] {
    while (!ready.empty()) {
      const std::size_t m = ready.back();
      ready.pop_back();
      if (done[m]) continue;
      done[m] = true;
      const std::uint64_t from = moves[m].from;
      from != 0 && from == in_scratch ? move_saved(m) : move(m);
      if (from != 0 && --readers[from] == 0) {
        if (const auto next = writer.find(from); next != writer.end() && !done[next->second])
          ready.push_back(next->second);
      }
    }
  };
  run_ready();
  for (std::size_t m = 0; m < moves.size(); m++) {
    if (done[m]) continue;
    // The place that m writes is read by one other move of its cycle, which now reads it from
    // scratch.
    save(m);
    in_scratch = moves[m].to;
    ready.push_back(m);
    run_ready();
    in_scratch = 0;
  }
}

}  // namespace rondo::native_code
