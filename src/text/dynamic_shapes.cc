#include "text/dynamic_shapes.h"

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

#include "base/for_dtype.h"
#include "fmt/format.h"
#include "ir/node.h"
#include "rondo/detail/evaluate.h"
#include "text/mlir/cursor.h"

namespace rondo::text {

namespace {

using mlir::Attribute;

/// What the operands from the first of them on become: an attribute each, or the result's shape.
struct DynamicForm {
  std::string_view name, fixed;
  std::size_t first;
  std::vector<std::string_view> attributes;  // none: the shape of the result
};

const DynamicForm* form_of(std::string_view name) {
  static const std::array<DynamicForm, 7> kForms = {{
      {"stablehlo.dynamic_broadcast_in_dim", "stablehlo.broadcast_in_dim", 1, {}},
      {"stablehlo.dynamic_conv", "stablehlo.convolution", 2, {"padding"}},
      {"stablehlo.dynamic_gather", "stablehlo.gather", 2, {"slice_sizes"}},
      {"stablehlo.dynamic_iota", "stablehlo.iota", 0, {}},
      {"stablehlo.dynamic_pad",
       "stablehlo.pad",
       2,
       {"edge_padding_low", "edge_padding_high", "interior_padding"}},
      {"stablehlo.dynamic_reshape", "stablehlo.reshape", 1, {}},
      {"stablehlo.real_dynamic_slice",
       "stablehlo.slice",
       1,
       {"start_indices", "limit_indices", "strides"}},
  }};
  const auto found = std::find_if(kForms.begin(), kForms.end(),
                                  [&](const DynamicForm& form) { return form.name == name; });
  return found == kForms.end() ? nullptr : &*found;
}

/// The value of a tensor that depends on no parameter.
std::vector<std::int64_t> integers_of(std::string_view text, const mlir::Operation& operation,
                                      const Tensor& tensor, SourceLocation at) {
  constexpr std::int64_t kMost = 1024;
  if (tensor.node()->traced || !is_integer(tensor.dtype()) || tensor.type().elements() > kMost) {
    mlir::fail(text, operation.at,
               fmt::format("{}: its sizes must be integers that follow from constants\n  Export "
                           "the program for arguments of fixed shapes.",
                           operation.name));
  }
  const Literal value = detail::evaluate({&tensor, 1}, at, "a size").at(0);
  std::vector<std::int64_t> integers;
  for_dtype(value.dtype(), [&]<class T>() {
    if constexpr (std::is_integral_v<T>)
      for (const T element : value.data<T>())
        integers.push_back(static_cast<std::int64_t>(element));
  });
  return integers;
}

Attribute list_of(std::span<const std::int64_t> integers, mlir::Offset at) {
  Attribute list = mlir::attribute_of(Attribute::Kind::kList, at);
  for (const std::int64_t integer : integers) {
    list.list.push_back(mlir::attribute_of(Attribute::Kind::kInteger, at));
    list.list.back().integer = integer;
  }
  return list;
}

/// Pairs of an operand of two columns.
Attribute pairs_of(std::span<const std::int64_t> integers, mlir::Offset at) {
  Attribute pairs = mlir::attribute_of(Attribute::Kind::kList, at);
  for (std::size_t i = 0; i + 1 < integers.size(); i += 2)
    pairs.list.push_back(list_of(integers.subspan(i, 2), at));
  return pairs;
}

}  // namespace

bool has_dynamic_form(std::string_view name) { return form_of(name) != nullptr; }

FixedOperation with_fixed_sizes(std::string_view text, const mlir::Operation& operation,
                                std::span<const Tensor> operands) {
  const DynamicForm* const form = form_of(operation.name);
  const std::size_t count = std::max<std::size_t>(form->attributes.size(), 1);
  if (operands.size() != form->first + count || operation.types.size() != 1) {
    mlir::fail(text, operation.at,
               fmt::format("{} takes {} operands", operation.name, form->first + count));
  }
  FixedOperation fixed{operation, {operands.begin(), operands.end()}};
  fixed.operands.resize(form->first);
  fixed.operation.name = form->fixed;
  // Which sizes grow, where the text does not know them.
  std::erase_if(fixed.operation.attributes.own(),
                [](const mlir::Entry& entry) { return entry.name.starts_with("known_"); });
  const SourceLocation at = {};
  if (form->attributes.empty()) {
    try {
      fixed.operation.types[0].shape =
          Shape(integers_of(text, operation, operands[form->first], at));
    } catch (const TraceError& error) {
      mlir::fail(text, operation.at, fmt::format("{}: {}", operation.name, error.what()));
    }
    if (!operation.details && fixed.operation.types[0].shape != operation.types[0].shape)
      mlir::fail(text, operation.at,
                 fmt::format("{}: its result is {}, not {} as the text says", operation.name,
                             fixed.operation.types[0].str(), operation.types[0].str()));
    fixed.operation.details = nullptr;
  }
  for (std::size_t i = 0; i < form->attributes.size(); i++) {
    const Tensor& sizes = operands[form->first + i];
    const std::vector<std::int64_t> integers = integers_of(text, operation, sizes, at);
    const bool in_pairs = sizes.rank() == 2 && sizes.dim(1) == 2;
    fixed.operation.attributes.own().push_back(
        {form->attributes[i],
         in_pairs ? pairs_of(integers, operation.at) : list_of(integers, operation.at)});
  }
  return fixed;
}

}  // namespace rondo::text
