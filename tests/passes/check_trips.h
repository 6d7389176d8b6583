// Shared by the tests of passes over all trips of a loop.
#pragma once

#include <memory>
#include <vector>

#include "passes/batch_trips.h"
#include "passes/check.h"
#include "passes/sum_trips.h"
#include "transforms/batching.h"

namespace rondo::testing {

inline std::unique_ptr<ir::Batching> batching_for(std::int64_t lanes) {
  return std::make_unique<transforms::Batcher>(lanes, "");
}

/// The optimized program, without and with what a pass computes for all trips at once.
struct BothForms {
  Function plain, changed;

  template <class Pass>
  BothForms(const Function& function, Pass pass) : plain(passes::optimize(function)) {
    const Function all = pass(plain, batching_for);
    EXPECT_NO_THROW(all.verify()) << all.str();
    changed = passes::optimize(all);
    EXPECT_EQ(changed.results(), function.results());
  }
  bool same() const { return changed.same_as(plain); }
};

/// Products in the function itself, not in its regions.
inline std::int64_t products_outside(const Function& function) {
  std::int64_t n = 0;
  for (const ir::Node* node : function.body()) n += node->op->name == "dot_general";
  return n;
}

/// Whole numbers, whose sums of products are exact in any order.
inline Literal whole_numbers(const std::vector<std::int64_t>& dims, int seed) {
  std::int64_t count = 1;
  for (const std::int64_t dim : dims) count *= dim;
  std::mt19937 random(static_cast<unsigned>(seed));
  std::vector<float> values;
  for (std::int64_t i = 0; i < count; i++)
    values.push_back(static_cast<float>(static_cast<int>(random() % 7) - 3));
  return Literal::from(values, dims);
}

/// Runs both forms on the reference and expects the same values. Returns how many ops each
/// evaluated.
inline std::pair<std::int64_t, std::int64_t> expect_same_values(
    const BothForms& forms, const std::vector<Literal>& arguments) {
  const CompileOptions not_optimized{.optimize = false, .executor = Executor::kReference};
  const Executable plain = compile(forms.plain, not_optimized),
                   changed = compile(forms.changed, not_optimized);
  const std::vector<Literal> want = plain.run(arguments), got = changed.run(arguments);
  for (std::size_t i = 0; i < want.size(); i++) {
    EXPECT_TRUE(same_values(got[i], want[i])) << "result " << i << " of\n" << forms.changed.str();
  }
  return {plain.stats().op_evaluations, changed.stats().op_evaluations};
}

}  // namespace rondo::testing
