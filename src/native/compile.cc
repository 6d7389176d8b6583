#include "native/compile.h"

#include <span>

#include "native/combine_min_max.h"
#include "native/compilation.h"
#include "native/debug/code_description.h"
#include "native/debug/elf_image.h"
#include "native/debug/jit_dump.h"
#include "native/expand.h"
#include "native/fold_masks.h"
#include "native/fold_scalars.h"
#include "native/hoist_addresses.h"
#include "native/hoist_constants.h"
#include "native/multiply_quotients.h"
#include "native/share_addresses.h"

namespace rondo::native_code {

namespace {

const std::atomic<std::uint32_t> kNeverPolled{0};

/// Threshold: Programs whose frame is larger run as bytecode: a thread's stack is small. Not
/// measured.
constexpr std::size_t kMostFrameBytes = 512 << 10;

}  // namespace

void NativeCode::count_held(HeldBytes& held) const {
  constexpr std::size_t kCodeAlignment = 64;
  held.block(sizeof(*this));
  held.block(sizeof(CodeBlock));
  held.add(
      static_cast<std::int64_t>((size() + kCodeAlignment - 1) / kCodeAlignment * kCodeAlignment));
  held.elements(kernels_);
  if (gdb_) {
    held.block(sizeof(GdbRegistration));
    held.add(static_cast<std::int64_t>(gdb_->bytes()));
  }
}

lower::Status NativeCode::run(lower::RunFrame& frame) const {
  if (frame.poll == nullptr) frame.poll = &kNeverPolled;
  // The code adds to them without checking.
  std::vector<std::int64_t> uncounted;
  if (frame.trips == nullptr || frame.total_trips == nullptr) {
    uncounted.resize(2 * loops_);
    frame.trips = uncounted.data();
    frame.total_trips = uncounted.data() + loops_;
  }
  using Entry = std::int32_t (*)(lower::RunFrame*);
  const auto entry =
      reinterpret_cast<Entry>(reinterpret_cast<std::uintptr_t>(block_->data()) + entry_);
  return static_cast<lower::Status>(entry(&frame));
}

std::optional<Compilation> compilation(const lower::Program& program, const Target* target,
                                       bool marks_lines) {
  if (target == nullptr || target->assemble == nullptr) return std::nullopt;
  const std::optional<lower::Program> multiplied = multiply_quotients(program, *target);
  Compilation out{.code = expand(multiplied ? *multiplied : program, *target)};
  out.code.tape_sets = program.tape_sets;
  out.code.marks_lines = marks_lines;
  hoist_addresses(out.code, *target);
  combine_min_max(out.code, *target);
  if (target->fused.under_mask) fold_masks(out.code);
  fold_scalars(out.code, *target);
  share_addresses(out.code, *target);
  hoist_constants(out.code, *target);
  out.ranges = live_ranges(out.code, *target);
  out.allocation = allocate(out.ranges, *target);
  if (out.allocation.stack_bytes + out.code.area_bytes > kMostFrameBytes) return std::nullopt;
  out.assembled = target->assemble(out.code, out.ranges, out.allocation, *target);
  return out;
}

std::unique_ptr<const NativeCode> compile(const lower::Program& program, const Target* target,
                                          const Observers& observers) {
  const std::optional<Compilation> made = compilation(program, target, observers.debugger);
  if (!made) return nullptr;
  std::unique_ptr<NativeCode> out(new NativeCode);
  out->block_ = place_code(std::as_bytes(std::span(made->assembled.bytes)), observers.debugger);
  if (!out->block_) return nullptr;
  out->entry_ = made->assembled.entry;
  out->target_ = target;
  out->loops_ = program.loops.size();
  for (const lower::Call& call : program.calls) out->kernels_.push_back(call.kernel);
  if (observers.any()) {
    const CodeDescription description = describe(
        program, *made, {out->block_->data(), out->block_->size()}, *target, observers.name);
    if (observers.debugger) out->gdb_ = std::make_unique<GdbRegistration>(elf_image(description));
    if (observers.profiler) add_to_jit_dump(description);
  }
  return out;
}

}  // namespace rondo::native_code
