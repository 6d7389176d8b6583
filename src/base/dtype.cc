#include "rondo/dtype.h"

namespace rondo {
namespace {

constexpr std::string_view kDTypeNames[kDTypeCount] = {"pred", "s8",  "s16", "s32", "s64",
                                                       "u8",   "u16", "u32", "u64", "f16",
                                                       "bf16", "f32", "f64", "c64", "c128"};

}  // namespace

std::string_view dtype_name(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return index < kDTypeCount ? kDTypeNames[index] : "invalid";
}

}  // namespace rondo
