// Behaviour that all elementwise ops share: broadcasting, scalars with tensors, computing in place,
// locations in messages.
#include "ops/elementwise.h"

#include <cstdint>
#include <set>
#include <string_view>

#include "ops/call_kernel.h"
#include "ops/vectors.h"
#include "support/definition.h"
#include "transforms/registry.h"

namespace rondo {
namespace {

using namespace testing;

Literal copy_of(std::initializer_list<float> values) {
  return Literal::from<float>(values, {static_cast<std::int64_t>(values.size())});
}

TEST(InPlace, TheFirstOperandThatMayGoIsOverwritten) {
  const Tensor x = vec<float>({1, 2, 3}), sum = x + x;
  for (std::uint64_t movable : {1u, 2u, 3u}) {
    Literal a = copy_of({1, 2, 3}), b = copy_of({10, 20, 30});
    const std::byte* storage = movable & 1 ? a.bytes() : b.bytes();
    const Literal out = call_kernel(sum, {&a, &b}, movable);
    EXPECT_EQ(out.bytes(), storage);
    expect_values<float>(out, {3}, {11, 22, 33});
    if (movable == 1) expect_values<float>(b, {3}, {10, 20, 30});
    if (movable == 2) expect_values<float>(a, {3}, {1, 2, 3});
  }
}

TEST(InPlace, OperandsThatAreNeededStay) {
  const Tensor x = vec<float>({1, 2, 3}), difference = x - x;
  Literal a = copy_of({1, 2, 3}), b = copy_of({10, 20, 30});
  expect_values<float>(call_kernel(difference, {&a, &b}, 0), {3}, {-9, -18, -27});
  const Literal shared = a;  // movable, but the storage is shared
  expect_values<float>(call_kernel(difference, {&a, &b}, 1), {3}, {-9, -18, -27});
  expect_values<float>(shared, {3}, {1, 2, 3});
  expect_values<float>(b, {3}, {10, 20, 30});
}

TEST(InPlace, OneOperandTwice) {
  const Tensor x = vec<float>({1, 2, 3}), product = x * x;
  Literal a = copy_of({1, 2, 3});
  const std::byte* storage = a.bytes();
  const Literal out = call_kernel(product, {&a, &a}, 3);
  EXPECT_EQ(out.bytes(), storage);
  expect_values<float>(out, {3}, {1, 4, 9});
}

TEST(InPlace, AnotherDtypeOfTheSameWidth) {
  Literal a = copy_of({1.5f, -2.5f, kNan});
  const std::byte* storage = a.bytes();
  const Literal out = call_kernel(convert(vec<float>({1, 2, 3}), DType::kS32), {&a}, 1);
  EXPECT_EQ(out.bytes(), storage);
  expect_values<int>(out, {3}, {1, -2, 0});
  Literal wide = copy_of({1.5f, -2.5f, 0});
  expect_values<double>(call_kernel(convert(vec<float>({1, 2, 3}), DType::kF64), {&wide}, 1), {3},
                        {1.5, -2.5, 0});
  Literal asked = copy_of({1.5f, -2.5f, 0});
  expect_values<bool>(
      call_kernel(vec<float>({1, 2, 3}) < vec<float>({1, 2, 3}), {&asked, &asked}, 3), {3},
      {false, false, false});
}

TEST(InPlace, Choice) {
  const Tensor chosen =
      where(vec<bool>({true, false, true}), vec<float>({1, 2, 3}), vec<float>({1, 2, 3}));
  for (std::uint64_t movable : {0u, 2u, 4u, 6u}) {
    Literal p = Literal::from<bool>({true, false, true}, {3}), a = copy_of({1, 2, 3}),
            b = copy_of({10, 20, 30});
    const std::byte* storage = movable & 2 ? a.bytes() : b.bytes();
    const Literal out = call_kernel(chosen, {&p, &a, &b}, movable);
    if (movable) {
      EXPECT_EQ(out.bytes(), storage);
    }
    expect_values<float>(out, {3}, {1, 20, 3});
  }
}

TEST(InPlace, LongArraysOfEveryAlignment) {
  // Lengths around those of vector registers, in place and not.
  for (int n = 0; n < 40; n++) {
    std::vector<float> values, want;
    for (int i = 0; i < n; i++) {
      values.push_back(static_cast<float>(i) - 7.5f);
      want.push_back(values.back() * values.back() - values.back());
    }
    Literal a = Literal::from(values);
    const Literal kept = Literal::from(values);
    const Tensor x = vec(values);
    Literal square = call_kernel(x * x, {&a, &a}, 3);
    Literal other = kept;
    expect_values(call_kernel(x - x, {&square, &other}, 1), {n}, want);
    expect_values(kept, {n}, values);
  }
}

// The whole interpreter: x is used after an op that could have overwritten it.
TEST(InPlace, UsedLater) {
  const auto f = [](Tensor x) {
    const Tensor doubled = x + x, minus = -x;
    return std::vector<Tensor>{doubled, minus, x * doubled, x};
  };
  for (bool optimize : {false, true}) {
    const Executable run = compile(trace(f, f32({3})), {.optimize = optimize});
    const Literal argument = copy_of({1, 2, 3});
    const std::vector<Literal> out = run.run({argument});
    expect_values<float>(out[0], {3}, {2, 4, 6});
    expect_values<float>(out[1], {3}, {-1, -2, -3});
    expect_values<float>(out[2], {3}, {2, 8, 18});
    expect_values<float>(out[3], {3}, {1, 2, 3});
    expect_values<float>(argument, {3}, {1, 2, 3});
  }
}

TEST(Broadcasting, FollowsNumpy) {
  const Tensor column = Literal::from<int>({10, 20}, {2, 1}),
               row = Literal::from<int>({1, 2, 3}, {3});
  expect_values<int>(column + row, {2, 3}, {11, 12, 13, 21, 22, 23});
  expect_values<int>(row - column, {2, 3}, {-9, -8, -7, -19, -18, -17});
  expect_values<int>(column * Tensor(2), {2, 1}, {20, 40});
  expect_values<bool>(column < row * 10, {2, 3}, {false, true, true, false, false, true});
  EXPECT_EQ((Tensor(Literal::zeros(f32({4, 1, 3}))) + Literal::zeros(f32({5, 1}))).type(),
            f32({4, 5, 3}));
  EXPECT_EQ((Tensor(Literal::zeros(f32({0, 1}))) + Literal::zeros(f32({3}))).type(), f32({0, 3}));
  expect_error(
      [&] {
        Tensor(Literal::zeros(f32({2, 3}))) + Literal::zeros(f32({2}));
      },
      {"add: the shapes of f32[2,3] and f32[2] do not broadcast"});
}

TEST(Scalars, TakeTheDtypeOfTheTensor) {
  const Tensor x = vec<float>({2, 3});
  EXPECT_EQ((x + 1).dtype(), DType::kF32);
  EXPECT_EQ((1.5 * x).dtype(), DType::kF32);
  expect_vec<float>(pow(x, 2), {4, 9});
  expect_vec<float>(pow(2, x), {4, 8});
  expect_vec<float>(maximum(x, 2.5), {2.5f, 3});
  expect_vec<float>(minimum(2.5, x), {2, 2.5f});
  expect_vec<float>(clamp(0, x, 2.5), {2, 2.5f});
  expect_vec<float>(clamp(x, 0, x + 1), {2, 3});
  expect_vec<float>(clamp(0, 7, x), {2, 3});
  expect_vec<float>(atan2(0, x), {0, 0});
  expect_vec<float>(hypot(4, x + 1), {5, std::hypot(4.0f, 4.0f)});
  expect_vec<float>(rem(x, 2), {0, 1});
  expect_complex<float>(complex(x, 1), {{2, 1}, {3, 1}});
  expect_complex<float>(complex(0, x), {{0, 2}, {0, 3}});
  expect_complex<float>(pow(complex(x, 0), 2), {{4, 0}, {9, 0}}, 1e-6);
  const Tensor h = convert(x, DType::kBF16);
  EXPECT_EQ(maximum(h, 0).dtype(), DType::kBF16);
  EXPECT_EQ((h * 2.5).dtype(), DType::kBF16);
  expect_vec<std::uint8_t>(vec<std::uint8_t>({200, 1}) + 100, {44, 101});
}

TEST(Scalars, AloneTakeTheirOwn) {
  expect_scalar(pow(2, 10), 1024);
  expect_scalar(pow(2.0f, 3), 8.0f);
  expect_scalar(maximum(1, 2.5), 2.5);
  expect_scalar(clamp(0, 7, 5), 5);
  expect_scalar(clamp(0, 7, 5.5), 5.5);
  expect_scalar(clamp(0.5, 7, 5), 5.0);
  expect_close<float>(sqrt(2.0f), {}, {1.41421354f});
  expect_scalar(abs(-3), 3);
  expect_scalar(complex(1.0f, 2.0f), std::complex<float>(1, 2));
}

TEST(Scalars, ThatDoNotFitAreErrors) {
  const Tensor i = vec<int>({1}), u = vec<std::uint8_t>({1}), p = vec<bool>({true});
  expect_error([&] { i + 1.5; }, {"inexact scalar: 1.5 beside a tensor of s32"});
  expect_error([&] { maximum(u, 256); }, {"inexact scalar: 256 beside a tensor of u8"});
  expect_error([&] { clamp(0, u, -1); }, {"inexact scalar: -1 beside a tensor of u8"});
  expect_error([&] { p & 2; }, {"inexact scalar: 2 beside a tensor of pred"});
  expect_error([&] { pow(i, 0.5); }, {"inexact scalar: 0.5 beside a tensor of s32"});
}

TEST(Literals, StandBesideTensors) {
  const Literal one = copy_of({1, 2});
  expect_vec<float>(one + vec<float>({3, 4}), {4, 6});
  expect_vec<float>(one * one, {1, 4});
  expect_vec<float>(exp(Literal::from<float>({0}, {1})), {1});
  expect_vec<float>(maximum(one, 1.5), {1.5f, 2});
}

TEST(Assignment, RebindsTheHandle) {
  Tensor x = vec<float>({4, 8});
  const Tensor before = x;
  x += 1;
  x -= before;
  x *= before;
  x /= 2;
  expect_vec<float>(x, {2, 4});
  expect_vec<float>(before, {4, 8});
}

TEST(Dtypes, MustAgree) {
  const Tensor x = vec<float>({1}), i = vec<int>({1});
  const std::vector<std::string> parts{
      "the operands are f32[1] and s32[1]; their dtypes must be equal", "rondo::DType::kF32)"};
  for (auto op : {+[](const Tensor&a, const Tensor&b) { return a + b; },
                  +[](const Tensor&a, const Tensor&b) { return a % b; },
                  +[](const Tensor&a, const Tensor&b) { return a < b; },
                  +[](const Tensor&a, const Tensor&b) { return a == b; },
                  +[](const Tensor&a, const Tensor&b) { return maximum(a, b); },
                  +[](const Tensor&a, const Tensor&b) { return pow(a, b); },
                  +[](const Tensor&a, const Tensor&b) { return where(true, a, b); },
                  +[](const Tensor&a, const Tensor&b) { return complex(a, b); }}) {
    expect_error([&] { op(x, i); }, parts);
  }
  expect_error([&] { clamp(i, x, x); }, {"clamp: the operands are s32[1] and f32[1]"});
  expect_error([&] { clamp(x, x, i); }, {"clamp: the operands are s32[1] and f32[1]"});
  expect_error([&] { clamp(0, 1, Tensor()); }, {"clamp: an operand is an empty Tensor"});
}

TEST(Places, AreThoseOfTheOperatorOrCall) {
  const Tensor x = vec<float>({1}), i = vec<int>({1});
  const auto here = [](int line) { return "at elementwise_test.cc:" + std::to_string(line); };
  expect_error([&] { x + i; }, {here(__LINE__)});
  expect_error([&] { (void)(x < i); }, {here(__LINE__)});
  expect_error([&] { i << 0.5; }, {here(__LINE__)});
  expect_error([&] { ~x; }, {here(__LINE__)});
  expect_error([&] { maximum(x, i); }, {here(__LINE__)});
  expect_error([&] { sin(i); }, {here(__LINE__)});
  expect_error([&] { where(x, x, x); }, {here(__LINE__)});
  expect_error([&] { clamp(i, x, i); }, {here(__LINE__)});
  expect_error([&] { bitcast_convert(vec<bool>({true}), DType::kU8); }, {here(__LINE__)});
  const std::string place = "elementwise_test.cc:" + std::to_string(__LINE__ + 1);
  const Tensor y = exp(x * 2);
  EXPECT_EQ(y.node()->location().str(), place);
  EXPECT_EQ(definition_of(y).node()->operand(0).node()->location().str(), place);
}

TEST(Complex, PartsAndConjugates) {
  using C = std::complex<float>;
  const Tensor z = vec<C>({{1, 2}, {kInf, -0.0f}, {kNan, 3}});
  expect_signed<float>(real(z), {1, kInf, kNan});
  expect_signed<float>(imag(z), {2, -0.0f, 3});
  expect_signed<float>(imag(conj(z)), {-2, 0, -3});
  expect_complex<double>(conj(vec<std::complex<double>>({{1, -2}})), {{1, 2}});
  const Tensor x = vec<float>({1, kNan});
  EXPECT_TRUE(real(x).same_as(x));
  EXPECT_TRUE(conj(x).same_as(x));
  expect_signed<float>(imag(x), {0, 0});
  EXPECT_EQ(complex(vec<double>({1}), 2).dtype(), DType::kC128);
  expect_error([] { complex(vec<int>({1}), 2); },
               {"complex: takes f32, f64; the operand is s32[1]", "DType::kF32"});
  expect_error([] { complex(vec_of<float16, float>({1}), 2); },
               {"complex: takes f32, f64; the operand is f16[1]", "DType::kF32"});
}

// A parser or a pass may pass a record operands that no public function would.
TEST(Records, CheckTheirOperandsThemselves) {
  const Tensor x = vec<float>({1, 2}), y = vec<float>({1, 2, 3});
  expect_error(
      [&] {
        ir::make(ops::kAdd, {x, y}, {}, {});
      },
      {"add: operand 0 is f32[2], operand 1 is f32[3]; the types must be equal"});
  expect_error(
      [&] {
        ir::make(ops::kSelect, {x, x, x}, {}, {});
      },
      {"select: the predicate is f32[2]; it must be pred"});
  expect_error(
      [&] {
        ir::make(ops::kSelect, {vec<bool>({true}), x, x}, {}, {});
      },
      {"select: the predicate is pred[1], the choices are"});
}

TEST(Records, SayWhichOpsCommute) {
  std::set<std::string_view> commute;
  for (const ir::OpDef* op : transforms::all_ops()) {
    if (op->structure.commutative) commute.insert(op->name);
  }
  EXPECT_EQ(commute, (std::set<std::string_view>{"add", "multiply", "maximum", "minimum", "and",
                                                 "or", "xor", "hypot"}));
}

}  // namespace
}  // namespace rondo
