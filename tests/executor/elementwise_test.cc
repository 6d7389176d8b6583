// Comparisons, choices and conversions of every dtype, and arrays of every length of tail. (Each op
// by itself: tests/ops/elementwise_bits_test.cc.)
#include "ops/elementwise.h"

#include <array>
#include <bit>

#include "executor/agreement.h"
#include "support/program_generator.h"

namespace rondo::testing {
namespace {

constexpr std::array kDTypes{DType::kPred, DType::kS8,  DType::kS16, DType::kS32, DType::kS64,
                             DType::kU8,   DType::kU16, DType::kU32, DType::kU64, DType::kF16,
                             DType::kBF16, DType::kF32, DType::kF64, DType::kC64, DType::kC128};

/// Bits of all kinds: small and large numbers, both zeros, infinities, NaN.
Literal awkward(Dice& dice, const TensorType& type) {
  const Tensor numbers(
      Literal::from<double>({0,    -0.0, 1,   -1,  2,    -3,   0.5,      -0.25,     1e-3, 100,
                             -128, 127,  255, 1e9, -1e9, 3e38, INFINITY, -INFINITY, NAN,  7},
                            {20}));
  std::vector<double> chosen;
  const auto values = numbers.eval().data<double>();
  const bool floating = is_floating(type.dtype) || is_complex(type.dtype);
  for (std::int64_t i = 0; i < type.elements(); i++) {
    const auto k = static_cast<std::size_t>(dice.number(0, 19));
    chosen.push_back(floating || std::isfinite(values[k])
                         ? values[k]
                         : static_cast<double>(dice.number(-100, 100)));
  }
  const Tensor real = convert(Tensor(Literal::from(chosen, type.shape)),
                              is_complex(type.dtype) ? DType::kF64 : type.dtype);
  return convert(real, type.dtype).eval();
}

/// Of `n` elements by each amount, in the three ways in which they are written.
template <class T>
void expect_rotations(std::int64_t n) {
  using U = std::make_unsigned_t<T>;
  constexpr int kBits = 8 * sizeof(T);
  const TensorType type{dtype_of<T>, n == 1 ? Shape() : Shape{n}};
  SCOPED_TRACE(::testing::Message() << type);
  const Function f = trace(
      [](Tensor x) {
        std::vector<Tensor> turned;
        for (int by = 1; by < kBits; by++) {
          const Tensor high = shift_left(x, static_cast<T>(by)),
                       low = shift_right_logical(x, static_cast<T>(kBits - by));
          turned.push_back(by % 3 == 0 ? high | low : by % 3 == 1 ? low ^ high : high + low);
        }
        return turned;
      },
      type);
  EXPECT_EQ(Lowered(f).count(lower::Opcode::kRotateLeft), kBits - 1);
  EXPECT_EQ(Lowered(f).count(lower::Opcode::kShiftLeft), 0);
  Literal x = Literal::uninitialized(type);
  std::uint64_t bits = 0x9e3779b97f4a7c15;
  for (T& element : x.mutable_data<T>()) element = static_cast<T>(bits *= 0xd1342543de82ef95);
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const std::vector<Literal> got = compile(f, {.executor = executor}).run({x});
    for (int by = 1; by < kBits; by++) {
      for (std::size_t i = 0; i < static_cast<std::size_t>(n); i++)
        ASSERT_EQ(got[static_cast<std::size_t>(by) - 1].data<T>()[i],
                  static_cast<T>(std::rotl(static_cast<U>(x.data<T>()[i]), by)))
            << "by " << by;
    }
  }
}

TEST(Elementwise, ShiftsInOppositeDirectionsAreRotations) {
  for (const std::int64_t n : {1, 67}) {
    expect_rotations<std::int8_t>(n);
    expect_rotations<std::int16_t>(n);
    expect_rotations<std::int32_t>(n);
    expect_rotations<std::int64_t>(n);
    expect_rotations<std::uint8_t>(n);
    expect_rotations<std::uint16_t>(n);
    expect_rotations<std::uint32_t>(n);
    expect_rotations<std::uint64_t>(n);
  }
}

TEST(Elementwise, ComparisonsChoicesAndConversions) {
  Dice dice(2);
  for (const DType dtype : kDTypes) {
    const TensorType type{dtype, {67}};
    const std::vector<Literal> two{awkward(dice, type), awkward(dice, type)};
    for (int direction = 0; direction < 6; direction++) {
      for (const bool total : {false, true}) {
        if (is_complex(dtype) && (direction > 1 || total)) continue;
        const Function f = trace(
            [&](Tensor a, Tensor b) {
              return ops::compare(a, b, static_cast<ops::Direction>(direction), total);
            },
            type, type);
        expect_agreement(f, two);
      }
    }
    expect_agreement(trace([](Tensor a, Tensor b) { return where(eq(a, b), a, b); }, type, type),
                     two);
    for (const DType to : kDTypes) {
      if (is_complex(dtype) && !is_complex(to)) continue;
      const Function f = trace([&](Tensor a) { return convert(a, to); }, type);
      SCOPED_TRACE(::testing::Message() << dtype_name(dtype) << " to " << dtype_name(to));
      expect_agreement(f, {two[0]});
    }
  }
}

TEST(Elementwise, ChoicesAmongPreds) {
  Dice dice(3);
  const TensorType type{DType::kPred, {67}};
  const Literal p = awkward(dice, type), q = awkward(dice, type);
  const auto all = [](bool value) { return broadcast_to(Tensor(value), {67}); };
  for (const bool b : {false, true}) {
    for (const bool c : {false, true}) {
      const Function constants = trace([&](Tensor x) { return where(x, all(b), all(c)); }, type);
      const Function mixed = trace(
          [&](Tensor x, Tensor y) {
            return std::tuple(where(x, all(b), y), where(x, y, all(c)), where(ne(y, y), all(b), x));
          },
          type, type);
      for (const Function& f : {constants, mixed}) {
        for (const bool optimize : {false, true}) {
          const std::vector<Literal> arguments =
              f.params().size() == 1 ? std::vector{p} : std::vector{p, q};
          const auto want =
              compile(f, {.optimize = optimize, .executor = Executor::kReference}).run(arguments);
          const auto got =
              compile(f, {.optimize = optimize, .executor = Executor::kCompiled}).run(arguments);
          for (std::size_t i = 0; i < want.size(); i++) expect_equal(got[i], want[i]);
        }
      }
    }
  }
}

TEST(Elementwise, TailsOfEveryLength) {
  const std::int64_t most = 67;
  for (std::int64_t n = 0; n <= most; n++) {
    std::vector<float> x, y;
    for (std::int64_t i = 0; i < n; i++) {
      x.push_back(static_cast<float>(i) * 0.5f);
      y.push_back(static_cast<float>(n - i));
    }
    const Function f = trace([](Tensor a, Tensor b) { return std::tuple(a * b - 1, sum(a + b)); },
                             f32({n}), f32({n}));
    const auto got = expect_agreement(f, {Literal::from(x, {n}), Literal::from(y, {n})});
    double sum = 0;
    for (std::size_t i = 0; i < x.size(); i++) {
      EXPECT_EQ(got[0].data<float>()[i], x[i] * y[i] - 1);
      sum += static_cast<double>(x[i] + y[i]);
    }
    EXPECT_EQ(got[1].item<float>(), static_cast<float>(sum)) << n;
  }
}

// So long that few lanes are no single block, whose partial results are in registers.
TEST(Elementwise, ReductionsOfFewElementsWithLongCode) {
  for (std::int64_t n = 2; n <= 17; n++) {
    const Function f = trace(
        [](Tensor x) {
          Tensor y = x;
          for (int i = 0; i < 140; i++) {
            const Tensor next = y * 0.75f + x;
            y = maximum(next, x * x) - 0.125f * x;
          }
          return max(y);
        },
        f32({n}));
    SCOPED_TRACE(n);
    expect_agreement(f, {uneven<float>({n})});
  }
}

// Updates of the first columns of each row, in place: the others keep their elements.
TEST(Elementwise, TailsOfRows) {
  Dice dice(4);
  for (const DType dtype : kDTypes) {
    for (std::int64_t columns = 1; columns <= 33; columns++) {
      SCOPED_TRACE(::testing::Message() << dtype_name(dtype) << ", " << columns << " columns");
      const Function f = trace(
          [&](Tensor x) {
            const auto part = range({}, columns);
            return fori_loop(
                0, 3,
                [&](Tensor i, Tensor x) {
                  const Tensor row = at(x, {i});
                  const Tensor other = reverse(slice(x, range(), part), {0});
                  return update(x, {range(), part},
                                where(slice(row, part) == other, zeros(other.type()), other));
                },
                x);
          },
          TensorType{dtype, {5, 36}});
      expect_agreement(f, {awkward(dice, {dtype, {5, 36}})});
    }
  }
}

// Division by a constant power of two needs no division instruction.
TEST(Elementwise, QuotientsByPowersOfTwo) {
  const auto check = [](DType dtype, const std::vector<double>& divisors, const Literal& x) {
    for (const double divisor : divisors) {
      SCOPED_TRACE(::testing::Message() << dtype_name(dtype) << " / " << divisor);
      const Function function = trace(
          [&](Tensor x) {
            const Tensor by = convert(constant(divisor), dtype);
            return std::pair(x / by, rem(x, by));
          },
          x.type());
      expect_agreement(function, {x});
      const Lowered lowered(function);
      EXPECT_EQ(lowered.count(lower::Opcode::kDivide), 0) << lowered;
    }
  };
  constexpr std::int64_t kMost = INT64_MAX;
  check(
      DType::kS64, {2, 8, 1024, 0x1p40, 0x1p62},
      Literal::from<std::int64_t>({0, 1, -1, 7, -7, 8, -8, 1025, kMost, -kMost, -kMost - 1}, {11}));
  check(DType::kS32, {2, 4, 1024, 0x1p30},
        Literal::from<std::int32_t>({0, 1, -1, 3, -3, -1024, 1025, INT32_MAX, INT32_MIN}, {9}));
  check(DType::kU32, {2, 16, 0x1p31},
        Literal::from<std::uint32_t>({0, 1, 17, 0x80000000u, ~0u}, {5}));
  check(DType::kU64, {2, 0x1p33, 0x1p63},
        Literal::from<std::uint64_t>({0, 5, ~0ull, 1ull << 63}, {4}));
  const Literal doubles =
      Literal::from<double>({0, -0.0, 1.1, -3e-310, 4e-324, 1.7e308, INFINITY, NAN}, {8});
  const auto quotient = [&](double divisor) {
    expect_agreement(trace([&](Tensor x) { return x / divisor; }, doubles.type()), {doubles});
  };
  for (const double divisor : {2.0, -4.0, 0.5, 0x1p-1022, 0x1p1023, 3.0}) quotient(divisor);
  for (const std::int32_t divisor : {1, -1, -2, 3, 0, INT32_MIN}) {
    const Literal x = Literal::from<std::int32_t>({0, 1, -1, 7, INT32_MIN, INT32_MAX}, {6});
    expect_agreement(
        trace([&](Tensor x) { return std::pair(x / divisor, rem(x, divisor)); }, x.type()), {x});
  }
}

}  // namespace
}  // namespace rondo::testing
