// The command, as a shell would call it.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "cli/outcome.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

TEST_F(Command, RunsAProgramOnLiteralsAndFiles) {
  const std::string program = file("f.mlir", kPowers);
  const Outcome printed = command({"run", program, "{2, 3}", "s32[]2"});
  EXPECT_EQ(printed.status, 0) << printed.err;
  EXPECT_THAT(printed.out, HasSubstr("{8, 27}"));

  Literal::from(std::vector<float>{1, 2}).save_npy(path("x.npy"));
  const Outcome saved =
      command({"run", program, path("x.npy"), "3", "--out=" + path("results"), "--stats"});
  EXPECT_EQ(saved.status, 0) << saved.err;
  EXPECT_EQ(saved.out, "");
  EXPECT_THAT(saved.err, HasSubstr("3 trips"));
  EXPECT_TRUE(Literal::load_npy(path("results/out0.npy"))
                  .identical(Literal::from(std::vector<float>{1, 16})));
}

TEST_F(Command, ShowsWhereTheTimeGoes) {
  const std::string program = file("f.mlir", kPowers);
  const Outcome shown = command({"run", program, "{2, 3}", "s32[]2", "--profile"});
  EXPECT_EQ(shown.status, 0) << shown.err;
  EXPECT_THAT(shown.out, HasSubstr("{8, 27}"));
  EXPECT_THAT(shown.err, AllOf(HasSubstr("a run of "), HasSubstr("loop or kernel")));
  for (const std::string name : {"p.html", "p.json"}) {
    const Outcome saved =
        command({"run", program, "{2, 3}", "s32[]2", "--profile-to=" + path(name)});
    EXPECT_EQ(saved.status, 0) << saved.err;
    EXPECT_EQ(saved.err, "");
    EXPECT_GT(std::filesystem::file_size(path(name)), 100u);
  }
  fails({"run", program, "{2, 3}", "s32[]2", "--profile-to=p.txt"}, 2, HasSubstr(".html"));
  fails({"run", program, "{2, 3}", "s32[]2", "--profile-to=" + path("no/p.json")}, 2,
        HasSubstr("cannot be written"));
}

TEST_F(Command, PrintsAProgramInOtherFormats) {
  const std::string program = file("f.mlir", kPowers);
  const Outcome hlo = command({"print", program, "--to=hlo"});
  EXPECT_EQ(hlo.status, 0) << hlo.err;
  EXPECT_THAT(hlo.out, StartsWith("HloModule"));
  const Outcome back = command({"print", "-", "--to", "stablehlo"}, hlo.out);
  EXPECT_EQ(back.status, 0) << back.err;
  EXPECT_EQ(parse_stablehlo_text(back.out).stats().loops, 1);
  EXPECT_THAT(command({"print", program}).out, HasSubstr("fori_loop"));
  EXPECT_THAT(command({"print", program, "--to=dot"}).out, StartsWith("digraph"));
}

TEST_F(Command, PrintsAProgramAsC) {
  const std::string program = file("f.mlir", kPowers);
  const Outcome whole = command({"print", program, "--to=c", "--name=powers"});
  EXPECT_EQ(whole.status, 0) << whole.err;
  EXPECT_THAT(whole.out, AllOf(HasSubstr("void powers("), HasSubstr("} powers_in;"),
                               Not(HasSubstr("#include \"powers.h\""))));
  const Outcome apart = command(
      {"print", program, "--to=c", "--name=powers", "--header=" + path("p.h"), "--test-main"});
  EXPECT_THAT(apart.out, AllOf(HasSubstr("#include \"p.h\""), HasSubstr("int main(void)")));
  EXPECT_TRUE(std::filesystem::exists(path("p.h")));
  fails({"print", program, "--to=c", "--name=while"}, 1, HasSubstr("'while'"));
  fails({"print", program, "--to=c", "--header=" + path("no/p.h")}, 1,
        HasSubstr("the header cannot be written"));
}

TEST_F(Command, SaysWhatIsWrongAndEndsWithAStatus) {
  const std::string program = file("f.mlir", kPowers);
  fails({}, 2, HasSubstr("subcommand is required"));
  fails({"frobnicate"}, 2, HasSubstr("subcommand"));
  fails({"run"}, 2, HasSubstr("FILE is required"));
  fails({"print", program, "--to=xml"}, 2, HasSubstr("xml not in"));
  fails({"run", path("none.mlir")}, 2, AllOf(HasSubstr("none.mlir"), HasSubstr("No such file")));
  fails({"run", program, "{1, 2}"}, 2,
        AllOf(HasSubstr("takes 2 arguments, and gets 1"), HasSubstr("n: s32[]")));
  fails({"run", program, "{1, 2, 3}", "1"}, 2, HasSubstr("the argument for 'x'"));
  fails({"run", program, "f32[3]{1, 2, 3}", "1"}, 2, HasSubstr("of another type than f32[2]"));
  fails({"run", program, "x", "1"}, 2, HasSubstr("no .npy file"));
  fails({"run", file("bad.mlir", "func.func @main() {\n  %0 = what\n}"), "1"}, 2,
        AllOf(HasSubstr("bad.mlir: line 2, column 8"), HasSubstr("^")));
  fails({"run", file("code.mlirbc", "ML\xEFR..."), "1"}, 2, HasSubstr("code.mlirbc: at byte"));
  fails({"run", program, "{1, 2}", "100", "--max-iterations=10"}, 1, HasSubstr("10"));
}

TEST_F(Command, Helps) {
  const Outcome help = command({"--help"});
  EXPECT_EQ(help.status, 0);
  EXPECT_THAT(help.out, AllOf(HasSubstr("print"), HasSubstr("run"), HasSubstr("Examples:")));
  EXPECT_THAT(command({"run", "--help"}).out, HasSubstr("--max-iterations"));
  EXPECT_THAT(command({"--version"}).out, StartsWith("rondo 0."));
}

TEST_F(Command, ChecksSayWhatFails) {
  const std::string good = file("good.mlir",
                                "func.func @good() {\n"
                                "  %a = stablehlo.constant dense<1> : tensor<i32>\n"
                                "  check.expect_eq_const %a, dense<1> : tensor<i32>\n"
                                "  func.return\n}\n");
  const std::string bad = file("bad.mlir",
                               "func.func @bad() {\n"
                               "  %a = stablehlo.constant dense<1> : tensor<i32>\n"
                               "  check.expect_eq_const %a, dense<2> : tensor<i32>\n"
                               "  func.return\n}\n");
  const Outcome fine = command({"check", good});
  EXPECT_EQ(fine.status, 0) << fine.err;
  EXPECT_EQ(fine.out, "1 passed, 0 failed, 0 skipped\n");
  const Outcome failed = command({"check", good, bad});
  EXPECT_EQ(failed.status, 1);
  EXPECT_EQ(failed.out, bad +
                            ":1: @bad failed: line 3: 1 of 1 elements are not equal: [] is 1 and "
                            "should be 2\n1 passed, 1 failed, 0 skipped\n");
  const Outcome missing = command({"check", path("none.mlir")});
  EXPECT_EQ(missing.status, 2);
  EXPECT_THAT(missing.err, HasSubstr("No such file"));
}

}  // namespace
}  // namespace rondo
