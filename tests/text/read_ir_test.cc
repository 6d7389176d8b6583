// Reading the IR's own text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "control_flow/fori.h"
#include "control_flow/while.h"
#include "ir/structure.h"
#include "support/expect.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;
using ::testing::HasSubstr;

std::string full(const Function& program) { return to_text(program, {.full = true}); }

void expect_ir_read_back(const Function& program) {
  const std::string text = full(program);
  const Function read = parse_text(text);
  EXPECT_EQ(full(read), text);
  EXPECT_TRUE(ir::structure_of(read) == ir::structure_of(program)) << text;
  EXPECT_EQ(read.name(), program.name());
  EXPECT_EQ(read.param_names(), program.param_names());
}

struct Hotel {
  Tensor step, slab, tank;
};

TEST(ReadIr, AWhileLoop) {
  expect_ir_read_back(trace(
      [](Tensor tank) {
        return while_loop([](Hotel h) { return h.step < 20; },
                          [](Hotel h) {
                            return Hotel{h.step + 1, h.slab * 0.5 + h.tank, h.tank * 0.75};
                          },
                          Hotel{0, 20.0f, tank}, {.max_trip_count = 30, .name = "solve"})
            .slab;
      },
      f32()));
}

TEST(ReadIr, CountedLoopsAndTheirDerivatives) {
  const auto step = [](Tensor i, Tensor x) { return sin(x) + convert(i, DType::kF32); };
  const auto loop = [&](Checkpoint checkpoint) {
    return [=](Tensor x) {
      return fori_loop(0, 9, step, x, {.checkpoint = checkpoint, .name = "march"});
    };
  };
  for (const Checkpoint checkpoint : {Checkpoint::automatic(), Checkpoint::none(),
                                      Checkpoint::revolve(3), Checkpoint::periodic(2)}) {
    expect_ir_read_back(trace(loop(checkpoint), f32()));
    if (checkpoint != Checkpoint::none()) expect_ir_read_back(trace(grad(loop(checkpoint)), f32()));
  }
  expect_ir_read_back(trace(
      [](Tensor x, Tensor xs) {
        return scan([](Tensor c, Tensor v) { return std::pair(c + v, c * v); }, x, xs,
                    {.reverse = true, .unroll = 2});
      },
      f32(), f32({6})));
}

TEST(ReadIr, BranchesCallsAndRules) {
  const auto same = [](Tensor x) { return x; };
  const auto twice = [](Tensor x) { return x + x; };
  expect_ir_read_back(trace(
      [&](Tensor p, Tensor i, Tensor x) {
        return std::pair(cond(p, same, twice, x), switch_case(i, std::tuple(same, twice, same), x));
      },
      pred(), s32(), f32()));
  const auto lanes = [&](Tensor p, Tensor x) { return cond(p, same, twice, x); };
  expect_ir_read_back(trace(vmap(lanes), pred({3}), f32({3})));
  expect_ir_read_back(trace(
      grad([](Tensor x) { return checkpoint([](Tensor y) { return sin(sin(y)); })(x); }), f32()));
}

TEST(ReadIr, Attributes) {
  expect_ir_read_back(trace(
      [](Tensor x, Tensor i) {
        const Tensor sorted = tap(sort(x, 1), "middle \"one\"\\ // two");
        const Tensor taken = gather(x, i,
                                    {.offset_dims = {1},
                                     .collapsed_slice_dims = {0},
                                     .start_index_map = {0},
                                     .index_vector_dim = 1},
                                    {1, 4});
        const Tensor padded = pad(x, 0.5f, {1, 0}, {0, 2});

        return std::vector<Tensor>{sorted,
                                   taken,
                                   padded,
                                   transpose(x),
                                   cumsum(x, 0),
                                   argmax(x, 1),
                                   matmul(x, transpose(x)),
                                   sum(x, {0}),
                                   convert(x, DType::kBF16),
                                   x[0],
                                   real(fft(x))};
      },
      f32({3, 4}), s32({2, 1})));
}

template <class T>
void expect_elements_kept(const std::vector<T>& values) {
  const Literal literal = Literal::from(values, {static_cast<std::int64_t>(values.size())});
  const Function program = Function::make("main", {}, {Tensor(literal, kPlace)});
  expect_ir_read_back(program);
  const Function read = parse_text(full(program));
  const Literal* const kept = ir::constant_value(read.outputs()[0]);
  ASSERT_NE(kept, nullptr);
  EXPECT_TRUE(kept->identical(literal)) << literal;
}

TEST(ReadIr, ConstantsOfEveryKind) {
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  expect_elements_kept<float>({0.1f, -0.0f, 1e-45f, 3.4e38f, float(kInfinity), float(-kInfinity),
                               std::numeric_limits<float>::quiet_NaN()});
  expect_elements_kept<double>({0.1, -0.0, 5e-324, 1.7e308, kInfinity});
  expect_elements_kept<float16>({float16(0.1f), float16(-0.0f), float16(65504.0f)});
  expect_elements_kept<bfloat16>({bfloat16(0.1f), bfloat16(-0.0f)});
  expect_elements_kept<std::int8_t>({-128, 127});
  expect_elements_kept<std::int64_t>({INT64_MIN, INT64_MAX});
  expect_elements_kept<std::uint64_t>({0, UINT64_MAX});
  expect_elements_kept<std::complex<float>>({{0.1f, -0.0f}, {1, 2}});
  expect_elements_kept<std::complex<double>>({{0.1, -0.0}, {1, 2}});
  expect_elements_kept(std::vector<float>(1000, 0.3f));
  for (const Shape& shape : {Shape{0}, Shape{0, 2}, Shape{2, 0}, Shape{}, Shape{1, 2, 1}}) {
    expect_ir_read_back(Function::make(
        "main", {}, {ir::make_constant(Literal::zeros({DType::kPred, shape}), kPlace)}));
  }
}

TEST(ReadIr, PlacesAndNames) {
  const Tensor x = parameter(f32(), "arg0.slab"), y = parameter(f32(), "rows[1]", 1);
  const Function function =
      Function::make("heat", {x, y}, {Operand(x, kPlace) * Operand(y, kPlace)}, {"out.slab"});
  expect_ir_read_back(function);
  const Function read = parse_program(full(function));
  EXPECT_EQ(read.result_names(), function.result_names());
  EXPECT_EQ(read.outputs()[0].node()->location().str(), "pond.cc:12");
}

TEST(ReadIr, NestingCostsNoStack) {
  on_small_stack([] {
    expect_ir_read_back(nested_loops(control_flow::kWhile, 200, 3));
    expect_ir_read_back(nested_loops(control_flow::kForiLoop, 200, 3));
    expect_ir_read_back(chain_of_adds(5000));
  });
}

TEST(ReadIr, ItRunsAsBefore) {
  const Function program = trace(grad([](Tensor x) {
                                   return fori_loop(
                                       0, 5, [](Tensor, Tensor y) { return sin(y); }, x);
                                 }),
                                 f32());
  const std::vector<Literal> arguments{Literal::scalar(0.7f)};
  EXPECT_TRUE(compile(parse_text(full(program)))
                  .run(arguments)[0]
                  .identical(compile(program).run(arguments)[0]));
}

}  // namespace
}  // namespace rondo
