#include "cli/manual.h"

#include <CLI/CLI.hpp>
#include <string_view>
#include <vector>

#include "fmt/format.h"
#include "fmt/ranges.h"
#include "rondo/version.h"

namespace rondo::cli {

namespace {

std::vector<const CLI::App*> verbs_of(const CLI::App& app) {
  return app.get_subcommands(
      [](const CLI::App* verb) { return !verb->get_group().empty(); });  // the others are hidden
}
std::vector<const CLI::Option*> options_of(const CLI::App& verb, bool positional) {
  return verb.get_options(
      [=](const CLI::Option* option) { return option->get_positional() == positional; });
}
bool takes_value(const CLI::Option& option) { return option.get_items_expected_max() > 0; }

/// `--to={hlo,ir}` is one of `hlo ir`; empty for any other value.
std::string choices_of(const CLI::Option& option) {
  const std::string type = option.get_type_name();
  const std::size_t open = type.find('{'), close = type.rfind('}');
  if (open == type.npos || close == type.npos) return {};
  std::string choices = type.substr(open + 1, close - open - 1);
  for (char& c : choices) c = c == ',' ? ' ' : c;
  return choices;
}
/// `N`, without the checks that CLI11 adds to the name of a type.
std::string value_name(const CLI::Option& option) {
  const std::string choices = choices_of(option);
  if (choices.empty()) return option.get_type_name().substr(0, option.get_type_name().find(':'));
  std::string name = choices;
  for (char& c : name) c = c == ' ' ? '|' : c;
  return name;
}

std::string replaced(std::string_view text, char from, std::string_view to) {
  std::string out;
  for (const char c : text) {
    if (c == from)
      out += to;
    else
      out += c;
  }
  return out;
}
/// Text that roff prints as it is, within a line.
std::string roff(std::string_view text) {
  return replaced(replaced(text, '\\', "\\e"), '-', "\\-");
}

void append_man_options(std::string& page, const std::vector<const CLI::Option*>& options) {
  for (const CLI::Option* option : options) {
    std::string name =
        option->get_positional() ? option->get_name(true) : "--" + option->get_lnames()[0];
    if (!option->get_positional() && takes_value(*option)) name += '=' + value_name(*option);
    page += fmt::format(".TP\n.B {}\n{}\n", roff(name), roff(option->get_description()));
  }
}

}  // namespace

std::string man_page(const CLI::App& app) {
  std::string page = ".TH RONDO 1 \"\" \"rondo " RONDO_VERSION_STRING "\"\n.SH NAME\n";
  page += fmt::format("rondo \\- {}\n.SH SYNOPSIS\n", roff(app.get_description()));
  for (const CLI::App* verb : verbs_of(app)) {
    page += fmt::format(".B rondo {}\n[OPTION]...", verb->get_name());
    for (const CLI::Option* option : options_of(*verb, true)) {
      const char* const more = option->get_items_expected_max() > 1 ? "..." : "";
      page += option->get_required() ? fmt::format(" {}{}", option->get_name(true), more)
                                     : fmt::format(" [{}]{}", option->get_name(true), more);
    }
    page += "\n.br\n";
  }
  page += ".SH DESCRIPTION\n";
  for (const CLI::App* verb : verbs_of(app)) {
    page += fmt::format(".SS rondo {}\n{}.\n", verb->get_name(), roff(verb->get_description()));
    append_man_options(page, options_of(*verb, true));
    append_man_options(page, options_of(*verb, false));
    page += fmt::format(".PP\n.nf\n{}\n.fi\n", roff(verb->get_footer()));
  }
  page +=
      ".SH EXIT STATUS\n.TP\n.B 0\nfine\n.TP\n.B 1\nthe program failed, or a check did\n.TP\n.B 2\n"
      "bad usage or bad input; the message on stderr names the file, line and column\n"
      ".TP\n.B 3\nanother process of rondo hosts ended\n"
      ".SH ENVIRONMENT\n.TP\n.B RONDO_PYTHON\nthe Python of rondo hosts\n.TP\n.B NO_COLOR\nif not "
      "empty, errors have no colors on a terminal\n.TP\n"
      ".B RONDO_EXECUTOR\nreference, bytecode or compiled: the executor that runs programs\n";
  return page;
}

std::string bash_completion(const CLI::App& app) {
  std::string names, cases, values;
  for (const CLI::App* verb : verbs_of(app)) {
    names += (names.empty() ? "" : " ") + verb->get_name();
    std::string options;
    for (const CLI::Option* option : options_of(*verb, false)) {
      options += (options.empty() ? "--" : " --") + option->get_lnames()[0];
      if (takes_value(*option)) options += '=';
      if (const std::string choices = choices_of(*option); !choices.empty())
        values += fmt::format("    {}:--{}) words='{}' ;;\n", verb->get_name(),
                              option->get_lnames()[0], choices);
    }
    cases += fmt::format("      {}) words='{}' ;;\n", verb->get_name(), options);
  }
  return fmt::format(
      R"sh(# Completion of the command rondo for bash.
_rondo() {{
  local line=${{COMP_LINE:0:COMP_POINT}} current words=
  current=${{line##*[[:space:]]}}
  local verb=${{COMP_WORDS[1]}}
  COMPREPLY=()
  if [[ $COMP_CWORD -le 1 ]]; then
    COMPREPLY=($(compgen -W '{} --help --version' -- "$current"))
    return
  fi
  local option=${{current%%=*}} value=${{current#*=}}
  if [[ $current != *=* ]]; then
    option=${{COMP_WORDS[COMP_CWORD - 1]}} value=$current
  fi
  case $verb:$option in
{}  esac
  if [[ -n $words ]]; then
    COMPREPLY=($(compgen -W "$words" -- "$value"))
    return
  fi
  if [[ $current == -* && $current != *=* ]]; then
    case $verb in
{}    esac
    COMPREPLY=($(compgen -W "$words" -- "$current"))
    [[ ${{COMPREPLY[0]}} == *= ]] && compopt -o nospace 2>/dev/null
    return
  fi
  COMPREPLY=($(compgen -f -- "$value"))
}}
complete -o filenames -F _rondo rondo
)sh",
      names, values, cases);
}

std::string zsh_completion(const CLI::App& app) {
  std::string verbs, cases;
  const auto quoted = [](std::string_view text) {
    std::string out;  // within '...' and a [description]
    for (const char c : text) {
      if (c == '\'')
        out += "'\\''";
      else if (c == '[' || c == ']' || c == ':')
        (out += '\\') += c;
      else
        out += c;
    }
    return out;
  };
  for (const CLI::App* verb : verbs_of(app)) {
    verbs += fmt::format("    '{}:{}'\n", verb->get_name(), quoted(verb->get_description()));
    cases += fmt::format("    {})\n      _arguments -s \\\n", verb->get_name());
    for (const CLI::Option* option : options_of(*verb, false)) {
      const std::string choices = choices_of(*option);
      const char* const again = option->get_items_expected_max() > 1 ? "*" : "";
      cases += fmt::format("        '{}--{}{}[{}]{}' \\\n", again, option->get_lnames()[0],
                           takes_value(*option) ? "=" : "", quoted(option->get_description()),
                           !takes_value(*option) ? ""
                           : choices.empty()     ? ":value:_files"
                                                 : ":format:(" + choices + ")");
    }
    cases += "        '*:file:_files'\n      ;;\n";
  }
  return fmt::format(R"sh(#compdef rondo
# Completion of the command rondo for zsh.
local -a verbs
verbs=(
{})
if (( CURRENT == 2 )); then
  _describe 'command' verbs
  _arguments '--help[what it can do]' '--version[its version]'
else
  local verb=$words[2]
  shift words
  (( CURRENT-- ))
  case $verb in
{}  esac
fi
)sh",
                     verbs, cases);
}

}  // namespace rondo::cli
