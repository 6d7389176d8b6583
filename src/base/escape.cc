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

void append_json(std::string& out, std::string_view text) {
  constexpr char kDigits[] = "0123456789abcdef";
  out += '"';
  for (const char c : text) {
    const auto byte = static_cast<unsigned char>(c);
    if (byte < ' ' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' || byte == 0x7f)
      ((out += "\\u00") += kDigits[byte >> 4]) += kDigits[byte & 15];
    else
      out += c;
  }
  out += '"';
}

}  // namespace rondo
