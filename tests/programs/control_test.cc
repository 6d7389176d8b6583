// Optimal control by gradient, and events: a cart that swings up its pole, a ball that bounces.
#include <cmath>
#include <numbers>
#include <vector>

#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_close;

using Numbers = std::vector<double>;

// A. Barto, R. Sutton, C. Anderson, "Neuronlike adaptive elements that can solve difficult learning
// control problems", 1983: masses in kg, half the pole's length in m.
constexpr double kGravity = 9.8, kCart = 1.0, kPole = 0.1, kHalfLength = 0.5, kStep = 0.02;

struct Motion {
  Tensor x, v, angle, turning;
};

Motion pushed(const Motion& m, const Tensor& force) {
  const Tensor s = sin(m.angle), c = cos(m.angle);
  const Tensor push = (force + kPole * kHalfLength * square(m.turning) * s) / (kCart + kPole);
  const Tensor turn =
      (kGravity * s - c * push) / (kHalfLength * (4.0 / 3 - kPole * square(c) / (kCart + kPole)));
  const Tensor acceleration = push - kPole * kHalfLength * turn * c / (kCart + kPole);
  const Tensor v = m.v + kStep * acceleration, turning = m.turning + kStep * turn;
  return Motion{m.x + kStep * v, v, m.angle + kStep * turning, turning};
}

/// How far from rest upright the cart ends, plus the cost of the forces.
Tensor control_loss(Tensor forces) {
  const Motion end =
      scan([](Motion m, Tensor force) { return std::pair(pushed(m, force), std::tuple<>()); },
           Motion{0.0, 0.0, 0.3, 0.0}, forces)
          .first;
  return square(end.x) + square(end.v) + 10 * square(end.angle) + square(end.turning) +
         1e-5 * sum(square(forces));
}

double plain_control_loss(const Numbers& forces) {
  double x = 0, v = 0, angle = 0.3, turning = 0, effort = 0;
  for (const double force : forces) {
    const double s = std::sin(angle), c = std::cos(angle);
    const double push = (force + kPole * kHalfLength * turning * turning * s) / (kCart + kPole);
    const double turn =
        (kGravity * s - c * push) / (kHalfLength * (4.0 / 3 - kPole * c * c / (kCart + kPole)));
    v += kStep * (push - kPole * kHalfLength * turn * c / (kCart + kPole));
    turning += kStep * turn;
    x += kStep * v;
    angle += kStep * turning;
    effort += force * force;
  }
  return x * x + v * v + 10 * angle * angle + turning * turning + 1e-5 * effort;
}

struct Descent {
  Tensor forces, momentum;
};

TEST(CartPole, IsBroughtUprightByTheGradientThroughItsMotion) {
  constexpr std::int64_t kForces = 50;
  const Tensor none = zeros(f64({kForces}));
  // The gradient, compared with differences of the plain simulation.
  Numbers some;
  for (std::int64_t i = 0; i < kForces; i++) some.push_back(std::sin(static_cast<double>(i)));
  Numbers slopes;
  for (std::size_t i = 0; i < some.size(); i++) {
    Numbers more = some, less = some;
    more[i] += 1e-5;
    less[i] -= 1e-5;
    slopes.push_back((plain_control_loss(more) - plain_control_loss(less)) / 2e-5);
  }
  expect_close<double>(jit(grad(control_loss))(constant(some, {kForces})), {kForces}, slopes, 1e-6,
                       1e-6);
  // Descent as one program: a loop around the gradient of a loop.
  const auto train = jit([](Tensor forces) {
    return fori_loop(0, 200,
                     [](Tensor, Descent d) {
                       const Tensor momentum = 0.9 * d.momentum + grad(control_loss)(d.forces);
                       return Descent{d.forces - 0.2 * momentum, momentum};
                     },
                     Descent{forces, zeros(forces.type())}, {.name = "descent"})
        .forces;
  });
  const Literal forces = train(none).eval();
  const Numbers found(forces.data<double>().begin(), forces.data<double>().end());
  EXPECT_GT(plain_control_loss(Numbers(kForces, 0)), 30);
  EXPECT_LT(plain_control_loss(found), 0.5);
  EXPECT_NEAR(control_loss(forces).item<double>(), plain_control_loss(found), 1e-9);
}

constexpr double kG = 9.81, kDt = 0.01;

struct Ball {
  Tensor time, height, speed;
};

/// The time of the ball's `landings`-th landing: steps until it is below the ground, then Newton's
/// method for the exact time. At each landing the speed is reversed and reduced.
Tensor landing_time(Tensor height, Tensor speed, Tensor bounce, Tensor landings) {
  const auto after = [](const Ball& b, const Tensor& t) {
    return Ball{b.time + t, b.height + b.speed * t - kG / 2 * square(t), b.speed - kG * t};
  };
  const auto one_landing = [&](Tensor, Ball b) {
    // The last moment above the ground: the next step would end below it.
    const Ball last = while_loop([&](Ball now) { return after(now, kDt).height > 0; },
                                 [&](Ball now) { return after(now, kDt); }, after(b, kDt / 2),
                                 {.name = "flight"});
    const Tensor moment =
        std::get<0>(while_loop([](Tensor, Tensor step) { return abs(step) > 1e-13; },
                               [&](Tensor t, Tensor) {
                                 const Ball at = after(last, t);
                                 const Tensor step = -at.height / at.speed;
                                 return std::tuple(t + step, step);
                               },
                               std::tuple(Tensor(kDt), Tensor(1.0)), {.name = "newton"}));
    const Ball landed = after(last, moment);
    return Ball{landed.time, landed.height, -bounce * landed.speed};
  };
  return fori_loop(0, landings, one_landing, Ball{0.0, height, speed}).time;
}

TEST(BouncingBall, LandsWhenTheClosedFormSaysAndSoDoesItsGradient) {
  const double h = 1.3, v = 2.0, e = 0.8;
  for (const int landings : {1, 3}) {
    SCOPED_TRACE(landings);
    const double root = std::sqrt(v * v + 2 * kG * h);  // the speed at the first landing
    // After it, flights of 2 e v / g, 2 e^2 v / g ...
    double share = 0, slope = 0;
    for (int i = 1; i < landings; i++) {
      share += 2 * std::pow(e, i);
      slope += 2 * i * std::pow(e, i - 1);
    }
    const auto [time, gradient] = jit(value_and_grad<0, 1, 2>(landing_time))(h, v, e, landings);
    EXPECT_NEAR(time.item<double>(), (v + root + share * root) / kG, 1e-12);
    const auto& [by_height, by_speed, by_bounce] = gradient;
    EXPECT_NEAR(by_height.item<double>(), (1 + share) / root, 1e-10);
    EXPECT_NEAR(by_speed.item<double>(), (1 + (1 + share) * v / root) / kG, 1e-10);
    EXPECT_NEAR(by_bounce.item<double>(), slope * root / kG, 1e-10);
  }
  // Many balls, each with flights of a different length.
  const auto times = jit(vmap(landing_time, {.in_axes = {0, std::nullopt, std::nullopt, 0}}));
  const Literal got = times(constant({0.1, 1.3, 5.0}), v, e, constant({2, 1, 1})).eval();
  for (std::size_t i = 0; i < 3; i++) {
    const double root = std::sqrt(v * v + 2 * kG * Numbers{0.1, 1.3, 5.0}[i]);
    EXPECT_NEAR(got.data<double>()[i], (v + root + (i == 0 ? 2 * e * root : 0)) / kG, 1e-12);
  }
}

}  // namespace
}  // namespace rondo
