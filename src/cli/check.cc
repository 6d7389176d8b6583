// `rondo check`.
#include <CLI/CLI.hpp>
#include <ostream>

#include "cli/command.h"
#include "cli/program.h"
#include "fmt/format.h"
#include "rondo/checks.h"

namespace rondo::cli {

namespace {

class Check final : public Verb {
 public:
  Check()
      : Verb("check", "Run the functions of StableHLO that hold `check.*` operations",
             "  rondo check f.mlir g.mlir   a line for each failure, then their number\n") {}
  void add_options(CLI::App& app) override {
    app.add_option("FILE", files_, "StableHLO text or an artifact; - is stdin")->required();
  }
  int run(const Streams& streams) override {
    CheckReport sum;
    int status = kFine;
    for (const std::string& file : files_) {
      try {
        // What others computed was rounded after each product.
        const CheckReport report = run_checks(content_of(file, streams.in), {.contract = false});
        for (const CheckReport::Function& function : report.functions) {
          if (function.message.empty()) continue;
          streams.out << fmt::format("{}:{}: @{} {}: {}\n", file, function.line, function.name,
                                     function.skipped ? "skipped" : "failed", function.message);
        }
        sum.passed += report.passed;
        sum.failed += report.failed;
        sum.skipped += report.skipped;
      } catch (const ParseError& error) {
        streams.err << fmt::format("rondo: {}: {}\n", file, error.what());
        status = kBadInput;
      }
    }
    streams.out << fmt::format("{} passed, {} failed, {} skipped\n", sum.passed, sum.failed,
                               sum.skipped);
    if (status == kFine && sum.failed > 0) status = kFailed;
    return status;
  }

 private:
  std::vector<std::string> files_;
};

}  // namespace

std::unique_ptr<Verb> make_check() { return std::make_unique<Check>(); }

}  // namespace rondo::cli
