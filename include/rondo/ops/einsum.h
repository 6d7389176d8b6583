// Products of any number of arrays over axes that are named by letters, and the products of NumPy
// that are cases of it.
//
// The operands have one dtype, a number, which is the result's; sums are those of dot_general
// (rondo/ops/linear.h). All throw TraceError for axes that do not fit, naming them.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/ops/shape.h"
#include "rondo/tensor.h"

namespace rondo {

/// The string of einsum, with the line of the call. Converts implicitly from a string.
struct EinsumSpec {
  template <class T>
  requires(std::is_convertible_v<const T&, std::string_view>)
      EinsumSpec(const T& spec,
                 SourceLocation here = SourceLocation::current())  // NOLINT: implicit
      : text(std::string_view(spec)), at(here) {}
  std::string_view text;
  SourceLocation at;
};

/// NumPy's einsum: `einsum("ij,jk->ik", a, b)` is the product of two matrices. Each operand has a
/// letter for each of its axes; axes of one letter have one size (or 1, which repeats), letters
/// that the result lacks are summed over, and a letter twice in one operand is its diagonal.
/// Without an arrow the result has the letters that occur once, in alphabetical order. `...` means
/// further axes, which broadcast and come first in a result without an arrow. Spaces are
/// ignored.
///
/// Several operands are multiplied two at a time, in the order of the fewest multiplications: the
/// best of all orders for up to 8 operands, else the best next pair each time. Throws TraceError,
/// naming the letter and the operand, for a spec that is malformed or does not fit.
RONDO_API Tensor einsum(EinsumSpec spec, const std::vector<Tensor>& operands);
template <detail::Part... Operands>
requires(sizeof...(Operands) > 0) Tensor einsum(EinsumSpec spec, const Operands&... operands) {
  return einsum(spec, std::vector<Tensor>{detail::as_tensor(operands, spec.at)...});
}

/// NumPy's tensordot: the sum over the last `axes` axes of a and the first ones of b; the result
/// has the other axes of a, then those of b. 0 axes: all products.
RONDO_API Tensor tensordot(const Operand& a, const Operand& b, std::int64_t axes = 2);
/// The same over the paired axes {of a, of b}, which may be negative: `tensordot(a, b, {{1},
/// {0}})`.
RONDO_API Tensor
tensordot(const Operand& a, const Operand& b,
          const std::pair<std::vector<std::int64_t>, std::vector<std::int64_t>>& axes);

/// The sum over all elements of conj(a) * b, which have one number of elements.
RONDO_API Tensor vdot(const Operand& a, const Operand& b);

/// The sum over the last axes of a and b: dims (a without it..., b without it...). With a scalar: a
/// * b.
RONDO_API Tensor inner(const Operand& a, const Operand& b);

}  // namespace rondo
