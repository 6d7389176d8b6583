// The first difference between two programs that should be equal, for messages.
#pragma once

#include <optional>
#include <string>

#include "rondo/error.h"
#include "rondo/function.h"

namespace rondo::ir {

struct Difference {
  /// `multiply takes the constant f32[] 3, and took f32[] 2`
  std::string text;
  /// The user's line of the op, in the new program.
  SourceLocation at;
};

/// The first op in which `now` differs from `before`, in the order of computation, including
/// regions; nullopt if both have the same structure (ir/structure.h).
std::optional<Difference> difference(const Function& before, const Function& now);

}  // namespace rondo::ir
