// Operations `check.*` of StableHLO text: what a program says of its own values.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/function.h"

namespace rondo::text {

/// One operation; it compares two results of the program.
struct Check {
  enum class Kind : std::uint8_t { kEqual, kAlmostEqual, kClose };
  Kind kind = Kind::kEqual;
  double tolerance = 1e-4;                   // of kAlmostEqual
  std::uint64_t min_ulps = 0, max_ulps = 1;  // of kClose
  std::int64_t line = 0;
};

/// A function that holds such operations. Its results are what the checks compare: the actual and
/// the expected value of each.
struct CheckedFunction {
  std::string name;
  std::int64_t line = 0;
  bool takes_arguments = false;  // and is not read
  std::string error = {};        // why it cannot be read
  Function program = {};
  std::vector<Check> checks = {};
};

/// The functions with checks of all modules. Throws ParseError for text that is not MLIR.
std::vector<CheckedFunction> parse_checks(std::string_view text);

}  // namespace rondo::text
