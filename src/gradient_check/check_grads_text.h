// The message of check_grads for a wrong derivative.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "rondo/error.h"
#include "rondo/function.h"

namespace rondo::gradient_check {

/// A derivative that differs from what it was compared with.
struct CheckFailure {
  std::string derivative;  // "the tangent of f"
  std::string modes;       // `"rev" over "fwd"`
  int order = 0;
  bool reverse = false;          // a pullback, else a tangent
  bool against_tangent = false;  // a pullback compared with a tangent, not with differences

  // The worst number: of a result for a tangent, of an argument for a pullback.
  std::string leaf;  // path and element
  double have = 0;
  double want = 0;
  std::array<double, 2> sides = {};  // slopes on either side of the point
  double noise = 0;                  // the rounding error of a slope
  std::size_t wrong = 0;             // how many of the leaf's numbers differ (tangents only)
  std::size_t numbers = 0;
  double back = 0;                    // all of the pullback along the direction,
  double there = 0;                   // and all of what it is compared with
  double allowed = 0;                 // between have and want, or back and there
  std::vector<std::string> shown_by;  // arguments whose move, results whose cotangent shows it

  double step = 0;
  std::uint64_t seed = 0;
  bool coarse = false;             // f32 or c64 takes part
  std::vector<std::string> rules;  // rules_in f
  SourceLocation at;
};

/// `custom_jvp at model.cc:12` for the rules by which a program, with all its regions, replaces
/// derivatives.
std::vector<std::string> rules_in(const Function& function);

/// The message of the error: the leaf and element, both numbers, how they were computed, and what
/// to look at.
std::string check_text(const CheckFailure& failure);

}  // namespace rondo::gradient_check
