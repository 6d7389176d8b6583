// What a record says of derivatives. The calls are in ir/derivative.h.
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

/// The tangents of the results; an empty Tensor where it is zero.
using JvpRule = std::vector<Tensor> (*)(const JvpCall&);
/// The cotangents of the operands; an empty Tensor where it is zero and for those that are not
/// linear.
using TransposeRule = std::vector<Tensor> (*)(const TransposeCall&);
/// The same for constructs, which compute their results anew.
using RegionJvpRule = Jvp (*)(const JvpCall&);
using ReverseRule = Reverse (*)(const ReverseCall&);

/// In which operands (of those whose dtype has tangents) an op is linear. The jvp of an op that is
/// linear where its tangents are is the op itself on them.
enum class Linear : std::uint8_t {
  kNone,
  kJointly,     // in all of them together: concatenate
  kSeparately,  // in each while the others stay as they are: multiply
  kFirst,       // in operand 0
};

/// Every record has a jvp rule, or is linear, or says that its derivative is zero; an op without
/// any of them is differentiated as what it expands to.
struct OpDerivative {
  bool zero = false;  // piecewise constant, or no tangent can pass: floor, compare
  Linear linear = Linear::kNone;
  // Of an op whose region or attributes decide whether it is linear; jvp is for those that are not.
  bool (*is_linear)(const Node&) = nullptr;
  JvpRule jvp = nullptr;
  TransposeRule transpose = nullptr;  // of what is linear
  RegionJvpRule region_jvp = nullptr;
  ReverseRule reverse = nullptr;
  bool own_forward = false;  // `reverse` computes the results in another way than the regions do
  bool by_user = false;      // what the user puts in place of one: a rule, stop_gradient
};

}  // namespace rondo::ir
