// XLA's compile options, as the bytes of its CompileOptionsProto.
#pragma once

#include <string>
#include <utility>
#include <vector>

namespace rondo::pjrt {

struct XlaOptions {
  std::vector<int> devices;  // the plugin's numbers of the partitions' devices, at least one
  bool shardy = true;        // partitioned by Shardy; GSPMD's annotations are understood as well
  std::vector<std::pair<std::string, bool>> flags;  // debug options by name
};

std::string compile_options(const XlaOptions& options);

}  // namespace rondo::pjrt
