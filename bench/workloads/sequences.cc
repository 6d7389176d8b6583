// Letters one after the other: unpacking, alignment, searches, and a loss over labels.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> sequence_workloads();  // a part of array_workloads

namespace {

/// A text from its packed form (LZ77): each token copies letters from some places back, then adds
/// one of its own.
Workload unpacked() {
  constexpr std::size_t kTokens = 600;
  Literal distances = uniform_integers({kTokens}, 1, 48),
          lengths = uniform_integers({kTokens}, 0, 13, 2);
  int size = 0;
  for (std::size_t i = 0; i < kTokens; i++) {
    int& length = lengths.mutable_data<std::int32_t>()[i];
    if (size < 48) length = 0;
    size += length + 1;
  }
  const std::int64_t letters = size;
  const auto program = [&](Tensor distances, Tensor lengths, Tensor added) {
    const auto unpack = [&](Tensor i, Tensor at, Tensor text) {
      const Tensor back = distances[i], end = at + lengths[i];
      const auto copy = [&](Tensor k, Tensor text) { return update(text, k, text[k - back]); };
      const Tensor copied = fori_loop(at, end, copy, text);
      return std::tuple(end + 1, update(copied, end, added[i]));
    };
    const auto start = std::tuple(Tensor(0), zeros(u8({letters})));
    return std::get<1>(fori_loop(0, kTokens, unpack, start));
  };
  const auto plain = [letters](const Literals& arguments) -> Literals {
    const auto distances = arguments[0].data<std::int32_t>(),
               lengths = arguments[1].data<std::int32_t>();
    const auto added = arguments[2].data<std::uint8_t>();
    Literal result = Literal::zeros(u8({letters}));
    std::uint8_t* text = result.mutable_data<std::uint8_t>().data();
    int at = 0;
    for (std::size_t i = 0; i < kTokens; i++) {
      for (const int end = at + lengths[i]; at < end; at++) text[at] = text[at - distances[i]];
      text[at++] = added[i];
    }
    return {result};
  };
  Literal added = Literal::uninitialized(u8({kTokens}));
  for (std::size_t i = 0; i < kTokens; i++)
    added.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(i * 37);
  return {.name = "codes/unpacked",
          .program = trace(program, s32({kTokens}), s32({kTokens}), u8({kTokens})),
          .arguments = {distances, lengths, added},
          .plain = plain};
}

/// The best alignment of two whole strands (Needleman and Wunsch), and its path from the end.
Workload global_alignment() {
  constexpr std::int64_t kLetters = 96, kSide = kLetters + 1;
  const auto program = [&](Tensor first, Tensor second) {
    const auto cost = [&](Tensor i, Tensor j) {
      return where(first[i - 1] == second[j - 1], 2, -1);
    };
    const auto row = [&](Tensor i, Tensor scores) {
      const auto cell = [&](Tensor j, Tensor scores) {
        const Tensor matched = at(scores, {i - 1, j - 1}) + cost(i, j);
        const Tensor gap = maximum(at(scores, {i - 1, j}), at(scores, {i, j - 1})) - 2;
        return update(scores, {i, j}, maximum(matched, gap));
      };
      return fori_loop(1, kSide, cell, scores);
    };
    const Tensor edge = arange(kSide) * -2;
    Tensor scores = update(zeros(s32({kSide, kSide})), {0, range()}, edge);
    scores = fori_loop(1, kSide, row, update(scores, {range(), 0}, edge));
    const auto goes_on = [](Tensor i, Tensor j, Tensor, Tensor) { return (i > 0) | (j > 0); };
    const auto step = [&](Tensor i, Tensor j, Tensor count, Tensor path) {
      const Tensor score = at(scores, {i, j});
      const Tensor both = (i > 0) & (j > 0) & (score == at(scores, {i - 1, j - 1}) + cost(i, j));
      const Tensor up = ~both & (i > 0) & (score == at(scores, {i - 1, j}) - 2);
      return std::tuple(where(both | up, i - 1, i), where(up, j, j - 1), count + 1,
                        update(path, count, where(both, 0, where(up, 1, 2))));
    };
    const auto start = std::tuple(Tensor(std::int32_t{kLetters}), Tensor(std::int32_t{kLetters}),
                                  Tensor(0), zeros(s32({2 * kLetters})));
    const auto end = while_loop(goes_on, step, start);
    return std::tuple(at(scores, {kLetters, kLetters}), std::get<2>(end), std::get<3>(end));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const int* first = arguments[0].data<std::int32_t>().data();
    const int* second = arguments[1].data<std::int32_t>().data();
    static std::array<std::array<int, kSide>, kSide> scores;
    const auto cost = [&](std::size_t i, std::size_t j) {
      return first[i - 1] == second[j - 1] ? 2 : -1;
    };
    for (std::size_t i = 0; i < kSide; i++) scores[0][i] = scores[i][0] = -2 * static_cast<int>(i);
    for (std::size_t i = 1; i < kSide; i++)
      for (std::size_t j = 1; j < kSide; j++)
        scores[i][j] = std::max(scores[i - 1][j - 1] + cost(i, j),
                                std::max(scores[i - 1][j], scores[i][j - 1]) - 2);
    Literal result = Literal::zeros(s32({2 * kLetters}));
    int* path = result.mutable_data<std::int32_t>().data();
    std::size_t i = kLetters, j = kLetters;
    std::int32_t count = 0;
    while (i > 0 || j > 0) {
      const int score = scores[i][j];
      if (i > 0 && j > 0 && score == scores[i - 1][j - 1] + cost(i, j)) {
        path[count++] = 0;
        i--, j--;
      } else if (i > 0 && score == scores[i - 1][j] - 2) {
        path[count++] = 1;
        i--;
      } else {
        path[count++] = 2;
        j--;
      }
    }
    return {Literal::scalar(scores[kLetters][kLetters]), Literal::scalar(count), result};
  };
  return {.name = "codes/global_alignment",
          .program = trace(program, s32({kLetters}), s32({kLetters})),
          .arguments = {uniform_integers({kLetters}, 0, 4), uniform_integers({kLetters}, 0, 4, 2)},
          .plain = plain};
}

/// How often a word occurs in a text (Knuth, Morris and Pratt).
Workload string_search() {
  constexpr std::int64_t kText = 8192, kWord = 8;
  const auto program = [&](Tensor text, Tensor word) {
    const auto fall_back = [&](Tensor table, Tensor letter, Tensor k) {
      const auto differs = [&](Tensor k) { return (k > 0) & (word[k] != letter); };
      const Tensor kept = while_loop(
          differs, [&](Tensor k) { return table[k - 1]; }, k);
      return where(word[kept] == letter, kept + 1, kept);
    };
    const auto extend = [&](Tensor i, Tensor table, Tensor k) {
      const Tensor next = fall_back(table, word[i], k);
      return std::tuple(update(table, i, next), next);
    };
    const Tensor table =
        std::get<0>(fori_loop(1, kWord, extend, std::tuple(zeros(s32({kWord})), Tensor(0))));
    const auto look = [&](Tensor i, Tensor k, Tensor count) {
      const Tensor next = fall_back(table, text[i], k);
      const Tensor found = next == std::int32_t{kWord};
      return std::tuple(where(found, table[kWord - 1], next), count + where(found, 1, 0));
    };
    return std::get<1>(fori_loop(0, kText, look, std::tuple(Tensor(0), Tensor(0))));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto text = arguments[0].data<std::int32_t>(), word = arguments[1].data<std::int32_t>();
    std::array<std::size_t, kWord> table{};
    const auto fall_back = [&](std::int32_t letter, std::size_t k) {
      while (k > 0 && word[k] != letter) k = table[k - 1];
      return word[k] == letter ? k + 1 : k;
    };
    std::size_t k = 0;
    for (std::size_t i = 1; i < kWord; i++) table[i] = k = fall_back(word[i], k);
    std::int32_t count = 0;
    k = 0;
    for (std::size_t i = 0; i < kText; i++) {
      k = fall_back(text[i], k);
      if (k == kWord) {
        count++;
        k = table[kWord - 1];
      }
    }
    return {Literal::scalar(count)};
  };
  return {.name = "codes/string_search",
          .program = trace(program, s32({kText}), s32({kWord})),
          .arguments = {uniform_integers({kText}, 0, 2),
                        Literal::from(std::vector<std::int32_t>{0, 1, 0, 0, 1, 0, 1, 1}, {kWord})},
          .plain = plain};
}

/// Where a text comes closest to a word of 64 letters, all rows of the table as bits (Myers).
Workload bit_distance() {
  constexpr std::int64_t kText = 8192, kWord = 64, kAlphabet = 4;
  const auto program = [&](Tensor text, Tensor word) {
    const auto note = [&](Tensor i, Tensor places) {
      const Tensor bit = Tensor(std::uint64_t{1}) << convert(i, DType::kU64);
      return update(places, word[i], places[word[i]] | bit);
    };
    const Tensor places = fori_loop(0, kWord, note, zeros(u64({kAlphabet})));
    const auto column_of = [&](Tensor i, Tensor plus, Tensor minus, Tensor score, Tensor best) {
      const Tensor equal = places[text[i]];
      const Tensor vertical = equal | minus;
      const Tensor across = (((equal & plus) + plus) ^ plus) | equal;
      const Tensor up = minus | ~(across | plus), down = plus & across;
      const Tensor now = score + convert(up >> 63, DType::kS32) - convert(down >> 63, DType::kS32);
      const Tensor next_up = (up << 1), next_down = down << 1;
      return std::tuple(next_down | ~(vertical | next_up), next_up & vertical, now,
                        minimum(best, now));
    };
    const Tensor none = zeros(u64());
    const auto end = fori_loop(0, kText, column_of,
                               std::tuple(~none, none, std::int32_t{kWord}, std::int32_t{kWord}));
    return std::pair(std::get<2>(end), std::get<3>(end));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto text = arguments[0].data<std::int32_t>(), word = arguments[1].data<std::int32_t>();
    std::array<std::uint64_t, kAlphabet> places{};
    for (std::size_t i = 0; i < kWord; i++)
      places[static_cast<std::size_t>(word[i])] |= std::uint64_t{1} << i;
    std::uint64_t plus = ~std::uint64_t{0}, minus = 0;
    std::int32_t score = kWord, best = kWord;
    for (const std::int32_t letter : text) {
      const std::uint64_t equal = places[static_cast<std::size_t>(letter)];
      const std::uint64_t vertical = equal | minus;
      const std::uint64_t across = (((equal & plus) + plus) ^ plus) | equal;
      std::uint64_t up = minus | ~(across | plus), down = plus & across;
      score += static_cast<std::int32_t>(up >> 63) - static_cast<std::int32_t>(down >> 63);
      up <<= 1, down <<= 1;
      plus = down | ~(vertical | up);
      minus = up & vertical;
      best = std::min(best, score);
    }
    return {Literal::scalar(score), Literal::scalar(best)};
  };
  return {.name = "codes/bit_distance",
          .program = trace(program, s32({kText}), s32({kWord})),
          .arguments = {uniform_integers({kText}, 0, kAlphabet),
                        uniform_integers({kWord}, 0, kAlphabet, 2)},
          .plain = plain};
}

/// The loss of connectionist temporal classification: the paths through labels and blanks, added up
/// as logarithms.
Workload ctc_loss() {
  constexpr std::int64_t kSteps = 80, kClasses = 20, kLabels = 12, kStates = 2 * kLabels + 1;
  static constexpr float kNever = -1e30f;
  const auto program = [&](Tensor scores, Tensor labels) {
    const Tensor states = arange(kStates);
    const Tensor symbol = where((states & 1) == 1, take(labels, states >> 1), 0);
    const Tensor skips = (states >= 2) & (symbol != 0) & (symbol != roll(symbol, 2, 0));
    const auto shifted = [&](Tensor x, std::int64_t by) {
      return rondo::concatenate({full(f32({by}), kNever), slice(x, range(0, kStates - by))}, 0);
    };
    const auto step = [&](Tensor ways, Tensor row) {
      const Tensor one = shifted(ways, 1), two = where(skips, shifted(ways, 2), kNever);
      const Tensor most = maximum(ways, maximum(one, two));
      const Tensor all = most + log(exp(ways - most) + exp(one - most) + exp(two - most));
      return std::pair(all + take(log_softmax(row), symbol), std::tuple<>());
    };
    const Tensor start = where(states == 0, 0.0f, kNever);
    const Tensor end = scan(step, start, scores).first;
    return -logsumexp(slice(end, range(kStates - 2)));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto scores = arguments[0].data<float>();
    const auto labels = arguments[1].data<std::int32_t>();
    std::array<float, kStates> ways{};
    ways.fill(kNever);
    ways[0] = 0;
    std::array<std::size_t, kStates> symbol{};
    for (std::size_t s = 1; s < kStates; s += 2)
      symbol[s] = static_cast<std::size_t>(labels[s / 2]);
    for (std::size_t t = 0; t < kSteps; t++) {
      const float* row = &scores[t * kClasses];
      float largest = row[0], total = 0;
      for (std::size_t k = 1; k < kClasses; k++) largest = std::max(largest, row[k]);
      for (std::size_t k = 0; k < kClasses; k++) total += std::exp(row[k] - largest);
      const float norm = largest + std::log(total);
      for (std::size_t s = kStates; s-- > 0;) {  // from the end: the states before are the old ones
        const float one = s >= 1 ? ways[s - 1] : kNever;
        const bool skips = s >= 2 && symbol[s] != 0 && symbol[s] != symbol[s - 2];
        const float two = skips ? ways[s - 2] : kNever;
        const float most = std::max(ways[s], std::max(one, two));
        ways[s] = most +
                  std::log(std::exp(ways[s] - most) + std::exp(one - most) + std::exp(two - most)) +
                  row[symbol[s]] - norm;
      }
    }
    const float a = ways[kStates - 1], b = ways[kStates - 2], most = std::max(a, b);
    return {Literal::scalar(-(most + std::log(std::exp(a - most) + std::exp(b - most))))};
  };
  return {.name = "learning/ctc_loss",
          .program = trace(program, f32({kSteps, kClasses}), s32({kLabels})),
          .arguments = {uniform_floats({kSteps, kClasses}, -2, 2),
                        uniform_integers({kLabels}, 1, kClasses, 2)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> sequence_workloads() {
  return {unpacked(), global_alignment(), string_search(), bit_distance(), ctc_loss()};
}

}  // namespace rondo::bench
