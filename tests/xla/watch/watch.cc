// Linked into a program beside the library, this puts itself between the program and compile() and
// Executable::run() (by the linker's --wrap): whatever the program runs is run by real XLA too,
// from the HLO text and the StableHLO text of what was compiled, and the results are compared.
// Differences are failures of the test that is running or, in a program without tests, of the
// program.
#include <gtest/gtest.h>
#include <unistd.h>

#include <cstdlib>
#include <iostream>
#include <map>
#include <mutex>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rondo/execute.h"
#include "rondo/text.h"
#include "support/compare.h"
#include "support/xla.h"

namespace rondo::testing {

namespace {

// The same program again and again, with other arguments, is enough so often.
constexpr int kRunsOfOneProgram = 3;

// The tests compare with exact values; this only has to tell right from wrong.
constexpr Tolerance kWatchTolerance{.atol = 1e-6, .ulps = 512, .loose_complex = true};

class Watch {
 public:
  static Watch& get() {
    static Watch watch;
    return watch;
  }

  void compiled(const Function& function, const Executable& executable) {
    const std::lock_guard lock(mutex_);
    originals_.insert_or_assign(&executable.function(), std::pair(function, executable));
  }

  void ran(const Executable& executable, std::span<const Literal> arguments,
           const std::vector<Literal>& results) {
    const std::lock_guard lock(mutex_);
    const auto original = originals_.find(&executable.function());
    if (original == originals_.end() || results.empty()) return;
    std::string text;
    try {
      for (const auto form : {XlaOracle::Form::kHlo, XlaOracle::Form::kStablehlo}) {
        const Function& function = original->second.first;
        text = form == XlaOracle::Form::kHlo ? to_hlo_text(function) : to_stablehlo_text(function);
        if (runs_[text]++ >= kRunsOfOneProgram) continue;
        const std::string what =
            difference(XlaOracle::shared().run(form, text, arguments), results, kWatchTolerance);
        if (!what.empty()) fail("XLA gives another result:\n" + what, text);
      }
    } catch (const std::exception& error) {
      fail(error.what(), text);
    }
    compared_++;
  }

 private:
  Watch() {
    if (XlaOracle::shared().unavailable().empty()) return;
    std::cerr << XlaOracle::shared().unavailable() << "\n";
    std::_Exit(1);
  }

  ~Watch() {
    std::cerr << compared_ << " runs were compared with XLA\n";
    if (failures_ > 0) std::_Exit(1);
  }

  void fail(const std::string& what, const std::string& text) {
    failures_++;
    if (::testing::UnitTest::GetInstance()->current_test_info())
      ADD_FAILURE() << what << text;
    else
      std::cerr << what << text;
  }

  std::mutex mutex_;
  std::map<const void*, std::pair<Function, Executable>> originals_;
  std::map<std::string, int> runs_;
  int compared_ = 0;
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
