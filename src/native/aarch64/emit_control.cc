// Prologue, epilogue, loops and branches.
#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

#include <algorithm>
#include <cstddef>
#include <iterator>

namespace rondo::native_code::aarch64 {

using lower::Opcode;
namespace vixl_ = vixl::aarch64;

namespace {

constexpr std::uint32_t kWord = 8;

std::uint32_t rounded(std::size_t bytes, std::size_t unit) {
  return static_cast<std::uint32_t>((bytes + unit - 1) / unit * unit);
}

}  // namespace

void Emitter::note_frame(int base, std::uint32_t behind, std::uint32_t saved) {
  frame_.rows.push_back({here(), static_cast<std::uint8_t>(base), false, 0, behind, saved});
}

// From the canonical frame address down: the link register and the frame pointer, the registers
// that a caller keeps values in, two at a time, and what allocation and calls need, at the stack
// pointer.
void Emitter::emit_prologue() {
  for (int r = 0; r < kFrameRegister; r++) {
    if (allocation_.used_callee_saved >> r & 1) kept_general_.push_back(r);
  }
  kept_general_.push_back(kFrameRegister);
  for (std::size_t b = 1; b < ranges_.bundles.size(); b++) {
    const Place& place = allocation_.places[b];
    if (ranges_.bundles[b].register_class == RegisterClass::kVector &&
        place.kind == Place::Kind::kRegister && place.number >= kFirstKeptVector &&
        place.number <= kLastKeptVector)
      kept_vectors_.push_back(place.number);
  }
  std::sort(kept_vectors_.begin(), kept_vectors_.end());
  kept_vectors_.erase(std::unique(kept_vectors_.begin(), kept_vectors_.end()), kept_vectors_.end());

  note_frame(kStackPointer, 0, 0);
  const MemOperand push(vixl_::sp, -2 * std::int64_t{kWord}, vixl_::PreIndex);
  Stp(general_register(kFramePointer), general_register(kLinkRegister), push);
  frame_.registers = {kLinkRegister, kFramePointer};
  note_frame(kStackPointer, 2 * kWord, 2);
  Mov(general_register(kFramePointer), vixl_::sp);
  note_frame(kFramePointer, 2 * kWord, 2);
  for (std::size_t k = 0; k < kept_general_.size(); k += 2) {
    const bool two = k + 1 < kept_general_.size();
    Stp(two ? general_register(kept_general_[k + 1]) : Register(vixl_::xzr),
        general_register(kept_general_[k]), push);
    for (std::size_t j = k; j < std::min(k + 2, kept_general_.size()); j++)
      frame_.registers.push_back(static_cast<std::uint8_t>(kept_general_[j]));
    note_frame(kFramePointer, 2 * kWord, static_cast<std::uint32_t>(frame_.registers.size()));
  }
  for (std::size_t k = 0; k < kept_vectors_.size(); k += 2) {
    const int second = kept_vectors_[std::min(k + 1, kept_vectors_.size() - 1)];
    Stp(vector_register(second).D(), vector_register(kept_vectors_[k]).D(), push);
  }
  saved_bytes_ = kWord * (rounded(kept_general_.size(), 2) + rounded(kept_vectors_.size(), 2));
  Mov(general_register(kFrameRegister), vixl_::x0);

  area_offset_ = allocation_.stack_bytes;
  std::size_t pointers = 0;
  for (const MachineCall& call : code_.calls) pointers = std::max(pointers, call.pointers.size());
  pointers_offset_ = area_offset_ + rounded(code_.area_bytes, 64);
  call_area_ = pointers_offset_ + rounded(kWord * pointers, 64);
  const bool calls_in_lanes = std::any_of(code_.code.begin(), code_.code.end(), [](const auto& i) {
    return i.kind == Kind::kMathCall && i.lanes > 1;
  });
  constexpr std::uint32_t kCallBytes = 192;
  frame_bytes_ = call_area_ + (calls_in_lanes ? kCallBytes : 0);
  // Each page is touched in turn, so that a stack overflow faults at its guard page.
  constexpr std::uint32_t kPage = 4096;
  if (frame_bytes_ >= kPage) {
    Label next;
    Mov(scratch(1), frame_bytes_ / kPage);
    Bind(&next);
    Sub(vixl_::sp, vixl_::sp, kPage);
    Str(vixl_::xzr, MemOperand(vixl_::sp));
    Subs(scratch(1), scratch(1), 1);
    B(&next, vixl_::ne);
  }
  if (frame_bytes_ % kPage != 0) Sub(vixl_::sp, vixl_::sp, frame_bytes_ % kPage);
}

void Emitter::emit_epilogue() {
  Mov(vixl_::w0, 0);
  Bind(&leave_);
  const FrameLayout::Row inside = frame_.rows.back();
  if (frame_bytes_ != 0) Sub(vixl_::sp, general_register(kFramePointer), saved_bytes_);
  const MemOperand pop(vixl_::sp, 2 * std::int64_t{kWord}, vixl_::PostIndex);
  for (std::size_t k = rounded(kept_vectors_.size(), 2); k > 0; k -= 2) {
    // A single one was pushed twice.
    const bool two = k <= kept_vectors_.size();
    const VRegister first = vector_register(kept_vectors_[k - 2]).D();
    two ? Ldp(vector_register(kept_vectors_[k - 1]).D(), first, pop)
        : Ldr(first, MemOperand(vixl_::sp, 2 * std::int64_t{kWord}, vixl_::PostIndex));
  }
  for (std::size_t k = rounded(kept_general_.size(), 2); k > 0; k -= 2) {
    const bool two = k <= kept_general_.size();
    Ldp(two ? general_register(kept_general_[k - 1]) : Register(vixl_::xzr),
        general_register(kept_general_[k - 2]), pop);
    note_frame(kFramePointer, 2 * kWord, static_cast<std::uint32_t>(k));
  }
  Ldp(general_register(kFramePointer), general_register(kLinkRegister), pop);
  note_frame(kStackPointer, 0, 0);
  Ret();
  frame_.rows.push_back(inside);  // of rare paths
  frame_.rows.back().offset = here();
}

void Emitter::jump_where(bool holds, Unit predicate, std::size_t position, Label& target) {
  if (is_constant(predicate)) {
    if ((info(predicate).bits != 0) == holds) B(&target);
    return;
  }
  if (info(predicate).lanes > 1 || position == 0 || !is_fused(position - 1)) {
    const Register r = info(predicate).lanes > 1 ? any_lane(predicate) : general(predicate, 0).W();
    return holds ? Cbnz(r, &target) : Cbz(r, &target);
  }
  const Condition condition = compare(code_.code[position - 1]);
  B(&target, holds ? condition : vixl_::InvertCondition(condition));
}

void Emitter::compare_index(const MachineLoop& loop) {
  const Register index = general(loop.index, 0);
  if (is_constant(loop.upper)) {
    compare_with_constant(index, static_cast<std::int64_t>(info(loop.upper).bits));
  } else {
    Cmp(index, general(loop.upper, 1));
  }
}

void Emitter::jump_by_index(const MachineLoop& loop, bool is_below, Label& target) {
  compare_index(loop);
  B(&target, is_below ? vixl_::lt : vixl_::ge);
}

void Emitter::advance_index(const MachineLoop& loop) {
  const Register index = general(loop.index, 0);
  Add(index, index, loop.step);
  finish(loop.index, index);
}

}  // namespace rondo::native_code::aarch64

#endif
