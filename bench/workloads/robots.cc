// Vehicles, arms and prices: rigid bodies, transforms of joints, and trees of prices.
#include <algorithm>
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "workloads/workload.h"

namespace rondo::bench {

std::vector<Workload> robot_workloads();  // a part of simulation_workloads

namespace {

/// A quadrotor of twelve states (place, velocity, angles, rates) by Runge and Kutta's method.
Workload quadrotor() {
  constexpr std::int64_t kSteps = 500;
  constexpr double kStep = 0.01;
  const auto program = [&](Tensor start, Tensor thrusts) {
    const auto rates_of = [](Tensor x, Tensor thrust) {
      const Tensor roll = x[6], pitch = x[7], yaw = x[8], p = x[9], q = x[10], r = x[11];
      const Tensor sr = sin(roll), cr = cos(roll), sp = sin(pitch), cp = cos(pitch), sy = sin(yaw),
                   cy = cos(yaw);
      const Tensor lift = thrust / 0.5;
      return stack(0, x[3], x[4], x[5], lift * (cr * sp * cy + sr * sy) - 0.1 * x[3],
                   lift * (cr * sp * sy - sr * cy) - 0.1 * x[4], lift * cr * cp - 9.81 - 0.1 * x[5],
                   p + (q * sr + r * cr) * sp / cp, q * cr - r * sr, (q * sr + r * cr) / cp,
                   -0.6 * q * r - 2 * p, 0.6 * p * r - 2 * q, -1.0 * r);
    };
    const auto step = [&](Tensor x, Tensor thrust) {
      const Tensor a = rates_of(x, thrust), b = rates_of(x + 0.5 * kStep * a, thrust),
                   c = rates_of(x + 0.5 * kStep * b, thrust), d = rates_of(x + kStep * c, thrust);
      const Tensor next = x + kStep / 6 * (a + 2 * (b + c) + d);
      return std::pair(next, slice(next, range(0, 3)));
    };
    return scan(step, start, thrusts);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    using State = std::array<double, 12>;
    const auto rates_of = [](const State& x, double thrust) {
      const double sr = std::sin(x[6]), cr = std::cos(x[6]), sp = std::sin(x[7]),
                   cp = std::cos(x[7]), sy = std::sin(x[8]), cy = std::cos(x[8]), p = x[9],
                   q = x[10], r = x[11];
      const double lift = thrust / 0.5;
      return State{x[3],
                   x[4],
                   x[5],
                   lift * (cr * sp * cy + sr * sy) - 0.1 * x[3],
                   lift * (cr * sp * sy - sr * cy) - 0.1 * x[4],
                   lift * cr * cp - 9.81 - 0.1 * x[5],
                   p + (q * sr + r * cr) * sp / cp,
                   q * cr - r * sr,
                   (q * sr + r * cr) / cp,
                   -0.6 * q * r - 2 * p,
                   0.6 * p * r - 2 * q,
                   -1.0 * r};
    };
    const auto moved = [](const State& x, double h, const State& rates) {
      State next{};
      for (std::size_t i = 0; i < 12; i++) next[i] = x[i] + h * rates[i];
      return next;
    };
    Literal last = arguments[0], places = Literal::uninitialized(f64({kSteps, 3}));
    State x{};
    std::copy_n(last.data<double>().begin(), 12, x.begin());
    for (std::size_t k = 0; k < kSteps; k++) {
      const double thrust = arguments[1].data<double>()[k];
      const State a = rates_of(x, thrust), b = rates_of(moved(x, 0.5 * kStep, a), thrust),
                  c = rates_of(moved(x, 0.5 * kStep, b), thrust),
                  d = rates_of(moved(x, kStep, c), thrust);
      for (std::size_t i = 0; i < 12; i++) x[i] += kStep / 6 * (a[i] + 2 * (b[i] + c[i]) + d[i]);
      for (std::size_t i = 0; i < 3; i++) places.mutable_data<double>()[k * 3 + i] = x[i];
    }
    std::copy(x.begin(), x.end(), last.mutable_data<double>().begin());
    return {last, places};
  };
  return {.name = "robots/quadrotor",
          .program = trace(program, f64({12}), f64({kSteps})),
          .arguments = {uniform_doubles({12}, -0.2, 0.2), uniform_doubles({kSteps}, 4, 6, 2)},
          .plain = plain};
}

/// Joints of an arm that reach for a point (FABRIK): from the hand to the shoulder and back.
Workload reaching_arm() {
  constexpr std::int64_t kJoints = 10, kTrips = 30;
  const auto program = [&](Tensor start, Tensor target) {
    const auto pulled = [](Tensor joint, Tensor to) {
      const Tensor off = joint - to;
      return to + off / sqrt(sum(off * off));
    };
    const auto reach = [&](Tensor, Tensor joints) {
      const auto backward = [&](Tensor k, Tensor joints) {
        const Tensor i = kJoints - 2 - k;
        return update(joints, i, pulled(joints[i], joints[i + 1]));
      };
      const auto forward = [&](Tensor i, Tensor joints) {
        return update(joints, i, pulled(joints[i], joints[i - 1]));
      };
      const Tensor back = fori_loop(0, kJoints - 1, backward, update(joints, kJoints - 1, target));
      return fori_loop(1, kJoints, forward, update(back, 0, start[0]));
    };
    return fori_loop(0, kTrips, reach, start);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    Literal result = arguments[0];
    float* joints = result.mutable_data<float>().data();
    const float* target = arguments[1].data<float>().data();
    const float root[2] = {joints[0], joints[1]};
    const auto pull = [](float* joint, const float* to) {
      const float x = joint[0] - to[0], y = joint[1] - to[1], length = std::sqrt(x * x + y * y);
      joint[0] = to[0] + x / length;
      joint[1] = to[1] + y / length;
    };
    for (int trip = 0; trip < kTrips; trip++) {
      std::copy_n(target, 2, joints + 2 * (kJoints - 1));
      for (std::ptrdiff_t i = kJoints - 2; i >= 0; i--) pull(joints + 2 * i, joints + 2 * (i + 1));
      std::copy_n(root, 2, joints);
      for (std::ptrdiff_t i = 1; i < kJoints; i++) pull(joints + 2 * i, joints + 2 * (i - 1));
    }
    return {result};
  };
  Literal start = uniform_floats({kJoints, 2}, -0.3, 0.3);
  for (std::size_t i = 0; i < kJoints; i++)
    start.mutable_data<float>()[2 * i] += static_cast<float>(i);
  return {.name = "robots/reaching_arm",
          .program = trace(program, f32({kJoints, 2}), f32({2})),
          .arguments = {start, Literal::from({3.0f, 4.0f}, {2})},
          .plain = plain};
}

/// Where the hands of many arms are: products of a 4 x 4 matrix for each of six joints.
Workload arm_poses() {
  constexpr std::int64_t kArms = 500, kJoints = 6;
  const auto program = [&](Tensor angles, Tensor twists, Tensor lengths, Tensor offsets) {
    const auto pose = [&](Tensor angles) {
      const auto joint = [](Tensor pose, Tensor angle, Tensor twist, Tensor length, Tensor offset) {
        const Tensor c = cos(angle), s = sin(angle), ct = cos(twist), st = sin(twist);
        const Tensor zero = Tensor(0.0f), one = Tensor(1.0f);
        const Tensor move = matrix({{c, -s * ct, s * st, length * c},
                                    {s, c * ct, -c * st, length * s},
                                    {zero, st, ct, offset},
                                    {zero, zero, zero, one}});
        return std::pair(matmul(pose, move), std::tuple<>());
      };
      return scan(joint, eye(4), std::tuple(angles, twists, lengths, offsets)).first;
    };
    return vmap(pose)(angles);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float *angles = arguments[0].data<float>().data(),
                *twists = arguments[1].data<float>().data(),
                *lengths = arguments[2].data<float>().data(),
                *offsets = arguments[3].data<float>().data();
    Literal result = Literal::uninitialized(f32({kArms, 4, 4}));
    for (std::size_t arm = 0; arm < kArms; arm++) {
      float pose[4][4] = {{1, 0, 0, 0}, {0, 1, 0, 0}, {0, 0, 1, 0}, {0, 0, 0, 1}};
      for (std::size_t k = 0; k < kJoints; k++) {
        const float c = std::cos(angles[arm * kJoints + k]),
                    s = std::sin(angles[arm * kJoints + k]);
        const float ct = std::cos(twists[k]), st = std::sin(twists[k]);
        const float move[4][4] = {{c, -s * ct, s * st, lengths[k] * c},
                                  {s, c * ct, -c * st, lengths[k] * s},
                                  {0, st, ct, offsets[k]},
                                  {0, 0, 0, 1}};
        float next[4][4] = {};
        for (int i = 0; i < 4; i++)
          for (int m = 0; m < 4; m++)
            for (int j = 0; j < 4; j++) next[i][j] += pose[i][m] * move[m][j];
        std::copy_n(&next[0][0], 16, &pose[0][0]);
      }
      std::copy_n(&pose[0][0], 16, result.mutable_data<float>().data() + 16 * arm);
    }
    return {result};
  };
  return {.name = "robots/arm_poses",
          .program =
              trace(program, f32({kArms, kJoints}), f32({kJoints}), f32({kJoints}), f32({kJoints})),
          .arguments = {uniform_floats({kArms, kJoints}, -3, 3),
                        uniform_floats({kJoints}, -1.6, 1.6, 2),
                        uniform_floats({kJoints}, 0, 0.5, 3), uniform_floats({kJoints}, 0, 0.3, 4)},
          .plain = plain};
}

/// The attitude of a body as a quaternion from the rates that its gyroscope measures.
Workload attitude() {
  constexpr std::int64_t kSteps = 2000;
  const auto program = [&](Tensor rates) {
    const auto turn = [](Tensor q, Tensor rate) {
      const Tensor w = q[0], x = q[1], y = q[2], z = q[3];
      const Tensor p = 0.005f * rate[0], r = 0.005f * rate[1], s = 0.005f * rate[2];
      const Tensor next = q + stack(0, -p * x - r * y - s * z, p * w + s * y - r * z,
                                    r * w - s * x + p * z, s * w + r * x - p * y);
      const Tensor unit = next / norm(next);
      return std::pair(unit, unit);
    };
    return scan(turn, constant({1.0f, 0.0f, 0.0f, 0.0f}), rates).second;
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float* rates = arguments[0].data<float>().data();
    Literal result = Literal::uninitialized(f32({kSteps, 4}));
    float w = 1, x = 0, y = 0, z = 0;
    for (std::size_t k = 0; k < kSteps; k++) {
      const float p = 0.005f * rates[3 * k], r = 0.005f * rates[3 * k + 1],
                  s = 0.005f * rates[3 * k + 2];
      const float a = w + (-p * x - r * y - s * z), b = x + (p * w + s * y - r * z),
                  c = y + (r * w - s * x + p * z), d = z + (s * w + r * x - p * y);
      const float length = std::sqrt(a * a + b * b + c * c + d * d);
      w = a / length, x = b / length, y = c / length, z = d / length;
      float* to = result.mutable_data<float>().data() + 4 * k;
      to[0] = w, to[1] = x, to[2] = y, to[3] = z;
    }
    return {result};
  };
  return {.name = "robots/attitude",
          .program = trace(program, f32({kSteps, 3})),
          .arguments = {uniform_floats({kSteps, 3}, -2, 2)},
          .plain = plain};
}

/// The price of an American option by a tree of 256 steps, back from its end.
Workload american_option() {
  constexpr std::int64_t kSteps = 256;
  const auto program = [&](Tensor spot, Tensor strike, Tensor volatility) {
    const Tensor up = exp(volatility * 0.0625f), rate = Tensor(1.0001f);
    const Tensor chance = (rate - 1 / up) / (up - 1 / up);
    const Tensor exponents = 2 * arange(kSteps + 1, DType::kF32) - float(kSteps);
    const Tensor prices = spot * pow(up, exponents);
    const auto back = [&](Tensor, Tensor values, Tensor prices) {
      const Tensor held = (chance * roll(values, -1, 0) + (1 - chance) * values) / rate;
      const Tensor earlier = prices * up;
      return std::tuple(maximum(held, strike - earlier), earlier);
    };
    const auto [values, last] =
        fori_loop(0, kSteps, back, std::tuple(maximum(strike - prices, 0), prices));
    return values[0];
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const float spot = arguments[0].item<float>(), strike = arguments[1].item<float>();
    const float up = std::exp(arguments[2].item<float>() * 0.0625f), rate = 1.0001f;
    const float chance = (rate - 1 / up) / (up - 1 / up);
    std::array<float, kSteps + 1> prices{}, values{};
    for (std::size_t i = 0; i <= kSteps; i++) {
      prices[i] = spot * std::pow(up, 2 * static_cast<float>(i) - float(kSteps));
      values[i] = std::max(strike - prices[i], 0.0f);
    }
    for (std::size_t n = kSteps; n > 0; n--)
      for (std::size_t i = 0; i < n; i++) {
        prices[i] *= up;
        const float held = (chance * values[i + 1] + (1 - chance) * values[i]) / rate;
        values[i] = std::max(held, strike - prices[i]);
      }
    return {Literal::scalar(values[0])};
  };
  return {.name = "finance/american_option",
          .program = trace(program, f32(), f32(), f32()),
          .arguments = {Literal::scalar(100.0f), Literal::scalar(105.0f), Literal::scalar(0.2f)},
          .plain = plain};
}

/// Yields of bonds by Newton's method, each with as many coupons as it has.
Workload bond_yields() {
  constexpr std::int64_t kBonds = 500;
  const auto program = [&](Tensor prices, Tensor coupons, Tensor years) {
    const auto yield_of = [](Tensor price, Tensor coupon, Tensor years) {
      const auto newton = [&](Tensor y, Tensor, Tensor trips) {
        const Tensor v = 1 / (1 + y);
        const auto pay = [&](Tensor k, Tensor value, Tensor slope, Tensor discount) {
          const Tensor next = discount * v;
          const Tensor amount = coupon + where(k == years - 1, 1.0, 0.0);
          return std::tuple(value + amount * next,
                            slope - amount * convert(k + 1, DType::kF64) * next * v, next);
        };
        const auto [value, slope, discount] = fori_loop(0, years, pay, std::tuple(0.0, 0.0, 1.0));
        const Tensor change = (value - price) / slope;
        return std::tuple(y - change, change, trips + 1);
      };
      const auto goes_on = [](Tensor, Tensor change, Tensor trips) {
        return (abs(change) > 1e-10) & (trips < 20);
      };
      return std::get<0>(while_loop(goes_on, newton, std::tuple(0.05, 1.0, 0)));
    };
    return vmap(yield_of)(prices, coupons, years);
  };
  const auto plain = [](const Literals& arguments) -> Literals {
    const auto prices = arguments[0].data<double>(), coupons = arguments[1].data<double>();
    const auto years = arguments[2].data<std::int32_t>();
    Literal result = Literal::uninitialized(f64({kBonds}));
    for (std::size_t i = 0; i < kBonds; i++) {
      double y = 0.05, change = 1;
      for (int trip = 0; std::abs(change) > 1e-10 && trip < 20; trip++) {
        const double v = 1 / (1 + y);
        double value = 0, slope = 0, discount = 1;
        for (int k = 0; k < years[i]; k++) {
          discount *= v;
          const double amount = coupons[i] + (k == years[i] - 1 ? 1 : 0);
          value += amount * discount;
          slope -= amount * (k + 1) * discount * v;
        }
        change = (value - prices[i]) / slope;
        y -= change;
      }
      result.mutable_data<double>()[i] = y;
    }
    return {result};
  };
  return {
      .name = "finance/bond_yields",
      .program = trace(program, f64({kBonds}), f64({kBonds}), s32({kBonds})),
      .arguments = {uniform_doubles({kBonds}, 0.8, 1.2), uniform_doubles({kBonds}, 0.02, 0.08, 2),
                    uniform_integers({kBonds}, 3, 30, 3)},
      .plain = plain};
}

}  // namespace

std::vector<Workload> robot_workloads() {
  return {quadrotor(), reaching_arm(), arm_poses(), attitude(), american_option(), bond_yields()};
}

}  // namespace rondo::bench
