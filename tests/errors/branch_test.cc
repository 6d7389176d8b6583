// Errors of cond and switch_case for their selector and for branches that differ.
#include "errors/message.h"

namespace rondo {
namespace {

struct Pair {
  Tensor left, right;
};

const Tensor kX = 1.5f;

TEST(BranchErrors, TypesThatDiffer) {
  auto same = [](Tensor x) { return x; };
  EXPECT_REFUSED(cond(
                     kX > 1, same, [](Tensor x) { return x > 1; }, kX),
                 "cond: the branches return different types", "result: the true branch of cond",
                 "f32[]",
                 "the false branch of cond returns pred[] (made by compare at branch_test.cc:",
                 "rondo::convert(x, dtype)");
}

TEST(BranchErrors, EveryLeafThatDiffersIsListed) {
  auto both = [](Tensor x) { return Pair{x, x}; };
  auto other = [](Tensor x) { return Pair{convert(x, DType::kF64), expand_dims(x, 0)}; };
  EXPECT_REFUSED(cond(kX > 1, both, other, kX), "result.left: ", "returns f32[]", "returns f64[]",
                 "made by convert at branch_test.cc:", "result.right: ", "returns f32[1]",
                 "made by reshape at branch_test.cc:", "broadcast_to");
}

TEST(BranchErrors, EveryBranchOfASwitchThatDiffersIsListed) {
  auto same = [](Tensor x) { return x; };
  auto wide = [](Tensor x) { return convert(x, DType::kF64); };
  auto longer = [](Tensor x) { return stack({x, x}, 0); };
  EXPECT_REFUSED(switch_case(1, std::tuple(same, wide, same, longer), kX),
                 "switch_case: the branches return different types",
                 "branch 0 of switch_case returns f32[]", "branch 1 of switch_case returns f64[]",
                 "branch 3 of switch_case returns f32[2]");
}

TEST(BranchErrors, StructuresThatDiffer) {
  auto one = [](Tensor x) { return std::vector<Tensor>{x}; };
  auto two = [](Tensor x) { return std::vector<Tensor>{x, x}; };
  EXPECT_REFUSED(cond(kX > 1, one, two, kX), "structure: the true branch of cond returns 1 leaves",
                 "the false branch of cond returns 2");
}

TEST(BranchErrors, ScalarsAndEmptyTensors) {
  auto whole = [](Tensor x) { return convert(x, DType::kS32); };
  EXPECT_REFUSED(cond(
                     kX > 1, whole, [](Tensor) { return Tensor(0.5); }, kX),
                 "result: ", "returns s32[]", "returns f64[] (the C++ scalar 0.5)");
  auto same = [](Tensor x) { return x; };
  EXPECT_REFUSED(cond(
                     kX > 1, same, [](Tensor) { return Tensor(); }, kX),
                 "the false branch of cond: result is an empty Tensor");
  EXPECT_REFUSED(cond(kX > 1, same, same, Tensor()), "cond: operand[0] is an empty Tensor");
  EXPECT_REFUSED(cond(
                     kX > 1, [](Pair p) { return p; }, [](Pair p) { return p; }, Pair{kX, {}}),
                 "operand[0].right is an empty Tensor");
  EXPECT_REFUSED(cond(Tensor(), same, same, kX), "cond", "empty Tensor");
}

TEST(BranchErrors, Selectors) {
  auto same = [](Tensor x) { return x; };
  const auto two = std::tuple(same, same);
  EXPECT_REFUSED(cond(kX, same, same, kX),
                 "the predicate of cond must be a scalar pred[], it is f32[]", "Compare (x < y)");
  EXPECT_REFUSED(cond(constant({true, false}), same, same, kX), "it is pred[2]", "rondo::any");
  EXPECT_REFUSED(switch_case(1.5, two, kX), "switch_case: the index must be an integer scalar",
                 "f64[]", "rondo::convert");
  EXPECT_REFUSED(switch_case(constant({1, 2}), two, kX), "s32[2]", "take one element");
  EXPECT_REFUSED(switch_case(0, std::vector<Tensor (*)(Tensor)>{}, kX),
                 "switch_case: there are no branches", "at least one function");
}

}  // namespace
}  // namespace rondo
