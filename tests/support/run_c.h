// Runs programs as C: written, compiled by the machine's C compiler, loaded and called.
#pragma once

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "c/file.h"
#include "rondo/c_source.h"
#include "rondo/function.h"
#include "rondo/literal.h"

namespace rondo::testing {

/// Whether this machine has a C compiler: `cc`, or what the variable CC names.
bool has_c_compiler();

/// The warnings without which no source of ours compiles.
inline constexpr const char* kStrict =
    "-Wall -Wextra -Wconversion -Wdouble-promotion -Wshadow -pedantic -Werror";

/// The results of the program as C99 with these options; `compiler` and `flags` for others than cc
/// without optimisation. Throws std::runtime_error with what the compiler said if it does not
/// compile, and with the status if the function does not return 0.
std::vector<Literal> run_c(const Function& function, const std::vector<Literal>& arguments,
                           const COptions& options = {}, const std::string& compiler = "cc",
                           const std::string& flags = "-std=c99 -O1");

/// The same of a program that was written already, as `program` with the header program.h.
std::vector<Literal> run_file(const c::File& file, const std::vector<Literal>& arguments,
                              const std::vector<TensorType>& results,
                              const std::string& compiler = "cc",
                              const std::string& flags = "-std=c99 -O1");

/// The status of the program's own test (COptions::test_main), compiled and run.
int run_test_main(const CSource& source, const std::string& name);

class InC : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_c_compiler()) GTEST_SKIP() << "there is no C compiler (cc) on this machine";
  }
};

}  // namespace rondo::testing
