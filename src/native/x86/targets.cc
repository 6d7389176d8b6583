#include "native/x86/targets.h"

#include "native/machine_code.h"
#include "native/x86/assemble.h"
#include "native/x86/decode.h"
#include "native/x86/registers.h"

namespace rondo::native_code::x86 {

namespace {

using lower::Opcode;
using lower::Type;

bool converts(Type from, Type to, bool avx512) {
  if (from == to || from == Type::kPred || to == Type::kPred) return true;
  const bool from_float = floating(from), to_float = floating(to);
  const bool wide_integer = (!from_float && wide(from)) || (!to_float && wide(to));
  if (from_float && to_float) return !(half_float(to) && wide(from));
  if (!from_float && to_float) {
    // Values of more than 24 bits would be rounded twice on their way to a half.
    if (half_float(to)) return width_of(from) < 4;
    return avx512 || (!wide_integer && from != Type::kU32);
  }
  if (from_float) return avx512 || (!wide_integer && to != Type::kU32);
  return true;
}

bool bitcasts(Type from, Type to, bool avx512) {
  if (width_of(from) >= 4) return true;
  if (floating(from) && floating(to)) return from == to;
  return avx512 || (!floating(to) && !floating(from));
}

/// Types of the results of an op on vectors.
TypeSet types_of(Opcode code, bool avx512) {
  const auto with_integers = [](TypeSet integers) {
    return TypeSet::where(
        [&](Type t) { return floating(t) || t == Type::kPred || integers.has(t); });
  };
  const TypeSet narrow = TypeSet::where([](Type t) { return !floating(t) && !wide(t); });
  const TypeSet all = TypeSet::where([](Type) { return true; });
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
      return all;
    case Opcode::kRemainder:
    case Opcode::kPopcount:
    case Opcode::kCountLeadingZeros:
    case Opcode::kCall:
    case Opcode::kCopy:
      return {};
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kAnd:
    case Opcode::kOr:
    case Opcode::kXor:
    case Opcode::kShiftLeft:
    case Opcode::kShiftRightLogical:
    case Opcode::kRotateLeft:
    case Opcode::kNegate:
    case Opcode::kNot:
      return all;
    case Opcode::kMultiply:
    case Opcode::kMin:
    case Opcode::kMax:
    case Opcode::kAbs:
    case Opcode::kShiftRightArithmetic:
      return with_integers(avx512 ? all : narrow);
    default:
      return with_integers({});
  }
}

VectorOps vector_ops(bool avx512) {
  VectorOps ops;
  for (std::size_t code = 0; code < kOpcodes; code++)
    ops.of[code] = types_of(static_cast<Opcode>(code), avx512);
  for (std::size_t t = 0; t < kTypes; t++) {
    const auto from = static_cast<Type>(t);
    ops.converts_to[t] = TypeSet::where([&](Type to) { return converts(from, to, avx512); });
    ops.bitcasts_to[t] = TypeSet::where([&](Type to) { return bitcasts(from, to, avx512); });
  }
  return ops;
}

RegisterFile vectors(int count) {
  RegisterFile file{.prefix = "v"};
  for (int i = 0; i < count - kScratchVectors; i++)
    file.numbers.push_back(static_cast<std::uint8_t>(i));
  return file;
}

Target make_target(bool avx512) {
  static constexpr std::string_view kGeneral[] = {"rax", "rcx", "rdx", "rbx", "rsp", "rbp",
                                                  "rsi", "rdi", "r8",  "r9",  "r10", "r11",
                                                  "r12", "r13", "r14", "r15"};
  Target target;
  target.name = avx512 ? "avx512" : "avx2";
  target.registers[static_cast<std::size_t>(RegisterClass::kGeneral)] = {
      .numbers = {6, 7, 8, 9, 10, 11, 3, 5, 12, 13, 14},
      .kept_by_calls = 1u << 3 | 1u << 5 | 1u << 12 | 1u << 13 | 1u << 14,
      .names = kGeneral};
  target.registers[static_cast<std::size_t>(RegisterClass::kVector)] = vectors(avx512 ? 32 : 16);
  target.vector_bytes = avx512 ? 64 : 32;
  target.streams_stores = true;
  target.index_scales = 1 | 2 | 4 | 8;
  target.vectors = vector_ops(avx512);
  const TypeSet rotations = {Type::kS32, Type::kU32, Type::kS64, Type::kU64};
  target.fused = {.extremes = true,
                  .select_by_other_width = avx512,
                  .under_mask = avx512,
                  .rotations = rotations,
                  .rotations_of_lanes = avx512 ? rotations : TypeSet()};
  target.costs = {
      .float_latency = 4, .compare_latency = 3, .integer_latency = 1, .vector_units = 2};
  if (avx512) {
    target.registers[static_cast<std::size_t>(RegisterClass::kMask)] = {.numbers = {1, 2, 3, 4, 5},
                                                                        .prefix = "k"};
    target.indexed_access =
        TypeSet::where([](Type t) { return width_of(t) >= 4 && t != Type::kPointer; });
    target.most_lane_stride = 1 << 26;  // 16 of them fit 32 bits
  }
#if defined(RONDO_HAVE_XBYAK)
  target.assemble = assemble;
#endif
  target.decode = decode;
  // EM_X86_64, and the register numbers of the System V psABI for AMD64, figure 3.36.
  target.debug = {.machine = 62,
                  .general = {0, 2, 1, 3, 7, 6, 4, 5, 8, 9, 10, 11, 12, 13, 14, 15},
                  .vectors = {17, 67},
                  .stack_pointer = 7,
                  .return_address = 16,
                  .run_frame = kFrameRegister};
  return target;
}

}  // namespace

const Target& avx2() {
  static const Target target = make_target(false);
  return target;
}

const Target& avx512() {
  static const Target target = make_target(true);
  return target;
}

const Target* best_target([[maybe_unused]] const Cpu& cpu) noexcept {
#if defined(RONDO_HAVE_XBYAK)
  if (cpu.avx512) return &avx512();
  if (cpu.avx2) return &avx2();
#endif
  return nullptr;
}

}  // namespace rondo::native_code::x86
