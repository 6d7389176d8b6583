#include "interpreter/machine.h"

#include <algorithm>
#include <cstdio>
#include <utility>

#include "absl/container/inlined_vector.h"
#include "control_flow/while.h"
#include "fmt/args.h"
#include "fmt/format.h"

namespace rondo::interpreter {

namespace {

constexpr int kMaxCallDepth = 200;
constexpr auto kReportInterval = std::chrono::milliseconds(200);

std::string loop_text(const LoopInfo& loop) {
  return fmt::format("the loop{} ({})", loop.name.empty() ? "" : fmt::format(" '{}'", loop.name),
                     loop.node->location().str());
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
  /// The run ended well, so that the slots are empty again but for what the next run overwrites.
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
      watched_(options.max_iterations || options.deadline || options.stop_token.stop_possible() ||
               options.on_progress),
      total_trips_(bundle.loops.size()),
      idle_frames_(bundle.programs.size()) {
  if (watched_) {
    started_ = std::chrono::steady_clock::now();
    next_report_ = started_ + kReportInterval;
  }
}

std::vector<Literal> Machine::run(std::span<const Literal> arguments) {
  MemoryMeterScope metered(meter_);
  for (const Literal& argument : arguments) meter_.current += argument.type().bytes();
  meter_.peak = meter_.current;
  std::vector<Literal> results;
  call(bundle_.programs[0]->function, arguments, results);
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

void Machine::call(const Function& region, std::span<const Literal> arguments,
                   std::vector<Literal>& results) {
  if (depth_ >= kMaxCallDepth) {
    throw ExecutionError(fmt::format(
        "combiners are nested more than {} deep (a reduce in the combiner of a reduce ...)",
        kMaxCallDepth));
  }
  const std::uint32_t index = bundle_.callable.at(region.identity());
  const Program& program = *bundle_.programs[index];
  FrameLease lease(*this, index);
  Literal* slots = lease.frame().slots.data();
  for (std::size_t i = 0; i < arguments.size(); i++) slots[program.parameters[i]] = arguments[i];
  execute(program, lease.frame());
  results.resize(program.results.size());
  for (std::size_t i = 0; i < program.results.size(); i++) {
    const Reference from = program.results[i];
    if (from & kConstantBit)
      results[i] = program.constants[from & ~kConstantBit];
    else if (program.result_movable[i])
      results[i] = std::move(slots[from]);
    else
      results[i] = slots[from];
  }
  for (std::uint32_t parameter : program.parameters) slots[parameter] = Literal();
  lease.keep();
}

void Machine::execute(const Program& program, Frame& frame) {
  Literal* slots = frame.slots.data();
  const Instruction* code = program.code.data();
  const std::size_t end = program.code.size();
  std::size_t at = 0;
  try {
    while (at < end) {
      const Instruction& instruction = code[at];
      switch (instruction.kind) {
        case InstructionKind::kKernel:
          run_kernel(program, instruction, slots);
          break;
        case InstructionKind::kMoves:
          assign(program, instruction, slots);
          break;
        case InstructionKind::kEnterLoop:
          frame.trips[instruction.loop] = 0;
          break;
        case InstructionKind::kLoopTest: {
          const Reference from = program.references[instruction.first_input];
          const Literal& predicate =
              from & kConstantBit ? program.constants[from & ~kConstantBit] : slots[from];
          const bool go_on = *reinterpret_cast<const bool*>(predicate.bytes());
          if (!go_on) {
            at = instruction.target;
            continue;
          }
          const std::int64_t trip = ++frame.trips[instruction.loop];
          const LoopInfo& loop = bundle_.loops[instruction.loop];
          if (watched_ || loop.max_trip_count) watch_trip(loop, trip);
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
    // Constants are never movable, so that no kernel writes through the cast.
    inputs[i] = references[i] & kConstantBit
                    ? const_cast<Literal*>(&program.constants[references[i] & ~kConstantBit])
                    : &slots[references[i]];
  }
  ir::KernelCall call(*instruction.node, *instruction.results, inputs, instruction.movable,
                      {slots + instruction.output, instruction.outputs}, *this);
  op_evaluations_++;
  instruction.kernel(call);
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
  scratch_.clear();  // moving into a slot swaps: what the slots held must not stay here
}

std::uint32_t Machine::select_branch(const Program& program, const Instruction& instruction,
                                     Literal* slots) const {
  const Reference from = program.references[instruction.first_input];
  const Literal& selector =
      from & kConstantBit ? program.constants[from & ~kConstantBit] : slots[from];
  const std::int64_t last = static_cast<std::int64_t>(instruction.outputs) - 1;
  std::int64_t branch;
  if (selector.dtype() == DType::kPred) {
    branch = selector.data<bool>()[0] ? 0 : 1;
  } else {
    branch = selector.data<std::int32_t>()[0];
    if (branch < 0 || branch > last) branch = last;  // as HLO has it
  }
  return program.references[instruction.output + static_cast<std::size_t>(branch)];
}

void Machine::watch_trip(const LoopInfo& loop, std::int64_t trip) {
  if (loop.max_trip_count && trip > *loop.max_trip_count) {
    const auto& promised = loop.node->attrs<control_flow::WhileAttributes>().promised;
    throw ExecutionError(fmt::format("{} goes on after {} trips, its promised max_trip_count\n  "
                                     "Raise max_trip_count, or leave it out.",
                                     loop_text(loop), promised.value_or(*loop.max_trip_count)),
                         loop.node->location());
  }
  if (!watched_) return;
  if (options_.max_iterations && trip > *options_.max_iterations) {
    throw ExecutionError(fmt::format("{} exceeded max_iterations = {}: it would begin trip {}\n  "
                                     "Raise RunOptions::max_iterations, or "
                                     "look at the condition: does it ever become false?",
                                     loop_text(loop), *options_.max_iterations, trip),
                         loop.node->location());
  }
  if (options_.stop_token.stop_requested()) {
    throw ExecutionError(
        fmt::format("stopped by the stop token in {} at trip {}", loop_text(loop), trip),
        loop.node->location());
  }
  if (!options_.deadline && !options_.on_progress) return;
  const auto now = std::chrono::steady_clock::now();
  if (options_.deadline && now - started_ > *options_.deadline) {
    throw ExecutionError(
        fmt::format("{} ran past the deadline of {} s: it is at trip {}\n  Raise "
                    "RunOptions::deadline, or look at the "
                    "condition: does it ever become false?",
                    loop_text(loop), std::chrono::duration<double>(*options_.deadline).count(),
                    trip),
        loop.node->location());
  }
  if (options_.on_progress && now >= next_report_) {
    next_report_ = now + kReportInterval;
    options_.on_progress({loop.name, trip, loop.trip_count});
  }
}

void Machine::tap(std::string_view name, const Literal& value) {
  if (options_.on_tap) options_.on_tap(name, value);
}

void Machine::print(std::string_view format, const Literal& value) {
  // The format was checked when the op was made: `{}` fields only.
  const std::string text = value.str();
  const std::size_t space = text.find(' ');
  fmt::dynamic_format_arg_store<fmt::format_context> store;
  store.push_back(value.shape().rank() == 0 && space != std::string::npos ? text.substr(space + 1)
                                                                          : text);
  fmt::print("{}\n", fmt::vformat(format, store));
  std::fflush(stdout);
}

void Machine::progress(std::int64_t i, std::int64_t n) {
  if (options_.on_progress) options_.on_progress({"progress", i, n});
}

void Machine::rethrow_located(const Program& program, const Frame& frame, std::size_t at) const {
  // Which loops of this program is the instruction in, and at which trips?
  std::string where;
  for (std::size_t i = 0; i < program.code.size(); i++) {
    const Instruction& test = program.code[i];
    if (test.kind == InstructionKind::kLoopTest && i < at && at < test.target) {
      where += fmt::format("\n  in {}, trip {}", loop_text(bundle_.loops[test.loop]),
                           frame.trips[test.loop]);
    }
  }
  try {
    throw;
  } catch (const ExecutionError& error) {
    if (where.empty()) throw;
    throw ExecutionError(error.what() + where, error.location());
  } catch (const std::bad_alloc&) {
    const ir::Node* node = at < program.code.size() ? program.code[at].node : nullptr;
    throw ExecutionError(
        fmt::format("out of memory in {}{}", node ? node->op->name : "the interpreter", where),
        node ? node->location() : SourceLocation{});
  }
}

}  // namespace rondo::interpreter
