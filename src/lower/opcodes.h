// What is known about each opcode beside its arithmetic.
#pragma once

#include <cstdint>
#include <string_view>

#include "lower/program.h"

namespace rondo::lower {

enum class OpcodeKind : std::uint8_t {
  kConstant,
  kUnary,    // a
  kConvert,  // a; reads `from`
  kMath,     // a and perhaps b: a function of libm
  kBinary,   // a, b
  kCompare,  // a, b; reads `from`
  kTernary,  // a, b, c
  kMemory,
  kControl,
};

struct OpcodeInfo {
  std::string_view name;
  OpcodeKind kind;
  int operands = 0;  // of a, b, c: those that are read
  bool commutative = false;
  bool combines = false;  // may combine the lanes of a reduction
};

const OpcodeInfo& info(Opcode code) noexcept;
std::string_view type_name(Type type) noexcept;
/// Bytes in memory.
std::int64_t width(Type type) noexcept;
constexpr bool is_float(Type type) noexcept { return type >= Type::kF16 && type <= Type::kF64; }
constexpr bool is_integer(Type type) noexcept { return type >= Type::kS8 && type <= Type::kU64; }
/// Integers without sign of a type's width, which hold its bits.
Type bits_type(Type type) noexcept;
/// What a reduction by `combine` starts its partial results with: 0 (of floats -0, which leaves -0
/// as it is), 1, all ones, the largest or the least value (of floats an infinity).
std::uint64_t identity(Opcode combine, Type type) noexcept;
/// What an op costs, in ops of which a processor begins one or two in a cycle.
std::int64_t op_work(const Op& op) noexcept;
/// Cycles from the operands of an op outside lanes to its result, as most processors take: of loads
/// from the nearest cache.
std::int64_t op_latency(const Op& op) noexcept;
/// The type of the elements of a dtype, of the parts of a complex one.
Type type_of(DType dtype) noexcept;

}  // namespace rondo::lower
