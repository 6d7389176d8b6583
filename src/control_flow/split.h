// The derivative of a region, cut in two: what the forward run computes and keeps, and the
// backward pass.
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
  ir::Flags summed;  // parameters whose cotangent is added to a sum, which is a parameter for those
                     // among `given`, in order
  std::vector<ir::RestoredArray> restored;  // by constructs in the backward pass
  /// Carries that the backward pass has before the trip from what they were after it
  /// (control_flow/undo.h).
  std::vector<std::size_t> undone;

  /// The cotangents of results `first` to `last` - 1 that may have one, as arrays.
  std::vector<Tensor> of_results(std::span<const Tensor> cotangents, std::size_t first,
                                 std::size_t last) const;
  /// The sums so far that the program adds to, out of those of the parameters.
  std::vector<Tensor> take_sums(const ir::Cotangents& of_parameters) const;
  /// Adds what the program has given: a cotangent for each of `given`.
  void add(std::span<const Tensor> cotangents, const ir::Cotangents& of_parameters) const;
};

/// Does this thread make the derivative of a region? What that keeps may be kept again by the
/// construct around it, trip by trip, and cannot be a tape that grows.
bool derives_a_region() noexcept;
/// An array for residuals, each of which is written before it is read. What a construct around
/// keeps of it, it keeps as a whole: then it is zeros to begin with.
Tensor residual_rows(const TensorType& type, SourceLocation at);

/// Parameters that are not `summed` are carries and rows: a carry gets a cotangent even if it is
/// zero where `always` says so.
JointBody joint_body(const Function& region, const ir::Flags& perturbed, const ir::Flags& active,
                     const ir::Flags& always, const ir::Flags& summed, ir::Derivatives& derivatives,
                     SourceLocation at);

/// How the backward pass can know a parameter of the region.
enum class Availability : std::uint8_t {
  kUnavailable,  // not at all: what needs it is stored, or it is
  kAvailable,    // it is there again: an x of a scan, the index
  kInvariant,    // the same on every trip: what depends on such ones alone is computed once
};

struct SplitBody {
  Function forward;  // (parameters) -> (results, residuals)
  /// (residuals, results of `next`, parameters that are not kUnavailable, cotangents, sums, results
  /// of the joint program's `undone`) -> (cotangents, parameters of `undone`)
  Function backward;
  std::vector<TensorType> residuals;
  /// Results that the backward pass has seen as the parameter of the trip before: what carry
  /// `carry` was there is the residual `residual`.
  struct Next {
    std::size_t carry, residual;
  };
  std::vector<Next> next;
  /// Residuals that are results of the region anyway: their number; else -1.
  std::vector<std::int64_t> result_of_residual;

  std::int64_t residual_bytes() const;
};

/// Residuals are chosen (control_flow/residuals.h) so that few bytes are kept: what is invariant or
/// available is not, what is cheap to compute from others is computed again, and a value that gives
/// several others is kept in their place. Of a loop with `carries` the result of a carry is not
/// kept beside its parameter. Results from `first_stacked` on are kept anyway.
SplitBody split_body(const JointBody& joint, const std::vector<Availability>& availability,
                     std::size_t carries = 0, std::size_t first_stacked = SIZE_MAX);

/// The same of a loop's body, whose writes into its carries are undone where less is kept so; then
/// `joint` is changed to that.
SplitBody split_loop_body(JointBody& joint, const std::vector<Availability>& availability,
                          std::size_t carries, ir::Derivatives& derivatives,
                          std::size_t first_stacked = SIZE_MAX);

/// The parameters that results of a function depend on.
ir::Flags used_parameters(const Function& function, const ir::Flags& results);

/// Parameters and results of a loop body through which a derivative passes: the carries that are
/// perturbed and whose cotangent is not zero, by fixpoint.
struct ActiveCarries {
  ir::Flags perturbed;  // parameters of the body
  ir::Flags active;     // results of the body
};
/// `perturbed` for the body's parameters and `active` for its results as they are from outside;
/// carry i is parameter `first + i` and result i.
ActiveCarries active_carries(const Function& body, std::size_t first, std::size_t carries,
                             ir::Flags perturbed, ir::Flags active, ir::Derivatives& derivatives);
/// Only the first of the two: carries that have a tangent, among the body's parameters.
ir::Flags perturbed_carries(const Function& body, std::size_t first, std::size_t carries,
                            ir::Flags perturbed, ir::Derivatives& derivatives);

}  // namespace rondo::control_flow
