// How far a run has come, in the last line of a terminal.
#pragma once

#include <chrono>
#include <iosfwd>
#include <string>

#include "rondo/run_options.h"

namespace rondo::cli {

/// The part of a run that is done, from 0 to 1, as far as the loops tell: the trips of the outer
/// one, and within a trip those of the inner ones. Negative if the outermost trip count is unknown.
double fraction_done(const Progress& progress);
/// `[=====>    ] 45%  step 9/20, solve 31  3 s left`
std::string progress_line(const Progress& progress, double seconds);

/// Shows that line, from the first second on, and removes it in the end.
class ProgressBar {
 public:
  explicit ProgressBar(std::ostream& terminal) : terminal_(terminal) {}
  ~ProgressBar();
  ProgressBar(const ProgressBar&) = delete;
  ProgressBar& operator=(const ProgressBar&) = delete;
  void show(const Progress& progress);

 private:
  using Clock = std::chrono::steady_clock;
  std::ostream& terminal_;
  const Clock::time_point started_ = Clock::now();
  bool shown_ = false;
};

}  // namespace rondo::cli
