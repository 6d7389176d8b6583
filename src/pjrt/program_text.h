// What the client says in a program's StableHLO text beside what the printer writes.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "rondo/function.h"

namespace rondo::pjrt {

/// Flags for the parameters, from CompileOptions::donate. Throws TraceError for a number that no
/// parameter has.
std::vector<bool> donated_parameters(const Function& function,
                                     std::span<const std::int64_t> donate);

/// The text with the flagged parameters of `main` marked as memory that results may be put into.
std::string with_donors(const std::string& text, const std::vector<bool>& donated);

}  // namespace rondo::pjrt
