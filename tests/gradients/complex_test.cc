// Complex numbers through loops. The expected numbers are those of JAX 0.10.2 in double precision,
// with the same convention: the gradient of a real function of x + iy is df/dx - i df/dy.
#include <complex>

#include "gradients/loops.h"
#include "support/derivative_check.h"
#include "support/expect.h"

namespace rondo::testing {
namespace {

using Complex = std::complex<double>;

void expect_complex(const Tensor& got, const std::vector<Complex>& want) {
  const Literal value = got.eval();
  ASSERT_EQ(value.dtype(), DType::kC128);
  const auto data = value.data<Complex>();
  ASSERT_EQ(data.size(), want.size());
  for (std::size_t i = 0; i < want.size(); i++)
    EXPECT_LE(std::abs(data[i] - want[i]), 1e-13 * std::abs(want[i])) << data[i] << " " << want[i];
}

const Complex kZ{0.3, -0.7}, kC{-0.2, 0.5};

/// z -> z^2 (1 + i / 10) + c, four times.
Tensor squares(LoopKind kind, Checkpoint policy, const Tensor& z, const Tensor& c,
               const Tensor& n = {}) {
  return run_loop(
      kind, {.known = 4, .given = n, .promised = 4},
      [&](Tensor i, Tensor z) {
        return z * z * convert(1 + 0.1 * convert(i, DType::kF64), DType::kC128) + c;
      },
      z, policy);
}

TEST(ComplexGradients, OfARealFunction) {
  for_each_loop([](LoopKind kind, Checkpoint policy) {
    const auto loss = [&](Tensor z, Tensor c, Tensor n) {
      const Tensor end = squares(kind, policy, z, c, n);
      return square(abs(end)) + real(end) * imag(c);
    };
    const auto [of_z, of_c] = jit(grad<0, 1>(loss))(kZ, kC, 4);
    expect_complex(of_z, {{-0.10505597488285434, 3.44912994487196}});
    expect_complex(of_c, {{-0.9179024431596856, -0.30671691272614265}});
  });
}

TEST(ComplexGradients, OfAHolomorphicFunctionAreItsDerivative) {
  for_each_loop([](LoopKind kind, Checkpoint policy) {
    const auto f = [&](Tensor z, Tensor c, Tensor n) { return squares(kind, policy, z, c, n); };
    const auto [of_z, of_c] = jit(grad<0, 1>(f))(kZ, kC, 4);
    expect_complex(of_z, {{1.2219942970605993, -4.030963253660835}});
    expect_complex(of_c, {{0.7784802576238432, 1.414267294323775}});
  });
}

TEST(ComplexGradients, OfConjugatesAndParts) {
  const auto loss = [](Tensor z, Tensor c) {
    const Tensor y = imag(z);
    return real(conj(z) * exp(z) * c) + y * y * y;
  };
  const auto [of_z, of_c] = grad<0, 1>(loss)(kZ, kC);
  expect_complex(of_z, {{-0.1862841786279531, -1.7932735788127656}});
  expect_complex(of_c, {{0.9184507322533265, 0.4618193983039511}});
}

TEST(ComplexGradients, NoConjugationTakesPlace) {
  // Three trips of a step that is not holomorphic: the pullback and the tangent.
  for_each_loop([](LoopKind kind, Checkpoint policy) {
    const auto f = [&](Tensor z, Tensor c) {
      return run_loop(
          kind, {.known = 3, .promised = 3},
          [&](Tensor, Tensor z) { return conj(z) * c + convert(real(z), DType::kC128); }, z,
          policy);
    };
    const auto [out, pull] = vjp(f, kZ, kC);
    expect_complex(out, {{-0.0929, -0.0521}});
    const auto [of_z, of_c] = pull(Complex(1.5, 0.25));
    expect_complex(of_z, {{1.30675, -0.7405}});
    expect_complex(of_c, {{0.57425, 0.76875}});
    expect_complex(jvp(f, std::tuple(kZ, kC), std::tuple(Complex(0.4, 0.1), Complex(-1, 2))).second,
                   {{-1.1477, -0.8262}});
  });
}

TEST(ComplexGradients, OfRealArgumentsAreReal) {
  const auto loss = [](Tensor x) {
    return abs(sum(squares(LoopKind::kWhile, {}, complex(x, sin(x)), Tensor(kC))));
  };
  const Literal x = Literal::from(std::vector<double>{0.3, -0.5}, {2});
  expect_close<double>(grad(loss)(x), {2}, {2.5329694013204085, -43.655468879111396}, 1e-13);
  const auto pull = vjp([](Tensor x) { return complex(x * x, cos(x)); }, 0.8).second;
  expect_close<double>(std::get<0>(pull(Complex(2, -3))), {}, {1.0479317273014317}, 1e-14);
}

TEST(ComplexGradients, OfAScanOverComplexRows) {
  for (const Checkpoint policy : kPolicies) {
    SCOPED_TRACE(name_of(policy));
    ScanOptions options;
    options.checkpoint = policy;
    const auto loss = [&](Tensor c, Tensor xs) {
      const auto [last, ys] = scan(
          [](Tensor a, Tensor x) {
            const Tensor b = a * x + conj(a) * 0.3;
            return std::pair(b, abs(b));
          },
          c, xs, options);
      return sum(ys) + imag(last);
    };
    const Literal xs = Literal::from(std::vector<Complex>{{0.5, 0.2}, {-1, 0.1}, {0.7, -0.9}}, {3});
    const auto [of_c, of_xs] = grad<0, 1>(loss)(kZ, xs);
    expect_complex(of_c, {{2.328034987944712, 0.8434146654794499}});
    expect_complex(of_xs, {{1.6833714678084095, -1.906327655204987},
                           {-1.212987795030652, -0.0927419821131522},
                           {0.3774433033682057, 0.4349023767479314}});
  }
}

TEST(ComplexGradients, OfSecondOrder) {
  const auto f = [](Tensor y) {
    return square(abs(squares(LoopKind::kWhile, {}, complex(y, y * y), Tensor(kC))));
  };
  expect_close<double>(grad(grad(f))(0.4), {}, {-18.199702059371056}, 1e-13);
  expect_close<double>(hessian(f)(0.4), {}, {-18.199702059371056}, 1e-13);
  const auto on_numbers = [](Tensor z, Tensor c) {
    return squares(LoopKind::kWhile, Checkpoint::online(2), z, c);
  };
  EXPECT_EQ(derivative_error(of_tensors<2>(on_numbers), {Literal::scalar(kZ), Literal::scalar(kC)}),
            "");
}

TEST(ComplexGradients, InSinglePrecision) {
  const auto loss = [](Tensor z) {
    return square(abs(run_loop(
        LoopKind::kWhile, {3}, [](Tensor, Tensor z) { return z * z; }, z)));
  };
  // |z|^16: 16 |z|^14 conj(z).
  const std::complex<float> z{0.6f, -0.9f};
  const std::complex<float> expected = 16 * std::pow(std::abs(z), 14.0f) * std::conj(z);
  const Literal slope = grad(loss)(z).eval();
  EXPECT_LE(std::abs(slope.item<std::complex<float>>() - expected), 1e-5f * std::abs(expected));
}

}  // namespace
}  // namespace rondo::testing
