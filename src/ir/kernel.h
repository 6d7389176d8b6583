// What a kernel gets: literals in, literals out.
#pragma once

#include <functional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// What a running program can tell the outside, and be told; the machine implements it.
class Host {
 public:
  virtual ~Host() = default;
  /// Runs region `region` of `node` on `arguments`.
  virtual void call(const Function& region, std::span<const Literal> arguments,
                    std::vector<Literal>& results) = 0;
  virtual void tap(std::string_view name, const Literal& value) = 0;
  virtual void print(std::string_view format, const Literal& value) = 0;
  virtual void progress(std::int64_t i, std::int64_t n) = 0;
};

/// One evaluation of a node.
class KernelCall {
 public:
  KernelCall(const Node& called, std::span<Literal* const> inputs, std::uint64_t movable,
             std::span<Literal> outputs, Host& runner)
      : KernelCall(called, called, inputs, movable, outputs, runner) {}
  /// `results` is the node whose types the outputs have: another one than `called` where a reshape
  /// of its result is done along with it.
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
  /// The operand to keep: moved if this is its last use (so that unshared storage can be written in
  /// place), else a copy that shares storage. Ask at most once for each operand, after the last
  /// read of input(i).
  Literal take(std::size_t i) {
    return i < 64 && (movable_ >> i & 1) ? std::move(*inputs_[i]) : *inputs_[i];
  }
  /// True if take(i) yields storage that nobody else sees.
  bool reusable(std::size_t i) const {
    return i < 64 && (movable_ >> i & 1) && inputs_[i]->unique();
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
