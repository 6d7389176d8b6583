// Programs for the tests of printers and passes, and shared helpers.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "control_flow/branch.h"
#include "control_flow/fori.h"
#include "control_flow/while.h"
#include "ir/function_data.h"
#include "ir/node.h"
#include "rondo/rondo.h"
#include "support/on_stack.h"
#include "support/sanitized.h"

namespace rondo::testing {

/// Recursion over a program of some hundred regions, or of some thousand nodes, would overflow
/// this. Sanitizers, and what tells the fuzz targets where a program has been, make frames larger.
inline void on_small_stack(const std::function<void()>& work) {
#ifdef RONDO_TEST_SANITIZED
  constexpr std::size_t kBytes = std::size_t{1} << 20;
#else
  constexpr std::size_t kBytes = std::size_t{512} << 10;
#endif
  on_stack(kBytes, work);
}

/// A location that does not change when a test moves.
inline constexpr SourceLocation kPlace{"models/pond.cc", "fill", 12};

/// The text without what follows `//`, and the blanks before that.
inline std::string without_places(const std::string& text) {
  std::string result;
  for (std::size_t begin = 0; begin < text.size();) {
    const std::size_t end = std::min(text.find('\n', begin), text.size());
    std::string line = text.substr(begin, end - begin);
    if (const std::size_t comment = line.find("//"); comment != std::string::npos) {
      line.resize(comment);
      line.resize(line.find_last_not_of(' ') + 1);
    }
    result += line + '\n';
    begin = end + 1;
  }
  return result;
}

inline Tensor parameter(TensorType type, std::string name, std::int64_t index = 0) {
  return ir::make_parameter(std::move(type), std::move(name), index, nullptr, kPlace);
}

/// x + 1 inside `depth` loops of `trips` trips, each in the body of the next. Created innermost
/// first, so that nothing recurses. `op` is kForiLoop, or kWhile for loops while x < trips.
inline Function nested_loops(const ir::OpDef& op, int depth, std::int32_t trips) {
  const auto number = [](std::int32_t n) { return ir::make_constant(Literal::scalar(n), kPlace); };
  const bool is_while = op.construct.flow == ir::Flow::kRepeat;
  Function body;
  for (int level = 0; level <= depth; level++) {
    const Tensor i = parameter(s32(), "i"), x = parameter(s32(), "x");
    Tensor result;
    if (level == 0) {
      result = Operand(x, kPlace) + Operand(number(1), kPlace);
    } else if (is_while) {
      const Tensor y = parameter(s32(), "x");
      const Tensor less = Operand(y, kPlace) < Operand(number(trips), kPlace);
      control_flow::WhileAttributes attributes;
      attributes.carries = 1;
      attributes.name = "level" + std::to_string(level);
      result = ir::make(op, {x}, attributes, kPlace, {Function::make("cond", {y}, {less}), body});
    } else {
      control_flow::ForiAttributes attributes;
      attributes.carries = 1;
      attributes.name = "level" + std::to_string(level);
      attributes.trip_count = trips;
      result = ir::make(op, {number(0), number(trips), x}, attributes, kPlace, {body});
    }
    const bool outermost = level == depth;
    std::vector<Tensor> params{x};
    if (!outermost && !is_while) params.insert(params.begin(), i);
    body = Function::make(outermost ? "main" : "body" + std::to_string(level), params, {result});
  }
  return body;
}

/// x + x + x ...: a chain of nodes.
inline Function chain_of_adds(std::int64_t length) {
  const Tensor x = parameter(f32(), "x");
  Tensor sum = x;
  for (std::int64_t n = 0; n < length; n++) sum = Operand(sum, kPlace) + Operand(x, kPlace);
  return Function::make("chain", {x}, {sum});
}

inline std::size_t count_of(const std::string& text, const std::string& part) {
  std::size_t count = 0;
  for (std::size_t at = text.find(part); at != std::string::npos;
       at = text.find(part, at + part.size()))
    count++;
  return count;
}

}  // namespace rondo::testing
