// Whole arrays, matrix products and scans.
#include "anchors/harness.h"

namespace anchors {

using rondo::Tensor;

namespace {

void pointwise() {
  if (wanted("pointwise8") || wanted("reduce_sum")) {
    const rondo::Literal x = literal(fill(10'000'000, 50, -1, 1), {10'000'000});
    auto chain = jitted([](Tensor x) {
      Tensor t = x * 1.1f + 0.3f;
      t = t * x - 0.7f;
      t = maximum(t, -0.5f) * 0.5f;
      return abs(t + x);
    });
    auto total = jitted([](Tensor x) { return sum(x); });
    Tensor out;
    time_it(
        "pointwise8", "ms", [&] { out = chain(x); }, [&] { return check_sum(out); });
    time_it(
        "reduce_sum", "ms", [&] { out = total(x); }, [&] { return check_sum(out); });
  }
  const rondo::Literal x = literal(fill(1'000'000, 51), {1'000'000});
  auto loop = jitted([](Tensor x) {
    return rondo::fori_loop(
        0, 100, [](Tensor, Tensor x) { return minimum(x * 0.999f + 0.01f, 4) - 0.001f; }, x);
  });
  Tensor out;
  time_it(
      "pointwise_loop", "ms", [&] { out = loop(x); }, [&] { return check_sum(out); });
}

void order() {
  const rondo::Literal x = literal(fill(1'000'000, 52), {1'000'000});
  auto sorted = jitted([](Tensor x) { return sort(x, 0); });
  auto sums = jitted([](Tensor x) { return cumsum(x, 0); });
  Tensor out;
  time_it(
      "sort", "ms", [&] { out = sorted(x); }, [&] { return check_sum(out); });
  time_it(
      "cumsum", "ms", [&] { out = sums(x); }, [&] { return check_sum(out); });
}

void products() {
  const rondo::Literal a = literal(fill(512 * 512, 60, -1, 1), {512, 512}),
                       b = literal(fill(512 * 512, 61, -1, 1), {512, 512});
  auto product = jitted([](Tensor a, Tensor b) { return matmul(a, b); });
  Tensor out;
  time_it(
      "matmul512", "ms", [&] { out = product(a, b); }, [&] { return check_sum(out); });

  std::vector<float> reflection(64 * 64);
  double length = 0;
  for (int i = 1; i <= 64; i++) length += static_cast<double>(i) * i;
  for (int i = 0; i < 64; i++) {
    for (int j = 0; j < 64; j++)
      reflection[static_cast<std::size_t>(64 * i + j)] =
          static_cast<float>((i == j) - 2.0 * (i + 1) * (j + 1) / length);
  }
  const rondo::Literal matrix = literal(reflection, {64, 64}), x = literal(fill(64, 40), {64});
  auto loop = jitted([](Tensor a, Tensor x) {
    return rondo::fori_loop(
        0, 1000, [&](Tensor, Tensor x) { return matmul(a, x); }, x);
  });
  time_it(
      "matvec_loop", "us/trip", [&] { out = loop(matrix, x); }, [&] { return check_sum(out); },
      1000);
}

void scans() {
  Tensor out;
  {
    auto rnn = jitted([](Tensor w, Tensor u, Tensor b, Tensor x, Tensor h0) {
      return rondo::scan(
                 [&](Tensor h, Tensor x) {
                   const Tensor next = tanh(matmul(x, w) + matmul(h, u) + b);
                   return std::pair(next, next);
                 },
                 h0, x)
          .second;
    });
    const auto x = literal(fill(256 * 32 * 128, 10, -1, 1), {256, 32, 128}),
               w = literal(fill(128 * 128, 11, -0.1f, 0.1f), {128, 128}),
               u = literal(fill(128 * 128, 12, -0.1f, 0.1f), {128, 128}),
               b = literal(fill(128, 13, -0.1f, 0.1f), {128});
    const rondo::Literal h0 = rondo::Literal::zeros(rondo::f32({32, 128}));
    time_it(
        "scan_rnn", "ms", [&] { out = rnn(w, u, b, x, h0); }, [&] { return check_sum(out); });
  }
  {
    auto leaves = jitted([](std::vector<Tensor> s0, Tensor xs) {
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
    });
    std::vector<rondo::Literal> s0;
    for (float v : fill(60, 20)) s0.push_back(rondo::Literal::scalar(v));
    const rondo::Literal xs = literal(fill(614, 21), {614});
    time_it(
        "scan_leaves", "ms", [&] { out = leaves(s0, xs); }, [&] { return check_sum(out); });
  }
  {
    auto small = jitted([](Tensor a, Tensor h0, Tensor xs) {
      return rondo::scan(
                 [&](Tensor h, Tensor x) {
                   const Tensor next = tanh(matmul(a, h) + x);
                   return std::pair(next, next);
                 },
                 h0, xs)
          .second;
    });
    const auto a = literal(fill(16, 30, -0.5f, 0.5f), {4, 4}),
               xs = literal(fill(614 * 4, 31, -1, 1), {614, 4});
    time_it(
        "scan_vec4", "ms", [&] { out = small(a, rondo::Literal::zeros(rondo::f32({4})), xs); },
        [&] { return check_sum(out); });
  }
}

}  // namespace

void arrays() {
  pointwise();
  order();
  products();
  scans();
}

}  // namespace anchors
