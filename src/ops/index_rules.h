// Where shape ops read and write (ir/element.h).
#pragma once

#include "ir/element.h"

namespace rondo::ops {

ir::AccessMap broadcast_reads(const ir::Node& node);
ir::AccessMap transpose_reads(const ir::Node& node);
ir::AccessMap reverse_reads(const ir::Node& node);
ir::AccessMap slice_reads(const ir::Node& node);
ir::AccessMap dynamic_slice_reads(const ir::Node& node);
ir::InsertionMap dynamic_update_slice_writes(const ir::Node& node);
ir::InsertionMap concatenate_writes(const ir::Node& node);
ir::InsertionMap pad_writes(const ir::Node& node);

}  // namespace rondo::ops
