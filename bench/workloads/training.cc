// Networks that are trained, and loops that are differentiated.
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> training_workloads();  // a part of simulation_workloads

namespace {

/// A network with gated cells (GRU) over a sequence, and its gradient.
Workload gated_cells() {
  constexpr std::int64_t kSteps = 24, kInputs = 8, kCells = 16, kGates = 3 * kCells;
  const auto program = [&](Tensor xs, Tensor weights, Tensor recurrent, Tensor bias) {
    const auto loss = [&](Tensor weights, Tensor recurrent, Tensor bias) {
      const auto step = [&](Tensor h, Tensor x) {
        const Tensor in = matmul(x, weights) + bias, back = matmul(h, recurrent);
        const auto part = [&](Tensor t, int k) {
          return slice(t, range(k * kCells, (k + 1) * kCells));
        };
        const Tensor keep = logistic(part(in, 0) + part(back, 0));
        const Tensor reset = logistic(part(in, 1) + part(back, 1));
        const Tensor fresh = tanh(part(in, 2) + reset * part(back, 2));
        return std::pair(keep * h + (1 - keep) * fresh, std::tuple<>());
      };
      return sum(square(scan(step, zeros(f32({kCells})), xs).first));
    };
    return grad<0, 1, 2>(loss)(weights, recurrent, bias);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *xs = arguments[0].data<float>().data(),
                *weights = arguments[1].data<float>().data(),
                *recurrent = arguments[2].data<float>().data(),
                *bias = arguments[3].data<float>().data();
    using Cells = std::array<float, kCells>;
    struct Step {
      Cells h, keep, reset, fresh, back;
    };
    static std::array<Step, kSteps + 1> steps;
    steps[0].h.fill(0);
    const auto logistic = [](float x) { return 1 / (1 + std::exp(-x)); };
    for (std::size_t t = 0; t < kSteps; t++) {
      Step& s = steps[t];
      std::array<float, kGates> in{}, back{};
      for (std::size_t j = 0; j < kGates; j++) in[j] = bias[j];
      for (std::size_t i = 0; i < kInputs; i++)
        for (std::size_t j = 0; j < kGates; j++)
          in[j] += xs[t * kInputs + i] * weights[i * kGates + j];
      for (std::size_t i = 0; i < kCells; i++)
        for (std::size_t j = 0; j < kGates; j++) back[j] += s.h[i] * recurrent[i * kGates + j];
      for (std::size_t j = 0; j < kCells; j++) {
        s.keep[j] = logistic(in[j] + back[j]);
        s.reset[j] = logistic(in[kCells + j] + back[kCells + j]);
        s.back[j] = back[2 * kCells + j];
        s.fresh[j] = std::tanh(in[2 * kCells + j] + s.reset[j] * s.back[j]);
        steps[t + 1].h[j] = s.keep[j] * s.h[j] + (1 - s.keep[j]) * s.fresh[j];
      }
    }
    Literal to_weights = Literal::zeros(f32({kInputs, kGates})),
            to_recurrent = Literal::zeros(f32({kCells, kGates})),
            to_bias = Literal::zeros(f32({kGates}));
    float *slope_w = to_weights.mutable_data<float>().data(),
          *slope_u = to_recurrent.mutable_data<float>().data(),
          *slope_b = to_bias.mutable_data<float>().data();
    Cells bar{};
    for (std::size_t j = 0; j < kCells; j++) bar[j] = 2 * steps[kSteps].h[j];
    for (std::size_t t = kSteps; t-- > 0;) {
      const Step& s = steps[t];
      std::array<float, kGates> in{}, back{};
      Cells before{};
      for (std::size_t j = 0; j < kCells; j++) {
        const float keep = bar[j] * (s.h[j] - s.fresh[j]) * s.keep[j] * (1 - s.keep[j]);
        const float fresh = bar[j] * (1 - s.keep[j]) * (1 - s.fresh[j] * s.fresh[j]);
        const float reset = fresh * s.back[j] * s.reset[j] * (1 - s.reset[j]);
        before[j] = bar[j] * s.keep[j];
        in[j] = back[j] = keep;
        in[kCells + j] = back[kCells + j] = reset;
        in[2 * kCells + j] = fresh;
        back[2 * kCells + j] = fresh * s.reset[j];
      }
      for (std::size_t j = 0; j < kGates; j++) slope_b[j] += in[j];
      for (std::size_t i = 0; i < kInputs; i++)
        for (std::size_t j = 0; j < kGates; j++)
          slope_w[i * kGates + j] += xs[t * kInputs + i] * in[j];
      for (std::size_t i = 0; i < kCells; i++) {
        float sum = 0;
        for (std::size_t j = 0; j < kGates; j++) {
          slope_u[i * kGates + j] += s.h[i] * back[j];
          sum += recurrent[i * kGates + j] * back[j];
        }
        before[i] += sum;
      }
      bar = before;
    }
    return {to_weights, to_recurrent, to_bias};
  };
  return {.name = "gradients/gated_cells",
          .program = trace(program, f32({kSteps, kInputs}), f32({kInputs, kGates}),
                           f32({kCells, kGates}), f32({kGates})),
          .arguments = {uniform_floats({kSteps, kInputs}, -1, 1),
                        uniform_floats({kInputs, kGates}, -0.5, 0.5, 2),
                        uniform_floats({kCells, kGates}, -0.3, 0.3, 3),
                        uniform_floats({kGates}, -0.1, 0.1, 4)},
          .plain = plain};
}

/// A network with one hidden layer, trained by Adam.
Workload adam() {
  constexpr std::int64_t kSamples = 32, kInputs = 4, kHidden = 16, kTrips = 40;
  constexpr float kRate = 0.01f, kFirst = 0.9f, kSecond = 0.999f, kLeast = 1e-8f;
  const auto program = [&](Tensor xs, Tensor ys, Tensor inner, Tensor outer) {
    const auto loss = [&](Tensor inner, Tensor outer) {
      return mean(square(matmul(tanh(matmul(xs, inner)), outer) - ys));
    };
    struct Weights {
      Tensor value, mean, square;
    };
    const auto improve = [&](Tensor i, Weights a, Weights b) {
      const auto [slope_a, slope_b] = grad<0, 1>(loss)(a.value, b.value);
      const Tensor t = convert(i + 1, DType::kF32);
      const Tensor first = 1 - pow(kFirst, t), second = 1 - pow(kSecond, t);
      const auto next = [&](Weights w, Tensor slope) {
        const Tensor mean = kFirst * w.mean + (1 - kFirst) * slope,
                     square = kSecond * w.square + (1 - kSecond) * slope * slope;
        return Weights{w.value - kRate * (mean / first) / (sqrt(square / second) + kLeast), mean,
                       square};
      };
      return std::pair(next(a, slope_a), next(b, slope_b));
    };
    const auto start = [](Tensor w) { return Weights{w, zeros_like(w), zeros_like(w)}; };
    const auto end = fori_loop(0, kTrips, improve, std::pair(start(inner), start(outer)));
    return std::tuple(end.first.value, end.second.value, loss(end.first.value, end.second.value));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *xs = arguments[0].data<float>().data(), *ys = arguments[1].data<float>().data();
    Literal inner_result = arguments[2], outer_result = arguments[3];
    float *inner = inner_result.mutable_data<float>().data(),
          *outer = outer_result.mutable_data<float>().data();
    std::array<float, kInputs * kHidden> inner_mean{}, inner_square{}, inner_slope{};
    std::array<float, kHidden> outer_mean{}, outer_square{}, outer_slope{};
    const auto run = [&] {
      inner_slope.fill(0), outer_slope.fill(0);
      float total = 0;
      for (std::size_t n = 0; n < kSamples; n++) {
        std::array<float, kHidden> h{};
        for (std::size_t i = 0; i < kInputs; i++)
          for (std::size_t j = 0; j < kHidden; j++)
            h[j] += xs[n * kInputs + i] * inner[i * kHidden + j];
        float error = -ys[n];
        for (std::size_t j = 0; j < kHidden; j++) {
          h[j] = std::tanh(h[j]);
          error += h[j] * outer[j];
        }
        total += error * error;
        const float bar = 2 * error / float(kSamples);
        std::array<float, kHidden> back{};
        for (std::size_t j = 0; j < kHidden; j++) {
          outer_slope[j] += bar * h[j];
          back[j] = bar * outer[j] * (1 - h[j] * h[j]);
        }
        for (std::size_t i = 0; i < kInputs; i++)
          for (std::size_t j = 0; j < kHidden; j++)
            inner_slope[i * kHidden + j] += xs[n * kInputs + i] * back[j];
      }
      return total / float(kSamples);
    };
    for (int trip = 0; trip < kTrips; trip++) {
      run();
      const float first = 1 - std::pow(kFirst, float(trip + 1)),
                  second = 1 - std::pow(kSecond, float(trip + 1));
      const auto improve = [&](float& w, float& mean, float& square, float slope) {
        mean = kFirst * mean + (1 - kFirst) * slope;
        square = kSecond * square + (1 - kSecond) * slope * slope;
        w -= kRate * (mean / first) / (std::sqrt(square / second) + kLeast);
      };
      for (std::size_t i = 0; i < kInputs * kHidden; i++)
        improve(inner[i], inner_mean[i], inner_square[i], inner_slope[i]);
      for (std::size_t j = 0; j < kHidden; j++)
        improve(outer[j], outer_mean[j], outer_square[j], outer_slope[j]);
    }
    return {inner_result, outer_result, Literal::scalar(run())};
  };
  return {.name = "learning/adam",
          .program = trace(program, f32({kSamples, kInputs}), f32({kSamples}),
                           f32({kInputs, kHidden}), f32({kHidden})),
          .arguments = {uniform_floats({kSamples, kInputs}, -1, 1),
                        uniform_floats({kSamples}, -1, 1, 2),
                        uniform_floats({kInputs, kHidden}, -1, 1, 3),
                        uniform_floats({kHidden}, -0.5, 0.5, 4)},
          .plain = plain,
          .tolerance = 1e-3};
}

/// How hares and foxes after a while depend on the four rates of their growth: forward mode through
/// the steps of Heun.
Workload sensitivities() {
  constexpr std::int64_t kSteps = 400;
  constexpr double kStep = 0.01;
  const auto program = [&](Tensor start, Tensor rates) {
    const auto end = [&](Tensor rates) {
      const auto slope = [&](Tensor x) {
        const Tensor hares = x[0], foxes = x[1];
        return stack(0, hares * (rates[0] - rates[1] * foxes),
                     foxes * (rates[2] * hares - rates[3]));
      };
      const auto step = [&](Tensor, Tensor x) {
        const Tensor first = slope(x), second = slope(x + kStep * first);
        return x + 0.5 * kStep * (first + second);
      };
      return fori_loop(0, kSteps, step, start);
    };
    return jacfwd(end)(rates);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto start = arguments[0].data<double>(), r = arguments[1].data<double>();
    using Row = std::array<double, 5>;  // a value, then its derivatives
    const auto slope = [&](const Row& x, const Row& y, Row& dx, Row& dy) {
      const double grow = r[0] - r[1] * y[0], eat = r[2] * x[0] - r[3];
      dx[0] = x[0] * grow, dy[0] = y[0] * eat;
      for (std::size_t k = 1; k < 5; k++) {
        dx[k] = x[k] * grow - x[0] * r[1] * y[k];
        dy[k] = y[k] * eat + y[0] * r[2] * x[k];
      }
      dx[1] += x[0];
      dx[2] -= x[0] * y[0];
      dy[3] += y[0] * x[0];
      dy[4] -= y[0];
    };
    Row x{start[0]}, y{start[1]};
    for (int step = 0; step < kSteps; step++) {
      Row ax, ay, bx, by, mid_x, mid_y;
      slope(x, y, ax, ay);
      for (std::size_t k = 0; k < 5; k++)
        mid_x[k] = x[k] + kStep * ax[k], mid_y[k] = y[k] + kStep * ay[k];
      slope(mid_x, mid_y, bx, by);
      for (std::size_t k = 0; k < 5; k++) {
        x[k] += 0.5 * kStep * (ax[k] + bx[k]);
        y[k] += 0.5 * kStep * (ay[k] + by[k]);
      }
    }
    Literal result = Literal::uninitialized(f64({2, 4}));
    for (std::size_t k = 0; k < 4; k++) {
      result.mutable_data<double>()[k] = x[k + 1];
      result.mutable_data<double>()[4 + k] = y[k + 1];
    }
    return {result};
  };
  return {.name = "gradients/sensitivities",
          .program = trace(program, f64({2}), f64({4})),
          .arguments = {Literal::from({1.0, 0.5}, {2}), Literal::from({1.1, 0.4, 0.1, 0.4}, {4})},
          .plain = plain};
}

}  // namespace

std::vector<Workload> training_workloads() { return {gated_cells(), adam(), sensitivities()}; }

}  // namespace rondo::bench
