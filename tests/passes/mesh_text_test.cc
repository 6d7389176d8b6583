// Programs in texts that name a mesh: the same values, in ops that XLA's partitioner splits
// correctly.
#include <gtest/gtest.h>

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "ops/pad.h"
#include "passes/check.h"
#include "passes/clamp_indices.h"
#include "passes/expand.h"
#include "rondo/rondo.h"
#include "support/compare.h"

namespace rondo::testing {
namespace {

std::string differs(const Function& got, const Function& want, const std::vector<Literal>& args) {
  const CompileOptions reference{.optimize = false, .executor = Executor::kReference};
  return difference(compile(got, reference).run(args), compile(want, reference).run(args),
                    kExactly);
}

bool only_adds_at_the_ends(const Function& function) {
  for (const ir::Node* node : function.body()) {
    if (node->op != &ops::kPad) continue;
    const auto& pad = node->attributes.as<ops::PadAttributes>();
    const auto adds = [](std::int64_t count) { return count >= 0; };
    if (!std::ranges::all_of(pad.low, adds) || !std::ranges::all_of(pad.high, adds)) return false;
    if (std::ranges::count(pad.interior, 0) != std::ssize(pad.interior)) return false;
  }
  return true;
}

TEST(MeshText, PadsOnlyAtTheEnds) {
  for (const std::int64_t size : {0, 1, 2, 3}) {
    for (const std::int64_t interior : {0, 1, 3}) {
      for (const std::int64_t low : {-8, -3, -1, 0, 2}) {
        for (const std::int64_t high : {-4, -1, 0, 9}) {
          if (size + (size > 0 ? size - 1 : 0) * interior + low + high < 0) continue;
          const Function f = trace(
              [&](Tensor x) {
                return pad(x, 5.0, {low, high + 4}, {high, low + 8}, {interior, 1});
              },
              f32({size, 2}));
          const Function split = passes::expand(f, passes::Target::kStablehloOnMesh);
          EXPECT_TRUE(only_adds_at_the_ends(split)) << split.str();
          const std::string what =
              differs(split, f, {random::uniform(random::key(0), f32({size, 2}), 0, 1).eval()});
          EXPECT_TRUE(what.empty()) << what << f.str() << split.str();
        }
      }
    }
  }
}

TEST(MeshText, PadsThatOnlyAddStayAsTheyAre) {
  const Function f = trace([](Tensor x) { return pad(x, 0.0, {1}, {2}); }, f32({4}));
  EXPECT_TRUE(passes::expand(f, passes::Target::kHloOnMesh).same_as(f));
}

TEST(MeshText, IndicesAreClampedInFrontOfTheirOps) {
  const auto f = [](Tensor x, Tensor i) {
    const auto body = [&](Tensor k, Tensor c) {
      return update(c, i + convert(k, i.dtype()), c[i - convert(k, i.dtype())] + 1.0);
    };
    const GatherDims pairs{.offset_dims = {1, 2}, .start_index_map = {1, 0}, .index_vector_dim = 1};
    return std::tuple(
        fori_loop(0, 4, body, x), take(x, stack({i, i - 9, i + 9}, 0), 1),
        gather(x, stack({stack({i, i - 2}, 0), stack({i + 1, i}, 0)}, 0), pairs, {3, 2}));
  };
  const Literal x = random::uniform(random::key(0), f32({300, 4}), 0, 1).eval();
  for (const DType dtype : {DType::kS8, DType::kU8, DType::kS32, DType::kU32, DType::kS64}) {
    const Function traced =
        trace([&](Tensor t, Tensor i) { return f(t, convert(i, dtype)); }, f32({300, 4}), s32());
    const Function plain = passes::expand(traced, passes::Target::kStablehlo);
    const Function clamped =
        passes::expand(passes::clamp_indices(plain), passes::Target::kStablehloOnMesh);
    clamped.verify();
    for (const int i : {-1000, -1, 0, 2, 3, 299, 300, 100000}) {
      const std::string what = differs(clamped, plain, {x, Literal::scalar(i)});
      EXPECT_TRUE(what.empty()) << dtype_name(dtype) << " " << i << ": " << what;
    }
    // For each update and slice in the loop, and the two gathers: one.
    EXPECT_EQ(count(clamped, "clamp"), count(plain, "clamp") + 4) << clamped.str();
  }
}

TEST(MeshText, ConstantsInRangeStayAsTheyAre) {
  const Function f = trace(
      [](Tensor x) {
        return dynamic_update_slice(x, ones(f32({2, 2})), {6, 2});
      },
      f32({8, 4}));
  EXPECT_TRUE(passes::clamp_indices(f).same_as(f));
  const Function past = trace(
      [](Tensor x) {
        return dynamic_update_slice(x, ones(f32({2, 2})), {7, 2});
      },
      f32({8, 4}));
  EXPECT_FALSE(passes::clamp_indices(past).same_as(past));
}

TEST(MeshText, ScattersDropWhatDoesNotFitByThemselves) {
  const ScatterDims rows{
      .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1};
  const Function f = trace(
      [&](Tensor x, Tensor i) {
        return scatter(x, i, ones(f32({3})), rows, [](Tensor a, Tensor b) { return a + b; });
      },
      f32({8}), s32({3}));
  EXPECT_TRUE(passes::clamp_indices(f).same_as(f));
}

}  // namespace
}  // namespace rondo::testing
