// Lazy values: tensors outside any trace. The graph room declares what it needs; the interpreter, a
// floor above, implements it.
#pragma once

#include <mutex>
#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// Held while operands of lazy nodes are read or dropped: by evaluation, and by the walk that
/// closes a region.
std::mutex& lazy_mutex() noexcept;

/// True while an EagerScope of this thread is in force (none is inside a transform's own trace).
bool eager_active() noexcept;
/// Switches eager evaluation off while a transform traces.
class EagerPause {
 public:
  EagerPause() noexcept;
  ~EagerPause();
  EagerPause(const EagerPause&) = delete;
  EagerPause& operator=(const EagerPause&) = delete;

 private:
  int saved_;
};
/// Adjusts the number of EagerScopes of this thread.
void enter_eager() noexcept;
void leave_eager() noexcept;

/// Computes a node whose operands are known and keeps the values in it. A node that depends on a
/// parameter stays as it is.
void evaluate_eagerly(const Node* node);

/// Gives a node its values; drops its operands unless it stands in a Function. Takes lazy_mutex().
void publish(const Node* node, std::vector<Literal> values);

/// The values of lazy tensors, computed together. Throws TraceError where one depends on a
/// parameter, naming `user`, who asks.
std::vector<Literal> evaluate(std::span<const Tensor> tensors, SourceLocation at,
                              const std::string& user = "eval");

/// True if one of the tensors depends on a parameter, so that it has no value.
bool depends_on_trace(std::span<const Tensor> tensors);

}  // namespace rondo::ir
