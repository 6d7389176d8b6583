// Lesson 19: nonlinear least squares. The Jacobian by forward mode, inside the while that uses it.
//
// The data set Misra1a of the NIST Statistical Reference Datasets: volume y against pressure x in a
// study of adsorption (D. Misra, 1978), y = b1 (1 - exp(-b2 x)). It has two starting points, and
// values that are certified to eleven digits.
#include <cstdio>
#include <utility>

#include "rondo/rondo.h"

using rondo::Tensor;

/// The residuals; b is (b1, b2).
Tensor residuals(Tensor b) {
  const Tensor y = rondo::constant({10.07, 14.73, 17.94, 23.93, 29.61, 35.18, 40.02, 44.82, 50.76,
                                    55.05, 61.01, 66.40, 75.47, 81.78});
  const Tensor x = rondo::constant({77.6, 114.9, 141.1, 190.8, 239.9, 289.0, 332.8, 378.4, 434.8,
                                    477.3, 536.8, 593.1, 689.1, 760.0});
  return y + b[0] * expm1(-b[1] * x);
}

struct Fit {
  Tensor b, sum;   // the sum of squared residuals at b
  Tensor damping;  // Marquardt's lambda
  Tensor change;   // of the last step, relative to b
  Tensor steps;
};

/// (J'J + lambda diag(J'J)) step = -J'r (D. Marquardt, 1963). A step that increases the sum is
/// rejected; the next one is shorter.
Fit improve(const Fit& f) {
  const Tensor r = residuals(f.b);
  const Tensor jacobian = rondo::jacfwd(residuals)(f.b);  // f64[14,2]
  const Tensor normal = matmul(transpose(jacobian), jacobian);
  const Tensor g = dot(r, jacobian);
  const Tensor stretch = 1 + f.damping;
  const Tensor a = normal[0][0] * stretch, m = normal[0][1], c = normal[1][1] * stretch;
  const Tensor step = rondo::stack({m * g[1] - c * g[0], m * g[0] - a * g[1]}, 0) / (a * c - m * m);
  const Tensor next = f.b + step, sum_next = sum(square(residuals(next)));
  const Tensor better = sum_next < f.sum * (1 + 1e-12);  // at the end the sums differ by rounding
  return Fit{where(better, next, f.b), where(better, sum_next, f.sum),
             where(better, f.damping / 3, f.damping * 2), max(abs(step / f.b)), f.steps + 1};
}

int main() {
  auto fit = rondo::jit([](Tensor start) {
    auto moves = [](Fit f) { return (f.change > 1e-10) & (f.steps < 500); };
    const Fit first{start, sum(square(residuals(start))), 1e-3, 1.0, 0};
    return rondo::while_loop(moves, improve, first, {.name = "fit"});
  });
  // The standard deviations of the parameters: from the diagonal of s^2 (J'J)^-1.
  auto spread = rondo::jit([](Tensor b, Tensor sum) {
    const Tensor jacobian = rondo::jacfwd(residuals)(b);
    const Tensor normal = matmul(transpose(jacobian), jacobian);
    const Tensor det = normal[0][0] * normal[1][1] - square(normal[0][1]);
    return sqrt(sum / 12 * rondo::stack({normal[1][1], normal[0][0]}, 0) / det);
  });

  std::printf("from           steps  b1            b2                residual sum\n");
  Tensor b, deviation;
  for (auto [b1, b2] : {std::pair(500.0, 1e-4), std::pair(250.0, 5e-4)}) {
    const Fit end = fit(rondo::constant({b1, b2}));
    b = end.b;
    deviation = spread(end.b, end.sum);
    std::printf("(%.0f, %.0e)  %6d  %.8f  %.10e  %.11f\n", b1, b2, end.steps.item<int>(),
                b[0].item<double>(), b[1].item<double>(), end.sum.item<double>());
  }
  std::printf("certified              238.94212918  5.5015643181e-04  0.12455138894\n\n");
  std::printf("deviation              %.8f    %.10e\n", deviation[0].item<double>(),
              deviation[1].item<double>());
  std::printf("certified              2.70700752    7.2668688436e-06\n");
}
