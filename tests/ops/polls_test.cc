// Long kernels let their host end the run between blocks of their work.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <set>
#include <string_view>
#include <vector>

#include "ops/call_kernel.h"
#include "ops/create.h"
#include "ops/optimization_barrier.h"
#include "transforms/registry.h"

namespace rondo::testing {
namespace {

constexpr std::int64_t kRows = 2048, kRow = 4096, kMany = kRows * kRow;  // about 8 ms

struct Ended {};

/// Ends the run at the first poll.
class ImpatientHost final : public NoHost {
 public:
  void poll() override { throw Ended(); }
};

const ir::Node& node_of(const Function& program, std::string_view op) {
  for (const ir::Node* node : program.body()) {
    if (node->op->name == op) return *node;
  }
  throw InternalError("no such op in " + program.str());
}

struct LongOp {
  std::string_view name;
  Function program;  // one of its nodes is the op
};

std::vector<LongOp> long_ops() {
  const TensorType list = f32({kMany}), table = f32({kRows, kRow});
  const std::vector<std::int64_t> as_table{kRows, kRow};
  const auto on = [](const TensorType& type, auto f) { return trace(f, type); };
  const ScatterDims by_row{.update_window_dims = {1},
                           .inserted_window_dims = {0},
                           .scatter_dims_to_operand_dims = {0},
                           .index_vector_dim = 1};
  const auto add = [](Tensor a, Tensor b) { return a + b; };
  const auto other = [](Tensor, Tensor b) { return b; };
  const auto scattered = [&](auto combine) {
    return trace([&](Tensor x, Tensor y, Tensor i) { return scatter(x, i, y, by_row, combine); },
                 table, table, s32({kRows}));
  };
  return {
      {"add", on(list, [](Tensor x) { return x + x; })},
      {"compare", on(list, [](Tensor x) { return x < x; })},
      {"select", on(list, [](Tensor x) { return where(x < x, x, x); })},
      {"convert", on(list, [](Tensor x) { return convert(x, DType::kS32); })},
      {"iota", on(s32(), [](Tensor i) { return arange(kMany) + i; })},
      {"unset", on(s32(), [](Tensor i) { return ops::unset(s32({kMany}), SourceLocation()) + i; })},
      {"broadcast_in_dim", on(f32({kRow}), [&](Tensor x) { return broadcast_to(x, as_table); })},
      {"broadcast_in_dim", on(f32(), [](Tensor x) { return broadcast_to(x, {kMany}); })},
      {"reshape", on(list, [&](Tensor x) { return reshape(x, as_table); })},
      {"bitcast_convert", on(list, [](Tensor x) { return bitcast_convert(x, DType::kU32); })},
      {"transpose", on(table, [](Tensor x) { return transpose(x); })},
      {"reverse", on(list, [](Tensor x) { return reverse(x); })},
      {"slice", on(list, [](Tensor x) { return slice(x, {1}, {kMany}); })},
      {"slice", on(f32({3 * kMany}), [](Tensor x) { return slice(x, {0}, {3 * kMany}, {3}); })},
      {"pad", on(list, [](Tensor x) { return pad(x, 0.0f, {1}, {1}); })},
      {"concatenate", on(list,
                         [](Tensor x) {
                           return concatenate({x, x}, 0);
                         })},
      {"dynamic_slice",
       on(list, [](Tensor x) { return dynamic_slice(x, {Tensor(1)}, {kMany - 1}); })},
      {"dynamic_update_slice",
       trace([](Tensor x, Tensor y) { return dynamic_update_slice(x, y, {Tensor(0)}); },
             f32({kMany + 1}), list)},
      {"dynamic_update_slice",
       on(list, [](Tensor x) { return dynamic_update_slice(x, ones(f32({2})), {Tensor(0)}); })},
      {"gather", trace([](Tensor x, Tensor i) { return take(x, i); }, table, s32({kRows}))},
      {"scatter", scattered(add)},
      {"scatter", scattered(other)},
      {"reduce", on(list, [](Tensor x) { return sum(x); })},
      {"reduce", on(list, [](Tensor x) { return prod(x); })},  // in order
      {"reduce", on(f32({2, kMany}), [](Tensor x) { return sum(x, {0}); })},
      {"arg_extreme", on(list, [](Tensor x) { return argmax(x, 0); })},
      {"cumulative", on(list, [](Tensor x) { return cumsum(x, 0); })},
      {"cumulative", on(table, [](Tensor x) { return cumsum(x, 0); })},
      {"sort", on(list, [](Tensor x) { return sort(x); })},
      {"top_k", on(list, [](Tensor x) { return top_k(x, 9).first; })},
      {"dot_general", on(table, [](Tensor x) { return matmul(x, transpose(x)); })},
      {"dot_general", on(s32({256, 4096}), [](Tensor x) { return matmul(x, transpose(x)); })},
      {"convolution", on(f32({1, 1 << 16, 8}),
                         [](Tensor x) {
                           return convolution(x, ones(f32({3, 8, 8})), {.layout = "b0f_0io->b0f"});
                         })},
      {"fft", on(c64({64, 4096}), [](Tensor x) { return fft(x); })},
      {"cholesky", on(f32({1024, 1024}), [](Tensor x) { return cholesky(x); })},
      {"triangular_solve", on(f32({1024, 1024}), [](Tensor x) { return triangular_solve(x, x); })},
      {"lu", on(f32({1024, 1024}), [](Tensor x) { return lu(x).lu; })},
      {"qr", on(f32({1024, 1024}), [](Tensor x) { return qr(x).q; })},
      {"eigh", on(f32({600, 600}), [](Tensor x) { return eigh(x).values; })},
      {"svd", on(f32({600, 600}), [](Tensor x) { return svd(x).s; })},
      {"threefry2x32", on(u32({2}), [](Tensor k) { return random::bits(k, u32({kMany})); })},
      {"rng_bit_generator",
       on(u64({2}), [](Tensor k) { return rng_bit_generator(k, u32({kMany})).second; })},
      {"optimization_barrier",
       on(list, [](Tensor x) { return ops::optimization_barrier({x})[0]; })},
      {"tap", on(list, [](Tensor x) { return tap(x, "x"); })},
      {"after", on(list,
                   [](Tensor x) {
                     (void)tap(x, "x");
                     return -x;
                   })},
  };
}

TEST(Polls, EndLongKernels) {
  for (const auto& [name, program] : long_ops()) {
    SCOPED_TRACE(program.str());
    const ir::Node& node = node_of(program, name);
    const std::unique_ptr<ir::Kernel> kernel = ir::prepare(node);
    ASSERT_TRUE(kernel);
    std::vector<Literal> values, results;
    std::vector<const std::byte*> operands;
    std::vector<std::byte*> places;
    for (const Tensor& operand : node.operands) values.push_back(Literal::zeros(operand.type()));
    for (const Literal& value : values) operands.push_back(value.bytes());
    for (const TensorType& type : node.types) {
      results.push_back(Literal::uninitialized(type));
      places.push_back(results.back().mutable_bytes());
      std::fill_n(places.back(), type.bytes(), std::byte{0x5a});
    }
    ImpatientHost host;
    EXPECT_THROW(kernel->run(operands, places, host), Ended);
    // In between: ops that move elements have not reached the last one.
    const std::byte* const end = places.back() + results.back().type().bytes();
    const bool from_first_to_last =
        node.op->cost != ir::Cost::kReduction && node.op->cost != ir::Cost::kHeavy;
    if (from_first_to_last) {
      EXPECT_EQ(end[-1], std::byte{0x5a});
    }
  }
}

TEST(Polls, AreKnownOfEveryKernel) {
  std::set<std::string_view> known{"print", "progress", "tell_lanes"};  // like tap
  known.insert("custom_call");  // the user's function polls: CustomCall.EndsRunsByWhatItThrows
  known.insert("call");         // its function is a program that polls: Calls.EndWithTheRunsTime
  for (const LongOp& op : long_ops()) known.insert(op.name);
  for (const ir::OpDef* op : transforms::all_ops()) {
    if (op->kernel.prepare && !op->structure.elementwise) {
      EXPECT_TRUE(known.contains(op->name)) << op->name;
    }
  }
}

}  // namespace
}  // namespace rondo::testing
