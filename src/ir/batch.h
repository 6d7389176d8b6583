// The arguments and results of the records' batching rules. A batched program runs for many lanes
// at once: a value that differs by lane has the lanes as leading axis, any other value is
// unchanged. Rules are ordinary Tensor code; the driver in src/transforms calls them and names no
// op. New nodes of a rule have the source line of the node that it batches.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "ir/derivative.h"
#include "ir/node.h"

namespace rondo::ir {

/// A value of a batched program.
struct BatchValue {
  Tensor value;
  bool batched = false;  // axis 0 counts lanes; else the value holds for every lane
};
using BatchValues = std::vector<BatchValue>;

/// A function for all lanes.
struct BatchedFunction {
  Function function;
  Flags results;  // those that differ by lane
};

/// The driver, as rules call it on regions.
class Batching {
 public:
  virtual ~Batching() = default;
  virtual std::int64_t lanes() const = 0;
  /// The name of the axis of lanes, for collectives; may be empty.
  virtual const std::string& axis_name() const = 0;
  /// The function on `arguments`, as new nodes. `active`, a pred[lanes] or an empty Tensor, flags
  /// the lanes whose values matter: those that take this branch, or that are still in this loop.
  virtual BatchValues batch(const Function& function, std::span<const BatchValue> arguments,
                            const Tensor& active) = 0;
  /// The function itself for all lanes, made once for each `parameters`, which flags those that
  /// differ by lane. If only some lanes matter, these are a further parameter, pred[lanes].
  virtual const BatchedFunction& batched(const Function& function, const Flags& parameters) = 0;
  /// The lanes whose values matter here; empty: all of them.
  virtual const Tensor& active() const = 0;
  /// Which results differ by lane if these parameters do.
  virtual Flags batched_results(const Function& function, const Flags& parameters) = 0;
  /// Whether it combines values of lanes, at any depth.
  virtual bool has_collectives(const Function& function) = 0;
  /// The node, batched by way of what `rule` expands it to.
  virtual BatchValues batch_expanded(const BatchCall& call, ExpandRule rule) = 0;
  /// Adds a line for explain_batching.
  virtual void note(const Node& node, std::string text) = 0;
};

/// The arguments of an op's batching rule.
struct BatchCall {
  const Node& node;  // of the program of one lane
  std::span<const BatchValue> operands;
  const Flags& used;  // results that are used
  Batching& batching;

  SourceLocation at() const { return node.location(); }
  std::int64_t lanes() const { return batching.lanes(); }
  const Tensor& x(std::size_t i) const { return operands[i].value; }
  bool batched(std::size_t i) const { return operands[i].batched; }
  Flags batched() const;
  /// The type of the operand in one lane.
  const TensorType& type(std::size_t i) const { return node.operand_type(i); }
  /// The operand with the lanes as leading axis: repeated if it is the same in all.
  Tensor full(std::size_t i) const;
  Operands all_full() const;
  /// TraceError: `<op>: <message>`, with the user's line.
  [[noreturn]] void fail(const std::string& message) const;
};

/// The type with `lanes` as leading axis.
TensorType with_lanes(const TensorType& type, std::int64_t lanes);
/// The value with the lanes as leading axis.
Tensor full_value(const BatchValue& value, std::int64_t lanes, SourceLocation at);
/// Broadcasts pred[lanes] to a shape whose leading axis is the lanes.
Tensor broadcast_lanes(const Tensor& lanes, const Shape& shape, SourceLocation at);
/// Results that all have an axis of lanes.
BatchValues all_batched(std::vector<Tensor> values);
/// Axes of one lane as axes of the batched value, which has one more in front.
std::vector<std::int64_t> behind_lanes(std::span<const std::int64_t> axes);
/// A list with an entry for the axis of lanes.
std::vector<std::int64_t> with_first(std::int64_t first, std::span<const std::int64_t> rest);

/// The rule of ops whose attributes do not mention axes, elementwise ones above all: the op on
/// operands that all have the lanes as leading axis.
BatchValues batch_alike(const BatchCall& call);
/// The same with other attributes.
BatchValues batch_with(const BatchCall& call, Attributes attributes);

/// `next` in active lanes, `previous` in the others. If `next` is `previous` with parts replaced,
/// only the parts are selected, so an array is updated in place.
Tensor blend(const Tensor& active, const Tensor& next, const Tensor& previous, SourceLocation at);

}  // namespace rondo::ir
