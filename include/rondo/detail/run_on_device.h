// Runs on a device that give arguments up.
#pragma once

#include <span>
#include <vector>

#include "rondo/device.h"
#include "rondo/export.h"

namespace rondo {
class Executable;
struct RunOptions;
}  // namespace rondo

namespace rondo::detail {

/// Executable::run_on_device, where the run releases `handles[i]` handles of argument i: an
/// argument without further handles is donated. Empty `handles`: none is.
RONDO_API std::vector<pjrt::DeviceArray> run_on_device(const Executable& executable,
                                                       std::span<const pjrt::DeviceArray> arguments,
                                                       std::span<const long> handles,
                                                       const RunOptions& options);

}  // namespace rondo::detail
