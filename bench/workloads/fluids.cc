// Fluids and chemicals on grids: several fields for each cell.
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> fluid_workloads();  // a part of stencil_workloads

namespace {

// The directions of the lattice D2Q9, with their weights and opposites.
constexpr int kDown[9] = {0, 0, 1, 0, -1, 1, 1, -1, -1},
              kAcross[9] = {0, 1, 0, -1, 0, 1, -1, -1, 1};
constexpr float kShare[9] = {4.0f / 9,  1.0f / 9,  1.0f / 9,  1.0f / 9, 1.0f / 9,
                             1.0f / 36, 1.0f / 36, 1.0f / 36, 1.0f / 36};

/// A fluid on a torus by the lattice Boltzmann method: densities in nine directions collide
/// (towards equilibrium) and move on by one cell.
Workload lattice_boltzmann() {
  constexpr std::int64_t kSize = 64, kSteps = 10;
  constexpr float kRelaxation = 0.8f;
  const auto program = [&](Tensor start) {
    const auto step = [&](Tensor, Tensor f) {
      Tensor density = f[0], momentum_down = zeros(f32({kSize, kSize})),
             momentum_across = momentum_down;
      for (std::ptrdiff_t d = 1; d < 9; d++) {
        density += f[d];
        if (kDown[d] != 0) momentum_down += float(kDown[d]) * f[d];
        if (kAcross[d] != 0) momentum_across += float(kAcross[d]) * f[d];
      }
      const Tensor v = momentum_down / density, u = momentum_across / density;
      const Tensor energy = 1.5f * (u * u + v * v);
      std::vector<Tensor> next;
      for (std::ptrdiff_t d = 0; d < 9; d++) {
        const Tensor along = 3 * (float(kDown[d]) * v + float(kAcross[d]) * u);
        const Tensor balance = kShare[d] * density * (1 + along + 0.5f * along * along - energy);
        const Tensor after = f[d] + kRelaxation * (balance - f[d]);
        next.push_back(roll(roll(after, kDown[d], 0), kAcross[d], 1));
      }
      return rondo::stack(next, 0);
    };
    return fori_loop(0, kSteps, step, start);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    constexpr std::ptrdiff_t kCells = kSize * kSize, kN = kSize;
    const auto start = arguments[0].data<float>();
    static std::vector<float> now(9 * kCells), after(9 * kCells);
    std::copy(start.begin(), start.end(), now.begin());
    for (std::ptrdiff_t step = 0; step < kSteps; step++) {
      for (std::ptrdiff_t i = 0; i < kN; i++) {
        const float* f = now.data() + i * kN;
        float* next[9];
        for (std::ptrdiff_t d = 0; d < 9; d++)
          next[d] = after.data() + d * kCells + (i + kDown[d] + kN) % kN * kN;
        for (std::ptrdiff_t j = 0; j < kN; j++) {
          float density = 0, v = 0, u = 0;
          for (std::ptrdiff_t d = 0; d < 9; d++) {
            const float part = f[d * kCells + j];
            density += part;
            v += float(kDown[d]) * part;
            u += float(kAcross[d]) * part;
          }
          v /= density;
          u /= density;
          const float energy = 1.5f * (u * u + v * v);
          for (std::ptrdiff_t d = 0; d < 9; d++) {
            const float part = f[d * kCells + j];
            const float along = 3 * (float(kDown[d]) * v + float(kAcross[d]) * u);
            const float balance = kShare[d] * density * (1 + along + 0.5f * along * along - energy);
            next[d][(j + kAcross[d] + kN) % kN] = part + kRelaxation * (balance - part);
          }
        }
      }
      std::swap(now, after);
    }
    return {Literal::from(now, {9, kSize, kSize})};
  };
  return {.name = "stencils/lattice_boltzmann",
          .program = trace(program, f32({9, kSize, kSize})),
          .arguments = {uniform_floats({9, kSize, kSize}, 0.05, 0.15)},
          .plain = plain};
}

/// Two chemicals that diffuse and react (Gray and Scott).
Workload gray_scott() {
  constexpr std::int64_t kSize = 96, kSteps = 30;
  constexpr float kFeed = 0.037f, kKill = 0.06f;
  const auto program = [&](Tensor u, Tensor v) {
    const auto spread = [](Tensor x) {
      return roll(x, 1, 0) + roll(x, -1, 0) + roll(x, 1, 1) + roll(x, -1, 1) - 4 * x;
    };
    const auto step = [&](Tensor, Tensor a, Tensor b) {
      const Tensor reaction = a * b * b;
      return std::tuple(a + 0.2f * spread(a) - reaction + kFeed * (1 - a),
                        b + 0.1f * spread(b) + reaction - (kFeed + kKill) * b);
    };
    return fori_loop(0, kSteps, step, std::tuple(u, v));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    constexpr std::ptrdiff_t kN = kSize, kCells = kN * kN;
    const auto u = arguments[0].data<float>(), v = arguments[1].data<float>();
    static std::vector<float> a(kCells), b(kCells), next_a(kCells), next_b(kCells);
    std::copy(u.begin(), u.end(), a.begin());
    std::copy(v.begin(), v.end(), b.begin());
    for (std::ptrdiff_t step = 0; step < kSteps; step++) {
      for (std::ptrdiff_t i = 0; i < kN; i++) {
        const std::ptrdiff_t here = i * kN, up = (i + kN - 1) % kN * kN, down = (i + 1) % kN * kN;
        const float *pa = a.data(), *pb = b.data();
        float *qa = next_a.data() + here, *qb = next_b.data() + here;
        const auto advance = [&](std::ptrdiff_t j, std::ptrdiff_t left, std::ptrdiff_t right) {
          const float x = pa[here + j], y = pb[here + j], reaction = x * y * y;
          const float spread_a =
              pa[up + j] + pa[down + j] + pa[here + left] + pa[here + right] - 4 * x;
          const float spread_b =
              pb[up + j] + pb[down + j] + pb[here + left] + pb[here + right] - 4 * y;
          qa[j] = x + 0.2f * spread_a - reaction + kFeed * (1 - x);
          qb[j] = y + 0.1f * spread_b + reaction - (kFeed + kKill) * y;
        };
        advance(0, kN - 1, 1);
        for (std::ptrdiff_t j = 1; j < kN - 1; j++) advance(j, j - 1, j + 1);
        advance(kN - 1, kN - 2, 0);
      }
      std::swap(a, next_a);
      std::swap(b, next_b);
    }
    return {Literal::from(a, {kSize, kSize}), Literal::from(b, {kSize, kSize})};
  };
  return {.name = "stencils/gray_scott",
          .program = trace(program, f32({kSize, kSize}), f32({kSize, kSize})),
          .arguments = {uniform_floats({kSize, kSize}, 0.4, 0.6),
                        uniform_floats({kSize, kSize}, 0.2, 0.3, 2)},
          .plain = plain};
}

/// Waves in a canal of shallow water between walls: heights and flows, by Lax and Friedrichs.
Workload shallow_water() {
  constexpr std::int64_t kCells = 1024, kSteps = 200;
  constexpr double kRatio = 0.1, kGravity = 9.81;  // of time step and cell
  const auto program = [&](Tensor start) {
    const auto step = [&](Tensor, Tensor height, Tensor flow) {
      const auto with_ends = [](Tensor x, double sign) {
        return concatenate(0, sign * slice(x, range({}, 1)), x, sign * slice(x, range(-1)));
      };
      const Tensor h = with_ends(height, 1), q = with_ends(flow, -1);
      const Tensor pressure = q * q / h + 0.5 * kGravity * h * h;
      const auto advance = [&](Tensor x, Tensor flux) {
        return 0.5 * (slice(x, range({}, -2)) + slice(x, range(2))) -
               0.5 * kRatio * (slice(flux, range(2)) - slice(flux, range({}, -2)));
      };
      return std::tuple(advance(h, q), advance(q, pressure));
    };
    return fori_loop(0, kSteps, step, std::tuple(start, zeros(start.type())));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto start = arguments[0].data<double>();
    static double h[kCells + 2], q[kCells + 2], pressure[kCells + 2], next_h[kCells],
        next_q[kCells];
    std::copy(start.begin(), start.end(), h + 1);
    std::fill_n(q, kCells + 2, 0.0);
    for (std::ptrdiff_t step = 0; step < kSteps; step++) {
      h[0] = h[1], h[kCells + 1] = h[kCells];
      q[0] = -q[1], q[kCells + 1] = -q[kCells];
      for (std::ptrdiff_t i = 0; i < kCells + 2; i++)
        pressure[i] = q[i] * q[i] / h[i] + 0.5 * kGravity * h[i] * h[i];
      for (std::ptrdiff_t i = 0; i < kCells; i++) {
        next_h[i] = 0.5 * (h[i] + h[i + 2]) - 0.5 * kRatio * (q[i + 2] - q[i]);
        next_q[i] = 0.5 * (q[i] + q[i + 2]) - 0.5 * kRatio * (pressure[i + 2] - pressure[i]);
      }
      std::copy_n(next_h, kCells, h + 1);
      std::copy_n(next_q, kCells, q + 1);
    }
    return {Literal::from(std::span<const double>(h + 1, kCells), {kCells}),
            Literal::from(std::span<const double>(q + 1, kCells), {kCells})};
  };
  return {.name = "stencils/shallow_water",
          .program = trace(program, f64({kCells})),
          .arguments = {uniform_doubles({kCells}, 1, 2)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> fluid_workloads() {
  return {lattice_boltzmann(), gray_scott(), shallow_water()};
}

}  // namespace rondo::bench
