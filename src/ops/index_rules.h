// Where shape ops read and write (ir/element.h).
#pragma once

#include "ir/element.h"

namespace rondo::ops {

ir::ReadMap broadcast_reads(const ir::Node& node);
ir::ReadMap transpose_reads(const ir::Node& node);
ir::ReadMap reverse_reads(const ir::Node& node);
ir::ReadMap slice_reads(const ir::Node& node);
ir::ReadMap dynamic_slice_reads(const ir::Node& node);
ir::WriteMap dynamic_update_slice_writes(const ir::Node& node);
ir::WriteMap concatenate_writes(const ir::Node& node);
ir::WriteMap pad_writes(const ir::Node& node);

}  // namespace rondo::ops
