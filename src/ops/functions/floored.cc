// Division that rounds down: the remainder has the sign of the divisor.
#include "ops/functions/helpers.h"
#include "rondo/ops/elementwise.h"

namespace rondo {

namespace {

struct Division {
  Tensor dividend, divisor, remainder;
  Tensor down;  // pred: the remainder of a truncated quotient has the other sign
};

Division divided(const char* name, const Operand& a, const Operand& b) {
  auto [x, y] = ops::matched({name, name}, a, b);
  const Tensor r = rem(x, y);
  const Tensor down = (r != 0) & ((r < 0) != (y < 0));
  return {x, y, r, down};
}

}  // namespace

Tensor mod(const Operand& a, const Operand& b) {
  const ops::Helper helper("mod", a.at());
  const Division d = divided("mod", a, b);
  return where(d.down, d.remainder + d.divisor, d.remainder);
}

Tensor floor_divide(const Operand& a, const Operand& b) {
  const ops::Helper helper("floor_divide", a.at());
  const Division d = divided("floor_divide", a, b);
  if (!is_floating(d.dividend.dtype())) {
    const Tensor quotient = d.dividend / d.divisor;
    return where(d.down, quotient - 1, quotient);
  }
  // The dividend minus its remainder is a whole multiple, except for rounding.
  const Tensor exact = (d.dividend - d.remainder) / d.divisor;
  const Tensor whole = round(where(d.down, exact - 1, exact));
  return where(d.divisor == 0, d.dividend / d.divisor, whole);
}

}  // namespace rondo
