#include "interpreter/machine.h"

#include <algorithm>
#include <bit>
#include <chrono>
#include <cstdio>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "base/array_text.h"
#include "base/for_dtype.h"
#include "control_flow/counted.h"
#include "fmt/format.h"
#include "interpreter/bounds.h"
#include "interpreter/finite.h"

namespace rondo::interpreter {

namespace {

constexpr int kMaxCallDepth = 200;

std::string loop_text(const LoopInfo& loop) {
  return ir::loop_text(loop.name, loop.node->location());
}

}  // namespace

class Machine::FrameLease {
 public:
  FrameLease(Machine& machine, std::uint32_t program) : machine_(machine), program_(program) {
    auto& idle = machine.idle_frames_[program];
    if (!idle.empty()) {
      frame_ = std::move(idle.back());
      idle.pop_back();
    } else {
      frame_.slots.resize(machine.bundle_.programs[program]->slots);
      frame_.trips.resize(machine.bundle_.loops.size());
      frame_.of.resize(machine.bundle_.loops.size());
    }
    machine.depth_++;
  }
  ~FrameLease() {
    machine_.depth_--;
    if (keep_) machine_.idle_frames_[program_].push_back(std::move(frame_));
  }
  FrameLease(const FrameLease&) = delete;
  FrameLease& operator=(const FrameLease&) = delete;
  Frame& frame() { return frame_; }
  /// The run ended well, so the slots are empty except for those that the next run overwrites.
  void keep() { keep_ = true; }

 private:
  Machine& machine_;
  std::uint32_t program_;
  Frame frame_;
  bool keep_ = false;
};

Machine::Machine(const Bundle& bundle, const RunOptions& options)
    : bundle_(bundle),
      options_(options),
      watch_(options),
      total_trips_(bundle.loops.size()),
      reported_trips_(watch_.active() ? bundle.loops.size() : 0),
      idle_frames_(bundle.programs.size()) {
  regions_.reserve(bundle.programs.size());
  for (std::uint32_t i = 0; i < bundle.programs.size(); i++) regions_.emplace_back(*this, i);
  if (options.profile) times_.emplace(bundle);
}

Machine::Times::Times(const Bundle& bundle) {
  for (const LoopInfo& loop : bundle.loops)
    loops.push_back({loop.name, loop.node->location(), true});
}

Profile Machine::profile() {
  times_->tree.end_all();
  return times_->tree.profile();
}

std::vector<Literal> Machine::run(std::span<const Literal> arguments) {
  MemoryMeterScope metered(meter_);
  for (const Literal& argument : arguments) meter_.current += argument.type().bytes();
  meter_.peak = meter_.current;
  const Program& program = *bundle_.programs[0];
  if (options_.check_finite) check_arguments_finite(program.function, arguments);
  FrameLease lease(*this, 0);
  Literal* slots = lease.frame().slots.data();
  for (std::size_t i = 0; i < arguments.size(); i++) slots[program.parameters[i]] = arguments[i];
  try {
    execute(program, lease.frame());
  } catch (ir::Interrupt& interrupt) {
    std::move(interrupt).rethrow();
  }
  std::vector<Literal> results(program.results.size());
  for (std::size_t i = 0; i < program.results.size(); i++) {
    const Reference from = program.results[i];
    if (from & kConstantBit)
      results[i] = program.constants[from & ~kConstantBit];
    else if (program.result_movable[i])
      results[i] = std::move(slots[from]);
    else
      results[i] = slots[from];
  }
  return results;
}

RunStats Machine::stats() const {
  RunStats stats;
  for (std::size_t i = 0; i < bundle_.loops.size(); i++)
    stats.loops.push_back({bundle_.loops[i].name, total_trips_[i]});
  stats.op_evaluations = op_evaluations_;
  stats.peak_bytes = meter_.peak;
  return stats;
}

ir::RegionCall& Machine::region(const Function& region) {
  return regions_[bundle_.callable.at(region.identity())];
}

void Machine::Region::run(ir::OperandPlaces operands, ir::ResultPlaces results) {
  if (machine_.depth_ >= kMaxCallDepth) {
    throw ExecutionError(
        fmt::format("combiners are nested more than {} deep (a reduce in the combiner of a reduce "
                    "...)\n  Reduce over several axes at once.",
                    kMaxCallDepth));
  }
  const Program& program = *machine_.bundle_.programs[program_];
  FrameLease lease(machine_, program_);
  Literal* slots = lease.frame().slots.data();
  for (std::size_t i = 0; i < operands.size(); i++) {
    Literal& parameter = slots[program.parameters[i]];
    const TensorType& type = program.parameter_types[i];
    if (!parameter.unique()) parameter = Literal::uninitialized(type);
    copy_bytes(parameter.mutable_bytes(), operands[i], type.bytes());
  }
  machine_.execute(program, lease.frame());
  for (std::size_t i = 0; i < results.size(); i++) {
    const Reference from = program.results[i];
    const Literal& value =
        from & kConstantBit ? program.constants[from & ~kConstantBit] : slots[from];
    copy_bytes(results[i], value.bytes(), value.type().bytes());
  }
  lease.keep();
}

void Machine::execute(const Program& program, Frame& frame) {
  Literal* slots = frame.slots.data();
  const Instruction* code = program.code.data();
  const std::size_t end = program.code.size();
  const bool watched = watch_.active();
  std::size_t at = 0;
  try {
    while (at < end) {
      const Instruction& instruction = code[at];
      switch (instruction.kind) {
        case InstructionKind::kKernel:
          if (watched && instruction.loop == kNoLoop && (work_ += instruction.work) > kPolledWork) {
            work_ = 0;
            watch_.poll();
          }
          run_kernel(program, instruction, slots);
          break;
        case InstructionKind::kMoves:
          assign(program, instruction, slots);
          break;
        case InstructionKind::kEnterLoop:
          frame.trips[instruction.loop] = 0;
          frame.of[instruction.loop] = trips_to_come(program, instruction, slots);
          if (times_)
            times_->tree.begin(times_->loops[instruction.loop],
                               {.total = &total_trips_[instruction.loop]});
          break;
        case InstructionKind::kCountTest:
        case InstructionKind::kLoopTest: {
          const bool go_on =
              instruction.kind == InstructionKind::kLoopTest
                  ? *reinterpret_cast<const bool*>(
                        value_at(program, program.references[instruction.first_input], slots)
                            .bytes())
                  : begin_index(program, instruction, frame);
          // The comparison and the addition of a counter.
          if (instruction.kind == InstructionKind::kCountTest) op_evaluations_ += go_on ? 2 : 1;
          if (!go_on) {
            if (kept_loop_ == instruction.loop) release_state();
            if (times_) times_->tree.end();
            at = instruction.target;
            continue;
          }
          const std::int64_t trip = ++frame.trips[instruction.loop];
          if (watched || bundle_.loops[instruction.loop].max_trip_count)
            begin_trip(instruction.loop, trip, frame);
          total_trips_[instruction.loop]++;
          break;
        }
        case InstructionKind::kJump:
          at = instruction.target;
          continue;
        case InstructionKind::kBranch:
          at = select_branch(program, instruction, slots);
          continue;
        case InstructionKind::kClear:
          break;
      }
      for (std::uint32_t i = 0; i < instruction.clears; i++)
        slots[program.references[instruction.first_clear + i]] = Literal();
      at++;
    }
  } catch (...) {
    rethrow_located(program, frame, at);
  }
}

void Machine::run_kernel(const Program& program, const Instruction& instruction, Literal* slots) {
  absl::InlinedVector<Literal*, 8> inputs(instruction.inputs);
  const Reference* references = program.references.data() + instruction.first_input;
  for (std::uint32_t i = 0; i < instruction.inputs; i++) {
    // Constants are never movable, so no kernel writes through the cast.
    inputs[i] = references[i] & kConstantBit
                    ? const_cast<Literal*>(&program.constants[references[i] & ~kConstantBit])
                    : &slots[references[i]];
  }
  op_evaluations_++;
  if (options_.check_bounds) check_indices(*instruction.node, inputs);
  // Copies share storage, and shared storage is not overwritten: the operands stay unchanged.
  std::vector<Literal> operands_kept;
  if (options_.check_finite) {
    for (const Literal* input : inputs) operands_kept.push_back(*input);
  }
  if (times_) {
    ir::TimedPlace& place = times_->kernels[instruction.node];
    if (place.name.empty())
      place = {std::string(instruction.node->op->name), instruction.node->location()};
    times_->tree.begin(place);
  }
  run_kernel_on(instruction, inputs, slots);
  if (times_) times_->tree.end();
  if (options_.check_finite)
    check_results_finite(*instruction.node, operands_kept,
                         {slots + instruction.output, instruction.outputs});
}

void Machine::run_kernel_on(const Instruction& instruction, std::span<Literal* const> inputs,
                            Literal* slots) {
  if (!instruction.prepared) {
    ir::KernelCall call(*instruction.node, *instruction.results, inputs, instruction.movable,
                        {slots + instruction.output, instruction.outputs}, *this);
    instruction.kernel(call);
    return;
  }
  absl::InlinedVector<const std::byte*, 8> operands(inputs.size());
  for (std::size_t i = 0; i < inputs.size(); i++) operands[i] = inputs[i]->bytes();
  absl::InlinedVector<std::byte*, 4> results(instruction.outputs);
  for (std::uint32_t r = 0; r < instruction.outputs; r++) {
    Literal& result = slots[instruction.output + r];
    result = result_storage(instruction, r, inputs);
    // Forwarded values may be shared, and are not written.
    results[r] = const_cast<std::byte*>(result.bytes());
  }
  instruction.prepared->run(operands, results, *this);
}

Literal Machine::result_storage(const Instruction& instruction, std::size_t result,
                                std::span<Literal* const> inputs) {
  const TensorType& type = instruction.results->types[result];
  auto taken = [&](Literal& input) {
    return input.type() == type ? std::move(input) : std::move(input).reinterpreted(type);
  };
  if (instruction.forwards) {
    if (result < 64 && (instruction.movable >> result & 1)) return taken(*inputs[result]);
    Literal shared = *inputs[result];
    return taken(shared);
  }
  std::uint64_t candidates =
      instruction.movable ? instruction.movable & instruction.prepared->overwrites(result) : 0;
  for (; candidates != 0; candidates &= candidates - 1) {
    Literal& input = *inputs[static_cast<std::size_t>(std::countr_zero(candidates))];
    if (input.unique()) return taken(input);
  }
  return Literal::uninitialized(type);
}

void Machine::assign(const Program& program, const Instruction& instruction, Literal* slots) {
  const Reference* sources = program.references.data() + instruction.first_input;
  const std::uint32_t* destinations = program.references.data() + instruction.output;
  auto value = [&](Reference from) -> Literal {
    if (from & kConstantBit) return program.constants[from & ~kConstantBit];
    if (from & kMoveBit) return std::move(slots[from & ~kMoveBit]);
    return slots[from];
  };
  if (!instruction.two_phase) {
    for (std::uint32_t i = 0; i < instruction.inputs; i++)
      slots[destinations[i]] = value(sources[i]);
    return;
  }
  scratch_.resize(instruction.inputs);
  for (std::uint32_t i = 0; i < instruction.inputs; i++) scratch_[i] = value(sources[i]);
  for (std::uint32_t i = 0; i < instruction.inputs; i++)
    slots[destinations[i]] = std::move(scratch_[i]);
  scratch_.clear();  // moving into a slot swaps: the old values must not stay here
}

std::uint32_t Machine::select_branch(const Program& program, const Instruction& instruction,
                                     Literal* slots) const {
  const Literal& selector = value_at(program, program.references[instruction.first_input], slots);
  const std::int64_t last = static_cast<std::int64_t>(instruction.outputs) - 1;
  std::int64_t branch;
  if (selector.dtype() == DType::kPred) {
    branch = selector.data<bool>()[0] ? 0 : 1;
  } else {
    branch = selector.data<std::int32_t>()[0];
    if (branch < 0 || branch > last) branch = last;  // as in HLO
  }
  return program.references[instruction.output + static_cast<std::size_t>(branch)];
}

std::optional<std::int64_t> Machine::trips_to_come(const Program& program, const Instruction& enter,
                                                   const Literal* slots) const {
  const LoopInfo& loop = bundle_.loops[enter.loop];
  if (loop.trip_count || !loop.count) return loop.trip_count;
  return control_flow::trip_count(value_at(program, loop.count->first, slots),
                                  value_at(program, loop.count->limit, slots), loop.count->step);
}

bool Machine::begin_index(const Program& program, const Instruction& test, Frame& frame) const {
  const std::int64_t trip = frame.trips[test.loop];
  const std::optional<std::int64_t>& of = frame.of[test.loop];
  if (of && trip >= *of) return false;
  const LoopInfo::Count& count = *bundle_.loops[test.loop].count;
  Literal* slots = frame.slots.data();
  const Literal& first = value_at(program, count.first, slots);
  slots[test.output] = for_dtype(first.dtype(), [&]<class T>() -> Literal {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return Literal::scalar(static_cast<T>(control_flow::index_after(
          static_cast<std::int64_t>(first.data<T>()[0]), trip, count.step)));
    else
      throw InternalError("a loop index that is no integer");
  });
  return true;
}

void Machine::begin_trip(std::uint32_t index, std::int64_t trip, Frame& frame) {
  const LoopInfo& loop = bundle_.loops[index];
  if (loop.max_trip_count && trip > *loop.max_trip_count) {
    throw ExecutionError(
        ir::broken_promise_text(loop_text(loop), loop.promised.value_or(*loop.max_trip_count)),
        loop.node->location());
  }
  if (!watch_.active()) return;
  watch_.check_trip(loop.name, loop.node->location(), trip);
  if (watch_.report_is_due()) report_progress(index, frame);
  if (watch_.limited() && loop.ends_inside && loop.outer == kNoLoop && depth_ == 1)
    keep_state(index, trip - 1, frame);
}

void Machine::keep_state(std::uint32_t index, std::int64_t trips, const Frame& frame) {
  constexpr std::int64_t kSmallBytes = std::int64_t{64} * 1024;
  const LoopInfo& loop = bundle_.loops[index];
  if (kept_loop_ == index && loop.leaf_bytes > kSmallBytes) {
    // Each kept state makes the next trip copy what it would write in place, at about a nanosecond
    // per byte.
    const auto now = ir::RunLimits::Clock::now();
    if (now - kept_at_ < std::chrono::nanoseconds(20 * loop.leaf_bytes)) return;
    kept_at_ = now;
  }
  kept_loop_ = index;
  kept_trips_ = trips;
  kept_.clear();
  for (const LoopInfo::Leaf& leaf : loop.leaves) kept_.push_back(frame.slots[leaf.slot]);
}

void Machine::release_state() {
  kept_loop_ = kNoLoop;
  kept_.clear();
}

void Machine::add_state(ir::Interrupt& interrupt, const Program& program, const Frame& frame,
                        std::size_t at) const {
  std::uint32_t index = program.code[at].loop;
  if (index == kNoLoop) return;
  while (bundle_.loops[index].outer != kNoLoop) index = bundle_.loops[index].outer;
  const LoopInfo& loop = bundle_.loops[index];
  interrupt.loop = loop.name;
  interrupt.carry.clear();
  if (is_test(program.code[at].kind) && program.code[at].loop == index) {
    interrupt.trip = frame.trips[index] - 1;  // the trip that does not start is counted already
    for (const LoopInfo::Leaf& leaf : loop.leaves)
      interrupt.carry.emplace_back(leaf.name, frame.slots[leaf.slot]);
  } else if (kept_loop_ == index) {
    interrupt.trip = kept_trips_;
    for (std::size_t i = 0; i < kept_.size(); i++)
      interrupt.carry.emplace_back(loop.leaves[i].name, kept_[i]);
  }
  interrupt.trip *= loop.bodies;
}

void Machine::report_progress(std::uint32_t innermost, const Frame& frame) {
  std::vector<std::uint32_t> around;
  for (std::uint32_t i = innermost; i != kNoLoop; i = bundle_.loops[i].outer) around.push_back(i);
  std::reverse(around.begin(), around.end());
  Progress progress;
  bool found = false;
  for (const std::uint32_t i : around) {
    const std::int64_t began = total_trips_[i] + (i == innermost ? 1 : 0);
    const bool moved = std::exchange(reported_trips_[i], began) != began;
    if (found) continue;
    const LoopInfo& loop = bundle_.loops[i];
    std::optional<std::int64_t> of = frame.of[i];
    if (of) *of *= loop.bodies;
    progress.path.push_back({loop.name, (frame.trips[i] - 1) * loop.bodies + 1, of});
    found = moved;
  }
  static_cast<LoopPosition&>(progress) = progress.path.back();
  watch_.report(progress);
}

void Machine::poll() { watch_.poll(); }

namespace {

Literal copy_of(const TensorType& type, const std::byte* value) {
  Literal copy = Literal::uninitialized(type);
  copy_bytes(copy.mutable_bytes(), value, type.bytes());
  return copy;
}

}  // namespace

void Machine::tap(std::string_view name, const TensorType& type, const std::byte* value) {
  if (options_.on_tap) options_.on_tap(name, copy_of(type, value));
}

void Machine::print(std::string_view format, const TensorType& type, const std::byte* data) {
  // The format was checked when the op was created.
  fmt::print("{}\n", formatted_literal(format, copy_of(type, data)));
  std::fflush(stdout);
}

void Machine::progress(std::int64_t i, std::int64_t n) {
  if (options_.on_progress) options_.on_progress({{"progress", i, n}});
}

void Machine::progress_of_lane(std::string_view lane, std::int64_t i, std::int64_t n) {
  const std::string name = fmt::format("progress{}", lane);
  if (options_.on_progress) options_.on_progress({{name, i, n}});
}

void Machine::rethrow_located(const Program& program, const Frame& frame, std::size_t at) const {
  // The loops of this program around the instruction, and their current trips.
  std::string where;
  for (std::size_t i = 0; i < program.code.size(); i++) {
    const Instruction& test = program.code[i];
    if (is_test(test.kind) && i < at && at < test.target) {
      where += fmt::format("\n  in {}, trip {}", loop_text(bundle_.loops[test.loop]),
                           frame.trips[test.loop]);
    }
  }
  try {
    throw;
  } catch (ir::Interrupt& interrupt) {
    interrupt.message += where;
    add_state(interrupt, program, frame, at);
    throw;
  } catch (const ExecutionError& error) {
    if (where.empty()) throw;
    throw ExecutionError(error.what() + where, error.location());
  } catch (const std::bad_alloc&) {
    const ir::Node* node = at < program.code.size() ? program.code[at].node : nullptr;
    throw ExecutionError(
        fmt::format("out of memory in {}\n  Make the arrays smaller, or release others first.{}",
                    node ? node->op->name : "the interpreter", where),
        node ? node->location() : SourceLocation{});
  }
}

}  // namespace rondo::interpreter
