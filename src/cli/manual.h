// The manual and the completions, made of the same descriptions as --help.
#pragma once

#include <string>

namespace CLI {
class App;
}  // namespace CLI

namespace rondo::cli {

/// rondo.1, in the macros of man(7).
std::string man_page(const CLI::App& app);
/// For bash: verbs, their options, and what follows an option; else files.
std::string bash_completion(const CLI::App& app);
/// The same for zsh.
std::string zsh_completion(const CLI::App& app);

}  // namespace rondo::cli
