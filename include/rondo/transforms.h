// Tracing, jit, and executables on a function's own trees.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/call_checks.h"
#include "rondo/execute.h"
#include "rondo/function.h"
#include "rondo/loops.h"
#include "rondo/run_scope.h"
#include "rondo/tree.h"

namespace rondo {

/// Options of jit.
struct JitOptions {
  RunOptions run = {};          // of each call; see Jitted::with for those of one call
  CompileOptions compile = {};  // of each program
  /// Whether a call traces the function again, and throws TraceError if that gives another program
  /// than the one that would run, because a captured C++ value or tensor has changed. It costs a
  /// trace. True: in each call. False: never. By default the environment variable
  /// RONDO_CHECK_CAPTURES decides (1: in each call, 0: never), and without it the second call of
  /// each program checks if jit was compiled without NDEBUG: what changes from call to call has
  /// changed by then.
  std::optional<bool> check_captures = std::nullopt;
  /// Shorthand for compile.device: the device of a PJRT plugin (rondo/pjrt.h) that runs the
  /// programs. Their results stay there, and are copied to the host if something there needs them.
  pjrt::Device device = {};
  /// Shorthand for compile.mesh: the devices that run the programs together.
  std::optional<Mesh> mesh = std::nullopt;
};

namespace detail {

/// Traces a lambda on parameters of the given types. `at` is the line of the call.
RONDO_API Function trace(std::string name, const RegionCallable& callable,
                         std::span<const TensorType> types, std::vector<std::string> names,
                         SourceLocation at);

/// No option at all, as in jit(f, {}).
struct NoOption {
  NoOption() = delete;
};

/// Which calls of a program compare it with a new trace of the function.
enum class CaptureChecks { kNever, kSecondCall, kEachCall };

/// The executables of one jitted function, by the structure of its arguments and the types of their
/// leaves. Shared by copies; safe to use from many threads.
class RONDO_API JitCache {
 public:
  /// `checks` apply if neither the options nor the environment decide.
  JitCache(JitOptions options, CaptureChecks checks);
  ~JitCache();
  JitCache(const JitCache&) = delete;
  JitCache& operator=(const JitCache&) = delete;

  struct Run {
    std::vector<Tensor> results;
    std::shared_ptr<const void> prototype;
  };
  /// A call of the function on leaves. It also stores the tree of its results, type-erased and
  /// without its tensors, in `prototype`.
  struct Call {
    const TreeStructure& structure;
    const TreeType* trees;                            // if that is all of the structure; else null
    std::vector<Tensor>& arguments;                   // moved from at their last use
    std::function<std::vector<std::string>()> names;  // of the arguments
    RegionCallable function;
    std::function<std::shared_ptr<const void>()> prototype;
    const RunOptions* run;  // null for jit's own
    SourceLocation at;
  };
  /// Runs the program for the arguments; traces it if there is none yet. Lazy arguments are
  /// evaluated first.
  Run run(const Call& call);

  /// A leaf of the arguments: a tensor, or the address of elements.
  struct View {
    const Tensor* tensor = nullptr;
    const std::byte* bytes = nullptr;
    DType dtype = DType::kF32;
    const Shape* shape = nullptr;  // null: a scalar
  };
  /// A call that may repeat the program that this thread ran last.
  struct Again {
    const TreeType* trees;
    std::span<const View> arguments;
    std::span<Tensor* const> results;
    // Space for the addresses of the elements of each of these.
    const std::byte** from;
    std::byte** to;
  };
  /// Runs that program, without a look-up or a lock. False, without running, if it is not for trees
  /// of this type and arguments of these types, or cannot run this way.
  bool run_again(const Again& call) const;

  /// The program of the last call. Throws ExecutionError, naming `asked`, if none has run.
  Executable last_program(const char* asked, SourceLocation at) const;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

// Fields that are not written stay null.
inline void view(const Tensor& tensor, JitCache::View& view) noexcept { view.tensor = &tensor; }
inline void view(const Literal& literal, JitCache::View& view) noexcept {
  view.bytes = literal.bytes();
  view.dtype = literal.dtype();
  view.shape = &literal.shape();
}
template <ScalarValue T>
void view(const T& scalar, JitCache::View& view) noexcept {
  if constexpr (!std::is_same_v<T, long double>) {
    view.bytes = reinterpret_cast<const std::byte*>(&scalar);
    view.dtype = dtype_of<T>;
  }
}

// The number of leaves of a type of trees; -1 if the type does not determine it, or a tree is more
// than its leaves.
template <class T>
constexpr std::int64_t fixed_leaf_count() {
  constexpr TreeKind kind = kTreeKind<T>;
  if constexpr (kind == TreeKind::kLeaf) {
    return 1;
  } else if constexpr (kind == TreeKind::kArray) {
    constexpr std::int64_t element = fixed_leaf_count<typename T::value_type>();
    return element < 0 ? -1 : element * static_cast<std::int64_t>(std::tuple_size_v<T>);
  } else if constexpr (kind == TreeKind::kTuple || kind == TreeKind::kStruct) {
    return []<class... Children>(TypeList<Children...>) {
      constexpr bool known =
          (true && ... && (fixed_leaf_count<std::remove_cvref_t<Children>>() >= 0));
      return known ? (std::int64_t{0} + ... + fixed_leaf_count<std::remove_cvref_t<Children>>())
                   : -1;
    }(children_t<T>{});
  } else {
    return -1;
  }
}

/// Whether one of the tensors depends on a parameter of a trace in progress, or an EagerScope is in
/// effect, so that a jitted function is called directly.
RONDO_API bool runs_inline(std::span<const Tensor> arguments);

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

template <class... Args>
std::vector<std::string> names_of_arguments(const Args&... args) {
  std::vector<std::string> names;
  std::size_t index = 0;
  [[maybe_unused]] auto add = [&](const auto& arg) {
    for (std::string& path : leaf_paths(arg, "arg" + std::to_string(index++)))
      names.push_back(std::move(path));
  };
  (add(args), ...);
  return names;
}

/// f on leaves; stores its result in `prototype`. Throws TraceError, in the name of `made_by`, if f
/// is an empty std::function or a null pointer.
template <class F, class Out, class... Args>
RegionCallable function_on_leaves(F& f, std::optional<Out>& prototype, const char* made_by,
                                  SourceLocation at, const Args&... args) {
  check_has_function(f, made_by, at);
  return [&f, &prototype, at, &args...]([[maybe_unused]] std::span<const Tensor> leaves) {
    std::tuple<traced_t<Args>...> arguments{tree_from(args, leaves)...};
    prototype = tree_cast<Out>(std::apply(f, std::move(arguments)), at);
    return leaves_of(*prototype, "result", at);
  };
}

/// The result type of f for these arguments.
template <class F, class... Args>
using result_of_t = traced_t<std::invoke_result_t<F&, traced_t<Args>...>>;

/// The leaves; moved out of arguments that are rvalues.
template <class... Args>
std::vector<Tensor> tensors_of_arguments(SourceLocation at, Args&&... args) {
  std::vector<Tensor> leaves;
  [[maybe_unused]] auto collect = [&]<class Arg>(Arg&& arg) {
    for_each_leaf(arg, [&]<class Leaf>(Leaf& leaf) {
      if constexpr (!std::is_same_v<std::remove_const_t<Leaf>, Tensor>)
        leaves.push_back(Tensor(leaf, at));
      else if constexpr (std::is_lvalue_reference_v<Arg>)
        leaves.push_back(leaf);
      else
        leaves.push_back(std::move(leaf));
    });
  };
  (collect(std::forward<Args>(args)), ...);
  return leaves;
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

}  // namespace detail

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

/// See Jitted.
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

namespace detail {

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

}  // namespace detail

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

namespace detail {

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

}  // namespace detail

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

}  // namespace rondo
