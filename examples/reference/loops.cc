// Examples of the reference: loops and branches, trace, jit, compile, native.
#include <array>
#include <cmath>
#include <tuple>
#include <utility>
#include <vector>

#include "example.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

int main() {
  // First, since they print their lines.
  example("trace", [] {
    Function program = trace([](Tensor x, Tensor y) { return x * y + 1; }, f32({3}), f32());
    std::cout << program;
  });
  example("operator<< (transforms)", [] {
    Function program = trace(
        [](Tensor n) {
          return fori_loop(
              0, n, [](Tensor i, Tensor total) { return total + i; }, Tensor(0));
        },
        s32());
    std::cout << program;  // a loop is one node
  });

  example("while_loop", [] {
    struct Newton {
      Tensor x, step;
    };
    Newton root = while_loop([](Newton s) { return abs(s.step) > 1e-12; },
                             [](Newton s) {
                               Tensor step = (s.x * s.x - 2) / (2 * s.x);
                               return Newton{s.x - step, step};
                             },
                             Newton{1.0, 1.0}, {.max_trip_count = 20});
    std::cout << root.x << "\n";
  });
  example("fori_loop", [] {
    Tensor factorial = fori_loop(
        1, 6, [](Tensor i, Tensor product) { return product * i; }, Tensor(1));
    std::cout << factorial << "\n";
    Tensor odd =
        fori_loop(1, 10, [](Tensor i, Tensor total) { return total + i; }, Tensor(0), {.step = 2});
    std::cout << odd << "\n";  // 1 + 3 + 5 + 7 + 9
  });
  example("scan", [] {
    Tensor deposits = constant({100.0, 0.0, 50.0});
    auto [balance, history] = scan(
        [](Tensor balance, Tensor deposit) {
          Tensor next = 0.5 * balance + deposit;  // half is spent
          return std::pair{next, next};
        },
        Tensor(0.0), deposits);
    std::cout << balance << " " << history << "\n";
  });
  example("while_scan", [] {
    auto halvings = while_scan([](Tensor n) { return n > 1; },
                               [](Tensor n) {
                                 Tensor next = where(n % 2 == 0, n / 2, 3 * n + 1);
                                 return std::pair{next, next};
                               },
                               Tensor(6), {.max_trip_count = 10});
    std::cout << halvings.ys << " after " << halvings.count << "\n";
  });
  example("map", [] {
    Tensor rows = constant({{1, 5, 2}, {7, 3, 3}});
    std::cout << rondo::map([](Tensor row) { return max(row) - min(row); }, rows) << "\n";
    auto [low, high] = rondo::map([](Tensor row) { return std::pair{min(row), max(row)}; }, rows);
    std::cout << low << " " << high << "\n";
  });
  example("cond", [] {
    auto root = [](Tensor x) {
      return cond(
          x >= 0, [](Tensor x) { return sqrt(x); }, [](Tensor x) { return -sqrt(-x); }, x);
    };
    std::cout << root(9.0f) << " " << root(-4.0f) << "\n";
  });
  example("switch_case", [] {
    auto area = [](Tensor shape, Tensor size) {
      return switch_case(shape,
                         std::tuple([](Tensor r) { return M_PI * r * r; },  // a circle
                                    [](Tensor a) { return a * a; },         // a square
                                    [](Tensor a) { return std::sqrt(3) / 4 * a * a; }),
                         size);
    };
    std::cout << area(1, 2.0) << " " << area(99, 2.0) << "\n";  // 99: the last one
  });
  example("associative_scan", [] {
    // x[i] = a[i] x[i-1] + b[i] for all i: the composition of affine functions is associative.
    using Affine = std::pair<Tensor, Tensor>;
    auto [a, x] = associative_scan(
        [](Affine f, Affine g) {
          return Affine{f.first * g.first, g.first * f.second + g.second};
        },
        Affine{constant({2.0, 2.0, 0.5}), constant({1.0, 1.0, 1.0})});
    std::cout << x << "\n";
  });

  example("jit", [] {
    auto norm = jit([](Tensor x) { return sqrt(sum(x * x)); }, {.max_iterations = 1000});
    std::cout << norm(constant({3.0f, 4.0f})) << "\n";     // traces and compiles
    std::cout << norm(constant({5.0f, 12.0f})) << "\n";    // runs the program again
    std::cout << norm(constant({1.0, 2.0, 2.0})) << "\n";  // another type: another program
  });
  example("compile_as", [] {
    struct Ball {
      Tensor height, speed;
    };
    auto step = compile_as(
        [](Ball b, Tensor dt) {
          return Ball{b.height + dt * b.speed, b.speed - 9.81 * dt};
        },
        Ball{0.0, 0.0}, f64());  // the types of the arguments, by value or as types
    auto next = step(Ball{10.0, 0.0}, 0.1);
    std::cout << next.height << " " << next.speed << "\n";
  });
  example("function_of", [] {
    Function program = trace([](Tensor x) { return square(x) + 1; }, f64());  // or load_program
    auto f = function_of(program);
    Tensor slope = grad([&](Tensor x) { return f(x)[0]; })(3.0);
    std::cout << f(3.0)[0] << " " << slope << "\n";
  });
  example("executable_cache, clear_executable_cache, limit_executable_cache", [] {
    limit_executable_cache(64 << 20);  // bytes
    clear_executable_cache();
    auto twice = jit([](Tensor x) { return 2 * x; });
    (void)twice(1.0f).eval();
    (void)twice(2.0f).eval();
    std::cout << executable_cache().executables << " program\n";
  });

  example("native", [] {
    auto hypotenuse =
        native<float(float, float)>([](Tensor a, Tensor b) { return sqrt(a * a + b * b); });
    float c = hypotenuse(3, 4);
    auto rotated =
        native<std::array<double, 2>(std::array<double, 2>, double)>([](Tensor p, Tensor angle) {
          return matmul(matrix({{cos(angle), -sin(angle)}, {sin(angle), cos(angle)}}), p);
        });
    auto [x, y] = rotated({1, 0}, M_PI / 6);
    std::cout << c << ", " << x << ", " << y << "\n";
  });
}
