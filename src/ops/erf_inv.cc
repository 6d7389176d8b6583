// The inverse of the error function: the polynomials of M. Giles, "Approximating the erfinv
// function", GPU Computing Gems 2, 2010, in w = -log(1 - x^2), with the coefficients that XLA uses.
// 1 - x^2 is (1 - x)(1 + x), which next to 1 and -1 has only the error of the product.
#include "ops/erf_inv.h"

#include <array>
#include <cmath>
#include <limits>
#include <numbers>

#include "lower/math_functions.h"
#include "ops/derivative_rules.h"
#include "ops/expansions.h"
#include "ops/families.h"
#include "ops/kernels/elementwise_kernels.h"
#include "rondo/ops/elementwise.h"

namespace rondo::ops {

namespace erf_inv_parts {

// Single precision: for w below 5, in w - 2.5; above, in sqrt(w) - 3.
constexpr std::array<double, 9> kSingleCentre{2.81022636e-08f,  3.43273939e-07f, -3.5233877e-06f,
                                              -4.39150654e-06f, 0.00021858087f,  -0.00125372503f,
                                              -0.00417768164f,  0.246640727f,    1.50140941f};
constexpr std::array<double, 9> kSingleTail{-0.000200214257f, 0.000100950558f, 0.00134934322f,
                                            -0.00367342844f,  0.00573950773f,  -0.0076224613f,
                                            0.00943887047f,   1.00167406f,     2.83297682f};

// Double precision: for w below 6.25, in w - 3.125; below 16, in sqrt(w) - 3.25; above, in sqrt(w)
// - 5.
constexpr std::array<double, 23> kDoubleCentre{
    -3.6444120640178196996e-21, -1.685059138182016589e-19,  1.2858480715256400167e-18,
    1.115787767802518096e-17,   -1.333171662854620906e-16,  2.0972767875968561637e-17,
    6.6376381343583238325e-15,  -4.0545662729752068639e-14, -8.1519341976054721522e-14,
    2.6335093153082322977e-12,  -1.2975133253453532498e-11, -5.4154120542946279317e-11,
    1.051212273321532285e-09,   -4.1126339803469836976e-09, -2.9070369957882005086e-08,
    4.2347877827932403518e-07,  -1.3654692000834678645e-06, -1.3882523362786468719e-05,
    0.0001867342080340571352,   -0.00074070253416626697512, -0.0060336708714301490533,
    0.24015818242558961693,     1.6536545626831027356};
constexpr std::array<double, 19> kDoubleMiddle{
    2.2137376921775787049e-09, 9.0756561938885390979e-08, -2.7517406297064545428e-07,
    1.8239629214389227755e-08, 1.5027403968909827627e-06, -4.013867526981545969e-06,
    2.9234449089955446044e-06, 1.2475304481671778723e-05, -4.7318229009055733981e-05,
    6.8284851459573175448e-05, 2.4031110387097893999e-05, -0.0003550375203628474796,
    0.00095328937973738049703, -0.0016882755560235047313, 0.0024914420961078508066,
    -0.0037512085075692412107, 0.005370914553590063617,   1.0052589676941592334,
    3.0838856104922207635};
constexpr std::array<double, 17> kDoubleTail{
    -2.7109920616438573243e-11, -2.5556418169965252055e-10, 1.5076572693500548083e-09,
    -3.7894654401267369937e-09, 7.6157012080783393804e-09,  -1.4960026627149240478e-08,
    2.9147953450901080826e-08,  -6.7711997758452339498e-08, 2.2900482228026654717e-07,
    -9.9298272942317002539e-07, 4.5260625972231537039e-06,  -1.9681778105531670567e-05,
    7.5995277030017761139e-05,  -0.00021503011930044477347, -0.00013871931833623122026,
    1.0103004648645343977,      4.8499064014085844221};

/// Horner's scheme.
template <std::size_t n, class Number>
Tensor polynomial(const std::array<double, n>& coefficients, const Tensor& x, Number number) {
  Tensor sum = number(coefficients[0]);
  for (std::size_t i = 1; i < n; i++) sum = number(coefficients[i]) + sum * x;
  return sum;
}

struct ErfInv : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    const auto horner = [](const auto& coefficients, N at) {
      N sum = N::of(coefficients[0]);
      for (std::size_t i = 1; i < coefficients.size(); i++)
        sum = multiply_add(sum, at, N::of(coefficients[i]));
      return sum;
    };
    const N w = -lower::math::log((N::of(1) - x) * (N::of(1) + x)), root = sqrt(w);
    N factor = N::of(0);
    if constexpr (N::kWide) {
      const N tail = select(w < N::of(16), horner(kDoubleMiddle, root - N::of(3.25)),
                            horner(kDoubleTail, root - N::of(5)));
      factor = select(w < N::of(6.25), horner(kDoubleCentre, w - N::of(3.125)), tail);
    } else {
      factor = select(w < N::of(5), horner(kSingleCentre, w - N::of(2.5)),
                      horner(kSingleTail, root - N::of(3)));
    }
    return x * select(abs(x) == N::of(1), N::of(HUGE_VAL), factor);
  }
};

Tensor formula(std::span<const Tensor> operands) {
  const Tensor& x = operands[0];
  const bool single = x.dtype() == DType::kF32;
  auto number = [&](double c) { return Operand(c).as(x.dtype()); };
  const Tensor w = -log((1 - x) * (1 + x)), root = sqrt(w);
  auto centre = [&] {
    return single ? polynomial(kSingleCentre, w - 2.5, number)
                  : polynomial(kDoubleCentre, w - 3.125, number);
  };
  auto tail = [&] {
    return single ? polynomial(kSingleTail, root - 3.0, number)
                  : where(w < 16, polynomial(kDoubleMiddle, root - 3.25, number),
                          polynomial(kDoubleTail, root - 5.0, number));
  };
  const Tensor factor = where(w < (single ? 5.0 : 6.25), centre(), tail());
  return where(abs(x) == 1, x * std::numeric_limits<double>::infinity(), x * factor);
}

/// sqrt(pi)/2 exp(y^2), the reciprocal of erf's derivative at y.
Tensor derivative(const JvpCall& c) {
  return std::numbers::inv_sqrtpi * std::numbers::pi / 2 * exp(c.y() * c.y());
}

constexpr OpDef described() {
  OpDef op =
      elementwise<1, ErfInv, kFloats>({.name = "erf_inv", .text = {.stablehlo = "chlo.erf_inv"}});
  op.expansion.rule = expand_by<formula>;
  op.derivative.jvp = partials<derivative>;
  return op;
}

}  // namespace erf_inv_parts

const OpDef kErfInv = erf_inv_parts::described();

std::span<const OpDef* const> erf_inv_records() {
  static constexpr const OpDef* kAll[] = {&kErfInv};
  return kAll;
}

}  // namespace rondo::ops

namespace rondo {

Tensor erf_inv(const Operand& x) { return ops::unary_op(ops::kErfInv, x); }

}  // namespace rondo
