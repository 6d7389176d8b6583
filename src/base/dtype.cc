#include "rondo/dtype.h"

namespace rondo {
namespace {

constexpr std::string_view kDTypeNames[kDTypeCount] = {
    "pred",       "s8",       "s16",       "s32",    "s64",      "u8",
    "u16",        "u32",      "u64",       "f16",    "bf16",     "f32",
    "f64",        "c64",      "c128",      "s2",     "u2",       "s4",
    "u4",         "f4e2m1fn", "f8e3m4",    "f8e4m3", "f8e4m3fn", "f8e4m3b11fnuz",
    "f8e4m3fnuz", "f8e5m2",   "f8e5m2fnuz"};

}  // namespace

std::string_view dtype_name(DType dtype) noexcept {
  const auto index = static_cast<std::size_t>(dtype);
  return index < kDTypeCount ? kDTypeNames[index] : "invalid";
}

}  // namespace rondo
