// Gamma-distributed numbers, as in jax.random, version 0.10.
#include "ops/functions/helpers.h"
#include "rondo/gradients.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/random.h"
#include "rondo/ops/reduce.h"
#include "rondo/ops/shape.h"
#include "rondo/ops/special.h"

namespace rondo::random {

namespace {

struct Normal {
  Tensor key, x, v;
};
struct Rejection {
  Tensor key, x2, v, u;
};

/// One number of shape `a`, by rejection: drawn again until the point (v, u) is under the density.
Tensor draw_gamma(const Tensor& key, const Tensor& a) {
  const TensorType scalar{a.dtype(), {}};
  // For a < 1: a draw of shape a + 1, times u^(1 / a).
  const Tensor boosts = a < 1;
  const Tensor d = where(boosts, a + 1, a) - 1.0 / 3, c = (1.0 / 3) / sqrt(d);
  const auto rejected = [&](Rejection r) {
    return (r.u >= 1 - 0.0331 * (r.x2 * r.x2)) &
           (log(r.u) >= r.x2 * 0.5 + d * ((1 - r.v) + log(r.v)));
  };
  const auto draw_again = [&](Rejection r) {
    const Tensor keys = split(r.key, 3);
    // Until 1 + c x, whose cube is v, is positive.
    const Normal drawn =
        while_loop([](Normal n) { return n.v <= 0; },
                   [&](Normal n) {
                     const Tensor pair = split(n.key);
                     const Tensor x = normal(pair[1], scalar);
                     return Normal{pair[0], x, 1 + x * c};
                   },
                   Normal{keys[1], zeros(scalar), full(scalar, -1)}, {.name = "gamma's normal"});
    return Rejection{keys[0], drawn.x * drawn.x, drawn.v * drawn.v * drawn.v,
                     uniform(keys[2], scalar)};
  };
  const Tensor keys = split(key);
  const Rejection accepted = while_loop(
      rejected, draw_again, Rejection{keys[0], zeros(scalar), ones(scalar), full(scalar, 2)},
      {.name = "gamma"});
  const Tensor boost = pow(1 - uniform(keys[1], scalar), 1 / a);
  return d * accepted.v * where(boosts, boost, 1);
}

struct Series {
  Tensor k, term, psi, sum, size;
};

/// The derivative of x by a, in f64, while its place P(a, x) in the distribution is fixed: -(dP/da)
/// / (dP/dx). M. Figurnov, S. Mohamed, A. Mnih, "Implicit reparameterization gradients", 2018. From
/// the series P(a, x) = sum over k of x^(a + k) e^-x / gamma(a + k + 1); in f64, because of
/// cancellation where x is far above a.
Tensor slope_of_draw(const Tensor& a, const Tensor& drawn) {
  const Tensor x = maximum(drawn, 1e-300), log_x = log(x);
  const auto add_term = [&](Series s) {
    const Tensor part = s.term * (log_x - s.psi), next = a + s.k + 1;
    return Series{s.k + 1, s.term * x / next, s.psi + 1 / next, s.sum - part, s.size + abs(part)};
  };
  const auto goes_on = [&](Series s) {
    return any((a + s.k < x) | (s.term * (1 + abs(log_x - s.psi)) > 1e-17 * s.size));
  };
  const Tensor none = zeros(a.type());
  return while_loop(goes_on, add_term, Series{0.0, x / a, digamma(a) + 1 / a, none, none},
                    {.name = "gamma's slope"})
      .sum;
}

}  // namespace

Tensor gamma(const Operand& key_operand, const Operand& shape,
             const std::vector<std::int64_t>& dims) {
  const ops::Helper helper("random::gamma", key_operand.at());
  const Tensor key = helper.any(key_operand);
  const Tensor all = broadcast_to(helper.floating(shape), dims);
  const SourceLocation at = helper.at();
  const auto draw = [at](Tensor keys, Tensor a) {
    return map([](Tensor one, Tensor b) { return draw_gamma(one, b); }, std::tuple(keys, a),
               {.name = "gamma"}, at);
  };
  // The path of a draw jumps where it is rejected, so differentiating it does not give the
  // derivative of the distribution.
  const auto draw_with_slope = custom_jvp(
      draw,
      [draw](std::tuple<Tensor, Tensor> x, std::tuple<Tensor, Tensor> dx) {
        const auto& [keys, a] = x;
        const Tensor wide = convert(a, DType::kF64), held = stop_gradient(wide);
        const Tensor drawn = stop_gradient(convert(draw(keys, a), DType::kF64));
        // With its first derivative, so that the slope's own derivative is right too.
        const Tensor moving = drawn + stop_gradient(slope_of_draw(held, drawn)) * (wide - held);
        const Tensor slope = slope_of_draw(wide, moving);
        return std::pair(convert(moving, a.dtype()),
                         convert(slope * convert(std::get<1>(dx), DType::kF64), a.dtype()));
      },
      at);
  const std::int64_t n = all.type().elements();
  return reshape(draw_with_slope(split(key, n), reshape(all, {n})), dims);
}

}  // namespace rondo::random
