#include "ops/scatter.h"

#include <algorithm>
#include <array>

#include "ir/region.h"
#include "ops/combiners.h"
#include "ops/create.h"
#include "ops/windows.h"

namespace rondo {

void print_field(std::string& out, const ScatterDims& dims) {
  fmt::format_to(std::back_inserter(out),
                 "{{update_window_dims=[{}] inserted_window_dims=[{}] "
                 "scatter_dims_to_operand_dims=[{}] index_vector_dim={}",
                 fmt::join(dims.update_window_dims, ","), fmt::join(dims.inserted_window_dims, ","),
                 fmt::join(dims.scatter_dims_to_operand_dims, ","), dims.index_vector_dim);
  if (!dims.input_batching_dims.empty()) {
    fmt::format_to(std::back_inserter(out),
                   " input_batching_dims=[{}] scatter_indices_batching_dims=[{}]",
                   fmt::join(dims.input_batching_dims, ","),
                   fmt::join(dims.scatter_indices_batching_dims, ","));
  }
  out += '}';
}

namespace ops {

namespace {

WindowDims scatter_window_dims(const ScatterDims& dims) {
  return {dims.update_window_dims, dims.inserted_window_dims, dims.scatter_dims_to_operand_dims,
          dims.index_vector_dim,   dims.input_batching_dims,  dims.scatter_indices_batching_dims};
}

void check_combiner(const InferContext& context, std::size_t count) {
  if (context.regions.size() != 1)
    context.fail(fmt::format("{} regions; it takes one, the combiner", context.regions.size()));
  const Function& region = context.regions[0];
  bool fits = region.parameters().size() == 2 * count && region.outputs().size() == count;
  for (std::size_t i = 0; fits && i < count; i++) {
    const TensorType scalar{context.type(i).dtype, {}};
    fits = region.parameters()[i].type() == scalar &&
           region.parameters()[count + i].type() == scalar && region.outputs()[i].type() == scalar;
  }
  if (fits) return;
  std::string types;
  for (const Tensor& result : region.outputs())
    fmt::format_to(std::back_inserter(types), "{}{}", types.empty() ? "" : ", ",
                   result.type().str());
  context.fail(
      fmt::format("the combiner returns ({}) for elements of {}\n  It must take scalars of the "
                  "operand's dtype, an element and an "
                  "update, and return another.",
                  types, context.type(0).str()));
}

InferredTypes infer_scatter(const InferContext& context) {
  const ScatterDims& dims = context.attrs<ScatterAttributes>().dims;
  const std::size_t count = context.operands.size() / 2;
  if (context.operands.size() % 2 == 0 || count == 0) {
    context.fail(
        fmt::format("{} operands; it takes arrays, the indices, and an update for each array",
                    context.operands.size()));
  }
  const TensorType &x = context.type(0), &indices = context.type(count),
                   &updates = context.type(count + 1);
  for (std::size_t i = 0; i < count; i++) {
    const TensorType &array = context.type(i), &update = context.type(count + 1 + i);
    if (array.dtype != update.dtype) {
      context.fail(
          fmt::format("the updates are {}, the operand {}; their dtypes must be equal\n  Convert "
                      "the updates: rondo::convert(updates, DType::k{}).",
                      update.str(), array.str(), dtype_constant(array.dtype)));
    }
    if (array.shape != x.shape || update.shape != updates.shape) {
      context.fail(
          fmt::format("operand {} with its updates is {} and {}, operand 0 {} and {}; they must "
                      "have the same shapes",
                      i, array.str(), update.str(), x.str(), updates.str()));
    }
  }
  check_window_dims(context, scatter_window_dims(dims),
                    {"update_window_dims", "inserted_window_dims", "scatter_dims_to_operand_dims",
                     "input_batching_dims", "scatter_indices_batching_dims"},
                    x, indices, updates.rank());
  const Dims batch = batch_sizes(indices, dims.index_vector_dim);
  std::vector<std::int64_t> counted;
  for (std::int64_t axis = 0; axis < updates.rank(); axis++) {
    if (std::count(dims.update_window_dims.begin(), dims.update_window_dims.end(), axis) == 0)
      counted.push_back(updates.shape[axis]);
  }
  if (!std::equal(counted.begin(), counted.end(), batch.begin(), batch.end())) {
    context.fail(fmt::format("the updates {} count windows by [{}], the indices {} by [{}]",
                             updates.str(), fmt::join(counted, ","), indices.str(),
                             fmt::join(batch, ",")));
  }
  const std::vector<std::int64_t> sizes = window_sizes(dims, x.shape, updates.shape);
  for (std::size_t i = 0; i < sizes.size(); i++) {
    const auto axis = static_cast<std::int64_t>(i);
    const bool inserted =
        std::count(dims.inserted_window_dims.begin(), dims.inserted_window_dims.end(), axis) != 0;
    const bool batching =
        std::count(dims.input_batching_dims.begin(), dims.input_batching_dims.end(), axis) != 0;
    if (!inserted && !batching && sizes[i] > x.shape[i]) {
      context.fail(
          fmt::format("the windows are {} long along axis {}, where {} has {}\n  "
                      "Give updates whose windows fit: sizes from 0 to {}.",
                      sizes[i], i, x.str(), x.shape[i], x.shape[i]));
    }
  }
  check_combiner(context, count);
  InferredTypes results;
  for (std::size_t i = 0; i < count; i++) results.push_back(context.type(i));
  return results;
}

/// Where the kernel works: the arrays, which it updates in place, with their updates.
struct ScatterPlace {
  Literal& array;
  Literal updates;
};

template <class T, class Combine>
void combine_windows(const WindowWalk& walk, const Box& window, ScatterPlace& place,
                     Combine combine) {
  T* to = reinterpret_cast<T*>(place.array.mutable_bytes());
  const T* updates = reinterpret_cast<const T*>(place.updates.bytes());
  walk.for_each(false, [&](std::int64_t at, std::int64_t from) {
    window.for_each_run([&](std::int64_t t, std::int64_t u, std::int64_t n, std::int64_t to_stride,
                            std::int64_t from_stride) {
      T* element = to + at + t;
      const T* update = updates + from + u;
      for (std::int64_t i = 0; i < n; i++) {
        T& here = element[i * to_stride];
        here = combine(here, update[i * from_stride]);
      }
    });
  });
}

/// Runs the region for each element that an update falls on.
void call_combiner(KernelCall& call, const WindowWalk& walk, const Box& window,
                   std::span<ScatterPlace> places) {
  const std::size_t count = places.size();
  std::vector<Literal> arguments(2 * count), results;
  auto scalar_at = [](const Literal& array, std::int64_t i) {
    const std::int64_t width = byte_width(array.dtype());
    Literal scalar = Literal::uninitialized({array.dtype(), {}});
    copy_bytes(scalar.mutable_bytes(), array.bytes() + i * width, width);
    return scalar;
  };
  auto combine = [&](std::int64_t at, std::int64_t from) {
    for (std::size_t i = 0; i < count; i++) {
      arguments[i] = scalar_at(places[i].array, at);
      arguments[count + i] = scalar_at(places[i].updates, from);
    }
    call.host.call(call.node.regions[0], arguments, results);
    for (std::size_t i = 0; i < count; i++) {
      const std::int64_t width = byte_width(places[i].array.dtype());
      copy_bytes(places[i].array.mutable_bytes() + at * width, results[i].bytes(), width);
    }
  };
  walk.for_each(false, [&](std::int64_t at, std::int64_t from) {
    window.for_each_run([&](std::int64_t t, std::int64_t u, std::int64_t n, std::int64_t to_stride,
                            std::int64_t from_stride) {
      for (std::int64_t i = 0; i < n; i++)
        combine(at + t + i * to_stride, from + u + i * from_stride);
    });
  });
}

void scatter_kernel(KernelCall& call) {
  const ScatterDims& dims = call.attrs<ScatterAttributes>().dims;
  const Function& region = call.node.regions[0];
  const std::size_t count = call.outputs();
  // Held until the end, since an array may be its own update or indices: its storage is then
  // shared, and copied when written.
  const Literal indices = call.input(count);
  absl::InlinedVector<ScatterPlace, 1> places;
  for (std::size_t i = 0; i < count; i++)
    places.push_back({call.output(i), call.input(count + 1 + i)});
  for (std::size_t i = 0; i < count; i++) call.output(i) = call.take(i);
  const Shape &shape = call.output_type().shape, &updates_shape = places[0].updates.shape();
  if (shape.elements() == 0 || updates_shape.elements() == 0) return;
  const std::vector<std::int64_t> sizes = window_sizes(dims, shape, updates_shape);
  const WindowWalk walk(scatter_window_dims(dims), shape, indices, updates_shape, sizes);
  const Box elements(sizes, walk.operand_strides(), walk.windowed_strides(), 1);
  if (overwrites(region)) {
    for (ScatterPlace& place : places) {
      const std::int64_t width = byte_width(place.array.dtype());
      const Box window(sizes, walk.operand_strides(), walk.windowed_strides(), width);
      std::byte* to = place.array.mutable_bytes();
      walk.for_each(false, [&](std::int64_t at, std::int64_t from) {
        window.copy(to + at * width, place.updates.bytes() + from * width);
      });
    }
    return;
  }
  const Combiner combiner = count == 1 ? known_combiner(region) : Combiner::kOther;
  if (combiner == Combiner::kOther) {
    call_combiner(call, walk, elements, places);
    return;
  }
  for_dtype(call.output_type().dtype, [&]<class T>() {
    with_combiner<T>(combiner,
                     [&](auto combine) { combine_windows<T>(walk, elements, places[0], combine); });
  });
}

void scatter_hlo(const Node& node, std::string& out) {
  const ScatterDims& dims = node.attrs<ScatterAttributes>().dims;
  auto list = [&](std::string_view name, const std::vector<std::int64_t>& values) {
    fmt::format_to(std::back_inserter(out), ", {}=", name);
    append_list(out, values, '{', '}');
  };
  list("update_window_dims", dims.update_window_dims);
  list("inserted_window_dims", dims.inserted_window_dims);
  list("scatter_dims_to_operand_dims", dims.scatter_dims_to_operand_dims);
  fmt::format_to(std::back_inserter(out), ", index_vector_dim={}", dims.index_vector_dim);
  if (!dims.input_batching_dims.empty()) {
    list("input_batching_dims", dims.input_batching_dims);
    list("scatter_indices_batching_dims", dims.scatter_indices_batching_dims);
  }
}

void scatter_stablehlo(const Node& node, std::string& out) {
  const ScatterDims& dims = node.attrs<ScatterAttributes>().dims;
  out += "scatter_dimension_numbers = #stablehlo.scatter<";
  append_named_lists(out, {{"update_window_dims", dims.update_window_dims},
                           {"inserted_window_dims", dims.inserted_window_dims},
                           {"input_batching_dims", dims.input_batching_dims},
                           {"scatter_indices_batching_dims", dims.scatter_indices_batching_dims},
                           {"scatter_dims_to_operand_dims", dims.scatter_dims_to_operand_dims}});
  fmt::format_to(std::back_inserter(out), "index_vector_dim = {}>", dims.index_vector_dim);
}

}  // namespace

const ir::OpDef kScatter{.name = "scatter",
                         .hlo = "scatter",
                         .stablehlo = "stablehlo.scatter",
                         .infer = infer_scatter,
                         .kernel = scatter_kernel,
                         .hlo_attributes = scatter_hlo,
                         .stablehlo_attributes = scatter_stablehlo,
                         .hlo_regions = "to_apply",
                         .linear = ir::Linear::kJointly,
                         .is_linear = is_linear_scatter,
                         .jvp = scatter_jvp,
                         .transpose = scatter_transpose};

std::vector<std::int64_t> window_sizes(const ScatterDims& dims, const Shape& operand,
                                       const Shape& updates) {
  std::vector<std::int64_t> sizes(operand.size(), 0);
  for (std::int64_t axis : dims.inserted_window_dims) sizes[static_cast<std::size_t>(axis)] = 1;
  for (std::int64_t axis : dims.input_batching_dims) sizes[static_cast<std::size_t>(axis)] = 1;
  auto next = dims.update_window_dims.begin();
  for (std::int64_t& size : sizes) size = size == 1 ? 1 : updates[*next++];
  return sizes;
}

bool overwrites(const Function& region) {
  const std::size_t count = region.outputs().size();
  for (std::size_t i = 0; i < count; i++) {
    if (!region.outputs()[i].same_as(region.parameters()[count + i])) return false;
  }
  return true;
}

}  // namespace ops

Tensor detail::scatter_with(
    const Operand& x, const Operand& indices, const Operand& updates, const ScatterDims& dims,
    const std::function<std::vector<Tensor>(std::span<const Tensor>)>& combine) {
  const Tensor array = ops::any_tensor("scatter", x);
  const Tensor update =
      updates.is_scalar() ? updates.as(array.dtype()) : ops::any_tensor("scatter", updates);
  const std::array<TensorType, 2> scalars{TensorType{array.dtype(), {}},
                                          TensorType{array.dtype(), {}}};
  auto traced = [&](std::span<const Tensor> p) {
    std::vector<Tensor> combined = combine(p);
    combined[0] =
        ops::adopt_dtype(ir::checked(combined[0], "scatter", x.at()), array.dtype(), x.at());
    return combined;
  };
  Function region = ir::trace_closed("combine", "the combiner of scatter", scalars, traced, x.at());
  return ops::make(ops::kScatter, {array, ops::any_tensor("scatter", indices), update},
                   ops::ScatterAttributes{dims}, x.at(), {std::move(region)});
}

}  // namespace rondo
