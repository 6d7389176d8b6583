// MLIR's operations, in the generic form and in StableHLO's short forms.
#pragma once

#include <string_view>
#include <vector>

#include "text/mlir/program.h"

namespace rondo::text::mlir {

/// Regions within each other; more is an error.
inline constexpr int kMostNestedRegions = 100;

/// The functions of a module, with or without `module`: operations `func.func` with the attribute
/// `sym_name` and one region. Throws ParseError.
std::vector<Operation> parse_functions(std::string_view text);

}  // namespace rondo::text::mlir
