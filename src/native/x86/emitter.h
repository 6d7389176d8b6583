// Writes the instructions of machine code whose units have registers or stack slots.
#pragma once

#if defined(RONDO_HAVE_XBYAK)

#include <xbyak/xbyak.h>

#include <cstdint>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/functional/function_ref.h"
#include "lower/run_frame.h"
#include "native/emitter_base.h"
#include "native/register_bits.h"
#include "native/target.h"
#include "native/x86/registers.h"

namespace rondo::native_code::x86 {

class Emitter : private Xbyak::CodeGenerator, private EmitterBase<Emitter, Xbyak::Label> {
 public:
  /// Throws Xbyak::Error if `bytes` are too few.
  Emitter(const MachineCode& code, const LiveRanges& ranges, const Allocation& allocation,
          const Target& target, std::uint8_t* buffer, std::size_t bytes);
  void emit();

  /// In the buffer: the constants, then the function, whose first instruction is its entry.
  std::size_t begin() const { return (pool_at_) / 64 * 64; }
  std::size_t entry() const { return kPoolBytes(bytes_); }
  std::size_t end() const { return getSize(); }
  /// Where the code of each instruction begins in the buffer. Rare paths come after the last one.
  const std::vector<std::uint32_t>& positions() const { return positions_; }
  const std::vector<RarePath>& rare_paths() const { return rare_paths_; }
  const FrameLayout& frame() const { return frame_; }

 private:
  friend class EmitterBase<Emitter, Xbyak::Label>;
  using Type = lower::Type;  // the assembler has another Type
  using Reg64 = Xbyak::Reg64;
  using Reg32 = Xbyak::Reg32;
  using Xmm = Xbyak::Xmm;
  using Address = Xbyak::Address;
  using Operand = Xbyak::Operand;
  using Label = Xbyak::Label;
  using Opmask = Xbyak::Opmask;

  /// A register or a stack slot.
  struct Source {
    Xmm reg{0};
    Address memory = Address(0, false, Xbyak::RegExp());
    bool in_memory = false;
    const Operand& get() const { return in_memory ? static_cast<const Operand&>(memory) : reg; }
  };

  static constexpr std::size_t kPoolBytes(std::size_t bytes) { return bytes / 4 / 64 * 64; }

  // emitter.cc: places, constants, moves
  /// The register class of masks.
  bool avx512() const { return target_.has_masks(); }
  static int bytes_of(lower::Type type, int lanes) {
    return lanes == 1 ? 16 : std::max(16, lanes * (wide(type) ? 8 : 4));
  }
  static Xmm vector(int number, int bytes);
  /// Scratch vectors 0 to 2.
  Xmm scratch(int number, int bytes = 16) const {
    return vector(target_.vector_registers() + kScratchVectors - 1 - number, bytes);
  }
  Address stack(std::uint32_t offset) const { return ptr[rsp + offset]; }
  /// The bytes, repeated to fill `repeat` bytes, in the pool of constants.
  Address pooled(std::uint64_t bits, int width, int repeat, bool broadcast = false);
  /// `bits` of 4 or 8 bytes in every lane of `bytes`, as an operand of an instruction on vectors.
  Address lanes_constant(std::uint64_t bits, int width, int bytes);

  Reg64 general(Unit u, int scratch);  // scratch: 0 rax, 1 rcx, 2 rdx
  Reg64 general_result(Unit u) const;
  void finish(Unit u, const Reg64& value);
  Xmm vector_of(Unit u, int scratch_number);
  Source source(Unit u);
  void load_constant(const Xmm& to, Unit u);
  Xmm vector_result(Unit u, int scratch_number) const;
  void finish(Unit u, const Xmm& value);
  Opmask mask_of(Unit u, int scratch);  // 6 or 7
  Opmask mask_result(Unit u) const;
  void finish(Unit u, const Opmask& value);
  void move_vector(const Xmm& to, const Operand& from, int lanes);
  void load_immediate(const Reg64& to, std::uint64_t bits);

  // emit_moves.cc
  void move_one(Unit to, Unit from);
  void save_to_scratch(Unit u);
  void move_from_scratch(Unit to, Unit like);

  // emit_control.cc
  void emit_prologue();
  void emit_epilogue();
  /// The frame from here on.
  void note_frame(const Reg64& base, std::uint32_t saved,
                  std::optional<std::uint32_t> in_memory_at = std::nullopt);
  void bind(Label& label) { L(label); }
  /// At a place from which jumping back is fast.
  void bind_head(Label& head);
  void jump(Label& target) { jmp(target); }
  /// If the loop's index is below its upper limit, or if it is not.
  void jump_by_index(const MachineLoop& loop, bool is_below, Label& target);
  void advance_index(const MachineLoop& loop);
  void emit_trips_begin(const Instruction& i);
  void emit_trip(const Instruction& i);
  void emit_trips_end(const Instruction& i);
  void emit_lane_trips(const Instruction& i);
  void emit_poll(const Instruction& i);
  void compare_index(const MachineLoop& loop);
  void report_begin(const Instruction& i);
  void store_bits(const Reg64& base, std::uint64_t offset, Unit value);
  void store_state(std::uint64_t loop);
  void store_trips(Unit counter, std::uint64_t loop);
  void leave_with(lower::Status status, std::uint64_t loop);
  /// If the predicate is true, or if it is false.
  void jump_where(bool holds, Unit predicate, std::size_t position, Label& target);
  void jump_by_floats(const Instruction& comparison, bool holds, Label& target);
  void jump_by_integers(lower::Opcode op, bool is_signed, Label& target);

  // emit_calls.cc
  void save_registers(std::size_t call);
  void restore_registers(std::size_t call);
  /// Returns with `status` if the called function returned false.
  void leave_if_false(lower::Status status);
  void emit_kernel_call(const Instruction& i);
  void emit_tape_row(const Instruction& i);
  void emit_tape_set(const Instruction& i);
  void emit_math_call(const Instruction& i);
  void call_indirect(const Operand& function);
  void call_function(const void* function);
  /// result = function(a) or function(a, b), on the first vector registers.
  void call_on_vectors(const void* function, const Instruction& i);

  // emit_integers.cc
  void emit_integer(const Instruction& i);
  void emit_integer_binary(const Instruction& i);
  /// `r op= s`, for a register or an immediate; any op but a sum, difference, and, or is xor.
  template <class S>
  void combine(lower::Opcode op, const Xbyak::Reg32e& r, const S& s);
  /// kMin or kMax if the operand is nearly always the result: a jump that is not taken costs no
  /// time.
  void emit_likely_bound(const Instruction& i, Unit x, std::int32_t bound);
  void emit_clamped_index(const Instruction& i);
  void emit_integer_unary(const Instruction& i);
  void emit_division(const Instruction& i);
  void emit_shift(const Instruction& i);
  void shift_by_constant(const Instruction& i);
  void emit_rotation(const Instruction& i);
  void normalize(lower::Type type, const Reg64& r);
  void emit_general_select(const Instruction& i, std::size_t position);
  void emit_compare(const Instruction& i);
  void compare_floats(const Instruction& i);
  void compare_integers(const Instruction& i);

  // emit_quotients.cc
  /// By a multiplication. False if there is no such code for the divisor.
  bool emit_division_by_constant(const Instruction& i);
  void divide_unsigned(std::uint64_t by);
  void divide_signed(std::int64_t by);

  // emit_floats.cc
  void emit_float(const Instruction& i);
  void emit_float_binary(const Instruction& i);
  void emit_float_select(const Instruction& i, std::size_t position);
  void compare_into_mask(const Instruction& comparison);
  void emit_fused(const Instruction& i);
  void emit_min_max(const Instruction& i);
  Address sign_mask(const Instruction& i, bool others);
  void clear_sign(const Instruction& i, const Xmm& to, const Xmm& from);
  void emit_rounding(const Instruction& i);
  /// Rounds f32 lanes to f16 or bf16; clobbers scratch 2 and, for bf16, 1.
  void round_half(lower::Type type, const Xmm& x);

  // emit_conversions.cc
  void emit_convert(const Instruction& i);
  void emit_bitcast(const Instruction& i);
  void emit_float_to_integer(const Instruction& i);
  void emit_integer_to_float(const Instruction& i);

  // emit_lanes.cc
  void emit_lane_value(const Instruction& i);
  void emit_broadcast(const Instruction& i);
  void emit_lanes_integer(const Instruction& i);
  void emit_lanes_integer_unary(const Instruction& i);
  void emit_masked_integer(const Instruction& i);
  void rotate_lanes(const Instruction& i);
  void shift_lanes_right(const Instruction& i, const Xmm& to, const Xmm& a, const Operand& b);
  void emit_lanes_pred(const Instruction& i);
  void emit_lanes_compare(const Instruction& i);
  void emit_lanes_select(const Instruction& i);
  void emit_lanes_convert(const Instruction& i);
  void emit_lanes_bitcast(const Instruction& i);
  void emit_lanes_math_call(const Instruction& i);
  Address lane_numbers(int width, int bytes, std::int64_t step);
  Address lane_table(int width, int bytes, std::uint64_t key,
                     absl::FunctionRef<std::int64_t(int)> value_of);
  bool has_few_gaps(const Instruction& i) const;
  void load_with_gaps(const Instruction& i);
  void normalize_lanes(Type type, const Xmm& x);
  Xmm begin_masked(const Instruction& i);
  static Xmm unmasked(const Xmm& x) { return vector(x.getIdx(), static_cast<int>(x.getBit()) / 8); }
  void narrow_mask(const Xmm& to, const Xmm& from);
  void compare_preds(const Instruction& i);
  void convert_from_pred(const Instruction& i);
  void convert_to_pred(const Instruction& i);
  void convert_lanes_to_float(const Instruction& i);
  void convert_lanes_to_integer(const Instruction& i);
  void convert_lanes_to_wide_integer(const Instruction& i);
  void convert_wide_lanes_to_integer(const Instruction& i);
  void gather_or_scatter(const Instruction& i);
  static Xbyak::Ymm as_ymm(const Xmm& x) {
    return Xbyak::Ymm(x.getIdx(), static_cast<Operand::Kind>(x.getKind()),
                      static_cast<int>(x.getBit()));
  }
  void emit_lanes_load(const Instruction& i);
  void emit_lanes_store(const Instruction& i);
  void prefetch(const Address& from);
  void store_past_caches(const Address& to, const Xmm& x, int bytes);
  void load_bytes(const Xmm& to, const Address& from, int bytes);
  void store_bytes(const Address& to, const Xmm& x, int bytes);
  void store_first(const Address& to, Xmm x, int bytes);

  // emit_memory.cc
  Address address_of(const Instruction& i);
  /// With one index on the stack, if it is the only variable term.
  std::optional<Address> address_by_stack_index(const MachineAddress& address, std::int64_t offset);
  /// Adds to the sum in rax, or is its first term.
  void add_to_rax(const Reg64& r, bool& in_rax);
  void add_to_rax(const MachineAddress::Term& term, bool& in_rax);
  void emit_load(const Instruction& i);
  void emit_store(const Instruction& i);
  void emit_copy(const Instruction& i);
  void copy_in_loop(const Instruction& i);
  void emit_base(const Instruction& i);

  void begin_instruction(const Instruction& i);
  void emit_stack_slot(const Instruction& i);
  void emit_address(const Instruction& i);
  void emit_fence() { sfence(); }
  void emit_nothing() { nop(); }
  std::uint32_t here() const { return static_cast<std::uint32_t>(getSize()); }

  std::size_t bytes_;
  std::uint8_t* buffer_;
  std::size_t pool_at_;
  absl::flat_hash_map<std::pair<std::uint64_t, int>, std::size_t> pool_;

  // The predicate of the scalar selects so far, which is in mask register 6 or scratch vector 2.
  Unit selecting_ = 0;
  std::size_t frame_bytes_ = 0;
  std::uint32_t area_offset_ = 0, pointers_offset_ = 0, call_area_ = 0;
  bool uses_wide_registers_ = false;
  Label leave_;
};

}  // namespace rondo::native_code::x86

#endif
