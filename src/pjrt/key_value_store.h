// A store of keys and values of the user's, as a plugin calls it.
#pragma once

#include "pjrt/api.h"
#include "rondo/pjrt.h"

namespace rondo::pjrt {

/// Puts the store among the arguments, unless it has no functions; it must live as long as the
/// client that is made of them. Throws ExecutionError for one that has some of its functions.
void give_store(const KeyValueStore& store, api::ClientCreate& arguments);

}  // namespace rondo::pjrt
