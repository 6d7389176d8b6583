// Tracing and printing a chain of multiplications and additions.
#include "anchors/harness.h"

namespace anchors {

using rondo::Tensor;

namespace {

rondo::Function chain(int ops) {
  return rondo::trace(
      [&](Tensor x, Tensor a, Tensor b) {
        for (int i = 0; i < ops / 2; i++) x = x * a + b;
        return x;
      },
      rondo::f32({128}), rondo::f32({128}), rondo::f32({128}));
}

}  // namespace

void texts() {
  for (int ops : {10'000, 100'000}) {
    time_it(
        "trace_" + std::to_string(ops / 1000) + "k", "us/op", [&] { chain(ops); }, {}, ops);
  }
  const rondo::Function program = chain(10'000);
  std::size_t bytes = 0;
  // From the tracer's IR to text, for which others take two steps, lowering and printing.
  for (const char* work : {"emit_hlo_10k", "print_hlo_10k"})
    time_it(work, "ms", [&] { bytes += rondo::to_hlo_text(program).size(); });
  for (const char* work : {"emit_stablehlo_10k", "print_stablehlo_10k"})
    time_it(work, "ms", [&] { bytes += rondo::to_stablehlo_text(program).size(); });
}

}  // namespace anchors
