// Options of a run: limits, and what it reports.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <stop_token>
#include <string_view>
#include <type_traits>
#include <vector>

namespace rondo {

class Literal;
class Profile;
struct RunStats;

/// The position in a loop: in which trip, from 1, and of how many, if that is known before it ends.
struct LoopPosition {
  std::string_view loop;
  std::int64_t trip = 0;
  std::optional<std::int64_t> of = std::nullopt;
};

/// The position of a run: that of the outermost loop that has advanced since the last report. The
/// trip count of a loop over integers is known even if its bounds are tensors.
struct Progress : LoopPosition {
  /// The enclosing loops, outermost first, and finally the loop itself. Empty for progress().
  std::vector<LoopPosition> path = {};
};

/// A duration of <chrono> in any unit: 500ms, std::chrono::duration<double>(0.5). A duration beyond
/// the range of nanoseconds (292 years), such as std::chrono::hours::max(), means no limit.
struct TimeLimit {
  std::int64_t nanoseconds = 0;

  template <class Duration>
  requires requires(Duration limit) {
    limit.count();
    Duration::period::num;
    Duration::period::den;
  }
  constexpr TimeLimit(Duration limit) : nanoseconds(of(limit)) {}

 private:
  template <class Duration>
  static constexpr std::int64_t of(Duration limit) {
    constexpr std::int64_t kNano = 1'000'000'000;
    constexpr double kLongest = 9.2e9;
    using Unit = typename Duration::period;
    const double seconds = static_cast<double>(limit.count()) * Unit::num / Unit::den;
    if (!(seconds < kLongest)) return INT64_MAX;
    if (seconds < -kLongest) return INT64_MIN;
    if constexpr (std::is_integral_v<typename Duration::rep> && Unit::num <= kNano &&
                  kNano % Unit::den == 0) {
      return static_cast<std::int64_t>(limit.count()) * Unit::num * (kNano / Unit::den);
    } else {
      return static_cast<std::int64_t>(seconds * kNano);
    }
  }
};

/// Limits of a run and what it reports. Exceeding a limit ends the run with TooManyIterations,
/// DeadlineExceeded or Stopped, between the trips of loops or inside a long op. The callbacks are
/// called on the thread that runs.
struct RunOptions {
  std::optional<std::int64_t> max_iterations =
      std::nullopt;                                  // trips of each execution of each loop, from 0
  std::optional<TimeLimit> deadline = std::nullopt;  // from the start of the run
  std::stop_token stop_token = {};
  /// Called a few times per second while a loop runs, and by progress().
  std::function<void(const Progress&)> on_progress = nullptr;
  /// Called by tap(); without it taps report nothing.
  std::function<void(std::string_view, const Literal&)> on_tap = nullptr;
  /// The most threads that a run may use, from 1; the default is 1. Large products of matrices and
  /// large loops over elements or lanes are split over them. Results do not depend on the number.
  std::optional<int> threads = std::nullopt;
  /// Ends the run with an ExecutionError where the first NaN or infinity is created: it names the
  /// op, the enclosing loops and their trips, the operands' values and the user's line. An infinity
  /// that is a constant of the program does not count. Runs on the reference executor, slowly.
  /// RONDO_CHECK_FINITE=1 sets it for all runs.
  bool check_finite = false;
  /// Ends the run with an ExecutionError at the first index out of range, which would otherwise be
  /// clamped, or its update dropped: it names the op, the index, the axis and its size, the
  /// enclosing loops and their trips, and the user's line. In vmapped loops and branches inactive
  /// lanes do not count. A signed index of a scatter that is the lowest number of its dtype drops
  /// an update on purpose, and does not count. Runs the program as it was traced, without passes,
  /// on the reference executor, slowly. RONDO_CHECK_BOUNDS=1 sets it for all runs.
  bool check_bounds = false;
  RunStats* stats = nullptr;  // filled with the statistics of this run
  /// Filled with where the time of this run went, by loop and kernel. The first such run compiles
  /// the program once more. Not on a device, which ends the run with an ExecutionError.
  Profile* profile = nullptr;
};

}  // namespace rondo
