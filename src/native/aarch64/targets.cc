#include "native/aarch64/targets.h"

#include "base/cpu.h"
#include "native/aarch64/assemble.h"
#include "native/aarch64/registers.h"
#include "native/machine_code.h"

namespace rondo::native_code::aarch64 {

namespace {

constexpr std::string_view kGeneralNames[] = {
    "x0",  "x1",  "x2",  "x3",  "x4",  "x5",  "x6",  "x7",  "x8",  "x9",  "x10",
    "x11", "x12", "x13", "x14", "x15", "x16", "x17", "x18", "x19", "x20", "x21",
    "x22", "x23", "x24", "x25", "x26", "x27", "x28", "x29", "x30", "sp"};

void add_numbers(RegisterFile& file, int first, int last) {
  for (int r = first; r <= last; r++) file.numbers.push_back(static_cast<std::uint8_t>(r));
}

using lower::Opcode;
using lower::Type;

/// Conversions of lanes that round once at most.
bool converts(Type from, Type to) {
  if (from == to || from == Type::kPred || to == Type::kPred) return true;
  const bool from_float = floating(from), to_float = floating(to);
  if (from_float && to_float) return !(half_float(to) && wide(from));
  if (from_float || !to_float) return true;
  return half_float(to) ? width_of(from) < 4 : wide(to) || !wide(from);
}

/// Types of the results of an op on vectors.
TypeSet types_of(Opcode code) {
  const auto with_floats = [](TypeSet others) {
    return TypeSet::where([&](Type t) { return floating(t) || others.has(t); });
  };
  const TypeSet all = TypeSet::where([](Type) { return true; });
  const TypeSet narrow = TypeSet::where([](Type t) { return !floating(t) && !wide(t); });
  const TypeSet integers = TypeSet::where([](Type t) { return !floating(t) && t != Type::kPred; });
  switch (code) {
    case Opcode::kConstant:
    case Opcode::kMathCall:
    case Opcode::kSelect:
    case Opcode::kEqual:
    case Opcode::kNotEqual:
    case Opcode::kLess:
    case Opcode::kLessEqual:
    case Opcode::kGreater:
    case Opcode::kGreaterEqual:
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kNegate:
    case Opcode::kAbs:
    case Opcode::kNot:
      return all;
    case Opcode::kMultiply:
      return with_floats(narrow);
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kShiftRightArithmetic:
    case Opcode::kRotateLeft:
    case Opcode::kPopcount:
      return integers;
    case Opcode::kCountLeadingZeros:
      return TypeSet::where([&](Type t) { return integers.has(t) && !wide(t); });
    case Opcode::kSqrt:
    case Opcode::kFloor:
    case Opcode::kCeil:
    case Opcode::kRoundEven:
    case Opcode::kTruncate:
    case Opcode::kDivide:
    case Opcode::kFma:
    case Opcode::kFnma:
    case Opcode::kFms:
      return with_floats({});
    default:
      return {};
  }
}

VectorOps vector_ops() {
  VectorOps ops;
  for (std::size_t code = 0; code < kOpcodes; code++)
    ops.of[code] = types_of(static_cast<Opcode>(code));
  for (std::size_t t = 0; t < kTypes; t++) {
    const auto from = static_cast<Type>(t);
    ops.converts_to[t] = TypeSet::where([&](Type to) { return converts(from, to); });
    ops.bitcasts_to[t] = TypeSet::where([&](Type to) { return width_of(from) == width_of(to); });
  }
  return ops;
}

Target make_target() {
  Target target;
  target.name = "neon";
  // Procedure Call Standard for the Arm 64-bit Architecture (AAPCS64), section 6.1.
  RegisterFile& general = target.registers[static_cast<std::size_t>(RegisterClass::kGeneral)];
  general.names = kGeneralNames;
  add_numbers(general, 3, 15);
  add_numbers(general, 19, kFrameRegister - 1);
  for (int r = 19; r < kFrameRegister; r++) general.kept_by_calls |= 1u << r;
  RegisterFile& vectors = target.registers[static_cast<std::size_t>(RegisterClass::kVector)];
  vectors.prefix = "v";
  add_numbers(vectors, 0, kFirstKeptVector - 1);
  add_numbers(vectors, kLastKeptVector + 1, kFirstScratchVector - 1);
  add_numbers(vectors, kFirstKeptVector, kLastKeptVector);
  target.vector_bytes = 16;
  target.vectors = vector_ops();
  const TypeSet rotations = {Type::kS32, Type::kU32, Type::kS64, Type::kU64};
  target.fused = {.select_by_other_width = true,
                  .adds_in_place = true,
                  .rotations = rotations,
                  .rotations_of_lanes = rotations};
  target.costs = {
      .float_latency = 4, .compare_latency = 2, .integer_latency = 2, .vector_units = 2};
#if defined(RONDO_HAVE_VIXL)
  target.assemble = assemble;
  target.decode = decode;
  target.fits_access = fits_access;
  target.takes_constant = takes_constant;
#endif
  // EM_AARCH64, and section 4.1 of DWARF for the Arm 64-bit Architecture (AADWARF64).
  target.debug = {.machine = 183,
                  .vectors = {64, 80},
                  .stack_pointer = kStackPointer,
                  .return_address = kLinkRegister,
                  .return_on_stack = false,
                  .run_frame = kFrameRegister};
  for (std::uint8_t r = 0; r < 32; r++) target.debug.general[r] = r;
  return target;
}

}  // namespace

const Target& neon() {
  static const Target target = make_target();
  return target;
}

const Target* best_target([[maybe_unused]] const Cpu& cpu) noexcept {
#if defined(RONDO_HAVE_VIXL)
  if (cpu.neon) return &neon();
#endif
  return nullptr;
}

}  // namespace rondo::native_code::aarch64
