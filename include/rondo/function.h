// A traced program.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/tensor.h"

namespace rondo {

/// The statistics of a program.
struct FunctionStats {
  std::int64_t nodes = 0;    // in the entry and all regions
  std::int64_t regions = 0;  // loop bodies, conditions, branches, reducers, at any depth
  std::int64_t loops = 0;    // while, fori and scan nodes, at any depth
  std::int64_t depth = 0;    // of the deepest region; 0 without regions
  std::int64_t constant_bytes = 0;
  std::map<std::string, std::int64_t> ops;  // how often each op occurs in it
};

/// A program, or a region of one: parameters, nodes, results. Immutable, closed (it uses nothing
/// from outside), cheap to copy and safe to share between threads. Created by trace() and by
/// transforms.
class RONDO_API Function {
 public:
  Function() = default;  // an empty handle

  /// A function from `params` to `results`. The results may depend on no other unknown: throws
  /// TraceError naming a tensor of another trace. `result_names` is empty, or has a name for each
  /// result.
  static Function make(std::string name, std::vector<Tensor> params, std::vector<Tensor> results,
                       std::vector<std::string> result_names = {});

  const std::string& name() const;
  /// The types, in order.
  std::vector<TensorType> params() const;
  std::vector<TensorType> results() const;
  /// `arg0.slab` ...; results are named if the traced tree named them.
  std::vector<std::string> param_names() const;
  const std::vector<std::string>& result_names() const;
  /// The program as the IR's own text: loops as loops. Same as to_text.
  std::string str() const;
  /// Checks that the program is well formed, at every depth: closed, ordered, each node's types as
  /// its op infers them, regions that fit their nodes. Throws InternalError naming the first node
  /// that is not.
  void verify() const;
  FunctionStats stats() const;

  bool empty() const noexcept { return data_ == nullptr; }
  // For code that walks programs.
  const std::vector<Tensor>& parameters() const;
  const std::vector<Tensor>& outputs() const;
  /// All nodes but the parameters, each after its operands.
  const std::vector<const ir::Node*>& body() const;
  /// Whether both are the same object, not only equal.
  bool same_as(const Function& other) const noexcept { return data_ == other.data_; }
  const void* identity() const noexcept { return data_.get(); }
  struct Data;

 private:
  friend class FunctionAccess;
  std::shared_ptr<const Data> data_;
};

/// Prints the program as the IR's text, like Function::str(). Throws TraceError for an empty
/// Function.
RONDO_API std::ostream& operator<<(std::ostream& out, const Function& function);

}  // namespace rondo
