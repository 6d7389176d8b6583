// Runs elementwise ops of one f32 on all 2^32 inputs with each executor and compares the bits of
// the results; NaNs are equal whatever their payload. Usage: all_floats [NAME...], all ops if none
// is named. scripts/all_floats builds it and runs it: a sample of the same is in
// tests/ops/elementwise_bits_test.cc.
#include <algorithm>
#include <array>
#include <bit>
#include <chrono>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

#include "ir/node.h"
#include "rondo/rondo.h"
#include "transforms/registry.h"

namespace {

using namespace rondo;

constexpr std::int64_t kBlock = std::int64_t{1} << 20;
constexpr std::array kExecutors{Executor::kReference, Executor::kBytecode, Executor::kCompiled};
constexpr const char* kNames[] = {"reference", "bytecode", "compiled"};

Tensor apply(const ir::OpDef& op, const Tensor& x) { return ir::make(op, {x}, {}, {}); }

/// Whether the op takes one f32, and gives one.
bool is_function_of_floats(const ir::OpDef& op) {
  if (!op.structure.elementwise || op.observer || op.arity != 1) return false;
  try {
    return apply(op, zeros({DType::kF32, {1}})).dtype() == DType::kF32;
  } catch (const Error&) {
    return false;  // of other dtypes, or with attributes
  }
}

std::uint32_t bits_of(float x) {
  return std::isnan(x) ? 0x7fc00000u : std::bit_cast<std::uint32_t>(x);
}

/// The number of inputs whose results differ.
std::uint64_t differences(const ir::OpDef& op) {
  const Function f =
      trace([&](Tensor x) { return apply(op, x); }, TensorType{DType::kF32, {kBlock}});
  std::vector<Executable> programs;
  for (const Executor executor : kExecutors)
    programs.push_back(compile(f, {.contract = false, .executor = executor}));
  std::array<double, 3> seconds{};
  std::uint64_t differing = 0;
  for (std::uint64_t first = 0; first < std::uint64_t{1} << 32; first += kBlock) {
    Literal x = Literal::zeros({DType::kF32, {kBlock}});
    for (std::int64_t i = 0; i < kBlock; i++)
      x.mutable_data<float>()[static_cast<std::size_t>(i)] =
          std::bit_cast<float>(static_cast<std::uint32_t>(first) + static_cast<std::uint32_t>(i));
    std::vector<Literal> results;
    for (std::size_t k = 0; k < programs.size(); k++) {
      const auto start = std::chrono::steady_clock::now();
      results.push_back(programs[k].run({x})[0]);
      seconds[k] += std::chrono::duration<double>(std::chrono::steady_clock::now() - start).count();
    }
    const auto want = results[0].data<float>();
    for (std::size_t k = 1; k < results.size(); k++) {
      const auto got = results[k].data<float>();
      for (std::size_t i = 0; i < got.size(); i++) {
        if (bits_of(got[i]) == bits_of(want[i])) continue;
        if (differing++ < 5)
          std::printf("%s(%a): %a %s, %a reference\n", std::string(op.name).c_str(),
                      static_cast<double>(x.data<float>()[i]), static_cast<double>(got[i]),
                      kNames[k], static_cast<double>(want[i]));
      }
    }
  }
  std::printf("%-12s %llu differ", std::string(op.name).c_str(),
              static_cast<unsigned long long>(differing));
  for (std::size_t k = 0; k < seconds.size(); k++)
    std::printf("; %s %.1f s", kNames[k], seconds[k]);
  std::printf("\n");
  std::fflush(stdout);
  return differing;
}

}  // namespace

int main(int argc, char** argv) {
  const std::vector<std::string> names(argv + 1, argv + argc);
  std::uint64_t differing = 0;
  std::size_t ran = 0;
  for (const ir::OpDef* op : transforms::all_ops()) {
    if (!is_function_of_floats(*op)) continue;
    if (!names.empty() && std::find(names.begin(), names.end(), op->name) == names.end()) continue;
    differing += differences(*op);
    ran++;
  }
  if (ran < std::max<std::size_t>(names.size(), 1)) {
    std::fprintf(stderr, "There is no such op of one f32.\n");
    return 2;
  }
  return differing == 0 ? 0 : 1;
}
