// Prints native code as text.
#include <fmt/format.h>

#include <algorithm>
#include <span>

#include "lower/opcodes.h"
#include "native/compilation.h"
#include "native/compile.h"
#include "native/steps.h"

namespace rondo::native_code {

namespace {

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

/// One instruction a line; from an unknown one on, in hexadecimal.
std::string mnemonics(const Target& target, const std::uint8_t* begin, const std::uint8_t* end,
                      std::size_t offset) {
  std::string out;
  while (begin < end) {
    const Decoded instruction = target.decode(std::span(begin, end), offset);
    if (instruction.bytes == 0) return out + hexadecimal(begin, end, offset);
    out += fmt::format("  {:06x}  {}\n", offset, instruction.text);
    begin += instruction.bytes;
    offset += instruction.bytes;
  }
  return out;
}

std::string text_of(const Instruction& i, const Compilation& of, const Target& target) {
  const MachineCode& code = of.code;
  const LiveRanges& ranges = of.ranges;
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
    const Place& at = of.allocation.places[bundle];
    if (at.kind == Place::Kind::kStack) return fmt::format("[{}]", at.offset);
    if (at.kind == Place::Kind::kNone) return "unused";
    return target.file(ranges.bundles[bundle].register_class).name(at.number);
  };
  const bool clamps = i.kind == Kind::kCompute && i.op == lower::Opcode::kMin && i.bits == kClamps;
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

/// The positions in `code` of the steps that have instructions, from the first to the last one of a
/// loop or, without one, all of them.
std::vector<std::size_t> written_steps(const Compilation& of, std::uint32_t loop) {
  const MachineCode& code = of.code;
  const std::vector<std::uint32_t>& positions = of.assembled.positions;
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

std::string disassembly(const lower::Program& program, const Target* target, std::uint32_t loop) {
  const std::optional<Compilation> made = compilation(program, target);
  if (!made) return {};
  const std::vector<std::uint8_t>& bytes = made->assembled.bytes;
  const std::size_t entry = made->assembled.entry;
  const std::vector<std::uint32_t>& positions = made->assembled.positions;
  const auto instructions = [&](std::size_t begin, std::size_t end) {
    return mnemonics(*target, bytes.data() + begin, bytes.data() + end, begin - entry);
  };
  std::string out;
  const bool is_whole = loop == lower::kNoLoop;
  if (is_whole) {
    out = fmt::format("{}, {} bytes\nentry\n", target->name, bytes.size());
    out += instructions(entry, positions.front());
  }
  for (const std::size_t i : written_steps(*made, loop)) {
    out += text_of(made->code.code[i], *made, *target);
    out += instructions(positions[i], positions[i + 1]);
  }
  if (!is_whole) return out;
  out += "end, then rare paths\n";
  out += instructions(positions.back(), bytes.size());
  out += fmt::format("constants, {} bytes before the entry\n", entry);
  return out + hexadecimal(bytes.data(), bytes.data() + entry, 0);
}

std::vector<Instruction> steps(const lower::Program& program, const Target* target,
                               std::uint32_t loop) {
  std::vector<Instruction> out;
  const std::optional<Compilation> made = compilation(program, target);
  if (!made) return out;
  for (const std::size_t i : written_steps(*made, loop)) out.push_back(made->code.code[i]);
  return out;
}

}  // namespace rondo::native_code
