// The record of calls of registered C++ functions.
#pragma once

#include <string>
#include <vector>

#include "ops/support.h"

namespace rondo::ops {

struct CalledFunction {
  std::string name, config;
  std::vector<TensorType> types;  // of the results
  bool operator==(const CalledFunction&) const = default;
};
extern const ir::OpDef kCustomCall;

}  // namespace rondo::ops
