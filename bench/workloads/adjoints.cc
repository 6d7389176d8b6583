// Gradients of loops beside adjoint loops as one writes them by hand.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> adjoint_workloads();  // a part of simulation_workloads

namespace {

/// A plan for a cart with a pendulum (linear), 40 steps ahead, by projected gradients.
Workload predictive_control() {
  constexpr std::int64_t kHorizon = 40, kStates = 4, kTrips = 25;
  constexpr float kRate = 0.01f, kEffort = 0.1f;
  const auto program = [&](Tensor start, Tensor a, Tensor b) {
    const auto cost = [&](Tensor plan) {
      const auto step = [&](Tensor x, Tensor sum, Tensor push) {
        const Tensor next = matmul(a, x) + b * push;
        return std::pair(std::tuple(next, sum + vdot(next, next) + kEffort * push * push),
                         std::tuple<>());
      };
      return std::get<1>(scan(step, std::tuple(start, 0.0f), plan).first);
    };
    const auto improve = [&](Tensor, Tensor plan) {
      return clamp(-1, plan - kRate * grad(cost)(plan), 1);
    };
    const Tensor plan = fori_loop(0, kTrips, improve, zeros(f32({kHorizon})));
    return std::pair(plan, cost(plan));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *start = arguments[0].data<float>().data(), *a = arguments[1].data<float>().data(),
                *b = arguments[2].data<float>().data();
    Literal result = Literal::zeros(f32({kHorizon}));
    const auto plan = result.mutable_data<float>();
    std::array<std::array<float, kStates>, kHorizon + 1> x{};
    std::copy_n(start, kStates, x[0].begin());
    const auto run = [&] {
      float sum = 0;
      for (std::size_t t = 0; t < kHorizon; t++) {
        for (std::size_t i = 0; i < kStates; i++) {
          float next = b[i] * plan[t];
          for (std::size_t j = 0; j < kStates; j++) next += a[i * kStates + j] * x[t][j];
          x[t + 1][i] = next;
          sum += next * next;
        }
        sum += kEffort * plan[t] * plan[t];
      }
      return sum;
    };
    for (int trip = 0; trip < kTrips; trip++) {
      run();
      std::array<float, kStates> bar{};
      for (std::size_t t = kHorizon; t-- > 0;) {
        float slope = 2 * kEffort * plan[t];
        std::array<float, kStates> before{};
        for (std::size_t i = 0; i < kStates; i++) {
          const float here = bar[i] + 2 * x[t + 1][i];
          slope += here * b[i];
          for (std::size_t j = 0; j < kStates; j++) before[j] += here * a[i * kStates + j];
        }
        bar = before;
        plan[t] = std::clamp(plan[t] - kRate * slope, -1.0f, 1.0f);
      }
    }
    return {result, Literal::scalar(run())};
  };
  const Literal a = Literal::from({1.0f, 0.05f, 0.0f, 0.0f, 0.0f, 0.98f, 0.04f, 0.0f, 0.0f, 0.0f,
                                   1.0f, 0.05f, 0.0f, -0.02f, 0.3f, 0.97f},
                                  {4, 4});
  return {.name = "gradients/predictive_control",
          .program = trace(program, f32({4}), f32({4, 4}), f32({4})),
          .arguments = {Literal::from({0.5f, 0.0f, 0.1f, 0.0f}, {4}), a,
                        Literal::from({0.0f, 0.05f, 0.0f, 0.04f}, {4})},
          .plain = plain};
}

/// How an error of the heat at the end depends on the conductivity of each cell.
Workload conductivities() {
  constexpr std::int64_t kCells = 128, kSteps = 100;
  const auto program = [&](Tensor conductivity, Tensor start, Tensor wanted) {
    const auto error = [&](Tensor conductivity) {
      const auto step = [&](Tensor, Tensor u) {
        const Tensor flow = conductivity * (slice(u, range(1)) - slice(u, range(0, -1)));
        return u + pad(flow, 0, {0}, {1}, {0}) - pad(flow, 0, {1}, {0}, {0});
      };
      return sum(square(fori_loop(0, kSteps, step, start) - wanted));
    };
    return value_and_grad(error)(conductivity);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *k = arguments[0].data<float>().data(), *start = arguments[1].data<float>().data(),
                *wanted = arguments[2].data<float>().data();
    static std::vector<std::array<float, kCells>> u(kSteps + 1);
    std::copy_n(start, kCells, u[0].begin());
    for (std::size_t t = 0; t < kSteps; t++) {
      u[t + 1] = u[t];
      for (std::size_t i = 0; i + 1 < kCells; i++) {
        const float flow = k[i] * (u[t][i + 1] - u[t][i]);
        u[t + 1][i] += flow;
        u[t + 1][i + 1] -= flow;
      }
    }
    Literal result = Literal::zeros(f32({kCells - 1}));
    float* slope = result.mutable_data<float>().data();
    float error = 0;
    std::array<float, kCells> bar{}, before{};
    for (std::size_t i = 0; i < kCells; i++) {
      const float off = u[kSteps][i] - wanted[i];
      error += off * off;
      bar[i] = 2 * off;
    }
    for (std::size_t t = kSteps; t-- > 0;) {
      before = bar;
      for (std::size_t i = 0; i + 1 < kCells; i++) {
        const float off = bar[i] - bar[i + 1];
        slope[i] += off * (u[t][i + 1] - u[t][i]);
        before[i + 1] += k[i] * off;
        before[i] -= k[i] * off;
      }
      bar = before;
    }
    return {Literal::scalar(error), result};
  };
  return {.name = "gradients/conductivities",
          .program = trace(program, f32({kCells - 1}), f32({kCells}), f32({kCells})),
          .arguments = {uniform_floats({kCells - 1}, 0.1, 0.4), uniform_floats({kCells}, 0, 1, 2),
                        uniform_floats({kCells}, 0.4, 0.6, 3)},
          .plain = plain};
}

/// The parameters of a damped pendulum from its measured angles: the gradient of the error.
Workload pendulum_fit() {
  constexpr std::int64_t kSteps = 1000;
  constexpr double kStep = 0.01;
  const auto program = [&](Tensor parameters, Tensor measured) {
    const auto error = [&](Tensor p) {
      const auto step = [&](std::tuple<Tensor, Tensor, Tensor> state, Tensor y) {
        const auto [angle, speed, sum] = state;
        const Tensor next = speed - kStep * (p[0] * sin(angle) + p[1] * speed);
        const Tensor moved = angle + kStep * next;
        return std::pair(std::tuple(moved, next, sum + square(moved - y)), std::tuple<>());
      };
      return std::get<2>(scan(step, std::tuple(p[2], 0.0, 0.0), measured).first);
    };
    return value_and_grad(error)(parameters);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto p = arguments[0].data<double>(), measured = arguments[1].data<double>();
    static std::vector<double> angles(kSteps + 1), speeds(kSteps + 1);
    angles[0] = p[2], speeds[0] = 0;
    double error = 0;
    for (std::size_t t = 0; t < kSteps; t++) {
      speeds[t + 1] = speeds[t] - kStep * (p[0] * std::sin(angles[t]) + p[1] * speeds[t]);
      angles[t + 1] = angles[t] + kStep * speeds[t + 1];
      const double off = angles[t + 1] - measured[t];
      error += off * off;
    }
    double angle_bar = 0, speed_bar = 0, pull = 0, damping = 0;
    for (std::size_t t = kSteps; t-- > 0;) {
      angle_bar += 2 * (angles[t + 1] - measured[t]);
      speed_bar += kStep * angle_bar;
      pull -= kStep * std::sin(angles[t]) * speed_bar;
      damping -= kStep * speeds[t] * speed_bar;
      angle_bar -= kStep * p[0] * std::cos(angles[t]) * speed_bar;
      speed_bar -= kStep * p[1] * speed_bar;
    }
    return {Literal::scalar(error), Literal::from({pull, damping, angle_bar}, {3})};
  };
  return {.name = "gradients/pendulum_fit",
          .program = trace(program, f64({3}), f64({kSteps})),
          .arguments = {Literal::from({9.0, 0.1, 1.0}, {3}), uniform_doubles({kSteps}, -1, 1)},
          .plain = plain};
}

/// How likely symbols are in a hidden Markov model, and its gradient by the probabilities of moves.
Workload likelihood() {
  constexpr std::int64_t kStates = 8, kTimes = 200, kSymbols = 4;
  const auto program = [&](Tensor moves, Tensor emits, Tensor symbols) {
    const auto logarithm = [&](Tensor moves) {
      const auto forward = [&](Tensor before, Tensor sums, Tensor symbol) {
        const Tensor next = matmul(before, moves) * emits[symbol];
        const Tensor total = sum(next);
        return std::pair(std::tuple(next / total, sums + log(total)), std::tuple<>());
      };
      const Tensor first = full(f32({kStates}), 1.0f / kStates);
      return std::get<1>(scan(forward, std::tuple(first, 0.0f), symbols).first);
    };
    return value_and_grad(logarithm)(moves);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *moves = arguments[0].data<float>().data(),
                *emits = arguments[1].data<float>().data();
    const auto symbols = arguments[2].data<std::int32_t>();
    static std::vector<std::array<float, kStates>> alphas(kTimes + 1);
    static std::vector<float> totals(kTimes);
    alphas[0].fill(1.0f / kStates);
    float sum = 0;
    for (std::size_t t = 0; t < kTimes; t++) {
      const float* emit = emits + std::size_t(symbols[t]) * kStates;
      float total = 0;
      for (std::size_t j = 0; j < kStates; j++) {
        float next = 0;
        for (std::size_t i = 0; i < kStates; i++) next += alphas[t][i] * moves[i * kStates + j];
        total += alphas[t + 1][j] = next * emit[j];
      }
      for (float& x : alphas[t + 1]) x /= total;
      totals[t] = total;
      sum += std::log(total);
    }
    Literal result = Literal::zeros(f32({kStates, kStates}));
    float* slopes = result.mutable_data<float>().data();
    std::array<float, kStates> bar{}, next{};
    for (std::size_t t = kTimes; t-- > 0;) {
      const float* emit = emits + std::size_t(symbols[t]) * kStates;
      float inner = 0;
      for (std::size_t j = 0; j < kStates; j++) inner += bar[j] * alphas[t + 1][j];
      for (std::size_t j = 0; j < kStates; j++)
        next[j] = (bar[j] + 1 - inner) / totals[t] * emit[j];
      for (std::size_t i = 0; i < kStates; i++) {
        float back = 0;
        for (std::size_t j = 0; j < kStates; j++) {
          slopes[i * kStates + j] += alphas[t][i] * next[j];
          back += moves[i * kStates + j] * next[j];
        }
        bar[i] = back;
      }
    }
    return {Literal::scalar(sum), result};
  };
  return {
      .name = "gradients/likelihood",
      .program = trace(program, f32({kStates, kStates}), f32({kSymbols, kStates}), s32({kTimes})),
      .arguments = {uniform_floats({kStates, kStates}, 0.02, 0.2),
                    uniform_floats({kSymbols, kStates}, 0.05, 0.5, 2),
                    uniform_integers({kTimes}, 0, kSymbols, 3)},
      .plain = plain};
}

/// Forces of springs between points as the gradient of their energy, and a step along these.
Workload spring_network() {
  constexpr std::int64_t kPoints = 256, kSprings = 1024, kTrips = 20;
  constexpr float kRate = 0.02f;
  const auto program = [&](Tensor from, Tensor to, Tensor lengths, Tensor start) {
    const auto energy = [&](Tensor points) {
      const Tensor off = take(points, from) - take(points, to);
      return 0.5f * sum(square(sqrt(sum(square(off), {1}) + 1e-6f) - lengths));
    };
    const auto relax = [&](Tensor, Tensor points) { return points - kRate * grad(energy)(points); };
    return fori_loop(0, kTrips, relax, start);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto from = arguments[0].data<std::int32_t>(), to = arguments[1].data<std::int32_t>();
    const auto lengths = arguments[2].data<float>();
    Literal result = arguments[3];
    const auto points = result.mutable_data<float>();
    static std::vector<float> forces(2 * kPoints);
    for (int trip = 0; trip < kTrips; trip++) {
      std::fill(forces.begin(), forces.end(), 0.0f);
      for (std::size_t i = 0; i < kSprings; i++) {
        const std::size_t a = 2 * std::size_t(from[i]), b = 2 * std::size_t(to[i]);
        const float x = points[a] - points[b], y = points[a + 1] - points[b + 1];
        const float length = std::sqrt(x * x + y * y + 1e-6f);
        const float pull = (length - lengths[i]) / length;
        forces[a] += pull * x, forces[a + 1] += pull * y;
        forces[b] -= pull * x, forces[b + 1] -= pull * y;
      }
      for (std::size_t i = 0; i < points.size(); i++) points[i] -= kRate * forces[i];
    }
    return {result};
  };
  return {
      .name = "gradients/spring_network",
      .program =
          trace(program, s32({kSprings}), s32({kSprings}), f32({kSprings}), f32({kPoints, 2})),
      .arguments = {uniform_integers({kSprings}, 0, kPoints),
                    uniform_integers({kSprings}, 0, kPoints, 2),
                    uniform_floats({kSprings}, 0.3, 0.6, 3), uniform_floats({kPoints, 2}, 0, 1, 4)},
      .plain = plain};
}

/// A tridiagonal system by Thomas's algorithm, element by element, and the gradient of a sum of its
/// solution by the diagonals and the right side.
Workload tridiagonal_gradient() {
  constexpr std::int64_t kRows = 256;
  const auto program = [&](Tensor lower, Tensor middle, Tensor upper, Tensor right,
                           Tensor weights) {
    const auto weighted = [&](Tensor lower, Tensor middle, Tensor upper, Tensor right) {
      const auto forward = [&](Tensor i, Tensor c, Tensor d) {
        const Tensor pivot = middle[i] - lower[i] * c[i - 1];
        return std::tuple(update(c, i, upper[i] / pivot),
                          update(d, i, (right[i] - lower[i] * d[i - 1]) / pivot));
      };
      const Tensor none = zeros(f64({kRows}));
      const auto [c, d] = fori_loop(
          1, kRows, forward,
          std::tuple(update(none, 0, upper[0] / middle[0]), update(none, 0, right[0] / middle[0])));
      const auto back = [&, c = c](Tensor k, Tensor x) {
        const Tensor i = kRows - 2 - k;
        return update(x, i, x[i] - c[i] * x[i + 1]);
      };
      return sum(weights * fori_loop(0, kRows - 1, back, d));
    };
    return grad<0, 1, 2, 3>(weighted)(lower, middle, upper, right);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const double *lower = arguments[0].data<double>().data(),
                 *middle = arguments[1].data<double>().data(),
                 *upper = arguments[2].data<double>().data(),
                 *right = arguments[3].data<double>().data(),
                 *weights = arguments[4].data<double>().data();
    std::array<double, kRows> c{}, x{}, bar{};
    c[0] = upper[0] / middle[0], x[0] = right[0] / middle[0];
    for (std::size_t i = 1; i < kRows; i++) {
      const double pivot = middle[i] - lower[i] * c[i - 1];
      c[i] = upper[i] / pivot;
      x[i] = (right[i] - lower[i] * x[i - 1]) / pivot;
    }
    for (std::size_t i = kRows - 1; i-- > 0;) x[i] -= c[i] * x[i + 1];
    // The adjoint: the transposed system.
    c[0] = lower[1] / middle[0], bar[0] = weights[0] / middle[0];
    for (std::size_t i = 1; i < kRows; i++) {
      const double pivot = middle[i] - upper[i - 1] * c[i - 1];
      c[i] = i + 1 < kRows ? lower[i + 1] / pivot : 0;
      bar[i] = (weights[i] - upper[i - 1] * bar[i - 1]) / pivot;
    }
    for (std::size_t i = kRows - 1; i-- > 0;) bar[i] -= c[i] * bar[i + 1];
    Literals results(4, Literal::zeros(f64({kRows})));
    const auto by_lower = results[0].mutable_data<double>(),
               by_middle = results[1].mutable_data<double>(),
               by_upper = results[2].mutable_data<double>(),
               by_right = results[3].mutable_data<double>();
    for (std::size_t i = 0; i < kRows; i++) {
      by_lower[i] = i > 0 ? -bar[i] * x[i - 1] : 0;
      by_middle[i] = -bar[i] * x[i];
      by_upper[i] = i + 1 < kRows ? -bar[i] * x[i + 1] : 0;
      by_right[i] = bar[i];
    }
    return results;
  };
  const TensorType rows = f64({kRows});
  return {.name = "gradients/tridiagonal_system",
          .program = trace(program, rows, rows, rows, rows, rows),
          .arguments = {uniform_doubles({kRows}, -1, 1), uniform_doubles({kRows}, 3, 4, 2),
                        uniform_doubles({kRows}, -1, 1, 3), uniform_doubles({kRows}, -1, 1, 4),
                        uniform_doubles({kRows}, -1, 1, 5)},
          .plain = plain};
}

/// Logistic regression by gradients of batches of 32 samples.
Workload logistic_regression() {
  constexpr std::int64_t kBatches = 64, kBatch = 32, kFeatures = 16;
  constexpr float kRate = 0.1f;
  const auto program = [&](Tensor samples, Tensor labels) {
    const auto learn = [&](Tensor weights, Tensor x, Tensor y) {
      const auto loss = [&](Tensor w) {
        const Tensor z = matmul(x, w);
        return mean(log1p(exp(-abs(z))) + maximum(z, 0) - y * z);
      };
      const auto [value, slope] = value_and_grad(loss)(weights);
      return std::pair(weights - kRate * slope, value);
    };
    return scan(learn, full(f32({kFeatures}), 0.01f), std::tuple(samples, labels));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *samples = arguments[0].data<float>().data(),
                *labels = arguments[1].data<float>().data();
    Literal result = Literal::uninitialized(f32({kFeatures})),
            losses = Literal::uninitialized(f32({kBatches}));
    const auto weights = result.mutable_data<float>();
    std::fill(weights.begin(), weights.end(), 0.01f);
    for (std::size_t batch = 0; batch < kBatches; batch++) {
      std::array<float, kFeatures> slope{};
      float loss = 0;
      for (std::size_t i = batch * kBatch; i < (batch + 1) * kBatch; i++) {
        const float* x = samples + i * kFeatures;
        float z = 0;
        for (std::size_t k = 0; k < kFeatures; k++) z += x[k] * weights[k];
        loss += std::log1p(std::exp(-std::abs(z))) + std::max(z, 0.0f) - labels[i] * z;
        const float off = 1 / (1 + std::exp(-z)) - labels[i];
        for (std::size_t k = 0; k < kFeatures; k++) slope[k] += off * x[k];
      }
      for (std::size_t k = 0; k < kFeatures; k++) weights[k] -= kRate / kBatch * slope[k];
      losses.mutable_data<float>()[batch] = loss / kBatch;
    }
    return {result, losses};
  };
  Literal labels = uniform_floats({kBatches, kBatch}, 0, 1, 2);
  for (float& label : labels.mutable_data<float>()) label = label < 0.5f ? 0.0f : 1.0f;
  return {.name = "gradients/logistic_regression",
          .program = trace(program, f32({kBatches, kBatch, kFeatures}), f32({kBatches, kBatch})),
          .arguments = {uniform_floats({kBatches, kBatch, kFeatures}, -1, 1), labels},
          .plain = plain};
}

/// Second derivatives of Rosenbrock's function of twelve numbers.
Workload second_derivatives() {
  constexpr std::int64_t kNumbers = 12;
  const auto program = [&](Tensor x) {
    const auto value = [](Tensor x) {
      const Tensor first = slice(x, range(0, -1)), next = slice(x, range(1));
      return sum(100 * square(next - square(first)) + square(1 - first));
    };
    return hessian(value)(x);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto x = arguments[0].data<double>();
    Literal result = Literal::zeros(f64({kNumbers, kNumbers}));
    const auto h = result.mutable_data<double>();
    for (std::size_t i = 0; i + 1 < kNumbers; i++) {
      h[i * kNumbers + i] += 1200 * x[i] * x[i] - 400 * x[i + 1] + 2;
      h[(i + 1) * kNumbers + i + 1] += 200;
      h[i * kNumbers + i + 1] = h[(i + 1) * kNumbers + i] = -400 * x[i];
    }
    return {result};
  };
  return {.name = "gradients/second_derivatives",
          .program = trace(program, f64({kNumbers})),
          .arguments = {uniform_doubles({kNumbers}, -1, 1)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> adjoint_workloads() {
  return {predictive_control(),  conductivities(),    pendulum_fit(),
          likelihood(),          spring_network(),    tridiagonal_gradient(),
          logistic_regression(), second_derivatives()};
}

}  // namespace rondo::bench
