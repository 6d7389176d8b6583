// Lesson 27: an event inside a simulation, and the gradient of the time at which it happens.
//
// A ball with air resistance is thrown. A while steps it until the next step would end below the
// ground; a second while finds the exact time by Newton's method. Both make as many trips as they
// need, and grad passes through them: how does the landing depend on the speed, and with which
// angle does the ball fly farthest? Without air the answers are known in closed form.
#include <cmath>
#include <cstdio>
#include <numbers>

#include "rondo/rondo.h"

using rondo::Tensor;

constexpr double kGravity = 9.81, kStep = 0.02;

struct Flight {
  Tensor time, x, y, vx, vy;
};

/// After t seconds, by the midpoint rule; drag is in 1/m: the deceleration is drag |v| v.
Flight after(const Flight& f, const Tensor& t, const Tensor& drag) {
  const Tensor slowed = drag * rondo::hypot(f.vx, f.vy);
  const Tensor vx = f.vx - t / 2 * slowed * f.vx, vy = f.vy - t / 2 * (slowed * f.vy + kGravity);
  const Tensor halfway = drag * rondo::hypot(vx, vy);
  return Flight{f.time + t, f.x + t * vx, f.y + t * vy, f.vx - t * halfway * vx,
                f.vy - t * (halfway * vy + kGravity)};
}

struct Landing {
  Tensor time, distance;
};

Landing throw_ball(Tensor speed, Tensor angle, Tensor drag) {
  const Flight start{0.0, 0.0, 0.0, speed * cos(angle), speed * sin(angle)};
  const Flight last =
      rondo::while_loop([&](Flight f) { return after(f, kStep, drag).y > 0; },
                        [&](Flight f) { return after(f, kStep, drag); }, start, {.name = "flight"});
  // Newton's method for y = 0. At convergence, its derivative is that of the landing time.
  const auto newton = [&](Tensor t, Tensor) {
    const Flight f = after(last, t, drag);
    const Tensor step = -f.y / f.vy;
    return std::tuple(t + step, step);
  };
  const auto [moment, step] =
      rondo::while_loop([](Tensor, Tensor step) { return abs(step) > 1e-12; }, newton,
                        std::tuple(Tensor(kStep), Tensor(1.0)), {.name = "newton"});
  const Flight landed = after(last, moment, drag);
  return Landing{landed.time, landed.x};
}

int main() {
  const auto time = [](Tensor speed, Tensor angle, Tensor drag) {
    return throw_ball(speed, angle, drag).time;
  };
  const auto time_and_slope = rondo::jit(rondo::value_and_grad<0, 1>(time));
  const double speed = 20, angle = 0.9;
  const auto [landing, slopes] = time_and_slope(speed, angle, 0.0);
  const auto [by_speed, by_angle] = slopes;
  std::printf("%-22s %12s %12s\n", "without air", "rondo", "formula");
  const auto row = [](const char* name, const Tensor& ours, double formula) {
    std::printf("%-22s %12.8f %12.8f\n", name, ours.item<double>(), formula);
  };
  row("landing, s", landing, 2 * speed * std::sin(angle) / kGravity);
  row("  by the speed", by_speed, 2 * std::sin(angle) / kGravity);
  row("  by the angle", by_angle, 2 * speed * std::cos(angle) / kGravity);

  // The farthest throw: Newton's method on the angle, with second derivatives through both loops.
  const auto distance = [](Tensor angle, Tensor drag) {
    return throw_ball(20.0, angle, drag).distance;
  };
  const auto best_angle = [&](Tensor drag) {
    const auto step = [&](Tensor, Tensor angle) {
      const auto slope = rondo::grad([&](Tensor a) { return distance(a, drag); });
      const auto [first, second] = rondo::jvp(slope, std::tuple(angle), std::tuple(1.0));
      return angle - first / second;
    };
    return rondo::fori_loop(0, 4, step, Tensor(0.75), {.name = "farthest"});
  };
  // Each drag is a lane: the flights end at different times.
  const Tensor drags = rondo::constant({0.0, 0.005, 0.01, 0.02, 0.04});
  const Tensor angles = rondo::jit(rondo::vmap(best_angle))(drags);
  const Tensor distances = rondo::jit(rondo::vmap(distance))(angles, drags);
  std::printf("\n%10s %16s %14s\n", "drag, 1/m", "best angle, deg", "distance, m");
  for (int i = 0; i < 5; i++) {
    std::printf("%10.3f %16.4f %14.4f\n", drags[i].item<double>(),
                angles[i].item<double>() * 180 / std::numbers::pi, distances[i].item<double>());
  }
}
