// vmap on trees: axes, nesting, collectives, errors.
#include "rondo/vmap.h"

#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "batching/lanes.h"
#include "ir/node.h"
#include "passes/optimize.h"
#include "support/expect.h"

namespace rondo {
namespace {

using testing::batched;
using testing::entry_along;
using testing::expect_close;
using testing::expect_error;
using testing::expect_values;

struct Point {
  Tensor x, y;
};

TEST(Vmap, TakesAndReturnsTrees) {
  const auto f = vmap(
      [](Point p, Tensor scale) {
        return std::pair(Point{p.x * scale, p.y + 1}, std::vector<Tensor>{p.x + p.y});
      },
      {.in_axes = {0, std::nullopt}});
  const auto [point, sums] = f(Point{constant({1.f, 2.f}), constant({3.f, 4.f})}, 10.f);
  expect_values<float>(point.x, {2}, {10, 20});
  expect_values<float>(point.y, {2}, {4, 5});
  expect_values<float>(sums[0], {2}, {4, 6});
}

TEST(Vmap, TakesLiteralsAndScalarsAndRunsUnderJit) {
  const Literal rows = Literal::from<float>(std::vector<float>{1, 2, 3, 4}, {2, 2});
  const auto norms = vmap([](Tensor v) { return sum(v * v); });
  expect_values<float>(norms(rows), {2}, {5, 25});
  expect_values<float>(jit(norms)(rows), {2}, {5, 25});
  expect_values<float>(vmap(jit([](Tensor v) { return sum(v * v); }))(rows), {2}, {5, 25});
}

TEST(Vmap, AllPairsOfInAndOutAxes) {
  std::vector<float> numbers(24);
  for (std::size_t i = 0; i < numbers.size(); i++) numbers[i] = static_cast<float>(i);
  const Literal x = Literal::from<float>(numbers, {2, 3, 4});
  const testing::LaneFunction f = [](std::span<const Tensor> v) -> std::vector<Tensor> {
    return {cumsum(v[0], 1)};
  };
  for (std::int64_t in = -3; in < 3; in++) {
    const std::int64_t in_front = in < 0 ? in + 3 : in;
    const auto want = testing::lane_by_lane(f, {x}, {in_front});
    for (std::int64_t out = -3; out < 3; out++) {
      const Literal got = batched(f, {x}, {in}, out)[0];
      const std::int64_t axis = out < 0 ? out + 3 : out;
      for (std::size_t lane = 0; lane < want.size(); lane++) {
        EXPECT_EQ(testing::difference(entry_along(got, axis, static_cast<std::int64_t>(lane)),
                                      want[lane][0], testing::kExactly),
                  "")
            << in << " to " << out;
      }
    }
  }
}

TEST(Vmap, NestsInBothOrders) {
  const Literal a = Literal::from<float>(std::vector<float>{1, 2}, {2});
  const Literal b = Literal::from<float>(std::vector<float>{10, 20, 30}, {3});
  const auto product = [](Tensor x, Tensor y) { return x * y; };
  const auto rows =
      vmap(vmap(product, {.in_axes = {std::nullopt, 0}}), {.in_axes = {0, std::nullopt}});
  const auto columns =
      vmap(vmap(product, {.in_axes = {0, std::nullopt}}), {.in_axes = {std::nullopt, 0}});
  expect_values<float>(rows(a, b), {2, 3}, {10, 20, 30, 20, 40, 60});
  expect_values<float>(columns(a, b), {3, 2}, {10, 20, 20, 40, 30, 60});
}

TEST(Vmap, LeavesWhatIsTheSameInAllLanesAsItIs) {
  const auto f = vmap([](Tensor x, Tensor w) { return std::pair(x, exp(w)); },
                      {.in_axes = {0, std::nullopt}, .out_axes = {0, std::nullopt}});
  const auto [x, w] = f(constant({1.f, 2.f}), constant({0.f}));
  expect_values<float>(x, {2}, {1, 2});
  expect_values<float>(w, {1}, {1});
  // exp runs on one value, not on one per lane.
  const Function function =
      trace(vmap([](Tensor v, Tensor u) { return v * exp(u); }, {.in_axes = {0, std::nullopt}}),
            f32({1000}), f32());
  EXPECT_NE(function.str().find("f32[] = exp"), std::string::npos) << function.str();
}

TEST(Vmap, ReadsElementsOfRowsWithoutTheRows) {
  const auto element = [](Tensor x, Tensor i, Tensor j) { return x[i][j]; };
  const Function f = passes::optimize(
      trace(vmap(element, {.in_axes = {std::nullopt, 0, 0}}), f32({6, 100}), s32({7}), s32({7})));
  for (const ir::Node* node : f.body()) EXPECT_LE(node->type().elements(), 14) << f;
}

TEST(Vmap, TakesItsSizeWhereNoArgumentHasLanes) {
  const auto f = vmap([](Tensor x) { return x + convert(axis_index("lane"), DType::kF32); },
                      {.in_axes = {std::nullopt}, .axis_size = 3, .axis_name = "lane"});
  expect_values<float>(f(1.f), {3}, {1, 2, 3});
}

TEST(Vmap, HasNoLanesAtAll) {
  const auto f = vmap([](Tensor x) {
    return while_loop([](Tensor v) { return sum(v) < 3; }, [](Tensor v) { return v * 2; }, x);
  });
  EXPECT_EQ(f(Literal::zeros(f32({0, 4}))).eval().type(), f32({0, 4}));
}

TEST(Vmap, GivesComputedValuesUnderAnEagerScope) {
  const EagerScope eager;
  const auto f = vmap([](Tensor x) {
    return while_loop([](Tensor v) { return v < 3; }, [](Tensor v) { return v + 2; }, x);
  });
  expect_values<int>(f(constant({0, 1, 2, 3})), {4}, {4, 3, 4, 3});
}

TEST(MapInBatches, IsTheMapAndComputesABatchATrip) {
  const auto steps = [](std::pair<Tensor, Tensor> x) {
    const Tensor n =
        while_loop([](Tensor v) { return v < 10; }, [&](Tensor v) { return v + x.first; }, x.first);
    return std::tuple(n, Point{x.second * 2, 1});
  };
  const std::pair xs(constant({1, 3, 4, 5, 6, 7, 20}), reshape(arange(14, DType::kF32), {7, 2}));
  const auto [want_n, want_p] = map(steps, xs);
  for (const std::int64_t batch : {2, 3, 7, 100}) {
    SCOPED_TRACE(batch);
    const auto batched = [&](std::pair<Tensor, Tensor> v) {
      return map(steps, v, {.batch_size = batch, .name = "batches"});
    };
    const auto [n, p] = jit(batched)(xs);
    EXPECT_TRUE(n.eval().identical(want_n.eval())) << n;
    EXPECT_TRUE(p.x.eval().identical(want_p.x.eval())) << p.x;
    EXPECT_TRUE(p.y.eval().identical(want_p.y.eval())) << p.y;
    RunStats stats;
    (void)jit(batched, JitOptions{.run = {.stats = &stats}})(xs);
    std::int64_t trips = 0;
    for (const LoopStats& loop : stats.loops) trips += loop.name == "batches" ? loop.trips : 0;
    EXPECT_EQ(trips, batch < 7 ? 7 / batch : 0);
  }
  const EagerScope eager;
  expect_values<int>(map([](Tensor x) { return x * x; }, arange(5), {.batch_size = 2}), {5},
                     {0, 1, 4, 9, 16});
  EXPECT_EQ(map([](Tensor x) { return x * 2; }, zeros(f32({0, 3})), {.batch_size = 2}).type(),
            f32({0, 3}));
}

TEST(MapInBatches, HasTheGradientOfTheMap) {
  const Tensor xs = constant({0.5, -1.0, 2.0, 0.25, 3.0}), w = 1.5;
  const auto loss = [&](std::optional<std::int64_t> batch) {
    return [batch](Tensor x, Tensor w) {
      return sum(map([&](Tensor v) { return sin(v * w) * v; }, x, {.batch_size = batch}));
    };
  };
  const auto [dx, dw] = grad<0, 1>(loss(std::nullopt))(xs, w);
  const auto [bx, bw] = grad<0, 1>(loss(2))(xs, w);
  const Literal want = dx.eval();
  expect_close<double>(bx, {5}, {want.data<double>().begin(), want.data<double>().end()}, 1e-14);
  EXPECT_NEAR(bw.item<double>(), dw.item<double>(), 1e-13);
}

TEST(Collectives, CombineTheLanesOfANamedAxis) {
  const auto f = vmap(
      [](Tensor x) {
        return std::tuple(x / axis_sum(x, "i"), axis_mean(x, "i"), axis_max(x, "i"),
                          axis_min(x, "i"), axis_index("i") * 10, axis_sum(Tensor(2.f), "i"));
      },
      {.axis_name = "i"});
  const auto [share, mean, most, least, index, twos] = f(constant({1.f, 3.f, 4.f}));
  expect_values<float>(share, {3}, {1 / 8.f, 3 / 8.f, 0.5f});
  expect_close<float>(mean, {3}, {8 / 3.f, 8 / 3.f, 8 / 3.f});
  expect_values<float>(most, {3}, {4, 4, 4});
  expect_values<float>(least, {3}, {1, 1, 1});
  expect_values<int>(index, {3}, {0, 10, 20});
  expect_values<float>(twos, {3}, {6, 6, 6});
}

TEST(Collectives, GatherTheLanesOfANamedAxis) {
  const auto f = vmap([](Tensor x) { return axis_gather(x, "i"); }, {.axis_name = "i"});
  const Tensor x = matrix({{1.f, 2.f}, {3.f, 4.f}});
  expect_values<float>(f(x), {2, 2, 2}, {1, 2, 3, 4, 1, 2, 3, 4});
  // Of the outer axis: [inner][outer].
  const auto outer = vmap(vmap([](Tensor x) { return axis_gather(x, "o"); }), {.axis_name = "o"});
  expect_values<float>(outer(x), {2, 2, 2}, {1, 3, 2, 4, 1, 3, 2, 4});
  // The sum over lanes l of sum_k w_k x_k (l + 1) has the derivative 3 w_k in x_k.
  const auto g = [](Tensor x) {
    return sum(vmap(
        [](Tensor v) {
          const Tensor w = constant({5.f, 7.f});
          return sum(axis_gather(v, "i") * w) * convert(axis_index("i") + 1, DType::kF32);
        },
        {.axis_name = "i"})(x));
  };
  expect_values<float>(grad(g)(constant({1.f, 2.f})), {2}, {15, 21});
}

TEST(Collectives, AreTheSameInAllLanes) {
  const auto f =
      vmap([](Tensor x) { return axis_sum(x, "i"); }, {.out_axes = std::nullopt, .axis_name = "i"});
  expect_values<float>(f(constant({1.f, 3.f})), {}, {4});
}

TEST(Collectives, WorkInLoopsAndOverSeveralAxes) {
  const auto f = vmap(
      vmap(
          [](Tensor x) {
            const Tensor total = fori_loop(
                0, 3, [&](Tensor, Tensor s) { return s + axis_sum(x * s, "inner"); }, Tensor(1.f));
            return total - axis_max(x, "outer");
          },
          {.axis_name = "inner"}),
      {.axis_name = "outer"});
  // Lane (i, j): (1 + sum of row i)^3 less the largest of column j.
  expect_values<float>(f(constant({{1.f, 2.f}, {0.f, 1.f}})), {2, 2}, {63, 62, 7, 6});
}

TEST(Collectives, HaveDerivatives) {
  // The sum over lanes of s_i = x_i sum_j x_j is (sum x)^2.
  const auto f = [](Tensor x) {
    return sum(vmap([](Tensor v) { return v * axis_sum(v, "i"); }, {.axis_name = "i"})(x));
  };
  expect_values<float>(grad(f)(constant({1.f, 2.f, 4.f})), {3}, {14, 14, 14});
  // Inside, the cotangents of all lanes are added.
  const auto g = vmap(grad([](Tensor v) { return v * axis_sum(v, "i"); }), {.axis_name = "i"});
  expect_values<float>(g(constant({1.f, 2.f, 4.f})), {3}, {14, 14, 14});
  const auto most = [](Tensor x) {
    return sum(vmap([](Tensor v) { return axis_max(v, "i"); }, {.axis_name = "i"})(x));
  };
  expect_values<float>(grad(most)(constant({1.f, 5.f, 4.f})), {3}, {0, 3, 0});
}

TEST(VmapErrors, NameAxesThatAreNotThere) {
  const auto f = vmap([](Tensor x, Tensor) { return x; }, {.in_axes = {2, 0}});
  expect_error(
      [&] {
        (void)f(Literal::zeros(f32({2, 3})), Literal::zeros(f32({2})));
      },
      {"arg0", "f32[2,3]", "no axis 2", "vmap_test.cc"});
  const auto scalar = vmap([](Point p) { return p.x; });
  expect_error([&] { (void)scalar(Point{constant({1.f}), Tensor(1.f)}); }, {"arg0.y", "no axis 0"});
}

TEST(VmapErrors, NameTheLineOfTheCall) {
  const auto f = vmap([](Tensor x, Tensor) { return x; });
  const auto g = vmap([](Tensor x) { return x; }, {.out_axes = std::nullopt});
  const Tensor two = arange(2), three = arange(3);
  const std::string place = "\n  at vmap_test.cc:";
  const std::string call = place + std::to_string(__LINE__ + 1) + "\n";
  expect_error([&] { (void)f(two, three); }, {"the numbers of lanes disagree", call});
  const std::string next = place + std::to_string(__LINE__ + 1) + "\n";
  expect_error([&] { (void)g(two); }, {"result differs by lane", next});
  const std::string explained = place + std::to_string(__LINE__ + 1) + "\n";
  expect_error([&] { (void)explain_batching(f, two, three); }, {"disagree", explained});
  const auto plain = [](Tensor x) { return x; };
  const std::string plainly = place + std::to_string(__LINE__ + 1) + "\n";
  expect_error([&] { (void)explain_batching(plain, 1.0f); }, {"no axis 0", plainly});
  // Another transform calls it from a header: the line is that of vmap.
  const std::string made = place + std::to_string(__LINE__ + 1) + "\n";
  const auto jitted = jit(vmap([](Tensor x, Tensor) { return x; }));
  expect_error([&] { (void)jitted(two, three); }, {"disagree", made});
  // Unqualified, the call finds rondo::vjp.
  expect_values<float>(vjp(f, constant({1.f, 2.f}), constant({3.f, 4.f})).first, {2}, {1, 2});
}

TEST(VmapErrors, ListSizesThatDisagree) {
  const auto f = vmap([](Point p, Tensor) { return p.x; }, {.in_axes = {0, 1}, .axis_size = 2});
  expect_error(
      [&] {
        (void)f(Point{Literal::zeros(f32({2})), Literal::zeros(f32({3}))},
                Literal::zeros(f32({1, 4})));
      },
      {"axis_size: 2", "arg0.x: 2 along axis 0", "arg0.y: 3 along axis 0", "arg1: 4 along axis 1"});
}

TEST(VmapErrors, SayWhatIsMissing) {
  expect_error([&] { (void)vmap([](Tensor x) { return x; }, {.in_axes = {std::nullopt}})(1.f); },
               {"number is not known", "axis_size"});
  expect_error(
      [&] {
        (void)vmap([](Tensor x) { return x; }, {.in_axes = {0, 0}})(1.f);
      },
      {"2 in_axes for 1 arguments"});
  expect_error(
      [&] { (void)vmap([](Tensor x) { return x; }, {.out_axes = std::nullopt})(constant({1.f})); },
      {"result differs by lane", "nullopt"});
  expect_error([&] { (void)vmap([](Tensor x) { return x; }, {.out_axes = 1})(constant({1.f})); },
               {"axis 1", "result", "f32[1]"});
  expect_error(
      [&] {
        (void)vmap([](Tensor x) { return x; }, {.out_axes = {0, 0}})(constant({1.f}));
      },
      {"2 out_axes for 1 leaves"});
}

TEST(VmapErrors, NameCollectivesWithoutTheirAxis) {
  expect_error(
      [&] {
        (void)vmap([](Tensor x) { return axis_sum(x, "j"); }, {.axis_name = "i"})(constant({1.f}));
      },
      {"axis_sum", "\"j\"", "\"i\""});
  expect_error([&] { (void)axis_index("j"); }, {"axis_index", "\"j\"", "no vmap"});
  expect_error(
      [&] {
        (void)vmap([](Tensor x) { return vmap([](Tensor y) { return y; }, {.axis_name = "i"})(x); },
                   {.axis_name = "i"})(constant({{1.f}}));
      },
      {"vmap", "\"i\" already"});
}

TEST(VmapErrors, NameTheOpThatCannotBeBatchedAndItsLine) {
  const auto least = [](Tensor a, Tensor b) { return sort(stack({a, b}, 0), 0)[0]; };
  const int line = __LINE__ + 1;
  const auto f = [&](Tensor x, Tensor init) { return reduce(x, init, {0}, least); };
  const Tensor x = constant({{3.f, 4.f}, {1.f, 5.f}});
  expect_values<float>(vmap(f, {.in_axes = {0, std::nullopt}})(x, 2.f), {2}, {2, 1});
  expect_error(
      [&] {
        (void)vmap(f)(x, constant({2.f, 0.f}));
      },
      {"reduce: its initial values differ by lane", "element by element",
       "vmap_test.cc:" + std::to_string(line), "Give all lanes one initial value"});
}

}  // namespace
}  // namespace rondo
