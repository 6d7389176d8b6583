// States that are not seen, from what is measured: filters and hidden Markov models.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> estimation_workloads();  // a part of simulation_workloads

namespace {

/// A particle filter of the usual test problem (Gordon, Salmond and Smith, 1993), resampled in each
/// step at equal distances of the cumulated weights.
Workload particle_filter() {
  constexpr std::int64_t kParticles = 512, kSteps = 20;
  const auto program = [&](Tensor start, Tensor noise, Tensor measured, Tensor offsets) {
    const auto step = [&](Tensor particles, Tensor k, Tensor push, Tensor y, Tensor offset) {
      const Tensor moved = 0.5 * particles + 25 * particles / (1 + square(particles)) +
                           8 * cos(1.2 * convert(k, DType::kF64)) + push;
      const Tensor weights = exp(-0.5 * square(y - square(moved) / 20));
      const Tensor total = cumsum(weights, 0);
      const Tensor places =
          (arange(kParticles, DType::kF64) + offset) * (total[kParticles - 1] / kParticles);
      const Tensor estimate = sum(weights * moved) / sum(weights);
      return std::pair(take(moved, searchsorted(total, places)), estimate);
    };
    return scan(step, start, std::tuple(arange(kSteps), noise, measured, offsets));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal result = arguments[0], estimates = Literal::uninitialized(f64({kSteps}));
    const auto particles = result.mutable_data<double>(),
               estimate = estimates.mutable_data<double>();
    const auto noise = arguments[1].data<double>(), measured = arguments[2].data<double>(),
               offsets = arguments[3].data<double>();
    static std::vector<double> moved(kParticles), total(kParticles);
    for (std::size_t k = 0; k < kSteps; k++) {
      double sum = 0, weighted = 0;
      for (std::size_t i = 0; i < kParticles; i++) {
        const double x = particles[i];
        moved[i] = 0.5 * x + 25 * x / (1 + x * x) + 8 * std::cos(1.2 * static_cast<double>(k)) +
                   noise[k * kParticles + i];
        const double off = measured[k] - moved[i] * moved[i] / 20;
        const double weight = std::exp(-0.5 * off * off);
        weighted += weight * moved[i];
        total[i] = sum += weight;
      }
      estimate[k] = weighted / sum;
      std::size_t from = 0;
      for (std::size_t i = 0; i < kParticles; i++) {
        const double place = (static_cast<double>(i) + offsets[k]) * (sum / kParticles);
        while (from < kParticles - 1 && total[from] < place) from++;
        particles[i] = moved[from];
      }
    }
    return {result, estimates};
  };
  return {.name = "estimation/particle_filter",
          .program = trace(program, f64({kParticles}), f64({kSteps, kParticles}), f64({kSteps}),
                           f64({kSteps})),
          .arguments = {uniform_doubles({kParticles}, -10, 10),
                        uniform_doubles({kSteps, kParticles}, -5, 5, 2),
                        uniform_doubles({kSteps}, 0, 15, 3), uniform_doubles({kSteps}, 0, 1, 4)},
          .plain = plain};
}

/// An unscented Kalman filter of a pendulum whose height is measured.
Workload unscented_filter() {
  constexpr std::int64_t kSteps = 400, kStates = 2, kPoints = 2 * kStates + 1;
  constexpr double kStep = 0.02, kSpread = 1.0, kWeight = 1 / (2 * (kStates + kSpread));
  const auto program = [&](Tensor heights) {
    const Tensor weights = rondo::concatenate(
        {full(f64({1}), kSpread / (kStates + kSpread)), full(f64({2 * kStates}), kWeight)}, 0);
    const Tensor drift = diag(constant({1e-6, 1e-4}));
    const auto move = [&](Tensor state) {
      const Tensor speed = state[1] - kStep * 9.81 * sin(state[0]);
      return stack(0, state[0] + kStep * speed, speed);
    };
    const auto step = [&](Tensor mean, Tensor covariance, Tensor height) {
      const Tensor root = transpose(cholesky((kStates + kSpread) * covariance));
      const Tensor points =
          vmap(move)(rondo::concatenate({expand_dims(mean, 0), mean + root, mean - root}, 0));
      const Tensor expected = matmul(weights, points);
      const Tensor off = points - expected;
      const Tensor spread = matmul(transpose(off) * weights, off) + drift;
      const Tensor seen = cos(slice(points, range(), 0));
      const Tensor seen_mean = vdot(weights, seen), seen_off = seen - seen_mean;
      const Tensor variance = sum(weights * square(seen_off)) + 0.01;
      const Tensor gain = matmul(weights * seen_off, off) / variance;
      const Tensor next = expected + gain * (height - seen_mean);
      return std::pair(std::tuple(next, spread - outer(gain, gain) * variance), next);
    };
    return scan(step, std::tuple(constant({0.5, 0.0}), eye(kStates, DType::kF64)), heights).second;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto heights = arguments[0].data<double>();
    Literal result = Literal::uninitialized(f64({kSteps, kStates}));
    const auto states = result.mutable_data<double>();
    double mean[2] = {0.5, 0}, cov[3] = {1, 0, 1};  // xx, xy, yy
    double weights[kPoints];
    for (int i = 0; i < kPoints; i++) weights[i] = i == 0 ? kSpread / (kStates + kSpread) : kWeight;
    for (std::size_t k = 0; k < kSteps; k++) {
      constexpr double kScale = kStates + kSpread;
      const double a = std::sqrt(kScale * cov[0]), b = kScale * cov[1] / a,
                   c = std::sqrt(kScale * cov[2] - b * b);
      const double rows[2][2] = {{a, b}, {0, c}};
      double points[kPoints][2];
      for (int j = 0; j < 2; j++) {
        points[0][j] = mean[j];
        for (int i = 0; i < 2; i++) {
          points[1 + i][j] = mean[j] + rows[i][j];
          points[3 + i][j] = mean[j] - rows[i][j];
        }
      }
      double expected[2] = {0, 0}, seen[kPoints], seen_mean = 0;
      for (int i = 0; i < kPoints; i++) {
        points[i][1] -= kStep * 9.81 * std::sin(points[i][0]);
        points[i][0] += kStep * points[i][1];
        expected[0] += weights[i] * points[i][0];
        expected[1] += weights[i] * points[i][1];
        seen[i] = std::cos(points[i][0]);
        seen_mean += weights[i] * seen[i];
      }
      double xx = 1e-6, xy = 0, yy = 1e-4, variance = 0.01, gain[2] = {0, 0};
      for (int i = 0; i < kPoints; i++) {
        const double x = points[i][0] - expected[0], y = points[i][1] - expected[1],
                     off = seen[i] - seen_mean;
        xx += weights[i] * x * x;
        xy += weights[i] * x * y;
        yy += weights[i] * y * y;
        variance += weights[i] * off * off;
        gain[0] += weights[i] * off * x;
        gain[1] += weights[i] * off * y;
      }
      gain[0] /= variance, gain[1] /= variance;
      cov[0] = xx - gain[0] * gain[0] * variance;
      cov[1] = xy - gain[0] * gain[1] * variance;
      cov[2] = yy - gain[1] * gain[1] * variance;
      for (std::size_t j = 0; j < 2; j++)
        states[k * 2 + j] = mean[j] = expected[j] + gain[j] * (heights[k] - seen_mean);
    }
    return {result};
  };
  Literal heights = uniform_doubles({kSteps}, -0.1, 0.1);
  const auto height = heights.mutable_data<double>();
  for (std::size_t k = 0; k < kSteps; k++)
    height[k] += std::cos(0.6 * std::cos(3.1 * kStep * static_cast<double>(k)));
  return {.name = "estimation/unscented_filter",
          .program = trace(program, f64({kSteps})),
          .arguments = {heights},
          .plain = plain};
}

/// A hidden Markov model: how likely each state was at each time, forward and backward.
Workload forward_backward() {
  constexpr std::int64_t kStates = 8, kTimes = 256, kSymbols = 4;
  const auto program = [&](Tensor moves, Tensor emits, Tensor symbols) {
    const Tensor likely = take(transpose(emits), symbols);  // of each state, at each time
    const auto forward = [&](Tensor before, Tensor here) {
      const Tensor next = matmul(before, moves) * here, scaled = next / sum(next);
      return std::pair(scaled, scaled);
    };
    const Tensor first = full(f32({kStates}), 1.0f / kStates);
    const Tensor alphas = scan(forward, first, likely).second;
    const auto backward = [&](Tensor after, Tensor here) {
      const Tensor before = matmul(moves, here * after);
      return std::pair(before / sum(before), after);
    };
    const Tensor betas = scan(backward, ones(f32({kStates})), likely, {.reverse = true}).second;
    const Tensor both = alphas * betas;
    return both / sum(both, {1}, true);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *moves = arguments[0].data<float>().data(),
                *emits = arguments[1].data<float>().data();
    const auto symbols = arguments[2].data<std::int32_t>();
    Literal result = Literal::uninitialized(f32({kTimes, kStates}));
    float* both = result.mutable_data<float>().data();
    float alpha[kStates], beta[kStates], next[kStates];
    for (float& x : alpha) x = 1.0f / kStates;
    for (std::size_t t = 0; t < kTimes; t++) {
      float total = 0;
      for (int j = 0; j < kStates; j++) {
        float sum = 0;
        for (int i = 0; i < kStates; i++) sum += alpha[i] * moves[i * kStates + j];
        total += next[j] = sum * emits[j * kSymbols + symbols[t]];
      }
      for (int j = 0; j < kStates; j++)
        both[t * kStates + static_cast<std::size_t>(j)] = alpha[j] = next[j] / total;
    }
    for (float& x : beta) x = 1;
    for (std::size_t t = kTimes; t-- > 0;) {
      float* row = both + t * kStates;
      float sum = 0;
      for (int j = 0; j < kStates; j++) sum += row[j] *= beta[j];
      for (int j = 0; j < kStates; j++) row[j] /= sum;
      float total = 0;
      for (int i = 0; i < kStates; i++) {
        next[i] = 0;
        for (int j = 0; j < kStates; j++)
          next[i] += moves[i * kStates + j] * emits[j * kSymbols + symbols[t]] * beta[j];
        total += next[i];
      }
      for (int j = 0; j < kStates; j++) beta[j] = next[j] / total;
    }
    return {result};
  };
  return {
      .name = "estimation/forward_backward",
      .program = trace(program, f32({kStates, kStates}), f32({kStates, kSymbols}), s32({kTimes})),
      .arguments = {uniform_floats({kStates, kStates}, 0.02, 0.2),
                    uniform_floats({kStates, kSymbols}, 0.05, 0.5, 2),
                    uniform_integers({kTimes}, 0, kSymbols, 3)},
      .plain = plain};
}

/// The most likely path of states of such a model (Viterbi), by logarithms.
Workload viterbi() {
  constexpr std::int64_t kStates = 16, kTimes = 128, kSymbols = 4;
  const auto program = [&](Tensor moves, Tensor emits, Tensor symbols) {
    const auto forward = [&](Tensor scores, Tensor symbol) {
      const Tensor ways = expand_dims(scores, 1) + moves;
      return std::pair(rondo::max(ways, {0}) + column(emits, symbol), argmax(ways, 0));
    };
    const auto [scores, from] = scan(forward, zeros(f32({kStates})), symbols);
    const auto backward = [](Tensor state, Tensor from) {
      const Tensor before = from[state];
      return std::pair(before, before);
    };
    return std::pair(scan(backward, argmax(scores, 0), from, {.reverse = true}).second,
                     rondo::max(scores, {0}));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *moves = arguments[0].data<float>().data(),
                *emits = arguments[1].data<float>().data();
    const auto symbols = arguments[2].data<std::int32_t>();
    Literal path = Literal::uninitialized(s32({kTimes}));
    std::array<float, kStates> scores{}, next{};
    static std::vector<std::int32_t> from(kTimes * kStates);
    for (std::size_t t = 0; t < kTimes; t++) {
      for (std::size_t j = 0; j < kStates; j++) {
        float best = scores[0] + moves[j];
        std::int32_t at = 0;
        for (std::size_t i = 1; i < kStates; i++) {
          const float way = scores[i] + moves[i * kStates + j];
          if (way > best) best = way, at = static_cast<std::int32_t>(i);
        }
        next[j] = best + emits[j * kSymbols + static_cast<std::size_t>(symbols[t])];
        from[t * kStates + j] = at;
      }
      scores = next;
    }
    const auto best = std::max_element(scores.begin(), scores.end());
    auto state = static_cast<std::int32_t>(best - scores.begin());
    for (std::size_t t = kTimes; t-- > 0;)
      path.mutable_data<std::int32_t>()[t] = state =
          from[t * kStates + static_cast<std::size_t>(state)];
    return {path, Literal::scalar(*best)};
  };
  return {
      .name = "estimation/viterbi",
      .program = trace(program, f32({kStates, kStates}), f32({kStates, kSymbols}), s32({kTimes})),
      .arguments = {uniform_floats({kStates, kStates}, -5, 0),
                    uniform_floats({kStates, kSymbols}, -3, 0, 2),
                    uniform_integers({kTimes}, 0, kSymbols, 3)},
      .plain = plain};
}

}  // namespace

std::vector<Workload> estimation_workloads() {
  return {particle_filter(), unscented_filter(), forward_backward(), viterbi()};
}

}  // namespace rondo::bench
