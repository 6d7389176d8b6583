// Real XLA beside our own machines: the programs that we print must be accepted by it and give the
// results that we compute. tests/xla/oracle.py does the work in a process of its own.
#pragma once

#include <gtest/gtest.h>

#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "rondo/function.h"
#include "support/compare.h"

namespace rondo::testing {

/// XLA refused a program or failed to run it; the text says at which stage and why.
class XlaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A process with XLA in it: a child of the server that listens at RONDO_XLA_SOCKET, if there is
/// one, else one of its own. The environment variable RONDO_XLA_PYTHON names a Python that has the
/// packages of tests/xla/requirements.txt; without it `python3` is tried.
class XlaOracle {
 public:
  enum class Form : std::uint8_t { kHlo, kStablehlo };

  /// Started at the first call, for the whole test program.
  static XlaOracle& shared();

  XlaOracle();
  ~XlaOracle();
  XlaOracle(const XlaOracle&) = delete;
  XlaOracle& operator=(const XlaOracle&) = delete;

  /// Why there is no XLA, and how to get it; empty if it is there.
  const std::string& unavailable() const { return unavailable_; }

  /// Parses, verifies and compiles the program. Throws XlaError if XLA refuses it.
  void accept(Form form, const std::string& text);
  /// The same, and runs it. Calls from several threads take turns.
  std::vector<Literal> run(Form form, const std::string& text, std::span<const Literal> arguments);

 private:
  std::size_t ask(Form form, const std::string& text, const std::string& rest);
  std::string write_program(const std::string& text);
  /// False where no server listens.
  bool connect();
  void start();
  void stop() noexcept;
  void send(const std::string& line);
  std::string receive();

  std::mutex mutex_;
  std::filesystem::path folder_;  // for programs and arrays
  int socket_ = -1;
  int process_ = -1;
  std::string received_;
  std::string unavailable_;
};

/// The fixture of all tests that need XLA, which fail where there is none. Without a plugin and a
/// Python that has it CMake says so and leaves them out; run by hand their programs say what is
/// missing.
class XlaTest : public ::testing::Test {
 protected:
  void SetUp() override;
};

/// In which texts a function is given to XLA.
enum class XlaTexts : std::uint8_t {
  /// As HLO text, to the process, and as StableHLO text, to the plugin.
  kBoth,
  /// As StableHLO text only. That runs in this process, in a third of the time: for programs whose
  /// ops and constructs are all in HLO text in some other test.
  kStablehlo,
};

/// The function gives the same results by compile().run(), by the plain reference interpreter, and
/// by XLA from its texts: as it is, and from its StableHLO text after the passes.
void expect_same_as_xla(const Function& function, const std::vector<Literal>& arguments,
                        const Tolerance& tolerance = {}, XlaTexts texts = XlaTexts::kBoth);

}  // namespace rondo::testing
