// The text of machine code compared with that of another decoder, objdump.
#include "native/x86/decode.h"

#include <fmt/format.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <map>
#include <random>
#include <set>

#include "executor/interchange.h"
#include "executor/lowering.h"
#include "lower/opcodes.h"
#include "native/run_native.h"
#include "passes/contract.h"
#include "passes/expand.h"
#include "support/program.h"

namespace rondo::native_code {
namespace {

using lower::Opcode;
using lower::Type;
using lower::Value;
using Bytes = std::vector<std::uint8_t>;

constexpr std::size_t kLongest = 15;  // of an instruction

struct Known {
  std::size_t at, bytes;
  std::string text;
};

/// Instructions at positions of one file.
struct Code {
  Bytes bytes;
  std::vector<Known> instructions;

  /// One decoder may consume more bytes than the other one.
  void pad() { bytes.insert(bytes.end(), kLongest + 1, 0x90); }
};

/// All of the program; nothing in it may be unknown.
void add_program(Code& code, const lower::Program& program) {
  for (const Target* target : {&x86::avx2(), &x86::avx512()}) {
    const auto native = compile(program, target);
    ASSERT_NE(native, nullptr);
    const std::size_t begin = code.bytes.size();
    for (const std::byte b : native->code()) code.bytes.push_back(static_cast<std::uint8_t>(b));
    const std::size_t end = code.bytes.size();
    for (std::size_t at = begin; at < end;) {
      Decoded decoded = x86::decode(std::span(code.bytes).first(end).subspan(at), at);
      ASSERT_GT(decoded.bytes, 0u) << target->name << " at " << at - begin << '\n'
                                   << disassembly(program, target);
      code.instructions.push_back({at, decoded.bytes, std::move(decoded.text)});
      at += decoded.bytes;
    }
    code.pad();
  }
}

using Element = std::function<Value(TestProgram&, Value, Value)>;

/// result[i] = element(a[i], b[i]), one by one and in lanes.
void add_elementwise(Code& code, Type from, Type to, const Element& element) {
  for (const bool lanes : {false, true}) {
    TestProgram p;
    const Value x = p.argument(0), y = p.argument(1), z = p.result(0), count = p.index(77);
    const Value i = lanes ? p.program().lanes[p.begin_lanes(count)].index
                          : p.program().fors[p.begin_for(p.index(0), count, 1, {})].index;
    const Value a = p.load_at(from, x, i, lower::width(from));
    const Value b = p.load_at(from, y, i, lower::width(from));
    p.store_at(element(p, a, b), z, i, lower::width(to));
    lanes ? p.end_lanes() : p.end_for({});
    add_program(code, p.finish());
  }
}

/// Every op on every type.
void add_ops(Code& code) {
  for (int t = 0; t <= static_cast<int>(Type::kF64); t++) {
    const auto type = static_cast<Type>(t);
    for (int c = 0; c <= static_cast<int>(Opcode::kGreaterEqual); c++) {
      const auto op = static_cast<Opcode>(c);
      bool has = false;
      lower::for_type(type, [&]<class T>() {
        lower::for_unary(op, [&]<Opcode o>() { has = has || lower::has_unary<o, T>; });
        lower::for_binary(op, [&]<Opcode o>() { has = has || lower::has_binary<o, T>; });
      });
      const lower::OpcodeKind kind = lower::info(op).kind;
      if (has && kind == lower::OpcodeKind::kUnary)
        add_elementwise(code, type, type, [&](auto& p, Value x, Value) { return p.unary(op, x); });
      if (has && kind == lower::OpcodeKind::kBinary) {
        add_elementwise(code, type, type,
                        [&](auto& p, Value x, Value y) { return p.binary(op, x, y); });
        add_elementwise(code, type, type, [&](auto& p, Value x, Value) {
          return p.binary(op, x, p.number(type, 3));
        });
      }
      if (kind == lower::OpcodeKind::kCompare) {
        add_elementwise(code, type, Type::kPred,
                        [&](auto& p, Value x, Value y) { return p.compare(op, x, y); });
        add_elementwise(code, type, type, [&](auto& p, Value x, Value y) {
          return p.select(p.compare(op, x, y), x, y);
        });
      }
    }
    for (int to = 0; to <= static_cast<int>(Type::kF64); to++) {
      if (to == t) continue;
      add_elementwise(code, type, static_cast<Type>(to),
                      [&](auto& p, Value x, Value) { return p.convert(x, static_cast<Type>(to)); });
    }
    if (!lower::is_float(type)) continue;
    for (const Opcode op : {Opcode::kFma, Opcode::kFnma, Opcode::kFms}) {
      add_elementwise(code, type, type,
                      [&](auto& p, Value x, Value y) { return p.fused(op, x, y, x); });
    }
  }
}

/// Loops, branches, masks and calls, from random programs.
void add_random_programs(Code& code) {
  struct NeverRun final : lower::Kernel {
    void count_held(HeldBytes& held) const override { held.shared(this, sizeof(*this)); }
    bool run(std::byte* const*, lower::RunFrame&) const noexcept override { return false; }
  };
  const auto kernel = [](const ir::Node&, std::uint32_t) { return std::make_shared<NeverRun>(); };
  int programs = 0;
  for (std::uint64_t seed = 1; seed <= 60; seed++) {
    const auto program =
        testing::Program::random(seed, seed % 2 == 0 ? testing::kDangers : testing::ProgramSize{});
    const Function f =
        passes::contract(passes::expand(program.traced(), passes::Target::kInterpreter));
    if (!executor::why_not_lowered(f).empty()) continue;
    const bool limits = seed % 3 == 0;
    const executor::Interchanges lanes(f, true, limits);
    const lower::Program lowered = executor::lower_function(
        f, kernel, {.interchanges = lanes, .has_limits = limits, .reorders = true});
    add_program(code, lowered);
    programs++;
  }
  EXPECT_GT(programs, 30);
}

const Code& everything() {
  static const Code code = [] {
    Code all;
    add_ops(all);
    add_random_programs(all);
    return all;
  }();
  return code;
}

/// The address of each instruction, and its text.
std::map<std::size_t, std::string> read_by_objdump(const Bytes& code) {
  const std::string path = (std::filesystem::temp_directory_path() /
                            ("rondo_decode_" + std::to_string(std::random_device{}())))
                               .string();
  std::ofstream(path, std::ios::binary)
      .write(reinterpret_cast<const char*>(code.data()), static_cast<std::streamsize>(code.size()));
  const std::string command =
      "objdump -D -w -z --no-show-raw-insn -b binary -m i386:x86-64 -M intel " + path + " > " +
      path + ".txt 2>/dev/null";
  std::map<std::size_t, std::string> out;
  if (std::system(command.c_str()) == 0) {  // NOLINT(concurrency-mt-unsafe)
    std::ifstream lines(path + ".txt");
    for (std::string line; std::getline(lines, line);) {
      const std::size_t colon = line.find(":\t");
      if (colon != std::string::npos)
        out[std::stoul(line.substr(0, colon), nullptr, 16)] = line.substr(colon + 2);
    }
  }
  std::filesystem::remove(path);
  std::filesystem::remove(path + ".txt");
  return out;
}

/// What both decoders write alike, without their spacing and omitted zeros.
std::string plain(std::string text) {
  for (char& c : text) c = static_cast<char>(std::tolower(c));
  text = text.substr(0, text.find('#'));
  if (text.starts_with("rep movs byte")) return "rep movsb";
  const auto replace = [&](std::string_view what, std::string_view by) {
    for (std::size_t at = 0; (at = text.find(what, at)) != std::string::npos;)
      text.replace(at, what.size(), by);
  };
  // One decoder writes how often an element is broadcast, the other one only that it is.
  if (const std::size_t at = text.find("{1to"); at != std::string::npos)
    text.erase(at, text.find('}', at) + 1 - at);
  replace(" bcst ", " ptr ");
  replace("{evex} ", "");
  for (const std::string after : {"]", "+", "-"}) replace("*1" + after, after);
  replace("+0x0]", "]");
  // The zeros before a number, all but the last one of a zero.
  for (std::size_t at = 0; (at = text.find("0x0", at)) != std::string::npos; at++) {
    while (text[at + 2] == '0' && at + 3 < text.size() && std::isxdigit(text[at + 3]) != 0)
      text.erase(at + 2, 1);
  }
  replace(", ", ",");
  replace("  ", " ");
  while (text.ends_with(' ')) text.pop_back();
  const std::size_t at = text.find("+0xffffffff");
  if (at != std::string::npos && text.find(']', at) == at + 19) {
    const std::uint64_t offset = std::stoull(text.substr(at + 3, 16), nullptr, 16);
    text.replace(at, 19, fmt::format("-{:#x}", 0 - offset));
  }
  return text;
}

std::string hexadecimal(const Code& code, const Known& instruction) {
  std::string out;
  for (std::size_t i = 0; i < instruction.bytes; i++)
    out += fmt::format(" {:02x}", code.bytes[instruction.at + i]);
  return out;
}

void expect_same(const Code& code) {
  const auto theirs = read_by_objdump(code.bytes);
  ASSERT_FALSE(theirs.empty()) << "objdump read nothing: install binutils";
  std::set<std::pair<std::string, std::string>> compared;
  int wrong = 0;
  for (const Known& ours : code.instructions) {
    const auto found = theirs.find(ours.at);
    ASSERT_NE(found, theirs.end()) << ours.text << hexadecimal(code, ours);
    const bool ends =
        theirs.contains(ours.at + ours.bytes) && std::next(found)->first == ours.at + ours.bytes;
    if (!ends || (compared.emplace(ours.text, found->second).second &&
                  plain(ours.text) != plain(found->second))) {
      ADD_FAILURE() << ours.text << "\n" << found->second << "\n" << hexadecimal(code, ours);
      if (++wrong == 400) return;
    }
  }
}

/// Code is generated for ISAs that this machine need not have: only a build without an assembler
/// has none.
class Decode : public ::testing::Test {
 protected:
  void SetUp() override {
    TestProgram p;
    p.store_at(p.number(Type::kF32, 1), p.result(0));
    if (!compile(p.finish(), &x86::avx2())) GTEST_SKIP() << "this build has no assembler (Xbyak)";
  }
};

TEST_F(Decode, ReadsWhatObjdumpReads) { expect_same(everything()); }

// Byte sequences that resemble instructions are either decoded like objdump's, or unknown.
TEST_F(Decode, NamesNoInstructionWrongly) {
  const Code& from = everything();
  std::map<std::string, std::size_t> of_each_name;
  Code code;
  std::mt19937 random(1);
  for (const Known& known : from.instructions) {
    if (of_each_name[known.text.substr(0, known.text.find(' '))]++ >= 40) continue;
    for (int change = 0; change < 12; change++) {
      const auto first = from.bytes.begin() + static_cast<std::ptrdiff_t>(known.at);
      Bytes bytes(first, first + static_cast<std::ptrdiff_t>(known.bytes));
      const std::size_t at = random() % std::min<std::size_t>(bytes.size(), 7);
      bytes[at] = static_cast<std::uint8_t>(change % 2 == 0 ? bytes[at] ^ 1u << random() % 8
                                                            : random() % 256);
      bytes.insert(bytes.end(), kLongest + 1, 0x90);
      const std::size_t place = code.bytes.size();
      Decoded decoded = x86::decode(bytes, place);
      if (decoded.bytes == 0) continue;
      code.bytes.insert(code.bytes.end(), bytes.begin(), bytes.end());
      code.instructions.push_back({place, decoded.bytes, std::move(decoded.text)});
    }
  }
  EXPECT_GT(code.instructions.size(), 1000u);
  expect_same(code);
}

TEST_F(Decode, ReadsNothingBehindTheEnd) {
  const Code& code = everything();
  std::set<std::string> seen;
  for (const Known& known : code.instructions) {
    if (!seen.insert(known.text).second) continue;
    for (std::size_t bytes = 0; bytes < known.bytes; bytes++) {
      const Bytes part(code.bytes.begin() + static_cast<std::ptrdiff_t>(known.at),
                       code.bytes.begin() + static_cast<std::ptrdiff_t>(known.at + bytes));
      EXPECT_EQ(x86::decode(part, 0).bytes, 0u) << known.text;
    }
  }
}

}  // namespace
}  // namespace rondo::native_code
