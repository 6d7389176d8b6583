// erf_inv.
#include <cmath>
#include <cstdint>

#include "ops/expanded.h"
#include "ops/vectors.h"

namespace rondo {
namespace {

using namespace testing;

// The values are mpmath's, for x in f64 and for x in f32. XLA's formula loses digits next to 1.
TEST(ErfInv, IsAccurate) {
  const std::vector<double> x{-1,  -0.999, -0.5, -1e-3,   0,         1e-8,
                              0.3, 0.9,    0.99, 0.99999, 0.9999999, 1};
  const std::vector<double> want{-HUGE_VAL,
                                 -2.3267537655135246,
                                 -0.4769362762044699,
                                 -0.0008862271574665521,
                                 0.0,
                                 8.86226925452758e-09,
                                 0.2724627147267543,
                                 1.1630871536766743,
                                 1.8213863677184494,
                                 3.123413274341571,
                                 3.7665625816384707,
                                 HUGE_VAL};
  const std::vector<float> single{-kInf,
                                  -2.326756238937378f,
                                  -0.4769362807273865f,
                                  -0.0008862271788530052f,
                                  0.0f,
                                  8.862269140763601e-09f,
                                  0.27246272563934326f,
                                  1.1630871295928955f,
                                  1.8213865756988525f,
                                  3.1232056617736816f,
                                  3.7439212799072266f,
                                  kInf};
  auto inverse = [](Tensor y) { return erf_inv(y); };
  expect_close(erf_inv(vec(x)), {12}, want, 1e-15);
  expect_close(run_expanded(inverse, Literal::from(x))[0], {12}, want, 1e-15);
  const std::vector<float> narrow(x.begin(), x.end());
  expect_close(erf_inv(vec(narrow)), {12}, single, 4e-7);
  expect_close(run_expanded(inverse, Literal::from(narrow))[0], {12}, single, 4e-7);
}

// From -1 to 1, close to both ends too: through every polynomial.
TEST(ErfInv, InvertsErf) {
  std::vector<double> x;
  for (int i = -99; i <= 99; i++) x.push_back(i / 100.0);
  for (int i = 3; i < 16; i++) x.push_back(1 - std::pow(10.0, -i));
  const Literal y = erf_inv(vec(x)).eval();
  for (std::size_t i = 0; i < x.size(); i++)
    EXPECT_NEAR(std::erf(y.data<double>()[i]), x[i], 3e-16) << x[i];
  expect_close(run_expanded([](Tensor z) { return erf_inv(z); }, Literal::from(x))[0], y.shape(),
               std::vector<double>(y.data<double>().begin(), y.data<double>().end()), 1e-15);
}

TEST(ErfInv, HalvesAreRoundedOnce) {
  for (DType dtype : {DType::kF16, DType::kBF16}) {
    const Tensor x = convert(vec<float>({-1, -0.75f, 0, 0.5f, 0.875f, 1}), dtype);
    const Literal want = convert(erf_inv(convert(x, DType::kF32)), dtype).eval();
    EXPECT_TRUE(erf_inv(x).eval().identical(want));
    EXPECT_TRUE(run_expanded([](Tensor y) { return erf_inv(y); }, x.eval())[0].identical(want));
  }
}

TEST(ErfInv, OutsideIsNan) {
  expect_vec<float>(erf_inv(vec<float>({2, -1.5f, kNan, kInf})), {kNan, kNan, kNan, kNan});
  expect_error([] { erf_inv(constant({1})); }, {"erf_inv", "s32[1]"});
}

}  // namespace
}  // namespace rondo
