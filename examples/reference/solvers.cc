// Examples of the reference: solvers, numerical analysis.
#include <cmath>

#include "example.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

int main() {
  example("minimize", [] {
    auto rosenbrock = [](Tensor x) { return square(1 - x[0]) + 100 * square(x[1] - square(x[0])); };
    auto best = minimize(rosenbrock, constant({-1.2, 1.0}));
    std::cout << convert(best.x, DType::kF32) << " " << best.converged << "\n";
    // The minimum of (x - p)^2 + x^2 is p / 2, so its derivative by p is 1/2.
    auto at = [](Tensor p) {
      return minimize([&](Tensor x) { return square(x - p) + square(x); }, 0.0).x;
    };
    std::cout << grad(at)(3.0) << "\n";
  });
  example("least_squares", [] {
    struct Decay {
      Tensor scale, rate;
    };
    Tensor t = constant({0.0, 1.0, 2.0, 3.0}), y = 2 * exp(-0.5 * t);
    auto fit =
        least_squares([&](Decay d) { return d.scale * exp(-d.rate * t) - y; }, Decay{1.0, 1.0});
    std::cout << convert(fit.x.scale, DType::kF32) << " " << convert(fit.x.rate, DType::kF32)
              << "\n";
  });
  example("find_root", [] {
    auto kepler = [](Tensor mean_anomaly) {  // of an orbit of eccentricity 0.5
      return find_root([&](Tensor e) { return e - 0.5 * sin(e) - mean_anomaly; }, mean_anomaly).x;
    };
    std::cout << kepler(M_PI / 2 - 0.5) << "\n";        // pi / 2
    std::cout << grad(kepler)(M_PI / 2 - 0.5) << "\n";  // 1 / (1 - 0.5 cos e)
    auto root = find_root([](Tensor x) { return x * x * x - 8; }, 0.0,
                          {.method = RootFinder::kBisection, .bracket = {0.0, 5.0}});
    std::cout << root.x << " " << root.converged << "\n";
  });
  example("fixed_point", [] {
    auto point = fixed_point([](Tensor x) { return cos(x); }, 1.0);
    std::cout << point.x << " " << point.converged << "\n";
  });
  example("conjugate_gradient", [] {
    Tensor b = constant({1.0, 0.0, 1.0});
    auto laplace = [](Tensor x) {  // 2 x[i] - x[i-1] - x[i+1]
      Tensor padded = pad(x, 0, {1}, {1});
      return 2 * x - slice(padded, range(0, -2)) - slice(padded, range(2));
    };
    auto found = conjugate_gradient(laplace, b);
    std::cout << convert(found.x, DType::kF32) << " " << found.converged << "\n";
  });
  example("gmres", [] {
    Tensor a = constant({{2.0, 1.0}, {-1.0, 1.0}});
    auto found = gmres([&](Tensor x) { return matmul(a, x); }, constant({4.0, 1.0}));
    std::cout << convert(found.x, DType::kF32) << " " << found.converged << "\n";
  });
  example("odeint", [] {
    struct Ball {
      Tensor height, speed;
    };
    auto fall = odeint(
        [](Ball b, Tensor) {
          return Ball{b.speed, full(f64(), -9.81)};
        },
        Ball{10.0, 0.0}, linspace(0.0, 2.0, 5, DType::kF64),
        {.event = [](const Ball& b, const Tensor&) { return b.height - 1; }});
    std::cout << convert(fall.ys.height, DType::kF32) << "\n";  // 1 from the event on
    std::cout << fall.event_time << "\n";                       // sqrt(2 * 9 / 9.81)
  });

  example("gradient", [] {
    Tensor t = linspace(0.0, 2.0, 5, DType::kF64);
    std::cout << gradient(t * t, 0.5) << "\n";  // 2 t within, one-sided at the ends
    std::cout << gradient(constant({0.0, 1.0, 9.0}), constant({0.0, 1.0, 3.0})) << "\n";
  });
  example("trapezoid, cumulative_trapezoid", [] {
    Tensor x = linspace(0.0, M_PI, 101, DType::kF64);
    std::cout << trapezoid(sin(x), x) << "\n";  // nearly 2
    std::cout << cumulative_trapezoid(constant({0.0, 2.0, 4.0}), 0.5) << "\n";
  });
  example("convolve, correlate", [] {
    Tensor a = constant({1, 2, 3}), v = constant({0, 1, 2});
    std::cout << convolve(a, v) << "\n";
    std::cout << convolve(a, v, "same") << " " << convolve(a, v, "valid") << "\n";
    std::cout << correlate(a, v) << " " << correlate(a, v, "full") << "\n";
  });
  example("polyval, polyfit", [] {
    Tensor x = constant({0.0, 1.0, 2.0, 3.0});
    Tensor y = polyval(constant({1.0, -2.0, 3.0}), x);  // x^2 - 2 x + 3
    std::cout << y << "\n";
    std::cout << convert(polyfit(x, y, 2), DType::kF32) << "\n";
  });
}
