// Writes the bytes of a binary file: little-endian numbers, and DWARF's numbers of variable length.
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rondo::native_code {

class ByteWriter {
 public:
  std::size_t size() const { return bytes_.size(); }
  const std::vector<std::byte>& bytes() const { return bytes_; }

  /// A number of 1, 2, 4 or 8 bytes.
  template <class T>
  void number(T value) {
    const auto bits = static_cast<std::make_unsigned_t<T>>(value);
    for (std::size_t i = 0; i < sizeof(T); i++)
      bytes_.push_back(static_cast<std::byte>(std::uint64_t{bits} >> 8 * i));
  }
  void u8(unsigned value) { number(static_cast<std::uint8_t>(value)); }
  void u16(unsigned value) { number(static_cast<std::uint16_t>(value)); }
  void u32(std::size_t value) { number(static_cast<std::uint32_t>(value)); }
  void u64(std::uint64_t value) { number(value); }

  /// With 7 bits in a byte, the lowest first (LEB128).
  void unsigned_leb(std::uint64_t value) {
    for (; value >= 0x80; value >>= 7) u8(static_cast<unsigned>(value & 0x7f) | 0x80);
    u8(static_cast<unsigned>(value));
  }
  void signed_leb(std::int64_t value) {
    for (; value < -0x40 || value >= 0x40; value >>= 7)
      u8(static_cast<unsigned>(value & 0x7f) | 0x80);
    u8(static_cast<unsigned>(value & 0x7f));
  }

  /// With a zero at its end; a zero in it ends it.
  void text(std::string_view value) {
    value = value.substr(0, value.find('\0'));
    for (const char c : value) bytes_.push_back(static_cast<std::byte>(c));
    u8(0);
  }
  void append(std::span<const std::byte> bytes) {
    bytes_.insert(bytes_.end(), bytes.begin(), bytes.end());
  }
  void align(std::size_t unit) {
    while (bytes_.size() % unit != 0) u8(0);
  }

  /// Room for a length of 4 bytes, which `end_length` sets to the bytes behind it.
  std::size_t begin_length() {
    u32(0);
    return bytes_.size();
  }
  void end_length(std::size_t begin) {
    set_u32(begin - 4, static_cast<std::uint32_t>(bytes_.size() - begin));
  }
  void set_u32(std::size_t at, std::uint32_t value) {
    for (std::size_t i = 0; i < 4; i++) bytes_[at + i] = static_cast<std::byte>(value >> 8 * i);
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace rondo::native_code
