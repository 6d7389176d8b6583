#include "native/called_functions.h"

#include <cmath>
#include <cstring>

#include "native/machine_code.h"
#include "rondo/dtype.h"

namespace rondo::native_code {

using lower::Type;

namespace {

template <class T>
void call_lanes_1(T (*f)(T), std::byte* area, std::uint64_t lanes) noexcept {
  T a[16], out[16] = {};
  std::memcpy(a, area, 64);
  for (std::size_t i = 0; i < 64 / sizeof(T); i++) {
    if (lanes >> i & 1) out[i] = f(a[i]);
  }
  std::memcpy(area + 128, out, 64);
}
template <class T>
void call_lanes_2(T (*f)(T, T), std::byte* area, std::uint64_t lanes) noexcept {
  T a[16], b[16], out[16] = {};
  std::memcpy(a, area, 64);
  std::memcpy(b, area + 64, 64);
  for (std::size_t i = 0; i < 64 / sizeof(T); i++) {
    if (lanes >> i & 1) out[i] = f(a[i], b[i]);
  }
  std::memcpy(area + 128, out, 64);
}

}  // namespace

bool run_kernel(const lower::Kernel* kernel, std::byte* const* buffers,
                lower::RunFrame* frame) noexcept {
  return kernel->run(buffers, *frame);
}

const void* lanes_function(Type type, bool two) {
  if (wide(type))
    return two ? reinterpret_cast<const void*>(&call_lanes_2<double>)
               : reinterpret_cast<const void*>(&call_lanes_1<double>);
  return two ? reinterpret_cast<const void*>(&call_lanes_2<float>)
             : reinterpret_cast<const void*>(&call_lanes_1<float>);
}

const void* remainder_function(Type type) {
  float (*const of_f32)(float, float) = [](float a, float b) { return std::fmod(a, b); };
  double (*const of_f64)(double, double) = [](double a, double b) { return std::fmod(a, b); };
  return wide(type) ? reinterpret_cast<const void*>(of_f64) : reinterpret_cast<const void*>(of_f32);
}

const void* narrowing_function(Type to) {
  float (*const to_f16)(double) = [](double x) { return static_cast<float>(float16(x)); };
  float (*const to_bf16)(double) = [](double x) { return static_cast<float>(bfloat16(x)); };
  return reinterpret_cast<const void*>(to == Type::kF16 ? to_f16 : to_bf16);
}

const void* narrowing_function(Type to, bool of_unsigned) {
  using Function = float (*)(std::int64_t);
  static constexpr Function functions[2][2] = {
      {[](std::int64_t x) { return static_cast<float>(float16(x)); },
       [](std::int64_t x) { return static_cast<float>(float16(static_cast<std::uint64_t>(x))); }},
      {[](std::int64_t x) { return static_cast<float>(bfloat16(x)); },
       [](std::int64_t x) { return static_cast<float>(bfloat16(static_cast<std::uint64_t>(x))); }}};
  return reinterpret_cast<const void*>(functions[to == Type::kBF16 ? 1 : 0][of_unsigned ? 1 : 0]);
}

}  // namespace rondo::native_code
