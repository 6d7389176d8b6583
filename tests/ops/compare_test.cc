// == != < <= > >=, eq, ne, the total order, is_nan, is_inf, is_finite.
#include <cstdint>

#include "ops/elementwise.h"
#include "ops/vectors.h"
#include "support/definition.h"

namespace rondo {
namespace {

using namespace testing;

/// All six comparisons against those of C++ on the host type.
template <class T, class Host = T>
void expect_all(const std::vector<T>& values) {
  std::vector<T> a, b;
  std::vector<bool> eqs, nes, lts, les, gts, ges;
  for (const T& x : values) {
    for (const T& y : values) {
      a.push_back(x);
      b.push_back(y);
      const Host p = x, q = y;
      eqs.push_back(p == q);
      nes.push_back(p != q);
      lts.push_back(p < q);
      les.push_back(p <= q);
      gts.push_back(p > q);
      ges.push_back(p >= q);
    }
  }
  const Tensor x = vec(a), y = vec(b);
  expect_vec(x == y, eqs);
  expect_vec(eq(x, y), eqs);
  expect_vec(x != y, nes);
  expect_vec(ne(x, y), nes);
  expect_vec(x < y, lts);
  expect_vec(x <= y, les);
  expect_vec(x > y, gts);
  expect_vec(x >= y, ges);
}

template <class T>
std::vector<T> edges_of() {
  return {std::numeric_limits<T>::min(), 0, 1, 5, static_cast<T>(-1),
          std::numeric_limits<T>::max()};
}

TEST(Compare, Integers) {
  expect_all(edges_of<std::int8_t>());
  expect_all(edges_of<std::int16_t>());
  expect_all(edges_of<std::int32_t>());
  expect_all(edges_of<std::int64_t>());
  expect_all(edges_of<std::uint8_t>());
  expect_all(edges_of<std::uint16_t>());
  expect_all(edges_of<std::uint32_t>());
  expect_all(edges_of<std::uint64_t>());
}

TEST(Compare, Preds) { expect_all(std::vector<bool>{false, true}); }

TEST(Compare, FloatsWithNanAndZeros) {
  expect_all<float>({0.0f, -0.0f, 1.0f, -kInf, kInf, kNan, 1e-45f});
  expect_all<double>({0.0, -0.0, 1.0, -kInf, kInf, kNan, 5e-324});
  std::vector<float16> halves;
  std::vector<bfloat16> brains;
  for (float x : {0.0f, -0.0f, 1.5f, -kInf, kInf, kNan, 6e-8f})
    halves.emplace_back(x), brains.emplace_back(x);
  expect_all<float16, float>(halves);
  expect_all<bfloat16, float>(brains);
}

TEST(Compare, ComplexNumbersByRealThenImaginaryPart) {
  using C = std::complex<float>;
  const Tensor a = vec<C>({{1, 2}, {1, 3}, {1, 2}, {kNan, 2}, {1, 3}, {0, 1}, {2, 0}});
  const Tensor b = vec<C>({{1, 3}, {1, 2}, {1, 2}, {1, 3}, {2, kNan}, {-0.0f, 2}, {1, 9}});
  expect_vec<bool>(a < b, {true, false, false, false, true, true, false});
  expect_vec<bool>(a <= b, {true, false, true, false, true, true, false});
  expect_vec<bool>(a > b, {false, true, false, false, false, false, true});
  expect_vec<bool>(a >= b, {false, true, true, false, false, false, true});
  expect_vec<bool>(a == b, {false, false, true, false, false, false, false});
  expect_vec<bool>(a != b, {true, true, false, true, true, true, true});
  expect_vec<bool>(a < 1, {false, false, false, false, false, true, false});
  expect_vec<bool>(1 < vec<std::complex<double>>({{2, -1}, {1, 1}, {1, -1}}), {true, true, false});
}

template <class T>
void expect_total_order(const std::vector<T>& ascending) {
  for (std::size_t i = 0; i < ascending.size(); i++) {
    for (std::size_t j = 0; j < ascending.size(); j++) {
      const Tensor a = vec<T>({ascending[i]}), b = vec<T>({ascending[j]});
      expect_vec<bool>(ops::compare(a, b, ops::Direction::kLt, true), {i < j});
      expect_vec<bool>(ops::compare(a, b, ops::Direction::kGe, true), {i >= j});
      expect_vec<bool>(ops::compare(a, b, ops::Direction::kEq, true), {i == j});
    }
  }
}

TEST(Compare, TotalOrderOfFloats) {
  expect_total_order<float>({-kNan, -kInf, -1, -1e-45f, -0.0f, 0.0f, 1e-45f, 1, kInf, kNan});
  expect_total_order<double>({-double{kNan}, -kInf, -1, -0.0, 0.0, 1, kInf, kNan});
  std::vector<float16> halves;
  for (float x : {-kNan, -kInf, -1.0f, -0.0f, 0.0f, 1.0f, kInf, kNan}) halves.emplace_back(x);
  expect_total_order(halves);
  expect_total_order<int>({-5, -1, 0, 1, 5});
}

TEST(Compare, NamesItsDirectionInText) {
  const Tensor x = vec<float>({1}), i = vec<int>({1}), u = vec<std::uint8_t>({1}),
               p = vec<bool>({true});
  auto hlo = [](const Tensor& t) {
    const std::string text = to_hlo_text(t);
    const std::size_t begin = text.find(", direction=");
    return text.substr(begin, text.find('\n', begin) - begin);
  };
  auto stablehlo = [](const Tensor& t) {
    const std::string text = to_stablehlo_text(t);
    const std::size_t begin = text.find("comparison_direction");
    return text.substr(begin, text.find("}>", begin) - begin);
  };
  EXPECT_EQ(hlo(x < 1), ", direction=LT");
  EXPECT_EQ(hlo(x <= 1), ", direction=LE");
  EXPECT_EQ(hlo(x > 1), ", direction=GT");
  EXPECT_EQ(hlo(x >= 1), ", direction=GE");
  EXPECT_EQ(hlo(x == 1), ", direction=EQ");
  EXPECT_EQ(hlo(x != 1), ", direction=NE");
  EXPECT_EQ(hlo(ops::compare(x, x, ops::Direction::kLt, true)), ", direction=LT, type=TOTALORDER");
  auto want = [](std::string direction, std::string type) {
    return "comparison_direction = #stablehlo<comparison_direction " + direction +
           ">, compare_type = #stablehlo<comparison_type " + type + ">";
  };
  EXPECT_EQ(stablehlo(x < 1), want("LT", "FLOAT"));
  EXPECT_EQ(stablehlo(i < 1), want("LT", "SIGNED"));
  EXPECT_EQ(stablehlo(u < 1), want("LT", "UNSIGNED"));
  EXPECT_EQ(stablehlo(p == p), want("EQ", "UNSIGNED"));
  EXPECT_EQ(stablehlo(ops::compare(x, x, ops::Direction::kGt, true)), want("GT", "TOTALORDER"));
}

TEST(Compare, RefusesOrderOfComplexNumbersInTheRecord) {
  const Tensor z = vec<std::complex<float>>({{1, 2}});
  expect_error([&] { ops::compare(z, z, ops::Direction::kLt); },
               {"compare: takes pred, integers and floats", "c64[1]"});
}

TEST(IsNan, OfFloatsAndComplexNumbers) {
  expect_vec<bool>(is_nan(vec<float>({0, kInf, kNan, -kNan})), {false, false, true, true});
  expect_vec<bool>(is_nan(vec_of<bfloat16, float>({0, kInf, kNan})), {false, false, true});
  expect_vec<bool>(is_nan(vec<std::complex<float>>({{0, 0}, {kNan, 0}, {0, kNan}, {kInf, 0}})),
                   {false, true, true, false});
  expect_error([] { is_nan(vec<int>({1})); },
               {"is_nan: takes floats and complex numbers", "s32[1]"});
}

TEST(IsInf, OfFloatsAndComplexNumbers) {
  expect_vec<bool>(is_inf(vec<float>({0, kInf, -kInf, kNan, -3e38f})),
                   {false, true, true, false, false});
  expect_vec<bool>(is_inf(vec<double>({1e308, -kInf})), {false, true});
  expect_vec<bool>(is_inf(vec_of<float16, float>({65504.0f, 65520.0f, kNan})),
                   {false, true, false});
  expect_vec<bool>(is_inf(vec_of<bfloat16, float>({-kInf, 1.0f})), {true, false});
  expect_vec<bool>(
      is_inf(vec<std::complex<float>>({{0, 0}, {kInf, kNan}, {kNan, -kInf}, {kNan, 1}})),
      {false, true, true, false});
  expect_vec<bool>(is_inf(vec<double>({})), {});
  expect_error([] { is_inf(vec<int>({1})); }, {"is_inf", "s32[1]"});
}

TEST(IsFinite, OfFloatsAndComplexNumbers) {
  expect_vec<bool>(is_finite(vec<float>({0, kInf, -kInf, kNan, 3e38f})),
                   {true, false, false, false, true});
  expect_vec<bool>(is_finite(vec<double>({1e308, kInf})), {true, false});
  expect_vec<bool>(is_finite(vec_of<float16, float>({65504.0f, 65520.0f})), {true, false});
  expect_vec<bool>(is_finite(vec<std::complex<float>>({{0, 0}, {kNan, 0}, {0, kInf}})),
                   {true, false, false});
  expect_error([] { is_finite(vec<int>({1})); },
               {"is_finite: takes floats; the operand is s32[1]", "DType::kF32"});
}

}  // namespace
}  // namespace rondo
