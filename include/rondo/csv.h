// Numbers in text files of comma-separated values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "rondo/dtype.h"
#include "rondo/export.h"
#include "rondo/literal.h"

namespace rondo {

/// How the numbers of a file are written.
struct CsvOptions {
  /// The dtype of the array: any but the complex ones. A number that it cannot hold is an error; a
  /// float is rounded to nearest even. A pred is 0, 1, false or true.
  DType dtype = DType::kF64;
  /// Between the numbers of a line. A space: any number of spaces and tabs.
  char delimiter = ',';
  /// Lines to ignore at the beginning of the file, such as names of columns. save_csv writes
  /// `header` instead.
  std::int64_t skip_lines = 0;
  /// A line that begins with this is ignored; '\0' for none.
  char comment = '#';
  /// The value of a field that is empty; without one, that is an error.
  std::optional<double> missing = {};
  /// What save_csv writes as the first line, if it is not empty.
  std::string header = {};
};

/// The numbers of a text file as an array of rank 2, with a row per line. Blank lines are ignored;
/// spaces around a number, double quotes around it, "\r\n" and a byte-order mark are allowed. An
/// empty file gives an array of 0 rows and 0 columns. Throws ParseError with line and column (from
/// 1, in bytes) for what is no number, for a number that the dtype cannot hold, and for a line with
/// another number of fields than the first one; ParseError for a file that cannot be read;
/// TraceError for a complex dtype or a delimiter that numbers contain.
RONDO_API Literal load_csv(const std::string& path, const CsvOptions& options = {});

/// Writes an array of rank 0 to 2, a line per row (a vector: a number per line), with as many
/// digits as load_csv needs to read the same numbers. Throws TraceError for another rank, for
/// complex numbers, a header of several lines, or a delimiter that numbers contain; ExecutionError
/// if the file cannot be written.
RONDO_API void save_csv(const std::string& path, const Literal& literal,
                        const CsvOptions& options = {});

}  // namespace rondo
