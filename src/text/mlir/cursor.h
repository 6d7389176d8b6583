// A position in a text that is parsed.
#pragma once

#include <array>
#include <cstdint>
#include <cstring>
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

/// What letters are part of.
class Letters {
 public:
  enum Part : std::uint8_t {
    kSpace = 1,   // also a slash, which may begin a comment
    kLetter = 2,  // of a word
    kDigit = 4,
    kPoint = 8,
    kBracket = 16,  // also quotes, and the first letter of an arrow
    kQuote = 32,    // also what escapes one
  };
  constexpr Letters() {
    for (const char c : {' ', '\n', '\t', '\r', '/'}) add(c, kSpace);
    for (int c = 'a'; c <= 'z'; c++) add(static_cast<char>(c), kLetter);
    for (int c = 'A'; c <= 'Z'; c++) add(static_cast<char>(c), kLetter);
    for (int c = '0'; c <= '9'; c++) add(static_cast<char>(c), kDigit);
    for (const char c : {'_', '$'}) add(c, kLetter);
    add('.', kPoint);
    for (const char c : {'(', ')', '[', ']', '{', '}', '<', '>', '"', '-'}) add(c, kBracket);
    for (const char c : {'"', '\\'}) add(c, kQuote);
  }
  constexpr bool is(char letter, unsigned parts) const noexcept {
    return (parts_[static_cast<unsigned char>(letter)] & parts) != 0;
  }

 private:
  constexpr void add(char letter, Part part) {
    std::uint8_t& parts = parts_[static_cast<unsigned char>(letter)];
    parts = static_cast<std::uint8_t>(parts | part);
  }
  std::array<std::uint8_t, 256> parts_ = {};
};
inline constexpr Letters kLetters;

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
  [[gnu::always_inline]] bool sees(std::string_view piece) {
    skip();
    return text_.size() >= at_ + piece.size() &&
           std::memcmp(text_.data() + at_, piece.data(), piece.size()) == 0;
  }
  /// Goes past the piece if the text goes on with it.
  [[gnu::always_inline]] bool accept(std::string_view piece) {
    if (!sees(piece)) return false;
    at_ += piece.size();
    return true;
  }
  /// The same for a whole word.
  bool accept_word(std::string_view word);
  [[gnu::always_inline]] void expect(std::string_view piece) {
    if (!accept(piece)) fail_expected(piece);
  }

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
  /// A decimal number of the type, float or double. Infinite if it is too great, 0 if it is too
  /// small.
  template <class T>
  T real();

  void go_to(Offset at) noexcept { at_ = at; }
  [[noreturn]] void fail(const std::string& message) {
    skip();
    mlir::fail(text_, at_, message);
  }

 private:
  void skip() {
    if (at_ < text_.size() && kLetters.is(text_[at_], Letters::kSpace)) skip_spaces();
  }
  void skip_spaces();
  /// What is here of these letters, which is passed.
  std::string_view letters(unsigned parts) noexcept {
    const Offset first = at_;
    while (at_ < text_.size() && kLetters.is(text_[at_], parts)) at_++;
    return text_.substr(first, at_ - first);
  }
  [[noreturn]] void fail_expected(std::string_view piece);

  std::string_view text_;
  Offset at_;
};

}  // namespace rondo::text::mlir
