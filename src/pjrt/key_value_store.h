// Adapts the user's store of keys and values to the callbacks of a plugin.
#pragma once

#include "pjrt/api.h"
#include "rondo/pjrt.h"

namespace rondo::pjrt {

/// Adds the store to the arguments, unless it has no functions; it must outlive the client that is
/// created with them. Throws ExecutionError for a store with only some of its functions.
void give_store(const KeyValueStore& store, api::ClientCreate& arguments);

}  // namespace rondo::pjrt
