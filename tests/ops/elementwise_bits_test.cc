// Every elementwise op on every dtype gives the same bits whatever runs it: the reference's kernel,
// bytecode, machine code. NaNs are equal whatever their payload.
#include <bit>
#include <cstdint>
#include <string>
#include <vector>

#include "base/for_dtype.h"
#include "ops/elementwise.h"
#include "support/bit_patterns.h"
#include "support/elementwise_records.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

// The others are computed in these: small_types_test.cc.
constexpr int kComputedDTypes = static_cast<int>(DType::kS2);

/// How many inputs each op gets: all numbers of 16 bits.
std::size_t count_of(DType dtype, int arity) {
  if (dtype == DType::kF32 || dtype == DType::kF64) return 100000;
  if (byte_width(dtype) == 2 && arity == 1) return 1u << 16;
  return 4096;
}

template <class T>
Literal column_of(DType dtype, int arity, std::uint64_t seed) {
  const std::size_t count = count_of(dtype, arity);
  if constexpr (sizeof(T) == 2) {
    if (arity == 1) {
      std::vector<T> all;
      for (std::size_t i = 0; i < count; i++)
        all.push_back(std::bit_cast<T>(static_cast<std::uint16_t>(i)));
      return Literal::from(all);
    }
  }
  return literal_of_bit_patterns<T>(count, seed);
}

template <class T>
bool same(T a, T b) {
  if constexpr (kHasParts<T>) {
    return same(a.real(), b.real()) && same(a.imag(), b.imag());
  } else {
    if (std::bit_cast<BitsOf<T>>(a) == std::bit_cast<BitsOf<T>>(b)) return true;
    if constexpr (!std::is_integral_v<T>) {
      const auto x = static_cast<double>(a), y = static_cast<double>(b);
      return x != x && y != y;
    }
    return false;
  }
}

/// Where the results differ, with the operands.
std::string difference(const Literal& got, const Literal& want,
                       const std::vector<Literal>& operands) {
  if (got.type() != want.type()) return got.type().str() + " in place of " + want.type().str();
  std::string text;
  int differences = 0;
  for_dtype(got.dtype(), [&]<class T>() {
    for (std::size_t i = 0; i < got.data<T>().size(); i++) {
      if (same<T>(got.data<T>()[i], want.data<T>()[i])) continue;
      if (differences++ > 2) continue;
      const auto at = [&](const Literal& x) {
        return Tensor(x)[static_cast<std::int64_t>(i)].eval().str();
      };
      text += "\n  " + at(got) + " in place of " + at(want) + " from";
      for (const Literal& x : operands) text += " " + at(x);
    }
  });
  return differences == 0 ? "" : std::to_string(differences) + " differ:" + text;
}

void expect_same_bits(const std::string& name, const Function& f,
                      const std::vector<Literal>& operands) {
  const Literal want = compile(f, {.executor = Executor::kReference}).run(operands)[0];
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Literal got = compile(f, {.contract = false, .executor = executor}).run(operands)[0];
    EXPECT_EQ(difference(got, want, operands), "")
        << name << (executor == Executor::kCompiled ? ", compiled" : ", bytecode");
  }
}

std::vector<Literal> columns(DType dtype, int arity) {
  std::vector<Literal> all;
  for_dtype(dtype, [&]<class T>() {
    for (int i = 0; i < arity; i++)
      all.push_back(column_of<T>(dtype, arity, static_cast<std::uint64_t>(i) + 1));
  });
  return all;
}

TEST(ElementwiseBits, OfEveryOpOnEveryDType) {
  int cases = 0;
  for (int arity = 1; arity <= 3; arity++) {
    for (const ir::OpDef* op : elementwise_ops(arity)) {
      // What runs as its formula has no code of its own, and may be a loop of thousands of trips.
      if (!op->runs()) continue;
      for (int i = 0; i < kComputedDTypes; i++) {
        const auto dtype = static_cast<DType>(i);
        if (!takes(*op, dtype)) continue;
        const std::vector<Literal> operands = columns(dtype, arity);
        const std::vector<TensorType> types(operands.size(), operands[0].type());
        const Function f =
            trace([&](const std::vector<Tensor>& x) { return apply_op(*op, x); }, types);
        expect_same_bits(std::string(op->name) + " of " + std::string(dtype_name(dtype)), f,
                         operands);
        cases++;
      }
    }
  }
  EXPECT_GT(cases, 300);
}

TEST(ElementwiseBits, OfComparisonsAndChoices) {
  for (int i = 0; i < kComputedDTypes; i++) {
    const auto dtype = static_cast<DType>(i);
    const std::vector<Literal> operands = columns(dtype, 2);
    const TensorType type = operands[0].type();
    for (int direction = 0; direction < 6; direction++) {
      for (const bool total : {false, true}) {
        if (is_complex(dtype) && (direction > 1 || total)) continue;
        const Function f = trace(
            [&](Tensor a, Tensor b) {
              return ops::compare(a, b, static_cast<ops::Direction>(direction), total);
            },
            type, type);
        expect_same_bits("compare " + std::to_string(direction) + " of " + type.str(), f, operands);
      }
    }
    expect_same_bits("select of " + type.str(),
                     trace([](Tensor a, Tensor b) { return where(eq(a, b), b, a); }, type, type),
                     operands);
  }
}

TEST(ElementwiseBits, OfReducedPrecision) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64}) {
    const std::vector<Literal> operands = columns(dtype, 1);
    for (const auto& bits : {std::pair{5, 2}, {8, 0}, {1, 3}, {11, 5}, {11, 52}}) {
      const Function f =
          trace([&](Tensor x) { return reduce_precision(x, bits.first, bits.second); },
                operands[0].type());
      expect_same_bits("reduce_precision of " + std::string(dtype_name(dtype)), f, operands);
    }
  }
}

TEST(ElementwiseBits, OfConversions) {
  for (int i = 0; i < kComputedDTypes; i++) {
    for (int j = 0; j < kComputedDTypes; j++) {
      const auto from = static_cast<DType>(i), to = static_cast<DType>(j);
      if (is_complex(from) && !is_complex(to)) continue;
      const std::vector<Literal> operands = columns(from, 1);
      const Function f = trace([&](Tensor x) { return convert(x, to); }, operands[0].type());
      expect_same_bits(std::string(dtype_name(from)) + " to " + std::string(dtype_name(to)), f,
                       operands);
    }
  }
}

}  // namespace
}  // namespace rondo::testing
