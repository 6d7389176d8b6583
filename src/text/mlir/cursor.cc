#include "text/mlir/cursor.h"

#include <algorithm>
#include <charconv>
#include <cstdlib>

#include "base/number_text.h"
#include "fmt/format.h"
#include "rondo/error.h"

namespace rondo::text::mlir {

namespace {

constexpr std::size_t kMostShown = 100;  // letters of a line in an error

constexpr unsigned kWord = Letters::kLetter | Letters::kDigit;
constexpr unsigned kNumber = kWord | Letters::kPoint;

}  // namespace

Place place_of(std::string_view text, Offset at) {
  const std::string_view before = text.substr(0, at);
  const std::size_t start = before.rfind('\n') + 1;  // npos + 1 is 0
  return {std::count(before.begin(), before.end(), '\n') + 1,
          static_cast<std::int64_t>(at - start) + 1};
}

void fail(std::string_view text, Offset at, const std::string& message) {
  at = std::min(at, text.size());
  const Place place = place_of(text, at);
  const auto column = static_cast<std::size_t>(place.column) - 1;
  std::string_view line = text.substr(at - column);
  line = line.substr(0, line.find('\n'));
  // Of a long line, what is around the place.
  const std::size_t first = column > kMostShown / 2 ? column - kMostShown / 2 : 0;
  throw ParseError(fmt::format("line {}, column {}: {}\n  {}\n  {:>{}}", place.line, place.column,
                               message, line.substr(first, kMostShown), '^', column - first + 1),
                   place.line, place.column);
}

std::string unescaped(std::string_view quoted) {
  std::string text;
  for (std::size_t i = 0; i < quoted.size(); i++) {
    unsigned char byte = 0;
    if (quoted[i] != '\\' || i + 1 == quoted.size()) {
      text += quoted[i];
    } else if (quoted[i + 1] == 'n' || quoted[i + 1] == 't') {
      text += quoted[++i] == 'n' ? '\n' : '\t';
    } else if (i + 2 < quoted.size() &&
               std::from_chars(quoted.data() + i + 1, quoted.data() + i + 3, byte, 16).ptr ==
                   quoted.data() + i + 3) {
      text += static_cast<char>(byte);
      i += 2;
    } else {
      text += quoted[++i];
    }
  }
  return text;
}

void Cursor::skip_spaces() {
  while (at_ < text_.size()) {
    const char c = text_[at_];
    if (c == ' ' || c == '\n' || c == '\t' || c == '\r') {
      at_++;
    } else if (c == '/' && text_.substr(at_, 2) == "//") {
      at_ = std::min(text_.find('\n', at_), text_.size());
    } else if (c == '/' && text_.substr(at_, 2) == "/*") {
      const std::size_t end = text_.find("*/", at_ + 2);
      if (end == text_.npos) mlir::fail(text_, at_, "the comment does not end");
      at_ = end + 2;
    } else {
      return;
    }
  }
}

bool Cursor::accept_word(std::string_view word) {
  if (!sees(word)) return false;
  const Offset end = at_ + word.size();
  if (end < text_.size() && kLetters.is(text_[end], kWord)) return false;
  at_ = end;
  return true;
}

void Cursor::fail_expected(std::string_view piece) { fail(fmt::format("expected `{}`", piece)); }

std::string_view Cursor::word() {
  skip();
  const bool begins = at_ < text_.size() && kLetters.is(text_[at_], Letters::kLetter);
  return begins ? letters(kNumber) : text_.substr(at_, 0);
}

std::string_view Cursor::name_after(char mark) {
  expect({&mark, 1});
  if (at_ < text_.size() && text_[at_] == '"') return quoted();
  const Offset first = at_;
  // `[1]->[2]` and `%a->` are not names.
  while (letters(kNumber), text_.substr(at_, 1) == "-" && text_.substr(at_, 2) != "->") at_++;
  if (at_ == first) fail(fmt::format("expected a name after `{}`", mark));
  return text_.substr(first, at_ - first);
}

std::string_view Cursor::quoted() {
  const Offset first = at();
  expect("\"");
  while (true) {
    while (at_ < text_.size() && !kLetters.is(text_[at_], Letters::kQuote)) at_++;
    if (at_ >= text_.size() || text_[at_] == '"') break;
    at_ += 2;  // a letter that is escaped
  }
  if (at_ >= text_.size()) mlir::fail(text_, first, "the string does not end");
  return text_.substr(first + 1, at_++ - first - 1);
}

std::string_view Cursor::bracketed(char open) {
  constexpr std::string_view kOpen = "([{<", kClose = ")]}>";
  const Offset first = at();
  expect({&open, 1});
  std::string closing(1, kClose[kOpen.find(open)]);
  while (!closing.empty()) {
    if (at_ >= text_.size()) mlir::fail(text_, first, fmt::format("`{}` is not closed", open));
    const char c = text_[at_];
    if (!kLetters.is(c, Letters::kBracket)) {
      at_++;
      continue;
    }
    if (c == '"') {
      quoted();
      continue;
    }
    // No brackets: arrows, and tiles of devices, `devices=[4,2]<=[8]`.
    if (text_.substr(at_, 2) == "->" || text_.substr(at_, 2) == "<=") {
      at_ += 2;
      continue;
    }
    const std::size_t kind = kOpen.find(c);
    if (kind != kOpen.npos) {
      closing += kClose[kind];
    } else if (kClose.find(c) != kClose.npos) {
      if (c != closing.back()) fail(fmt::format("expected `{}`", closing.back()));
      closing.pop_back();
    }
    at_++;
  }
  return text_.substr(first + 1, at_ - first - 2);
}

std::int64_t Cursor::integer() {
  const Offset first = at();
  std::int64_t value = 0;
  const char* const end = text_.data() + text_.size();
  const auto [next, error] = std::from_chars(text_.data() + at_, end, value);
  if (error == std::errc::result_out_of_range)
    mlir::fail(text_, first, "the integer does not fit 64 bits");
  if (error != std::errc()) fail("expected an integer");
  at_ = static_cast<Offset>(next - text_.data());
  return value;
}

std::string_view Cursor::number() {
  skip();
  const Offset first = at_;
  const auto accept_sign = [&] {
    const bool sign = at_ < text_.size() && (text_[at_] == '-' || text_[at_] == '+');
    if (sign) at_++;
    return sign;
  };
  accept_sign();
  const auto after_power = [&] {
    return at_ > first && (text_[at_ - 1] == 'e' || text_[at_ - 1] == 'E');
  };
  while (letters(kNumber), after_power() && accept_sign()) {
  }
  return text_.substr(first, at_ - first);
}

template <class T>
T Cursor::real() {
  const Offset first = at();
  const char* const begin = text_.data() + first;
  const char* const end = text_.data() + text_.size();
  T value = 0;
  const auto [next, error] = read_number(begin, end, value);
  if (error == std::errc::invalid_argument || (next != end && kLetters.is(*next, kNumber)))
    fail("expected a number");
  if (error == std::errc::result_out_of_range)
    value = static_cast<T>(std::strtod(std::string(begin, next).c_str(), nullptr));
  at_ = static_cast<Offset>(next - text_.data());
  return value;
}
template float Cursor::real<float>();
template double Cursor::real<double>();

}  // namespace rondo::text::mlir
