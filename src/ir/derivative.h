// The arguments and results of the records' derivative rules. Rules are ordinary Tensor code; the
// drivers in src/transforms call them and name no op. New nodes of a rule have the source line of
// the node that it differentiates.
//
// Forward mode pushes a tangent through each op. Reverse mode runs the jvp rule on placeholder
// tangents, which gives a linear program, and transposes that op by op. Constructs with regions
// have their own reverse rule, which splits the derivative of a region into what the forward run
// can compute and what needs the cotangents.
//
// An empty Tensor is a zero tangent or cotangent throughout; nothing is computed with it.
#pragma once

#include <functional>
#include <span>
#include <string>
#include <vector>

#include "ir/cotangents.h"
#include "ir/node.h"

namespace rondo::ir {

class Derivatives;

/// A flag for each of several values.
using Flags = std::vector<bool>;

/// Floats and complex numbers have tangents; integers and preds have none.
inline bool has_tangent(const TensorType& type) {
  return is_floating(type.dtype) || is_complex(type.dtype);
}

/// The arguments of an op's jvp rule.
struct JvpCall {
  const Node& node;                  // attributes, regions, the user's line
  std::span<const Tensor> operands;  // in the program that is being built
  std::span<const Tensor> results;
  std::span<const Tensor> tangents;  // of the operands
  Derivatives& derivatives;

  SourceLocation at() const { return node.location(); }
  const Tensor& x(std::size_t i) const { return operands[i]; }
  const Tensor& y(std::size_t i = 0) const { return results[i]; }
  const Tensor& dx(std::size_t i) const { return tangents[i]; }
  bool has(std::size_t i) const { return !tangents[i].empty(); }
  /// The tangent as an array: zeros if it is zero.
  Tensor full(std::size_t i) const;
  /// TraceError: `<op>: <message>`, with the user's line.
  [[noreturn]] void fail(const std::string& message) const;
};

/// The arguments of the transpose rule of an op that is linear in the operands that `linear` flags.
struct TransposeCall {
  const Node& node;
  std::span<const Tensor> operands;  // linear ones may be used for their types only
  const Flags& linear;
  std::span<const Tensor> cotangents;  // of the results; at least one is not zero
  const Cotangents& of_operands;       // to add cotangents that are parts to
  Derivatives& derivatives;

  SourceLocation at() const { return node.location(); }
  const Tensor& x(std::size_t i) const { return operands[i]; }
  const TensorType& type(std::size_t i) const { return node.operand_type(i); }
  const Tensor& ct(std::size_t i = 0) const { return cotangents[i]; }
  /// The cotangent as an array: zeros if it is zero.
  Tensor full(std::size_t i = 0) const;
  [[noreturn]] void fail(const std::string& message) const;
};

/// Values and their tangents.
struct Jvp {
  std::vector<Tensor> results;
  std::vector<Tensor> tangents;
};

/// Maps the cotangents of results to those of operands, and adds these to the sums of other uses.
/// So a part of an array is added in place wherever it is read, also in a branch or an inner loop.
using Pullback =
    std::function<void(std::span<const Tensor> cotangents, const Cotangents& of_operands)>;

/// Values, and their backward pass.
struct Reverse {
  std::vector<Tensor> results;
  Pullback pullback;
};

/// The arguments of a construct's reverse rule.
struct ReverseCall {
  const Node& node;
  std::span<const Tensor> operands;
  Flags perturbed;  // operands whose cotangent is needed
  Flags active;     // results that may have a cotangent
  Flags summed;     // operands whose sum will not be empty when the pullback runs; or empty
  Derivatives& derivatives;

  bool is_summed(std::size_t i) const { return i < summed.size() && summed[i]; }

  SourceLocation at() const { return node.location(); }
};

/// The drivers, as rules call them on regions.
class Derivatives {
 public:
  virtual ~Derivatives() = default;
  /// The function on `arguments` with its tangents, as new nodes.
  virtual Jvp jvp(const Function& function, std::span<const Tensor> arguments,
                  std::span<const Tensor> tangents) = 0;
  /// The function on `arguments`, as new nodes that keep what the pullback needs. The pullback adds
  /// to the cotangents of the perturbed arguments. `summed` flags those whose sum will not be empty
  /// by then.
  virtual Reverse reverse(const Function& function, std::span<const Tensor> arguments,
                          const Flags& perturbed, const Flags& active,
                          const Flags& summed = {}) = 0;
  /// The derivative of an op by way of what `rule` expands it to.
  virtual Jvp jvp_expanded(const JvpCall& call, ExpandRule rule) = 0;
  virtual Reverse reverse_expanded(const ReverseCall& call, ExpandRule rule) = 0;
  /// Which results may have a tangent if these parameters have one.
  virtual Flags perturbed_results(const Function& function, const Flags& parameters) = 0;
  /// Which parameters may get a cotangent if these results have one.
  virtual Flags active_parameters(const Function& function, const Flags& results) = 0;
  /// The same program without unneeded parts.
  virtual Function simplified(const Function& function) = 0;
};

/// The sum of two tangents, either of which may be zero.
Tensor add_tangents(const Tensor& a, const Tensor& b);
/// A tangent or cotangent as an array: zeros if it is zero.
Tensor full_tangent(const Tensor& tangent, const TensorType& type);
/// Runs a pullback alone, without other uses: a cotangent or an empty Tensor for each of `count`
/// operands.
std::vector<Tensor> pull_back(const Pullback& pullback, std::span<const Tensor> cotangents,
                              std::size_t count);

}  // namespace rondo::ir
