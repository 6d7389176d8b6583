// Text assembled from many short pieces.
#pragma once

#include <array>
#include <bit>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace rondo {

/// The digits of a number below 10^8, in memory order, and their count.
struct ShortCount {
  static constexpr std::uint64_t kEnd =
      std::endian::native == std::endian::little ? 100'000'000 : 0;  // only numbers below it
  std::uint64_t letters;
  std::uint32_t size;

  /// Splits fields of four digits into two of two and these into digits, all at once, by
  /// multiplication and shifts.
  static ShortCount of(std::uint64_t number) noexcept {
    const std::uint64_t fours = number / 10'000 | number % 10'000 << 32;
    const std::uint64_t hundreds = fours * 10'486 >> 20 & 0x7F'0000'007F;
    const std::uint64_t twos = hundreds + ((fours - 100 * hundreds) << 16);
    const std::uint64_t tens = twos * 103 >> 10 & 0x000F'000F'000F'000F;
    const std::uint64_t digits = tens + ((twos - 10 * tens) << 8);
    // The last digit is always written.
    const int zeros = std::countr_zero(digits | std::uint64_t{1} << 56) / 8;
    return {(digits | 0x3030'3030'3030'3030) >> (8 * zeros), static_cast<std::uint32_t>(8 - zeros)};
  }
};

/// Writes consecutive pieces into memory with space for all of them: the position stays in a
/// register, and no bounds are checked.
class TextCursor {
 public:
  /// The space for a count: it may write beyond its digits.
  static constexpr std::size_t kCountBytes = 20;

  explicit TextCursor(char* at) noexcept : at_(at) {}
  char* at() const noexcept { return at_; }

  [[gnu::always_inline]] TextCursor& operator+=(char letter) {
    *at_++ = letter;
    return *this;
  }
  /// Inlined: the size of most pieces is known at the call.
  [[gnu::always_inline]] TextCursor& operator+=(std::string_view piece) {
    copy(at_, piece.data(), piece.size());
    at_ += piece.size();
    return *this;
  }
  /// Appends the first letters of sixteen; writes all sixteen.
  void append_first(const std::array<std::uint64_t, 2>& letters, std::size_t count) {
    std::memcpy(at_, &letters[0], 8);
    std::memcpy(at_ + 8, &letters[1], 8);
    at_ += count;
  }
  /// May write sixteen.
  void append_spaces(std::size_t count) {
    constexpr std::string_view kSpaces = "                ";
    for (; count > kSpaces.size(); count -= kSpaces.size()) *this += kSpaces;
    std::memcpy(at_, kSpaces.data(), kSpaces.size());
    at_ += count;
  }
  void append_count(std::uint64_t number) {
    if (number < ShortCount::kEnd) {
      const ShortCount count = ShortCount::of(number);
      std::memcpy(at_, &count.letters, sizeof(count.letters));
      at_ += count.size;
    } else {
      at_ = std::to_chars(at_, at_ + kCountBytes, number).ptr;
    }
  }

 private:
  /// memcpy without the call, by two words that may overlap.
  [[gnu::always_inline]] static void copy(char* to, const char* from, std::size_t bytes) noexcept {
    struct TwoWords {
      std::uint64_t words[2];
    };
    const auto ends = [&]<class Word>(Word) __attribute__((always_inline)) {
      Word first, last;
      std::memcpy(&first, from, sizeof(Word));
      std::memcpy(&last, from + bytes - sizeof(Word), sizeof(Word));
      std::memcpy(to, &first, sizeof(Word));
      std::memcpy(to + bytes - sizeof(Word), &last, sizeof(Word));
    };
    if (bytes > 32)
      std::memcpy(to, from, bytes);
    else if (bytes >= 16)
      ends(TwoWords{});
    else if (bytes >= 8)
      ends(std::uint64_t{});
    else if (bytes >= 4)
      ends(std::uint32_t{});
    else if (bytes >= 2)
      ends(std::uint16_t{});
    else if (bytes == 1)
      *to = *from;
  }

  char* at_;
};

/// Collects pieces in its own buffer and appends them to a string together: most of a long text is
/// names, numbers and commas, for each of which std::string takes longer to make space than to
/// write it. A function that appends to a string gets it by the conversion, with everything written
/// before.
class TextBuffer {
 public:
  /// The largest request.
  static constexpr std::size_t kMostRoom = 2048;

  explicit TextBuffer(std::string& out) noexcept : out_(out) {}
  ~TextBuffer() { flush(); }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

  /// Of the whole text.
  std::size_t size() const noexcept { return out_.size() + used_; }

  /// Space for up to `bytes` bytes. `wrote` must be called with what was written before anything
  /// else is.
  TextCursor room(std::size_t bytes) {
    if (bytes > kMostRoom - used_) flush();
    return TextCursor(buffer_ + used_);
  }
  void wrote(const TextCursor& cursor) { used_ = static_cast<std::size_t>(cursor.at() - buffer_); }

  TextBuffer& operator+=(char letter) {
    if (used_ == kMostRoom) flush();
    buffer_[used_++] = letter;
    return *this;
  }
  [[gnu::always_inline]] TextBuffer& operator+=(std::string_view piece) {
    if (piece.size() > kMostRoom - used_) return append_long(piece);
    TextCursor cursor(buffer_ + used_);
    cursor += piece;
    used_ += piece.size();
    return *this;
  }
  void append_spaces(std::size_t count) {
    constexpr std::string_view kSpaces = "                                ";
    for (; count > kSpaces.size(); count -= kSpaces.size()) *this += kSpaces;
    *this += kSpaces.substr(0, count);
  }
  void append_count(std::uint64_t number) {
    if (kMostRoom - used_ < TextCursor::kCountBytes) flush();
    used_ = static_cast<std::size_t>(
        std::to_chars(buffer_ + used_, buffer_ + kMostRoom, number).ptr - buffer_);
  }
  void append_integer(std::int64_t number) {
    if (number < 0) *this += '-';
    const auto bits = static_cast<std::uint64_t>(number);
    append_count(number < 0 ? 0 - bits : bits);
  }
  // NOLINTNEXTLINE(google-explicit-constructor): it is one
  operator std::string&() {
    flush();
    return out_;
  }

 private:
  void flush() {
    out_.append(buffer_, used_);
    used_ = 0;
  }
  [[gnu::noinline]] TextBuffer& append_long(std::string_view piece) {
    flush();
    out_ += piece;
    return *this;
  }

  std::string& out_;
  std::size_t used_ = 0;
  char buffer_[kMostRoom];
};

}  // namespace rondo
