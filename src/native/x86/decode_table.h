// The instructions that Emitter writes, as their encodings have them.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

namespace rondo::native_code::x86 {

/// The encoding that identifies a kind of instruction.
///
/// `name`: '?' is replaced by a condition, from the opcode's lower bits or from an immediate; '#'
/// is d or q, and '%' is s or d, by the bit W.
///
/// `operands`: pairs of a letter for the place and one for the size, without anything between.
///   G general, V vector, K mask: the register field of ModRM E general, W vector, L mask: the
///   other field of ModRM, a register or memory R, U, T: the same, a register only; M: memory only;
///   X: memory, whose index is a vector H vector, B general, Q mask: the field vvvv Z: the register
///   in the opcode; A: rax; C: cl; O: 1; J: the target of a jump I: an immediate, sign-extended to
///   the size of the first operand; S: one that is not; P: one that is the condition in the name;
///   F: a vector in the upper half of an immediate
/// Sizes of general registers, memory and immediates: b, w, d, q of 1 to 8 bytes; v by the
/// prefixes; z as v, of at most 4 bytes; n nothing. Of vectors: x as long as the instruction says,
/// y where memory may be one element for all lanes; h and k half and a quarter of x, g as h with
/// one element; s, t 16 bytes with 4 or 8 in memory; e s or t by the bit W; o 16 bytes.
struct Encoding {
  std::string_view name, operands;
  std::uint8_t map;     // opcodes of 1 byte, those after 0f, 0f 38, and 0f 3a
  std::uint8_t prefix;  // 66, f3, f2 are 1 to 3
  std::uint8_t opcode;
  char w = '-';           // the bit W: '0', '1', 'i' (any, says nothing), 'v' (says a size)
  char evex_w = '-';      // with an EVEX prefix; '-': has no such form. And w with VEX, or none
  char length = 'a';      // of vectors, as 0 to 2, 'a' any, 'n' not 0
  int extension = -1;     // in ModRM's register field
  std::uint8_t same = 1;  // opcodes from this on
};

/// Without VEX or EVEX.
std::span<const Encoding> general_encodings();
std::span<const Encoding> vector_encodings();

}  // namespace rondo::native_code::x86
