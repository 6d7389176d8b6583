// Every checkpoint policy of every loop, over many bodies and trip counts, against the gradient of
// the plain C++ loop; and the latter against finite differences.
#include <algorithm>
#include <cmath>
#include <memory>
#include <ostream>

#include "gradients/loops.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

/// A body with a captured weight, and the initial carry, both computed from parameters.
struct Program {
  const char* name;
  std::function<Carry(const Tensor& x)> init;
  std::function<Carry(const Tensor& w, const Tensor& i, const Carry& carry)> body;
};

void PrintTo(const Program& program, std::ostream* out) { *out << program.name; }

Carry one_carry(const Tensor& x) { return {x}; }

Tensor as_double(const Tensor& x) { return convert(x, DType::kF64); }

Carry linear(const Tensor& w, const Tensor& i, const Carry& c) {
  const Tensor turn = constant({{0.8, -0.6, 0.0}, {0.6, 0.8, 0.01}, {0.0, -0.01, 0.99}});
  return {dot(turn, c[0]) + w[1] * 0.1 + as_double(i) * 0.01};
}

Carry nonlinear(const Tensor& w, const Tensor& i, const Carry& c) {
  const Tensor &x = c[0], rolled = concatenate({slice(x, {1}, {3}), slice(x, {0}, {1})}, 0);
  return {x + 0.1 * sin(x * rolled + w[0]) - 0.02 * x * square(x) + 0.001 * as_double(i)};
}

Carry several_init(const Tensor& x) { return {x, square(x) + 1, Tensor(7), Tensor(false), x[0]}; }
Carry several(const Tensor& w, const Tensor& i, const Carry& c) {
  const Tensor &p = c[0], &q = c[1];
  return {where(c[3], p + 0.1 * q, p * 0.99), q - 0.1 * sin(p) * w[2], c[2] + i % 3, !c[3],
          c[4] + as_double(c[2]) * 0.001 * sum(p)};
}

Carry captured(const Tensor& w, const Tensor&, const Carry& c) {
  return {tanh(dot(w, c[0]) + w[0])};
}

Carry array_init(const Tensor& x) { return {concatenate({x, cos(x)}, 0), sum(x)}; }
Carry array(const Tensor& w, const Tensor& i, const Carry& c) {
  const Tensor& v = c[0];
  const Tensor next = 0.7 * v[i % 6] + sin(v[(i + 1) % 6] * w[i % 3][0]);
  const Tensor pair = dynamic_slice(v, {(i * 2) % 5}, {2});
  return {dynamic_update_slice(update(v, i % 6, next), pair * 1.05 - c[1] * 0.1, {(i * 2) % 5}),
          c[1] * 0.9 + 0.1 * next};
}

Carry inner_loop(const Tensor& w, const Tensor& i, const Carry& c) {
  // None, one or two trips of a loop of unknown length, and two of one of known length.
  const auto [j, x] =
      while_loop([&](Tensor j, Tensor) { return j < i % 3; },
                 [&](Tensor j, Tensor x) { return std::tuple(j + 1, x - 0.1 * sin(x) * w[j]); },
                 std::tuple(Tensor(0), c[0]));
  return {fori_loop(
      0, 2, [&](Tensor k, Tensor x) { return x * 0.97 + 0.05 * cos(x + w[k]); }, x)};
}

Carry branches(const Tensor& w, const Tensor& i, const Carry& c) {
  const Tensor x = cond(
      i % 3 == 0, [&](Tensor x) { return 0.95 * x + 0.1 * w[0] * x; },
      [&](Tensor x) { return sin(x) + 0.3 * cos(w[1]); }, c[0]);
  return {switch_case(
      clamp(0, convert(floor(sum(x) * 2), DType::kS32), 2),
      std::tuple([&](Tensor x) { return x * 1.01; }, [&](Tensor x) { return tanh(x * w[2]) + x; },
                 [](Tensor x) { return x - 0.1; }),
      x)};
}

const Program kPrograms[] = {{"Linear", one_carry, linear},
                             {"Nonlinear", one_carry, nonlinear},
                             {"SeveralCarries", several_init, several},
                             {"CapturedWeights", one_carry, captured},
                             {"ArrayInPlace", array_init, array},
                             {"InnerLoop", one_carry, inner_loop},
                             {"Branches", one_carry, branches}};

/// A number that depends on all differentiable leaves of the last carry.
Tensor loss_of(const Carry& end) {
  Tensor loss = Tensor(0.0);
  for (const Tensor& leaf : end) {
    if (leaf.dtype() != DType::kF64) continue;
    const Tensor flat = reshape(leaf, {-1});
    loss += sum(cos(flat) * (1 + convert(arange(flat.dim(0)), DType::kF64)));
  }
  return loss;
}

Tensor loss(const Program& program, LoopKind kind, const Trips& trips, Checkpoint policy,
            const Tensor& x, const Tensor& w) {
  return loss_of(run_loop(
      kind, trips, [&](const Tensor& i, const Carry& carry) { return program.body(w, i, carry); },
      program.init(x), policy));
}

// N = 4 slots suffice for W trips if each is used once.
constexpr int kSlots = 4, kReach = kSlots * (kSlots + 3) / 2;
constexpr int kTripCounts[] = {0, 1, 2, kSlots, kReach, kReach + 1, 10 * kReach};

const std::vector<double> kX{0.4, -0.9, 1.3};
const std::vector<double> kW{0.5, -0.3, 0.2, 0.7, 0.6, -0.4, -0.1, 0.8, 0.3};

Tensor x_of(const std::vector<double>& values) { return Literal::from(values, {3}); }
Tensor w_of(const std::vector<double>& values) { return Literal::from(values, {3, 3}); }

/// Both gradients, one number after the other.
std::vector<double> slope_numbers(const std::tuple<Tensor, Tensor>& slopes) {
  std::vector<double> all;
  for (const Tensor& slope : {std::get<0>(slopes), std::get<1>(slopes)}) {
    const Literal value = slope.eval();
    all.insert(all.end(), value.data<double>().begin(), value.data<double>().end());
  }
  return all;
}

void expect_near(const std::vector<double>& got, const std::vector<double>& want,
                 double tolerance) {
  ASSERT_EQ(got.size(), want.size());
  double largest = 0;
  for (const double number : want) largest = std::max(largest, std::abs(number));
  for (std::size_t i = 0; i < want.size(); i++)
    EXPECT_NEAR(got[i], want[i], tolerance * (largest + 1e-2)) << "number " << i;
}

std::vector<double> unrolled_gradient(const Program& program, int n) {
  const auto f = [&](Tensor x, Tensor w) {
    return loss(program, LoopKind::kUnrolled, {n}, {}, x, w);
  };
  return slope_numbers(jit(grad<0, 1>(f))(x_of(kX), w_of(kW)));
}

class UnrolledGradient : public ::testing::TestWithParam<Program> {};

TEST_P(UnrolledGradient, EqualsFiniteDifferences) {
  for (const int n : kTripCounts) {
    SCOPED_TRACE(n);
    const auto value = jit(
        [&](Tensor x, Tensor w) { return loss(GetParam(), LoopKind::kUnrolled, {n}, {}, x, w); });
    const auto slope_along = [&](std::size_t i) {
      constexpr double kStep = 1e-6;
      double ends[2];
      for (const int side : {0, 1}) {
        std::vector<double> x = kX, w = kW;
        (i < x.size() ? x[i] : w[i - x.size()]) += side ? kStep : -kStep;
        ends[side] = value(x_of(x), w_of(w)).template item<double>();
      }
      return (ends[1] - ends[0]) / (2 * kStep);
    };
    std::vector<double> slopes;
    for (std::size_t i = 0; i < kX.size() + kW.size(); i++) slopes.push_back(slope_along(i));
    expect_near(unrolled_gradient(GetParam(), n), slopes, 1e-7);
  }
}

INSTANTIATE_TEST_SUITE_P(Bodies, UnrolledGradient, ::testing::ValuesIn(kPrograms),
                         [](const auto& info) { return std::string(info.param.name); });

class PolicyGradient : public ::testing::TestWithParam<std::tuple<Program, LoopKind>> {
 protected:
  const Program& program() const { return std::get<0>(GetParam()); }
  LoopKind kind() const { return std::get<1>(GetParam()); }
};

TEST_P(PolicyGradient, EqualsThatOfTheUnrolledLoop) {
  std::vector<std::vector<double>> expected;
  for (const int n : kTripCounts) expected.push_back(unrolled_gradient(program(), n));
  for (const Checkpoint policy : kPolicies) {
    int known = 0;
    const auto f = [&](Tensor x, Tensor w, Tensor n) {
      return loss(program(), kind(), {known, n, kTripCounts[std::size(kTripCounts) - 1]}, policy, x,
                  w);
    };
    const auto slopes = jit(grad<0, 1>(f));
    for (std::size_t k = 0; k < expected.size(); k++) {
      known = kTripCounts[k];
      SCOPED_TRACE(name_of(policy) + ", " + std::to_string(known) + " trips");
      // A loop of known length needs a separate program for each.
      const std::vector<double> got =
          has_known_length(kind()) ? slope_numbers(jit(grad<0, 1>(f))(x_of(kX), w_of(kW), known))
                                   : slope_numbers(slopes(x_of(kX), w_of(kW), known));
      expect_near(got, expected[k], 1e-11);
    }
  }
}

TEST_P(PolicyGradient, IsRefusedByNone) {
  const auto f = [&](Tensor x, Tensor w) {
    return loss(program(), kind(), {3, Tensor(3)}, Checkpoint::none(), x, w);
  };
  expect_error([&] { (void)grad(f)(x_of(kX), w_of(kW)); },
               {name_of(kind()), "none()", "at loops.h:", "another policy"});
  // Forward mode needs no checkpoints.
  const auto along = [&](LoopKind of, Checkpoint policy) {
    return jvp(
               [&](Tensor x) {
                 return loss(program(), of, {3, Tensor(3)}, policy, x, w_of(kW));
               },
               std::tuple(x_of(kX)), std::tuple(x_of({1.0, -2.0, 0.5})))
        .second;
  };
  EXPECT_NEAR(along(kind(), Checkpoint::none()).item<double>(),
              along(LoopKind::kUnrolled, {}).item<double>(), 1e-12);
}

INSTANTIATE_TEST_SUITE_P(Grid, PolicyGradient,
                         ::testing::Combine(::testing::ValuesIn(kPrograms),
                                            ::testing::ValuesIn(kLoops)),
                         [](const auto& info) {
                           return std::string(std::get<0>(info.param).name) + "In" +
                                  name_of(std::get<1>(info.param));
                         });

}  // namespace
}  // namespace rondo::testing
