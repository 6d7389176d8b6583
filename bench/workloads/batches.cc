// Many runs of one loop at once: vmap.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

namespace {

/// Pendulums with friction, each with its own start and length, by Runge and Kutta's method.
Workload pendulums() {
  constexpr std::int64_t kPendulums = 256, kSteps = 200;
  constexpr float kStep = 0.01f, kGravity = 9.81f;
  const auto program = [&](Tensor angles, Tensor lengths) {
    const auto swing = [&](Tensor start, Tensor length) {
      const auto slope = [&](Tensor angle, Tensor speed) {
        return -kGravity / length * sin(angle) - 0.1f * speed;
      };
      const auto step = [&](Tensor, Tensor x, Tensor v) {
        const float h = kStep;
        const Tensor a1 = slope(x, v);
        const Tensor v2 = v + 0.5f * h * a1, a2 = slope(x + 0.5f * h * v, v2);
        const Tensor v3 = v + 0.5f * h * a2, a3 = slope(x + 0.5f * h * v2, v3);
        const Tensor v4 = v + h * a3, a4 = slope(x + h * v3, v4);
        return std::tuple(x + h / 6 * (v + 2 * (v2 + v3) + v4),
                          v + h / 6 * (a1 + 2 * (a2 + a3) + a4));
      };
      return fori_loop(0, kSteps, step, std::tuple(start, 0.0f));
    };
    return vmap(swing)(angles, lengths);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto lengths = arguments[1].data<float>();
    Literal angles = arguments[0], speeds = Literal::uninitialized(f32({kPendulums}));
    const auto angle = angles.mutable_data<float>(), speed = speeds.mutable_data<float>();
    for (std::size_t i = 0; i < kPendulums; i++) {
      const float rate = -kGravity / lengths[i], h = kStep;
      const auto slope = [&](float x, float v) { return rate * std::sin(x) - 0.1f * v; };
      float x = angle[i], v = 0;
      for (int step = 0; step < kSteps; step++) {
        const float a1 = slope(x, v);
        const float v2 = v + 0.5f * h * a1, a2 = slope(x + 0.5f * h * v, v2);
        const float v3 = v + 0.5f * h * a2, a3 = slope(x + 0.5f * h * v2, v3);
        const float v4 = v + h * a3, a4 = slope(x + h * v3, v4);
        x += h / 6 * (v + 2 * (v2 + v3) + v4);
        v += h / 6 * (a1 + 2 * (a2 + a3) + a4);
      }
      angle[i] = x;
      speed[i] = v;
    }
    return {angles, speeds};
  };
  return {
      .name = "batches/pendulums",
      .program = trace(program, f32({kPendulums}), f32({kPendulums})),
      .arguments = {uniform_floats({kPendulums}, -2, 2), uniform_floats({kPendulums}, 0.5, 2, 2)},
      .plain = plain};
}

/// The payoffs of an option on the mean price with a barrier, for many paths of given noise.
Workload option_paths() {
  constexpr std::int64_t kPaths = 1000, kSteps = 64;
  constexpr float kDrift = 0.0002f, kVolatility = 0.02f, kBarrier = 130, kStrike = 100;
  const auto program = [&](Tensor noise) {
    const auto payoff = [&](Tensor moves) {
      const auto step = [&](std::tuple<Tensor, Tensor, Tensor> state, Tensor move) {
        const auto [price, total, alive] = state;
        const Tensor next = price * exp(kDrift + kVolatility * move);
        return std::pair(std::tuple(next, total + next, alive & (next < kBarrier)), std::tuple<>());
      };
      const auto [price, total, alive] = scan(step, std::tuple(100.0f, 0.0f, true), moves).first;
      return where(alive, maximum(total / float(kSteps) - kStrike, 0), 0);
    };
    const Tensor payoffs = vmap(payoff)(noise);
    return std::pair(payoffs, mean(payoffs));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* noise = arguments[0].data<float>().data();
    Literal result = Literal::uninitialized(f32({kPaths}));
    float* payoffs = result.mutable_data<float>().data();
    double sum = 0;
    for (int path = 0; path < kPaths; path++) {
      float price = 100, total = 0;
      bool alive = true;
      for (int step = 0; step < kSteps && alive; step++) {
        price *= std::exp(kDrift + kVolatility * noise[path * kSteps + step]);
        total += price;
        alive = price < kBarrier;
      }
      payoffs[path] = alive ? std::max(total / kSteps - kStrike, 0.0f) : 0;
      sum += payoffs[path];
    }
    return {result, Literal::scalar(static_cast<float>(sum / kPaths))};
  };
  return {.name = "batches/option_paths",
          .program = trace(program, f32({kPaths, kSteps})),
          .arguments = {uniform_floats({kPaths, kSteps}, -1.7, 1.7)},
          .plain = plain};
}

/// Kepler's equation for many planets, each by Newton's method until it is solved.
Workload kepler() {
  constexpr std::int64_t kPlanets = 2000;
  const auto program = [](Tensor means, Tensor eccentricities) {
    const auto anomaly = [](Tensor mean, Tensor eccentricity) {
      const auto goes_on = [](Tensor, Tensor change, Tensor trips) {
        return (abs(change) > 1e-12) & (trips < 50);
      };
      const auto newton = [&](Tensor x, Tensor, Tensor trips) {
        const Tensor change = (x - eccentricity * sin(x) - mean) / (1 - eccentricity * cos(x));
        return std::tuple(x - change, change, trips + 1);
      };
      const auto [x, change, trips] =
          while_loop(goes_on, newton, std::tuple(mean + 0.85 * eccentricity, 1.0, 0));
      return std::pair(x, trips);
    };
    return vmap(anomaly)(means, eccentricities);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto means = arguments[0].data<double>(), eccentricities = arguments[1].data<double>();
    Literal result = Literal::uninitialized(f64({kPlanets})),
            counts = Literal::uninitialized(s32({kPlanets}));
    const auto anomaly = result.mutable_data<double>();
    const auto trips = counts.mutable_data<std::int32_t>();
    for (std::size_t i = 0; i < kPlanets; i++) {
      const double mean = means[i], e = eccentricities[i];
      double x = mean + 0.85 * e, change = 1;
      std::int32_t count = 0;
      for (; std::abs(change) > 1e-12 && count < 50; count++) {
        change = (x - e * std::sin(x) - mean) / (1 - e * std::cos(x));
        x -= change;
      }
      anomaly[i] = x;
      trips[i] = count;
    }
    return {result, counts};
  };
  return {
      .name = "batches/kepler",
      .program = trace(program, f64({kPlanets}), f64({kPlanets})),
      .arguments = {uniform_doubles({kPlanets}, 0, 3.1), uniform_doubles({kPlanets}, 0, 0.95, 2)},
      .plain = plain};
}

/// Volatilities from prices of options (Black and Scholes) by bisection, to a precision of the
/// lane's own.
Workload implied_volatility() {
  constexpr std::int64_t kOptions = 512;
  const auto value = []<class T>(T volatility, T strike) {
    using std::erf, std::log;
    const T d = -log(strike) / volatility + 0.5 * volatility;
    const auto normal = [](T x) { return 0.5 * (1.0 + erf(x * 0.7071067811865476)); };
    return normal(d) - strike * normal(d - volatility);
  };
  const auto program = [&](Tensor prices, Tensor strikes, Tensor precisions) {
    const auto solve = [&](Tensor price, Tensor strike, Tensor precision) {
      const auto halve = [&](Tensor low, Tensor high) {
        const Tensor middle = 0.5 * (low + high);
        const Tensor above = value(middle, strike) > price;
        return std::tuple(where(above, low, middle), where(above, middle, high));
      };
      const auto [from, to] =
          while_loop([&](Tensor low, Tensor high) { return high - low > precision; }, halve,
                     std::tuple(0.001, 3.0));
      return 0.5 * (from + to);
    };
    return vmap(solve)(prices, strikes, precisions);
  };
  const auto plain = [=](const Literals& arguments) -> Literals {
    const auto prices = arguments[0].data<double>(), strikes = arguments[1].data<double>(),
               precisions = arguments[2].data<double>();
    Literal result = Literal::uninitialized(f64({kOptions}));
    const auto volatilities = result.mutable_data<double>();
    for (std::size_t i = 0; i < kOptions; i++) {
      double low = 0.001, high = 3;
      while (high - low > precisions[i]) {
        const double middle = 0.5 * (low + high);
        (value(middle, strikes[i]) > prices[i] ? high : low) = middle;
      }
      volatilities[i] = 0.5 * (low + high);
    }
    return {result};
  };
  const Literal strikes = uniform_doubles({kOptions}, 0.7, 1.4),
                wanted = uniform_doubles({kOptions}, 0.1, 0.8, 2),
                digits = uniform_doubles({kOptions}, 4, 10, 3);
  Literal prices = Literal::zeros(f64({kOptions})), precisions = prices;
  const auto price = prices.mutable_data<double>(), precision = precisions.mutable_data<double>();
  for (std::size_t i = 0; i < kOptions; i++) {
    price[i] = value(wanted.data<double>()[i], strikes.data<double>()[i]);
    precision[i] = std::pow(0.1, digits.data<double>()[i]);
  }
  return {.name = "batches/implied_volatility",
          .program = trace(program, f64({kOptions}), f64({kOptions}), f64({kOptions})),
          .arguments = {prices, strikes, precisions},
          .plain = plain};
}

/// Projectiles of which some are above the air, some within, and some on the ground: a branch for
/// each in every step.
Workload projectiles() {
  constexpr std::int64_t kLanes = 512, kSteps = 200;
  constexpr float kStep = 0.5f;
  const auto program = [&](Tensor heights, Tensor speeds) {
    const auto fall = [&](Tensor start, Tensor speed) {
      const auto step = [&](Tensor, Tensor height, Tensor v) {
        const auto in_air = [](Tensor h, Tensor u) {
          return -9.81f - 2e-3f * exp(-h / 8000) * u * abs(u);
        };
        const auto above = [](Tensor h, Tensor) {
          return -9.81f * square(6.371e6f / (6.371e6f + h));
        };
        const Tensor force = cond(height < 30000, in_air, above, height, v);
        const Tensor next = v + kStep * force, moved = height + kStep * next;
        return cond(
            moved <= 0, [] { return std::tuple(Tensor(0.0f), Tensor(0.0f)); },
            [&] { return std::tuple(moved, next); });
      };
      return fori_loop(0, kSteps, step, std::tuple(start, speed));
    };
    return vmap(fall)(heights, speeds);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal heights = arguments[0], speeds = arguments[1];
    const auto height = heights.mutable_data<float>(), speed = speeds.mutable_data<float>();
    for (std::size_t i = 0; i < kLanes; i++) {
      float h = height[i], v = speed[i];
      for (int step = 0; step < kSteps; step++) {
        float force = 0;
        if (h < 30000) {
          force = -9.81f - 2e-3f * std::exp(-h / 8000) * v * std::abs(v);
        } else {
          const float ratio = 6.371e6f / (6.371e6f + h);
          force = -9.81f * (ratio * ratio);
        }
        v += kStep * force;
        h += kStep * v;
        if (h <= 0) h = v = 0;
      }
      height[i] = h;
      speed[i] = v;
    }
    return {heights, speeds};
  };
  return {.name = "batches/projectiles",
          .program = trace(program, f32({kLanes}), f32({kLanes})),
          .arguments = {uniform_floats({kLanes}, 0, 60000), uniform_floats({kLanes}, -100, 500, 2)},
          .plain = plain,
          .tolerance = 1e-3};
}

}  // namespace

std::vector<Workload> small_matrix_workloads();
std::vector<Workload> lookup_workloads();

std::vector<Workload> batch_workloads() {
  std::vector<Workload> all = {pendulums(), option_paths(), kepler(), implied_volatility(),
                               projectiles()};
  for (Workload& work : small_matrix_workloads()) all.push_back(std::move(work));
  for (Workload& work : lookup_workloads()) all.push_back(std::move(work));
  return all;
}

}  // namespace rondo::bench
