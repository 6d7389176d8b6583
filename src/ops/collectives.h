// Collectives: ops over the lanes of an enclosing vmap, whose batching replaces them.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "ir/batch.h"
#include "ops/combiners.h"

namespace rondo::ops {

/// The combined values of all lanes (kAdd, kMaximum, kMinimum).
struct AxisReduceAttributes {
  std::string axis;
  Combiner combiner;
  bool operator==(const AxisReduceAttributes&) const = default;
};
extern const ir::OpDef kAxisReduce;

/// The values of all lanes, along a new leading axis.
struct AxisGatherAttributes {
  std::string axis;
  std::int64_t lanes;
  bool operator==(const AxisGatherAttributes&) const = default;
};
extern const ir::OpDef kAxisGather;

struct AxisIndexAttributes {
  std::string axis;
  bool operator==(const AxisIndexAttributes&) const = default;
};
extern const ir::OpDef kAxisIndex;

/// The number of lanes of the vmap around with this axis_name; nullopt if there is none.
std::optional<std::int64_t> named_axis_size(std::string_view name);

/// While one exists, collectives can name the axis. Throws TraceError for a name that is taken.
class NamedAxisScope {
 public:
  NamedAxisScope(const std::string& name, std::int64_t size, SourceLocation at);
  ~NamedAxisScope();
  NamedAxisScope(const NamedAxisScope&) = delete;
  NamedAxisScope& operator=(const NamedAxisScope&) = delete;

 private:
  bool named_;
};

}  // namespace rondo::ops
