#include "native/x86/assemble.h"

#include <cstddef>
#include <new>

#include "native/x86/emitter.h"

#if defined(RONDO_HAVE_XBYAK)

namespace rondo::native_code::x86 {

namespace {

/// Jump targets are aligned relative to the buffer.
struct AlignedBytes {
  explicit AlignedBytes(std::size_t bytes)
      : data(static_cast<std::uint8_t*>(::operator new (bytes, std::align_val_t{64}))) {}
  ~AlignedBytes() { ::operator delete (data, std::align_val_t{64}); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  std::uint8_t* data;
};

}  // namespace

Assembled assemble(const MachineCode& code, const LiveRanges& ranges, const Allocation& allocation,
                   const Target& target) {
  // An estimate, doubled until it is enough.
  for (std::size_t bytes = (8192 + 32 * code.code.size()) / 64 * 64;; bytes *= 2) {
    const AlignedBytes buffer(bytes);
    try {
      Emitter emitter(code, ranges, allocation, target, buffer.data, bytes);
      emitter.emit();
      const std::size_t begin = emitter.begin();
      Assembled out;
      out.bytes.assign(buffer.data + begin, buffer.data + emitter.end());
      out.entry = emitter.entry() - begin;
      out.positions = emitter.positions();
      out.rare_paths = emitter.rare_paths();
      out.frame = emitter.frame();
      const auto offset = static_cast<std::uint32_t>(begin);
      for (std::uint32_t& position : out.positions) position -= offset;
      for (RarePath& path : out.rare_paths) path.offset -= offset;
      for (FrameLayout::Row& row : out.frame.rows) row.offset -= offset;
      return out;
    } catch (const Xbyak::Error& error) {
      if (static_cast<int>(error) != Xbyak::ERR_CODE_IS_TOO_BIG) throw;
    }
  }
}

}  // namespace rondo::native_code::x86

#endif
