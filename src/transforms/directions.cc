#include "transforms/directions.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "control_flow/region_trace.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/region_walk.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"
#include "transforms/batching.h"
#include "transforms/derivatives.h"

namespace rondo::transforms {

namespace {

using detail::Leaves;
using detail::RegionCallable;

std::int64_t elements_of(std::span<const TensorType> types) {
  std::int64_t elements = 0;
  for (const TensorType& type : types) elements += type.elements();
  return elements;
}

/// `count` directions from number `first` on: for each type an array with the directions as leading
/// axis. Beyond the last element they are zero.
std::vector<Tensor> basis(std::span<const TensorType> types, const Tensor& first,
                          std::int64_t count, SourceLocation at) {
  const ir::LocationScope scope(at);
  std::vector<Tensor> tangents;
  std::int64_t before = 0;
  for (const TensorType& type : types) {
    const TensorType table{DType::kS64, {count, type.elements()}};
    const Tensor places = iota(table, 1) + before;
    std::vector<std::int64_t> dims = type.shape.vector();
    dims.insert(dims.begin(), count);
    tangents.push_back(reshape(convert(iota(table, 0) + first == places, type.dtype), dims));
    before += type.elements();
  }
  return tangents;
}

/// The bytes of the largest array of a program, at any depth.
std::int64_t largest_array(const Function& function) {
  struct Visitor {
    std::optional<ir::BodyPlace> enter(const Function& region, const ir::Node*, std::size_t) {
      if (!seen.insert(region.identity()).second) return std::nullopt;
      return ir::BodyPlace(region);
    }
    void before(ir::BodyPlace&, const ir::Node& node) {
      for (const TensorType& type : node.types) largest = std::max(largest, type.bytes());
    }
    void after(ir::BodyPlace&, const ir::Node&) {}
    void leave(ir::BodyPlace&) {}
    std::int64_t largest = 1;
    absl::flat_hash_set<const void*> seen;
  };
  Visitor visitor;
  ir::walk_regions(function, visitor);
  return visitor.largest;
}

/// A program for one direction, and its captures.
struct Direction {
  Function function;
  std::vector<Tensor> captures;

  Direction(std::span<const TensorType> types, const Along& along, SourceLocation at) {
    std::vector<std::string> names;
    for (std::size_t i = 0; i < types.size(); i++) names.push_back(fmt::format("tangent{}", i));
    const RegionCallable recorded = [&](std::span<const Tensor> tangents) {
      Leaves out{along(tangents), {}};
      for (std::size_t i = 0; i < out.values.size(); i++)
        out.paths.push_back(fmt::format("y[{}]", i));
      return out;
    };
    control_flow::RegionTrace traced("jacobian", "the program of a Jacobian", types, names,
                                     recorded, at);
    ir::OpenRegion region = traced.finish();
    captures = region.captures;
    function = derivatives().simplified(ir::close_region(std::move(region), captures));
  }

  /// For `count` directions at once.
  std::vector<Tensor> batched(std::span<const Tensor> tangents, std::int64_t count,
                              SourceLocation at) const {
    ir::BatchValues arguments;
    for (const Tensor& tangent : tangents) arguments.push_back({tangent, true});
    for (const Tensor& capture : captures) arguments.push_back({capture});
    std::vector<Tensor> rows;
    for (const ir::BatchValue& row : Batcher(count, "").batch(function, arguments, Tensor()))
      rows.push_back(ir::full_value(row, count, at));
    return rows;
  }
};

Tensor with_rows(const Tensor& x, std::span<const std::int64_t> in_front, std::size_t without,
                 SourceLocation at) {
  std::vector<std::int64_t> dims(in_front.begin(), in_front.end());
  const auto rest = x.shape().dims().subspan(without);
  dims.insert(dims.end(), rest.begin(), rest.end());
  return reshape(Operand(x, at), dims);
}

/// A loop over batches of `count` directions; the last batch may exceed the number of directions.
std::vector<Tensor> in_batches(std::span<const TensorType> types, const Direction& direction,
                               std::int64_t count, SourceLocation at) {
  const std::int64_t all = elements_of(types), batches = (all + count - 1) / count;
  const RegionCallable batch = [&](std::span<const Tensor> first) {
    Leaves out{direction.batched(basis(types, first[0], count, at), count, at), {}};
    for (std::size_t i = 0; i < out.values.size(); i++)
      out.paths.push_back(fmt::format("y[{}]", i));
    return out;
  };
  const Tensor firsts = Operand(iota({DType::kS64, {batches}}, 0), at) * Operand(count, at);
  ScanOptions options;
  options.name = "jacobian";
  std::vector<Tensor> rows = detail::scan(batch, {}, {{firsts}, {"xs"}}, options, at);
  for (Tensor& row : rows) {
    row = with_rows(row, std::vector{batches * count}, 2, at);
    std::vector<std::int64_t> limits = row.shape().vector();
    const std::vector<std::int64_t> starts(limits.size(), 0);
    limits[0] = all;
    row = slice(Operand(row, at), starts, limits);
  }
  return rows;
}

}  // namespace

std::vector<Tensor> along_each(std::span<const TensorType> types, const Along& along,
                               SourceLocation at) {
  const std::int64_t all = elements_of(types);
  if (all == 1) {
    std::vector<Tensor> tangents, rows;
    for (const TensorType& type : types)
      tangents.push_back(type.elements() == 1 ? ones(type, at) : zeros(type, at));
    for (const Tensor& row : along(tangents))
      rows.push_back(with_rows(row, std::vector<std::int64_t>{1}, 0, at));
    return rows;
  }
  const Tensor first = ir::make_constant(Literal::scalar(std::int64_t{0}), at);
  const Direction direction(types, along, at);
  const std::int64_t most =
      std::max<std::int64_t>(kBatchBytes / largest_array(direction.function), 1);
  if (all <= most) return direction.batched(basis(types, first, all, at), all, at);
  const std::int64_t batches = (all + most - 1) / most;
  return in_batches(types, direction, (all + batches - 1) / batches, at);
}

}  // namespace rondo::transforms
