#include "lower/passes/dead_code.h"

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "lower/passes/entries.h"
#include "lower/reads.h"

namespace rondo::lower {

namespace {

/// Whether an op has no effect beside its result.
bool only_computes(const Op& op) { return op.result != kNone && op.code < Opcode::kStore; }

class DeadCode {
 public:
  explicit DeadCode(Program& program)
      : program_(program),
        reads_(program.types.size(), 0),
        maker_(program.types.size(), kNowhere),
        gone_(program.code.size(), false) {
    const auto read = [&](Value value) { reads_[value]++; };
    for_each_read(std::as_const(program), read);
    for (const LoopInfo& loop : program.loops) {
      read(loop.trips);
      for (const CarriedLeaf& leaf : loop.state) {
        for (const Value part : leaf.parts) read(part);
      }
    }
    for (std::size_t at = 0; at < program.code.size(); at++) {
      if (only_computes(program.code[at])) maker_[program.code[at].result] = at;
    }
  }

  void run() {
    find_unread_stores();
    const bool any_store = !dead_.empty();
    for (std::size_t at = 0; at < program_.code.size(); at++) {
      const Op& op = program_.code[at];
      if (only_computes(op) && reads_[op.result] == 0) dead_.push_back(at);
    }
    if (dead_.empty()) return;
    remove();
    // Without the values of loops a program has fewer loops only where stores have gone.
    if (any_store) remove_empty_loops();
    std::size_t kept = 0;
    for (std::size_t at = 0; at < gone_.size(); at++) {
      if (!gone_[at]) program_.code[kept++] = program_.code[at];
    }
    program_.code.resize(kept);
    if (!any_store) return;
    drop_unused_entries(program_, program_.lanes, Opcode::kLanes, Opcode::kEndLanes);
    drop_unused_entries(program_, program_.fors, Opcode::kFor, Opcode::kEndFor);
  }

 private:
  static constexpr std::size_t kNowhere = SIZE_MAX;

  /// Stores to places of the arena whose pointers only stores use.
  void find_unread_stores() {
    std::vector<std::uint32_t> stores(program_.types.size(), 0);
    const auto for_each_store = [&](auto&& f) {
      for (std::size_t at = 0; at < program_.code.size(); at++) {
        const Op& op = program_.code[at];
        if (op.code == Opcode::kStore) f(at, program_.addresses[op.bits].base);
        if (op.code == Opcode::kCopy) f(at, program_.addresses[program_.copies[op.bits].to].base);
      }
    };
    for_each_store([&](std::size_t, Value base) { stores[base]++; });
    const auto is_unread = [&](Value base) {
      if (maker_[base] == kNowhere || stores[base] != reads_[base]) return false;
      const Op& op = program_.code[maker_[base]];
      return op.code == Opcode::kBase && program_.buffers[op.bits].storage == Storage::kArena;
    };
    // A debugger reads what variables say.
    if (!program_.variables.empty()) return;
    for_each_store([&](std::size_t at, Value base) {
      if (is_unread(base)) dead_.push_back(at);
    });
  }

  void remove() {
    while (!dead_.empty()) {
      const std::size_t at = dead_.back();
      dead_.pop_back();
      gone_[at] = true;
      for_each_read(std::as_const(program_), std::as_const(program_.code[at]), [&](Value value) {
        if (value != kNone && --reads_[value] == 0 && maker_[value] != kNowhere)
          dead_.push_back(maker_[value]);
      });
    }
  }

  /// Of those over elements, which no run counts, and which give nothing.
  void remove_empty_loops() {
    struct Open {
      std::size_t begin;
      bool is_empty;
    };
    std::vector<Open> open;
    const auto keep = [&] {
      if (!open.empty()) open.back().is_empty = false;
    };
    for (std::size_t at = 0; at < program_.code.size(); at++) {
      const Op& op = program_.code[at];
      if (gone_[at]) continue;
      if (op.code == Opcode::kLanes || op.code == Opcode::kFor) {
        open.push_back({at, true});
      } else if (op.code == Opcode::kEndLanes || op.code == Opcode::kEndFor) {
        const auto [begin, is_empty] = open.back();
        open.pop_back();
        if (is_empty && gives_nothing(op)) {
          gone_[begin] = gone_[at] = true;
        } else {
          keep();
        }
      } else {
        keep();
      }
    }
  }

  bool gives_nothing(const Op& end) const {
    if (end.code == Opcode::kEndLanes) {
      const Lanes& lanes = program_.lanes[end.bits];
      return lanes.reductions.empty() && lanes.loops.empty();
    }
    const For& loop = program_.fors[end.bits];
    return loop.carries.empty() && loop.loop == kNoLoop && loop.lane_loops.empty();
  }

  Program& program_;
  std::vector<std::uint32_t> reads_;
  std::vector<std::size_t> maker_;
  std::vector<bool> gone_;
  std::vector<std::size_t> dead_;
};

}  // namespace

void remove_dead_code(Program& program) { DeadCode(program).run(); }

}  // namespace rondo::lower
