// `rondo explain`.
#include <CLI/CLI.hpp>
#include <ostream>

#include "cli/command.h"
#include "cli/program.h"
#include "fmt/format.h"
#include "rondo/execute.h"
#include "run/executable.h"

namespace rondo::cli {

namespace {

void print_memory(const Executable& executable, std::ostream& out) {
  const MemoryPlan plan = executable.memory_plan();
  std::int64_t arguments = 0;
  for (const TensorType& type : executable.function().params()) arguments += type.bytes();
  out << fmt::format("memory\n  arguments: {} bytes\n  results: {} bytes\n", arguments,
                     plan.result_bytes);
  out << fmt::format("  temporaries and carries: {} bytes\n", plan.arena_bytes);
  for (const LoopResiduals& loop : plan)
    out << fmt::format("  loop {} keeps {} arrays, {} bytes, for the backward pass\n", loop.loop,
                       loop.arrays, loop.bytes);
}

class Explain final : public Verb {
 public:
  Explain()
      : Verb("explain", "Say how each loop runs, what is in the way, and the memory",
             "  rondo explain f.mlir             each loop and memory\n"
             "  rondo explain f.mlir --program   and the loops over buffers that it becomes\n") {}
  void add_options(CLI::App& app) override {
    add_program_options(app, program_);
    app.add_flag("--program", whole_, "print the compiled program too, as text to read");
  }
  int run(const Streams& streams) override {
    const Function program = program_of(program_, streams);
    const Executable executable = compile(program);
    const FunctionStats stats = executable.function().stats();
    const Executable::Impl& impl = *executable.impl();
    streams.out << fmt::format("executor: {}\n", impl.executor)
                << fmt::format("program: {} ops in {} regions, {} loops ({} before the passes)\n",
                               stats.nodes, stats.regions, stats.loops, program.stats().loops);
    const std::string loops = impl.plain.prepared->loop_report();
    if (!loops.empty()) streams.out << "loops\n" << loops;
    print_memory(executable, streams.out);
    if (whole_) streams.out << '\n' << impl.plain.prepared->text();
    return kFine;
  }

 private:
  ProgramOptions program_;
  bool whole_ = false;
};

}  // namespace

std::unique_ptr<Verb> make_explain() { return std::make_unique<Explain>(); }

}  // namespace rondo::cli
