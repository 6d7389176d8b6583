#include "passes/expand.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/node.h"
#include "ir/region.h"

namespace rondo::passes {

namespace {

using ir::Node;

// An expansion within an expansion and so on, this deep, is a rule that leads back to its own op.
constexpr int kDeepestExpansion = 100;

bool target_has(const Node& node, Target target) {
  const ir::OpDef& op = *node.op;
  if (op.kind == ir::OpKind::kLazy) return false;
  if (op.kind != ir::OpKind::kOrdinary) return true;
  if (target == Target::kInterpreter) return op.runs() || op.flow != ir::Flow::kNone;
  if (op.in_text && !op.in_text(node)) return false;
  return !(target == Target::kHlo ? op.hlo : op.stablehlo).empty();
}

[[noreturn]] void cannot_expand(const Node* node, Target target) {
  const std::string_view what = target == Target::kHlo         ? "written as HLO"
                                : target == Target::kStablehlo ? "written as StableHLO"
                                                               : "run by the interpreter";
  throw TraceError(
      fmt::format("{}: this op cannot be {}, and no rule says it in simpler ops\n  at {}\n  Write "
                  "the value in other ops.",
                  node->op->name, what, node->location().str()),
      node->location());
}

class Expander {
 public:
  explicit Expander(Target target) : target_(target) {}

  Function run(const Function& function) {
    enter(function);
    while (!frames_.empty()) step();
    return done_.at(function.identity()).result;
  }

 private:
  /// A node that is to be rewritten; or, behind the nodes that it was expanded to, the end of that:
  /// from there on `expansion` stands for it.
  struct Work {
    Tensor handle;
    int depth = 0;
    bool is_end = false;
    std::vector<Tensor> expansion = {};
  };
  /// A function being rewritten.
  struct Frame {
    Function source;
    std::size_t next = 0;         // in the body of the source
    std::vector<Work> work = {};  // goes before that; the next one is last
    bool changed = false;         // until then, `body` is empty and means that of the source
    std::vector<Tensor> body = {};
    ir::Replay replay = {};
    std::vector<Tensor> kept = {};  // what the replay knows by its address
  };
  /// Holds the source too, so that its identity stays taken.
  struct Done {
    Function source;
    Function result;
  };

  void enter(const Function& function) {
    const auto plain = [this](const Node* node) {
      return node->regions.empty() && target_has(*node, target_);
    };
    if (std::all_of(function.body().begin(), function.body().end(), plain)) {
      done_.try_emplace(function.identity(), Done{function, function});
    } else {
      frames_.push_back({function});
    }
  }

  void step() {
    Frame& frame = frames_.back();
    if (!frame.work.empty()) {
      Work& work = frame.work.back();
      if (work.is_end) {
        for (std::uint32_t i = 0; i < work.expansion.size(); i++) {
          frame.replay.bind(Tensor::of(work.handle.node(), i), frame.replay(work.expansion[i]));
        }
        frame.work.pop_back();
      } else if (!enter_regions(work.handle.node())) {
        const Tensor handle = std::move(work.handle);
        const int depth = work.depth;
        frame.work.pop_back();
        rewrite(frame, handle.node(), depth);
      }
    } else if (frame.next < frame.source.body().size()) {
      const Node* node = frame.source.body()[frame.next];
      if (enter_regions(node)) return;
      rewrite(frame, node, 0);
      frame.next++;
    } else {
      finish(frame);
    }
  }

  /// Starts on the first region of a node that is not done; false if all are.
  bool enter_regions(const Node* node) {
    for (const Function& region : node->regions) {
      if (done_.contains(region.identity())) continue;
      enter(region);
      return true;
    }
    return false;
  }

  void rewrite(Frame& frame, const Node* node, int depth) {
    const bool has = target_has(*node, target_);
    std::vector<Function> regions;
    bool same_regions = true;
    for (const Function& region : node->regions) {
      regions.push_back(done_.at(region.identity()).result);
      same_regions = same_regions && regions.back().same_as(region);
    }
    if (has && same_regions && !frame.changed) return;
    if (!frame.changed) {
      frame.changed = true;
      frame.body.reserve(frame.source.body().size());
      for (std::size_t i = 0; i < frame.next; i++) {
        frame.body.push_back(Tensor::of(frame.source.body()[i]));
      }
    }
    Tensor rebuilt = ir::rebuild(node, frame.replay.operands_of(node), std::move(regions));
    if (!has) return expand_node(frame, Tensor::of(node), rebuilt.node(), depth);
    if (rebuilt.node() != node) {
      for (std::uint32_t i = 0; i < node->types.size(); i++) {
        frame.replay.bind(Tensor::of(node, i), Tensor::of(rebuilt.node(), i));
      }
    }
    frame.body.push_back(std::move(rebuilt));
  }

  /// Queues what the rule makes of `mapped`, which is `original` on the operands of the new
  /// program.
  void expand_node(Frame& frame, Tensor original, const Node* mapped, int depth) {
    const ir::ExpandRule rule = mapped->op->expand;
    if (!rule) cannot_expand(mapped, target_);
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
        frame.work.push_back({frame.kept.back(), depth + 1});
      }
    }
    for (const Tensor& capture : made.captures) take_constant(frame, capture.node(), operands);
  }

  /// The rule sees parameters of a trace that is going on, since it may trace regions that capture
  /// them; but constants as they are, for the sake of static bounds.
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

  /// A constant that was there before the rule ran: an operand, which is in place; or one of a
  /// region that the rule wrote out, of which this function needs a copy of its own.
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

  void finish(Frame& frame) {
    Function result = frame.changed ? rewritten(frame) : frame.source;
    done_.try_emplace(frame.source.identity(), Done{frame.source, std::move(result)});
    frames_.pop_back();
  }

  /// The new function, without nodes that only a rule's unused operands needed.
  static Function rewritten(const Frame& frame) {
    Function::Data data{
        frame.source.name(), frame.source.parameters(), {}, {}, frame.source.result_names()};
    absl::flat_hash_set<const Node*> live;
    for (const Tensor& result : frame.source.outputs()) {
      data.results.push_back(frame.replay(result));
      live.insert(data.results.back().node());
    }
    for (auto tensor = frame.body.rbegin(); tensor != frame.body.rend(); ++tensor) {
      const Node* node = tensor->node();
      if (!live.contains(node)) continue;
      data.body.push_back(node);
      for (const Tensor& operand : node->operands) live.insert(operand.node());
    }
    std::reverse(data.body.begin(), data.body.end());
    return FunctionAccess::make(std::move(data));
  }

  Target target_;
  std::vector<Frame> frames_;
  absl::flat_hash_map<const void*, Done> done_;
};

}  // namespace

Function expand(const Function& function, Target target) {
  const ir::EagerPause pause;
  const ir::BuildScope building;
  return Expander(target).run(function);
}

}  // namespace rondo::passes
