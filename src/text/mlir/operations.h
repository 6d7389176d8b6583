// MLIR's operations, in the generic form and in StableHLO's short forms.
#pragma once

#include <string_view>
#include <vector>

#include "text/mlir/locations.h"
#include "text/mlir/program.h"

namespace rondo::text::mlir {

/// Regions within each other; more is an error.
inline constexpr int kMostNestedRegions = 100;

/// Functions: operations `func.func` with the attribute `sym_name` and one region.
struct Module {
  Operations functions = {};
  EntryList attributes = {};
};

/// Functions outside of a module are one together.
struct Modules {
  std::vector<Module> modules = {};
  Locations locations;  // of all operations
};

/// Throws ParseError.
Modules parse_modules(std::string_view text);

}  // namespace rondo::text::mlir
