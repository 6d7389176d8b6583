#include "native/isa.h"

#include <algorithm>
#include <cstdlib>

#if defined(__x86_64__)
#include <cpuid.h>
#endif

namespace rondo::native_code {

namespace {

#if defined(RONDO_HAVE_XBYAK) && defined(__x86_64__)

/// What clang's builtin has no names for.
bool has_f16c_and_lzcnt() noexcept {
  constexpr unsigned kBasic = 1, kExtended = 0x80000001;
  constexpr unsigned kF16c = 1u << 29, kLzcnt = 1u << 5;  // of ecx
  unsigned eax = 0, ebx = 0, basic = 0, extended = 0, edx = 0;
  return __get_cpuid(kBasic, &eax, &ebx, &basic, &edx) != 0 &&
         __get_cpuid(kExtended, &eax, &ebx, &extended, &edx) != 0 && (basic & kF16c) != 0 &&
         (extended & kLzcnt) != 0;
}

#endif

Isa isa_of_processor() noexcept {
#if defined(RONDO_HAVE_XBYAK) && defined(__x86_64__)
  // These builtins ask the operating system as well whether it keeps the wide registers.
  if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt") && has_f16c_and_lzcnt()))
    return Isa::kNone;
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512bw") &&
      __builtin_cpu_supports("avx512cd") && __builtin_cpu_supports("avx512dq") &&
      __builtin_cpu_supports("avx512vl"))
    return Isa::kAvx512;
  return Isa::kAvx2;
#else
  return Isa::kNone;
#endif
}

}  // namespace

Isa limited_isa(Isa isa, std::string_view text) noexcept {
  for (Isa named : {Isa::kNone, Isa::kAvx2, Isa::kAvx512}) {
    if (isa_name(named) == text) return std::min(named, isa);
  }
  return isa;
}

std::string_view isa_name(Isa isa) noexcept {
  switch (isa) {
    case Isa::kNone:
      return "none";
    case Isa::kAvx2:
      return "avx2";
    case Isa::kAvx512:
      return "avx512";
  }
  return "invalid";
}

Isa available_isa() noexcept {
  static const Isa isa = [] {
    const char* limit = std::getenv("RONDO_ISA");
    return limited_isa(isa_of_processor(), limit != nullptr ? limit : "");
  }();
  return isa;
}

}  // namespace rondo::native_code
