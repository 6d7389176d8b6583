// Lesson 17: the derivative of a fixed point, by a custom rule.
//
// z = tanh(W z + b) is solved by iteration. Reverse mode can pass backwards through every trip, but
// the solution does not depend on the iteration. From z = g(z, p) follows dz/dp = (1 - dg/dz)^-1
// dg/dp: the cotangent of z solves another fixed-point equation, u = z_bar + (dg/dz)^T u, and
// nothing of the first iteration needs to be kept. custom_vjp expresses this.
#include <cstdio>
#include <iostream>
#include <tuple>
#include <utility>
#include <vector>

#include "rondo/rondo.h"

using rondo::Tensor;

constexpr std::int64_t kSize = 32;

/// x = g(x) from x0, until it converges.
template <class G>
Tensor fixed_point(const G& g, const Tensor& x0, const char* name) {
  struct Pair {
    Tensor now, next;
  };
  auto moves = [](Pair x) { return max(abs(x.next - x.now)) > 1e-12; };
  auto trip = [&](Pair x) { return Pair{x.next, g(x.next)}; };
  return rondo::while_loop(moves, trip, Pair{x0, g(x0)}, {.name = name}).next;
}

Tensor layer(Tensor w, Tensor b, Tensor z) { return tanh(dot(w, z) + b); }

Tensor solve(Tensor w, Tensor b) {
  return fixed_point([&](Tensor z) { return layer(w, b, z); }, rondo::zeros(rondo::f64({kSize})),
                     "solve");
}

int main() {
  // fwd returns the result and what bwd will need; bwd gets that and the cotangent of the result,
  // and returns a cotangent for each argument.
  auto fwd = [](Tensor w, Tensor b) {
    const Tensor z = solve(w, b);
    return std::pair(z, std::tuple(w, b, z));
  };
  auto bwd = [](std::tuple<Tensor, Tensor, Tensor> kept, Tensor z_bar) {
    auto [w, b, z] = kept;
    auto [same, pull] = rondo::vjp(layer, w, b, z);
    auto adjoint = [&, &pull = pull](Tensor u) { return z_bar + std::get<2>(pull(u)); };
    auto [w_bar, b_bar, rest] = pull(fixed_point(adjoint, z_bar, "adjoint"));
    return std::tuple(w_bar, b_bar);
  };
  const auto equilibrium = rondo::custom_vjp(solve, fwd, bwd);

  const Tensor w = 0.1 * rondo::random::normal(rondo::random::key(1), rondo::f64({kSize, kSize}));
  const Tensor b = rondo::random::normal(rondo::random::key(2), rondo::f64({kSize}));
  auto loss_of = [](auto solver) {
    return [solver](Tensor w, Tensor b) { return sum(square(solver(w, b))); };
  };
  auto through_loop = loss_of(solve);
  auto by_rule = loss_of(equilibrium);

  // The trips of the loops show the cost of each gradient.
  auto gradient = [&](const char* name, const auto& loss) {
    const rondo::Executable run = rondo::compile(rondo::trace(rondo::grad<0, 1>(loss), w, b));
    std::vector<rondo::Literal> both = run.run({w.eval(), b.eval()});
    std::printf("%s", name);
    for (const rondo::LoopStats& loop : run.stats().loops) {
      // The checkpointing loops make no trips: a tape suffices for so few.
      if (loop.trips > 0) std::printf("  %s %d", loop.name.c_str(), static_cast<int>(loop.trips));
    }
    std::printf("\n");
    return both;
  };
  const auto slow = gradient("through the loop:", through_loop);
  const auto fast = gradient("by the rule:     ", by_rule);
  for (std::size_t i : {0u, 1u}) {
    const Tensor difference = max(abs(Tensor(slow[i]) - Tensor(fast[i])));
    std::printf("by argument %zu they agree to 1e-10: %s\n", i,
                difference.item<double>() < 1e-10 ? "yes" : "no");
  }

  // A difference of the loss itself, in the direction of W, agrees with both.
  const double h = 1e-6;
  const Tensor slope = (through_loop(w * (1 + h), b) - through_loop(w * (1 - h), b)) / (2 * h);
  std::printf("along W: by difference %.6f, by the rule %.6f\n", slope.item<double>(),
              sum(Tensor(fast[0]) * w).item<double>());

  // The rule works in reverse mode only. (custom_jvp gives one for both modes.)
  try {
    (void)rondo::jvp(equilibrium, std::tuple(w, b), std::tuple(w, b));
  } catch (const rondo::TraceError& error) {
    std::cout << error.what() << "\n";
  }
}
