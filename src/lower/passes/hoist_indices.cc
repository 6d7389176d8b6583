#include "lower/passes/hoist_indices.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/opcodes.h"

namespace rondo::lower {

namespace {

/// Arithmetic that takes one or few cycles: it may be speculated, for loops without trips and
/// branches not taken.
bool is_index_arithmetic(const Op& op) {
  if (op.type != Type::kS64) return false;
  switch (op.code) {
    case Opcode::kConvert:
      return is_integer(op.from);
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kNegate:
    case Opcode::kAnd:
      return true;
    default:
      return false;
  }
}

class IndexHoister {
 public:
  explicit IndexHoister(Program& program) : program_(program), depth_(program.types.size(), 0) {}

  void run() {
    std::vector<bool> moved(program_.code.size(), false);
    bool any = false;
    for (std::size_t at = 0; at < program_.code.size(); at++) {
      moved[at] = visit(at);
      any = any || moved[at];
    }
    if (!any) return;
    std::vector<Op> code;
    code.reserve(program_.code.size());
    for (std::size_t at = 0; at < program_.code.size(); at++) {
      if (const auto found = before_.find(at); found != before_.end())
        code.insert(code.end(), found->second.begin(), found->second.end());
      if (!moved[at]) code.push_back(program_.code[at]);
    }
    program_.code = std::move(code);
  }

 private:
  /// True if the op is moved before a loop.
  bool visit(std::size_t at) {
    const Op& op = program_.code[at];
    switch (op.code) {
      case Opcode::kLanes:
        in_lanes_ = true;
        return false;
      case Opcode::kEndLanes:
        in_lanes_ = false;
        for (const Lanes::Reduction& reduction : program_.lanes[op.bits].reductions)
          depth_[reduction.result] = depth();
        return false;
      case Opcode::kFor:
        begin(at, program_.fors[op.bits].carries);
        depth_[program_.fors[op.bits].index] = depth();
        return false;
      case Opcode::kRepeat:
        begin(at, program_.whiles[op.bits].carries);
        return false;
      case Opcode::kEndFor:
        end(program_.fors[op.bits].carries);
        return false;
      case Opcode::kEndRepeat:
        end(program_.whiles[op.bits].carries);
        return false;
      case Opcode::kEndIf:
        for (const If::Result& result : program_.ifs[op.bits].results)
          depth_[result.result] = depth();
        return false;
      default:
        break;
    }
    if (op.result == kNone) return false;
    depth_[op.result] = depth();
    if (in_lanes_ || open_.empty() || !is_index_arithmetic(op)) return false;
    std::uint32_t least = depth_[op.a];
    if (op.b != kNone) least = std::max(least, depth_[op.b]);
    if (least == depth()) return false;
    depth_[op.result] = least;
    before_[open_[least]].push_back(op);
    return true;
  }

  std::uint32_t depth() const { return static_cast<std::uint32_t>(open_.size()); }

  void begin(std::size_t at, const std::vector<Carry>& carries) {
    if (in_lanes_) return;
    open_.push_back(at);
    for (const Carry& carry : carries) depth_[carry.param] = depth();
  }
  void end(const std::vector<Carry>& carries) {
    if (in_lanes_) return;
    open_.pop_back();
    for (const Carry& carry : carries) depth_[carry.result] = depth();
  }

  Program& program_;
  std::vector<std::uint32_t> depth_;  // the loops that enclose a value's definition
  std::vector<std::size_t> open_;     // where the enclosing loops begin
  absl::flat_hash_map<std::size_t, std::vector<Op>> before_;
  bool in_lanes_ = false;
};

}  // namespace

void hoist_indices(Program& program) { IndexHoister(program).run(); }

}  // namespace rondo::lower
