// What debuggers and profilers are told of machine code.

#include <elf.h>
#include <unistd.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <optional>
#include <sstream>
#include <thread>

#include "lower/opcodes.h"
#include "native/debug/code_description.h"
#include "native/debug/elf_image.h"
#include "native/debug/jit_dump.h"
#include "native/run_native.h"

extern "C" {
/// As gdb's manual has it.
struct JitEntryOfGdb {
  JitEntryOfGdb *next, *previous;
  const char* file;
  std::uint64_t bytes;
};
struct JitListOfGdb {
  std::uint32_t version, action;
  JitEntryOfGdb *relevant, *first;
};
// NOLINTNEXTLINE(bugprone-reserved-identifier)
extern JitListOfGdb __jit_debug_descriptor;
}

namespace rondo::native_code {
namespace {

using lower::Opcode;
using lower::Type;
using lower::Value;
using NativeDebug = NativeTest;

#if defined(__aarch64__)
constexpr std::uint16_t kMachine = EM_AARCH64;
#else
constexpr std::uint16_t kMachine = EM_X86_64;
#endif

constexpr SourceLocation kRootLine{"/src/house.cc", "body", 20},
    kQuotientLine{"/src/house.cc", "body", 30}, kOtherLine{"/src/tank.cc", "other", 7};

lower::LoopInfo user_loop(const char* name, std::uint32_t line, std::uint32_t outer) {
  lower::LoopInfo info;
  info.name = name;
  if (line != 0) info.at = {"/src/house.cc", "f", line};
  info.outer = outer;
  return info;
}

/// Nested loops with a root in the inner and a quotient in the outer one, and a sum behind them.
struct NestedLoops {
  lower::Program program;
  Value inner;  // what the inner loop carries
};
NestedLoops loops_with_carries() {
  TestProgram p;
  p.record_locations();
  p.program().loops.push_back(user_loop("outer", 11, lower::kNoLoop));
  p.program().loops.push_back(user_loop("inner", 12, 0));
  p.locate(kOtherLine);
  const Value first = p.load_at(Type::kF32, p.argument(0));
  p.locate({"/src/house.cc", "f", 11});
  const Value low = p.index(0), high = p.convert(first, Type::kS64);
  const std::uint32_t outer = p.begin_for(low, high, 1, std::vector{first}, 0);
  const Value carried = p.program().fors[outer].carries[0].param;
  p.locate({"/src/house.cc", "f", 12});
  const std::uint32_t inner = p.begin_for(low, high, 1, std::vector{carried}, 1);
  const Value param = p.program().fors[inner].carries[0].param;
  p.locate(kRootLine);
  p.end_for(std::vector{p.sqrt(param)});
  p.locate(kQuotientLine);
  const Value quotient = p.divide(first, p.program().fors[inner].carries[0].result);
  p.end_for(std::vector{quotient});
  p.locate(kOtherLine);
  p.store_at(p.add(p.program().fors[outer].carries[0].result, first), p.result(0));
  return {p.finish(), param};
}
lower::Program nested_loops() { return loops_with_carries().program; }

struct Described {
  Compilation made;
  CodeDescription description;
};
Described describe_for(const lower::Program& program, const Target& target) {
  Described out{*compilation(program, &target), {}};
  out.description = describe(program, out.made, std::as_bytes(std::span(out.made.assembled.bytes)),
                             target, "program");
  return out;
}

/// The step of machine code that computes the only op of this kind.
std::size_t step_of(const Compilation& made, Opcode op) {
  const std::vector<Instruction>& code = made.code.code;
  const auto is_it = [&](const Instruction& step) {
    return step.kind == Kind::kCompute && step.op == op;
  };
  const auto found = std::find_if(code.begin(), code.end(), is_it);
  EXPECT_EQ(std::count_if(code.begin(), code.end(), is_it), 1);
  return static_cast<std::size_t>(found - code.begin());
}
/// Where its instructions begin, as CodeDescription has it.
std::uint32_t offset_of(const Compilation& made, Opcode op) {
  return made.assembled.positions[step_of(made, op)] -
         static_cast<std::uint32_t>(made.assembled.entry);
}

std::string name_at(const CodeDescription& code, std::uint32_t offset) {
  for (const CodeDescription::Piece& piece : code.pieces) {
    if (piece.begin <= offset && offset < piece.end) return piece.title();
  }
  return "";
}

TEST_F(NativeDebug, InstructionsHaveTheLinesOfTheirOpsAndTheNamesOfTheirLoops) {
  for (const Target* target : targets()) {
    const lower::Program program = nested_loops();
    const Described made = describe_for(program, *target);
    const CodeDescription& code = made.description;
    const auto line_at = [&](std::uint32_t offset) {
      std::string line = "none";
      for (const CodeDescription::Line& row : code.lines) {
        if (row.offset > offset) break;
        line = row.line == 0 ? "none" : code.files[row.file] + ":" + std::to_string(row.line);
      }
      return line;
    };
    const std::uint32_t root = offset_of(made.made, Opcode::kSqrt);
    EXPECT_EQ(line_at(root), "/src/house.cc:20");
    EXPECT_EQ(name_at(code, root), "inner at house.cc:12");
    const std::uint32_t quotient = offset_of(made.made, Opcode::kDivide);
    EXPECT_EQ(line_at(quotient), "/src/house.cc:30");
    EXPECT_EQ(name_at(code, quotient), "outer at house.cc:11");
    const std::uint32_t sum = offset_of(made.made, Opcode::kAdd);
    EXPECT_EQ(line_at(sum), "/src/tank.cc:7");
    EXPECT_EQ(name_at(code, sum), "program");
    std::uint32_t end = 0;
    for (const CodeDescription::Piece& piece : code.pieces) {
      EXPECT_EQ(piece.begin, end);
      EXPECT_LT(piece.begin, piece.end);
      end = piece.end;
    }
    EXPECT_EQ(end, code.code.size());
  }
}

TEST_F(NativeDebug, AVariableIsInTheRegisterThatItsOpReads) {
  for (const Target* target : targets()) {
    NestedLoops loops = loops_with_carries();
    loops.program.variables.push_back(
        {"room[0]", lower::Variable::Kind::kElement, 1, loops.inner, f32()});
    const Compilation made = *compilation(loops.program, target);
    const std::vector<PlacedVariable> placed = placed_variables(loops.program, made);
    ASSERT_EQ(placed.size(), 1u);
    EXPECT_EQ(placed[0].name, "room_0");
    const std::size_t root = step_of(made, Opcode::kSqrt);
    const Place& operand = made.allocation.places[made.ranges.bundle_of[made.code.code[root].a]];
    ASSERT_EQ(operand.kind, Place::Kind::kRegister);
    bool is_there = false;
    for (const PlacedVariable::Where& where : placed[0].places) {
      const std::uint32_t step = made.assembled.positions[root];
      if (where.begin > step || step >= where.end) continue;
      is_there = true;
      EXPECT_EQ(where.kind, PlacedVariable::Kind::kRegister);
      EXPECT_EQ(where.registers, RegisterClass::kVector);
      EXPECT_EQ(where.number, operand.number);
    }
    EXPECT_TRUE(is_there);
  }
}

TEST_F(NativeDebug, AProgramWithoutLocationsHasNamesAlone) {
  TestProgram p;
  p.program().loops.push_back(user_loop("loop", 0, lower::kNoLoop));
  const Value first = p.load_at(Type::kF32, p.argument(0));
  const std::uint32_t loop =
      p.begin_for(p.index(0), p.convert(first, Type::kS64), 1, std::vector{first}, 0);
  p.end_for(std::vector{p.sqrt(p.program().fors[loop].carries[0].param)});
  p.store_at(p.program().fors[loop].carries[0].result, p.result(0));
  const lower::Program program = p.finish();
  EXPECT_TRUE(program.location_of.empty());
  const Described made = describe_for(program, *targets()[0]);
  for (const CodeDescription::Line& row : made.description.lines) EXPECT_EQ(row.line, 0u);
  EXPECT_EQ(name_at(made.description, offset_of(made.made, Opcode::kSqrt)), "loop");
}

template <class T>
T read_at(std::span<const std::byte> bytes, std::size_t at) {
  T out;
  if (at + sizeof out > bytes.size()) throw std::out_of_range("read_at");
  std::memcpy(&out, bytes.data() + at, sizeof out);
  return out;
}

std::string text_at(std::span<const std::byte> bytes, std::size_t at) {
  const auto* begin = reinterpret_cast<const char*>(bytes.data()) + at;
  return {begin,
          std::find(begin, reinterpret_cast<const char*>(bytes.data() + bytes.size()), '\0')};
}

/// The sections of an ELF file, by their names.
std::map<std::string, Elf64_Shdr> sections_of(std::span<const std::byte> file) {
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  const auto section = [&](std::size_t i) {
    return read_at<Elf64_Shdr>(file, header.e_shoff + i * header.e_shentsize);
  };
  const Elf64_Shdr names = section(header.e_shstrndx);
  std::map<std::string, Elf64_Shdr> out;
  for (std::size_t i = 0; i < header.e_shnum; i++)
    out[text_at(file, names.sh_offset + section(i).sh_name)] = section(i);
  return out;
}

TEST_F(NativeDebug, TheObjectFileHasTheCodeAndASymbolForEachPiece) {
  const lower::Program program = nested_loops();
  const Described made = describe_for(program, *targets()[0]);
  const CodeDescription& code = made.description;
  const std::vector<std::byte> file = elf_image(code);
  const auto header = read_at<Elf64_Ehdr>(file, 0);
  EXPECT_EQ(std::memcmp(header.e_ident, ELFMAG, SELFMAG), 0);
  EXPECT_EQ(header.e_type, ET_EXEC);
  EXPECT_EQ(header.e_machine, kMachine);
  auto sections = sections_of(file);
  const Elf64_Shdr& text = sections.at(".text");
  EXPECT_EQ(text.sh_type, static_cast<Elf64_Word>(SHT_NOBITS));
  EXPECT_EQ(text.sh_addr, reinterpret_cast<std::uintptr_t>(code.code.data()));
  EXPECT_EQ(text.sh_size, code.code.size());
  const Elf64_Shdr& symbols = sections.at(".symtab");
  std::size_t piece = 0;
  for (std::size_t at = sizeof(Elf64_Sym); at < symbols.sh_size; at += sizeof(Elf64_Sym), piece++) {
    const auto symbol = read_at<Elf64_Sym>(file, symbols.sh_offset + at);
    ASSERT_LT(piece, code.pieces.size());
    EXPECT_EQ(text_at(file, sections.at(".strtab").sh_offset + symbol.st_name),
              code.pieces[piece].name);
    EXPECT_EQ(symbol.st_value, text.sh_addr + code.pieces[piece].begin);
    EXPECT_EQ(symbol.st_size, code.pieces[piece].end - code.pieces[piece].begin);
  }
  EXPECT_EQ(piece, code.pieces.size());
}

/// What a command prints; none if it cannot be run, or fails.
std::optional<std::string> printed_by(const std::string& command) {
  std::FILE* pipe = popen((command + " 2>&1").c_str(), "r");
  if (pipe == nullptr) return std::nullopt;
  std::string out;
  for (int c; (c = std::fgetc(pipe)) != EOF;) out += static_cast<char>(c);
  return pclose(pipe) == 0 ? std::optional(out) : std::nullopt;
}

/// A file that is removed again.
struct TemporaryFile {
  explicit TemporaryFile(std::span<const std::byte> bytes)
      : path(std::filesystem::temp_directory_path() /
             ("rondo_debug_test." + std::to_string(getpid()))) {
    std::ofstream(path, std::ios::binary)
        .write(reinterpret_cast<const char*>(bytes.data()),
               static_cast<std::streamsize>(bytes.size()));
  }
  ~TemporaryFile() { std::filesystem::remove(path); }
  TemporaryFile(const TemporaryFile&) = delete;
  TemporaryFile& operator=(const TemporaryFile&) = delete;
  std::filesystem::path path;
};

TEST_F(NativeDebug, ReadelfReadsTheLinesAndTheFrame) {
  ASSERT_TRUE(printed_by("readelf --version")) << "install binutils, which has readelf";
  const lower::Program program = nested_loops();
  const Described made = describe_for(program, *targets()[0]);
  const CodeDescription& code = made.description;
  const TemporaryFile file(elf_image(code));
  const auto lines = printed_by("readelf --wide --debug-dump=decodedline " + file.path.string());
  ASSERT_TRUE(lines);
  std::istringstream rows(*lines);
  std::map<std::uint64_t, std::string> line_at;  // by address
  for (std::string row; std::getline(rows, row);) {
    std::istringstream fields(row);
    std::string name, line, address;
    fields >> name >> line >> address;
    if (address.starts_with("0x"))
      line_at[std::stoull(address, nullptr, 16)] =
          std::filesystem::path(name).filename().string() + ":" + line;
  }
  const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(code.code.data());
  for (const CodeDescription::Line& row : code.lines) {
    if (row.line == 0) continue;
    const std::string name = std::filesystem::path(code.files[row.file]).filename().string();
    EXPECT_EQ(line_at[begin + row.offset], name + ":" + std::to_string(row.line)) << *lines;
  }
  const auto info = printed_by("readelf --wide --debug-dump=info,frames " + file.path.string());
  ASSERT_TRUE(info);
  EXPECT_EQ(info->find("arning"), std::string::npos) << *info;
  for (const std::string name : {"outer", "inner", "program"})
    EXPECT_NE(info->find(" " + name + "\n"), std::string::npos) << *info;
  EXPECT_NE(info->find("FDE"), std::string::npos);
}

TEST_F(NativeDebug, TheDumpForPerfHasEachPieceWithItsLinesAndBytes) {
  const lower::Program program = nested_loops();
  const Described made = describe_for(program, *targets()[0]);
  const CodeDescription& code = made.description;
  const JitDumpStamp stamp{17, 19, 1234};
  ByteWriter written = jit_dump_header(code.numbers, stamp);
  written.append(jit_dump_records(code, stamp, 5).bytes());
  const std::span<const std::byte> file = written.bytes();
  EXPECT_EQ(read_at<std::uint32_t>(file, 0), 0x4a695444u);
  EXPECT_EQ(read_at<std::uint32_t>(file, 4), 1u);
  EXPECT_EQ(read_at<std::uint32_t>(file, 12), std::uint32_t{kMachine});
  EXPECT_EQ(read_at<std::uint32_t>(file, 20), 17u);
  EXPECT_EQ(read_at<std::uint64_t>(file, 24), 1234u);
  const std::uint64_t begin = reinterpret_cast<std::uintptr_t>(code.code.data());
  std::uint64_t next = begin, index = 5;
  std::map<std::string, std::string> lines_of;  // by name
  std::string lines;
  for (std::size_t at = read_at<std::uint32_t>(file, 8); at < file.size();) {
    const auto kind = read_at<std::uint32_t>(file, at),
               bytes = read_at<std::uint32_t>(file, at + 4);
    EXPECT_EQ(read_at<std::uint64_t>(file, at + 8), 1234u);
    ASSERT_LE(at + bytes, file.size());
    if (kind == 2) {
      std::size_t entry = at + 32;
      for (auto left = read_at<std::uint64_t>(file, at + 24); left > 0; left--) {
        EXPECT_GE(read_at<std::uint64_t>(file, entry), read_at<std::uint64_t>(file, at + 16));
        const std::string name = text_at(file, entry + 16);
        lines += name + ":" + std::to_string(read_at<std::uint32_t>(file, entry + 8)) + " ";
        entry += 17 + name.size();
      }
      EXPECT_EQ(entry, at + bytes);
    } else {
      ASSERT_EQ(kind, 0u);
      EXPECT_EQ(read_at<std::uint32_t>(file, at + 16), 17u);
      EXPECT_EQ(read_at<std::uint32_t>(file, at + 20), 19u);
      EXPECT_EQ(read_at<std::uint64_t>(file, at + 32), next);
      const auto size = read_at<std::uint64_t>(file, at + 40);
      EXPECT_EQ(read_at<std::uint64_t>(file, at + 48), index++);
      const std::string name = text_at(file, at + 56);
      ASSERT_EQ(57 + name.size() + size, bytes);
      EXPECT_EQ(
          std::memcmp(file.data() + at + 57 + name.size(), code.code.data() + (next - begin), size),
          0);
      next += size;
      lines_of[name] += lines;
      lines.clear();
    }
    at += bytes;
  }
  EXPECT_EQ(next, begin + code.code.size());
  EXPECT_NE(lines_of["inner at house.cc:12"].find("/src/house.cc:20 "), std::string::npos);
  EXPECT_NE(lines_of["outer at house.cc:11"].find("/src/house.cc:30 "), std::string::npos);
  EXPECT_EQ(lines_of["inner at house.cc:12"].find("/src/house.cc:30 "), std::string::npos);
  EXPECT_NE(lines_of["program"].find("/src/tank.cc:7 "), std::string::npos);
}

Observers observers_of_gdb() {
  Observers out;
  out.debugger = true;
  out.name = "program";
  return out;
}

/// Whether gdb's list has code that begins there. No other thread changes the list.
bool is_registered(const std::byte* code) {
  for (const JitEntryOfGdb* entry = __jit_debug_descriptor.first; entry != nullptr;
       entry = entry->next) {
    const std::span file(reinterpret_cast<const std::byte*>(entry->file), entry->bytes);
    if (sections_of(file).at(".text").sh_addr == reinterpret_cast<std::uintptr_t>(code))
      return true;
  }
  return false;
}

/// The protection of the pages at an address, as in /proc/self/maps: "r-xp".
std::string protection_at(const std::byte* address) {
  std::ifstream maps("/proc/self/maps");
  for (std::string line; std::getline(maps, line);) {
    unsigned long begin = 0, end = 0;
    char protection[5] = "";
    if (std::sscanf(line.c_str(), "%lx-%lx %4s", &begin, &end, protection) != 3) continue;
    const auto at = reinterpret_cast<std::uintptr_t>(address);
    if (begin <= at && at < end) return protection;
  }
  return "";
}

TEST_F(NativeDebug, CodeIsOnGdbsListAsLongAsItExists) {
  const lower::Program program = nested_loops();
  const auto hidden = compile(program);
  ASSERT_NE(hidden, nullptr);
  EXPECT_FALSE(is_registered(hidden->code().data()));
  EXPECT_EQ(__jit_debug_descriptor.version, 1u);
  const std::byte* place = nullptr;
  {
    const auto shown = compile(program, available_target(), observers_of_gdb());
    ASSERT_NE(shown, nullptr);
    place = shown->code().data();
    EXPECT_TRUE(is_registered(place));
    EXPECT_EQ(protection_at(place), "r-xp");  // private: gdb can write breakpoints
    Buffers buffers;
    buffers.add_argument(std::vector{3.0f});
    buffers.add_result(4);
    float wanted = 3;
    for (int i = 0; i < 3; i++) {
      for (int k = 0; k < 3; k++) wanted = std::sqrt(wanted);
      wanted = 3 / wanted;
    }
    ASSERT_EQ(buffers.run(*shown, program), lower::Status::kDone);
    EXPECT_EQ(buffers.result<float>(0), std::vector{wanted + 3});
  }
  EXPECT_FALSE(is_registered(place));
}

TEST_F(NativeDebug, ThreadsRegisterCodeAtOnce) {
  const lower::Program program = nested_loops();
  const JitEntryOfGdb* const before = __jit_debug_descriptor.first;
  std::vector<std::unique_ptr<const NativeCode>> kept(4);
  std::vector<std::thread> threads;
  for (auto& code : kept) {
    threads.emplace_back([&program, &code] {
      for (int i = 0; i < 20; i++) code = compile(program, available_target(), observers_of_gdb());
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (const auto& code : kept) EXPECT_TRUE(is_registered(code->code().data()));
  kept.clear();
  EXPECT_EQ(__jit_debug_descriptor.first, before);
}

}  // namespace
}  // namespace rondo::native_code
