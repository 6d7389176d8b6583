#include "executor/lowering.h"

#include <algorithm>
#include <utility>

#include "executor/element_code.h"
#include "executor/loop_parts.h"
#include "executor/lowerer.h"
#include "executor/runtime/kernels.h"
#include "ir/element.h"
#include "ir/function_data.h"
#include "lower/opcodes.h"

namespace rondo::executor {

namespace {

/// Lanes check the limits of a run inside the trips of the enclosing loops.
void mark_ends_in_lanes(lower::Program& program) {
  const lower::Op* outermost = nullptr;  // an open one
  const auto counted = [&](const lower::Op& op) {
    return op.code == lower::Opcode::kRepeat ? program.whiles[op.bits].loop
                                             : program.fors[op.bits].loop;
  };
  for (const lower::Op& op : program.code) {
    const bool repeats = op.code == lower::Opcode::kRepeat, is_for = op.code == lower::Opcode::kFor;
    const bool ends = op.code == lower::Opcode::kEndRepeat || op.code == lower::Opcode::kEndFor;
    const bool polls = (op.code == lower::Opcode::kLanes && program.lanes[op.bits].polls) ||
                       (is_for && program.fors[op.bits].polls);
    if (!outermost && (repeats || is_for) && counted(op) != lower::kNoLoop)
      outermost = &op;
    else if (outermost && polls)
      program.loops[counted(*outermost)].ends_inside = true;
    else if (outermost && ends && op.bits == outermost->bits &&
             (op.code == lower::Opcode::kEndRepeat) == (outermost->code == lower::Opcode::kRepeat))
      outermost = nullptr;
  }
}

}  // namespace

lower::Program Lowerer::run(const Function& function) {
  builder_.reserve(function.body().size());
  if (options_.locations) builder_.record_locations();
  in_place_ = std::make_unique<const InPlace>(function);
  tapes_ = tapes_of(function).values;
  enter(Scope::Role::kEntry, function);
  open_entry();
  while (!scopes_.empty()) {
    Scope& scope = scopes_.back();
    if (scope.next == scope.plan->steps().size())
      close();
    else
      step(scope, scope.next++);
  }
  lower::Program program = builder_.finish();
  if (options_.keeps_states) mark_ends_in_lanes(program);
  program.constants = std::move(constants_);
  program.arena_bytes = arena_.size();
  return program;
}

Scope& Lowerer::enter(Scope::Role role, const Function& function) {
  Scope& scope = scopes_.emplace_back();
  scope.role = role;
  scope.function = function;
  scope.plan = std::make_unique<RegionPlan>(
      function, interchanges_, options_.reorders && !loops_.empty(), role == Scope::Role::kBody);
  scope.places.resize(scope.plan->values());
  return scope;
}

void Lowerer::open_entry() {
  Scope& scope = scopes_.back();
  const auto& parameters = scope.function.parameters();
  for (std::uint32_t i = 0; i < parameters.size(); i++) {
    const TensorType& type = parameters[i].type();
    const Value pointer = builder_.buffer({lower::Storage::kArgument, i, 0, type.bytes()});
    if (is_scalar(type)) {
      scope.places[i] = single(builder_.load_element(type.dtype, {pointer, 0, {}}));
    } else {
      scope.places[i].kind = Place::Kind::kArray;
      scope.places[i].pointer = pointer;
    }
  }
  const auto& outputs = scope.function.outputs();
  borrowed_.resize(outputs.size());
  first_writer_.resize(outputs.size());
  for (std::uint32_t i = 0; i < outputs.size(); i++) {
    const TensorType& type = outputs[i].type();
    Place to;
    to.kind = Place::Kind::kArray;
    to.pointer = builder_.buffer({lower::Storage::kResult, i, 0, type.bytes()});
    to.storage = new_storage();
    result_places_.push_back(to);
    if (!is_scalar(type)) write_result_in(scope, i, to);
  }
}

void Lowerer::write_result_in(Scope& scope, std::uint32_t i, const Place& to) {
  Tensor value = scope.function.outputs()[i];
  first_writer_[i] = scope.plan->step_of(value);
  while (scope.destinations.try_emplace(scope.plan->value(value), to).second) {
    const Step* const step = first_writer_[i];
    if (!step || step->form != Strategy::kLoop || interchanges_.of(step->node)) return;
    const std::uint32_t carry = value.result();
    const Tensor& init = LoopParts(*step->node).operands[carry];
    if (!is_in_place(*step->node, carry) || scope.plan->uses(scope.plan->value(init)) != 1 ||
        !scope.plan->step_of(init) || ir::is_constant(init.node()))
      return;
    value = init;
    first_writer_[i] = scope.plan->step_of(init);
  }
}

void Lowerer::close() {
  builder_.locate(constructs_.empty() ? SourceLocation() : constructs_.back().node->location());
  switch (scopes_.back().role) {
    case Scope::Role::kEntry:
      close_entry();
      break;
    case Scope::Role::kCondition:
      close_condition();
      break;
    case Scope::Role::kBody:
      close_body();
      break;
    case Scope::Role::kBranch:
      close_branch();
      break;
  }
}

void Lowerer::close_entry() {
  Scope& scope = scopes_.back();
  const auto& outputs = scope.function.outputs();
  for (std::uint32_t i = 0; i < outputs.size(); i++) {
    const Place& from = place(scope, outputs[i]);
    const Value to = result_places_[i].pointer;
    if (from.kind == Place::Kind::kSingle)
      builder_.store_element(from.element, {to, 0, {}});
    else
      copy(from.pointer, to, outputs[i].type().bytes());
  }
  scopes_.pop_back();
}

void Lowerer::step(Scope& scope, std::uint32_t at) {
  const Step& step = scope.plan->steps()[at];
  builder_.locate(step.node->location());
  if (open_construct(step, at)) return;
  if (lanes_)
    lane_step(scope, step);
  else
    whole_step(scope, step, at);
  end_step(scope, at);
}

bool Lowerer::open_construct(const Step& step, std::uint32_t at) {
  if (const Interchange* form = lanes_ ? nullptr : interchanges_.of(step.node)) {
    const bool in_chunks = options_.keeps_states && loops_.empty() && form->lanes > 1 &&
                           !stands_for_branch(*step.node);
    in_chunks ? open_chunks(step, at, *form) : open_lanes(step, at, *form);
    return true;
  }
  switch (step.form) {
    case Strategy::kLaneLoop:
      if (!lanes_)
        throw InternalError("a loop over lanes that was not expanded", step.node->location());
      [[fallthrough]];
    case Strategy::kLoop:
      open_loop(step, at);
      return true;
    case Strategy::kBranch:
      open_conditional(step, at);
      return true;
    default:
      return false;
  }
}

void Lowerer::whole_step(Scope& scope, const Step& step, std::uint32_t at) {
  const Node* node = step.node;
  Place& result = scope.places[step.first_value];
  switch (step.form) {
    case Strategy::kConstant:
      result = constant(node);
      break;
    case Strategy::kElement:
    case Strategy::kRead:
    case Strategy::kUnrolledContraction:
    case Strategy::kGather:
      if (step.inlined)
        result.kind = Place::Kind::kInlined;
      else if (is_scalar(node->type()))
        result = single(single_element(scope, node));
      else if (node->op->structure.unset)
        result = destination(scope, node, 0);
      else
        elements(scope, step, at);
      break;
    case Strategy::kWrite:
      if (step.inlined)
        result.kind = Place::Kind::kInlined;
      else
        put_together(scope, step, at);
      break;
    case Strategy::kReduction:
      reduction(scope, step);
      break;
    case Strategy::kPrefixScan:
      running(scope, step, at);
      break;
    case Strategy::kCustomReduction:
      fold(scope, step);
      break;
    case Strategy::kScatter:
      scatter(scope, step, at);
      break;
    case Strategy::kContraction:
      products(scope, step);
      break;
    case Strategy::kAlias:
      alias(scope, step);
      break;
    case Strategy::kForward:
      for (std::uint32_t i = 0; i < node->types.size(); i++) {
        Place& forwarded = scope.places[step.first_value + i];
        forwarded = place(scope, node->operands[i]);
        retain(forwarded);
      }
      break;
    case Strategy::kLoop:
    case Strategy::kLaneLoop:
    case Strategy::kBranch:
      break;  // open_construct
    case Strategy::kTapeRead:
      tape_read(scope, step);
      break;
    case Strategy::kTapeWrite:
      tape_write(scope, step, at);
      break;
    case Strategy::kKernel:
      if (adds_packed_products(scope, node) ||
          (!options_.calls_for_products && ir::contraction(*node)))
        products(scope, step);
      else
        call(scope, step);
      break;
  }
}

void Lowerer::end_step(Scope& scope, std::uint32_t at) {
  for (const std::uint32_t* value = scope.plan->ending_begin(at);
       value != scope.plan->ending_end(at); value++)
    release(scope.places[*value]);
}

Place Lowerer::constant(const Node* node) {
  const Literal& value = node->attrs<ir::ConstantAttributes>().value;
  const TensorType& type = value.type();
  if (is_scalar(type)) return single(first_element(builder_, *node));
  Place made;
  // A splat needs no memory in loops.
  if (type.bytes() > 0 && equal_elements(*node)) made.element = first_element(builder_, *node);
  made.kind = Place::Kind::kArray;
  auto [found, is_new] = constant_pointers_.try_emplace(node, lower::kNone);
  if (is_new) {
    found->second =
        builder_.buffer({lower::Storage::kConstant, static_cast<std::uint32_t>(constants_.size()),
                         0, type.bytes()});
    constants_.push_back(value);
  }
  made.pointer = found->second;
  return made;
}

Element Lowerer::single_element(Scope& scope, const Node* node) {
  const auto is_single_operand = [&](const Tensor& operand) {
    return place(scope, operand).kind == Place::Kind::kSingle;
  };
  if (node->op->structure.element && !node->operands.empty() &&
      std::all_of(node->operands.begin(), node->operands.end(), is_single_operand)) {
    absl::InlinedVector<Element, 3> operands;
    for (const Tensor& operand : node->operands) operands.push_back(place(scope, operand).element);
    const auto index = [&](std::int64_t) { return builder_.index(0); };
    return element_of(*node, builder_, operands, index);
  }
  Nest nest(builder_, *scope.plan, scope.places, node->type().shape.dims());
  return nest.single(nest.add(Tensor::of(node), nest.index(), true));
}

void Lowerer::alias(Scope& scope, const Step& step) {
  const Node* node = step.node;
  const Place& from = place(scope, node->operands[0]);
  Place& result = scope.places[step.first_value];
  if (from.kind == Place::Kind::kArray) {
    if (is_scalar(node->type())) {
      result = single(builder_.load_element(node->type().dtype, {from.pointer, 0, {}}));
    } else {
      result = from;
      if (node->type().dtype != node->operand_type(0).dtype) result.element.clear();
      retain(result);
    }
    return;
  }
  const Type type = lower::type_of(node->type().dtype);
  if (is_scalar(node->type()) && from.element.size() == 1) {
    result = single({builder_.bitcast(from.element[0], type)});
  } else if (is_scalar(node->type()) && node->type().dtype == node->operand_type(0).dtype) {
    result = from;
  } else {
    result = new_array(node->operand_type(0));
    builder_.store_element(from.element, {result.pointer, 0, {}});
    if (is_scalar(node->type())) {
      const Place memory = result;
      result = single(builder_.load_element(node->type().dtype, {memory.pointer, 0, {}}));
      release(memory);
    }
  }
}

const PackedCall* Lowerer::packed_call(const Scope& scope, const Node* node) const {
  if (scope.role != Scope::Role::kBody) return nullptr;
  const auto& calls = constructs_.back().products.calls;
  const auto found = calls.find(node);
  return found == calls.end() ? nullptr : &found->second;
}

void Lowerer::call(Scope& scope, const Step& step) {
  const Node* node = step.node;
  note_inner_safepoint();
  lower::Call call;
  call.name = node->op->name;
  const PackedCall* packed = packed_call(scope, node);
  call.kernel = packed ? node_kernel(*node, packed->kernel, node->operands.size(),
                                     node->types.size(), innermost_loop())
                       : make_kernel_(*node, innermost_loop());
  std::vector<Place> made;
  for (std::size_t i = 0; i < node->operands.size(); i++) {
    call.pointers.push_back(packed && packed->operand == i
                                ? packed->pointer
                                : in_memory(scope, node->operands[i], made));
  }
  std::vector<Place> results;
  for (std::uint32_t i = 0; i < node->types.size(); i++) {
    results.push_back(destination(scope, node, i));
    call.pointers.push_back(results.back().pointer);
  }
  builder_.call(std::move(call));
  for (std::uint32_t i = 0; i < node->types.size(); i++) {
    Place& result = scope.places[step.first_value + i];
    if (is_scalar(node->types[i])) {
      result = single(builder_.load_element(node->types[i].dtype, {results[i].pointer, 0, {}}));
      made.push_back(results[i]);
    } else {
      result = results[i];
    }
  }
  for (const Place& temporary : made) release(temporary);
}

void Lowerer::bind(Scope& scope, const std::vector<Place>& arguments) {
  for (std::size_t i = 0; i < arguments.size(); i++) {
    scope.places[i] = arguments[i];
    if (!arguments[i].writable) retain(arguments[i]);
  }
}

void Lowerer::release_parameters(Scope& scope) {
  for (std::uint32_t i = 0; i < scope.function.parameters().size(); i++) {
    if (scope.plan->last_use(i) == kAtEnd && !scope.places[i].writable) release(scope.places[i]);
  }
}

std::string why_not_lowered(const Function& function) { return tapes_of(function).why_not; }

lower::Program lower_function(const Function& function, const MakeKernel& make_kernel,
                              const LoweringOptions& options) {
  return Lowerer(make_kernel, options).run(function);
}

}  // namespace rondo::executor
