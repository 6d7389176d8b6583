// Limits that end no run, alone and combined: the results are those of a run without limits.
#pragma once

#include <chrono>
#include <stop_token>
#include <string>
#include <utility>
#include <vector>

#include "rondo/execute.h"

namespace rondo::testing {

class FarLimits {
 public:
  /// The kinds of limits are the bits of `kinds`, from 1 to kAll.
  static constexpr unsigned kDeadline = 1, kIterations = 2, kProgress = 4, kStop = 8, kAll = 15;

  RunOptions options(unsigned kinds) const {
    RunOptions options;
    if (kinds & kDeadline) options.deadline = std::chrono::hours(1);
    if (kinds & kIterations) options.max_iterations = 1'000'000'000;
    if (kinds & kProgress) options.on_progress = [](const Progress&) {};
    if (kinds & kStop) options.stop_token = source_.get_token();
    return options;
  }
  static std::string name(unsigned kinds) {
    std::string name;
    for (const auto& [kind, word] : {std::pair(kDeadline, "a deadline"),
                                     {kIterations, "max_iterations"},
                                     {kProgress, "on_progress"},
                                     {kStop, "a stop token"}}) {
      if (kinds & kind) name += (name.empty() ? "" : ", ") + std::string(word);
    }
    return name;
  }

 private:
  std::stop_source source_;
};

}  // namespace rondo::testing
