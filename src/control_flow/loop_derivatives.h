// Reverse mode of while, fori and conditional. scan_derivative.h has that of scan, construct_jvp.h
// forward mode.
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

/// The parts of a while whose derivative is computed.
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
/// With residuals stacked (control_flow/while_tape.cc), for up to `limit` trips if that is known.
/// Otherwise on a growing tape; if `rows` is given, only for the first `rows` trips, after which
/// the loop ends.
ir::Reverse reverse_with_tape(const WhileProblem& problem, std::optional<std::int64_t> limit,
                              ir::Derivatives& derivatives,
                              std::optional<std::int64_t> rows = std::nullopt);
/// With the residuals of the first `rows` trips on a growing tape, and the remaining trips with a
/// few slots (control_flow/growing_tape.cc).
ir::Reverse reverse_growing(const WhileProblem& problem, std::int64_t rows,
                            ir::Derivatives& derivatives);
/// For how many trips a growing tape may keep the residuals of a loop of unknown length; nullopt if
/// the loop should have no such tape. `per_trip` is the size of one trip's residuals in bytes, more
/// than 0.
std::optional<std::int64_t> growing_tape_rows(const ir::ReverseCall& call, std::int64_t per_trip);

// Shared by these.
std::vector<std::string> leaf_names(const char* root, std::size_t count);
/// The paths of carries that are called what parameters [first, first + count) of a region are
/// called, with `suffix` behind: `carry.slab`.
std::vector<std::string> carry_paths(const Function& region, std::size_t first, std::size_t count,
                                     std::string_view suffix = "");
void append_tensors(std::vector<Tensor>& to, std::span<const Tensor> more);

}  // namespace rondo::control_flow
