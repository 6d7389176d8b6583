#include "text/mlir/locations.h"

#include <limits>
#include <mutex>
#include <string>
#include <unordered_set>

#include "rondo/error.h"
#include "text/mlir/cursor.h"

namespace rondo::text::mlir {

namespace {

/// Locations within each other that are followed; an alias may even name itself.
constexpr int kMostLocations = 100;

}  // namespace

const char* lasting_file(std::string_view file) {
  constexpr std::size_t kMostFiles = 10'000;  // after which their names would take too much memory
  static std::mutex mutex;
  static auto* const names = new std::unordered_set<std::string>;
  // Most places are in the file of the one before.
  thread_local const std::string* last = nullptr;
  if (last && *last == file) return last->c_str();
  const std::lock_guard lock(mutex);
  auto found = names->find(std::string(file));
  if (found == names->end()) {
    if (names->size() >= kMostFiles) return "a file";
    found = names->emplace(file).first;
  }
  last = &*found;
  return last->c_str();
}

FilePlace Locations::file(Offset bracket) const {
  if (bracket == kNowhere) return {};
  if (!places_.empty()) return places_[bracket];
  try {
    Cursor cursor(text_, bracket);
    for (int depth = 0; depth < kMostLocations; depth++) {
      cursor.accept("(");
      cursor.accept("[");
      if (cursor.peek() == '#') {
        const auto alias = aliases_.find(cursor.name_after('#'));
        if (alias == aliases_.end()) return {};
        cursor.go_to(alias->second);
      } else if (cursor.peek() == '"') {
        const std::string_view text = cursor.quoted();
        if (cursor.accept(":")) {
          const std::int64_t line = cursor.integer();
          if (line < 1 || line > std::numeric_limits<std::uint32_t>::max()) return {};
          return {text, static_cast<std::uint32_t>(line)};
        }
        if (cursor.peek() != '(') return {};  // a name alone
      } else {
        const std::string_view word = cursor.word();
        if (word == "fused" && cursor.peek() == '<') cursor.bracketed('<');
        if (word != "fused" && word != "callsite") return {};
      }
    }
  } catch (const ParseError&) {
    // It says nothing that is understood, and changes no result.
  }
  return {};
}

std::string_view Locations::name(Offset bracket) const {
  if (bracket == kNowhere) return {};
  try {
    Cursor cursor(text_, bracket);
    for (int depth = 0; depth < kMostLocations; depth++) {
      cursor.accept("(");
      if (cursor.peek() == '"') {
        const std::string_view text = cursor.quoted();
        return cursor.peek() == ':' ? std::string_view() : text;
      }
      if (cursor.peek() != '#') return {};
      const auto alias = aliases_.find(cursor.name_after('#'));
      if (alias == aliases_.end()) return {};
      cursor.go_to(alias->second);
    }
  } catch (const ParseError&) {
    // As above.
  }
  return {};
}

}  // namespace rondo::text::mlir
