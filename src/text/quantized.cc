// StableHLO's specification, "Quantization computations".
#include "text/quantized.h"

#include <algorithm>
#include <utility>

#include "fmt/format.h"
#include "ops/broadcast.h"
#include "rondo/ops.h"
#include "text/mlir/cursor.h"

namespace rondo::text {

namespace {

using mlir::Quantization;

/// A number, or one for each index along the axis, as an array of this shape.
template <class T>
Tensor spread(const std::vector<T>& numbers, DType dtype, const Quantization& meaning,
              const Shape& shape, SourceLocation at) {
  const Tensor all =
      convert({Tensor(Literal::from(numbers), at), at}, dtype);  // in the order of the axis
  if (meaning.axis >= 0) return ops::broadcast_axes(all, shape, {meaning.axis}, at);
  return ops::broadcast_axes(ops::reshape_to(all, {}, at), shape, {}, at);
}

Tensor dequantize(const Tensor& x, const Quantization& meaning, SourceLocation at) {
  const Tensor difference = convert({x, at}, DType::kS64) -
                            spread(meaning.zero_points, DType::kS64, meaning, x.shape(), at);
  return convert({difference, at}, meaning.expressed) *
         spread(meaning.scales, meaning.expressed, meaning, x.shape(), at);
}

Tensor quantize(const Tensor& x, const Quantization& meaning, DType stored, SourceLocation at) {
  const Tensor scaled = x / spread(meaning.scales, x.dtype(), meaning, x.shape(), at) +
                        spread(meaning.zero_points, x.dtype(), meaning, x.shape(), at);
  const Tensor least = Tensor(static_cast<double>(meaning.least), at);
  const Tensor most = Tensor(static_cast<double>(meaning.most), at);
  const Tensor fits =
      clamp(convert({least, at}, x.dtype()), scaled, convert({most, at}, x.dtype()));
  return convert({round(fits), at}, stored);
}

bool is_quantized(const mlir::TypeDetailsPointer& details) {
  return details && !details->quantized.empty();
}

}  // namespace

std::optional<RealOperation> with_real_types(std::string_view text,
                                             const mlir::Operation& operation,
                                             std::span<const Tensor> operands, SourceLocation at) {
  if (!is_quantized(operation.details) && !is_quantized(operation.operand_details))
    return std::nullopt;
  if (operation.name == "stablehlo.bitcast_convert") return std::nullopt;
  if (!operation.regions.empty() || operation.name.substr(0, 10) != "stablehlo.")
    mlir::fail(text, operation.at,
               fmt::format("{}: quantized types are not supported here", operation.name));
  RealOperation real{operation, {operands.begin(), operands.end()}};
  // In the short form one type is that of all operands and results.
  const bool shared = !operation.has_operand_types;
  const mlir::TypeDetailsPointer& of_operands =
      shared ? operation.details : operation.operand_details;
  if (is_quantized(of_operands)) {
    for (const Quantization& meaning : of_operands->quantized) {
      for (std::size_t i = 0; i < real.operands.size(); i++) {
        if (i != meaning.type && !shared) continue;
        Tensor& x = real.operands[i];
        if (!is_integer(x.dtype()) ||
            (meaning.axis >= 0 &&
             (meaning.axis >= x.rank() ||
              x.dim(meaning.axis) != static_cast<std::int64_t>(meaning.scales.size()))))
          mlir::fail(
              text, operation.at,
              fmt::format("{}: operand {} does not have its quantized type", operation.name, i));
        x = dequantize(x, meaning, at);
      }
    }
  }
  if (is_quantized(operation.details)) {
    for (const Quantization& meaning : operation.details->quantized)
      real.operation.types[meaning.type].dtype = meaning.expressed;
  }
  real.operation.details = real.operation.operand_details = nullptr;
  return real;
}

std::vector<Tensor> quantized_results(const mlir::Operation& operation, std::vector<Tensor> results,
                                      SourceLocation at) {
  if (!is_quantized(operation.details)) return results;
  for (const Quantization& meaning : operation.details->quantized) {
    if (meaning.type < results.size())
      results[meaning.type] =
          quantize(results[meaning.type], meaning, operation.types[meaning.type].dtype, at);
  }
  return results;
}

}  // namespace rondo::text
