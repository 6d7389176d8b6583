#include "native/isa.h"

#include <algorithm>
#include <cstdlib>

namespace rondo::native_code {

namespace {

Isa isa_of_processor() noexcept {
#if defined(RONDO_HAVE_XBYAK) && defined(__x86_64__)
  // These builtins ask the operating system as well whether it keeps the wide registers.
  if (!(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
        __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
        __builtin_cpu_supports("popcnt")))
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
