// Places of operations that are read: in the file that a text was made from, or in the text.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include "rondo/rondo.h"

namespace rondo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

const char* const kProgram = R"(
#loc = loc(unknown)
#loc1 = loc("x")
#loc2 = loc("scale")
func.func @main(%arg0: tensor<f32> loc("x"), %arg1: tensor<f32> loc(#loc2)) -> tensor<f32> {
  %0 = stablehlo.sine %arg0 : tensor<f32> loc(#loc7)
  %1 = stablehlo.cosine %0 : tensor<f32> loc(fused<"why">[#loc6, #loc3])
  %2 = stablehlo.multiply %1, %arg1 : tensor<f32> loc("jit(f)/mul"("model.py":9:4 to :9))
  %3 = stablehlo.negate %2 : tensor<f32> loc(#loc)
  %4 = stablehlo.abs %3 : tensor<f32>
  return %4 : tensor<f32> loc(#loc)
} loc(#loc)
#loc3 = loc("/home/me/model.py":12:3)
#loc4 = loc("train.py":40:0)
#loc5 = loc(callsite(#loc3 at #loc4))
#loc6 = loc("jit(f)/cos"("math.py":5:1))
#loc7 = loc("jit(f)/sin"(#loc5))
)";

TEST(Locations, OperationsNameTheLineThatTheyCameFrom) {
  const std::string text = to_text(parse_stablehlo_text(kProgram));
  const auto line_of = [&](const std::string& op) {
    const std::size_t at = text.find(" = " + op + " ");
    return text.substr(at, text.find('\n', at) - at);
  };
  EXPECT_THAT(line_of("sin"), HasSubstr("// model.py:12"));  // the callee of the call site
  EXPECT_THAT(line_of("cos"), HasSubstr("// math.py:5"));    // the first that is fused
  EXPECT_THAT(line_of("multiply"), HasSubstr("// model.py:9"));
  EXPECT_THAT(line_of("negate"), HasSubstr("// StableHLO text:9"));
  EXPECT_THAT(line_of("abs"), HasSubstr("// StableHLO text:10"));
}

TEST(Locations, ParametersHaveTheNamesOfTheirLocations) {
  EXPECT_THAT(parse_stablehlo_text(kProgram).param_names(), ElementsAre("x", "scale"));
}

TEST(Locations, ErrorsNameTheTextAndTheFileThatItWasMadeFrom) {
  const std::string text = R"(func.func @main(%a: tensor<2xf32>) -> tensor<f32> {
  %0 = stablehlo.reshape %a : (tensor<2xf32>) -> tensor<f32> loc("model.py":7:1)
  return %0 : tensor<f32>
})";
  try {
    parse_stablehlo_text(text);
    ADD_FAILURE() << "it is read";
  } catch (const ParseError& error) {
    EXPECT_EQ(error.line(), 2);
    EXPECT_THAT(error.what(), AllOf(HasSubstr("line 2, column 8"), HasSubstr("model.py:7")));
  }
}

// An alias may name itself, or nothing, and a location may be of an unknown kind.
TEST(Locations, ThoseThatLeadNowhereAreNone) {
  for (const std::string location : {"#a", "#none", "callsite(#a at #a)", "fused[#b, #a]",
                                     "something<3>", "\"f.py\":0:0", "\"f.py\":99999999999:1"}) {
    const Function read = parse_stablehlo_text(
        "#a = loc(#b)\n#b = loc(callsite(#a at #a))\n"
        "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
        "  %0 = stablehlo.sine %x : tensor<f32> loc(" +
        location + ")\n  return %0 : tensor<f32>\n}\n");
    EXPECT_THAT(to_text(read), HasSubstr("// StableHLO text:4")) << location;
  }
}

TEST(Locations, HloNamesThemInItsMetadata) {
  const std::string text = to_text(parse_hlo_text(R"(HloModule m
ENTRY main {
  x = f32[] parameter(0)
  s = f32[] sine(x), metadata={op_type="sin" op_name="jit(f)/sin" source_file="/a/model.py" source_line=12 source_end_line=12}
  ROOT c = f32[] cosine(s), metadata={op_name="jit(f)/cos"}
})"));
  EXPECT_THAT(text, HasSubstr("// model.py:12"));
  EXPECT_THAT(text, HasSubstr("// HLO text:5"));
}

TEST(Locations, HloNamesThemInTables) {
  const std::string text = to_text(parse_hlo_text(R"(HloModule m

FileNames
1 "/a/model.py"
2 "/a/train.py"

FunctionNames
1 "loss"

FileLocations
1 {file_name_id=1 function_name_id=1 line=12 end_line=12 column=4 end_column=9}
2 {file_name_id=2 function_name_id=1 line=34}
3 {file_name_id=7 function_name_id=1 line=5}

StackFrames
1 {file_location_id=1 parent_frame_id=1}
2 {file_location_id=2}
3 {file_location_id=3}

ENTRY main {
  x = f32[] parameter(0)
  s = f32[] sine(x), metadata={op_name="jit(f)/sin" stack_frame_id=1}
  c = f32[] cosine(s), metadata={op_name="jit(f)/cos" stack_frame_id=2}
  n = f32[] negate(c), metadata={stack_frame_id=3}
  ROOT t = f32[] tanh(n), metadata={stack_frame_id=99}
})"));
  for (const char* place : {"// model.py:12", "// train.py:34", "// HLO text:24", "// HLO text:25"})
    EXPECT_THAT(text, HasSubstr(place)) << text;
}

TEST(Locations, ProgramsOfFilesNameThem) {
  const std::string path =
      (std::filesystem::temp_directory_path() / "rondo_locations_test.mlir").string();
  std::ofstream(path) << "func.func @main(%x: tensor<f32>) -> tensor<f32> {\n"
                         "  %0 = stablehlo.sine %x : tensor<f32>\n  return %0 : tensor<f32>\n}\n";
  EXPECT_THAT(to_text(load_program(path)), HasSubstr("// rondo_locations_test.mlir:2"));
  std::remove(path.c_str());
}

}  // namespace
}  // namespace rondo
