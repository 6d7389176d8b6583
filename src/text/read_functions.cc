// Operations of StableHLO, CHLO and HLO that have no record, or one that does less: what they are
// in functions of ours.
#include <algorithm>

#include "absl/container/flat_hash_map.h"
#include "base/for_dtype.h"
#include "fmt/format.h"
#include "ops/broadcast.h"
#include "rondo/ops.h"
#include "text/mlir/cursor.h"
#include "text/read_operation.h"

namespace rondo::text {

namespace {

void check_operands(const ReadOperation& read, std::size_t count) {
  if (read.operands.size() == count) return;
  mlir::fail(read.text, read.operation.at,
             fmt::format("{} has {} operands; it takes {}", read.operation.name,
                         read.operands.size(), count));
}

template <Tensor (*function)(const Operand&)>
std::vector<Tensor> read_unary(const ReadOperation& read) {
  check_operands(read, 1);
  return {function({read.operands[0], read.at})};
}
template <Tensor (*function)(const Operand&, const Operand&)>
std::vector<Tensor> read_binary(const ReadOperation& read) {
  check_operands(read, 2);
  return {function({read.operands[0], read.at}, {read.operands[1], read.at})};
}

std::vector<Tensor> read_top_k(const ReadOperation& read) {
  check_operands(read, 1);
  const mlir::Attribute* const k = read.operation.find("k");
  const mlir::Attribute* const largest = read.operation.find("largest");
  if (!k || k->kind != mlir::Attribute::Kind::kInteger || (largest && largest->integer != 1))
    mlir::fail(read.text, read.operation.at,
               fmt::format("{}: it needs `k`, and takes the largest only", read.operation.name));
  const auto [values, places] = top_k({read.operands[0], read.at}, k->integer);
  return {values, places};
}

std::vector<Tensor> read_polygamma(const ReadOperation& read) {
  check_operands(read, 2);
  const Literal* const order = ir::constant_value(read.operands[0]);
  if (!order || order->elements() != 1)
    mlir::fail(read.text, read.operation.at, "chlo.polygamma: the order must be a constant scalar");
  std::int64_t n = 0;
  for_dtype(order->dtype(), [&]<class T>() {
    if constexpr (!is_complex(dtype_of<T>)) n = static_cast<std::int64_t>(order->item<T>());
  });
  return {polygamma(n, {read.operands[1], read.at})};
}

/// Vectors and matrices, without batches.
std::vector<Tensor> read_dot(const ReadOperation& read) {
  check_operands(read, 2);
  return {dot({read.operands[0], read.at}, {read.operands[1], read.at})};
}

/// An axis of size 1 may become a longer one, which our op leaves to a reshape before it.
std::vector<Tensor> read_broadcast_in_dim(const ReadOperation& read) {
  check_operands(read, 1);
  const ir::Attributes attributes = read_attributes(ops::kBroadcastInDim, read);
  const auto& [shape, dimensions] = attributes.as<ops::BroadcastAttributes>();
  const Tensor& x = read.operands[0];
  std::vector<std::int64_t> sizes, kept;
  for (std::size_t axis = 0; axis < dimensions.size(); axis++) {
    const auto i = static_cast<std::int64_t>(axis);
    const bool known = i < x.rank() && dimensions[axis] >= 0 && dimensions[axis] < shape.rank();
    if (known && x.dim(i) == 1 && shape[dimensions[axis]] != 1) continue;
    if (known) sizes.push_back(x.dim(i));
    kept.push_back(dimensions[axis]);
  }
  const bool grows = kept.size() < dimensions.size();
  return {ir::make(ops::kBroadcastInDim, {grows ? ops::reshape_to(x, Shape(sizes), read.at) : x},
                   ops::BroadcastAttributes{shape, kept}, read.at)};
}

/// New leading axes.
std::vector<Tensor> read_broadcast(const ReadOperation& read) {
  check_operands(read, 1);
  return {broadcast_to({read.operands[0], read.at}, read.operation.types.at(0).shape)};
}

/// Custom calls by which partitioners annotate values.
constexpr std::string_view kShardingCalls[] = {"Sharding", "xla.sdy.FuncResultSharding"};

Tensor sum_of(const Operand& a, const Operand& b) { return a.tensor() + b.tensor(); }
Tensor difference_of(const Operand& a, const Operand& b) { return a.tensor() - b.tensor(); }
Tensor product_of(const Operand& a, const Operand& b) { return a.tensor() * b.tensor(); }
Tensor quotient_of(const Operand& a, const Operand& b) { return a.tensor() / b.tensor(); }

/// What says how devices hold a value changes none.
std::vector<Tensor> read_constraint(const ReadOperation& read) {
  check_operands(read, 1);
  return {read.operands[0]};
}

}  // namespace

ReadFunction read_function(TextFormat format, const mlir::Operation& operation) {
  static const absl::flat_hash_map<std::string_view, ReadFunction> kFunctions = {
      {"chlo.asin", read_unary<asin>},
      {"chlo.bessel_i1e", read_unary<bessel_i1e>},
      {"chlo.broadcast_add", read_binary<sum_of>},
      {"chlo.broadcast_divide", read_binary<quotient_of>},
      {"chlo.broadcast_maximum", read_binary<maximum>},
      {"chlo.broadcast_minimum", read_binary<minimum>},
      {"chlo.broadcast_multiply", read_binary<product_of>},
      {"chlo.broadcast_power", read_binary<pow>},
      {"chlo.broadcast_subtract", read_binary<difference_of>},
      {"chlo.conj", read_unary<conj>},
      {"chlo.digamma", read_unary<digamma>},
      {"chlo.is_inf", read_unary<is_inf>},
      {"chlo.lgamma", read_unary<lgamma>},
      {"chlo.next_after", read_binary<next_after>},
      {"chlo.polygamma", read_polygamma},
      {"chlo.square", read_unary<square>},
      {"chlo.tan", read_unary<tan>},
      {"chlo.top_k", read_top_k},
      {"chlo.zeta", read_binary<zeta>},
      {"sdy.sharding_constraint", read_constraint},
      {"stablehlo.broadcast", read_broadcast},
      {"stablehlo.broadcast_in_dim", read_broadcast_in_dim},
      {"stablehlo.dot", read_dot},
  };
  if (format == TextFormat::kHlo && operation.name == "topk") return read_top_k;
  const mlir::Attribute* target = operation.find("call_target_name");
  if (!target) target = operation.find("custom_call_target");
  if (!target) target = operation.find("callee");
  if (target && std::find(std::begin(kShardingCalls), std::end(kShardingCalls), target->text) !=
                    std::end(kShardingCalls))
    return read_constraint;
  const auto found = kFunctions.find(operation.name);
  return found == kFunctions.end() ? nullptr : found->second;
}

}  // namespace rondo::text
