// random::key split fold_in bits uniform normal randint. The numbers were drawn by JAX 0.10.2 with
// jax_enable_x64.
#include <cmath>
#include <cstdint>
#include <cstring>

#include "ops/expanded.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

using U32s = std::vector<std::uint32_t>;
using U64s = std::vector<std::uint64_t>;

Tensor key42() { return random::key(42); }

/// The elements as unsigned integers of their width, widened.
U64s bits_of(const Literal& literal) {
  const std::int64_t width = byte_width(literal.dtype());
  U64s bits;
  for (std::int64_t i = 0; i < literal.elements(); i++) {
    std::uint64_t value = 0;
    std::memcpy(&value, literal.bytes() + i * width, static_cast<std::size_t>(width));
    bits.push_back(value);
  }
  return bits;
}

/// Bit for bit, as drawn by the kernels and by their expansion for HLO.
template <class Draw>
void expect_draws(Draw draw, const TensorType& type, const U64s& want) {
  SCOPED_TRACE(type.str());
  const Literal drawn = draw(key42()).eval();
  EXPECT_EQ(drawn.type(), type);
  EXPECT_EQ(bits_of(drawn), want);
  EXPECT_EQ(bits_of(run_expanded(draw, key42().eval())[0]), want);
}

TEST(RandomKey, IsTheSeed) {
  expect_values<std::uint32_t>(random::key(0), {2}, {0, 0});
  expect_values<std::uint32_t>(random::key(42), {2}, {0, 42});
  expect_values<std::uint32_t>(random::key(-1), {2}, {0, 0xffffffff});
  expect_values<std::uint32_t>(random::key(std::int64_t{-1}), {2}, {0xffffffff, 0xffffffff});
  expect_values<std::uint32_t>(random::key(std::int64_t{123456789012345}), {2},
                               {0x7048, 0x860ddf79});
  expect_values<std::uint32_t>(random::key(std::uint64_t{0xfedcba9876543210}), {2},
                               {0xfedcba98, 0x76543210});
  expect_values<std::uint32_t>(random::key(std::uint8_t{7}), {2}, {0, 7});
  expect_values<std::uint32_t>(random::key(Tensor(std::int64_t{1} << 40)), {2}, {256, 0});
  expect_values<std::uint32_t>(random::key(Tensor(-7)), {2}, {0, 0xfffffff9});
}

TEST(RandomKey, SplitsAsJax) {
  expect_values<std::uint32_t>(random::split(random::key(0)), {2, 2},
                               {1797259609, 2579123966, 928981903, 3453687069});
  expect_values<std::uint32_t>(
      random::split(random::key(0), 3), {3, 2},
      {0x6b200159, 0x99ba4efe, 0x375f238f, 0xcddb151d, 0xf71f4ea9, 0xa20e4081});
  expect_values<std::uint32_t>(
      random::split(key42(), 3), {3, 2},
      {0x6d3e048f, 0x1022172d, 0x3d7b32d, 0xadd083f4, 0x92fb20ea, 0xf38d913});
  expect_values<std::uint32_t>(
      random::split(random::key(std::int64_t{123456789012345}), 3), {3, 2},
      {0x6a9aa5d0, 0x3d02ce8a, 0x7579adea, 0x50293728, 0x4a527218, 0x384e8685});
  expect_values<std::uint32_t>(random::split(key42(), 0), {0, 2}, {});
}

TEST(RandomKey, FoldsInAsJax) {
  expect_values<std::uint32_t>(random::fold_in(random::key(0), 1), {2}, {928981903, 3453687069});
  expect_values<std::uint32_t>(random::fold_in(random::key(0), 7), {2}, {0xa1ef7a4d, 0x116eb6b3});
  expect_values<std::uint32_t>(random::fold_in(key42(), 7), {2}, {0x97d0552f, 0x51bf719f});
  expect_values<std::uint32_t>(random::fold_in(key42(), -1), {2}, {0x8ef6c48d, 0xe7eb97ca});
  expect_values<std::uint32_t>(random::fold_in(key42(), Tensor(std::uint64_t{0x500000007})), {2},
                               {0x97d0552f, 0x51bf719f});
}

TEST(Random, BitsAreJaxs) {
  expect_values<std::uint32_t>(random::bits(random::key(0), u32({4})), {4},
                               {0xf29a4fa7, 0xfa843692, 0x55110e28, 0x77faa835});
  auto draw = [](const TensorType& type) {
    return [type](Tensor key) { return random::bits(key, type); };
  };
  expect_draws(draw(u8({2, 3})), u8({2, 3}), {0xa2, 0xd9, 0xf9, 0xd7, 0x15, 0xd8});
  expect_draws(draw(u16({2, 3})), u16({2, 3}), {0x13a2, 0x30d9, 0xf9f9, 0xc1d7, 0x7315, 0x4ed8});
  expect_draws(draw(u32({2, 3})), u32({2, 3}),
               {0x7d1c13a2, 0xae0730d9, 0x9dc3f9f9, 0x8f9ec1d7, 0x735d7315, 0x95fb4ed8});
  expect_draws(draw(u64({2, 3})), u64({2, 3}),
               {0x6d3e048f1022172d, 0x3d7b32dadd083f4, 0x92fb20ea0f38d913, 0xbad56946354ba891,
                0xb013aee3c34eddf6, 0xa4d91a963122544e});
  expect_draws(draw(u32()), u32(), {0x7d1c13a2});
  expect_draws(draw(u64()), u64(), {0x6d3e048f1022172d});
  expect_draws(draw(u32({2, 0})), u32({2, 0}), {});
}

TEST(Random, UniformIsJaxs) {
  expect_close<float>(random::uniform(random::key(0), f32({4})), {4},
                      {0.947667003f, 0.978579879f, 0.332291484f, 0.468668461f}, 0);
  auto draw = [](const TensorType& type) {
    return [type](Tensor key) { return random::uniform(key, type); };
  };
  expect_draws(draw(f16({5})), f16({5}), {0x2ce0, 0x3218, 0x3bce, 0x3a0e, 0x3730});
  expect_draws(draw(bf16({5})), bf16({5}), {0x3f22, 0x3f58, 0x3f78, 0x3f56, 0x3da0});
  expect_draws(draw(f32({5})), f32({5}),
               {0x3efa3824, 0x3f2e0730, 0x3f1dc3f8, 0x3f0f9ec0, 0x3ee6bae4});
  expect_draws(draw(f64({5})), f64({5}),
               {0x3fdb4f8123c40884, 0x3f8ebd996d6e8400, 0x3fe25f641d41e71a, 0x3fe75aad28c6a974,
                0x3fe60275dc7869da});
}

TEST(Random, UniformBetweenBounds) {
  expect_close<double>(
      random::uniform(key42(), f64({4}), -2, 3), {4},
      {0.13363783324954537, -1.924949652423427, 0.8707220894976759, 1.6490944845231543}, 1e-14);
  // Bounds broadcast; equal bounds give their value.
  expect_values<float>(
      random::uniform(key42(), f32({2, 2}), constant({1.0f, 5.0f}), constant({1.0f, 5.0f})), {2, 2},
      {1, 5, 1, 5});
  const Literal many = random::uniform(random::key(5), f32({10000}), 2, 3).eval();
  double sum = 0;
  for (float x : many.data<float>()) {
    EXPECT_TRUE(x >= 2 && x < 3) << x;
    sum += x;
  }
  EXPECT_NEAR(sum / 10000, 2.5, 0.02);
}

TEST(Random, NormalIsJaxs) {
  // Within a few units in the last place, and more for the largest, where erf_inv is more accurate
  // than XLA's.
  auto expect_normal = [](const TensorType& type, const std::vector<double>& want, double rtol) {
    SCOPED_TRACE(type.str());
    auto draw = [&](Tensor key) { return convert(random::normal(key, type), DType::kF64); };
    expect_close<double>(draw(key42()), {static_cast<std::int64_t>(want.size())}, want, rtol);
    expect_close<double>(run_expanded(draw, key42().eval())[0],
                         {static_cast<std::int64_t>(want.size())}, want, rtol);
  };
  expect_normal(f32({4}),
                {-0.02830461598932743, 0.4671318531036377, 0.2957029640674591, 0.15354591608047485},
                5e-7);
  expect_normal(f64({6}),
                {-0.18471174528191162, -2.169824560397754, 0.18693555179382582, 0.6122653570510959,
                 0.4896249504757018, 0.36900430470828355},
                2e-15);
  expect_normal(
      f16({6}),
      {-1.4296875, -0.87548828125, 1.974609375, 0.69677734375, -0.1270751953125, -0.501953125}, 0);
  expect_normal(bf16({6}), {0.34375, 1.015625, 1.890625, 0.984375, -1.40625, 1.015625}, 0);
  expect_close<float>(random::normal(random::key(0), f32({4})), {4},
                      {1.62264216f, 2.02526474f, -0.433594435f, -0.0786173493f}, 5e-7);
}

TEST(Random, NormalHasMeanZeroAndVarianceOne) {
  const Literal many = random::normal(random::key(9), f32({100000})).eval();
  double sum = 0, squares = 0;
  for (float x : many.data<float>()) {
    sum += x;
    squares += static_cast<double>(x) * static_cast<double>(x);
  }
  EXPECT_NEAR(sum / 1e5, 0, 0.01);
  EXPECT_NEAR(squares / 1e5, 1, 0.02);
}

template <class T>
void expect_integers(std::int64_t low, std::int64_t high, const std::vector<T>& want) {
  const TensorType type{dtype_of<T>, {5}};
  SCOPED_TRACE(type.str() + " " + std::to_string(low) + " " + std::to_string(high));
  auto draw = [&](Tensor key) { return random::randint(key, type, low, high); };
  expect_values(draw(key42()), {5}, want);
  expect_values(run_expanded(draw, key42().eval())[0], {5}, want);
}

TEST(Random, RandintIsJaxs) {
  expect_integers<std::int8_t>(-5, 5, {-1, -1, -4, 4, 4});
  expect_integers<std::uint8_t>(0, 256, {196, 18, 183, 193, 141});
  expect_integers<std::uint8_t>(3, 1000, {4, 48, 23, 110, 29});
  expect_integers<std::int16_t>(-40000, 7, {-1349, -11954, -272, -30499, -32259});
  expect_integers<std::int32_t>(0, 10, {4, 4, 1, 9, 9});
  expect_integers<std::int32_t>(INT32_MIN, std::int64_t{1} << 31,
                                {977810628, 1236381714, -1367112521, -1019495231, -1671904627});
  expect_integers<std::int32_t>(9, 2, {9, 9, 9, 9, 9});
  expect_integers<std::uint32_t>(5, std::int64_t{1} << 32,
                                 {3125294281, 3383865367, 780371132, 1127988422, 475579026});
  expect_integers<std::uint32_t>(-4, 3, {0, 0, 0, 1, 2});
  expect_integers<std::int64_t>(INT64_MIN, INT64_MAX,
                                {4466307427195926069, 869870568124700350, -8118644187909895017,
                                 -3282265486791233489, 8391861063664870305});
  expect_integers<std::int64_t>(
      0, 1000000000000, {464050701877, 604979476158, 848944880791, 550063542319, 100519646113});
  expect_integers<std::uint64_t>(
      0, 1000000000000000,
      {679464050701877, 242604979476158, 727848944880791, 106550063542319, 233100519646113});
}

TEST(Random, RandintTakesTensorsAsBounds) {
  expect_values<std::int32_t>(
      random::randint(key42(), s32({2, 3}), constant({0, 10, 20}), constant({{5}, {100}})), {2, 3},
      {4, 10, 20, 69, 39, 79});
  // Bounds of another dtype are clamped to the range.
  expect_values<std::int32_t>(random::randint(key42(), s32({4}), Tensor(-(std::int64_t{1} << 40)),
                                              Tensor(std::int64_t{1} << 31)),
                              {4}, {977810628, 1236381714, -1367112521, -1019495231});
  expect_values<std::int32_t>(
      random::randint(key42(), s32({4}), Tensor(std::uint8_t{0}), Tensor(std::uint8_t{255})), {4},
      {189, 9, 6, 19});
  expect_values<std::uint32_t>(random::randint(key42(), u32({3}), Tensor(-4), Tensor(3)), {3},
                               {0, 0, 0});
}

TEST(Random, DrawsInLoopsByFoldingInTheIndex) {
  const Tensor sum = fori_loop(
      0, 3,
      [](Tensor i, Tensor total) {
        return total + random::uniform(random::fold_in(random::key(1), i), f32());
      },
      Tensor(0.0f));
  float want = 0;
  for (int i = 0; i < 3; i++)
    want += random::uniform(random::fold_in(random::key(1), i), f32()).item<float>();
  expect_scalar<float>(sum, want);
  // One of several keys.
  const Tensor keys = random::split(random::key(1), 3);
  expect_scalar(random::bits(keys[2], u32()),
                random::bits(slice(keys, {2, 0}, {3, 2})[0], u32()).item<std::uint32_t>());
}

TEST(Random, MistakesAreNamed) {
  const Tensor key = random::key(1);
  expect_error([&] { random::uniform(zeros(f32({2})), f32({3})); },
               {"random::uniform", "f32[2]", "u32[2]", "random::key", "random_test.cc"});
  expect_error([&] { random::normal(random::split(key, 4), f32({3})); },
               {"random::normal", "u32[4,2]", "keys[i]"});
  expect_error([&] { random::uniform(key, s32({3})); }, {"random::uniform", "s32[3]", "randint"});
  expect_error([&] { random::normal(key, c64({3})); }, {"random::normal", "c64[3]"});
  expect_error([&] { random::bits(key, f32({3})); }, {"random::bits", "f32[3]", "unsigned"});
  expect_error([&] { random::randint(key, f32({3}), 0, 9); },
               {"random::randint", "f32[3]", "uniform"});
  expect_error([&] { random::randint(key, s32({3}), 0.5, 9); },
               {"random::randint", "low", "f64", "integers"});
  expect_error(
      [&] {
        random::randint(key, s32({3}), 0, constant({1, 2}));
      },
      {"random::randint", "s32[2]"});
  expect_error(
      [&] {
        random::randint(key, s32({1}), 0, constant({1, 2}));
      },
      {"random::randint", "high", "s32[2]", "does not broadcast"});
  expect_error([&] { random::uniform(key, f32({3}), Tensor(1.0), 2); },
               {"random::uniform", "low", "f64[]", "convert"});
  expect_error([&] { random::uniform(key, f32({1}), zeros(f32({2})), 2); },
               {"random::uniform", "low", "f32[2]", "does not broadcast"});
  expect_error([] { random::key(1.5); }, {"random::key", "f64[]", "integer scalar"});
  expect_error([] { random::key(constant({1, 2})); }, {"random::key", "s32[2]"});
  expect_error([&] { random::fold_in(key, 0.5f); }, {"random::fold_in", "data", "f32[]"});
  expect_error([&] { random::split(key, -1); }, {"random::split", "-1"});
  expect_error([&] { random::bits(key, u8({std::int64_t{1} << 33})); }, {"random::bits", "2^32"});
}

}  // namespace
}  // namespace rondo
