// The part of a record on derivatives. The calls are in ir/derivative.h.
#pragma once

#include <cstdint>
#include <vector>

#include "rondo/tensor.h"

namespace rondo::ir {

struct Node;
struct JvpCall;
struct TransposeCall;
struct ReverseCall;
struct Jvp;
struct Reverse;

/// The tangents of the results; an empty Tensor for a zero tangent.
using JvpRule = std::vector<Tensor> (*)(const JvpCall&);
/// The cotangents of the operands; an empty Tensor if it is zero, and for operands in which the op
/// is not linear.
using TransposeRule = std::vector<Tensor> (*)(const TransposeCall&);
/// The same for constructs, which recompute their results.
using RegionJvpRule = Jvp (*)(const JvpCall&);
using ReverseRule = Reverse (*)(const ReverseCall&);

/// In which operands (of those whose dtype has tangents) an op is linear. The jvp of an op that is
/// linear in the operands with tangents is the op itself on these.
enum class Linear : std::uint8_t {
  kNone,
  kJointly,     // jointly: concatenate
  kSeparately,  // in each while the others are constant: multiply
  kFirst,       // in operand 0
  kSecond,      // in operand 1
};

/// Every record has a jvp rule, or is linear, or has a zero derivative; an op without any of them
/// is differentiated as its expansion.
struct OpDerivative {
  bool zero = false;  // piecewise constant, or blocks tangents: floor, compare
  Linear linear = Linear::kNone;
  // For an op whose region or attributes decide whether it is linear; jvp is for nodes that are
  // not.
  bool (*is_linear)(const Node&) = nullptr;
  JvpRule jvp = nullptr;
  TransposeRule transpose = nullptr;  // of linear ops
  RegionJvpRule region_jvp = nullptr;
  ReverseRule reverse = nullptr;
  bool own_forward = false;  // `reverse` computes the results differently from the regions
  bool by_user = false;      // the user's replacement of one: a rule, stop_gradient
};

}  // namespace rondo::ir
