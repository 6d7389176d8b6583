// Text that is put together from many short pieces.
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

/// The digits of a number below 10^8, as they lie in memory, and how many they are.
struct ShortCount {
  static constexpr std::uint64_t kEnd =
      std::endian::native == std::endian::little ? 100'000'000 : 0;  // only numbers below it
  std::uint64_t letters;
  std::uint32_t size;

  /// Fields of four digits are divided into two of two and these into digits, all at once, by
  /// products that are shifted.
  static ShortCount of(std::uint64_t number) noexcept {
    const std::uint64_t fours = number / 10'000 | number % 10'000 << 32;
    const std::uint64_t hundreds = fours * 10'486 >> 20 & 0x7F'0000'007F;
    const std::uint64_t twos = hundreds + ((fours - 100 * hundreds) << 16);
    const std::uint64_t tens = twos * 103 >> 10 & 0x000F'000F'000F'000F;
    const std::uint64_t digits = tens + ((twos - 10 * tens) << 8);
    // The last one is written in any case.
    const int zeros = std::countr_zero(digits | std::uint64_t{1} << 56) / 8;
    return {(digits | 0x3030'3030'3030'3030) >> (8 * zeros), static_cast<std::uint32_t>(8 - zeros)};
  }
};

/// Writes pieces one after the other into memory that has room for all of them: where the next one
/// goes stays in a register, and none looks whether it fits.
class TextCursor {
 public:
  /// What a count needs: it may write behind its digits.
  static constexpr std::size_t kCountBytes = 20;

  explicit TextCursor(char* at) noexcept : at_(at) {}
  char* at() const noexcept { return at_; }

  [[gnu::always_inline]] TextCursor& operator+=(char letter) {
    *at_++ = letter;
    return *this;
  }
  /// Inlined: the size of most pieces is known where they stand.
  [[gnu::always_inline]] TextCursor& operator+=(std::string_view piece) {
    copy(at_, piece.data(), piece.size());
    at_ += piece.size();
    return *this;
  }
  /// The first letters of sixteen, of which it writes all.
  void append_first(const std::array<std::uint64_t, 2>& letters, std::size_t count) {
    std::memcpy(at_, &letters[0], 8);
    std::memcpy(at_ + 8, &letters[1], 8);
    at_ += count;
  }
  /// It may write sixteen.
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

/// Gathers pieces in a buffer of its own and appends that to a string as a whole: most of a long
/// text is names, numbers and commas, of which std::string takes longer to make room for each than
/// to write it. What appends to a string gets it, with all that was written before, by the
/// conversion.
class TextBuffer {
 public:
  /// More cannot be asked for at once.
  static constexpr std::size_t kMostRoom = 2048;

  explicit TextBuffer(std::string& out) noexcept : out_(out) {}
  ~TextBuffer() { flush(); }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

  /// To write up to `bytes` bytes; what was written is told to `wrote`, before anything else.
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
    for (; count > 0; count--) *this += ' ';
  }
  void append_count(std::uint64_t number) {
    if (kMostRoom - used_ < TextCursor::kCountBytes) flush();
    used_ = static_cast<std::size_t>(
        std::to_chars(buffer_ + used_, buffer_ + kMostRoom, number).ptr - buffer_);
  }
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the string
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
