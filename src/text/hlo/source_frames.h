// Where operations of HLO come from: their metadata, and the tables of source places behind a
// module's header.
#pragma once

#include <cstdint>
#include <string_view>

#include "absl/container/flat_hash_map.h"
#include "text/mlir/cursor.h"
#include "text/mlir/locations.h"

namespace rondo::text::hlo {

/// `FileNames 1 "a.py" FunctionNames 1 "f" FileLocations 1 {file_name_id=1 function_name_id=1
/// line=3} StackFrames 1 {file_location_id=1 parent_frame_id=1}`: by the numbers that the text
/// gives them.
struct SourceFrames {
  struct FileLocation {
    std::int64_t file = 0, line = 0;
  };
  absl::flat_hash_map<std::int64_t, std::string_view> files;
  absl::flat_hash_map<std::int64_t, FileLocation> locations;
  absl::flat_hash_map<std::int64_t, std::int64_t> frames;  // the file location of each

  /// Line 0 for a frame that the tables do not have.
  mlir::FilePlace place_of(std::int64_t frame) const;
};

/// Reads one of the four tables if it begins here.
bool parse_frame_table(mlir::Cursor& cursor, SourceFrames& frames);

/// The source_file and source_line of `metadata={...}` whose bracket is there, or what its
/// stack_frame_id names; line 0 without them.
mlir::FilePlace source_of(std::string_view text, mlir::Offset metadata, const SourceFrames& frames);

}  // namespace rondo::text::hlo
