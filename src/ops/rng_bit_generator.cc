// XLA's RngBitGenerator, bit for bit as XLA expands it on the CPU (xla/hlo/builder/lib/prng.cc).
#include "ops/rng_bit_generator.h"

#include <algorithm>
#include <functional>
#include <numeric>

#include "base/memory.h"
#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/threefry.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

InferredTypes infer_rng_bit_generator(const InferContext& context) {
  const auto& [type, algorithm] = context.attrs<RngBitGeneratorAttributes>();
  const TensorType& state = context.type(0);
  if (!is_integer(type.dtype) || is_small(type.dtype)) {
    context.fail(
        fmt::format("bits of {}; they come in integer types\n  Draw unsigned integers of the width "
                    "and use bitcast_convert.",
                    type.str()));
  }
  const bool threefry = algorithm == RngAlgorithm::kThreeFry;
  if (state != u64({2}) && (threefry || state != u64({3}))) {
    context.fail(
        fmt::format("the state is {}; that of {}\n  Begin with "
                    "constant(std::vector<std::uint64_t>{{seed, 0}}).",
                    state.str(), threefry ? "ThreeFry is u64[2]" : "Philox is u64[2] or u64[3]"));
  }
  return {state, type};
}

std::uint32_t low_word(std::uint64_t x) { return static_cast<std::uint32_t>(x); }
std::uint32_t high_word(std::uint64_t x) { return static_cast<std::uint32_t>(x >> 32); }

/// An array as outer x size x inner, around the axis whose halves take the two words of the blocks:
/// the first of even size, else the first of the greatest size.
struct HalvedArray {
  std::int64_t outer, size, half, inner;
};
HalvedArray halves_of(const Shape& shape) {
  std::vector<std::int64_t> dims = shape.vector();
  if (dims.empty()) dims.push_back(1);
  const auto is_even = [](std::int64_t size) { return size % 2 == 0; };
  auto axis = std::find_if(dims.begin(), dims.end(), is_even);
  if (axis == dims.end()) axis = std::max_element(dims.begin(), dims.end());
  const auto product = [](auto begin, auto end) {
    return std::accumulate(begin, end, std::int64_t{1}, std::multiplies<>());
  };
  return {product(dims.begin(), axis), *axis, (*axis + 1) / 2, product(axis + 1, dims.end())};
}

/// Threshold: Work of a block of random bits between two polls, in additions. Not measured.
constexpr std::int64_t kBlockWork = 16;

/// Returns the new counter.
template <class T>
std::uint64_t threefry_bits(std::uint64_t key, std::uint64_t counter, const Shape& shape, T* out,
                            ir::Poller& poller) {
  const std::int64_t n = shape.elements();
  auto block = [&](std::int64_t i) {
    poller.did(kBlockWork);
    const std::uint64_t number = counter + static_cast<std::uint64_t>(i);
    std::array<std::uint32_t, 2> words{low_word(number), high_word(number)};
    threefry2x32(low_word(key), high_word(key), words[0], words[1]);
    return words;
  };
  if constexpr (sizeof(T) == 8) {
    for (std::int64_t i = 0; i < n; i++) {
      const auto words = block(i);
      out[i] = static_cast<T>(std::uint64_t{words[1]} << 32 | words[0]);
    }
    return counter + static_cast<std::uint64_t>(n);
  } else {
    const auto [outer, size, half, inner] = halves_of(shape);
    std::int64_t number = 0;
    for (std::int64_t o = 0; o < outer; o++) {
      for (std::int64_t j = 0; j < half; j++) {
        for (std::int64_t i = 0; i < inner; i++) {
          const auto words = block(number++);
          T* first = out + (o * size + 2 * j) * inner + i;
          *first = static_cast<T>(words[0]);
          if (2 * j + 1 < size) first[inner] = static_cast<T>(words[1]);
        }
      }
    }
    return counter + static_cast<std::uint64_t>(number);
  }
}

/// Draws n elements; the counter (low, high) grows by the number of blocks.
template <class T>
void philox_bits(std::uint64_t key, std::array<std::uint64_t, 2>& counter, std::int64_t n, T* out,
                 ir::Poller& poller) {
  constexpr std::int64_t kPerBlock = sizeof(T) == 8 ? 2 : 4;
  for (std::int64_t at = 0; at < n; at += kPerBlock) {
    poller.did(kBlockWork);
    const auto words = philox4x32(
        {low_word(key), high_word(key)},
        {low_word(counter[0]), high_word(counter[0]), low_word(counter[1]), high_word(counter[1])});
    for (std::int64_t i = 0; i < std::min(kPerBlock, n - at); i++) {
      const auto k = static_cast<std::size_t>(i);
      if constexpr (sizeof(T) == 8)
        out[at + i] = static_cast<T>(std::uint64_t{words[2 * k + 1]} << 32 | words[2 * k]);
      else
        out[at + i] = static_cast<T>(words[k]);
    }
    if (++counter[0] == 0) counter[1]++;
  }
}

void rng_bit_generator_kernel(const ir::KernelRun& run) {
  const TensorType& type = run.attrs<RngBitGeneratorAttributes>().type;
  const RngAlgorithm algorithm = run.attrs<RngBitGeneratorAttributes>().algorithm;
  const std::int64_t words = run.node.types[0].elements();
  if (run.results[0] != run.operands[0])
    copy_bytes(run.results[0], run.operands[0], run.node.types[0].bytes());
  auto* state = run.result<std::uint64_t>();
  ir::Poller poller(run.host);
  for_dtype(type.dtype, [&]<class T>() {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      T* to = run.result<T>(1);
      if (algorithm == RngAlgorithm::kThreeFry) {
        state[1] = threefry_bits(state[0], state[1], type.shape, to, poller);
      } else {
        // A state of two words has the key in the upper half of the counter.
        std::array<std::uint64_t, 2> counter{state[1], state[words == 3 ? 2 : 0]};
        philox_bits(state[0], counter, type.elements(), to, poller);
        state[1] = counter[0];
        if (words == 3) state[2] = counter[1];
      }
    }
  });
}

Tensor low_words(const Tensor& x) { return convert(x, DType::kU32); }
Tensor high_words(const Tensor& x) { return convert(shift_right_logical(x, 32), DType::kU32); }
Tensor joined_words(const Tensor& low, const Tensor& high) {
  return convert(low, DType::kU64) | shift_left(convert(high, DType::kU64), 32);
}
Tensor numbers_from(const Tensor& first, std::int64_t count) {
  return first + arange(count, DType::kU64);
}
Tensor state_of(const std::vector<Tensor>& words) { return stack(words, 0); }

/// The bits, and the number of blocks they take.
std::pair<Tensor, std::int64_t> threefry_bits_in_loops(const Tensor& state,
                                                       const TensorType& type) {
  const Tensor key = state[0];
  const auto blocks = [&](std::int64_t count) {
    const Tensor number = numbers_from(state[1], count);
    return ir::make_many(kThreefry2x32,
                         {low_words(key), high_words(key), low_words(number), high_words(number)},
                         {}, ir::place_in_force({}));
  };
  const std::int64_t n = type.elements();
  if (byte_width(type.dtype) == 8) {
    const std::vector<Tensor> words = blocks(n);
    const Tensor bits = convert(joined_words(words[0], words[1]), type.dtype);
    return {reshape(bits, type.shape.vector()), n};
  }
  const auto [outer, size, half, inner] = halves_of(type.shape);
  const std::vector<Tensor> words = blocks(outer * half * inner);
  const std::vector<std::int64_t> block{outer, half, inner};
  const Tensor both = stack({reshape(words[0], block), reshape(words[1], block)}, 2);
  const Tensor all =
      slice(reshape(both, {outer, 2 * half, inner}), {0, 0, 0}, {outer, size, inner});
  return {reshape(convert(all, type.dtype), type.shape.vector()), outer * half * inner};
}

/// Four words of each block, in rows.
Tensor philox_words_in_loops(const Tensor& key, const std::array<Tensor, 2>& counter,
                             std::int64_t blocks) {
  const Tensor low = numbers_from(counter[0], blocks);
  const Tensor high = counter[1] + convert(low < counter[0], DType::kU64);
  const auto round = [](const Tensor&, Tensor k0, Tensor k1, Tensor c0, Tensor c1, Tensor c2,
                        Tensor c3) {
    const Tensor a = convert(c0, DType::kU64) * std::uint64_t{0xD2511F53};
    const Tensor b = convert(c2, DType::kU64) * std::uint64_t{0xCD9E8D57};
    return std::tuple(k0 + std::uint32_t{0x9E3779B9}, k1 + std::uint32_t{0xBB67AE85},
                      high_words(b) ^ c1 ^ k0, low_words(b), high_words(a) ^ c3 ^ k1, low_words(a));
  };
  const auto [k0, k1, c0, c1, c2, c3] =
      fori_loop(0, 10, round,
                std::tuple(low_words(key), high_words(key), low_words(low), high_words(low),
                           low_words(high), high_words(high)),
                {.name = "philox"});
  return stack({c0, c1, c2, c3}, 1);
}

std::vector<Tensor> rng_bit_generator_in_loops(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope at(node.location());
  const auto& [type, algorithm] = node.attrs<RngBitGeneratorAttributes>();
  const Tensor& state = operands[0];
  if (type.elements() == 0) return {state, zeros(type)};
  if (algorithm == RngAlgorithm::kThreeFry) {
    const auto [bits, blocks] = threefry_bits_in_loops(state, type);
    return {state_of({state[0], state[1] + blocks}), bits};
  }
  const bool is_wide = byte_width(type.dtype) == 8, has_counter = state.dim(0) == 3;
  const std::int64_t n = type.elements(), in_block = is_wide ? 2 : 4;
  const std::int64_t blocks = (n + in_block - 1) / in_block;
  // A state of two words has the key in the upper half of the counter.
  const std::array<Tensor, 2> counter{state[1], state[has_counter ? 2 : 0]};
  Tensor words = philox_words_in_loops(state[0], counter, blocks);
  if (is_wide) {
    const Tensor pairs = reshape(words, {2 * blocks, 2});
    words =
        joined_words(slice(pairs, {0, 0}, {2 * blocks, 1}), slice(pairs, {0, 1}, {2 * blocks, 2}));
  }
  const Tensor drawn = slice(reshape(words, {in_block * blocks}), {0}, {n});
  const Tensor bits = reshape(convert(drawn, type.dtype), type.shape.vector());
  const Tensor next = counter[0] + blocks;
  if (!has_counter) return {state_of({state[0], next}), bits};
  return {state_of({state[0], next, counter[1] + convert(next < counter[0], DType::kU64)}), bits};
}

void describe_rng_bit_generator(ir::AttributeCodec& codec, RngBitGeneratorAttributes& a) {
  constexpr std::string_view kNames[] = {"THREE_FRY", "PHILOX", "DEFAULT"};  // as in RngAlgorithm
  constexpr std::string_view kHloNames[] = {"rng_three_fry", "rng_philox", "rng_default"};
  constexpr std::string_view kOwnNames[] = {"three_fry", "philox"};
  codec.derived("type", a.type, [&] { return codec.result(1); });
  std::size_t number = static_cast<std::size_t>(a.algorithm);
  codec.word({"algorithm", "rng_algorithm", "algorithm", "algorithm"},
             {"rng_algorithm", kNames, kHloNames, kOwnNames}, number);
  if (codec.reads()) a.algorithm = number == 0 ? RngAlgorithm::kThreeFry : RngAlgorithm::kPhilox;
}

}  // namespace

const ir::OpDef kRngBitGenerator{
    .name = "rng_bit_generator",
    .arity = 1,
    .types = {.infer = infer_rng_bit_generator},
    .kernel = {.prepare = ir::prepare_function<rng_bit_generator_kernel, 1>},
    .expansion = {.in_loops = rng_bit_generator_in_loops},
    .derivative = {.zero = true},
    .batching = {.rule = rng_bit_generator_batch},
    .text = {
        .hlo = "rng-bit-generator",
        .stablehlo = "stablehlo.rng_bit_generator",
        .attributes = &ir::kAttributeText<RngBitGeneratorAttributes, describe_rng_bit_generator>}};

}  // namespace rondo::ops

namespace rondo {

std::pair<Tensor, Tensor> rng_bit_generator(const Operand& state, const TensorType& type,
                                            RngAlgorithm algorithm) {
  const SourceLocation at = state.at();
  auto draw = [&](DType dtype) {
    std::vector<Tensor> results =
        ir::make_many(ops::kRngBitGenerator, {ir::checked(state.any(), "rng_bit_generator", at)},
                      ops::RngBitGeneratorAttributes{{dtype, type.shape}, algorithm}, at);
    return std::pair(std::move(results[0]), std::move(results[1]));
  };
  // XLA's op gives unsigned integers, whatever type is requested.
  if (!is_signed_integer(type.dtype)) return draw(type.dtype);
  constexpr int kToUnsigned = static_cast<int>(DType::kU8) - static_cast<int>(DType::kS8);
  auto [next, bits] = draw(static_cast<DType>(static_cast<int>(type.dtype) + kToUnsigned));
  return {std::move(next), bitcast_convert(Operand(bits, at), type.dtype)};
}

}  // namespace rondo
