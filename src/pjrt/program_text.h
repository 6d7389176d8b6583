// Additions of the client to a program's StableHLO text.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rondo/function.h"

namespace rondo::pjrt {

/// Flags for the parameters, from CompileOptions::donate. Throws TraceError for a number without a
/// parameter.
std::vector<bool> donated_parameters(const Function& function,
                                     std::span<const std::int64_t> donate);

/// The text with the flagged parameters of `main` marked as donated.
std::string with_donors(const std::string& text, const std::vector<bool>& donated);

}  // namespace rondo::pjrt
