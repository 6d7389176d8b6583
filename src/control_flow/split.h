// The derivative of a region, split in two: the forward run with its residuals, and the backward
// pass.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/derivative.h"
#include "ir/node.h"

namespace rondo::control_flow {

/// A region and its backward pass as one program.
struct JointBody {
  /// (parameters, cotangents, sums, results of `undone`) -> (results, cotangents of `given`,
  /// parameters of `undone`)
  Function function;
  std::size_t parameters;          // of the region
  std::size_t results;             // of the region
  ir::Flags active;                // results that have a cotangent among the parameters, in order
  std::vector<std::size_t> given;  // parameters that get a cotangent
  ir::Flags summed;  // parameters whose cotangents are added to a sum; the sums of those
                     // among `given` are parameters, in order
  std::vector<ir::RestoredArray> restored;  // by constructs in the backward pass
  /// Carries of which the backward pass computes the value before the trip from the value after it
  /// (control_flow/undo.h).
  std::vector<std::size_t> undone;

  /// The cotangents of results `first` to `last` - 1 that may have one, as arrays.
  std::vector<Tensor> of_results(std::span<const Tensor> cotangents, std::size_t first,
                                 std::size_t last) const;
  /// The current sums to which the program adds, out of those of the parameters.
  std::vector<Tensor> take_sums(const ir::Cotangents& of_parameters) const;
  /// Adds the program's results: a cotangent for each of `given`.
  void add(std::span<const Tensor> cotangents, const ir::Cotangents& of_parameters) const;
};

/// Whether this thread is differentiating a region. Its residuals may be kept once more by the
/// enclosing construct, on each trip, and cannot be a growing tape.
bool derives_a_region() noexcept;
/// An array for residuals, each of which is written before it is read. Initialized to zeros if an
/// enclosing construct keeps it, since that keeps it as a whole.
Tensor residual_rows(const TensorType& type, SourceLocation at);

/// Parameters that are not `summed` are carries and xs. With `always`, a carry gets a cotangent
/// even if it is zero.
JointBody joint_body(const Function& region, const ir::Flags& perturbed, const ir::Flags& active,
                     const ir::Flags& always, const ir::Flags& summed, ir::Derivatives& derivatives,
                     SourceLocation at);

/// How the backward pass obtains a parameter of the region.
enum class Availability : std::uint8_t {
  kUnavailable,  // not at all: it, or what needs it, is stored
  kAvailable,    // it has it: an x of a scan, the index
  kInvariant,    // equal on every trip: what depends on such ones only is computed once
};

struct SplitBody {
  Function forward;  // (parameters) -> (results, residuals)
  /// (residuals, results of `next`, parameters that are not kUnavailable, cotangents, sums, results
  /// of the joint program's `undone`) -> (cotangents, parameters of `undone`)
  Function backward;
  std::vector<TensorType> residuals;
  /// Results that the backward pass has seen as parameters of the following trip: there, the value
  /// of carry `carry` is the residual `residual`.
  struct Next {
    std::size_t carry, residual;
  };
  std::vector<Next> next;
  /// For residuals that are results of the region anyway, the number of the result; else -1.
  std::vector<std::int64_t> result_of_residual;

  std::int64_t residual_bytes() const;
};

/// Residuals are chosen (control_flow/residuals.h) so that few bytes are kept: no invariant or
/// available values, nothing that is cheap to recompute, and one value in place of several that
/// follow from it. In a loop with `carries` carries, the result of a carry is not kept beside its
/// parameter. Results from `first_stacked` on are kept anyway.
SplitBody split_body(const JointBody& joint, const std::vector<Availability>& availability,
                     std::size_t carries = 0, std::size_t first_stacked = SIZE_MAX);

/// The same for the body of a loop. Its writes into carries are undone if that keeps less; `joint`
/// is then changed accordingly.
SplitBody split_loop_body(JointBody& joint, const std::vector<Availability>& availability,
                          std::size_t carries, ir::Derivatives& derivatives,
                          std::size_t first_stacked = SIZE_MAX);

/// The parameters that results of a function depend on.
ir::Flags used_parameters(const Function& function, const ir::Flags& results);

/// Parameters and results of a loop body through which a derivative flows: the carries that are
/// perturbed and whose cotangent is not zero, by fixpoint.
struct ActiveCarries {
  ir::Flags perturbed;  // parameters of the body
  ir::Flags active;     // results of the body
};
/// `perturbed` flags the body's parameters and `active` its results, as known from outside. Carry i
/// is parameter `first + i` and result i.
ActiveCarries active_carries(const Function& body, std::size_t first, std::size_t carries,
                             ir::Flags perturbed, ir::Flags active, ir::Derivatives& derivatives);
/// Only the first of the two: the carries that have a tangent, as flags of the body's parameters.
ir::Flags perturbed_carries(const Function& body, std::size_t first, std::size_t carries,
                            ir::Flags perturbed, ir::Derivatives& derivatives);

}  // namespace rondo::control_flow
