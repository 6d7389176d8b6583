// Compares real XLA with Rondo's executors: XLA must accept the printed programs and give the same
// results. tests/xla/oracle.py does the work in a separate process.
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

/// XLA rejected a program or failed to run it; the text says at which stage and why.
class XlaError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// A process with XLA in it: a child of the server that listens at RONDO_XLA_SOCKET, if there is
/// one, else a new process. The environment variable RONDO_XLA_PYTHON names a Python that has the
/// packages of tests/xla/requirements.txt; without it `python3` is tried.
class XlaOracle {
 public:
  enum class Form : std::uint8_t { kHlo, kStablehlo };

  /// Started on first use, for the whole test program.
  static XlaOracle& shared();

  XlaOracle();
  ~XlaOracle();
  XlaOracle(const XlaOracle&) = delete;
  XlaOracle& operator=(const XlaOracle&) = delete;

  /// Why there is no XLA, and how to install it; empty if it is available.
  const std::string& unavailable() const { return unavailable_; }

  /// Parses, verifies and compiles the program. Throws XlaError if XLA rejects it.
  void accept(Form form, const std::string& text);
  /// The same, and runs it. Calls from several threads are serialized.
  std::vector<Literal> run(Form form, const std::string& text, std::span<const Literal> arguments);

 private:
  std::size_t ask(Form form, const std::string& text, const std::string& rest);
  std::string write_program(const std::string& text);
  /// False if no server listens.
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

/// The fixture of all tests that need XLA, which fail without it. Without a plugin and a Python
/// that has it CMake reports that and leaves them out; run by hand their programs say what is
/// missing.
class XlaTest : public ::testing::Test {
 protected:
  void SetUp() override;
};

/// The texts in which a function is passed to XLA.
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
