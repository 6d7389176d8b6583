#include "passes/sum_trips.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/region_facts.h"
#include "ops/optimization_barrier.h"
#include "passes/rewrite.h"
#include "passes/splat.h"

namespace rondo::passes {

namespace {

using ir::Node;
using ir::RegionLayout;
using ir::ValueKey;

bool is_addition(const Node* node) {
  return node->op->structure.elementwise && node->op->structure.commutative &&
         node->op->derivative.linear == ir::Linear::kJointly && node->operands.size() == 2;
}

/// Linear in its one operand: the sum of its results is its result for the sum. Changes of dtype
/// are excluded: the other dtype may represent a sum that this one does not, and conversions to
/// integers do not preserve sums.
bool is_linear_map(const Node* node) {
  return node->operands.size() == 1 && node->types.size() == 1 && node->regions.empty() &&
         node->type().dtype == node->operand_type(0).dtype &&
         (node->op->derivative.linear == ir::Linear::kJointly ||
          node->op->derivative.linear == ir::Linear::kFirst) &&
         !node->op->derivative.is_linear && !ir::observes(node);
}

/// A product that is added to a carry.
struct Term {
  std::size_t carry;
  const Node* product;
  std::vector<const Node*> maps;  // from the term to the product
  const Node* addition;
};

/// The part of a loop that is summed after it.
class SummedPart {
 public:
  /// `is_outermost`: if a run is stopped in the loop, its carries are its partial result.
  SummedPart(const RegionLayout& layout, bool is_outermost)
      : layout_(layout),
        body_(layout.node->regions[0]),
        sources_(layout),
        is_outermost_(is_outermost) {
    for (const Node* node : body_.body()) {
      for (const Tensor& operand : node->operands) uses_[operand]++;
    }
    for (const Tensor& result : body_.outputs()) uses_[result]++;
    for (std::size_t p = 0; p < layout.params(); p++) {
      if (layout.role_of_param(p) == RegionLayout::Role::kX)
        stacked_.emplace(body_.parameters()[p], layout.node->operands[layout.operand_of_param(p)]);
    }
    for (std::size_t y = layout.carries; y < layout.results(); y++)
      stacked_.emplace(body_.outputs()[y], Tensor::of(layout.node, static_cast<std::uint32_t>(y)));
    room_ = room_for_trips(layout);
    for (std::size_t carry = 0; carry < layout.carries; carry++) find_terms(carry);
  }

  bool empty() const { return terms_.empty(); }

  /// The loop without the terms, or with `keeps_carries` with them, followed by their sums; returns
  /// its results.
  std::vector<Tensor> summed(BatchingFor batching, bool keeps_carries) const {
    const Node* loop = layout_.node;
    const auto all = [](RegionLayout::Tensors operands) {
      return std::vector<Tensor>(operands.begin(), operands.end());
    };
    ir::ConstructParts parts;
    parts.carries = all(layout_.carry_of(loop->operands));
    parts.xs = all(layout_.xs_of(loop->operands));
    parts.invariants = all(layout_.invariants_of(loop->operands));
    parts.ys.assign(loop->types.begin() + static_cast<std::ptrdiff_t>(layout_.carries),
                    loop->types.end());
    for (const Tensor& y : ys_) {
      std::vector<std::int64_t> dims = y.shape().vector();
      dims.insert(dims.begin() + layout_.axis, *layout_.trip_count);
      parts.ys.push_back({y.dtype(), dims});
    }
    parts.regions.push_back(with_ys(keeps_carries));
    const Tensor made = ir::rebuild(layout_, std::move(parts));
    std::vector<Tensor> results;
    for (std::uint32_t r = 0; r < loop->types.size(); r++)
      results.push_back(Tensor::of(made.node(), r));
    std::vector<bool> is_summed(layout_.carries, false);
    for (const Term& term : terms_) {
      const Tensor total = sum_of(term, made.node(), batching);
      Tensor& result = results[term.carry];
      if (is_outermost_ && !is_summed[term.carry]) result = first_value(term.carry);
      is_summed[term.carry] = true;
      result = ir::rebuild(term.addition, {result, total});
    }
    for (std::size_t carry = 0; keeps_carries && carry < is_summed.size(); carry++) {
      // The loop's own sum has no other use.
      const Tensor last = Tensor::of(made.node(), static_cast<std::uint32_t>(carry));
      if (is_summed[carry]) results[carry] = ops::optimization_barrier({results[carry], last})[0];
    }
    return results;
  }

 private:
  bool is_used_once(const Tensor& value) const { return uses_.at(value) == 1; }

  /// The terms that are added to a carry and may be moved, if it is only added to.
  void find_terms(std::size_t carry) {
    const Tensor& param = body_.parameters()[layout_.index + carry];
    const auto used = uses_.find(param);
    if (used == uses_.end() || used->second != 1) return;
    std::vector<std::pair<Tensor, const Node*>> pending{{body_.outputs()[carry], nullptr}}, terms;
    bool adds_to_carry = false;
    while (!pending.empty()) {
      const auto [value, addition] = pending.back();
      pending.pop_back();
      if (value.same_as(param)) {
        adds_to_carry = true;
      } else if (is_addition(value.node()) && is_used_once(value)) {
        for (const Tensor& operand : value.node()->operands)
          pending.emplace_back(operand, value.node());
      } else if (addition) {
        terms.emplace_back(value, addition);
      }
    }
    if (!adds_to_carry) return;
    const std::size_t before = terms_.size();
    const std::size_t ys = ys_.size();
    const double bytes = bytes_;
    for (const auto& [value, addition] : terms) add(carry, value, addition);
    // If the state of the loop is kept, the sum without the terms would be another carry.
    if (!is_outermost_ || terms_.size() - before == terms.size()) return;
    for (std::size_t i = before; i < terms_.size(); i++) left_.erase(term_values_[i]);
    terms_.resize(before);
    term_values_.resize(before);
    for (std::size_t i = ys; i < ys_.size(); i++) stacked_.erase(ys_[i]);
    ys_.resize(ys);
    bytes_ = bytes;
  }

  void add(std::size_t carry, const Tensor& value, const Node* addition) {
    Term term{carry, value.node(), {}, addition};
    if (!is_used_once(value)) return;
    while (is_linear_map(term.product)) {
      term.maps.push_back(term.product);
      const Tensor& operand = term.product->operands[0];
      if (!is_used_once(operand)) return;
      term.product = operand.node();
    }
    const Node* product = term.product;
    if (!product->op->batching.sum || !is_product(product) ||
        uses(product->type(), product->operand_type(0), product->operand_type(1)) > kMostUsesOfSum)
      return;
    std::vector<Tensor> ys;
    double bytes = bytes_;
    for (const Tensor& operand : product->operands) {
      if (sources_.of(operand) == TripSource::kInvariants || operand.rank() < layout_.axis) return;
      if (stacked_.contains(operand)) continue;
      bytes += bytes_of_trips(layout_, operand.type());
      ys.push_back(operand);
    }
    if (bytes > room_) return;
    bytes_ = bytes;
    for (const Tensor& y : ys) {
      if (stacked_.emplace(y, Tensor()).second) ys_.push_back(y);
    }
    left_.insert(value);
    term_values_.push_back(value);
    terms_.push_back(std::move(term));
  }

  /// The initial value of a carry, in a form that is not contracted with the sum after the loop: if
  /// the loop keeps the carry, it needs that value as well.
  Tensor first_value(std::size_t carry) const {
    const Tensor& first = layout_.carry_of(layout_.node->operands)[carry];
    const bool is_given = ir::is_parameter(first.node()) || !splat_source(first).empty();
    return is_given ? first : ops::optimization_barrier({first})[0];
  }

  /// The body with the factors as ys, and with or without the terms.
  Function with_ys(bool with_terms) const {
    FunctionRewrite rewrite(body_);
    absl::flat_hash_set<ValueKey> left;
    if (!with_terms) left = left_;
    for (const Node* node : body_.body()) {
      rewrite.replace(node, rewrite.rebuilt(node));
      if (!is_addition(node)) continue;
      const Tensor sum = Tensor::of(node), &a = node->operands[0], &b = node->operands[1];
      if (left.contains(a) && left.contains(b))
        left.insert(sum);
      else if (left.contains(a) || left.contains(b))
        rewrite.bind(sum, rewrite(left.contains(a) ? b : a));
    }
    std::vector<Tensor> results;
    for (const Tensor& result : body_.outputs()) results.push_back(rewrite(result));
    std::vector<std::string> names = body_.result_names();
    for (const Tensor& y : ys_) {
      results.push_back(rewrite(y));
      if (!names.empty()) names.emplace_back(y.node()->op->name);
    }
    return rewrite.finish(body_.parameters(), std::move(results), std::move(names));
  }

  Tensor sum_of(const Term& term, const Node* loop, BatchingFor batching) const {
    const SourceLocation at = term.product->location();
    const auto lanes = batching(*layout_.trip_count);
    ir::BatchValues factors;
    for (const Tensor& operand : term.product->operands) {
      Tensor stack = stacked_.at(operand);
      const auto y = std::find_if(ys_.begin(), ys_.end(),
                                  [&](const Tensor& value) { return value.same_as(operand); });
      if (stack.empty())
        stack = Tensor::of(
            loop, static_cast<std::uint32_t>(layout_.results() + std::size_t(y - ys_.begin())));
      else if (stack.node() == layout_.node)
        stack = Tensor::of(loop, stack.result());
      factors.push_back({with_axis_moved(stack, layout_.axis, 0, at), true});
    }
    Tensor total = term.product->op->batching.sum({*term.product, factors, {true}, *lanes});
    for (auto map = term.maps.rbegin(); map != term.maps.rend(); ++map)
      total = ir::rebuild(*map, {total});
    return total;
  }

  const RegionLayout& layout_;
  const Function& body_;
  const TripSources sources_;
  absl::flat_hash_map<ValueKey, std::int64_t> uses_;
  absl::flat_hash_map<ValueKey, Tensor> stacked_;  // of values of the body; empty: the next ys
  std::vector<Tensor> ys_;                         // of the new loop
  std::vector<Term> terms_;
  std::vector<Tensor> term_values_;     // the values that are added
  absl::flat_hash_set<ValueKey> left_;  // what is no longer added to the carries
  double room_ = 0, bytes_ = 0;
  bool is_outermost_;
};

Function sum_in(const Function& function, BatchingFor batching, bool is_outermost,
                bool keeps_states) {
  FunctionRewrite rewrite(function);
  for (const Node* node : function.body()) {
    const auto layout = batchable_layout(node);
    Tensor loop = rewrite.rebuilt(node);
    if (!layout || SummedPart(*layout, is_outermost).empty()) {
      rewrite.replace(node, loop);
      continue;
    }
    loop = over_slices(loop.node());
    const RegionLayout sliced = *ir::region_layout(loop.node());
    const SummedPart part(sliced, is_outermost);
    rewrite.replace(node, part.summed(batching, is_outermost && keeps_states));
  }
  return rewrite.finish();
}

/// The regions of a program that are in no loop.
absl::flat_hash_set<const void*> regions_outside_loops(const Function& function) {
  absl::flat_hash_set<const void*> found;
  std::vector<Function> open{function};
  while (!open.empty()) {
    const Function region = std::move(open.back());
    open.pop_back();
    if (!found.insert(region.identity()).second) continue;
    for (const Node* node : region.body()) {
      const auto layout = ir::region_layout(node);
      if (layout && !layout->is_loop())
        open.insert(open.end(), node->regions.begin(), node->regions.end());
    }
  }
  return found;
}

}  // namespace

Function sum_trips(const Function& function, BatchingFor batching, bool keeps_states) {
  const ir::EagerPause pause;
  const ir::BuildScope building;
  const auto outside = regions_outside_loops(function);
  std::vector<bool> is_outside;  // of the regions that are being rewritten, in their original form
  const auto enter = [&](const Function& region) {
    is_outside.push_back(outside.contains(region.identity()));
    return region;
  };
  return rewrite_regions(function, enter, [&](const Function& region) {
    const bool is_outermost = is_outside.back();
    is_outside.pop_back();
    return sum_in(region, batching, is_outermost, keeps_states);
  });
}

}  // namespace rondo::passes
