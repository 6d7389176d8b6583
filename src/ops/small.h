// Numbers of small dtypes (is_small) as the bytes that store them.
#pragma once

#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::ops {

/// The numbers of bytes of a small dtype, which are s8 or u8, in computing_dtype(dtype).
Tensor numbers_of(const Tensor& bytes, DType dtype, SourceLocation at);
/// The bytes of numbers of any real dtype, rounded or wrapped as a conversion does.
Tensor bytes_of(const Tensor& numbers, DType dtype, SourceLocation at);

// The bytes of results from those of operands (ir::BytesRule).
std::vector<Tensor> convert_bytes(const ir::Node& node, std::span<const Tensor> operands);
std::vector<Tensor> bitcast_bytes(const ir::Node& node, std::span<const Tensor> operands);
/// Of an op on the bits of integers, which must not see the sign repeated: on u8.
std::vector<Tensor> bits_on_bytes(const ir::Node& node, std::span<const Tensor> operands);
/// Of shift_right_arithmetic, which repeats the upper bit of unsigned integers too.
std::vector<Tensor> arithmetic_shift_on_bytes(const ir::Node& node,
                                              std::span<const Tensor> operands);
/// Of count_leading_zeros.
std::vector<Tensor> leading_zeros_on_bytes(const ir::Node& node, std::span<const Tensor> operands);

}  // namespace rondo::ops
