// The limits of a run, and the errors that end it.
#pragma once

#include <chrono>
#include <exception>
#include <string>
#include <string_view>

#include "lower/program.h"
#include "lower/run_frame.h"
#include "rondo/execute.h"

namespace rondo::executor {

class Watch {
 public:
  explicit Watch(const RunOptions& options);

  /// Sets what a program looks at.
  void attach(lower::RunFrame& frame, const lower::Program& program);
  /// Throws where a kernel that goes on for long is to end.
  void poll();
  /// Throws why a program left before its end; `failure` is that of a kernel.
  [[noreturn]] void fail(lower::Status status, const lower::RunFrame& frame,
                         const lower::Program& program, std::exception_ptr failure) const;

 private:
  using Clock = std::chrono::steady_clock;
  bool must_end();
  [[noreturn]] void throw_ended(const std::string& loop, const std::string& where,
                                SourceLocation at, std::int64_t trip) const;
  static bool attend(lower::RunFrame* frame, std::uint32_t loop);

  const RunOptions& options_;
  std::atomic<std::uint32_t> poll_{0};
  Clock::time_point started_;
  Clock::time_point next_report_;
  bool limited_, past_deadline_ = false;
};

void print_value(std::string_view format, const Literal& value);

}  // namespace rondo::executor
