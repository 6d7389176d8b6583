#include "passes/expand.h"

#include <algorithm>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/lazy.h"
#include "ir/node.h"
#include "ir/region.h"
#include "ir/region_facts.h"
#include "ir/region_walk.h"
#include "passes/growing_tapes.h"

namespace rondo::passes {

namespace {

using ir::Node;

// Expansions nested this deep mean that a rule expands to its own op.
constexpr int kDeepestExpansion = 100;

bool is_hlo(Target target) { return target == Target::kHlo || target == Target::kHloOnMesh; }
bool is_stablehlo(Target target) {
  return target == Target::kStablehlo || target == Target::kStablehloOnMesh;
}
bool is_on_mesh(Target target) {
  return target == Target::kHloOnMesh || target == Target::kStablehloOnMesh;
}

bool runs_here(Target target) {
  return target == Target::kInterpreter || target == Target::kInspected;
}

bool target_has(const Node& node, Target target) {
  const ir::OpDef& op = *node.op;
  if (op.kind == ir::OpKind::kLazy) return false;
  if (op.kind != ir::OpKind::kOrdinary) return true;
  if (runs_here(target))
    return op.runs() || (op.construct.flow != ir::Flow::kNone && !ir::counts(node));
  if (op.text.can_express && !op.text.can_express(node)) return false;
  if (is_on_mesh(target) && op.text.can_partition && !op.text.can_partition(node)) return false;
  return !(is_hlo(target) ? op.text.hlo : op.text.stablehlo).empty();
}

[[noreturn]] void cannot_expand(const Node* node, Target target, const ir::LoopCode& code) {
  const std::string_view what = !code.calls_kernels    ? "written in loops alone"
                                : is_hlo(target)       ? "written as HLO"
                                : is_stablehlo(target) ? "written as StableHLO"
                                                       : "run by the interpreter";
  throw TraceError(
      fmt::format("{}: this op cannot be {}, and no rule says it in simpler ops\n  at {}\n  Write "
                  "the value in other ops.",
                  node->op->name, what, node->location().str()),
      node->location());
}

class Expander : public ir::FunctionVisitor {
 public:
  /// A node to be rewritten; or, after the nodes that it was expanded to, the end of its expansion:
  /// from there on `expansion` replaces it.
  struct Work {
    Tensor handle;
    int depth = 0;
    bool is_end = false;
    std::vector<Tensor> expansion = {};
  };
  /// A function being rewritten.
  struct Frame {
    Function source;
    std::size_t done = 0;         // nodes of the source's body
    std::vector<Work> work = {};  // to be done before the rest of the body, the next one last
    bool changed = false;         // until then `body` is empty and means the source's
    std::vector<Tensor> body = {};
    ir::Replay replay = {};
    std::vector<Tensor> kept = {};  // keeps alive what the replay finds by address

    const Node* next() {
      while (!work.empty() && work.back().is_end) {
        const Work& end = work.back();
        for (std::uint32_t i = 0; i < end.expansion.size(); i++)
          replay.bind(Tensor::of(end.handle.node(), i), replay(end.expansion[i]));
        work.pop_back();
      }
      if (!work.empty()) return work.back().handle.node();
      return done < source.body().size() ? source.body()[done] : nullptr;
    }
  };

  explicit Expander(Target target) : target_(target) {}
  Expander(Chooses keeps, std::optional<Chooses> declines, Chooses decomposes,
           const ir::LoopCode& code = {})
      : target_(Target::kInterpreter),
        keeps_(keeps),
        declines_(declines),
        decomposes_(decomposes),
        code_(code) {}

  const Function& result_of(const Function& source) const {
    return done_.at(source.identity()).result;
  }

  void before(Frame&, const Node& node) {
    if (!node.regions.empty() && is_inlined(node)) inlined_ = &node;
  }
  std::optional<Frame> enter(const Function& function, const Node* holder, std::size_t) {
    if (holder && holder == inlined_) return std::nullopt;
    if (done_.contains(function.identity())) return std::nullopt;
    const auto plain = [this](const Node* node) { return node->regions.empty() && has(*node); };
    if (!std::all_of(function.body().begin(), function.body().end(), plain)) return Frame{function};
    done_.try_emplace(function.identity(), Done{function, function});
    return std::nullopt;
  }
  void after(Frame& frame, const Node& node) {
    if (frame.work.empty()) {
      rewrite(frame, &node, 0);
      frame.done++;
    } else {
      const Work work = std::move(frame.work.back());
      frame.work.pop_back();
      rewrite(frame, work.handle.node(), work.depth);
    }
  }
  void leave(Frame& frame) {
    Function result = frame.changed ? rewritten(frame) : frame.source;
    done_.try_emplace(frame.source.identity(), Done{frame.source, std::move(result)});
  }

 private:
  /// Keeps the source alive, so that its identity is not reused.
  struct Done {
    Function source;
    Function result;
  };

  bool decomposed(const Node& node) const { return decomposes_ && (*decomposes_)(node); }
  bool has(const Node& node) const { return target_has(node, target_) && !decomposed(node); }

  /// Whether a node is certain to be expanded to what is in its regions, and may be expanded before
  /// they are.
  bool is_inlined(const Node& node) const {
    if (!node.op->expansion.inlines_regions || target_ == Target::kInspected || has(node))
      return false;
    if (keeps_ && !decomposed(node) && !(declines_ && (*declines_)(node))) return false;
    return std::none_of(node.regions.begin(), node.regions.end(), ir::inlines_updates);
  }

  void rewrite(Frame& frame, const Node* node, int depth) {
    const bool has_it = has(*node);
    const bool inlined = std::exchange(inlined_, nullptr) == node;
    std::vector<Function> regions;
    bool same_regions = true;
    for (const Function& region : node->regions) {
      regions.push_back(inlined ? region : done_.at(region.identity()).result);
      same_regions = same_regions && regions.back().same_as(region);
    }
    if (has_it && same_regions && !frame.changed) return;
    if (!frame.changed) {
      frame.changed = true;
      frame.body.reserve(frame.source.body().size());
      for (std::size_t i = 0; i < frame.done; i++) {
        frame.body.push_back(Tensor::of(frame.source.body()[i]));
      }
    }
    Tensor rebuilt = ir::rebuild(node, frame.replay.operands_of(node), std::move(regions));
    if (!has_it && (inlined || !(keeps_ && !decomposed(*node) && (*keeps_)(*rebuilt.node())))) {
      // Each step removes one level of nested regions, so the depth does not grow.
      return expand_node(frame, Tensor::of(node), rebuilt.node(), depth, inlined ? 0 : 1);
    }
    if (rebuilt.node() != node) {
      for (std::uint32_t i = 0; i < node->types.size(); i++) {
        frame.replay.bind(Tensor::of(node, i), Tensor::of(rebuilt.node(), i));
      }
    }
    frame.body.push_back(std::move(rebuilt));
  }

  ir::ExpandRule rule_of(const Node& node) const {
    const ir::OpExpansion& expansion = node.op->expansion;
    if (runs_here(target_) && ir::counts(node)) return node.op->construct.counted;
    if (!code_.calls_kernels) return rule_without_kernels(node);
    if (keeps_ && expansion.in_lanes) return expansion.in_lanes;
    if (target_ == Target::kInspected && expansion.in_safe_lanes) return expansion.in_safe_lanes;
    return expansion.rule;
  }
  ir::ExpandRule rule_without_kernels(const Node& node) const {
    const ir::OpExpansion& expansion = node.op->expansion;
    const bool in_lanes = !expansion.is_preferred || expansion.is_preferred(node, code_);
    if (expansion.in_lanes && in_lanes) return expansion.in_lanes;
    if (expansion.in_loops) return expansion.in_loops;
    return expansion.rule ? expansion.rule : expansion.in_lanes;
  }

  /// Queues the expansion of `mapped`, which is `original` on the operands of the new program.
  void expand_node(Frame& frame, Tensor original, const Node* mapped, int depth, int deeper) {
    const ir::ExpandRule rule = rule_of(*mapped);
    if (!rule) cannot_expand(mapped, target_, code_);
    const std::string name(mapped->op->name);
    if (depth > kDeepestExpansion) {
      throw InternalError(fmt::format("{}: its expansion does not end", name), mapped->location());
    }
    ir::RegionTracer tracer(name, "the expansion of " + name, mapped->location());
    const std::vector<Tensor> operands = traced_operands(frame, *mapped, tracer);
    const std::uint64_t first_id = ir::next_id();
    ir::OpenRegion made = tracer.finish(rule(*mapped, operands));
    check_fit(*mapped, made.results);

    frame.work.push_back({std::move(original), depth, true, std::move(made.results)});
    for (auto node = made.body.rbegin(); node != made.body.rend(); ++node) {
      if ((*node)->id < first_id) {
        take_constant(frame, *node, operands);
      } else {
        frame.kept.push_back(Tensor::of(*node));
        frame.work.push_back({frame.kept.back(), depth + deeper});
      }
    }
    for (const Tensor& capture : made.captures) take_constant(frame, capture.node(), operands);
  }

  /// The rule gets parameters of a trace in progress, since it may trace regions that capture them.
  /// It gets constants as they are, so that static bounds stay known.
  static std::vector<Tensor> traced_operands(Frame& frame, const Node& mapped,
                                             ir::RegionTracer& tracer) {
    std::vector<Tensor> operands;
    for (const Tensor& operand : mapped.operands) {
      const Node* node = operand.node();
      if (ir::is_constant(node)) {
        operands.push_back(operand);
        continue;
      }
      const auto* parameter = node->attributes.try_as<ir::ParameterAttributes>();
      operands.push_back(
          tracer.param(operand.type(), parameter ? parameter->name : std::string(node->op->name)));
      frame.replay.bind(operands.back(), operand);
      frame.kept.push_back(operands.back());
    }
    return operands;
  }

  static void check_fit(const Node& mapped, const std::vector<Tensor>& results) {
    bool fits = results.size() == mapped.types.size();
    for (std::size_t i = 0; fits && i < results.size(); i++) {
      fits = results[i].type() == mapped.types[i];
    }
    if (fits) return;
    throw InternalError(fmt::format("{}: its expansion has other types", mapped.op->name),
                        mapped.location());
  }

  /// A constant that existed before the rule ran: an operand, which is in place already; or one of
  /// a region that the rule inlined, of which this function needs its own copy.
  static void take_constant(Frame& frame, const Node* node, const std::vector<Tensor>& operands) {
    if (!ir::is_constant(node)) {
      throw InternalError("an expansion uses a value from elsewhere", node->location());
    }
    const Tensor constant = Tensor::of(node);
    const auto is_it = [&](const Tensor& tensor) { return tensor.same_as(constant); };
    if (std::any_of(operands.begin(), operands.end(), is_it)) return;
    if (!frame.replay(constant).same_as(constant)) return;  // copied before
    frame.kept.push_back(constant);
    frame.body.push_back(
        ir::make_constant(node->attrs<ir::ConstantAttributes>().value, node->location()));
    frame.replay.bind(constant, frame.body.back());
  }

  /// Without nodes that only unused operands of a rule needed.
  static Function rewritten(const Frame& frame) {
    Function::Data data{
        frame.source.name(), frame.source.parameters(), {}, {}, frame.source.result_names()};
    for (const Tensor& result : frame.source.outputs())
      data.results.push_back(frame.replay(result));
    for (const Tensor& tensor : frame.body) data.body.push_back(tensor.node());
    return ir::close_live(std::move(data));
  }

  Target target_;
  std::optional<Chooses> keeps_, declines_, decomposes_;
  ir::LoopCode code_;
  const Node* inlined_ = nullptr;  // the next node, if its regions are left as they are
  absl::flat_hash_map<const void*, Done> done_;
};

Function run_expander(const Function& function, Expander expander) {
  const ir::EagerPause pause;
  const ir::BuildScope building;
  ir::walk_regions(function, expander);
  return expander.result_of(function);
}

}  // namespace

Function expand(const Function& function, Target target) {
  return run_expander(runs_here(target) ? function : without_growing_tapes(function),
                      Expander(target));
}

Function expand(const Function& function, Chooses keeps, Chooses decomposes) {
  return run_expander(function, Expander(keeps, std::nullopt, decomposes));
}

Function expand(const Function& function, Chooses keeps, Chooses declines, Chooses decomposes,
                const ir::LoopCode& code) {
  return run_expander(function, Expander(keeps, declines, decomposes, code));
}

}  // namespace rondo::passes
