#include "control_flow/branch_tree.h"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <memory>
#include <utility>

#include "control_flow/branch.h"
#include "fmt/format.h"
#include "rondo/ops/elementwise.h"

namespace rondo::control_flow {

namespace {

// Threshold: A tree of conditionals replaces one conditional if it has this many times fewer
// parameters (some fifty branches with a capture each); one is simpler. Not measured.
constexpr std::size_t kFewer = 4;

/// The branches from `begin` to before `end`: one conditional, or one that selects a half.
struct Range {
  Range(std::size_t from, std::size_t to) : begin(from), end(to) {}

  std::size_t begin, end;
  std::size_t parameters = 0;  // of all regions in it
  std::unique_ptr<Range> first, second;

  std::size_t count() const { return end - begin; }
};

class BranchTree {
 public:
  BranchTree(Tensor selector, std::vector<Tensor> arguments, std::string name,
             std::vector<ir::OpenRegion> regions, SourceLocation at)
      : selector_(std::move(selector)),
        arguments_(std::move(arguments)),
        name_(std::move(name)),
        regions_(std::move(regions)),
        at_(at) {}

  std::vector<Tensor> make() {
    std::vector<Key> captured;
    Range all(0, regions_.size());
    if (!is_pred(selector_.dtype())) {
      plan(all, captured);
      if (all.parameters * kFewer > in_one(all, captured)) all.first.reset();
    }
    return make(all);
  }

 private:
  using Key = std::pair<std::uint64_t, std::uint32_t>;  // of a capture: its node's id, its result

  /// The number of parameters if all branches are in one conditional.
  std::size_t in_one(const Range& range, const std::vector<Key>& captured) const {
    return range.count() * (arguments_.size() + captured.size());
  }

  /// Halves a range if that gives fewer parameters, and collects what its branches capture.
  void plan(Range& range, std::vector<Key>& captured) const {
    if (range.count() < 4) {  // halving adds a conditional too
      for (std::size_t b = range.begin; b < range.end; b++) {
        for (const Tensor& capture : regions_[b].captures)
          captured.emplace_back(capture.node()->id, capture.result());
      }
      std::sort(captured.begin(), captured.end());
      captured.erase(std::unique(captured.begin(), captured.end()), captured.end());
      range.parameters = in_one(range, captured);
      return;
    }
    const std::size_t middle = range.begin + range.count() / 2;
    auto first = std::make_unique<Range>(range.begin, middle);
    auto second = std::make_unique<Range>(middle, range.end);
    std::vector<Key> of_first, of_second;
    plan(*first, of_first);
    plan(*second, of_second);
    std::set_union(of_first.begin(), of_first.end(), of_second.begin(), of_second.end(),
                   std::back_inserter(captured));
    const std::size_t here = 2 * (1 + arguments_.size() + captured.size());  // with the selector
    const std::size_t halved = here + first->parameters + second->parameters;
    range.parameters = std::min(halved, in_one(range, captured));
    if (halved > range.parameters) return;
    range.first = std::move(first);
    range.second = std::move(second);
  }

  std::vector<Tensor> make(const Range& range) {
    const auto begin = static_cast<std::int64_t>(range.begin);
    if (range.first) {
      const auto middle = static_cast<std::int64_t>(range.second->begin);
      const Tensor in_first = Operand(selector_, at_) < Operand(middle, at_);
      std::vector<ir::OpenRegion> halves;
      halves.push_back(half(*range.first));
      halves.push_back(half(*range.second));
      return make_construct(kConditional, {in_first}, ConditionalAttributes{name_},
                            std::move(halves), at_);
    }
    ir::Operands operands{begin == 0 ? selector_ : Operand(selector_, at_) - Operand(begin, at_)};
    operands.insert(operands.end(), arguments_.begin(), arguments_.end());
    const auto region = [&](std::size_t b) {
      return std::make_move_iterator(regions_.begin() + static_cast<std::ptrdiff_t>(b));
    };
    return make_construct(kConditional, std::move(operands), ConditionalAttributes{name_},
                          {region(range.begin), region(range.end)}, at_);
  }

  /// A region that selects among the branches of a range.
  ir::OpenRegion half(const Range& range) {
    std::vector<std::string> names = regions_[range.begin].result_names;
    const RegionCallable choose = [&](std::span<const Tensor>) {
      return Leaves{make(range), std::move(names)};
    };
    const std::string branches = fmt::format("{}_to_{}", range.begin, range.end - 1);
    RegionTrace trace("branches_" + branches, "the branches of " + name_, {}, {}, choose, at_);
    return trace.finish();
  }

  Tensor selector_;
  std::vector<Tensor> arguments_;
  std::string name_;
  std::vector<ir::OpenRegion> regions_;
  SourceLocation at_;
};

}  // namespace

std::vector<Tensor> make_conditional(const Tensor& selector, std::vector<Tensor> arguments,
                                     const std::string& name, std::vector<ir::OpenRegion> regions,
                                     SourceLocation at) {
  return BranchTree(selector, std::move(arguments), name, std::move(regions), at).make();
}

}  // namespace rondo::control_flow
