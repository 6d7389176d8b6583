// A program that traces, differentiates and prints, with rondo::core alone.
#include <rondo/rondo.h>

#include <cmath>
#include <iostream>
#include <string>

using rondo::Tensor;

int main() {
  auto decay = [](Tensor x) {
    return rondo::fori_loop(
        0, 10, [](Tensor, Tensor y) { return 0.5 * y; }, x);
  };
  const rondo::Function slope = rondo::trace(rondo::grad(decay), rondo::f32());
  const bool is_text = rondo::to_stablehlo_text(slope).find("stablehlo.while") != std::string::npos;
  const rondo::Executable reference = rondo::compile(slope);
  const auto value = reference.run({rondo::Literal::scalar(1.0f)}).front().item<float>();
  std::string refused;
  try {
    static_cast<void>(rondo::compile(slope, {.executor = rondo::Executor::kCompiled}));
  } catch (const rondo::ExecutionError& error) {
    refused = error.what();
  }
  const bool fine = is_text && std::abs(value - std::ldexp(1.0f, -10)) < 1e-9f &&
                    refused.find("Link rondo::compiler") != std::string::npos;
  std::cout << value << (fine ? ", fine\n" : ", wrong\n") << refused << '\n';
  return fine ? 0 : 1;
}
