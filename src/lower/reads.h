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

/// Calls f with each value that the code and the tables of a program read, once for each read:
/// references to them, where the program may change.
template <class AnyProgram, class F>
void for_each_read(AnyProgram& program, F&& f) {
  const auto address = [&](std::uint64_t index) {
    auto& at = program.addresses[index];
    f(at.base);
    for (auto& term : at.terms) f(term.index);
  };
  const auto carries = [&](auto& all) {
    for (auto& carry : all) {
      f(carry.init);
      f(carry.next);
    }
  };
  for (auto& op : program.code) {
    f(op.a);
    f(op.b);
    f(op.c);
    for_each_address(program, op, address);
  }
  for (auto& call : program.calls) std::for_each(call.pointers.begin(), call.pointers.end(), f);
  for (auto& loop : program.fors) {
    f(loop.lower);
    f(loop.upper);
    carries(loop.carries);
  }
  for (auto& loop : program.whiles) {
    f(loop.predicate);
    carries(loop.carries);
  }
  for (auto& lanes : program.lanes) {
    f(lanes.count);
    for (auto& reduction : lanes.reductions) {
      f(reduction.init);
      f(reduction.value);
    }
  }
  for (auto& branch : program.ifs) {
    f(branch.predicate);
    for (auto& result : branch.results) {
      f(result.then);
      f(result.otherwise);
    }
  }
}

}  // namespace rondo::lower
