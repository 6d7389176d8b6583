// C++ functions as ops.
//
//     rondo::register_call("cube", {.run = [](const rondo::Call& call) {
//       const std::span<const float> x = call.operand<float>(0);
//       const std::span<float> y = call.result<float>(0);
//       for (std::size_t i = 0; i < x.size(); i++) y[i] = x[i] * x[i] * x[i];
//     }});
//     Tensor y = rondo::custom_call("cube", {x}, {x.type()})[0];
//
// Such an op is pure, like all others: it gives the same results for the same operands, and may run
// any number of times, or not at all, on any thread and on several at once. In HLO and StableHLO it
// is a custom call with its name as target.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/dtype.h"
#include "rondo/error.h"
#include "rondo/export.h"
#include "rondo/tensor.h"
#include "rondo/type.h"

namespace rondo {

/// A running call: dense arrays in row-major order, aligned to their elements. No result overlaps
/// an operand or another result.
class Call {
 public:
  /// What an executor gives.
  struct Parts {
    std::string_view name, config;
    std::span<const TensorType> operand_types, result_types;
    const std::byte* const* operands;
    std::byte* const* results;
    void* host;
  };
  explicit Call(const Parts& parts) : parts_(parts) {}

  /// The text that custom_call was given.
  std::string_view config() const noexcept { return parts_.config; }
  std::span<const TensorType> operand_types() const noexcept { return parts_.operand_types; }
  std::span<const TensorType> result_types() const noexcept { return parts_.result_types; }

  /// The elements of operand i. Throws ExecutionError if there is none, or if T is not the host
  /// type of its dtype.
  template <HostScalar T>
  std::span<const T> operand(std::size_t i) const {
    const std::size_t size = checked_size(parts_.operand_types, "operand", i, dtype_of<T>);
    return {reinterpret_cast<const T*>(parts_.operands[i]), size};
  }
  /// Those of result i, to be written; undefined before.
  template <HostScalar T>
  std::span<T> result(std::size_t i) const {
    const std::size_t size = checked_size(parts_.result_types, "result", i, dtype_of<T>);
    return {reinterpret_cast<T*>(parts_.results[i]), size};
  }
  /// Throws what ends the run, if its deadline has passed or it was asked to stop. A function that
  /// takes longer than a millisecond calls it now and then, on the thread that called it.
  RONDO_API void poll() const;

 private:
  RONDO_API std::size_t checked_size(std::span<const TensorType> types, const char* what,
                                     std::size_t i, DType dtype) const;
  Parts parts_;
};

/// The arguments of a call's forward-mode rule. Tangents have the types of the operands; zeros for
/// what has none.
struct CallTangents {
  std::span<const Tensor> operands, results, tangents;
  std::string_view config;
};

/// The arguments of a call's batching rule. Operands that are `batched` have the lanes as leading
/// axis; the others are the same for all lanes.
struct CallLanes {
  std::span<const Tensor> operands;
  const std::vector<bool>& batched;
  std::int64_t lanes;
  std::string_view config;
};

/// What is known about a C++ function.
struct CallRule {
  /// The types of the results from those of the operands. Without it custom_call is given them.
  std::function<std::vector<TensorType>(std::span<const TensorType>)> infer = nullptr;
  /// Computes the results. What it throws ends the run and reaches its caller. Without it the call
  /// can be traced and written as text, but does not run here.
  std::function<void(const Call&)> run = nullptr;
  /// The tangent of each result, as Tensor code that is linear in the tangents; reverse mode
  /// transposes it, and derivatives of higher order differentiate it. Tangents of integers are
  /// ignored. Without it a derivative throws TraceError.
  std::function<std::vector<Tensor>(const CallTangents&)> jvp = nullptr;
  /// The results for all lanes, each with the lanes as leading axis. Without it vmap is a loop over
  /// the lanes.
  std::function<std::vector<Tensor>(const CallLanes&)> batch = nullptr;
};

/// Makes the function available to custom_call, from all threads and until the process ends. Throws
/// TraceError if the name is empty or has been registered.
RONDO_API void register_call(std::string name, CallRule rule,
                             SourceLocation at = SourceLocation::current());

/// The results of a registered function. `types` are those of the results, and may be left out if
/// the rule infers them. `config` is passed on, and is the backend_config in texts. Throws
/// TraceError if the types are not known, or differ from the inferred ones; a function that is not
/// registered throws ExecutionError when the program is compiled to run here.
[[nodiscard("rondo: a call changes nothing: it returns its results; use them")]] RONDO_API
    std::vector<Tensor>
    custom_call(std::string_view name, const std::vector<Tensor>& operands,
                const std::vector<TensorType>& types = {}, std::string_view config = {},
                SourceLocation at = SourceLocation::current());

}  // namespace rondo
