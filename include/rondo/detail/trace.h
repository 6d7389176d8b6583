// Functions traced on leaves, and programs for trees of arguments.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/call_checks.h"
#include "rondo/detail/function_on_leaves.h"
#include "rondo/detail/leaves.h"
#include "rondo/execute.h"
#include "rondo/export.h"
#include "rondo/function.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {
template <class F, class Out, class... Specs>
class CompiledAs;
}  // namespace rondo

namespace rondo::detail {

/// Traces a lambda on parameters of the given types. `at` is the line of the call.
RONDO_API Function trace(std::string name, const RegionCallable& callable,
                         std::span<const TensorType> types, std::vector<std::string> names,
                         SourceLocation at);

/// The results of a function on arguments, which is inlined. Throws TraceError unless they have the
/// types of its parameters; a C++ scalar takes the parameter's dtype.
RONDO_API std::vector<Tensor> call_function(const Function& function, std::vector<Tensor> arguments,
                                            SourceLocation at);

/// A program for arguments of one structure and types.
class RONDO_API Compiled {
 public:
  Compiled(const Function& function, TreeStructure structure, std::vector<std::string> names);
  const Executable& executable() const { return executable_; }
  /// Throws ExecutionError if the arguments do not fit the program.
  std::vector<Literal> run(const TreeStructure& structure, std::span<const Tensor> arguments,
                           const RunOptions& options, SourceLocation at) const;

 private:
  Executable executable_;
  TreeStructure structure_;
  std::vector<std::string> names_;
};

inline const TensorType& type_of_spec(const TensorType& type) { return type; }
inline const TensorType& type_of_spec(const Literal& literal) { return literal.type(); }
inline const TensorType& type_of_spec(const Tensor& tensor) { return tensor.type(); }
template <ScalarValue T>
TensorType type_of_spec(const T&) {
  return {dtype_of<T>, {}};
}

template <class... Specs>
std::vector<TensorType> types_of_specs(const Specs&... specs) {
  std::vector<TensorType> types;
  [[maybe_unused]] auto add = [&](const auto& spec) {
    for_each_leaf(spec, [&](const auto& leaf) { types.push_back(type_of_spec(leaf)); });
  };
  (add(specs), ...);
  return types;
}

/// The program of f; stores the result of f in `prototype`.
template <class F, class Out, class... Specs>
Function trace_at(const char* made_by, SourceLocation at, F& f, std::optional<Out>& prototype,
                  const Specs&... specs) {
  return detail::trace("main", function_on_leaves(f, prototype, made_by, at, specs...),
                       types_of_specs(specs...), names_of_arguments(specs...), at);
}

// The specs of trace and compile_as as f takes them: a struct of Literals becomes f's struct of
// Tensors.
template <class F, CallFault kFault, class... Specs>
Function checked_trace(SourceLocation at, F& f, const Specs&... specs) {
  if constexpr (kFault == CallFault::kNone) {
    return with_passed<F, kFault>(
        at,
        [&](const auto&... passed) {
          std::optional<result_of_t<F, std::remove_cvref_t<decltype(passed)>...>> prototype;
          return trace_at("trace", at, f, prototype, passed...);
        },
        specs...);
  } else {
    return Function();
  }
}

// The tree with Literals in place of Tensors; of structs whose fields are Tensors, itself.
template <class Out>
constexpr auto tree_of_literals() {
  if constexpr (is_replaceable<Out, Literal>()) {
    return std::type_identity<replace_leaves_t<Out, Literal>>{};
  } else {
    return std::type_identity<Out>{};
  }
}
template <class Out>
using literals_t = typename decltype(tree_of_literals<Out>())::type;

template <class F, CallFault kFault, class... Specs>
auto compiled_as(SourceLocation at, F& f, const Specs&... specs) {
  if constexpr (kFault == CallFault::kNone) {
    return with_passed<F, kFault>(
        at,
        [&](const auto&... passed) {
          using Out = result_of_t<F, std::remove_cvref_t<decltype(passed)>...>;
          std::optional<Out> prototype;
          const Function function = trace_at("compile_as", at, f, prototype, passed...);
          return CompiledAs<std::remove_const_t<F>, Out, Specs...>(
              std::make_shared<const Compiled>(function, TreeStructure::of_all(passed...),
                                               names_of_arguments(passed...)),
              rebuild_tree<Tensor>(*prototype, [] { return Tensor(); }), at);
        },
        specs...);
  } else {
    return Tensor();
  }
}

}  // namespace rondo::detail
