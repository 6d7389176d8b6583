// Text that is put together from many short pieces.
#pragma once

#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string>
#include <string_view>

namespace rondo {

/// Gathers pieces in a buffer of its own and appends that to a string as a whole: most of a long
/// text is names, numbers and commas, of which std::string takes longer to make room for each than
/// to write it. What appends to a string gets it, with all that was written before, by the
/// conversion.
class TextBuffer {
 public:
  explicit TextBuffer(std::string& out) noexcept : out_(out) {}
  ~TextBuffer() { flush(); }
  TextBuffer(const TextBuffer&) = delete;
  TextBuffer& operator=(const TextBuffer&) = delete;

  TextBuffer& operator+=(char letter) {
    if (used_ == kBytes) flush();
    buffer_[used_++] = letter;
    return *this;
  }
  /// Inlined: the size of most pieces is known where they stand.
  [[gnu::always_inline]] TextBuffer& operator+=(std::string_view piece) {
    if (piece.size() > kBytes - used_) return append_long(piece);
    copy(buffer_ + used_, piece.data(), piece.size());
    used_ += piece.size();
    return *this;
  }
  void append_spaces(std::size_t count) {
    for (; count > 0; count--) *this += ' ';
  }
  void append_count(std::uint64_t number) {
    constexpr std::size_t kMostDigits = 20;
    if (kBytes - used_ < kMostDigits) flush();
    used_ = static_cast<std::size_t>(std::to_chars(buffer_ + used_, buffer_ + kBytes, number).ptr -
                                     buffer_);
  }
  // NOLINTNEXTLINE(google-explicit-constructor): it stands for the string
  operator std::string&() {
    flush();
    return out_;
  }

 private:
  /// memcpy without the call, by two words that may overlap.
  static void copy(char* to, const char* from, std::size_t bytes) noexcept {
    const auto ends = [&]<class Word>(Word) {
      Word first, last;
      std::memcpy(&first, from, sizeof(Word));
      std::memcpy(&last, from + bytes - sizeof(Word), sizeof(Word));
      std::memcpy(to, &first, sizeof(Word));
      std::memcpy(to + bytes - sizeof(Word), &last, sizeof(Word));
    };
    if (bytes > 16)
      std::memcpy(to, from, bytes);
    else if (bytes >= 8)
      ends(std::uint64_t{});
    else if (bytes >= 4)
      ends(std::uint32_t{});
    else if (bytes >= 2)
      ends(std::uint16_t{});
    else if (bytes == 1)
      *to = *from;
  }
  void flush() {
    out_.append(buffer_, used_);
    used_ = 0;
  }
  [[gnu::noinline]] TextBuffer& append_long(std::string_view piece) {
    flush();
    out_ += piece;
    return *this;
  }

  static constexpr std::size_t kBytes = 2048;
  std::string& out_;
  std::size_t used_ = 0;
  char buffer_[kBytes];
};

}  // namespace rondo
