// Ctrl-C, as a request to stop.
#pragma once

#include <stop_token>
#include <thread>

namespace rondo::cli {

/// While it exists, the first SIGINT asks its token to stop; a second one ends the process. One at
/// a time.
class StopOnInterrupt {
 public:
  StopOnInterrupt();
  ~StopOnInterrupt();
  StopOnInterrupt(const StopOnInterrupt&) = delete;
  StopOnInterrupt& operator=(const StopOnInterrupt&) = delete;
  std::stop_token token() const { return source_.get_token(); }

 private:
  std::stop_source source_;
  std::thread waiting_;  // what a handler of signals may call is not enough to ask a token
};

}  // namespace rondo::cli
