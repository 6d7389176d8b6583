#include "text/hlo/source_frames.h"

#include <charconv>
#include <limits>

#include "rondo/error.h"

namespace rondo::text::hlo {

namespace {

using mlir::Cursor;

bool begins_number(const Cursor& cursor) {
  const char next = Cursor(cursor).peek();
  return next >= '0' && next <= '9';
}

/// `{source_file="f.py" source_line=3}`: calls text(name, value) and number(name, value).
template <class OnText, class OnNumber>
void read_fields(Cursor& cursor, const OnText& text, const OnNumber& number) {
  cursor.expect("{");
  while (!cursor.accept("}")) {
    const std::string_view name = cursor.word();
    cursor.expect("=");
    if (cursor.peek() == '"') {
      text(name, cursor.quoted());
    } else if (cursor.peek() == '{') {
      cursor.bracketed('{');
    } else {
      std::int64_t value = 0;
      const std::string_view digits = cursor.number();
      std::from_chars(digits.data(), digits.data() + digits.size(), value);
      number(name, value);
    }
    cursor.accept(",");
  }
}

mlir::FilePlace place_at(std::string_view file, std::int64_t line) {
  const bool is_line = line > 0 && line <= std::numeric_limits<std::uint32_t>::max();
  return is_line ? mlir::FilePlace{file, static_cast<std::uint32_t>(line)} : mlir::FilePlace();
}

}  // namespace

mlir::FilePlace SourceFrames::place_of(std::int64_t frame) const {
  const auto of_frame = frames.find(frame);
  if (of_frame == frames.end()) return {};
  const auto location = locations.find(of_frame->second);
  if (location == locations.end()) return {};
  const auto file = files.find(location->second.file);
  return file == files.end() ? mlir::FilePlace() : place_at(file->second, location->second.line);
}

bool parse_frame_table(Cursor& cursor, SourceFrames& frames) {
  const bool names_files = cursor.accept_word("FileNames");
  const bool is_table = names_files || cursor.accept_word("FunctionNames") ||
                        cursor.accept_word("FileLocations") || cursor.accept_word("StackFrames");
  while (is_table && begins_number(cursor)) {
    const std::int64_t number = cursor.integer();
    if (cursor.peek() == '"') {
      const std::string_view name = cursor.quoted();
      if (names_files) frames.files.emplace(number, name);
      continue;
    }
    SourceFrames::FileLocation location;
    read_fields(
        cursor, [](std::string_view, std::string_view) {},
        [&](std::string_view name, std::int64_t value) {
          if (name == "file_name_id") location.file = value;
          if (name == "line") location.line = value;
          if (name == "file_location_id") frames.frames.emplace(number, value);
        });
    if (location.file != 0) frames.locations.emplace(number, location);
  }
  return is_table;
}

mlir::FilePlace source_of(std::string_view text, mlir::Offset metadata,
                          const SourceFrames& frames) {
  std::string_view file;
  std::int64_t line = 0, frame = 0;
  if (metadata == mlir::kNowhere) return {};
  try {
    Cursor cursor(text, metadata);
    read_fields(
        cursor,
        [&](std::string_view name, std::string_view value) {
          if (name == "source_file") file = value;
        },
        [&](std::string_view name, std::int64_t value) {
          if (name == "source_line") line = value;
          if (name == "stack_frame_id") frame = value;
        });
  } catch (const ParseError&) {
    return {};  // it says nothing that is understood, and changes no result
  }
  return file.empty() ? frames.place_of(frame) : place_at(file, line);
}

}  // namespace rondo::text::hlo
