#include "lower/contract.h"

#include <algorithm>
#include <cstddef>

namespace rondo::lower {

namespace {

/// Calls f with each value that the program reads, once for each read.
template <class F>
void for_each_read(const Program& program, F&& f) {
  const auto address = [&](std::uint64_t index) {
    const Address& at = program.addresses[index];
    f(at.base);
    for (const Address::Term& term : at.terms) f(term.index);
  };
  const auto carries = [&](const std::vector<Carry>& all) {
    for (const Carry& carry : all) {
      f(carry.init);
      f(carry.next);
    }
  };
  for (const Op& op : program.code) {
    f(op.a);
    f(op.b);
    f(op.c);
    switch (op.code) {
      case Opcode::kLoad:
      case Opcode::kStore:
        address(op.bits);
        break;
      case Opcode::kCopy:
        address(program.copies[op.bits].from);
        address(program.copies[op.bits].to);
        break;
      default:
        break;
    }
  }
  for (const Call& call : program.calls)
    std::for_each(call.pointers.begin(), call.pointers.end(), f);
  for (const For& loop : program.fors) {
    f(loop.lower);
    f(loop.upper);
    carries(loop.carries);
  }
  for (const While& loop : program.whiles) {
    f(loop.predicate);
    carries(loop.carries);
  }
  for (const Lanes& lanes : program.lanes) {
    f(lanes.count);
    for (const Lanes::Reduction& reduction : lanes.reductions) {
      f(reduction.init);
      f(reduction.value);
    }
  }
  for (const If& branch : program.ifs) {
    f(branch.predicate);
    for (const If::Result& result : branch.results) {
      f(result.then);
      f(result.otherwise);
    }
  }
}

}  // namespace

void contract(Program& program) {
  constexpr std::size_t kNowhere = ~std::size_t{0};
  std::vector<std::size_t> product(program.types.size(), kNowhere);  // the op that makes it
  bool any = false;
  for (std::size_t at = 0; at < program.code.size(); at++) {
    const Op& op = program.code[at];
    if (op.code != Opcode::kMultiply || (op.type != Type::kF32 && op.type != Type::kF64)) continue;
    product[op.result] = at;
    any = true;
  }
  if (!any) return;
  std::vector<std::uint32_t> reads(program.types.size(), 0);
  for_each_read(program, [&](Value value) { reads[value]++; });
  std::vector<bool> gone(program.code.size(), false);
  bool changed = false;
  for (Op& op : program.code) {
    const bool adds = op.code == Opcode::kAdd;
    if (!adds && op.code != Opcode::kSubtract) continue;
    const auto alone = [&](Value value) { return product[value] != kNowhere && reads[value] == 1; };
    // Of two products the second one in a difference: c - a * b is more often a step of a loop.
    const bool first = alone(op.a) && (adds || !alone(op.b));
    if (!first && !alone(op.b)) continue;
    const std::size_t at = product[first ? op.a : op.b];
    const Value other = first ? op.b : op.a;
    op.code = adds ? Opcode::kFma : first ? Opcode::kFms : Opcode::kFnma;
    op.a = program.code[at].a;
    op.b = program.code[at].b;
    op.c = other;
    gone[at] = changed = true;
  }
  if (!changed) return;
  std::size_t kept = 0;
  for (std::size_t at = 0; at < program.code.size(); at++) {
    if (!gone[at]) program.code[kept++] = program.code[at];
  }
  program.code.resize(kept);
}

}  // namespace rondo::lower
