// Many individuals, spins and molecules, some with random numbers.
#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> population_workloads();  // a part of simulation_workloads

namespace {

/// Threefry-2x32 with 20 rounds, of which rondo::random makes its numbers.
std::array<std::uint32_t, 2> threefry_block(std::uint32_t k0, std::uint32_t k1, std::uint32_t x0,
                                            std::uint32_t x1) {
  constexpr int kRotations[2][4] = {{13, 15, 26, 6}, {17, 29, 16, 24}};
  const std::uint32_t keys[3] = {k0, k1, k0 ^ k1 ^ 0x1bd11bdau};
  x0 += keys[0];
  x1 += keys[1];
  for (unsigned round = 0; round < 5; round++) {
    for (const int rotation : kRotations[round % 2]) {
      x0 += x1;
      x1 = std::rotl(x1, rotation) ^ x0;
    }
    x0 += keys[(round + 1) % 3];
    x1 += keys[(round + 2) % 3] + round + 1;
  }
  return {x0, x1};
}

/// Number i of random::uniform(key, f32({n})).
float uniform_draw(const std::array<std::uint32_t, 2>& key, std::uint32_t i) {
  const auto block = threefry_block(key[0], key[1], 0, i);
  return std::bit_cast<float>((block[0] ^ block[1]) >> 9 | 0x3f800000u) - 1.0f;
}

/// An epidemic on a ring: neighbours infect each other at random, and recover at random.
Workload epidemic() {
  constexpr std::int64_t kPeople = 2048, kDays = 40;
  enum : std::int32_t { kHealthy, kIll, kImmune };
  const auto program = [&](Tensor start, Tensor key) {
    const auto day = [&](Tensor people, Tensor number) {
      const Tensor chance = random::uniform(random::fold_in(key, number), f32({kPeople}));
      const Tensor ill = people == int(kIll);
      const Tensor count = convert(ill, DType::kF32);
      const Tensor contacts =
          roll(count, 1, 0) + roll(count, -1, 0) + roll(count, 2, 0) + roll(count, -2, 0);
      const Tensor infected = (people == int(kHealthy)) & (chance < 1 - pow(0.7f, contacts));
      const Tensor recovered = ill & (chance < 0.2f);
      const Tensor next = where(infected, int(kIll), where(recovered, int(kImmune), people));
      return std::pair(next, sum(next == int(kIll)));
    };
    return scan(day, start, arange(kDays));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto key = arguments[1].data<std::uint32_t>();
    Literal people = arguments[0], counts = Literal::uninitialized(s32({kDays}));
    const auto state = people.mutable_data<std::int32_t>();
    const auto ill = counts.mutable_data<std::int32_t>();
    float healthy_days[5];
    for (int contacts = 0; contacts < 5; contacts++)
      healthy_days[contacts] = 1 - std::pow(0.7f, static_cast<float>(contacts));
    static std::vector<std::int32_t> before(kPeople);
    for (std::uint32_t day = 0; day < kDays; day++) {
      std::copy(state.begin(), state.end(), before.begin());
      const auto today = threefry_block(key[0], key[1], 0, day);
      std::int32_t count = 0;
      for (std::size_t i = 0; i < kPeople; i++) {
        const float chance = uniform_draw(today, static_cast<std::uint32_t>(i));
        const auto is_ill = [&](std::size_t j) { return before[j % kPeople] == kIll; };
        if (before[i] == kHealthy) {
          const int contacts =
              is_ill(i + 1) + is_ill(i + 2) + is_ill(i + kPeople - 1) + is_ill(i + kPeople - 2);
          if (chance < healthy_days[contacts]) state[i] = kIll;
        } else if (before[i] == kIll && chance < 0.2f) {
          state[i] = kImmune;
        }
        count += state[i] == kIll;
      }
      ill[day] = count;
    }
    return {people, counts};
  };
  Literal start = Literal::zeros(s32({kPeople}));
  for (std::size_t i = 0; i < kPeople; i += 256) start.mutable_data<std::int32_t>()[i] = kIll;
  return {.name = "simulations/epidemic",
          .program = trace(program, start.type(), u32({2})),
          .arguments = {start, Literal::from({0u, 7u}, {2})},
          .plain = plain};
}

/// Spins that prefer to be as their neighbours: sweeps over the colours of a chessboard, with the
/// probabilities of Glauber.
Workload ising() {
  constexpr std::int64_t kSize = 64, kSweeps = 10;
  constexpr float kCoupling = 0.4f;
  const auto program = [&](Tensor start, Tensor key) {
    const TensorType type = s32({kSize, kSize});
    const Tensor parity = (iota(type, 0) + iota(type, 1)) % 2;
    const auto half_sweep = [&](Tensor k, Tensor spins) {
      const Tensor chance = random::uniform(random::fold_in(key, k), f32({kSize, kSize}));
      const Tensor field =
          roll(spins, 1, 0) + roll(spins, -1, 0) + roll(spins, 1, 1) + roll(spins, -1, 1);
      const Tensor up = chance < logistic(2 * kCoupling * field);
      return where(parity == k % 2, where(up, 1.0f, -1.0f), spins);
    };
    const Tensor spins = fori_loop(0, 2 * kSweeps, half_sweep, start);
    return std::pair(spins, mean(spins));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto key = arguments[1].data<std::uint32_t>();
    Literal result = arguments[0];
    float* spins = result.mutable_data<float>().data();
    float chances[9];  // by the sum of the neighbours, plus 4
    for (int sum = -4; sum <= 4; sum++)
      chances[sum + 4] = 1 / (1 + std::exp(-2 * kCoupling * static_cast<float>(sum)));
    for (int k = 0; k < 2 * kSweeps; k++) {
      const auto now = threefry_block(key[0], key[1], 0, static_cast<std::uint32_t>(k));
      for (int i = 0; i < kSize; i++) {
        const float *above = spins + (i + kSize - 1) % kSize * kSize,
                    *below = spins + (i + 1) % kSize * kSize;
        float* row = spins + i * kSize;
        for (int j = (i + k) % 2; j < kSize; j += 2) {
          const float field =
              above[j] + below[j] + row[(j + kSize - 1) % kSize] + row[(j + 1) % kSize];
          const float chance = uniform_draw(now, static_cast<std::uint32_t>(i * kSize + j));
          row[j] = chance < chances[static_cast<int>(field) + 4] ? 1.0f : -1.0f;
        }
      }
    }
    float sum = 0;
    for (int i = 0; i < kSize * kSize; i++) sum += spins[i];
    return {result, Literal::scalar(sum / (kSize * kSize))};
  };
  Literal start = Literal::zeros(f32({kSize, kSize}));
  const Literal numbers = uniform_integers({kSize, kSize}, 0, 2);
  const auto spins = start.mutable_data<float>();
  for (std::size_t i = 0; i < spins.size(); i++)
    spins[i] = numbers.data<std::int32_t>()[i] == 0 ? -1.0f : 1.0f;
  return {.name = "simulations/ising",
          .program = trace(program, start.type(), u32({2})),
          .arguments = {start, Literal::from({0u, 3u}, {2})},
          .plain = plain};
}

/// Molecules in a periodic box with Lennard-Jones forces up to a cutoff, by velocity Verlet.
Workload molecules() {
  constexpr std::int64_t kMolecules = 108, kSteps = 10;
  constexpr double kBox = 6, kStep = 0.002, kCutoff = 2.5;
  const auto program = [&](Tensor start) {
    const auto forces = [&](Tensor x) {
      const Tensor off = expand_dims(x, 1) - expand_dims(x, 0);
      const Tensor nearest = off - kBox * round(off / kBox);
      const Tensor square = sum(nearest * nearest, 2);
      const Tensor near = (square < kCutoff * kCutoff) & (square > 0);
      const Tensor inverse = 1 / where(near, square, 1), sixth = inverse * inverse * inverse;
      const Tensor pull = where(near, 24 * inverse * sixth * (2 * sixth - 1), 0);
      return sum(expand_dims(pull, 2) * nearest, 1);
    };
    const auto step = [&](Tensor, Tensor x, Tensor v, Tensor force) {
      const Tensor half = v + 0.5 * kStep * force, moved = x + kStep * half;
      const Tensor next = forces(moved);
      return std::tuple(moved - kBox * floor(moved / kBox), half + 0.5 * kStep * next, next);
    };
    const auto [x, v, force] =
        fori_loop(0, kSteps, step, std::tuple(start, zeros(start.type()), forces(start)));
    return std::tuple(x, v, 0.5 * sum(v * v));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    constexpr int kNumbers = 3 * kMolecules;
    Literal positions = arguments[0], velocities = Literal::zeros(f64({kMolecules, 3}));
    double* x = positions.mutable_data<double>().data();
    double* v = velocities.mutable_data<double>().data();
    double force[kNumbers];
    const auto compute_forces = [&] {
      std::fill_n(force, kNumbers, 0.0);
      for (int i = 0; i < kMolecules; i++) {
        for (int j = i + 1; j < kMolecules; j++) {
          double off[3], square = 0;
          for (int k = 0; k < 3; k++) {
            off[k] = x[3 * i + k] - x[3 * j + k];
            off[k] -= kBox * std::nearbyint(off[k] / kBox);
            square += off[k] * off[k];
          }
          if (square >= kCutoff * kCutoff) continue;
          const double inverse = 1 / square, sixth = inverse * inverse * inverse;
          const double pull = 24 * inverse * sixth * (2 * sixth - 1);
          for (int k = 0; k < 3; k++) {
            force[3 * i + k] += pull * off[k];
            force[3 * j + k] -= pull * off[k];
          }
        }
      }
    };
    compute_forces();
    for (int step = 0; step < kSteps; step++) {
      for (int i = 0; i < kNumbers; i++) {
        v[i] += 0.5 * kStep * force[i];
        x[i] += kStep * v[i];
        x[i] -= kBox * std::floor(x[i] / kBox);
      }
      compute_forces();
      for (int i = 0; i < kNumbers; i++) v[i] += 0.5 * kStep * force[i];
    }
    double energy = 0;
    for (int i = 0; i < kNumbers; i++) energy += 0.5 * v[i] * v[i];
    return {positions, velocities, Literal::scalar(energy)};
  };
  // Near the places of a lattice.
  Literal start = uniform_doubles({kMolecules, 3}, -0.1, 0.1);
  const auto x = start.mutable_data<double>();
  for (std::size_t i = 0; i < kMolecules; i++) {
    x[3 * i] += 0.6 + 1.2 * static_cast<double>(i % 5);
    x[3 * i + 1] += 0.6 + 1.2 * static_cast<double>(i / 5 % 5);
    x[3 * i + 2] += 0.6 + 1.2 * static_cast<double>(i / 25);
  }
  return {.name = "simulations/molecules",
          .program = trace(program, start.type()),
          .arguments = {start},
          .plain = plain};
}

}  // namespace

std::vector<Workload> population_workloads() { return {epidemic(), ising(), molecules()}; }

}  // namespace rondo::bench
