#include "ops/complex_formulas.h"

#include <limits>

#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

struct ComplexParts {
  Tensor re, im;
  explicit ComplexParts(const Tensor& z) : re(real(z)), im(imag(z)) {}
};

Tensor in_double(const Tensor& part) { return convert(part, DType::kF64); }

/// (tanh z) by Kahan, Branch cuts for complex elementary functions, 1987. From 20 on the real part
/// is 1 in both precisions, and squares might overflow.
Tensor hyperbolic_tangent(const Tensor& re, const Tensor& im) {
  const Tensor is_far = abs(re) > 20, near = where(is_far, 0, re);
  const Tensor slope = tan(im), s = sinh(near), beta = 1 + slope * slope;
  const Tensor divisor = 1 + beta * s * s, rho = sqrt(1 + s * s);
  const Tensor far_im = 4 * sin(im) * cos(im) * exp(-2 * abs(re));
  return complex(where(is_far, sign(re), beta * rho * s / divisor),
                 where(is_far, far_im, slope / divisor));
}

}  // namespace

/// By the larger part of the divisor (Smith, Algorithm 116, 1962), so that no square overflows.
Tensor complex_quotient(std::span<const Tensor> operands) {
  const ComplexParts x(operands[0]), y(operands[1]);
  const Tensor turned = abs(y.re) < abs(y.im);
  const Tensor large = where(turned, y.im, y.re), small = where(turned, y.re, y.im);
  const Tensor a = where(turned, x.im, x.re), b = where(turned, x.re, x.im);
  const Tensor ratio = where(large == 0, 0, small / large), divisor = large + small * ratio;
  const Tensor im = (b - a * ratio) / divisor;
  const Tensor is_zero = large == 0;
  return complex(where(is_zero, x.re / y.re, (a + b * ratio) / divisor),
                 where(is_zero, x.im / y.re, where(turned, -im, im)));
}

/// NaN if a part is NaN, even if the other is infinite.
Tensor complex_abs_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  return where(is_nan(z.re) | is_nan(z.im), z.re + z.im, hypot(z.re, z.im));
}

Tensor complex_sign_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  const Tensor size = complex_abs_of_parts(operands);
  return where(size == 0, operands[0], complex(z.re / size, z.im / size));
}

Tensor complex_exp_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  const Tensor size = exp(z.re), is_real = z.im == 0;
  return complex(where(is_real, size, size * cos(z.im)), where(is_real, z.im, size * sin(z.im)));
}

Tensor complex_expm1_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  const Tensor half = sin(z.im / 2), is_real = z.im == 0, grown = expm1(z.re);
  return complex(where(is_real, grown, grown * cos(z.im) - 2 * half * half),
                 where(is_real, z.im, exp(z.re) * sin(z.im)));
}

Tensor complex_log_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  return complex(log(complex_abs_of_parts(operands)), atan2(z.im, z.re));
}

/// As complex_log1p of complex_math.h, in double precision.
Tensor complex_log1p_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  const Tensor x = in_double(z.re), y = in_double(z.im);
  const Tensor above_one = x * (2 + x) + y * y;
  const Tensor is_near = (abs(x) < 1e6) & (abs(y) < 1e6) & (above_one >= -0.5);
  const Tensor near = log1p(where(is_near, above_one, 0)) / 2, far = log(hypot(1 + x, y));
  return complex(convert(where(is_near, near, far), z.re.dtype()), atan2(z.im, 1 + z.re));
}

/// On the cut -0 counts as +0.
Tensor complex_sqrt_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  const Tensor size = complex_abs_of_parts(operands);
  const Tensor root = sqrt(size / 2 + abs(z.re) / 2);
  const Tensor other = where(root == 0, 0, abs(z.im) / (2 * root)), left = z.re < 0;
  const Tensor im = where(left, root, other);
  return complex(where(left, other, root), where(z.im < 0, -im, im));
}

Tensor complex_rsqrt_of_parts(std::span<const Tensor> operands) { return 1 / sqrt(operands[0]); }

/// As complex_logistic of complex_math.h.
Tensor complex_logistic_of_parts(std::span<const Tensor> operands) {
  const Tensor& z = operands[0];
  const Tensor left = real(z) < 0, w = where(left, z, -z), grown = exp(w);
  const ComplexParts sum(1 + grown), of(w);
  const Tensor half = cos(of.im / 2);
  const Tensor mended = 2 * half * half + expm1(of.re) * cos(of.im);
  const Tensor cancels = abs(sum.re) + abs(sum.im) < 0.5;
  return where(left, grown, 1) / complex(where(cancels, mended, sum.re), sum.im);
}

/// As complex_power of complex_math.h, in double precision.
Tensor complex_power_of_parts(std::span<const Tensor> operands) {
  const Tensor &z = operands[0], &w = operands[1];
  const DType dtype = real(z).dtype();
  const Tensor re = in_double(real(z)), im = in_double(imag(z));
  const Tensor w_re = in_double(real(w)), w_im = in_double(imag(w));
  const Tensor size = log(hypot(re, im)), angle = atan2(im, re);
  const Tensor scale = exp(w_re * size - w_im * angle), turn = w_re * angle + w_im * size;
  const Tensor power =
      complex(convert(scale * cos(turn), dtype), convert(scale * sin(turn), dtype));
  const Tensor nan = full(real(z).type(), std::numeric_limits<double>::quiet_NaN());
  const Tensor of_zero = where((w_im == 0) & (w_re > 0), 0, complex(nan, nan));
  return where((w == 0) | (z == 1), 1, where(z == 0, of_zero, power));
}

Tensor complex_sin_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  return complex(sin(z.re) * cosh(z.im), cos(z.re) * sinh(z.im));
}
Tensor complex_cos_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  return complex(cos(z.re) * cosh(z.im), -(sin(z.re) * sinh(z.im)));
}
/// -i tanh(i z)
Tensor complex_tan_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  const ComplexParts turned(hyperbolic_tangent(-z.im, z.re));
  return complex(turned.im, -turned.re);
}
Tensor complex_sinh_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  return complex(sinh(z.re) * cos(z.im), cosh(z.re) * sin(z.im));
}
Tensor complex_cosh_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  return complex(cosh(z.re) * cos(z.im), sinh(z.re) * sin(z.im));
}
Tensor complex_tanh_of_parts(std::span<const Tensor> operands) {
  const ComplexParts z(operands[0]);
  return hyperbolic_tangent(z.re, z.im);
}

}  // namespace rondo::ops
