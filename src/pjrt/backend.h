// Programs on the device of a PJRT plugin.
#pragma once

#include <memory>
#include <string>

#include "ir/backend.h"

namespace rondo::pjrt {

/// Prepares a function for CompileOptions::device. The function is any that passes::expand can
/// lower to StableHLO. Throws TraceError for a feature that plugins do not support, with its name
/// and line.
const ir::Backend& backend();

/// The same for CompileOptions::mesh.
std::shared_ptr<const ir::Prepared> prepare_for_mesh(const Function& function,
                                                     const CompileOptions& options);
/// Throws ExecutionError for the options that no device has: threads, profile. `where` is the
/// device or mesh, for the message.
void refuse_options(const RunOptions& options, const std::string& name, const std::string& where);

}  // namespace rondo::pjrt
