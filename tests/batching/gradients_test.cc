// Derivatives and vmap in every order, against the loop over lanes.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "batching/lanes.h"
#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_close;
using testing::expect_like_loop;
using testing::expect_values;

const std::vector<Checkpoint>& policies() {
  static const std::vector<Checkpoint> all{Checkpoint::automatic(), Checkpoint::tape(),
                                           Checkpoint::online(2), Checkpoint::revolve(2),
                                           Checkpoint::periodic(2)};
  return all;
}

/// Multiplies by w until v is at least the limit: 0 trips in some lanes.
Tensor grown(const Tensor& v, const Tensor& w, const Checkpoint& policy,
             std::optional<std::int64_t> limit = std::nullopt) {
  return while_loop([](Tensor u) { return u < 10; }, [&](Tensor u) { return u * w + sin(u); }, v,
                    {.max_trip_count = limit, .checkpoint = policy});
}

const std::vector<float> kStarts{20, 9, 1, 0.5f, 3};

TEST(BatchedGradients, OfAWhileWithUnequalTrips) {
  for (const Checkpoint& policy : policies()) {
    for (const std::optional<std::int64_t> limit :
         {std::optional<std::int64_t>(), std::optional<std::int64_t>(16)}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(policy.policy)) + (limit ? " promised" : ""));
      const testing::LaneFunction f = [&](std::span<const Tensor> x) -> std::vector<Tensor> {
        const auto [v, w] =
            grad<0, 1>([&](Tensor a, Tensor b) { return grown(a, b, policy, limit); })(x[0], x[1]);
        return {v, w};
      };
      expect_like_loop(f, {Literal::from<float>(kStarts, {5}), Literal::scalar(1.5f)},
                       {0, std::nullopt}, {.rtol = 1e-5});
    }
  }
}

TEST(BatchedGradients, OfNoLanes) {
  const auto lane = [](Tensor x) {
    const Tensor y = while_loop([](Tensor y) { return y < 10; }, [](Tensor y) { return y * y; }, x);
    return cond(
        y > 20, [&] { return sin(y); }, [&] { return y * x; });
  };
  EXPECT_EQ(grad([&](Tensor x) { return sum(vmap(lane)(x)); })(zeros(f64({0}))).shape(), Shape{0});
}

// With as many trips as lanes, and with another number: the lane axis of a scan differs from that
// of its surroundings.
TEST(BatchedGradients, OfScansInBranchesAndLoopsThatEachLaneTakesForItself) {
  for (const std::int64_t trips : {2, 3, 5}) {
    const auto scanned = [](Tensor x, Tensor y) {
      return sum(
          scan([](Tensor a, Tensor b) { return std::pair(a * b + 0.3, sqrt(a)); }, y, x).second);
    };
    const auto lane = [&](Tensor x, Tensor y) {
      const Tensor chosen = cond(
          y > 0.6, [&] { return scanned(x, y); }, [&] { return sum(x * x * y); });
      return while_loop([](Tensor v) { return v < 4; },
                        [&](Tensor v) { return v + 1 + scanned(x + v, y); }, chosen);
    };
    const Tensor x = reshape(arange(3 * trips, DType::kF64) * 0.1 + 0.2, {3, trips});
    const Tensor y = constant({0.9, 0.4, 1.7});
    const auto batched = [&](Tensor x, Tensor y) { return sum(vmap(lane)(x, y)); };
    const auto one_by_one = [&](Tensor x, Tensor y) {
      return lane(x[0], y[0]) + lane(x[1], y[1]) + lane(x[2], y[2]);
    };
    SCOPED_TRACE(trips);
    const auto [by_x, by_y] = grad<0, 1>(batched)(x, y);
    const auto [want_x, want_y] = grad<0, 1>(one_by_one)(x, y);
    const Literal all_x = want_x.eval(), all_y = want_y.eval();
    expect_close<double>(by_x, {3, trips},
                         {all_x.data<double>().begin(), all_x.data<double>().end()}, 1e-12);
    expect_close<double>(by_y, {3}, {all_y.data<double>().begin(), all_y.data<double>().end()},
                         1e-12);
  }
}

// As lanes, and as a whole array that all lanes read.
TEST(BatchedGradients, OfAnArrayThatIsBatchedAndCaptured) {
  const Literal x = Literal::from(std::vector<double>{0.3, -0.5, 0.8, 0.6, 0.1}, {5});
  const Tensor trips = arange(5);
  const auto with = [&](auto over_lanes) {
    return [&, over_lanes](Tensor all) {
      const auto lane = [&](Tensor y, Tensor n) {
        const auto step = [&](Tensor i, Tensor y) {
          const Tensor next = cond(
              y > 0.2, [&] { return sum(sin(all * y)); }, [&] { return y * all[1] + 0.4; });
          return std::pair(i + 1, next);
        };
        return while_loop([&](Tensor i, Tensor) { return i < n; }, step, std::pair(Tensor(0), y))
            .second;
      };
      return sum(over_lanes(lane, all));
    };
  };
  const auto batched = [&](auto lane, Tensor all) { return vmap(lane)(all, trips); };
  const auto one_by_one = [&](auto lane, Tensor all) {
    Tensor total = 0.0;
    for (int i = 0; i < 5; i++) total += lane(all[i], Tensor(i));
    return total;
  };
  const Literal want = grad(with(one_by_one))(x).eval();
  expect_close<double>(grad(with(batched))(x), {5},
                       {want.data<double>().begin(), want.data<double>().end()}, 1e-12);
}

// The gradient of a sum over lanes is the sum of the lanes' gradients, for shared values.
TEST(BatchedGradients, ThroughABatchedWhile) {
  for (const Checkpoint& policy : policies()) {
    for (const std::optional<std::int64_t> limit :
         {std::optional<std::int64_t>(), std::optional<std::int64_t>(16)}) {
      SCOPED_TRACE(std::to_string(static_cast<int>(policy.policy)) + (limit ? " promised" : ""));
      const auto one = [&](Tensor a, Tensor b) { return grown(a, b, policy, limit); };
      const auto total = [&](Tensor v, Tensor w) {
        return sum(vmap(one, {.in_axes = {0, std::nullopt}})(v, w));
      };
      const auto [of_starts, of_factor] =
          jit(grad<0, 1>(total))(Literal::from<float>(kStarts, {5}), 1.5f);
      std::vector<float> want;
      float factor = 0;
      for (const float start : kStarts) {
        const auto [a, b] = grad<0, 1>(one)(start, 1.5f);
        want.push_back(a.item<float>());
        factor += b.item<float>();
      }
      expect_close<float>(of_starts, {5}, want, 1e-5);
      expect_close<float>(of_factor, {}, {factor}, 1e-5);
    }
  }
}

// After its end a lane would divide by 0; before its start (no trip) it would take the square root
// of -1.
TEST(BatchedGradients, OfLanesThatAreDoneAreNotPoisoned) {
  const auto one = [](Tensor v, Tensor w) {
    return while_loop([](Tensor u) { return u > 0; },
                      [&](Tensor u) { return u - 1 + 0 * sqrt(u * w) + 0.5f * log(u * w); }, v,
                      {.max_trip_count = 20});
  };
  const auto total = [&](Tensor v, Tensor w) {
    return sum(vmap(one, {.in_axes = {0, std::nullopt}})(v, w));
  };
  const std::vector<float> starts{-1, 0, 1, 2.5f, 4};
  const auto [of_starts, of_factor] =
      jit(grad<0, 1>(total))(Literal::from<float>(starts, {5}), 1.5f);
  std::vector<float> want;
  float factor = 0;
  for (const float start : starts) {
    const auto [a, b] = grad<0, 1>(one)(start, 1.5f);
    want.push_back(a.item<float>());
    factor += b.item<float>();
    ASSERT_TRUE(std::isfinite(want.back()) && std::isfinite(factor));
  }
  expect_close<float>(of_starts, {5}, want, 1e-5);
  expect_close<float>(of_factor, {}, {factor}, 1e-5);
}

TEST(BatchedGradients, OfTheBranchNotTakenAreNotPoisoned) {
  const auto one = [](Tensor x, Tensor w) {
    return cond(
        x > 0, [&](Tensor v) { return log(v) * w + sqrt(v * w); }, [&](Tensor v) { return v * w; },
        x);
  };
  const auto total = [&](Tensor x, Tensor w) {
    return sum(vmap(one, {.in_axes = {0, std::nullopt}})(x, w));
  };
  for (const std::vector<float>& xs :
       {std::vector<float>{-1, 0, 2, 3}, {-1, 0, -2, -3}, {1, 2, 3, 4}}) {
    const auto [of_x, of_w] = jit(grad<0, 1>(total))(Literal::from<float>(xs, {4}), 1.5f);
    std::vector<float> want;
    float weight = 0;
    for (const float x : xs) {
      const auto [a, b] = grad<0, 1>(one)(x, 1.5f);
      want.push_back(a.item<float>());
      weight += b.item<float>();
    }
    expect_close<float>(of_x, {4}, want, 1e-5);
    expect_close<float>(of_w, {}, {weight}, 1e-5);
    expect_close<float>(
        vmap(grad(one), {.in_axes = {0, std::nullopt}})(Literal::from<float>(xs, {4}), 1.5f), {4},
        want, 1e-5);
  }
}

TEST(BatchedGradients, PerExampleOfANetwork) {
  const testing::LaneFunction f = [](std::span<const Tensor> x) -> std::vector<Tensor> {
    const auto loss = [](Tensor w, Tensor input, Tensor target) {
      const Tensor out = tanh(matmul(w, input));
      return sum((out - target) * (out - target));
    };
    return {grad(loss)(x[0], x[1], x[2])};
  };
  std::vector<float> w(12), inputs(20), targets(15);
  for (std::size_t i = 0; i < w.size(); i++) w[i] = 0.1f * static_cast<float>(i) - 0.5f;
  for (std::size_t i = 0; i < inputs.size(); i++) inputs[i] = 0.3f * static_cast<float>(i % 7) - 1;
  for (std::size_t i = 0; i < targets.size(); i++) targets[i] = 0.2f * static_cast<float>(i % 5);
  expect_like_loop(f,
                   {Literal::from<float>(w, {3, 4}), Literal::from<float>(inputs, {5, 4}),
                    Literal::from<float>(targets, {5, 3})},
                   {std::nullopt, 0, 0}, {.rtol = 1e-5});
}

TEST(BatchedGradients, OfScansAndForis) {
  for (const Checkpoint& policy : policies()) {
    const testing::LaneFunction f = [&](std::span<const Tensor> x) -> std::vector<Tensor> {
      const auto loss = [&](Tensor c, Tensor xs, Tensor w) {
        const auto [last, ys] =
            scan([&](Tensor s, Tensor v) { return std::pair(sin(s * w) + v, s * v); }, c, xs,
                 {.checkpoint = policy});
        return last * sum(ys) + fori_loop(0, 4,
                                          [&](Tensor i, Tensor s) { return s * w + xs[i] * s; }, c,
                                          {.checkpoint = policy});
      };
      const auto [c, xs, w] = grad<0, 1, 2>(loss)(x[0], x[1], x[2]);
      return {c, xs, w};
    };
    const Literal c = Literal::from<float>(std::vector<float>{0.5f, 1, 2}, {3});
    const Literal xs =
        Literal::from<float>(std::vector<float>{1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}, {3, 4});
    const Literal row = Literal::from<float>(std::vector<float>{1, 2, 3, 4}, {4});
    expect_like_loop(f, {c, xs, Literal::scalar(0.5f)}, {0, 0, std::nullopt}, {.rtol = 1e-4});
    expect_like_loop(f, {c, row, c}, {0, std::nullopt, 0}, {.rtol = 1e-4});
  }
}

// A tape of lanes is one array with a row for each trip, written and read by slices.
TEST(BatchedGradients, ATapeOfLanesIsWrittenBySlices) {
  for (const Checkpoint& policy : policies()) {
    const auto one = [&](Tensor v) { return grown(v, 1.5f, policy, 16); };
    for (const Function& program :
         {trace(vmap(grad(one)), f32({5})),
          trace(grad([&](Tensor v) { return sum(vmap(one)(v)); }), f32({5}))}) {
      const std::string text = to_hlo_text(program);
      EXPECT_EQ(text.find(" scatter("), std::string::npos) << text;
      EXPECT_EQ(text.find(" gather("), std::string::npos) << text;
    }
  }
}

TEST(BatchedGradients, ForwardMode) {
  const testing::LaneFunction f = [](std::span<const Tensor> x) -> std::vector<Tensor> {
    const auto [value, tangent] =
        jvp([](Tensor a, Tensor b) { return grown(a, b, Checkpoint::automatic()); },
            std::tuple(x[0], x[1]), std::tuple(Tensor(1.f), Tensor(2.f)));
    return {value, tangent};
  };
  const Literal starts = Literal::from<float>(kStarts, {5});
  expect_like_loop(f, {starts, Literal::scalar(1.5f)}, {0, std::nullopt}, {.rtol = 1e-5});
  const auto one = [](Tensor a, Tensor b) { return grown(a, b, Checkpoint::automatic()); };
  const auto all = vmap(one, {.in_axes = {0, std::nullopt}});
  const auto [values, tangents] =
      jvp(all, std::tuple(Tensor(starts), Tensor(1.5f)), std::tuple(ones(f32({5})), Tensor(2.f)));
  const auto want = testing::lane_by_lane(f, {starts, Literal::scalar(1.5f)}, {0, std::nullopt});
  std::vector<float> of_lanes;
  for (const auto& lane : want) of_lanes.push_back(lane[1].item<float>());
  expect_close<float>(tangents, {5}, of_lanes, 1e-5);
}

TEST(BatchedGradients, CustomRulesAndCheckpointsStayInForce) {
  // A rule that is wrong on purpose shows that it was used.
  const auto ruled =
      custom_vjp([](Tensor x) { return x * x; }, [](Tensor x) { return std::pair(x * x, x); },
                 [](Tensor x, Tensor ct) { return std::tuple(100 * x * ct); });
  const auto pushed =
      custom_jvp([](Tensor x) { return x * x; },
                 [](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
                   return std::pair(std::get<0>(x) * std::get<0>(x), 10 * std::get<0>(dx));
                 });
  const Literal x = Literal::from<float>(std::vector<float>{1, 2, 3}, {3});
  expect_values<float>(vmap(grad(ruled))(x), {3}, {100, 200, 300});
  expect_values<float>(grad([&](Tensor v) { return sum(vmap(ruled)(v)); })(x), {3},
                       {100, 200, 300});
  expect_values<float>(vmap(grad(pushed))(x), {3}, {10, 10, 10});
  expect_values<float>(grad([&](Tensor v) { return sum(vmap(pushed)(v)); })(x), {3}, {10, 10, 10});
  const auto kept = checkpoint([](Tensor v) { return sin(v) * v; });
  const testing::LaneFunction f = [&](std::span<const Tensor> v) -> std::vector<Tensor> {
    return {grad(kept)(v[0])};
  };
  expect_like_loop(f, {x}, {0}, {.rtol = 1e-6});
  expect_close<float>(grad([&](Tensor v) { return sum(vmap(kept)(v)); })(x), {3},
                      {std::sin(1.f) + std::cos(1.f), std::sin(2.f) + 2 * std::cos(2.f),
                       std::sin(3.f) + 3 * std::cos(3.f)},
                      1e-5);
}

}  // namespace
}  // namespace rondo
