// Functions of complex numbers in terms of their parts, for code that computes elements in loops.
#pragma once

#include <span>

#include "rondo/tensor.h"

namespace rondo::ops {

// Formulas (ops/expansions.h) on complex operands. Where the host's functions (complex_math.h) look
// for infinite parts these give what the formula does, which may be NaN.
Tensor complex_quotient(std::span<const Tensor> operands);
Tensor complex_abs_of_parts(std::span<const Tensor> operands);
Tensor complex_sign_of_parts(std::span<const Tensor> operands);
Tensor complex_exp_of_parts(std::span<const Tensor> operands);
Tensor complex_expm1_of_parts(std::span<const Tensor> operands);
Tensor complex_log_of_parts(std::span<const Tensor> operands);
Tensor complex_log1p_of_parts(std::span<const Tensor> operands);
Tensor complex_sqrt_of_parts(std::span<const Tensor> operands);
Tensor complex_rsqrt_of_parts(std::span<const Tensor> operands);
Tensor complex_logistic_of_parts(std::span<const Tensor> operands);
Tensor complex_power_of_parts(std::span<const Tensor> operands);
Tensor complex_sin_of_parts(std::span<const Tensor> operands);
Tensor complex_cos_of_parts(std::span<const Tensor> operands);
Tensor complex_tan_of_parts(std::span<const Tensor> operands);
Tensor complex_sinh_of_parts(std::span<const Tensor> operands);
Tensor complex_cosh_of_parts(std::span<const Tensor> operands);
Tensor complex_tanh_of_parts(std::span<const Tensor> operands);

}  // namespace rondo::ops
