// Writes programs for microcontrollers as C. Usage: firmware_programs FOLDER
//
// NAME.c and NAME.h, whose main, without -DNAME_NO_TEST_MAIN, compares its results with those of
// this machine.
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <vector>

#include "rondo/rondo.h"

namespace {

using namespace rondo;  // NOLINT(google-build-using-namespace): an application

/// The thermal controller of examples/08: a floor, the water in its pipe, a tank.
struct House {
  Tensor slab, water, tank;
};

template <int kSteps>
Tensor heating(const House& start) {
  const House end =
      fori_loop(0, kSteps,
                [](const Tensor&, House h) {
                  const Tensor power = (h.tank - h.water) * 0.63f * 41.84f;
                  const Tensor flow = (h.water - h.slab) * 7.4f;
                  return House{h.slab + flow * 5e-6f, h.water + (power - flow) * 7e-6f,
                               h.tank - power * 3e-7f};
                },
                start, {.name = "heating"});
  const Tensor off = end.slab - 27.344767f;
  return off * off;
}

/// Position and velocity in the plane from noisy positions: one step of a Kalman filter.
struct Estimate {
  Tensor x;  // f32[4]
  Tensor p;  // f32[4,4]
};

Estimate kalman(const Estimate& before, const Tensor& measured) {
  const Tensor f =
      Literal::from<float>({1, 0, 0.1f, 0, 0, 1, 0, 0.1f, 0, 0, 1, 0, 0, 0, 0, 1}, {4, 4});
  const Tensor h = Literal::from<float>({1, 0, 0, 0, 0, 1, 0, 0}, {2, 4});
  const Tensor x = matmul(f, before.x);
  const Tensor p = matmul(matmul(f, before.p), transpose(f)) + 0.01f * eye(4, DType::kF32);
  const Tensor s = matmul(matmul(h, p), transpose(h)) + 0.25f * eye(2, DType::kF32);
  const Tensor gain = transpose(solve(s, matmul(h, p)));  // S and P are symmetric
  return {x + matmul(gain, measured - matmul(h, x)), p - matmul(gain, matmul(h, p))};
}

/// The filter over a record of 20 measurements.
Estimate track(const Tensor& measured) {
  const Estimate start{zeros(f32({4})), eye(4, DType::kF32)};
  const auto step = [](const Estimate& e, const Tensor& z) {
    const Estimate next = kalman(e, z);
    return std::pair(next, next.x);
  };
  return scan(step, start, measured, {.name = "track"}).first;
}

/// A small network: 8 inputs, two hidden layers of 16, 4 outputs.
Tensor network(const Tensor& x, const std::vector<std::pair<Tensor, Tensor>>& layers) {
  Tensor y = x;
  for (std::size_t i = 0; i < layers.size(); i++) {
    y = matmul(layers[i].first, y) + layers[i].second;
    if (i + 1 < layers.size()) y = tanh(y);
  }
  return y;
}

Literal weights(std::int64_t rows, std::int64_t columns) {
  std::vector<float> values;
  for (std::int64_t i = 0; i < rows * columns; i++)
    values.push_back(static_cast<float>((i * 29 + rows) % 31 - 15) / 40.0f);
  return Literal::from(values, {rows, columns});
}

Function trained_network() {
  const std::vector<std::pair<Literal, Literal>> layers{{weights(16, 8), weights(1, 16)},
                                                        {weights(16, 16), weights(1, 16)},
                                                        {weights(4, 16), weights(1, 4)}};
  return trace(
      [&](const Tensor& x) {
        std::vector<std::pair<Tensor, Tensor>> constants;
        for (const auto& [w, b] : layers) constants.emplace_back(w, reshape(Tensor(b), {-1}));
        return network(x, constants);
      },
      f32({8}));
}

void write(const std::filesystem::path& folder, const std::string& name, const Function& function) {
  const CSource made = to_c_source(function, {.name = name, .test_main = true});
  std::ofstream(folder / (name + ".c")) << made.source;
  std::ofstream(folder / (name + ".h")) << made.header;
  std::cout << name << ' ' << made.workspace_bytes << '\n';
}

}  // namespace

int main(int count, char** words) {
  if (count != 2) {
    std::cerr << "usage: firmware_programs FOLDER\n";
    return 2;
  }
  const House house{zeros(f32({})), zeros(f32({})), zeros(f32({}))};
  write(words[1], "heating20", trace(value_and_grad(heating<20>), house));
  write(words[1], "heating1000", trace(value_and_grad(heating<1000>), house));
  write(words[1], "kalman", trace(kalman, Estimate{zeros(f32({4})), zeros(f32({4, 4}))}, f32({2})));
  write(words[1], "track", trace(track, f32({20, 2})));
  write(words[1], "network", trained_network());
}
