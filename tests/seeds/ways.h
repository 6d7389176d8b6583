// Runs one program in every way that it can be run.
#pragma once

#include <cstdlib>
#include <string>
#include <utility>
#include <vector>

#include "support/expect.h"
#include "support/run_c.h"

namespace rondo::testing {

enum class Eager { kYes, kNo };

/// The leaves of a tree, computed.
template <class Tree>
std::vector<Literal> values_of(const Tree& tree) {
  std::vector<Literal> values;
  for_each_leaf(tree, [&](const auto& leaf) { values.push_back(Tensor(leaf).eval()); });
  return values;
}

/// Once, and not for each executor that the tests are run on.
inline bool runs_c() { return std::getenv("RONDO_EXECUTOR") == nullptr && has_c_compiler(); }

/// Passes the leaves of f(args...) to `check`, several times: jitted; compiled without the passes,
/// and with them; as C; and evaluated op by op, unless that takes too long.
template <class Check, class F, class... Args>
void each_way(Eager eager, const Check& check, const F& f, const Args&... args) {
  {
    SCOPED_TRACE("jit");
    check(values_of(jit(f)(args...)));
  }
  const Function program = trace(f, args...);
  program.verify();
  std::vector<Literal> arguments;
  auto collect = [&](const auto& arg) {
    for (Literal& value : values_of(arg)) arguments.push_back(std::move(value));
  };
  (collect(args), ...);
  for (const bool optimize : {false, true}) {
    SCOPED_TRACE(optimize ? "compiled" : "compiled without passes");
    check(compile(program, {.optimize = optimize}).run(arguments));
  }
  if (runs_c()) {
    SCOPED_TRACE("as C");
    check(run_c(program, arguments, {.has_double = true}));
  }
  if (eager == Eager::kNo) return;
  SCOPED_TRACE("eager");
  EagerScope scope;
  check(values_of(jit(f)(args...)));
}

/// How many `while` instructions the HLO text holds.
inline int whiles_in(const std::string& hlo) {
  int count = 0;
  for (std::size_t at = hlo.find(" while("); at != std::string::npos;
       at = hlo.find(" while(", at + 1))
    count++;
  return count;
}

}  // namespace rondo::testing
