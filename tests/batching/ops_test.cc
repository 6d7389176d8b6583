// Every op on every choice of batched operands and axes, against the plain loop over lanes.
#include <gtest/gtest.h>

#include <cstdint>
#include <set>
#include <string>
#include <vector>

#include "batching/lanes.h"
#include "control_flow/function_call.h"
#include "ops/families.h"
#include "support/expect.h"
#include "transforms/registry.h"

namespace rondo::testing {
namespace {

constexpr std::int64_t kLanes = 3;

/// An op with the types of its operands in one lane.
struct Case {
  std::string name;
  LaneFunction f;
  std::vector<TensorType> operands;
  double low = 0.25, high = 2;  // of the values
};

/// Numbers that are all different, in the case's range.
Literal values_of(const TensorType& type, const Case& of, std::size_t seed) {
  const std::int64_t n = type.elements();
  std::vector<double> numbers;
  for (std::int64_t i = 0; i < n; i++) {
    const double part =
        static_cast<double>((i * 37 + static_cast<std::int64_t>(seed) * 11) % 17) / 16;
    numbers.push_back(of.low + (of.high - of.low) * part);
  }
  const Tensor x = constant(numbers, {n});
  return reshape(convert(is_pred(type.dtype) ? Tensor(x > (of.low + of.high) / 2) : x, type.dtype),
                 type.shape.vector())
      .eval();
}

TensorType batched_type(const TensorType& type, std::int64_t axis) {
  std::vector<std::int64_t> dims = type.shape.vector();
  dims.insert(dims.begin() + axis, kLanes);
  return {type.dtype, Shape(dims)};
}

class EveryOp : public ::testing::TestWithParam<Case> {};

TEST_P(EveryOp, IsTheOpInEachLane) {
  const Case& of = GetParam();
  const std::size_t count = of.operands.size();
  for (std::size_t choice = 1; choice < (std::size_t{1} << count); choice++) {
    std::int64_t most = 0;
    for (std::size_t i = 0; i < count; i++) {
      if (choice >> i & 1) most = std::max(most, of.operands[i].rank());
    }
    for (std::int64_t axis = 0; axis <= most; axis++) {
      LaneAxes axes(count);
      std::vector<Literal> arguments;
      for (std::size_t i = 0; i < count; i++) {
        TensorType type = of.operands[i];
        if (choice >> i & 1) {
          axes[i] = std::min(axis, type.rank());
          type = batched_type(type, *axes[i]);
        }
        arguments.push_back(values_of(type, of, i + 1));
      }
      SCOPED_TRACE("operands " + std::to_string(choice) + ", axis " + std::to_string(axis));
      expect_like_loop(of.f, arguments, axes, {.ulps = 64});
    }
  }
}

using In = std::span<const Tensor>;
using Out = std::vector<Tensor>;

Case unary(const std::string& name, Tensor (*op)(const Operand&), double low = 0.25,
           double high = 0.9) {
  return {name, [op](In x) -> Out { return {op(x[0])}; }, {f32({2, 3})}, low, high};
}
Case binary(const std::string& name, Tensor (*op)(const Operand&, const Operand&),
            TensorType type = f32({2, 3})) {
  return {name, [op](In x) -> Out { return {op(x[0], x[1])}; }, {type, type}, 1, 9};
}

std::vector<Case> elementwise_cases() {
  return {
      unary("abs", rondo::abs, -2, 2),
      unary("sign", rondo::sign, -2, 2),
      unary("floor", rondo::floor, -2, 2),
      unary("ceil", rondo::ceil, -2, 2),
      unary("round", rondo::round, -2, 2),
      unary("round_half_away", rondo::round_half_away, -2, 2),
      unary("exp", rondo::exp),
      unary("expm1", rondo::expm1),
      unary("log", rondo::log),
      unary("log1p", rondo::log1p),
      unary("sqrt", rondo::sqrt),
      unary("rsqrt", rondo::rsqrt),
      unary("cbrt", rondo::cbrt),
      unary("sin", rondo::sin),
      unary("cos", rondo::cos),
      unary("tan", rondo::tan),
      unary("sinh", rondo::sinh),
      unary("cosh", rondo::cosh),
      unary("tanh", rondo::tanh),
      unary("asin", rondo::asin),
      unary("acos", rondo::acos),
      unary("atan", rondo::atan),
      unary("asinh", rondo::asinh),
      unary("atanh", rondo::atanh),
      unary("acosh", rondo::acosh, 1, 3),
      unary("logistic", rondo::logistic),
      unary("erf", rondo::erf),
      unary("erfc", rondo::erfc),
      unary("erf_inv", rondo::erf_inv),
      unary("lgamma", rondo::lgamma, -2, 5),
      unary("digamma", rondo::digamma),
      unary("bessel_i0e", rondo::bessel_i0e),
      unary("bessel_i1e", rondo::bessel_i1e),
      unary("entr", rondo::entr),
      unary("ndtri", rondo::ndtri),
      binary("xlogy", rondo::xlogy),
      binary("gammainc", rondo::gammainc),
      binary("gammaincc", rondo::gammaincc),
      {"zeta", [](In x) -> Out { return {zeta(x[0], x[1])}; }, {f32({3}), f32({3})}, 1.5, 9},
      {"gammainc_slope",
       [](In x) -> Out { return {grad([&](Tensor a) { return sum(gammainc(a, x[1])); })(x[0])}; },
       {f32({3}), f32({3})}},
      {"betainc",
       [](In x) -> Out { return {betainc(x[0], x[1], x[2])}; },
       {f32({3}), f32({3}), f32({3})},
       0.2,
       0.9},
      unary("is_finite", rondo::is_finite),
      unary("is_inf", rondo::is_inf),
      binary("maximum", rondo::maximum),
      binary("minimum", rondo::minimum),
      binary("atan2", rondo::atan2),
      binary("hypot", rondo::hypot),
      binary("pow", rondo::pow),
      binary("rem", rondo::rem),
      binary("shift_left", rondo::shift_left, s32({4})),
      binary("shift_right_logical", rondo::shift_right_logical, s32({4})),
      binary("shift_right_arithmetic", rondo::shift_right_arithmetic, s32({4})),
      {"slopes",
       [](In x) -> Out {
         const auto [a, b] = grad<0, 1>([](Tensor a, Tensor b) {
           return sum(pow(a, b) * atan2(a, b) + hypot(a, b) * maximum(a, b) + rem(a, b));
         })(x[0], x[1]);
         return {a, b, stop_gradient(a)};
       },
       {f32({3}), f32({3})}},
      {"negate", [](In x) -> Out { return {-x[0]}; }, {f32({4})}},
      {"scalar", [](In x) -> Out { return {2 * x[0] - 1}; }, {f32()}},
      {"arithmetic",
       [](In x) -> Out {
         return {x[0] + x[1], x[0] - x[1], x[0] * x[1], x[0] / x[1]};
       },
       {f32({2, 3}), f32({2, 3})}},
      {"broadcast",
       [](In x) -> Out {
         return {x[0] + x[1], x[1] * x[0]};
       },
       {f32({2, 3}), f32({3})}},
      {"scalar_partner", [](In x) -> Out { return {x[0] * x[1]}; }, {f32({2, 3}), f32()}},
      {"compare",
       [](In x) -> Out {
         return {x[0] < x[1], x[0] >= x[1], eq(x[0], x[1]), ne(x[0], x[1])};
       },
       {f32({4}), f32({4})}},
      {"clamp",
       [](In x) -> Out { return {clamp(x[0], x[1], x[2])}; },
       {f32({3}), f32({3}), f32({3})}},
      {"bits",
       [](In x) -> Out {
         return {x[0] & x[1], x[0] | x[1],    x[0] ^ x[1],
                 ~x[0],       popcount(x[0]), count_leading_zeros(x[1])};
       },
       {s32({4}), s32({4})},
       0,
       1000},
      {"select",
       [](In x) -> Out { return {where(x[0], x[1], x[2])}; },
       {pred({2, 2}), f32({2, 2}), f32({2, 2})}},
      {"convert", [](In x) -> Out { return {convert(x[0], DType::kS32)}; }, {f32({4})}, 0, 30},
      {"reduce_precision", [](In x) -> Out { return {reduce_precision(x[0], 5, 2)}; }, {f32({4})}},
      {"bitcast", [](In x) -> Out { return {bitcast_convert(x[0], DType::kS32)}; }, {f32({4})}},
      {"complex",
       [](In x) -> Out {
         const Tensor z = complex(x[0], x[1]);
         return {real(z * z), imag(z * z), abs(z)};
       },
       {f32({3}), f32({3})}},
  };
}

std::vector<Case> moving_cases() {
  return {
      {"reshape",
       [](In x) -> Out {
         return {reshape(x[0], {3, 2})};
       },
       {f32({2, 3})}},
      {"broadcast_in_dim",
       [](In x) -> Out {
         return {broadcast_in_dim(x[0], {3, 2, 4}, {1})};
       },
       {f32({2})}},
      {"transpose",
       [](In x) -> Out {
         return {transpose(x[0], {2, 0, 1})};
       },
       {f32({2, 3, 2})}},
      {"reverse", [](In x) -> Out { return {reverse(x[0], {1})}; }, {f32({2, 3})}},
      {"slice",
       [](In x) -> Out {
         return {slice(x[0], {1, 0}, {2, 3}, {1, 2})};
       },
       {f32({2, 3})}},
      {"pad",
       [](In x) -> Out {
         return {pad(x[0], x[1], {1, 0}, {0, 2}, {0, 1})};
       },
       {f32({2, 3}), f32()}},
      {"concatenate",
       [](In x) -> Out {
         return {concatenate({x[0], x[1], x[0]}, 1)};
       },
       {f32({2, 3}), f32({2, 1})}},
      {"stack",
       [](In x) -> Out {
         return {rondo::stack({x[0], x[1]}, 1)};
       },
       {f32({2}), f32({2})}},
      {"iota",
       [](In x) -> Out {
         return {x[0] + iota(f32({2, 3}), 1)};
       },
       {f32({2, 3})}},
      {"dynamic_slice",
       [](In x) -> Out {
         return {dynamic_slice(x[0], {x[1], x[2]}, {2, 2})};
       },
       {f32({4, 3}), s32(), s32()},
       -2,
       6},
      {"dynamic_update_slice",
       [](In x) -> Out {
         return {dynamic_update_slice(x[0], x[1], {x[2], x[3]})};
       },
       {f32({4, 3}), f32({2, 2}), s32(), s32()},
       -2,
       6},
      {"dynamic_slice_u8",
       [](In x) -> Out { return {dynamic_slice(x[0], {x[1]}, {2})}; },
       {f32({4}), u8()},
       0,
       6},
      {"row",
       [](In x) -> Out {
         return {x[0][x[1]], update(x[0], x[1], x[2])};
       },
       {f32({4, 2}), s32(), f32({2})},
       -2,
       6},
      {"element_of_row",
       [](In x) -> Out {
         const Tensor row = x[0][x[1]];
         return {row[x[2]], dynamic_slice(row, {x[2]}, {2}), dynamic_slice(row, {x[2]}, {3})};
       },
       {f32({4, 3}), s32(), s32()},
       -2,
       6},
      {"element_of_rows",
       [](In x) -> Out {
         const Tensor plane = x[0][x[1]],
                      part = dynamic_slice(x[0], {x[1], x[2], 0, x[1]}, {1, 2, 1, 3});
         return {plane[x[2]], plane[x[2]][0][x[1]], part[0][x[2]],
                 reshape(part, {2, 3})[x[1]][x[2]]};
       },
       {f32({3, 3, 1, 4}), s32(), s32()},
       -2,
       6},
      {"take", [](In x) -> Out { return {take(x[0], x[1], 1)}; }, {f32({2, 5}), s32({3})}, 0, 6},
      {"gather",
       [](In x) -> Out {
         return {gather(x[0], x[1],
                        {.offset_dims = {1},
                         .collapsed_slice_dims = {0},
                         .start_index_map = {0},
                         .index_vector_dim = 1},
                        {1, 2})};
       },
       {f32({4, 3}), s32({5, 1})},
       -2,
       6},
      {"gather_batching",
       [](In x) -> Out {
         return {gather(x[0], x[1],
                        {.offset_dims = {},
                         .collapsed_slice_dims = {1},
                         .start_index_map = {1},
                         .index_vector_dim = 2,
                         .operand_batching_dims = {0},
                         .start_indices_batching_dims = {0}},
                        {1, 1})};
       },
       {f32({2, 4}), s32({2, 3, 1})},
       -2,
       6},
      {"scatter_add",
       [](In x) -> Out {
         return {scatter(x[0], x[1], x[2],
                         {.update_window_dims = {1},
                          .inserted_window_dims = {0},
                          .scatter_dims_to_operand_dims = {0},
                          .index_vector_dim = 1},
                         [](Tensor a, Tensor b) { return a + b; })};
       },
       {f32({4, 2}), s32({3, 1}), f32({3, 2})},
       -1,
       5},
      {"scatter_batching",
       [](In x) -> Out {
         return {scatter(x[0], x[1], x[2],
                         {.update_window_dims = {},
                          .inserted_window_dims = {1},
                          .scatter_dims_to_operand_dims = {1},
                          .index_vector_dim = 2,
                          .input_batching_dims = {0},
                          .scatter_indices_batching_dims = {0}},
                         [](Tensor, Tensor b) { return b; })};
       },
       {f32({2, 4}), s32({2, 3, 1}), f32({2, 3})},
       -1,
       5},
  };
}

std::vector<Case> reducing_cases() {
  return {
      {"sum",
       [](In x) -> Out {
         return {sum(x[0], {1}), sum(x[0])};
       },
       {f32({2, 3})}},
      {"prod", [](In x) -> Out { return {prod(x[0], {0})}; }, {f32({2, 3})}},
      {"max",
       [](In x) -> Out {
         return {max(x[0], {0}), min(x[0], {1}, true)};
       },
       {f32({2, 3})}},
      {"any",
       [](In x) -> Out {
         return {any(x[0]), all(x[0], {0})};
       },
       {pred({2, 3})}},
      {"argmax",
       [](In x) -> Out {
         return {argmax(x[0], 1), argmin(x[0], 0)};
       },
       {f32({2, 3})}},
      {"reduce",
       [](In x) -> Out {
         return {reduce(x[0], x[1], {1}, [](Tensor a, Tensor b) { return a * 2 + b; }),
                 reduce(x[0], x[1], {0}, [](Tensor a, Tensor b) { return a + b; })};
       },
       {f32({2, 3}), f32()}},
      {"reduce_pairs",
       [](In x) -> Out {
         const auto [a, b] =
             reduce(std::pair(x[0], x[1]), std::pair(x[2], Tensor(1.0f)), {0},
                    [](std::pair<Tensor, Tensor> p, std::pair<Tensor, Tensor> q) {
                      return std::pair(p.first + q.first * q.second, p.second * q.second);
                    });
         return {a, b};
       },
       {f32({4}), f32({4}), f32()}},
      {"cumulative",
       [](In x) -> Out {
         return {cumsum(x[0], 1), cumprod(x[0], 0), cummax(x[0], 1, true)};
       },
       {f32({2, 3})}},
      {"sort",
       [](In x) -> Out {
         return {rondo::sort(x[0], 1), argsort(x[0], 0)};
       },
       {f32({3, 4})}},
      {"top_k",
       [](In x) -> Out {
         const auto [values, places] = top_k(x[0], 2);
         return {values, places};
       },
       {f32({2, 20})}},
      {"sort_by",
       [](In x) -> Out {
         const auto [keys, values] =
             sort_by(std::pair(x[0], x[1]), 0,
                     [](std::pair<Tensor, Tensor> a, std::pair<Tensor, Tensor> b) {
                       return a.first > b.first;
                     });
         return {keys, values};
       },
       {f32({4}), f32({4})}},
      {"dot", [](In x) -> Out { return {dot(x[0], x[1])}; }, {f32({2, 3}), f32({3})}},
      {"matmul", [](In x) -> Out { return {matmul(x[0], x[1])}; }, {f32({2, 3}), f32({3, 4})}},
      {"dot_general",
       [](In x) -> Out {
         return {dot_general(x[0], x[1], DotDims{{1}, {0}, {2}, {2}})};
       },
       {f32({3, 2, 4}), f32({2, 5, 4})}},
      {"reduce_window",
       [](In x) -> Out {
         const WindowDims window{.size = {2, 3}, .stride = {1, 2}, .padding = {{1, 0}, {1, 1}}};
         const auto add = [](Tensor a, Tensor b) { return a + b; };
         const auto greatest = [](Tensor a, Tensor b) { return maximum(a, b); };
         return {reduce_window(x[0], 0, window, add), reduce_window(x[0], x[1], window, greatest)};
       },
       {f32({3, 4}), f32()}},
      {"convolution",
       [](In x) -> Out {
         return {convolution(x[0], x[1], {.padding = {{1, 1}, {0, 1}}})};
       },
       {f32({2, 4, 3, 2}), f32({3, 2, 2, 3})}},
      {"batch_norm",
       [](In x) -> Out {
         const auto [y, mean, variance] = batch_norm_training(x[0], x[1], x[1], 0.5f);
         const auto [of_x, of_s, of_o] = batch_norm_grad(x[0], x[1], x[1], x[1], x[0], 0.5f);
         return {y,    mean, variance,
                 of_x, of_s, batch_norm_inference(x[0], x[1], x[1], x[1], x[1], 0.5f)};
       },
       {f32({4, 3}), f32({3})}},
      {"fft",
       [](In x) -> Out {
         return {fft(complex(x[0], x[1])), rfft(x[0])};
       },
       {f32({2, 6}), f32({2, 6})}},
      {"cholesky",
       [](In x) -> Out { return {cholesky(matmul(x[0], transpose(x[0])) + eye(3))}; },
       {f32({3, 3})}},
      {"triangular_solve",
       [](In x) -> Out {
         const Tensor a = x[0] + 5 * eye(3);
         return {triangular_solve(a, x[1]), triangular_solve(a, x[1], {.left_side = false})};
       },
       {f32({3, 3}), f32({3, 3})}},
      {"factors",
       [](In x) -> Out {
         const Tensor a = x[0] + 5 * eye(3);
         return {lu(a).lu, qr(a).q, eigh(a).values, svd(a).s};
       },
       {f32({3, 3})}},
      {"custom_call",
       [](In x) -> Out {
         static const bool once = [] {
           register_call("test_scaled", {.run = [](const Call& call) {
                           const auto v = call.operand<float>(0);
                           for (std::size_t i = 0; i < v.size(); i++)
                             call.result<float>(0)[i] = v[i] * call.operand<float>(1)[0];
                         }});
           return true;
         }();
         (void)once;
         return custom_call("test_scaled", {x[0], x[1]}, {x[0].type()});
       },
       {f32({3}), f32()}},
      {"associative_scan",
       [](In x) -> Out {
         return {associative_scan([](Tensor a, Tensor b) { return a * b; }, x[0])};
       },
       {f32({5})}},
      {"random",
       [](In x) -> Out {
         return {random::uniform(x[0], f32({3})), random::normal(x[0], f32({2})),
                 random::split(x[0], 2), random::bits(x[0], u32({3}))};
       },
       {u32({2})},
       0,
       4000},
      {"rng_bit_generator",
       [](In x) -> Out {
         const auto [state, bits] = rng_bit_generator(x[0], u32({3}));
         return {state, bits};
       },
       {u64({2})},
       0,
       4000},
      {"call",
       [](In x) -> Out {
         static const Function* const callee = new Function(
             trace([](Tensor v, Tensor w) { return sum(v * sin(v)) * w; }, f32({4}), f32()));
         return {control_flow::call_function(*callee, std::vector{x[0], x[1]}, {})[0],
                 control_flow::call_function(*callee, std::vector{x[0] * 2, x[1]}, {})[0]};
       },
       {f32({4}), f32()}},
      {"map",
       [](In x) -> Out { return {map([&](Tensor v) { return v * x[1]; }, x[0])}; },
       {f32({4}), f32()}},
      {"while_scan",
       [](In x) -> Out {
         const auto out =
             while_scan([](Tensor v) { return v < 5; },
                        [](Tensor v) { return std::pair(v * 2, v); }, x[0], {.max_trip_count = 6});
         return {out.carry, out.ys, out.count};
       },
       {f32()}},
  };
}

INSTANTIATE_TEST_SUITE_P(Elementwise, EveryOp, ::testing::ValuesIn(elementwise_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Moving, EveryOp, ::testing::ValuesIn(moving_cases()),
                         [](const auto& info) { return info.param.name; });
INSTANTIATE_TEST_SUITE_P(Reducing, EveryOp, ::testing::ValuesIn(reducing_cases()),
                         [](const auto& info) { return info.param.name; });

TEST(EveryOpTest, HasACase) {
  // These have separate tests in this folder, or rules that expand to ops that have.
  std::set<std::string> seen{"clamp_index",          "checkpoint", "conditional",   "custom_jvp",
                             "custom_vjp",           "fori_loop",  "max_trip_lane", "tape_read",
                             "tape_write",           "tap",        "print",         "progress",
                             "tell_lanes",           "axis_index", "axis_reduce",   "axis_gather",
                             "optimization_barrier", "shard",      "after",         "implicit_root",
                             "linear_solve"};
  for (const auto& cases : {elementwise_cases(), moving_cases(), reducing_cases()}) {
    for (const Case& of : cases) {
      const Function one = trace([&](std::vector<Tensor> x) { return of.f(x); },
                                 std::vector<TensorType>(of.operands));
      for (const auto& [name, count] : one.stats().ops) seen.insert(name);
    }
  }
  // Batched programs contain none of these: compiling creates them.
  for (const ir::OpDef* op : ops::contracted_records()) seen.emplace(op->name);
  std::string missing;
  for (const ir::OpDef* op : transforms::all_ops()) {
    if ((op->batching.rule || op->structure.elementwise) && !seen.contains(std::string(op->name)))
      missing += std::string(op->name) + " ";
  }
  EXPECT_EQ(missing, "");
}

}  // namespace
}  // namespace rondo::testing
