// Special functions without loops: the gamma function and its relatives, Bessel functions, and what
// entropies and the normal distribution take.
#include "rondo/ops/special.h"

#include <cmath>
#include <numbers>

#include "lower/special_functions.h"
#include "ops/derivative_rules.h"
#include "ops/families.h"
#include "ops/kernels/elementwise_kernels.h"
#include "ops/tensor_number.h"

namespace rondo::ops {

namespace special {

/// A functor that computes in f64, from one that has only `in_double`.
template <class F>
struct InDouble : UsesFma {
  template <lower::Float N>
  N operator()(N x) const {
    return lower::math::in_double(x, [](const auto& y) { return F::in_double(y); });
  }
};
template <class F>
struct InDouble2 : UsesFma {
  template <lower::Float N>
  N operator()(N x, N y) const {
    if constexpr (N::kWide)
      return F::in_double(x, y);
    else
      return N::from_double(F::in_double(to_double(x), to_double(y)));
  }
};

struct Lgamma : InDouble<Lgamma> {
  template <class N>
  static N in_double(const N& x) {
    return lower::math::lgamma(x);
  }
};
struct Digamma : InDouble<Digamma> {
  template <class N>
  static N in_double(const N& x) {
    return lower::math::digamma(x);
  }
};
struct Zeta : InDouble2<Zeta> {
  template <class N>
  static N in_double(const N& s, const N& q) {
    return lower::math::zeta(s, q);
  }
};
struct BesselI0e : InDouble<BesselI0e> {
  template <class N>
  static N in_double(const N& x) {
    return lower::math::bessel_i0e(x);
  }
};
struct BesselI1e : InDouble<BesselI1e> {
  template <class N>
  static N in_double(const N& x) {
    return lower::math::bessel_i1e(x);
  }
};
struct Ndtri : InDouble<Ndtri> {
  template <class N>
  static N in_double(const N& p) {
    return lower::math::ndtri(p);
  }
};
struct Xlogy : InDouble2<Xlogy> {
  template <class N>
  static N in_double(const N& x, const N& y) {
    using lower::math::log;
    return select((x == N::of(0)) & (y == y), N::of(0) * x, x * log(y));
  }
};
struct Entr : InDouble<Entr> {
  template <class N>
  static N in_double(const N& x) {
    using lower::math::log;
    const N inside = select(x == N::of(0), N::of(0) * x, -(x * log(x)));
    return select(x < N::of(0), N::of(-HUGE_VAL), inside);
  }
};

}  // namespace special

namespace {

Tensor lgamma_partial(const JvpCall& c) { return digamma(c.x(0)); }
Tensor digamma_partial(const JvpCall& c) { return polygamma(1, c.x(0)); }
Tensor i0e_partial(const JvpCall& c) { return bessel_i1e(c.x(0)) - sign(c.x(0)) * c.y(); }
/// Near 0, where I1(x) / x is 1/2, without the quotient.
Tensor i1e_partial(const JvpCall& c) {
  const Tensor& x = c.x(0);
  const Tensor tiny = abs(x) <= (byte_width(x.dtype()) == 8 ? 0x1p-53 : 0x1p-24);
  const Tensor safe = where(tiny, 1, x);
  return where(tiny, 0.5, bessel_i0e(safe) - c.y() * (sign(safe) + 1 / safe));
}
Tensor ndtri_partial(const JvpCall& c) {
  return std::sqrt(2 * std::numbers::pi) * exp(0.5 * (c.y() * c.y()));
}
Tensor xlogy_x_partial(const JvpCall& c) { return log(c.x(1)); }
Tensor xlogy_y_partial(const JvpCall& c) { return c.x(0) / c.x(1); }
Tensor entr_partial(const JvpCall& c) { return -log(c.x(0)) - 1; }

/// By s that of the formula, which is straight-line code.
std::vector<Tensor> zeta_jvp(const JvpCall& c) {
  Tensor sum;
  if (c.has(0)) {
    const Tensor tangents[] = {c.dx(0), Tensor()};
    const JvpCall by_s{c.node, c.operands, c.results, tangents, c.derivatives};
    sum = c.derivatives.jvp_expanded(by_s, c.node.op->expansion.rule).tangents[0];
  }
  if (c.has(1)) sum = ir::add_tangents(sum, c.dx(1) * (-c.x(0) * zeta(c.x(0) + 1, c.x(1))));
  return {sum};
}

}  // namespace

const OpDef kLgamma = elementwise<1, special::Lgamma, kFloats>(
    {.name = "lgamma",
     .expansion = {.rule = expand_by<formula_of<special::Lgamma, 1>>},
     .derivative = {.jvp = partials<lgamma_partial>}});
const OpDef kDigamma = elementwise<1, special::Digamma, kFloats>(
    {.name = "digamma",
     .expansion = {.rule = expand_by<formula_of<special::Digamma, 1>>},
     .derivative = {.jvp = partials<digamma_partial>}});
const OpDef kZeta = elementwise<2, special::Zeta, kFloats>(
    {.name = "zeta",
     .expansion = {.rule = expand_by<formula_of<special::Zeta, 2>>},
     .derivative = {.jvp = zeta_jvp}});
const OpDef kBesselI0e = elementwise<1, special::BesselI0e, kFloats>(
    {.name = "bessel_i0e",
     .expansion = {.rule = expand_by<formula_of<special::BesselI0e, 1>>},
     .derivative = {.jvp = partials<i0e_partial>}});
const OpDef kBesselI1e = elementwise<1, special::BesselI1e, kFloats>(
    {.name = "bessel_i1e",
     .expansion = {.rule = expand_by<formula_of<special::BesselI1e, 1>>},
     .derivative = {.jvp = partials<i1e_partial>}});
const OpDef kNdtri = elementwise<1, special::Ndtri, kFloats>(
    {.name = "ndtri",
     .expansion = {.rule = expand_by<formula_of<special::Ndtri, 1>>},
     .derivative = {.jvp = partials<ndtri_partial>}});
const OpDef kXlogy = elementwise<2, special::Xlogy, kFloats>(
    {.name = "xlogy",
     .expansion = {.rule = expand_by<formula_of<special::Xlogy, 2>>},
     .derivative = {.jvp = partials<xlogy_x_partial, xlogy_y_partial>}});
const OpDef kEntr = elementwise<1, special::Entr, kFloats>(
    {.name = "entr",
     .expansion = {.rule = expand_by<formula_of<special::Entr, 1>>},
     .derivative = {.jvp = partials<entr_partial>}});

std::span<const OpDef* const> special_records() {
  static constexpr const OpDef* kAll[] = {&kLgamma,    &kDigamma, &kZeta,  &kBesselI0e,
                                          &kBesselI1e, &kNdtri,   &kXlogy, &kEntr};
  return kAll;
}

}  // namespace rondo::ops

namespace rondo {

Tensor lgamma(const Operand& x) { return ops::unary_op(ops::kLgamma, x); }
Tensor digamma(const Operand& x) { return ops::unary_op(ops::kDigamma, x); }
Tensor zeta(const Operand& s, const Operand& q) { return ops::binary_op(ops::kZeta, s, q); }
Tensor bessel_i0e(const Operand& x) { return ops::unary_op(ops::kBesselI0e, x); }
Tensor bessel_i1e(const Operand& x) { return ops::unary_op(ops::kBesselI1e, x); }
Tensor ndtri(const Operand& p) { return ops::unary_op(ops::kNdtri, p); }
Tensor xlogy(const Operand& x, const Operand& y) { return ops::binary_op(ops::kXlogy, x, y); }
Tensor entr(const Operand& x) { return ops::unary_op(ops::kEntr, x); }

}  // namespace rondo
