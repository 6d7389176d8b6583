#include "native/aarch64/assemble.h"

#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

#include <aarch64/disasm-aarch64.h>

#include <cstring>

namespace rondo::native_code::aarch64 {

Assembled assemble(const MachineCode& code, const LiveRanges& ranges, const Allocation& allocation,
                   const Target& target) {
  return Emitter(code, ranges, allocation, target).run();
}

namespace {

/// The decoder of one thread, since it holds the text of the last instruction.
struct OneInstruction {
  OneInstruction() { decoder.AppendVisitor(&text); }
  vixl::aarch64::Decoder decoder;
  vixl::aarch64::Disassembler text;
};

}  // namespace

Decoded decode(std::span<const std::uint8_t> code, std::size_t offset) {
  alignas(4) std::uint8_t bytes[4];
  if (code.size() < sizeof bytes) return {};
  std::memcpy(bytes, code.data(), sizeof bytes);
  static thread_local OneInstruction one;
  const auto* instruction = reinterpret_cast<const vixl::aarch64::Instruction*>(bytes);
  one.text.MapCodeAddress(static_cast<std::int64_t>(offset), instruction);
  one.decoder.Decode(instruction);
  std::string text = one.text.GetOutput();
  if (text.starts_with("unallocated") || text.starts_with("unimplemented")) return {};
  return {sizeof bytes, std::move(text)};
}

}  // namespace rondo::native_code::aarch64

#endif
