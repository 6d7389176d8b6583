// RunOptions::check_finite.
#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

std::string failure_of_values(const Executable& program, const std::vector<Literal>& arguments) {
  try {
    program.run(arguments, {.check_finite = true});
  } catch (const ExecutionError& error) {
    return error.what();
  }
  return "";
}

TEST(CheckFinite, NamesTheOpTheTripTheOperandsAndTheLine) {
  int line = 0;
  const auto body = [&](Tensor, Tensor y) {
    line = __LINE__ + 1;
    return sqrt(y - 1);
  };
  const Function f =
      trace([&](Tensor x) { return fori_loop(0, 5, body, x, {.name = "roots"}); }, f32());
  for (const Executor executor : {Executor::kReference, Executor::kBytecode}) {
    const Executable program = compile(f, {.executor = executor});
    // 3.0625, 1.436..., 0.660..., then the root of a negative number.
    const std::string message = failure_of_values(program, {Literal::scalar(3.0625f)});
    float y = 3.0625f;
    int trips = 0;
    while (!std::isnan(y)) y = std::sqrt(y - 1), trips++;
    EXPECT_NE(message.find("sqrt"), std::string::npos) << message;
    EXPECT_NE(message.find("NaN"), std::string::npos) << message;
    EXPECT_NE(message.find("'roots'"), std::string::npos) << message;
    EXPECT_NE(message.find("trip " + std::to_string(trips)), std::string::npos) << message;
    EXPECT_NE(message.find("check_finite_test.cc:" + std::to_string(line)), std::string::npos)
        << message;
    EXPECT_NE(message.find("operand 0: f32[] -0."), std::string::npos)
        << "the operand: " << message;
    EXPECT_EQ(failure_of_values(program, {Literal::scalar(1e30f)}), "");
  }
}

TEST(CheckFinite, NamesAnArgumentThatIsNotFinite) {
  const Function f = trace([](Tensor x, Tensor y) { return x + y; }, f32(), f32({3}));
  const std::string message = failure_of_values(
      compile(f), {Literal::scalar(1.f), Literal::from<float>({1, INFINITY, 2}, {3})});
  EXPECT_NE(message.find("argument 1"), std::string::npos) << message;
  EXPECT_NE(message.find("element 1"), std::string::npos) << message;
}

TEST(CheckFinite, AnInfinityThatAProgramAsksForIsNone) {
  const Function f = trace([](Tensor x) { return max(where(x > 0, x, -INFINITY)); }, f32({3}));
  EXPECT_EQ(failure_of_values(compile(f), {Literal::from<float>({1, -2, 3}, {3})}), "");
}

}  // namespace
}  // namespace rondo::testing
