#include "native/target.h"

#include <fmt/format.h>

#include "base/cpu.h"
#include "native/aarch64/targets.h"
#include "native/machine_code.h"
#include "native/x86/targets.h"

namespace rondo::native_code {

std::string RegisterFile::name(std::uint8_t number) const {
  return number < names.size() ? std::string(names[number]) : fmt::format("{}{}", prefix, number);
}

bool VectorOps::has(lower::Opcode code, lower::Type type, lower::Type from) const {
  switch (code) {
    case lower::Opcode::kConvert:
      return converts_to[static_cast<std::size_t>(from)].has(type);
    case lower::Opcode::kBitcast:
      return bitcasts_to[static_cast<std::size_t>(from)].has(type);
    default:
      return of[static_cast<std::size_t>(code)].has(type);
  }
}

int Target::lanes_of(lower::Type type) const { return vector_bytes / (wide(type) ? 8 : 4); }

const Target* available_target() noexcept {
  const Target* const found = x86::best_target(cpu());
  return found != nullptr ? found : aarch64::best_target(cpu());
}

}  // namespace rondo::native_code
