// Malformed programs of every format, and what the errors say: where, what, and what to do.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <span>
#include <string>
#include <string_view>

#include "fmt/format.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;

/// Lines that the tests put into a program of their format; those that begin with `!` are all of
/// it.
struct Malformed {
  const char* body;
  const char* place;    // line:column
  const char* message;  // a part of it, with what to do where it says so
};

void expect_all(std::span<const Malformed> programs, std::string_view before,
                std::string_view after, Function (*parse)(std::string_view)) {
  for (const Malformed& program : programs) {
    const bool whole = program.body[0] == '!';
    const std::string text =
        whole ? program.body + 1 : fmt::format("{}{}{}", before, program.body, after);
    SCOPED_TRACE(text);
    try {
      parse(text);
      ADD_FAILURE() << "it was read";
    } catch (const ParseError& error) {
      const std::string place = fmt::format("{}:{}", error.line(), error.column());
      EXPECT_EQ(place, program.place) << error.what();
      EXPECT_THAT(error.what(), HasSubstr(program.message));
      EXPECT_THAT(error.what(),
                  HasSubstr(fmt::format("line {}, column {}", error.line(), error.column())));
    }
  }
}

constexpr Malformed kIr[] = {
    {"!", "1:1", "there is no function\n  Begin with `func main(%x: f32[]) -> (f32[]) {`."},
    {"!func", "1:5", "expected `(`\n  A function or region begins like `body (%x: f32[]) {`."},
    {"!func main", "1:6", "expected `(`\n  A function or region begins like `body (%x: f32[]) {`."},
    {"!func main(", "1:11", "expected `%`"},
    {"!func main() -> (f32[]) {", "1:25", "a function or region does not end\n  Add its `}`."},
    {"!func main(%x: f32[]) -> (f32[]) {\n  return %x\n", "3:1",
     "a function or region does not end\n  Add its `}`."},
    {"!func main(%x: f32[]) -> (f32[]) {\n}\n", "2:2",
     "the region returns nothing\n  End it with `return` and its results."},
    {"!func main(%x: f32[]) -> (s32[]) {\n  return %x\n}\n", "3:2",
     "the results have other types than the first line says\n  Write theirs after the `->`."},
    {"!func main(%x: f32[]) -> (f32[], f32[]) {\n  return %x\n}\n", "3:2",
     "the results have other types than the first line says\n  Write theirs after the `->`."},
    {"!func main(%x: f32[], %x: f32[]) -> (f32[]) {\n  return %x\n}\n", "1:22",
     "%x is defined twice\n  Give it another name."},
    {"!func main(%x f32[]) -> (f32[]) {\n  return %x\n}\n", "1:14", "expected `:`"},
    {"!func main(%: f32[]) -> (f32[]) {\n  return %x\n}\n", "1:12",
     "expected the name of a parameter\n  Write it like `%x: f32[]`."},
    {"!func main(x: f32[]) -> (f32[]) {\n  return %x\n}\n", "1:11", "expected `%`"},
    {"!func main(%x: f32[]) {\n  return %x\n}\n", "1:22", "expected `->`"},
    {"!func main(%x: float) -> (f32[]) {\n  return %x\n}\n", "1:15",
     "expected a type, not `float`\n  Write it like f32[2,3]."},
    {"!func main(%x: f32[-1]) -> (f32[]) {\n  return %x\n}\n", "1:18",
     "shape [-1]: dimension 0 is negative\n  Give sizes of 0 or more."},
    {"!func main(%x: f32[4611686018427387904,2]) -> (f32[]) {\n  return %x\n}\n", "1:18",
     "shape [4611686018427387904,2] has more than 2^62 elements\n  Give smaller sizes."},
    {"!func main(%x: f32[99999999999999999999]) -> (f32[]) {\n  return %x\n}\n", "1:19",
     "the integer does not fit 64 bits"},
    {"!func main(%x: f32[]) -> (f32[]) {\n  return %x\n}\nmore", "4:1",
     "expected `func`\n  A program begins like"},
    {"!func main(%x: f32[]) -> (f32[]) {\n  return %x\n  %0: f32[] = negate %x\n}\n", "3:3",
     "expected `}`\n  Nothing follows the `return` of a region."},
    {"  nonsense", "2:3", "expected a node\n  Write it like `%0: f32[] = add %x, %y`."},
    {"  %0: f32[2] negate %x", "2:14", "expected `=`"},
    {"  %0: f32[2] = nonsense %x", "2:16",
     "there is no op `nonsense`\n  docs/ops.md lists the ops."},
    {"  %0: f32[2] = parameter", "2:16",
     "there is no op `parameter`\n  docs/ops.md lists the ops."},
    {"  %0: f32[2] = negate %y", "2:23",
     "there is no value %y here\n  Define it above; a region has its parameters and its own "
     "nodes."},
    {"  %0: f32[2] = negate", "2:3",
     "negate: the number of its operands is 1, not 0\n  Give as many."},
    {"  %0: f32[2] = negate %x, %x", "2:3",
     "negate: the number of its operands is 1, not 2\n  Give as many."},
    {"  %0: f32[3] = negate %x", "2:3", "negate gives f32[2]\n  Write these types before the `=`."},
    {"  %0: f32[2], f32[2] = negate %x", "2:3",
     "negate gives f32[2]\n  Write these types before the `=`."},
    {"  %0 = negate %x", "2:3", "negate gives f32[2]\n  Write these types before the `=`."},
    {"  %0: f32[2] = add %x, 1", "2:24",
     "expected a value, `%x`\n  Give each constant a line of its own, as TextOptions{.full = true} "
     "prints them."},
    {"  %0: f32[2] = add %x, %n", "2:3",
     "add: operand 0 is f32[2], operand 1 is s32[]; the types must be equal\n  Convert operand 1: "
     "rondo::convert(x, rondo::DType::kF32)."},
    {"  %0: f32[2] = negate %x#1", "2:23", "%x has 1 results\n  Count them from 0."},
    {"  %0: f32[2] = negate %x\n  %0: f32[2] = negate %x", "3:3",
     "%0 is defined twice\n  Give it another name."},
    {"  %0: f32[2] = negate %x, ", "2:27",
     "expected a value, `%x`\n  Give each constant a line of its own, as TextOptions{.full = true} "
     "prints them."},
    {"  %0: f32[2] = negate %x {axis=0}", "2:26", "negate takes no attributes\n  Remove them."},
    {"  %0: f32[2] = negate %x more", "2:26",
     "expected the end of the line\n  Give each node a line of its own."},
    {"  %0: pred[2] = compare %x, %x", "2:31",
     "compare needs attributes\n  Write them like {axis=0}."},
    {"  %0: pred[2] = compare %x, %x {direction=XX}", "2:45",
     "expected one of EQ, NE, LT, LE, GT, GE"},
    {"  %0: pred[2] = compare %x, %x {direction=LT, colour=1}", "2:54",
     "there is no attribute `colour` here\n  Leave it out."},
    {"  %0: pred[2] = compare %x, %x {direction=LT", "2:45", "expected `}`"},
    {"  %0: f32[2] = transpose %x {permutation=[0,0]}", "2:3",
     "transpose: [0,0] is no order of the 1 axes of f32[2]\n  Each axis must be named once."},
    {"  %0: f32[2] = transpose %x {permutation=0}", "2:42", "expected `[`"},
    {"  %0: f32[1] = slice %x {starts=[0], strides=[1]}", "2:46",
     "the attribute `limits` is missing before this\n  Give the attributes in the order in which "
     "they print."},
    {"  %0: f32[1] = slice %x {starts=[0], limits=[3], strides=[1]}", "2:3",
     "slice: [0, 3) is no part of axis 0 of f32[2], which has 2 elements\n  Starts and limits "
     "count from the front, and a start is not past its limit."},
    {"!func main(%x: f32[1,3,4], %k: f32[2,3,5]) -> (f32[1,3,5]) {\n"
     "  %0: f32[1,3,5] = convolution %x, %k {strides=[1], padding=[0:0], lhs_dilation=[1], "
     "rhs_dilation=[1], feature_groups=1, batch_groups=1, lhs=[0,2,1], rhs=[2,1,0], "
     "out=[803,1,2]}\n"
     "  return %0\n}\n",
     "2:3",
     "convolution: the result is of 3 axes; the layout is for 3 axes, each named once\n  Write a "
     "layout "
     "such as b01f_01io->b01f with a digit for each spatial axis."},
    {"!func main(%x: f32[1,3], %k: f32[2,3,5]) -> (f32[1,3,5]) {\n"
     "  %0: f32[1,3,5] = convolution %x, %k {strides=[], padding=[], lhs_dilation=[], "
     "rhs_dilation=[], feature_groups=1, batch_groups=1, lhs=[0,1], rhs=[0,1], out=[0,1]}\n"
     "  return %0\n}\n",
     "2:3",
     "convolution: x is f32[1,3], the kernel f32[2,3,5]\n  Give both the same number of axes: a "
     "batch or "
     "output features, features, and spatial axes."},
    {"  %0: f32[2] = constant {1, 2, 3}", "2:30", "expected `}`"},
    {"  %0: f32[2] = constant {1}", "2:27", "expected a number"},
    {"  %0: f32[2] = constant {1, x}", "2:29", "expected a number"},
    {"  %0: f32[100] = constant {1, 2, 3, ..., 1, 2, 3}", "2:37",
     "the elements are left out\n  Print the program with TextOptions{.full = true}."},
    {"  %0: s8[] = constant 200", "2:23", "expected an integer of 8 bits"},
    {"  %0: f32[2], f32[2] = constant {1, 2}", "2:24",
     "a constant has one type\n  Write it before the `=`."},
    {"  body (%y: f32[2]) {", "2:3", "a region without a node\n  Write it after its node."},
    {"  %0: s32[] = while %n {carries=1, checkpoint=none}", "2:3",
     "while: needs a condition and a body\n  Give two regions, in this order."},
    {"  %0: s32[] = while %n {carries=1}\n    cond (%i: s32[]) {\n      return %i\n    }\n    body "
     "(%i: s32[]) {\n      return %i\n    }",
     "2:3",
     "while: the condition must return one pred[]\n  Compare, and combine with rondo::all or "
     "rondo::any."},
    {"  %0: s32[] = while %n {carries=1}\n    cond (%i: s32[]) {\n      return %x\n    }", "4:14",
     "there is no value %x here\n  Define it above; a region has its parameters and its own "
     "nodes."},
};
constexpr Malformed kStablehlo[] = {
    {"!", "1:1", "the text has 0 modules; a program has one"},
    {"!module {", "1:9", "expected a function, `func.func @name(...)`"},
    {"!func.func @f() {\n  return\n}\n", "1:1",
     "there is no function @main\n  It is the program that is run."},
    {"!func.func @main(%x: tensor<?xf32>) -> tensor<?xf32> {\n  return %x : tensor<?xf32>\n}\n",
     "1:1",
     "the sizes of its parameter %x are not known\n  Give the program arguments of fixed shapes."},
    {"!func.func @main(%x: tensor<2xf99>) -> tensor<2xf99> {\n  return %x : tensor<2xf99>\n}\n",
     "1:30", "the element type f99 is not supported"},
    {"!func.func @main(%x: tensor<2xf32) -> tensor<2xf32> {\n  return %x : tensor<2xf32>\n}\n",
     "1:33", "expected `>`"},
    {"!func.func @main(%x: memref<2xf32>) -> memref<2xf32> {\n  return %x : memref<2xf32>\n}\n",
     "1:21", "values of the type memref... are not supported, only tensors"},
    {"!func.func @main(%x: tensor<f32>) -> tensor<f32> {\n  %0 = stablehlo.sine %x : "
     "tensor<f32>\n}\n",
     "2:8", "this is the last operation of a region, which must end with a return"},
    {"!func.func @main(%x: tensor<f32>) -> tensor<f64> {\n  return %x : tensor<f32>\n}\n", "1:1",
     "func.func: its result is f32[], not f64[] as the text says"},
    {"!func.func @main(%x: tensor<f32>) {\n  return %x : tensor<f32>\n}\n", "1:1",
     "func.func: it returns 1 values, and its type has 0"},
    {"!func.func @main(%x: tensor<4611686018427387904x2xf32>) -> tensor<f32> {\n  return %x : "
     "tensor<f32>\n}\n",
     "1:27", "shape [4611686018427387904,2] has more than 2^62 elements\n  Give smaller sizes."},
    {"  %0 = stablehlo.while(%i = %n) : tensor<i32>\n  cond {\n    stablehlo.return\n  } do {\n    "
     "stablehlo.return %i : tensor<i32>\n  }",
     "2:8", "while: the condition gives 0 values\n  at StableHLO text:2\n  Return one pred[]."},
    {"  %0 = \"stablehlo.broadcast\"(%x) {broadcast_sizes = array<i64: 3>} : (tensor<2xf32>) -> ()",
     "2:8", "stablehlo.broadcast: the type of the result is missing\n  Write it"},
    {"  %0 = stablehlo.nonsense %x : tensor<2xf32>", "2:8",
     "stablehlo.nonsense: this operation is not supported"},
    {"  %0 = arith.addf %x, %x : tensor<2xf32>", "2:8",
     "arith.addf: this operation is not supported"},
    {"  %0 = stablehlo.add %x, %y : tensor<2xf32>", "2:26", "%y is not defined before this"},
    {"  %0 = stablehlo.add %x : tensor<2xf32>", "2:8",
     "stablehlo.add: the number of its operands is 2, not 1\n  Give as many."},
    {"  %0 = stablehlo.add %x, %x", "2:8",
     "stablehlo.add: the number of its operands is 2, not 3\n  Give as many."},
    {"  %0 = stablehlo.add %x, %n : tensor<2xf32>", "2:8",
     "add: operand 0 is f32[2], operand 1 is s32[2]; the types must be equal"},
    {"  %0 = stablehlo.add %x, %x : tensor<3xf32>", "2:8",
     "stablehlo.add: its result is f32[2], not f32[3] as the text says\n  Write the type that it "
     "has."},
    {"  %0 = stablehlo.negate %x : tensor<2xf32>\n  %0 = stablehlo.negate %x : tensor<2xf32>",
     "3:8", "stablehlo.negate: %0 is defined twice"},
    {"  %0 = \"stablehlo.add\"(%x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>", "2:31",
     "expected `,`"},
    {"  %0 = \"stablehlo.add(%x, %x) : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xf32>", "2:8",
     "the string does not end"},
    {"  %0 = \"stablehlo.transpose\"(%x) : (tensor<2xf32>) -> tensor<2xf32>", "2:8",
     "stablehlo.transpose: the attribute `permutation` is missing\n  Add it."},
    {"  %0 = stablehlo.transpose %x, dims = [1] : (tensor<2xf32>) -> tensor<2xf32>", "2:8",
     "transpose: [1] is no order of the 1 axes of f32[2]"},
    {"  %0 = stablehlo.transpose %x, dims = [0, 0] : (tensor<2xf32>) -> tensor<2xf32>", "2:8",
     "transpose: [0,0] is no order of the 1 axes of f32[2]"},
    {"  %0 = \"stablehlo.transpose\"(%x) <{permutation = array<i64: 0>, colour = 1 : i64}> : "
     "(tensor<2xf32>) -> tensor<2xf32>",
     "2:74",
     "stablehlo.transpose: the attribute `colour` is not supported\n  Remove it, if the results do "
     "not depend on it."},
    {"  %0 = \"stablehlo.transpose\"(%x) <{permutation = \"a\"}> : (tensor<2xf32>) -> "
     "tensor<2xf32>",
     "2:50", "stablehlo.transpose: `permutation` must be a list of integers"},
    {"  %0 = stablehlo.compare LX, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>", "2:8",
     "stablehlo.compare: `comparison_direction` is LX; it can be EQ, NE, LT, LE, GT, GE"},
    {"  %0 = stablehlo.compare LT, %x, %n : (tensor<2xf32>, tensor<i32>) -> tensor<2xi1>", "2:8",
     "compare: operand 0 is f32[2], operand 1 is s32[2]; the types must be equal"},
    {"  %0 = stablehlo.slice %x [0:3] : (tensor<2xf32>) -> tensor<3xf32>", "2:8",
     "slice: [0, 3) is no part of axis 0 of f32[2], which has 2 elements"},
    {"  %0 = stablehlo.iota dim = 1 : tensor<2xf32>", "2:8", "iota: f32[2] has no axis 1"},
    {"  %0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<2xf32>", "2:42", "expected `]`"},
    {"  %0 = stablehlo.constant dense<[1.0, [2.0]]> : tensor<2xf32>", "2:39", "expected a number"},
    {"  %0 = stablehlo.constant dense<\"0x0000\"> : tensor<2xf32>", "2:33",
     "4 hexadecimal digits; f32[2] takes 16"},
    {"  %0 = stablehlo.constant dense<\"0xZZ\"> : tensor<2xf32>", "2:33",
     "2 hexadecimal digits; f32[2] takes 16"},
    {"  %0 = stablehlo.constant dense<1.0> : tensor<2xi32>", "2:33", "expected an integer"},
    {"  %0 = stablehlo.constant dense<300> : tensor<2xi8>", "2:33", "300 does not fit 8 bits"},
    {"  %0 = stablehlo.constant dense<1.0 : tensor<2xf32>", "4:1", "expected `>`"},
    {"  %0 = stablehlo.constant dense_resource<a> : tensor<2xf32>", "2:41",
     "the text has no resource a\n  Print it with its resources"},
    {"  %0 = call @nothing(%x) : (tensor<2xf32>) -> tensor<2xf32>", "2:8",
     "call: there is no function @nothing"},
    {"  %0 = stablehlo.reshape %x : (tensor<2xf32>) -> tensor<3xf32>", "2:8",
     "reshape: f32[2] has 2 elements, the shape [3] has 3"},
    {"  %0 = stablehlo.broadcast_in_dim %x, dims = [5] : (tensor<2xf32>) -> tensor<2x2xf32>", "2:8",
     "broadcast_in_dim: axis 0 cannot go to axis 5 of [2,2]: places must grow and lie in the "
     "shape"},
    {"  %0 = stablehlo.negate %x : tensor<2xf32> loc(#nowhere", "4:1", "expected `)`"},
    {"  /* a comment", "2:3", "the comment does not end"},
};
constexpr Malformed kHlo[] = {
    {"!", "1:1", "expected a computation"},
    {"!HloModule m", "1:12", "expected a computation"},
    {"!HloModule m\nENTRY e {\n}\n", "2:7", "the computation is empty"},
    {"!HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n", "4:1", "expected `}`"},
    {"!HloModule m\nENTRY e {\n  x = f32[2] parameter(1)\n  ROOT y = f32[2] negate(x)\n}\n", "2:7",
     "parameter 0 is missing"},
    {"!HloModule m\nENTRY e {\n  x = f99[2] parameter(0)\n}\n", "3:7",
     "the element type f99 is not supported"},
    {"!HloModule m\nENTRY e {\n  x = f32[<=2] parameter(0)\n}\n", "3:11",
     "sizes that are not known are not supported"},
    {"!HloModule m\nENTRY e {\n  x = f32[4611686018427387904,2] parameter(0)\n}\n", "3:7",
     "shape [4611686018427387904,2] has more than 2^62 elements\n  Give smaller sizes."},
    {"  y = f32[2] nonsense(x)", "4:3", "nonsense: this operation is not supported"},
    {"  y = f32[2] negate(z)", "4:21", "z is not defined before this"},
    {"  y = f32[2] sort(x), dimensions={0}", "4:3",
     "sort: 0 regions; it takes one, the comparator"},
    {"  y = f32[2] negate()", "4:3",
     "negate: the number of its operands is 1, not 0\n  Give as many."},
    {"  y = f32[2] negate(x, x)", "4:3",
     "negate: the number of its operands is 1, not 2\n  Give as many."},
    {"  y = f32[2] negate(x", "5:3", "expected `,`"},
    {"  y = f32[3] negate(x)", "4:3",
     "negate: its result is f32[2], not f32[3] as the text says\n  Write the type that it has."},
    {"  y f32[2] negate(x)", "4:5", "expected `=`"},
    {"  x = f32[2] negate(x)", "4:3", "negate: x is defined twice"},
    {"  y = f32[2] add(x, x), colour=red", "4:25",
     "add: the attribute `colour` is not supported\n  Remove it, if the results do not depend on "
     "it."},
    {"  y = f32[2] transpose(x)", "4:3",
     "transpose: the attribute `dimensions` is missing\n  Add it."},
    {"  y = f32[2] transpose(x), dimensions={1}", "4:3",
     "transpose: [1] is no order of the 1 axes of f32[2]"},
    {"  y = f32[2] transpose(x), dimensions={0,0}", "4:3",
     "transpose: [0,0] is no order of the 1 axes of f32[2]"},
    {"  y = f32[2] transpose(x), dimensions=a", "4:28",
     "transpose: `dimensions` must be a list of integers"},
    {"  y = pred[2] compare(x, x)", "4:3",
     "compare: the attribute `direction` is missing\n  Add it."},
    {"  y = pred[2] compare(x, x), direction=XX", "4:3",
     "compare: `direction` is XX; it can be EQ, NE, LT, LE, GT, GE"},
    {"  y = f32[1] slice(x), slice={[0:3]}", "4:3",
     "slice: [0, 3) is no part of axis 0 of f32[2], which has 2 elements"},
    {"  y = f32[1] slice(x), slice={[0]}", "4:33", "expected `:`"},
    {"  y = f32[2] constant({1, 2, 3})", "4:28", "expected `}`"},
    {"  y = f32[2] constant({1})", "4:25", "expected a number"},
    {"  y = f32[2] constant({1, x})", "4:27", "expected a number"},
    {"  y = f32[2] constant({...})", "4:23",
     "the elements are left out\n  Print the program with large constants: print_large_constants."},
    {"  y = s8[] constant(200)", "4:21", "expected an integer of 8 bits"},
    {"  y = f32[2] constant({1, 2}", "6:1", "expected `)`"},
    {"  y = f32[2] iota(), iota_dimension=1", "4:3", "iota: f32[2] has no axis 1"},
    {"  y = f32[] reduce(x, x), dimensions={0}, to_apply=nothing", "4:3",
     "reduce: there is no computation nothing"},
    {"  y = f32[] reduce(x), dimensions={0}", "4:3",
     "reduce: 1 operands: each array needs a scalar to start from"},
    {"  y = f32[2] call(x), to_apply=nothing", "4:3", "call: there is no computation nothing"},
    {"  y = f32[2] get-tuple-element(x), index=0", "4:3",
     "get-tuple-element: it needs a tuple, and `index` of one of its elements"},
    {"  y = f32[2] while(x), condition=a, body=b", "4:3", "while: there is no computation a"},
    {"  y = f32[3] reshape(x)", "4:3", "reshape: f32[2] has 2 elements, the shape [3] has 3"},
    {"  y = f32[2,2] broadcast(x), dimensions={5}", "4:3",
     "broadcast_in_dim: axis 0 cannot go to axis 5 of [2,2]: places must grow and lie in the "
     "shape"},
    {"  y = f32[2] add(x, x), metadata={op_name=\"", "4:43", "the string does not end"},
};

TEST(Malformed, TheIrsOwnText) {
  expect_all(kIr, "func main(%x: f32[2], %n: s32[]) -> (f32[2]) {\n", "\n  return %x\n}\n",
             parse_text);
}
TEST(Malformed, Stablehlo) {
  expect_all(kStablehlo, "func.func @main(%x: tensor<2xf32>, %n: tensor<i32>) -> tensor<2xf32> {\n",
             "\n  return %x : tensor<2xf32>\n}\n", parse_stablehlo_text);
}
TEST(Malformed, Hlo) {
  expect_all(kHlo, "HloModule m\nENTRY e {\n  x = f32[2] parameter(0)\n",
             "\n  ROOT r = f32[2] negate(x)\n}\n", parse_hlo_text);
}

}  // namespace
}  // namespace rondo
