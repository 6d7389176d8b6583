// Real XLA in this process: StableHLO text through a PJRT plugin. HLO text, which plugins do not
// accept, is passed to XLA in another process (support/xla.h).
#pragma once

#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "pjrt/program.h"
#include "rondo/function.h"
#include "rondo/literal.h"

namespace rondo::testing {

class XlaPlugin {
 public:
  /// Loaded on first use, for the whole test program.
  static XlaPlugin& shared();

  /// Why there is none, and how to install it; empty if it is available.
  const std::string& unavailable() const { return unavailable_; }

  /// Compiles the StableHLO text of a function and runs it. Throws the plugin's errors. Calls from
  /// several threads are serialized.
  std::vector<Literal> run(const Function& function, const std::string& text,
                           std::span<const Literal> arguments);

 private:
  XlaPlugin();

  std::mutex mutex_;
  std::string unavailable_;
  pjrt::Device device_;
  std::string text_;  // of the last program: most run with several arguments
  std::optional<pjrt::Program> program_;
};

}  // namespace rondo::testing
