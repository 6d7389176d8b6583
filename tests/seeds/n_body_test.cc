// The n-body problem and the spectral norm of the Computer Language Benchmarks Game.
#include <array>
#include <cmath>
#include <numbers>

#include "seeds/ways.h"

namespace rondo {
namespace {

using testing::each_way;
using testing::Eager;
using testing::expect_close;
using testing::whiles_in;

using Values = std::vector<Literal>;

template <class T>
struct Vector {
  T x, y, z;
};
template <class T>
struct Body {
  Vector<T> position, velocity;
  double mass = 0;
};

constexpr double kSolarMass = 4 * std::numbers::pi * std::numbers::pi;
constexpr double kYear = 365.24;  // days

Body<double> planet(Vector<double> position, Vector<double> per_day, double solar_masses) {
  return {position,
          {per_day.x * kYear, per_day.y * kYear, per_day.z * kYear},
          solar_masses * kSolarMass};
}

/// The Sun and the four great planets, with total momentum zero.
std::array<Body<double>, 5> solar_system() {
  std::array<Body<double>, 5> bodies = {
      Body<double>{{0, 0, 0}, {0, 0, 0}, kSolarMass},
      planet({4.84143144246472090e+00, -1.16032004402742839e+00, -1.03622044471123109e-01},
             {1.66007664274403694e-03, 7.69901118419740425e-03, -6.90460016972063023e-05},
             9.54791938424326609e-04),
      planet({8.34336671824457987e+00, 4.12479856412430479e+00, -4.03523417114321381e-01},
             {-2.76742510726411510e-03, 4.99852801234917238e-03, 2.30417297573763929e-05},
             2.85885980666130812e-04),
      planet({1.28943695621391310e+01, -1.51111514016986312e+01, -2.23307578892655734e-01},
             {2.96460137564761618e-03, 2.37847173959480950e-03, -2.96589568540237556e-05},
             4.36624404335156298e-05),
      planet({1.53796971148509165e+01, -2.59193146099879641e+01, 1.79258772950371181e-01},
             {2.68067772490389322e-03, 1.62824170038242295e-03, -9.51592254519715870e-05},
             5.15138902046611451e-05)};
  Vector<double>& sun = bodies[0].velocity;
  for (std::size_t i = 1; i < 5; i++) {
    sun.x -= bodies[i].velocity.x * bodies[i].mass / kSolarMass;
    sun.y -= bodies[i].velocity.y * bodies[i].mass / kSolarMass;
    sun.z -= bodies[i].velocity.z * bodies[i].mass / kSolarMass;
  }
  return bodies;
}

/// The benchmark's two functions, in numbers or in scalar tensors: pairs in a plain C++ loop.
template <class T>
void advance(std::array<Body<T>, 5>& bodies) {
  using std::sqrt;
  const double dt = 0.01;
  for (std::size_t i = 0; i < 5; i++) {
    for (std::size_t j = i + 1; j < 5; j++) {
      Body<T>&a = bodies[i], &b = bodies[j];
      const T x = a.position.x - b.position.x, y = a.position.y - b.position.y,
              z = a.position.z - b.position.z;
      const T squared = x * x + y * y + z * z;
      const T pull = dt / (squared * sqrt(squared));
      const T on_a = b.mass * pull, on_b = a.mass * pull;
      a.velocity.x -= x * on_a;
      a.velocity.y -= y * on_a;
      a.velocity.z -= z * on_a;
      b.velocity.x += x * on_b;
      b.velocity.y += y * on_b;
      b.velocity.z += z * on_b;
    }
  }
  for (Body<T>& b : bodies) {
    b.position.x += dt * b.velocity.x;
    b.position.y += dt * b.velocity.y;
    b.position.z += dt * b.velocity.z;
  }
}

template <class T>
T energy(const std::array<Body<T>, 5>& bodies) {
  using std::sqrt;
  T total = 0.0;
  for (std::size_t i = 0; i < 5; i++) {
    const Vector<T>& v = bodies[i].velocity;
    total += 0.5 * bodies[i].mass * (v.x * v.x + v.y * v.y + v.z * v.z);
    for (std::size_t j = i + 1; j < 5; j++) {
      const Vector<T>&p = bodies[i].position, &q = bodies[j].position;
      const T x = p.x - q.x, y = p.y - q.y, z = p.z - q.z;
      total -= bodies[i].mass * bodies[j].mass / sqrt(x * x + y * y + z * z);
    }
  }
  return total;
}

/// What the loop carries: the masses stay C++ numbers.
struct Moving {
  Vector<Tensor> position, velocity;
};
using System = std::array<Moving, 5>;

std::array<Body<Tensor>, 5> with_masses(const System& moving) {
  std::array<Body<Tensor>, 5> bodies;
  for (std::size_t i = 0; i < 5; i++)
    bodies[i] = {moving[i].position, moving[i].velocity, solar_system()[i].mass};
  return bodies;
}

std::pair<Tensor, Tensor> energies(System start, Tensor steps) {
  const System end = fori_loop(0, steps,
                               [](Tensor, System moving) {
                                 std::array<Body<Tensor>, 5> bodies = with_masses(moving);
                                 advance(bodies);
                                 for (std::size_t i = 0; i < 5; i++)
                                   moving[i] = {bodies[i].position, bodies[i].velocity};
                                 return moving;
                               },
                               start, {.name = "orbit"});
  return {energy(with_masses(start)), energy(with_masses(end))};
}

System start_of_the_system() {
  System start;
  for (std::size_t i = 0; i < 5; i++) {
    const Body<double> b = solar_system()[i];
    start[i] = {{b.position.x, b.position.y, b.position.z},
                {b.velocity.x, b.velocity.y, b.velocity.z}};
  }
  return start;
}

TEST(SeedNBody, EnergyBeforeAndAfter1000Steps) {
  each_way(
      Eager::kNo,
      [](const Values& v) {
        EXPECT_NEAR(v.at(0).item<double>(), -0.169075164, 0.5e-9);
        EXPECT_NEAR(v.at(1).item<double>(), -0.169087605, 0.5e-9);
      },
      energies, start_of_the_system(), 1000);
}

TEST(SeedNBody, FewStepsInEveryWay) {
  std::array<Body<double>, 5> bodies = solar_system();
  const double before = energy(bodies);
  for (int i = 0; i < 5; i++) advance(bodies);
  const double after = energy(bodies);
  each_way(
      Eager::kYes,
      [&](const Values& v) {
        EXPECT_NEAR(v.at(0).item<double>(), before, 1e-15);
        EXPECT_NEAR(v.at(1).item<double>(), after, 1e-15);
      },
      energies, start_of_the_system(), 5);
}

TEST(SeedNBody, IsOneWhile) {
  const Function f = trace(energies, start_of_the_system(), s32());
  EXPECT_EQ(whiles_in(to_hlo_text(f)), 1);
}

/// The norm by ten trips of the power method. The matrix is never created: each row of a product is
/// one trip of a map.
auto spectral_norm(int n) {
  return [n](Tensor trips) {
    auto a = [](Tensor i, Tensor j) { return 1 / ((i + j) * (i + j + 1) / 2 + i + 1); };
    const Tensor all = arange(n, DType::kF64);
    auto times = [&](Tensor x) { return map([&](Tensor i) { return sum(a(i, all) * x); }, all); };
    auto transposed = [&](Tensor x) {
      return map([&](Tensor j) { return sum(a(all, j) * x); }, all);
    };
    auto [u, v] = fori_loop(
        0, trips,
        [&](Tensor, Tensor u, Tensor) {
          const Tensor v = transposed(times(u));
          return std::tuple(transposed(times(v)), v);
        },
        std::tuple(ones(f64({n})), ones(f64({n}))));
    return sqrt(sum(u * v) / sum(v * v));
  };
}

TEST(SeedSpectralNorm, Of100Rows) {
  each_way(
      Eager::kNo, [](const Values& v) { EXPECT_NEAR(v.at(0).item<double>(), 1.274219991, 0.5e-9); },
      spectral_norm(100), 10);
}

TEST(SeedSpectralNorm, FewTripsInEveryWay) {
  // In plain C++.
  const std::size_t n = 5;
  auto product = [&](const std::vector<double>& x, bool transposed) {
    std::vector<double> y(n);
    for (std::size_t i = 0; i < n; i++) {
      for (std::size_t j = 0; j < n; j++) {
        const std::size_t row = transposed ? j : i, column = transposed ? i : j;
        y[i] += x[j] / static_cast<double>((row + column) * (row + column + 1) / 2 + row + 1);
      }
    }
    return y;
  };
  std::vector<double> u(n, 1), v;
  for (int trip = 0; trip < 2; trip++) {
    v = product(product(u, false), true);
    u = product(product(v, false), true);
  }
  double uv = 0, vv = 0;
  for (std::size_t i = 0; i < n; i++) {
    uv += u[i] * v[i];
    vv += v[i] * v[i];
  }
  each_way(
      Eager::kYes,
      [&](const Values& values) {
        expect_close<double>(values.at(0), {}, {std::sqrt(uv / vv)}, 1e-14);
      },
      spectral_norm(5), 2);
}

}  // namespace
}  // namespace rondo
