// All nodes of a public function have the line of the user's call: errors and the advice of
// program() never name a line of the library.
#include <gtest/gtest.h>

#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "ir/function_data.h"
#include "ir/node.h"
#include "rondo/rondo.h"
#include "support/lowered.h"

namespace rondo {
namespace {

bool is_of_a_test(const ir::Node& node) {
  return std::string_view(node.location().file).ends_with("_test.cc");
}

/// As in cached regions, such as the sum of a reduction.
bool has_no_line(const ir::Node& node) { return node.location().line == 0; }

/// The lines of nodes, at any depth, that are not in a test.
std::vector<std::string> foreign_lines(const Function& function) {
  std::vector<std::string> foreign;
  for (const Function& region : ir::regions_inside_out(function)) {
    const bool is_kept = FunctionAccess::notes(region).has(FunctionNotes::kPermanent);
    for (const ir::Node* node : region.body())
      if (!is_of_a_test(*node) && !(is_kept && has_no_line(*node)))
        foreign.push_back(node->location().str());
  }
  return foreign;
}

struct Row {
  const char* name;
  std::function<Function()> program;
};

template <class F, class... Types>
Row row(const char* name, F f, Types... types) {
  return {name, [f, types...] { return trace(f, types...); }};
}

const TensorType kVector = f32({6}), kMatrix = f32({6, 6}), kKey = {DType::kU32, {2}};

std::vector<Row> rows() {
  const auto x = [](const char* name, auto f) { return row(name, f, kMatrix); };
  const auto k = [](const char* name, auto f) { return row(name, f, kKey); };
  return {
      x("outer", [](Tensor m) { return outer(m[0], m[1]); }),
      x("diag", [](Tensor m) { return diag(m[0]) + diag(diag(m)); }),
      x("tril", [](Tensor m) { return tril(m) + triu(m, 1); }),
      x("matrix",
        [](Tensor m) {
          return matrix({{m[0][0], m[1][1]}, {m[2][0], m[0][2]}});
        }),
      x("roll", [](Tensor m) { return roll(m, 2, 1); }),
      x("flip", [](Tensor m) { return flip(m); }),
      x("tile",
        [](Tensor m) {
          return tile(m, {2, 3});
        }),
      x("repeat", [](Tensor m) { return repeat(m, 2, 1); }),
      x("diff", [](Tensor m) { return diff(m); }),
      x("column", [](Tensor m) { return column(m, 2); }),
      x("column at a tensor", [](Tensor m) { return column(m, convert(m[0][0], DType::kS32)); }),
      x("at",
        [](Tensor m) {
          return at(m, {1, 2});
        }),
      x("update", [](Tensor m) { return update(m, 1, m[0]); }),
      x("update at two",
        [](Tensor m) {
          return update(m, {1, 2}, m[0][0]);
        }),
      x("take",
        [](Tensor m) {
          return take(m, constant(std::vector<int>{1, 3}), 1);
        }),
      x("norm", [](Tensor m) { return norm(m); }),
      x("var", [](Tensor m) { return var(m) + stddev(m); }),
      x("median", [](Tensor m) { return median(m, 1); }),
      x("quantile", [](Tensor m) { return quantile(m, 0.3f, 1); }),
      x("cov", [](Tensor m) { return cov(m); }),
      x("mean", [](Tensor m) { return mean(m, 1); }),
      x("softmax", [](Tensor m) { return softmax(m) + log_softmax(m); }),
      x("batch_norm_training",
        [](Tensor m) {
          const auto [y, a, v] = batch_norm_training(m, 1.0f, 0.0f);
          const auto [of_x, of_s, of_o] = batch_norm_grad(m, 2.0f, a, v, y);
          return batch_norm_inference(of_x, of_s, of_o, a, v);
        }),
      x("logsumexp", [](Tensor m) { return logsumexp(m); }),
      x("relu", [](Tensor m) { return relu(m) + gelu(m) + gelu(m, false) + silu(m); }),
      x("one_hot", [](Tensor m) { return one_hot(convert(m[0], DType::kS32), 4); }),
      x("matmul", [](Tensor m) { return matmul(m, m[0]) + dot(m, m[1]); }),
      x("einsum", [](Tensor m) { return einsum("ij,ij,k", m, m, m[0]); }),
      x("tensordot", [](Tensor m) { return tensordot(m, m) + vdot(m, m); }),
      x("inner",
        [](Tensor m) {
          return inner(m, m) + tensordot(m, m, {{1}, {1}});
        }),
      x("gradient", [](Tensor m) { return gradient(m, m[0]) + gradient(m); }),
      x("trapezoid", [](Tensor m) { return trapezoid(m, m[0]); }),
      x("cumulative_trapezoid", [](Tensor m) { return cumulative_trapezoid(m); }),
      x("convolve", [](Tensor m) { return convolve(m[0], m[1]); }),
      x("correlate", [](Tensor m) { return correlate(m[0], m[1]); }),
      x("polyval", [](Tensor m) { return polyval(m[0], m); }),
      x("polyfit", [](Tensor m) { return polyfit(m[0], m[1], 1); }),
      x("meshgrid", [](Tensor m) { return meshgrid(m[0], m[1]); }),
      x("fftshift", [](Tensor m) { return fftshift(m) + ifftshift(m); }),
      x("fftfreq", [](Tensor m) { return fftfreq(4, m[0][0]) + rfftfreq(6, m[0][0]); }),
      x("nansum", [](Tensor m) { return nansum(m) + nanmean(m) + nanvar(m); }),
      x("nanmax", [](Tensor m) { return nanmax(m) + nanmin(m); }),
      x("cholesky", [](Tensor m) { return cholesky(m); }),
      x("searchsorted", [](Tensor m) { return searchsorted(m[0], m[1]); }),
      x("bincount", [](Tensor m) { return bincount(convert(m[0], DType::kS32), 5); }),
      x("digitize", [](Tensor m) { return digitize(m[0], m[1]); }),
      x("unique_counts", [](Tensor m) { return unique_counts(m[0]); }),
      x("top_k", [](Tensor m) { return top_k(m, 2); }),
      x("argpartition", [](Tensor m) { return argpartition(m, 1); }),
      x("unique", [](Tensor m) { return unique(m, 4).values; }),
      x("argwhere", [](Tensor m) { return argwhere(m, 4); }),
      x("isin", [](Tensor m) { return isin(m, m[0]); }),
      x("histogram", [](Tensor m) { return histogram(m, 3, 0, 1); }),
      x("segment_sum",
        [](Tensor m) {
          const Tensor ids = convert(column(m, 0), DType::kS32);
          return std::tuple(segment_sum(m, ids, 2), segment_prod(m, ids, 2), segment_max(m, ids, 2),
                            segment_min(m, ids, 2));
        }),
      x("interp", [](Tensor m) { return interp(m[0], m[1], m[2]); }),
      x("sort", [](Tensor m) { return sort(m); }),
      x("argsort", [](Tensor m) { return argsort(m); }),
      x("cumsum", [](Tensor m) { return cumsum(m, 0) + cumprod(m, 1); }),
      x("argmax", [](Tensor m) { return argmax(m, 0); }),
      x("clamp", [](Tensor m) { return clamp(0.0f, m, 1.0f); }),
      x("where", [](Tensor m) { return where(m < 0, -m, 2); }),
      k("split", [](Tensor key) { return random::split(key, 3); }),
      k("fold_in", [](Tensor key) { return random::fold_in(key, 3); }),
      k("uniform", [](Tensor key) { return random::uniform(key, kVector); }),
      k("normal", [](Tensor key) { return random::normal(key, kVector); }),
      k("randint", [](Tensor key) { return random::randint(key, s32({6}), 0, 9); }),
      k("bernoulli", [](Tensor key) { return random::bernoulli(key, 0.4f, {6}); }),
      k("exponential", [](Tensor key) { return random::exponential(key, kVector); }),
      k("gamma", [](Tensor key) { return random::gamma(key, 2.0f, {6}); }),
      k("permutation", [](Tensor key) { return random::permutation(key, 6); }),
      row(
          "multivariate_normal",
          [](Tensor key, Tensor mean, Tensor covariance) {
            return random::multivariate_normal(key, mean, covariance);
          },
          kKey, kVector, kMatrix),
      row(
          "categorical", [](Tensor key, Tensor logits) { return random::categorical(key, logits); },
          kKey, kVector),
      row(
          "choice", [](Tensor key, Tensor x) { return random::choice(key, x, {3}); }, kKey,
          kVector),
  };
}

TEST(Origins, AreLinesOfTheUser) {
  for (const Row& row : rows()) {
    const std::vector<std::string> foreign = foreign_lines(row.program());
    EXPECT_TRUE(foreign.empty()) << row.name << " has nodes at " << foreign.front();
  }
}

// Whoever uses them first, here in a thread that has none yet.
TEST(Origins, AreNoneInCachedRegions) {
  std::vector<std::string> foreign;
  std::thread([&] {
    {
      const ir::LocationScope elsewhere(SourceLocation{"elsewhere.cc", "", 7});
      static_cast<void>(argsort(zeros(f32({4}))));
    }
    foreign = foreign_lines(trace([](Tensor x) { return argsort(x); }, f32({4})));
  }).join();
  EXPECT_TRUE(foreign.empty()) << foreign.front();
}

TEST(Origins, StandInTheAdviceOfAProgram) {
  const testing::Lowered lowered(trace([](Tensor x) { return expm(x); }, f32({40, 40})));
  const std::vector<const ir::Node*> obstacles = lowered.obstacles();
  EXPECT_FALSE(obstacles.empty());
  for (const ir::Node* node : obstacles) EXPECT_TRUE(is_of_a_test(*node)) << node->location().str();
}

}  // namespace
}  // namespace rondo
