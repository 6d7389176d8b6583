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
#include "rondo/function.h"
#include "rondo/reference_count.h"
#include "rondo/tensor.h"

namespace rondo::ir {

inline constexpr std::size_t kInlineOperands = 2;
using Operands = absl::InlinedVector<Tensor, kInlineOperands>;
using ResultTypes = absl::InlinedVector<TensorType, 1>;

class LazyCell;

/// The regions of a node. Few have any, and a node should be small: a trace walks through millions.
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
  // Not inline: few nodes come here, all would be longer.
  struct Deleter {
    void operator()(const std::vector<Function>* list) const noexcept;
  };
  const std::unique_ptr<const std::vector<Function>, Deleter> list_;
};

/// An op applied to operands. Nodes never change after they are made: whoever has one has it const.
/// A lazy tensor is a node without operands whose cell has what computes it and, later, its value
/// (ir/lazy.h). It begins with what a walk through a program reads of each node, 64 bytes.
struct Node : rondo::detail::Counted {
  Node(const OpDef& record, Operands&& inputs, Attributes&& attributes, ResultTypes&& types,
       std::vector<Function>&& regions, SourceLocation at,
       std::unique_ptr<LazyCell> cell = nullptr);
  /// A lazy tensor of what `definition` computes, which its cell holds.
  Node(std::unique_ptr<LazyCell> cell, const Node& definition);
  /// The types are what the record infers.
  Node(const OpDef& record, Operands&& inputs, Attributes&& attributes,
       std::vector<Function>&& regions, SourceLocation at);
  /// Of two operands, one result and nothing else.
  Node(const OpDef& record, const Tensor& a, const Tensor& b, const TensorType& type,
       bool is_traced, const SourceLocation& at);
  /// A constant.
  Node(Literal&& value, SourceLocation at);
  /// One with an id that was given to it before.
  Node(const Literal& value, std::uint64_t known_id);
  Node(const Node&) = delete;
  Node& operator=(const Node&) = delete;
  ~Node();
  static void* operator new(std::size_t bytes) { return take_small_block(bytes); }
  static void operator delete(void* block, std::size_t bytes) noexcept {
    give_small_block(block, bytes);
  }

  const std::uint32_t line : 31;  // of the user's call, with file and function
  const bool traced : 1;          // depends on a parameter, so that it has no value
  const OpDef* const op;
  const std::uint64_t id;  // grows with creation, over all threads: operands have lower ones
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

/// Destroys a node that nobody has any more, and what only it kept, without recursion.
void destroy(const Node* node) noexcept;
inline void retain(const Node* node) noexcept { rondo::detail::add_reference(node->references); }
inline void release(const Node* node) noexcept {
  if (rondo::detail::drop_reference(node->references)) destroy(node);
}

/// The type of a tensor that is not empty.
inline const TensorType& type_of(const Tensor& tensor) {
  return tensor.node()->types[tensor.result()];
}

/// What tells the results of all nodes apart: a key for maps. Keeps nothing alive.
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

/// Of each operand, whether no other one is the same value: what reads it last may take it over.
std::vector<bool> given_once(std::span<const Tensor> operands);

/// Makes a node and infers its types; throws TraceError where the operands do not fit the op. Every
/// op goes through here. What depends on no parameter is a lazy tensor, but for nodes of programs
/// (BuildScope); under an EagerScope it is evaluated at once. Returns the first result (of an op
/// without results: a handle to the node).
Tensor make(const OpDef& op, Operands operands, Attributes attributes, SourceLocation at,
            std::vector<Function> regions = {});
/// The same for an op of two operands of one type, which are not empty, without anything else.
/// Returns an empty tensor where their types differ.
Tensor make_of_equals(const OpDef& op, const Tensor& a, const Tensor& b, const SourceLocation& at);
/// The same for an op of several results.
std::vector<Tensor> make_many(const OpDef& op, Operands operands, Attributes attributes,
                              SourceLocation at, std::vector<Function> regions = {});
std::vector<Tensor> results_of(const Node* node);

/// While one lives, ops that this thread makes count as called at `at`: what a rule makes of a node
/// stands at the line of the user's call.
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

/// The place of what is called at `at`: that of the LocationScope in force, if there is one.
SourceLocation place_in_force(SourceLocation at) noexcept;

/// While one lives, what this thread makes are nodes of a program: no lazy tensors, though they
/// depend on no parameter. Traces and passes hold one.
class BuildScope {
 public:
  BuildScope() noexcept;
  ~BuildScope();
  BuildScope(const BuildScope&) = delete;
  BuildScope& operator=(const BuildScope&) = delete;
};

/// A node like `node` on other operands and with other regions, whose result types are the same;
/// nothing is inferred, evaluated or made lazy. The very same node where nothing differs.
Tensor rebuild(const Node* node, Operands operands, std::vector<Function> regions);
Tensor rebuild(const Node* node, Operands operands);
/// The same as make() with result types that are known: for parsers, and passes that change a
/// signature.
Tensor make_typed(const OpDef& op, Operands operands, Attributes attributes, ResultTypes types,
                  SourceLocation at, std::vector<Function> regions = {});

/// Lets go of nodes, of each once, the last one first: of those whose operands stand before them,
/// each is then destroyed by its only owner.
void release_backwards(std::span<const Node* const> nodes) noexcept;

/// The number of a new node.
std::uint64_t take_id() noexcept;
/// The first of so many.
std::uint64_t take_ids(std::uint64_t count) noexcept;
/// The number that the next node gets, or a later one.
std::uint64_t next_id() noexcept;
/// How many nodes this thread has made.
std::uint64_t nodes_made() noexcept;

// Constants.
struct ConstantAttributes {
  Literal value;
  bool operator==(const ConstantAttributes& other) const { return value.identical(other.value); }
};
extern const OpDef kConstant;
Tensor make_constant(Literal value, SourceLocation at = {});
/// Throws TraceError where a literal was moved from.
void check_not_moved_from(const Literal& value, SourceLocation at);
/// A scalar converted exactly to `dtype`; throws TraceError naming `at` where that is inexact, with
/// what to write in place of the `use`, where one is given.
struct ScalarUse;
Literal scalar_literal(const Scalar& value, DType dtype, SourceLocation at,
                       const ScalarUse* use = nullptr);
/// The value of a constant; else null. What a program is may depend on it.
const Literal* constant_value(const Tensor& tensor) noexcept;
/// The value if it is there already: of a constant or an evaluated lazy tensor; else null. For
/// evaluation: what a program is does not depend on what was evaluated. Brings a value that is on a
/// device to the host, and throws ExecutionError where that fails.
const Literal* known_value(const Tensor& tensor);

// Parameters. The token tells whether the trace that a parameter belongs to is still going on.
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
void print_field(std::string& out, const std::shared_ptr<RegionToken>& region);
inline void count_field(HeldBytes& held, const std::shared_ptr<RegionToken>& region) {
  if (held.shared(region)) held.text(region->what);
}
extern const OpDef kParameter;
Tensor make_parameter(TensorType type, std::string name, std::int64_t index,
                      std::shared_ptr<RegionToken> region, SourceLocation at);
inline bool is_parameter(const Node* node) { return node->op == &kParameter; }
inline bool is_constant(const Node* node) { return node->op == &kConstant; }
inline bool is_lazy(const Node* node) { return node->cell != nullptr; }
/// The op that made a value: for messages.
std::string_view op_name(const Node* node) noexcept;

/// Throws TraceError "op: finding", the place, and what `message` has from its second line on: the
/// remedy.
[[noreturn]] void fail(std::string_view op, std::string_view message, SourceLocation at);

/// Throws TraceError if the tensor is empty.
const Tensor& checked(const Tensor& tensor, const char* op, SourceLocation at);

}  // namespace rondo::ir
