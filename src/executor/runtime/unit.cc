#include "executor/runtime/unit.h"

#include <fmt/format.h>

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "executor/runtime/guarded_run.h"
#include "executor/runtime/loop_timers.h"
#include "ir/function_data.h"
#include "lower/passes/split_lanes.h"
#include "lower/print.h"
#include "lower/run_tapes.h"
#include "lower/verify.h"

namespace rondo::executor {

namespace {
constexpr std::align_val_t kAlignment{64};
}

Workspace::Workspace(std::size_t bytes)
    : bytes_(static_cast<std::byte*>(::operator new(bytes, kAlignment, std::nothrow))) {
  if (bytes_) return;
  throw ExecutionError(
      fmt::format("out of memory: the program needs {} bytes beside its arguments and results\n  "
                  "Make its arrays smaller, or release others first.",
                  bytes));
}
Workspace::~Workspace() { ::operator delete(bytes_, kAlignment); }

WorkspacePool::~WorkspacePool() {
  for (std::atomic<Workspace*>& place : idle_) delete place.load();
}

std::unique_ptr<Workspace> WorkspacePool::take(std::size_t bytes) {
  for (std::atomic<Workspace*>& place : idle_) {
    if (!place.load(std::memory_order_relaxed)) continue;
    if (Workspace* workspace = place.exchange(nullptr, std::memory_order_acquire))
      return std::unique_ptr<Workspace>(workspace);
  }
  return std::make_unique<Workspace>(bytes);
}

void WorkspacePool::give(std::unique_ptr<Workspace> workspace) {
  for (std::atomic<Workspace*>& place : idle_) {
    Workspace* empty = nullptr;
    if (place.compare_exchange_strong(empty, workspace.get(), std::memory_order_release,
                                      std::memory_order_relaxed)) {
      static_cast<void>(workspace.release());
      return;
    }
  }
}

std::size_t WorkspacePool::size() const {
  return static_cast<std::size_t>(
      std::count_if(std::begin(idle_), std::end(idle_), [](const std::atomic<Workspace*>& place) {
        return place.load(std::memory_order_relaxed) != nullptr;
      }));
}

namespace {

// Threshold: Workspaces of up to this size are on the stack, which saves the pool; larger ones
// would need too much stack. Not measured.
constexpr std::size_t kStackBytes = 4096;

std::int64_t rounded_to_lines(std::int64_t bytes) { return (bytes + 63) / 64 * 64; }

}  // namespace

lower::Status Unit::run_in(std::byte* workspace, lower::RunFrame& frame, Stopped stopped) const {
  frame.constants = only_read(constants.data());
  frame.arena = workspace;
  const lower::Status status =
      native ? native->run(frame)
             : code->run(frame, workspace + rounded_to_lines(program->arena_bytes));
  if (status != lower::Status::kDone) stopped(status);
  return status;
}

lower::Status Unit::run(lower::RunFrame& frame, Stopped stopped) const {
  if (program->tapes.empty()) return run_in_place(frame, stopped);
  const lower::RunTapes tapes(*program, frame, {tape_rows.get(), program->tapes.size()}, guarded);
  return run_in_place(frame, stopped);
}

lower::Status Unit::run_in_place(lower::RunFrame& frame, Stopped stopped) const {
  if (guarded) return run_guarded(*this, frame, stopped);
  if (workspace_bytes <= kStackBytes) {
    alignas(64) std::byte here[kStackBytes];
    return run_in(here, frame, stopped);
  }
  std::unique_ptr<Workspace> workspace = pool.take(workspace_bytes);
  const lower::Status status = run_in(workspace->bytes(), frame, stopped);
  pool.give(std::move(workspace));
  return status;
}

namespace {

/// In debug builds and with guard pages: checks what the back ends rely on.
void check(const lower::Program& program) {
#ifdef NDEBUG
  if (!guard_pages_wanted()) return;
#endif
  const std::string fault = lower::verify(program);
  if (!fault.empty())
    throw InternalError(
        fmt::format("a lower program is malformed, {}\n{}", fault, lower::to_text(program)));
}

}  // namespace

void Unit::prepare(lower::Program lowered, bool wants_native) {
  check(lowered);
  // They are kept as long as the executable.
  lowered.code.shrink_to_fit();
  lowered.types.shrink_to_fit();
  lowered.addresses.shrink_to_fit();
  std::optional<lower::Program> split = lower::with_lanes_split(lowered);
  if (split || timed) {
    undivided = std::make_shared<const lower::Program>(std::move(lowered));
    lowered = split ? *std::move(split) : *undivided;
    if (timed) add_loop_timers(lowered);
    check(lowered);
  }
  program = std::make_shared<const lower::Program>(std::move(lowered));
  if (wants_native)
    native = native_code::compile(*program, native_code::available_target(), observers);
  if (!native) code = std::make_unique<bytecode::Code>(program);
  tape_rows = std::make_unique<std::atomic<std::int64_t>[]>(program->tapes.size());
  constants.clear();
  for (const Literal& constant : program->constants) constants.push_back(constant.bytes());
  workspace_bytes = static_cast<std::size_t>(rounded_to_lines(program->arena_bytes) +
                                             (code ? code->workspace_bytes() : 0));
}

void Unit::count_held(HeldBytes& held) const {
  ir::count_held(held, function);
  if (held.shared(program)) program->count_held(held);
  if (undivided && held.shared(undivided)) undivided->count_held(held);
  if (native) native->count_held(held);
  if (code) code->count_held(held);
  held.elements(constants);
  held.text(observers.name);
  if (guarded || workspace_bytes <= kStackBytes) return;
  for (std::size_t i = 0; i < std::max<std::size_t>(pool.size(), 1); i++) {
    held.block(sizeof(Workspace));
    held.block(workspace_bytes + static_cast<std::size_t>(kAlignment));
  }
}

}  // namespace rondo::executor
