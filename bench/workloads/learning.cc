// Trees, histograms of gradients, a recurrent network and attention.
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> learning_workloads();  // a part of array_workloads

namespace {

/// What a decision tree says of samples: from its root a comparison at each of eight levels.
Workload decision_tree() {
  constexpr std::int64_t kSamples = 2000, kFeatures = 8, kDepth = 8, kInner = (1 << kDepth) - 1;
  const auto program = [&](Tensor features, Tensor limits, Tensor leaves, Tensor samples) {
    const auto decide = [&](Tensor x) {
      const auto down = [&](Tensor, Tensor node) {
        const Tensor is_right = x[features[node]] > limits[node];
        return 2 * node + 1 + convert(is_right, DType::kS32);
      };
      return leaves[fori_loop(0, kDepth, down, Tensor(0)) - kInner];
    };
    return vmap(decide)(samples);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto features = arguments[0].data<std::int32_t>();
    const auto limits = arguments[1].data<float>(), leaves = arguments[2].data<float>();
    const float* samples = arguments[3].data<float>().data();
    Literal result = Literal::uninitialized(f32({kSamples}));
    for (std::size_t i = 0; i < kSamples; i++) {
      std::size_t node = 0;
      for (int level = 0; level < kDepth; level++)
        node = 2 * node + 1 + (samples[i * kFeatures + std::size_t(features[node])] > limits[node]);
      result.mutable_data<float>()[i] = leaves[node - kInner];
    }
    return {result};
  };
  return {.name = "learning/decision_tree",
          .program = trace(program, s32({kInner}), f32({kInner}), f32({kInner + 1}),
                           f32({kSamples, kFeatures})),
          .arguments = {uniform_integers({kInner}, 0, kFeatures), uniform_floats({kInner}, 0, 1, 2),
                        uniform_floats({kInner + 1}, 0, 1, 3),
                        uniform_floats({kSamples, kFeatures}, 0, 1, 4)},
          .plain = plain};
}

/// Sums of gradients by feature and bin, and the best split of each feature (boosted trees).
Workload best_splits() {
  constexpr std::int64_t kSamples = 2000, kFeatures = 8, kBins = 32;
  const auto program = [&](Tensor bins, Tensor gradients) {
    const auto split = [&](Tensor bins) {
      const Tensor sums = segment_sum(gradients, bins, kBins);
      const Tensor counts = segment_sum(ones(f32({kSamples})), bins, kBins);
      const Tensor left = cumsum(sums, 0), on_left = cumsum(counts, 0);
      const Tensor right = left[kBins - 1] - left, on_right = on_left[kBins - 1] - on_left;
      const Tensor gain = left * left / (on_left + 1) + right * right / (on_right + 1);
      return std::pair(rondo::max(gain, {0}), argmax(gain, 0));
    };
    return vmap(split)(bins);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto bins = arguments[0].data<std::int32_t>();
    const auto gradients = arguments[1].data<float>();
    Literal gains = Literal::uninitialized(f32({kFeatures})),
            places = Literal::uninitialized(s32({kFeatures}));
    for (std::size_t feature = 0; feature < kFeatures; feature++) {
      std::array<float, kBins> sums{}, counts{};
      for (std::size_t i = 0; i < kSamples; i++) {
        const auto bin = static_cast<std::size_t>(bins[feature * kSamples + i]);
        sums[bin] += gradients[i];
        counts[bin]++;
      }
      float total = 0, best = -1, left = 0, on_left = 0;
      for (const float sum : sums) total += sum;
      for (std::size_t bin = 0; bin < kBins; bin++) {
        left += sums[bin];
        on_left += counts[bin];
        const float right = total - left, on_right = float(kSamples) - on_left;
        const float gain = left * left / (on_left + 1) + right * right / (on_right + 1);
        if (gain > best) {
          best = gain;
          places.mutable_data<std::int32_t>()[feature] = static_cast<std::int32_t>(bin);
        }
      }
      gains.mutable_data<float>()[feature] = best;
    }
    return {gains, places};
  };
  return {.name = "learning/best_splits",
          .program = trace(program, s32({kFeatures, kSamples}), f32({kSamples})),
          .arguments = {uniform_integers({kFeatures, kSamples}, 0, kBins),
                        uniform_floats({kSamples}, -1, 1, 2)},
          .plain = plain};
}

/// A network with memory cells (LSTM) over a sequence.
Workload memory_cells() {
  constexpr std::int64_t kSteps = 40, kInputs = 16, kCells = 32;
  const auto program = [&](Tensor xs, Tensor weights, Tensor recurrent, Tensor bias) {
    const auto step = [&](std::pair<Tensor, Tensor> state, Tensor x) {
      const auto [h, c] = state;
      const Tensor gates = matmul(x, weights) + matmul(h, recurrent) + bias;
      const auto gate = [&](int k) { return slice(gates, range(k * kCells, (k + 1) * kCells)); };
      const Tensor next = logistic(gate(0)) * c + logistic(gate(1)) * tanh(gate(2));
      const Tensor out = logistic(gate(3)) * tanh(next);
      return std::pair(std::pair(out, next), out);
    };
    const Tensor none = zeros(f32({kCells}));
    return scan(step, std::pair(none, none), xs).second;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *xs = arguments[0].data<float>().data(),
                *weights = arguments[1].data<float>().data(),
                *recurrent = arguments[2].data<float>().data(),
                *bias = arguments[3].data<float>().data();
    Literal result = Literal::uninitialized(f32({kSteps, kCells}));
    std::array<float, 4 * kCells> gates{};
    std::array<float, kCells> h{}, c{};
    const auto logistic = [](float x) { return 1 / (1 + std::exp(-x)); };
    for (std::size_t t = 0; t < kSteps; t++) {
      for (std::size_t j = 0; j < 4 * kCells; j++) gates[j] = bias[j];
      for (std::size_t i = 0; i < kInputs; i++)
        for (std::size_t j = 0; j < 4 * kCells; j++)
          gates[j] += xs[t * kInputs + i] * weights[i * 4 * kCells + j];
      for (std::size_t i = 0; i < kCells; i++)
        for (std::size_t j = 0; j < 4 * kCells; j++)
          gates[j] += h[i] * recurrent[i * 4 * kCells + j];
      for (std::size_t j = 0; j < kCells; j++) {
        c[j] = logistic(gates[j]) * c[j] +
               logistic(gates[kCells + j]) * std::tanh(gates[2 * kCells + j]);
        h[j] = logistic(gates[3 * kCells + j]) * std::tanh(c[j]);
        result.mutable_data<float>()[t * kCells + j] = h[j];
      }
    }
    return {result};
  };
  return {.name = "learning/memory_cells",
          .program = trace(program, f32({kSteps, kInputs}), f32({kInputs, 4 * kCells}),
                           f32({kCells, 4 * kCells}), f32({4 * kCells})),
          .arguments = {uniform_floats({kSteps, kInputs}, -1, 1),
                        uniform_floats({kInputs, 4 * kCells}, -0.4, 0.4, 2),
                        uniform_floats({kCells, 4 * kCells}, -0.3, 0.3, 3),
                        uniform_floats({4 * kCells}, -0.1, 0.1, 4)},
          .plain = plain};
}

/// Attention of queries to keys one after the other, with a running softmax.
Workload running_attention() {
  constexpr std::int64_t kQueries = 32, kKeys = 128, kWidth = 16;
  const auto program = [&](Tensor queries, Tensor keys, Tensor values) {
    const auto with_key = [&](std::tuple<Tensor, Tensor, Tensor> state, Tensor key, Tensor value) {
      const auto [most, total, result] = state;
      const Tensor score = matmul(queries, key) * 0.25f;
      const Tensor next = maximum(most, score), shrink = exp(most - next),
                   weight = exp(score - next);
      return std::pair(std::tuple(next, total * shrink + weight,
                                  result * expand_dims(shrink, 1) + outer(weight, value)),
                       std::tuple<>());
    };
    const auto start = std::tuple(full(f32({kQueries}), -std::numeric_limits<float>::infinity()),
                                  zeros(f32({kQueries})), zeros(f32({kQueries, kWidth})));
    const auto [most, total, result] = scan(with_key, start, std::tuple(keys, values)).first;
    return result / expand_dims(total, 1);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *queries = arguments[0].data<float>().data(),
                *keys = arguments[1].data<float>().data(),
                *values = arguments[2].data<float>().data();
    Literal result = Literal::uninitialized(f32({kQueries, kWidth}));
    for (std::size_t q = 0; q < kQueries; q++) {
      float most = -std::numeric_limits<float>::infinity(), total = 0;
      std::array<float, kWidth> sum{};
      for (std::size_t k = 0; k < kKeys; k++) {
        float score = 0;
        for (std::size_t i = 0; i < kWidth; i++)
          score += queries[q * kWidth + i] * keys[k * kWidth + i];
        score *= 0.25f;
        const float next = std::max(most, score), shrink = std::exp(most - next),
                    weight = std::exp(score - next);
        total = total * shrink + weight;
        for (std::size_t i = 0; i < kWidth; i++)
          sum[i] = sum[i] * shrink + weight * values[k * kWidth + i];
        most = next;
      }
      for (std::size_t i = 0; i < kWidth; i++)
        result.mutable_data<float>()[q * kWidth + i] = sum[i] / total;
    }
    return {result};
  };
  return {.name = "learning/running_attention",
          .program =
              trace(program, f32({kQueries, kWidth}), f32({kKeys, kWidth}), f32({kKeys, kWidth})),
          .arguments = {uniform_floats({kQueries, kWidth}, -1, 1),
                        uniform_floats({kKeys, kWidth}, -1, 1, 2),
                        uniform_floats({kKeys, kWidth}, -1, 1, 3)},
          .plain = plain};
}

}  // namespace

std::vector<Workload> learning_workloads() {
  return {decision_tree(), best_splits(), memory_cells(), running_attention()};
}

}  // namespace rondo::bench
