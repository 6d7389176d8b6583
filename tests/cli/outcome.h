// The command, called as a shell would call it.
#pragma once

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <vector>

#include "cli/command.h"

namespace rondo {

struct Outcome {
  int status = 0;
  std::string out, err;
};
inline Outcome command(const std::vector<std::string>& arguments, const std::string& input = "",
                       cli::Terminal terminal = {}) {
  std::istringstream in(input);
  std::ostringstream out, err;
  const int status = cli::run_command(arguments, in, out, err, terminal);
  return {status, out.str(), err.str()};
}

/// A folder of this test.
class Command : public ::testing::Test {
 protected:
  Command()
      : folder_(std::filesystem::temp_directory_path() /
                ("rondo_command_" +
                 std::to_string(::testing::UnitTest::GetInstance()->random_seed()) + "_" +
                 ::testing::UnitTest::GetInstance()->current_test_info()->name())) {
    std::filesystem::create_directories(folder_);
  }
  ~Command() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return (folder_ / name).string(); }
  std::string file(const std::string& name, const std::string& text) const {
    std::ofstream(path(name)) << text;
    return path(name);
  }

 private:
  std::filesystem::path folder_;
};

/// It fails with this status, says why and prints nothing else.
template <class Matcher>
void fails(const std::vector<std::string>& arguments, int status, const Matcher& message) {
  const Outcome outcome = command(arguments);
  EXPECT_EQ(outcome.status, status) << outcome.err;
  EXPECT_EQ(outcome.out, "");
  EXPECT_THAT(outcome.err, message);
}

/// x to the power of n + 1.
inline constexpr const char* kPowers = R"(
func.func @main(%x: tensor<2xf32>, %n: tensor<i32>) -> tensor<2xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<2xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %z = stablehlo.multiply %y, %x : tensor<2xf32>
    stablehlo.return %next, %z : tensor<i32>, tensor<2xf32>
  }
  return %0#1 : tensor<2xf32>
}
)";

}  // namespace rondo
