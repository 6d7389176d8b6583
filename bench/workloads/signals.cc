// Series in time: averages, filters, a recurrent network.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> signal_workloads();  // a part of array_workloads

namespace {

/// Two running averages of prices and where the faster one is above, and bands of two standard
/// deviations around the mean of a window.
Workload moving_averages() {
  constexpr std::int64_t kCount = 1 << 14, kWindow = 20;
  const auto program = [&](Tensor prices) {
    const auto follow = [](std::tuple<Tensor, Tensor> averages, Tensor price) {
      const auto [fast, slow] = averages;
      const Tensor next_fast = fast + 0.2 * (price - fast),
                   next_slow = slow + 0.05 * (price - slow);
      return std::pair(std::tuple(next_fast, next_slow), next_fast > next_slow);
    };
    const Tensor above = scan(follow, std::tuple(prices[0], prices[0]), prices).second;
    const auto window_mean = [&](Tensor x) {
      const Tensor sums = pad(cumsum(x, 0), 0, {1}, {0});
      return (slice(sums, range(kWindow)) - slice(sums, range({}, -kWindow))) / double(kWindow);
    };
    const Tensor middle = window_mean(prices);
    const Tensor width = 2 * sqrt(maximum(window_mean(square(prices)) - square(middle), 0));
    return std::tuple(above, middle - width, middle + width);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto prices = arguments[0].data<double>();
    constexpr std::int64_t kWindows = kCount - kWindow + 1;
    Literal crossed = Literal::uninitialized(pred({kCount})),
            lower = Literal::uninitialized(f64({kWindows})),
            upper = Literal::uninitialized(f64({kWindows}));
    const auto above = crossed.mutable_data<bool>();
    const auto low = lower.mutable_data<double>(), high = upper.mutable_data<double>();
    double fast = prices[0], slow = prices[0], sum = 0, squares = 0;
    for (std::size_t i = 0; i < kCount; i++) {
      const double price = prices[i];
      fast += 0.2 * (price - fast);
      slow += 0.05 * (price - slow);
      above[i] = fast > slow;
      sum += price;
      squares += price * price;
      if (i + 1 < kWindow) continue;
      const std::size_t first = i + 1 - kWindow;
      const double middle = sum / kWindow;
      const double width = 2 * std::sqrt(std::max(squares / kWindow - middle * middle, 0.0));
      low[first] = middle - width;
      high[first] = middle + width;
      sum -= prices[first];
      squares -= prices[first] * prices[first];
    }
    return {crossed, lower, upper};
  };
  return {.name = "arrays/moving_averages",
          .program = trace(program, f64({kCount})),
          .arguments = {uniform_doubles({kCount}, 90, 110)},
          .plain = plain};
}

/// A low pass of many taps, of which every fourth result is kept.
Workload decimated() {
  constexpr std::int64_t kCount = 1 << 14, kTaps = 48, kStride = 4,
                         kResults = (kCount - kTaps) / kStride + 1;
  const auto program = [&](Tensor signal, Tensor taps) {
    const auto add = [&](Tensor sum, std::pair<Tensor, Tensor> tap) {
      const Tensor part = dynamic_slice(signal, {tap.second}, {(kResults - 1) * kStride + 1});
      return std::pair(sum + tap.first * slice(part, range({}, {}, kStride)), std::tuple<>());
    };
    return scan(add, zeros(f32({kResults})), std::pair(taps, arange(kTaps))).first;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* signal = arguments[0].data<float>().data();
    const float* taps = arguments[1].data<float>().data();
    Literal result = Literal::uninitialized(f32({kResults}));
    float* out = result.mutable_data<float>().data();
    for (int i = 0; i < kResults; i++) {
      float sum = 0;
      for (int k = 0; k < kTaps; k++) sum += taps[k] * signal[i * kStride + k];
      out[i] = sum;
    }
    return {result};
  };
  return {.name = "arrays/decimated",
          .program = trace(program, f32({kCount}), f32({kTaps})),
          .arguments = {uniform_floats({kCount}, -1, 1), uniform_floats({kTaps}, 0, 0.05, 2)},
          .plain = plain};
}

/// Four filters of order 2 (biquads) one after the other, sample by sample.
Workload equaliser() {
  constexpr std::int64_t kCount = 8192, kSections = 4;
  const auto program = [&](Tensor signal, Tensor sections) {
    const auto step = [&](Tensor memory, Tensor sample) {  // [sections, 2]
      std::vector<Tensor> next;
      Tensor x = sample;
      for (int k = 0; k < kSections; k++) {
        const Tensor c = sections[k], m = memory[k];
        const Tensor y = c[0] * x + m[0];
        next.push_back(stack(0, c[1] * x - c[3] * y + m[1], c[2] * x - c[4] * y));
        x = y;
      }
      return std::pair(stack(next, 0), x);
    };
    return scan(step, zeros(f32({kSections, 2})), signal).second;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto signal = arguments[0].data<float>();
    const auto sections = arguments[1].data<float>();
    Literal result = Literal::uninitialized(f32({kCount}));
    const auto out = result.mutable_data<float>();
    float memory[kSections][2] = {};
    for (std::size_t i = 0; i < kCount; i++) {
      float x = signal[i];
      for (std::size_t k = 0; k < kSections; k++) {
        const float* c = sections.data() + 5 * k;
        const float y = c[0] * x + memory[k][0];
        memory[k][0] = c[1] * x - c[3] * y + memory[k][1];
        memory[k][1] = c[2] * x - c[4] * y;
        x = y;
      }
      out[i] = x;
    }
    return {result};
  };
  const Literal sections =
      Literal::from({1.02f, -1.86f, 0.87f, -1.86f, 0.89f, 0.96f, -1.60f, 0.75f, -1.60f, 0.71f,
                     1.05f, -1.10f, 0.48f, -1.10f, 0.53f, 0.90f, -0.20f, 0.12f, -0.20f, 0.02f},
                    {kSections, 5});
  return {.name = "arrays/equaliser",
          .program = trace(program, f32({kCount}), sections.type()),
          .arguments = {uniform_floats({kCount}, -1, 1), sections},
          .plain = plain};
}

/// A recurrent network with gates (GRU) over a sequence.
Workload gated_network() {
  constexpr std::int64_t kSteps = 100, kInputs = 16, kUnits = 48;
  const auto program = [&](Tensor inputs, Tensor by_input, Tensor by_state, Tensor bias) {
    const auto step = [&](Tensor state, Tensor x) {
      const Tensor from_input = dot(by_input, x) + bias, from_state = dot(by_state, state);
      const auto part = [&](Tensor all, int k) {
        return slice(all, range(k * kUnits, (k + 1) * kUnits));
      };
      const Tensor reset = logistic(part(from_input, 0) + part(from_state, 0));
      const Tensor keep = logistic(part(from_input, 1) + part(from_state, 1));
      const Tensor fresh = tanh(part(from_input, 2) + reset * part(from_state, 2));
      const Tensor next = keep * state + (1 - keep) * fresh;
      return std::pair(next, next);
    };
    return scan(step, zeros(f32({kUnits})), inputs).second;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *x = arguments[0].data<float>().data(),
                *by_input = arguments[1].data<float>().data(),
                *by_state = arguments[2].data<float>().data(),
                *bias = arguments[3].data<float>().data();
    Literal result = Literal::uninitialized(f32({kSteps, kUnits}));
    float* out = result.mutable_data<float>().data();
    float state[kUnits] = {}, from_input[3 * kUnits], from_state[3 * kUnits];
    const auto logistic = [](float a) { return 1 / (1 + std::exp(-a)); };
    for (int step = 0; step < kSteps; step++, x += kInputs, out += kUnits) {
      for (int i = 0; i < 3 * kUnits; i++) {
        float a = bias[i], b = 0;
        for (int j = 0; j < kInputs; j++) a += by_input[i * kInputs + j] * x[j];
        for (int j = 0; j < kUnits; j++) b += by_state[i * kUnits + j] * state[j];
        from_input[i] = a;
        from_state[i] = b;
      }
      for (int i = 0; i < kUnits; i++) {
        const float reset = logistic(from_input[i] + from_state[i]);
        const float keep = logistic(from_input[kUnits + i] + from_state[kUnits + i]);
        const float fresh =
            std::tanh(from_input[2 * kUnits + i] + reset * from_state[2 * kUnits + i]);
        state[i] = out[i] = keep * state[i] + (1 - keep) * fresh;
      }
    }
    return {result};
  };
  return {.name = "arrays/gated_network",
          .program = trace(program, f32({kSteps, kInputs}), f32({3 * kUnits, kInputs}),
                           f32({3 * kUnits, kUnits}), f32({3 * kUnits})),
          .arguments = {uniform_floats({kSteps, kInputs}, -1, 1),
                        uniform_floats({3 * kUnits, kInputs}, -0.3, 0.3, 2),
                        uniform_floats({3 * kUnits, kUnits}, -0.2, 0.2, 3),
                        uniform_floats({3 * kUnits}, -0.1, 0.1, 4)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> signal_workloads() {
  return {moving_averages(), decimated(), equaliser(), gated_network()};
}

}  // namespace rondo::bench
