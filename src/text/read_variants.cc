// Operations of StableHLO and HLO that take more types than the ops of ours with their names: the
// rest of their meaning.
#include <iterator>
#include <utility>

#include "base/for_dtype.h"
#include "fmt/format.h"
#include "ir/node.h"
#include "ops/reduce.h"
#include "rondo/ops.h"
#include "text/mlir/cursor.h"
#include "text/read_operation.h"

namespace rondo::text {

namespace {

std::vector<Tensor> as_ours(const ReadOperation& read) {
  return make_operation(*record_of(read.format, read.operation.name), read);
}
[[noreturn]] void fail(const ReadOperation& read, const std::string& message) {
  mlir::fail(read.text, read.operation.at, fmt::format("{}: {}", read.operation.name, message));
}

/// Of real and of complex numbers, by a function that takes both.
template <Tensor (*function)(const Operand&)>
std::vector<Tensor> read_of_both(const ReadOperation& read) {
  if (read.operands.size() != 1) fail(read, "it takes one operand");
  return {function({read.operands[0], read.at})};
}
std::vector<Tensor> read_atan2(const ReadOperation& read) {
  if (read.operands.size() != 2) fail(read, "it takes two operands");
  const Tensor &y = read.operands[0], &x = read.operands[1];
  if (!is_complex(y.dtype()) || !is_complex(x.dtype())) return {atan2({y, read.at}, {x, read.at})};
  // -i log((x + i y) / sqrt(x^2 + y^2))
  const Tensor turned = complex(-imag(y), real(y));
  const Tensor whole = log((x + turned) / sqrt(x * x + y * y));
  return {complex(imag(whole), -real(whole))};
}

/// Complex numbers are ordered by their real parts, then by their imaginary ones.
template <bool largest>
std::vector<Tensor> read_extreme(const ReadOperation& read) {
  if (read.operands.size() != 2 || !is_complex(read.operands[0].dtype()) ||
      read.operands[0].type() != read.operands[1].type())
    return as_ours(read);
  const Tensor& a = largest ? read.operands[0] : read.operands[1];
  const Tensor& b = largest ? read.operands[1] : read.operands[0];
  const Tensor same = eq(real(a), real(b));
  const Tensor first = (real(a) > real(b)) | (same & (imag(a) >= imag(b)));
  return {where(first, read.operands[0], read.operands[1])};
}

/// Bits of the elements along a new last axis, the lowest first.
Tensor bits_of_elements(const Tensor& x) {
  const std::int64_t width = 8 * byte_width(x.dtype());
  const Tensor bits = bitcast_convert(x, unsigned_dtype(byte_width(x.dtype())));
  std::vector<std::int64_t> dims = x.shape().vector();
  dims.push_back(width);
  const Tensor place =
      iota({bits.dtype(), Shape(dims)}, static_cast<std::int64_t>(dims.size()) - 1);
  return ne(shift_right_logical(expand_dims(bits, -1), place) & 1, 0);
}
/// The elements that have these bits along the last axis.
Tensor elements_of_bits(const Tensor& x, DType dtype) {
  const DType word = unsigned_dtype(byte_width(dtype));
  const Tensor place = iota({word, x.shape()}, x.rank() - 1);
  const Tensor placed = shift_left(convert(x, word), place);
  return bitcast_convert(
      ops::reduce_by(ops::Combiner::kOr, placed, {x.rank() - 1}, placed.node()->location()), dtype);
}

/// Also between preds, a bit each, and other dtypes, and between complex numbers of both widths.
std::vector<Tensor> read_bitcast(const ReadOperation& read) {
  if (read.operands.size() != 1 || read.operation.types.size() != 1) return as_ours(read);
  const Tensor& x = read.operands[0];
  const DType to = read.operation.types[0].dtype, from = x.dtype();
  if (from == to) return {x};
  if (is_pred(from) && !is_complex(to)) {
    if (x.rank() == 0 || x.dim(-1) != 8 * byte_width(to))
      fail(read, fmt::format("{} are not the bits of {}", x.type().str(), dtype_name(to)));
    return {elements_of_bits(x, to)};
  }
  if (is_pred(to) && !is_complex(from)) return {bits_of_elements(x)};
  if (from == DType::kC128 && to == DType::kC64) {
    // Both parts as two halves each, which are the parts of a number.
    const auto half = [&](const Tensor& part) {
      const Tensor halves = bitcast_convert(part, DType::kF32);
      return complex(take(halves, 0, -1), take(halves, 1, -1));
    };
    return {stack({half(real(x)), half(imag(x))}, -1)};
  }
  if (from == DType::kC64 && to == DType::kC128 && x.rank() > 0 && x.dim(-1) == 2) {
    const auto part = [&](std::int64_t i) {
      const Tensor number = take(x, i, -1);
      return bitcast_convert(stack({real(number), imag(number)}, -1), DType::kF64);
    };
    return {complex(part(0), part(1))};
  }
  return as_ours(read);
}

/// A result in a wider type is summed in it.
std::vector<Tensor> read_convolution(const ReadOperation& read) {
  if (read.operation.types.size() != 1) return as_ours(read);
  const DType to = read.operation.types[0].dtype;
  std::vector<Tensor> operands;
  for (const Tensor& x : read.operands) operands.push_back(convert({x, read.at}, to));
  ReadOperation wide = read;
  wide.operands = operands;
  return as_ours(wide);
}

/// The adjoint of a complex matrix is the conjugate, transposed.
std::vector<Tensor> read_triangular_solve(const ReadOperation& read) {
  const mlir::Attribute* const transposed = read.operation.find("transpose_a");
  if (!transposed || transposed->text != "ADJOINT" || read.operands.empty() ||
      !is_complex(read.operands[0].dtype()))
    return as_ours(read);
  mlir::Operation operation = read.operation;
  for (mlir::Entry& entry : operation.attributes.own())
    if (entry.name == "transpose_a") entry.value.text = "TRANSPOSE";
  std::vector<Tensor> operands(read.operands.begin(), read.operands.end());
  operands[0] = conj({operands[0], read.at});
  return as_ours({read.format, read.text, operation, operands, read.regions, read.at});
}

constexpr NamedReader kVariants[] = {
    {"stablehlo.atan2", "atan2", read_atan2},
    {"stablehlo.bitcast_convert", "bitcast-convert", read_bitcast},
    {"stablehlo.cbrt", "cbrt", read_of_both<cbrt>},
    {"stablehlo.convolution", "convolution", read_convolution},
    {"stablehlo.imag", "imag", read_of_both<imag>},
    {"stablehlo.maximum", "maximum", read_extreme<true>},
    {"stablehlo.minimum", "minimum", read_extreme<false>},
    {"stablehlo.real", "real", read_of_both<real>},
    {"stablehlo.triangular_solve", "triangular-solve", read_triangular_solve}};

}  // namespace

std::span<const NamedReader> variants() { return kVariants; }

}  // namespace rondo::text
