// A construct that is unknown to the library: with one record, passes, printers, interpreter and
// derivatives handle it like the built-in ones.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "control_flow/extend.h"
#include "control_flow/while.h"
#include "ir/function_data.h"
#include "passes/check.h"
#include "passes/expand.h"
#include "support/derivative_check.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;
using namespace testing;

struct RepeatAttributes {
  std::int64_t carries = 0;
  std::string name;
  std::optional<std::int64_t> trip_count;
  bool operator==(const RepeatAttributes&) const = default;
};

/// Operands: the carry, then the invariants. Regions, on all of them: the body, which returns the
/// next carry, and the condition, which is evaluated after each trip, so that at least one trip is
/// made.
ir::InferredTypes infer_repeat(const ir::InferContext& context) {
  const std::vector<TensorType> next = context.regions[0].results();
  if (next.size() != static_cast<std::size_t>(context.attrs<RepeatAttributes>().carries))
    context.fail("the body returns another number of carries");
  return {next.begin(), next.end()};
}

std::vector<Tensor> expand_repeat(const ir::Node& node, std::span<const Tensor> operands) {
  const ir::RegionLayout layout = *ir::region_layout(&node);
  const auto on = [&](std::size_t region, std::span<const Tensor> carry) {
    std::vector<Tensor> all(carry.begin(), carry.end());
    const auto invariants = layout.invariants_of(operands);
    all.insert(all.end(), invariants.begin(), invariants.end());
    return ir::Replay::inline_call(node.regions[region], all);
  };
  control_flow::Leaves first{on(0, layout.carry_of(operands)), {}};
  for (std::size_t i = 0; i < layout.carries; i++) first.paths.push_back("c" + std::to_string(i));
  control_flow::WhileAttributes attributes;
  attributes.name = layout.name;
  return control_flow::traced_while(
      [&](std::span<const Tensor> carry) {
        return detail::Leaves{on(1, carry), {"condition"}};
      },
      [&](std::span<const Tensor> carry) {
        return detail::Leaves{on(0, carry), first.paths};
      },
      first, attributes, node.location());
}

ir::RegionLayout repeat_layout(const ir::Node& node) {
  const auto& a = node.attrs<RepeatAttributes>();
  ir::RegionLayout layout;
  layout.carries = static_cast<std::size_t>(a.carries);
  layout.condition = 1;
  layout.runs_first = true;
  layout.name = a.name;
  layout.trip_count = a.trip_count;
  return layout;
}

ir::Attributes repeat_relayout(const ir::Node&, const ir::RegionLayout& layout) {
  return RepeatAttributes{static_cast<std::int64_t>(layout.carries), std::string(layout.name),
                          layout.trip_count};
}

const ir::OpDef kRepeat{.name = "repeat",
                        .types = {.infer = infer_repeat},
                        .expansion = {.rule = expand_repeat},
                        .construct = {.layout = repeat_layout, .relayout = repeat_relayout}};

using Step = std::function<std::vector<Tensor>(std::span<const Tensor>)>;

std::vector<Tensor> repeat_while(const Step& condition, const Step& body,
                                 const std::vector<Tensor>& init) {
  using namespace control_flow;
  std::vector<std::string> names;
  for (std::size_t i = 0; i < init.size(); i++) names.push_back("c" + std::to_string(i));
  const std::vector<TensorType> types = types_of(init);
  std::vector<ir::OpenRegion> regions;
  for (const Step& step : {body, condition}) {
    const auto traced = [&](std::span<const Tensor> leaves) { return Leaves{step(leaves), {}}; };
    regions.push_back(
        RegionTrace("region", "a region of repeat", types, names, traced, {}).finish());
  }
  return make_construct(kRepeat, ir::Operands(init.begin(), init.end()),
                        RepeatAttributes{static_cast<std::int64_t>(init.size()), "again", {}},
                        std::move(regions), {});
}

/// x <- x * (1 + sqrt(rate)) until it is large; also an unused sum and a carry that does not
/// change.
std::vector<Tensor> growth(const Tensor& x, const Tensor& rate) {
  return repeat_while([&](std::span<const Tensor> c) { return std::vector{c[0] < 10.0}; },
                      [&](std::span<const Tensor> c) {
                        return std::vector{c[0] * (c[2] + sqrt(rate)), c[1] + c[0], c[2]};
                      },
                      {x, Tensor(0.0), Tensor(1.0)});
}

double plain_growth(double x, double rate) {
  do x *= 1 + std::sqrt(rate);
  while (x < 10);
  return x;
}

Function traced_growth() {
  return trace([](Tensor x, Tensor rate) { return growth(x, rate)[0]; }, f64(), f64());
}

TEST(Construct, RunsAsItsExpansionDoes) {
  const Executable program = compile(traced_growth());
  for (const double x : {0.1, 3.0, 20.0}) {
    const Literal out = program.run({Literal::scalar(x), Literal::scalar(0.25)})[0];
    EXPECT_DOUBLE_EQ(out.data<double>()[0], plain_growth(x, 0.25));
  }
}

TEST(Construct, IsPrunedAndHoistedFrom) {
  const Function f =
      expect_same_results(traced_growth(), {Literal::scalar(0.1), Literal::scalar(0.25)});
  const ir::Node* node = find_node(f, "repeat");
  ASSERT_TRUE(node);
  const ir::RegionLayout layout = *ir::region_layout(node);
  EXPECT_EQ(layout.carries, 1u);  // neither the sum nor the carry that does not change
  EXPECT_TRUE(find_node(f, "sqrt"));
  EXPECT_FALSE(find_node(node->regions[0], "sqrt"));
}

TEST(Construct, AFalseConditionDoesNotKeepItsFirstTripFromRunning) {
  const Function f = trace(
      [](Tensor x) {
        return repeat_while([](std::span<const Tensor> c) { return std::vector{c[0] < 0}; },
                            [&](std::span<const Tensor> c) {
                              return std::vector{c[0] + 1, c[1] * x};
                            },
                            {Tensor(5), Tensor(2)})[1];
      },
      s32());
  const Function optimized = expect_same_results(f, {Literal::scalar(std::int32_t{21})});
  EXPECT_EQ(compile(optimized).run({Literal::scalar(std::int32_t{21})})[0].data<std::int32_t>()[0],
            42);
}

TEST(Construct, PrintsEverywhere) {
  const Function f = traced_growth();
  const std::string text = to_text(f);
  EXPECT_THAT(text, HasSubstr("repeat"));
  EXPECT_THAT(text, HasSubstr("cond"));
  EXPECT_EQ(f.stats().loops, 1);
  EXPECT_THAT(to_hlo_text(f), HasSubstr("while("));
  EXPECT_THAT(to_stablehlo_text(f), HasSubstr("stablehlo.while("));
  const std::string dot = to_dot(f);
  EXPECT_THAT(dot, HasSubstr("repeat"));
  // The rate, captured by the body, is an operand of both regions.
  std::size_t dashed = 0;
  for (std::size_t at = dot.find("dashed"); at != std::string::npos;
       at = dot.find("dashed", at + 1))
    dashed++;
  EXPECT_EQ(dashed, 2u);
}

TEST(Construct, HasTheDerivativesOfItsExpansion) {
  const auto f = [](const Tensor& x, const Tensor& rate) { return growth(x, rate)[0]; };
  EXPECT_EQ(derivative_error(of_tensors<2>(f), {Literal::scalar(0.7), Literal::scalar(0.3)}), "");
}

TEST(Construct, IsExtendedByLeaves) {
  const Function f = trace(
      [](Tensor x, Tensor rate) {
        const std::vector<Tensor> plain = growth(x, rate);
        const ir::RegionLayout layout = *ir::region_layout(plain[0].node());
        const control_flow::ExtendedResults more = control_flow::extend(
            layout, layout.node->operands, {{{Tensor(0)}, {"trips"}}, {}},
            [&](const control_flow::ExtendedParameters& now) -> control_flow::ExtendedResults {
              return {ir::Replay::inline_call(layout.node->regions[0], now.own),
                      {now.carries[0] + 1},
                      {}};
            });
        return std::pair(more.own[0], more.carries[0]);
      },
      f64(), f64());
  const std::vector<Literal> out = compile(f).run({Literal::scalar(1.0), Literal::scalar(1.0)});
  EXPECT_DOUBLE_EQ(out[0].data<double>()[0], 16);
  EXPECT_EQ(out[1].data<std::int32_t>()[0], 4);
}

}  // namespace
}  // namespace rondo
