// Gradients of random programs, under every checkpoint policy and on all executors, compared with
// forward mode. Limits that end no run change no bit of them.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "base/for_dtype.h"
#include "gradients/loops.h"
#include "support/compare.h"
#include "support/far_limits.h"
#include "support/program.h"

namespace rondo::testing {
namespace {

ProgramSize size_with(Checkpoint policy) {
  return {.statements = 5, .region_statements = 3, .depth = 2, .dangers = 40, .checkpoint = policy};
}

Function traced_gradient(const Program& program) {
  return trace([&](const std::vector<Tensor>& arguments) { return program.gradient(arguments); },
               program.params());
}

double sum_of_products(const Literal& a, const Literal& b) {
  return for_dtype(a.dtype(), [&]<class T>() {
    double total = 0;
    if constexpr (is_floating(dtype_of<T>)) {
      for (std::size_t i = 0; i < a.data<T>().size(); i++)
        total += static_cast<double>(a.data<T>()[i]) * static_cast<double>(b.data<T>()[i]);
    }
    return total;
  });
}

/// The slope of the loss along a direction by forward mode, compared with the gradient's.
void expect_slope(const Program& program, const std::vector<Literal>& arguments,
                  const std::vector<Literal>& gradient, std::uint64_t seed) {
  std::vector<Tensor> primals, tangents;
  double want = 0, size = 0;
  std::size_t next = 0;
  const std::vector<Literal> direction = program.arguments(seed);
  for (std::size_t i = 0; i < arguments.size(); i++) {
    primals.emplace_back(arguments[i]);
    if (!is_floating(arguments[i].dtype())) {
      tangents.push_back(zeros(arguments[i].type()));
      continue;
    }
    tangents.emplace_back(direction[i]);
    want += sum_of_products(gradient[next], direction[i]);
    size += std::sqrt(sum_of_products(gradient[next], gradient[next]) *
                      sum_of_products(direction[i], direction[i]));
    next++;
  }
  const auto loss = [&](const std::vector<Tensor>& x) { return program.loss(x); };
  const double slope = jvp(loss, std::tuple(primals), std::tuple(tangents)).second.item<double>();
  if (std::isfinite(want) && std::isfinite(slope)) {
    EXPECT_NEAR(slope, want, 2e-3 * size + 1e-4);
  }
}

bool is_zero(const Literal& x) { return sum_of_products(x, x) == 0; }

/// Whether the gradient is anything but zero.
bool expect_agreement_of_policies(std::uint64_t seed) {
  SCOPED_TRACE("random program of seed " + std::to_string(seed));
  std::vector<Literal> want;
  const FarLimits limits;
  std::uint64_t limits_from = seed;
  try {
    for (const Checkpoint policy : kPolicies) {
      SCOPED_TRACE(name_of(policy));
      const Program program = Program::random(seed, size_with(policy));
      const std::vector<Literal> arguments = program.arguments(seed);
      const Function f = traced_gradient(program);
      if (want.empty()) {
        want = compile(f, {.optimize = false, .executor = Executor::kReference}).run(arguments);
        if (std::all_of(want.begin(), want.end(), is_zero)) return false;
        // Sums of halves are rounded to a hundredth.
        if (f.str().find("f16[") == std::string::npos)
          expect_slope(program, arguments, want, seed + 1);
      }
      for (const Executor executor :
           {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
        SCOPED_TRACE(::testing::Message() << "executor " << static_cast<int>(executor));
        const Executable executable = compile(f, {.executor = executor});
        const std::vector<Literal> got = executable.run(arguments);
        EXPECT_EQ(difference(got, want, {.rtol = 1e-3, .atol = 2e-4}), "");
        const auto kinds = static_cast<unsigned>(1 + limits_from++ % FarLimits::kAll);
        EXPECT_EQ(difference(executable.run(arguments, limits.options(kinds)), got, kExactly), "")
            << "with " << FarLimits::name(kinds);
      }
    }
  } catch (const std::exception& error) {
    ADD_FAILURE() << error.what();
  }
  return true;
}

class RandomGradients : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomGradients, AgreeUnderAllPoliciesOnAllExecutors) {
  // Programs whose gradient is zero do not count.
  constexpr int kPrograms = 4;
  int compared = 0;
  for (std::uint64_t seed = GetParam() * 1000; compared < kPrograms; seed++) {
    compared += expect_agreement_of_policies(seed);
    if (HasFailure()) return;
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomGradients, ::testing::Range<std::uint64_t>(0, 8));

}  // namespace
}  // namespace rondo::testing
