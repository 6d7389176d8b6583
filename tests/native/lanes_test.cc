// Lane loops: tails of every length, reductions, inner loops and branches, addresses of all kinds,
// each compared with a plain loop.
#include <cmath>
#include <numeric>
#include <random>

#include "lower/opcodes.h"
#include "native/run_native.h"

#if defined(__linux__)
#include <sys/mman.h>
#include <unistd.h>
#endif

namespace rondo::native_code {
namespace {

using lower::Opcode;
using lower::Status;
using lower::Type;
using lower::Value;
using NativeLanes = NativeTest;

std::vector<float> numbers(std::size_t count, unsigned seed = 1) {
  std::mt19937 random(seed);
  std::vector<float> out(count);
  for (float& x : out) x = std::uniform_real_distribution<float>(-2, 2)(random);
  return out;
}

Value lane_index(TestProgram& p, std::uint32_t lanes) { return p.program().lanes[lanes].index; }

/// The documented order: 64 partials, combined pairwise.
template <class T, class F>
T reduced(const std::vector<T>& values, T init, T identity, F&& combine) {
  std::vector<T> partials(64, identity);
  for (std::size_t i = 0; i < values.size(); i++)
    partials[i % 64] = combine(partials[i % 64], values[i]);
  for (std::size_t half = 32; half >= 1; half /= 2) {
    for (std::size_t j = 0; j < half; j++) partials[j] = combine(partials[j], partials[j + half]);
  }
  return combine(init, partials[0]);
}

/// y = a * x + y in place, and the sum and largest of the results.
TEST_F(NativeLanes, TailsOfEveryLength) {
  for (bool known : {false, true}) {
    for (std::int64_t count = 0; count <= 131; count += count < 68 ? 1 : 7) {
      TestProgram p;
      const Value x = p.argument(0), y = p.argument(1), out = p.result(0), sums = p.result(1);
      const Value n = known ? p.index(count) : p.load_at(Type::kS64, p.argument(2));
      const Value a = p.load_at(Type::kF32, sums);
      const auto lanes = p.begin_lanes(n);
      const Value i = lane_index(p, lanes);
      if (known) p.program().lanes[lanes].known_count = count;
      const Value z = p.fma(a, p.load_at(Type::kF32, x, i, 4), p.load_at(Type::kF32, y, i, 4));
      p.store_at(z, out, i, 4);
      const Value sum = p.reduce(Opcode::kAdd, p.number(Type::kF32, 10), z);
      const Value most = p.reduce(Opcode::kMax, p.number(Type::kF32, -1), z);
      p.end_lanes();
      p.store_at(sum, sums, 4);
      p.store_at(most, sums, 8);
      const lower::Program program = p.finish();
      const auto size = static_cast<std::size_t>(count);
      const auto xs = numbers(size), ys = numbers(size, 2);
      std::vector<float> want(size);
      for (std::size_t k = 0; k < size; k++) want[k] = std::fma(0.f, xs[k], ys[k]);
      const float want_sum = reduced(want, 10.f, 0.f, [](float l, float r) { return l + r; });
      const float want_most =
          reduced(want, -1.f, -INFINITY, [](float l, float r) { return std::max(l, r); });
      for (const Target* target : targets()) {
        Buffers buffers;
        buffers.add_argument(xs);
        buffers.add_argument(ys);
        buffers.add_argument(std::vector<std::int64_t>{count});
        buffers.add_result(4 * size);
        buffers.add_result(12);
        ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
        EXPECT_EQ(buffers.result<float>(0), want) << count << " " << target->name;
        EXPECT_EQ(buffers.result<float>(1)[1], want_sum) << count << " " << target->name;
        EXPECT_EQ(buffers.result<float>(1)[2], want_most) << count << " " << target->name;
      }
    }
  }
}

template <class T>
void expect_sum(Opcode op, auto&& combine, T identity) {
  const Type type = type_of_host<T>();
  for (std::size_t count : {1u, 3u, 4u, 31u, 64u, 100u, 1000u}) {
    TestProgram p;
    const Value x = p.argument(0);
    const auto lanes = p.begin_lanes(p.index(static_cast<std::int64_t>(count)));
    const Value sum = p.reduce(op, p.number(type, 1),
                               p.load_at(type, x, lane_index(p, lanes), lower::width(type)));
    p.end_lanes();
    p.store_at(sum, p.result(0));
    const lower::Program program = p.finish();
    std::vector<T> values(count);
    std::mt19937 random(3);
    for (T& v : values) v = T(static_cast<lower::Computed<T>>(static_cast<int>(random() % 9) - 3));
    for (const Target* target : targets()) {
      Buffers buffers;
      buffers.add_argument(values);
      buffers.add_result(8);
      ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
      const T one = T(static_cast<lower::Computed<T>>(1));
      EXPECT_EQ(comparable(buffers.result<T>(0)[0]),
                comparable(reduced(values, one, identity, combine)))
          << lower::type_name(type) << " " << count << " " << target->name;
    }
  }
}

TEST_F(NativeLanes, ReductionsOfEveryWidth) {
  auto add = []<class T>(T a, T b) { return lower::binary<Opcode::kAdd, T>(a, b); };
  auto multiply = []<class T>(T a, T b) { return lower::binary<Opcode::kMultiply, T>(a, b); };
  auto min = []<class T>(T a, T b) { return lower::binary<Opcode::kMin, T>(a, b); };
  expect_sum<double>(Opcode::kAdd, add, 0.0);
  expect_sum<float16>(Opcode::kAdd, add, float16(0.0f));
  expect_sum<bfloat16>(Opcode::kMin, min, bfloat16(INFINITY));
  expect_sum<std::int8_t>(Opcode::kAdd, add, std::int8_t{0});
  expect_sum<std::uint16_t>(Opcode::kMultiply, multiply, std::uint16_t{1});
  expect_sum<std::int64_t>(Opcode::kMultiply, multiply, std::int64_t{1});
  expect_sum<std::uint64_t>(Opcode::kMin, min, UINT64_MAX);
}

/// Lanes that stop at different trips, with a limit for those that never do.
TEST_F(NativeLanes, WhilePerLane) {
  for (std::int64_t count : {1, 5, 16, 64, 67, 500}) {
    TestProgram p;
    const Value re = p.argument(0), im = p.argument(1), out = p.result(0), last = p.result(1);
    const auto lanes = p.begin_lanes(p.index(count));
    const Value lane = lane_index(p, lanes);
    const Value cr = p.load_at(Type::kF32, re, lane, 4), ci = p.load_at(Type::kF32, im, lane, 4);
    const Value zero = p.number(Type::kF32, 0);
    const auto loop = p.begin_while(std::vector<Value>{zero, zero, p.constant(Type::kS32, 0)});
    const auto c = p.program().whiles[loop].carries;
    const Value zr = c[0].param, zi = c[1].param, i = c[2].param;
    const Value size = p.fma(zr, zr, p.multiply(zi, zi));
    p.test(p.bit_and(p.less(i, p.constant(Type::kS32, 50)),
                     p.less_equal(size, p.number(Type::kF32, 4))));
    const Value next_r = p.add(p.subtract(p.multiply(zr, zr), p.multiply(zi, zi)), cr);
    const Value next_i = p.add(p.multiply(p.multiply(p.number(Type::kF32, 2), zr), zi), ci);
    p.end_while(std::vector<Value>{next_r, next_i, p.add(i, p.constant(Type::kS32, 1))});
    p.store_at(p.program().whiles[loop].carries[2].result, out, lane, 4);
    p.store_at(p.program().whiles[loop].carries[0].result, last, lane, 4);
    p.end_lanes();
    const lower::Program program = p.finish();
    const auto size_of = static_cast<std::size_t>(count);
    const auto a = numbers(size_of, 5), b = numbers(size_of, 6);
    std::vector<std::int32_t> want(size_of);
    std::vector<float> want_last(size_of);
    for (std::size_t k = 0; k < size_of; k++) {
      float x = 0, y = 0;
      int n = 0;
      for (; n < 50 && std::fma(x, x, y * y) <= 4; n++) {
        const float xx = x * x, yy = y * y, d = xx - yy, twice = 2 * x, product = twice * y;
        x = d + a[k], y = product + b[k];
      }
      want[k] = n, want_last[k] = x;
    }
    for (const Target* target : targets()) {
      Buffers buffers;
      buffers.add_argument(a);
      buffers.add_argument(b);
      buffers.add_result(4 * size_of);
      buffers.add_result(4 * size_of);
      ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
      EXPECT_EQ(buffers.result<std::int32_t>(0), want) << count << " " << target->name;
      EXPECT_EQ(buffers.result<float>(1), want_last) << count << " " << target->name;
    }
  }
}

/// A while in a while, in f64: the inner one must not run on for lanes that have left the outer
/// one.
TEST_F(NativeLanes, NestedWhilesPerLane) {
  constexpr std::int64_t kCount = 77;
  TestProgram p;
  const Value in = p.argument(0), out = p.result(0);
  const auto lanes = p.begin_lanes(p.index(kCount));
  const Value lane = lane_index(p, lanes);
  const Value start = p.load_at(Type::kF64, in, lane, 8);
  const Value one = p.number(Type::kF64, 1);
  const auto outer = p.begin_while(std::vector<Value>{start, p.number(Type::kF64, 0)});
  const auto o = p.program().whiles[outer].carries;
  p.test(p.greater(o[0].param, one));
  const auto inner = p.begin_while(std::vector<Value>{o[0].param, o[1].param});
  const auto n = p.program().whiles[inner].carries;
  p.test(p.not_equal(n[0].param, p.number(Type::kF64, 0)));
  p.end_while(std::vector<Value>{p.subtract(n[0].param, one), p.add(n[1].param, one)});
  p.end_while(
      std::vector<Value>{p.subtract(o[0].param, one), p.program().whiles[inner].carries[1].result});
  p.store_at(p.program().whiles[outer].carries[1].result, out, lane, 8);
  p.end_lanes();
  const lower::Program program = p.finish();
  std::vector<double> values(kCount), want(kCount);
  for (std::size_t k = 0; k < kCount; k++) {
    values[k] = static_cast<double>(k * 7 % 13);
    for (double m = values[k]; m > 1; m--) want[k] += m;
  }
  for (const Target* target : targets()) {
    Buffers buffers;
    buffers.add_argument(values);
    buffers.add_result(8 * kCount);
    ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
    EXPECT_EQ(buffers.result<double>(0), want) << target->name;
  }
}

/// A counted loop whose trip count is the same for all lanes (zero as well), a branch, and values
/// that do not depend on the lane.
TEST_F(NativeLanes, ForAndBranchInside) {
  for (std::int64_t trips : {0, 1, 4}) {
    TestProgram p;
    const Value in = p.argument(0), out = p.result(0);
    const Value n = p.load_at(Type::kS64, p.argument(1));
    const auto lanes = p.begin_lanes(p.index(83));
    const Value lane = lane_index(p, lanes);
    const Value x = p.load_at(Type::kF32, in, lane, 4);
    const auto loop = p.begin_for(p.index(0), n, 1, std::vector<Value>{x, p.number(Type::kF32, 1)});
    const auto c = p.program().fors[loop].carries;
    const Value k = p.convert(p.program().fors[loop].index, Type::kF32);
    p.begin_if(p.equal(p.program().fors[loop].index, p.index(1)));
    const Value then = p.multiply(c[0].param, p.number(Type::kF32, 3));
    p.begin_else();
    const Value otherwise = p.add(c[0].param, k);
    const auto chosen = p.end_if(std::vector<Value>{then, p.number(Type::kF32, 2)},
                                 std::vector<Value>{otherwise, c[1].param});
    p.end_for(std::vector<Value>{p.multiply(chosen[0], chosen[1]), chosen[1]});
    p.store_at(p.add(p.program().fors[loop].carries[0].result,
                     p.convert(p.convert(lane, Type::kS32), Type::kF32)),
               out, lane, 4);
    p.end_lanes();
    const lower::Program program = p.finish();
    const auto xs = numbers(83);
    std::vector<float> want = xs;
    for (std::size_t l = 0; l < want.size(); l++) {
      float scale = 1;
      for (std::int64_t t = 0; t < trips; t++) {
        const float next = t == 1 ? want[l] * 3 : want[l] + static_cast<float>(t);
        scale = t == 1 ? 2 : scale;
        want[l] = next * scale;
      }
      want[l] += static_cast<float>(l);
    }
    for (const Target* target : targets()) {
      Buffers buffers;
      buffers.add_argument(xs);
      buffers.add_argument(std::vector<std::int64_t>{trips});
      buffers.add_result(std::size_t{4} * 83);
      ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
      EXPECT_EQ(buffers.result<float>(0), want) << trips << " " << target->name;
    }
  }
}

/// Reversed, strided, one for all, and by an index from memory; strided stores as well.
template <class T>
void expect_addresses() {
  constexpr std::size_t kCount = 71;
  constexpr auto kWidth = static_cast<std::int64_t>(sizeof(T));
  const Type type = type_of_host<T>();
  TestProgram p;
  const Value in = p.argument(0), indices = p.argument(1), out = p.result(0);
  const auto lanes = p.begin_lanes(p.index(kCount));
  const Value lane = lane_index(p, lanes);
  const Value reversed = p.load(type, {in, (kCount - 1) * kWidth, {{lane, -kWidth}}});
  const Value spread = p.load(type, {in, kWidth, {{lane, 2 * kWidth}}});
  const Value same = p.load_at(type, in, 2 * kWidth);
  const Value chosen = p.load(type, {in, 0, {{p.load_at(Type::kS64, indices, lane, 8), kWidth}}});
  // An index of 32 bits that only addresses take.
  const Value short_index = p.load(Type::kS32, {indices, 0, {{lane, 8}}});
  const Value again = p.load(type, {in, kWidth, {{p.convert(short_index, Type::kS64), kWidth}}});
  p.store(p.add(p.add(reversed, spread), p.add(p.add(same, again), chosen)),
          {out, 0, {{lane, 3 * kWidth}}});
  p.end_lanes();
  const lower::Program program = p.finish();
  std::vector<T> values(2 * kCount + 1);
  for (std::size_t i = 0; i < values.size(); i++) values[i] = static_cast<T>(i * i % 50);
  std::vector<std::int64_t> at(kCount);
  for (std::size_t i = 0; i < kCount; i++)
    at[i] = static_cast<std::int64_t>(i * 31 % (values.size() - 1));
  std::vector<T> want(3 * kCount);
  for (std::size_t i = 0; i < kCount; i++)
    want[3 * i] = static_cast<T>(values[kCount - 1 - i] + values[1 + 2 * i] + values[2] +
                                 values[static_cast<std::size_t>(at[i]) + 1] +
                                 values[static_cast<std::size_t>(at[i])]);
  for (const Target* target : targets()) {
    Buffers buffers;
    buffers.add_argument(values);
    buffers.add_argument(at);
    buffers.add_result(want.size() * sizeof(T));
    ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
    EXPECT_EQ(buffers.result<T>(0), want) << lower::type_name(type) << " " << target->name;
  }
}

TEST_F(NativeLanes, AddressesOfAllKinds) {
  expect_addresses<float>();
  expect_addresses<double>();
  expect_addresses<std::int32_t>();
  expect_addresses<std::uint64_t>();
  expect_addresses<std::int16_t>();
}

/// An s64 that is stored besides being an index is computed, although its s32 would do for the
/// address.
TEST_F(NativeLanes, IndicesThatAreStoredToo) {
  constexpr std::size_t kCount = 37;
  TestProgram p;
  const Value in = p.argument(0), out = p.result(0), stored = p.result(1);
  const auto lanes = p.begin_lanes(p.index(kCount));
  const Value lane = lane_index(p, lanes);
  const Value index = p.convert(p.load_at(Type::kS32, in, lane, 4), Type::kS64);
  p.store_at(p.load_at(Type::kS32, in, index, 4), out, lane, 4);
  p.store_at(index, stored, lane, 8);
  p.end_lanes();
  const lower::Program program = p.finish();
  std::vector<std::int32_t> at(kCount), want(kCount);
  for (std::size_t i = 0; i < kCount; i++) at[i] = static_cast<std::int32_t>(i * 5 % kCount);
  for (std::size_t i = 0; i < kCount; i++) want[i] = at[static_cast<std::size_t>(at[i])];
  for (const Target* target : targets()) {
    Buffers buffers;
    buffers.add_argument(at);
    buffers.add_result(4 * kCount);
    buffers.add_result(8 * kCount);
    ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
    EXPECT_EQ(buffers.result<std::int32_t>(0), want) << target->name;
    EXPECT_EQ(buffers.result<std::int64_t>(1), std::vector<std::int64_t>(at.begin(), at.end()));
  }
}

TEST_F(NativeLanes, MathCallsInRareLanes) {
  static int calls;
  float (*const root)(float) = [](float x) {
    calls++;
    return std::cbrt(x);
  };
  constexpr std::size_t kCount = 150;
  TestProgram p;
  const Value in = p.argument(0), out = p.result(0);
  const auto lanes = p.begin_lanes(p.index(kCount));
  const Value lane = lane_index(p, lanes);
  const Value x = p.load_at(Type::kF32, in, lane, 4);
  const Value large = p.greater(x, p.number(Type::kF32, 1.9));
  p.store_at(p.select(large, p.math_call(root, "root", x, large), p.multiply(x, x)), out, lane, 4);
  p.end_lanes();
  const lower::Program program = p.finish();
  const auto xs = numbers(kCount);
  std::vector<float> want(kCount);
  int rare = 0;
  for (std::size_t k = 0; k < kCount; k++) {
    want[k] = xs[k] > 1.9f ? std::cbrt(xs[k]) : xs[k] * xs[k];
    rare += xs[k] > 1.9f;
  }
  ASSERT_GT(rare, 0);
  for (const Target* target : targets()) {
    calls = 0;
    Buffers buffers;
    buffers.add_argument(xs);
    buffers.add_result(4 * kCount);
    ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
    EXPECT_EQ(buffers.result<float>(0), want) << target->name;
    EXPECT_EQ(calls, rare);
  }
}

/// More values per lane than there are vector and mask registers.
TEST_F(NativeLanes, SpillsKeepValues) {
  constexpr std::size_t kCount = 130;
  constexpr int kValues = 40;
  TestProgram p;
  const Value in = p.argument(0), out = p.result(0);
  const auto lanes = p.begin_lanes(p.index(kCount));
  const Value lane = lane_index(p, lanes);
  const Value x = p.load_at(Type::kF32, in, lane, 4);
  std::vector<Value> values, preds;
  for (int k = 0; k < kValues; k++) {
    values.push_back(p.multiply(x, p.number(Type::kF32, k + 1)));
    preds.push_back(p.greater(values.back(), p.number(Type::kF32, 3)));
  }
  Value sum = p.number(Type::kF32, 0);
  for (int k = kValues; k-- > 0;) {
    const auto at = static_cast<std::size_t>(k);
    const Value other = preds[(at + 5) % kValues];
    const Value both = p.select(preds[at], other, p.logical_not(other));
    sum = p.add(sum, p.select(both, values[at], x));
  }
  p.store_at(sum, out, lane, 4);
  p.end_lanes();
  const lower::Program program = p.finish();
  const auto xs = numbers(kCount);
  std::vector<float> want(kCount);
  for (std::size_t l = 0; l < kCount; l++) {
    auto value = [&](int k) { return xs[l] * static_cast<float>(k + 1); };
    for (int k = kValues; k-- > 0;) {
      const bool other = value((k + 5) % kValues) > 3;
      want[l] += (value(k) > 3 ? other : !other) ? value(k) : xs[l];
    }
  }
  for (const Target* target : targets()) {
    Buffers buffers;
    buffers.add_argument(xs);
    buffers.add_result(4 * kCount);
    ASSERT_EQ(buffers.run(*compile(program, target), program), Status::kDone);
    EXPECT_EQ(buffers.result<float>(0), want) << target->name;
  }
}

#if defined(__linux__)
/// Bytes that end at an unmapped page, as the argument and the result of one loop.
TEST_F(NativeLanes, NothingIsTouchedBehindTheLastLane) {
  const auto page = static_cast<std::size_t>(sysconf(_SC_PAGESIZE));
  auto* pages = static_cast<std::byte*>(
      mmap(nullptr, 4 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(static_cast<void*>(pages), MAP_FAILED);
  mprotect(pages + page, page, PROT_NONE);
  mprotect(pages + 3 * page, page, PROT_NONE);
  for (Type type : {Type::kPred, Type::kS8, Type::kU16, Type::kF16, Type::kBF16, Type::kS32,
                    Type::kF64, Type::kU64}) {
    const std::int64_t width = lower::width(type);
    for (std::int64_t count = 1; count <= 67; count++) {
      TestProgram p;
      const Value in = p.argument(0), out = p.result(0);
      const auto lanes = p.begin_lanes(p.index(count));
      const Value lane = lane_index(p, lanes);
      const Value x = p.load_at(type, in, lane, width);
      p.store_at(p.select(p.equal(x, x), x, x), out, lane, width);
      p.end_lanes();
      const lower::Program program = p.finish();
      const auto bytes = static_cast<std::size_t>(count * width);
      std::byte* from = pages + page - bytes;
      std::byte* to = pages + 3 * page - bytes;
      std::memset(from, 1, bytes);
      for (const Target* target : targets()) {
        std::memset(to, 0, bytes);
        lower::RunFrame frame;
        frame.arguments = &from;
        frame.results = &to;
        const auto code = compile(program, target);
        ASSERT_EQ(code->run(frame), Status::kDone);
        ASSERT_EQ(std::memcmp(from, to, bytes), 0) << lower::type_name(type) << " " << count;
      }
    }
  }
  munmap(pages, 4 * page);
}
#endif

}  // namespace
}  // namespace rondo::native_code
