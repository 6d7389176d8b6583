// Running the checks of a program of StableHLO.
#include "rondo/checks.h"

#include <bit>
#include <cmath>
#include <complex>
#include <limits>
#include <type_traits>

#include "base/for_dtype.h"
#include "base/number_text.h"
#include "fmt/format.h"
#include "rondo/execute.h"
#include "text/checks.h"

namespace rondo {

namespace {

using text::Check;

/// Floats between both, as StableHLO's CheckOps counts them; all NaNs are one.
template <class T>
std::uint64_t floats_between(T a, T b) {
  constexpr int kBits = 8 * sizeof(T);
  using Bits = std::conditional_t<
      kBits == 8, std::uint8_t,
      std::conditional_t<kBits == 16, std::uint16_t,
                         std::conditional_t<kBits == 32, std::uint32_t, std::uint64_t>>>;
  const auto bits_a = std::bit_cast<Bits>(a), bits_b = std::bit_cast<Bits>(b);
  if (bits_a == bits_b) return 0;
  const auto value_a = static_cast<double>(a), value_b = static_cast<double>(b);
  if (std::isnan(value_a) && std::isnan(value_b)) return 0;
  if (!std::isfinite(value_a) || !std::isfinite(value_b))
    return std::numeric_limits<std::uint64_t>::max();
  constexpr Bits kSign = static_cast<Bits>(Bits{1} << (kBits - 1));
  const std::uint64_t from_zero_a = static_cast<Bits>(bits_a & ~kSign);
  const std::uint64_t from_zero_b = static_cast<Bits>(bits_b & ~kSign);
  if ((bits_a & kSign) != (bits_b & kSign)) return from_zero_a + from_zero_b;
  return from_zero_a > from_zero_b ? from_zero_a - from_zero_b : from_zero_b - from_zero_a;
}

bool almost_equal(double a, double b, double tolerance) {
  if (a == b) return true;
  if (std::isnan(a) || std::isnan(b)) return std::isnan(a) && std::isnan(b);
  return std::fabs(a - b) <= tolerance;  // an infinity is far from all else
}

template <class T>
bool agree(const Check& check, T actual, T expected) {
  if constexpr (is_complex(dtype_of<T>)) {
    return agree(check, actual.real(), expected.real()) &&
           agree(check, actual.imag(), expected.imag());
  } else if constexpr (is_floating(dtype_of<T>)) {
    const auto a = static_cast<double>(actual), b = static_cast<double>(expected);
    if (check.kind == Check::Kind::kEqual) return a == b;
    if (check.kind == Check::Kind::kAlmostEqual) return almost_equal(a, b, check.tolerance);
    const std::uint64_t ulps = floats_between(actual, expected);
    return ulps >= check.min_ulps && ulps <= check.max_ulps;
  } else {
    return actual == expected;
  }
}

std::string index_text(const Shape& shape, std::int64_t element) {
  std::string text;
  for (std::int64_t axis = shape.rank(); axis-- > 0;) {
    text = fmt::format("{}{}{}", element % shape[axis], text.empty() ? "" : ", ", text);
    element /= shape[axis];
  }
  return text;
}

std::string wanted(const Check& check) {
  if (check.kind == Check::Kind::kEqual) return "equal";
  if (check.kind == Check::Kind::kAlmostEqual)
    return fmt::format("within {} of each other", check.tolerance);
  if (check.min_ulps == 0) return fmt::format("at most {} floats apart", check.max_ulps);
  return fmt::format("{} to {} floats apart", check.min_ulps, check.max_ulps);
}

/// What differs, with the first element that does; empty if nothing.
std::string difference(const Check& check, const Literal& actual, const Literal& expected) {
  return for_any_dtype(actual.dtype(), [&]<class T>() -> std::string {
    const auto a = actual.data<T>(), b = expected.data<T>();
    std::int64_t wrong = 0, first = 0;
    for (std::size_t i = 0; i < a.size(); i++) {
      if (agree<T>(check, a[i], b[i])) continue;
      if (wrong++ == 0) first = static_cast<std::int64_t>(i);
    }
    if (wrong == 0) return {};
    std::string found, hoped;
    append_number(found, a[static_cast<std::size_t>(first)]);
    append_number(hoped, b[static_cast<std::size_t>(first)]);
    return fmt::format("line {}: {} of {} elements are not {}: [{}] is {} and should be {}",
                       check.line, wrong, a.size(), wanted(check),
                       index_text(actual.shape(), first), found, hoped);
  });
}

/// What is wrong with the function's first check that fails; empty if none does.
std::string failure(const text::CheckedFunction& function, const CompileOptions& options,
                    const RunOptions& run) {
  if (!function.error.empty()) return function.error;
  const std::vector<Literal> values =
      compile(function.program, options).run(std::span<const Literal>(), run);
  for (std::size_t i = 0; i < function.checks.size(); i++) {
    std::string found = difference(function.checks[i], values[2 * i], values[2 * i + 1]);
    if (!found.empty()) return found;
  }
  return {};
}

}  // namespace

CheckReport run_checks(std::string_view text, const CompileOptions& compile,
                       const RunOptions& run) {
  CheckReport report;
  for (const text::CheckedFunction& function : text::parse_checks(text)) {
    CheckReport::Function& row = report.functions.emplace_back();
    row.name = function.name;
    row.line = function.line;
    row.skipped = function.takes_arguments;
    if (row.skipped) {
      row.message = "it takes arguments";
      report.skipped++;
      continue;
    }
    try {
      row.message = failure(function, compile, run);
    } catch (const Interrupted&) {
      throw;  // of the whole run: a deadline, or a stop
    } catch (const Error& error) {
      row.message = error.what();
    }
    (row.message.empty() ? report.passed : report.failed)++;
  }
  return report;
}

}  // namespace rondo
