// Queries on the steps of native code (native/steps.h).
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <vector>

#include "lower/program.h"
#include "native/compile.h"
#include "native/steps.h"
#include "native/x86/targets.h"

namespace rondo::native_code {

using Steps = std::vector<Instruction>;
using StepKind = std::function<bool(const Instruction&)>;

/// Native code can be generated for any processor; only a build without an assembler generates
/// none.
inline bool has_assembler() { return !disassembly(lower::Program(), &x86::avx2()).empty(); }

inline StepKind is(Kind kind) {
  return [kind](const Instruction& step) { return step.kind == kind; };
}
/// An index clamped between two bounds, in one step.
inline bool is_clamp(const Instruction& step) {
  return step.kind == Kind::kCompute && step.op == lower::Opcode::kMin && step.bits == kClamps;
}
/// For a scalar or for lanes.
inline StepKind computes(lower::Opcode op) {
  return [op](const Instruction& step) {
    return step.kind == Kind::kCompute && step.op == op && !is_clamp(step);
  };
}
/// For this many lanes at once.
inline StepKind computes(lower::Opcode op, lower::Type type, int lanes) {
  return [=](const Instruction& step) {
    return computes(op)(step) && step.type == type && step.lanes == lanes;
  };
}

inline std::ptrdiff_t count(const Steps& steps, const StepKind& kind) {
  return std::ranges::count_if(steps, kind);
}

}  // namespace rondo::native_code
