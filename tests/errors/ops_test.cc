// Errors of ops for operands that do not fit: dtypes, shapes, axes, indices, slices, scalars. Each
// message names the op, the types, the line, and says what to do.
#include <complex>
#include <limits>

#include "errors/message.h"

namespace rondo {
namespace {

/// f32[2,3], f32[3], s32[3], f32[].
struct Values {
  Tensor x = constant({{1.0f, 2.0f, 3.0f}, {4.0f, 5.0f, 6.0f}});
  Tensor v = constant({1.0f, 2.0f, 3.0f});
  Tensor i = constant({1, 2, 3});
  Tensor s = 1.5f;
};

class OpErrors : public ::testing::Test, protected Values {};

TEST_F(OpErrors, DtypesThatDifferSuggestConvert) {
  constexpr char kConvert[] = ", rondo::DType::kF32)";
  EXPECT_REFUSED(v + i, "add: the operands are f32[3] and s32[3]", "dtypes must be equal",
                 kConvert);
  EXPECT_REFUSED(v - i, "subtract: the operands are f32[3] and s32[3]", kConvert);
  EXPECT_REFUSED(v * Tensor(0.5), "multiply: the operands are f32[3] and f64[]", "DType::kF64");
  EXPECT_REFUSED(i / v, "divide: the operands are s32[3] and f32[3]", "Convert the first",
                 kConvert);
  EXPECT_REFUSED(void(v < i), "compare: the operands are f32[3] and s32[3]", kConvert);
  EXPECT_REFUSED(void(v == i), "f32[3] and s32[3]", kConvert);
  EXPECT_REFUSED(maximum(v, i), "maximum: the operands are f32[3] and s32[3]", kConvert);
  EXPECT_REFUSED(pow(v, i), "pow", "f32[3] and s32[3]", kConvert);
  EXPECT_REFUSED(where(v > 1, v, i), "where: the operands are f32[3] and s32[3]", kConvert);
  EXPECT_REFUSED(clamp(s, v, Tensor(2)), "clamp", "s32[]", "f32[3]", "rondo::convert");
  EXPECT_REFUSED(concatenate({v, i}, 0), "concatenate: part 0 is f32[3], part 1 is s32[3]",
                 kConvert);
  EXPECT_REFUSED(stack({v, i}, 0), "stack: part 1 is s32[3], part 0 is f32[3]", "rondo::convert");
  EXPECT_REFUSED(matmul(x, i), "matmul: the operands are f32[2,3] and s32[3]", kConvert);
  EXPECT_REFUSED(dot(v, i), "dot: the operands are f32[3] and s32[3]", kConvert);
  EXPECT_REFUSED(update(v, 0, Tensor(1)), "update: the row is s32[], the array f32[3]",
                 "rondo::convert(row, DType::kF32)");
  EXPECT_REFUSED(dynamic_update_slice(v, i, {0}), "dynamic_update_slice", "s32[3]", "f32[3]",
                 "rondo::convert(update, DType::kF32)");
  EXPECT_REFUSED(pad(v, Tensor(0), {1}, {1}), "pad", "f32[3] and s32[]", kConvert);
  EXPECT_REFUSED(v += i, "add: the operands are f32[3] and s32[3]", kConvert);
}

TEST_F(OpErrors, DtypesThatAnOpDoesNotTake) {
  const Tensor p = v > 1, c = complex(v, v);
  EXPECT_REFUSED(sin(i), "sin: takes floats and complex numbers; the operand is s32[3]",
                 "rondo::convert(x, DType::kF32)");
  EXPECT_REFUSED(sqrt(i), "sqrt: takes floats", "s32[3]", "rondo::convert");
  EXPECT_REFUSED(floor(i), "floor: takes floats; the operand is s32[3]", "rondo::convert");
  EXPECT_REFUSED(atan2(i, i), "atan2: takes floats", "s32[3]", "rondo::convert");
  EXPECT_REFUSED(complex(i, i), "complex: takes f32, f64; the operand is s32[3]", "rondo::convert");
  EXPECT_REFUSED(popcount(v), "popcount: takes integers; the operand is f32[3]", "bitcast_convert");
  EXPECT_REFUSED(v & v, "and: takes pred and integers; the operand is f32[3]", "rondo::convert");
  EXPECT_REFUSED(~v, "not: takes pred and integers; the operand is f32[3]", "rondo::convert");
  EXPECT_REFUSED(v << 1, "shift_left: takes integers; the operand is f32[3]", "rondo::convert");
  EXPECT_REFUSED(-p, "negate: takes integers, floats and complex numbers; the operand is pred[3]",
                 "rondo::convert(x, DType::kS32)");
  EXPECT_REFUSED(mean(i), "mean: s32[3]", "mean(rondo::convert(x, DType::kF32))");
  EXPECT_REFUSED(max(c), "max: c64[3] has no order", "abs(x), real(x) or imag(x)");
  EXPECT_REFUSED(cummax(c, 0), "cummax: c64[3] has no order", "abs(x)");
  EXPECT_REFUSED(where(v, v, v), "where: the predicate is f32[3]; it must be pred",
                 "where(x != 0, a, b)");
  EXPECT_REFUSED(iota(pred({2}), 0), "iota: pred[2]", "Make an s32");
  EXPECT_REFUSED(bitcast_convert(v, DType::kF64), "bitcast_convert: from f32[3] to f64", "Reshape");
  EXPECT_REFUSED(bitcast_convert(p, DType::kF32), "bitcast_convert: from pred[3] to f32",
                 "rondo::convert");
}

TEST_F(OpErrors, NotOfNumbersNamesTheLineOfItsOperand) {
  std::string made;
  const Tensor number = (made = RONDO_HERE, sin(v));
  testing::expect_parts(
      testing::message_of([&] { !number; }),
      {"!: takes pred; the operand is f32[3] (made by sin at " + made + ")", "Ask x == 0", "~x"});
}

TEST_F(OpErrors, ShapesThatDoNotBroadcast) {
  const Tensor two = constant({1.0f, 2.0f});
  EXPECT_REFUSED(x + two, "add: the shapes of f32[2,3] and f32[2] do not broadcast",
                 "axis -1 has 3 and 2 elements", "reshape or expand_dims");
  EXPECT_REFUSED(void(x < zeros(f32({3, 2}))), "compare", "f32[2,3] and f32[3,2]", "expand_dims");
  EXPECT_REFUSED(where(constant({true, false}), x, x), "where", "pred[2] and f32[2,3]",
                 "axis -1 has 2 and 3");
  EXPECT_REFUSED(x += two, "add: the shapes of f32[2,3] and f32[2]");
  EXPECT_REFUSED(broadcast_to(v, {2, 4}), "broadcast_to: f32[3] does not broadcast to [2,4]",
                 "broadcast_in_dim");
  EXPECT_REFUSED(broadcast_to(x, {3}), "broadcast_to: f32[2,3] does not broadcast to [3]");
  EXPECT_REFUSED(full(f32({2, 2}), v), "f32[3] does not broadcast to [2,2]");
  EXPECT_REFUSED(update(x, 0, two), "update: the row is f32[2]", "f32[3], a row of f32[2,3]");
  EXPECT_REFUSED(matmul(x, x), "matmul: f32[2,3] and f32[2,3] do not fit",
                 "axis 1 of the left one has 3 elements, axis 0 of the right one has 2",
                 "transpose");
  EXPECT_REFUSED(matmul(zeros(f32({2, 3, 4})), zeros(f32({3, 4, 5}))),
                 "matmul: f32[2,3,4] and f32[3,4,5] do not fit", "[2] and [3]", "equal or 1");
  EXPECT_REFUSED(matmul(x, s), "matmul: f32[2,3] and f32[]", "Use *");
  EXPECT_REFUSED(dot(v, two), "dot: f32[3] and f32[2] do not fit", "3 elements", "has 2");
  EXPECT_REFUSED(dot_general(x, x, {{}, {}, {0}, {1}}),
                 "dot_general: contracting axis 0 of f32[2,3]", "transpose, reshape or slice");
  EXPECT_REFUSED(concatenate({x, zeros(f32({2, 2}))}, 0),
                 "concatenate: part 1 is f32[2,2], part 0 is f32[2,3]", "only axis 0 may differ");
  EXPECT_REFUSED(stack({x, v}, 0), "stack: part 1 is f32[3], part 0 is f32[2,3]", "reshape");
}

TEST_F(OpErrors, AxesOutOfRange) {
  EXPECT_REFUSED(sum(x, {2}), "sum: axis 2 is out of range", "the axes are -2 to 1");
  EXPECT_REFUSED(sum(x, {-3}), "sum: axis -3 is out of range", "the axes are -2 to 1");
  EXPECT_REFUSED(sum(x, {0, -2}), "sum: axis 0 is named twice");
  EXPECT_REFUSED(sum(s, {0}), "sum: axis 0 of a scalar, which has no axes");
  EXPECT_REFUSED(argmax(x, 2), "argmax: axis 2 is out of range", "-2 to 1");
  EXPECT_REFUSED(cumsum(x, -3), "cumsum: axis -3 is out of range", "-2 to 1");
  EXPECT_REFUSED(sort(x, 2), "sort: axis 2 is out of range", "-2 to 1");
  EXPECT_REFUSED(argsort(s), "axis -1 of a scalar");
  EXPECT_REFUSED(take(x, i, 2), "take: axis 2 is out of range", "-2 to 1");
  EXPECT_REFUSED(reverse(x, {2}), "reverse: axis 2 is out of range", "-2 to 1");
  EXPECT_REFUSED(concatenate({x, x}, 2), "concatenate: axis 2 is out of range", "-2 to 1");
  EXPECT_REFUSED(stack({x, x}, -4), "stack: axis -4 is out of range", "the axes are -3 to 2");
  EXPECT_REFUSED(expand_dims(x, 4), "expand_dims: axis 4 is out of range", "-3 to 2");
  EXPECT_REFUSED(squeeze(x, {0}), "squeeze: axis 0 of f32[2,3] has 2 elements", "size 1");
  EXPECT_REFUSED(transpose(x, {0, 0}), "transpose: [0,0]", "2 axes of f32[2,3]", "named once");
  EXPECT_REFUSED(x.dim(2), "dim: axis 2 of f32[2,3]", "-2 to 1");
  EXPECT_REFUSED(s.dim(0), "dim: axis 0 of f32[], which has no axes");
  EXPECT_REFUSED(iota(f32({2}), 1), "iota: axis 1 is out of range", "-1 to 0");
  EXPECT_REFUSED(concatenate({s, s}, 0), "part 0 is a scalar", "use stack");
  EXPECT_REFUSED(concatenate({}, 0), "concatenate", "the vector is empty");
  EXPECT_REFUSED(stack({}, 0), "stack", "the vector is empty");
}

TEST_F(OpErrors, IndicesOutOfRange) {
  EXPECT_REFUSED(x[2], "[]: index 2 of f32[2,3]", "rows are -2 to 1");
  EXPECT_REFUSED(x[-3], "[]: index -3 of f32[2,3]", "rows are -2 to 1");
  EXPECT_REFUSED(s[0], "[]: f32[] is a scalar and has no rows");
  EXPECT_REFUSED(zeros(f32({0, 2}))[0], "index 0 of f32[0,2], which has no rows");
  EXPECT_REFUSED(zeros(f32({0}))[Tensor(0)], "f32[0] has no rows");
  EXPECT_REFUSED(x[1.5], "the index is a C++ f64", "an integer");
  EXPECT_REFUSED(x[s], "the index is f32[]", "integer scalar");
  EXPECT_REFUSED(x[i], "the index is s32[3]", "rondo::take");
  EXPECT_REFUSED(update(x, 2, 0), "update: index 2 of f32[2,3]", "rows are -2 to 1");
  EXPECT_REFUSED(update(s, 0, 0), "update: f32[] is a scalar");
  EXPECT_REFUSED(take(v, v), "take: the indices are f32[3]", "integers");
  EXPECT_REFUSED(take(zeros(f32({0})), i), "take: axis 0 of f32[0] has no elements");
}

TEST_F(OpErrors, SlicesOutOfRange) {
  EXPECT_REFUSED(slice(x, {0, 0}, {3, 1}), "slice: [0, 3) is no part of axis 0 of f32[2,3]",
                 "has 2 elements");
  EXPECT_REFUSED(slice(x, {0, 2}, {2, 1}), "[2, 1) is no part of axis 1 of f32[2,3]",
                 "a start is not past its limit");
  EXPECT_REFUSED(slice(x, {-1, 0}, {2, 1}), "[-1, 2) is no part of axis 0", "count from the front");
  EXPECT_REFUSED(slice(x, {0, 0}, {2, 3}, {0, 1}), "slice: the stride 0 of axis 0", "use reverse");
  EXPECT_REFUSED(slice(x, {0}, {1}), "slice: f32[2,3] has 2 axes", "1 starts, 1 limits");
  EXPECT_REFUSED(dynamic_slice(x, {0}, {1, 1}), "dynamic_slice: f32[2,3] has 2 axes",
                 "1 are given");
  EXPECT_REFUSED(dynamic_slice(x, {0, 0}, {3, 1}),
                 "the part is 3 long along axis 0, where f32[2,3] has 2", "from 0 to 2");
  EXPECT_REFUSED(dynamic_slice(x, {0.5f, 0}, {1, 1}), "start 0 is f32[]", "integer scalars");
  EXPECT_REFUSED(dynamic_update_slice(x, zeros(f32({3, 3})), {0, 0}), "dynamic_update_slice",
                 "the part is 3 long along axis 0, where f32[2,3] has 2");
  EXPECT_REFUSED(dynamic_update_slice(x, v, {0, 0}), "f32[2,3] has 2 axes, the part has 1");
  EXPECT_REFUSED(pad(x, 0, {1}, {1}), "pad: f32[2,3] has 2 axes", "1 low, 1 high");
  EXPECT_REFUSED(pad(x, 0, {-3, 0}, {0, 0}), "pad: axis 0 of f32[2,3] with low -3",
                 "would have -1 elements");
  EXPECT_REFUSED(pad(x, 0, {0, 0}, {0, 0}, {-1, 0}), "the interior padding of axis 0 is -1");
}

TEST_F(OpErrors, ShapesThatCannotBe) {
  EXPECT_REFUSED(reshape(x, {4}), "reshape: f32[2,3] has 6 elements, the shape asked for is [4]");
  EXPECT_REFUSED(reshape(x, {-1, 4}), "[-1,4]: 6 is no multiple of 4");
  EXPECT_REFUSED(reshape(x, {-1, -1}), "only one size can be inferred");
  EXPECT_REFUSED(reshape(x, {-2, 3}), "[-2,3]: axis 0 has a negative size");
  EXPECT_REFUSED(broadcast_in_dim(x, {2, 3}, {1, 0}), "f32[2,3] to [2,3] with the map [1,0]",
                 "axis 1 of the operand has 3 elements, axis 0 of the result 2");
  EXPECT_REFUSED(arange(-1), "arange: -1 elements");
  EXPECT_REFUSED(eye(-1), "eye: -1 rows");
  EXPECT_REFUSED(constant({{1, 2}, {3}}), "row 1 has 1 elements, row 0 has 2");
  testing::expect_parts(testing::message_of([] {
                          zeros(f32({2, -1}));
                        }),
                        {"shape [2,-1]", "dimension 1 is negative", "0 or more"});
}

TEST_F(OpErrors, ReductionsOfNothingAndCombiners) {
  EXPECT_REFUSED(max(zeros(f32({0}))), "max: no elements: axes {0} of f32[0]",
                 "reduce with an initial value");
  EXPECT_REFUSED(min(zeros(f32({2, 0})), {1}), "min: no elements: axes {1} of f32[2,0]");
  EXPECT_REFUSED(argmin(zeros(f32({0})), 0), "argmin: no elements: axis 0 of f32[0]");
  auto less = [](Tensor a, Tensor b) { return a < b; };
  auto add = [](Tensor a, Tensor b) { return a + b; };
  EXPECT_REFUSED(reduce(v, 0, {0}, less), "reduce: the combiner takes (f32[], f32[])",
                 "returns (pred[])", "Use convert and reshape");
  EXPECT_REFUSED(reduce(v, v, {0}, add), "the initial value of operand 0 is f32[3]", "scalar");
  EXPECT_REFUSED(reduce(i, 0.5, {0}, add), "inexact scalar: 0.5", "s32");
  auto first = [](auto a, auto) { return a; };
  EXPECT_REFUSED(reduce(std::tuple(v, x), std::tuple(0, 0), {0}, first),
                 "operand 1 is f32[2,3], operand 0 is f32[3]", "broadcast_to");
  EXPECT_REFUSED(sort_by(v, 0, add), "the comparator must return one scalar pred", "f32[]");
  const std::string message = testing::message_of([&] {
    jit([&](Tensor k) { return reduce(v, 0, {0}, [&](Tensor a, Tensor b) { return a + b * k; }); })(
        2.0f);
  });
  testing::expect_parts(message, {"the combiner of reduce uses a tensor f32[] from outside, 'arg0'",
                                  "ops_test.cc:", "before or after"});
}

TEST_F(OpErrors, InexactScalars) {
  constexpr char kRemedy[] = "rondo::convert(x, rondo::DType::k";
  EXPECT_REFUSED(i + 1.5, "inexact scalar: 1.5 beside a tensor of s32 would lose its fraction",
                 kRemedy, "a scalar that s32 can hold");
  EXPECT_REFUSED(1.5 - i, "inexact scalar: 1.5", "s32", kRemedy);
  EXPECT_REFUSED(void(i < 0.5f), "inexact scalar: 0.5", "s32", kRemedy);
  EXPECT_REFUSED(i += 1.5, "inexact scalar: 1.5", "s32", kRemedy);
  EXPECT_REFUSED(maximum(i, 1e10), "inexact scalar: 10000000000", "s32 is out of range", kRemedy);
  EXPECT_REFUSED(convert(i, DType::kU8) + 300, "inexact scalar: 300 beside a tensor of u8",
                 kRemedy);
  EXPECT_REFUSED(convert(i, DType::kU8) - -1, "inexact scalar: -1 beside a tensor of u8", kRemedy);
  EXPECT_REFUSED(i + std::size_t{5'000'000'000}, "5000000000 beside a tensor of s32", kRemedy);
  EXPECT_REFUSED(v * 1e300, "inexact scalar: 1e+300 beside a tensor of f32 overflows", kRemedy);
  EXPECT_REFUSED(convert(v, DType::kF16) + 1e6, "1000000 beside a tensor of f16 overflows");
  EXPECT_REFUSED(v + std::complex<float>(1, 2),
                 "(1, 2) beside a tensor of f32 would lose its "
                 "imaginary part");
  EXPECT_REFUSED(i + std::numeric_limits<double>::quiet_NaN(),
                 "nan beside a tensor of s32 is no "
                 "integer");
  EXPECT_REFUSED((v > 1) & 2, "2 beside a tensor of pred is neither 0 nor 1");
  EXPECT_REFUSED(where(v > 1, i, 0.5), "inexact scalar: 0.5", "s32");
  EXPECT_REFUSED(clamp(0, i, 2.5), "inexact scalar: 2.5", "s32");
  EXPECT_REFUSED(full(s32({2}), 0.5), "inexact scalar: 0.5", "s32");
  EXPECT_REFUSED(update(i, 0, 0.5), "inexact scalar: 0.5", "s32");
  EXPECT_REFUSED(pad(i, 0.5, {1}, {1}), "inexact scalar: 0.5", "s32");
}

TEST_F(OpErrors, EmptyTensors) {
  const Tensor e;
  constexpr char kRemedy[] = "a default-constructed Tensor has none";
  EXPECT_REFUSED(e + 1, "add: an operand is an empty Tensor", kRemedy);
  EXPECT_REFUSED(1 + e, "add: an operand is an empty Tensor", kRemedy);
  EXPECT_REFUSED(sin(e), "sin: an operand is an empty Tensor", kRemedy);
  EXPECT_REFUSED(v[e], "[]: an operand is an empty Tensor", kRemedy);
  EXPECT_REFUSED(sum(e), "sum: an operand is an empty Tensor", kRemedy);
  EXPECT_REFUSED(concatenate({v, e}, 0), "concatenate: an operand is an empty Tensor", kRemedy);
  EXPECT_REFUSED(where(e, v, v), "where: an operand is an empty Tensor", kRemedy);
  EXPECT_REFUSED(e.eval(), "eval: an operand is an empty Tensor", kRemedy);
  EXPECT_REFUSED(e.item<int>(), "empty Tensor", kRemedy);
  EXPECT_REFUSED(random::key(e), "random::key: an operand is an empty Tensor", kRemedy);
  EXPECT_REFUSED(update(v, 0, e), "update: an operand is an empty Tensor", kRemedy);
  // These have no line.
  auto same = [](Tensor t) { return t; };
  for (const std::string& message :
       {testing::message_of([&] { e.type(); }), testing::message_of([&] { e.rank(); }),
        testing::message_of([&] { jit(same)(e); }), testing::message_of([&] { to_hlo_text(e); }),
        testing::message_of([&] { trace([](Tensor) { return Tensor(); }, f32()); })}) {
    testing::expect_parts(message, {"empty", kRemedy});
    EXPECT_EQ(message.find('?'), std::string::npos) << message;
  }
}

TEST_F(OpErrors, RandomNumbersAndReports) {
  const Tensor key = random::key(0);
  EXPECT_REFUSED(random::uniform(v, f32({2})), "random::uniform: the key is f32[3]", "u32[2]",
                 "random::key");
  EXPECT_REFUSED(random::uniform(random::split(key, 3), f32()), "the key is u32[3,2]", "keys[i]");
  EXPECT_REFUSED(random::normal(key, s32({2})), "random::normal: s32[2] is no floating type",
                 "random::randint");
  EXPECT_REFUSED(random::randint(key, f32({2}), 0, 3), "random::randint: f32[2] is no integer type",
                 "random::uniform");
  EXPECT_REFUSED(random::bits(key, s32()), "random::bits: s32[] is no unsigned type", "bitcast");
  EXPECT_REFUSED(random::key(1.5), "random::key: the seed is f64[]", "integer scalar");
  EXPECT_REFUSED(random::split(key, -1), "random::split: -1 keys", "not be negative");
  EXPECT_REFUSED(random::fold_in(key, 0.5), "random::fold_in: the data is f64[]", "integer");
  EXPECT_REFUSED(print(v, "no place"), "print: the format", "no {}", "{{");
  EXPECT_REFUSED(progress(1.5, 3), "progress: i is f64[]", "progress(i, n)");
}

TEST_F(OpErrors, RareOnesHaveARemedyToo) {
  EXPECT_REFUSED(is_nan(i), "never NaN", "rondo::convert(x, DType::kF32)");
  EXPECT_REFUSED(arange(-1), "-1 elements", "Give 0 or more");
  EXPECT_REFUSED(eye(-2), "-2 rows", "Give 0 or more");
  EXPECT_REFUSED(dynamic_slice(x, {0}, {1, 1}), "needs a start for each", "a start per axis");
  EXPECT_REFUSED(dynamic_slice(x, {0, 0}, {1}), "the part has 1", "a size for each axis");
  EXPECT_REFUSED(dynamic_slice(x, {i, i}, {1, 1}), "start 0 is s32[3]", "i[0]");
  EXPECT_REFUSED(take(zeros(f32({0})), i), "no elements to take", "Give an array that has some");
  EXPECT_REFUSED(pad(x, 0, {1}, {1}), "1 low, 1 high", "one per axis", "pad(x, 0, {1, 0}, {1, 0})");
  EXPECT_REFUSED(pad(v, 0, {1}, {1}, {-1}), "interior padding", "slice with strides");
  EXPECT_REFUSED(pad(v, 0, {-2}, {-2}), "would have -1 elements", "Cut less");
  EXPECT_REFUSED(transpose(x, {0, 0}), "no order of the 2 axes", "named once");
  EXPECT_REFUSED(slice(x, {0}, {1}), "1 starts", "x[0:2, 1:3]");
  EXPECT_REFUSED(slice(v, {0}, {2}, {-1}), "stride -1", "use reverse");
  EXPECT_REFUSED(dot_general(x, x, {.lhs_contracting = {5}, .rhs_contracting = {0}}), "axis 5",
                 "-1 is the last");
  EXPECT_REFUSED(dot_general(x, x, {.lhs_contracting = {0}}), "belong together in pairs",
                 "as many on the right");
  EXPECT_REFUSED(random::uniform(random::key(0), f32({1}), v, 1), "does not broadcast",
                 "reshape the bound");
  EXPECT_REFUSED(random::randint(random::key(0), s32({2}), s, 4), "the bounds are integers",
                 "random::uniform");
  EXPECT_REFUSED(random::split(random::key(0), -1), "-1 keys", "how many keys");
  EXPECT_REFUSED(random::key(i), "integer scalar", "seeds[i]");
  EXPECT_REFUSED((void)x.dim(2), "dim: axis 2 of f32[2,3]", "-1 is the last");
  EXPECT_REFUSED(broadcast_in_dim(v, {3, 4}, {1}), "with the map [1]", "a place in the result");
  EXPECT_REFUSED((void)rng_bit_generator(i, u32({2})), "ThreeFry is u64[2]", "{seed, 0}");
}

}  // namespace
}  // namespace rondo
