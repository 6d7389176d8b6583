#include "cli/program.h"

#include <CLI/CLI.hpp>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <istream>
#include <iterator>
#include <ostream>

#include "fmt/format.h"
#include "rondo/c_source.h"
#include "rondo/error.h"
#include "rondo/text.h"

namespace rondo::cli {

std::string content_of(const std::string& file, std::istream& in) {
  if (file == "-") return std::string(std::istreambuf_iterator<char>(in), {});
  std::ifstream stream(file, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(stream)), {});
  if (!stream.is_open() || stream.bad()) throw ParseError(std::strerror(errno), 0, 0);
  return content;
}

void add_program_options(CLI::App& app, ProgramOptions& options) {
  app.add_option("FILE", options.file,
                 "HLO or StableHLO text or an artifact, told apart by its content; - is stdin")
      ->required();
  app.add_option("--entry", options.entry,
                 "the function that is run, instead of @main or the entry computation")
      ->type_name("NAME");
}

Function program_of(const ProgramOptions& options, const Streams& streams) {
  if (options.file != "-") return load_program(options.file, {.entry = options.entry});
  try {
    return parse_program(content_of("-", streams.in), {.entry = options.entry});
  } catch (const ParseError& error) {
    throw ParseError(fmt::format("stdin: {}", error.what()), error.line(), error.column());
  }
}

std::string title_of(const ProgramOptions& options) {
  const std::string file =
      options.file == "-" ? "stdin" : std::filesystem::path(options.file).filename().string();
  return options.entry.empty() ? file : fmt::format("{}: {}", file, options.entry);
}

void add_format_options(CLI::App& app, FormatOptions& options) {
  app.add_option("--to", options.format, "the format")
      ->check(CLI::IsMember({"hlo", "stablehlo", "ir", "dot", "html", "c"}))
      ->capture_default_str();
  app.add_flag("--optimize", options.optimize, "run the passes first (hlo and stablehlo)");
  app.add_option("--name", options.name, "the name of the function (c)")->type_name("NAME");
  app.add_option("--header", options.header,
                 "where the header is written; without it the source has all of it (c)")
      ->type_name("FILE");
  app.add_flag("--test-main", options.test_main,
               "end with a main that compares results, unless NAME_NO_TEST_MAIN is defined (c)");
}

namespace {

/// The header goes to a file, or into the source in place of its #include.
void print_c(const Function& program, const FormatOptions& options, std::ostream& out) {
  COptions how{.name = options.name, .test_main = options.test_main};
  if (!options.header.empty())
    how.header = std::filesystem::path(options.header).filename().string();
  CSource made = to_c_source(program, how);
  if (options.header.empty()) {
    const std::size_t begin = made.source.find("#include");
    made.source.replace(begin, made.source.find('\n', begin) - begin, made.header);
  } else if (!(std::ofstream(options.header) << made.header)) {
    throw Error(
        fmt::format("{}: the header cannot be written\n  Does the folder exist, and may "
                    "you write to it?",
                    options.header));
  }
  out << made.source;
}

}  // namespace

void print_program(const Function& program, const FormatOptions& options, const std::string& title,
                   std::ostream& out) {
  if (options.format == "hlo")
    out << to_hlo_text(program, {.optimize = options.optimize});
  else if (options.format == "stablehlo")
    out << to_stablehlo_text(program, {.optimize = options.optimize});
  else if (options.format == "dot")
    out << to_dot(program);
  else if (options.format == "html")
    out << to_html(program, {.title = title});
  else if (options.format == "c")
    print_c(program, options, out);
  else
    out << to_text(program, {.full = true});
}

}  // namespace rondo::cli
