// The header of an .npy file (numpy.lib.format): the magic, a version, the length of the rest, a
// Python dictionary of dtype, order and shape, and padding after which the data is aligned to 64
// bytes. Each function throws ParseError, naming the file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "rondo/type.h"

namespace rondo {

/// The longest header that is read.
inline constexpr std::size_t kMaxNpyHeader = std::size_t{1} << 20;

/// Throws ParseError "<name>: <message>".
[[noreturn]] void fail_npy(const std::string& name, const std::string& message);

/// Where the header ends, if `head` (the first bytes of the file, or all) is long enough to tell.
std::optional<std::size_t> npy_header_end(std::string_view head, const std::string& name);

struct NpyType {
  TensorType type;
  bool fortran_order = false;  // the first axis varies fastest in the data
};
/// The type in the header; `head` includes at least the whole header.
NpyType read_npy_type(std::string_view head, std::size_t end, const std::string& name);

struct NpyLayout {
  TensorType type;
  std::size_t data_begin = 0;
  bool fortran_order = false;
};

/// Reads the header of a file of `size` bytes and checks the size of the data against it. `head`
/// holds the first bytes, with the whole header if the file has it.
NpyLayout read_npy_layout(std::string_view head, std::uint64_t size, const std::string& name);

/// Everything before the data, as numpy.save writes it.
std::string npy_header(const TensorType& type);

}  // namespace rondo
