// Reverse mode of while, fori and conditional; that of scan is in scan_derivative.h, forward mode
// of all in construct_jvp.h.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "control_flow/split.h"
#include "control_flow/while.h"
#include "ir/derivative.h"

namespace rondo::control_flow {

ir::Reverse while_reverse(const ir::ReverseCall& call);
ir::Reverse fori_reverse(const ir::ReverseCall& call);
ir::Reverse conditional_reverse(const ir::ReverseCall& call);

/// A while whose derivative is wanted, taken apart.
struct WhileProblem {
  const ir::Node& node;
  const WhileAttributes& attributes;
  std::size_t carries;
  std::vector<Tensor> operands;  // the carry, then the invariants
  JointBody joint;
  ActiveCarries flags;
  SourceLocation at;

  std::span<const Tensor> carry() const { return std::span(operands).first(carries); }
  std::span<const Tensor> invariants() const { return std::span(operands).subspan(carries); }
};

/// Reverse mode for an unknown number of trips with few slots (control_flow/online.cc).
ir::Reverse reverse_online(const WhileProblem& problem, std::int64_t slots,
                           ir::Derivatives& derivatives);
/// With residuals stacked (control_flow/while_tape.cc), for up to `limit` trips where it is known.
/// Where it is not, on a tape that grows: of the first `rows` trips alone, if that is given, after
/// which the loop ends.
ir::Reverse reverse_with_tape(const WhileProblem& problem, std::optional<std::int64_t> limit,
                              ir::Derivatives& derivatives,
                              std::optional<std::int64_t> rows = std::nullopt);
/// With those of the first `rows` trips on a tape that grows, and of what is left with few slots
/// (control_flow/growing_tape.cc).
ir::Reverse reverse_growing(const WhileProblem& problem, std::int64_t rows,
                            ir::Derivatives& derivatives);
/// How many trips' residuals a tape that grows may keep for a loop of unknown length; none where it
/// should have no such tape. `per_trip` is the residuals of a trip in bytes, more than 0.
std::optional<std::int64_t> growing_tape_rows(const ir::ReverseCall& call, std::int64_t per_trip);

// What these share.
std::vector<std::string> leaf_names(const char* root, std::size_t count);
void append_tensors(std::vector<Tensor>& to, std::span<const Tensor> more);

}  // namespace rondo::control_flow
