// Selects of the lesser or the greater of two floats, which are one instruction of native code.
#include <bit>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <vector>

#include "executor/agreement.h"
#include "support/native_steps.h"

namespace rondo::testing {
namespace {

using lower::Opcode;
using native_code::computes;

template <class T>
std::vector<T> special() {
  using Limits = std::numeric_limits<T>;
  return {T(0),
          -T(0),
          T(1.5),
          T(-2),
          Limits::infinity(),
          -Limits::infinity(),
          Limits::quiet_NaN(),
          Limits::denorm_min()};
}

/// Each way to select one of two by one comparison.
std::vector<Tensor> chosen(const Tensor& a, const Tensor& b) {
  return {where(a < b, a, b), where(a < b, b, a), where(a > b, a, b),  where(a > b, b, a),
          where(b < a, a, b), where(b > a, a, b), where(a <= b, a, b), where(a >= b, a, b)};
}

template <class T>
std::vector<T> chosen(T a, T b) {
  return {a < b ? a : b, a < b ? b : a, a > b ? a : b,  a > b ? b : a,
          b < a ? a : b, b > a ? a : b, a <= b ? a : b, a >= b ? a : b};
}

template <class T>
void expect_chosen(const std::vector<Literal>& got, const std::vector<T>& a,
                   const std::vector<T>& b) {
  using Bits = std::conditional_t<sizeof(T) == 4, std::uint32_t, std::uint64_t>;
  for (std::size_t i = 0; i < a.size(); i++) {
    const std::vector<T> want = chosen(a[i], b[i]);
    for (std::size_t way = 0; way < want.size(); way++) {
      EXPECT_EQ(std::bit_cast<Bits>(got[way].data<T>()[i]), std::bit_cast<Bits>(want[way]))
          << "way " << way << " of " << a[i] << " and " << b[i];
    }
  }
}

template <class T>
void check_all_pairs() {
  std::vector<T> a, b;
  for (const T x : special<T>()) {
    for (const T y : special<T>()) {
      a.push_back(x);
      b.push_back(y);
    }
  }
  const Literal x = Literal::from(a, {std::ssize(a)}), y = Literal::from(b, {std::ssize(b)});
  const auto choose = [](Tensor x, Tensor y) { return chosen(x, y); };
  expect_chosen(expect_agreement(trace(choose, x, y), {x, y}), a, b);
  const auto one_by_one = [&](Tensor x, Tensor y) {
    return map([](std::pair<Tensor, Tensor> p) { return chosen(p.first, p.second); },
               std::pair(x, y));
  };
  expect_chosen(expect_agreement(trace(one_by_one, x, y), {x, y}), a, b);
}

TEST(Extremes, AreWhatTheSelectionSays) {
  check_all_pairs<float>();
  check_all_pairs<double>();
}

TEST(Extremes, AreOneInstruction) {
  for (const Shape& shape : {Shape{}, Shape{1000}}) {
    const TensorType type{DType::kF32, shape};
    const Function f = trace([](Tensor a, Tensor b) { return where(a < b, a, b); }, type, type);
    const Lowered lowered(f);
    for (const auto* target : {&native_code::x86::avx2(), &native_code::x86::avx512()}) {
      SCOPED_TRACE(native_code::disassembly(lowered.program(), target));
      const native_code::Steps steps = lowered.native_steps(target);
      EXPECT_EQ(count(steps, computes(Opcode::kMin)) > 0, native_code::has_assembler());
      EXPECT_EQ(count(steps, computes(Opcode::kSelect)), 0);
      EXPECT_EQ(count(steps, computes(Opcode::kLess)), 0);
    }
  }
}

TEST(Extremes, OfANumberThatIsKnown) {
  const std::vector<float> a = special<float>();
  for (const float known : {0.0f, -0.0f, 1.0f}) {
    const std::vector<float> b(a.size(), known);
    const Literal x = Literal::from(a, {std::ssize(a)});
    const auto choose = [&](Tensor x) { return chosen(x, full(x.type(), known)); };
    expect_chosen(expect_agreement(trace(choose, x), {x}), a, b);
    const auto one_by_one = [&](Tensor x) { return map(choose, x); };
    expect_chosen(expect_agreement(trace(one_by_one, x), {x}), a, b);
  }
}

}  // namespace
}  // namespace rondo::testing
