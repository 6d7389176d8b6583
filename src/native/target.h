// Describes a processor to the code generator. Code that all processors share queries these
// properties, never a name; `src/native/x86/targets.cc` has the records.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "lower/program.h"

namespace rondo::native_code {

struct Instruction;
struct MachineAddress;
struct MachineCode;
struct UnitInfo;
struct LiveRanges;
struct Allocation;
struct Target;

enum class RegisterClass : std::uint8_t { kGeneral, kVector, kMask };

/// Registers of one class. The code generator uses others internally.
struct RegisterFile {
  /// The registers for values, numbered below 32, in order of preference.
  std::vector<std::uint8_t> numbers = {};
  std::uint32_t kept_by_calls = 0;               // a bit for each number
  std::span<const std::string_view> names = {};  // by number; without them, `prefix` and the number
  std::string_view prefix = {};

  bool survives_calls(std::uint8_t number) const { return (kept_by_calls >> number & 1) != 0; }
  std::string name(std::uint8_t number) const;
};

/// Types of the lower IR.
class TypeSet {
 public:
  constexpr TypeSet() = default;
  constexpr TypeSet(std::initializer_list<lower::Type> types) {
    for (const lower::Type type : types) add(type);
  }
  template <class Holds>
  static constexpr TypeSet where(Holds&& holds);
  constexpr void add(lower::Type type) {
    bits_ = static_cast<std::uint16_t>(bits_ | 1u << static_cast<unsigned>(type));
  }
  constexpr bool has(lower::Type type) const {
    return (bits_ >> static_cast<unsigned>(type) & 1) != 0;
  }

 private:
  std::uint16_t bits_ = 0;
};

inline constexpr std::size_t kTypes = static_cast<std::size_t>(lower::Type::kPointer) + 1;

template <class Holds>
constexpr TypeSet TypeSet::where(Holds&& holds) {
  TypeSet types;
  for (std::size_t t = 0; t < kTypes; t++) {
    if (holds(static_cast<lower::Type>(t))) types.add(static_cast<lower::Type>(t));
  }
  return types;
}

inline constexpr std::size_t kOpcodes = static_cast<std::size_t>(lower::Opcode::kEndIf) + 1;

/// Ops that have vector code; a lane loop with others is scalar code.
struct VectorOps {
  std::array<TypeSet, kOpcodes> of = {};         // by opcode: types of the result
  std::array<TypeSet, kTypes> converts_to = {};  // by the type that is converted
  std::array<TypeSet, kTypes> bitcasts_to = {};

  /// `from`: the type of the first operand, or that of the result if there is none.
  bool has(lower::Opcode code, lower::Type type, lower::Type from) const;
};

/// Fused instructions: one where two would be needed.
struct FusedForms {
  /// `a < b ? a : b` and `a > b ? a : b` of floats, which are b if a or b is NaN or both are 0.
  bool extremes = false;
  /// A selection of floats by a comparison of floats of another width, in scalar code.
  bool select_by_other_width = false;
  /// Multiply-adds of lanes add to their third operand in its register.
  bool adds_in_place = false;
  /// A comparison, or arithmetic on two operands, under a mask (`Instruction::mask`).
  bool under_mask = false;
  /// Rotations by a constant, in scalar code and in lanes. Others are two shifts.
  TypeSet rotations = {}, rotations_of_lanes = {};
};

/// In cycles. Decides how many vectors a block has, so that they overlap.
struct Costs {
  int float_latency = 1, compare_latency = 1, integer_latency = 1;
  int vector_units = 1;  // vector instructions issued in a cycle
};

/// How a caller's frame is found while the processor is in a function: from the canonical frame
/// address, which is the stack pointer before the call. Just below it is the return address, if the
/// call has put it there (DebugNumbers::return_on_stack), and below that are the registers that the
/// function has saved, in their order.
struct FrameLayout {
  /// From an offset in the code on.
  struct Row {
    std::uint32_t offset;
    std::uint8_t base;  // a general register: a place is in it, or in memory at `at` from it
    bool in_memory;
    std::uint32_t at;
    std::uint32_t behind;  // bytes from that place to the canonical frame address
    std::uint32_t saved;   // so many of the registers are saved
  };
  std::vector<std::uint8_t> registers;  // general
  std::vector<Row> rows;
};

/// Code after the last instruction's, for a case that is rare.
struct RarePath {
  std::uint32_t offset;       // where it begins
  std::uint32_t instruction;  // in whose code the case is found
};

/// The bytes of a function.
struct Assembled {
  std::vector<std::uint8_t> bytes;  // constants, then the function, at a multiple of 64
  std::size_t entry = 0;            // where the function begins
  /// Where the code of each instruction begins, and where that of the last one ends. Rare paths
  /// come after it.
  std::vector<std::uint32_t> positions;
  std::vector<RarePath> rare_paths = {};  // ascending
  FrameLayout frame = {};
};

/// The numbers by which files for debuggers and profilers know a processor and its registers.
struct DebugNumbers {
  std::uint16_t machine = 0;               // in the header of ELF files
  std::array<std::uint8_t, 32> general{};  // in DWARF, of general registers
  std::array<std::uint8_t, 2> vectors{};   // of vector registers: of number 0, and of number 16
  std::uint8_t stack_pointer = 0;
  std::uint8_t return_address = 0;
  bool return_on_stack = true;  // a call pushes the return address; else it is in a register
  std::uint8_t run_frame =
      0;  // a general register, by its number in the target: it holds the address of the RunFrame
};

/// If `bytes` is 0, the code does not begin with a known instruction.
struct Decoded {
  std::size_t bytes = 0;
  std::string text;
};

struct Target {
  std::string_view name;
  /// By RegisterClass. Without registers for masks a pred in lanes is a vector of all ones or
  /// zeros, and the last lanes of a loop are vectors of fewer lanes or single ones.
  std::array<RegisterFile, 3> registers = {};
  int vector_bytes = 0;       // of the widest vectors
  int cache_line_bytes = 64;  // for which one prefetch each is enough
  /// Whether vectors can be stored past the caches. Later stores overtake such ones without a
  /// fence.
  bool streams_stores = false;
  /// Gathers and scatters: the types that have them with one index per lane, and the stride in
  /// bytes below which lanes use them.
  TypeSet indexed_access = {};
  std::int64_t most_lane_stride = 0;
  /// Whether an access of so many bytes has the address without further instructions. Null: all
  /// that have one term at most, of a stride in `index_scales`.
  bool (*fits_access)(const MachineAddress& address, int bytes) = nullptr;
  /// Whether the code of an instruction can have this constant as operand `operand` (0 to 2, of a
  /// to c) without further instructions. Null: all can, since operands may be in memory.
  bool (*takes_constant)(const Instruction& reader, int operand,
                         const UnitInfo& constant) = nullptr;
  /// Scale factors that an address's index may have: a bit for each power of two.
  std::uint64_t index_scales = 1;
  VectorOps vectors = {};
  FusedForms fused = {};
  Costs costs = {};
  DebugNumbers debug = {};
  /// Null in a library built without an assembler for it.
  Assembled (*assemble)(const MachineCode&, const LiveRanges&, const Allocation&,
                        const Target&) = nullptr;
  /// Decodes the first instruction of `code`, which is `offset` bytes from where jump targets are
  /// counted. Reads nothing after the code.
  Decoded (*decode)(std::span<const std::uint8_t> code, std::size_t offset) = nullptr;

  const RegisterFile& file(RegisterClass c) const { return registers[static_cast<std::size_t>(c)]; }
  bool has_masks() const { return !file(RegisterClass::kMask).numbers.empty(); }
  int vector_registers() const {
    return static_cast<int>(file(RegisterClass::kVector).numbers.size());
  }
  /// Lanes of the widest vector of the type: of 4 bytes, or of 8.
  int lanes_of(lower::Type type) const;
};

/// The target of this processor, limited by RONDO_ISA (base/cpu.h). Null if there is no native
/// code: for other processors, and in a library built without an assembler.
const Target* available_target() noexcept;

}  // namespace rondo::native_code
