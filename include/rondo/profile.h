// Where the time of a run went, by loop and kernel.
#pragma once

#include <cstdint>
#include <iosfwd>
#include <string>
#include <vector>

#include "rondo/error.h"
#include "rondo/export.h"

namespace rondo {

/// A kernel of the library, such as that of a large product or a sort, called in one place.
struct KernelProfile {
  std::string name;         // of the op
  SourceLocation location;  // of the op
  std::int64_t calls = 0;
  double seconds = 0;  // of all calls
  double share = 0;    // of the run's time, from 0 to 1
};

/// A loop in the loops around it.
struct LoopProfile {
  std::string name;          // as RunStats has it
  SourceLocation location;   // of the loop
  std::int64_t entered = 0;  // how often it began
  /// Of all executions together. Of a loop that runs for many lanes at once, the trips of the block
  /// of lanes that makes most.
  std::int64_t trips = 0;
  /// Of all executions, with what is in it. Where threads share a loop, the time that passed, by
  /// what each part of it took.
  double seconds = 0;
  double share = 0;  // of the run's time, from 0 to 1
  /// False for a loop inside a vectorized one: its time is counted there, and `seconds` is 0.
  bool timed = true;
  std::vector<LoopProfile> children;   // loops in it; those 256 deep and deeper are side by side
  std::vector<KernelProfile> kernels;  // called in its trips and in no loop within
};

/// Where the time of a run went: RunOptions::profile.
///
///     rondo::Profile profile;
///     solve.with({.profile = &profile})(x);
///     std::cout << profile;
///
/// A run fills it in however it ends, and begins it anew. Loops that the passes unroll or replace
/// by a formula are not in it, as in RunStats. Each execution of a loop costs two readings of
/// a clock, and its trips cost nothing.
class RONDO_API Profile {
 public:
  /// The outermost loops, in the order in which they began.
  const std::vector<LoopProfile>& loops() const noexcept { return loops_; }
  /// Kernels that no loop is around.
  const std::vector<KernelProfile>& kernels() const noexcept { return kernels_; }
  /// The time of the run.
  double seconds() const noexcept { return seconds_; }
  /// A table: a row for each loop and kernel, those in a loop below it.
  std::string str() const;
  /// In the Trace Event Format, which Perfetto (ui.perfetto.dev) and chrome://tracing open. It is
  /// no record of when things happened: each loop is one bar as long as all its executions took,
  /// and what ran in it is side by side below.
  std::string to_json() const;

  friend RONDO_API std::ostream& operator<<(std::ostream& out, const Profile& profile);

  /// Internal: made by a run.
  Profile(double seconds, std::vector<LoopProfile> loops, std::vector<KernelProfile> kernels);
  Profile() = default;

 private:
  double seconds_ = 0;
  std::vector<LoopProfile> loops_;
  std::vector<KernelProfile> kernels_;
};

}  // namespace rondo
