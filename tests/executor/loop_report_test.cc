// What program() reports of how each loop runs, and that the documentation shows what is printed.
#include <gmock/gmock.h>

#include <fstream>
#include <regex>
#include <sstream>
#include <string>
#include <vector>

#include "executor/agreement.h"
#include "native/target.h"

namespace rondo {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string report_of(const Function& function, bool contract = true) {
  const std::string text =
      compile(function, {.contract = contract, .executor = Executor::kBytecode}).program();
  return text.substr(text.find("  loop "));
}

/// With the same location for all.
std::string without_places(const std::string& text) {
  return std::regex_replace(text, std::regex("loop_report_test\\.cc:[0-9]+"), "HERE");
}

TEST(LoopReport, SaysHowEachLoopRuns) {
  const int line = __LINE__ + 2;
  const auto sum_up = [](Tensor x) {
    return while_loop([](Tensor s) { return s < 10; }, [&](Tensor s) { return s + x; }, 0.0f,
                      {.name = "sum up"});
  };
  EXPECT_EQ(report_of(trace(sum_up, f32())),
            "  loop 'sum up' at loop_report_test.cc:" + std::to_string(line) +
                ": carries single elements, in registers\n");
  EXPECT_EQ(without_places(report_of(trace(vmap(sum_up), f32({70})))),
            "  loop 'sum up' at HERE: vectorized, 70 lanes that stop at different trips\n");
  // Loops in lanes are reported with them; loops around them are reported separately.
  const auto nest = [](Tensor x) {
    return fori_loop(0, 3,
                     [](Tensor, Tensor y) {
                       const Tensor inner = fori_loop(
                           0, 4,
                           [](Tensor, Tensor z) {
                             return fori_loop(0, 5, [](Tensor, Tensor w) { return w * 0.5f + 1; },
                                              z, {.name = "third"});
                           },
                           y, {.name = "second"});
                       return inner - mean(inner);
                     },
                     x, {.name = "first"});
  };
  const std::string text = report_of(trace(nest, f32({70})));
  EXPECT_THAT(text, HasSubstr("loop 'first'"));
  EXPECT_LT(text.find("loop 'first'"), text.find("loop 'second'"));
  EXPECT_THAT(text, HasSubstr(": vectorized, 70 lanes\n"));
  EXPECT_THAT(text, Not(HasSubstr("third")));
}

/// The report of a loop that applies `step` to x three times.
template <class Step>
std::string report_of_step(Step step, const TensorType& type, bool contract = true) {
  const auto f = [&](Tensor x) {
    return fori_loop(
        0, 3, [&](Tensor, Tensor y) { return step(y); }, x);
  };
  return without_places(report_of(trace(f, type), contract));
}

TEST(LoopReport, SaysWhichOpKeepsALoopFromBeingVectorized) {
  const TensorType type = f32({70});
  EXPECT_THAT(report_of_step([](Tensor y) { return tap(y + 1, "y"); }, type),
              HasSubstr("tap at HERE shows whole arrays"));
  EXPECT_THAT(report_of_step([](Tensor y) { return y - max(y, {0}); }, type),
              HasSubstr("reduce at HERE combines elements of several"));
  EXPECT_THAT(report_of_step([](Tensor y) { return sort(y); }, type),
              HasSubstr("sort at HERE works on whole arrays"));
  EXPECT_THAT(report_of_step([](Tensor y) { return cummax(y, 0); }, f32({20})),
              HasSubstr("cumulative at HERE works on whole arrays"));
  EXPECT_THAT(report_of_step([](Tensor y) { return y + reverse(y, {0}); }, type),
              HasSubstr("reverse at HERE reads elements of other lanes"));
  // The op that prevents the layout that comes farthest, which is rows here.
  EXPECT_THAT(
      report_of_step([](Tensor y) { return y * 0.5f + sum(y, {1}, true) + reverse(y, {0}); },
                     f32({70, 4})),
      HasSubstr("reverse at HERE"));
  // In an inner loop.
  const auto inner = [](Tensor y) {
    return fori_loop(
        0, 3, [](Tensor, Tensor z) { return z + cumsum(z, 0); }, y);
  };
  EXPECT_THAT(report_of_step(inner, type), HasSubstr("cumulative at HERE "));
}

TEST(LoopReport, SaysWhatElseKeepsALoopFromBeingVectorized) {
  const auto goes_on = [](Tensor x) {
    return while_loop([](Tensor a) { return any(a > 1.0f); }, [](Tensor a) { return a * 0.5f; }, x);
  };
  EXPECT_THAT(report_of(trace(goes_on, f32({70}))),
              HasSubstr("does not keep all that is carried\n    Carry where(goes_on, next, now)"));
  const auto keeps = [](Tensor x) {
    return while_loop([](Tensor a) { return any(a > 1.0f); },
                      [](Tensor a) { return where(a > 1.0f, a * 0.5f, a); }, x);
  };
  EXPECT_THAT(report_of(trace(keeps, f32({70}))), HasSubstr("vectorized, 70 lanes"));

  const auto uniform_result = [](Tensor x) {
    const auto [y, same] = fori_loop(
        0, 3,
        [](Tensor, std::pair<Tensor, Tensor> s) {
          return std::pair(s.first * sum(s.second), s.second * 0.5f);
        },
        std::pair(x, arange(3, DType::kF32)));
    return std::pair(y, same);
  };
  EXPECT_THAT(report_of(trace(uniform_result, f32({70}))), HasSubstr("gives what is the same"));

  const auto windows = [](Tensor x) {
    const auto add = [&](Tensor k, Tensor sums) {
      return sums + dynamic_slice(x, {k, k}, {90, 70});
    };
    return fori_loop(0, 4, add, zeros(f32({90, 70})));
  };
  EXPECT_THAT(report_of(trace(windows, f32({94, 74}))),
              HasSubstr("vectorized, 90 x 70 lanes, 6 rows at a time"));

  const auto turns = [](Tensor x) {
    const Tensor turn = matrix({{0.8f, -0.6f}, {0.6f, 0.8f}});
    return fori_loop(
        0, 4, [&](Tensor, Tensor x) { return dot(turn, x); }, x);
  };
  const Function product = trace(vmap(turns), f32({5000, 2}));
  EXPECT_THAT(report_of(product), HasSubstr("vectorized, 5000 lanes"));
  EXPECT_THAT(report_of(product, false), HasSubstr("Compile without {.contract = false}"));
}

std::string documentation(const std::string& page) {
  std::ifstream file(std::string(RONDO_SOURCE_DIR) + "/docs/" + page);
  std::ostringstream text;
  text << file.rdbuf();
  return text.str();
}

/// The lines of `text` from the first that begins with `first` to the next one that begins with
/// `last`, without their common indentation.
std::string lines_from(const std::string& text, const std::string& first, const std::string& last) {
  std::istringstream in(text);
  std::string found;
  std::size_t indent = std::string::npos;
  for (std::string line; std::getline(in, line);) {
    const std::size_t begin = std::min(line.find_first_not_of(' '), line.size());
    if (indent == std::string::npos && line.compare(begin, first.size(), first) != 0) continue;
    indent = std::min(indent, begin);
    found += line.substr(indent) + "\n";
    if (line.compare(indent, last.size(), last) == 0) break;
  }
  return found;
}

struct House {
  Tensor slab, quanta, tank;
};

Function documented() {
  auto heat = [](House h) {
    return fori_loop(
        0, 20,
        [](Tensor, House s) {
          const Tensor p = (s.tank - s.quanta) * 2639.6856, q = (s.quanta - s.slab) * 14741.9;
          return House{s.slab + q * 5.0e-9, s.quanta + (p - q) * 4.2e-7, s.tank - p * 3.2e-7};
        },
        h, {.name = "heat"});
  };
  return trace(heat, House{zeros(f32()), zeros(f32()), zeros(f32())});
}

TEST(DocumentedPrograms, AreWhatIsPrinted) {
  const std::string text = documentation("native_code.md");
  const Function function = documented();
  const std::string printed = std::regex_replace(lines_from(to_text(function), "%0: f32[]", "  }"),
                                                 std::regex(" +// [^\n]*"), "");
  EXPECT_THAT(text, HasSubstr("\n```\n" + printed + "```\n"));
  const std::string lower = lines_from(
      compile(function, {.executor = Executor::kBytecode}).program(), "for %", "end next");
  EXPECT_THAT(text, HasSubstr("\n```\n" + lower + "```\n"));
}

#if defined(__x86_64__)
TEST(DocumentedPrograms, AreDisassembled) {
  const Executable native = compile(documented(), {.executor = Executor::kCompiled});
  const std::string machine = native.disassembly("heat");
  ASSERT_EQ(machine.empty(), native_code::available_target() == nullptr);
  if (machine.empty()) return;
  EXPECT_THAT(documentation("native_code.md"), HasSubstr("\n```\n" + machine + "```\n"));
}
#endif

TEST(DocumentedPrograms, SayWhatKeepsALoopFromBeingVectorized) {
  auto centre = [](Tensor x) {
    return fori_loop(
        0, 9, [](Tensor, Tensor y) { return 0.5f * (y - max(y)); }, x);
  };
  const std::string report =
      std::regex_replace(report_of(trace(centre, f32({1000}))),
                         std::regex("loop_report_test\\.cc:[0-9]+"), "centre.cc:2");
  EXPECT_THAT(documentation("executor.md"), HasSubstr("\n```\n" + report + "```\n"));
}

}  // namespace
}  // namespace rondo
