// The program that a verb works on, and the formats that programs are printed in.
#pragma once

#include <string>

#include "cli/verb.h"
#include "rondo/function.h"

namespace rondo::cli {

/// The content of a file; of the input for `-`. Throws ParseError.
std::string content_of(const std::string& file, std::istream& in);

/// A program on the command line: FILE and --entry.
struct ProgramOptions {
  std::string file, entry;
};
void add_program_options(CLI::App& app, ProgramOptions& options);
/// Throws ParseError, with the name of the file.
Function program_of(const ProgramOptions& options, const Streams& streams);
/// The file without its folder, and the entry.
std::string title_of(const ProgramOptions& options);

/// How a program is printed: --to and --optimize; for C --name, --header and --test-main.
struct FormatOptions {
  std::string format = "ir";
  bool optimize = false;
  std::string name, header;
  bool test_main = false;
};
void add_format_options(CLI::App& app, FormatOptions& options);
/// `title` names a page of HTML.
void print_program(const Function& program, const FormatOptions& options, const std::string& title,
                   std::ostream& out);

}  // namespace rondo::cli
