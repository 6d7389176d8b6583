// Programs from StableHLO text: written by hand in both forms, and printed by us.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/structure.h"
#include "support/expect.h"
#include "text/programs.h"
#include "text/round_trip.h"

namespace rondo {
namespace {

using namespace testing;
using ::testing::HasSubstr;

/// The result of a program of one result without a module around it.
Literal result_of_module(const std::string& text, const std::vector<Literal>& arguments = {}) {
  return run(parse_stablehlo_text(text), arguments).at(0);
}
/// A function @main of these lines.
std::string main_of(const std::string& parameters, const std::string& result,
                    const std::string& body) {
  return "func.func @main(" + parameters + ") -> " + result + " {\n" + body + "}\n";
}

Literal integers(std::vector<std::int32_t> values, const Shape& shape) {
  return Literal::from(values, shape);
}

TEST(ReadStablehlo, AModuleOfFunctionsThatCallEachOther) {
  // Definitions come in any order; attributes and locations say nothing about results.
  const Function program = parse_stablehlo_text(R"(
#loc1 = loc("f.py":3:0)
module @jit_f attributes {mhlo.num_partitions = 1 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%x: tensor<3xf32> loc("x")) -> (tensor<3xf32> {jax.result_info = "result"}) {
    %0:2 = func.call @both(%x) : (tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) loc(#loc1)
    %1 = call @first(%0#1, %0#0) : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xf32>  // (x + x)
    return %1 : tensor<3xf32>
  } loc(#loc1)
  func.func private @both(%x: tensor<3xf32>) -> (tensor<3xf32>, tensor<3xf32>) {
    %0 = stablehlo.add %x, %x : tensor<3xf32>
    return %x, %0 : tensor<3xf32>, tensor<3xf32>
  }
  func.func private @first(%a: tensor<3xf32>, %b: tensor<3xf32>) -> tensor<3xf32> {
    return %a : tensor<3xf32>
  }
} loc(#loc1)
)");
  EXPECT_EQ(program.param_names(), std::vector<std::string>{"x"});
  EXPECT_TRUE(run(program, {floats({1, 2, 4}, {3})})[0].identical(floats({2, 4, 8}, {3})));
}

TEST(ReadStablehlo, GenericAndShortFormsAreTheSame) {
  const Function brief = parse_stablehlo_text(main_of("%x: tensor<2x3xf32>", "tensor<3xi1>", R"(
    %t = stablehlo.transpose %x, dims = [1, 0] : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %z = stablehlo.constant dense<0.5> : tensor<f32>
    %s = stablehlo.reduce(%t init: %z) applies stablehlo.add across dimensions = [1] : (tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>
    %c = stablehlo.constant dense<[1.0, 5.5, 9.0]> : tensor<3xf32>
    %p = stablehlo.compare LT, %s, %c, FLOAT : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    return %p : tensor<3xi1>
)"));
  const Function generic = parse_stablehlo_text(R"("builtin.module"() <{sym_name = "m"}> ({
  "func.func"() <{function_type = (tensor<2x3xf32>) -> tensor<3xi1>, sym_name = "main"}> ({
  ^bb0(%x: tensor<2x3xf32>):
    %t = "stablehlo.transpose"(%x) <{permutation = array<i64: 1, 0>}> : (tensor<2x3xf32>) -> tensor<3x2xf32>
    %z = "stablehlo.constant"() <{value = dense<0x3F000000> : tensor<f32>}> : () -> tensor<f32>
    %s = "stablehlo.reduce"(%t, %z) <{dimensions = array<i64: 1>}> ({
    ^bb0(%a: tensor<f32>, %b: tensor<f32>):
      %ab = "stablehlo.add"(%a, %b) : (tensor<f32>, tensor<f32>) -> tensor<f32>
      "stablehlo.return"(%ab) : (tensor<f32>) -> ()
    }) : (tensor<3x2xf32>, tensor<f32>) -> tensor<3xf32>
    %c = "stablehlo.constant"() <{value = dense<"0x0000803F0000B04000001041"> : tensor<3xf32>}> : () -> tensor<3xf32>
    %p = "stablehlo.compare"(%s, %c) <{comparison_direction = #stablehlo<comparison_direction LT>, compare_type = #stablehlo<comparison_type FLOAT>}> : (tensor<3xf32>, tensor<3xf32>) -> tensor<3xi1>
    "func.return"(%p) : (tensor<3xi1>) -> ()
  }) : () -> ()
}) : () -> ()
)");
  EXPECT_TRUE(ir::structure_of(brief) == ir::structure_of(generic));
  // 0 + 3, 1 + 4, 2 + 5, each with 0.5
  EXPECT_TRUE(run(brief, {iota_of({2, 3})})[0].identical(
      Literal::from(std::vector<bool>{false, false, true}, {3})));
}

TEST(ReadStablehlo, EqualAttributesAreThoseOfEachOperation) {
  // Read once, they serve operands of other shapes, and an error is where it is.
  const std::string turn = R"( <{permutation = array<i64: 1, 0>}> : )";
  const std::string text = main_of(
      "%x: tensor<2x3xi32>, %y: tensor<1x2xi32>", "(tensor<3x2xi32>, tensor<2x1xi32>)",
      R"(%a = "stablehlo.transpose"(%x))" + turn + "(tensor<2x3xi32>) -> tensor<3x2xi32>\n" +
          R"(%b = "stablehlo.transpose"(%y))" + turn + "(tensor<1x2xi32>) -> tensor<2x1xi32>\n" +
          "return %a, %b : tensor<3x2xi32>, tensor<2x1xi32>\n");
  const std::vector<Literal> results = run(
      parse_stablehlo_text(text), {integers({1, 2, 3, 4, 5, 6}, {2, 3}), integers({7, 8}, {1, 2})});
  EXPECT_TRUE(results[0].identical(integers({1, 4, 2, 5, 3, 6}, {3, 2})));
  EXPECT_TRUE(results[1].identical(integers({7, 8}, {2, 1})));
  try {
    parse_stablehlo_text(main_of(
        "%x: tensor<2x3xi32>", "tensor<3x2xi32>",
        R"(%a = "stablehlo.transpose"(%x))" + turn + "(tensor<2x3xi32>) -> tensor<3x2xi32>\n" +
            R"(%b = "stablehlo.reverse"(%a))" + turn + "(tensor<3x2xi32>) -> tensor<3x2xi32>\n" +
            "return %b : tensor<3x2xi32>\n"));
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_EQ(error.line(), 3) << error.what();
  }
  try {
    parse_stablehlo_text(
        main_of("%x: tensor<2x3xi32>", "tensor<2x3xi32>",
                "%a = \"stablehlo.add\"(%x, %x) <{x.y = 1, axis = 3}> : (tensor<2x3xi32>, "
                "tensor<2x3xi32>) -> tensor<2x3xi32>\nreturn %a : tensor<2x3xi32>\n"));
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_EQ(error.column(), 48) << error.what();
  }
}

TEST(ReadStablehlo, ANameOfARegionHidesThatOutside) {
  const Function program = parse_stablehlo_text(main_of("%x: tensor<i32>", "tensor<i32>", R"(
    %ten = stablehlo.constant dense<10> : tensor<i32>
    %w = stablehlo.while(%x = %x) : tensor<i32>
     cond {
      %p = stablehlo.compare LT, %x, %ten, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %n = stablehlo.add %x, %ten : tensor<i32>
      stablehlo.return %n : tensor<i32>
    }
    %s = stablehlo.add %w, %x : tensor<i32>
    return %s : tensor<i32>
)"));
  EXPECT_EQ(run(program, {Literal::scalar(3)})[0].item<std::int32_t>(), 16);
}

TEST(ReadStablehlo, ConstantsInEveryForm) {
  const auto constant = [](const std::string& elements, const std::string& type) {
    return result_of_module(main_of("", type,
                                    "%0 = stablehlo.constant dense<" + elements + "> : " + type +
                                        "\n return %0 : " + type + "\n"));
  };
  EXPECT_TRUE(
      constant("[[1, -2], [3, 4]]", "tensor<2x2xi32>").identical(integers({1, -2, 3, 4}, {2, 2})));
  EXPECT_TRUE(constant("7", "tensor<3xi32>").identical(integers({7, 7, 7}, {3})));
  EXPECT_TRUE(constant("", "tensor<0x2xf32>").identical(floats({}, {0, 2})));
  EXPECT_TRUE(constant("[true, false]", "tensor<2xi1>")
                  .identical(Literal::from(std::vector<bool>{true, false}, {2})));
  EXPECT_TRUE(constant("255", "tensor<i8>").identical(Literal::scalar(std::int8_t{-1})));
  EXPECT_TRUE(constant("(1.5, -0.0)", "tensor<complex<f32>>")
                  .identical(Literal::scalar(std::complex<float>(1.5f, -0.0f))));
  EXPECT_TRUE(
      constant("0xFF80", "tensor<bf16>").identical(Literal::scalar(bfloat16::from_bits(0xFF80))));
  EXPECT_TRUE(constant("1.000000e-45", "tensor<f32>").identical(Literal::scalar(0x1p-149f)));
  EXPECT_TRUE(constant("\"0x01000200\"", "tensor<2xi16>")
                  .identical(Literal::from(std::vector<std::int16_t>{1, 2}, {2})));
  EXPECT_TRUE(constant("\"0x0100\"", "tensor<3xi16>")
                  .identical(Literal::from(std::vector<std::int16_t>{1, 1, 1}, {3})));
  EXPECT_TRUE(constant("18446744073709551615", "tensor<ui64>")
                  .identical(Literal::scalar(~std::uint64_t{0})));
}

TEST(ReadStablehlo, AWhileThatUsesValuesFromOutside) {
  const Function program =
      parse_stablehlo_text(main_of("%x: tensor<f32>, %n: tensor<i32>", "tensor<f32>", R"(
    %c = stablehlo.constant dense<0> : tensor<i32>
    %0:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<f32> attributes {mhlo.frontend_attributes = {}}
    cond {
      %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
      stablehlo.return %p : tensor<i1>
    } do {
      %one = stablehlo.constant dense<1> : tensor<i32>
      %next = stablehlo.add %i, %one : tensor<i32>
      %z = stablehlo.multiply %y, %x : tensor<f32>
      stablehlo.return %next, %z : tensor<i32>, tensor<f32>
    }
    return %0#1 : tensor<f32>
)"));
  EXPECT_EQ(program.stats().loops, 1);
  EXPECT_TRUE(run(program, {Literal::scalar(3.0f), Literal::scalar(4)})[0].identical(
      Literal::scalar(243.0f)));
  // d x^5 / dx = 5 x^4, though the number of trips is an argument.
  const auto f = function_of(program);
  const auto slope = grad([&](Tensor x, Tensor n) { return f(x, n)[0]; });
  EXPECT_EQ(slope(3.0f, 4).item<float>(), 405.0f);
}

TEST(ReadStablehlo, AnIndexOutOfRangeTakesTheLastBranch) {
  const std::string text = main_of("%i: tensor<i32>, %x: tensor<f32>", "tensor<f32>", R"(
    %0 = "stablehlo.case"(%i) ({
      stablehlo.return %x : tensor<f32>
    }, {
      %n = stablehlo.negate %x : tensor<f32>
      stablehlo.return %n : tensor<f32>
    }) : (tensor<i32>) -> tensor<f32>
    return %0 : tensor<f32>
)");
  for (const auto& [index, expected] : {std::pair{0, 2.0f}, {1, -2.0f}, {-1, -2.0f}, {7, -2.0f}})
    EXPECT_EQ(result_of_module(text, {Literal::scalar(index), Literal::scalar(2.0f)}).item<float>(),
              expected);
}

TEST(ReadStablehlo, ScalarsBesideArrays) {
  EXPECT_TRUE(
      result_of_module(
          main_of("%x: tensor<3xf32>, %lo: tensor<f32>, %p: tensor<i1>", "tensor<3xf32>", R"(
    %hi = stablehlo.constant dense<2.0> : tensor<f32>
    %c = stablehlo.clamp %lo, %x, %hi : (tensor<f32>, tensor<3xf32>, tensor<f32>) -> tensor<3xf32>
    %s = stablehlo.select %p, %c, %x : tensor<i1>, tensor<3xf32>
    return %s : tensor<3xf32>
)"),
          {floats({0, 1.5f, 9}, {3}), Literal::scalar(1.0f), Literal::scalar(true)})
          .identical(floats({1, 1.5f, 2}, {3})));
}

TEST(ReadStablehlo, ShortFormsOfOpsThatMoveElements) {
  EXPECT_TRUE(result_of_module(main_of("%x: tensor<4xf32>, %i: tensor<i32>", "tensor<6xf32>", R"(
    %z = stablehlo.constant dense<-1.0> : tensor<f32>
    %a = stablehlo.slice %x [0:4:2] : (tensor<4xf32>) -> tensor<2xf32>
    %b = stablehlo.pad %a, %z, low = [1], high = [0], interior = [1] : (tensor<2xf32>, tensor<f32>) -> tensor<4xf32>
    %c = stablehlo.dynamic_slice %x, %i, sizes = [2] : (tensor<4xf32>, tensor<i32>) -> tensor<2xf32>
    %d = stablehlo.concatenate %b, %c, dim = 0 : (tensor<4xf32>, tensor<2xf32>) -> tensor<6xf32>
    %e = stablehlo.reverse %d, dims = [0] : tensor<6xf32>
    return %e : tensor<6xf32>
)"),
                               {iota_of({4}), Literal::scalar(9)})
                  .identical(floats({3, 2, 2, -1, 0, -1}, {6})));
}

void expect_read_back(const Function& program, const std::vector<Literal>& arguments) {
  const auto print = [](const Function& function) { return to_stablehlo_text(function); };
  testing::expect_round_trip(program, arguments, print, parse_stablehlo_text);
}

TEST(ReadStablehlo, RoundTripsOfOpsWithAttributes) {
  const Literal x = iota_of({2, 3, 4});
  const auto of = [&](const auto& f) { expect_read_back(trace(f, x.type()), {x}); };
  of([](Tensor x) { return transpose(x, {2, 0, 1}); });
  of([](Tensor x) { return sum(x, {1}); });
  of([](Tensor x) { return reshape(flip(x, {0, 2}), {6, 4}); });
  of([](Tensor x) { return sort(-x, 1); });
  of([](Tensor x) { return argsort(sin(x)); });
  of([](Tensor x) { return cumsum(x, 2); });
  of([](Tensor x) { return matmul(x, transpose(x, {0, 2, 1})); });
  of([](Tensor x) { return einsum("abc,abd->acd", x, sin(x)); });
  of([](Tensor x) { return take(x, Tensor(Literal::from(std::vector<std::int32_t>{2, 0})), 1); });
  of([](Tensor x) { return max_pool(reshape(x, {1, 4, 6, 1}), {2, 2}); });
  of([](Tensor x) {
    return convolution(reshape(x, {1, 4, 6, 1}), reshape(x, {3, 4, 1, 2}),
                       {.strides = {2, 1}, .padding = {{1, 0}, {2, 1}}});
  });
  of([](Tensor x) {
    return grad([](Tensor y) { return sum(max_pool(y, {2, 2})); })(reshape(x, {1, 4, 6, 1}));
  });
  of([](Tensor x) { return real(fft(x)); });
  of([](Tensor x) { return convert(x, DType::kS32) + 3; });
  of([](Tensor x) { return clamp(1.0f, x, 5.0f); });
  of([](Tensor x) { return bitcast_convert(x, DType::kU32) >> 3u; });
  of([](Tensor x) { return where(x > 3, x, -x); });
  of([](Tensor x) { return is_finite(1 / x); });
  of([](Tensor x) { return reduce_precision(x / 7, 5, 2); });
  of([](Tensor x) {
    const auto [y, mean, variance] =
        batch_norm_training(x, full(f32({4}), 2), full(f32({4}), 1), 1e-3f, 2);
    return y;
  });
}

TEST(ReadStablehlo, RoundTripsOfLoopsAndTheirGradients) {
  const Literal x = iota_of({3});
  const auto of = [&](const auto& f) { expect_read_back(trace(f, x.type()), {x}); };
  const auto steps = [](Tensor x) {
    return fori_loop(
        0, 5,
        [](Tensor i, Tensor y) {
          return cond(
              i < 3, [&] { return sin(y); }, [&] { return y * 2; });
        },
        x);
  };
  of(steps);
  of([&](Tensor x) { return grad([&](Tensor y) { return sum(steps(y)); })(x); });
  of([](Tensor x) {
    return scan([](Tensor c, Tensor e) { return std::pair{c + e, c * e}; }, Tensor(0.5f), x).second;
  });
  of([](Tensor x) {
    return while_loop([](Tensor y) { return sum(y) < 100; }, [](Tensor y) { return y * 2 + 1; }, x);
  });
  of([](Tensor x) {
    return vmap([](Tensor y) {
      return while_loop([](Tensor z) { return z < 100; }, [](Tensor z) { return z * 2 + 1; }, y);
    })(x);
  });
}

struct Mistake {
  std::string body, message;
  std::int64_t line, column;
};

TEST(ReadStablehlo, ErrorsNameTheirPlace) {
  const Mistake mistakes[] = {
      {"%0 = stablehlo.add %x, %w : tensor<2xf32>", "%w is not defined", 2, 24},
      {"%0 = stablehlo.frobnicate %x : tensor<2xf32>",
       "stablehlo.frobnicate: this operation is not supported", 2, 6},
      {"%0 = stablehlo.add %x, %x : tensor<3xf32>", "its result is f32[2], not f32[3]", 2, 6},
      {"%0 = stablehlo.transpose %x : (tensor<2xf32>) -> tensor<2xf32>",
       "the attribute `permutation` is missing", 2, 6},
      {"%0 = stablehlo.transpose %x, dims = 3 : (tensor<2xf32>) -> tensor<2xf32>",
       "must be a list of integers", 2, 37},
      {"%0 = stablehlo.transpose %x, dims = [0], speed = 1 : (tensor<2xf32>) -> tensor<2xf32>",
       "the attribute `speed` is not supported", 2, 50},
      {"%0 = stablehlo.compare UP, %x, %x : (tensor<2xf32>, tensor<2xf32>) -> tensor<2xi1>",
       "it can be EQ, NE, LT", 2, 6},
      {"%0 = stablehlo.constant dense<[1.0, 2.0, 3.0]> : tensor<2xf32>", "expected `]`", 2, 40},
      {"%0 = stablehlo.constant dense<300> : tensor<ui8>", "300 does not fit 8 bits", 2, 31},
      {"%0 = stablehlo.constant dense<1.0> : tensor<?xf32>", "sizes that are not known", 2, 45},
      {"%0 = stablehlo.constant dense<1.0> : tensor<f128>",
       "the element type f128 is not supported", 2, 45},
      {"%0 = func.call @g(%x) : (tensor<2xf32>) -> tensor<2xf32>", "there is no function @g", 2, 6},
      {"%0 = func.call @main(%x) : (tensor<2xf32>) -> tensor<2xf32>", "call each other without end",
       2, 6},
      {"%x = stablehlo.negate %x : tensor<2xf32>", "%x is defined twice", 2, 6},
      {"%0 = stablehlo.negate %x#1 : tensor<2xf32>", "%x has 1 results", 2, 23},
      {"%0 = \"stablehlo.negate\"(%x", "expected `,`", 3, 1},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string text = "func.func @main(%x: tensor<2xf32>) -> tensor<2xf32> {\n" +
                             mistake.body + "\nreturn %0 : tensor<2xf32>\n}\n";
    try {
      parse_stablehlo_text(text);
      ADD_FAILURE() << "read: " << mistake.body;
    } catch (const ParseError& error) {
      EXPECT_THAT(error.what(), HasSubstr(mistake.message));
      EXPECT_EQ(error.line(), mistake.line) << error.what();
      EXPECT_EQ(error.column(), mistake.column) << error.what();
    }
  }
}

TEST(ReadStablehlo, TextThatEndsAnywhereIsAnError) {
  const std::string text = to_stablehlo_text(trace(
      [](Tensor x) {
        return while_loop([](Tensor y) { return sum(y) < 100; },
                          [](Tensor y) {
                            return sort(y, 0) * Tensor(Literal::from(std::vector<float>{1, 2}));
                          },
                          x);
      },
      f32({2})));
  for (std::size_t size = 0; size + 3 < text.size(); size++)
    EXPECT_THROW(parse_stablehlo_text(text.substr(0, size)), ParseError) << text.substr(0, size);
  parse_stablehlo_text(text);
}

TEST(ReadStablehlo, HostileTextIsAnErrorSoon) {
  std::string deep, lists = "[", angles;
  for (int i = 0; i < 100'000; i++) {
    deep += "\"stablehlo.case\"(%i) ({";
    lists += "[";
    angles += "<";
  }
  const auto refuses = [](const std::string& body) {
    EXPECT_THROW(parse_stablehlo_text(main_of("%i: tensor<i32>", "tensor<i32>", body)), ParseError);
  };
  on_small_stack([&] {
    refuses("%0 = " + deep);
    refuses("%0 = stablehlo.negate %i {a = " + lists);
    refuses("%0 = stablehlo.negate %i {a = #f" + angles);
    refuses("%0 = stablehlo.constant dense<" + lists + "> : tensor<1x1xf32>");
    refuses("%0 = stablehlo.constant dense<[1.0]> : tensor<1000000000000xf32>");
    refuses("%0 = stablehlo.constant dense<1.0> : tensor<99999999999999999999xf32>");
    refuses("%0 = stablehlo.constant dense<1.0> : tensor<4294967296x4294967296x4294967296xf32>");
  });
}

// The bytes are those of MLIR's documentation: an alignment of 8, then three 64-bit integers.
TEST(ReadStablehlo, ElementsInResources) {
  const std::string program = R"(module {
  func.func @main() -> (tensor<3xi64>, tensor<2xf32>) {
    %0 = stablehlo.constant dense_resource<blob1> : tensor<3xi64>
    %1 = stablehlo.constant dense_resource<"blob 2"> : tensor<2xf32>
    return %0, %1 : tensor<3xi64>, tensor<2xf32>
  }
}

{-#
  dialect_resources: {
    builtin: {
      blob1: "0x08000000010000000000000002000000000000000300000000000000",
      "blob 2": "0x040000000000803F00000040"
    }
  }
#-}
)";
  const std::vector<Literal> values =
      compile(parse_stablehlo_text(program)).run(std::vector<Literal>{});
  const auto integers = values[0].data<std::int64_t>();
  EXPECT_EQ(std::vector<std::int64_t>(integers.begin(), integers.end()),
            (std::vector<std::int64_t>{1, 2, 3}));
  const auto floats = values[1].data<float>();
  EXPECT_EQ(std::vector<float>(floats.begin(), floats.end()), (std::vector<float>{1, 2}));
  for (std::size_t size = 1; size < program.size(); size += 3) {
    EXPECT_THROW(parse_stablehlo_text(program.substr(0, size)), ParseError) << size;
  }
}

}  // namespace
}  // namespace rondo
