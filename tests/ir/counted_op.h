// An op that reports when its kernel runs and when its node is destroyed.
#pragma once

#include <atomic>
#include <cstring>
#include <memory>
#include <string>

#include "ir/kernel.h"
#include "ir/node.h"
#include "rondo/rondo.h"

namespace rondo::testing {

/// Counts the runs of a kernel, over all threads.
inline std::atomic<int> evaluations{0};

/// Exists as long as a node.
struct Life {
  std::shared_ptr<int> held;
  bool operator==(const Life&) const { return true; }  // the same structure
};
inline std::size_t hash_field(const Life&) { return 0; }
inline void count_field(HeldBytes&, const Life&) {}
struct CountedAttributes {
  Life life;
  bool operator==(const CountedAttributes&) const = default;
};

inline ir::InferredTypes infer_counted(const ir::InferContext& context) {
  return {context.type(0)};
}
inline void counted_kernel(const ir::KernelRun& run) {
  evaluations++;
  std::memcpy(run.results[0], run.operands[0], static_cast<std::size_t>(run.node.type().bytes()));
}

inline const ir::OpDef kCounted{.name = "counted",
                                .arity = 1,
                                .types = {.infer = infer_counted},
                                .kernel = {.prepare = ir::prepare_function<counted_kernel>},
                                .derivative = {.zero = true}};
/// The same, as an observer.
inline const ir::OpDef kWatched{.name = "watched",
                                .arity = 1,
                                .observer = true,
                                .types = {.infer = infer_counted},
                                .kernel = {.prepare = ir::prepare_function<counted_kernel>},
                                .derivative = {.zero = true}};

/// x. The node holds the shared pointer.
inline Tensor counted(const Tensor& x, const ir::OpDef& op = kCounted,
                      std::shared_ptr<int> life = nullptr) {
  return ir::make(op, {x}, CountedAttributes{{std::move(life)}}, SourceLocation::current());
}

}  // namespace rondo::testing
