// Where shape ops read and write (ir/loop_nest.h).
#pragma once

#include "ir/loop_nest.h"

namespace rondo::ops {

/// For a bitcast of operand 0.
ir::LoopNest same_bytes(const ir::Node& node);
ir::LoopNest broadcast_reads(const ir::Node& node);
ir::LoopNest transpose_reads(const ir::Node& node);
ir::LoopNest reverse_reads(const ir::Node& node);
ir::LoopNest slice_reads(const ir::Node& node);
ir::LoopNest dynamic_slice_reads(const ir::Node& node);
ir::LoopNest dynamic_update_slice_writes(const ir::Node& node);
ir::LoopNest concatenate_writes(const ir::Node& node);
ir::LoopNest pad_writes(const ir::Node& node);

}  // namespace rondo::ops
