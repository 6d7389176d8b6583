// Explains a wrong dtype that came from the C++ scalar with which a loop's carry was initialized.
#pragma once

#include <string>

#include "rondo/tensor.h"

namespace rondo::ir {

/// "carry.x of the body of while_loop 'filter' (house.cc:12) began as the C++ double 0.5 at
/// house.cc:10: write 0.5f", if the tensor's dtype comes from there, or if it is a C++ scalar
/// itself; else an empty string. `wanted` is the intended dtype.
std::string scalar_origin(const Tensor& tensor, DType wanted);

/// A C++ scalar as it is written if `wanted` is intended: `0.5f`; and its location: "the C++ double
/// 0.5 at house.cc:10: write 0.5f". The tensor is a scalar literal.
std::string scalar_advice(const Tensor& scalar, DType wanted);

}  // namespace rondo::ir
