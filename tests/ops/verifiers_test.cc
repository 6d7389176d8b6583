// The type rules reject operands and attributes that public functions never pass on, but other code
// that builds nodes might. Each error says what is wrong, where, and what to do.
#include <functional>

#include "ir/node.h"
#include "ir/region.h"
#include "ops/broadcast.h"
#include "ops/cumulative.h"
#include "ops/dynamic_slice.h"
#include "ops/reduce.h"
#include "ops/scatter.h"
#include "ops/sort.h"
#include "ops/threefry.h"
#include "support/expect.h"

namespace rondo {
namespace {

using ir::make;
using testing::expect_error;

const SourceLocation kHere{"house.cc", "", 7};

/// Maps scalars of these types to the first.
Function first_of(std::vector<TensorType> types) {
  const auto first = [](std::span<const Tensor> given) { return std::vector<Tensor>{given[0]}; };
  return ir::trace_closed("combine", "a combiner", types, first, kHere);
}

TEST(Verifiers, SayWhatToDo) {
  const Tensor x = zeros(f32({2, 3})), v = zeros(f32({3})), s = 0.0f, i = 0;
  const auto refused = [](const std::function<void()>& call, const std::string& what,
                          const std::string& remedy) {
    expect_error(call, {what + "\n  at house.cc:7\n  " + remedy});
  };
  const auto broadcast = [&](Shape shape, std::vector<std::int64_t> places) {
    make(ops::kBroadcastInDim, {x}, ops::BroadcastAttributes{shape, places}, kHere);
  };
  refused(
      [&] {
        broadcast({2, 3}, {0});
      },
      "2 axes of f32[2,3] need a place each in [2,3]; 1 are given", "Give one per axis");
  refused(
      [&] {
        broadcast({3, 2}, {1, 0});
      },
      "places must grow and lie in the shape", "Name each once");
  refused(
      [&] {
        broadcast({2, 4}, {0, 1});
      },
      "axis 1 of f32[2,3] has 3 elements, axis 1 of [2,4] has 4", "Give it the same size");

  const auto cumulative = [&](ops::Combiner combiner, std::int64_t axis) {
    make(ops::kCumulative, {x}, ops::CumulativeAttributes{combiner, axis, false}, kHere);
  };
  refused([&] { cumulative(ops::Combiner::kAdd, 2); }, "axis 2 of f32[2,3] is out of range",
          "Axes count from 0");
  refused([&] { cumulative(ops::Combiner::kOther, 0); }, "takes the maximum or minimum",
          "Use rondo::associative_scan");

  const Function one_number = first_of({f32(), f32()});
  const auto sort = [&](std::vector<Tensor> operands, std::int64_t axis,
                        std::vector<Function> regions) {
    make(ops::kSort, ir::Operands(operands.begin(), operands.end()),
         ops::SortAttributes{axis, true}, kHere, std::move(regions));
  };
  refused([&] { sort({}, 0, {}); }, "there is nothing to sort: no operands", "Give one array");
  refused([&] { sort({x}, 2, {}); }, "axis 2 of f32[2,3] is out of range", "Axes count from 0");
  refused([&] { sort({x}, 0, {}); }, "0 regions; it takes one, the comparator",
          "Give one function");
  refused([&] { sort({x}, 0, {one_number}); },
          "the comparator must return one scalar pred, whether its "
          "first argument goes before the second; it returns f32[]",
          "Return a comparison");

  const auto slice = [&](std::vector<Tensor> operands, std::vector<std::int64_t> sizes) {
    make(ops::kDynamicSlice, ir::Operands(operands.begin(), operands.end()),
         ops::DynamicSliceAttributes{sizes}, kHere);
  };
  refused([&] { slice({}, {}); }, "there is no operand", "Give the array");
  refused(
      [&] {
        slice({x, i, Tensor(std::int64_t{0})}, {1, 1});
      },
      "start 1 is s64[], start 0 s32[]; starts must be integer scalars of one dtype",
      "Convert them");
  refused([&] { make(ops::kDynamicUpdateSlice, {x}, {}, kHere); },
          "it takes an operand and an update", "Give both");

  const auto reduce = [&](std::vector<Tensor> operands, std::vector<std::int64_t> axes,
                          std::vector<Function> regions) {
    make(ops::kReduce, ir::Operands(operands.begin(), operands.end()), ops::ReduceAttributes{axes},
         kHere, std::move(regions));
  };
  refused([&] { reduce({x}, {0}, {}); }, "1 operands: each array needs a scalar to start from",
          "Give the arrays");
  refused(
      [&] {
        reduce({x, s}, {0}, {});
      },
      "0 regions; it takes one, the combiner", "Give one function");
  refused(
      [&] {
        reduce({x, s}, {1, 0}, {one_number});
      },
      "axes must lie in the shape and grow", "Name each axis once");

  const auto scatter = [&](std::vector<Tensor> operands, ScatterDims dims,
                           std::vector<Function> regions) {
    make(ops::kScatter, ir::Operands(operands.begin(), operands.end()),
         ops::ScatterAttributes{std::move(dims)}, kHere, std::move(regions));
  };
  const Tensor indices = zeros(s32({1, 1})), row = zeros(f32({1, 3}));
  const ScatterDims rows{{1}, {0}, {0}, 1};
  refused(
      [&] {
        scatter({x, indices}, rows, {one_number});
      },
      "2 operands; it takes arrays, the indices, and an update for each array", "Give as many");
  refused(
      [&] {
        scatter({x, v, indices, row, row}, rows, {one_number});
      },
      "operand 1 with its updates is f32[3] and f32[1,3], operand 0 f32[2,3] and f32[1,3]; they "
      "must "
      "have the same shapes",
      "Broadcast or reshape");
  refused(
      [&] {
        scatter({x, indices, row}, rows, {});
      },
      "0 regions; it takes one, the combiner", "Give one function");

  const Tensor u = zeros(u32({2})), u3 = zeros(u32({3}));
  refused(
      [&] {
        make(ops::kThreefry2x32, {u, u, u, x}, {}, kHere);
      },
      "operand 3 is f32[2,3]; keys and counters are u32", "Convert it");
  refused(
      [&] {
        make(ops::kThreefry2x32, {u, u, u3, u}, {}, kHere);
      },
      "operand 2 is u32[3], another one is u32[2]; each is a scalar or has the result's shape",
      "Broadcast one");
}

}  // namespace
}  // namespace rondo
