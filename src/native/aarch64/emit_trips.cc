// Trip counts, limits and polls.
#include "native/aarch64/emitter.h"

#if defined(RONDO_HAVE_VIXL)

#include <cstddef>

namespace rondo::native_code::aarch64 {

using lower::RunFrame;
using lower::Status;
namespace vixl_ = vixl::aarch64;

void Emitter::emit_trips_begin(const Instruction& i) {
  report_begin(i);
  const Register to = general_result(i.result);
  if (wanted(i.result)) {
    Mov(to, 0);
    finish(i.result, to);
  }
  if (!i.visible) return;
  Ldr(scratch(2), run_frame(offsetof(RunFrame, trips)));
  Str(vixl_::xzr, MemOperand(scratch(2), static_cast<std::int64_t>(i.bits * 8)));
}

/// Stores what a loop reports when it begins.
void Emitter::report_begin(const Instruction& i) {
  if (code_.loop_reports[i.bits].ends_inside) {
    Ldr(scratch(0).W(), run_frame(offsetof(RunFrame, keeps_state)));
    Str(scratch(0).W(), run_frame(offsetof(RunFrame, outer_poll)));
  }
  if (i.a == 0) return;
  Label untold;
  Ldr(scratch(2), run_frame(offsetof(RunFrame, trips_to_come)));
  Cbz(scratch(2), &untold);
  store_bits(scratch(2), i.bits * 8, i.a);
  Bind(&untold);
}

/// The bits of a scalar as in its register.
void Emitter::store_bits(const Register& base, std::uint64_t offset, Unit value) {
  const MemOperand to(base, static_cast<std::int64_t>(offset));
  if (!floating(info(value).type) || is_constant(value)) {
    Str(general(value, 1), to);
  } else {
    Str(vector_of(value, 0), to);
  }
}

/// Stores the state of the loop, if the frame requests it.
void Emitter::store_state(std::uint64_t loop) {
  const std::vector<Unit>& state = code_.loop_reports[loop].state;
  if (state.empty()) return;
  Label unasked;
  Ldr(scratch(2), run_frame(offsetof(RunFrame, state)));
  Cbz(scratch(2), &unasked);
  for (std::size_t k = 0; k < state.size(); k++) store_bits(scratch(2), k * 8, state[k]);
  Bind(&unasked);
}

void Emitter::store_trips(Unit counter, std::uint64_t loop) {
  Ldr(scratch(2), run_frame(offsetof(RunFrame, trips)));
  Str(general(counter, 0), MemOperand(scratch(2), static_cast<std::int64_t>(loop * 8)));
}

void Emitter::leave_with(Status status, std::uint64_t loop) {
  Mov(scratch(0).W(), loop);
  Str(scratch(0).W(), run_frame(offsetof(RunFrame, failed_loop)));
  Mov(scratch(0).W(), static_cast<std::uint64_t>(status));
  B(&leave_);
}

void Emitter::emit_trip(const Instruction& i) {
  const std::uint64_t loop = i.bits;
  const Unit counter = i.a;
  if (i.b != 0) {
    const Register to = general_result(counter);
    Add(to, general(i.b, 0), 1);
    finish(counter, to);
  } else {
    const Register to = general(counter, 0);
    Add(to, to, 1);
    finish(counter, to);
  }
  if (i.visible) store_trips(counter, loop);
  const Register count = general(counter, 0);
  if (const std::int64_t most = code_.loop_reports[loop].most_trips; most != INT64_MAX) {
    compare_with_constant(count, most);
    B(&leaving(Status::kBrokenPromise, counter, loop), vixl_::gt);
  }
  if (!code_.loop_reports[loop].polls) return;
  Ldr(scratch(1), run_frame(offsetof(RunFrame, max_iterations)));
  Cmp(count, scratch(1));
  B(&leaving(Status::kTooManyTrips, counter, loop), vixl_::gt);
  emit_poll(i);
}

void Emitter::emit_poll(const Instruction& i) {
  Label* raised = new_label();
  Label* resume = new_label();
  const bool inside = i.kind == Kind::kPoll;
  if (!inside && code_.loop_reports[i.bits].ends_inside) {
    Ldr(scratch(0).W(), run_frame(offsetof(RunFrame, outer_poll)));
  } else {
    Ldr(scratch(0), run_frame(offsetof(RunFrame, poll)));
    Ldr(scratch(0).W(), MemOperand(scratch(0)));
  }
  Cbnz(scratch(0).W(), raised);
  Bind(resume);
  rare_.emplace_back([this, raised, resume, inside, call = next_call_, counter = i.a,
                      loop = i.bits] {
    Bind(raised);
    if (!inside) {
      store_trips(counter, loop);
      store_state(loop);
    }
    save_registers(call);
    Mov(scratch(0), general_register(kFrameRegister));
    Mov(scratch(1).W(), inside ? lower::kNoLoop : static_cast<std::uint32_t>(loop));
    Ldr(scratch(3), run_frame(offsetof(RunFrame, at_safepoint)));
    Blr(scratch(3));
    restore_registers(call);
    // Of a bool only the lowest byte is given.
    Tst(scratch(0).W(), 0xff);
    B(resume, vixl_::ne);
    leave_with(inside && loop != lower::kNoLoop ? Status::kPolledInside : Status::kPolled, loop);
  });
}

void Emitter::emit_trips_end(const Instruction& i) {
  if (i.visible) store_trips(i.a, i.bits);
  const auto add_trips = [&](std::uint64_t offset) {
    const MemOperand total(scratch(2), static_cast<std::int64_t>(offset));
    const Register made = general(i.a, 0);
    Ldr(scratch(3), total);
    Add(scratch(3), scratch(3), made);
    if (i.b != 0) Sub(scratch(3), scratch(3), general(i.b, 0));
    Str(scratch(3), total);
  };
  if (!code_.loop_reports[i.bits].in_lanes) {
    Ldr(scratch(2), run_frame(offsetof(RunFrame, total_trips)));
    return add_trips(i.bits * 8);
  }
  Label uncounted;
  Ldr(scratch(2), run_frame(offsetof(RunFrame, lane_trips)));
  Cbz(scratch(2), &uncounted);
  add_trips(i.bits * 16);
  Bind(&uncounted);
}

/// For a loop over lanes, the trips of the block that makes most count.
void Emitter::emit_lane_trips(const Instruction& i) {
  Label uncounted;
  Ldr(scratch(2), run_frame(offsetof(RunFrame, lane_trips)));
  Cbz(scratch(2), &uncounted);
  const auto block = static_cast<std::int64_t>(i.bits * 16);
  const MemOperand now(scratch(2), block), most(scratch(2), block + 8);
  if (i.kind == Kind::kBlockTrips) {
    Ldr(scratch(0), now);
    Str(vixl_::xzr, now);
    Ldr(scratch(1), most);
    Cmp(scratch(0), scratch(1));
    B(&uncounted, vixl_::le);
    Str(scratch(0), most);
  } else {
    Ldr(scratch(0), most);
    Str(vixl_::xzr, most);
    Ldr(scratch(2), run_frame(offsetof(RunFrame, total_trips)));
    const MemOperand total(scratch(2), static_cast<std::int64_t>(i.bits * 8));
    Ldr(scratch(1), total);
    Add(scratch(1), scratch(1), scratch(0));
    Str(scratch(1), total);
  }
  Bind(&uncounted);
}

}  // namespace rondo::native_code::aarch64

#endif
