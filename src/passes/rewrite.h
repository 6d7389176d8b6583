// Shared by the passes: rewriting the nodes of one function, and of all regions of a program.
#pragma once

#include <functional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/function_data.h"
#include "ir/node.h"

namespace rondo::passes {

/// One function while its nodes are replaced. Nodes are visited in the order of its body. A node
/// that is neither replaced nor copied stays itself, so the users of a changed node must be copied.
class FunctionRewrite {
 public:
  explicit FunctionRewrite(Function source) : source_(std::move(source)) {}
  const Function& source() const { return source_; }

  /// The current replacement of a tensor of the source.
  Tensor operator()(const Tensor& tensor) const { return changed_ ? replay_(tensor) : tensor; }
  ir::Operands operands_of(const ir::Node* node) const;
  /// The node on mapped operands, with these regions; the same node if nothing differs. Binds
  /// nothing.
  Tensor rebuilt(const ir::Node* node, std::vector<Function> regions) const;
  Tensor rebuilt(const ir::Node* node) const;

  void bind(const Tensor& from, Tensor to);
  /// Replaces the results of `node` by those of `to`.
  void replace(const ir::Node* node, const Tensor& to);
  void replace(const ir::Node* node, std::span<const Tensor> results);
  /// Says that `to` takes the position of `node`, even if it does not replace every result of it.
  void place(const ir::Node* node, const Tensor& to) { placed_.insert_or_assign(node, to); }
  bool changed() const { return changed_; }

  /// The new function, without nodes that are no longer used: the others in the order of the
  /// source, new ones before their first use. The source itself if nothing changed.
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

/// Applies a pass to a function and all regions in it. `before` runs on a function before its
/// regions are visited, `after` when they are done; either may be empty. A region that occurs
/// several times is rewritten once. A region for which `stays` holds is left unchanged, with
/// everything in it. Does not recurse.
Function rewrite_regions(const Function& function, const FunctionPass& before,
                         const FunctionPass& after, bool (*stays)(const Function&) = nullptr);

/// The nodes of a function on which an observer in it depends, and the observers themselves:
/// removing the last use of these would lose what is observed. Empty, at no cost, for a function
/// without observers.
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

/// A parameter like `old` at another position of the signature; the same one if it is at that
/// position already.
Tensor parameter_at(const Tensor& old, std::size_t index);

}  // namespace rondo::passes
