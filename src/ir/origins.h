// How a value of a wrong dtype came to be: by the carry of a loop whose init was a C++ scalar.
#pragma once

#include <string>

#include "rondo/tensor.h"

namespace rondo::ir {

/// "carry.x of the body of while_loop 'filter' (house.cc:12) began as the C++ double 0.5 at
/// house.cc:10: write 0.5f", if the tensor has its dtype from there, or is a C++ scalar itself;
/// else nothing. `wanted` is the dtype that is meant.
std::string scalar_origin(const Tensor& tensor, DType wanted);

/// The C++ scalar as it is written where `wanted` is meant: `0.5f`; and where it stands: "the C++
/// double 0.5 at house.cc:10: write 0.5f". The tensor is a scalar literal.
std::string scalar_advice(const Tensor& scalar, DType wanted);

}  // namespace rondo::ir
