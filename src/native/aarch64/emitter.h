// Writes the instructions of machine code whose units have registers or stack slots.
#pragma once

#if defined(RONDO_HAVE_VIXL)

#include <aarch64/macro-assembler-aarch64.h>

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/run_frame.h"
#include "native/aarch64/registers.h"
#include "native/emitter_base.h"
#include "native/register_bits.h"
#include "native/target.h"

namespace rondo::native_code::aarch64 {

class Emitter : private vixl::aarch64::MacroAssembler,
                private EmitterBase<Emitter, vixl::aarch64::Label> {
 public:
  Emitter(const MachineCode& code, const LiveRanges& ranges, const Allocation& allocation,
          const Target& target);
  Assembled run();

 private:
  friend class EmitterBase<Emitter, vixl::aarch64::Label>;
  using Type = lower::Type;
  using Register = vixl::aarch64::Register;
  using VRegister = vixl::aarch64::VRegister;
  using MemOperand = vixl::aarch64::MemOperand;
  using Operand = vixl::aarch64::Operand;
  using Condition = vixl::aarch64::Condition;
  using Label = vixl::aarch64::Label;

  // emitter.cc: places, constants, moves
  bool in_register(Unit u) const {
    return !is_constant(u) && place_of(u).kind == Place::Kind::kRegister;
  }
  static Register general_register(int number) { return vixl::aarch64::XRegister(number); }
  /// Scratch 0 to 3.
  static Register scratch(int number) { return general_register(number < 3 ? number : 17); }
  /// The register in the width of the type's arithmetic.
  static Register sized(Type type, const Register& r) { return wide(type) ? r.X() : r.W(); }
  static VRegister vector_register(int number) {
    return VRegister(number, vixl::aarch64::kQRegSize);
  }
  /// Scratch vectors 0 to 3.
  static VRegister scratch_vector(int number) {
    return vector_register(kFirstScratchVector + number);
  }
  /// The part of the register that a value of the type fills: s or d, or lanes.
  static VRegister shaped(Type type, int lanes, const VRegister& v);
  MemOperand stack(std::uint32_t offset) const;
  MemOperand run_frame(std::size_t offset) const;

  Register general(Unit u, int scratch_number);
  Register general_result(Unit u) const;
  void finish(Unit u, const Register& value);
  /// Shaped as the unit.
  VRegister vector_of(Unit u, int scratch_number);
  VRegister vector_result(Unit u, int scratch_number) const;
  void finish(Unit u, const VRegister& value);
  void move_vector(const VRegister& to, const VRegister& from, Unit like);
  void load_constant(const VRegister& to, Unit u);
  /// The same bits, of 4 or 8 bytes, in each lane of the register, or in a scalar.
  void load_bits(const VRegister& to, std::uint64_t bits);
  /// 16 bytes.
  void load_table(const VRegister& to, std::uint64_t low, std::uint64_t high);
  /// From the constants before the function.
  void load_pooled(const VRegister& to, std::uint64_t low, std::uint64_t high, std::uint32_t bytes);

  // emit_moves.cc
  void move_one(Unit to, Unit from);
  void save_to_scratch(Unit u);
  void move_from_scratch(Unit to, Unit like);

  // emit_control.cc
  void emit_prologue();
  void emit_epilogue();
  /// The frame from here on: the canonical frame address is `behind` bytes behind `base`.
  void note_frame(int base, std::uint32_t behind, std::uint32_t saved);
  void bind(Label& label) { Bind(&label); }
  void bind_head(Label& head) { Bind(&head); }
  void jump(Label& target) { B(&target); }
  /// If the loop's index is below its upper limit, or if it is not.
  void jump_by_index(const MachineLoop& loop, bool is_below, Label& target);
  void advance_index(const MachineLoop& loop);
  void compare_index(const MachineLoop& loop);
  /// If the predicate is true, or if it is false.
  void jump_where(bool holds, Unit predicate, std::size_t position, Label& target);

  // emit_trips.cc
  void emit_trips_begin(const Instruction& i);
  void emit_trip(const Instruction& i);
  void emit_trips_end(const Instruction& i);
  void emit_lane_trips(const Instruction& i);
  void emit_poll(const Instruction& i);
  void report_begin(const Instruction& i);
  void store_bits(const Register& base, std::uint64_t offset, Unit value);
  void store_state(std::uint64_t loop);
  void store_trips(Unit counter, std::uint64_t loop);
  void leave_with(lower::Status status, std::uint64_t loop);

  // emit_calls.cc
  void save_registers(std::size_t call);
  void restore_registers(std::size_t call);
  /// Returns with `status` if the called function returned false.
  void leave_if_false(lower::Status status);
  void emit_kernel_call(const Instruction& i);
  void emit_tape_row(const Instruction& i);
  void emit_tape_set(const Instruction& i);
  void emit_math_call(const Instruction& i);
  void emit_lanes_math_call(const Instruction& i);
  void call_function(const void* function);
  /// result = function(a) or function(a, b), on the first vector registers.
  void call_on_vectors(const void* function, const Instruction& i);

  // emit_integers.cc
  void emit_integer(const Instruction& i);
  void emit_integer_binary(const Instruction& i);
  void emit_integer_unary(const Instruction& i);
  void emit_min_or_max(const Instruction& i);
  void emit_likely_bound(const Instruction& i, Unit x, std::int64_t bound);
  void emit_clamped_index(const Instruction& i);
  void emit_division(const Instruction& i);
  bool emit_division_by_constant(const Instruction& i);
  void divide_unsigned(std::uint64_t by);
  void divide_signed(std::int64_t by);
  void emit_shift(const Instruction& i);
  void shift_by_constant(const Instruction& i);
  void emit_rotation(const Instruction& i);
  void normalize(Type type, const Register& to, const Register& from);
  void emit_general_select(const Instruction& i, std::size_t position);
  void emit_compare(const Instruction& i);
  /// Sets the flags. The condition under which the comparison holds: its inverse is its negation,
  /// for NaN too.
  Condition compare(const Instruction& comparison);
  void compare_with_constant(const Register& a, std::int64_t value);
  /// The same for a predicate before a select, which is that of a comparison or a unit.
  Condition test_predicate(Unit predicate, std::size_t position);

  // emit_floats.cc
  void emit_float(const Instruction& i);
  void emit_fused(const Instruction& i);
  void emit_lanes_fused(const Instruction& i);
  void emit_float_select(const Instruction& i, std::size_t position);
  /// Rounds f32 to f16 or bf16; clobbers all scratch but `from`.
  void round_half(Type type, const VRegister& to, const VRegister& from);

  // emit_conversions.cc
  void emit_convert(const Instruction& i);
  void emit_bitcast(const Instruction& i);
  void emit_float_to_integer(const Instruction& i);
  void emit_integer_to_float(const Instruction& i);
  void convert_floats(const Instruction& i);

  // emit_lanes.cc, emit_lanes_conversions.cc, emit_lanes_memory.cc
  void emit_lane_value(const Instruction& i);
  void emit_lanes_integer(const Instruction& i);
  void emit_lanes_shift(const Instruction& i);
  void rotate_lanes(const Instruction& i);
  void emit_lanes_compare(const Instruction& i);
  void emit_lanes_select(const Instruction& i);
  void emit_lanes_pred(const Instruction& i);
  void count_bits_of_lanes(const Instruction& i);
  void normalize_lanes(Type type, const VRegister& to, const VRegister& from);
  /// All bytes of a vector of 8 or 16.
  static VRegister bytes_of(const VRegister& v);
  static VRegister part(const VRegister& v, int bytes);
  /// A mask in lanes of 4 bytes or of 8, which lose their upper half.
  void finish_mask(Unit u, const VRegister& mask);
  void convert_from_pred(const Instruction& i);
  void convert_to_pred(const Instruction& i);
  void convert_lanes_to_float(const Instruction& i);
  void convert_lanes_to_integer(const Instruction& i);
  void emit_lanes_convert(const Instruction& i);
  void emit_lanes_bitcast(const Instruction& i);
  void emit_lanes_load(const Instruction& i);
  void emit_lanes_store(const Instruction& i);
  /// The scratch register gets a value other than zero if any lane of the mask is set.
  Register any_lane(Unit mask);

  // emit_memory.cc
  /// For an access of so many bytes. Clobbers general scratch 0 to 2; a sum goes to `last`.
  MemOperand address_of(const Instruction& i, int bytes, const Register& last);
  MemOperand address_of(const Instruction& i, int bytes) {
    return address_of(i, bytes, scratch(0));
  }
  void emit_address(const Instruction& i);
  void emit_load(const Instruction& i);
  void emit_store(const Instruction& i);
  void emit_copy(const Instruction& i);
  void emit_base(const Instruction& i);

  static void begin_instruction(const Instruction&) {}
  void emit_stack_slot(const Instruction& i);
  static void emit_fence() {}  // there are no stores that others may overtake
  void emit_nothing() { Nop(); }
  std::uint32_t here() { return static_cast<std::uint32_t>(GetCursorOffset()); }

  // Constants lie before the function, each by its distance from the function's first instruction.
  absl::flat_hash_map<std::pair<std::pair<std::uint64_t, std::uint64_t>, std::uint32_t>,
                      std::uint32_t>
      pool_;
  std::uint32_t pool_bytes_ = 0;

  std::uint32_t frame_bytes_ = 0, saved_bytes_ = 0;
  std::vector<int> kept_general_, kept_vectors_;
  std::uint32_t area_offset_ = 0, pointers_offset_ = 0, call_area_ = 0;
  Label leave_;
};

}  // namespace rondo::native_code::aarch64

#endif
