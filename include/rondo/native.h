// A traced function as an ordinary C++ function of numbers, arrays and structs.
#pragma once

#include <cstddef>
#include <memory>
#include <type_traits>
#include <utility>

#include "rondo/detail/call_checks.h"
#include "rondo/detail/host_tree.h"
#include "rondo/detail/native.h"
#include "rondo/execute.h"
#include "rondo/jit_options.h"

namespace rondo {

// For an invalid signature, so that no further errors follow.
template <class Signature>
class NativeFunction {
 public:
  explicit NativeFunction(std::nullptr_t) {}
};

/// A traced function that is called like an ordinary C++ function: created by native. A call takes
/// and returns plain values and allocates nothing if the program is compiled and needs little
/// temporary memory. Copies share the program; calls from many threads at once are safe. Throws
/// what a run throws: ExecutionError if a limit of the options is exceeded. Throws TraceError, with
/// the line of native, if the function was moved from.
template <class R, class... As>
class NativeFunction<R(As...)> {
 public:
  NativeFunction(std::shared_ptr<const detail::NativeProgram> program, SourceLocation at)
      : program_(std::move(program)), at_(at) {}

  [[nodiscard("rondo: a native function changes nothing: use what it returns")]] R operator()(
      const As&... args) const {
    constexpr std::size_t kArguments =
        (std::size_t{0} + ... + detail::host_count<std::remove_cvref_t<As>>());
    // One more: arrays cannot be empty.
    const std::byte* arguments[kArguments + 1];
    std::byte* results[detail::host_count<R>() + 1];
    constexpr std::size_t kReordered =
        detail::reordered_bytes<R>() +
        (std::size_t{0} + ... + detail::reordered_bytes<std::remove_cvref_t<As>>());
    [[maybe_unused]] detail::ReorderedArrays<kReordered> reordered;
    [[maybe_unused]] std::size_t next = 0;
    [[maybe_unused]] auto take = [&](const auto& part) {
      arguments[next++] = reordered.read(part);
    };
    (detail::visit_host(args, take), ...);
    R result;
    std::size_t next_result = 0;
    auto give = [&](auto& part) { results[next_result++] = reordered.place_of(part); };
    detail::visit_host(result, give);
    program().run(arguments, results);
    if constexpr (detail::reordered_bytes<R>() > 0) {
      next_result = 0;
      auto write = [&](auto& part) { detail::write_reordered(results[next_result++], part); };
      detail::visit_host(result, write);
    }
    return result;
  }

  /// The program, with its text and memory plan.
  const Executable& executable() const { return program().executable(); }

 private:
  const detail::NativeProgram& program() const {
    if (!program_) detail::refuse_moved_from("native", true, at_);
    return *program_;
  }

  std::shared_ptr<const detail::NativeProgram> program_;
  SourceLocation at_;
};

/// f, traced once for host types and compiled: an ordinary C++ function.
///
///     auto hypotenuse = rondo::native<float(float, float)>(
///         [](Tensor a, Tensor b) { return sqrt(a * a + b * b); });
///     float c = hypotenuse(3, 4);
///
/// The signature has C++ numbers, std::array of them (one tensor of rank 1; nested, of higher
/// rank), Eigen types of fixed size (rondo/eigen.h), and plain structs, tuples and arrays of these;
/// by value or by const reference. f has the
/// same structure with a Tensor for each number and each array of numbers, in the order of
/// declaration. Numbers that f returns take the dtype of the result. Throws TraceError if a dtype
/// or shape differs from the signature's, and like trace and compile.
///
/// Options apply to the compilation and each run; RunOptions::stats of such a run, not
/// Executable::stats, has its statistics. A program that cannot be compiled runs on the reference
/// executor, slowly, as Executable::program tells.
template <class Signature, class F>
[[nodiscard("rondo: native returns a function; call that")]] NativeFunction<Signature> native(
    F&& f, JitOptions options = {}, SourceLocation at = SourceLocation::current()) {
  using Callable = std::remove_reference_t<F>;
  constexpr detail::NativeFault fault = detail::native_fault<Callable, Signature>();
  constexpr detail::CallFault call = detail::native_call_fault<Callable, Signature, fault>();
  [[maybe_unused]] constexpr bool callable = detail::check_call<call>();
  if constexpr (detail::check_native<fault>()) {
    using Passed = typename detail::NativeCall<Callable, Signature>::Passed;
    return NativeFunction<Signature>(
        detail::NativeMaker<Callable, Signature>::make(Passed{}, f, std::move(options), at), at);
  } else {
    return NativeFunction<Signature>(nullptr);
  }
}

}  // namespace rondo
