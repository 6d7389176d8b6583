// The node of the graph.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/memory.h"
#include "ir/attributes.h"
#include "ir/fixed_list.h"
#include "ir/record.h"
#include "rondo/detail/reference_count.h"
#include "rondo/function.h"
#include "rondo/tensor.h"

namespace rondo::ir {

inline constexpr std::size_t kInlineOperands = 2;
using Operands = absl::InlinedVector<Tensor, kInlineOperands>;
using ResultTypes = absl::InlinedVector<TensorType, 1>;

class LazyCell;

/// The regions of a node. Few nodes have any, and a node should be small: a trace visits millions.
class Regions {
 public:
  Regions() = default;
  explicit Regions(std::vector<Function>&& regions)
      : list_(regions.empty() ? nullptr : new const std::vector<Function>(std::move(regions))) {}
  // NOLINTNEXTLINE(google-explicit-constructor): it is one
  operator const std::vector<Function>&() const noexcept { return list(); }
  std::size_t size() const noexcept { return list_ ? list_->size() : 0; }
  bool empty() const noexcept { return list_ == nullptr; }
  const Function& operator[](std::size_t i) const noexcept { return (*list_)[i]; }
  const Function& front() const noexcept { return list_->front(); }
  const Function& back() const noexcept { return list_->back(); }
  const Function* begin() const noexcept { return list().data(); }
  const Function* end() const noexcept { return begin() + size(); }

 private:
  const std::vector<Function>& list() const noexcept {
    static const std::vector<Function> kNone;
    return list_ ? *list_ : kNone;
  }
  // Not inline: few nodes need it, and it would enlarge the code of all.
  struct Deleter {
    void operator()(const std::vector<Function>* list) const noexcept;
  };
  const std::unique_ptr<const std::vector<Function>, Deleter> list_;
};

/// An op applied to operands. Nodes are immutable. A lazy tensor is a node without operands whose
/// cell holds its definition and, later, its value (ir/lazy.h). The first 64 bytes are what a walk
/// through a program reads of each node.
struct Node : rondo::detail::Counted {
  Node(const OpDef& record, Operands&& inputs, Attributes&& attributes, ResultTypes&& types,
       std::vector<Function>&& regions, SourceLocation at,
       std::unique_ptr<LazyCell> cell = nullptr);
  /// A lazy tensor for the result of `definition`, which its cell holds.
  Node(std::unique_ptr<LazyCell> cell, const Node& definition);
  /// The record infers the types.
  Node(const OpDef& record, Operands&& inputs, Attributes&& attributes,
       std::vector<Function>&& regions, SourceLocation at);
  /// With two operands, one result and nothing else.
  Node(const OpDef& record, const Tensor& a, const Tensor& b, const TensorType& type,
       bool is_traced, const SourceLocation& at);
  /// A constant.
  Node(Literal&& value, SourceLocation at);
  /// A constant with an id that was reserved for it.
  Node(const Literal& value, std::uint64_t known_id);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();
  static void* operator new(std::size_t bytes) { return take_small_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept {
    give_small_block(block, bytes);
  }

  const std::uint32_t line : 31;  // of the user's call, with file and function
  const bool traced : 1;          // depends on a parameter, so it has no value
  const OpDef* const op;
  const std::uint64_t id;  // increases with creation, over all threads: operands have lower ones
  const FixedList<Tensor, kInlineOperands> operands;
  const std::unique_ptr<LazyCell> cell;  // of a lazy tensor; else null
  const Attributes attributes;
  const Regions regions;
  const FixedList<TensorType, 1> types;
  const char* const file;
  const char* const function;

  SourceLocation location() const { return {file, function, line}; }
  template <class T>
  const T& attrs() const {
    return attributes.as<T>();
  }
  const Tensor& operand(std::size_t i) const { return operands[i]; }
  const TensorType& operand_type(std::size_t i) const { return operands[i].type(); }
  const TensorType& type() const { return types[0]; }
};

/// Destroys a node without handles, and what only it kept alive, without recursion.
void destroy(const Node* node) noexcept;
inline void retain(const Node* node) noexcept { rondo::detail::add_reference(node->references); }
inline void release(const Node* node) noexcept {
  if (rondo::detail::drop_reference(node->references)) destroy(node);
}

/// The type of a tensor that is not empty.
inline const TensorType& type_of(const Tensor& tensor) {
  return tensor.node()->types[tensor.result()];
}

/// Identifies a result of a node: a key for maps. Keeps nothing alive.
struct ValueKey {
  const Node* node = nullptr;
  std::uint32_t result = 0;

  ValueKey() = default;
  ValueKey(const Node* of, std::uint32_t number) : node(of), result(number) {}
  ValueKey(const Tensor& tensor) : node(tensor.node()), result(tensor.result()) {}
  friend bool operator==(const ValueKey&, const ValueKey&) = default;
  friend bool operator<(const ValueKey& a, const ValueKey& b) {
    return a.node != b.node ? std::less<>()(a.node, b.node) : a.result < b.result;
  }
  template <class H>
  friend H AbslHashValue(H state, const ValueKey& key) {
    return H::combine(std::move(state), key.node, key.result);
  }
};

/// For each operand, whether no other one is the same value, so that its last reader may reuse its
/// memory.
std::vector<bool> given_once(std::span<const Tensor> operands);

/// Creates a node and infers its types; throws TraceError if the operands do not fit the op. All
/// ops use it. A node that depends on no parameter becomes a lazy tensor, except in programs
/// (BuildScope); in an EagerScope it is evaluated at once. Returns the first result (for an op
/// without results, a handle to the node).
Tensor make(const OpDef& op, Operands operands, Attributes attributes, SourceLocation at,
            std::vector<Function> regions = {});
/// The same for an op of two non-empty operands of one type, without attributes. Returns an empty
/// tensor if their types differ.
Tensor make_of_equals(const OpDef& op, const Tensor& a, const Tensor& b, const SourceLocation& at);
/// The same for an op of several results.
std::vector<Tensor> make_many(const OpDef& op, Operands operands, Attributes attributes,
                              SourceLocation at, std::vector<Function> regions = {});
std::vector<Tensor> results_of(const Node* node);

/// While one exists, ops that this thread creates have the location `at`: new nodes of a rule have
/// the line of the user's call.
class LocationScope {
 public:
  explicit LocationScope(SourceLocation at) noexcept;
  ~LocationScope();
  LocationScope(const LocationScope&) = delete;
  LocationScope& operator=(const LocationScope&) = delete;

 private:
  SourceLocation at_;
  const SourceLocation* outer_;
};

/// The location of a call at `at`: that of the innermost LocationScope, if there is one.
SourceLocation place_in_force(SourceLocation at) noexcept;

/// While one exists, this thread creates nodes of a program: no lazy tensors, even without a
/// parameter. Traces and passes hold one.
class BuildScope {
 public:
  BuildScope() noexcept;
  ~BuildScope();
  BuildScope(const BuildScope&) = delete;
  BuildScope& operator=(const BuildScope&) = delete;
};

/// A node like `node` on other operands and with other regions, with the same result types. Nothing
/// is inferred, evaluated or made lazy. Returns the same node if nothing differs.
Tensor rebuild(const Node* node, Operands operands, std::vector<Function> regions);
Tensor rebuild(const Node* node, Operands operands);
/// The same as make() with known result types: for parsers, and passes that change a signature.
Tensor make_typed(const OpDef& op, Operands operands, Attributes attributes, ResultTypes types,
                  SourceLocation at, std::vector<Function> regions = {});

/// Releases nodes, each once, the last one first: if operands precede their users, each node is
/// then destroyed by its only owner.
void release_backwards(std::span<const Node* const> nodes) noexcept;

/// The id of a new node.
std::uint64_t take_id() noexcept;
/// The first of `count` new ids.
std::uint64_t take_ids(std::uint64_t count) noexcept;
/// The id that the next node gets, or a later one.
std::uint64_t next_id() noexcept;
/// The number of nodes that this thread has created.
std::uint64_t nodes_made() noexcept;

// Constants.
struct ConstantAttributes {
  Literal value;
  bool operator==(const ConstantAttributes& other) const { return value.identical(other.value); }
};
extern const OpDef kConstant;
Tensor make_constant(Literal value, SourceLocation at = {});
/// Throws TraceError if a literal was moved from.
void check_not_moved_from(const Literal& value, SourceLocation at);
/// A scalar converted exactly to `dtype`. Throws TraceError naming `at` if that is inexact, with
/// the code to write instead of the `use`, if one is given.
struct ScalarUse;
Literal scalar_literal(const Scalar& value, DType dtype, SourceLocation at,
                       const ScalarUse* use = nullptr);
/// The value of a constant; else null. The structure of a program may depend on it.
const Literal* constant_value(const Tensor& tensor) noexcept;
/// The value of a constant or an evaluated lazy tensor; else null. For evaluation only: the
/// structure of a program does not depend on what was evaluated. Copies a value on a device to the
/// host, and throws ExecutionError if that fails.
const Literal* known_value(const Tensor& tensor);

// Parameters. The token tells whether the trace of a parameter is still in progress.
struct RegionToken {
  std::atomic<bool> open{true};
  std::string what;  // "the body of while_loop 'solve'"
  SourceLocation at;
  std::uint64_t first_id = 0;
};
struct ParameterAttributes {
  std::shared_ptr<RegionToken> region;
  std::int64_t index = 0;
  std::string name;
  bool operator==(const ParameterAttributes&) const = default;
};
inline void count_field(HeldBytes& held, const std::shared_ptr<RegionToken>& region) {
  if (held.shared(region)) held.text(region->what);
}
extern const OpDef kParameter;
Tensor make_parameter(TensorType type, std::string name, std::int64_t index,
                      std::shared_ptr<RegionToken> region, SourceLocation at);
inline bool is_parameter(const Node* node) { return node->op == &kParameter; }
inline bool is_constant(const Node* node) { return node->op == &kConstant; }
inline bool is_lazy(const Node* node) { return node->cell != nullptr; }
/// The op that computes a value, for messages.
std::string_view op_name(const Node* node) noexcept;

/// Throws TraceError "op: finding", the location, and the remaining lines of `message`: the remedy.
[[noreturn]] void fail(std::string_view op, std::string_view message, SourceLocation at);

/// Throws TraceError if the tensor is empty.
const Tensor& checked(const Tensor& tensor, const char* op, SourceLocation at);

}  // namespace rondo::ir
