// Programs that are one lane loop, run on several threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>

#include "executor/compiled.h"
#include "lower/divide.h"

namespace rondo::executor {

/// The lanes of a program in pieces, the size of which does not depend on the number of threads;
/// nor do results, since lanes are independent.
class Pieces {
 public:
  /// Null where the program cannot be divided (lower/divide.h), or would not gain.
  static std::unique_ptr<const Pieces> of(const Unit& whole);

  /// Runs all lanes; adds to `total_trips`. False where a piece ended before its end: then the
  /// whole program is to be run for the reason.
  bool run(int threads, std::byte* const* arguments, std::byte* const* results,
           std::int64_t* total_trips) const;

 private:
  Unit unit_;
  std::uint32_t piece_argument_ = 0;
  std::int64_t lanes_ = 0, lanes_of_piece_ = 0;
};

}  // namespace rondo::executor
