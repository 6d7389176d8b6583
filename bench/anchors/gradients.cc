// Gradients of the loops that the other files time.
#include <fstream>
#include <numbers>

#include "anchors/harness.h"

namespace anchors {

using rondo::Checkpoint;
using rondo::Tensor;

namespace {

constexpr double kHouseArea = std::numbers::pi * 0.019 * (100 / 0.50292);
constexpr double kHouseMass = kHouseArea * 0.019 / 4 * 1000;
constexpr double kHouseConductance = kHouseArea / (0.35 * 0.0023);

struct House {
  Tensor slab, quanta, tank;
};

auto thermal_loss(int trips) {
  return [=](Tensor slab, Tensor quanta, Tensor tank) {
    const House end = rondo::fori_loop(
        0, trips,
        [](Tensor, House s) {
          const Tensor p = (s.tank - s.quanta) * 0.6309 * 4184.0,
                       q = (s.quanta - s.slab) * kHouseConductance;
          return House{s.slab + q * 0.1 / (880 * 22650.058),
                       s.quanta + (p - q) * 0.1 / (4184 * kHouseMass),
                       s.tank - p * 0.1 / (4184 * 75.708)};
        },
        House{slab, quanta, tank});
    return rondo::square(end.slab - 27.344767);
  };
}

void thermal_gradients() {
  for (int trips : {20, 1000, 10000}) {
    auto run = jitted(rondo::value_and_grad<0, 1, 2>(thermal_loss(trips)));
    Tensor value;
    std::tuple<Tensor, Tensor, Tensor> slopes;
    time_it(
        "thermal" + std::to_string(trips) + "_grad", "us",
        [&] { std::tie(value, slopes) = run(33.3f, 33.3f, 70.0f); },
        [&] {
          const auto& [a, b, c] = slopes;
          return check_sum(value) + check_sum(a) + check_sum(b) + check_sum(c);
        });
  }
  time_it("first_call_grad", "ms", [] {
    (void)jitted(rondo::value_and_grad<0, 1, 2>(thermal_loss(20)))(33.3f, 33.3f, 70.0f);
  });
}

void rnn_gradient() {
  auto loss = [](Tensor w, Tensor u, Tensor b, Tensor x, Tensor h0) {
    const Tensor all = rondo::scan(
                           [&](Tensor h, Tensor x) {
                             const Tensor next = tanh(matmul(x, w) + matmul(h, u) + b);
                             return std::pair(next, next);
                           },
                           h0, x)
                           .second;
    return sum(all * all);
  };
  const auto x = literal(fill(256 * 32 * 128, 10, -1, 1), {256, 32, 128}),
             w = literal(fill(128 * 128, 11, -0.1f, 0.1f), {128, 128}),
             u = literal(fill(128 * 128, 12, -0.1f, 0.1f), {128, 128}),
             b = literal(fill(128, 13, -0.1f, 0.1f), {128});
  const rondo::Literal h0 = rondo::Literal::zeros(rondo::f32({32, 128}));
  auto run = jitted(rondo::value_and_grad<0, 1, 2>(loss));
  Tensor value;
  std::tuple<Tensor, Tensor, Tensor> slopes;
  time_it(
      "scan_rnn_grad", "ms", [&] { std::tie(value, slopes) = run(w, u, b, x, h0); },
      [&] {
        const auto& [dw, du, db] = slopes;
        return check_sum(value) + check_sum(dw) + check_sum(du) + check_sum(db);
      });
}

void leaves_gradient() {
  auto loss = [](std::vector<Tensor> s0, Tensor xs) {
    auto [s, ys] = rondo::scan(
        [](std::vector<Tensor> s, Tensor x) {
          std::vector<Tensor> next;
          for (std::size_t k = 0; k < s.size(); k++) {
            const Tensor u = 0.9f * s[k] + 0.05f * s[(k + 1) % s.size()] + 0.1f * x;
            next.push_back(u - 0.1f * u * u * u);
          }
          return std::pair(next, next[0] * next[0]);
        },
        s0, xs);
    Tensor total = sum(ys);
    for (const Tensor& leaf : s) total += leaf;
    return total;
  };
  std::vector<rondo::Literal> s0;
  for (float v : fill(60, 20)) s0.push_back(rondo::Literal::scalar(v));
  const rondo::Literal xs = literal(fill(614, 21), {614});
  auto run = jitted(rondo::value_and_grad<0, 1>(loss));
  Tensor value;
  std::tuple<std::vector<Tensor>, Tensor> slopes;
  time_it(
      "scan_leaves_grad", "ms", [&] { std::tie(value, slopes) = run(s0, xs); },
      [&] {
        double total = check_sum(value) + check_sum(std::get<1>(slopes));
        for (const Tensor& leaf : std::get<0>(slopes)) total += check_sum(leaf);
        return total;
      });
}

void vec4_gradient() {
  auto total = [](Tensor a, Tensor h0, Tensor xs) {
    return sum(rondo::scan(
                   [&](Tensor h, Tensor x) {
                     const Tensor next = tanh(matmul(a, h) + x);
                     return std::pair(next, next);
                   },
                   h0, xs)
                   .second);
  };
  const auto a = literal(fill(16, 30, -0.5f, 0.5f), {4, 4}),
             xs = literal(fill(614 * 4, 31, -1, 1), {614, 4});
  const rondo::Literal h0 = rondo::Literal::zeros(rondo::f32({4}));
  auto run = jitted(rondo::value_and_grad<0, 1>(total));
  Tensor value;
  std::tuple<Tensor, Tensor> slopes;
  time_it(
      "scan_vec4_grad", "ms", [&] { std::tie(value, slopes) = run(a, h0, xs); },
      [&] {
        return check_sum(value) + check_sum(std::get<0>(slopes)) + check_sum(std::get<1>(slopes));
      });
}

/// A line of /proc/self/status in MiB; 0 where there is none.
double memory_status(const std::string& key) {
  std::ifstream status("/proc/self/status");
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return std::stod(line.substr(key.size() + 1)) / 1024;
  }
  return 0;
}

void memory_of_gradients() {
  struct Case {
    const char* work;
    Checkpoint policy;
  };
  for (const Case& c : {Case{"grad_memory_sqrt", Checkpoint::periodic(250)},
                        Case{"grad_memory_tape", Checkpoint::tape()}}) {
    if (!wanted(c.work)) continue;
    auto run = jitted(rondo::grad([&](Tensor x) {
      const Tensor end = rondo::fori_loop(
          0, 100'000, [](Tensor, Tensor x) { return x * (1 + 0x1p-16f - 0x1p-16f * x); }, x,
          {.checkpoint = c.policy});
      return sum(end * end);
    }));
    const rondo::Literal x = literal(fill(256, 7, 0.5f, 1.5f), {256});
    std::ofstream("/proc/self/clear_refs") << "5";  // sets the peak back to now
    const double before = memory_status("VmRSS:");
    Tensor slope = run(x);
    print_line(std::string(c.work) + "_peak", {memory_status("VmHWM:") - before}, "MiB", nullptr);
    time_it(
        c.work, "ms", [&] { slope = run(x); }, [&] { return check_sum(slope); });
  }
}

}  // namespace

void gradients() {
  thermal_gradients();
  rnn_gradient();
  leaves_gradient();
  vec4_gradient();
  memory_of_gradients();
}

}  // namespace anchors
