#include "cli/command.h"

#include <CLI/CLI.hpp>
#include <istream>
#include <ostream>
#include <string_view>

#include "cli/manual.h"
#include "cli/verb.h"
#include "fmt/format.h"
#include "rondo/error.h"
#include "rondo/version.h"

namespace rondo::cli {

namespace {

/// `describe man|bash|zsh`, for the build: hidden from help and from what it describes.
constexpr const char* kDescribe = "describe";

std::string description(const CLI::App& app, const std::string& what) {
  return what == "man"    ? man_page(app)
         : what == "bash" ? bash_completion(app)
                          : zsh_completion(app);
}

void print_error(std::string_view message, std::ostream& err, bool colors) {
  if (!colors) {
    err << "rondo: " << message << '\n';
    return;
  }
  err << "\x1b[1;31mrondo:\x1b[0m ";
  for (std::size_t begin = 0; begin <= message.size();) {
    const std::size_t end = std::min(message.find('\n', begin), message.size());
    const std::string_view line = message.substr(begin, end - begin);
    const bool points = line.find_first_not_of(' ') != line.npos && line.ends_with('^') &&
                        line.find_first_not_of(' ') == line.size() - 1;
    if (points)
      err << "\x1b[1;32m" << line << "\x1b[0m\n";
    else
      err << line << '\n';
    begin = end + 1;
  }
}

/// The first example of each verb.
std::string first_examples(const std::vector<std::unique_ptr<Verb>>& verbs) {
  std::string examples = "Examples:\n";
  for (const std::unique_ptr<Verb>& verb : verbs) {
    const std::string_view all = verb->examples();
    const std::string_view line = all.substr(0, all.find('\n'));
    const std::size_t end = line.find("  ", 2), what = line.find_first_not_of(' ', end);
    examples += fmt::format("{:<40} {}\n", line.substr(0, end), line.substr(what));
  }
  return examples;
}

/// The last first, as CLI11 takes them. Negative numbers are no options, and `{}` is an array
/// without elements, not an option's empty list: a space before them says so.
std::vector<std::string> for_cli11(const std::vector<std::string>& arguments) {
  std::vector<std::string> reversed(arguments.rbegin(), arguments.rend());
  for (std::string& argument : reversed) {
    const std::string_view after = std::string_view(argument).substr(argument.starts_with('-'));
    const bool negative =
        after.size() < argument.size() &&
        (after.find_first_of("0123456789.") == 0 || after == "inf" || after == "nan");
    if (negative || argument == "{}") argument.insert(0, " ");
  }
  return reversed;
}

}  // namespace

std::vector<std::unique_ptr<Verb>> make_verbs() {
  std::vector<std::unique_ptr<Verb>> verbs;
  for (auto* const make :
       {make_print, make_run, make_check, make_grad, make_bench, make_explain, make_hosts})
    verbs.push_back(make());
  return verbs;
}

int run_command(const std::vector<std::string>& arguments, std::istream& in, std::ostream& out,
                std::ostream& err, Terminal terminal) {
  CLI::App app("Prints, runs, checks and differentiates programs of HLO and StableHLO", "rondo");
  app.set_version_flag("--version", "rondo " RONDO_VERSION_STRING);
  app.require_subcommand(1);
  const std::vector<std::unique_ptr<Verb>> verbs = make_verbs();
  std::vector<const CLI::App*> parsers;
  for (const std::unique_ptr<Verb>& verb : verbs) {
    CLI::App* const parser = app.add_subcommand(verb->name(), verb->summary());
    verb->add_options(*parser);
    parser->footer(std::string("Examples:\n") + verb->examples());
    parsers.push_back(parser);
  }
  app.footer(first_examples(verbs) + "rondo VERB --help says more.");
  std::string described;
  CLI::App* const describing = app.add_subcommand(kDescribe)->group("");
  describing->add_option("WHAT", described)
      ->required()
      ->check(CLI::IsMember({"man", "bash", "zsh"}));
  try {
    app.parse(for_cli11(arguments));
  } catch (const CLI::ParseError& error) {
    return app.exit(error, out, err) == 0 ? kFine : kBadInput;
  }
  try {
    if (describing->parsed()) {
      out << description(app, described);
      return kFine;
    }
    const Streams streams{in, out, err, terminal.is_one};
    for (std::size_t i = 0; i < verbs.size(); i++) {
      if (parsers[i]->parsed()) return verbs[i]->run(streams);
    }
    return kBadInput;  // one is required
  } catch (const ParseError& error) {
    print_error(error.what(), err, terminal.has_colors);
    return kBadInput;
  } catch (const std::exception& error) {
    print_error(error.what(), err, terminal.has_colors);
    return kFailed;
  }
}

}  // namespace rondo::cli
