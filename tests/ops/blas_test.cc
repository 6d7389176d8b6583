// When OpenBLAS is loaded.
#if defined(__linux__)
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <string>
#include <vector>

#include "ops/vectors.h"

namespace rondo {
namespace {

/// Whether a library of this name is loaded in the process.
bool is_mapped(const std::string& name) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    if (line.find(name) != std::string::npos) return true;
  }
  return false;
}

constexpr const char* kAlone = "RONDO_TEST_ALONE";

/// Runs a test of this program in a new process; its exit status.
int run_alone(const std::string& test) {
  std::string program = "ops_tests", filter = "--gtest_filter=" + test, brief = "--gtest_brief=1";
  std::string alone = std::string(kAlone) + "=1";
  char* const arguments[] = {program.data(), filter.data(), brief.data(), nullptr};
  std::vector<char*> environment{alone.data()};
  for (char** entry = environ; *entry; entry++) {
    if (!std::string(*entry).starts_with("GTEST_")) environment.push_back(*entry);
  }
  environment.push_back(nullptr);
  pid_t process = 0;
  int status = -1;
  if (posix_spawn(&process, "/proc/self/exe", nullptr, nullptr, arguments, environment.data()) != 0)
    return -1;
  return waitpid(process, &status, 0) == process ? status : -1;
}

TEST(Blas, IsLoadedWithTheFirstLargeProduct) {
  if (!std::getenv(kAlone)) {
    EXPECT_EQ(run_alone("Blas.IsLoadedWithTheFirstLargeProduct"), 0);
    return;
  }
  const Tensor a = full(f32({64, 64}), 0.5f);
  EXPECT_EQ(matmul(full(f32({2, 2}), 0.5f), full(f32({2, 2}), 2.f)).eval().data<float>()[0], 2.f);
  EXPECT_FALSE(is_mapped("openblas"));  // so its threads have not been started
  EXPECT_EQ(matmul(a, a).eval().data<float>()[64 * 64 - 1], 16.f);
}

}  // namespace
}  // namespace rondo
#endif
