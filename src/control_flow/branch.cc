#include "control_flow/branch.h"

#include <algorithm>
#include <utility>

#include "control_flow/branch_tree.h"
#include "control_flow/carry.h"
#include "control_flow/construct_jvp.h"
#include "control_flow/eager.h"
#include "control_flow/loop_batch.h"
#include "control_flow/loop_derivatives.h"
#include "control_flow/signature.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/index_range.h"
#include "ir/layout.h"
#include "ir/read_construct.h"
#include "ops/elementwise.h"
#include "ops/support.h"
#include "rondo/ops/elementwise.h"

namespace rondo::control_flow {

namespace {

ir::InferredTypes infer_conditional(const ir::InferContext& context) {
  if (context.operands.empty() || context.regions.empty())
    context.fail(
        "needs a selector and a branch\n  Give the selector as the first operand, and a region for "
        "each branch.");
  const TensorType& selector = context.type(0);
  if (selector != pred() && selector != s32()) {
    context.fail(
        fmt::format("the selector must be pred[] or s32[], it is {}\n  Compare for a pred, "
                    "or convert the number of a branch: rondo::convert(x, DType::kS32).",
                    selector.str()));
  }
  return branch_types(context);
}

ir::RegionLayout conditional_layout(const ir::Node& node) {
  ir::RegionLayout layout;
  layout.kind = ir::RegionLayout::Kind::kBranch;
  layout.fixed = 1;
  layout.name = node.attrs<ConditionalAttributes>().name;
  return layout;
}

ir::Attributes conditional_relayout(const ir::Node&, const ir::RegionLayout& layout) {
  return ConditionalAttributes{std::string(layout.name)};
}

/// A pred takes the first branch when true. Of an index, all that are out of range take the last
/// branch, as in StableHLO and HLO.
std::vector<Tensor> read_conditional(const ir::ReadConstruct& read) {
  if (read.operands.size() != 1)
    ir::fail("conditional", "needs one operand, the selector\n  Branches use values from outside.",
             read.at);
  Tensor selector = read.operands[0];
  if (is_pred(selector.dtype()))
    return detail::branch({selector, read.at}, detail::BranchKind::kCond, read.regions, {});
  const auto last = static_cast<std::int32_t>(read.regions.size()) - 1;
  selector = where(selector < 0, last, selector);
  return detail::branch({selector, read.at}, detail::BranchKind::kSwitchCase, read.regions, {});
}

}  // namespace

const ir::OpDef kConditional{
    .name = "conditional",
    .types = {.infer = infer_conditional},
    .derivative = {.region_jvp = construct_jvp, .reverse = conditional_reverse},
    .batching = {.rule = conditional_batch, .varying = conditional_batched},
    .text = {.hlo = "conditional",
             .stablehlo = "stablehlo.case",
             .attributes = &ir::kFieldText<ConditionalAttributes>,
             .read = read_conditional},
    .construct = {
        .flow = ir::Flow::kSelect, .layout = conditional_layout, .relayout = conditional_relayout}};

namespace {

using detail::BranchKind;

const char* kind_name(BranchKind kind) {
  return kind == BranchKind::kSwitchCase ? "switch_case" : "cond";
}

std::string branch_name(BranchKind kind, std::size_t branch) {
  if (kind == BranchKind::kSwitchCase) return fmt::format("branch {} of switch_case", branch);
  return branch == 0 ? "the true branch of cond" : "the false branch of cond";
}

/// Gives the C++ scalars among the results the dtypes of the other branches, and compares all
/// branches with the first.
void check_branches(BranchKind kind, std::vector<RegionTrace>& branches, SourceLocation at) {
  Leaves& first = branches[0].out();
  std::string differences;
  for (std::size_t b = 0; b < branches.size(); b++) {
    Leaves& other = branches[b].out();
    if (other.structure != first.structure || other.paths != first.paths) {
      differences += fmt::format(
          "\n  structure: {} returns {} leaves, {} returns {}; {}", branch_name(kind, 0),
          first.paths.size(), branch_name(kind, b), other.paths.size(),
          detail::structure_difference(first.structure, other.structure, "result"));
      continue;
    }
    check_not_empty(branch_name(kind, b), other, at);
  }
  for (std::size_t i = 0; differences.empty() && i < first.values.size(); i++) {
    const Tensor* meant = nullptr;
    for (RegionTrace& branch : branches) {
      if (!meant && !branch.out().values[i].is_scalar_literal()) meant = &branch.out().values[i];
    }
    const DType dtype = meant ? meant->dtype() : first.values[i].dtype();
    for (RegionTrace& branch : branches) {
      try {
        branch.out().values[i] = ops::adopt_dtype(branch.out().values[i], dtype, at);
      } catch (const TraceError&) {
        // A scalar that the dtype cannot hold is listed with the other differences.
      }
    }
  }
  if (differences.empty()) {
    for (std::size_t b = 1; b < branches.size(); b++) {
      for (std::size_t i = 0; i < first.values.size(); i++) {
        const Tensor &x = first.values[i], &y = branches[b].out().values[i];
        if (x.type() == y.type()) continue;
        differences += fmt::format("\n  {}: {} returns {} ({}), {} returns {} ({})", first.paths[i],
                                   branch_name(kind, 0), x.type().str(), origin(x),
                                   branch_name(kind, b), y.type().str(), origin(y));
      }
    }
  }
  if (differences.empty()) return;
  throw TraceError(
      fmt::format(
          "{}: the branches return different types{}\n  at {}\n  Make them agree, for example with "
          "rondo::convert(x, dtype) or broadcast_to.",
          kind_name(kind), differences, at.str()),
      at);
}

RegionTrace traced_branch(BranchKind kind, std::size_t branch, const RegionCallable& callable,
                          const Leaves& operands, SourceLocation at) {
  const std::string name = kind == BranchKind::kSwitchCase ? fmt::format("branch_{}", branch)
                           : branch == 0                   ? "true_branch"
                                                           : "false_branch";
  return {name,
          branch_name(kind, branch),
          types_of(operands.values),
          short_names(operands.paths),
          callable,
          at};
}

/// In an EagerScope only one branch runs. Its C++ scalars take the dtypes that the other branches
/// return, which tracing them tells. A branch that reads values cannot be traced and is left out.
void adopt_dtypes_of_others(BranchKind kind, std::span<const RegionCallable> branches,
                            std::size_t taken, const Leaves& operands, Leaves& out,
                            SourceLocation at) {
  std::vector<const Tensor*> meant(out.values.size());
  std::vector<Leaves> others;
  others.reserve(branches.size());
  for (std::size_t b = 0; b < branches.size(); b++) {
    if (b == taken) continue;
    try {
      others.push_back(traced_branch(kind, b, branches[b], operands, at).out());
    } catch (const TraceError&) {
      continue;
    }
    const Leaves& other = others.back();
    for (std::size_t i = 0;
         other.paths == out.paths && other.structure == out.structure && i < meant.size(); i++) {
      if (!meant[i] && (b == 0 || !other.values[i].is_scalar_literal()))
        meant[i] = &other.values[i];
      if (meant[i] && meant[i]->is_scalar_literal() && !other.values[i].is_scalar_literal())
        meant[i] = &other.values[i];
    }
  }
  for (std::size_t i = 0; i < meant.size(); i++) {
    if (meant[i] && out.values[i].is_scalar_literal())
      out.values[i] = ops::adopt_dtype(out.values[i], meant[i]->dtype(), at);
  }
}

/// The selector as operand of the node: a pred, or an s32 in the range of the branches.
Tensor checked_selector(const Operand& given, BranchKind kind, std::size_t branches) {
  Tensor selector = given.any();
  ir::checked(selector, kind_name(kind), given.at());
  if (kind == BranchKind::kCond) {
    check_predicate("the predicate of cond", selector, given.at());
    return selector;
  }
  if (selector.rank() != 0 || !is_integer(selector.dtype())) {
    throw TraceError(
        fmt::format("switch_case: the index must be an integer scalar, it is {} ({})\n  at {}\n"
                    "  Use rondo::convert, or take one element of it.",
                    selector.type().str(), origin(selector), given.at().str()),
        given.at());
  }
  // Clamped before it is narrowed, so an s64 beyond the range of s32 selects the last branch too.
  // 127 branches fit every dtype.
  const std::int64_t last = static_cast<std::int64_t>(branches) - 1;
  const DType wide = is_unsigned_integer(selector.dtype()) ? DType::kU64 : DType::kS64;
  const Tensor clamped =
      ops::clamp_index(Operand(convert(selector, wide), given.at()), Operand(last, given.at()),
                       {"switch_case", ir::kBranches, last + 1});
  return convert(Operand(clamped, given.at()), DType::kS32);
}

}  // namespace

}  // namespace rondo::control_flow

namespace rondo::detail {

std::vector<Tensor> branch(const Operand& selector, BranchKind kind,
                           std::span<const RegionCallable> branches, Leaves operands) {
  using namespace control_flow;  // NOLINT: this function is the construct's front
  const SourceLocation at = selector.at();
  if (branches.empty())
    throw TraceError(fmt::format("switch_case: there are no branches\n  at {}\n  Give a "
                                 "tuple or a vector of at least one function.",
                                 at.str()),
                     at);
  const Tensor chosen = checked_selector(selector, kind, branches.size());
  check_not_empty(kind_name(kind), operands, at);
  if (ir::eager_active()) {
    const std::size_t taken = kind == BranchKind::kSwitchCase
                                  ? static_cast<std::size_t>(chosen.item<std::int32_t>(at))
                              : chosen.item<bool>(at) ? 0
                                                      : 1;
    evaluate_all(operands, at);
    Leaves out = branches[taken](operands.values);
    check_not_empty(branch_name(kind, taken), out, at);
    const auto is_scalar = [](const Tensor& x) { return x.is_scalar_literal(); };
    if (std::any_of(out.values.begin(), out.values.end(), is_scalar))
      adopt_dtypes_of_others(kind, branches, taken, operands, out, at);
    return std::move(out.values);
  }
  const std::vector<TensorType> types = types_of(operands.values);
  const std::vector<std::string> names = short_names(operands.paths);
  std::vector<RegionTrace> traces;
  for (std::size_t b = 0; b < branches.size(); b++)
    traces.push_back(traced_branch(kind, b, branches[b], operands, at));
  check_branches(kind, traces, at);
  std::vector<ir::OpenRegion> regions;
  for (RegionTrace& trace : traces) regions.push_back(trace.finish());
  return make_conditional(chosen, std::move(operands.values), kind_name(kind), std::move(regions),
                          at);
}

}  // namespace rondo::detail
