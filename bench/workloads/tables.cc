// Sorting, searching and tables, written as loops that update arrays element by element; a graph's
// edges.
#include <algorithm>
#include <array>
#include <bit>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> table_workloads();  // a part of array_workloads

namespace {

/// Numbers of 16 bits, sorted by a byte after the other (a radix sort).
Workload radix_sort() {
  constexpr std::int64_t kKeys = 4096;
  const auto program = [&](Tensor keys) {
    const auto by_byte = [&](Tensor pass, Tensor keys) {
      const auto digit = [&](Tensor i) { return (keys[i] >> (8 * pass)) & 255; };
      const auto count = [&](Tensor i, Tensor counts) {
        return update(counts, digit(i), counts[digit(i)] + 1);
      };
      const Tensor counts = fori_loop(0, kKeys, count, zeros(s32({256})));
      const auto place = [&](Tensor i, Tensor sorted, Tensor next) {
        const Tensor to = next[digit(i)];
        return std::tuple(update(sorted, to, keys[i]), update(next, digit(i), to + 1));
      };
      return std::get<0>(
          fori_loop(0, kKeys, place, std::tuple(zeros(s32({kKeys})), cumsum(counts, 0) - counts)));
    };
    return fori_loop(0, 2, by_byte, keys);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal result = arguments[0];
    const auto keys = result.mutable_data<std::int32_t>();
    static std::vector<std::int32_t> sorted(kKeys);
    for (int shift = 0; shift < 16; shift += 8) {
      std::array<std::int32_t, 256> next{};
      for (const std::int32_t key : keys) next[static_cast<std::size_t>(key >> shift & 255)]++;
      std::int32_t sum = 0;
      for (std::int32_t& count : next) count = std::exchange(sum, sum + count);
      for (const std::int32_t key : keys)
        sorted[static_cast<std::size_t>(next[static_cast<std::size_t>(key >> shift & 255)]++)] =
            key;
      std::copy(sorted.begin(), sorted.end(), keys.begin());
    }
    return {result};
  };
  return {.name = "tables/radix_sort",
          .program = trace(program, s32({kKeys})),
          .arguments = {uniform_integers({kKeys}, 0, 65536)},
          .plain = plain};
}

/// The numbers above a threshold, one after the other, and how many there are.
Workload compaction() {
  constexpr std::int64_t kNumbers = 8192;
  const auto program = [&](Tensor x) {
    const auto keep = [&](Tensor i, Tensor kept, Tensor count) {
      const Tensor is_kept = x[i] > 0.5f;
      return std::tuple(where(is_kept, update(kept, count, x[i]), kept),
                        count + convert(is_kept, DType::kS32));
    };
    return fori_loop(0, kNumbers, keep, std::tuple(zeros(f32({kNumbers})), 0));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal result = Literal::zeros(f32({kNumbers}));
    const auto kept = result.mutable_data<float>();
    std::int32_t count = 0;
    for (const float x : arguments[0].data<float>())
      if (x > 0.5f) kept[static_cast<std::size_t>(count++)] = x;
    return {result, Literal::scalar(count)};
  };
  return {.name = "tables/compaction",
          .program = trace(program, f32({kNumbers})),
          .arguments = {uniform_floats({kNumbers}, 0, 1)},
          .plain = plain};
}

/// Where numbers are in a sorted table, by halving a range until one place is left.
Workload binary_search() {
  constexpr std::int64_t kTable = 4096, kQueries = 2000;
  const auto program = [&](Tensor table, Tensor queries) {
    const auto find = [&](Tensor x) {
      const auto halve = [&](Tensor low, Tensor high) {
        const Tensor middle = (low + high) / 2, is_below = table[middle] < x;
        return std::tuple(where(is_below, middle + 1, low), where(is_below, high, middle));
      };
      return std::get<0>(while_loop([](Tensor low, Tensor high) { return low < high; }, halve,
                                    std::tuple(0, Tensor(std::int32_t{kTable}))));
    };
    return vmap(find)(queries);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto table = arguments[0].data<float>(), queries = arguments[1].data<float>();
    Literal places = Literal::uninitialized(s32({kQueries}));
    for (std::size_t i = 0; i < kQueries; i++) {
      std::int32_t low = 0, high = kTable;
      while (low < high) {
        const std::int32_t middle = (low + high) / 2;
        if (table[static_cast<std::size_t>(middle)] < queries[i])
          low = middle + 1;
        else
          high = middle;
      }
      places.mutable_data<std::int32_t>()[i] = low;
    }
    return {places};
  };
  Literal table = uniform_floats({kTable}, 0, 1);
  std::sort(table.mutable_data<float>().begin(), table.mutable_data<float>().end());
  return {.name = "tables/binary_search",
          .program = trace(program, f32({kTable}), f32({kQueries})),
          .arguments = {table, uniform_floats({kQueries}, 0, 1, 2)},
          .plain = plain};
}

/// A hash table with open addressing: each key goes to the next free place, or counts where it is.
Workload hash_table() {
  constexpr std::int64_t kKeys = 2048, kPlaces = 4096;
  const auto program = [&](Tensor keys) {
    const auto insert = [&](Tensor i, Tensor table, Tensor counts) {
      const Tensor key = keys[i];
      const Tensor hash = convert((convert(key, DType::kU32) * 2654435761u) >> 20, DType::kS32);
      const auto is_taken = [&](Tensor at) { return (table[at] != -1) & (table[at] != key); };
      const Tensor at = while_loop(
          is_taken, [](Tensor at) { return (at + 1) & (kPlaces - 1); }, hash);
      return std::tuple(update(table, at, key), update(counts, at, counts[at] + 1));
    };
    return fori_loop(0, kKeys, insert, std::tuple(full(s32({kPlaces}), -1), zeros(s32({kPlaces}))));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal keys = Literal::uninitialized(s32({kPlaces})), counted = Literal::zeros(s32({kPlaces}));
    const auto table = keys.mutable_data<std::int32_t>(),
               counts = counted.mutable_data<std::int32_t>();
    std::fill(table.begin(), table.end(), -1);
    for (const std::int32_t key : arguments[0].data<std::int32_t>()) {
      std::size_t at = static_cast<std::uint32_t>(key) * 2654435761u >> 20;
      while (table[at] != -1 && table[at] != key) at = (at + 1) & (kPlaces - 1);
      table[at] = key;
      counts[at]++;
    }
    return {keys, counted};
  };
  return {.name = "tables/hash_table",
          .program = trace(program, s32({kKeys})),
          .arguments = {uniform_integers({kKeys}, 0, 5000)},
          .plain = plain};
}

/// Values of the game of taking 1, 4, 9, ... stones: the least number that no move leads to.
Workload nim_values() {
  constexpr std::int64_t kStones = 1000, kMoves = 16;
  const auto program = [&](Tensor moves) {
    const auto value_of = [&](Tensor n, Tensor values) {
      const auto with_move = [&](Tensor k, Tensor seen) {
        const Tensor left = n - moves[k];
        return where(left >= 0, seen | (Tensor(1) << values[maximum(left, 0)]), seen);
      };
      const Tensor seen = fori_loop(0, kMoves, with_move, Tensor(0));
      return update(values, n, popcount((~seen & (seen + 1)) - 1));
    };
    return fori_loop(0, kStones, value_of, zeros(s32({kStones})));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto moves = arguments[0].data<std::int32_t>();
    Literal result = Literal::zeros(s32({kStones}));
    const auto values = result.mutable_data<std::int32_t>();
    for (int n = 0; n < kStones; n++) {
      unsigned seen = 0;
      for (const int move : moves)
        if (n >= move) seen |= 1u << values[static_cast<std::size_t>(n - move)];
      values[static_cast<std::size_t>(n)] = std::popcount((~seen & (seen + 1)) - 1);
    }
    return {result};
  };
  Literal moves = Literal::uninitialized(s32({kMoves}));
  for (int k = 0; k < kMoves; k++)
    moves.mutable_data<std::int32_t>()[std::size_t(k)] = (k + 1) * (k + 1);
  return {.name = "tables/nim_values",
          .program = trace(program, s32({kMoves})),
          .arguments = {moves},
          .plain = plain};
}

/// The parts of a graph that hang together: roots of trees that are joined edge by edge.
Workload joined_sets() {
  constexpr std::int64_t kNodes = 1024, kEdges = 900;
  const auto program = [&](Tensor from, Tensor to) {
    const auto root_of = [](Tensor parents, Tensor node) {
      return while_loop([&](Tensor x) { return parents[x] != x; },
                        [&](Tensor x) { return parents[x]; }, node);
    };
    const auto join = [&](Tensor i, Tensor parents, Tensor count) {
      const Tensor a = root_of(parents, from[i]), b = root_of(parents, to[i]);
      return std::tuple(update(parents, maximum(a, b), minimum(a, b)), count - where(a == b, 0, 1));
    };
    return fori_loop(0, kEdges, join, std::tuple(arange(kNodes), std::int32_t{kNodes}));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto from = arguments[0].data<std::int32_t>(), to = arguments[1].data<std::int32_t>();
    Literal result = Literal::uninitialized(s32({kNodes}));
    const auto parents = result.mutable_data<std::int32_t>();
    for (std::size_t i = 0; i < kNodes; i++) parents[i] = static_cast<std::int32_t>(i);
    const auto root_of = [&](std::int32_t x) {
      while (parents[static_cast<std::size_t>(x)] != x) x = parents[static_cast<std::size_t>(x)];
      return x;
    };
    std::int32_t count = kNodes;
    for (std::size_t i = 0; i < kEdges; i++) {
      const std::int32_t a = root_of(from[i]), b = root_of(to[i]);
      parents[static_cast<std::size_t>(std::max(a, b))] = std::min(a, b);
      count -= a != b;
    }
    return {result, Literal::scalar(count)};
  };
  return {.name = "graphs/joined_sets",
          .program = trace(program, s32({kEdges}), s32({kEdges})),
          .arguments = {uniform_integers({kEdges}, 0, kNodes),
                        uniform_integers({kEdges}, 0, kNodes, 2)},
          .plain = plain};
}

/// The ranks of pages by their links, given as edges.
Workload page_ranks() {
  constexpr std::int64_t kPages = 512, kLinks = 4096, kTrips = 20;
  const auto program = [&](Tensor from, Tensor to) {
    const Tensor links = segment_sum(ones(f32({kLinks})), from, kPages);
    const auto pass_on = [&](Tensor, Tensor ranks) {
      const Tensor given = ranks / maximum(links, 1);
      return 0.15f / float(kPages) + 0.85f * segment_sum(take(given, from), to, kPages);
    };
    return fori_loop(0, kTrips, pass_on, full(f32({kPages}), 1.0f / float(kPages)));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto from = arguments[0].data<std::int32_t>(), to = arguments[1].data<std::int32_t>();
    Literal result = Literal::uninitialized(f32({kPages}));
    const auto ranks = result.mutable_data<float>();
    std::fill(ranks.begin(), ranks.end(), 1.0f / float(kPages));
    std::array<float, kPages> links{}, given{}, next{};
    for (const int page : from) links[static_cast<std::size_t>(page)]++;
    for (int trip = 0; trip < kTrips; trip++) {
      for (std::size_t i = 0; i < kPages; i++) given[i] = ranks[i] / std::max(links[i], 1.0f);
      next.fill(0);
      for (std::size_t i = 0; i < kLinks; i++)
        next[static_cast<std::size_t>(to[i])] += given[static_cast<std::size_t>(from[i])];
      for (std::size_t i = 0; i < kPages; i++) ranks[i] = 0.15f / float(kPages) + 0.85f * next[i];
    }
    return {result};
  };
  return {.name = "graphs/page_ranks",
          .program = trace(program, s32({kLinks}), s32({kLinks})),
          .arguments = {uniform_integers({kLinks}, 0, kPages),
                        uniform_integers({kLinks}, 0, kPages, 2)},
          .plain = plain};
}

/// The shortest ways from one node (Bellman and Ford), until no edge shortens one.
Workload shortest_ways() {
  constexpr std::int64_t kNodes = 512, kEdges = 2048;
  const auto program = [&](Tensor from, Tensor to, Tensor lengths) {
    const Tensor far = full(f32({kNodes}), std::numeric_limits<float>::infinity());
    const auto shorten = [&](Tensor ways, Tensor) {
      const Tensor next = minimum(ways, segment_min(take(ways, from) + lengths, to, kNodes));
      return std::tuple(next, any(next < ways));
    };
    return std::get<0>(while_loop([](Tensor, Tensor changed) { return changed; }, shorten,
                                  std::tuple(update(far, 0, 0.0f), true)));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto from = arguments[0].data<std::int32_t>(), to = arguments[1].data<std::int32_t>();
    const auto lengths = arguments[2].data<float>();
    Literal result = Literal::uninitialized(f32({kNodes}));
    const auto ways = result.mutable_data<float>();
    std::fill(ways.begin(), ways.end(), std::numeric_limits<float>::infinity());
    ways[0] = 0;
    std::array<float, kNodes> before{};
    for (bool changed = true; changed;) {
      changed = false;
      std::copy(ways.begin(), ways.end(), before.begin());
      for (std::size_t i = 0; i < kEdges; i++) {
        const float way = before[static_cast<std::size_t>(from[i])] + lengths[i];
        float& best = ways[static_cast<std::size_t>(to[i])];
        if (way < best) best = way, changed = true;
      }
    }
    return {result};
  };
  return {
      .name = "graphs/shortest_ways",
      .program = trace(program, s32({kEdges}), s32({kEdges}), f32({kEdges})),
      .arguments = {uniform_integers({kEdges}, 0, kNodes), uniform_integers({kEdges}, 0, kNodes, 2),
                    uniform_floats({kEdges}, 0.1, 1, 3)},
      .plain = plain};
}

/// A sparse matrix by rows (CSR) times a vector, some times.
Workload sparse_products() {
  constexpr std::int64_t kRows = 512, kNonzeros = 4096, kTrips = 10;
  const auto program = [&](Tensor starts, Tensor columns, Tensor values, Tensor x) {
    const auto multiply = [&](Tensor, Tensor x) {
      const auto row = [&](Tensor i) {
        const auto add = [&](Tensor k, Tensor sum) { return sum + values[k] * x[columns[k]]; };
        return fori_loop(starts[i], starts[i + 1], add, 0.0f);
      };
      return map(row, arange(kRows));
    };
    return fori_loop(0, kTrips, multiply, x);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto starts = arguments[0].data<std::int32_t>(),
               columns = arguments[1].data<std::int32_t>();
    const auto values = arguments[2].data<float>();
    Literal result = arguments[3];
    const auto x = result.mutable_data<float>();
    std::array<float, kRows> before{};
    for (int trip = 0; trip < kTrips; trip++) {
      std::copy(x.begin(), x.end(), before.begin());
      for (std::size_t i = 0; i < kRows; i++) {
        float sum = 0;
        for (auto k = static_cast<std::size_t>(starts[i]);
             k < static_cast<std::size_t>(starts[i + 1]); k++)
          sum += values[k] * before[static_cast<std::size_t>(columns[k])];
        x[i] = sum;
      }
    }
    return {result};
  };
  Literal starts = uniform_integers({kRows + 1}, 0, kNonzeros);
  const auto start = starts.mutable_data<std::int32_t>();
  std::sort(start.begin(), start.end());
  start[0] = 0, start[kRows] = kNonzeros;
  return {
      .name = "graphs/sparse_products",
      .program = trace(program, s32({kRows + 1}), s32({kNonzeros}), f32({kNonzeros}), f32({kRows})),
      .arguments = {starts, uniform_integers({kNonzeros}, 0, kRows, 2),
                    uniform_floats({kNonzeros}, 0, 0.2, 3), uniform_floats({kRows}, -1, 1, 4)},
      .plain = plain};
}

}  // namespace

std::vector<Workload> table_workloads() {
  return {radix_sort(),  compaction(), binary_search(), hash_table(),     nim_values(),
          joined_sets(), page_ranks(), shortest_ways(), sparse_products()};
}

}  // namespace rondo::bench
