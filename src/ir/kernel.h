// Kernels: how an op runs on arrays in memory, for every executor.
//
// An executor prepares the kernel of a node once and runs it any number of times, on many threads
// at once. It passes the addresses of operands and results; a kernel allocates no result and keeps
// no state of a run.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "base/memory.h"
#include "ir/node.h"

namespace rondo::ir {

/// The addresses of the operands of a kernel, in order: arrays of the node's operand types, dense
/// and row-major, aligned to their element. The address of an array without elements may be null.
using OperandPlaces = std::span<const std::byte* const>;
/// The addresses of the results: memory of the node's result types, of undefined content.
using ResultPlaces = std::span<std::byte* const>;

/// A region of a kernel's node, prepared by the executor: combiners, comparators.
class RegionCall {
 public:
  virtual ~RegionCall() = default;
  /// Runs it on arrays of the types of the region's parameters. The results have the types of its
  /// outputs, and may have the addresses of operands.
  virtual void run(OperandPlaces operands, ResultPlaces results) = 0;
};

/// The services that a running kernel gets from its executor.
class Host {
 public:
  virtual ~Host() = default;
  /// A region of the kernel's node, valid for the run.
  virtual RegionCall& region(const Function& region) = 0;
  /// Throws the exception that ends the run, if its deadline has passed or it was asked to stop.
  /// Kernels that can run longer than a millisecond call it between blocks.
  virtual void poll() = 0;
  /// How many threads a kernel may use. Only the one that called it may poll.
  virtual int threads() const { return 1; }
  virtual void tap(std::string_view name, const TensorType& type, const std::byte* value) = 0;
  virtual void print(std::string_view format, const TensorType& type, const std::byte* value) = 0;
  virtual void progress(std::int64_t i, std::int64_t n) = 0;
  /// The same for one lane of a vmap: `[3]`.
  virtual void progress_of_lane(std::string_view /*lane*/, std::int64_t i, std::int64_t n) {
    progress(i, n);
  }
};

/// Counts the work of a long kernel and polls its host between blocks.
class Poller {
 public:
  /// Some hundred microseconds, at a nanosecond per element.
  static constexpr std::int64_t kBlock = std::int64_t{1} << 18;

  explicit Poller(Host& host) : host_(host) {}
  /// Call it after work of about `elements` additions.
  void did(std::int64_t elements) {
    left_ -= elements;
    if (left_ > 0) return;
    left_ = kBlock;
    host_.poll();
  }

 private:
  Host& host_;
  std::int64_t left_ = kBlock;
};

/// Copies an array of any size. Calls did(elements) after each block, as Poller counts them.
template <class Did>
void copy_in_blocks(std::byte* to, const std::byte* from, std::int64_t bytes, Did did) {
  constexpr std::int64_t kBlock = 8 * Poller::kBlock;
  while (bytes > kBlock) {
    copy_bytes(to, from, kBlock);
    did(kBlock / 8);
    to += kBlock;
    from += kBlock;
    bytes -= kBlock;
  }
  copy_bytes(to, from, bytes);
  did(bytes / 8 + 1);
}
inline void copy_in_blocks(std::byte* to, const std::byte* from, std::int64_t bytes,
                           Poller& poller) {
  copy_in_blocks(to, from, bytes, [&](std::int64_t elements) { poller.did(elements); });
}

struct PackedOperand;

/// An op prepared to run: what follows from its attributes and types has been computed. The node
/// outlives it.
class Kernel {
 public:
  virtual ~Kernel() = default;
  Kernel() = default;
  Kernel(const Kernel&) = delete;
  Kernel& operator=(const Kernel&) = delete;

  /// Computes the results. A result may have the address of an operand if `overwrites` allows it,
  /// or if the results are `forwarded`; otherwise no two arrays overlap. Operands that occur twice
  /// may have one address. Throws Error; the content of the results is then undefined.
  virtual void run(OperandPlaces operands, ResultPlaces results, Host& host) const = 0;

  /// The operands that a result may overwrite, one bit for each of the first 64: those of the same
  /// size in bytes whose elements are read before they are written, or kept if they do not change.
  virtual std::uint64_t overwrites(std::size_t /*result*/) const { return 0; }
  /// Result i is operand i, byte by byte. It may have the same address although the operand is used
  /// again; a run then copies nothing.
  virtual bool forwards() const { return false; }
  /// The size of the object with what it holds.
  virtual std::size_t bytes() const noexcept = 0;
  /// How to run if that operand is the same in several runs; nullopt if there is no faster way.
  virtual std::optional<PackedOperand> packed(std::size_t operand) const;
};

/// An operand in a kernel's internal layout, packed once for several runs. The results have the
/// same bits as those of the kernel itself.
struct PackedOperand {
  std::int64_t bytes = 0;
  std::unique_ptr<const Kernel> pack;  // of the operand; its result is the packed bytes
  std::unique_ptr<const Kernel> run;   // on the operands, with the packed bytes replacing that one
};
inline std::optional<PackedOperand> Kernel::packed(std::size_t /*operand*/) const {
  return std::nullopt;
}

/// A PrepareRule for ops whose results are their operands, byte by byte.
std::unique_ptr<Kernel> prepare_forwarding(const Node& node);

/// The kernel of a node whose record has one; null for others.
std::unique_ptr<Kernel> prepare(const Node& node);
/// Throws ExecutionError: an op without a kernel has reached an executor.
[[noreturn]] void fail_without_kernel(const Node& node);

/// One run of a kernel that needs only its node.
struct KernelRun {
  const Node& node;
  OperandPlaces operands;
  ResultPlaces results;
  Host& host;

  template <class T>
  const T& attrs() const {
    return node.attrs<T>();
  }
  /// The elements of operand i, in the C++ type of its dtype.
  template <class T>
  const T* operand(std::size_t i) const {
    return reinterpret_cast<const T*>(operands[i]);
  }
  template <class T>
  T* result(std::size_t i = 0) const {
    return reinterpret_cast<T*>(results[i]);
  }
};

/// A PrepareRule from a function on KernelRun. The first `in_place` results may overwrite the
/// operands of the same number.
template <void (*run_kernel)(const KernelRun&), std::size_t in_place = 0>
std::unique_ptr<Kernel> prepare_function(const Node& node) {
  class FunctionKernel final : public Kernel {
   public:
    std::size_t bytes() const noexcept override { return sizeof(*this); }
    explicit FunctionKernel(const Node& called) : node_(called) {}
    void run(OperandPlaces operands, ResultPlaces results, Host& host) const override {
      run_kernel({node_, operands, results, host});
    }
    std::uint64_t overwrites(std::size_t result) const override {
      return result < in_place ? std::uint64_t{1} << result : 0;
    }

   private:
    const Node& node_;
  };
  return std::make_unique<FunctionKernel>(node);
}

/// One evaluation of a node on literals, for the few ops whose values may be larger than their
/// types: growing tapes. They run only in the interpreter.
class KernelCall {
 public:
  KernelCall(const Node& called, std::span<Literal* const> inputs, std::uint64_t movable,
             std::span<Literal> outputs, Host& runner)
      : KernelCall(called, called, inputs, movable, outputs, runner) {}
  /// `results` is the node whose types the outputs have. It differs from `called` if a reshape of
  /// its result is done along with it.
  KernelCall(const Node& called, const Node& results, std::span<Literal* const> inputs,
             std::uint64_t movable, std::span<Literal> outputs, Host& runner)
      : node(called),
        host(runner),
        results_(results),
        inputs_(inputs),
        movable_(movable),
        outputs_(outputs) {}

  const Node& node;
  Host& host;

  std::size_t inputs() const { return inputs_.size(); }
  const Literal& input(std::size_t i) const { return *inputs_[i]; }
  /// The operand as a result: moved if this is its last use (so unshared storage can be overwritten
  /// in place), else a copy that shares storage. Call at most once for each operand, after the last
  /// read of input(i).
  Literal take(std::size_t i) {
    return i < 64 && (movable_ >> i & 1) ? std::move(*inputs_[i]) : *inputs_[i];
  }
  Literal& output(std::size_t i = 0) { return outputs_[i]; }
  std::size_t outputs() const { return outputs_.size(); }
  const TensorType& output_type(std::size_t i = 0) const { return results_.types[i]; }
  template <class T>
  const T& attrs() const {
    return node.attrs<T>();
  }

 private:
  const Node& results_;
  std::span<Literal* const> inputs_;
  std::uint64_t movable_;
  std::span<Literal> outputs_;
};

}  // namespace rondo::ir
