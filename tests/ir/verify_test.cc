// Function::verify: what it accepts, and what it rejects.
#include <gtest/gtest.h>

#include "support/expect.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;

Tensor sum_of(const Tensor& a, const Tensor& b) { return Operand(a, kPlace) + Operand(b, kPlace); }

/// A function with this content, well formed or not.
Function raw(std::vector<Tensor> params, std::vector<Tensor> body, std::vector<Tensor> results,
             std::vector<std::string> result_names = {}) {
  Function::Data data{"broken", std::move(params), {}, std::move(results), std::move(result_names)};
  for (const Tensor& tensor : body) data.body.push_back(tensor.node());
  return FunctionAccess::make(std::move(data));
}

void expect_broken(const Function& function, std::vector<std::string> parts) {
  parts.emplace_back("verify: in 'broken'");
  expect_error<InternalError>([&] { function.verify(); }, parts);
}

class Verify : public ::testing::Test {
 protected:
  Tensor x = parameter(f32(), "x"), y = parameter(f32(), "y");
  Tensor first = sum_of(x, y), second = sum_of(first, x);
};

TEST_F(Verify, WellFormedProgramsPass) {
  EXPECT_NO_THROW(raw({x, y}, {first, second}, {second, x}).verify());
  EXPECT_NO_THROW(raw({}, {}, {}).verify());
  EXPECT_NO_THROW(nested_loops(control_flow::kWhile, 3, 2).verify());
  EXPECT_NO_THROW(nested_loops(control_flow::kForiLoop, 3, 2).verify());
}

TEST_F(Verify, AnOperandFromOutside) {
  expect_broken(raw({x}, {first}, {first}),
                {"node 0 (add, pond.cc:12)", "operand 1", "comes from outside"});
}

TEST_F(Verify, AnOperandComputedLater) {
  expect_broken(raw({x, y}, {second, first}, {second}),
                {"node 0 (add", "operand 0", "computed later"});
}

TEST_F(Verify, AResultFromOutside) {
  expect_broken(raw({x, y}, {first}, {second}), {"a result", "comes from outside"});
}

TEST_F(Verify, AResultThatANodeDoesNotHave) {
  expect_broken(raw({x, y}, {first}, {Tensor::of(first.node(), 3)}),
                {"a result", "is result 3 of add, which has 1"});
}

TEST_F(Verify, ANodeThatStandsTwice) {
  expect_broken(raw({x, y}, {first, first}, {first}), {"node 1 (add", "is in the body twice"});
}

TEST_F(Verify, AParameterThatStandsTwice) {
  expect_broken(raw({x, x}, {}, {x}), {"parameter 1 is listed twice"});
}

TEST_F(Verify, AParameterThatIsNone) {
  expect_broken(raw({first}, {}, {first}), {"parameter 0 is no parameter node"});
}

TEST_F(Verify, AParameterInTheBody) {
  expect_broken(raw({x}, {y}, {y}), {"node 0 (parameter", "of another function"});
}

TEST_F(Verify, AnEmptyResult) { expect_broken(raw({x}, {}, {Tensor()}), {"a result is empty"}); }

TEST_F(Verify, NamesForOtherResults) {
  expect_broken(raw({x}, {}, {x}, {"a", "b"}), {"2 names for 1 results"});
}

TEST_F(Verify, ATypeThatTheOpDoesNotInfer) {
  const Tensor wrong = ir::make_typed(*first.node()->op, {x, y}, {}, {f64()}, kPlace);
  expect_broken(raw({x, y}, {wrong}, {wrong}),
                {"node 0 (add, pond.cc:12)", "result 0 of type f64[], its op infers f32[]"});
}

TEST_F(Verify, OperandsThatDoNotFit) {
  const Tensor z = parameter(f64(), "z");
  const Tensor wrong = ir::make_typed(*first.node()->op, {x, z}, {}, {f32()}, kPlace);
  expect_broken(raw({x, z}, {wrong}, {wrong}), {"node 0 (add", "does not fit", "f32[]", "f64[]"});
}

TEST_F(Verify, TooFewOperands) {
  const Tensor wrong = ir::make_typed(*first.node()->op, {x}, {}, {f32()}, kPlace);
  expect_broken(raw({x}, {wrong}, {wrong}), {"node 0 (add", "1 operands, the op takes 2"});
}

TEST_F(Verify, TooManyResults) {
  const Tensor wrong = ir::make_typed(*first.node()->op, {x, y}, {}, {f32(), f32()}, kPlace);
  expect_broken(raw({x, y}, {wrong}, {wrong}), {"2 results, its op infers 1"});
}

TEST_F(Verify, AnEmptyRegion) {
  const Tensor wrong = ir::make_typed(*first.node()->op, {x, y}, {}, {f32()}, kPlace, {Function()});
  expect_broken(raw({x, y}, {wrong}, {wrong}), {"has an empty region"});
}

TEST_F(Verify, AMistakeInARegionIsFoundThere) {
  const Tensor carry = parameter(f32(), "carry");
  const Function go_on = Function::make("go_on", {parameter(f32(), "carry")}, {Tensor(true)});
  control_flow::WhileAttributes attributes;
  attributes.carries = 1;
  const Tensor inside = sum_of(carry, carry);
  const Tensor loop =
      ir::make(control_flow::kWhile, {x}, attributes, kPlace, {go_on, raw({carry}, {}, {inside})});
  const Function outer = Function::make("outer", {x}, {loop});
  expect_broken(outer, {"a result (add", "comes from outside"});
}

TEST_F(Verify, ARegionThatDoesNotFitItsNode) {
  const Function go_on = Function::make("go_on", {parameter(f32(), "carry")}, {Tensor(true)});
  const Tensor carry = parameter(f32(), "carry"), other = parameter(f32(), "other");
  const Function body = Function::make("body", {carry, other}, {sum_of(carry, other)});
  control_flow::WhileAttributes attributes;
  attributes.carries = 1;
  const Tensor loop =
      ir::make_typed(control_flow::kWhile, {x}, attributes, {f32()}, kPlace, {go_on, body});
  expect_broken(raw({x}, {loop}, {loop}),
                {"node 0 (while, pond.cc:12)", "region 'body' has 2 parameters for 1 operands"});
}

TEST(VerifyDepth, NestingCostsNoStack) {
  on_small_stack([] { EXPECT_NO_THROW(nested_loops(control_flow::kWhile, 500, 2).verify()); });
}

}  // namespace
}  // namespace rondo
