#include "base/cpu.h"

#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rondo {

namespace {

#if defined(__x86_64__)

/// What clang's builtin has no names for.
bool has_f16c_and_lzcnt() noexcept {
  constexpr unsigned kBasic = 1, kExtended = 0x80000001;
  constexpr unsigned kF16c = 1u << 29, kLzcnt = 1u << 5;  // of ecx
  unsigned eax = 0, ebx = 0, basic = 0, extended = 0, edx = 0;
  return __get_cpuid(kBasic, &eax, &ebx, &basic, &edx) != 0 &&
         __get_cpuid(kExtended, &eax, &ebx, &extended, &edx) != 0 && (basic & kF16c) != 0 &&
         (extended & kLzcnt) != 0;
}

Cpu of_machine() noexcept {
  // These builtins ask the operating system as well whether it keeps the wide registers.
  Cpu found;
  found.avx2 = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
               __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
               __builtin_cpu_supports("popcnt") && has_f16c_and_lzcnt();
  found.avx512 = found.avx2 && __builtin_cpu_supports("avx512f") &&
                 __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512cd") &&
                 __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512vl");
  found.has_slow_compress = __builtin_cpu_is("amdfam19h") && __builtin_cpu_supports("avx512f");
  return found;
}

#elif defined(__aarch64__)

Cpu of_machine() noexcept { return {.neon = true}; }

#else

Cpu of_machine() noexcept { return {}; }

#endif

}  // namespace

Cpu limited(Cpu cpu, std::string_view name) noexcept {
  if (name == "none") cpu.avx2 = cpu.neon = false;
  if (name == "none" || name == "avx2") cpu.avx512 = false;
  return cpu;
}

const Cpu& cpu() noexcept {
  static const Cpu cpu = [] {
    const char* limit = std::getenv("RONDO_ISA");
    return limited(of_machine(), limit != nullptr ? limit : "");
  }();
  return cpu;
}

}  // namespace rondo
