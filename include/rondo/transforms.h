// Tracing, jit, and executables on a function's own trees.
#pragma once

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/call_checks.h"
#include "rondo/detail/function_on_leaves.h"
#include "rondo/detail/jit.h"
#include "rondo/detail/run_scope.h"
#include "rondo/detail/trace.h"
#include "rondo/execute.h"
#include "rondo/function.h"
#include "rondo/jit_options.h"
#include "rondo/run_scope.h"
#include "rondo/tensor.h"
#include "rondo/tree.h"

namespace rondo {

/// Runs f once on parameters of the types that `specs` give (TensorType, Literal, Tensor, C++
/// scalar, or trees of them) and returns the program it records. f takes and returns trees of
/// tensors. Throws TraceError for errors in f, and if it uses a tensor of another trace.
#define RONDO_TRACE(types, names, params, args)                                               \
  template <class F RONDO_UNPACK types>                                                       \
  [[nodiscard("rondo: trace only records the program")]] Function trace(                      \
      F&& f, RONDO_UNPACK params SourceLocation at = SourceLocation::current()) {             \
    constexpr detail::CallFault fault =                                                       \
        detail::kOneCallFault<std::remove_reference_t<F> RONDO_UNPACK names>;                 \
    [[maybe_unused]] constexpr bool fine = detail::check_call<fault>();                       \
    return detail::checked_trace<std::remove_reference_t<F>, fault>(at, f RONDO_UNPACK args); \
  }
RONDO_FOR_UP_TO_SIX(RONDO_TRACE)
#undef RONDO_TRACE
/// The same for more specs; its errors name no line of the call.
template <class F, class A, class B, class C, class D, class E, class G, class H, class... More>
[[nodiscard("rondo: trace only records the program")]] Function trace(F&& f, const A& a, const B& b,
                                                                      const C& c, const D& d,
                                                                      const E& e, const G& g,
                                                                      const H& h,
                                                                      const More&... more) {
  constexpr detail::CallFault fault =
      detail::kOneCallFault<std::remove_reference_t<F>, A, B, C, D, E, G, H, More...>;
  [[maybe_unused]] constexpr bool fine = detail::check_call<fault>();
  return detail::checked_trace<std::remove_reference_t<F>, fault>(SourceLocation{}, f, a, b, c, d,
                                                                  e, g, h, more...);
}

/// A function that is traced once for each structure and types of its arguments, compiled, and run
/// from then on.
///
/// It takes Tensors, Literals and C++ scalars, or trees of them, as f takes tensors (a struct of
/// Literals or numbers if f has a parameter with the same fields as Tensors), and returns f's tree
/// with computed tensors. Arguments that are moved into a call are donated: on a device, results
/// may be written over tensors without other handles. Inside another trace it is like a call of f.
/// Copies share the compiled programs; calls from many threads at once are safe. The values that f
/// captures, and the outer tensors that it uses, are those of the first call with such arguments
/// (see JitOptions::check_captures).
template <class F>
class Jitted : public detail::LocatedCall<Jitted<F>, F> {
 public:
  Jitted(F f, JitOptions options, detail::CaptureChecks checks, SourceLocation at)
      : f_(std::make_shared<const F>(std::move(f))),
        cache_(std::make_shared<detail::JitCache>(std::move(options), checks)),
        at_(at) {}

  /// The same function, with the same programs, run under these options; jit's own apply for those
  /// that are not set.
  [[nodiscard("rondo: with() returns a function that runs under the options; call that")]] Jitted
  with(RunOptions options) const {
    Jitted other(*this);
    other.run_ = std::make_shared<const RunOptions>(run_ ? detail::merged(*run_, options)
                                                         : std::move(options));
    return other;
  }

  /// Of the program that the last call ran, on any thread and by any copy: like the functions of
  /// Executable with these names. Throws ExecutionError before the first call, and if the program
  /// has been released since (rondo/cache.h). A call inside a trace runs no program.
  [[nodiscard]] std::string program(SourceLocation at = SourceLocation::current()) const {
    return last_program("program", at).program();
  }
  [[nodiscard]] MemoryPlan memory_plan(SourceLocation at = SourceLocation::current()) const {
    return last_program("memory_plan", at).memory_plan();
  }
  [[nodiscard]] std::string disassembly(std::string_view loop = {},
                                        SourceLocation at = SourceLocation::current()) const {
    return last_program("disassembly", at).disassembly(loop);
  }
  /// The statistics of that program's last run that kept them: the first call with arguments of
  /// these types, and calls of with(). Repeated plain calls keep none, to be fast; neither do runs
  /// on a device.
  [[nodiscard]] RunStats stats(SourceLocation at = SourceLocation::current()) const {
    return last_program("stats", at).stats();
  }

 private:
  friend detail::LocatedCall<Jitted<F>, F>;
  static constexpr const char* kMadeBy = "jit";
  static constexpr bool kSharesPrograms = true;
  Executable last_program(const char* asked, SourceLocation at) const {
    this->check_present(at);
    return cache_->last_program(asked, at);
  }
  SourceLocation made_at() const { return at_; }

  template <class... Args>
  auto call(SourceLocation at, Args&&... args) const {
    const auto leaves = [&] {
      return detail::tensors_of_arguments(at, std::forward<Args>(args)...);
    };
    return call_with(at, leaves, std::as_const(args)...);
  }
  template <class Leaves, class... Args>
  auto call_with(SourceLocation at, const Leaves& leaves_of_arguments, const Args&... args) const {
    using Out = detail::result_of_t<const F, Args...>;
    constexpr std::int64_t leaf_count = detail::fixed_leaf_count<std::tuple<Args...>>();
    constexpr std::int64_t result_count = detail::fixed_leaf_count<Out>();
    if constexpr (leaf_count >= 0 && result_count > 0)
      return call_again<Out, leaf_count, result_count>(at, leaves_of_arguments, args...);
    else
      return call_anew<Out>(at, nullptr, leaves_of_arguments, args...);
  }
  /// Repeats the last call of this thread if it matches. For many leaves, moving the results costs
  /// as much as the call, so they are created in the single returned variable.
  template <class Out, std::int64_t kArguments, std::int64_t kResults, class Leaves, class... Args>
  Out call_again(SourceLocation at, const Leaves& leaves_of_arguments, const Args&... args) const {
    const detail::TreeType* const trees = detail::tree_type<std::tuple<Args...>>();
    constexpr std::size_t places = kArguments > 0 ? kArguments : 1;  // arrays cannot be empty
    detail::JitCache::View views[places];
    const std::byte* from[places];
    std::size_t next = 0;
    auto visit = [&](const auto& leaf) { detail::view(leaf, views[next++]); };
    (detail::visit_leaves(args, visit), ...);
    Tensor* results[kResults];
    std::byte* to[kResults];
    std::size_t found = 0;
    Out out{};
    for_each_leaf(out, [&](Tensor& leaf) { results[found++] = &leaf; });
    if (run_ || !cache_->run_again({trees, {views, next}, results, from, to})) {
      Out made = call_anew<Out>(at, trees, leaves_of_arguments, args...);
      found = 0;
      for_each_leaf(made, [&](Tensor& leaf) { *results[found++] = std::move(leaf); });
    }
    return out;
  }
  /// A call that does not repeat the last one of this thread.
  template <class Out, class Leaves, class... Args>
  Out call_anew(SourceLocation at, const detail::TreeType* trees, const Leaves& leaves_of_arguments,
                const Args&... args) const {
    std::vector<Tensor> leaves = leaves_of_arguments();
    if (detail::runs_inline(leaves)) {
      std::optional<RunScope> scope;  // what it evaluates under an EagerScope
      if (run_) scope.emplace(*run_);
      std::span<const Tensor> next(leaves);
      std::tuple<traced_t<Args>...> arguments{detail::tree_from(args, next)...};
      detail::check_has_function(*f_, kMadeBy, at);
      return tree_cast<Out>(std::apply(*f_, std::move(arguments)), at);
    }
    std::optional<Out> prototype;
    const TreeStructure structure = TreeStructure::of_all(args...);
    const auto run = cache_->run(
        {structure, trees, leaves, [&] { return detail::names_of_arguments(args...); },
         detail::function_on_leaves(*f_, prototype, kMadeBy, at, args...),
         // Only the structure of the tree is kept: its tensors belong to a finished trace.
         [&]() -> std::shared_ptr<const void> {
           return std::make_shared<const Out>(
               rebuild_tree<Tensor>(*prototype, [] { return Tensor(); }));
         },
         run_.get(), at});
    return detail::whole_tree_from(*static_cast<const Out*>(run.prototype.get()), run.results);
  }

  std::shared_ptr<const F> f_;
  std::shared_ptr<detail::JitCache> cache_;
  std::shared_ptr<const RunOptions> run_;
  SourceLocation at_;
};

// The following depends on how the including code is compiled, so it has two names: one program may
// contain both.
#ifdef NDEBUG
inline namespace without_checks {
inline constexpr detail::CaptureChecks kCaptureChecks = detail::CaptureChecks::kNever;
#else
inline namespace with_checks {
inline constexpr detail::CaptureChecks kCaptureChecks = detail::CaptureChecks::kSecondCall;
#endif

/// f as a function that is traced and compiled at its first call with arguments of each structure
/// and types, and runs as a compiled program from then on: see Jitted.
template <class F>
[[nodiscard("rondo: jit returns a function; call that")]] Jitted<std::decay_t<F>> jit(
    F&& f, JitOptions options = {}, SourceLocation at = SourceLocation::current()) {
  return Jitted<std::decay_t<F>>(std::forward<F>(f), std::move(options), kCaptureChecks, at);
}
/// The same with run options only: jit(f, {.threads = 4}).
template <class F>
[[nodiscard("rondo: jit returns a function; call that")]] Jitted<std::decay_t<F>> jit(
    F&& f, RunOptions run, SourceLocation at = SourceLocation::current()) {
  return jit(std::forward<F>(f), JitOptions{.run = std::move(run)}, at);
}
/// jit(f, {}), which would be ambiguous.
template <class F>
[[nodiscard("rondo: jit returns a function; call that")]] Jitted<std::decay_t<F>> jit(
    F&& f, std::initializer_list<detail::NoOption>, SourceLocation at = SourceLocation::current()) {
  return jit(std::forward<F>(f), JitOptions{}, at);
}

}  // inline namespace

/// A program for arguments of one structure and types, on f's own trees: created by compile_as. It
/// takes Literals, Tensors and C++ scalars (which take the parameter's dtype), or trees of them, of
/// the structure of the specs, and returns f's tree of Literals; a struct whose fields are Tensors
/// holds the values in them. Copies share the program; calls from many threads at once are safe.
template <class F, class Out, class... Specs>
class CompiledAs {
 public:
  CompiledAs(std::shared_ptr<const detail::Compiled> program, Out prototype, SourceLocation at)
      : program_(std::move(program)), prototype_(std::move(prototype)), at_(at) {}

  /// Throws ExecutionError for arguments of another structure, shape or dtype, naming the
  /// parameter, and like Executable::run; TraceError, with the line of compile_as, if this was
  /// moved from.
  template <class... Args>
  [[nodiscard("rondo: a program changes nothing: use what it returns")]] detail::literals_t<Out>
  operator()(const Args&... args) const {
    constexpr detail::CallFault fault = sizeof...(Args) == sizeof...(Specs)
                                            ? detail::kOneCallFault<F, Args...>
                                            : detail::CallFault::kCount;
    [[maybe_unused]] constexpr bool fine = detail::check_call<fault>();
    if constexpr (fault == detail::CallFault::kNone) {
      return detail::with_passed<F, fault>(
          SourceLocation{}, [&](const auto&... passed) { return run(passed...); }, args...);
    } else {
      return {};
    }
  }
  /// The same program, run under these options.
  [[nodiscard("rondo: with() returns a program that runs under the options; call that")]] CompiledAs
  with(RunOptions options) const {
    CompiledAs other(*this);
    other.options_ = detail::merged(options_, options);
    return other;
  }
  /// The program on leaves, with its statistics and memory plan.
  const Executable& executable() const { return program().executable(); }

 private:
  const detail::Compiled& program() const {
    if (!program_) detail::refuse_moved_from("compile_as", true, at_);
    return *program_;
  }
  template <class... Args>
  detail::literals_t<Out> run(const Args&... args) const {
    const std::vector<Literal> results =
        program().run(TreeStructure::of_all(args...),
                      detail::tensors_of_arguments(SourceLocation{}, args...), options_, {});
    std::size_t next = 0;
    if constexpr (is_replaceable_by_literals) {
      return rebuild_tree<Literal>(prototype_, [&] { return results[next++]; });
    } else {
      return rebuild_tree<Tensor>(prototype_, [&] { return Tensor(results[next++]); });
    }
  }
  static constexpr bool is_replaceable_by_literals = detail::is_replaceable<Out, Literal>();

  std::shared_ptr<const detail::Compiled> program_;
  Out prototype_;
  SourceLocation at_;
  RunOptions options_;
};

/// trace(f, specs...) and compile in one, as a function on f's own trees: see CompiledAs.
#define RONDO_COMPILE_AS(types, names, params, args)                                        \
  template <class F RONDO_UNPACK types>                                                     \
  [[nodiscard("rondo: compile_as returns a program; call that")]] auto compile_as(          \
      F&& f, RONDO_UNPACK params SourceLocation at = SourceLocation::current()) {           \
    constexpr detail::CallFault fault =                                                     \
        detail::kOneCallFault<std::remove_reference_t<F> RONDO_UNPACK names>;               \
    [[maybe_unused]] constexpr bool fine = detail::check_call<fault>();                     \
    return detail::compiled_as<std::remove_reference_t<F>, fault>(at, f RONDO_UNPACK args); \
  }
RONDO_FOR_UP_TO_SIX(RONDO_COMPILE_AS)
#undef RONDO_COMPILE_AS

/// A program as a function of tensors: created by function_of().
class CallableFunction {
 public:
  explicit CallableFunction(Function function) : function_(std::move(function)) {}
  const Function& function() const noexcept { return function_; }

  /// The results, in order, of one argument for each parameter. Throws TraceError for another
  /// number of arguments, and for one of another type; a C++ scalar takes the parameter's dtype.
  template <class... Args>
  requires(std::is_constructible_v<Operand, const Args&, SourceLocation>&&...) std::vector<Tensor>
  operator()(const Args&... arguments) const {
    return detail::call_function(function_, {Operand(arguments, SourceLocation{}).any()...}, {});
  }
  std::vector<Tensor> operator()(const std::vector<Tensor>& arguments) const {
    return detail::call_function(function_, arguments, {});
  }

 private:
  Function function_;
};

/// A program that was traced, loaded or parsed, as a function of tensors: it can be called inside
/// other traces and under grad, vmap and jit, where it is inlined.
inline CallableFunction function_of(Function function) {
  return CallableFunction(std::move(function));
}

}  // namespace rondo
