// What the passes share: rewriting the nodes of one function, and doing so in all regions of a
// program.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/function_data.h"
#include "ir/node.h"

namespace rondo::passes {

/// One function while its nodes are replaced. Nodes are looked at in the order of its body; what is
/// neither replaced nor copied stands for itself, so that the uses of what changed must be copied.
class FunctionRewrite {
 public:
  explicit FunctionRewrite(Function source) : source_(std::move(source)) {}
  const Function& source() const { return source_; }

  /// What stands for a tensor of the source now.
  Tensor operator()(const Tensor& tensor) const { return changed_ ? replay_(tensor) : tensor; }
  ir::Operands operands_of(const ir::Node* node) const;
  /// The node on mapped operands, with these regions; the very same where nothing differs. Nothing
  /// is bound.
  Tensor rebuilt(const ir::Node* node, std::vector<Function> regions) const;
  Tensor rebuilt(const ir::Node* node) const;

  void bind(const Tensor& from, Tensor to);
  /// Puts the results of `to` in the place of those of `node`.
  void replace(const ir::Node* node, const Tensor& to);
  void replace(const ir::Node* node, std::span<const Tensor> results);
  /// Says that `to` stands where `node` stood, though not every result of `node` lives on.
  void place(const ir::Node* node, const Tensor& to) { placed_.insert_or_assign(node, to); }
  bool changed() const { return changed_; }

  /// The new function, without nodes that nothing needs any more: the others in the order of the
  /// source, new ones before their first use. The source itself where nothing changed.
  Function finish() const;
  /// The same with another signature; `results` are already mapped.
  Function finish(std::vector<Tensor> params, std::vector<Tensor> results,
                  std::vector<std::string> result_names) const;

 private:
  Function source_;
  ir::Replay replay_;
  absl::flat_hash_map<const ir::Node*, Tensor> placed_;
  bool changed_ = false;
};

/// A function from a function; the same object for no change.
using FunctionPass = std::function<Function(const Function&)>;

/// Applies a pass to a function and all regions in it. `before` sees a function before its regions,
/// `after` when they are done; either may be empty. A region that stands in several places is
/// rewritten once; one of which `stays` holds is left as it is, with all that is in it. Does not
/// recurse.
Function rewrite_regions(const Function& function, const FunctionPass& before,
                         const FunctionPass& after, bool (*stays)(const Function&) = nullptr);

/// The nodes of a function that depend on an observer in it, and observers themselves: what the
/// outside sees would be lost with the last use of these. Empty, at no cost, for a function that
/// observes nothing.
class WatchedNodes {
 public:
  explicit WatchedNodes(const Function& function);
  bool contains(const Tensor& tensor) const {
    return !nodes_.empty() && nodes_.contains(tensor.node());
  }
  bool contains(const ir::Node* node) const { return !nodes_.empty() && nodes_.contains(node); }
  bool empty() const { return nodes_.empty(); }
  void add(const ir::Node* node) { nodes_.insert(node); }

 private:
  absl::flat_hash_set<const ir::Node*> nodes_;
};

/// A parameter like `old` at another place in the signature; the same one if it stands there
/// already.
Tensor parameter_at(const Tensor& old, std::size_t index);

}  // namespace rondo::passes
