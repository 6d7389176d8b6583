#include "c/wrap.h"

namespace rondo::c {

namespace {

constexpr std::size_t kColumns = 100;

/// The last space before `end` that is in no index; else the first one behind; npos if there is
/// none.
std::size_t break_before(std::string_view text, std::size_t end) {
  std::size_t found = std::string_view::npos;
  int depth = 0;
  for (std::size_t at = 0; at < text.size(); at++) {
    if (text[at] == '[') depth++;
    if (text[at] == ']') depth--;
    if (text[at] != ' ' || depth != 0 || at == 0) continue;
    if (at > end && found != std::string_view::npos) break;
    found = at;
    if (at > end) break;
  }
  return found;
}

}  // namespace

std::string comment_line(std::string_view text) {
  std::string made(text);
  for (std::size_t at = 0; at < made.size(); at++) {
    const bool ends = at > 0 && made[at] == '/' && made[at - 1] == '*';
    const bool begins = at > 0 && made[at] == '*' && made[at - 1] == '/';
    if (ends || begins) made[at - 1] = ' ';
    if (static_cast<unsigned char>(made[at]) < ' ' || made[at] == '\\') made[at] = ' ';
  }
  return "/* " + made + " */";
}

std::string wrapped(std::string_view text, std::size_t indent) {
  std::string made;
  std::size_t spaces = indent;
  while (spaces + text.size() > kColumns) {
    const std::size_t at = break_before(text, kColumns - spaces);
    if (at == std::string_view::npos) break;
    made.append(spaces, ' ');
    made += text.substr(0, at);
    made += '\n';
    text.remove_prefix(at + 1);
    spaces = indent + 4;
  }
  made.append(spaces, ' ');
  made += text;
  return made;
}

}  // namespace rondo::c
