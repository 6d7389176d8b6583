// Loops that overwrite an array in parts: what their gradients keep, and their values.
#include <cmath>
#include <cstdint>
#include <functional>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "gradients/loops.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

Literal first_numbers(int count) {
  std::vector<double> all;
  for (int k = 0; k < count; k++) all.push_back(0.8 * std::sin(3.7 * k + 1));
  return Literal::from(all, {count});
}

/// A trip that needs the whole array, and overwrites an element.
Tensor one_element(const Tensor& i, const Tensor& x) {
  const int n = static_cast<int>(x.shape()[0]);
  return update(x, i % n, sin(at(x, {(i + 1) % n})) + 0.1 * sum(x * x));
}

/// Bytes that the loop of a name keeps; -1 if there is none.
std::int64_t bytes_kept(const Function& gradient, const std::string& loop) {
  for (const LoopResiduals& plan : compile(gradient).memory_plan()) {
    if (plan.loop == loop) return plan.bytes;
  }
  return -1;
}

TEST(Overwritten, AnElementIsKeptAndNotTheArray) {
  const auto bytes = [](LoopKind kind, int trips, int size) {
    const auto f = [=](Tensor x) {
      const Trips count{.known = trips, .given = {}, .promised = trips};
      return sum(square(run_loop(kind, count, one_element, x, Checkpoint::tape())));
    };
    return bytes_kept(trace(grad(f), f64({size})), name_of(kind));
  };
  for (const LoopKind kind : {LoopKind::kFori, LoopKind::kScan})
    EXPECT_EQ(bytes(kind, 20, 50), 20 * 8) << name_of(kind);
  // A while has a counter among its carries, which its backward pass reads.
  for (const LoopKind kind : kLoops) {
    SCOPED_TRACE(name_of(kind));
    EXPECT_LE(bytes(kind, 20, 50), 20 * (8 + 4));
    EXPECT_EQ(bytes(kind, 20, 5000), bytes(kind, 20, 50));
    if (kind != LoopKind::kWhile && kind != LoopKind::kDynamicFori) {
      EXPECT_EQ(bytes(kind, 60, 50), 3 * bytes(kind, 20, 50));
    }
  }
}

TEST(Overwritten, AnArrayThatIsOnlyWrittenKeepsNothing) {
  const auto f = [](Tensor x) {
    return sum(fori_loop(0, 20, [&](Tensor i, Tensor y) { return update(y, i, at(x, {i}) * 2); },
                         x * x, {.name = "loop"}));
  };
  EXPECT_EQ(bytes_kept(trace(grad(f), f64({20})), "loop"), -1);
}

TEST(Overwritten, ElementsThatAreReadAreKeptWhereThatIsLess) {
  // One element is read and one overwritten: keeping what was read undoes nothing.
  const auto f = [](Tensor x) {
    return sum(fori_loop(0, 19,
                         [](Tensor i, Tensor x) { return update(x, i + 1, sin(at(x, {i}))); }, x,
                         {.name = "loop"}));
  };
  const Function gradient = trace(grad(f), f64({20}));
  EXPECT_EQ(bytes_kept(gradient, "loop"), 19 * 8);
}

// ---- values ----

struct Body {
  std::string name;
  std::function<Tensor(const Tensor& i, const Tensor& x)> trip;  // of nine elements
};

/// Each needs the whole array at some point.
std::vector<Body> bodies() {
  const auto rest = [](const Tensor& x) { return 0.1 * sum(x * x); };
  const auto part = [](const Tensor& x, const Tensor& start, int size) {
    return dynamic_slice(x, {start}, {size});
  };
  return {
      {"one element",
       [=](const Tensor& i, const Tensor& x) {
         return update(x, i % 9, sin(at(x, {(i * 2) % 9})) + rest(x));
       }},
      {"two elements",
       [=](const Tensor& i, const Tensor& x) {
         const Tensor y = update(x, i % 9, cos(at(x, {(i + 4) % 9})) + rest(x));
         return update(y, (i * 5) % 9, 0.9 * at(y, {i % 9}) * at(y, {(i * 2) % 9}));
       }},
      {"the same element twice, and all of it between",
       [=](const Tensor& i, const Tensor& x) {
         const Tensor y = update(x, i % 9, rest(x));
         return update(y, i % 9, sin(rest(y)) + 0.2 * sum(y * y * y));
       }},
      {"parts that overlap",
       [=](const Tensor& i, const Tensor& x) {
         const Tensor y = dynamic_update_slice(x, sin(part(x, i, 4)) + rest(x), {i});
         return dynamic_update_slice(y, part(y, i + 1, 3) * part(y, i - 1, 3), {i + 2});
       }},
      {"indices out of range",
       [=](const Tensor& i, const Tensor& x) {
         const Tensor y = dynamic_update_slice(x, part(x, i + 7, 2) * rest(x), {i * 3 - 4});
         return dynamic_update_slice(y, sin(part(y, i, 2)) + rest(y), {i + 6});
       }},
      {"an index from the array",
       [=](const Tensor& i, const Tensor& x) {
         const Tensor place = convert(abs(at(x, {i % 9})) * 8, DType::kS32);
         const Tensor y = update(x, place, sin(at(x, {(i + 3) % 9})) + rest(x));
         return update(y, convert(abs(at(y, {place})) * 5, DType::kS32), 0.5 * rest(y));
       }},
      {"an inner loop",
       [=](const Tensor& i, const Tensor& x) {
         const Tensor s = rest(x);
         const Tensor y = update(x, i % 9, s);
         const Tensor z = fori_loop(0, 3,
                                    [&](Tensor k, Tensor z) {
                                      return update(z, (i + 2 * k) % 9,
                                                    sin(at(z, {k})) + 0.1 * sum(z * z) + 0.3 * s);
                                    },
                                    y, {.name = "inner"});
         return update(z, (i + 1) % 9, at(z, {i % 9}) * rest(z));
       }},
      {"two inner loops, the first of which only reads",
       [=](const Tensor& i, const Tensor& x) {
         const Tensor s =
             fori_loop(0, 4, [&](Tensor k, Tensor s) { return sin(s) + at(x, {(k + i) % 9}) * s; },
                       rest(x), {.name = "reads"});
         return fori_loop(0, 3,
                          [&](Tensor k, Tensor z) {
                            return update(z, (i + k) % 9, sin(at(z, {k})) * s + 0.1 * sum(z * z));
                          },
                          x, {.name = "writes"});
       }},
      {"an inner loop of unknown length",
       [=](const Tensor& i, const Tensor& x) {
         const auto [k, z] = while_loop(
             [&](Tensor k, Tensor) { return k < i % 4; },
             [&](Tensor k, Tensor z) {
               return std::pair(k + 1, update(z, (i + k) % 9, sin(at(z, {k})) + 0.1 * sum(z * z)));
             },
             std::pair(Tensor(0), x), {.max_trip_count = 4, .name = "inner"});
         return update(z, i % 9, rest(z));
       }},
  };
}

/// A number from the last array and the first one, which the loop must not have overwritten.
Tensor outcome(LoopKind kind, int trips, const Body& body, const Tensor& x,
               Checkpoint policy = Checkpoint::tape()) {
  const Trips count{.known = trips, .given = {}, .promised = 20};
  const Tensor last = run_loop(
      kind, count, [&](const Tensor& i, const Tensor& x) { return body.trip(i, x); }, x, policy);
  return sum(sin(last) * x) + sum(last * last);
}

TEST(Overwritten, GradientsAreThoseOfTheUnrolledLoop) {
  for (const Body& body : bodies()) {
    for (const int trips : {0, 1, 7}) {
      SCOPED_TRACE(body.name + ", " + std::to_string(trips) + " trips");
      const auto slopes = [&](LoopKind kind) {
        return jit(grad([&](Tensor x) { return outcome(kind, trips, body, x); }))(first_numbers(9));
      };
      const Literal expected = slopes(LoopKind::kUnrolled).eval();
      const std::span<const double> want = expected.data<double>();
      for (const LoopKind kind : kLoops) {
        SCOPED_TRACE(name_of(kind));
        expect_close<double>(slopes(kind), {9}, {want.begin(), want.end()}, 1e-12, 1e-13);
      }
    }
  }
}

TEST(Overwritten, GradientsAreTheSlopes) {
  for (const Body& body : bodies()) {
    for (const LoopKind kind : {LoopKind::kFori, LoopKind::kPromisedWhile, LoopKind::kWhile}) {
      SCOPED_TRACE(body.name + ", " + name_of(kind));
      check_grads([&](Tensor x) { return outcome(kind, 5, body, x); },
                  std::tuple(first_numbers(9)));
    }
  }
}

TEST(Overwritten, SecondDerivativesAreTheSlopesOfTheGradient) {
  for (const Body& body : bodies()) {
    SCOPED_TRACE(body.name);
    check_grads([&](Tensor x) { return outcome(LoopKind::kFori, 3, body, x); },
                std::tuple(first_numbers(9)), {.order = 2});
  }
}

/// The restored state equals the old one to the bit: slots keep the carries themselves.
TEST(Overwritten, GradientsHaveTheBitsOfThoseFromKeptCarries) {
  for (const Body& body : bodies()) {
    for (const LoopKind kind : {LoopKind::kFori, LoopKind::kPromisedWhile}) {
      SCOPED_TRACE(body.name + ", " + name_of(kind));
      const auto slopes = [&](Checkpoint policy) {
        return jit(grad([&](Tensor x) { return outcome(kind, 7, body, x, policy); }))(
                   first_numbers(9))
            .eval();
      };
      EXPECT_TRUE(slopes(Checkpoint::tape()).identical(slopes(Checkpoint::online(3))));
    }
  }
}

TEST(Overwritten, LanesHaveTheirOwnGradients) {
  constexpr int kLanes = 3;
  std::vector<double> all;
  for (int k = 0; k < kLanes * 9; k++) all.push_back(0.7 * std::cos(2.3 * k));
  const Tensor lanes = constant(Literal::from(all, {kLanes, 9}));
  for (const Body& body : bodies()) {
    for (const LoopKind kind : {LoopKind::kFori, LoopKind::kPromisedWhile}) {
      SCOPED_TRACE(body.name + ", " + name_of(kind));
      const auto f = [&](Tensor x) { return outcome(kind, 4, body, x); };
      std::vector<double> want;
      for (int lane = 0; lane < kLanes; lane++) {
        const Literal one = jit(grad(f))(lanes[lane]).eval();
        want.insert(want.end(), one.data<double>().begin(), one.data<double>().end());
      }
      expect_close<double>(jit(vmap(grad(f)))(lanes), {kLanes, 9}, want, 1e-12, 1e-13);
      const auto of_all = [&](Tensor x) { return sum(vmap(f)(x)); };
      expect_close<double>(jit(grad(of_all))(lanes), {kLanes, 9}, want, 1e-12, 1e-13);
    }
  }
}

// ---- nests ----

/// Half the logarithm of the determinant of K, from the factor of K that three loops over scalars
/// compute.
Tensor half_log_det(const Tensor& k) {
  const int n = static_cast<int>(k.shape()[0]);
  const Tensor factor =
      fori_loop(0, n,
                [&](Tensor i, Tensor l) {
                  return fori_loop(
                      0, n,
                      [&](Tensor j, Tensor l) {
                        const Tensor rest =
                            fori_loop(0, n,
                                      [&](Tensor m, Tensor s) {
                                        return where(m < j, s - at(l, {i, m}) * at(l, {j, m}), s);
                                      },
                                      at(k, {i, j}), {.name = "products"});
                        const Tensor diagonal = i == j;
                        const Tensor root = sqrt(where(diagonal, rest, 1.0));
                        const Tensor ratio = rest / where(diagonal, 1.0, at(l, {j, j}));
                        return update(l, {i, j}, where(j <= i, where(diagonal, root, ratio), 0.0));
                      },
                      l, {.name = "columns"});
                },
                diag(broadcast_to(constant(1.0), {n})), {.name = "rows"});
  return sum(log(diag(factor)));
}

TEST(Overwritten, AFactorByThreeLoopsKeepsElementsAndNotMatrices) {
  const auto bytes = [](int n, const char* loop) {
    return bytes_kept(trace(grad(half_log_det), f64({n, n})), loop);
  };
  for (const int n : {5, 10}) {
    // For each element the overwritten value, and two numbers that its slope needs.
    EXPECT_EQ(bytes(n, "rows"), 3 * 8 * n * n);
    EXPECT_EQ(bytes(n, "columns"), 3 * 8 * n);
    EXPECT_EQ(bytes(n, "products"), 0);
  }
}

TEST(Overwritten, AFactorByThreeLoopsHasTheGradientOfTheDeterminant) {
  // K = D + v v^T, whose determinant is det D (1 + v^T D^-1 v), and whose inverse is known too.
  constexpr int kSize = 6;
  std::vector<double> d, v, k, want;
  double s = 1;
  for (int i = 0; i < kSize; i++) {
    d.push_back(1 + 0.3 * i);
    v.push_back(std::cos(i));
    s += v.back() * v.back() / d.back();
  }
  for (std::size_t i = 0; i < kSize; i++) {
    for (std::size_t j = 0; j < kSize; j++) {
      k.push_back((i == j ? d[i] : 0) + v[i] * v[j]);
      const double inverse = (i == j ? 1 / d[i] : 0) - v[i] / d[i] * v[j] / d[j] / s;
      // The factor is computed from the lower half only, which counts for both.
      want.push_back(i == j ? inverse / 2 : i > j ? inverse : 0);
    }
  }
  const Literal matrix = Literal::from(k, {kSize, kSize});
  expect_close<double>(jit(grad(half_log_det))(matrix), {kSize, kSize}, want, 1e-12, 1e-14);
  check_grads(half_log_det, std::tuple(matrix), {.order = 2});
}

/// An array whose rows an inner loop writes: the outer loop's backward pass gets it from that of
/// the inner one, even where it needs it earlier.
TEST(Overwritten, AnInnerLoopHandsTheArrayBack) {
  const auto bytes = [](int n) {
    const auto f = [&](Tensor x) {
      const auto row = [&](Tensor i, Tensor x) {
        const Tensor first =
            fori_loop(0, 4, [&](Tensor k, Tensor s) { return sin(s) + at(x, {k}) * s; }, sum(x * x),
                      {.name = "reads"});
        return fori_loop(0, 4,
                         [&](Tensor k, Tensor x) {
                           return update(x, (i + k) % n,
                                         sin(at(x, {k})) * first + 0.1 * sum(x * x));
                         },
                         x, {.name = "writes"});
      };
      return sum(fori_loop(0, 6, row, x, {.name = "outer"}));
    };
    return bytes_kept(trace(grad(f), f64({n})), "outer");
  };
  EXPECT_EQ(bytes(1000), bytes(50));
  EXPECT_LE(bytes(50), 6 * 4 * 4 * 8);
}

}  // namespace
}  // namespace rondo::testing
