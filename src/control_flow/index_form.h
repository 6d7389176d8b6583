// What an index in the body of a counted loop is, as a line over its trips.
#pragma once

#include <cstdint>
#include <optional>

#include "absl/container/flat_hash_map.h"
#include "rondo/function.h"
#include "rondo/tensor.h"

namespace rondo::control_flow {

/// offset + slope * trip, in the trips 0, 1, ...
struct IndexForm {
  std::int64_t offset = 0;
  std::int64_t slope = 0;
  bool operator==(const IndexForm&) const = default;
};

/// The forms of the integer scalars of a body that sums, differences, products with constants,
/// conversions, and choices and clamps that do the same in each trip make of the counter. Nothing
/// in them wraps.
class IndexForms {
 public:
  /// `counter` is a parameter of the body, with this form in `trips` trips.
  IndexForms(const Function& body, const Tensor& counter, IndexForm form, std::int64_t trips);
  std::optional<IndexForm> of(const Tensor& scalar) const;

 private:
  std::optional<IndexForm> computed(const ir::Node& node) const;
  /// The form, if its values in all trips fit the dtype.
  std::optional<IndexForm> checked(std::optional<IndexForm> form, DType dtype) const;
  /// What a comparison gives, if it is the same in all trips.
  std::optional<bool> decided(const Tensor& predicate) const;

  std::int64_t trips_;
  absl::flat_hash_map<const ir::Node*, IndexForm> forms_;
};

}  // namespace rondo::control_flow
