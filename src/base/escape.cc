#include "base/escape.h"

namespace rondo {

void append_escaped(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '"' || c == '\\')
      (out += '\\') += c;
    else
      out += static_cast<unsigned char>(c) < ' ' || c == '\x7f' ? '?' : c;
  }
}

}  // namespace rondo
