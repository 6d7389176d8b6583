// The node of the graph.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "ir/attributes.h"
#include "ir/record.h"
#include "rondo/function.h"
#include "rondo/tensor.h"

namespace rondo::ir {

inline constexpr std::size_t kInlineOperands = 2;
using Operands = absl::InlinedVector<Tensor, kInlineOperands>;
using ResultTypes = absl::InlinedVector<TensorType, 1>;

/// An op applied to operands. Nodes never change after they are made, with one exception: a lazy
/// node that was evaluated keeps its values and lets go of its operands (ir/lazy.h).
struct Node {
  mutable std::atomic<std::uint32_t> references{0};
  std::uint32_t line = 0;  // of the user's call, with file and function
  const OpDef* op = nullptr;
  std::uint64_t id = 0;  // grows with creation, over all threads
  const char* file = "";
  const char* function = "";
  Attributes attributes;
  Operands operands;
  ResultTypes types;
  std::vector<Function> regions;
  mutable std::atomic<const std::vector<Literal>*> values{nullptr};  // of an evaluated node
  mutable std::atomic<bool> frozen{
      false};  // stands in a Function, so it keeps its operands even if it is evaluated

  ~Node();
  SourceLocation location() const { return {file, function, line}; }
  template <class T>
  const T& attrs() const {
    return attributes.as<T>();
  }
  const Tensor& operand(std::size_t i) const { return operands[i]; }
  const TensorType& operand_type(std::size_t i) const { return operands[i].type(); }
  const TensorType& type() const { return types[0]; }
};

/// Makes a node and infers its types; throws TraceError where the operands do not fit the op. Under
/// an EagerScope the node is evaluated at once. Every op goes through here. Returns the first
/// result (of an op without results: a handle to the node).
Tensor make(const OpDef& op, Operands operands, Attributes attributes, SourceLocation at,
            std::vector<Function> regions = {});
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

/// A node like `node` on other operands and with other regions, whose result types are the same;
/// nothing is inferred or evaluated. The very same node where nothing differs.
Tensor rebuild(const Node* node, Operands operands, std::vector<Function> regions);
Tensor rebuild(const Node* node, Operands operands);
/// A node of given result types, for those who know them: parsers and passes that change a
/// signature.
Tensor make_typed(const OpDef& op, Operands operands, Attributes attributes, ResultTypes types,
                  SourceLocation at, std::vector<Function> regions = {});

/// The number that the next node gets, or a later one.
std::uint64_t next_id() noexcept;

// Constants.
struct ConstantAttributes {
  Literal value;
  bool operator==(const ConstantAttributes& other) const { return value.identical(other.value); }
};
extern const OpDef kConstant;
Tensor make_constant(Literal value, SourceLocation at = {});
/// A scalar converted exactly to `dtype`; throws TraceError naming `at` where that is inexact.
Literal scalar_literal(const Scalar& value, DType dtype, SourceLocation at);
/// The value if it is there already: of a constant or an evaluated node; else null.
const Literal* known_value(const Tensor& tensor) noexcept;

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
extern const OpDef kParameter;
Tensor make_parameter(TensorType type, std::string name, std::int64_t index,
                      std::shared_ptr<RegionToken> region, SourceLocation at);
inline bool is_parameter(const Node* node) { return node->op == &kParameter; }
inline bool is_constant(const Node* node) { return node->op == &kConstant; }

/// Throws TraceError "op: finding", the place, and what `message` has from its second line on: the
/// remedy.
[[noreturn]] void fail(std::string_view op, std::string_view message, SourceLocation at);

/// Throws TraceError if the tensor is empty.
const Tensor& checked(const Tensor& tensor, const char* op, SourceLocation at);

}  // namespace rondo::ir
