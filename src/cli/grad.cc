// `rondo grad`.
#include <CLI/CLI.hpp>
#include <utility>

#include "cli/command.h"
#include "cli/program.h"
#include "fmt/format.h"
#include "rondo/error.h"
#include "rondo/gradients.h"
#include "rondo/transforms.h"

namespace rondo::cli {

namespace {

[[noreturn]] void fail(const std::string& message) { throw ParseError("grad: " + message, 0, 0); }

/// The program of the gradient in parameters, by number.
Function gradient_of(const Function& program, const std::vector<std::size_t>& of) {
  const std::vector<TensorType> types = program.params();
  const std::vector<TensorType> results = program.results();
  std::vector<std::string> names = program.param_names();
  if (results.size() != 1 || results[0].rank() != 0 || !is_floating(results[0].dtype)) {
    std::string found;
    for (const TensorType& result : results) found += (found.empty() ? "" : ", ") + result.str();
    fail(
        fmt::format("the program returns ({}); a gradient is that of one float scalar\n  Choose "
                    "a function that returns one, by --entry.",
                    found));
  }
  std::vector<std::string> result_names;
  for (const std::size_t number : of) {
    if (number >= types.size())
      fail(fmt::format("there is no argument {}; the program has {}, counted from 0", number,
                       types.size()));
    if (!is_floating(types[number].dtype) && !is_complex(types[number].dtype))
      fail(fmt::format("argument {} ('{}') is {}; a gradient is in floats", number, names[number],
                       types[number].str()));
    result_names.push_back(names[number]);
  }
  const auto called = [&](std::span<const Tensor> arguments) -> detail::Leaves {
    return {detail::call_function(program, {arguments.begin(), arguments.end()}, {}), {""}};
  };
  const auto gradient = [&](std::span<const Tensor> parameters) -> detail::Leaves {
    detail::ArgumentLeaves arguments;
    for (std::size_t i = 0; i < parameters.size(); i++) {
      arguments.leaves.values.push_back(parameters[i]);
      arguments.leaves.paths.push_back(names[i]);
      arguments.owner.push_back(i);
    }
    return {detail::gradient(called, arguments, of, {}).gradients, result_names};
  };
  return detail::trace("main", gradient, types, names, {});
}

class Grad final : public Verb {
 public:
  Grad()
      : Verb("grad", "Print the program that computes the gradient",
             "  rondo grad loss.mlir                        in the first argument\n"
             "  rondo grad loss.mlir --argnum=0 --argnum=2  in two: the program has two results\n"
             "  rondo grad loss.mlir --to=stablehlo | rondo run - x.npy y.npy\n") {}
  void add_options(CLI::App& app) override {
    add_program_options(app, program_);
    app.add_option("--argnum", argnums_,
                   "an argument in which to differentiate, by number from 0; the default is 0")
        ->type_name("N")
        ->check(CLI::NonNegativeNumber)
        ->allow_extra_args(false);
    add_format_options(app, format_);
  }
  int run(const Streams& streams) override {
    const std::vector<std::size_t> of = argnums_.empty() ? std::vector<std::size_t>{0} : argnums_;
    const Function gradient = gradient_of(program_of(program_, streams), of);
    print_program(gradient, format_, "gradient of " + title_of(program_), streams.out);
    return kFine;
  }

 private:
  ProgramOptions program_;
  FormatOptions format_;
  std::vector<std::size_t> argnums_;
};

}  // namespace

std::unique_ptr<Verb> make_grad() { return std::make_unique<Grad>(); }

}  // namespace rondo::cli
