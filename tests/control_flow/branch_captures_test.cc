// switch_case whose branches capture tensors that the others do not.
#include <algorithm>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include "gtest/gtest.h"
#include "ir/function_data.h"
#include "rondo/rondo.h"
#include "support/processor_time.h"

namespace rondo::testing {
namespace {

/// Branch k gives y times captured value k, which is (k + 1) x, plus k.
Tensor choice(int branches, const Tensor& index, const Tensor& x) {
  std::vector<std::function<Tensor(Tensor)>> all;
  for (int k = 0; k < branches; k++) {
    const Tensor captured = x * static_cast<float>(k + 1);
    all.emplace_back([=](Tensor y) { return y * captured + static_cast<float>(k); });
  }
  return switch_case(index, all, x);
}
float choice(int branches, int index, float x) {
  const auto k = static_cast<float>(std::clamp(index, 0, branches - 1));
  return x * ((k + 1) * x) + k;
}
float slope(int branches, int index, float x) {
  return 2 * static_cast<float>(std::clamp(index, 0, branches - 1) + 1) * x;
}

Function traced(int branches) {
  return trace([=](Tensor index, Tensor x) { return choice(branches, index, x); }, s32(), f32());
}

std::size_t parameters_in(const Function& function) {
  std::size_t count = 0;
  for (const Function& region : ir::regions_inside_out(function))
    count += region.parameters().size();
  return count;
}

std::int64_t conditionals_in(const Function& function) {
  const auto ops = function.stats().ops;
  const auto found = ops.find("conditional");
  return found == ops.end() ? 0 : found->second;
}

TEST(BranchCaptures, TakeParametersInProportionToBranches) {
  const Function few = traced(100), many = traced(400);
  EXPECT_LT(parameters_in(many), 6 * parameters_in(few));
  many.verify();
  const auto of_gradient = [](int branches) {
    return parameters_in(trace(
        [=](Tensor index, Tensor x) {
          return grad([&](Tensor at) { return choice(branches, index, at); })(x);
        },
        s32(), f32()));
  };
  EXPECT_LT(of_gradient(400), 7 * of_gradient(100));
}

TEST(BranchCaptures, CompileInProportionToBranches) {
  const auto compiles = [](int branches) { return [=] { (void)compile(traced(branches)); }; };
  EXPECT_LT(growth(compiles(100), compiles(800), 24), 24);  // 64 times if quadratic
}

TEST(BranchCaptures, AnyIndexRunsItsBranch) {
  for (const int branches : {64, 77, 130}) {
    const Executable run = compile(traced(branches));
    for (int index = -2; index < branches + 2; index++) {
      const auto result =
          run.run({Literal::scalar<std::int32_t>(index), Literal::scalar<float>(1.5f)});
      EXPECT_FLOAT_EQ(result[0].data<float>()[0], choice(branches, index, 1.5f)) << index;
    }
  }
}

TEST(BranchCaptures, AreDifferentiatedAndVectorized) {
  constexpr int kBranches = 80;
  std::vector<std::int32_t> indices;
  std::vector<float> xs;
  for (int k = -1; k <= kBranches; k++) {
    indices.push_back(k);
    xs.push_back(0.25f * static_cast<float>(k % 7) + 0.5f);
  }
  const auto lanes = static_cast<std::int64_t>(xs.size());
  const auto of_lane = [](Tensor index, Tensor x) { return choice(kBranches, index, x); };
  const auto slope_of_lane = [](Tensor index, Tensor x) {
    return grad([&](Tensor at) { return choice(kBranches, index, at); })(x);
  };
  const std::vector<Literal> given{Literal::from(indices), Literal::from(xs)};
  const auto values = compile(trace(vmap(of_lane), s32({lanes}), f32({lanes}))).run(given)[0];
  const auto slopes = compile(trace(vmap(slope_of_lane), s32({lanes}), f32({lanes}))).run(given)[0];
  const Executable one = compile(trace(slope_of_lane, s32(), f32()));
  for (std::size_t i = 0; i < xs.size(); i++) {
    EXPECT_FLOAT_EQ(values.data<float>()[i], choice(kBranches, indices[i], xs[i])) << indices[i];
    EXPECT_FLOAT_EQ(slopes.data<float>()[i], slope(kBranches, indices[i], xs[i])) << indices[i];
    const auto alone = one.run({Literal::scalar(indices[i]), Literal::scalar(xs[i])})[0];
    EXPECT_FLOAT_EQ(alone.data<float>()[0], slope(kBranches, indices[i], xs[i])) << indices[i];
  }
}

TEST(BranchCaptures, AreDifferentiatedTwice) {
  constexpr int kBranches = 70;
  // Branch k: (k + 1) x³ + x, from a captured value.
  const auto cubic = [](const Tensor& index, const Tensor& x) {
    std::vector<std::function<Tensor(Tensor)>> all;
    for (int k = 0; k < kBranches; k++) {
      const Tensor captured = x * static_cast<float>(k + 1);
      all.emplace_back([=](Tensor y) { return y * y * captured + y; });
    }
    return switch_case(index, all, x);
  };
  const auto bend = [=](Tensor index, Tensor x) {
    return grad(grad([=](Tensor at) { return cubic(index, at); }))(x);
  };
  const std::vector<std::int32_t> indices{-3, 0, 1, 33, 34, 35, 36, 68, 69, 70, 1000};
  const std::vector<float> xs{0.5f, -1, 2, 0.25f, 3, 1, -0.5f, 1.5f, 1, -2, 0.75f};
  const auto lanes = static_cast<std::int64_t>(xs.size());
  const auto of_lanes = compile(trace(vmap(bend), s32({lanes}), f32({lanes})))
                            .run({Literal::from(indices), Literal::from(xs)})[0];
  const Executable one = compile(trace(bend, s32(), f32()));
  for (std::size_t i = 0; i < xs.size(); i++) {
    const auto k = static_cast<float>(std::clamp(indices[i], 0, kBranches - 1));
    const auto alone = one.run({Literal::scalar(indices[i]), Literal::scalar(xs[i])})[0];
    EXPECT_FLOAT_EQ(alone.data<float>()[0], 6 * (k + 1) * xs[i]) << indices[i];
    EXPECT_FLOAT_EQ(of_lanes.data<float>()[i], 6 * (k + 1) * xs[i]) << indices[i];
  }
}

/// A branch reports its input even if no result needs the report.
TEST(BranchCaptures, OnlyTheBranchThatRunsReports) {
  const auto of = [](Tensor index, Tensor x) {
    std::vector<std::function<Tensor(Tensor)>> all;
    for (int k = 0; k < 100; k++) {
      const Tensor captured = x * static_cast<float>(k);
      all.emplace_back([captured](Tensor y) {
        (void)tap(captured, "captured");
        return y + 1.0f;
      });
    }
    return switch_case(index, all, x);
  };
  const Executable run = compile(trace(of, s32(), f32()));
  std::vector<float> reported;
  RunOptions options;
  options.on_tap = [&](std::string_view, const Literal& value) {
    reported.push_back(value.data<float>()[0]);
  };
  for (const int index : {0, 49, 50, 99})
    (void)run.run({Literal::scalar<std::int32_t>(index), Literal::scalar<float>(1)}, options);
  EXPECT_EQ(reported, (std::vector<float>{0, 49, 50, 99}));
}

TEST(BranchCaptures, AreOneConditionalWhereItsParametersAreUsed) {
  EXPECT_EQ(conditionals_in(traced(16)), 1);
  const auto shared = trace(
      [](Tensor index, Tensor x) {
        const Tensor captured = sin(x);
        std::vector<std::function<Tensor(Tensor)>> all;
        for (int k = 0; k < 300; k++)
          all.emplace_back([=](Tensor y) { return y * captured + static_cast<float>(k); });
        return switch_case(index, all, x);
      },
      s32(), f32());
  EXPECT_EQ(conditionals_in(shared), 1);
}

}  // namespace
}  // namespace rondo::testing
