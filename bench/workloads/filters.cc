// Signals, sample by sample: recursive and adaptive filters, single frequencies, fixed point.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> filter_workloads();  // a part of array_workloads

namespace {

/// A cascade of four recursive filters of second order, in the transposed direct form.
Workload biquads() {
  constexpr std::int64_t kSamples = 4096, kStages = 4;
  const auto program = [&](Tensor x, Tensor coefficients) {
    const auto sample = [&](Tensor states, Tensor x) {
      const auto stage = [](Tensor x, Tensor c, Tensor s) {
        const Tensor y = c[0] * x + s[0];
        return std::pair(y, stack(0, c[1] * x - c[3] * y + s[1], c[2] * x - c[4] * y));
      };
      const auto [y, next] = scan(stage, x, std::tuple(coefficients, states));
      return std::pair(next, y);
    };
    return scan(sample, zeros(f32({kStages, 2})), x).second;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto x = arguments[0].data<float>();
    const float* c = arguments[1].data<float>().data();
    Literal result = Literal::uninitialized(f32({kSamples}));
    float states[kStages][2] = {};
    for (std::size_t i = 0; i < kSamples; i++) {
      float value = x[i];
      for (int k = 0; k < kStages; k++) {
        const float* d = c + 5 * k;
        const float y = d[0] * value + states[k][0];
        states[k][0] = d[1] * value - d[3] * y + states[k][1];
        states[k][1] = d[2] * value - d[4] * y;
        value = y;
      }
      result.mutable_data<float>()[i] = value;
    }
    return {result};
  };
  Literal coefficients = uniform_floats({kStages, 5}, 0.1, 0.3);
  for (std::size_t k = 0; k < kStages; k++) coefficients.mutable_data<float>()[5 * k + 3] -= 1.2f;
  for (std::size_t k = 0; k < kStages; k++) coefficients.mutable_data<float>()[5 * k + 4] += 0.3f;
  return {.name = "signals/biquads",
          .program = trace(program, f32({kSamples}), f32({kStages, 5})),
          .arguments = {uniform_floats({kSamples}, -1, 1), coefficients},
          .plain = plain};
}

/// A filter of 16 taps that learns to be as an unknown one (least mean squares).
Workload adaptive_filter() {
  constexpr std::int64_t kSamples = 2000, kTaps = 16;
  constexpr float kRate = 0.02f;
  const auto program = [&](Tensor x, Tensor wanted) {
    const auto learn = [&](Tensor weights, Tensor past, Tensor x, Tensor wanted) {
      const Tensor now = update(roll(past, 1, 0), 0, x);
      const Tensor error = wanted - vdot(weights, now);
      return std::pair(std::tuple(weights + kRate * error * now, now), error);
    };
    const Tensor none = zeros(f32({kTaps}));
    const auto [state, errors] = scan(learn, std::tuple(none, none), std::tuple(x, wanted));
    return std::pair(std::get<0>(state), errors);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto x = arguments[0].data<float>(), wanted = arguments[1].data<float>();
    Literal result = Literal::zeros(f32({kTaps})), errors = Literal::uninitialized(f32({kSamples}));
    const auto weights = result.mutable_data<float>();
    std::array<float, kTaps> past{};
    for (std::size_t i = 0; i < kSamples; i++) {
      for (std::size_t k = kTaps - 1; k > 0; k--) past[k] = past[k - 1];
      past[0] = x[i];
      float sum = 0;
      for (std::size_t k = 0; k < kTaps; k++) sum += weights[k] * past[k];
      const float error = errors.mutable_data<float>()[i] = wanted[i] - sum;
      for (std::size_t k = 0; k < kTaps; k++) weights[k] += kRate * error * past[k];
    }
    return {result, errors};
  };
  return {.name = "signals/adaptive_filter",
          .program = trace(program, f32({kSamples}), f32({kSamples})),
          .arguments = {uniform_floats({kSamples}, -1, 1), uniform_floats({kSamples}, -1, 1, 2)},
          .plain = plain};
}

/// The power at some frequencies by Goertzel's recurrence.
Workload tones() {
  constexpr std::int64_t kSamples = 1024, kTones = 24;
  const auto program = [&](Tensor x, Tensor frequencies) {
    const auto power = [&](Tensor frequency) {
      const Tensor c = 2 * cos(6.2831853f * frequency);
      const auto step = [&](Tensor last, Tensor before, Tensor x) {
        return std::pair(std::tuple(x + c * last - before, last), std::tuple<>());
      };
      const auto [a, b] = scan(step, std::tuple(0.0f, 0.0f), x).first;
      return a * a + b * b - c * a * b;
    };
    return vmap(power)(frequencies);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto x = arguments[0].data<float>(), frequencies = arguments[1].data<float>();
    Literal result = Literal::uninitialized(f32({kTones}));
    for (std::size_t i = 0; i < kTones; i++) {
      const float c = 2 * std::cos(6.2831853f * frequencies[i]);
      float last = 0, before = 0;
      for (const float sample : x) {
        const float next = sample + c * last - before;
        before = last;
        last = next;
      }
      result.mutable_data<float>()[i] = last * last + before * before - c * last * before;
    }
    return {result};
  };
  return {.name = "signals/tones",
          .program = trace(program, f32({kSamples}), f32({kTones})),
          .arguments = {uniform_floats({kSamples}, -1, 1), uniform_floats({kTones}, 0.01, 0.4, 2)},
          .plain = plain,
          .tolerance = 1e-3};
}

/// A filter of 32 taps whose past samples are in a ring.
Workload ring_filter() {
  constexpr std::int64_t kSamples = 2000, kTaps = 32;
  const auto program = [&](Tensor x, Tensor taps) {
    const auto sample = [&](Tensor ring, Tensor i, Tensor x) {
      const Tensor filled = update(ring, i % kTaps, x);
      const Tensor places = (i - arange(kTaps) + kTaps) % kTaps;
      return std::pair(filled, sum(taps * take(filled, places)));
    };
    return scan(sample, zeros(f32({kTaps})), std::tuple(arange(kSamples), x)).second;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto x = arguments[0].data<float>(), taps = arguments[1].data<float>();
    Literal result = Literal::uninitialized(f32({kSamples}));
    std::array<float, kTaps> ring{};
    for (std::size_t i = 0; i < kSamples; i++) {
      ring[i % kTaps] = x[i];
      float sum = 0;
      for (std::size_t k = 0; k < kTaps; k++) sum += taps[k] * ring[(i - k + kTaps) % kTaps];
      result.mutable_data<float>()[i] = sum;
    }
    return {result};
  };
  return {.name = "signals/ring_filter",
          .program = trace(program, f32({kSamples}), f32({kTaps})),
          .arguments = {uniform_floats({kSamples}, -1, 1), uniform_floats({kTaps}, -1, 1, 2)},
          .plain = plain};
}

/// Sines of angles in fixed point, by turns (CORDIC), whose table is in s32.
Workload cordic() {
  constexpr std::int64_t kAngles = 2000, kTurns = 24;
  const auto program = [&](Tensor angles, Tensor table) {
    const auto sine = [&](Tensor angle) {
      const auto turn = [&](Tensor k, Tensor x, Tensor y, Tensor rest) {
        const Tensor is_left = rest >= 0;
        const Tensor dx = y >> k, dy = x >> k;
        return std::tuple(where(is_left, x - dx, x + dx), where(is_left, y + dy, y - dy),
                          where(is_left, rest - table[k], rest + table[k]));
      };
      return std::get<1>(fori_loop(0, kTurns, turn, std::tuple(652032874, 0, angle)));
    };
    return vmap(sine)(angles);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto angles = arguments[0].data<std::int32_t>(),
               table = arguments[1].data<std::int32_t>();
    Literal result = Literal::uninitialized(s32({kAngles}));
    for (std::size_t i = 0; i < kAngles; i++) {
      std::int32_t x = 652032874, y = 0, rest = angles[i];
      for (std::size_t k = 0; k < kTurns; k++) {
        const std::int32_t dx = y >> k, dy = x >> k;
        if (rest >= 0)
          x -= dx, y += dy, rest -= table[k];
        else
          x += dx, y -= dy, rest += table[k];
      }
      result.mutable_data<std::int32_t>()[i] = y;
    }
    return {result};
  };
  Literal table = Literal::uninitialized(s32({kTurns}));
  for (int k = 0; k < kTurns; k++)
    table.mutable_data<std::int32_t>()[std::size_t(k)] =
        static_cast<std::int32_t>(std::atan(std::ldexp(1.0, -k)) * 0x1p30);
  return {.name = "signals/cordic",
          .program = trace(program, s32({kAngles}), s32({kTurns})),
          .arguments = {uniform_integers({kAngles}, -1600000000, 1600000000), table},
          .plain = plain};
}

/// Speech as a code of four bits for each sample, by steps that adapt (as IMA ADPCM does).
Workload adaptive_steps_code() {
  constexpr std::int64_t kSamples = 2048, kSteps = 89;
  const auto program = [&](Tensor samples, Tensor sizes, Tensor changes) {
    const auto encode = [&](Tensor guess, Tensor index, Tensor sample) {
      const Tensor size = sizes[index], off = sample - guess;
      const Tensor code = minimum(abs(off) * 4 / size, 7);
      const Tensor moved = (2 * code + 1) * size / 8;
      const Tensor next = clamp(-32768, where(off < 0, guess - moved, guess + moved), 32767);
      const Tensor next_index = clamp(0, index + changes[code], kSteps - 1);
      return std::pair(std::tuple(next, next_index),
                       convert(where(off < 0, code + 8, code), DType::kU8));
    };
    return scan(encode, std::tuple(0, 0), samples).second;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto samples = arguments[0].data<std::int32_t>(),
               sizes = arguments[1].data<std::int32_t>(),
               changes = arguments[2].data<std::int32_t>();
    Literal result = Literal::uninitialized(u8({kSamples}));
    int guess = 0, index = 0;
    for (std::size_t i = 0; i < kSamples; i++) {
      const int size = sizes[static_cast<std::size_t>(index)], off = samples[i] - guess;
      const int code = std::min(std::abs(off) * 4 / size, 7);
      const int moved = (2 * code + 1) * size / 8;
      guess = std::clamp(off < 0 ? guess - moved : guess + moved, -32768, 32767);
      index = std::clamp(index + changes[static_cast<std::size_t>(code)], 0, int(kSteps) - 1);
      result.mutable_data<std::uint8_t>()[i] = static_cast<std::uint8_t>(off < 0 ? code + 8 : code);
    }
    return {result};
  };
  Literal samples = Literal::uninitialized(s32({kSamples})),
          sizes = Literal::uninitialized(s32({kSteps}));
  for (int i = 0; i < kSamples; i++)
    samples.mutable_data<std::int32_t>()[std::size_t(i)] =
        static_cast<std::int32_t>(8000 * std::sin(0.03 * i) + 2000 * std::sin(0.41 * i));
  for (int i = 0; i < kSteps; i++)
    sizes.mutable_data<std::int32_t>()[std::size_t(i)] =
        static_cast<std::int32_t>(7 * std::pow(1.1, i));
  return {.name = "signals/adaptive_code",
          .program = trace(program, s32({kSamples}), s32({kSteps}), s32({8})),
          .arguments = {samples, sizes, Literal::from({-1, -1, -1, -1, 2, 4, 6, 8}, {8})},
          .plain = plain};
}

}  // namespace

std::vector<Workload> filter_workloads() {
  return {biquads(), adaptive_filter(), tones(), ring_filter(), cordic(), adaptive_steps_code()};
}

}  // namespace rondo::bench
