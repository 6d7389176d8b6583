// Compares runs with limits, which use another form of a program, with runs without.
#pragma once

#include <vector>

#include "executor/agreement.h"
#include "support/far_limits.h"

namespace rondo::testing {

inline void expect_same_bits(const Executable& program, const std::vector<Literal>& arguments) {
  const FarLimits limits;
  const std::vector<Literal> want = program.run(arguments);
  for (unsigned kinds = 1; kinds <= FarLimits::kAll; kinds++) {
    const std::vector<Literal> got = program.run(arguments, limits.options(kinds));
    ASSERT_EQ(got.size(), want.size());
    for (std::size_t i = 0; i < want.size(); i++) {
      SCOPED_TRACE(::testing::Message() << "result " << i << " with " << FarLimits::name(kinds));
      ASSERT_NO_FATAL_FAILURE(expect_equal(got[i], want[i]));
    }
  }
}

/// With each executor.
inline void expect_same_bits(const Function& function, const std::vector<Literal>& arguments) {
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    SCOPED_TRACE(::testing::Message() << "executor " << static_cast<int>(executor));
    ASSERT_NO_FATAL_FAILURE(expect_same_bits(compile(function, {.executor = executor}), arguments));
  }
}

}  // namespace rondo::testing
