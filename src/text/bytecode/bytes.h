// Reading MLIR bytecode, byte by byte.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "fmt/format.h"
#include "rondo/error.h"

namespace rondo::text::bytecode {

/// A part of a file. All reads are checked: they throw ParseError, which names the byte.
class Bytes {
 public:
  Bytes() = default;
  /// `offset`: the place of the first byte in the file.
  Bytes(std::string_view data, std::size_t offset) : data_(data), offset_(offset) {}

  bool at_end() const noexcept { return at_ == data_.size(); }
  std::size_t left() const noexcept { return data_.size() - at_; }
  /// The place of the next byte in the file.
  std::size_t place() const noexcept { return offset_ + at_; }

  [[noreturn]] void fail(const std::string& message) const {
    throw ParseError(fmt::format("at byte {}: {}", place(), message), 0, 0);
  }

  std::uint8_t byte() {
    if (at_end()) fail("the data ends too early");
    return static_cast<std::uint8_t>(data_[at_++]);
  }
  std::string_view bytes(std::uint64_t count) {
    if (count > left())
      fail(fmt::format("{} bytes are meant to follow, {} are left", count, left()));
    const std::string_view result = data_.substr(at_, static_cast<std::size_t>(count));
    at_ += static_cast<std::size_t>(count);
    return result;
  }
  /// A part of its own, which is passed.
  Bytes part(std::uint64_t count) {
    const std::size_t from = place();
    return {bytes(count), from};
  }

  /// As many trailing zero bits as the first byte has, bytes follow; without any, eight do.
  std::uint64_t varint() {
    const std::uint8_t first = byte();
    if (first == 0) return little(8);
    int more = 0;
    while ((first >> more & 1) == 0) more++;
    std::uint64_t value = first;
    for (int i = 1; i <= more; i++) value |= std::uint64_t{byte()} << (8 * i);
    return value >> (more + 1);
  }
  std::int64_t svarint() {
    const std::uint64_t value = varint();
    return static_cast<std::int64_t>((value >> 1) ^ (0 - (value & 1)));
  }
  struct Flagged {
    std::uint64_t value;
    bool flag;
  };
  Flagged flagged() {
    const std::uint64_t value = varint();
    return {value >> 1, (value & 1) != 0};
  }
  /// The number of things that follow, each of a byte or more.
  std::size_t count() {
    const std::uint64_t value = varint();
    if (value > left())
      fail(fmt::format("{} entries are meant to follow, {} bytes are left", value, left()));
    return static_cast<std::size_t>(value);
  }
  /// An index into a table of that size.
  std::size_t index(std::size_t size, const char* what) { return checked(varint(), size, what); }
  std::size_t checked(std::uint64_t value, std::size_t size, const char* what) const {
    if (value >= size) fail(fmt::format("{} {} of {}", what, value, size));
    return static_cast<std::size_t>(value);
  }
  /// The bits of an integer of this width.
  std::uint64_t bits(unsigned width) {
    if (width <= 8) return byte();
    const auto value = static_cast<std::uint64_t>(svarint());
    return width >= 64 ? value : value & ((std::uint64_t{1} << width) - 1);
  }
  std::uint64_t little(int width) {
    std::uint64_t value = 0;
    for (int i = 0; i < width; i++) value |= std::uint64_t{byte()} << (8 * i);
    return value;
  }
  void expect_end(const char* what) const {
    if (!at_end()) fail(fmt::format("{} bytes are left over in {}", left(), what));
  }
  /// Goes past padding up to a multiple of `alignment` bytes from the start of the file.
  void align(std::uint64_t alignment) {
    if (alignment == 0 || (alignment & (alignment - 1)) != 0)
      fail("the alignment is no power of two");
    while (place() % alignment != 0) byte();
  }

 private:
  std::string_view data_;
  std::size_t offset_ = 0, at_ = 0;
};

}  // namespace rondo::text::bytecode
