#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "interpreter/program.h"
#include "interpreter/reshapes.h"
#include "ir/layout.h"
#include "ir/order.h"

namespace rondo::interpreter {

namespace {

using ir::Node;
using Key = ir::ValueKey;

/// Where a value is stored while its function is being laid out, and until when.
struct Place {
  Reference reference = 0;
  bool owned = true;  // false: another scope or another name needs the slot; it is neither moved
                      // nor cleared here
  std::size_t last_use = 0;  // position in the order; its size for results; kNever for unused
};
inline constexpr std::size_t kNeverUsed = static_cast<std::size_t>(-1);

/// A function being laid out.
struct Scope {
  explicit Scope(const Function& f) : function(f), order(ir::reads_before_writes(f)), reshapes(f) {}
  Function function;
  std::vector<const Node*> order;  // the body in execution order
  Reshapes reshapes;
  absl::flat_hash_map<Key, Place> places;
  std::size_t next = 0;  // in the order
  // What to do when the body is done.
  enum class Role { kEntry, kCondition, kBody, kBranch } role = Role::kEntry;
  const Node* holder = nullptr;
  std::size_t branch = 0;
};

/// A loop or the branches of a conditional under construction.
struct Construct {
  const Node* node = nullptr;
  std::vector<Reference> arguments;  // where region parameters are stored
  std::vector<bool> argument_owned;  // may be moved from inside
  std::vector<std::uint32_t> result_slots;
  std::uint32_t loop = kNoLoop;
  std::size_t head = 0;
  std::size_t branch_at = 0;
  std::vector<std::size_t> exits;  // jumps to patch to the end
  std::vector<std::uint32_t> clears;
};

class Builder {
 public:
  Builder(Bundle& bundle, Program& program, std::vector<Function>& pending)
      : bundle_(bundle), program_(program), pending_(pending) {}

  void build(const Function& function) {
    program_.function = function;
    program_.parameter_types = function.params();
    Scope entry = open(function, Scope::Role::kEntry, nullptr);
    for (const Tensor& param : function.parameters()) {
      const std::uint32_t slot = program_.slots++;
      program_.parameters.push_back(slot);
      Place& place = entry.places[{param.node(), 0}];
      place.reference = slot;
    }
    scopes_.push_back(std::move(entry));
    while (!scopes_.empty()) step();
  }

 private:
  Scope open(const Function& function, Scope::Role role, const Node* holder,
             std::size_t branch = 0) {
    Scope scope(function);
    scope.role = role;
    scope.holder = holder;
    scope.branch = branch;
    auto use = [&](const Tensor& value, std::size_t at) {
      auto [found, is_new] = scope.places.try_emplace({value.node(), value.result()});
      found->second.last_use = at;
    };
    for (const Tensor& param : function.parameters())
      scope.places[{param.node(), 0}].last_use = kNeverUsed;
    const auto& body = scope.order;
    for (std::size_t i = 0; i < body.size(); i++) {
      for (std::uint32_t r = 0; r < body[i]->types.size(); r++)
        scope.places[{body[i], r}].last_use = kNeverUsed;
      if (scope.reshapes.is_left_out(body[i])) continue;
      for (const Tensor& operand : body[i]->operands) use(scope.reshapes.operand(operand), i);
    }
    for (const Tensor& result : function.outputs()) use(result, body.size());
    return scope;
  }

  Place& place(Scope& scope, const Tensor& value) {
    auto found = scope.places.find({value.node(), value.result()});
    if (found == scope.places.end())
      throw InternalError("a value is used before it is computed", value.node()->location());
    return found->second;
  }

  Instruction& emit(InstructionKind kind, const Node* node) {
    Instruction instruction{kind};
    instruction.node = node;
    instruction.loop = loops_.empty() ? kNoLoop : loops_.back();
    instruction.first_input = static_cast<std::uint32_t>(program_.references.size());
    program_.code.push_back(instruction);
    return program_.code.back();
  }

  void add_clears(Instruction& instruction, const std::vector<std::uint32_t>& slots) {
    instruction.first_clear = static_cast<std::uint32_t>(program_.references.size());
    instruction.clears = static_cast<std::uint32_t>(slots.size());
    program_.references.insert(program_.references.end(), slots.begin(), slots.end());
  }

  void step() {
    Scope& scope = scopes_.back();
    if (scope.next == scope.order.size()) {
      close();
      return;
    }
    const std::size_t index = scope.next++;
    const Node* node = scope.order[index];
    if (scope.reshapes.is_left_out(node)) return;
    if (ir::is_constant(node)) return add_constant(scope, node);
    switch (node->op->construct.flow) {
      case ir::Flow::kNone:
      case ir::Flow::kCall:
        return add_kernel(scope, node, index);
      case ir::Flow::kRepeat:
      case ir::Flow::kCount:
        return enter_loop(scope, node, index);
      case ir::Flow::kSelect:
        return enter_branches(scope, node, index);
    }
  }

  void add_constant(Scope& scope, const Node* node) {
    Place& place = scope.places[{node, 0}];
    place.owned = false;
    auto [found, is_new] = constants_.try_emplace(
        node, static_cast<Reference>(program_.constants.size()) | kConstantBit);
    if (is_new) program_.constants.push_back(node->attrs<ir::ConstantAttributes>().value);
    place.reference = found->second;
  }

  void add_kernel(Scope& scope, const Node* node, std::size_t index) {
    if (!node->op->runs()) ir::fail_without_kernel(*node);
    const std::uint32_t output = program_.slots;
    program_.slots += static_cast<std::uint32_t>(node->types.size());
    Instruction& instruction = emit(InstructionKind::kKernel, node);
    instruction.kernel = node->op->kernel.on_literals;
    if (node->op->kernel.prepare) {
      program_.kernels.push_back(node->op->kernel.prepare(*node));
      instruction.prepared = program_.kernels.back().get();
      instruction.forwards = instruction.prepared->forwards();
    }
    instruction.results = scope.reshapes.result_of(node);
    instruction.inputs = static_cast<std::uint32_t>(node->operands.size());
    instruction.output = output;
    instruction.outputs = static_cast<std::uint32_t>(node->types.size());
    instruction.work = work_of(node);
    if (!loops_.empty() && (!node->regions.empty() || instruction.work > kPolledWork ||
                            node->op->cost == ir::Cost::kHeavy))
      bundle_.loops[loops_.front()].ends_inside = true;
    std::vector<std::uint32_t> clears;
    absl::flat_hash_set<Reference> cleared;  // of operands that are passed several times
    ir::Operands operands;
    for (const Tensor& operand : node->operands)
      operands.push_back(scope.reshapes.operand(operand));
    const std::vector<bool> once = ir::given_once(operands);
    for (std::size_t i = 0; i < operands.size(); i++) {
      const Place& from = place(scope, operands[i]);
      program_.references.push_back(from.reference);
      if (!ends_here(from, index)) continue;
      if (!once[i] && !cleared.insert(from.reference).second) continue;
      clears.push_back(from.reference);
      if (i < 64 && once[i]) instruction.movable |= std::uint64_t{1} << i;
    }
    for (std::uint32_t r = 0; r < node->types.size(); r++) {
      Place& to = scope.places[{instruction.results, r}];
      to.reference = output + r;
      if (to.last_use == kNeverUsed) clears.push_back(output + r);
    }
    add_clears(instruction, clears);
    for (const Function& region : node->regions) {
      if (bundle_.callable.emplace(region.identity(), 0).second) pending_.push_back(region);
    }
  }

  static std::int64_t work_of(const Node* node) {
    std::int64_t work = 64;
    for (const Tensor& operand : node->operands) work += operand.type().elements();
    for (const TensorType& type : node->types) work += type.elements();
    return work;
  }

  static bool ends_here(const Place& place, std::size_t index) {
    return place.owned && place.last_use == index && !(place.reference & kConstantBit);
  }

  /// Emits a parallel assignment; skips values that are in place.
  void add_moves(const std::vector<Reference>& from, const std::vector<std::uint32_t>& to,
                 const std::vector<bool>& movable, const Node* node) {
    std::vector<Reference> sources;
    std::vector<std::uint32_t> destinations;
    absl::flat_hash_map<std::uint32_t, std::size_t> written;
    for (std::size_t i = 0; i < from.size(); i++) {
      if (from[i] == to[i]) continue;
      written[to[i]] = sources.size();
      sources.push_back(from[i] | (movable[i] ? kMoveBit : 0));
      destinations.push_back(to[i]);
    }
    if (sources.empty()) return;
    bool two_phase = false;
    for (std::size_t i = 0; i < sources.size() && !two_phase; i++) {
      auto found = written.find(sources[i] & ~kMoveBit);
      two_phase = found != written.end() && found->second < i;
    }
    Instruction& instruction = emit(InstructionKind::kMoves, node);
    instruction.inputs = static_cast<std::uint32_t>(sources.size());
    instruction.two_phase = two_phase;
    program_.references.insert(program_.references.end(), sources.begin(), sources.end());
    instruction.output = static_cast<std::uint32_t>(program_.references.size());
    program_.references.insert(program_.references.end(), destinations.begin(), destinations.end());
  }

  void enter_loop(Scope& scope, const Node* node, std::size_t index) {
    const ir::RegionLayout layout = *ir::region_layout(node);
    Construct construct;
    construct.node = node;
    construct.loop = static_cast<std::uint32_t>(bundle_.loops.size());
    LoopInfo& loop = bundle_.loops.emplace_back();
    loop.name = layout.name;
    loop.node = node;
    loop.trip_count = layout.trip_count;
    loop.max_trip_count = layout.max_trip_count;
    loop.promised = layout.promised ? layout.promised : layout.max_trip_count;
    if (!loops_.empty()) {
      loop.outer = loops_.back();
      bundle_.loops[loops_.front()].ends_inside = true;
    }
    const bool counts = node->op->construct.flow == ir::Flow::kCount;
    const std::uint32_t index_slot = program_.slots;
    if (counts) {
      loop.count = {place(scope, node->operands[0]).reference,
                    place(scope, node->operands[1]).reference, ir::induction_of(*node)->step};
      construct.arguments.push_back(program_.slots++);
      construct.argument_owned.push_back(true);
    }
    std::vector<Reference> from;
    std::vector<bool> movable;
    const std::vector<bool> once = ir::given_once(node->operands);
    for (std::size_t i = 0; i < node->operands.size(); i++) {
      const Place& operand = place(scope, node->operands[i]);
      if (i < layout.fixed) {
        // Read by the loop itself.
      } else if (i < layout.fixed + layout.carries) {
        construct.result_slots.push_back(program_.slots);
        construct.arguments.push_back(program_.slots++);
        construct.argument_owned.push_back(true);
        from.push_back(operand.reference);
        movable.push_back(once[i] && ends_here(operand, index));
      } else {
        construct.arguments.push_back(operand.reference);
        construct.argument_owned.push_back(false);
      }
      if (ends_here(operand, index)) construct.clears.push_back(operand.reference);
    }
    add_moves(from, construct.result_slots, movable, node);
    describe_loop(loop, layout, construct);
    loops_.push_back(construct.loop);
    emit(InstructionKind::kEnterLoop, node);
    construct.head = program_.code.size();
    place_results(scope, node, construct);
    constructs_.push_back(std::move(construct));
    if (!counts) return open_region(node, 0, Scope::Role::kCondition);
    constructs_.back().exits.push_back(program_.code.size());
    emit(InstructionKind::kCountTest, node).output = index_slot;
    open_region(node, 0, Scope::Role::kBody);
  }

  /// What a run reports of a loop: its progress, or that it was stopped in it.
  static void describe_loop(LoopInfo& loop, const ir::RegionLayout& layout,
                            const Construct& construct) {
    const Node* node = layout.node;
    const auto& [first, count, bodies] = layout.source;
    loop.bodies = bodies;
    const std::vector<std::string> names = node->regions[layout.body()].param_names();
    const std::size_t begin = std::min(static_cast<std::size_t>(first), node->types.size());
    const std::size_t end =
        count ? std::min(begin + static_cast<std::size_t>(*count), node->types.size())
              : node->types.size();
    for (std::size_t i = begin; i < end; i++) {
      loop.leaves.push_back({names[layout.index + i], construct.result_slots[i]});
      loop.leaf_bytes += node->types[i].bytes();
    }
  }

  void enter_branches(Scope& scope, const Node* node, std::size_t index) {
    Construct construct;
    construct.node = node;
    const std::vector<bool> once = ir::given_once(node->operands);
    for (std::size_t i = 0; i < node->operands.size(); i++) {
      const Place& operand = place(scope, node->operands[i]);
      if (i > 0) {
        construct.arguments.push_back(operand.reference);
        construct.argument_owned.push_back(once[i] && ends_here(operand, index));
      }
      if (ends_here(operand, index)) construct.clears.push_back(operand.reference);
    }
    for (std::size_t r = 0; r < node->types.size(); r++)
      construct.result_slots.push_back(program_.slots++);
    construct.branch_at = program_.code.size();
    const Reference selector = place(scope, node->operands[0]).reference;
    Instruction& branch = emit(InstructionKind::kBranch, node);
    branch.inputs = 1;
    program_.references.push_back(selector);
    branch.output = static_cast<std::uint32_t>(
        program_.references.size());  // the targets, patched as branches are laid out
    branch.outputs = static_cast<std::uint32_t>(node->regions.size());
    program_.references.resize(program_.references.size() + node->regions.size());
    place_results(scope, node, construct);
    constructs_.push_back(std::move(construct));
    open_branch(node, 0);
  }

  void place_results(Scope& scope, const Node* node, const Construct& construct) {
    for (std::uint32_t r = 0; r < node->types.size(); r++)
      scope.places[{node, r}].reference = construct.result_slots[r];
  }

  void open_region(const Node* node, std::size_t region, Scope::Role role) {
    const Construct& construct = constructs_.back();
    Scope scope = open(node->regions[region], role, node, region);
    const auto& params = scope.function.parameters();
    for (std::size_t i = 0; i < params.size(); i++) {
      Place& place = scope.places[{params[i].node(), 0}];
      place.reference = construct.arguments[i];
      place.owned = construct.argument_owned[i] && role != Scope::Role::kCondition;
    }
    scopes_.push_back(std::move(scope));
  }

  void open_branch(const Node* node, std::size_t branch) {
    const Construct& construct = constructs_.back();
    program_.references[program_.code[construct.branch_at].output + branch] =
        static_cast<std::uint32_t>(program_.code.size());
    open_region(node, branch, Scope::Role::kBranch);
  }

  /// The results of a finished region, and which of them may be moved: owned ones that occur once
  /// among the results.
  void result_sources(Scope& scope, std::vector<Reference>& from, std::vector<bool>& movable) {
    const auto& outputs = scope.function.outputs();
    absl::flat_hash_map<Reference, std::size_t> times;
    for (const Tensor& output : outputs) times[place(scope, output).reference]++;
    for (const Tensor& output : outputs) {
      const Place& source = place(scope, output);
      from.push_back(source.reference);
      movable.push_back(source.owned && !(source.reference & kConstantBit) &&
                        times[source.reference] == 1);
    }
  }

  void close() {
    Scope scope = std::move(scopes_.back());
    scopes_.pop_back();
    std::vector<Reference> from;
    std::vector<bool> movable;
    result_sources(scope, from, movable);
    switch (scope.role) {
      case Scope::Role::kEntry:
        program_.results = from;
        program_.result_movable = movable;
        return;
      case Scope::Role::kCondition: {
        Construct& construct = constructs_.back();
        construct.exits.push_back(program_.code.size());
        Instruction& test = emit(InstructionKind::kLoopTest, scope.holder);
        test.inputs = 1;
        program_.references.push_back(from[0]);
        open_region(scope.holder, 1, Scope::Role::kBody);
        return;
      }
      case Scope::Role::kBody: {
        finish_results(from, movable, scope.holder);
        emit(InstructionKind::kJump, scope.holder).target =
            static_cast<std::uint32_t>(constructs_.back().head);
        leave(scope.holder);
        return;
      }
      case Scope::Role::kBranch: {
        finish_results(from, movable, scope.holder);
        constructs_.back().exits.push_back(program_.code.size());
        emit(InstructionKind::kJump, scope.holder);
        if (scope.branch + 1 < scope.holder->regions.size())
          open_branch(scope.holder, scope.branch + 1);
        else
          leave(scope.holder);
        return;
      }
    }
  }

  void finish_results(const std::vector<Reference>& from, const std::vector<bool>& movable,
                      const Node* node) {
    add_moves(from, constructs_.back().result_slots, movable, node);
    // A result that occurs twice was copied each time: its own slot is released now, unless it is a
    // destination.
    std::vector<std::uint32_t> clears;
    const auto& slots = constructs_.back().result_slots;
    const auto& arguments = constructs_.back().arguments;
    absl::flat_hash_set<Reference> kept(slots.begin(), slots.end());
    kept.insert(arguments.begin(), arguments.end());
    absl::flat_hash_map<Reference, int> seen;
    for (std::size_t i = 0; i < from.size(); i++) {
      if (movable[i] || (from[i] & kConstantBit)) continue;
      if (++seen[from[i]] == 2 && !kept.contains(from[i])) clears.push_back(from[i]);
    }
    if (!clears.empty()) add_clears(emit(InstructionKind::kClear, node), clears);
  }

  void leave(const Node* node) {
    Construct construct = std::move(constructs_.back());
    constructs_.pop_back();
    if (construct.loop != kNoLoop) loops_.pop_back();
    for (std::size_t exit : construct.exits)
      program_.code[exit].target = static_cast<std::uint32_t>(program_.code.size());
    for (std::uint32_t r = 0; r < node->types.size(); r++) {
      Scope& scope = scopes_.back();
      if (scope.places[{node, r}].last_use == kNeverUsed)
        construct.clears.push_back(construct.result_slots[r]);
    }
    add_clears(emit(InstructionKind::kClear, node), construct.clears);
  }

  Bundle& bundle_;
  Program& program_;
  std::vector<Function>& pending_;
  std::vector<Scope> scopes_;
  std::vector<Construct> constructs_;
  std::vector<std::uint32_t> loops_;  // the open ones, outermost first
  absl::flat_hash_map<const Node*, Reference> constants_;
};

}  // namespace

std::shared_ptr<const Bundle> build_bundle(const Function& function) {
  auto bundle = std::make_shared<Bundle>();
  std::vector<Function> pending{function};
  bundle->callable.emplace(function.identity(), 0);
  for (std::size_t i = 0; i < pending.size(); i++) {
    const Function current = pending[i];
    bundle->callable[current.identity()] = static_cast<std::uint32_t>(i);
    bundle->programs.push_back(std::make_unique<Program>());
    Program& program = *bundle->programs.back();
    Builder(*bundle, program, pending).build(current);
    // The lists are kept as long as the executable.
    program.code.shrink_to_fit();
    program.references.shrink_to_fit();
    program.kernels.shrink_to_fit();
  }
  return bundle;
}

}  // namespace rondo::interpreter
