#include "interpreter/program.h"

#include "ir/function_data.h"

namespace rondo::interpreter {

namespace {

void count_program(HeldBytes& held, const Program& program) {
  ir::count_held(held, program.function);
  held.block(sizeof(Program));
  held.elements(program.code);
  held.elements(program.references);
  held.elements(program.constants);
  for (const Literal& constant : program.constants) held.literal(constant);
  held.elements(program.kernels);
  for (const auto& kernel : program.kernels) held.block(kernel->bytes());
  held.elements(program.parameters);
  held.elements(program.parameter_types);
  for (const TensorType& type : program.parameter_types) held.shape(type.shape);
  held.elements(program.results);
  held.block(program.result_movable.capacity() / 8);
}

}  // namespace

void Bundle::count_held(HeldBytes& held) const {
  held.elements(programs);
  for (const auto& program : programs) count_program(held, *program);
  held.elements(callable);
  held.elements(loops);
  for (const LoopInfo& loop : loops) {
    held.text(loop.name);
    held.elements(loop.leaves);
    for (const LoopInfo::Leaf& leaf : loop.leaves) held.text(leaf.name);
  }
}

}  // namespace rondo::interpreter
