// Elements of nodes and regions that are arithmetic, as values of a lower program.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "lower/builder.h"
#include "rondo/function.h"

namespace rondo::executor {

/// Of nodes on single elements: whether region_elements writes them by itself.
bool has_element_code(const ir::Node& node);

/// What an element of a node of Strategy::kElement costs, in ops of the lower IR of which a
/// processor begins one or two in a cycle.
std::int64_t element_work(const ir::Node& node);

/// Whether all elements of a constant have the same bytes; then they are `first_element`.
bool equal_elements(const ir::Node& constant);
lower::Element first_element(lower::Builder& builder, const ir::Node& constant);

/// Whether a region is scalar arithmetic: region_elements needs no `other` for it.
bool is_element_code(const Function& region);

/// The elements of some outputs of a region. `other` gives those of nodes that are no element code;
/// nodes that the outputs do not need are left out.
std::vector<lower::Element> region_elements(
    lower::Builder& builder, const Function& region, std::span<const lower::Element> arguments,
    std::span<const std::size_t> outputs,
    const std::function<std::vector<lower::Element>(const ir::Node&,
                                                    std::span<const lower::Element>)>& other);

}  // namespace rondo::executor
