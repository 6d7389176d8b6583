#include "rondo/error.h"

#include <gtest/gtest.h>

#include <string>
#include <type_traits>

namespace rondo {
namespace {

std::uint32_t line_of_call(SourceLocation at = SourceLocation::current()) { return at.line; }

TEST(SourceLocation, DefaultArgumentIsTheCallersLine) {
  const auto before = static_cast<std::uint32_t>(__LINE__);
  EXPECT_EQ(line_of_call(), before + 1);
}

TEST(SourceLocation, CurrentNamesFileAndFunction) {
  const SourceLocation here = SourceLocation::current();
  EXPECT_STREQ(here.file, __FILE__);
  EXPECT_STREQ(here.function, "TestBody");
  EXPECT_EQ(here.str(), "error_test.cc:" + std::to_string(here.line));
}

TEST(SourceLocation, PrintsTheLastPathComponentOnly) {
  EXPECT_EQ((SourceLocation{"a/b/loop.cc", "f", 12}.str()), "loop.cc:12");
  EXPECT_EQ((SourceLocation{"loop.cc", "f", 1}.str()), "loop.cc:1");
  EXPECT_EQ((SourceLocation{"C:\\dir\\loop.cc", "f", 3}.str()), "loop.cc:3");
}

TEST(SourceLocation, UnknownIsAQuestionMark) {
  EXPECT_EQ(SourceLocation{}.str(), "?");
  EXPECT_EQ((SourceLocation{"loop.cc", "f", 0}.str()), "?");
  EXPECT_EQ((SourceLocation{nullptr, nullptr, 4}.str()), "?");
}

template <class E>
void expect_caught_as_error(const E& thrown) {
  try {
    throw thrown;
  } catch (const Error& error) {
    EXPECT_STREQ(error.what(), thrown.what());
    EXPECT_EQ(error.location().line, thrown.location().line);
    EXPECT_NE(dynamic_cast<const E*>(&error), nullptr);
  }
}

TEST(Error, EachKindIsAnErrorAndARuntimeError) {
  const SourceLocation at{"loop.cc", "f", 7};
  expect_caught_as_error(TraceError("trace", at));
  expect_caught_as_error(ParseError("parse", 2, 5));
  expect_caught_as_error(ExecutionError("execution", at));
  expect_caught_as_error(InternalError("internal", at));
  EXPECT_THROW(throw TraceError("trace"), std::runtime_error);
  static_assert(!std::is_base_of_v<TraceError, ExecutionError>);
  static_assert(!std::is_base_of_v<TraceError, InternalError>);
}

TEST(Error, ParseErrorKnowsLineAndColumn) {
  const ParseError error("bad token", 3, 14);
  EXPECT_EQ(error.line(), 3);
  EXPECT_EQ(error.column(), 14);
  EXPECT_EQ(error.location().line, 0u);
}

}  // namespace
}  // namespace rondo
