#include "native/register_bits.h"

#include <bit>

#include "rondo/dtype.h"

namespace rondo::native_code {

std::uint64_t register_bits(lower::Type type, std::uint64_t bits) {
  using lower::Type;
  switch (type) {
    case Type::kS8:
      return static_cast<std::uint32_t>(static_cast<std::int8_t>(bits));
    case Type::kS16:
      return static_cast<std::uint32_t>(static_cast<std::int16_t>(bits));
    case Type::kF16: {
      const float x = float16::from_bits(static_cast<std::uint16_t>(bits));
      return std::bit_cast<std::uint32_t>(x);
    }
    case Type::kBF16:
      return bits << 16 & 0xffff0000u;
    case Type::kS32:
    case Type::kU32:
    case Type::kF32:
      return bits & 0xffffffffu;
    default:
      return bits;
  }
}

}  // namespace rondo::native_code
