// Evaluation of lazy tensors: the graph behind them becomes a Function whose parameters are the
// values that are there already, and executables are kept by its structure, so that an ordinary C++
// loop that builds the same graph each time compiles once.
#include <algorithm>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/region.h"
#include "passes/structure.h"
#include "rondo/execute.h"

namespace rondo::ir {

namespace {

/// The part of a lazy graph that must be computed.
struct LazyGraph {
  std::vector<Tensor> leaves;       // known values, each once
  std::vector<const Node*> nodes;   // to compute, in id order
  std::vector<Tensor> roots;        // handles to the nodes that are asked for
  const Node* parameter = nullptr;  // one that it depends on, if any
};

LazyGraph lazy_graph(std::span<const Tensor> tensors) {
  LazyGraph graph;
  absl::flat_hash_set<std::pair<const Node*, std::uint32_t>> seen_leaves;
  absl::flat_hash_set<const Node*> seen;
  std::vector<const Node*> stack;
  auto visit = [&](const Tensor& tensor) {
    const Node* node = tensor.node();
    if (known_value(tensor)) {
      if (seen_leaves.emplace(node, tensor.result()).second) graph.leaves.push_back(tensor);
    } else if (seen.insert(node).second) {
      if (is_parameter(node))
        graph.parameter = node;
      else
        stack.push_back(node);
    }
  };
  for (const Tensor& tensor : tensors) {
    if (known_value(tensor)) continue;
    if (!seen.contains(tensor.node())) graph.roots.push_back(Tensor::of(tensor.node()));
    visit(tensor);
  }
  // A root that another root depends on is reached by the walk as well: it still gets its value.
  for (const Tensor& tensor : tensors) {
    const auto is_root = [&](const Tensor& root) { return root.node() == tensor.node(); };
    if (!known_value(tensor) && std::none_of(graph.roots.begin(), graph.roots.end(), is_root))
      graph.roots.push_back(Tensor::of(tensor.node()));
  }
  while (!stack.empty() && !graph.parameter) {
    const Node* node = stack.back();
    stack.pop_back();
    graph.nodes.push_back(node);
    for (const Tensor& operand : node->operands) visit(operand);
  }
  std::sort(graph.nodes.begin(), graph.nodes.end(),
            [](const Node* a, const Node* b) { return a->id < b->id; });
  return graph;
}

/// Of the value that is there: a tape has more rows than its node declares.
const TensorType& leaf_type(const Tensor& leaf) { return known_value(leaf)->type(); }

Function function_of(const LazyGraph& graph) {
  auto token = std::make_shared<RegionToken>();
  token->what = "a lazy evaluation";
  token->open = false;
  Function::Data data{"lazy", {}, {}, {}, {}};
  Replay replay;
  for (const Tensor& leaf : graph.leaves) {
    const std::int64_t index = static_cast<std::int64_t>(data.params.size());
    data.params.push_back(make_parameter(leaf_type(leaf), fmt::format("in{}", index), index, token,
                                         leaf.node()->location()));
    replay.bind(leaf, data.params.back());
  }
  for (const Node* node : graph.nodes) {
    // Always a node of its own: one that stood in a Function would keep its operands after it is
    // evaluated.
    replay.bind_results(node, make_typed(*node->op, replay.operands_of(node), node->attributes,
                                         node->types, node->location(), node->regions));
    data.body.push_back(replay(Tensor::of(node)).node());
  }
  for (const Tensor& root : graph.roots) {
    for (std::uint32_t i = 0; i < root.node()->types.size(); i++)
      data.results.push_back(replay(Tensor::of(root.node(), i)));
  }
  // Nodes of which the roots need some results only are all reached from the roots, so the body is
  // what Function::make would find.
  return FunctionAccess::make(std::move(data));
}

/// Two graphs with equal keys compute the same from the leaves.
std::string key_of(const LazyGraph& graph) {
  std::string key;
  absl::flat_hash_map<std::pair<const Node*, std::uint32_t>, std::uint32_t> numbers;
  auto number = [&](const Tensor& tensor) {
    return numbers
        .try_emplace({tensor.node(), tensor.result()}, static_cast<std::uint32_t>(numbers.size()))
        .first->second;
  };
  auto append = [&](const auto& value) {
    key.append(reinterpret_cast<const char*>(&value), sizeof value);
  };
  auto append_type = [&](const TensorType& type) {
    append(type.dtype);
    append(type.rank());
    for (std::int64_t dim : type.shape) append(dim);
  };
  for (const Tensor& leaf : graph.leaves) {
    number(leaf);
    append_type(leaf_type(leaf));
  }
  for (const Node* node : graph.nodes) {
    append(reinterpret_cast<std::uintptr_t>(node->op));
    append(node->operands.size());
    for (const Tensor& operand : node->operands) append(number(operand));
    for (std::uint32_t i = 0; i < node->types.size(); i++) {
      append(number(Tensor::of(node, i)));
      append_type(node->types[i]);
    }
    node->attributes.print(key);
    for (const Function& region : node->regions) key += passes::structural_key(region);
  }
  for (const Tensor& root : graph.roots) append(number(root));
  return key;
}

/// The executables of recent graphs.
class LazyCache {
 public:
  std::optional<Executable> find(const std::string& key) {
    std::lock_guard lock(mutex_);
    auto found = executables_.find(key);
    return found == executables_.end() ? std::nullopt : std::optional(found->second);
  }

  void insert(const std::string& key, const Executable& executable) {
    std::lock_guard lock(mutex_);
    if (!executables_.emplace(key, executable).second) return;
    order_.push_back(key);
    if (order_.size() > kMostExecutables) {
      executables_.erase(order_.front());
      order_.pop_front();
    }
  }

 private:
  static constexpr std::size_t kMostExecutables = 512;
  std::mutex mutex_;
  absl::flat_hash_map<std::string, Executable> executables_;
  std::deque<std::string> order_;  // by age
};

LazyCache& lazy_cache() {
  static LazyCache* cache =
      new LazyCache;  // never destroyed: tensors of static storage may be evaluated late
  return *cache;
}

[[noreturn]] void refuse_parameter(const Node* parameter, const std::string& user,
                                   SourceLocation at) {
  const auto& attributes = parameter->attrs<ParameterAttributes>();
  const RegionToken& home = *attributes.region;
  if (!home.open.load(std::memory_order_acquire)) {
    throw TraceError(fmt::format("a tensor escaped: it depends on '{}' of {}{}, which is "
                                 "finished, and is used by {}\n  at {}\n  Return it from "
                                 "there as a result and use what the call returns.",
                                 attributes.name, home.what, in_brackets(home.at), user, at.str()),
                     at);
  }
  if (user != "eval") {  // a trace computes the tensors from outside that it uses
    throw TraceError(fmt::format("mixed traces: {} uses a tensor that depends on '{}' of {}{}, "
                                 "which is being traced around it\n  at {}\n  Pass the tensor in "
                                 "as an argument.",
                                 user, attributes.name, home.what, in_brackets(home.at), at.str()),
                     at);
  }
  throw TraceError(fmt::format("eval inside a trace: the tensor depends on '{}' of {}{}, which "
                               "has no value while it is traced\n  at {}\n  Choose with "
                               "rondo::where or rondo::cond, watch with rondo::tap or "
                               "rondo::print, or evaluate what the traced function returns.",
                               attributes.name, home.what, in_brackets(home.at), at.str()),
                   at);
}

}  // namespace

std::vector<Literal> evaluate(std::span<const Tensor> tensors, SourceLocation at,
                              const std::string& user) {
  for (const Tensor& tensor : tensors) checked(tensor, "eval", at);
  const bool all_known = std::all_of(tensors.begin(), tensors.end(),
                                     [](const Tensor& t) { return known_value(t) != nullptr; });
  if (!all_known) {
    LazyGraph graph;
    std::string key;
    std::optional<Executable> executable;
    Function function;
    {
      // One lock over the walk and the copy: another thread may evaluate a node, and empty it, as
      // soon as it is let go of.
      std::lock_guard lock(lazy_mutex());
      graph = lazy_graph(tensors);
      if (graph.parameter) refuse_parameter(graph.parameter, user, at);
      key = key_of(graph);
      executable = lazy_cache().find(key);
      if (!executable) function = function_of(graph);
    }
    if (!executable) {
      executable = compile(function);
      lazy_cache().insert(key, *executable);
    }
    std::vector<Literal> leaves;
    for (const Tensor& leaf : graph.leaves) leaves.push_back(*known_value(leaf));
    std::vector<Literal> results = executable->run(leaves);
    std::size_t next = 0;
    for (const Tensor& root : graph.roots) {
      const std::size_t count = root.node()->types.size();
      publish(
          root.node(),
          {std::make_move_iterator(results.begin() + static_cast<std::ptrdiff_t>(next)),
           std::make_move_iterator(results.begin() + static_cast<std::ptrdiff_t>(next + count))});
      next += count;
    }
  }
  std::vector<Literal> values;
  for (const Tensor& tensor : tensors) values.push_back(*known_value(tensor));
  return values;
}

void evaluate_eagerly(const Node* node) {
  const Tensor root = Tensor::of(node);
  {
    std::lock_guard lock(lazy_mutex());
    if (lazy_graph({&root, 1}).parameter) return;
  }
  evaluate({&root, 1}, node->location());
}

bool depends_on_trace(std::span<const Tensor> tensors) {
  if (std::all_of(tensors.begin(), tensors.end(),
                  [](const Tensor& t) { return t.empty() || known_value(t) != nullptr; }))
    return false;
  std::lock_guard lock(lazy_mutex());
  return lazy_graph(tensors).parameter != nullptr;
}

}  // namespace rondo::ir
