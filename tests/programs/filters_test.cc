// Filters of time series: a particle filter with systematic resampling, the forward algorithm of a
// hidden Markov model, dynamic time warping.
#include <algorithm>
#include <cmath>
#include <limits>
#include <numbers>
#include <numeric>
#include <random>
#include <vector>

#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_close;

using Numbers = std::vector<double>;

Numbers numbers_of(const Tensor& x) {
  const Literal value = x.eval();
  return {value.data<double>().begin(), value.data<double>().end()};
}

// The level of a river: x' = 0.9 x + 0.7 w, seen as y = x + 0.5 v.
constexpr double kMemory = 0.9, kDrift = 0.7, kNoise = 0.5;

Numbers observed_level(std::size_t n) {
  std::mt19937_64 random(5);
  std::normal_distribution<double> normal;
  Numbers y;
  double x = 0;
  for (std::size_t i = 0; i < n; i++) {
    x = kMemory * x + kDrift * normal(random);
    y.push_back(x + kNoise * normal(random));
  }
  return y;
}

struct Cloud {
  Tensor particles, likelihood;
};
/// What is drawn at a step: a number for each particle, and the offset of the resampling comb.
struct Draws {
  Tensor y, drift, offset;
};

/// N. Gordon, D. Salmond, A. Smith, "Novel approach to nonlinear/non-Gaussian Bayesian state
/// estimation", 1993; resampled by a comb of equal teeth with one random offset (G. Kitagawa,
/// 1996).
std::pair<Cloud, Tensor> particle_filter(Draws draws) {
  const std::int64_t n = draws.drift.dim(1);
  const auto step = [&](Cloud c, Draws now) {
    const Tensor moved = kMemory * c.particles + kDrift * now.drift;
    const Tensor weights = -0.5 * square((now.y - moved) / kNoise) -
                           std::log(kNoise * std::sqrt(2 * std::numbers::pi));
    const Tensor teeth = (arange(n, DType::kF64) + now.offset) / static_cast<double>(n);
    const Tensor chosen = searchsorted(cumsum(softmax(weights), 0), teeth);
    return std::pair(Cloud{take(moved, chosen),
                           c.likelihood + logsumexp(weights) - std::log(static_cast<double>(n))},
                     mean(moved));
  };
  return scan(step, Cloud{zeros(f64({n})), 0.0}, draws, {.name = "filter"});
}

double plain_particle_filter(const Numbers& y, const Numbers& drift, const Numbers& offsets,
                             Numbers& particles) {
  const std::size_t n = particles.size();
  double likelihood = 0;
  for (std::size_t t = 0; t < y.size(); t++) {
    Numbers weights(n);
    for (std::size_t i = 0; i < n; i++) {
      particles[i] = kMemory * particles[i] + kDrift * drift[t * n + i];
      const double z = (y[t] - particles[i]) / kNoise;
      weights[i] = std::exp(-z * z / 2) / (kNoise * std::sqrt(2 * std::numbers::pi));
    }
    const double total = std::accumulate(weights.begin(), weights.end(), 0.0);
    likelihood += std::log(total / static_cast<double>(n));
    Numbers chosen;
    double below = weights[0] / total;
    for (std::size_t i = 0, from = 0; i < n; i++) {
      const double tooth = (static_cast<double>(i) + offsets[t]) / static_cast<double>(n);
      while (below < tooth && from + 1 < n) below += weights[++from] / total;
      chosen.push_back(particles[from]);
    }
    particles = chosen;
  }
  return likelihood;
}

double kalman_likelihood(const Numbers& y) {
  double mean = 0, variance = 0, likelihood = 0;
  for (const double seen : y) {
    mean *= kMemory;
    variance = kMemory * kMemory * variance + kDrift * kDrift;
    const double spread = variance + kNoise * kNoise, surprise = seen - mean;
    likelihood -= 0.5 * (std::log(2 * std::numbers::pi * spread) + surprise * surprise / spread);
    mean += variance / spread * surprise;
    variance *= 1 - variance / spread;
  }
  return likelihood;
}

TEST(ParticleFilter, IsThePlainOneAndNearKalmans) {
  constexpr std::int64_t kParticles = 1000, kSteps = 40;
  const Numbers y = observed_level(kSteps);
  const Tensor keys = random::split(random::key(1));
  const Tensor drift = random::normal(keys[0], f64({kSteps, kParticles})),
               offset = random::uniform(keys[1], f64({kSteps}));
  const auto [end, means] = jit(particle_filter)(Draws{constant(y, {kSteps}), drift, offset});
  Numbers particles(kParticles, 0);
  const double likelihood =
      plain_particle_filter(y, numbers_of(drift), numbers_of(offset), particles);
  EXPECT_NEAR(end.likelihood.item<double>(), likelihood, 1e-9);
  expect_close<double>(end.particles, {kParticles}, particles, 1e-12);
  EXPECT_NEAR(likelihood, kalman_likelihood(y), 1);
  EXPECT_NE(likelihood, kalman_likelihood(y));
}

// A hidden Markov model: log-probabilities of the first state, of transitions and of observations.
struct Model {
  Tensor first, transitions, emissions;
};

/// The logarithm of the probability of the observations, by the forward algorithm (L. Rabiner, "A
/// tutorial on hidden Markov models", 1989), in logarithms.
Tensor forward_algorithm(Model m, Tensor seen) {
  const Tensor by_symbol = transpose(m.emissions);
  const auto step = [&](Tensor alpha, Tensor symbol) {
    const Tensor next =
        logsumexp(expand_dims(alpha, 1) + m.transitions, {0}) + take(by_symbol, symbol);
    return std::pair(next, std::tuple<>());
  };
  const Tensor start = m.first + take(by_symbol, seen[0]);
  return logsumexp(scan(step, start, slice(seen, {1}, {seen.dim(0)})).first);
}

TEST(HiddenMarkovModel, SumsOverAllPathsAndItsGradientCountsThem) {
  constexpr int kStates = 3, kSymbols = 2;
  const std::vector<int> seen{0, 1, 1, 0, 1, 0};
  const Model m{log_softmax(constant({0.2, -0.4, 0.1})),
                log_softmax(constant({{0.5, 0.1, -1.0}, {0.0, 1.0, 0.3}, {0.7, -0.2, 0.2}})),
                log_softmax(constant({{1.0, -1.0}, {0.1, 0.4}, {-0.5, 0.9}}))};
  // Every path of states, one by one.
  const Numbers first = numbers_of(m.first), transitions = numbers_of(m.transitions),
                emissions = numbers_of(m.emissions);
  double total = 0;
  Numbers transitions_made(kStates * kStates, 0), symbols_shown(kStates * kSymbols, 0);
  int paths = 1;
  for (std::size_t i = 0; i < seen.size(); i++) paths *= kStates;
  for (int path = 0; path < paths; path++) {
    std::vector<std::size_t> states;
    for (std::size_t i = 0, rest = static_cast<std::size_t>(path); i < seen.size(); i++) {
      states.push_back(rest % kStates);
      rest /= kStates;
    }
    const auto shown = [&](std::size_t t) {
      return states[t] * kSymbols + static_cast<std::size_t>(seen[t]);
    };
    double sum = first[states[0]] + emissions[shown(0)];
    for (std::size_t t = 1; t < seen.size(); t++)
      sum += transitions[states[t - 1] * kStates + states[t]] + emissions[shown(t)];
    const double probability = std::exp(sum);
    total += probability;
    for (std::size_t t = 0; t < seen.size(); t++) symbols_shown[shown(t)] += probability;
    for (std::size_t t = 1; t < seen.size(); t++)
      transitions_made[states[t - 1] * kStates + states[t]] += probability;
  }
  for (double& count : transitions_made) count /= total;
  for (double& count : symbols_shown) count /= total;
  const Tensor observations = constant(seen, {static_cast<std::int64_t>(seen.size())});
  const auto [value, gradient] = jit(value_and_grad(forward_algorithm))(m, observations);
  EXPECT_NEAR(value.item<double>(), std::log(total), 1e-12);
  // The derivatives with respect to log-probabilities are the expected counts.
  expect_close<double>(gradient.transitions, {kStates, kStates}, transitions_made, 1e-11);
  expect_close<double>(gradient.emissions, {kStates, kSymbols}, symbols_shown, 1e-11);
}

/// The cost of the cheapest alignment: a scan over rows, in it a scan along the row. H. Sakoe, S.
/// Chiba, "Dynamic programming algorithm optimization for spoken word recognition", 1978.
Tensor warped_distance(Tensor a, Tensor b) {
  const Tensor far = 1e30;
  // Row i of the table, after a position before its first column.
  const auto row = [&](Tensor above, Tensor x) {
    const auto cell = [&](Tensor left, std::tuple<Tensor, Tensor, Tensor> at) {
      const auto& [y, diagonal, up] = at;
      const Tensor cost = abs(x - y) + minimum(minimum(left, up), diagonal);
      return std::pair(cost, cost);
    };
    const std::int64_t n = b.dim(0);
    const Tensor costs =
        scan(cell, far, std::tuple(b, slice(above, {0}, {n}), slice(above, {1}, {n + 1}))).second;
    return std::pair(concatenate({full(f64({1}), far), costs}, 0), std::tuple<>());
  };
  const Tensor before = update(full(f64({b.dim(0) + 1}), far), 0, 0.0);
  return scan(row, before, a).first[-1];
}

double plain_warped_distance(const Numbers& a, const Numbers& b) {
  std::vector<Numbers> table(a.size() + 1, Numbers(b.size() + 1, 1e30));
  table[0][0] = 0;
  for (std::size_t i = 1; i <= a.size(); i++) {
    for (std::size_t j = 1; j <= b.size(); j++) {
      table[i][j] = std::abs(a[i - 1] - b[j - 1]) +
                    std::min({table[i - 1][j], table[i][j - 1], table[i - 1][j - 1]});
    }
  }
  return table.back().back();
}

TEST(DynamicTimeWarping, IsThePlainTableAndItsGradient) {
  Numbers a, b;
  for (int i = 0; i < 17; i++) a.push_back(std::sin(0.4 * i) + 0.01 * i);
  for (int i = 0; i < 23; i++) b.push_back(std::sin(0.3 * i + 0.2));
  const auto of = [](const Numbers& x) {
    return constant(x, {static_cast<std::int64_t>(x.size())});
  };
  const auto [distance, gradient] = jit(value_and_grad(warped_distance))(of(a), of(b));
  EXPECT_NEAR(distance.item<double>(), plain_warped_distance(a, b), 1e-12);
  Numbers slopes;
  for (std::size_t i = 0; i < a.size(); i++) {
    Numbers more = a, less = a;
    more[i] += 1e-7;
    less[i] -= 1e-7;
    slopes.push_back((plain_warped_distance(more, b) - plain_warped_distance(less, b)) / 2e-7);
  }
  expect_close<double>(gradient, {17}, slopes, 0, 1e-6);
  // Many series compared with one.
  const Tensor many = stack({of(a), of(a) * 2, of(a) - 1}, 0);
  const auto distances = jit(vmap(warped_distance, {.in_axes = {0, std::nullopt}}));
  Numbers want;
  for (const auto& [scale, shift] :
       {std::pair(1.0, 0.0), std::pair(2.0, 0.0), std::pair(1.0, -1.0)}) {
    Numbers moved = a;
    for (double& x : moved) x = x * scale + shift;
    want.push_back(plain_warped_distance(moved, b));
  }
  expect_close<double>(distances(many, of(b)), {3}, want, 1e-12);
}

}  // namespace
}  // namespace rondo
