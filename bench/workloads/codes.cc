// Bytes and letters: checksums, codes, hashes, alignments, and random bits.
#include <algorithm>
#include <array>
#include <bit>
#include <string_view>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> code_workloads();  // a part of array_workloads

namespace {

Literal bytes_of(std::int64_t count, int low, int high, unsigned seed = 1) {
  const Literal numbers = uniform_integers({count}, low, high, seed);
  Literal bytes = Literal::uninitialized(u8({count}));
  const auto to = bytes.mutable_data<std::uint8_t>();
  for (std::size_t i = 0; i < to.size(); i++)
    to[i] = static_cast<std::uint8_t>(numbers.data<std::int32_t>()[i]);
  return bytes;
}

/// The checksum CRC-32 of a text by a table, which is made first.
Workload checksum() {
  constexpr std::int64_t kBytes = 4096;
  constexpr std::uint32_t kPolynomial = 0xedb88320;
  const auto program = [&](Tensor text) {
    const auto shifted = [&](Tensor, Tensor x) {
      return where((x & 1) == 1, (x >> 1) ^ kPolynomial, x >> 1);
    };
    const Tensor table = fori_loop(0, 8, shifted, arange(256, DType::kU32));
    const auto with = [&](Tensor crc, Tensor byte) {
      const Tensor index = (crc ^ convert(byte, DType::kU32)) & 255;
      return std::pair(table[index] ^ (crc >> 8), std::tuple<>());
    };
    return ~scan(with, full(u32(), 0xffffffffu), text).first;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    std::array<std::uint32_t, 256> table{};
    for (std::uint32_t i = 0; i < 256; i++) {
      std::uint32_t x = i;
      for (int bit = 0; bit < 8; bit++) x = (x & 1) != 0 ? x >> 1 ^ kPolynomial : x >> 1;
      table[i] = x;
    }
    std::uint32_t crc = ~0u;
    for (const std::uint8_t byte : arguments[0].data<std::uint8_t>())
      crc = table[(crc ^ byte) & 255] ^ crc >> 8;
    return {Literal::scalar(~crc)};
  };
  return {.name = "codes/checksum",
          .program = trace(program, u8({kBytes})),
          .arguments = {bytes_of(kBytes, 0, 256)},
          .plain = plain};
}

/// Bytes as letters: three become four of an alphabet of 64.
Workload base64() {
  constexpr std::int64_t kGroups = 1024;
  static constexpr std::string_view kAlphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
  const auto program = [&](Tensor bytes) {
    const Tensor alphabet = constant(std::vector<std::uint8_t>(kAlphabet.begin(), kAlphabet.end()));
    const Tensor groups = convert(reshape(bytes, {kGroups, 3}), DType::kU32);
    const Tensor word = (column(groups, 0) << 16) | (column(groups, 1) << 8) | column(groups, 2);
    const Tensor letters = stack(1, word >> 18, (word >> 12) & 63, (word >> 6) & 63, word & 63);
    return reshape(take(alphabet, letters), {4 * kGroups});
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto bytes = arguments[0].data<std::uint8_t>();
    Literal result = Literal::uninitialized(u8({4 * kGroups}));
    const auto text = result.mutable_data<std::uint8_t>();
    for (std::size_t i = 0; i < kGroups; i++) {
      const unsigned word = unsigned(bytes[3 * i] << 16 | bytes[3 * i + 1] << 8 | bytes[3 * i + 2]);
      for (std::size_t k = 0; k < 4; k++)
        text[4 * i + k] = static_cast<std::uint8_t>(kAlphabet[word >> (18 - 6 * k) & 63]);
    }
    return {result};
  };
  return {.name = "codes/base64",
          .program = trace(program, u8({3 * kGroups})),
          .arguments = {bytes_of(3 * kGroups, 0, 256)},
          .plain = plain};
}

/// How often each letter is repeated, one run after the other, and how many runs there are.
Workload run_lengths() {
  constexpr std::int64_t kLetters = 4096;
  const auto program = [&](Tensor text) {
    const auto with = [&](Tensor i, Tensor letters, Tensor lengths, Tensor last) {
      const Tensor starts = (i == 0) | (text[i] != text[maximum(i - 1, 0)]);
      const Tensor run = where(starts, last + 1, last);
      return std::tuple(update(letters, run, text[i]), update(lengths, run, lengths[run] + 1), run);
    };
    const Tensor none = zeros(s32({kLetters}));
    const auto [letters, lengths, last] =
        fori_loop(0, kLetters, with, std::tuple(zeros(u8({kLetters})), none, -1));
    return std::tuple(letters, lengths, last + 1);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto text = arguments[0].data<std::uint8_t>();
    Literal letters = Literal::zeros(u8({kLetters})), lengths = Literal::zeros(s32({kLetters}));
    const auto letter = letters.mutable_data<std::uint8_t>();
    const auto length = lengths.mutable_data<std::int32_t>();
    int run = -1;
    for (std::size_t i = 0; i < kLetters; i++) {
      if (i == 0 || text[i] != text[i - 1]) letter[static_cast<std::size_t>(++run)] = text[i];
      length[static_cast<std::size_t>(run)]++;
    }
    return {letters, lengths, Literal::scalar(std::int32_t{run + 1})};
  };
  return {.name = "codes/run_lengths",
          .program = trace(program, u8({kLetters})),
          .arguments = {bytes_of(kLetters, 0, 2)},
          .plain = plain};
}

/// The hash SHA-256 of blocks of sixteen words (FIPS 180-4), with constants from outside.
Workload secure_hash() {
  constexpr std::int64_t kBlocks = 32;
  const auto program = [&](Tensor blocks, Tensor constants, Tensor start) {
    const auto turn = [](Tensor x, int n) { return (x >> n) | (x << (32 - n)); };
    const auto with_block = [&](Tensor hash, Tensor block) {
      const auto extend = [&](Tensor i, Tensor w) {
        const Tensor x = w[i - 15], y = w[i - 2];
        const Tensor s0 = turn(x, 7) ^ turn(x, 18) ^ (x >> 3);
        const Tensor s1 = turn(y, 17) ^ turn(y, 19) ^ (y >> 10);
        return update(w, i, w[i - 16] + s0 + w[i - 7] + s1);
      };
      const Tensor words =
          fori_loop(16, 64, extend, rondo::concatenate({block, zeros(u32({48}))}, 0));
      using State = std::array<Tensor, 8>;
      const auto round = [&](Tensor i, State s) {
        const auto [a, b, c, d, e, f, g, h] = s;
        const Tensor s1 = turn(e, 6) ^ turn(e, 11) ^ turn(e, 25);
        const Tensor t1 = h + s1 + ((e & f) ^ (~e & g)) + constants[i] + words[i];
        const Tensor s0 = turn(a, 2) ^ turn(a, 13) ^ turn(a, 22);
        const Tensor t2 = s0 + ((a & b) ^ (a & c) ^ (b & c));
        return State{t1 + t2, a, b, c, d + t1, e, f, g};
      };
      const State end =
          fori_loop(0, 64, round,
                    State{hash[0], hash[1], hash[2], hash[3], hash[4], hash[5], hash[6], hash[7]});
      return std::pair(hash + rondo::stack(std::vector<Tensor>(end.begin(), end.end()), 0),
                       std::tuple<>());
    };
    return scan(with_block, start, blocks).first;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto blocks = arguments[0].data<std::uint32_t>(),
               constants = arguments[1].data<std::uint32_t>();
    Literal result = arguments[2];
    const auto hash = result.mutable_data<std::uint32_t>();
    const auto turn = [](std::uint32_t x, int n) { return std::rotr(x, n); };
    for (std::size_t block = 0; block < kBlocks; block++) {
      std::array<std::uint32_t, 64> w{};
      for (std::size_t i = 0; i < 16; i++) w[i] = blocks[block * 16 + i];
      for (std::size_t i = 16; i < 64; i++) {
        const std::uint32_t x = w[i - 15], y = w[i - 2];
        w[i] = w[i - 16] + (turn(x, 7) ^ turn(x, 18) ^ x >> 3) + w[i - 7] +
               (turn(y, 17) ^ turn(y, 19) ^ y >> 10);
      }
      std::uint32_t a = hash[0], b = hash[1], c = hash[2], d = hash[3], e = hash[4], f = hash[5],
                    g = hash[6], h = hash[7];
      for (std::size_t i = 0; i < 64; i++) {
        const std::uint32_t t1 = h + (turn(e, 6) ^ turn(e, 11) ^ turn(e, 25)) +
                                 ((e & f) ^ (~e & g)) + constants[i] + w[i];
        const std::uint32_t t2 =
            (turn(a, 2) ^ turn(a, 13) ^ turn(a, 22)) + ((a & b) ^ (a & c) ^ (b & c));
        h = g, g = f, f = e, e = d + t1, d = c, c = b, b = a, a = t1 + t2;
      }
      const std::uint32_t add[8] = {a, b, c, d, e, f, g, h};
      for (std::size_t i = 0; i < 8; i++) hash[i] += add[i];
    }
    return {result};
  };
  const auto words = [](const Shape& shape, unsigned seed) {
    Literal bits = Literal::uninitialized({DType::kU32, shape});
    std::uint32_t x = seed;
    for (std::uint32_t& word : bits.mutable_data<std::uint32_t>()) {
      x ^= x << 13, x ^= x >> 17, x ^= x << 5;
      word = x;
    }
    return bits;
  };
  return {.name = "codes/secure_hash",
          .program = trace(program, u32({kBlocks, 16}), u32({64}), u32({8})),
          .arguments = {words({kBlocks, 16}, 1), words({64}, 2), words({8}, 3)},
          .plain = plain};
}

/// The best local alignment of two strands with gaps that cost less the longer they are (Smith and
/// Waterman, Gotoh), and where it ends.
Workload local_alignment() {
  constexpr std::int64_t kLetters = 128;
  const auto program = [&](Tensor first, Tensor second) {
    const auto row = [&](Tensor i, Tensor scores, Tensor gaps, Tensor best) {
      const auto cell = [&](Tensor j, Tensor left, Tensor before, Tensor gap, Tensor scores,
                            Tensor gaps, Tensor best) {
        const Tensor above = scores[j];
        const Tensor down = maximum(above - 5, gaps[j] - 1), across = maximum(left - 5, gap - 1);
        const Tensor matched = before + where(first[i] == second[j], 3, -2);
        const Tensor score = maximum(maximum(matched, 0), maximum(down, across));
        return std::tuple(score, above, across, update(scores, j, score), update(gaps, j, down),
                          maximum(best, score));
      };
      const auto end = fori_loop(0, kLetters, cell, std::tuple(0, 0, -100, scores, gaps, best));
      return std::tuple(std::get<3>(end), std::get<4>(end), std::get<5>(end));
    };
    const auto start = std::tuple(zeros(s32({kLetters})), full(s32({kLetters}), -100), 0);
    const auto [scores, gaps, best] = fori_loop(0, kLetters, row, start);
    return std::pair(best, scores);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto first = arguments[0].data<std::int32_t>(),
               second = arguments[1].data<std::int32_t>();
    Literal result = Literal::zeros(s32({kLetters}));
    const auto scores = result.mutable_data<std::int32_t>();
    std::array<std::int32_t, kLetters> gaps{};
    gaps.fill(-100);
    std::int32_t best = 0;
    for (std::size_t i = 0; i < kLetters; i++) {
      std::int32_t left = 0, before = 0, across = -100;
      for (std::size_t j = 0; j < kLetters; j++) {
        const std::int32_t above = scores[j];
        gaps[j] = std::max(above - 5, gaps[j] - 1);
        across = std::max(left - 5, across - 1);
        const std::int32_t matched = before + (first[i] == second[j] ? 3 : -2);
        left = std::max({matched, 0, gaps[j], across});
        before = above;
        scores[j] = left;
        best = std::max(best, left);
      }
    }
    return {Literal::scalar(best), result};
  };
  return {.name = "codes/local_alignment",
          .program = trace(program, s32({kLetters}), s32({kLetters})),
          .arguments = {uniform_integers({kLetters}, 0, 4), uniform_integers({kLetters}, 0, 4, 2)},
          .plain = plain};
}

/// How often points that a generator of random bits (xorshift) draws are in a circle.
Workload random_points() {
  constexpr std::int64_t kPoints = 20000;
  const auto program = [&](Tensor seed) {
    const auto next = [](Tensor x) {
      x = x ^ (x << 13);
      x = x ^ (x >> 17);
      return x ^ (x << 5);
    };
    const auto draw = [&](Tensor, Tensor bits, Tensor count) {
      const Tensor a = next(bits), b = next(a);
      const Tensor x = convert(a >> 8, DType::kF32) * 0x1p-24f,
                   y = convert(b >> 8, DType::kF32) * 0x1p-24f;
      return std::tuple(b, count + where(x * x + y * y < 1, 1, 0));
    };
    return fori_loop(0, kPoints, draw, std::tuple(seed, 0));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    std::uint32_t bits = arguments[0].item<std::uint32_t>();
    const auto next = [&] {
      bits ^= bits << 13, bits ^= bits >> 17, bits ^= bits << 5;
      return static_cast<float>(bits >> 8) * 0x1p-24f;
    };
    std::int32_t count = 0;
    for (int i = 0; i < kPoints; i++) {
      const float x = next(), y = next();
      count += x * x + y * y < 1;
    }
    return {Literal::scalar(bits), Literal::scalar(count)};
  };
  return {.name = "codes/random_points",
          .program = trace(program, u32()),
          .arguments = {Literal::scalar(2463534242u)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> code_workloads() {
  return {checksum(), base64(), run_lengths(), secure_hash(), local_alignment(), random_points()};
}

}  // namespace rondo::bench
