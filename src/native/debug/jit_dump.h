// Describes machine code for perf, in a file of the format jitdump (version 1; in Linux:
// tools/perf/Documentation/jitdump-specification.txt), which `perf inject --jit` reads.
#pragma once

#include <cstdint>
#include <string>

#include "native/debug/byte_writer.h"
#include "native/debug/code_description.h"

namespace rondo::native_code {

/// Who writes a record, and when.
struct JitDumpStamp {
  std::uint32_t process = 0, thread = 0;
  std::uint64_t nanoseconds = 0;  // of the clock CLOCK_MONOTONIC
};

/// The beginning of a file.
ByteWriter jit_dump_header(const DebugNumbers& numbers, const JitDumpStamp& stamp);

/// The records of the code: for each piece its lines and then its bytes, as the function
/// "newton at house.cc:12". `first_index` numbers the pieces; the next number is that many later.
ByteWriter jit_dump_records(const CodeDescription& description, const JitDumpStamp& stamp,
                            std::uint64_t first_index);

/// Adds the code to the process's file `jit-PID.dump`, in the folder that JITDUMPDIR in the
/// environment names, or in the current one. If the file cannot be written, that is said once on
/// stderr. Thread safe.
void add_to_jit_dump(const CodeDescription& description);

}  // namespace rondo::native_code
