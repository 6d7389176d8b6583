#include "executor/runtime/guarded_run.h"

#include <deque>

#include "base/guard_pages.h"
#include "base/memory.h"
#include "lower/run_frame.h"

namespace rondo::executor {

namespace {

/// Pieces of memory, each before an inaccessible page.
class Copies {
 public:
  std::byte* add(const std::byte* from, std::int64_t bytes) {
    std::byte* to = memory_.emplace_back(bytes).data();
    if (from) copy_bytes(to, from, bytes);
    places_.push_back(to);
    return to;
  }
  std::byte* const* places() const { return places_.data(); }

 private:
  std::deque<GuardedMemory> memory_;
  std::vector<std::byte*> places_;
};

}  // namespace

lower::Status run_guarded(const Unit& unit, lower::RunFrame& frame, Unit::Stopped stopped) {
  const lower::Program& program = *unit.program;
  Copies arguments, results, constants;
  std::size_t next = 0;
  for (const TensorType& type : unit.function.params())
    arguments.add(frame.arguments[next++], type.bytes());
  for (const Tensor& output : unit.function.outputs()) results.add(nullptr, output.type().bytes());
  for (const Literal& constant : program.constants)
    constants.add(constant.bytes(), constant.type().bytes());
  std::vector<GuardedMemory::Piece> pieces;
  for (const lower::Buffer& buffer : program.buffers) {
    if (buffer.storage == lower::Storage::kArena) pieces.push_back({buffer.offset, buffer.bytes});
  }
  const GuardedMemory arena(pieces);
  const GuardedMemory registers(unit.code ? unit.code->workspace_bytes() : 0);
  std::byte* const* const wanted = frame.results;
  frame.arguments = arguments.places();
  frame.results = results.places();
  frame.constants = constants.places();
  frame.arena = arena.data();
  const lower::Status status =
      unit.native ? unit.native->run(frame) : unit.code->run(frame, registers.data());
  if (status != lower::Status::kDone) stopped(status);
  next = 0;
  for (const Tensor& output : unit.function.outputs()) {
    copy_bytes(wanted[next], results.places()[next], output.type().bytes());
    next++;
  }
  return status;
}

}  // namespace rondo::executor
