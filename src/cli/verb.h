// The verbs of the command: each has its own file.
#pragma once

#include <iosfwd>
#include <memory>
#include <vector>

namespace CLI {
class App;
}  // namespace CLI

namespace rondo::cli {

/// What a verb reads and writes.
struct Streams {
  std::istream& in;
  std::ostream& out;
  std::ostream& err;
  /// Whether `err` is a terminal: for what is worth showing to a person alone.
  bool err_is_terminal = false;
};

/// `rondo NAME`: its options, and what it does with them.
class Verb {
 public:
  Verb(const char* name, const char* summary, const char* examples)
      : name_(name), summary_(summary), examples_(examples) {}
  virtual ~Verb() = default;
  Verb(const Verb&) = delete;
  Verb& operator=(const Verb&) = delete;

  const char* name() const { return name_; }
  const char* summary() const { return summary_; }
  /// Lines, each a command and what it does.
  const char* examples() const { return examples_; }
  virtual void add_options(CLI::App& app) = 0;
  /// The exit status. Throws ParseError for bad input, any other exception if the program fails.
  virtual int run(const Streams& streams) = 0;

 private:
  const char* name_;
  const char* summary_;
  const char* examples_;
};

std::unique_ptr<Verb> make_print();
std::unique_ptr<Verb> make_run();
std::unique_ptr<Verb> make_check();
std::unique_ptr<Verb> make_grad();
std::unique_ptr<Verb> make_bench();
std::unique_ptr<Verb> make_explain();
std::unique_ptr<Verb> make_hosts();

/// All of them, in the order of the help.
std::vector<std::unique_ptr<Verb>> make_verbs();

}  // namespace rondo::cli
