// Memory for machine code. No page is ever writable and executable at once: a slab is mapped twice
// from one anonymous file, once to write and once to run; where that is not allowed, or a debugger
// is to set breakpoints, each function has separate pages whose protection is switched.
#pragma once

#include <cstddef>
#include <memory>
#include <span>

namespace rondo::native_code {

/// A block of executable memory, released when it is destroyed.
class CodeBlock {
 public:
  CodeBlock(const CodeBlock&) = delete;
  CodeBlock& operator=(const CodeBlock&) = delete;
  ~CodeBlock();

  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  friend std::unique_ptr<CodeBlock> place_code(std::span<const std::byte> code, bool own_pages);
  CodeBlock(const std::byte* data, std::size_t size, bool own_pages)
      : data_(data), size_(size), own_pages_(own_pages) {}

  const std::byte* data_;
  std::size_t size_;
  bool own_pages_;
};

/// Copies position-independent code to executable memory, at a multiple of 64 bytes. Null if the
/// process may not have executable memory, which is reported once on stderr. Thread safe.
/// `own_pages`: pages that are private to the process, in which a debugger can set breakpoints: in
/// a shared view it cannot, and does not say so.
std::unique_ptr<CodeBlock> place_code(std::span<const std::byte> code, bool own_pages = false);

/// Bytes that live code blocks occupy.
std::size_t code_bytes_in_use();

}  // namespace rondo::native_code
