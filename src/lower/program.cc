#include "lower/program.h"

namespace rondo::lower {

void Program::count_held(HeldBytes& held) const {
  held.elements(code);
  held.elements(types);
  held.elements(addresses);
  for (const Address& address : addresses) held.elements(address.terms);
  held.elements(fors);
  for (const For& loop : fors) {
    held.elements(loop.carries);
    held.elements(loop.lane_loops);
  }
  held.elements(lanes);
  for (const Lanes& loop : lanes) {
    held.elements(loop.reductions);
    held.elements(loop.loops);
  }
  held.elements(whiles);
  for (const While& loop : whiles) held.elements(loop.carries);
  held.elements(ifs);
  for (const If& choice : ifs) held.elements(choice.results);
  held.elements(calls);
  for (const Call& call : calls) {
    held.elements(call.pointers);
    if (call.kernel) call.kernel->count_held(held);
  }
  held.elements(copies);
  held.elements(views);
  held.elements(tapes);
  held.elements(tape_sets);
  held.elements(buffers);
  held.elements(constants);
  for (const Literal& constant : constants) held.literal(constant);
  held.elements(variables);
  for (const Variable& variable : variables) {
    held.text(variable.name);
    held.shape(variable.type.shape);
  }
  held.elements(location_of);
  held.elements(locations);
  held.elements(loops);
  for (const LoopInfo& loop : loops) {
    held.text(loop.name);
    held.elements(loop.state);
    for (const CarriedLeaf& leaf : loop.state) {
      held.text(leaf.name);
      held.shape(leaf.type.shape);
      held.elements(leaf.parts);
    }
  }
}

}  // namespace rondo::lower
