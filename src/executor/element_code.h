// Scalar code, as values of a lower program, for the elements of nodes and regions that are
// arithmetic.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "absl/functional/function_ref.h"
#include "lower/builder.h"
#include "rondo/function.h"

namespace rondo::executor {

/// Whether region_elements writes such nodes on single elements without `other`.
bool has_element_code(const ir::Node& node);

/// The cost of an element of a node of Strategy::kElement, in ops of the lower IR, of which a
/// processor issues one or two a cycle.
std::int64_t element_work(const ir::Node& node);

/// The same element of a node of Strategy::kElement, from those of its operands. Where the builder
/// calls functions (lower::Builder::Functions), an op of several steps is a call.
lower::Element element_of(const ir::Node& node, lower::Builder& builder,
                          std::span<const lower::Element> operands,
                          absl::FunctionRef<lower::Value(std::int64_t axis)> index);

/// Whether all elements of a constant have the same bytes, which are then those of `first_element`.
bool equal_elements(const ir::Node& constant);
lower::Element first_element(lower::Builder& builder, const ir::Node& constant);

/// Whether a region is scalar arithmetic: region_elements needs no `other` for it.
bool is_element_code(const Function& region);

/// The elements of some outputs of a region. `other` gives those of nodes that are not element
/// code; nodes that the outputs do not need are skipped.
std::vector<lower::Element> region_elements(
    lower::Builder& builder, const Function& region, std::span<const lower::Element> arguments,
    std::span<const std::size_t> outputs,
    const std::function<std::vector<lower::Element>(const ir::Node&,
                                                    std::span<const lower::Element>)>& other);

}  // namespace rondo::executor
