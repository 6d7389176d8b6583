// Linked into a program beside the library, this puts itself between the program and compile() and
// Executable::run() (by the linker's --wrap): what the program runs is run by real XLA too, and the
// results are compared: from the HLO text of what was compiled, by XLA in another process
// (support/xla.h), or with RONDO_XLA_ENGINE=plugin from its StableHLO text, by a PJRT plugin in
// this one. Differences are failures of the test that is running or, in a program without tests, of
// the program.
//
// The environment says how much of it:
// - RONDO_XLA_EVERY: the first program of each test and one in so many of its others (default 1:
//   all of them), other ones of each form;
// - RONDO_XLA_RTOL: how far results may differ, relative to them, where a program amplifies what is
//   rounded otherwise (default: 512 units in the last place).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "pjrt/program.h"
#include "rondo/error.h"
#include "rondo/execute.h"
#include "rondo/text.h"
#include "support/compare.h"
#include "support/xla.h"

namespace rondo::testing {

namespace {

// The same program again and again, with other arguments, is enough so often.
constexpr int kRunsOfOneProgram = 3;

std::optional<double> setting(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional(std::stod(value)) : std::nullopt;
}

/// Who runs the texts.
class Engine {
 public:
  using Form = XlaOracle::Form;
  virtual ~Engine() = default;
  virtual std::vector<Form> forms() const = 0;
  virtual std::vector<Literal> run(Form form, const Function& function, const std::string& text,
                                   std::span<const Literal> arguments) = 0;
};

/// XLA in a process of its own, which takes HLO text as well: what plugins do not.
class OracleEngine final : public Engine {
 public:
  OracleEngine() {
    if (XlaOracle::shared().unavailable().empty()) return;
    std::cerr << XlaOracle::shared().unavailable() << "\n";
    std::_Exit(1);
  }
  std::vector<Form> forms() const override { return {Form::kHlo}; }
  std::vector<Literal> run(Form form, const Function&, const std::string& text,
                           std::span<const Literal> arguments) override {
    return XlaOracle::shared().run(form, text, arguments);
  }
};

/// XLA in this process.
class PluginEngine final : public Engine {
 public:
  std::vector<Form> forms() const override { return {Form::kStablehlo}; }
  std::vector<Literal> run(Form, const Function& function, const std::string& text,
                           std::span<const Literal> arguments) override {
    if (text != text_) {
      program_.reset();
      program_.emplace(text, pjrt::ProgramOptions{.name = function.name(),
                                                  .devices = {device_},
                                                  .parameters = function.params(),
                                                  .results = function.results()});
      text_ = text;
    }
    std::vector<pjrt::DeviceArray> arrays;
    for (const Literal& argument : arguments) arrays.emplace_back(argument, device_);
    std::vector<Literal> results;
    for (const pjrt::DeviceArray& result : program_->run(arrays))
      results.push_back(result.to_literal());
    return results;
  }

 private:
  const pjrt::Device device_ =
      pjrt::Client(pjrt::load_plugin(), {{"cpu_device_count", 1}}).devices()[0];
  std::string text_;  // of the last program: most run with several arguments
  std::optional<pjrt::Program> program_;
};

std::unique_ptr<Engine> engine_of_environment() {
  const char* name = std::getenv("RONDO_XLA_ENGINE");
  if (name && std::string_view(name) == "plugin") return std::make_unique<PluginEngine>();
  return std::make_unique<OracleEngine>();
}

class Watch {
 public:
  static Watch& get() {
    static Watch watch;
    return watch;
  }

  void compiled(const Function& function, const Executable& executable) {
    const std::lock_guard lock(mutex_);
    if (executable.device()) return;
    originals_.insert_or_assign(&executable.function(), std::pair(function, executable));
  }

  void ran(const Executable& executable, std::span<const Literal> arguments,
           const std::vector<Literal>& results) {
    const std::lock_guard lock(mutex_);
    const auto original = originals_.find(&executable.function());
    if (original == originals_.end() || results.empty()) return;
    std::string text;
    try {
      for (const auto form : engine_->forms()) {
        const Function& function = original->second.first;
        text = form == XlaOracle::Form::kHlo ? to_hlo_text(function) : to_stablehlo_text(function);
        if (!chosen(form, text)) continue;
        const std::string what =
            difference(engine_->run(form, function, text, arguments), results, tolerance_);
        if (!what.empty()) fail("XLA gives another result:\n" + what, text);
        compared_++;
      }
    } catch (const TraceError& error) {
      if (!is_without_text(error)) fail(error.what(), text);
      without_text_++;
    } catch (const std::exception& error) {
      fail(error.what(), text);
    }
  }

 private:
  Watch() = default;
  ~Watch() {
    std::cerr << compared_ << " runs of " << runs_.size() << " texts were compared with XLA; "
              << without_text_ << " are of tapes that grow, which have no text\n";
    if (failures_ > 0) std::_Exit(1);
  }

  /// A tape that grows is the interpreter's own.
  static bool is_without_text(const TraceError& error) {
    return std::string_view(error.what()).find("checkpoint policy is tape(), and the text") !=
           std::string_view::npos;
  }

  /// Whether this run is compared: of a program that was not passed over, the first runs.
  bool chosen(XlaOracle::Form form, const std::string& text) {
    const auto [program, is_new] = runs_.try_emplace(text, 0);
    if (is_new) {
      const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
      const auto number = programs_[{test, form}]++;
      const int turn = form == XlaOracle::Form::kHlo ? 0 : every_ / 2;
      if (number != 0 && number % every_ != turn) program->second = kRunsOfOneProgram;
    }
    return program->second++ < kRunsOfOneProgram;
  }

  void fail(const std::string& what, const std::string& text) {
    failures_++;
    if (::testing::UnitTest::GetInstance()->current_test_info())
      ADD_FAILURE() << what << text;
    else
      std::cerr << what << text;
  }

  std::mutex mutex_;
  const std::unique_ptr<Engine> engine_ = engine_of_environment();
  std::map<const void*, std::pair<Function, Executable>> originals_;
  // The tests compare with exact values; this only has to tell right from wrong.
  const Tolerance tolerance_{
      .rtol = setting("RONDO_XLA_RTOL"), .atol = 1e-6, .ulps = 512, .loose_complex = true};
  const int every_ = std::max(1, static_cast<int>(setting("RONDO_XLA_EVERY").value_or(1)));
  std::map<std::string, int> runs_;
  std::map<std::pair<const void*, XlaOracle::Form>, int> programs_;  // seen, by test and form
  int compared_ = 0;
  int without_text_ = 0;
  int failures_ = 0;
};

}  // namespace

using Results = std::vector<Literal>;

// The names are the mangled ones of the two functions, as --wrap writes them.
Executable real_compile(const Function& function, const CompileOptions& options) asm(
    "__real__ZN5rondo7compileERKNS_8FunctionERKNS_14CompileOptionsE");
Results
real_run(const Executable* executable, std::span<const Literal> arguments, const RunOptions& options) asm(
    "__real__ZNK5rondo10Executable3runESt4spanIKNS_7LiteralELm18446744073709551615EERKNS_"
    "10RunOptionsE");
Executable watched_compile(const Function& function, const CompileOptions& options) asm(
    "__wrap__ZN5rondo7compileERKNS_8FunctionERKNS_14CompileOptionsE");
Results
watched_run(const Executable* executable, std::span<const Literal> arguments, const RunOptions& options) asm(
    "__wrap__ZNK5rondo10Executable3runESt4spanIKNS_7LiteralELm18446744073709551615EERKNS_"
    "10RunOptionsE");

Executable watched_compile(const Function& function, const CompileOptions& options) {
  Executable executable = real_compile(function, options);
  Watch::get().compiled(function, executable);
  return executable;
}

Results watched_run(const Executable* executable, std::span<const Literal> arguments,
                    const RunOptions& options) {
  Results results = real_run(executable, arguments, options);
  Watch::get().ran(*executable, arguments, results);
  return results;
}

}  // namespace rondo::testing
