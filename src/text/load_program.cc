// A program from a file, in any format that is read.
#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>

#include "fmt/format.h"
#include "rondo/text.h"
#include "text/bytecode/artifact.h"
#include "text/stablehlo_reader.h"

namespace rondo {

namespace {

/// The first word, after spaces and comments.
std::string_view first_word(std::string_view text) {
  while (!text.empty()) {
    const std::size_t at = text.find_first_not_of(" \t\r\n");
    text.remove_prefix(std::min(at, text.size()));
    if (text.substr(0, 2) != "//") break;
    text.remove_prefix(std::min(text.find('\n'), text.size()));
  }
  return text.substr(0, text.find_first_of(" \t\r\n,({"));
}

}  // namespace

Function parse_program(std::string_view text, const ParseOptions& options) {
  if (text::bytecode::is_artifact(text)) {
    const text::bytecode::Artifact artifact = text::bytecode::read_artifact(text);
    return text::program_of(artifact.listing, artifact.modules, options);
  }
  const std::string_view word = first_word(text);
  if (word == "func") return parse_text(text);
  const bool is_hlo = word == "HloModule" || word == "ENTRY";
  return is_hlo ? parse_hlo_text(text, options) : parse_stablehlo_text(text, options);
}

Function load_program(const std::string& path, const ParseOptions& options) {
  std::ifstream file(path, std::ios::binary);
  const std::string text((std::istreambuf_iterator<char>(file)), {});
  if (!file.is_open() || file.bad()) {
    throw ParseError(fmt::format("{}: {}", path, std::strerror(errno)), 0, 0);
  }
  try {
    ParseOptions named = options;
    if (named.file.empty()) named.file = path;
    return parse_program(text, named);
  } catch (const ParseError& error) {
    throw ParseError(fmt::format("{}: {}", path, error.what()), error.line(), error.column());
  }
}

Function parse_program(std::string_view text) { return parse_program(text, {}); }
Function load_program(const std::string& path) { return load_program(path, {}); }

}  // namespace rondo
