// Prints a number for the bits of the results of random programs and of functions, one program a
// line, so that compare.py finds where two processors differ. NaNs are equal whatever their
// payload. Usage:
//   bits_of_programs functions         elementwise ops and conversions, on each dtype
//   bits_of_programs KIND SEED COUNT   so many random programs, from a seed
//   bits_of_programs KIND SEED         the text of one, the bytes of its arguments and results
#include <algorithm>
#include <array>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <functional>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include "base/for_dtype.h"
#include "gradients/loops.h"
#include "ir/node.h"
#include "ir/region_walk.h"
#include "rondo/rondo.h"
#include "support/bit_patterns.h"
#include "support/elementwise_records.h"
#include "support/program.h"

namespace rondo::testing {
namespace {

/// FNV-1a, 64 bits.
class Hash {
 public:
  void add(const void* data, std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; i++)
      state_ = (state_ ^ static_cast<const unsigned char*>(data)[i]) * 0x100000001b3;
  }
  std::string str() const {
    std::array<char, 17> text{};
    std::snprintf(text.data(), text.size(), "%016llx", static_cast<unsigned long long>(state_));
    return text.data();
  }

 private:
  std::uint64_t state_ = 0xcbf29ce484222325;
};

template <class T>
void add_element(Hash& hash, const T& value) {
  if constexpr (is_complex(dtype_of<T>)) {
    add_element(hash, value.real());
    add_element(hash, value.imag());
    return;
  } else if constexpr (is_floating(dtype_of<T>)) {
    if (std::isnan(static_cast<double>(value))) return hash.add("NaN", 3);
  }
  hash.add(&value, sizeof value);
}

std::string hash_of(const std::vector<Literal>& results) {
  Hash hash;
  for (const Literal& result : results) {
    for_any_dtype(result.dtype(), [&]<class T>() {
      for (const T& value : result.data<T>()) add_element(hash, value);
    });
  }
  return hash.str();
}

struct Way {
  const char* name;
  CompileOptions options;
};

/// The reference is the program as traced. What `machine` runs is machine code or bytecode: all
/// there is here.
const std::vector<Way>& ways() {
  static const std::vector<Way> all = {
      {"reference", {.optimize = false, .executor = Executor::kReference}},
      {"bytecode", {.contract = false, .executor = Executor::kBytecode}},
      {"contracted", {.executor = Executor::kBytecode}},
      {"machine", {.executor = Executor::kCompiled}},
  };
  return all;
}

struct Case {
  Function function;
  std::vector<Literal> arguments;
};

/// What the C library computes, whose last bit depends on the processor that it was built for; so
/// does the compiler's library where numbers are complex.
constexpr const char* kLibraryFunctions[] = {"acosh", "asinh", "atan2", "atanh", "cbrt",
                                             "erf",   "erfc",  "hypot", "pow"};

struct LibraryCalls {
  bool found = false;
  void open(const Function&, const ir::Node*, std::size_t) {}
  void close(const Function&, const ir::Node*, std::size_t) {}
  void after(const ir::Node&) {}
  void node(const ir::Node& node) {
    found =
        found || std::ranges::find(kLibraryFunctions, node.op->name) != std::end(kLibraryFunctions);
  }
};

/// The mark of a program that calls some of them.
std::string library_mark(const Function& function) {
  LibraryCalls calls;
  ir::walk_nested(function, calls);
  return calls.found ? " (library)" : "";
}

void print_line(const std::string& name, const Case& it) {
  std::string line = name + ":";
  for (const Way& way : ways())
    line += std::string(" ") + way.name + " " +
            hash_of(compile(it.function, way.options).run(it.arguments));
  std::puts(line.c_str());
}

std::string bytes_of(const Literal& x) {
  std::string text = x.type().str();
  for (std::int64_t i = 0; i < x.type().bytes(); i++) {
    std::array<char, 4> digits{};
    std::snprintf(digits.data(), digits.size(), "%s%02x", i % 4 == 0 ? " " : "",
                  static_cast<unsigned>(static_cast<unsigned char>(x.bytes()[i])));
    text += digits.data();
  }
  return text + "\n";
}

void print_all_of(const Case& it) {
  std::string text = it.function.str() + "arguments\n";
  for (const Literal& argument : it.arguments) text += bytes_of(argument);
  for (const Way& way : ways()) {
    text += std::string(way.name) + "\n";
    for (const Literal& result : compile(it.function, way.options).run(it.arguments))
      text += bytes_of(result);
  }
  std::fputs(text.c_str(), stdout);
}

struct KindOfProgram {
  std::string_view name;
  ProgramSize size;
  bool gradient = false;  // under a checkpoint policy that depends on the seed
  bool batched = false;   // by vmap, three lanes
};

/// Those of tests/random, tests/heavy, tests/batching and tests/c.
const std::vector<KindOfProgram>& kinds() {
  static const ProgramSize small = {.statements = 6, .region_statements = 3, .depth = 2};
  static const ProgramSize units = {.region_statements = 4, .depth = 2, .units = 60};
  static const ProgramSize longer = {.statements = 60, .region_statements = 6, .depth = 3};
  static const ProgramSize deep = {.statements = 5, .region_statements = 3, .depth = 8};
  static const std::vector<KindOfProgram> all = {
      {"usual", {}},
      {"dangers", kDangers},
      {"units", units},
      {"long", longer},
      {"deep", deep},
      {"gradients", small, true},
      {"gradients_of_dangers", kDangers, true},
      {"batches", {}, false, true},
      {"batches_of_dangers", kDangers, false, true},
      {"batches_of_gradients", small, true, true},
  };
  return all;
}

Case random_case(const KindOfProgram& kind, std::uint64_t seed) {
  constexpr std::uint64_t kLanes = 3;
  ProgramSize size = kind.size;
  if (kind.gradient) size.checkpoint = kPolicies[seed % std::size(kPolicies)];
  const Program program = Program::random(seed, size);
  const auto one = [&](const std::vector<Tensor>& x) {
    return kind.gradient ? program.gradient(x) : program(x);
  };
  if (!kind.batched) return {trace(one, program.params()), program.arguments(seed)};
  std::vector<std::vector<Tensor>> lanes;
  for (std::uint64_t lane = 0; lane < kLanes; lane++) {
    const std::vector<Literal> arguments = program.arguments(seed + 1000 * lane);
    lanes.emplace_back(arguments.begin(), arguments.end());
  }
  Case made;
  std::vector<TensorType> types;
  for (std::size_t i = 0; i < lanes[0].size(); i++) {
    made.arguments.push_back(stack({lanes[0][i], lanes[1][i], lanes[2][i]}, 0).eval());
    types.push_back(made.arguments.back().type());
  }
  made.function = trace([&](const std::vector<Tensor>& x) { return vmap(one)(x); }, types);
  return made;
}

void print_random(const KindOfProgram& kind, std::uint64_t seed) {
  const Case made = random_case(kind, seed);
  print_line(std::string(kind.name) + " " + std::to_string(seed) + library_mark(made.function),
             made);
}

void print_function(const std::string& name, DType dtype, int arity,
                    const std::function<Tensor(const std::vector<Tensor>&)>& apply) {
  constexpr std::size_t kInputs = 2048;
  Case made;
  for_dtype(dtype, [&]<class T>() {
    for (int i = 0; i < arity; i++)
      made.arguments.push_back(
          literal_of_bit_patterns<T>(kInputs, static_cast<std::uint64_t>(i) + 1));
  });
  const std::vector<TensorType> types(made.arguments.size(), made.arguments[0].type());
  made.function = trace(apply, types);
  const bool is_listed = std::ranges::find(kLibraryFunctions, name) != std::end(kLibraryFunctions);
  print_line(name + " of " + std::string(dtype_name(dtype)) +
                 (is_complex(dtype) || is_listed ? " (library)" : ""),
             made);
}

void print_functions() {
  for (int i = 0; i < static_cast<int>(DType::kS2); i++) {
    const auto dtype = static_cast<DType>(i);
    for (int arity = 1; arity <= 3; arity++) {
      for (const ir::OpDef* op : elementwise_ops(arity)) {
        // What runs as its formula may be a loop of thousands of trips.
        if (!op->runs() || !takes(*op, dtype)) continue;
        print_function(std::string(op->name), dtype, arity,
                       [&](const std::vector<Tensor>& x) { return apply_op(*op, x); });
      }
    }
    for (int j = 0; j < static_cast<int>(DType::kS2); j++) {
      const auto to = static_cast<DType>(j);
      if (is_complex(dtype) && !is_complex(to)) continue;
      print_function("convert to " + std::string(dtype_name(to)), dtype, 1,
                     [&](const std::vector<Tensor>& x) { return convert(x[0], to); });
    }
  }
}

int usage() {
  std::string names;
  for (const KindOfProgram& kind : kinds()) names += " " + std::string(kind.name);
  std::fprintf(stderr,
               "usage: bits_of_programs functions\n"
               "       bits_of_programs KIND SEED [COUNT]   KIND:%s\n",
               names.c_str());
  return 2;
}

int run(const std::vector<std::string>& arguments) {
  if (arguments == std::vector<std::string>{"functions"}) {
    print_functions();
    return 0;
  }
  if (arguments.size() < 2 || arguments.size() > 3) return usage();
  for (const KindOfProgram& kind : kinds()) {
    if (kind.name != arguments[0]) continue;
    const std::uint64_t first = std::stoull(arguments[1]);
    if (arguments.size() == 2) {
      print_all_of(random_case(kind, first));
      return 0;
    }
    const std::uint64_t end = first + std::stoull(arguments[2]);
    for (std::uint64_t seed = first; seed < end; seed++) print_random(kind, seed);
    return 0;
  }
  return usage();
}

}  // namespace
}  // namespace rondo::testing

int main(int count, char** arguments) {
  try {
    return rondo::testing::run({arguments + 1, arguments + count});
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
