#include "text/names.h"

#include <algorithm>
#include <array>
#include <utility>

namespace rondo::text {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }
bool is_identifier_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || c == '_';
}

// Names that XLA's lexer does not accept as identifiers.
constexpr std::array<std::string_view, 42> kReserved = {"ENTRY",       "FileLocations",
                                                        "FileNames",   "FunctionNames",
                                                        "HloModule",   "ROOT",
                                                        "StackFrames", "bf16",
                                                        "c128",        "c64",
                                                        "f16",         "f32",
                                                        "f64",         "false",
                                                        "inf",         "last_tile_dim_replicate",
                                                        "manual",      "maximal",
                                                        "nan",         "opaque",
                                                        "pred",        "replicated",
                                                        "s1",          "s16",
                                                        "s2",          "s32",
                                                        "s4",          "s64",
                                                        "s8",          "shard_as",
                                                        "shard_like",  "token",
                                                        "true",        "u1",
                                                        "u16",         "u2",
                                                        "u32",         "u4",
                                                        "u64",         "u8",
                                                        "unknown",     "unreduced"};

bool is_reserved(std::string_view name) {
  // There are many small float types, and there may be more.
  const bool small_float =
      name.size() > 3 && name[0] == 'f' && is_digit(name[1]) && name[2] == 'e' && is_digit(name[3]);
  return small_float || std::binary_search(kReserved.begin(), kReserved.end(), name);
}

}  // namespace

std::string whole_identifier(std::string_view path) {
  std::string name;
  for (const char c : path) {
    if (is_identifier_letter(c) || is_digit(c) || c == '.')
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  const std::size_t last = name.find_last_not_of("0123456789");
  if (last != std::string::npos && last + 1 < name.size() && name[last] == '.') name[last] = '_';
  if (name.empty() || name == ".") return "unnamed";
  if (!is_identifier_letter(name[0])) name.insert(0, 1, '_');
  if (name.starts_with("__")) name.insert(0, 1, 'x');
  if (is_reserved(name)) name += '_';
  return name;
}

std::string identifier(std::string_view path) {
  const std::size_t dot = path.find('.');
  return whole_identifier(
      dot == std::string_view::npos || dot + 1 == path.size() ? path : path.substr(dot + 1));
}

std::string_view NameTable::keep(std::string text) { return texts_.emplace_back(std::move(text)); }

std::string_view NameTable::add(std::string_view path) {
  std::string name = identifier(path);
  if (taken_.contains(name)) return add_whole(path);
  const std::string_view kept = keep(std::move(name));
  taken_.emplace(kept, 2);
  return kept;
}

std::string_view NameTable::add_whole(std::string_view wanted) {
  const std::string base = whole_identifier(wanted);
  std::string name = base;
  if (const auto found = taken_.find(base); found != taken_.end()) {
    // The next number is stored, so that a thousand equal names take a thousand steps.
    do name = base + '_' + std::to_string(found->second++);
    while (taken_.contains(name));
  }
  const std::string_view kept = keep(std::move(name));
  taken_.emplace(kept, 2);
  return kept;
}

}  // namespace rondo::text
