#include "interpreter/finite.h"

#include <cmath>
#include <cstdint>
#include <optional>
#include <string>

#include "base/for_dtype.h"
#include "fmt/format.h"

namespace rondo::interpreter {

namespace {

struct Found {
  std::int64_t element = 0;
  bool nan = false;
};

bool has_nan(float x) { return std::isnan(x); }
bool has_nan(double x) { return std::isnan(x); }
bool is_finite_number(float x) { return std::isfinite(x); }
bool is_finite_number(double x) { return std::isfinite(x); }
template <class T>
bool has_nan(const std::complex<T>& x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}
template <class T>
bool is_finite_number(const std::complex<T>& x) {
  return std::isfinite(x.real()) && std::isfinite(x.imag());
}

/// The first element that is not finite; NaNs before infinities.
std::optional<Found> not_finite(const Literal& literal) {
  if (!is_floating(literal.dtype()) && !is_complex(literal.dtype())) return std::nullopt;
  return for_any_dtype(literal.dtype(), [&]<class T>() -> std::optional<Found> {
    if constexpr (!is_floating(dtype_of<T>) && !is_complex(dtype_of<T>)) {
      return std::nullopt;
    } else {
      using Number = std::conditional_t<sizeof(T) <= 2, float, T>;
      std::optional<Found> found;
      const auto elements = literal.data<T>();
      for (std::size_t i = 0; i < elements.size(); i++) {
        const Number x = static_cast<Number>(elements[i]);
        if (is_finite_number(x)) continue;
        if (has_nan(x)) return Found{static_cast<std::int64_t>(i), true};
        if (!found) found = Found{static_cast<std::int64_t>(i), false};
      }
      return found;
    }
  });
}

std::string_view what(const Found& found) { return found.nan ? "NaN" : "an infinity"; }

}  // namespace

void check_arguments_finite(const Function& function, std::span<const Literal> arguments) {
  for (std::size_t i = 0; i < arguments.size(); i++) {
    const std::optional<Found> found = not_finite(arguments[i]);
    if (!found) continue;
    throw ExecutionError(
        fmt::format("check_finite: argument {} ('{}') of '{}' has {} at element {}"
                    ": {}\n  Give finite numbers, or leave check_finite out.",
                    i, function.param_names()[i], function.name(), what(*found), found->element,
                    arguments[i].str()));
  }
}

void check_results_finite(const ir::Node& node, std::span<const Literal> operands,
                          std::span<const Literal> results) {
  for (const Literal& result : results) {
    const std::optional<Found> found = not_finite(result);
    if (!found) continue;
    // Only newly created infinities are reported: a constant infinity may be a placeholder that is
    // selected away.
    for (const Literal& operand : operands) {
      const std::optional<Found> given = not_finite(operand);
      if (given && (given->nan || !found->nan)) return;
    }
    std::string text;
    for (std::size_t i = 0; i < operands.size(); i++)
      text += fmt::format("\n  operand {}: {}", i, operands[i].str());
    throw ExecutionError(
        fmt::format("check_finite: {} gives {} at element {} of {}\n  at {}{}\n  Keep its operands "
                    "where it is finite (rondo::where, clamp), or leave check_finite out.",
                    node.op->name, what(*found), found->element, result.str(),
                    node.location().str(), text),
        node.location());
  }
}

}  // namespace rondo::interpreter
