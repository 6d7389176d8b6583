// Shared by the op families: the dtype of scalars beside tensors, broadcasting, axes, and the
// kernels' dispatch on dtypes.
#pragma once

#include <array>
#include <complex>
#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/for_dtype.h"
#include "fmt/format.h"
#include "ir/kernel.h"
#include "ir/node.h"
#include "ir/spelling.h"

namespace rondo::ops {

using ir::dtype_constant;
using ir::fail;
using ir::InferContext;
using ir::InferredTypes;
using ir::make;
using ir::Node;
using ir::OpDef;
using ir::Spelling;

/// The operands as tensors of one dtype (scalars get the tensors' dtype; scalars alone get one of
/// theirs, floating before integer) and, by NumPy's rules, of one shape. Throws TraceError naming
/// both types and the remedy.
std::array<Tensor, 2> matched(const Spelling& op, const Operand& a, const Operand& b);
/// The same without broadcasting.
std::array<Tensor, 2> same_dtype(const Spelling& op, const Operand& a, const Operand& b);

/// The operand as a tensor; a scalar gets the dtype of its C++ type. Throws TraceError for an empty
/// tensor.
Tensor any_tensor(std::string_view op, const Operand& operand);

/// A C++ scalar where a tensor's dtype applies (Tensor::is_scalar_literal) as a constant of that
/// dtype; any other tensor unchanged. Throws TraceError if the scalar is out of range.
Tensor adopt_dtype(const Tensor& x, DType dtype, SourceLocation at);

/// How to make two operands of different dtypes agree: convert the integer to the float's dtype,
/// the narrower to the wider one's.
std::string conversion_remedy(DType first, DType second, std::string_view first_name = "the first",
                              std::string_view second_name = "the second");

/// NumPy's broadcast shape of two; throws TraceError if they do not broadcast. For an elementwise
/// op the error names the product of matrices if that would fit.
Shape broadcast_shape(std::string_view op, const TensorType& a, const TensorType& b,
                      SourceLocation at, bool elementwise = false);
/// x with leading axes added and axes of size 1 repeated; x itself if nothing changes.
Tensor broadcast(const Tensor& x, const Shape& shape, SourceLocation at);

/// An axis in [0, rank) from one that may count from the end. Throws TraceError out of range.
std::int64_t normal_axis(std::string_view op, std::int64_t axis, std::int64_t rank,
                         SourceLocation at);
/// Sorted and distinct axes; all of them for none given. Throws TraceError out of range or for an
/// axis named twice.
std::vector<std::int64_t> normal_axes(std::string_view op, const std::vector<std::int64_t>& axes,
                                      std::int64_t rank, SourceLocation at);

/// Copies elements by their width only, for ops that move data: calls f.template operator()<U>()
/// with an unsigned type of that width (16 bytes: std::complex<double>).
template <class F>
decltype(auto) for_width(std::int64_t width, F&& f) {
  switch (width) {
    case 1:
      return f.template operator()<std::uint8_t>();
    case 2:
      return f.template operator()<std::uint16_t>();
    case 4:
      return f.template operator()<std::uint32_t>();
    case 8:
      return f.template operator()<std::uint64_t>();
    default:
      return f.template operator()<std::complex<double>>();
  }
}

}  // namespace rondo::ops
