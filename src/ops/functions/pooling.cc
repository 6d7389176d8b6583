// Pooling: windows over the spatial axes of (batch, spatial axes..., features).
#include "ops/combiners.h"
#include "ops/reduce_window.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/windows.h"

namespace rondo {

namespace {

using Padding = std::vector<std::pair<std::int64_t, std::int64_t>>;

struct Pooling {
  Tensor x;
  WindowDims window;
  SourceLocation at;
};

Pooling pooling(const char* op, const Operand& operand, const std::vector<std::int64_t>& sizes,
                const std::vector<std::int64_t>& strides, const Padding& padding) {
  Pooling p{ir::checked(operand.any(), op, operand.at()), {}, operand.at()};
  const auto axes = static_cast<std::size_t>(std::max<std::int64_t>(p.x.rank() - 2, 0));
  const auto check = [&](const char* name, std::size_t size, bool optional) {
    if (size == axes || (optional && size == 0)) return;
    ops::fail(op,
              fmt::format("`{}` has {} entries; {} has {} spatial axes, those between the first "
                          "(batch) and the last (features)\n  Give an entry for each.",
                          name, size, p.x.type().str(), axes),
              p.at);
  };
  if (p.x.rank() < 2)
    ops::fail(op,
              fmt::format("{} has no axes of batch and features\n  Reshape it to (batch, spatial "
                          "axes..., features).",
                          p.x.type().str()),
              p.at);
  check("window", sizes.size(), false);
  check("strides", strides.size(), true);
  check("padding", padding.size(), true);
  const auto whole = [](const auto& list, auto otherwise, std::size_t rank) {
    std::vector all(rank, otherwise);
    std::copy(list.begin(), list.end(), all.begin() + 1);
    return all;
  };
  const std::size_t rank = axes + 2;
  p.window =
      ops::whole_window(op,
                        {.size = whole(sizes, std::int64_t{1}, rank),
                         .stride = whole(strides, std::int64_t{1}, rank),
                         .padding = whole(padding, std::pair<std::int64_t, std::int64_t>(), rank)},
                        p.x.rank(), p.at);
  return p;
}

Tensor pooled(ops::Combiner combiner, const Pooling& p) {
  const Tensor init = ir::make_constant(ops::combiner_identity(combiner, p.x.dtype()), p.at);
  return ir::make(ops::kReduceWindow, {p.x, init}, p.window, p.at,
                  {ops::combiner_region(combiner, p.x.dtype())});
}

}  // namespace

Tensor max_pool(const Operand& x, const std::vector<std::int64_t>& window,
                const std::vector<std::int64_t>& strides, const Padding& padding) {
  const Pooling p = pooling("max_pool", x, window, strides, padding);
  if (is_complex(p.x.dtype())) {
    ops::fail(
        "max_pool",
        fmt::format("{} has no order\n  Take it of abs(x), real(x) or imag(x).", p.x.type().str()),
        p.at);
  }
  return pooled(ops::Combiner::kMaximum, p);
}

Tensor avg_pool(const Operand& x, const std::vector<std::int64_t>& window,
                const std::vector<std::int64_t>& strides, const Padding& padding) {
  const Pooling p = pooling("avg_pool", x, window, strides, padding);
  if (!is_floating(p.x.dtype()) && !is_complex(p.x.dtype())) {
    ops::fail("avg_pool",
              fmt::format("{} has no exact mean in its own dtype\n  Convert it: "
                          "avg_pool(rondo::convert(x, DType::kF32), ...).",
                          p.x.type().str()),
              p.at);
  }
  double elements = 1;
  for (const std::int64_t size : window) elements *= static_cast<double>(size);
  return Operand(pooled(ops::Combiner::kAdd, p), p.at) / Operand(elements, p.at);
}

}  // namespace rondo
