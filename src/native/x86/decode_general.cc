// Instructions on general registers, memory and flags.
#include <vector>

#include "native/x86/decode_table.h"

namespace rondo::native_code::x86 {

namespace {

/// The nine forms of number `n` of the eight arithmetic instructions of one layout.
void add_arithmetic(std::vector<Encoding>& to, std::string_view name, std::uint8_t n) {
  constexpr std::string_view kOperands[] = {"EbGb", "EvGv", "GbEb", "GvEv", "AbIb", "AvIz"};
  std::uint8_t opcode = static_cast<std::uint8_t>(8 * n);
  for (const std::string_view operands : kOperands)
    to.push_back({name, operands, 0, 0, opcode++, operands[1] == 'b' ? '0' : 'v'});
  to.push_back({name, "EbIb", 0, 0, 0x80, '0', '-', 'a', n});
  to.push_back({name, "EvIz", 0, 0, 0x81, 'v', '-', 'a', n});
  to.push_back({name, "EvIb", 0, 0, 0x83, 'v', '-', 'a', n});
}

/// By an immediate, by one, and by cl.
void add_shift(std::vector<Encoding>& to, std::string_view name, std::uint8_t n) {
  to.push_back({name, "EvSb", 0, 0, 0xc1, 'v', '-', 'a', n});
  to.push_back({name, "EvOn", 0, 0, 0xd1, 'v', '-', 'a', n});
  to.push_back({name, "EvCn", 0, 0, 0xd3, 'v', '-', 'a', n});
}

constexpr Encoding kOthers[] = {
    {"push", "Zq", 0, 0, 0x50, '0', '-', 'a', -1, 8},
    {"pop", "Zq", 0, 0, 0x58, '0', '-', 'a', -1, 8},
    {"movsxd", "GqEd", 0, 0, 0x63, '1', '-', 'a', -1, 1},
    {"imul", "GvEvIz", 0, 0, 0x69, 'v', '-', 'a', -1, 1},
    {"imul", "GvEvIb", 0, 0, 0x6b, 'v', '-', 'a', -1, 1},
    {"imul", "GvEv", 1, 0, 0xaf, 'v', '-', 'a', -1, 1},
    {"j?", "Jb", 0, 0, 0x70, '0', '-', 'a', -1, 16},
    {"j?", "Jd", 1, 0, 0x80, '0', '-', 'a', -1, 16},
    {"jmp", "Jb", 0, 0, 0xeb, '0', '-', 'a', -1, 1},
    {"jmp", "Jd", 0, 0, 0xe9, '0', '-', 'a', -1, 1},
    {"test", "EbGb", 0, 0, 0x84, '0', '-', 'a', -1, 1},
    {"test", "EvGv", 0, 0, 0x85, 'v', '-', 'a', -1, 1},
    {"test", "AbIb", 0, 0, 0xa8, '0', '-', 'a', -1, 1},
    {"test", "AvIz", 0, 0, 0xa9, 'v', '-', 'a', -1, 1},
    {"test", "EbIb", 0, 0, 0xf6, '0', '-', 'a', 0, 1},
    {"test", "EvIz", 0, 0, 0xf7, 'v', '-', 'a', 0, 1},
    {"not", "Ev", 0, 0, 0xf7, 'v', '-', 'a', 2, 1},
    {"neg", "Ev", 0, 0, 0xf7, 'v', '-', 'a', 3, 1},
    {"mul", "Ev", 0, 0, 0xf7, 'v', '-', 'a', 4, 1},
    {"imul", "Ev", 0, 0, 0xf7, 'v', '-', 'a', 5, 1},
    {"div", "Ev", 0, 0, 0xf7, 'v', '-', 'a', 6, 1},
    {"idiv", "Ev", 0, 0, 0xf7, 'v', '-', 'a', 7, 1},
    {"inc", "Ev", 0, 0, 0xff, 'v', '-', 'a', 0, 1},
    {"dec", "Ev", 0, 0, 0xff, 'v', '-', 'a', 1, 1},
    {"call", "Eq", 0, 0, 0xff, '0', '-', 'a', 2, 1},
    {"mov", "EbGb", 0, 0, 0x88, '0', '-', 'a', -1, 1},
    {"mov", "EvGv", 0, 0, 0x89, 'v', '-', 'a', -1, 1},
    {"mov", "GbEb", 0, 0, 0x8a, '0', '-', 'a', -1, 1},
    {"mov", "GvEv", 0, 0, 0x8b, 'v', '-', 'a', -1, 1},
    {"mov", "EbIb", 0, 0, 0xc6, '0', '-', 'a', 0, 1},
    {"mov", "EvIz", 0, 0, 0xc7, 'v', '-', 'a', 0, 1},
    {"mov", "ZdId", 0, 0, 0xb8, '0', '-', 'a', -1, 8},
    {"movabs", "ZqIq", 0, 0, 0xb8, '1', '-', 'a', -1, 8},
    {"lea", "GvMn", 0, 0, 0x8d, 'v', '-', 'a', -1, 1},
    {"cqo", "", 0, 0, 0x99, '1', '-', 'a', -1, 1},
    {"ret", "", 0, 0, 0xc3, '0', '-', 'a', -1, 1},
    {"nop", "", 0, 0, 0x90, '0', '-', 'a', -1, 1},
    {"xchg ax, ax", "", 0, 1, 0x90, '0', '-', 'a', -1, 1},
    {"rep movsb", "", 0, 2, 0xa4, '0', '-', 'a', -1, 1},
    {"nop", "Ev", 1, 0, 0x1f, 'v', '-', 'a', 0, 1},
    {"prefetcht0", "Mb", 1, 0, 0x18, '0', '-', 'a', 1, 1},
    {"sfence", "", 1, 0, 0xae, '0', '-', 'a', 7, 1},
    {"cmov?", "GvEv", 1, 0, 0x40, 'v', '-', 'a', -1, 16},
    {"set?", "Eb", 1, 0, 0x90, '0', '-', 'a', 0, 16},
    {"movzx", "GvEb", 1, 0, 0xb6, 'v', '-', 'a', -1, 1},
    {"movzx", "GvEw", 1, 0, 0xb7, 'v', '-', 'a', -1, 1},
    {"movsx", "GvEb", 1, 0, 0xbe, 'v', '-', 'a', -1, 1},
    {"movsx", "GvEw", 1, 0, 0xbf, 'v', '-', 'a', -1, 1},
    {"btc", "EvSb", 1, 0, 0xba, 'v', '-', 'a', 7, 1},
    {"popcnt", "GvEv", 1, 2, 0xb8, 'v', '-', 'a', -1, 1},
    {"lzcnt", "GvEv", 1, 2, 0xbd, 'v', '-', 'a', -1, 1},
};

}  // namespace

std::span<const Encoding> general_encodings() {
  static const std::vector<Encoding> all = [] {
    std::vector<Encoding> made;
    add_arithmetic(made, "add", 0);
    add_arithmetic(made, "or", 1);
    add_arithmetic(made, "and", 4);
    add_arithmetic(made, "sub", 5);
    add_arithmetic(made, "xor", 6);
    add_arithmetic(made, "cmp", 7);
    add_shift(made, "shl", 4);
    add_shift(made, "shr", 5);
    add_shift(made, "sar", 7);
    made.insert(made.end(), std::begin(kOthers), std::end(kOthers));
    return made;
  }();
  return all;
}

}  // namespace rondo::native_code::x86
