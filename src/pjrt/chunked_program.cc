#include "pjrt/chunked_program.h"

#include <algorithm>
#include <chrono>
#include <optional>
#include <utility>

#include "control_flow/counted.h"
#include "pjrt/message.h"
#include "rondo/text.h"

namespace rondo::pjrt {

namespace {

using Clock = ir::RunLimits::Clock;

/// A chunk that takes less is followed by a longer one, a chunk that takes more by a shorter one.
constexpr auto kShortChunk = std::chrono::milliseconds(4);
constexpr auto kLongChunk = std::chrono::milliseconds(16);
constexpr std::int64_t kMostTrips = std::int64_t{1} << 40;

std::unique_ptr<const DonatingProgram> compiled(const Function& function, const Device& device) {
  ProgramOptions options;
  options.name = function.name();
  options.devices = {device};
  options.parameters = function.params();
  options.results = function.results();
  try {
    return std::make_unique<const DonatingProgram>(function, std::nullopt, options);
  } catch (const PluginError& error) {
    throw located(error, function);
  }
}

/// One execution of a loop.
class LoopRun {
 public:
  LoopRun(const ChunkedLoop& loop, const DonatingProgram& program, const RunOptions& options,
          ir::RunLimits& limits, std::vector<DeviceArray> inputs)
      : loop_(loop), program_(program), options_(options), limits_(limits) {
    device_ = program.options().devices.front();
    carry_.assign(inputs.begin(), inputs.begin() + static_cast<std::ptrdiff_t>(loop.carries));
    invariants_.assign(inputs.begin() + static_cast<std::ptrdiff_t>(loop.carries), inputs.end());
  }

  /// Before the first trip: the trip count.
  void expect_trips(std::optional<std::int64_t> trips) { of_ = trips; }

  std::vector<DeviceArray> run() && {
    try {
      while (make_chunk()) {
      }
    } catch (ir::Interrupt& interrupt) {
      add_state(interrupt);
      throw;
    }
    return std::move(carry_);
  }

 private:
  /// False if the loop has ended.
  bool make_chunk() {
    const std::optional<std::int64_t>& most = options_.max_iterations;
    if (most && trips_ >= *most) {  // another trip exceeds the limit
      const std::vector<DeviceArray> before = carry_;
      if (make_trips(1) == 0) return false;
      carry_ = before;
      limits_.check_trip(loop_.name, loop_.at, *most + 1);
    }
    limits_.check_trip(loop_.name, loop_.at, trips_ + 1);
    report();
    const std::int64_t chunk = most ? std::min(chunk_, *most - trips_) : chunk_;
    const auto began = Clock::now();
    const std::int64_t made = make_trips(chunk);
    trips_ += made;
    const auto took = Clock::now() - began;
    if (took < kShortChunk) chunk_ = std::min(chunk_ * 2, kMostTrips);
    if (took > kLongChunk) chunk_ = std::max<std::int64_t>(chunk_ / 2, 1);
    return made == chunk;
  }

  /// At most so many.
  std::int64_t make_trips(std::int64_t most) {
    std::vector<DeviceArray> arguments;
    arguments.reserve(1 + carry_.size() + invariants_.size());
    arguments.emplace_back(Literal::scalar(most), device_);
    arguments.insert(arguments.end(), std::make_move_iterator(carry_.begin()),
                     std::make_move_iterator(carry_.end()));
    arguments.insert(arguments.end(), invariants_.begin(), invariants_.end());
    std::vector<bool> unused(arguments.size());
    // The initial values may have other handles.
    for (std::size_t i = 1; i <= carry_.size() && trips_ > 0; i++)
      unused[i] = is_unused(arguments[i], 1);
    std::vector<DeviceArray> results = std::move(program_.run({&arguments, 1}, unused).front());
    std::move(results.begin() + 1, results.end(), carry_.begin());
    return results.front().to_literal().item<std::int64_t>();
  }

  void report() {
    if (!limits_.report_is_due()) return;
    Progress progress;
    progress.path.push_back({loop_.name, trips_ * loop_.source.bodies + 1, of_});
    static_cast<LoopPosition&>(progress) = progress.path.back();
    limits_.report(progress);
  }

  /// The user's carry between two trips.
  void add_state(ir::Interrupt& interrupt) const {
    interrupt.loop = loop_.name;
    interrupt.trip = trips_ * loop_.source.bodies;
    interrupt.carry.clear();
    const auto first = std::min(static_cast<std::size_t>(loop_.source.first), carry_.size());
    const std::size_t left = carry_.size() - first;
    const std::size_t count =
        loop_.source.count ? std::min(static_cast<std::size_t>(*loop_.source.count), left) : left;
    for (std::size_t i = first; i < first + count; i++)
      interrupt.carry.emplace_back(loop_.names[i], carry_[i].to_literal());
  }

  const ChunkedLoop& loop_;
  const DonatingProgram& program_;
  const RunOptions& options_;
  ir::RunLimits& limits_;
  Device device_;
  std::vector<DeviceArray> carry_, invariants_;
  std::optional<std::int64_t> of_;  // trips of the user's loop
  std::int64_t trips_ = 0;
  std::int64_t chunk_ = 1;  // trips
};

/// The remaining trips of the user's loop, if they are known.
std::optional<std::int64_t> trips_of(const ChunkedLoop& loop, const std::vector<DeviceArray>& carry,
                                     const std::vector<DeviceArray>& values) {
  std::optional<std::int64_t> trips = loop.trip_count;
  if (!trips && loop.limit) {
    trips = control_flow::trip_count(carry[loop.limit->carry].to_literal(),
                                     values[loop.limit->value].to_literal(), loop.limit->step);
  }
  if (trips) *trips *= loop.source.bodies;
  return trips;
}

}  // namespace

ChunkedProgram::ChunkedProgram(const Function& function, const DonatingProgram& whole)
    : whole_(whole), pieces_(cut_at_loops(function)) {
  if (!pieces_.has_loops) return;
  for (const Piece& piece : pieces_.pieces)
    programs_.push_back(compiled(piece.function, whole.options().devices.front()));
}

std::vector<DeviceArray> ChunkedProgram::run(std::span<const DeviceArray> arguments,
                                             const RunOptions& options) const {
  whole_.check(arguments);
  ir::RunLimits limits(options);
  try {
    return run_pieces(arguments, options, limits);
  } catch (ir::Interrupt& interrupt) {
    std::move(interrupt).rethrow();
  }
}

std::vector<DeviceArray> ChunkedProgram::run_pieces(std::span<const DeviceArray> arguments,
                                                    const RunOptions& options,
                                                    ir::RunLimits& limits) const {
  std::vector<DeviceArray> values(arguments.begin(), arguments.end());
  if (!pieces_.has_loops) {
    limits.poll();
    return std::move(whole_.run({&values, 1}, {}).front());
  }
  values.resize(pieces_.values);
  for (std::size_t p = 0; p < programs_.size(); p++) {
    const Piece& piece = pieces_.pieces[p];
    std::vector<DeviceArray> inputs, outputs;
    for (const std::size_t value : piece.inputs) inputs.push_back(values[value]);
    const auto to_come =
        piece.loop && options.on_progress ? trips_of(*piece.loop, inputs, values) : std::nullopt;
    for (const std::size_t value : piece.last) values[value] = DeviceArray();
    if (piece.loop) {
      LoopRun loop(*piece.loop, *programs_[p], options, limits, std::move(inputs));
      loop.expect_trips(to_come);
      outputs = std::move(loop).run();
    } else {
      outputs = std::move(programs_[p]->run({&inputs, 1}, {}).front());
    }
    for (std::size_t i = 0; i < outputs.size(); i++)
      values[piece.outputs[i]] = std::move(outputs[i]);
    for (const std::size_t value : piece.last) values[value] = DeviceArray();
  }
  std::vector<DeviceArray> results;
  for (const std::size_t value : pieces_.results) results.push_back(values[value]);
  return results;
}

}  // namespace rondo::pjrt
