// Which loops can run lane by lane: those that make each element of their carries from the same
// element of what they read, however many trips they make.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/builder.h"
#include "rondo/function.h"

namespace rondo::executor {

/// How a loop runs lane by lane.
struct LaneForm {
  std::int64_t lanes = 0;     // the elements of each array that it carries
  bool ends_by_lane = false;  // lanes may make different numbers of trips
};

/// Nothing for what is no loop, and for loops that do not run lane by lane. The regions of the node
/// are in ops that executors have, but for loops of this kind.
///
/// - All values are single elements, which are the same for all lanes, or of one element for each
///   lane and made of elements of the same lane. What comes from outside may be read at other
///   places.
/// - The predicate is the same for all lanes; or is one for each lane (ir::LaneLoop); or says that
///   any lane goes on, and a lane that does not keeps all that it carries: this is shown by writing
///   the body for such a lane, and looking whether what it hands on is what it was given.
std::optional<LaneForm> lane_form(const ir::Node& loop);

/// The loops of a function that run lane by lane, at any depth; of loops within one another the
/// outermost.
class LaneForms {
 public:
  LaneForms() = default;
  explicit LaneForms(const Function& function);
  const LaneForm* of(const ir::Node* loop) const {
    const auto found = forms_.find(loop);
    return found == forms_.end() ? nullptr : &found->second;
  }
  bool empty() const { return forms_.empty(); }

 private:
  absl::flat_hash_map<const ir::Node*, LaneForm> forms_;
};

/// Whether all elements of a constant have the same bytes; then they are `first_element`.
bool equal_elements(const ir::Node& constant);
lower::Element first_element(lower::Builder& builder, const ir::Node& constant);

/// The elements of some outputs of a region. `other` gives those of nodes that are no element code;
/// nodes that the outputs do not need are left out.
std::vector<lower::Element> region_elements(
    lower::Builder& builder, const Function& region, std::span<const lower::Element> arguments,
    std::span<const std::size_t> outputs,
    const std::function<std::vector<lower::Element>(const ir::Node&,
                                                    std::span<const lower::Element>)>& other);

}  // namespace rondo::executor
