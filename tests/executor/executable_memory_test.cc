// A process that may not have executable memory, as on hardened systems: here by a filter of system
// calls, in a separate process.
#include <gtest/gtest.h>

#if defined(__linux__) && defined(__x86_64__)

#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <string>

#include "native/target.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

/// From here on mmap and mprotect fail in this process for executable pages.
bool forbid_executable_memory() {
  constexpr auto kNumber = static_cast<std::uint32_t>(offsetof(seccomp_data, nr));
  constexpr auto kProtection = static_cast<std::uint32_t>(offsetof(seccomp_data, args[2]));
  std::array<sock_filter, 8> filter{{
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kNumber),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mmap, 2, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_mprotect, 1, 0),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, kProtection),
      BPF_JUMP(BPF_JMP | BPF_JSET | BPF_K, PROT_EXEC, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EACCES),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
  }};
  const sock_fprog program{static_cast<unsigned short>(filter.size()), filter.data()};
  return prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0 &&
         mmap(nullptr, 4096, PROT_READ | PROT_EXEC, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0) ==
             MAP_FAILED;
}

/// What `run` writes to the standard error.
template <class F>
std::string errors_of(const F& run) {
  std::FILE* const file = std::tmpfile();
  const int before = dup(STDERR_FILENO);
  dup2(fileno(file), STDERR_FILENO);
  run();
  dup2(before, STDERR_FILENO);
  close(before);
  std::rewind(file);
  std::string text;
  for (int c = std::fgetc(file); c != EOF; c = std::fgetc(file)) text += static_cast<char>(c);
  std::fclose(file);
  return text;
}

/// Ends the process with 0 if programs run as bytecode and this was reported once.
[[noreturn]] void run_without_executable_memory() {
  if (!forbid_executable_memory()) {
    std::perror("the filter of system calls");
    std::exit(2);
  }
  bool same = true;
  const std::string said = errors_of([&] {
    for (const int trips : {3, 7}) {
      const auto f = [&](Tensor x) {
        return fori_loop(
            0, trips, [](Tensor i, Tensor y) { return y * 0.5 + convert(i, DType::kF64); }, x);
      };
      const Executable program = compile(trace(f, f64()), {.executor = Executor::kCompiled});
      double want = 4;
      for (int i = 0; i < trips; i++) want = want * 0.5 + i;
      same = same && program.run({Literal::scalar(4.0)})[0].item<double>() == want;
      same = same && program.disassembly().empty();
      same = same && program.program().find("bytecode") != std::string::npos;
    }
  });
  // Without native code there is nothing to report.
  const std::string wanted =
      native_code::available_target() == nullptr
          ? ""
          : "rondo: this process may not have executable memory; programs run as bytecode.\n";
  if (said != wanted) std::fprintf(stderr, "said: '%s'\n", said.c_str());
  std::exit(same && said == wanted ? 0 : 1);
}

TEST(ExecutableMemoryDeathTest, WhereItIsForbiddenProgramsRunAsBytecodeAndSaySoOnce) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  EXPECT_EXIT(run_without_executable_memory(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace rondo

#endif
