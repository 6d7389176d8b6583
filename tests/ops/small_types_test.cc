// Small dtypes: their numbers, conversions, bits, copies, and what computes with them.
#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <fstream>
#include <map>
#include <sstream>
#include <string>
#include <vector>

#include "ops/vectors.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

using namespace testing;

/// A format as its publication describes it, apart from the library's own description.
struct Format {
  DType dtype;
  int bits, exponent, mantissa, bias;
  enum { kIeee, kNanOnly, kOneNan, kFinite } kind;
};
constexpr Format kFormats[] = {{DType::kF4E2M1FN, 4, 2, 1, 1, Format::kFinite},
                               {DType::kF8E3M4, 8, 3, 4, 3, Format::kIeee},
                               {DType::kF8E4M3, 8, 4, 3, 7, Format::kIeee},
                               {DType::kF8E4M3FN, 8, 4, 3, 7, Format::kNanOnly},
                               {DType::kF8E4M3B11FNUZ, 8, 4, 3, 11, Format::kOneNan},
                               {DType::kF8E4M3FNUZ, 8, 4, 3, 8, Format::kOneNan},
                               {DType::kF8E5M2, 8, 5, 2, 15, Format::kIeee},
                               {DType::kF8E5M2FNUZ, 8, 5, 2, 16, Format::kOneNan}};
constexpr DType kIntegers[] = {DType::kS2, DType::kU2, DType::kS4, DType::kU4};

double value_of(const Format& f, int code) {
  const int sign = code >> (f.bits - 1), exponent = code >> f.mantissa & ((1 << f.exponent) - 1),
            fraction = code & ((1 << f.mantissa) - 1);
  const bool top = exponent == (1 << f.exponent) - 1;
  const double s = sign ? -1 : 1;
  if (f.kind == Format::kIeee && top) return fraction ? std::copysign(NAN, s) : s * INFINITY;
  if (f.kind == Format::kNanOnly && top && fraction == (1 << f.mantissa) - 1)
    return std::copysign(NAN, s);
  if (f.kind == Format::kOneNan && code == 1 << (f.bits - 1)) return -NAN;
  const double mantissa = std::ldexp(fraction, -f.mantissa) + (exponent == 0 ? 0 : 1);
  return s * std::ldexp(mantissa, std::max(exponent, 1) - f.bias);
}

/// All codes of positive finite numbers, in order.
std::vector<std::pair<double, int>> magnitudes(const Format& f) {
  std::vector<std::pair<double, int>> all;
  for (int code = 0; code < 1 << (f.bits - 1); code++) {
    if (std::isfinite(value_of(f, code))) all.emplace_back(value_of(f, code), code);
  }
  return all;
}

/// The code of a number by search among all of them.
int nearest_code(const Format& f, const std::vector<std::pair<double, int>>& all, double x) {
  const int sign = std::signbit(x) ? 1 << (f.bits - 1) : 0;
  const int ones = (1 << (f.bits - 1)) - 1;
  const int infinity = ((1 << f.exponent) - 1) << f.mantissa;
  if (std::isnan(x)) {
    switch (f.kind) {
      case Format::kIeee:
        return sign | infinity | 1 << (f.mantissa - 1);
      case Format::kNanOnly:
        return sign | ones;
      case Format::kOneNan:
        return 1 << (f.bits - 1);
      case Format::kFinite:
        return sign ^ 1 << (f.bits - 1);
    }
  }
  const double magnitude = std::fabs(x), greatest = all.back().first;
  // Half of the last step beyond the greatest number rounds to it, if that is even, or away.
  const double limit = greatest + (greatest - all[all.size() - 2].first) / 2;
  if (magnitude > limit || (magnitude == limit && all.back().second % 2 == 1)) {
    switch (f.kind) {
      case Format::kIeee:
        return sign | infinity;
      case Format::kNanOnly:
        return sign | ones;
      case Format::kOneNan:
        return 1 << (f.bits - 1);
      case Format::kFinite:
        return sign | ones;
    }
  }
  auto above = std::lower_bound(all.begin(), all.end(), std::pair(magnitude, 0));
  if (above == all.end()) --above;
  int best = above->second;
  if (above != all.begin()) {
    const auto below = above - 1;
    const double up = above->first - magnitude, down = magnitude - below->first;
    if (down < up || (down == up && below->second % 2 == 0)) best = below->second;
  }
  return best == 0 && f.kind == Format::kOneNan ? 0 : best | sign;
}

std::vector<std::uint8_t> codes(const Tensor& small) {
  const Literal value = small.eval();
  std::vector<std::uint8_t> bytes;
  const auto bits = static_cast<int>(bit_width(value.dtype()));
  for (std::int64_t i = 0; i < value.elements(); i++)
    bytes.push_back(
        static_cast<std::uint8_t>(static_cast<unsigned>(value.bytes()[i]) & ((1u << bits) - 1)));
  return bytes;
}

/// All numbers of a small dtype, in the order of their bits.
Tensor every(DType dtype) {
  const std::int64_t count = std::int64_t{1} << bit_width(dtype);
  std::vector<std::int8_t> bytes;
  for (std::int64_t i = 0; i < count; i++) {
    const bool wraps = is_signed_integer(dtype) && i >= count / 2;
    bytes.push_back(static_cast<std::int8_t>(wraps ? i - count : i));
  }
  return Literal::from(bytes).reinterpreted({dtype, Shape{count}});
}

TEST(SmallTypes, HaveTheNumbersOfTheirBits) {
  for (const Format& f : kFormats) {
    SCOPED_TRACE(dtype_name(f.dtype));
    const Literal single = convert(every(f.dtype), DType::kF32).eval();
    const Literal wide = convert(every(f.dtype), DType::kF64).eval();
    ASSERT_EQ(single.elements(), 1 << f.bits);
    for (int code = 0; code < 1 << f.bits; code++) {
      const double want = value_of(f, code);
      const float got = single.data<float>()[static_cast<std::size_t>(code)];
      const double got_wide = wide.data<double>()[static_cast<std::size_t>(code)];
      if (std::isnan(want)) {
        EXPECT_TRUE(std::isnan(got) && std::isnan(got_wide)) << code;
      } else {
        EXPECT_EQ(got, want) << code;
        EXPECT_EQ(got_wide, want) << code;
      }
      EXPECT_EQ(std::signbit(got), std::signbit(want)) << code;
    }
  }
  for (const DType dtype : kIntegers) {
    const std::int64_t count = std::int64_t{1} << bit_width(dtype);
    std::vector<int> want;
    for (int i = 0; i < count; i++)
      want.push_back(static_cast<int>(is_signed_integer(dtype) && i >= count / 2 ? i - count : i));
    expect_vec(convert(every(dtype), DType::kS32), want);
  }
}

/// Each number, the middle of each pair, and what is next to them.
std::vector<double> around(const Format& f) {
  std::vector<double> xs{0, INFINITY, NAN, 1e300, 1e-300, 3e38, 1e-45};
  const auto all = magnitudes(f);
  const double greatest = all.back().first;
  for (std::size_t i = 0; i < all.size(); i++) {
    const double next = i + 1 < all.size() ? all[i + 1].first : 2 * greatest - all[i - 1].first;
    for (const double x : {all[i].first, (all[i].first + next) / 2}) {
      for (const double y : {x, std::nextafter(x, 0), std::nextafter(x, INFINITY)}) xs.push_back(y);
    }
  }
  for (std::size_t i = 0, n = xs.size(); i < n; i++) xs.push_back(-xs[i]);
  return xs;
}

template <class T>
void expect_nearest(const Format& f, const std::vector<T>& xs) {
  const auto all = magnitudes(f);
  const std::vector<std::uint8_t> got = codes(convert(vec(xs), f.dtype));
  for (std::size_t i = 0; i < xs.size(); i++) {
    const auto x = static_cast<double>(xs[i]);
    ASSERT_EQ(got[i], nearest_code(f, all, x)) << dtype_name(f.dtype) << " of " << x;
  }
}

TEST(SmallTypes, RoundToTheNearest) {
  for (const Format& f : kFormats) {
    const std::vector<double> xs = around(f);
    expect_nearest(f, xs);
    std::vector<float> singles;
    for (const double x : xs) singles.push_back(static_cast<float>(x));
    for (const double x : xs) singles.push_back(std::nextafter(static_cast<float>(x), 0.0f));
    expect_nearest(f, singles);
    std::vector<float16> halves;
    std::vector<bfloat16> brains;
    for (unsigned bits = 0; bits < 65536; bits += 7) {
      halves.push_back(float16::from_bits(static_cast<std::uint16_t>(bits)));
      brains.push_back(bfloat16::from_bits(static_cast<std::uint16_t>(bits)));
    }
    expect_nearest(f, halves);
    expect_nearest(f, brains);
    std::vector<std::int64_t> wholes{INT64_MIN, INT64_MAX, (std::int64_t{1} << 53) + 1};
    for (std::int64_t i = -70000; i < 70000; i += 61) wholes.push_back(i);
    expect_nearest(f, wholes);
    expect_nearest(f, std::vector<std::uint8_t>{0, 1, 17, 127, 200, 255});
    expect_nearest(f, std::vector<bool>{false, true});
    // What the host does with single numbers.
    for (const double x : xs) {
      const Literal one = Literal::scalar(x);
      ASSERT_EQ(detail::rounded_small(f.dtype, x), nearest_code(f, magnitudes(f), x)) << x;
    }
  }
}

TEST(SmallTypes, IntegersWrapAndFloatsSaturateToThem) {
  for (const DType dtype : kIntegers) {
    SCOPED_TRACE(dtype_name(dtype));
    const int count = 1 << bit_width(dtype);
    const int least = is_signed_integer(dtype) ? -count / 2 : 0, most = least + count - 1;
    std::vector<int> wholes, wrapped, saturated;
    std::vector<float> reals;
    for (int i = -300; i < 300; i++) {
      wholes.push_back(i);
      wrapped.push_back(((i - least) % count + count) % count + least);
      reals.push_back(static_cast<float>(i) / 8);
      saturated.push_back(std::clamp(i / 8, least, most));
    }
    for (const float x : {kNan, kInf, -kInf}) reals.push_back(x);
    for (const int i : {0, most, least}) saturated.push_back(i);
    expect_vec(convert(convert(vec(wholes), dtype), DType::kS32), wrapped);
    expect_vec(convert(convert(vec(reals), dtype), DType::kS32), saturated);
    expect_vec(convert(convert(convert(vec(reals), DType::kF64), dtype), DType::kS32), saturated);
  }
}

/// The lines of the table: dtype and kind, then numbers in hexadecimal.
std::map<std::string, std::vector<std::uint64_t>> table() {
  std::ifstream file(RONDO_SOURCE_DIR "/tests/ops/small_types_table.csv");
  std::map<std::string, std::vector<std::uint64_t>> rows;
  for (std::string line; std::getline(file, line);) {
    std::istringstream cells(line);
    std::string dtype, kind, cell;
    std::getline(cells, dtype, ',');
    std::getline(cells, kind, ',');
    auto& row = rows[dtype + " " + kind];
    while (std::getline(cells, cell, ',')) row.push_back(std::stoull(cell, nullptr, 16));
  }
  return rows;
}

TEST(SmallTypes, AgreeWithMlDtypes) {
  auto rows = table();
  std::vector<double> inputs;
  for (const std::uint64_t bits : rows["inputs f64"]) inputs.push_back(std::bit_cast<double>(bits));
  std::vector<int> wholes;
  for (int i = -300; i < 300; i++) wholes.push_back(i);
  std::vector<DType> dtypes(std::begin(kIntegers), std::end(kIntegers));
  for (const Format& f : kFormats) dtypes.push_back(f.dtype);
  for (const DType dtype : dtypes) {
    const std::string name(dtype_name(dtype));
    SCOPED_TRACE(name);
    const Literal values = convert(every(dtype), DType::kF32).eval();
    const auto& want = rows.at(name + " values");
    ASSERT_EQ(static_cast<std::size_t>(values.elements()), want.size());
    for (std::size_t i = 0; i < want.size(); i++)
      EXPECT_EQ(std::bit_cast<std::uint32_t>(values.data<float>()[i]), want[i]) << i;
    const auto expect_codes = [&](const std::vector<std::uint8_t>& got, const std::string& kind) {
      const auto& row = rows.at(name + " " + kind);
      EXPECT_TRUE(std::equal(got.begin(), got.end(), row.begin(), row.end())) << kind;
    };
    expect_codes(codes(convert(vec(wholes), dtype)), "from_s32");
    if (is_floating(dtype)) expect_codes(codes(convert(vec(inputs), dtype)), "from_f64");
  }
}

}  // namespace
}  // namespace rondo
