// The verbs of the command, and the mistakes in their arguments.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <csignal>
#include <thread>

#include "cli/interrupt.h"
#include "cli/outcome.h"
#include "cli/progress.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;
using ::testing::StartsWith;

/// The sum of a x^2, of several functions and types.
constexpr const char* kLoss = R"(
func.func @main(%x: tensor<3xf32>, %n: tensor<i32>, %a: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.broadcast_in_dim %a, dims = [] : (tensor<f32>) -> tensor<3xf32>
  %1 = stablehlo.multiply %x, %x : tensor<3xf32>
  %2 = stablehlo.multiply %0, %1 : tensor<3xf32>
  %c = stablehlo.constant dense<0.0> : tensor<f32>
  %3 = stablehlo.reduce(%2 init: %c) applies stablehlo.add across dimensions = [0]
      : (tensor<3xf32>, tensor<f32>) -> tensor<f32>
  return %3 : tensor<f32>
}
func.func @twice(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.add %x, %x : tensor<f32>
  return %0 : tensor<f32>
}
)";
constexpr const char* kTwoComputations =
    "HloModule m\n\n"
    "square {\n  x = f32[] parameter(0)\n  ROOT y = f32[] multiply(x, x)\n}\n\n"
    "ENTRY main {\n  x = f32[] parameter(0)\n  ROOT y = f32[] add(x, x)\n}\n";
/// It runs for ever.
constexpr const char* kEndless = R"(
func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.while(%y = %x) : tensor<f32>
  cond {
    %p = stablehlo.compare EQ, %y, %y, FLOAT : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %z = stablehlo.sine %y : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }
  return %0 : tensor<f32>
}
)";

TEST_F(Command, RunsAnotherEntry) {
  const std::string program = file("f.mlir", kLoss);
  EXPECT_EQ(command({"run", program, "3", "--entry=twice"}).out, "f32[] 6\n");
  const std::string hlo = file("f.hlo", kTwoComputations);
  EXPECT_EQ(command({"run", hlo, "3"}).out, "f32[] 6\n");
  EXPECT_EQ(command({"run", hlo, "3", "--entry=square"}).out, "f32[] 9\n");
  fails({"run", program, "3", "--entry=thrice"}, 2,
        AllOf(HasSubstr("f.mlir"), HasSubstr("no function @thrice"), HasSubstr("main, twice")));
  fails({"print", hlo, "--entry=cube"}, 2,
        AllOf(HasSubstr("no computation cube"), HasSubstr("square")));
}

TEST_F(Command, TakesNegativeAndEmptyLiterals) {
  const std::string program = file("f.mlir", kLoss);
  EXPECT_EQ(command({"run", program, "-3", "--entry=twice"}).out, "f32[] -6\n");
  EXPECT_EQ(command({"run", program, "-.5", "--entry=twice"}).out, "f32[] -1\n");
  EXPECT_EQ(command({"run", program, "-inf", "--entry=twice"}).out, "f32[] -inf\n");
  const std::string empty = file("empty.hlo",
                                 "HloModule m\nENTRY main {\n  x = f32[0] parameter(0)\n"
                                 "  ROOT y = f32[0] negate(x)\n}\n");
  EXPECT_EQ(command({"run", empty, "{}"}).out, "f32[0] {}\n");
}

TEST_F(Command, RunsOnArraysOfAnArchive) {
  const std::string program = file("f.mlir", kPowers);
  struct Arrays {
    Tensor x, n;
  };
  save_npz(path("a.npz"), Arrays{constant({1.0f, 2.0f}), 3});
  const Outcome saved = command({"run", program, path("a.npz:x"), path("a.npz:n")});
  EXPECT_EQ(saved.out, "f32[2] {1, 16}\n") << saved.err;
  fails({"run", program, path("a.npz:y"), "3"}, 2,
        AllOf(HasSubstr("no array 'y'"), HasSubstr("x, n")));
  fails({"run", program, path("a.npz:n"), "3"}, 2, AllOf(HasSubstr("s32[]"), HasSubstr("f32[2]")));
  fails({"run", program, path("a.npz"), "3"}, 2, HasSubstr("a.npz:NAME"));
  fails({"run", program, path("b.npz:x"), "3"}, 2, HasSubstr("b.npz"));
}

TEST_F(Command, RunSaysWhatIsWrong) {
  const std::string program = file("f.mlir", kPowers);
  const std::vector<std::string> good = {"run", program, "{1, 2}", "3"};
  const auto with = [&](std::vector<std::string> more) {
    more.insert(more.begin(), good.begin(), good.end());
    return more;
  };
  fails({"run", program, path("x.npy"), "3"}, 2, HasSubstr("x.npy"));
  fails({"run", program, file("bad.npy", "what"), "3"}, 2, HasSubstr("bad.npy"));
  Literal::from(std::vector<float>{1, 2, 3}).save_npy(path("three.npy"));
  fails({"run", program, path("three.npy"), "3"}, 2,
        AllOf(HasSubstr("three.npy holds f32[3]"), HasSubstr("f32[2]")));
  fails({"run", program, "{1, 2}", "2.5"}, 2, HasSubstr("the argument for 'n'"));
  fails({"run", program, "{1, 2}", "3", "4"}, 2, HasSubstr("takes 2 arguments, and gets 3"));
  fails(with({"--max-iterations=-1"}), 2, HasSubstr("--max-iterations"));
  fails(with({"--max-iterations=many"}), 2, HasSubstr("--max-iterations"));
  fails(with({"--deadline=-1"}), 2, HasSubstr("--deadline"));
  fails(with({"--deadline=soon"}), 2, HasSubstr("--deadline"));
  fails(with({"--threads=0"}), 2, HasSubstr("--threads"));
  fails(with({"--plugin=" + path("none.so")}), 2, HasSubstr("none.so"));
  fails(with({"--plugin=" + program}), 1, HasSubstr("f.mlir"));
  fails(with({"--plugin=" + program, "--reference"}), 2, HasSubstr("--reference"));
  fails(with({"--plugin=" + program, "--stats"}), 2, HasSubstr("--stats"));
  fails(with({"--out=" + program + "/results"}), 2, HasSubstr("--out="));
  fails(with({"--frobnicate"}), 2, HasSubstr("--frobnicate"));
}

TEST_F(Command, EndlessRunsEnd) {
  const std::string program = file("f.mlir", kEndless);
  fails({"run", program, "1", "--deadline=0.01"}, 1, HasSubstr("deadline"));
  fails({"run", program, "1", "--max-iterations=100", "--reference"}, 1, HasSubstr("100"));
}

TEST_F(Command, StopsAtTheSignalOfTheKeyboard) {
  const std::string program = file("f.mlir", kEndless);
  const auto earlier = std::signal(SIGINT, SIG_IGN);  // in case it comes before the run begins
  std::atomic<bool> ended = false;
  std::thread keyboard([&] {
    while (!ended) {
      std::this_thread::sleep_for(std::chrono::milliseconds(20));
      struct sigaction now = {};
      sigaction(SIGINT, nullptr, &now);
      if (now.sa_handler != SIG_IGN && now.sa_handler != SIG_DFL) raise(SIGINT);
    }
  });
  const Outcome stopped = command({"run", program, "1"});
  ended = true;
  keyboard.join();
  std::signal(SIGINT, earlier);
  EXPECT_EQ(stopped.status, 1);
  EXPECT_EQ(stopped.out, "");
  EXPECT_THAT(stopped.err, AllOf(HasSubstr("interrupted in the loop at"), HasSubstr("trips")));
}

TEST_F(Command, PrintsGradients) {
  const std::string program = file("f.mlir", kLoss);
  const Outcome text = command({"grad", program});
  EXPECT_EQ(text.status, 0) << text.err;
  EXPECT_THAT(text.out, AllOf(StartsWith("func main"), HasSubstr("-> (x: f32[3])")));
  // 2 a x, and the sum of x^2.
  const Outcome hlo = command({"grad", program, "--to=hlo", "--argnum=2", "--argnum=0"});
  ASSERT_EQ(hlo.status, 0) << hlo.err;
  EXPECT_EQ(command({"run", "-", "{1, 2, 3}", "7", "0.5"}, hlo.out).out,
            "f32[] 14\nf32[3] {1, 2, 3}\n");
  const Outcome stablehlo = command({"grad", program, "--to=stablehlo", "--entry=twice"});
  EXPECT_EQ(command({"run", "-", "3"}, stablehlo.out).out, "f32[] 2\n");
  fails({"grad", program, "--argnum=1"}, 2, AllOf(HasSubstr("argument 1 ('n')"), HasSubstr("s32")));
  fails({"grad", program, "--argnum=3"}, 2, HasSubstr("no argument 3; the program has 3"));
  fails({"grad", program, "--argnum=-1"}, 2, HasSubstr("--argnum"));
  fails({"grad", program, "--argnum=x"}, 2, HasSubstr("--argnum"));
  fails({"grad", file("powers.mlir", kPowers)}, 2,
        AllOf(HasSubstr("returns (f32[2])"), HasSubstr("scalar")));
}

TEST_F(Command, MeasuresPrograms) {
  const std::string program = file("f.mlir", kPowers);
  const Outcome given = command({"bench", program, "{1, 2}", "100", "--runs=4"});
  EXPECT_EQ(given.status, 0) << given.err;
  EXPECT_THAT(given.out, AllOf(HasSubstr("compile: "), HasSubstr("4 runs"), HasSubstr("100 trips"),
                               HasSubstr("peak memory: "), Not(HasSubstr("made up"))));
  const Outcome made = command({"bench", program, "--runs=1"});
  EXPECT_THAT(made.out,
              AllOf(HasSubstr("argument x: f32[2], made up: between 0 and 1"),
                    HasSubstr("argument n: s32[], made up: zeros"), HasSubstr("0 trips")));
  fails({"bench", program, "{1, 2}", "1", "2"}, 2, HasSubstr("takes 2 arguments, and gets 3"));
  fails({"bench", program, "--runs=0"}, 2, HasSubstr("--runs"));
}

TEST_F(Command, ExplainsHowLoopsRun) {
  const std::string program = file("f.mlir", kPowers);
  const Outcome explained = command({"explain", program});
  EXPECT_EQ(explained.status, 0) << explained.err;
  EXPECT_THAT(explained.out,
              AllOf(StartsWith("executor: "), HasSubstr("1 loops"),
                    HasSubstr("arguments: 12 bytes"), HasSubstr("results: 8 bytes")));
  EXPECT_THAT(command({"explain", program, "--program"}).out,
              AllOf(StartsWith(explained.out), HasSubstr("program 'main'")));
  fails({"explain"}, 2, HasSubstr("FILE is required"));
}

TEST_F(Command, ErrorsHaveColorsOnATerminal) {
  const std::string program = file("bad.mlir", "func.func @main() {\n  %0 = what\n}");
  const Outcome plain = command({"print", program});
  const Outcome colored = command({"print", program}, "", {true, true});
  EXPECT_THAT(plain.err, AllOf(StartsWith("rondo: "), Not(HasSubstr("\x1b"))));
  EXPECT_THAT(colored.err, AllOf(StartsWith("\x1b[1;31mrondo:\x1b[0m "), HasSubstr("^\x1b[0m\n")));
  std::string without;
  for (std::size_t i = 0; i < colored.err.size(); i++) {
    if (colored.err[i] == '\x1b')
      i = colored.err.find('m', i);
    else
      without += colored.err[i];
  }
  EXPECT_EQ(without, plain.err);
}

TEST(Progress, CountsTripsWithinTrips) {
  Progress alone;
  alone.loop = "fit";
  alone.trip = 5;
  alone.of = 20;
  EXPECT_EQ(cli::fraction_done(alone), 0.25);
  Progress nested = alone;
  nested.path = {{"fit", 5, 20}, {"solve", 6, 10}};
  EXPECT_DOUBLE_EQ(cli::fraction_done(nested), (4 + 0.5) / 20);
  EXPECT_EQ(cli::progress_line(nested, 9),
            "[=====>                  ]  22%  fit 5/20, solve 6/10  31 s left");
  nested.path[1].of.reset();
  EXPECT_DOUBLE_EQ(cli::fraction_done(nested), 4.0 / 20);
  nested.path[0].of.reset();
  EXPECT_LT(cli::fraction_done(nested), 0);
  EXPECT_EQ(cli::progress_line(nested, 200), "fit 5, solve 6  3 min");
}

}  // namespace
}  // namespace rondo
