// The programs of a jitted function, and its calls on leaves.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "rondo/detail/leaves.h"
#include "rondo/detail/tree.h"
#include "rondo/detail/tree_structure.h"
#include "rondo/execute.h"
#include "rondo/export.h"
#include "rondo/jit_options.h"
#include "rondo/literal.h"
#include "rondo/tensor.h"

namespace rondo::detail {

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

}  // namespace rondo::detail
