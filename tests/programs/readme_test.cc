// README.md shows the output of its program: its loop in HLO, and the numbers in its comments.
#include <gtest/gtest.h>

#include <cmath>
#include <fstream>
#include <iterator>
#include <string>

#include "rondo/rondo.h"

namespace rondo {
namespace {

struct House {
  Tensor step, slab, tank;
};

Tensor simulate(Tensor tank0) {
  House end =
      while_loop([](House h) { return h.step < 20; },
                 [](House h) {
                   return House{h.step + 1, h.slab + 0.1 * (h.tank - h.slab), h.tank * 0.99};
                 },
                 House{0, 20.0f, tank0});
  return end.slab;
}

Tensor trips(Tensor x) {
  return while_loop([](Tensor sum) { return sum < 10; }, [&](Tensor sum) { return sum + x; }, 0.0f);
}

std::string readme() {
  std::ifstream file(RONDO_SOURCE_DIR "/README.md");
  return {std::istreambuf_iterator<char>(file), {}};
}

/// The number in the comment of the line that holds `code`.
double shown(const std::string& code) {
  const std::string text = readme();
  const std::size_t line = text.find(code);
  EXPECT_NE(line, std::string::npos) << code;
  return std::stod(text.substr(text.find("// ", line) + 3));
}

TEST(Readme, ShowsTheLoopAsHlo) {
  const std::string text = readme();
  const std::size_t begin = text.find("while_body {");
  ASSERT_NE(begin, std::string::npos);
  const std::string body = text.substr(begin, text.find("\n}\n", begin) + 3 - begin);
  const std::string hlo = to_hlo_text(trace(simulate, f32()));
  EXPECT_NE(hlo.find(body), std::string::npos) << hlo << "\nREADME.md has\n" << body;
}

TEST(Readme, ShowsTheNumbers) {
  float slab = 20, tank = 70;
  for (int step = 0; step < 20; step++) {
    slab += 0.1f * (tank - slab);
    tank *= 0.99f;
  }
  EXPECT_NEAR(shown("jit(simulate)(70.0f)"), slab, 1e-4);
  EXPECT_NEAR(jit(simulate)(70.0f).item<float>(), slab, 1e-4);
  EXPECT_NEAR(shown("on_xla(70.0f)"), slab, 1e-4);
  // The slab for a tank that starts 1 warmer.
  double follows = 0;
  for (int step = 0; step < 20; step++) follows += 0.1 * (std::pow(0.99, step) - follows);
  EXPECT_NEAR(shown("grad(simulate))"), follows, 1e-4);
  EXPECT_NEAR(jit(grad(simulate))(70.0f).item<float>(), follows, 1e-4);
  EXPECT_EQ(shown("grad(trips))"), 20);
  EXPECT_EQ(jit(grad(trips))(0.5f).item<float>(), 20);
}

}  // namespace
}  // namespace rondo
