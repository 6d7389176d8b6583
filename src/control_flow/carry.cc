#include "control_flow/carry.h"

#include <algorithm>
#include <iterator>

#include "fmt/format.h"
#include "ir/origins.h"
#include "ops/support.h"

namespace rondo::control_flow {

std::string origin(const Tensor& tensor) {
  if (tensor.is_scalar_literal()) {
    std::string text = ir::constant_value(tensor)->str();
    return "the C++ scalar " + text.substr(text.find(' ') + 1);
  }
  const ir::Node* node = tensor.node();
  if (ir::is_parameter(node))
    return fmt::format("the parameter '{}'", node->attrs<ir::ParameterAttributes>().name);
  return fmt::format("made by {} at {}", ir::op_name(node), node->location().str());
}

void check_not_empty(const std::string& what, const Leaves& leaves, SourceLocation at) {
  for (std::size_t i = 0; i < leaves.values.size(); i++) {
    if (!leaves.values[i].empty()) continue;
    throw TraceError(fmt::format("{}: {} is an empty Tensor\n  at {}\n  Give it a value: a "
                                 "default-constructed Tensor has none.",
                                 what, leaves.paths[i], at.str()),
                     at);
  }
}

void check_carry(const std::string& what, const Leaves& in, Leaves& out, SourceLocation at) {
  check_not_empty(what, out, at);
  std::string differences;
  const bool same_structure = in.paths == out.paths && in.structure == out.structure;
  if (!same_structure) {
    differences += fmt::format("\n  structure: {} leaves go in, {} come out; {}", in.paths.size(),
                               out.paths.size(),
                               detail::structure_difference(in.structure, out.structure, "carry"));
  } else {
    for (std::size_t i = 0; i < in.values.size(); i++) {
      const TensorType& before = in.values[i].type();
      Tensor& after = out.values[i];
      const Tensor returned = after;
      try {
        after = ops::adopt_dtype(after, before.dtype, at);
      } catch (const TraceError&) {
        // A scalar that does not fit the dtype is listed with the other leaves.
      }
      if (after.type() == before) continue;
      differences += fmt::format("\n  {}: {} goes in, {} comes out ({})", in.paths[i], before.str(),
                                 after.type().str(), origin(returned));
      if (in.values[i].is_scalar_literal() && after.shape() == before.shape)
        differences += "; it began as " + ir::scalar_advice(in.values[i], after.dtype());
    }
  }
  if (differences.empty()) return;
  const char* remedy = !same_structure
                           ? "Return as many entries, under the same names, as came in."
                           : "Return each leaf with the shape and dtype it came in with; "
                             "rondo::convert(x, dtype) and "
                             "reshape change them, or give the init the type that is meant.";
  throw TraceError(fmt::format("{}{}\n  at {}\n  {}", what, differences, at.str(), remedy), at);
}

void check_predicate(const std::string& what, const Tensor& predicate, SourceLocation at) {
  ir::checked(predicate, what.c_str(), at);
  if (predicate.type() == pred()) return;
  throw TraceError(fmt::format("{} must be a scalar pred[], it is {} ({})\n  at {}\n  Compare "
                               "(x < y) to get a pred, and "
                               "reduce an array of them with rondo::any or rondo::all.",
                               what, predicate.type().str(), origin(predicate), at.str()),
                   at);
}

}  // namespace rondo::control_flow

namespace rondo::detail {

void append(Leaves& all, Leaves more) {
  all.values.insert(all.values.end(), std::make_move_iterator(more.values.begin()),
                    std::make_move_iterator(more.values.end()));
  all.paths.insert(all.paths.end(), std::make_move_iterator(more.paths.begin()),
                   std::make_move_iterator(more.paths.end()));
}

}  // namespace rondo::detail
