// Lesson 9: the n-body problem of the Computer Language Benchmarks Game: the Sun and four planets,
// 1000 steps of 0.01.
#include <cstdio>
#include <numbers>
#include <vector>

#include "rondo/rondo.h"

using rondo::Tensor;

struct Bodies {
  Tensor position, velocity;  // f64[5,3]; astronomical units, and those per year / (2 pi)
};

int main() {
  const double pi = std::numbers::pi, year = 365.24, solar = 4 * pi * pi;
  const std::vector<double> masses{solar, 9.54791938424326609e-04 * solar,
                                   2.85885980666130812e-04 * solar, 4.36624404335156298e-05 * solar,
                                   5.15138902046611451e-05 * solar};
  const std::vector<double> positions{0,
                                      0,
                                      0,
                                      4.84143144246472090,
                                      -1.16032004402742839,
                                      -0.103622044471123109,
                                      8.34336671824457987,
                                      4.12479856412430479,
                                      -0.403523417114321381,
                                      12.8943695621391310,
                                      -15.1111514016986312,
                                      -0.223307578892655734,
                                      15.3796971148509165,
                                      -25.9193146099879641,
                                      0.179258772950371181};
  std::vector<double> velocities{0,
                                 0,
                                 0,
                                 0.00166007664274403694,
                                 0.00769901118419740425,
                                 -0.0000690460016972063023,
                                 -0.00276742510726411510,
                                 0.00499852801234917238,
                                 0.0000230417297573763929,
                                 0.00296460137564761618,
                                 0.00237847173959480950,
                                 -0.0000296589568540237556,
                                 0.00268067772490389322,
                                 0.00162824170038242295,
                                 -0.0000951592254519715870};
  for (double& v : velocities) v *= year;
  // The Sun moves so that the total momentum is zero.
  for (std::size_t k = 0; k < 3; k++) {
    double momentum = 0;
    for (std::size_t b = 1; b < 5; b++) momentum += velocities[3 * b + k] * masses[b];
    velocities[k] = -momentum / solar;
  }

  const Tensor mass = rondo::constant(masses, {5});
  // All differences of positions: f64[5,5,3].
  auto differences = [](Tensor position) {
    return expand_dims(position, 1) - expand_dims(position, 0);
  };

  auto advance = [&](Bodies b) {
    const Tensor d = differences(b.position);
    // The diagonal, a body with itself, is set to 1 before the division; its difference is zero
    // anyway.
    const Tensor squared = sum(d * d, {2}) + rondo::eye(5, rondo::DType::kF64);
    const Tensor pull = expand_dims(mass, 0) * (0.01 / (squared * sqrt(squared)));
    const Tensor velocity = b.velocity - sum(d * expand_dims(pull, 2), {1});
    return Bodies{b.position + 0.01 * velocity, velocity};
  };
  auto energy = [&](Bodies b) {
    const Tensor d = differences(b.position);
    const Tensor distance = sqrt(sum(d * d, {2}) + rondo::eye(5, rondo::DType::kF64));
    const Tensor pairs = expand_dims(mass, 0) * expand_dims(mass, 1) *
                         (1.0 - rondo::eye(5, rondo::DType::kF64)) / distance;
    return 0.5 * sum(mass * sum(b.velocity * b.velocity, {1})) - 0.5 * sum(pairs);
  };

  auto simulate = rondo::jit([&](Bodies start) {
    const Bodies end = rondo::fori_loop(
        0, 1000, [&](Tensor, Bodies b) { return advance(b); }, start);
    return std::pair(energy(start), energy(end));
  });
  auto [before, after] =
      simulate(Bodies{rondo::constant(positions, {5, 3}), rondo::constant(velocities, {5, 3})});
  std::printf("energy at the start:   %.9f (the benchmark demands -0.169075164)\n",
              before.item<double>());
  std::printf("after 1000 steps:      %.9f (the benchmark demands -0.169087605)\n",
              after.item<double>());
}
