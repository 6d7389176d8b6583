// `rondo print`.
#include <CLI/CLI.hpp>

#include "cli/command.h"
#include "cli/program.h"

namespace rondo::cli {

namespace {

class Print final : public Verb {
 public:
  Print()
      : Verb("print", "Print a program in another format",
             "  rondo print f.mlir                       the IR, with loops as loops\n"
             "  rondo print f.mlir --to=hlo              a program of JAX as HLO\n"
             "  rondo print f.mlirbc --to=html > f.html  a page to look at in a browser\n"
             "  rondo print f.mlir --to=c --name=step --header=step.h > step.c\n"
             "                                           C99 for a microcontroller\n"
             "  rondo print f.mlir --entry=step          another function than @main\n") {}
  void add_options(CLI::App& app) override {
    add_program_options(app, program_);
    add_format_options(app, format_);
  }
  int run(const Streams& streams) override {
    print_program(program_of(program_, streams), format_, title_of(program_), streams.out);
    return kFine;
  }

 private:
  ProgramOptions program_;
  FormatOptions format_;
};

}  // namespace

std::unique_ptr<Verb> make_print() { return std::make_unique<Print>(); }

}  // namespace rondo::cli
