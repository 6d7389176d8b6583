#include "native/compile.h"

#include <cstring>

#include "native/emitter.h"
#include "native/expand.h"

namespace rondo::native {

namespace {

const std::atomic<std::uint32_t> kNeverPolled{0};

}  // namespace

lower::Status NativeCode::run(lower::RunFrame& frame) const {
  if (frame.poll == nullptr) frame.poll = &kNeverPolled;
  using Entry = std::int32_t (*)(lower::RunFrame*);
  const auto entry =
      reinterpret_cast<Entry>(reinterpret_cast<std::uintptr_t>(block_->data()) + entry_);
  return static_cast<lower::Status>(entry(&frame));
}

#if defined(RONDO_HAVE_XBYAK)

namespace {

/// More than this on a thread's stack might step over its guard page.
constexpr std::size_t kMostFrameBytes = 512 << 10;

struct AlignedBytes {
  explicit AlignedBytes(std::size_t bytes)
      : data(static_cast<std::uint8_t*>(::operator new (bytes, std::align_val_t{64}))) {}
  ~AlignedBytes() { ::operator delete (data, std::align_val_t{64}); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  std::uint8_t* data;
};

}  // namespace

std::unique_ptr<const NativeCode> compile(const lower::Program& program, Isa isa) {
  if (isa == Isa::kNone) return nullptr;
  const MachineCode code = expand(program, isa);
  const LiveRanges ranges = live_ranges(code, isa);
  const Allocation allocation = allocate(ranges, isa);
  if (allocation.stack_bytes + code.area_bytes > kMostFrameBytes) return nullptr;
  // A guess, doubled until it is enough.
  std::size_t bytes = (8192 + 32 * code.code.size()) / 64 * 64;
  for (;; bytes *= 2) {
    AlignedBytes buffer(bytes);
    try {
      Emitter emitter(code, ranges, allocation, isa, buffer.data, bytes);
      emitter.emit();
      const auto* first = reinterpret_cast<const std::byte*>(buffer.data + emitter.begin());
      std::unique_ptr<NativeCode> out(new NativeCode);
      out->block_ = place_code({first, emitter.end() - emitter.begin()});
      if (!out->block_) return nullptr;
      out->entry_ = emitter.entry() - emitter.begin();
      out->isa_ = isa;
      for (const lower::Call& call : program.calls) out->kernels_.push_back(call.kernel);
      return out;
    } catch (const Xbyak::Error& error) {
      if (static_cast<int>(error) != Xbyak::ERR_CODE_IS_TOO_BIG) throw;
    }
  }
}

#else

std::unique_ptr<const NativeCode> compile(const lower::Program&, Isa) { return nullptr; }

#endif

}  // namespace rondo::native
