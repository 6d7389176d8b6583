// Every elementwise op, in every dtype, on edge values, in real XLA.
#include <algorithm>
#include <functional>
#include <iterator>
#include <map>
#include <string>
#include <vector>

#include "ops/slopes.h"
#include "support/elementwise_records.h"
#include "xla/edge_values.h"

namespace rondo::testing {
namespace {

using Unary = std::function<Tensor(const Tensor&)>;
using Binary = std::function<Tensor(const Tensor&, const Tensor&)>;

struct UnaryCase {
  std::string name;
  Unary op;
  std::vector<DType> dtypes;
  double ulps = 16;  // how far results may differ, in units in the last place
};
struct BinaryCase {
  std::string name;
  Binary op;
  std::vector<DType> dtypes;
  double ulps = 16;
};

#define RONDO_UNARY(op) #op, [](const Tensor& x) { return op(x); }
#define RONDO_BINARY(op) #op, [](const Tensor& x, const Tensor& y) { return op(x, y); }
#define RONDO_SLOPE(op) #op, [](const Tensor& x, const Tensor& y) { return ops::op(x, y); }
#define RONDO_OPERATOR(name, op) #name, [](const Tensor& x, const Tensor& y) { return x op y; }

std::vector<UnaryCase> named_unary_cases() {
  return {
      {RONDO_UNARY(-), kNumbers},
      {RONDO_UNARY(abs), kNumbers},
      {RONDO_UNARY(sign), kNumbers},
      {RONDO_UNARY(square), kNumbers},
      {RONDO_UNARY(reciprocal), kFloats + kComplexes},
      {RONDO_UNARY(floor), kFloats},
      {RONDO_UNARY(ceil), kFloats},
      {RONDO_UNARY(round), kFloats},
      {RONDO_UNARY(round_half_away), kFloats},
      {RONDO_UNARY(exp), kFloats + kComplexes, 64},
      {RONDO_UNARY(expm1), kFloats + kComplexes, 64},
      {RONDO_UNARY(log), kFloats + kComplexes},
      {RONDO_UNARY(log1p), kFloats + kComplexes},
      {RONDO_UNARY(sqrt), kFloats + kComplexes},
      {RONDO_UNARY(rsqrt), kFloats + kComplexes},
      {RONDO_UNARY(cbrt), kFloats},
      {RONDO_UNARY(logistic), kFloats + kComplexes, 64},
      {RONDO_UNARY(sin), kFloats + kComplexes},
      {RONDO_UNARY(cos), kFloats + kComplexes},
      {RONDO_UNARY(tan), kFloats + kComplexes},
      {RONDO_UNARY(sinh), kFloats + kComplexes, 64},
      {RONDO_UNARY(cosh), kFloats + kComplexes, 64},
      {RONDO_UNARY(tanh), kFloats + kComplexes},
      {RONDO_UNARY(asin), kFloats + kComplexes},
      {RONDO_UNARY(acos), kFloats + kComplexes},
      {RONDO_UNARY(atan), kFloats + kComplexes},
      {RONDO_UNARY(asinh), kFloats + kComplexes},
      {RONDO_UNARY(acosh), kFloats + kComplexes},
      {RONDO_UNARY(atanh), kFloats + kComplexes},
      {RONDO_UNARY(erf), kFloats},
      {RONDO_UNARY(erfc), kFloats, 256},
      {RONDO_UNARY(erf_inv), kFloats, 64},
      {RONDO_UNARY(lgamma), kFloats, 64},
      {RONDO_UNARY(digamma), kFloats, 64},
      {RONDO_UNARY(bessel_i0e), kFloats, 64},
      {RONDO_UNARY(bessel_i1e), kFloats, 64},
      {RONDO_UNARY(entr), kFloats},
      {RONDO_UNARY(ndtr), kFloats, 1024},
      {RONDO_UNARY(ndtri), kFloats, 64},
      {RONDO_UNARY(sinc), kFloats, 64},
      {RONDO_UNARY(is_finite), kFloats + kComplexes},
      {RONDO_UNARY(is_nan), kFloats + kComplexes},
      {RONDO_UNARY(real), kFloats + kComplexes},
      {RONDO_UNARY(imag), kFloats + kComplexes},
      {RONDO_UNARY(conj), kFloats + kComplexes},
      {RONDO_UNARY(~), kPredOnly + kIntegers},
      {RONDO_UNARY(popcount), kIntegers},
      {RONDO_UNARY(count_leading_zeros), kIntegers},
      {RONDO_UNARY(logical_not), kPredOnly + kNumbers},
  };
}

std::vector<BinaryCase> named_binary_cases() {
  return {
      {RONDO_OPERATOR(add, +), kNumbers},
      {RONDO_OPERATOR(subtract, -), kNumbers},
      {RONDO_OPERATOR(multiply, *), kNumbers},
      {RONDO_OPERATOR(divide, /), kNumbers},
      {RONDO_OPERATOR(remainder, %), kIntegers + kFloats},
      {RONDO_OPERATOR(bit_and, &), kPredOnly + kIntegers},
      {RONDO_OPERATOR(bit_or, |), kPredOnly + kIntegers},
      {RONDO_OPERATOR(bit_xor, ^), kPredOnly + kIntegers},
      {RONDO_OPERATOR(left, <<), kIntegers},
      {RONDO_OPERATOR(right, >>), kIntegers},
      {RONDO_OPERATOR(less, <), kOrdered},
      {RONDO_OPERATOR(less_equal, <=), kOrdered},
      {RONDO_OPERATOR(greater, >), kOrdered},
      {RONDO_OPERATOR(greater_equal, >=), kOrdered},
      {RONDO_OPERATOR(equal, ==), kOrdered + kComplexes},
      {RONDO_OPERATOR(not_equal, !=), kOrdered + kComplexes},
      {RONDO_BINARY(shift_left), kIntegers},
      {RONDO_BINARY(shift_right_logical), kIntegers},
      {RONDO_BINARY(shift_right_arithmetic), kIntegers},
      {RONDO_BINARY(pow), kIntegers + kFloats + kComplexes, 256},
      {RONDO_BINARY(atan2), kFloats},
      {RONDO_BINARY(hypot), kFloats},
      {RONDO_SLOPE(maximum_slope), kFloats},
      {RONDO_SLOPE(remainder_quotient), kFloats},
      {RONDO_SLOPE(power_base_slope), kFloats, 256},
      {RONDO_SLOPE(power_exponent_slope), kFloats},
      {RONDO_SLOPE(atan2_slope), kFloats},
      {RONDO_SLOPE(hypot_slope), kFloats},
      {RONDO_BINARY(zeta), kFloats, 256},
      {RONDO_BINARY(xlogy), kFloats},
      {RONDO_BINARY(next_after), kFloats},
      {RONDO_BINARY(maximum), kOrdered},
      {RONDO_BINARY(minimum), kOrdered},
      {RONDO_BINARY(rem), kIntegers + kFloats},
      {RONDO_BINARY(logical_and), kOrdered + kComplexes},
      {RONDO_BINARY(logical_or), kOrdered + kComplexes},
      {RONDO_BINARY(logical_xor), kOrdered + kComplexes},
      {RONDO_BINARY(complex), {DType::kF32, DType::kF64}},
  };
}

std::vector<DType> dtypes_of(const ir::OpDef& op) {
  std::vector<DType> dtypes(std::begin(kAllDTypes), std::end(kAllDTypes));
  std::erase_if(dtypes, [&](DType dtype) { return !takes(op, dtype); });
  return dtypes;
}

/// The cases above, and one for each op that is in none of them.
std::vector<UnaryCase> unary_cases() {
  std::vector<UnaryCase> cases = named_unary_cases();
  std::map<std::string, std::int64_t> seen;
  for (const UnaryCase& each : cases) {
    for (const DType dtype : each.dtypes)
      seen.merge(trace(each.op, TensorType{dtype, {1}}).stats().ops);
  }
  for (const ir::OpDef* op : elementwise_ops_but(seen, 1)) {
    cases.push_back({std::string(op->name), [op](const Tensor& x) { return apply_op(*op, {x}); },
                     dtypes_of(*op)});
  }
  return cases;
}

std::vector<BinaryCase> binary_cases() {
  std::vector<BinaryCase> cases = named_binary_cases();
  std::map<std::string, std::int64_t> seen;
  for (const BinaryCase& each : cases) {
    for (const DType dtype : each.dtypes) {
      const TensorType type{dtype, {1}};
      seen.merge(trace(each.op, type, type).stats().ops);
    }
  }
  for (const ir::OpDef* op : elementwise_ops_but(seen, 2)) {
    // Without a kernel our executors run the formula that the text has. It is compared below, away
    // from the edges, where contraction by XLA decides whether a series ends as NaN.
    if (!op->kernel.prepare) continue;
    cases.push_back({std::string(op->name),
                     [op](const Tensor& x, const Tensor& y) {
                       return apply_op(*op, {x, y});
                     },
                     dtypes_of(*op)});
  }
  return cases;
}

/// One program for all dtypes: each with its own operands and result.
template <class Apply>
void check_dtypes(const std::vector<Literal>& arguments, std::size_t operands, double ulps,
                  Apply apply) {
  std::vector<TensorType> types;
  for (const Literal& argument : arguments) types.push_back(argument.type());
  const Function all = trace(
      [&](const std::vector<Tensor>& values) {
        std::vector<Tensor> results;
        for (std::size_t i = 0; i < values.size(); i += operands) {
          results.push_back(apply(std::span(values).subspan(i, operands)));
        }
        return results;
      },
      types);
  Tolerance tolerance;
  tolerance.ulps = ulps;
  expect_same_as_xla(all, arguments, tolerance);
}

class XlaUnary : public XlaTest, public ::testing::WithParamInterface<UnaryCase> {};
class XlaBinary : public XlaTest, public ::testing::WithParamInterface<BinaryCase> {};

TEST_P(XlaUnary, IsTheSameInEveryDtype) {
  std::vector<Literal> arguments;
  for (const DType dtype : GetParam().dtypes) arguments.push_back(edge_values(dtype));
  check_dtypes(arguments, 1, GetParam().ulps,
               [](std::span<const Tensor> v) { return GetParam().op(v[0]); });
}

TEST_P(XlaBinary, IsTheSameInEveryDtype) {
  std::vector<Literal> arguments;
  for (const DType dtype : GetParam().dtypes) {
    auto [x, y] = edge_pairs(dtype);
    // XLA's CPU compiler reads six bits of an integer exponent, and takes large unsigned ones for
    // negative. Below 64 it computes what pow() promises for all.
    const bool is_power = GetParam().name == "pow";
    if (is_power && is_integer(dtype)) y = (Tensor(y) % 64).eval();
    arguments.push_back(x);
    arguments.push_back(y);
  }
  check_dtypes(arguments, 2, GetParam().ulps,
               [](std::span<const Tensor> v) { return GetParam().op(v[0], v[1]); });
}

template <class Case>
std::string case_name(const ::testing::TestParamInfo<Case>& info) {
  const std::string& name = info.param.name;
  return name == "-" ? "negate" : name == "~" ? "bit_not" : name;
}

INSTANTIATE_TEST_SUITE_P(Ops, XlaUnary, ::testing::ValuesIn(unary_cases()), case_name<UnaryCase>);
INSTANTIATE_TEST_SUITE_P(Ops, XlaBinary, ::testing::ValuesIn(binary_cases()),
                         case_name<BinaryCase>);

class XlaElementwise : public XlaTest {};

TEST_F(XlaElementwise, IncompleteGammaAndBeta) {
  const Literal a = Literal::from(std::vector<double>{0.1, 0.5, 1, 2.5, 7, 20, 60, 150});
  const Literal x = Literal::from(std::vector<double>{0.2, 0.5, 3, 2, 9, 15, 70, 140});
  Tolerance tolerance;
  tolerance.rtol = 1e-11;
  expect_same_as_xla(
      trace(
          [](Tensor p, Tensor q) {
            return std::vector<Tensor>{gammainc(p, q), gammaincc(p, q), betaln(p, q)};
          },
          a, x),
      {a, x}, tolerance);
}

TEST_F(XlaElementwise, Where) {
  std::vector<Literal> arguments;
  for (const DType dtype : kPredOnly + kNumbers) {
    const auto& [x, y] = edge_pairs(dtype);
    arguments.insert(arguments.end(), {(iota(s32({x.elements()}), 0) % 3 == 0).eval(), x, y});
  }
  check_dtypes(arguments, 3, 0, [](std::span<const Tensor> v) { return where(v[0], v[1], v[2]); });
}

TEST_F(XlaElementwise, WhereOfAScalarPredicateAndScalars) {
  check([](Tensor p,
           Tensor x) { return std::tuple(where(p, x, 0), where(!p, 1, x), where(p, x, x + 1)); },
        Literal::scalar(true), row<float>({1, 2, 3}));
}

TEST_F(XlaElementwise, Clamp) {
  std::vector<Literal> arguments;
  for (const DType dtype : kIntegers + kFloats) {
    const auto& [x, y] = edge_pairs(dtype);
    arguments.insert(arguments.end(), {reverse(x).eval(), x, y});
  }
  check_dtypes(arguments, 3, 0, [](std::span<const Tensor> v) { return clamp(v[0], v[1], v[2]); });
}

TEST_F(XlaElementwise, ClampBetweenScalars) {
  check([](Tensor x,
           Tensor lo) { return std::tuple(clamp(0, x, 2), clamp(lo, x, 5), clamp(3, x, lo)); },
        edge_values(DType::kF32), Literal::scalar(0.5f));
}

TEST_F(XlaElementwise, ConvertBetweenAllDtypes) {
  for (const DType from : kAllDTypes) {
    SCOPED_TRACE(dtype_name(from));
    check(
        [&](Tensor x) {
          std::vector<Tensor> results;
          for (const DType to : kAllDTypes) results.push_back(convert(x, to));
          return results;
        },
        edge_values(from));
  }
}

TEST_F(XlaElementwise, ConvertRoundsAsXlaDoes) {
  check(
      [](Tensor x) {
        return std::tuple(convert(x, DType::kF16), convert(x, DType::kBF16), convert(x, DType::kS8),
                          convert(x, DType::kU8));
      },
      row<float>({65519.f, 65520.f, 0x1.002p0f, 0x1.006p0f, 0x1.01p0f, 0x1.03p0f, 3.4e38f, 127.9f,
                  -128.9f, 255.9f, -0.9f, 300.f}));
  check(
      [](Tensor x) {
        return std::tuple(convert(x, DType::kF16), convert(x, DType::kBF16),
                          convert(x, DType::kF32));
      },
      row<double>({0x1.002000001p0, 0x1.002p0, 0x1.01p0, 0x1.010000001p0, 0x1.000001p0,
                   0x1.0000010000001p0, 1e300, -1e39}));
  check(
      [](Tensor x) {
        return std::tuple(convert(x, DType::kF16), convert(x, DType::kBF16),
                          convert(x, DType::kF32), convert(x, DType::kF64));
      },
      row<std::int64_t>(
          {2049, 2051, 257, 259, 16777217, 16777219, 9007199254740993, -9007199254740995, 65520}));
}

TEST_F(XlaElementwise, SmallDtypes) {
  for (int number = static_cast<int>(DType::kS2); number < kDTypeCount; number++) {
    const auto small = static_cast<DType>(number);
    SCOPED_TRACE(dtype_name(small));
    const float inf = std::numeric_limits<float>::infinity();
    std::vector<float> numbers{0, -0.0f, 1e-30f, 0x1p-20f, inf, -inf, std::nanf("")};
    for (int i = 0; i < 400; i++)
      numbers.push_back(std::ldexp(1 + 0.01f * static_cast<float>(i), i % 41 - 20));
    const Literal x = Literal::from(numbers);
    check(
        [&](Tensor single) {
          const Tensor y = convert(single, small), z = reverse(y, {0});
          // XLA leaves the step to f4, whose greatest number is 6, out of conversions to integers.
          const DType whole = small == DType::kF4E2M1FN ? DType::kF64 : DType::kS32;
          return std::tuple(y, convert(y, DType::kF32), convert(y, DType::kF16), convert(y, whole),
                            convert(convert(single, DType::kS16), small), y + z, y * z,
                            maximum(y, z), -y, y < z, concatenate({z, y}, 0));
        },
        x);
  }
}

TEST_F(XlaElementwise, ReducePrecision) {
  check([](Tensor x) { return std::tuple(reduce_precision(x, 8, 0), reduce_precision(x, 5, 1)); },
        row<float>({1.5f, 3, 6, 12, 1.25f, 1.75f, 2.5f, 65520, 57344, 61440}));
  for (const DType dtype : kFloats) {
    SCOPED_TRACE(dtype_name(dtype));
    check(
        [](Tensor x) {
          return std::tuple(reduce_precision(x, 5, 10), reduce_precision(x, 8, 7),
                            reduce_precision(x, 5, 2), reduce_precision(x, 4, 3),
                            reduce_precision(x, 8, 0), reduce_precision(x, 1, 3),
                            reduce_precision(x, 11, 5), reduce_precision(x, 40, 60));
        },
        edge_values(dtype));
  }
}

TEST_F(XlaElementwise, BitcastConvertBetweenAllWidths) {
  const std::vector<DType> dtypes = kIntegers + kFloats;
  for (const DType from : dtypes) {
    SCOPED_TRACE(dtype_name(from));
    std::vector<std::int64_t> bytes;
    for (std::int64_t i = 0; i < 32; i++) bytes.push_back(37 * i + 5);
    Literal x = convert(Tensor(Literal::from(bytes)), DType::kU8)
                    .eval()
                    .reinterpreted({from, {32 / byte_width(from)}});
    check(
        [&](Tensor v) {
          std::vector<Tensor> results;
          for (const DType to : dtypes) {
            const std::int64_t ratio = byte_width(to) / std::max<std::int64_t>(byte_width(from), 1);
            const Tensor y =
                ratio > 1 ? bitcast_convert(reshape(v, {-1, ratio}), to) : bitcast_convert(v, to);
            // NaNs may change their payload: only integers show all bits.
            results.push_back(is_floating(to) ? where(is_nan(y), 0, y) : y);
          }
          return results;
        },
        x);
  }
}

TEST_F(XlaElementwise, ScalarsAndBroadcasting) {
  check(
      [](Tensor x, Tensor y, Tensor s) {
        return std::tuple(x + y, x * s - 1, 2 / (y + 3), expand_dims(s, 0) + x, maximum(x, 0),
                          pow(x, 2), x < y, -s);
      },
      counting(f32({3, 1})), counting(f32({1, 4})), Literal::scalar(2.5f));
}

TEST_F(XlaElementwise, ArraysWithoutElements) {
  check(
      [](Tensor x) {
        return std::tuple(x + x, sin(x), x < 1, convert(x, DType::kS8), where(x < 0, x, 1));
      },
      Literal::zeros(f32({0, 3})));
}

TEST_F(XlaElementwise, OptimizationBarrier) {
  check(
      [](Tensor x, Tensor y) {
        const auto [u, v] = optimization_barrier(std::pair(x + 1, y));
        return std::tuple(u * 2, v, optimization_barrier(u));
      },
      row<float>({1, -2, 0.5f}), row<std::int32_t>({4, 5}));
}

TEST_F(XlaElementwise, CustomCalls) {
  // One of the few targets that XLA knows without a function of its own: on one device the
  // identity.
  register_call("Sharding", {.run = [](const Call& call) {
                  std::ranges::copy(call.operand<float>(0), call.result<float>(0).begin());
                }});
  check([](Tensor x) { return custom_call("Sharding", {x * 2}, {x.type()})[0] + 1; },
        row<float>({1, -2, 0.5f}));
}

TEST_F(XlaElementwise, ObserversAreNotInTheText) {
  check([](Tensor x) { return std::tuple(tap(x + 1, "x"), progress(Tensor(1), Tensor(2))); },
        row<float>({1, 2}));
}

}  // namespace
}  // namespace rondo::testing
