#include "native/compile.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>
#include <span>

#include "lower/opcodes.h"
#include "native/combine_min_max.h"
#include "native/decode.h"
#include "native/emitter.h"
#include "native/expand.h"
#include "native/fold_masks.h"
#include "native/fold_scalars.h"
#include "native/hoist_addresses.h"
#include "native/steps.h"

namespace rondo::native_code {

namespace {

const std::atomic<std::uint32_t> kNeverPolled{0};

}  // namespace

void NativeCode::count_held(HeldBytes& held) const {
  constexpr std::size_t kCodeAlignment = 64;
  held.block(sizeof(*this));
  held.block(sizeof(CodeBlock));
  held.add(
      static_cast<std::int64_t>((size() + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment));
  held.elements(kernels_);
}

lower::Status NativeCode::run(lower::RunFrame& frame) const {
  if (frame.poll == nullptr) frame.poll = &kNeverPolled;
  // The code adds to them without asking.
  std::vector<std::int64_t> uncounted;
  if (frame.trips == nullptr || frame.total_trips == nullptr) {
    uncounted.resize(2 * loops_);
    frame.trips = uncounted.data();
    frame.total_trips = uncounted.data() + loops_;
  }
  using Entry = std::int32_t (*)(lower::RunFrame*);
  const auto entry =
      reinterpret_cast<Entry>(reinterpret_cast<std::uintptr_t>(block_->data()) + entry_);
  return static_cast<lower::Status>(entry(&frame));
}

#if defined(RONDO_HAVE_XBYAK)

namespace {

/// Threshold: Programs whose frame is larger run as bytecode: a thread's stack is small. Not
/// measured.
constexpr std::size_t kMostFrameBytes = 512 << 10;

struct AlignedBytes {
  explicit AlignedBytes(std::size_t bytes)
      : data(static_cast<std::uint8_t*>(::operator new (bytes, std::align_val_t{64}))) {}
  ~AlignedBytes() { ::operator delete (data, std::align_val_t{64}); }
  AlignedBytes(const AlignedBytes&) = delete;
  AlignedBytes& operator=(const AlignedBytes&) = delete;
  std::uint8_t* data;
};

/// Calls done(emitter, code, ranges, allocation, buffer) when the code is written. False where the
/// frame would be too large.
template <class F>
bool assemble(const lower::Program& program, Isa isa, F&& done) {
  MachineCode code = expand(program, isa);
  hoist_addresses(code);
  combine_min_max(code);
  if (isa == Isa::kAvx512) fold_masks(code);
  fold_scalars(code, isa);
  const LiveRanges ranges = live_ranges(code, isa);
  const Allocation allocation = allocate(ranges, isa);
  if (allocation.stack_bytes + code.area_bytes > kMostFrameBytes) return false;
  // A guess, doubled until it is enough.
  for (std::size_t bytes = (8192 + 32 * code.code.size()) / 64 * 64;; bytes *= 2) {
    const AlignedBytes buffer(bytes);
    try {
      Emitter emitter(code, ranges, allocation, isa, buffer.data, bytes);
      emitter.emit();
      done(emitter, code, ranges, allocation, buffer.data);
      return true;
    } catch (const Xbyak::Error& error) {
      if (static_cast<int>(error) != Xbyak::ERR_CODE_IS_TOO_BIG) throw;
    }
  }
}

std::string hexadecimal(const std::uint8_t* begin, const std::uint8_t* end, std::size_t offset) {
  std::string out;
  constexpr std::ptrdiff_t kPerLine = 16;
  for (const std::uint8_t* at = begin; at < end; at += kPerLine) {
    out += fmt::format("  {:06x} ", offset + static_cast<std::size_t>(at - begin));
    for (const std::uint8_t* byte = at; byte < std::min(at + kPerLine, end); byte++)
      out += fmt::format(" {:02x}", *byte);
    out += '\n';
  }
  return out;
}

/// An instruction a line; from one that is not known on, in hexadecimal.
std::string mnemonics(const std::uint8_t* begin, const std::uint8_t* end, std::size_t offset) {
  std::string out;
  while (begin < end) {
    const Decoded instruction = decode(std::span(begin, end), offset);
    if (instruction.bytes == 0) return out + hexadecimal(begin, end, offset);
    out += fmt::format("  {:06x}  {}\n", offset, instruction.text);
    begin += instruction.bytes;
    offset += instruction.bytes;
  }
  return out;
}

std::string text_of(const Instruction& i, const MachineCode& code, const LiveRanges& ranges,
                    const Allocation& allocation) {
  constexpr std::string_view kKinds[] = {"",
                                         "move",
                                         "broadcast",
                                         "lane numbers",
                                         "tail mask",
                                         "address",
                                         "area",
                                         "load",
                                         "store",
                                         "base",
                                         "copy",
                                         "call",
                                         "tape row",
                                         "set tape",
                                         "math call",
                                         "for",
                                         "next",
                                         "while",
                                         "test",
                                         "repeat",
                                         "if",
                                         "also if",
                                         "either",
                                         "else",
                                         "end if",
                                         "count",
                                         "new trip",
                                         "trip",
                                         "counted",
                                         "trips of block",
                                         "trips of lanes",
                                         "poll",
                                         "fence",
                                         ""};
  static_assert(std::size(kKinds) == static_cast<std::size_t>(Kind::kNop) + 1);
  auto place = [&](Unit u) -> std::string {
    const UnitInfo& unit = code.units[u];
    if (unit.constant) return fmt::format("{:#x}", unit.bits);
    const std::uint32_t bundle = ranges.bundle_of[u];
    const Place& at = allocation.places[bundle];
    if (at.kind == Place::Kind::kStack) return fmt::format("[{}]", at.offset);
    if (at.kind == Place::Kind::kNone) return "unused";
    constexpr std::string_view kGeneral[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                             "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                             "r12", "r13", "r14", "r15"};
    switch (ranges.bundles[bundle].register_class) {
      case RegisterClass::kGeneral:
        return std::string(kGeneral[at.number]);
      case RegisterClass::kVector:
        return fmt::format("v{}", at.number);
      case RegisterClass::kMask:
        break;
    }
    return fmt::format("k{}", at.number);
  };
  const bool clamps = i.kind == Kind::kCompute && i.op == lower::Opcode::kMin && i.bits == 2;
  std::string out(clamps                     ? "clamp"
                  : i.kind == Kind::kCompute ? lower::info(i.op).name
                                             : kKinds[static_cast<std::size_t>(i.kind)]);
  const bool typed = i.kind <= Kind::kTailMask || i.kind == Kind::kLoad || i.kind == Kind::kStore;
  if (typed) out += fmt::format(" {}", lower::type_name(i.type));
  if (typed && i.lanes > 1) out += fmt::format("x{}", i.lanes);
  if (i.result != 0) out += fmt::format(" {} =", place(i.result));
  for (Unit operand : {i.a, i.b, i.c}) {
    if (operand != 0) out += fmt::format(" {}", place(operand));
  }
  if (i.mask != 0) out += fmt::format(" under {}", place(i.mask));
  return out + '\n';
}

/// The places in `code` of the steps that have instructions, from the first to the last one of a
/// loop or, without one, all of them.
std::vector<std::size_t> written_steps(const MachineCode& code,
                                       const std::vector<std::uint32_t>& positions,
                                       std::uint32_t loop) {
  auto first = code.code.begin(), end = code.code.end();
  if (loop != lower::kNoLoop) {
    const auto find = [&](Kind kind) {
      return std::find_if(code.code.begin(), code.code.end(),
                          [&](const Instruction& i) { return i.kind == kind && i.bits == loop; });
    };
    first = find(Kind::kTripsBegin);
    end = find(Kind::kTripsEnd);
    if (end == code.code.end()) return {};
    ++end;
  }
  std::vector<std::size_t> written;
  for (; first < end; ++first) {
    const auto at = static_cast<std::size_t>(first - code.code.begin());
    if (positions[at] != positions[at + 1]) written.push_back(at);
  }
  return written;
}

}  // namespace

std::unique_ptr<const NativeCode> compile(const lower::Program& program, Isa isa) {
  if (isa == Isa::kNone) return nullptr;
  std::unique_ptr<NativeCode> out(new NativeCode);
  const bool assembled = assemble(
      program, isa,
      [&](const Emitter& emitter, const MachineCode&, const LiveRanges&, const Allocation&,
          const std::uint8_t* buffer) {
        out->block_ = place_code(
            std::as_bytes(std::span(buffer + emitter.begin(), emitter.end() - emitter.begin())));
        out->entry_ = emitter.entry() - emitter.begin();
      });
  if (!assembled || !out->block_) return nullptr;
  out->isa_ = isa;
  out->loops_ = program.loops.size();
  for (const lower::Call& call : program.calls) out->kernels_.push_back(call.kernel);
  return out;
}

std::string disassembly(const lower::Program& program, Isa isa, std::uint32_t loop) {
  std::string out;
  if (isa == Isa::kNone) return out;
  assemble(program, isa,
           [&](const Emitter& emitter, const MachineCode& code, const LiveRanges& ranges,
               const Allocation& allocation, const std::uint8_t* buffer) {
             const auto instructions = [&](std::size_t begin, std::size_t end) {
               out += mnemonics(buffer + begin, buffer + end, begin - emitter.entry());
             };
             const auto& positions = emitter.positions();
             const bool is_whole = loop == lower::kNoLoop;
             if (is_whole) {
               out = fmt::format("{}, {} bytes\nentry\n", isa_name(isa),
                                 emitter.end() - emitter.begin());
               instructions(emitter.entry(), positions.front());
             }
             for (const std::size_t i : written_steps(code, positions, loop)) {
               out += text_of(code.code[i], code, ranges, allocation);
               instructions(positions[i], positions[i + 1]);
             }
             if (!is_whole) return;
             out += "end, then rare paths\n";
             instructions(positions.back(), emitter.end());
             out += fmt::format("constants, {} bytes before the entry\n",
                                emitter.entry() - emitter.begin());
             out += hexadecimal(buffer + emitter.begin(), buffer + emitter.entry(), 0);
           });
  return out;
}

std::vector<Instruction> steps(const lower::Program& program, Isa isa, std::uint32_t loop) {
  std::vector<Instruction> out;
  if (isa == Isa::kNone) return out;
  assemble(program, isa,
           [&](const Emitter& emitter, const MachineCode& code, const LiveRanges&,
               const Allocation&, const std::uint8_t*) {
             for (const std::size_t i : written_steps(code, emitter.positions(), loop))
               out.push_back(code.code[i]);
           });
  return out;
}

#else

std::unique_ptr<const NativeCode> compile(const lower::Program&, Isa) { return nullptr; }

std::string disassembly(const lower::Program&, Isa, std::uint32_t) { return {}; }

std::vector<Instruction> steps(const lower::Program&, Isa, std::uint32_t) { return {}; }

#endif

}  // namespace rondo::native_code
