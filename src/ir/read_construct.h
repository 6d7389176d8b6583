// What a text that is read says about a construct.
#pragma once

#include <span>
#include <string>
#include <vector>

#include "rondo/detail/leaves.h"
#include "rondo/tensor.h"

namespace rondo::ir {

struct ReadConstruct {
  std::vector<Tensor> operands;    // without what the regions use from outside
  std::vector<std::string> names;  // of what the first region takes, else empty
  std::span<const detail::RegionCallable> regions;
  SourceLocation at;
};

}  // namespace rondo::ir
