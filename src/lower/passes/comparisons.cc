#include "lower/passes/comparisons.h"

#include <optional>

#include "lower/opcodes.h"
#include "lower/passes/ranges.h"

namespace rondo::lower {

namespace {

/// Of a value with itself; nothing for floats, which may be NaN.
std::optional<bool> with_itself(const Op& op) {
  const bool is_strict =
      op.code == Opcode::kLess || op.code == Opcode::kGreater || op.code == Opcode::kNotEqual;
  if (!is_float(op.from)) return !is_strict;
  return is_strict && op.code != Opcode::kNotEqual ? std::optional(false) : std::nullopt;
}

}  // namespace

void decide_comparisons(Program& program) {
  std::vector<std::optional<bool>> known(program.code.size());
  Ranges ranges(program);
  ranges.walk([&](std::size_t at) {
    const Op& op = program.code[at];
    if (info(op.code).kind != OpcodeKind::kCompare) return;
    if (op.a == op.b)
      known[at] = with_itself(op);
    else if (is_followed(op.from))
      known[at] = compared(op.code, ranges.of(op.a), ranges.of(op.b));
  });
  for (std::size_t at = 0; at < known.size(); at++) {
    Op& op = program.code[at];
    if (known[at]) {
      op = {Opcode::kConstant,        Type::kPred, Type::kPred, op.result, kNone, kNone, kNone,
            std::uint64_t{*known[at]}};
    } else if (info(op.code).kind == OpcodeKind::kCompare && op.a == op.b &&
               op.code != Opcode::kNotEqual) {
      op.code = Opcode::kEqual;
    }
  }
}

}  // namespace rondo::lower
