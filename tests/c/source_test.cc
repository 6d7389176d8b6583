// What the C looks like, what it needs, and what has no form in C.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <sstream>

#include "rondo/rondo.h"
#include "support/compare.h"
#include "support/expect.h"
#include "support/run_c.h"

namespace rondo::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::Not;

struct Tank {
  Tensor level, flow;
};

struct Plant {
  Tank left, right;
  std::vector<Tensor> valves;
};

Plant plant_types() {
  const Tensor one = zeros(f32({}));
  return {{one, one}, {one, one}, {one, zeros(f32({3}))}};
}

Plant run_plant(const Plant& before) {
  return fori_loop(0, 50,
                   [](const Tensor&, Plant p) {
                     const Tensor through = (p.left.level - p.right.level) * p.valves[0];
                     p.left = {p.left.level - through * 0.1f, through};
                     p.right = {p.right.level + through * 0.1f, -through};
                     p.valves[1] = p.valves[1] * 0.9f;
                     return p;
                   },
                   before, {.name = "plant */ run"});
}

std::size_t lines_in(const std::string& text) {
  return static_cast<std::size_t>(std::count(text.begin(), text.end(), '\n'));
}

std::size_t longest_line(const std::string& text) {
  std::istringstream lines(text);
  std::size_t longest = 0;
  for (std::string line; std::getline(lines, line);) longest = std::max(longest, line.size());
  return longest;
}

std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos; at = text.find(part, at + 1))
    count++;
  return count;
}

TEST(CSource, HasStructsNamedAsTheTreesAndCarriesNamedAsTheirFields) {
  const CSource c = to_c_source(trace(run_plant, plant_types()), {.name = "plant"});
  EXPECT_THAT(c.header, AllOf(HasSubstr("plant_in_arg0"), HasSubstr("plant_in_left left;"),
                              HasSubstr("float level;"), HasSubstr("float valves_1[3];")));
  EXPECT_THAT(c.source, AllOf(HasSubstr("float left_level = "), HasSubstr("in->arg0.valves_0"),
                              HasSubstr("source_test.cc:")));
  // A name cannot end the comment that it is in.
  EXPECT_EQ(count_of(c.source, "/*"), count_of(c.source, "*/"));
}

TEST_F(InC, NamesThatCHasOrCommentsEndWithAreMended) {
  struct Odd {
    Tensor fabsf, n, y0, i7, NAN_;
  };
  const auto run = [](const Odd& before) {
    return fori_loop(0, 3,
                     [](const Tensor&, Odd o) {
                       o.fabsf = abs(o.fabsf) + o.n;
                       o.n = o.n * 0.5f;
                       o.y0 = fori_loop(
                           0, 2, [&](const Tensor&, const Tensor& y) { return tanh(y) + o.i7; },
                           o.y0);
                       return o;
                     },
                     before, {.name = "a */ b /* c \\\n d"});
  };
  const Tensor one = zeros(f32({}));
  const Function program = trace(run, Odd{one, one, one, one, one});
  const Function named = Function::make("f */ g", program.parameters(), program.outputs());
  const CSource c = to_c_source(named);
  EXPECT_THAT(c.header, AllOf(HasSubstr("float n;"), HasSubstr("float y0;")));
  EXPECT_EQ(count_of(c.source, "/*"), count_of(c.source, "*/"));
  const std::vector<Literal> arguments(5, Literal::scalar(-0.75f));
  const auto want = compile(named, {.optimize = false, .contract = false}).run(arguments),
             got = run_c(named, arguments);
  for (std::size_t i = 0; i < want.size(); i++)
    EXPECT_EQ(difference(got[i], want[i], kExactly), "");
}

/// b and c read each other's carry, and b reads a's, which is in no cycle: a was saved again and
/// again, without end.
TEST_F(InC, CarriesThatReadOneAnother) {
  struct Three {
    Tensor a, b, c;
  };
  const auto step = [](Tensor, Three s) { return Three{s.a * 2.0f, s.c + s.a, s.b}; };
  const Function program = trace(
      [&](Tensor x) {
        return fori_loop(0, 5, step, Three{x, x + 1.0f, x + 2.0f});
      },
      f32());
  float a = 0.5f, b = 1.5f, c = 2.5f;
  for (int i = 0; i < 5; i++) {
    const float next = c + a;
    a *= 2, c = b, b = next;
  }
  const std::vector<Literal> got = run_c(program, {Literal::scalar(0.5f)});
  EXPECT_EQ(got[0].item<float>(), a);
  EXPECT_EQ(got[1].item<float>(), b);
  EXPECT_EQ(got[2].item<float>(), c);
}

TEST_F(InC, SmallNumbersAreBytes) {
  const Function program =
      trace([](const Tensor& x, const Tensor& n) { return std::pair(x * x + x, n + n); },
            TensorType{DType::kF8E4M3FN, {6}}, TensorType{DType::kS4, {5}});
  std::vector<Literal> arguments;
  for (const TensorType& type : program.params())
    arguments.push_back(convert(arange(type.shape[0], DType::kF32) - 2, type.dtype).eval());
  const auto want = compile(program, {.optimize = false, .contract = false}).run(arguments),
             got = run_c(program, arguments, {.test_main = true});
  for (std::size_t i = 0; i < want.size(); i++) EXPECT_TRUE(got[i].identical(want[i])) << i;
  EXPECT_THAT(to_c_source(program).header, HasSubstr("/* f8e4m3fn[6] */"));
}

TEST(CSource, KeepsLoopsAsLoopsHoweverManyTripsTheyMake) {
  const auto written = [](std::int64_t trips) {
    const auto f = [=](const Tensor& x) {
      return fori_loop(
          0, trips, [](const Tensor&, const Tensor& y) { return y - sin(y) * 0.1f; }, x);
    };
    return to_c_source(trace(value_and_grad(f), f32({})));
  };
  const CSource few = written(20), many = written(1000);
  EXPECT_EQ(lines_in(few.source), lines_in(many.source));
  EXPECT_LT(lines_in(few.source), 150U);
  // Of one number in each trip.
  EXPECT_EQ(many.workspace_bytes, 4 * 1000);
}

TEST(CSource, OfFloatsHoldsNoDoubleAndNoLineIsLong) {
  const auto f = [](const Tensor& x, const Tensor& w) {
    return sum(tanh(matmul(w, x)) + cumsum(x, 0)) / mean(exp(x));
  };
  const Function program = trace(value_and_grad(f), f32({20}), f32({20, 20}));
  const CSource c = to_c_source(program, {.test_main = true});
  EXPECT_EQ(count_of(c.source + c.header, "double"), count_of(c.source, "A double as its bits"));
  EXPECT_LE(longest_line(c.source), 100U);
  EXPECT_LE(longest_line(c.header), 100U);
  EXPECT_THAT(c.source, Not(HasSubstr("malloc")));
}

TEST_F(InC, WideSumsHaveTheSameBitsInIntegersAndInDoubles) {
  const auto f = [](const Tensor& x) { return std::pair(sum(x), prod(x)); };
  std::vector<float> values;
  for (int i = 0; i < 300; i++)
    values.push_back(static_cast<float>((i * 7919) % 1000 - 480) * (i % 50 == 0 ? 3e30f : 1e-3f));
  const std::vector<Literal> arguments{Literal::from(values)};
  const Function program = trace(f, f32({300}));
  const auto want = compile(program, {.optimize = false, .contract = false}).run(arguments);
  for (const bool has_double : {false, true}) {
    const auto got = run_c(program, arguments, {.has_double = has_double});
    for (std::size_t i = 0; i < want.size(); i++)
      EXPECT_EQ(difference(got[i], want[i], kExactly), "") << has_double;
  }
}

TEST_F(InC, CompilesWithEveryCompilerAndAsCpp) {
  const Function program = trace(value_and_grad([](const Plant& p) {
                                   const Plant end = run_plant(p);
                                   return end.left.level * end.right.level + sum(end.valves[1]);
                                 }),
                                 plant_types());
  std::vector<Literal> arguments;
  for (const TensorType& type : program.params()) arguments.push_back(full(type, 0.75f).eval());
  const auto want = compile(program, {.optimize = false, .contract = false}).run(arguments);
  for (const char* compiler : {"gcc", "clang", "g++ -xc++", "clang++ -xc++"}) {
    const std::string name = std::string(compiler).substr(0, std::string(compiler).find(' '));
    if (std::system((name + " --version > /dev/null 2>&1").c_str()) != 0) continue;
    const bool cpp = name.ends_with("++");
    for (const CWorkspace workspace : {CWorkspace::kCaller, CWorkspace::kStatic}) {
      const auto got =
          run_c(program, arguments, {.workspace = workspace}, compiler,
                cpp ? "-O2 -std=c++17" : "-O2 -std=c99 -Wstrict-prototypes -Wmissing-prototypes");
      for (std::size_t i = 0; i < want.size(); i++)
        EXPECT_EQ(difference(got[i], want[i], kExactly), "") << compiler;
    }
  }
}

TEST_F(InC, FunctionsOfTheLibraryAreNearThoseWrittenOut) {
  const Function program = trace(
      [](const Tensor& x) {
        return std::tuple(sin(x), exp(x), tanh(x), atan2(x, x + 1), pow(x, 2.5f));
      },
      f32({64}));
  std::vector<float> values;
  for (int i = 0; i < 64; i++) values.push_back(static_cast<float>(i) / 16.0f);
  const auto exact = run_c(program, {Literal::from(values)}),
             libm = run_c(program, {Literal::from(values)}, {.math = CMath::kLibm});
  for (std::size_t i = 0; i < exact.size(); i++)
    EXPECT_EQ(difference(libm[i], exact[i], {.rtol = 1e-6, .atol = 1e-7}), "");
  EXPECT_THAT(to_c_source(program, {.math = CMath::kLibm}).source,
              AllOf(HasSubstr("tanhf("), HasSubstr("powf("), Not(HasSubstr("fmaf("))));
}

TEST_F(InC, ABrokenPromiseIsAStatus) {
  const Function program = trace(
      [](const Tensor& n) {
        return while_loop([&](const Tensor& i) { return i < n; },
                          [](const Tensor& i) { return i + 1; }, Tensor(0), {.max_trip_count = 5});
      },
      TensorType{DType::kS32, {}});
  EXPECT_EQ(run_c(program, {Literal::scalar(5)})[0].item<int>(), 5);
  EXPECT_THROW(run_c(program, {Literal::scalar(6)}), std::runtime_error);
}

TEST_F(InC, ItsTestMainComparesBits) {
  const Function program = trace([](const Tensor& x) { return cumsum(x * x, 0); }, f32({9}));
  // As the test that the program brings along: gcc compiles it, and it finds no difference.
  CSource c = to_c_source(program, {.name = "squares", .test_main = true});
  EXPECT_EQ(run_test_main(c, "squares"), 0);
  const std::size_t at = c.source.find("wrong += hash != ") + 17;
  c.source[at] = c.source[at] == '1' ? '2' : '1';
  EXPECT_EQ(run_test_main(c, "squares"), 1);
}

TEST(CSource, SaysWhatHasNoFormInC) {
  const TensorType number = f32({});
  const auto message = [](const auto& write) {
    try {
      write();
    } catch (const TraceError& error) {
      return std::string(error.what());
    }
    return std::string("no error");
  };
  EXPECT_THAT(message([&] {
                to_c_source(trace([](const Tensor& x) { return x; }, number), {.name = "a b"});
              }),
              AllOf(HasSubstr("COptions::name is 'a b'"), HasSubstr("letters, digits")));
  EXPECT_THAT(message([&] {
                to_c_source(trace([](const Tensor& x) { return x; }, number), {.name = "while"});
              }),
              HasSubstr("'while'"));
  EXPECT_THAT(
      message([&] { to_c_source(trace([](const Tensor& x) { return tap(x, "x"); }, number)); }),
      AllOf(HasSubstr("tap"), HasSubstr("source_test.cc")));
  EXPECT_THAT(message([&] {
                to_c_source(trace(grad([](const Tensor& x) {
                                    return while_loop(
                                        [](const Tensor& y) { return y < 9; },
                                        [](const Tensor& y) { return y * y + 1; }, x,
                                        {.checkpoint = Checkpoint::tape(), .name = "grow"});
                                  }),
                                  number));
              }),
              AllOf(HasSubstr("'grow'"), HasSubstr("max_trip_count")));
}

}  // namespace
}  // namespace rondo::testing
