// check_grads: what it accepts, what it detects, and what it reports.
#include <gtest/gtest.h>

#include <cmath>
#include <complex>
#include <limits>
#include <map>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "ir/derivative.h"
#include "support/expect.h"

namespace rondo {
namespace {

using namespace testing;

const CheckGradsOptions kForward{.modes = {"fwd"}};
const CheckGradsOptions kReverse{.modes = {"rev"}};
const CheckGradsOptions kSecond{.order = 2};

Literal row(std::vector<double> values) { return Literal::from(values); }

std::string here(int line) { return "check_grads_test.cc:" + std::to_string(line); }

/// The report of a failed check; "" if it passes.
template <class Check>
std::string failure_of(Check&& check) {
  try {
    check();
  } catch (const TraceError& error) {
    ADD_FAILURE() << "the check was not made: " << error.what();
  } catch (const Error& error) {
    return error.what();
  }
  return "";
}

void expect_parts(const std::string& text, const std::vector<std::string>& parts) {
  for (const std::string& part : parts)
    EXPECT_NE(text.find(part), std::string::npos) << "'" << part << "' is not in: " << text;
}

/// The number that follows a name in a message.
double number_after(const std::string& text, const std::string& name) {
  const std::size_t place = text.find(name);
  if (place != std::string::npos) return std::stod(text.substr(place + name.size()));
  ADD_FAILURE() << "'" << name << "' is not in: " << text;
  return 0;
}

/// sin, with a rule that gives `slope` as its slope.
template <class Slope>
auto sin_with(Slope slope) {
  return custom_jvp([](Tensor x) { return sin(x); },
                    [slope](auto primals, auto tangents) {
                      const Tensor x = std::get<0>(primals);
                      return std::pair(sin(x), slope(x) * std::get<0>(tangents));
                    });
}
auto wrong_sin() {
  return sin_with([](Tensor x) { return -cos(x); });
}

/// tanh(w x), with a rule that gives the cotangent of w times `factors`.
auto layer_with(Literal factors) {
  return custom_vjp([](Tensor w, Tensor x) { return tanh(matmul(w, x)); },
                    [](Tensor w, Tensor x) {
                      const Tensor y = tanh(matmul(w, x));
                      return std::pair(y, std::tuple(w, x, y));
                    },
                    [factors](auto kept, Tensor ct) {
                      const auto [w, x, y] = kept;
                      const Tensor inner = ct * (1 - y * y);
                      const Tensor column = reshape(inner, {inner.shape()[0], 1});
                      return std::tuple(column * x * constant(factors), matmul(inner, w));
                    });
}

struct Weights {
  Tensor w, b;
};
struct Report {
  Tensor energy;
  Tensor steps;
  std::map<std::string, Tensor> parts;
};

/// A struct, a vector and a count in; floats and an integer out.
Report report(const Weights& weights, const std::vector<Tensor>& x, const Tensor& count) {
  const Tensor y = tanh(matmul(weights.w, x[0]) + weights.b);
  return {y * x[1], count + 1, {{"size", sum(y * y)}, {"turned", exp(y) / x[1]}}};
}

const Weights kWeights{constant(Literal::from<double>({0.3, -0.2, 0.7, 1.1, 0.4, -0.6}, {2, 3})),
                       constant({0.1, -0.3})};
const std::vector<Tensor> kX{constant({0.5, -1.2, 2.0}), constant({1.5, -0.5})};

TEST(CheckGrads, PassesTrees) {
  EXPECT_NO_THROW(check_grads(report, std::tuple(kWeights, kX, 3), {.order = 2}));
  EXPECT_NO_THROW(check_grads(report, std::tuple(kWeights, kX, 3), kForward));
  EXPECT_NO_THROW(check_grads(report, std::tuple(kWeights, kX, 3), kReverse));
  EXPECT_NO_THROW(check_grads([](Tensor x) { return x * x; }, std::tuple(0.5), {.order = 3}));
  EXPECT_NO_THROW(check_grads([](Tensor x) { return sum(x); }, std::tuple(row({}))));
}

TEST(CheckGrads, PassesLoops) {
  const auto newton = [](Tensor x) {
    return while_loop([&](Tensor y) { return abs(y * y - x) > 1e-13; },
                      [&](Tensor y) { return (y + x / y) * 0.5; }, x + 1);
  };
  EXPECT_NO_THROW(check_grads(newton, std::tuple(2.0), kSecond));
  const auto network = [](Tensor state, Tensor xs) {
    return scan(
        [](Tensor s, Tensor x) {
          const Tensor next = tanh(s + x * s);
          return std::pair(next, next * x);
        },
        state, xs);
  };
  EXPECT_NO_THROW(check_grads(network, std::tuple(0.3, row({0.4, -1, 2})), kSecond));
  const auto swing = [](std::pair<Tensor, Tensor> start) {
    return fori_loop(
        0, 5,
        [](Tensor, std::pair<Tensor, Tensor> s) {
          return std::pair(s.first + 0.1 * s.second, s.second - 0.1 * sin(s.first));
        },
        start);
  };
  EXPECT_NO_THROW(
      check_grads(swing, std::make_tuple(std::pair(Tensor(0.3), Tensor(-1.0))), kSecond));
}

TEST(CheckGrads, PassesEveryFloatOfEnoughDigits) {
  const auto f = [](Tensor x, Tensor y) { return sum(exp(x * y) / (1 + x * x)) + sin(x); };
  const auto with = [&](DType dtype) {
    return std::tuple(convert(row({0.7, -1.2, 2}), dtype), convert(row({0.4, 0.3, -0.9}), dtype));
  };
  for (const DType dtype : {DType::kF64, DType::kC128, DType::kF32, DType::kC64}) {
    SCOPED_TRACE(dtype_name(dtype));
    EXPECT_NO_THROW(check_grads(f, with(dtype), kSecond));
    EXPECT_NO_THROW(check_grads(f, with(dtype), {.order = 2, .modes = {"rev"}}));
  }
  // Steep at small values: the rounding of the arguments shows, not that of the results.
  const auto steep = [](Tensor x) { return sin(x * 20); };
  for (const float x : {0.157f, 0.314f, 0.628f}) EXPECT_NO_THROW(check_grads(steep, std::tuple(x)));
  const auto of_size = [](Tensor z) { return abs(z) * real(z); };
  EXPECT_NO_THROW(check_grads(of_size, std::tuple(std::complex<double>(3e4, -4e4)), kSecond));
}

TEST(CheckGrads, PassesWhereFirstDerivativesVanish) {
  const auto cube = [](Tensor x) { return x * x * x; };
  EXPECT_NO_THROW(check_grads(cube, std::tuple(0.0), kSecond));
  EXPECT_NO_THROW(check_grads(cube, std::tuple(0.0f), kSecond));
  EXPECT_NO_THROW(check_grads([](Tensor x) { return floor(x); }, std::tuple(0.5), kSecond));
}

TEST(CheckGrads, AllowsForRoundingOnly) {
  // With 1e6 added, differences have five digits of the slope.
  const auto beside = [](auto f) { return [f](Tensor x) { return 1e6 + f(x); }; };
  const auto right = [](Tensor x) { return sin(x); };
  for (std::uint64_t seed = 1; seed <= 20; seed++) {
    EXPECT_EQ(failure_of([&] { check_grads(beside(right), std::tuple(0.5), {.seed = seed}); }), "");
    EXPECT_NE(
        failure_of([&] { check_grads(beside(wrong_sin()), std::tuple(0.5), {.seed = seed}); }), "");
  }
  // Large arguments are moved by more than their rounding.
  const auto slow = [](auto f) { return [f](Tensor x) { return f(x * 1e-6f); }; };
  EXPECT_EQ(failure_of([&] { check_grads(slow(right), std::tuple(2e6f)); }), "");
  EXPECT_NE(failure_of([&] { check_grads(slow(wrong_sin()), std::tuple(2e6f)); }), "");
}

TEST(CheckGrads, PassesTheMeanSlopeAtTies) {
  const auto top = [](Tensor x, Tensor y) { return maximum(x, y); };
  EXPECT_NO_THROW(check_grads(top, std::tuple(1.0, 1.0)));
}

TEST(CheckGrads, PassesRightRules) {
  EXPECT_NO_THROW(check_grads(sin_with([](Tensor x) { return cos(x); }), std::tuple(row({1, 2})),
                              {.order = 3}));
  const auto layer = layer_with(Literal::from<double>({1, 1, 1, 1, 1, 1}, {2, 3}));
  EXPECT_NO_THROW(
      check_grads(layer, std::tuple(kWeights.w, kX[0]), {.order = 2, .modes = {"rev"}}));
}

TEST(CheckGrads, HoldsCapturesFixed) {
  const Tensor captured = constant({2.0, 3.0});
  EXPECT_NO_THROW(
      check_grads([&](Tensor x) { return captured * x * x; }, std::tuple(row({1, 2})), kSecond));
}

TEST(CheckGrads, WorksEagerly) {
  const EagerScope eager;
  EXPECT_NO_THROW(check_grads(report, std::tuple(kWeights, kX, 3), {.order = 2}));
  EXPECT_NE(failure_of([] { check_grads(wrong_sin(), std::tuple(0.5)); }), "");
}

TEST(CheckGrads, FindsAWrongTangent) {
  const std::string rule = here(__LINE__ + 1);
  const auto bad = custom_jvp([](Tensor x) { return sin(x); },
                              [](auto primals, auto tangents) {
                                const Tensor x = std::get<0>(primals);
                                return std::pair(sin(x), -cos(x) * std::get<0>(tangents));
                              });
  const auto f = [&](const Weights& s, Tensor free) {
    const Tensor y = stack({free * s.w, bad(s.b[1]) * 3 + s.w}, 0);
    return Report{y, 7, {{"free", exp(free)}}};
  };
  const Weights at{Tensor(2.0), constant({0.1, 0.25})};
  const std::string line = here(__LINE__ + 1);
  const std::string text = failure_of([&] { check_grads(f, std::tuple(at, 0.5)); });
  expect_parts(text,
               {"check_grads: the tangent of f: result.energy[1] differs from the central "
                "difference\n  tangent             ",
                "\n  central difference  ", "\n  difference          ", " is allowed\n",
                "\n  of the leaf's 2 numbers 1 differs\n", "\n  seen with a move of arg0.b alone\n",
                "\n  order 1, mode \"fwd\", step 6.06e-06, seed 1\n  at " + line + "\n",
                "Look at what f puts in place of derivatives: custom_jvp at " + rule + "."});
}

TEST(CheckGrads, NamesTheLineOfItsUser) {
  try {
    check_grads(wrong_sin(), std::tuple(0.5));
    ADD_FAILURE() << "nothing was thrown";
  } catch (const Error& error) {
    EXPECT_EQ(error.location().str(), here(__LINE__ - 3));
  }
}

TEST(CheckGrads, SaysTheSlopesThatItFound) {
  // For one argument below 1 the tangent is the direction times the slope.
  const std::string text = failure_of([] { check_grads(wrong_sin(), std::tuple(0.5)); });
  const double tangent = number_after(text, "\n  tangent ");
  const double difference = number_after(text, "\n  central difference ");
  EXPECT_NEAR(tangent, -difference, 1e-9);
  EXPECT_LE(std::abs(tangent), std::cos(0.5));
  EXPECT_NEAR(number_after(text, "\n  difference "), tangent - difference, 5e-3);
  EXPECT_EQ(text.find("seen with"), std::string::npos) << text;  // there is only one argument
  // Another seed, another direction.
  const std::string other =
      failure_of([] { check_grads(wrong_sin(), std::tuple(0.5), {.seed = 2}); });
  expect_parts(other, {"seed 2"});
  EXPECT_NE(number_after(other, "\n  tangent "), tangent);
  // The step is the user's.
  const std::string far =
      failure_of([] { check_grads(wrong_sin(), std::tuple(0.5), {.step = 0.5}); });
  expect_parts(far, {"step 0.5,"});
  EXPECT_GT(std::abs(number_after(far, "\n  central difference ") - difference), 1e-6);
}

TEST(CheckGrads, IsAsSharpAsItsTolerance) {
  const auto off_by = [](double part) {
    return sin_with([part](Tensor x) { return cos(x) * (1 + part); });
  };
  const std::tuple at(row({0.3, 1, -0.4}));
  EXPECT_NE(failure_of([&] { check_grads(off_by(3e-6), at); }), "");
  EXPECT_EQ(failure_of([&] { check_grads(off_by(3e-8), at); }), "");
  EXPECT_NE(failure_of([&] { check_grads(off_by(3e-8), at, {.tolerance = 1e-9}); }), "");
  EXPECT_EQ(failure_of([&] { check_grads(off_by(3e-6), at, {.tolerance = 1e-4}); }), "");
  const std::tuple narrow(convert(row({0.3, 1, -0.4}), DType::kF32));
  const std::string text = failure_of([&] { check_grads(off_by(2e-2), narrow); });
  expect_parts(text, {"step 0.00492", "In f32 and c64 differences have few digits"});
  // A large or infinite number added to the function does not hide it.
  const auto beside = [&](double constant) {
    return [&, constant](Tensor x) { return stack({off_by(1e-3)(x), x * 0 + constant}, 0); };
  };
  EXPECT_NE(failure_of([&] { check_grads(beside(1e3), std::tuple(0.3)); }), "");
  const double infinity = std::numeric_limits<double>::infinity();
  EXPECT_NE(failure_of([&] { check_grads(beside(infinity), std::tuple(0.3)); }), "");
  const auto masked = [&](Tensor x) { return stack({sin(x), where(x > 1, x, -infinity)}, 0); };
  EXPECT_EQ(failure_of([&] { check_grads(masked, std::tuple(0.3)); }), "");
}

TEST(CheckGrads, FindsAWrongPullback) {
  const auto bad = [layer = layer_with(Literal::from<double>({1, 1, 1, 1, 1, -2}, {2, 3}))](
                       const Weights& s, Tensor x) {
    return Report{layer(s.w, x), 1, {{"b", s.b * s.b}, {"x", exp(x)}}};
  };
  const std::string line = here(__LINE__ + 2);
  const std::string text =
      failure_of([&] { check_grads(bad, std::tuple(kWeights, kX[0]), kReverse); });
  expect_parts(text, {"check_grads: the pullback of f: arg0.w[1, 2] differs from the central "
                      "difference\n  pullback            ",
                      "\n  central difference  ", "\n  difference          ",
                      "\n  along a direction   ", "\n  it should be        ", " is allowed\n",
                      "\n  seen with the cotangent of result.energy alone\n",
                      "\n  order 1, mode \"rev\", step 6.06e-06, seed 1\n  at " + line + "\n",
                      "Look at what f puts in place of derivatives: custom_vjp at "});
  EXPECT_EQ(text.find("Forward mode is right"), std::string::npos) << text;
  EXPECT_NEAR(number_after(text, "\n  pullback "),
              -2 * number_after(text, "\n  central difference "), 1e-8);
  // Forward mode cannot use the rule, and the error says what can.
  expect_error([&] { check_grads(bad, std::tuple(kWeights, kX[0])); },
               {"custom_vjp", "cannot be differentiated in forward mode"});
}

/// 2 x, whose transpose gives 3 times its cotangent.
Tensor doubled(const Tensor& x) {
  static const ir::OpDef kDoubled{.name = "doubled",
                                  .arity = 1,
                                  .types = {.infer =
                                                [](const ir::InferContext& context) {
                                                  return ir::InferredTypes{context.type(0)};
                                                }},
                                  .expansion = {.rule =
                                                    [](const ir::Node&, std::span<const Tensor> x) {
                                                      return std::vector<Tensor>{x[0] * 2};
                                                    }},
                                  .derivative = {.linear = ir::Linear::kJointly,
                                                 .transpose = [](const ir::TransposeCall& call) {
                                                   return std::vector<Tensor>{call.ct() * 3};
                                                 }}};
  return ir::make(kDoubled, {x}, {}, SourceLocation::current());
}

TEST(CheckGrads, FindsAPullbackThatIsNotTheTangents) {
  const auto f = [](Tensor x, Tensor y) { return std::pair(x * sin(y), real(y * doubled(x))); };
  const std::complex<double> i(0, 1);
  const std::tuple at(Literal::from<std::complex<double>>({1.0 + i, 2.0 - i}), row({0.5, 0.25}));
  const auto mixed = [&](Tensor z, Tensor y) { return f(z, convert(y, DType::kC128)); };
  const std::string text = failure_of([&] { check_grads(mixed, at); });
  expect_parts(text,
               {"check_grads: the pullback of f: arg0[", "] (",
                " part) differs from the "
                "tangent\n  pullback            ",
                "\n  tangent             ", "\n  seen with the cotangent of result[1] alone\n",
                "\n  order 1, mode \"rev\", seed 1\n",
                "f brings no rule of its own. Check its parts one by one"});
  // Only reverse mode detects it, and at first order only through the pullback.
  EXPECT_EQ(failure_of([&] { check_grads(mixed, at, kForward); }), "");
  expect_parts(failure_of([&] { check_grads(mixed, at, kReverse); }),
               {"differs from the central difference", "mode \"rev\", step"});
}

TEST(CheckGrads, FindsTheOneOfManyNumbers) {
  std::vector<double> factors(5000, 1.0), weights(5000);
  factors[3123] = 1.2;
  for (std::size_t i = 0; i < weights.size(); i++) weights[i] = std::sin(static_cast<double>(i));
  const auto f = layer_with(Literal::from(factors, {2, 2500}));
  const std::string text = failure_of([&] {
    check_grads(f, std::tuple(Literal::from(weights, {2, 2500}), row(std::vector(2500, 0.01))),
                kReverse);
  });
  expect_parts(text, {"the pullback of f: arg0[1, 623] differs"});
}

TEST(CheckGrads, NamesTheWorstOfSeveralNumbers) {
  const auto f = sin_with([](Tensor x) { return cos(x) * constant({1.001, 3.0, 1.0, 1.002}); });
  expect_parts(failure_of([&] {
                 check_grads(f, std::tuple(row({0.1, 0.2, 0.3, 0.4})));
               }),
               {"the tangent of f: result[1] differs",
                "of the leaf's 4 numbers 3 differ, this one the most"});
}

TEST(CheckGrads, FindsWrongSecondDerivatives) {
  const auto first_only = sin_with([](Tensor x) { return stop_gradient(cos(x)); });
  EXPECT_EQ(failure_of([&] { check_grads(first_only, std::tuple(0.5)); }), "");
  expect_parts(failure_of([&] { check_grads(first_only, std::tuple(0.5), kSecond); }),
               {"check_grads: the tangent of the tangent of f: result differs",
                "\n  order 2, modes \"fwd\" over \"fwd\", step",
                "custom_jvp at check_grads_test.cc:", "stop_gradient at check_grads_test.cc:"});
  expect_parts(
      failure_of([&] { check_grads(first_only, std::tuple(0.5), {.order = 2, .modes = {"rev"}}); }),
      {"check_grads: the pullback of the pullback of f: arg0 differs",
       "\n  order 2, modes \"rev\" over \"rev\", step"});
  // The rule's slope is right, and so is its tangent; its transpose is not.
  const auto mixed = sin_with([](Tensor x) { return doubled(cos(x) / 2); });
  EXPECT_EQ(failure_of([&] { check_grads(mixed, std::tuple(0.5)); }), "");
  EXPECT_EQ(
      failure_of([&] { check_grads(mixed, std::tuple(0.5), {.order = 2, .modes = {"fwd"}}); }), "");
  expect_parts(failure_of([&] { check_grads(mixed, std::tuple(0.5), kSecond); }),
               {"check_grads: the pullback of the tangent of f: arg0 differs from the tangent",
                "\n  order 2, modes \"rev\" over \"fwd\", seed",
                "Forward mode is right here: the fault is in what goes backwards."});
}

TEST(CheckGrads, SpeaksOfKinksAndJumps) {
  const auto relu = [](Tensor x) { return where(x > 0, x * 3, 0.0); };
  const std::string text = failure_of([&] {
    check_grads(relu, std::tuple(row({1.0, 0.0})), kForward);
  });
  expect_parts(text, {"the tangent of f: result[1] differs", "The slope is ",
                      " on one side of the point and ", "f has a kink or a jump there",
                      "maximum, minimum, abs", "at ties"});
  expect_parts(failure_of([&] {
                 check_grads(relu, std::tuple(row({1.0, 0.0})), kReverse);
               }),
               {"the pullback of f: arg0[1] differs", " on the other: f has a kink"});
  const auto jump = [](Tensor x) { return x + floor(x); };
  expect_parts(failure_of([&] { check_grads(jump, std::tuple(2.0)); }), {"a kink or a jump there"});
  // A wrong slope where the function is flat is no kink.
  const auto level = sin_with([](Tensor x) { return x * 0 + 1; });
  const double half_pi = std::acos(-1.0) / 2;
  const std::string flat = failure_of([&] { check_grads(level, std::tuple(half_pi)); });
  expect_parts(flat, {"custom_jvp at"});
  EXPECT_EQ(flat.find("kink"), std::string::npos) << flat;
}

TEST(CheckGrads, SpeaksOfGuards) {
  const auto unguarded = [](Tensor x) { return where(x > 0, sqrt(x), 0.0); };
  expect_parts(failure_of([&] {
                 check_grads(unguarded, std::tuple(row({2.0, -1.0})));
               }),
               {"the pullback of f: arg0[1] differs from the tangent\n"
                "  pullback            nan\n  tangent             0\n",
                "0 * inf = nan", "where(p, log(where(p, x, 1)), b)"});
  const auto guarded = [](Tensor x) { return where(x > 0, sqrt(where(x > 0, x, 1.0)), 0.0); };
  EXPECT_EQ(failure_of([&] { check_grads(guarded, std::tuple(row({2.0, -1.0})), kSecond); }), "");
  expect_parts(failure_of([&] { check_grads([](Tensor x) { return sqrt(x); }, std::tuple(0.0)); }),
               {"f is not finite around the point. Check inside of its domain"});
}

TEST(CheckGrads, RefusesWhatItCannotCheck) {
  const auto square = [](Tensor x) { return x * x; };
  const std::string line = here(__LINE__ + 2);
  const auto misspelt = [&] {
    check_grads(square, std::tuple(0.5), {.modes = {"fwd", "reverse"}});
  };
  expect_error(misspelt, {"check_grads: there is no mode \"reverse\"\n  at " + line + "\n",
                          "The modes are \"fwd\" (jvp against differences) and \"rev\" (vjp"});
  expect_error([&] { check_grads(square, std::tuple(0.5), {.modes = {}}); },
               {"no mode is asked for", "The modes are \"fwd\""});
  expect_error([&] { check_grads(square, std::tuple(0.5), {.order = 0}); },
               {"the order is 0", "Give 1 or more."});
  expect_error([&] { check_grads(square, std::tuple(0.5), {.step = -1e-3}); },
               {"the step is -0.001", "Give a positive number"});
  expect_error([&] { check_grads(square, std::tuple(0.5), {.tolerance = std::nan("")}); },
               {"the tolerance is nan"});

  expect_error([&] { check_grads(square, std::tuple(3)); },
               {"there is nothing to differentiate: no argument is a float or complex tensor\n"
                "  arg0: s32[]\n  at check_grads_test.cc:",
                "Pass floats: 2.0, not 2"});
  expect_error([] { check_grads([] { return Tensor(1.0); }, std::tuple()); },
               {"no argument is a float or complex tensor"});
  expect_error([] { check_grads([](Tensor x) { return x > 0; }, std::tuple(1.0)); },
               {"no result is a float or complex tensor\n  result: pred[]"});
  for (const DType dtype : {DType::kF16, DType::kBF16}) {
    const Weights at{constant({1.0}), convert(row({1}), dtype)};
    const std::string type(dtype_name(dtype));
    expect_error([&] { check_grads([](const Weights& s) { return s.w; }, std::tuple(at)); },
                 {"check_grads: arg0.b is " + type + "[1], which has too few digits",
                  "rondo::convert(x, DType::kF64)"});
    expect_error([&] { check_grads([&](Tensor x) { return convert(x, dtype); }, std::tuple(1.0)); },
                 {"check_grads: result is " + type + "[]"});
  }
  expect_error([] { check_grads([](Tensor x, Tensor) { return x; }, std::tuple(1.0, Tensor())); },
               {"check_grads"});
  expect_error(
      [&] {
        trace(
            [&](Tensor x) {
              check_grads(square, std::tuple(x));
              return x;
            },
            f64());
      },
      {"check_grads: inside of a trace the arguments have no values", "outside of traced"});
}

}  // namespace
}  // namespace rondo
