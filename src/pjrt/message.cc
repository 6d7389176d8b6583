#include "pjrt/message.h"

#include <algorithm>
#include <charconv>
#include <string>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "ir/layout.h"
#include "ir/region_walk.h"
#include "pjrt/plugin.h"
#include "rondo/text.h"

namespace rondo::pjrt {

namespace {

/// The first `-:LINE:` of a message; 0 without one.
std::size_t line_in(std::string_view message) {
  for (std::size_t at = message.find("-:"); at != std::string_view::npos;
       at = message.find("-:", at + 2)) {
    std::size_t line = 0;
    const char* begin = message.data() + at + 2;
    const auto [end, error] = std::from_chars(begin, message.data() + message.size(), line);
    if (error == std::errc() && end != begin && *end == ':') return line;
  }
  return 0;
}

std::vector<std::string_view> lines_of(std::string_view text) {
  std::vector<std::string_view> lines;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    lines.push_back(text.substr(begin, end - begin));
    begin = end + 1;
  }
  return lines;
}

struct Place {
  std::string file;
  std::uint32_t line = 0;
};

/// The `loc("FILE":LINE:1)` at the end of a line of text.
Place place_of(std::string_view text) {
  const std::size_t at = text.rfind("loc(\"");
  if (at == std::string_view::npos) return {};
  const std::size_t file = at + 5;
  const std::size_t quote = text.find("\":", file);
  if (quote == std::string_view::npos) return {};
  Place place{std::string(text.substr(file, quote - file)), 0};
  std::from_chars(text.data() + quote + 2, text.data() + text.size(), place.line);
  return place;
}

std::size_t indent_of(std::string_view line) {
  const std::size_t indent = line.find_first_not_of(' ');
  return indent == std::string_view::npos ? line.size() : indent;
}

/// `stablehlo.add` of a line that has one.
std::string_view op_of(std::string_view line) {
  for (const std::string_view dialect : {"stablehlo.", "chlo.", "mhlo.", "sdy."}) {
    const std::size_t at = line.find(dialect);
    if (at == std::string_view::npos) continue;
    return line.substr(at, line.find_first_of(" (\"", at) - at);
  }
  return {};
}

/// The lines of the loops that enclose a line of the text, innermost first: for each, the line that
/// ends it, which has the place in the source. Regions are indented, to a limited depth.
std::vector<Place> loops_around(const std::vector<std::string_view>& lines, std::size_t index) {
  std::vector<Place> loops;
  std::size_t indent = indent_of(lines[index]);
  for (std::size_t i = index; i-- > 0 && indent > 4;) {
    if (indent_of(lines[i]) >= indent) continue;
    indent = indent_of(lines[i]);
    if (lines[i].find("stablehlo.while(") == std::string_view::npos &&
        !lines[i].substr(indent).starts_with("cond {") &&
        !lines[i].substr(indent).starts_with("} do {"))
      continue;
    for (std::size_t end = index + 1; end < lines.size(); end++) {
      if (indent_of(lines[end]) != indent) continue;
      if (const Place place = place_of(lines[end]); place.line != 0) {
        loops.push_back(place);
        break;
      }
    }
  }
  return loops;
}

/// The user's names of the loops at a place.
struct LoopNames {
  const Place& place;
  std::string name;
  void open(const Function&, const ir::Node*, std::size_t) {}
  void close(const Function&, const ir::Node*, std::size_t) {}
  void after(const ir::Node&) {}
  void node(const ir::Node& node) {
    if (!name.empty() || node.location().line != place.line || node.location().file != place.file)
      return;
    const auto layout = ir::region_layout(&node);
    if (layout && layout->is_loop()) name = layout->name;
  }
};

std::string base_name(const std::string& file) { return file.substr(file.rfind('/') + 1); }

}  // namespace

PluginError located(const PluginError& error, const Function& function,
                    const std::optional<Mesh>& mesh) {
  const std::size_t line = line_in(error.what());
  if (line == 0) return error;
  // The same lines as without locations, with a place at the end of each op.
  const std::string text = to_stablehlo_text(function, {.locations = true, .mesh = mesh});
  const std::vector<std::string_view> lines = lines_of(text);
  if (line > lines.size()) return error;
  const std::string_view refused = lines[line - 1];
  Place place = place_of(refused);
  // XLA's message, then the place, then the remedy.
  std::string message = error.what();
  std::string_view advice = advice_on(error.code());
  if (message.ends_with(advice)) message.resize(message.size() - advice.size());
  if (const std::string_view op = op_of(refused); !op.empty())
    message += fmt::format("\n  in {}", op);
  for (const Place& loop : loops_around(lines, line - 1)) {
    LoopNames names{loop, {}};
    ir::walk_nested(function, names);
    message +=
        names.name.empty() ? std::string(" in a loop") : fmt::format(" in loop '{}'", names.name);
    message += fmt::format(" ({}:{})", base_name(loop.file), loop.line);
    if (place.line == 0) place = loop;
    break;
  }
  if (place.line != 0) message += fmt::format("\n  at {}:{}", base_name(place.file), place.line);
  message += fmt::format("\n  of the text: {}", refused.substr(indent_of(refused), 200));
  if (advice.empty()) advice = advice_on(12);  // whatever the status: the plugin rejects the op
  message += advice;
  return {message, error.code()};
}

}  // namespace rondo::pjrt
