// Runs lower programs natively on host vectors.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "base/guard_pages.h"
#include "lower/arithmetic.h"
#include "lower/builder.h"
#include "native/compile.h"
#include "native/x86/targets.h"

namespace rondo::native_code {

/// Those that this machine can run.
inline std::vector<const Target*> targets() {
  const Target* const best = available_target();
  if (best == nullptr) return {};
  if (best == &x86::avx512()) return {&x86::avx2(), best};
  return {best};
}

/// Tests that run native code, which a machine need not support.
class NativeTest : public ::testing::Test {
 protected:
  void SetUp() override {
    if (targets().empty()) GTEST_SKIP() << "this machine has no native code";
  }
};

/// Arguments, results and an arena, each directly before an inaccessible page, with the frame that
/// points to them.
class Buffers {
 public:
  template <class T>
  void add_argument(const std::vector<T>& values) {
    arguments_.push_back(copy(std::as_bytes(std::span(values))));
  }
  void add_result(std::size_t bytes) { results_.emplace_back(bytes); }

  template <class T>
  std::vector<T> result(std::size_t index) {
    std::vector<T> out(results_[index].size / sizeof(T));
    if (!out.empty())
      std::memcpy(static_cast<void*>(out.data()), results_[index].data(), out.size() * sizeof(T));
    return out;
  }

  lower::Status run(const NativeCode& code, const lower::Program& program,
                    lower::RunFrame limits = {}) {
    std::vector<std::byte*> arguments, results, constants;
    for (Bytes& b : arguments_) arguments.push_back(b.data());
    for (Bytes& b : results_) results.push_back(b.data());
    for (const Literal& c : program.constants)
      constants.push_back(const_cast<std::byte*>(c.bytes()));
    Bytes arena(static_cast<std::size_t>(program.arena_bytes));
    trips.assign(program.loops.size(), 0);
    total_trips.assign(program.loops.size(), 0);
    frame = limits;
    frame.arguments = arguments.data();
    frame.results = results.data();
    frame.constants = constants.data();
    frame.arena = arena.data();
    frame.trips = trips.data();
    frame.total_trips = total_trips.data();
    return code.run(frame);
  }

  std::vector<std::int64_t> trips, total_trips;
  lower::RunFrame frame;

 private:
  struct Bytes {
    explicit Bytes(std::size_t bytes)
        : size(bytes), memory(std::make_unique<GuardedMemory>(static_cast<std::int64_t>(bytes))) {}
    std::byte* data() { return memory->data(); }
    std::size_t size;
    std::unique_ptr<GuardedMemory> memory;
  };
  static Bytes copy(std::span<const std::byte> from) {
    Bytes out(from.size());
    std::copy(from.begin(), from.end(), out.data());
    return out;
  }

  std::vector<Bytes> arguments_, results_;
};

/// A builder with separate argument and result buffers.
struct TestProgram : lower::Builder {
  lower::Value argument(std::uint32_t index, std::int64_t bytes = 64) {
    return buffer({lower::Storage::kArgument, index, 0, bytes});
  }
  lower::Value result(std::uint32_t index, std::int64_t bytes = 64) {
    return buffer({lower::Storage::kResult, index, 0, bytes});
  }
  lower::Value load_at(lower::Type type, lower::Value base, std::int64_t offset = 0) {
    return load(type, {base, offset, {}});
  }
  lower::Value load_at(lower::Type type, lower::Value base, lower::Value index,
                       std::int64_t stride) {
    return load(type, {base, 0, {{index, stride}}});
  }
  void store_at(lower::Value value, lower::Value base, std::int64_t offset = 0) {
    store(value, {base, offset, {}});
  }
  void store_at(lower::Value value, lower::Value base, lower::Value index, std::int64_t stride) {
    store(value, {base, 0, {{index, stride}}});
  }
};

template <class T>
constexpr lower::Type type_of_host() {
  return static_cast<lower::Type>(dtype_of<T>);
}
static_assert(type_of_host<double>() == lower::Type::kF64);
static_assert(type_of_host<bfloat16>() == lower::Type::kBF16);

/// The bits, with one number for all NaNs: the payload of a combined NaN is unspecified.
template <class T>
std::uint64_t comparable(T value) {
  if constexpr (lower::is_float_type<T>) {
    if (std::isnan(static_cast<double>(value))) return 0x7ff8dead;
  }
  return lower::to_bits(value);
}

/// Values near the limits of T and other types.
template <class T>
std::vector<T> edge_values() {
  std::vector<T> out;
  if constexpr (std::is_same_v<T, bool>) {
    out = {false, true};
  } else if constexpr (std::is_integral_v<T>) {
    using L = std::numeric_limits<T>;
    for (std::int64_t x : {0, 1, 2, 7, 8, 31, 32, 63, 64, 77, -1, -2, -8}) out.push_back(T(x));
    for (T x : {L::max(), T(L::max() - 1), L::min(), T(L::min() + 1), T(L::max() / 2)})
      out.push_back(x);
  } else {
    using C = lower::Computed<T>;
    using L = std::numeric_limits<C>;
    for (double x :
         {0.0,          -0.0,         1.0,     -1.0,    0.5,     1.5,          2.5,
          -2.5,         3.75,         1e-3,    1e-7,    -127.6,  255.5,        256.0,
          32767.9,      -32768.5,     65504.0, 65535.9, 70000.0, 2147483647.0, -2147483648.0,
          4294967295.0, 4294967296.0, 9.2e18,  -9.3e18, 1.8e19,  1.9e19,       1e30})
      out.push_back(T(static_cast<C>(x)));
    for (C x : {L::infinity(), -L::infinity(), L::quiet_NaN(), L::max(), L::min(), L::denorm_min()})
      out.push_back(T(x));
  }
  return out;
}

}  // namespace rondo::native_code
