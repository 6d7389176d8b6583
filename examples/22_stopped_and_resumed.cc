// Lesson 22: a long loop is stopped by Ctrl-C, saved, and resumed another day with the same bits.
//
// A run that a stop token ends throws Stopped, with the state of its outermost loop between two
// trips. The state is saved as an .npz, which NumPy can read too, and the loop continues from it.
// Everything that a trip depends on must be in the carry, including the number of the step.
#include <semaphore.h>

#include <csignal>
#include <cstdio>
#include <filesystem>
#include <map>
#include <stop_token>
#include <string>
#include <thread>

#include "rondo/rondo.h"

using rondo::Literal;
using rondo::Tensor;

struct Orbit {
  Tensor step, x, v;
};

/// An oscillation in a potential without a formula for its orbit, by the leapfrog method.
Orbit swing(Orbit start, Tensor steps) {
  return rondo::while_loop([&](Orbit o) { return o.step < steps; },
                           [](Orbit o) {
                             const Tensor half = o.v - 0.005 * rondo::sinh(o.x);
                             const Tensor x = o.x + 0.01 * half;
                             const Tensor step = rondo::tap(o.step + 1, "step");
                             return Orbit{step, x, half - 0.005 * rondo::sinh(x)};
                           },
                           start, {.name = "swing"});
}

sem_t interrupted;

int main() {
  // A handler may not request a stop, but it may post a semaphore, for which a thread waits.
  sem_init(&interrupted, 0, 0);
  std::signal(SIGINT, [](int) { sem_post(&interrupted); });
  std::stop_source stop;
  std::jthread listener([&] {
    while (sem_wait(&interrupted) != 0) {
    }
    stop.request_stop();
  });

  const auto run = rondo::jit(swing);
  const Orbit start{0, 1.0, 0.0};
  const int steps = 20'000;
  const std::string path = (std::filesystem::temp_directory_path() / "rondo_swing.npz").string();

  // The lesson runs without a user at the keyboard: step 1,000 presses Ctrl-C.
  rondo::RunOptions options{.stop_token = stop.get_token()};
  options.on_tap = [&](std::string_view, const Literal& step) {
    if (step.item<int>() != 1000) return;
    std::raise(SIGINT);
    while (!stop.stop_requested()) std::this_thread::yield();
  };
  try {
    const Orbit end = run.with(options)(start, steps);
    std::printf("not stopped, at step %d\n", end.step.item<int>());
    return 1;
  } catch (const rondo::Stopped& stopped) {
    std::map<std::string, Literal> state;
    for (const auto& [name, value] : stopped.carry()) state[name] = value;
    // A trip or two may start before the run sees the request.
    std::printf("stopped in '%s' after about %d steps\n", stopped.loop().c_str(),
                static_cast<int>((stopped.trip() + 50) / 100 * 100));
    rondo::save_npz(path, Orbit{state.at("step"), state.at("x"), state.at("v")});
  }

  // Another day.
  const Orbit saved = rondo::load_npz(path, start);
  const Orbit resumed = run(saved, steps);
  const Orbit straight = run(start, steps);
  const bool same = resumed.x.eval().identical(straight.x.eval()) &&
                    resumed.v.eval().identical(straight.v.eval());
  std::printf("step %d, x = %.6f, v = %.6f\n", resumed.step.item<int>(), resumed.x.item<double>(),
              resumed.v.item<double>());
  std::printf("the same bits as without the stop: %s\n", same ? "yes" : "no");
  std::filesystem::remove(path);
  return same ? 0 : 1;
}
