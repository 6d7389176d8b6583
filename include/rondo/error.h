// The exceptions that Rondo throws, and the locations in the user's source that they name.
#pragma once

#include <cstdint>
#include <stdexcept>
#include <string>

#include "rondo/export.h"

namespace rondo {

/// A location in the user's program. It replaces std::source_location, which some supported
/// compilers (clang before 16) lack; a default argument `SourceLocation at =
/// SourceLocation::current()` names the caller's line.
struct SourceLocation {
  const char* file = "";
  const char* function = "";
  std::uint32_t line = 0;

  static constexpr SourceLocation current(const char* file = __builtin_FILE(),
                                          const char* function = __builtin_FUNCTION(),
                                          std::uint32_t line = __builtin_LINE()) {
    return {file, function, line};
  }
  /// `loop.cc:12`, with only the last component of the path; `?` if unknown.
  RONDO_API std::string str() const;
};

/// The base of all exceptions that Rondo throws.
class RONDO_API Error : public std::runtime_error {
 public:
  explicit Error(const std::string& message, SourceLocation at = {})
      : std::runtime_error(message), at_(at) {}
  ~Error() override;
  /// The location of the failing call in the user's program; line 0 if unknown.
  const SourceLocation& location() const noexcept { return at_; }

 private:
  SourceLocation at_;
};

/// An error in the user's program, found while it is built: mismatching types, a tensor used
/// outside its loop.
class RONDO_API TraceError : public Error {
 public:
  using Error::Error;
  ~TraceError() override;
};

/// Text or a file that cannot be read. Line and column count from 1; 0 if the input has no lines.
class RONDO_API ParseError : public Error {
 public:
  ParseError(const std::string& message, std::int64_t line, std::int64_t column)
      : Error(message), line_(line), column_(column) {}
  ~ParseError() override;
  std::int64_t line() const noexcept { return line_; }
  std::int64_t column() const noexcept { return column_; }

 private:
  std::int64_t line_;
  std::int64_t column_;
};

/// A failure while a program runs: wrong arguments, a limit exceeded, a promise broken.
class RONDO_API ExecutionError : public Error {
 public:
  using Error::Error;
  ~ExecutionError() override;
};

/// An error in Rondo itself. Please report it.
class RONDO_API InternalError : public Error {
 public:
  using Error::Error;
  ~InternalError() override;
};

}  // namespace rondo
