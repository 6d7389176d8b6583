// Programs from HLO text: written by hand as XLA writes them, and printed by us.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "ir/node.h"
#include "support/expect.h"
#include "text/programs.h"
#include "text/round_trip.h"

namespace rondo {
namespace {

using namespace testing;
using ::testing::HasSubstr;

TEST(ReadHlo, AModuleAsXlaDumpsIt) {
  const Function program = parse_hlo_text(R"(
HloModule jit_f, is_scheduled=true, entry_computation_layout={(f32[3]{0}, s32[])->f32[3]{0}}, num_partitions=1

FileNames
1 "f.py"

StackFrames
1 {file_location_id=1}

%body (arg: (s32[], f32[3])) -> (s32[], f32[3]) {
  %arg = (s32[], /*index=1*/f32[3]{0}) parameter(0)
  %i = s32[] get-tuple-element(%arg), index=0
  %one = s32[] constant(1)
  %next = s32[] add(%i, %one), metadata={op_name="jit(f)/add" source_file="f.py" source_line=3}
  %x = f32[3]{0} get-tuple-element((s32[], f32[3]{0}) %arg), index=1
  %twice = f32[3]{0} add(f32[3]{0} %x, f32[3]{0} %x)
  ROOT %t = (s32[], f32[3]{0}) tuple(%next, %twice)
}

%condition (arg.1: (s32[], f32[3])) -> pred[] {
  %arg.1 = (s32[], f32[3]{0}) parameter(0)
  %i.1 = s32[] get-tuple-element(%arg.1), index=0
  %n = s32[] constant(4)
  ROOT %p = pred[] compare(%i.1, %n), direction=LT
}

ENTRY %main.1 (x.1: f32[3], i.2: s32[]) -> f32[3] {
  %i.2 = s32[] parameter(1), sharding={replicated}
  %x.1 = f32[3]{0:T(256)} parameter(0), frontend_attributes={a.b="c"}
  %start = (s32[], f32[3]{0}) tuple(%i.2, %x.1)
  %loop = (s32[], f32[3]{0}) while(%start), condition=%condition, body=%body, backend_config={"known_trip_count":{"n":"4"}}
  ROOT %result = f32[3]{0} get-tuple-element(%loop), index=1
}
)");
  EXPECT_EQ(program.stats().loops, 1);
  EXPECT_EQ(program.param_names(), (std::vector<std::string>{"x.1", "i.2"}));
  EXPECT_TRUE(run(program, {floats({1, 2, 3}, {3}), Literal::scalar(1)})[0].identical(
      floats({8, 16, 24}, {3})));
}

/// The result of an entry computation of these lines.
Literal result_of(const std::string& lines, const std::vector<Literal>& arguments = {}) {
  return run(parse_hlo_text("HloModule m\nENTRY e {\n" + lines + "}\n"), arguments).at(0);
}

TEST(ReadHlo, ConstantsInEveryForm) {
  const auto constant = [](const std::string& type, const std::string& elements) {
    return result_of("ROOT c = " + type + " constant(" + elements + ")\n");
  };
  EXPECT_TRUE(constant("s32[2,2]", "{ {1, -2}, {3, 4} }")
                  .identical(Literal::from(std::vector<std::int32_t>{1, -2, 3, 4}, {2, 2})));
  EXPECT_TRUE(
      constant("pred[2]", "{1, 0}").identical(Literal::from(std::vector<bool>{true, false}, {2})));
  EXPECT_TRUE(constant("pred[]", "true").identical(Literal::scalar(true)));
  EXPECT_TRUE(constant("f32[3]", "{1.5e-07, -inf, -0.0}")
                  .identical(floats({1.5e-07f, -HUGE_VALF, -0.0f}, {3})));
  EXPECT_TRUE(constant("f32[]", "-nan(0x400001)")
                  .identical(Literal::scalar(std::bit_cast<float>(0xFFC00001u))));
  EXPECT_TRUE(constant("bf16[]", "nan").identical(Literal::scalar(bfloat16::from_bits(0x7FC0))));
  EXPECT_TRUE(constant("c64[1]", "{(1, -2.5)}")
                  .identical(Literal::from(std::vector<std::complex<float>>{{1, -2.5f}}, {1})));
  EXPECT_TRUE(constant("f32[0,2]", "{}").identical(floats({}, {0, 2})));
  EXPECT_TRUE(
      constant("u64[]", "18446744073709551615").identical(Literal::scalar(~std::uint64_t{0})));
}

TEST(ReadHlo, ComputationsWithinAttributes) {
  EXPECT_TRUE(result_of(R"(
  x = f32[4] parameter(0)
  z = f32[] constant(0)
  s = f32[] reduce(x, z), dimensions={0}, to_apply={
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    ROOT c = f32[] maximum(a, b)
  }
  i = s32[] parameter(1)
  ROOT r = f32[] conditional(i, s, s), branch_computations={
  {
    ROOT v = f32[] parameter(0)
  }, {
    w = f32[] parameter(0)
    ROOT n = f32[] negate(w)
  } }
)",
                        {floats({1, 5, 2, 3}, {4}), Literal::scalar(-1)})
                  .identical(Literal::scalar(-5.0f)));  // out of range: the last branch
}

TEST(ReadHlo, SeveralResultsWhoseTypesAreLeftOut) {
  EXPECT_TRUE(result_of(R"(
  x = f32[3] parameter(0)
  i = s32[3] iota(), iota_dimension=0
  both = sort(x, i), dimensions={0}, to_apply={
    a = f32[] parameter(0)
    b = f32[] parameter(1)
    c = s32[] parameter(2)
    d = s32[] parameter(3)
    ROOT less = compare(a, b), direction=LT
  }
  ROOT order = get-tuple-element(both), index=1
)",
                        {floats({7, 5, 6}, {3})})
                  .identical(Literal::from(std::vector<std::int32_t>{1, 2, 0})));
}

TEST(ReadHlo, RegionsThatOperationsShareStayOneFunction) {
  const Function program = parse_hlo_text(R"(
HloModule main
larger { a = f32[] parameter(0) b = f32[] parameter(1) c = f32[] abs(b) ROOT d = f32[] maximum(a, c) }
ENTRY main {
  x = f32[3,4] parameter(0)
  zero = f32[] constant(0)
  rows = f32[3] reduce(x, zero), dimensions={1}, to_apply=larger
  ROOT all = f32[] reduce(rows, zero), dimensions={0}, to_apply=larger
}
)");
  const ir::Node& all = *program.outputs()[0].node();
  const ir::Node& rows = *all.operands[0].node();
  ASSERT_EQ(all.regions.size(), 1u);
  ASSERT_EQ(rows.regions.size(), 1u);
  EXPECT_EQ(all.regions[0].identity(), rows.regions[0].identity());
}

void expect_round_trip(const Function& program, const std::vector<Literal>& arguments) {
  const auto print = [](const Function& function) { return to_hlo_text(function); };
  testing::expect_round_trip(program, arguments, print, parse_hlo_text);
}

TEST(ReadHlo, RoundTripsOfOpsWithAttributes) {
  const Literal x = iota_of({2, 3, 4});
  const auto of = [&](const auto& f) { expect_round_trip(trace(f, x.type()), {x}); };
  of([](Tensor x) { return transpose(x, {2, 0, 1}); });
  of([](Tensor x) { return sum(x, {1}); });
  of([](Tensor x) { return reshape(flip(x, {0, 2}), {6, 4}); });
  of([](Tensor x) { return sort(-x, 1); });
  of([](Tensor x) { return argsort(sin(x)); });
  of([](Tensor x) { return argmax(sin(x), 2); });
  of([](Tensor x) { return slice(x, range(0, 2, 1), range(1, 3), range(3, 0, -1)); });
  of([](Tensor x) { return pad(x, 7, {1, 0, -1}, {0, 2, 0}, {0, 1, 0}); });
  of([](Tensor x) { return matmul(x, transpose(x, {0, 2, 1})); });
  of([](Tensor x) { return take(x, Tensor(Literal::from(std::vector<std::int32_t>{2, 0})), 1); });
  of([](Tensor x) { return max_pool(reshape(x, {1, 4, 6, 1}), {2, 2}); });
  of([](Tensor x) {
    return grad([](Tensor y) { return sum(max_pool(y, {2, 2})); })(reshape(x, {1, 4, 6, 1}));
  });
  of([](Tensor x) {
    return convolution(reshape(x, {1, 4, 6, 1}), reshape(x, {3, 4, 1, 2}),
                       {.strides = {2, 1}, .padding = {{1, 0}, {2, 1}}});
  });
  of([](Tensor x) { return real(fft(x)); });
  of([](Tensor x) { return convert(x, DType::kS32) + 3; });
  of([](Tensor x) { return bitcast_convert(x, DType::kU32) >> 3u; });
  of([](Tensor x) { return reduce_precision(x / 7, 5, 2); });
  of([](Tensor x) { return random::uniform(random::key(1), f32({3})) + x[0][0][0]; });
}

TEST(ReadHlo, RoundTripsOfLoopsAndTheirGradients) {
  const Literal x = iota_of({3});
  const auto of = [&](const auto& f) { expect_round_trip(trace(f, x.type()), {x}); };
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
}

TEST(ReadHlo, StablehloBecomesHloAndBack) {
  const Literal x = iota_of({5});
  const Function program = trace(
      [](Tensor x) {
        return scan(
                   [&](Tensor c, Tensor e) {
                     return std::pair{c + e, sort(c * x, 0)};
                   },
                   Tensor(0.5f), x)
            .second;
      },
      x.type());
  const Function there =
      parse_hlo_text(to_hlo_text(parse_stablehlo_text(to_stablehlo_text(program))));
  const Function back = parse_stablehlo_text(to_stablehlo_text(there));
  EXPECT_TRUE(run(back, {x})[0].identical(run(program, {x})[0]));
}

TEST(ReadHlo, ErrorsNameTheirPlace) {
  struct Mistake {
    std::string line, message;
    std::int64_t column;
  };
  const Mistake mistakes[] = {
      {"ROOT y = f32[2] add(x, w)", "w is not defined", 24},
      {"ROOT y = f32[2] frobnicate(x)", "frobnicate: this operation is not supported", 6},
      {"ROOT y = f32[3] add(x, x)", "its result is f32[2], not f32[3]", 6},
      {"ROOT y = f32[2] transpose(x)", "the attribute `dimensions` is missing", 6},
      {"ROOT y = f32[2] transpose(x), dimensions=LT", "must be a list of integers", 31},
      {"ROOT y = f32[2] transpose(x), dimensions={0}, speed=1",
       "the attribute `speed` is not supported", 47},
      {"ROOT y = pred[2] compare(x, x), direction=UP", "it can be EQ, NE, LT", 6},
      {"ROOT y = f32[2] constant({1, 2, 3})", "expected `}`", 31},
      {"ROOT y = f32[20] constant({...})", "the elements are left out", 27},
      {"ROOT y = s8[] constant(300)", "expected an integer of 8 bits", 24},
      {"ROOT y = s4[] constant(8)", "expected an integer of 4 bits", 24},
      {"ROOT y = f8e4m3fn[] constant(500)", "too great for the type", 30},
      {"ROOT y = f8e5m2[] constant(nan(0x4))", "expected the payload of a NaN", 28},
      {"ROOT y = f8e5m2[] constant(--1)", "expected a number", 29},
      {"ROOT y = f8e8m0fnu[] constant(1)", "the element type f8e8m0fnu is not supported", 10},
      {"ROOT y = f32[<=2] parameter(1)", "sizes that are not known", 14},
      {"ROOT y = f32[2] call(x), to_apply=g", "there is no computation g", 6},
      {"ROOT y = f32[2] call(x), to_apply=e", "call each other without end", 0},
      {"x = f32[2] negate(x)", "x is defined twice", 1},
      {"ROOT y = f32[2] get-tuple-element(x), index=0", "it needs a tuple", 6},
      {"ROOT y = f32[2] parameter(2)", "there is no parameter 2", 6},
      {"ROOT y = f32[2] parameter(0)", "there are two of number 0", 6},
  };
  for (const Mistake& mistake : mistakes) {
    const std::string text =
        "HloModule m\nENTRY e {\nx = f32[2] parameter(0)\n" + mistake.line + "\n}\n";
    try {
      parse_hlo_text(text);
      ADD_FAILURE() << "read: " << mistake.line;
    } catch (const ParseError& error) {
      EXPECT_THAT(error.what(), HasSubstr(mistake.message));
      if (mistake.column == 0) continue;  // of the computation
      EXPECT_EQ(error.line(), 4) << error.what();
      EXPECT_EQ(error.column(), mistake.column) << error.what();
    }
  }
}

TEST(ReadHlo, TextThatEndsAnywhereIsAnError) {
  const std::string text = to_hlo_text(trace(
      [](Tensor x) {
        return while_loop([](Tensor y) { return sum(y) < 100; },
                          [](Tensor y) {
                            return sort(y, 0) * Tensor(Literal::from(std::vector<float>{1, 2}));
                          },
                          x);
      },
      f32({2})));
  for (std::size_t size = 0; size + 2 < text.size(); size++) {
    // Computations before the entry are a program, too: that of the last one.
    if (text[size] == '\n' && size > 0 && text[size - 1] == '}') continue;
    if (text[size] == '\n' && text.find("ENTRY", size) == size + 1) continue;
    try {
      parse_hlo_text(text.substr(0, size));
    } catch (const ParseError&) {
      continue;
    }
    EXPECT_EQ(text[size - 1], '\n') << text.substr(0, size);
  }
  parse_hlo_text(text);
}

TEST(ReadHlo, HostileTextIsAnErrorSoon) {
  std::string tuples, braces, inside;
  for (int i = 0; i < 100'000; i++) {
    tuples += "(";
    braces += "{";
    inside += "y = f32[] call(x), to_apply={";
  }
  const auto refuses = [](const std::string& line) {
    EXPECT_THROW(parse_hlo_text("HloModule m\nENTRY e {\nx = f32[2] parameter(0)\n" + line),
                 ParseError);
  };
  on_small_stack([&] {
    refuses("ROOT y = " + tuples);
    refuses("ROOT y = f32[2] transpose(x), dimensions=" + braces);
    refuses(inside);
    refuses("ROOT y = f32[1,1] constant(" + braces + ")");
    refuses("ROOT y = f32[1000000000000] constant({1})\n}");
    refuses("ROOT y = f32[4294967296,4294967296,4294967296] constant({1})\n}");
    refuses("ROOT y = f32[2] parameter(1000000000000)\n}");
    refuses("ROOT y = f32[2] parameter(-1)\n}");
  });
}

}  // namespace
}  // namespace rondo
