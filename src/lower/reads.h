// Where a program reads values.
#pragma once

#include <algorithm>

#include "lower/program.h"

namespace rondo::lower {

/// Calls f with the index of each address that an op reads or writes at, or points to.
template <class F>
void for_each_address(const Program& program, const Op& op, F&& f) {
  switch (op.code) {
    case Opcode::kLoad:
    case Opcode::kStore:
      return f(op.bits);
    case Opcode::kView:
      return f(program.views[op.bits].address);
    case Opcode::kCopy:
      f(program.copies[op.bits].from);
      return f(program.copies[op.bits].to);
    default:
      return;
  }
}

/// Calls f with each value that an op and its entry in the table of its kind read, once for each
/// read: references to them, where the program may change. What a loop or branch reads in its
/// entry, it reads where it begins.
template <class AnyProgram, class AnyOp, class F>
void for_each_read(AnyProgram& program, AnyOp& op, F&& f) {
  const auto carries = [&](auto& all) {
    for (auto& carry : all) {
      f(carry.init);
      f(carry.next);
    }
  };
  f(op.a);
  f(op.b);
  f(op.c);
  for_each_address(program, op, [&](std::uint64_t index) {
    auto& at = program.addresses[index];
    f(at.base);
    for (auto& term : at.terms) f(term.index);
  });
  switch (op.code) {
    case Opcode::kCall: {
      auto& pointers = program.calls[op.bits].pointers;
      std::for_each(pointers.begin(), pointers.end(), f);
      return;
    }
    case Opcode::kFor: {
      auto& loop = program.fors[op.bits];
      f(loop.lower);
      f(loop.upper);
      return carries(loop.carries);
    }
    case Opcode::kRepeat: {
      auto& loop = program.whiles[op.bits];
      f(loop.predicate);
      return carries(loop.carries);
    }
    case Opcode::kLanes: {
      auto& lanes = program.lanes[op.bits];
      f(lanes.count);
      for (auto& reduction : lanes.reductions) {
        f(reduction.init);
        f(reduction.value);
      }
      return;
    }
    case Opcode::kIf: {
      auto& branch = program.ifs[op.bits];
      f(branch.predicate);
      for (auto& result : branch.results) {
        f(result.then);
        f(result.otherwise);
      }
      return;
    }
    default:
      return;
  }
}

/// The same for all ops of a program.
template <class AnyProgram, class F>
void for_each_read(AnyProgram& program, F&& f) {
  for (auto& op : program.code) for_each_read(program, op, f);
}

}  // namespace rondo::lower
