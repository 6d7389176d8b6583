// Selects as branches: with results, operands and comparisons in registers that they share, in
// stack slots, and constant.
#include <cstddef>
#include <functional>
#include <vector>

#include "lower/opcodes.h"
#include "native/comparisons.h"
#include "native/run_native.h"

namespace rondo::native_code {
namespace {

using lower::Opcode;
using lower::Type;
using lower::Value;
using AwaitedSelects = NativeTest;

/// All selects as branches, as mark_awaited_selects notes it.
lower::Program with_branches(lower::Program program) {
  std::ptrdiff_t selects = 0;
  for (lower::Op& op : program.code) {
    if (op.code != Opcode::kSelect) continue;
    op.bits = lower::kAwaited;
    selects++;
  }
  EXPECT_GT(selects, 0);
  return program;
}

/// result[i] = element(a[i], b[i]) for all pairs of numbers, as branches and as plain selects.
template <class T, class R>
void expect_branches_for_pairs(const std::function<Value(TestProgram&, Value, Value)>& element,
                               const std::function<R(T, T)>& expected) {
  std::vector<T> a, b;
  for (const T x : edge_values<T>()) {
    for (const T y : edge_values<T>()) a.push_back(x), b.push_back(y);
  }
  TestProgram p;
  const auto bytes = static_cast<std::int64_t>(a.size() * sizeof(T));
  const Value x = p.argument(0, bytes), y = p.argument(1, bytes),
              z = p.result(0, static_cast<std::int64_t>(a.size() * sizeof(R)));
  const Value last = p.index(static_cast<std::int64_t>(a.size()));
  const Value i = p.index_of_for(p.begin_for(p.index(0), last, 1, {}));
  const Type type = type_of_host<T>();
  p.store_at(element(p, p.load_at(type, x, i, sizeof(T)), p.load_at(type, y, i, sizeof(T))), z, i,
             sizeof(R));
  p.end_for({});
  const lower::Program program = with_branches(p.finish());
  for (const Target* target : targets()) {
    Buffers buffers;
    buffers.add_argument(a);
    buffers.add_argument(b);
    buffers.add_result(a.size() * sizeof(R));
    ASSERT_EQ(buffers.run(*compile(program, target), program), lower::Status::kDone);
    const std::vector<R> have = buffers.result<R>(0);
    for (std::size_t k = 0; k < a.size(); k++)
      ASSERT_EQ(comparable(have[k]), comparable(expected(a[k], b[k]))) << k << ", " << target->name;
  }
}

template <class T>
void expect_branches_by_comparisons() {
  for (const Opcode op : kComparisons) {
    // Of the operands themselves, in both orders.
    expect_branches_for_pairs<T, T>(
        [&](TestProgram& p, Value a, Value b) { return p.select(p.compare(op, a, b), a, b); },
        [&](T a, T b) { return holds(op, a, b) ? a : b; });
    expect_branches_for_pairs<T, T>(
        [&](TestProgram& p, Value a, Value b) { return p.select(p.compare(op, a, b), b, a); },
        [&](T a, T b) { return holds(op, a, b) ? b : a; });
    // Of constants, and one after the other by one predicate.
    expect_branches_for_pairs<T, std::int32_t>(
        [&](TestProgram& p, Value a, Value b) {
          const Value holds = p.compare(op, a, b);
          const Value x = p.select(holds, p.number(Type::kS32, 7), p.number(Type::kS32, 0));
          return p.add(x, p.select(holds, x, p.number(Type::kS32, -1)));
        },
        [&](T a, T b) { return holds(op, a, b) ? 14 : -1; });
    // Of floats by numbers of any type.
    expect_branches_for_pairs<T, double>(
        [&](TestProgram& p, Value a, Value b) {
          const Value x = p.convert(a, Type::kF64);
          return p.select(p.compare(op, a, b), x, p.number(Type::kF64, 0.5));
        },
        [&](T a, T b) { return holds(op, a, b) ? static_cast<double>(a) : 0.5; });
  }
}

TEST_F(AwaitedSelects, OfIntegers) {
  expect_branches_by_comparisons<std::int32_t>();
  expect_branches_by_comparisons<std::uint64_t>();
  expect_branches_by_comparisons<std::int8_t>();
}

TEST_F(AwaitedSelects, OfFloats) {
  expect_branches_by_comparisons<double>();
  expect_branches_by_comparisons<float>();
}

TEST_F(AwaitedSelects, ByAndOr) {
  using I = std::int32_t;
  expect_branches_for_pairs<I, I>(
      [](TestProgram& p, Value a, Value b) {
        const Value zero = p.number(Type::kS32, 0);
        const Value both = p.binary(Opcode::kAnd, p.greater(a, zero), p.greater(b, zero));
        const Value x = p.select(both, a, b);
        const Value either = p.binary(Opcode::kOr, p.less(a, zero), p.less(b, x));
        return p.select(either, p.select(p.less(a, b), x, a), b);
      },
      [](I a, I b) {
        const I x = a > 0 && b > 0 ? a : b;
        return a < 0 || b < x ? (a < b ? x : a) : b;
      });
}

/// More values than registers, of which each is selected into.
TEST_F(AwaitedSelects, InStackSlots) {
  constexpr int kValues = 40;
  const auto add = [](auto a, auto b) { return a + b; };
  const auto all = [&]<class T>(T, Type type) {
    expect_branches_for_pairs<T, T>(
        [&](TestProgram& p, Value a, Value b) {
          std::vector<Value> values;
          for (int k = 0; k < kValues; k++) values.push_back(p.add(a, p.number(type, k % 7)));
          for (int round = 0; round < 2; round++) {
            for (std::size_t k = 0; k < kValues; k++) {
              const Value other = values[(k + 3) % kValues];
              values[k] = p.select(p.less(other, b), other, values[k]);
            }
          }
          Value sum = values[0];
          for (std::size_t k = 1; k < kValues; k++) sum = p.add(sum, values[k]);
          return sum;
        },
        [&](T a, T b) {
          std::vector<T> values;
          for (int k = 0; k < kValues; k++) values.push_back(add(a, static_cast<T>(k % 7)));
          for (int round = 0; round < 2; round++) {
            for (std::size_t k = 0; k < kValues; k++) {
              const T other = values[(k + 3) % kValues];
              values[k] = other < b ? other : values[k];
            }
          }
          T sum = values[0];
          for (std::size_t k = 1; k < kValues; k++) sum = add(sum, values[k]);
          return sum;
        });
  };
  all(std::uint32_t{}, Type::kU32);
  all(double{}, Type::kF64);
}

}  // namespace
}  // namespace rondo::native_code
