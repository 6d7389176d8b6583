// Linked into a program beside the library, this intercepts compile() and Executable::run() (by the
// linker's --wrap): programs also run on real XLA, by a PJRT plugin in this process, from the
// StableHLO text of what was compiled, after it was read back and printed in each format, and the
// results are compared. Differences are failures of the running test or, in a program without
// tests, of the program.
//
// Environment variables set the extent:
// - RONDO_XLA_EVERY: the first program of each test and one in so many of its others (default 1:
//   all of them);
// - RONDO_XLA_RTOL: how far results may differ, relative to them, if a program amplifies rounding
//   differences (default: 512 units in the last place).
#include <gtest/gtest.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rondo/error.h"
#include "rondo/execute.h"
#include "rondo/text.h"
#include "support/compare.h"
#include "support/xla_plugin.h"

namespace rondo::testing {

namespace {

// Comparing the same program with other arguments this often is enough.
constexpr int kRunsOfOneProgram = 3;

std::optional<double> setting(const char* name) {
  const char* value = std::getenv(name);
  return value ? std::optional(std::stod(value)) : std::nullopt;
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
    originals_.insert_or_assign(&executable.function(), Original{function, executable, {}, {}});
  }

  void ran(const Executable& executable, std::span<const Literal> arguments,
           const std::vector<Literal>& results) {
    const std::lock_guard lock(mutex_);
    const auto original = originals_.find(&executable.function());
    if (original == originals_.end() || results.empty()) return;
    auto& [function, kept, text, printed] = original->second;
    try {
      if (printed.empty()) printed = to_stablehlo_text(function);
      if (!chosen(printed)) return;
      if (text.empty()) text = through_all_texts(printed);
      const std::string what =
          difference(XlaPlugin::shared().run(function, text, arguments), results, tolerance_);
      if (!what.empty()) fail("XLA gives another result:\n" + what, text);
      compared_++;
    } catch (const TraceError& error) {
      if (!is_without_text(error)) fail(error.what(), text);
      without_text_++;
    } catch (const std::exception& error) {
      fail(error.what(), text);
    }
  }

 private:
  /// What XLA runs was read from each text that we write: StableHLO, HLO and the IR's own.
  static std::string through_all_texts(const std::string& stablehlo) {
    const Function from_hlo = parse_hlo_text(to_hlo_text(parse_stablehlo_text(stablehlo)));
    return to_stablehlo_text(parse_text(to_text(from_hlo, {.full = true})));
  }

  Watch() {
    if (XlaPlugin::shared().unavailable().empty()) return;
    std::cerr << XlaPlugin::shared().unavailable() << "\n";
    std::_Exit(1);
  }
  ~Watch() {
    std::cerr << compared_ << " runs of " << runs_.size() << " texts were compared with XLA; "
              << without_text_ << " are of tapes that grow, which have no text\n";
    if (failures_ > 0) std::_Exit(1);
  }

  /// Only the interpreter has growing tapes.
  static bool is_without_text(const TraceError& error) {
    return std::string_view(error.what()).find("checkpoint policy is tape(), and the text") !=
           std::string_view::npos;
  }

  /// Whether this run is compared: the first runs of a selected program.
  bool chosen(const std::string& text) {
    const auto [program, is_new] = runs_.try_emplace(text, 0);
    if (is_new) {
      const ::testing::TestInfo* test = ::testing::UnitTest::GetInstance()->current_test_info();
      if (programs_[test]++ % every_ != 0) program->second = kRunsOfOneProgram;
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

  struct Original {
    Function function;
    Executable executable;  // so that no other is at its address
    std::string text;       // that XLA runs: set when it is first compared
    std::string printed;    // of the function, set after the first run
  };

  std::mutex mutex_;
  std::map<const void*, Original> originals_;
  // The tests compare with exact values; this only has to tell right from wrong.
  const Tolerance tolerance_{
      .rtol = setting("RONDO_XLA_RTOL"), .atol = 1e-6, .ulps = 512, .loose_complex = true};
  const int every_ = std::max(1, static_cast<int>(setting("RONDO_XLA_EVERY").value_or(1)));
  std::map<std::string, int> runs_;
  std::map<const void*, int> programs_;  // seen, by test
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
