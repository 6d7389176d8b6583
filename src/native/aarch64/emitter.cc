#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

#include <bit>
#include <cstring>
#include <utility>

namespace rondo::native_code::aarch64 {

using lower::Opcode;
namespace vixl_ = vixl::aarch64;

Emitter::Emitter(const MachineCode& code, const LiveRanges& ranges, const Allocation& allocation,
                 const Target& target)
    : EmitterBase(code, ranges, allocation, target) {
  // These are scratch of this emitter.
  GetScratchRegisterList()->Remove(vixl_::x17);
  GetScratchVRegisterList()->Remove(vixl_::d31);
}

Emitter::VRegister Emitter::shaped(Type type, int lanes, const VRegister& v) {
  if (lanes == 1) return wide(type) ? v.D() : v.S();
  if (wide(type)) return v.V2D();
  return lanes == 2 ? v.V2S() : v.V4S();
}

Emitter::MemOperand Emitter::stack(std::uint32_t offset) const {
  return MemOperand(vixl_::sp, static_cast<std::int64_t>(offset));
}

Emitter::MemOperand Emitter::run_frame(std::size_t offset) const {
  return MemOperand(general_register(kFrameRegister), static_cast<std::int64_t>(offset));
}

void Emitter::load_pooled(const VRegister& to, std::uint64_t low, std::uint64_t high,
                          std::uint32_t bytes) {
  auto [entry, is_new] = pool_.try_emplace({{low, high}, bytes});
  if (is_new) {
    pool_bytes_ = (pool_bytes_ + bytes + bytes - 1) / bytes * bytes;
    entry->second = pool_bytes_;
  }
  constexpr std::int64_t kReach = std::int64_t{1} << 20;
  vixl_::SingleEmissionCheckScope scope(this);
  const std::int64_t distance = std::int64_t{here()} + entry->second;
  if (distance < kReach) {
    ldr(to, -distance / 4);
    return;
  }
  // Out of reach of the instruction: through general registers.
  scope.Close();
  Mov(vixl_::x17, low);
  Fmov(to.D(), vixl_::x17);
  if (bytes <= 8) return;
  Mov(vixl_::x17, high);
  Ins(to.V2D(), 1, vixl_::x17);
}

void Emitter::load_table(const VRegister& to, std::uint64_t low, std::uint64_t high) {
  load_pooled(to.Q(), low, high, 16);
}

void Emitter::load_bits(const VRegister& to, std::uint64_t bits) {
  const bool by8 = to.GetLaneSizeInBytes() == 8, scalar = !to.IsVector() || to.GetLanes() == 1;
  if (bits == 0) return Movi(to.V2D(), 0);
  if (by8 && vixl_::Assembler::IsImmFP64(std::bit_cast<double>(bits)))
    return Fmov(to, std::bit_cast<double>(bits));
  if (!by8 && vixl_::Assembler::IsImmFP32(std::bit_cast<float>(static_cast<std::uint32_t>(bits))))
    return Fmov(to, std::bit_cast<float>(static_cast<std::uint32_t>(bits)));
  if (scalar) return by8 ? load_pooled(to.D(), bits, 0, 8) : load_pooled(to.S(), bits, 0, 4);
  if (!by8) {
    // One byte of the four, which is an immediate; or all others.
    for (const bool inverted : {false, true}) {
      const auto value = static_cast<std::uint32_t>(inverted ? ~bits : bits);
      const int shift = std::countr_zero(value) / 8 * 8;
      if (value == 0 || (value >> shift) > 0xff) continue;
      const int byte = static_cast<int>(value >> shift);
      return inverted ? Mvni(to, byte, vixl_::LSL, shift)
                      : Movi(to, static_cast<std::uint64_t>(byte), vixl_::LSL, shift);
    }
    bits |= bits << 32;
  }
  to.GetSizeInBytes() == 8 ? load_pooled(to.D(), bits, 0, 8) : load_pooled(to.Q(), bits, bits, 16);
}

void Emitter::load_constant(const VRegister& to, Unit u) {
  const UnitInfo& unit = info(u);
  load_bits(to, unit.type == Type::kPred ? (unit.bits != 0 ? 0xffffffffu : 0u)
                                         : register_bits(unit.type, unit.bits));
}

Emitter::Register Emitter::general(Unit u, int scratch_number) {
  const Register to = scratch(scratch_number);
  if (is_constant(u)) {
    Mov(to, register_bits(info(u).type, info(u).bits));
    return to;
  }
  const Place& place = place_of(u);
  if (place.kind == Place::Kind::kRegister) return general_register(place.number);
  Ldr(to, stack(place.offset));
  return to;
}

Emitter::Register Emitter::general_result(Unit u) const {
  const Place& place = place_of(u);
  return place.kind == Place::Kind::kRegister ? general_register(place.number) : scratch(0);
}

void Emitter::finish(Unit u, const Register& value) {
  const Place& place = place_of(u);
  if (place.kind == Place::Kind::kStack) {
    Str(value.X(), stack(place.offset));
  } else if (place.kind == Place::Kind::kRegister && place.number != value.GetCode()) {
    Mov(general_register(place.number), value.X());
  }
}

Emitter::VRegister Emitter::vector_of(Unit u, int scratch_number) {
  const UnitInfo& unit = info(u);
  if (in_register(u)) return shaped(unit.type, unit.lanes, vector_register(place_of(u).number));
  const VRegister to = shaped(unit.type, unit.lanes, scratch_vector(scratch_number));
  if (unit.constant) {
    load_constant(to, u);
  } else {
    Ldr(to.GetSizeInBytes() == 16 ? to.Q() : to.D(), stack(place_of(u).offset));
  }
  return to;
}

Emitter::VRegister Emitter::vector_result(Unit u, int scratch_number) const {
  const Place& place = place_of(u);
  return shaped(info(u).type, info(u).lanes,
                place.kind == Place::Kind::kRegister ? vector_register(place.number)
                                                     : scratch_vector(scratch_number));
}

void Emitter::finish(Unit u, const VRegister& value) {
  const Place& place = place_of(u);
  const VRegister shape = shaped(info(u).type, info(u).lanes, value);
  if (place.kind == Place::Kind::kStack) {
    Str(shape.GetSizeInBytes() == 16 ? value.Q() : value.D(), stack(place.offset));
  } else if (place.kind == Place::Kind::kRegister) {
    move_vector(vector_register(place.number), value, u);
  }
}

void Emitter::move_vector(const VRegister& to, const VRegister& from, Unit like) {
  if (to.GetCode() == from.GetCode()) return;
  const UnitInfo& unit = info(like);
  const bool whole = unit.lanes > 1 && shaped(unit.type, unit.lanes, to).GetSizeInBytes() == 16;
  if (unit.lanes == 1) {
    Fmov(shaped(unit.type, 1, to), shaped(unit.type, 1, from));
  } else if (whole) {
    Mov(to.V16B(), from.V16B());
  } else {
    Mov(to.V8B(), from.V8B());
  }
}

Assembled Emitter::run() {
  emit_all();
  FinalizeCode();

  constexpr std::uint32_t kAlignment = 64;
  const std::uint32_t begin = (pool_bytes_ + kAlignment - 1) / kAlignment * kAlignment;
  Assembled out;
  out.bytes.resize(begin + GetSizeOfCodeGenerated());
  for (const auto& [value, before] : pool_) {
    const std::uint64_t words[] = {value.first.first, value.first.second};
    std::memcpy(out.bytes.data() + begin - before, words, value.second);
  }
  std::memcpy(out.bytes.data() + begin, GetBuffer()->GetStartAddress<const void*>(),
              GetSizeOfCodeGenerated());
  out.entry = begin;
  out.positions = std::move(positions_);
  out.rare_paths = std::move(rare_paths_);
  out.frame = std::move(frame_);
  for (std::uint32_t& position : out.positions) position += begin;
  for (RarePath& path : out.rare_paths) path.offset += begin;
  for (FrameLayout::Row& row : out.frame.rows) row.offset += begin;
  return out;
}

void Emitter::emit_stack_slot(const Instruction& i) {
  const Register to = general_result(i.result);
  Add(to, vixl_::sp, static_cast<std::int64_t>(area_offset_ + i.bits));
  finish(i.result, to);
}

}  // namespace rondo::native_code::aarch64

#endif
