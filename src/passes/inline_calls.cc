#include "passes/inline_calls.h"

#include <cstdint>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/region_facts.h"
#include "passes/rewrite.h"

namespace rondo::passes {

namespace {

using ir::Node;

// Threshold: Ops of a program in which all calls are inlined: compile time, which is some seconds
// for so many, against the loops and fusion that a call prevents. Not measured.
constexpr double kMostInlinedOps = 100'000;
// Threshold: Ops of a function that is inlined into larger programs as well: about the time of a
// call, some hundred nanoseconds, in scalar ops. Not measured.
constexpr double kSmallFunctionOps = 64;

bool is_call(const Node* node) { return node->op->construct.flow == ir::Flow::kCall; }

class Inliner {
 public:
  explicit Inliner(std::vector<Function> functions) : functions_(std::move(functions)) {
    absl::flat_hash_map<const void*, double> sizes;
    for (const Function& function : functions_) {
      double size = 0;
      for (const Node* node : function.body()) {
        if (is_call(node)) calls_[node->regions[0].identity()]++;
        double more = 1;
        for (const Function& region : node->regions) more += sizes.at(region.identity());
        size += more;
      }
      sizes.emplace(function.identity(), size);
    }
    inlines_all_ = sizes.at(functions_.back().identity()) <= kMostInlinedOps;
  }

  Function run() {
    for (const Function& function : functions_) rewrite(function);
    return done_.at(functions_.back().identity()).function;
  }

 private:
  struct Done {
    Function function;
    double size = 0;  // its ops, with those of its regions, but not of what it calls
  };

  bool is_inlined(const Function& callee, const Done& done) const {
    return inlines_all_ || calls_.at(callee.identity()) == 1 || done.size <= kSmallFunctionOps ||
           ir::observes(callee);
  }

  void rewrite(const Function& source) {
    FunctionRewrite rewrite(source);
    Done done;
    for (const Node* node : source.body()) {
      done.size++;
      std::vector<Function> regions;
      for (const Function& region : node->regions)
        regions.push_back(done_.at(region.identity()).function);
      const Done* const callee = is_call(node) ? &done_.at(node->regions[0].identity()) : nullptr;
      if (callee && is_inlined(node->regions[0], *callee)) {
        done.size += callee->size;
        rewrite.replace(node, ir::Replay::inline_call(callee->function, rewrite.operands_of(node)));
        continue;
      }
      for (const Function& region : node->regions) {
        if (!callee) done.size += done_.at(region.identity()).size;
      }
      if (!node->regions.empty() || rewrite.changed())
        rewrite.replace(node, rewrite.rebuilt(node, std::move(regions)));
    }
    done.function = rewrite.finish();
    done_.emplace(source.identity(), std::move(done));
  }

  const std::vector<Function> functions_;  // callees and regions first, the program last
  absl::flat_hash_map<const void*, std::int64_t> calls_;  // nodes that call a function
  bool inlines_all_ = false;
  absl::flat_hash_map<const void*, Done> done_;
};

}  // namespace

Function inline_calls(const Function& function) {
  if (ir::called_functions(function).empty()) return function;
  const ir::EagerPause pause;
  const ir::BuildScope building;
  return Inliner(ir::regions_inside_out(function)).run();
}

}  // namespace rondo::passes
