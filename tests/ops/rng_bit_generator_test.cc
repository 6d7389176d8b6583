// rng_bit_generator. The numbers were drawn by XLA on the CPU.
#include <cstdint>
#include <numeric>

#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

Tensor state(std::vector<std::uint64_t> words) { return Literal::from(words); }

template <class T>
void expect_bits(const std::pair<Tensor, Tensor>& drawn,
                 const std::vector<std::uint64_t>& new_state, const Shape& shape,
                 const std::vector<T>& bits) {
  SCOPED_TRACE(drawn.second.type().str());
  expect_values(drawn.first, {static_cast<std::int64_t>(new_state.size())}, new_state);
  expect_values(drawn.second, shape, bits);
}

TEST(RngBitGenerator, ThreeFry) {
  expect_bits<std::uint32_t>(rng_bit_generator(state({1, 2}), u32({4})), {1, 4}, {4},
                             {0x0296e954, 0x802fd53b, 0xed3492d3, 0xdf435003});
  expect_bits<std::uint32_t>(
      rng_bit_generator(state({0, 0}), u32({2, 3})), {0, 3}, {2, 3},
      {0x6b200159, 0x508efb2c, 0x64a626ec, 0x99ba4efe, 0xc0de3f32, 0xfc15e573});
}

TEST(RngBitGenerator, Philox) {
  const auto philox = RngAlgorithm::kPhilox;
  expect_bits<std::uint32_t>(rng_bit_generator(state({1, 2, 3}), u32({5}), philox), {1, 4, 3}, {5},
                             {0xf045e74a, 0x517630e6, 0x1d8af405, 0xb5e59a96, 0x05545ceb});
  expect_bits<std::uint32_t>(rng_bit_generator(state({1, 2}), u32({4}), philox), {1, 3}, {4},
                             {0x7d34a749, 0xa9b8bbe8, 0x7ba423d7, 0x2fb324d9});
}

// Known answers of the generators themselves, from Random123's kat_vectors: the state of all ones.
TEST(RngBitGenerator, TheCounterCarries) {
  constexpr std::uint64_t ones = ~std::uint64_t{0};
  const auto [next, bits] = rng_bit_generator(state({ones, ones}), u64({1}));
  // The known answer of Random123 for key and counter of ones: 1cb996fc, then bb002be7.
  expect_values<std::uint64_t>(bits, {1}, {0xbb002be71cb996fc});
  expect_values<std::uint64_t>(next, {2}, {ones, 0});
  const auto drawn = rng_bit_generator(state({ones, ones, ones}), u32({4}), RngAlgorithm::kPhilox);
  expect_bits<std::uint32_t>(drawn, {ones, 0, 0}, {4},
                             {0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd});
}

TEST(RngBitGenerator, NarrowIntegersAreTheLowBitsOfWords) {
  const auto words = rng_bit_generator(state({5, 6}), u32({4, 2})).second.eval();
  const auto bytes = rng_bit_generator(state({5, 6}), u8({4, 2})).second.eval();
  const auto shorts = rng_bit_generator(state({5, 6}), s16({4, 2})).second.eval();
  for (std::size_t i = 0; i < 8; i++) {
    EXPECT_EQ(bytes.data<std::uint8_t>()[i],
              static_cast<std::uint8_t>(words.data<std::uint32_t>()[i]));
    EXPECT_EQ(shorts.data<std::int16_t>()[i],
              static_cast<std::int16_t>(words.data<std::uint32_t>()[i]));
  }
}

TEST(RngBitGenerator, MistakesAreNamed) {
  expect_error([] { rng_bit_generator(zeros(u64({3})), u32({2})); },
               {"rng_bit_generator", "u64[3]", "u64[2]", "rng_bit_generator_test.cc"});
  expect_error([] { rng_bit_generator(zeros(u32({4})), u32({2}), RngAlgorithm::kPhilox); },
               {"u32[4]", "u64[2] or u64[3]"});
  expect_error([] { rng_bit_generator(zeros(u64({2})), f32({2})); }, {"f32[2]", "bitcast_convert"});
}

}  // namespace
}  // namespace rondo
