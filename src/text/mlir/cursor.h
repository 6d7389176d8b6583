// A position in a text that is parsed.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <utility>

#include "text/mlir/program.h"

namespace rondo::text::mlir {

/// Where an error is: line and column, from 1.
struct Place {
  std::int64_t line = 1, column = 1;
};
Place place_of(std::string_view text, Offset at);
/// Throws ParseError: the message with the place, then the line with a mark below it.
[[noreturn]] void fail(std::string_view text, Offset at, const std::string& message);

/// A string of the text with its escapes, `\\n`, `\\"` or two hexadecimal digits, as what they
/// mean.
std::string unescaped(std::string_view quoted);

class Cursor {
 public:
  explicit Cursor(std::string_view text, Offset at = 0) noexcept : text_(text), at_(at) {}

  /// The place of the next letter that is no space and in no comment.
  Offset at() {
    skip();
    return at_;
  }
  /// The place after what was read.
  Offset after() const noexcept { return at_; }
  std::string_view text() const noexcept { return text_; }
  /// The next letter; 0 at the end.
  char peek() {
    skip();
    return at_ < text_.size() ? text_[at_] : '\0';
  }
  bool at_end() { return peek() == '\0' && at_ >= text_.size(); }
  /// Whether the text goes on with `piece`.
  bool sees(std::string_view piece) {
    skip();
    return text_.substr(at_, piece.size()) == piece;
  }
  /// Goes past the piece if the text goes on with it.
  bool accept(std::string_view piece) {
    if (!sees(piece)) return false;
    at_ += piece.size();
    return true;
  }
  /// The same for a whole word.
  bool accept_word(std::string_view word);
  void expect(std::string_view piece);

  /// `stablehlo.add`; empty if there is none.
  std::string_view word();
  /// What follows `%`, `@`, `#` or `^`, without it: letters, digits and `_$.-`.
  std::string_view name_after(char mark);
  /// A string without its quotes, escapes as they are.
  std::string_view quoted();
  /// Goes past what is in brackets of this kind, brackets of all kinds within it and strings;
  /// returns what is between them.
  std::string_view bracketed(char open);
  /// A decimal integer with its sign. Fails unless it fits.
  std::int64_t integer();
  /// Letters and digits, signs and points: a number.
  std::string_view number();

  void go_to(Offset at) noexcept { at_ = at; }
  [[noreturn]] void fail(const std::string& message) {
    skip();
    mlir::fail(text_, at_, message);
  }

 private:
  void skip();

  std::string_view text_;
  Offset at_;
};

}  // namespace rondo::text::mlir
