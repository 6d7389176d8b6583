// Every elementwise op on every dtype gives the same bits whatever runs it: the reference's kernel,
// bytecode, machine code. NaNs are equal whatever their payload.
#include <bit>
#include <cstdint>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include "base/for_dtype.h"
#include "ops/elementwise.h"
#include "support/elementwise_records.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

// The others are computed in these: small_types_test.cc.
constexpr int kComputedDTypes = static_cast<int>(DType::kS2);

template <class T>
inline constexpr bool kHasParts = is_complex(dtype_of<T>);
template <class T>
using BitsOf = std::conditional_t<
    sizeof(T) == 1, std::uint8_t,
    std::conditional_t<sizeof(T) == 2, std::uint16_t,
                       std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>>>;

/// Both zeros, denormal numbers, infinities, NaN, the ends of integers, shifts by the width or
/// more, and where functions change their way.
template <class T>
std::vector<T> edges() {
  if constexpr (std::is_same_v<T, bool>) {
    return {false, true};
  } else if constexpr (std::is_integral_v<T>) {
    using Limits = std::numeric_limits<T>;
    return {Limits::min(),
            T(Limits::min() + 1),
            T(Limits::max() - 1),
            Limits::max(),
            T(-1),
            T(-2),
            T(0),
            T(1),
            T(2),
            T(3),
            T(7),
            T(8),
            T(sizeof(T) * 8 - 1),
            T(sizeof(T) * 8),
            T(sizeof(T) * 8 + 1)};
  } else {
    std::vector<T> all;
    for (const double x :
         {0.0,          1.0,          0.25,      0.5,     0.55,    0.875,  1.5,   2.0,
          2.5,          3.0,          5.0,       20.0,    88.7,    89.5,   104.0, 127.0,
          128.0,        255.5,        709.7,     710.5,   745.5,   1e4,    1e8,   2e9,
          2147483648.0, 4294967296.0, 9.3e18,    1.9e19,  1e30,    3.4e38, 1e300, 0x1p-126,
          0x1p-149,     0x1p-1022,    0x1p-1074, 0x1p-24, 0x1p-14, 1e-8,   1e-20, double{INFINITY},
          double{NAN}}) {
      all.push_back(T(x));
      all.push_back(T(-x));
    }
    return all;
  }
}

/// Edges, then bit patterns that are as good as random, of floats every second one of a size that
/// programs have.
template <class T>
std::vector<T> values(std::size_t count, std::uint64_t seed) {
  std::mt19937_64 random(seed);
  std::vector<T> all;
  if constexpr (kHasParts<T>) {
    const auto parts = values<typename T::value_type>(2 * count, seed);
    for (std::size_t i = 0; i < count; i++) all.push_back({parts[i], parts[2 * count - 1 - i]});
  } else {
    const std::vector<T> special = edges<T>();
    // In another order for each seed, so that those of two operands meet in pairs.
    for (std::size_t i = 0; i < special.size() * special.size() && i < count; i++)
      all.push_back(special[seed % 2 ? i % special.size() : i / special.size()]);
    while (all.size() < count) {
      if constexpr (std::is_same_v<T, bool>) {
        all.push_back(random() & 1);
      } else {
        all.push_back(std::bit_cast<T>(static_cast<BitsOf<T>>(random())));
        if constexpr (!std::is_integral_v<T>)
          all.push_back(T(static_cast<double>(random()) * 0x1p-60 - 8));
      }
    }
    all.resize(count);
  }
  return all;
}

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
  if constexpr (std::is_same_v<T, bool>) {
    Literal preds = Literal::zeros({dtype, {static_cast<std::int64_t>(count)}});
    const std::vector<bool> given = values<bool>(count, seed);
    for (std::size_t i = 0; i < count; i++) preds.mutable_data<bool>()[i] = given[i];
    return preds;
  } else {
    return Literal::from(values<T>(count, seed));
  }
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
