// Ops that move, gather, scatter, multiply, reduce and sort: cases for tests of their derivatives.
#pragma once

#include <cstdint>
#include <functional>
#include <limits>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include "rondo/rondo.h"
#include "transforms/bent.h"

namespace rondo::testing {

using Many = std::vector<Tensor>;

struct MovingOp {
  const char* name;
  std::vector<Shape> shapes;
  std::function<Tensor(const Many&)> op;
};

inline std::vector<MovingOp> moving_ops() {
  return {
      {"broadcast_to",
       {{3}},
       [](const Many& x) {
         return broadcast_to(x[0], {4, 2, 3});
       }},
      {"broadcast_to_of_ones",
       {{2, 1, 3}},
       [](const Many& x) {
         return broadcast_to(x[0], {2, 4, 3});
       }},
      {"broadcast_scalar",
       {{}},
       [](const Many& x) {
         return broadcast_to(x[0], {2, 3});
       }},
      {"broadcast_in_dim",
       {{3, 2}},
       [](const Many& x) {
         return broadcast_in_dim(x[0], {2, 5, 3}, {2, 0});
       }},
      {"broadcast_to_no_elements",
       {{2}},
       [](const Many& x) {
         return sum(broadcast_to(x[0], {0, 2})) + sum(x[0]);
       }},
      {"reshape",
       {{2, 6}},
       [](const Many& x) {
         return reshape(x[0], {3, 4});
       }},
      {"squeeze", {{2, 1, 3}}, [](const Many& x) { return squeeze(x[0]); }},
      {"transpose",
       {{2, 3, 4}},
       [](const Many& x) {
         return transpose(x[0], {2, 0, 1});
       }},
      {"reverse",
       {{2, 3, 4}},
       [](const Many& x) {
         return reverse(x[0], {0, 2});
       }},
      {"concatenate",
       {{2, 3}, {2, 1}, {2, 2}},
       [](const Many& x) {
         return concatenate({x[0], x[1], x[2], x[0]}, 1);
       }},
      {"concatenate_with_constant",
       {{2, 3}},
       [](const Many& x) {
         return concatenate({zeros({x[0].dtype(), {1, 3}}), x[0]}, 0);
       }},
      {"stack",
       {{3}, {3}},
       [](const Many& x) {
         return stack({x[0], x[1]}, 1);
       }},
      {"pad",
       {{2, 3}, {}},
       [](const Many& x) {
         return pad(x[0], x[1], {1, 0}, {2, 1});
       }},
      {"pad_interior",
       {{2, 3}, {}},
       [](const Many& x) {
         return pad(x[0], x[1], {1, 2}, {0, 1}, {2, 1});
       }},
      {"pad_negative",
       {{4, 5}, {}},
       [](const Many& x) {
         return pad(x[0], x[1], {-1, -3}, {2, -1}, {1, 2});
       }},
      {"pad_of_nothing", {{0}, {}}, [](const Many& x) { return pad(x[0], x[1], {1}, {2}, {3}); }},
      {"slice",
       {{4, 5}},
       [](const Many& x) {
         return slice(x[0], {1, 0}, {3, 4});
       }},
      {"slice_strided",
       {{7, 5}},
       [](const Many& x) {
         return slice(x[0], {1, 0}, {6, 5}, {3, 2});
       }},
      {"slice_of_nothing",
       {{4}},
       [](const Many& x) { return sum(slice(x[0], {2}, {2}, {3})) + sum(x[0]); }},
      {"row", {{3, 2}}, [](const Many& x) { return x[0][1] * x[0][-1]; }},
      {"row_at_index", {{3, 2}}, [](const Many& x) { return x[0][constant(Literal::scalar(2))]; }},
      {"dynamic_slice",
       {{4, 5}},
       [](const Many& x) {
         return dynamic_slice(x[0], {Tensor(1), Tensor(2)}, {2, 3});
       }},
      {"dynamic_slice_clamped",
       {{4, 5}},
       [](const Many& x) {
         const Tensor start = constant(Literal::scalar(9)), low = constant(Literal::scalar(-3));
         return dynamic_slice(x[0], {start, low}, {2, 3});
       }},
      {"dynamic_update_slice",
       {{4, 5}, {2, 3}},
       [](const Many& x) {
         return dynamic_update_slice(x[0], x[1], {Tensor(1), Tensor(2)});
       }},
      {"dynamic_update_slice_clamped",
       {{4, 5}, {2, 3}},
       [](const Many& x) {
         const Tensor start = constant(Literal::scalar(9)), low = constant(Literal::scalar(-3));
         return dynamic_update_slice(x[0], x[1], {low, start});
       }},
      {"dynamic_update_slice_into_constant",
       {{2}},
       [](const Many& x) {
         return dynamic_update_slice(ones({x[0].dtype(), {4}}), x[0], {Tensor(1)});
       }},
      {"update_with_constant",
       {{4}},
       [](const Many& x) { return update(x[0], constant(Literal::scalar(2)), 3.0); }},
      {"dot_vectors", {{4}, {4}}, [](const Many& x) { return dot(x[0], x[1]); }},
      {"dot_with_itself", {{4}}, [](const Many& x) { return dot(x[0], x[0]); }},
      {"matmul", {{2, 3}, {3, 4}}, [](const Many& x) { return matmul(x[0], x[1]); }},
      {"matmul_vector", {{2, 3}, {3}}, [](const Many& x) { return matmul(x[0], x[1]); }},
      {"matmul_batched", {{5, 2, 3}, {5, 3, 4}}, [](const Many& x) { return matmul(x[0], x[1]); }},
      {"matmul_broadcast", {{2, 3}, {5, 3, 4}}, [](const Many& x) { return matmul(x[0], x[1]); }},
      {"dot_outer",
       {{2, 3}, {4}},
       [](const Many& x) { return dot_general(x[0], x[1], DotDims{}); }},
      {"dot_general",  // lhs: contracted with rhs 3, batch, free, contracted with rhs 1
       {{2, 5, 3, 4}, {5, 4, 6, 2}},
       [](const Many& x) {
         return dot_general(x[0], x[1], DotDims{{1}, {0}, {0, 3}, {3, 1}});
       }},
      {"dot_general_two_batches",
       {{2, 3, 4, 5}, {5, 3, 2, 6}},
       [](const Many& x) {
         return dot_general(x[0], x[1], DotDims{{1, 0}, {1, 2}, {3}, {0}});
       }},
  };
}

/// Windows of an array. A gather clamps them, a scatter drops them.
struct Windows {
  const char* name;
  Shape array;
  Literal indices;
  Shape windows;
  ScatterDims dims;
  std::vector<std::int64_t> sizes;

  GatherDims gather_dims() const {
    return {dims.update_window_dims, dims.inserted_window_dims, dims.scatter_dims_to_operand_dims,
            dims.index_vector_dim,   dims.input_batching_dims,  dims.scatter_indices_batching_dims};
  }
};

template <class T>
Literal indices_of(std::vector<T> values, const Shape& shape) {
  return Literal::from(values, shape);
}

inline std::vector<Windows> window_rows() {
  using S = std::int32_t;
  return {
      {"vectors_of_one", {5}, indices_of<S>({1, 3, 1, 7, -2}, {5, 1}), {5}, {{}, {0}, {0}, 1}, {1}},
      {"implied_vectors", {5}, indices_of<S>({1, 3, 1, 7}, {4}), {4}, {{}, {0}, {0}, 1}, {1}},
      {"vectors_in_front",
       {4, 5},
       indices_of<std::int64_t>({2, 0, 2, 9, 1, 0, 1, 1}, {2, 4}),
       {4},
       {{}, {0, 1}, {1, 0}, 0},
       {1, 1}},
      {"blocks_that_overlap",
       {4, 5},
       indices_of<S>({0, 1, 2, 2, 0, 2, 3, 0}, {4, 2}),
       {4, 2, 3},
       {{1, 2}, {}, {0, 1}, 1},
       {2, 3}},
      {"one_block", {4, 5}, indices_of<S>({2, 1}, {2}), {2, 3}, {{0, 1}, {}, {0, 1}, 0}, {2, 3}},
      {"one_block_over_the_edge",
       {4, 5},
       indices_of<S>({3, 1}, {2}),
       {2, 3},
       {{0, 1}, {}, {0, 1}, 0},
       {2, 3}},
      {"rows_by_a_matrix",
       {4, 5},
       indices_of<S>({0, 3, 3, 1}, {2, 2, 1}),
       {2, 2, 5},
       {{2}, {0}, {0}, 2},
       {1, 5}},
      {"columns", {5, 3}, indices_of<S>({2, 0, 2}, {3}), {5, 3}, {{0}, {1}, {1}, 1}, {5, 1}},
      {"batches",
       {3, 4},
       indices_of<S>({0, 2, 3, 3, 9, 1}, {3, 2}),
       {3, 2},
       {{}, {1}, {1}, 2, {0}, {0}},
       {1, 1}},
      {"batches_of_blocks",
       {4, 3, 2},
       indices_of<S>({1, 0, 2, 2, 9, 1, 1, 1}, {1, 4, 2}),
       {4, 2, 1},
       {{2}, {1}, {1}, 0, {2}, {2}},
       {1, 1, 1}},
      {"bytes",
       {300},
       indices_of<std::uint8_t>({0, 200, 255, 200}, {4}),
       {4},
       {{}, {0}, {0}, 1},
       {1}},
      {"no_windows", {3}, indices_of<S>({}, {0}), {0}, {{}, {0}, {0}, 1}, {1}},
      {"everywhere", {3}, indices_of<S>({}, {2, 0}), {2, 3}, {{1}, {}, {}, 1}, {3}},
  };
}

inline Tensor log_of_sums(const Tensor& a, const Tensor& b) { return log(exp(a) + exp(b)); }

struct Reducing {
  const char* name;
  std::vector<Shape> shapes;
  std::function<Many(const Many&)> op;
  bool complex = false;  // such an op exists
};

inline std::vector<Reducing> reductions() {
  return {
      {"sum", {{2, 3, 4}}, [](const Many& x) { return Many{sum(x[0])}; }, true},
      {"sum_middle", {{2, 3, 4}}, [](const Many& x) { return Many{sum(x[0], {1})}; }, true},
      {"sum_outer",
       {{2, 3, 4}},
       [](const Many& x) {
         return Many{sum(x[0], {0, 2}, true)};
       },
       true},
      {"sum_scalar", {{}}, [](const Many& x) { return Many{sum(x[0])}; }, true},
      {"sum_of_nothing", {{2, 0}}, [](const Many& x) { return Many{sum(x[0], {1})}; }},
      {"sum_from",
       {{2, 3}, {}},
       [](const Many& x) {
         return Many{reduce(x[0], x[1], {0}, [](Tensor a, Tensor b) { return a + b; })};
       },
       true},
      {"mean", {{2, 3}}, [](const Many& x) { return Many{mean(x[0], {1})}; }, true},
      {"prod",
       {{2, 3, 4}},
       [](const Many& x) {
         return Many{prod(x[0], {0, 2})};
       },
       true},
      {"prod_of_seven", {{7}}, [](const Many& x) { return Many{prod(x[0])}; }, true},
      {"prod_of_one", {{1}}, [](const Many& x) { return Many{prod(x[0])}; }, true},
      {"prod_of_nothing", {{2, 0}}, [](const Many& x) { return Many{prod(x[0], {1})}; }},
      {"prod_from",
       {{2, 3}, {}},
       [](const Many& x) {
         return Many{reduce(x[0], x[1], {0}, [](Tensor a, Tensor b) { return a * b; })};
       },
       true},
      {"max",
       {{2, 3, 4}},
       [](const Many& x) {
         return Many{max(x[0], {0, 2})};
       }},
      {"min", {{2, 3, 4}}, [](const Many& x) { return Many{min(x[0], {1})}; }},
      {"max_from",
       {{5, 3}, {}},
       [](const Many& x) {
         return Many{reduce(x[0], x[1], {1}, [](Tensor a, Tensor b) { return maximum(a, b); })};
       }},
      {"max_from_constant",
       {{5, 3}},
       [](const Many& x) {
         return Many{reduce(x[0], 0.3, {1}, [](Tensor a, Tensor b) { return maximum(a, b); })};
       }},
      {"other_combiner",
       {{2, 3, 4}, {}},
       [](const Many& x) {
         return Many{reduce(x[0], x[1], {0, 2}, log_of_sums)};
       },
       true},
      {"other_combiner_to_scalar",
       {{2, 3}, {}},
       [](const Many& x) {
         return Many{reduce(x[0], x[1], {}, [](Tensor a, Tensor b) { return a * 0.5 + b * b; })};
       },
       true},
      {"combiner_of_two",  // sum and sum of products, in one reduction
       {{3, 2}, {3, 2}},
       [](const Many& x) {
         const auto [a, b] =
             reduce(std::pair{x[0], x[1]}, std::pair{0.5, 1.0}, {0},
                    [](std::pair<Tensor, Tensor> acc, std::pair<Tensor, Tensor> e) {
                      return std::pair{acc.first + e.first, acc.second + acc.first * e.second};
                    });
         return Many{a, b};
       },
       true},
      {"combiner_with_index",  // the greatest, and its position
       {{4, 3}},
       [](const Many& x) {
         using Best = std::pair<Tensor, Tensor>;
         const Best best = reduce(
             Best{x[0], iota(s32({4, 3}), 0)},
             std::pair{-std::numeric_limits<double>::infinity(), 0}, {0}, [](Best a, Best b) {
               const Tensor keep = a.first >= b.first;
               return Best{where(keep, a.first, b.first), where(keep, a.second, b.second)};
             });
         return Many{best.first * (1 + convert(best.second, DType::kF64))};
       }},
      {"cumsum", {{2, 5}}, [](const Many& x) { return Many{cumsum(x[0], 1)}; }, true},
      {"cumsum_reverse", {{5, 2}}, [](const Many& x) { return Many{cumsum(x[0], 0, true)}; }, true},
      {"cumprod", {{2, 5}}, [](const Many& x) { return Many{cumprod(x[0], 1)}; }, true},
      {"cumprod_reverse",
       {{6, 2}},
       [](const Many& x) { return Many{cumprod(x[0], 0, true)}; },
       true},
      {"cummax", {{2, 7}}, [](const Many& x) { return Many{cummax(x[0], 1)}; }},
      {"cummin_reverse", {{7, 2}}, [](const Many& x) { return Many{cummin(x[0], 0, true)}; }},
      {"cumsum_of_nothing", {{0, 2}}, [](const Many& x) { return Many{cumsum(x[0], 0)}; }},
      {"sort", {{3, 5}}, [](const Many& x) { return Many{sort(x[0])}; }, true},
      {"top_k", {{2, 30}}, [](const Many& x) { return Many{top_k(x[0], 3).first}; }},
      {"sort_first_axis", {{5, 3}}, [](const Many& x) { return Many{sort(x[0], 0)}; }, true},
      {"sort_by_descending",
       {{2, 5}},
       [](const Many& x) {
         return Many{sort_by(
             x[0], 1, [](Tensor a, Tensor b) { return a > b; }, false)};
       }},
      {"sort_by_with_others",
       {{5, 2}, {5, 2}},
       [](const Many& x) {
         using Row = std::tuple<Tensor, Tensor, Tensor>;
         const auto [key, value, place] =
             sort_by(Row{x[0], x[1], iota(s32({5, 2}), 0)}, 0,
                     [](Row a, Row b) { return abs(std::get<0>(a)) < abs(std::get<0>(b)); });
         return Many{key, value * convert(place, DType::kF64)};
       }},
      {"sort_by_integers",
       {{4}},
       [](const Many& x) {
         using Pair = std::pair<Tensor, Tensor>;
         return Many{sort_by(Pair{constant({3, 1, 2, 0}), x[0]}, 0, [](Pair a, Pair b) {
                       return a.first < b.first;
                     }).second};
       }},
  };
}

}  // namespace rondo::testing
