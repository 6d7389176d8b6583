// Checks the texts of errors part by part, and prints the whole text if a part is missing.
#pragma once

#include <string>
#include <vector>

#include "support/expect.h"

namespace rondo::testing {

/// The text of the `Exception` that `call` throws; a failure and "" if it throws none.
template <class Exception = TraceError, class Call>
std::string message_of(const Call& call) {
  try {
    call();
  } catch (const Exception& error) {
    EXPECT_TRUE(has_remedy(error.what())) << "no remedy: " << error.what();
    return error.what();
  } catch (const std::exception& error) {
    ADD_FAILURE() << "another exception than meant: " << error.what();
    return "";
  }
  ADD_FAILURE() << "nothing was thrown";
  return "";
}

inline void expect_parts(const std::string& message, const std::vector<std::string>& parts) {
  for (const std::string& part : parts) {
    EXPECT_NE(message.find(part), std::string::npos) << "missing: " << part << "\nin:\n"
                                                     << message << "\n";
  }
}

}  // namespace rondo::testing

/// This line as messages write it: `file.cc:12`.
#define RONDO_HERE ::rondo::SourceLocation::current().str()

/// The statement throws a TraceError, whose text names this line and has all these parts.
#define EXPECT_REFUSED(statement, ...)                                                       \
  do {                                                                                       \
    std::vector<std::string> parts = {RONDO_HERE, __VA_ARGS__};                              \
    ::rondo::testing::expect_parts(::rondo::testing::message_of([&] { statement; }), parts); \
  } while (false)
