#include "base/npy.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <cstdint>
#include <cstdio>
#include <filesystem>
#include <limits>
#include <memory>
#include <new>
#include <optional>
#include <system_error>
#include <utility>
#include <vector>

#include "base/npy_header.h"
#include "rondo/detail/strided_copy.h"
#include "rondo/error.h"

namespace rondo {
namespace {

static_assert(std::endian::native == std::endian::little,
              ".npy data is copied unchanged, and it is little-endian");

/// The elements in C order, from data whose first axis varies fastest.
Literal from_fortran_order(const Literal& data) {
  const Shape& shape = data.shape();
  if (shape.rank() < 2 || data.elements() == 0) return data;
  const std::int64_t width = byte_width(data.dtype());
  std::vector<std::int64_t> from(shape.size(), width), to(shape.size(), width);
  for (std::size_t axis = 1; axis < shape.size(); axis++) {
    from[axis] = from[axis - 1] * shape[axis - 1];
    to[shape.size() - 1 - axis] = to[shape.size() - axis] * shape[shape.size() - axis];
  }
  Literal ordered = Literal::uninitialized(data.type());
  detail::copy_strided({ordered.mutable_bytes(), to}, {data.bytes(), from}, shape.dims(),
                       static_cast<std::size_t>(width));
  return ordered;
}

/// The literal for data in the form that the file has.
Literal from_npy_data(Literal literal, const NpyLayout& layout) {
  if (is_pred(literal.dtype())) {
    auto* const bytes = reinterpret_cast<unsigned char*>(literal.mutable_bytes());
    std::transform(bytes, bytes + literal.elements(), bytes,
                   [](unsigned char b) -> unsigned char { return b != 0; });
  }
  return layout.fortran_order ? from_fortran_order(literal) : literal;
}

struct NpyFileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using NpyFile = std::unique_ptr<std::FILE, NpyFileCloser>;

std::string npy_system_error(int error) { return std::generic_category().message(error); }

/// Up to `count` bytes more; fewer at the end of the file.
void read_npy_bytes(std::FILE* file, std::string& bytes, std::size_t count,
                    const std::string& name) {
  const std::size_t before = bytes.size();
  bytes.resize(before + count);
  bytes.resize(before + std::fread(bytes.data() + before, 1, count, file));
  if (std::ferror(file) != 0)
    fail_npy(name, "the file cannot be read: " + npy_system_error(errno) +
                       "\n  Check the disk, or copy the file again.");
}

/// A file of known size: its data is read directly into the literal.
Literal load_sized_npy(std::FILE* file, std::uint64_t size, const std::string& name) {
  constexpr std::size_t kFirstRead = 4096;
  std::string head;
  read_npy_bytes(file, head, static_cast<std::size_t>(std::min<std::uint64_t>(size, kFirstRead)),
                 name);
  const std::optional<std::size_t> end = npy_header_end(head, name);
  if (end && *end > head.size() && *end <= size)
    read_npy_bytes(file, head, *end - head.size(), name);

  const NpyLayout layout = read_npy_layout(head, size, name);
  Literal literal = Literal::uninitialized(layout.type);
  auto* const data = reinterpret_cast<char*>(literal.mutable_bytes());
  const std::size_t bytes = static_cast<std::size_t>(layout.type.bytes());
  const std::size_t in_head = std::min(bytes, head.size() - layout.data_begin);
  std::copy_n(head.data() + layout.data_begin, in_head, data);
  if (std::fread(data + in_head, 1, bytes - in_head, file) != bytes - in_head) {
    fail_npy(
        name,
        "the file became shorter while it was read, or cannot be read\n  Load it again when it "
        "is complete.");
  }
  return from_npy_data(std::move(literal), layout);
}

/// A pipe or a device: reads until the array is complete, and a little further to check that
/// nothing follows.
Literal load_streamed_npy(std::FILE* file, const std::string& name) try {
  std::string bytes;
  std::uint64_t enough = std::numeric_limits<std::uint64_t>::max();
  bool header_read = false;
  while (std::feof(file) == 0 && bytes.size() <= enough) {
    read_npy_bytes(file, bytes, std::max<std::size_t>(bytes.size(), 4096), name);
    const std::optional<std::size_t> end = npy_header_end(bytes, name);
    if (header_read || !end || *end > bytes.size()) continue;
    header_read = true;
    enough = *end + static_cast<std::uint64_t>(read_npy_type(bytes, *end, name).type.bytes());
  }
  return parse_npy(bytes, name);
} catch (const std::bad_alloc&) {
  throw ExecutionError(name +
                       ": out of memory while the array was read\n  Release other arrays first.");
}

}  // namespace

Literal parse_npy(std::string_view bytes, const std::string& name) {
  const NpyLayout layout = read_npy_layout(bytes, bytes.size(), name);
  Literal literal = Literal::uninitialized(layout.type);
  std::copy_n(bytes.data() + layout.data_begin, static_cast<std::size_t>(layout.type.bytes()),
              reinterpret_cast<char*>(literal.mutable_bytes()));
  return from_npy_data(std::move(literal), layout);
}

std::string npy_bytes(const Literal& literal) {
  std::string bytes = npy_header(literal.type());
  bytes.append(reinterpret_cast<const char*>(literal.bytes()),
               static_cast<std::size_t>(literal.type().bytes()));
  return bytes;
}

Literal Literal::load_npy(const std::string& path) {
  namespace fs = std::filesystem;
  std::error_code error;
  const fs::file_status status = fs::status(path, error);
  if (fs::is_directory(status))
    fail_npy(path, "this is a directory\n  Give the path of an .npy file in it.");
  const NpyFile file(std::fopen(path.c_str(), "rb"));
  if (file == nullptr) {
    fail_npy(path, "the file cannot be opened: " + npy_system_error(errno) + "\n  Check the path.");
  }
  if (fs::is_regular_file(status)) {
    const std::uintmax_t size = fs::file_size(path, error);
    if (!error) return load_sized_npy(file.get(), size, path);
  }
  return load_streamed_npy(file.get(), path);
}

void Literal::save_npy(const std::string& path) const {
  if (storage_ == nullptr && elements() != 0) {
    throw TraceError(
        "Literal::save_npy: the literal was moved from\n  Assign to it before it is used again.");
  }
  const std::string header = npy_header(type_);
  const auto bytes = static_cast<std::size_t>(type_.bytes());
  NpyFile file(std::fopen(path.c_str(), "wb"));
  bool written = file != nullptr &&
                 std::fwrite(header.data(), 1, header.size(), file.get()) == header.size() &&
                 (bytes == 0 || std::fwrite(storage_->data(), 1, bytes, file.get()) == bytes);
  int error = errno;
  if (file != nullptr && std::fclose(file.release()) != 0 &&
      written) {  // the last bytes are written now
    written = false;
    error = errno;
  }
  if (!written) {
    throw ExecutionError(path + ": " + type_.str() +
                         " cannot be saved: " + npy_system_error(error) +
                         "\n  Check the folder, its permissions and the free space.");
  }
}

}  // namespace rondo
