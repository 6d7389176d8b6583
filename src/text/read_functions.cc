// Operations of StableHLO, CHLO and HLO that have no record, or one that does less: what they are
// in functions of ours.
#include <algorithm>
#include <cmath>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "base/for_dtype.h"
#include "fmt/format.h"
#include "ir/node.h"
#include "ops/broadcast.h"
#include "rondo/detail/evaluate.h"
#include "rondo/detail/trace.h"
#include "rondo/ops.h"
#include "rondo/ops/random.h"
#include "rondo/vmap.h"
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
    mlir::fail(
        read.text, read.operation.at,
        fmt::format(
            "{}: it needs `k`, and takes the largest only\n  Negate the values to take the least.",
            read.operation.name));
  const auto [values, places] = top_k({read.operands[0], read.at}, k->integer);
  return {values, places};
}

/// The order of all elements, if it follows from constants and is one that `polygamma` takes.
std::optional<std::int64_t> known_order(const Tensor& order, SourceLocation at) {
  if (order.node()->traced || order.type().elements() == 0) return std::nullopt;
  const Tensor wide = convert(order, DType::kF64), bounds[] = {min(wide), max(wide)};
  const std::vector<Literal> known = detail::evaluate(bounds, at, "the order of polygamma");
  const double n = known[0].item<double>();
  if (n != known[1].item<double>() || n != std::floor(n) || n < 0 || n > 170) return std::nullopt;
  return static_cast<std::int64_t>(n);
}

std::vector<Tensor> read_polygamma(const ReadOperation& read) {
  check_operands(read, 2);
  const Tensor &order = read.operands[0], &x = read.operands[1];
  if (const auto n = known_order(order, read.at)) return {polygamma(*n, {x, read.at})};
  // (-1)^(n + 1) n! zeta(n + 1, x), and NaN for what is no order, as XLA has it.
  const Tensor n = convert({order, read.at}, DType::kF64), wide = convert(x, DType::kF64);
  const Tensor sign = where(eq(n % 2, 0), -1, full(n.type(), 1));
  const Tensor sum = sign * exp(lgamma(n + 1)) * zeta(n + 1, wide);
  const Tensor value = where(eq(n, 0), digamma(wide), sum);
  return {convert(where((n < 0) | ne(n, floor(n)), std::nan(""), value), x.dtype())};
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

/// A region of scalars on each element of arrays of one shape.
std::vector<Tensor> read_map(const ReadOperation& read) {
  if (read.regions.size() != 1 || read.operands.empty())
    mlir::fail(
        read.text, read.operation.at,
        fmt::format("{} takes arrays and a region\n  Give it the function of their elements.",
                    read.operation.name));
  const Shape& shape = read.operands[0].shape();
  std::vector<Tensor> elements;
  for (const Tensor& x : read.operands)
    elements.push_back(reshape({x, read.at}, {shape.elements()}));
  const auto of_each = [&](const std::vector<Tensor>& one) {
    return detail::call_function(read.regions[0], one, read.at);
  };
  std::vector<Tensor> results = vmap(of_each, {}, read.at)(elements);
  for (Tensor& result : results) result = reshape({result, read.at}, shape.vector());
  return results;
}

/// Nothing says which numbers: those that follow from the place in the text, the same on each run.
std::vector<Tensor> read_rng(const ReadOperation& read) {
  const bool is_hlo = read.format == TextFormat::kHlo;
  const mlir::Attribute* const named =
      read.operation.find(is_hlo ? "distribution" : "rng_distribution");
  const mlir::Attribute* const brief = named ? named : read.operation.find("distribution");
  const std::string_view word = brief ? brief->text : std::string_view();
  const bool is_normal = word == "NORMAL" || word == "rng_normal";
  if ((!is_normal && word != "UNIFORM" && word != "rng_uniform") || read.operands.size() < 2 ||
      read.operation.types.size() != 1) {
    mlir::fail(read.text, read.operation.at,
               fmt::format("{} takes two bounds, or a mean and a deviation, and the distribution "
                           "UNIFORM or NORMAL",
                           read.operation.name));
  }
  const TensorType& type = read.operation.types[0];
  const Tensor key = random::key({Tensor(static_cast<std::int64_t>(read.operation.at)), read.at});
  const Operand a{read.operands[0], read.at}, b{read.operands[1], read.at};
  if (is_normal) return {a.tensor() + b.tensor() * random::normal(key, type)};
  return {is_floating(type.dtype) ? random::uniform(key, type, a, b)
                                  : random::randint(key, type, a, b)};
}

std::vector<Tensor> read_dimension_size(const ReadOperation& read) {
  check_operands(read, 1);
  const mlir::Attribute* axis =
      read.operation.find(read.format == TextFormat::kHlo ? "dimensions" : "dimension");
  if (!axis) axis = read.operation.find("dim");
  if (axis && axis->kind == mlir::Attribute::Kind::kList && axis->list.size() == 1)
    axis = &axis->list[0];
  const Tensor& x = read.operands[0];
  if (!axis || axis->kind != mlir::Attribute::Kind::kInteger || axis->integer < 0 ||
      axis->integer >= x.rank())
    mlir::fail(read.text, read.operation.at,
               fmt::format("{}: it needs an axis of {}", read.operation.name, x.type().str()));
  return {Tensor(static_cast<std::int32_t>(x.dim(axis->integer)), read.at)};
}

/// Tokens order effects, of which there are none.
std::vector<Tensor> read_token(const ReadOperation& read) {
  return {Tensor(Literal::zeros({DType::kPred, Shape({0})}), read.at)};
}

/// What uniform_quantize and uniform_dequantize do to real numbers.
std::vector<Tensor> read_same(const ReadOperation& read) {
  check_operands(read, 1);
  if (read.operation.types.size() != 1 || !is_floating(read.operation.types[0].dtype) ||
      !is_floating(read.operands[0].dtype()))
    mlir::fail(read.text, read.operation.at,
               fmt::format("{}: one of its types must be quantized\n  Write it like "
                           "`tensor<2x!quant.uniform<i8:f32, 0.1>>`.",
                           read.operation.name));
  return {convert({read.operands[0], read.at}, read.operation.types[0].dtype)};
}

/// New leading axes.
std::vector<Tensor> read_broadcast(const ReadOperation& read) {
  check_operands(read, 1);
  if (read.operation.types.size() != 1)
    mlir::fail(read.text, read.operation.at,
               fmt::format("{}: the type of the result is missing\n  Write it after the operands.",
                           read.operation.name));
  return {broadcast_to({read.operands[0], read.at}, read.operation.types[0].shape)};
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

constexpr NamedReader kFunctions[] = {
    {"chlo.asin", "", read_unary<asin>},
    {"chlo.bessel_i1e", "", read_unary<bessel_i1e>},
    {"chlo.broadcast_add", "", read_binary<sum_of>},
    {"chlo.broadcast_divide", "", read_binary<quotient_of>},
    {"chlo.broadcast_maximum", "", read_binary<maximum>},
    {"chlo.broadcast_minimum", "", read_binary<minimum>},
    {"chlo.broadcast_multiply", "", read_binary<product_of>},
    {"chlo.broadcast_power", "", read_binary<pow>},
    {"chlo.broadcast_subtract", "", read_binary<difference_of>},
    {"chlo.conj", "", read_unary<conj>},
    {"chlo.digamma", "", read_unary<digamma>},
    {"chlo.is_inf", "", read_unary<is_inf>},
    {"chlo.lgamma", "", read_unary<lgamma>},
    {"chlo.next_after", "", read_binary<next_after>},
    {"chlo.polygamma", "", read_polygamma},
    {"chlo.square", "", read_unary<square>},
    {"chlo.tan", "", read_unary<tan>},
    {"chlo.top_k", "topk", read_top_k},
    {"chlo.zeta", "", read_binary<zeta>},
    {"sdy.sharding_constraint", "", read_constraint},
    {"interpreter.probe", "", read_constraint},
    {"stablehlo.after_all", "", read_token},
    {"stablehlo.broadcast", "", read_broadcast},
    {"stablehlo.broadcast_in_dim", "", read_broadcast_in_dim},
    {"stablehlo.create_token", "", read_token},
    {"stablehlo.dot", "", read_dot},
    {"stablehlo.get_dimension_size", "get-dimension-size", read_dimension_size},
    {"stablehlo.map", "map", read_map},
    {"stablehlo.rng", "rng", read_rng},
    {"stablehlo.uniform_dequantize", "", read_same},
    {"stablehlo.uniform_quantize", "", read_same},
};

using Readers = absl::flat_hash_map<std::string_view, ReadFunction>;

Readers readers_of(std::string_view NamedReader::*name) {
  Readers readers;
  for (const std::span<const NamedReader> list :
       {std::span<const NamedReader>(kFunctions), variants(), collectives()}) {
    for (const NamedReader& reader : list)
      if (!(reader.*name).empty()) readers.emplace(reader.*name, reader.read);
  }
  return readers;
}

}  // namespace

std::string_view called_target(const mlir::Operation& operation) {
  if (operation.name != "stablehlo.custom_call" && operation.name != "custom-call") return {};
  for (const std::string_view name : {"call_target_name", "custom_call_target", "callee"}) {
    if (const mlir::Attribute* const target = operation.find(name)) return target->text;
  }
  return {};
}

ReadFunction read_function(TextFormat format, const mlir::Operation& operation) {
  static const Readers kStablehlo = readers_of(&NamedReader::stablehlo);
  static const Readers kHlo = readers_of(&NamedReader::hlo);
  const std::string_view target = called_target(operation);
  if (std::find(std::begin(kShardingCalls), std::end(kShardingCalls), target) !=
      std::end(kShardingCalls))
    return read_constraint;
  if (const ReadFunction routine = read_lapack(target)) return routine;
  const Readers& readers = format == TextFormat::kHlo ? kHlo : kStablehlo;
  const auto found = readers.find(operation.name);
  return found == readers.end() ? nullptr : found->second;
}

}  // namespace rondo::text
