// A Function as C.
#pragma once

#include "c/file.h"
#include "rondo/c_source.h"
#include "rondo/function.h"

namespace rondo::executor {

/// What to_c_source gives, with the places of arguments and results.
c::File c_file(const Function& function, const COptions& options);

}  // namespace rondo::executor
