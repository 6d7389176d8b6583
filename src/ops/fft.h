// The record of Fourier transforms.
#pragma once

#include <cstdint>
#include <vector>

#include "ops/support.h"

namespace rondo::ops {

enum class Fft : std::uint8_t { kForward, kInverse, kReal, kInverseReal };
/// `FFT`, `IFFT`, `RFFT`, `IRFFT`
std::string_view fft_name(Fft kind);

/// A transform along the last axes, at most three, of these lengths: those of the operand, except
/// that the last axis of a half transform has length / 2 + 1 elements. Forward and inverse ones map
/// complex numbers to complex numbers, real ones reals to the first half, inverse real ones this
/// half to reals.
struct FftAttributes {
  Fft kind;
  std::vector<std::int64_t> length;
  bool operator==(const FftAttributes&) const = default;
};
extern const ir::OpDef kFft;

std::unique_ptr<ir::Kernel> prepare_fft(const Node& node);
// fft_in_loops.cc
std::vector<Tensor> fft_in_loops(const Node& node, std::span<const Tensor> operands);

}  // namespace rondo::ops
