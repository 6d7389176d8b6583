// Scalar code: fusion of tests with branches and selects, clamps, quotients by constants, copies.
#include <array>
#include <cmath>
#include <functional>
#include <limits>
#include <numeric>
#include <random>

#include "native/comparisons.h"
#include "native/run_native.h"
#include "support/native_steps.h"

namespace rondo::native_code {
namespace {

using lower::Opcode;
using lower::Type;
using lower::Value;
using FoldScalars = NativeTest;

/// result[i] = element(a[i], b[i]) for all pairs of numbers, in a loop of scalar code, which has
/// `times` steps of kind `step`.
template <class T, class R>
void expect_for_pairs(const std::vector<T>& numbers, const StepKind& step, std::ptrdiff_t times,
                      const std::function<Value(TestProgram&, Value, Value)>& element,
                      const std::function<R(T, T)>& expected) {
  std::vector<T> a, b;
  for (const T x : numbers) {
    for (const T y : numbers) a.push_back(x), b.push_back(y);
  }
  const auto width = static_cast<std::int64_t>(sizeof(T));
  TestProgram p;
  const Value x = p.argument(0), y = p.argument(1), z = p.result(0);
  const Value last = p.index(static_cast<std::int64_t>(a.size()));
  const Value i = p.program().fors[p.begin_for(p.index(0), last, 1, {})].index;
  const Type type = type_of_host<T>();
  p.store_at(element(p, p.load_at(type, x, i, width), p.load_at(type, y, i, width)), z, i,
             sizeof(R));
  p.end_for({});
  const lower::Program program = p.finish();
  for (const Target* target : targets()) {
    EXPECT_EQ(count(steps(program, target), step), times) << disassembly(program, target);
    Buffers buffers;
    buffers.add_argument(a);
    buffers.add_argument(b);
    buffers.add_result(a.size() * sizeof(R));
    ASSERT_EQ(buffers.run(*compile(program, target), program), lower::Status::kDone);
    const std::vector<R> have = buffers.result<R>(0);
    for (std::size_t k = 0; k < a.size(); k++)
      ASSERT_EQ(have[k], expected(a[k], b[k])) << a[k] << " and " << b[k] << ", " << target->name;
  }
}

const std::vector<double>& doubles() {
  static const std::vector<double> numbers{
      0.0, -0.0, 1.5, -2.0, INFINITY, -INFINITY, std::numeric_limits<double>::quiet_NaN()};
  return numbers;
}

// A comparison is no separate step if the next step reads the flags.
TEST_F(FoldScalars, SelectionsReadTheFlagsOfFloats) {
  for (const Opcode op : kComparisons) {
    // The second select compares again.
    expect_for_pairs<double, std::int32_t>(
        doubles(), computes(op), 0,
        [&](TestProgram& p, Value a, Value b) {
          const Value less = p.compare(op, a, b);
          const Value x = p.select(less, p.number(Type::kS32, 7), p.number(Type::kS32, 0));
          const Value y = p.select(less, p.number(Type::kS32, -1), p.number(Type::kS32, 100));
          return p.add(x, y);
        },
        [&](double a, double b) { return holds(op, a, b) ? 6 : 100; });
    expect_for_pairs<double, double>(
        doubles(), computes(op), 0,
        [&](TestProgram& p, Value a, Value b) {
          return p.select(p.compare(op, a, b), p.number(Type::kF64, 1), p.number(Type::kF64, 2));
        },
        [&](double a, double b) { return holds(op, a, b) ? 1.0 : 2.0; });
  }
}

TEST_F(FoldScalars, SelectionsReadTheFlagsOfIntegers) {
  const std::vector<std::int32_t> numbers{0, 1, -1, 5, INT32_MAX, INT32_MIN};
  for (const Opcode op : kComparisons) {
    expect_for_pairs<std::int32_t, std::int32_t>(
        numbers, computes(op), 0,
        [&](TestProgram& p, Value a, Value b) { return p.select(p.compare(op, a, b), b, a); },
        [&](std::int32_t a, std::int32_t b) { return holds(op, a, b) ? b : a; });
    // A constant becomes the right operand.
    expect_for_pairs<std::int32_t, std::int32_t>(
        numbers, computes(op), 0,
        [&](TestProgram& p, Value a, Value b) {
          return p.select(p.compare(op, p.number(Type::kS32, 1), a), a, b);
        },
        [&](std::int32_t a, std::int32_t b) { return holds(op, 1, a) ? a : b; });
  }
  const std::vector<std::uint64_t> large{0, 1, 5, 1ull << 63, ~0ull};
  for (const Opcode op : kComparisons) {
    expect_for_pairs<std::uint64_t, std::uint64_t>(
        large, computes(op), 0,
        [&](TestProgram& p, Value a, Value b) { return p.select(p.compare(op, a, b), a, b); },
        [&](std::uint64_t a, std::uint64_t b) { return holds(op, a, b) ? a : b; });
  }
}

// (a > 0 and (b == 1 or a != b)) and b <= 2, and the same as the predicate of a loop.
TEST_F(FoldScalars, BranchesAskForOnePartAfterTheOther) {
  const auto predicate = [](TestProgram& p, Value a, Value b) {
    const auto number = [&](double x) { return p.number(Type::kF64, x); };
    const Value either = p.bit_or(p.equal(b, number(1.5)), p.not_equal(a, b));
    const Value both = p.bit_and(p.greater(a, number(0)), either);
    return p.bit_and(both, p.less_equal(b, number(2)));
  };
  const auto expected = [](double a, double b) {
    return (a > 0 && (b == 1.5 || a != b)) && b <= 2;
  };
  expect_for_pairs<double, std::int32_t>(
      doubles(), is(Kind::kShortCircuitOr), 1,
      [&](TestProgram& p, Value a, Value b) {
        p.begin_if(predicate(p, a, b));
        const Value then = p.number(Type::kS32, 1);
        p.begin_else();
        const Value otherwise = p.number(Type::kS32, 0);
        return p.end_if({&then, 1}, {&otherwise, 1})[0];
      },
      [&](double a, double b) { return expected(a, b) ? 1 : 0; });
  expect_for_pairs<double, std::int32_t>(
      doubles(), is(Kind::kTest), 3,
      [&](TestProgram& p, Value a, Value b) {
        const std::array<Value, 2> init{a, p.number(Type::kS32, 0)};
        const std::uint32_t loop = p.begin_while(init);
        const auto carries = p.program().whiles[loop].carries;
        p.test(predicate(p, carries[0].param, b));
        const std::array<Value, 2> next{p.subtract(p.number(Type::kF64, 0), carries[0].param),
                                        p.add(carries[1].param, p.number(Type::kS32, 1))};
        p.end_while(next);
        return p.program().whiles[loop].carries[1].result;
      },
      [&](double a, double b) {
        int trips = 0;
        for (; expected(a, b); a = 0 - a) trips++;
        return trips;
      });
}

TEST_F(FoldScalars, SelectionsByTwoComparisonsAreTwo) {
  const auto predicate = [](TestProgram& p, Value a, Value b, bool both) {
    const Value greater = p.greater(a, p.number(Type::kF64, 0));
    const Value differ = p.not_equal(a, b);
    return both ? p.bit_and(greater, differ) : p.bit_or(greater, differ);
  };
  for (const bool both : {true, false}) {
    const auto expected = [both](double a, double b) {
      return both ? a > 0 && a != b : a > 0 || a != b;
    };
    expect_for_pairs<double, double>(
        doubles(), computes(Opcode::kSelect), 2,
        [&](TestProgram& p, Value a, Value b) {
          return p.select(predicate(p, a, b, both), p.number(Type::kF64, 3),
                          p.number(Type::kF64, 4));
        },
        [&](double a, double b) { return expected(a, b) ? 3.0 : 4.0; });
    expect_for_pairs<double, std::int32_t>(
        doubles(), computes(Opcode::kSelect), 2,
        [&](TestProgram& p, Value a, Value b) {
          return p.select(predicate(p, a, b, both), p.number(Type::kS32, -3),
                          p.number(Type::kS32, 0));
        },
        [&](double a, double b) { return expected(a, b) ? -3 : 0; });
  }
}

// More selections than compare again: those after one another share the predicate's mask.
TEST_F(FoldScalars, ManySelectionsByTwoComparisons) {
  constexpr std::array kByFirst = {true, true, true, false, true, false, false, false, true, false};
  for (const Opcode op : kComparisons) {
    expect_for_pairs<double, double>(
        doubles(), computes(op), op == Opcode::kLess ? 2 : 1,
        [&](TestProgram& p, Value a, Value b) {
          const Value first = p.compare(op, a, b), second = p.less(a, p.number(Type::kF64, 1));
          std::vector<Value> chosen;
          for (const bool by_first : kByFirst) {
            const Type type = chosen.size() == 1 ? Type::kS32 : Type::kF64;
            const double number = std::ldexp(1.0, static_cast<int>(chosen.size()));
            chosen.push_back(
                p.select(by_first ? first : second, p.number(type, number), p.number(type, 0)));
          }
          Value total = p.convert(chosen[1], Type::kF64);
          for (std::size_t k = 0; k < chosen.size(); k++) {
            if (k != 1) total = p.add(total, chosen[k]);
          }
          return total;
        },
        [&](double a, double b) {
          double total = 0;
          for (std::size_t k = 0; k < kByFirst.size(); k++) {
            if (kByFirst[k] ? holds(op, a, b) : a < 1)
              total += std::ldexp(1.0, static_cast<int>(k));
          }
          return total;
        });
  }
}

TEST_F(FoldScalars, AnIndexIsClampedByOneComparison) {
  const std::vector<std::int32_t> numbers{0, 1, 8, 9, 10, -1, INT32_MAX, INT32_MIN};
  expect_for_pairs<std::int32_t, std::int64_t>(
      numbers, is_clamp, 1,
      [](TestProgram& p, Value a, Value) { return p.clamped_index(p.convert(a, Type::kS64), 9); },
      [](std::int32_t a, std::int32_t) {
        return std::clamp(std::int64_t{a}, std::int64_t{0}, std::int64_t{9});
      });
  const std::vector<std::int64_t> wide{0, 5, 9, 10, -1, 1ll << 40, INT64_MAX, INT64_MIN};
  expect_for_pairs<std::int64_t, std::int64_t>(
      wide, is_clamp, 2,
      [](TestProgram& p, Value a, Value b) {
        return p.add(p.clamped_index(a, 9), p.clamped_index(b, 0));
      },
      [](std::int64_t a, std::int64_t) { return std::clamp<std::int64_t>(a, 0, 9); });
}

/// Quotients and remainders by divisors of all sizes, in scalar code and in lanes.
template <class T>
void expect_quotients() {
  std::mt19937_64 random(11);
  std::vector<T> divisors, dividends = edge_values<T>();
  for (const std::int64_t by : {2, 3, 5, 6, 7, 10, 24, 100, 127, -1, -2, -3, -7, -127})
    divisors.push_back(static_cast<T>(by));
  for (const T by : {std::numeric_limits<T>::max(), std::numeric_limits<T>::min()})
    divisors.push_back(by);
  for (int i = 0; i < 12; i++) divisors.push_back(static_cast<T>(random() >> (random() % 64)));
  for (const T by : std::vector<T>(divisors)) {
    // Multiples, and the numbers next to them.
    for (int i = 0; i < 4; i++) {
      const auto wrapped = static_cast<std::uint64_t>(by) * (random() >> (random() % 64));
      for (const std::uint64_t near : {wrapped - 1, wrapped, wrapped + 1})
        dividends.push_back(static_cast<T>(near));
    }
  }
  for (const T by : divisors) {
    for (const bool in_lanes : {false, true}) {
      TestProgram p;
      const Value x = p.argument(0), q = p.result(0), r = p.result(1);
      const Value last = p.index(static_cast<std::int64_t>(dividends.size()));
      const Value i = in_lanes ? p.program().lanes[p.begin_lanes(last)].index
                               : p.program().fors[p.begin_for(p.index(0), last, 1, {})].index;
      const Value dividend = p.load_at(type_of_host<T>(), x, i, sizeof(T));
      const Value divisor = p.constant(type_of_host<T>(), lower::to_bits(by));
      p.store_at(p.divide(dividend, divisor), q, i, sizeof(T));
      p.store_at(p.remainder(dividend, divisor), r, i, sizeof(T));
      in_lanes ? p.end_lanes() : p.end_for({});
      const lower::Program program = p.finish();
      for (const Target* target : targets()) {
        Buffers buffers;
        buffers.add_argument(dividends);
        buffers.add_result(dividends.size() * sizeof(T));
        buffers.add_result(dividends.size() * sizeof(T));
        ASSERT_EQ(buffers.run(*compile(program, target), program), lower::Status::kDone);
        const std::vector<T> quotients = buffers.result<T>(0), remainders = buffers.result<T>(1);
        for (std::size_t k = 0; k < dividends.size(); k++) {
          const T a = dividends[k];
          const T quotient = lower::binary<Opcode::kDivide, T>(a, by);
          ASSERT_EQ(quotients[k], quotient)
              << +a << " by " << +by << ", " << target->name << (in_lanes ? " lanes" : "");
          ASSERT_EQ(remainders[k], (lower::binary<Opcode::kRemainder, T>(a, by)))
              << +a << " by " << +by << ", " << target->name << (in_lanes ? " lanes" : "");
        }
      }
    }
  }
}

TEST_F(FoldScalars, QuotientsByConstants) {
  expect_quotients<std::int8_t>();
  expect_quotients<std::uint8_t>();
  expect_quotients<std::int16_t>();
  expect_quotients<std::uint16_t>();
  expect_quotients<std::int32_t>();
  expect_quotients<std::uint32_t>();
  expect_quotients<std::int64_t>();
  expect_quotients<std::uint64_t>();
}

TEST_F(FoldScalars, CopiesOfAllLengths) {
  for (const std::int64_t bytes :
       {1, 31, 256, 257, 300, 320, 383, 384, 385, 1000, 4095, 4096, 5000}) {
    TestProgram p;
    const Value from = p.argument(0, bytes), to = p.result(0, bytes);
    p.copy({from, 0, {}}, {to, 0, {}}, bytes);
    const lower::Program program = p.finish();
    std::vector<std::uint8_t> values(static_cast<std::size_t>(bytes));
    std::iota(values.begin(), values.end(), std::uint8_t{3});
    for (const Target* target : targets()) {
      Buffers buffers;
      buffers.add_argument(values);
      buffers.add_result(values.size());
      ASSERT_EQ(buffers.run(*compile(program, target), program), lower::Status::kDone);
      EXPECT_EQ(buffers.result<std::uint8_t>(0), values) << bytes;
    }
  }
}

// sum over j of a[i * 7 + j], for all i: the start of a row is computed once per row.
TEST_F(FoldScalars, RowsBeginAtAPointer) {
  TestProgram p;
  const Value in = p.argument(0, 280), out = p.result(0, 40);
  const Value i = p.program().fors[p.begin_for(p.index(0), p.index(5), 1, {})].index;
  const Value zero = p.number(Type::kF64, 0);
  const std::uint32_t inner = p.begin_for(p.index(0), p.index(7), 1, {&zero, 1});
  const lower::For& loop = p.program().fors[inner];
  const Value sum = loop.carries[0].param, j = loop.index;
  const Value next = p.add(sum, p.load(Type::kF64, {in, 0, {{i, 56}, {j, 8}}}));
  p.end_for({&next, 1});
  p.store_at(p.program().fors[inner].carries[0].result, out, i, 8);
  p.end_for({});
  const lower::Program program = p.finish();
  std::vector<double> values(35), want(5);
  std::iota(values.begin(), values.end(), 1.0);
  for (std::size_t k = 0; k < 35; k++) want[k / 7] += values[k];
  for (const Target* target : targets()) {
    SCOPED_TRACE(disassembly(program, target));
    const Steps written = steps(program, target);
    EXPECT_EQ(count(written, is(Kind::kForBegin)), 2);
    EXPECT_EQ(count(written, is(Kind::kAddress)), 1);
    const auto address = std::ranges::find_if(written, is(Kind::kAddress));
    EXPECT_EQ(std::ranges::count_if(written.begin(), address, is(Kind::kForBegin)), 1);
    Buffers buffers;
    buffers.add_argument(values);
    buffers.add_result(40);
    ASSERT_EQ(buffers.run(*compile(program, target), program), lower::Status::kDone);
    EXPECT_EQ(buffers.result<double>(0), want);
  }
}

}  // namespace
}  // namespace rondo::native_code
