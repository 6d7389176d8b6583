// Events, states and chance: a queue of events, an odometer, a lift, prices, tumbling bodies.
#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> event_workloads();  // a part of simulation_workloads

namespace {

/// Machines that fail and are repaired: the next event is on top of a heap of times.
Workload event_queue() {
  constexpr std::int64_t kMachines = 32, kEvents = 2000;
  const auto program = [&](Tensor durations) {
    const auto event = [&](Tensor i, Tensor times, Tensor machines, Tensor counts) {
      const Tensor now = times[0], machine = machines[0], next = now + durations[i];
      const auto child_of = [&](Tensor times, Tensor at) {
        const Tensor left = 2 * at + 1, right = 2 * at + 2;
        return where((right < kMachines) & (times[right] < times[left]), right, left);
      };
      const auto sinks = [&](Tensor at, Tensor times, Tensor) {
        const Tensor child = child_of(times, at);
        return (child < kMachines) & (times[child] < next);
      };
      const auto sink = [&](Tensor at, Tensor times, Tensor machines) {
        const Tensor child = child_of(times, at);
        return std::tuple(child, update(times, at, times[child]),
                          update(machines, at, machines[child]));
      };
      const auto [at, moved, named] =
          while_loop(sinks, sink, std::tuple(Tensor(0), times, machines));
      return std::tuple(update(moved, at, next), update(named, at, machine),
                        update(counts, machine, counts[machine] + 1));
    };
    return fori_loop(
        0, kEvents, event,
        std::tuple(zeros(f32({kMachines})), arange(kMachines), zeros(s32({kMachines}))));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto durations = arguments[0].data<float>();
    Literal all_times = Literal::zeros(f32({kMachines})),
            all_machines = Literal::zeros(s32({kMachines})),
            all_counts = Literal::zeros(s32({kMachines}));
    const auto times = all_times.mutable_data<float>();
    const auto machines = all_machines.mutable_data<std::int32_t>(),
               counts = all_counts.mutable_data<std::int32_t>();
    for (std::size_t i = 0; i < kMachines; i++) machines[i] = static_cast<std::int32_t>(i);
    for (std::size_t i = 0; i < kEvents; i++) {
      const float next = times[0] + durations[i];
      const std::int32_t machine = machines[0];
      std::size_t at = 0;
      for (;;) {
        std::size_t child = 2 * at + 1;
        if (child >= kMachines) break;
        if (child + 1 < kMachines && times[child + 1] < times[child]) child++;
        if (!(times[child] < next)) break;
        times[at] = times[child];
        machines[at] = machines[child];
        at = child;
      }
      times[at] = next;
      machines[at] = machine;
      counts[static_cast<std::size_t>(machine)]++;
    }
    return {all_times, all_machines, all_counts};
  };
  return {.name = "discrete/event_queue",
          .program = trace(program, f32({kEvents})),
          .arguments = {uniform_floats({kEvents}, 0.1, 5)},
          .plain = plain};
}

/// All settings of five wheels with different numbers of digits, counted like an odometer.
Workload odometer() {
  constexpr std::size_t kWheels = 5;
  static constexpr std::array<std::int32_t, kWheels> kSizes = {7, 5, 6, 4, 9};
  constexpr std::int64_t kSettings = std::int64_t{7} * 5 * 6 * 4 * 9;
  const auto program = [&](Tensor weights) {
    const Tensor sizes = constant(std::vector<std::int32_t>(kSizes.begin(), kSizes.end()));
    const auto visit = [&](Tensor, Tensor digits, Tensor count, Tensor best) {
      const Tensor total = sum(digits * weights);
      const Tensor fits = total % 17 == 0;
      const auto is_full = [&](Tensor k, Tensor digits) {
        return (k < std::int32_t{kWheels - 1}) & (digits[k] == sizes[k] - 1);
      };
      const auto turn = [](Tensor k, Tensor digits) {
        return std::tuple(k + 1, update(digits, k, 0));
      };
      const auto [k, turned] = while_loop(is_full, turn, std::tuple(Tensor(0), digits));
      return std::tuple(update(turned, k, turned[k] + 1), count + where(fits, 1, 0),
                        where(fits, maximum(best, total), best));
    };
    const auto start = std::tuple(zeros(s32({kWheels})), Tensor(0), Tensor(0));
    const auto end = fori_loop(0, kSettings, visit, start);
    return std::pair(std::get<1>(end), std::get<2>(end));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto weights = arguments[0].data<std::int32_t>();
    std::array<std::int32_t, kWheels> digits{};
    std::int32_t count = 0, best = 0;
    for (int i = 0; i < kSettings; i++) {
      std::int32_t total = 0;
      for (std::size_t k = 0; k < kWheels; k++) total += digits[k] * weights[k];
      if (total % 17 == 0) {
        count++;
        best = std::max(best, total);
      }
      std::size_t k = 0;
      while (k < kWheels - 1 && digits[k] == kSizes[k] - 1) digits[k++] = 0;
      digits[k]++;
    }
    return {Literal::scalar(count), Literal::scalar(best)};
  };
  return {.name = "discrete/odometer",
          .program = trace(program, s32({kWheels})),
          .arguments = {Literal::from(std::vector<std::int32_t>{3, 11, 29, 5, 13}, {kWheels})},
          .plain = plain};
}

/// A lift that is idle, goes up, goes down, or has its doors open, and the floors where it is
/// called: a branch for each state.
Workload lift() {
  constexpr std::int64_t kTicks = 4000;
  const auto program = [&](Tensor calls) {
    const auto tick = [&](Tensor i, Tensor state, Tensor floor, Tensor wanted, Tensor timer,
                          Tensor served) {
      const Tensor call = calls[i];
      const Tensor now = where(call >= 0, wanted | (Tensor(1) << maximum(call, 0)), wanted);
      const Tensor here = Tensor(1) << floor;
      using State = std::tuple<Tensor, Tensor, Tensor, Tensor, Tensor>;
      const auto stop = [&] { return State{Tensor(3), floor, now & ~here, Tensor(3), served + 1}; };
      const auto idle = [&] {
        const auto go = [&] {
          return State{where(now > here, 1, 2), floor, now, Tensor(0), served};
        };
        const auto choose = [&] { return cond((now & here) != 0, stop, go); };
        const auto wait = [&] { return State{Tensor(0), floor, now, Tensor(0), served}; };
        return cond(now != 0, choose, wait);
      };
      const auto move = [&](int by) {
        return [&, by] {
          const Tensor next = clamp(0, floor + by, 15), there = Tensor(1) << next;
          const Tensor stops = (now & there) != 0;
          const Tensor ends = (next == 0) | (next == 15);
          return State{where(stops, 3, where(ends, 0, by > 0 ? 1 : 2)), next,
                       where(stops, now & ~there, now), where(stops, 3, 0),
                       served + where(stops, 1, 0)};
        };
      };
      const auto open = [&] {
        return State{where(timer == 0, 0, 3), floor, now, maximum(timer - 1, 0), served};
      };
      return switch_case(state, std::tuple(idle, move(1), move(-1), open));
    };
    const auto start = std::tuple(Tensor(0), Tensor(0), Tensor(0), Tensor(0), Tensor(0));
    return fori_loop(0, kTicks, tick, start);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    std::int32_t state = 0, floor = 0, wanted = 0, timer = 0, served = 0;
    for (const std::int32_t call : arguments[0].data<std::int32_t>()) {
      if (call >= 0) wanted |= 1 << call;
      const auto stop = [&] {
        state = 3, timer = 3, wanted &= ~(1 << floor);
        served++;
      };
      switch (state) {
        case 0:
          if (wanted == 0) {
            timer = 0;
          } else if ((wanted & 1 << floor) != 0) {
            stop();
          } else {
            state = wanted > 1 << floor ? 1 : 2;
            timer = 0;
          }
          break;
        case 1:
        case 2:
          floor = std::clamp(floor + (state == 1 ? 1 : -1), 0, 15);
          timer = 0;
          if ((wanted & 1 << floor) != 0)
            stop();
          else if (floor == 0 || floor == 15)
            state = 0;
          break;
        default:
          if (timer == 0)
            state = 0;
          else
            timer--;
      }
    }
    return {Literal::scalar(state), Literal::scalar(floor), Literal::scalar(wanted),
            Literal::scalar(timer), Literal::scalar(served)};
  };
  Literal calls = uniform_integers({kTicks}, -60, 16);
  return {.name = "simulations/lift",
          .program = trace(program, s32({kTicks})),
          .arguments = {calls},
          .plain = plain};
}

/// The price of an option on a mean, from paths and their mirror images: random bits are hashes of
/// the number of the path and the step.
Workload mirrored_paths() {
  constexpr std::int64_t kPaths = 1024, kSteps = 32;
  constexpr float kDrift = 0.0005f, kSpread = 0.04f, kStrike = 1.02f;
  const auto program = [&](Tensor seed) {
    const auto hash = [](Tensor x) {
      x = (x ^ (x >> 16)) * 0x7feb352du;
      x = (x ^ (x >> 15)) * 0x846ca68bu;
      return x ^ (x >> 16);
    };
    const Tensor paths = arange(kPaths, DType::kU32);
    const auto step = [&](Tensor i, Tensor up, Tensor down, Tensor up_sum, Tensor down_sum) {
      const Tensor number = (convert(i, DType::kU32) * std::uint32_t{kPaths} + paths) * 2u + seed;
      const auto uniform = [&](Tensor bits) {
        return (convert(bits >> 8, DType::kF32) + 0.5f) * 0x1p-24f;
      };
      const Tensor a = uniform(hash(number)), b = uniform(hash(number + 1u));
      const Tensor normal = sqrt(-2 * log(a)) * cos(b * (2 * std::numbers::pi_v<float>));
      const Tensor next_up = up * exp(kDrift + kSpread * normal),
                   next_down = down * exp(kDrift - kSpread * normal);
      return std::tuple(next_up, next_down, up_sum + next_up, down_sum + next_down);
    };
    const Tensor one = ones(f32({kPaths})), none = zeros(f32({kPaths}));
    const auto end = fori_loop(0, kSteps, step, std::tuple(one, one, none, none));
    const auto payoff = [&](Tensor sum) { return maximum(sum / float(kSteps) - kStrike, 0); };
    return mean((payoff(std::get<2>(end)) + payoff(std::get<3>(end))) * 0.5f);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const std::uint32_t seed = arguments[0].item<std::uint32_t>();
    const auto uniform = [](std::uint32_t x) {
      x = (x ^ x >> 16) * 0x7feb352du;
      x = (x ^ x >> 15) * 0x846ca68bu;
      x = x ^ x >> 16;
      return (static_cast<float>(x >> 8) + 0.5f) * 0x1p-24f;
    };
    float total = 0;
    for (std::uint32_t path = 0; path < kPaths; path++) {
      float up = 1, down = 1, up_sum = 0, down_sum = 0;
      for (std::uint32_t i = 0; i < kSteps; i++) {
        const std::uint32_t number = (i * std::uint32_t{kPaths} + path) * 2 + seed;
        const float a = uniform(number), b = uniform(number + 1);
        const float normal =
            std::sqrt(-2 * std::log(a)) * std::cos(b * (2 * std::numbers::pi_v<float>));
        up *= std::exp(kDrift + kSpread * normal);
        down *= std::exp(kDrift - kSpread * normal);
        up_sum += up;
        down_sum += down;
      }
      total += 0.5f * (std::max(up_sum / float(kSteps) - kStrike, 0.0f) +
                       std::max(down_sum / float(kSteps) - kStrike, 0.0f));
    }
    return {Literal::scalar(total / float(kPaths))};
  };
  return {.name = "finance/mirrored_paths",
          .program = trace(program, u32()),
          .arguments = {Literal::scalar(std::uint32_t{12345})},
          .plain = plain};
}

/// Rigid bodies that tumble freely: Euler's equations, and a quaternion for each body.
Workload tumbling_bodies() {
  constexpr std::int64_t kBodies = 64, kSteps = 100;
  constexpr float kStep = 0.01f;
  const auto program = [&](Tensor turns, Tensor spins, Tensor inertia) {
    const Tensor ia = inertia[0], ib = inertia[1], ic = inertia[2];
    const auto step = [&](Tensor, Tensor turns, Tensor spins) {
      const Tensor x = column(spins, 0), y = column(spins, 1), z = column(spins, 2);
      const Tensor next_x = x + kStep * (ib - ic) / ia * y * z,
                   next_y = y + kStep * (ic - ia) / ib * z * x,
                   next_z = z + kStep * (ia - ib) / ic * x * y;
      const Tensor w = column(turns, 0), i = column(turns, 1), j = column(turns, 2),
                   k = column(turns, 3);
      const float half = 0.5f * kStep;
      const Tensor moved = stack(1, w - half * (i * next_x + j * next_y + k * next_z),
                                 i + half * (w * next_x + j * next_z - k * next_y),
                                 j + half * (w * next_y + k * next_x - i * next_z),
                                 k + half * (w * next_z + i * next_y - j * next_x));
      const Tensor length = sqrt(sum(square(moved), {1}));
      return std::tuple(moved / expand_dims(length, 1), stack(1, next_x, next_y, next_z));
    };
    return fori_loop(0, kSteps, step, std::tuple(turns, spins));
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal turns = arguments[0], spins = arguments[1];
    const auto inertia = arguments[2].data<float>();
    const float ia = inertia[0], ib = inertia[1], ic = inertia[2];
    for (std::size_t body = 0; body < kBodies; body++) {
      float* q = &turns.mutable_data<float>()[4 * body];
      float* v = &spins.mutable_data<float>()[3 * body];
      for (int step = 0; step < kSteps; step++) {
        const float x = v[0] + kStep * (ib - ic) / ia * v[1] * v[2],
                    y = v[1] + kStep * (ic - ia) / ib * v[2] * v[0],
                    z = v[2] + kStep * (ia - ib) / ic * v[0] * v[1];
        v[0] = x, v[1] = y, v[2] = z;
        const float half = 0.5f * kStep;
        const float w = q[0] - half * (q[1] * x + q[2] * y + q[3] * z),
                    i = q[1] + half * (q[0] * x + q[2] * z - q[3] * y),
                    j = q[2] + half * (q[0] * y + q[3] * x - q[1] * z),
                    k = q[3] + half * (q[0] * z + q[1] * y - q[2] * x);
        const float length = std::sqrt(w * w + i * i + j * j + k * k);
        q[0] = w / length, q[1] = i / length, q[2] = j / length, q[3] = k / length;
      }
    }
    return {turns, spins};
  };
  return {
      .name = "robots/tumbling_bodies",
      .program = trace(program, f32({kBodies, 4}), f32({kBodies, 3}), f32({3})),
      .arguments = {uniform_floats({kBodies, 4}, 0.1, 1), uniform_floats({kBodies, 3}, -2, 2, 2),
                    Literal::from({1.0f, 2.0f, 3.5f}, {3})},
      .plain = plain};
}

}  // namespace

std::vector<Workload> event_workloads() {
  return {event_queue(), odometer(), lift(), mirrored_paths(), tumbling_bodies()};
}

}  // namespace rondo::bench
