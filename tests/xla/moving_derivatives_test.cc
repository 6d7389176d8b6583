// First and second derivatives of the ops that move, reduce and sort, in real XLA.
#include <algorithm>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "support/xla.h"
#include "transforms/derivative_rows.h"

namespace rondo::testing {
namespace {

class XlaMovingDerivatives : public XlaTest {};

/// The gradients of sums of squares of bent ops, and how they change along the arguments: all rows
/// as one program, since XLA takes its time for each.
class DerivativeProgram {
 public:
  void add(const std::string& name, const TensorsFunction& op, DType dtype,
           const std::vector<Shape>& shapes) {
    rows_.push_back({op, arguments_.size(), shapes.size()});
    names_ += "\n  results " + std::to_string(2 * arguments_.size()) + "...: " + name;
    for (const Shape& shape : shapes)
      arguments_.push_back(
          random_array({dtype, shape}, static_cast<unsigned>(arguments_.size()) + 1));
  }

  void check() const {
    SCOPED_TRACE(names_);
    std::vector<TensorType> types;
    for (const Literal& argument : arguments_) types.push_back(argument.type());
    const Function f = trace(
        [&](const Many& all) {
          Many results;
          for (const Row& row : rows_) {
            const auto first = all.begin() + static_cast<std::ptrdiff_t>(row.first);
            const Many at(first, first + static_cast<std::ptrdiff_t>(row.count));
            const auto gradient = grad([&](const Many& x) { return total(row.op, x); });
            for (const Many& part : both(jvp(gradient, std::tuple{at}, std::tuple{at})))
              results.insert(results.end(), part.begin(), part.end());
          }
          return results;
        },
        types);
    expect_same_as_xla(f, arguments_, {.rtol = 1e-10, .atol = 1e-10}, XlaTexts::kStablehlo);
  }

 private:
  struct Row {
    TensorsFunction op;
    std::size_t first, count;  // of its arguments
  };

  static Tensor total(const TensorsFunction& op, const Many& x) {
    Tensor all;
    for (const Tensor& y : bent(op)(x)) {
      const Tensor one = sum(is_complex(y.dtype()) ? real(y) : y);
      all = all.empty() ? one : all + one;
    }
    return all;
  }
  static std::vector<Many> both(std::pair<Many, Many> pair) { return {pair.first, pair.second}; }

  std::vector<Row> rows_;
  std::vector<Literal> arguments_;
  std::string names_;
};

TEST_F(XlaMovingDerivatives, OfOpsThatMove) {
  DerivativeProgram program;
  for (const MovingOp& row : moving_ops()) {
    const auto op = [op = row.op](const Many& x) { return Many{op(x)}; };
    program.add(row.name, op, DType::kF64, row.shapes);
    if (row.name == std::string("dot_general"))
      program.add("complex dot_general", op, DType::kC128, row.shapes);
  }
  program.check();
}

TEST_F(XlaMovingDerivatives, OfReductionsAndSorts) {
  DerivativeProgram program;
  for (const Reducing& row : reductions()) program.add(row.name, row.op, DType::kF64, row.shapes);
  program.check();
}

TEST_F(XlaMovingDerivatives, OfGather) {
  DerivativeProgram program;
  for (const Windows& row : window_rows()) {
    const auto op = [row](const Many& x) {
      return Many{gather(x[0], constant(row.indices), row.gather_dims(), row.sizes)};
    };
    program.add(row.name, op, DType::kF64, {row.array});
  }
  program.check();
}

TEST_F(XlaMovingDerivatives, OfScatter) {
  DerivativeProgram program;
  // Overwriting needs everything that adding needs, and more.
  const std::vector<std::string> few{"vectors_of_one", "blocks_that_overlap", "batches"};
  const auto add = [&](const std::string& combiner, bool all, auto combine) {
    for (const Windows& row : window_rows()) {
      if (!all && std::find(few.begin(), few.end(), row.name) == few.end()) continue;
      const auto op = [row, combine](const Many& x) {
        return Many{scatter(x[0], constant(row.indices), x[1], row.dims, combine)};
      };
      program.add(row.name + (" " + combiner), op, DType::kF64, {row.array, row.windows});
    }
  };
  add("add", false, [](const Tensor& a, const Tensor& b) { return a + b; });
  add("overwrite", true, [](const Tensor&, const Tensor& b) { return b; });
  add("maximum", false, [](const Tensor& a, const Tensor& b) { return maximum(a, b); });
  add("other", false, [](const Tensor& a, const Tensor& b) { return a * 0.5 + sin(b) * a; });
  program.check();
}

}  // namespace
}  // namespace rondo::testing
