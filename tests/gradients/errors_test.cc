// Errors for what cannot be differentiated: which argument or op, where the user called, and the
// remedy.
#include <cmath>

#include "gradients/loops.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

/// "errors_test.cc:LINE".
std::string here(int line) { return "errors_test.cc:" + std::to_string(line); }

struct Pair {
  Tensor x, n;
};

TEST(GradientErrors, AnIntegerArgument) {
  const auto f = [](Tensor n) { return convert(n, DType::kF64) * 2; };
  const auto slope = grad(f);
  const int line = __LINE__ + 1;
  expect_error([&] { (void)slope(3); },
               {"grad", "argument 0", "arg0", "s32[]", here(line), "rondo::convert", "grad<1>"});
  expect_error([&] { (void)slope(true); }, {"grad", "argument 0", "pred[]"});
  expect_error([&] { (void)jit(grad<1>([](Tensor x, Tensor) { return x; }))(1.0, 2); },
               {"grad", "argument 1", "arg1", "s32[]"});
  expect_error([&] { (void)jacfwd(f)(3); }, {"jacfwd", "argument 0", "s32[]", "errors_test.cc"});
  expect_error([&] { (void)jacrev(f)(3); }, {"jacrev", "argument 0", "s32[]", "errors_test.cc"});
  // In a tree all leaves are named.
  expect_error(
      [&] {
        (void)grad([](Pair p) { return convert(p.x, DType::kF64); })(Pair{1, 2});
      },
      {"arg0.x: s32[]", "arg0.n: s32[]"});
}

TEST(GradientErrors, AResultThatIsNoScalar) {
  const auto slope = grad([](Tensor x) { return x * 2; });
  const int line = __LINE__ + 3;
  expect_error(
      [&] {
        (void)slope(row({1, 2}));
      },
      {"grad", "f64[2]", here(line), "rondo::sum", "jacrev", "vjp"});
  expect_error([] { (void)value_and_grad([](Tensor x) { return reshape(x, {1}); })(1.0); },
               {"f64[1]", "errors_test.cc"});
}

TEST(GradientErrors, AResultThatIsNoFloat) {
  const auto slope = grad([](Tensor x) { return convert(x, DType::kS32); });
  const int line = __LINE__ + 1;
  expect_error([&] { (void)slope(1.5); }, {"grad", "s32[]", here(line), "rondo::convert"});
  expect_error([] { (void)grad([](Tensor x) { return x > 0; })(1.5); }, {"grad", "pred[]"});
}

TEST(GradientErrors, ATangentOfAnotherType) {
  const auto f = [](Tensor x, Tensor y) { return x * y; };
  const std::tuple at(row({1, 2}), 3.0), shorter(row({1}), 1.0);
  const int line = __LINE__ + 1;
  const auto wrong_shape = [&] { (void)jvp(f, at, shorter); };
  expect_error(wrong_shape, {"jvp", "tangent", "arg0", "f64[1]", "f64[2]", here(line)});
  const Tensor single = convert(Tensor(1.0), DType::kF32);
  expect_error([&] { (void)jvp(f, std::tuple(1.0, 3.0), std::tuple(1.0, single)); },
               {"jvp", "tangent", "arg1", "f32[]", "f64[]"});
}

TEST(GradientErrors, ACotangentOfAnotherType) {
  const auto pull = vjp([](Tensor x) { return std::pair(x * 2, x[0]); }, row({1, 2})).second;
  const std::pair longer(row({1, 2, 3}), 1.0);
  const int line = __LINE__ + 1;
  expect_error([&] { (void)pull(longer); }, {"vjp", "cotangent", "f64[3]", "f64[2]", here(line)});
  const std::pair single(row({1, 2}), convert(Tensor(1.0), DType::kF32));
  expect_error([&] { (void)pull(single); }, {"vjp", "cotangent", "f32[]", "f64[]"});
}

TEST(GradientErrors, AnotherNumberOfTangents) {
  // The compiler knows how many arguments there are, but not how many leaves a vector has.
  const auto f = [](std::vector<Tensor> xs) { return xs.front() * xs.back(); };
  const std::tuple two(std::vector<Tensor>{1.0, 2.0}), one(std::vector<Tensor>{1.0});
  int line = __LINE__ + 1;
  expect_error([&] { (void)jvp(f, two, one); },
               {"jvp", "2 are meant", "lost: tangent[0][1]", here(line)});
  expect_error([&] { (void)jvp(f, one, two); },
               {"jvp", "2 leaves, 1 are meant", "new: tangent[0][1]"});
  const auto pull = vjp([](Tensor x) { return std::vector<Tensor>{x, x * x}; }, 2.0).second;
  line = __LINE__ + 1;
  expect_error([&] { (void)pull(std::get<0>(one)); },
               {"vjp", "1 leaves, 2 are meant", "lost: cotangent[1]", here(line)});
  expect_error(
      [&] {
        (void)pull(std::vector<Tensor>{1.0, 2.0, 3.0});
      },
      {"vjp", "3 leaves, 2 are meant", "new: cotangent[2]"});
}

TEST(GradientErrors, RulesWithAnotherNumberOfLeaves) {
  using Many = std::vector<Tensor>;
  const auto f = [](Many xs) { return Many{xs[0] * xs[1], xs[0]}; };
  const Many at{1.0, 2.0};
  int line = __LINE__ + 1;
  const auto few_tangents = custom_jvp(f, [&](std::tuple<Many> x, std::tuple<Many>) {
    return std::pair(f(std::get<0>(x)), Many{1.0});
  });
  expect_error([&] { (void)few_tangents(at); },
               {"custom_jvp", "the rule", "1 leaves", "tangent", "2 are meant", here(line)});
  const auto few_results = custom_jvp(f, [&](std::tuple<Many>, std::tuple<Many> dx) {
    return std::pair(Many{1.0}, std::get<0>(dx));
  });
  expect_error([&] { (void)few_results(at); }, {"custom_jvp", "result", "2 are meant"});
  line = __LINE__ + 1;
  const auto few_cotangents = custom_vjp(
      f, [&](Many xs) { return std::pair(f(xs), xs); },
      [](Many, Many ct) { return std::tuple(Many{ct[0]}); });
  expect_error([&] { (void)few_cotangents(at); },
               {"custom_vjp", "bwd", "1 leaves", "cotangent", "2 are meant", here(line)});
  const auto few_from_fwd = custom_vjp(
      f, [&](Many xs) { return std::pair(Many{xs[0]}, xs); },
      [](Many xs, Many) { return std::tuple(xs); });
  expect_error([&] { (void)few_from_fwd(at); }, {"custom_vjp", "fwd", "result", "2 are meant"});
}

TEST(GradientErrors, EmptyTensors) {
  const auto f = [](Tensor x) { return x * x; };
  expect_error([&] { (void)grad(f)(Tensor()); }, {"grad", "empty", "errors_test.cc"});
  expect_error([&] { (void)grad([](Tensor) { return Tensor(); })(1.0); }, {"empty"});
  expect_error([&] { (void)jvp(f, std::tuple(1.0), std::tuple(Tensor())); }, {"jvp", "empty"});
  const auto pull = vjp(f, 1.0).second;
  expect_error([&] { (void)pull(Tensor()); }, {"vjp", "empty"});
}

TEST(GradientErrors, AnOpWithoutADerivative) {
  // A reduction whose combiner sorts: there is no rule for one that uses its slices as wholes.
  const auto least = [](Tensor a, Tensor b) { return sort(stack({a, b}, 0), 0)[0]; };
  const int line = __LINE__ + 1;
  const auto f = [&](Tensor x) { return sum(reduce(x, Tensor(2.0), {0}, least)); };
  const Literal x = Literal::from(std::vector<double>{1, 2, 3, 4}, {2, 2});
  const std::vector<std::string> parts{"reduce", "combiner", "element by element", here(line),
                                       "rondo::scan"};
  expect_scalar(f(x), 3.0);
  expect_error([&] { (void)grad(f)(x); }, parts);
  expect_error([&] { (void)jit(grad(f))(x); }, parts);
  expect_error([&] { (void)jvp(f, std::tuple(x), std::tuple(x)); }, parts);
  // A constant needs none.
  expect_values<double>(grad([&](Tensor x) { return f(stop_gradient(x)) + x[0][1]; })(x), {2, 2},
                        {0, 1, 0, 0});
}

TEST(GradientErrors, ForwardModeThroughACustomVjp) {
  const auto rule =
      custom_vjp([](Tensor x) { return x * x; }, [](Tensor x) { return std::pair(x * x, x); },
                 [](Tensor x, Tensor ct) { return std::tuple(2 * x * ct); });
  const auto f = [&](Tensor x) { return rule(x) * 3; };
  const auto along = [&](Tensor x) { return jvp(f, std::tuple(x), std::tuple(1.0)).second; };
  const std::vector<std::string> parts{"custom_vjp", "forward mode",
                                       "errors_test.cc:", "custom_jvp"};
  expect_error([&] { (void)along(1.5); }, parts);
  expect_error([&] { (void)jacfwd(f)(1.5); }, parts);
  expect_error([&] { (void)grad(along)(1.5); }, parts);
  expect_scalar(grad(f)(1.5), 9.0);
}

TEST(GradientErrors, ARuleOfWrongShapesAndDtypes) {
  const auto square = [](Tensor x) { return x * x; };
  int line = __LINE__ + 1;
  const auto wrong_tangent = custom_jvp(square, [](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
    return std::pair(std::get<0>(x) * std::get<0>(x), sum(std::get<0>(dx)));
  });
  expect_error(
      [&] {
        (void)wrong_tangent(row({1, 2}));
      },
      {"custom_jvp", "the rule", "tangent", "f64[]", "f64[2]", here(line)});
  line = __LINE__ + 1;
  const auto wrong_result = custom_jvp(square, [](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
    return std::pair(convert(std::get<0>(x), DType::kF32), std::get<0>(dx));
  });
  expect_error(
      [&] {
        (void)wrong_result(row({1, 2}));
      },
      {"custom_jvp", "the rule", "result", "f32[2]", "f64[2]", here(line)});
  line = __LINE__ + 1;
  const auto wrong_cotangent = custom_vjp(
      square, [](Tensor x) { return std::pair(x * x, x); },
      [](Tensor x, Tensor ct) { return std::tuple(sum(x * ct)); });
  expect_error(
      [&] {
        (void)wrong_cotangent(row({1, 2}));
      },
      {"custom_vjp", "bwd", "arg0", "f64[]", "f64[2]", here(line)});
  line = __LINE__ + 1;
  const auto wrong_fwd = custom_vjp(
      square, [](Tensor x) { return std::pair(sum(x), x); },
      [](Tensor x, Tensor ct) { return std::tuple(x * ct); });
  expect_error(
      [&] {
        (void)wrong_fwd(row({1, 2}));
      },
      {"custom_vjp", "fwd", "result", "f64[]", "f64[2]", here(line)});
}

TEST(GradientErrors, ARuleThatIsNotLinear) {
  // Forward mode works all the same; reverse mode needs the tangent's factor.
  const auto f = custom_jvp([](Tensor x) { return x * 1; },
                            [](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
                              return std::pair(std::get<0>(x) * 1, sin(std::get<0>(dx)));
                            });
  expect_error([&] { (void)grad(f)(1.5); }, {"sin:", "linear", "errors_test.cc"});
}

TEST(GradientErrors, ARuleWhoseFunctionCapturesWhatIsDifferentiated) {
  const auto through_jvp = [](Tensor w) {
    return custom_jvp([&](Tensor x) { return x * w; },
                      [&](std::tuple<Tensor> x, std::tuple<Tensor> dx) {
                        return std::pair(std::get<0>(x) * w, std::get<0>(dx) * w);
                      })(Tensor(2.0));
  };
  expect_error([&] { (void)grad(through_jvp)(1.5); },
               {"custom_jvp", "captures", "errors_test.cc", "argument", "stop_gradient"});
  const auto through_vjp = [](Tensor w) {
    return custom_vjp([&](Tensor x) { return x * w; },
                      [&](Tensor x) { return std::pair(x * w, std::tuple<>()); },
                      [&](std::tuple<>, Tensor ct) { return std::tuple(ct * w); })(Tensor(2.0));
  };
  expect_error([&] { (void)grad(through_vjp)(1.5); },
               {"custom_vjp", "captures", "errors_test.cc", "argument", "stop_gradient"});
}

TEST(PolicyErrors, NoneRefusesReverseMode) {
  const int line = __LINE__ + 2;
  const auto in_while = [](Tensor x) {
    return while_loop([](Tensor x) { return x < 10; }, [](Tensor x) { return x * 2; }, x,
                      {.checkpoint = Checkpoint::none(), .name = "grow"});
  };
  expect_error([&] { (void)grad(in_while)(1.5); },
               {"while_loop 'grow'", "none()", here(line), "another policy", "jvp"});
  expect_scalar(jvp(in_while, std::tuple(1.5), std::tuple(1.0)).second, 8.0);
  // A loop through which no derivative passes does not need one.
  const auto beside = [&](Tensor x, Tensor y) { return in_while(x) * y; };
  expect_scalar(grad<1>(beside)(1.5, 2.0), 12.0);
}

TEST(PolicyErrors, ATapeOfUnknownLengthHasNoText) {
  const int line = __LINE__ + 2;
  const auto f = [](Tensor x) {
    return while_loop([](Tensor x) { return x < 3; },
                      [](Tensor x) { return x * 1.5 + sin(x) * 0.1; }, x,
                      {.checkpoint = Checkpoint::tape(), .name = "grow"});
  };
  const Function program = trace(grad(f), f64());
  const std::vector<std::string> parts{"loop 'grow'", "tape()", here(line), "max_trip_count",
                                       "Checkpoint::online"};
  expect_error([&] { (void)to_hlo_text(program); }, parts);
  expect_error([&] { (void)to_stablehlo_text(program); }, parts);
  // On the host the tape can grow.
  double x = 1.5, slope = 1;
  while (x < 3) {
    slope *= 1.5 + std::cos(x) * 0.1;
    x = x * 1.5 + std::sin(x) * 0.1;
  }
  expect_close<double>(jit(grad(f))(1.5), {}, {slope}, 1e-13);
}

TEST(PolicyErrors, ForiOfUnknownLength) {
  const auto f = [](Tensor x, Tensor n) {
    return fori_loop(0, n, [](Tensor, Tensor x) { return sin(x); }, x,
                     {.checkpoint = Checkpoint::tape(), .name = "count"});
  };
  expect_error([&] { (void)to_hlo_text(trace(grad(f), f64(), s32())); },
               {"'count'", "tape()", "errors_test.cc", "a fori_loop C++ integers", "online"});
}

TEST(PolicyErrors, SlotsAndPeriodsThatMakeNoSense) {
  for (const Checkpoint policy : {Checkpoint::online(0), Checkpoint::online(-3),
                                  Checkpoint::revolve(0), Checkpoint::online(1'000'000)}) {
    SCOPED_TRACE(policy.slots);
    const auto f = [&](Tensor x) {
      return run_loop(
          LoopKind::kWhile, {3}, [](Tensor, Tensor x) { return sin(x); }, x, policy);
    };
    // At the line of the loop, whether or not it is differentiated.
    expect_error([&] { (void)f(Tensor(1.5)); },
                 {"while_loop 'While'", std::to_string(policy.slots), "loops.h", "1 to"});
  }
  for (const LoopKind kind : {LoopKind::kScan, LoopKind::kFori}) {
    for (const Checkpoint policy : {Checkpoint::periodic(0), Checkpoint::periodic(-2),
                                    Checkpoint::online(0), Checkpoint::revolve(-1)}) {
      SCOPED_TRACE(name_of(kind) + " " + name_of(policy));
      const auto f = [&](Tensor x) {
        return run_loop(
            kind, {3}, [](Tensor, Tensor x) { return sin(x); }, x, policy);
      };
      expect_error([&] { (void)f(Tensor(1.5)); }, {std::to_string(policy.slots), "loops.h"});
    }
  }
}

TEST(GradientErrors, MoreTripsThanCanBeNumbered) {
  const auto endless = [](Tensor x) {
    return fori_loop(0, std::int64_t{1} << 33, [](Tensor, Tensor y) { return sin(y); }, x,
                     {.name = "endless"});
  };
  EXPECT_NO_THROW((void)trace(endless, f64()));
  expect_error([&] { (void)trace(grad(endless), f64()); },
               {"'endless'", "8589934592 trips", "errors_test.cc", "2^31"});
}

}  // namespace
}  // namespace rondo::testing
