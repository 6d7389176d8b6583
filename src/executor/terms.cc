#include "executor/terms.h"

#include <algorithm>
#include <functional>
#include <numeric>

namespace rondo::executor {

namespace {

/// Operand 0 is reduced.
std::optional<Terms> terms_of(const ir::Node& node, const ir::Reduction& reduction) {
  const Shape& shape = node.operand_type(0).shape;
  Terms terms{.combine = reduction.combine, .type = reduction.type, .init = 1};
  ir::AccessMap& map = terms.factors.emplace_back();
  std::int64_t kept = 0, vanished = node.type().rank();
  std::size_t next = 0;
  bool last_vanishes = false, in_one_run = true;  // apart from axes of one element
  for (std::int64_t axis = 0; axis < shape.rank(); axis++) {
    const bool vanishes = next < reduction.axes.size() && reduction.axes[next] == axis;
    if (vanishes) {
      next++;
      terms.sizes.push_back(shape[axis]);
    }
    map.push_back({vanishes ? vanished++ : kept++, 0, 1, -1, 0});
    if (shape[axis] == 1) continue;
    if (!vanishes && last_vanishes) in_one_run = false;
    last_vanishes = vanishes;
  }
  terms.pairwise = reduction.by_partials && last_vanishes;
  if (terms.pairwise && !in_one_run) return std::nullopt;
  return terms;
}

}  // namespace

std::int64_t Terms::count() const {
  return std::accumulate(sizes.begin(), sizes.end(), std::int64_t{1}, std::multiplies<>());
}

std::optional<Terms> few_terms(const ir::Node& node, bool reorders, std::int64_t most) {
  std::optional<Terms> terms;
  ir::LoopNest loops = ir::loop_nest(node);
  if (const auto* reduction = std::get_if<ir::Reduction>(&loops)) {
    terms = terms_of(node, *reduction);
  } else if (auto* products = std::get_if<ir::Contraction>(&loops);
             products && (products->as_kernel || reorders)) {
    terms = Terms{.combine = lower::Opcode::kAdd,
                  .type = products->type,
                  .sizes = std::move(products->sizes),
                  .factors = {std::move(products->factors[0]), std::move(products->factors[1])}};
    if (node.type().elements() == 1) most = std::max(most, kMostProductTerms);
  }
  if (!terms || node.type().elements() == 0) return std::nullopt;
  const std::int64_t count = terms->count();
  if (count < 1 || count > most) return std::nullopt;
  return terms;
}

}  // namespace rondo::executor
