// Programs as C: compiled by gcc, and by clang where there is one, with all warnings as errors, and
// compared bit for bit with the reference.
#include <gtest/gtest.h>

#include <numeric>

#include "rondo/rondo.h"
#include "support/compare.h"
#include "support/program.h"
#include "support/run_c.h"

namespace rondo::testing {
namespace {

std::vector<Literal> reference(const Function& function, const std::vector<Literal>& arguments) {
  return compile(function, {.optimize = false, .contract = false}).run(arguments);
}

void expect_same_in_c(const Function& function, const std::vector<Literal>& arguments,
                      const COptions& options = {}) {
  const std::vector<Literal> want = reference(function, arguments),
                             got = run_c(function, arguments, options);
  for (std::size_t i = 0; i < want.size(); i++)
    EXPECT_EQ(difference(got[i], want[i], kExactly), "") << "result " << i << function.str();
}

struct House {
  Tensor slab, water, tank;
};

Tensor heating_loss(House house) {
  const House end = fori_loop(0, 20,
                              [](const Tensor&, House h) {
                                const Tensor power = (h.tank - h.water) * 0.63f * 41.84f;
                                const Tensor flow = (h.water - h.slab) * 0.5f;
                                return House{h.slab + flow * 0.1f, h.water + (power - flow) * 0.01f,
                                             h.tank - power * 0.001f};
                              },
                              house, {.name = "heating"});
  const Tensor off = end.slab - 27.3f;
  return off * off;
}

House types() { return {zeros(f32({})), zeros(f32({})), zeros(f32({}))}; }

TEST_F(InC, LoopsAndTheirGradientsHaveTheBitsOfTheReference) {
  const std::vector<Literal> at{Literal::scalar(20.0f), Literal::scalar(20.0f),
                                Literal::scalar(70.0f)};
  expect_same_in_c(trace(heating_loss, types()), at);
  expect_same_in_c(trace(value_and_grad(heating_loss), types()), at);
}

TEST_F(InC, RandomProgramsHaveTheBitsOfTheReference) {
  std::vector<std::uint64_t> seeds(24);
  std::iota(seeds.begin(), seeds.end(), std::uint64_t{0});
  // Once with comparisons that are known, or with indices in 64 bits where 32 are enough.
  seeds.insert(seeds.end(), {270, 407, 566, 820});
  for (const std::uint64_t seed : seeds) {
    ProgramSize size = seed % 2 == 0 ? ProgramSize{} : kDangers;
    size.taps = false;
    const Program program = Program::random(seed, size);
    SCOPED_TRACE(seed);
    expect_same_in_c(program.traced(), program.arguments(seed));
  }
}

}  // namespace
}  // namespace rondo::testing
