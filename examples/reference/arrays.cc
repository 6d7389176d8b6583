// Examples of the reference: making and shaping arrays, indexing and slices.
#include <array>
#include <cmath>
#include <vector>

#include "example.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

int main() {
  example("constant", [] {
    std::cout << constant({1.0f, 2.5f}) << " " << constant({{1, 2}, {3, 4}}) << "\n";
    std::vector<std::array<double, 3>> points = {{1, 2, 3}, {4, 5, 6}};
    std::cout << constant(points) << "\n";
    std::cout << constant(std::vector<int>{1, 2, 3, 4, 5, 6}, {3, 2}) << "\n";
  });
  example("full, zeros, ones", [] {
    std::cout << full(f32({2, 2}), 0.5) << " " << zeros(s32({3})) << " " << ones(pred({2})) << "\n";
    std::cout << full(f32({2, 3}), constant({1.0f, 2.0f, 3.0f})) << "\n";  // broadcast
  });
  example("iota, arange", [] {
    std::cout << iota(s32({2, 3}), 0) << " " << iota(s32({2, 3}), 1) << "\n";
    std::cout << arange(4) << " " << arange(3, DType::kF64) << "\n";
    Tensor x = constant({0.5f, 1.5f});
    std::cout << x * arange(2, x) << "\n";  // of the dtype of x
  });
  example("eye, diag", [] {
    std::cout << eye(2) << "\n" << diag(constant({1, 2}), 1) << "\n";
    std::cout << diag(constant({{1, 2}, {3, 4}})) << "\n";  // of a matrix: its diagonal
  });
  example("reshape, squeeze, expand_dims", [] {
    Tensor x = arange(6);
    std::cout << reshape(x, {2, -1}) << "\n";  // -1: what is left
    std::cout << expand_dims(x, 0).type() << " " << expand_dims(x, -1).type() << "\n";
    std::cout << squeeze(zeros(f32({1, 3, 1}))).type() << "\n";
  });
  example("broadcast_to, broadcast_in_dim", [] {
    Tensor x = constant({1, 2});
    std::cout << broadcast_to(x, {3, 2}) << "\n";
    std::cout << broadcast_in_dim(x, {2, 3}, {0}) << "\n";  // its axis becomes axis 0
  });
  example("transpose", [] {
    std::cout << transpose(constant({{1, 2, 3}, {4, 5, 6}})) << "\n";
    std::cout << transpose(zeros(f32({2, 3, 4})), {0, 2, 1}).type() << "\n";
  });
  example("concatenate, stack", [] {
    Tensor a = constant({1, 2}), b = constant({3, 4});
    std::cout << concatenate(0, a, b) << "\n";
    std::cout << stack(0, a, b) << " " << stack(1, a, b) << "\n";
    std::vector<Tensor> many(3, a);
    std::cout << concatenate(many, 0) << "\n";
  });
  example("pad", [] {
    Tensor x = constant({1, 2, 3});
    std::cout << pad(x, 0, {1}, {2}) << "\n";
    std::cout << pad(x, 9, {0}, {0}, {1}) << "\n";  // one between
    std::cout << pad(x, 0, {-1}, {1}) << "\n";      // shifted to the left
  });
  example("reverse, flip", [] {
    Tensor x = constant({{1, 2, 3}, {4, 5, 6}});
    std::cout << reverse(x, 1) << " " << flip(x, 0) << "\n";
    std::cout << flip(x) << "\n";  // along all axes
  });
  example("linspace, meshgrid", [] {
    std::cout << linspace(0, 1, 5) << "\n";
    auto [x, y] = meshgrid(constant({1, 2, 3}), constant({10, 20}));
    std::cout << x << " " << y << "\n" << x + y << "\n";
  });
  example("outer", [] { std::cout << outer(constant({1, 2}), constant({3, 4, 5})) << "\n"; });
  example("tril, triu", [] {
    Tensor x = constant({{1, 2, 3}, {4, 5, 6}, {7, 8, 9}});
    std::cout << tril(x) << " " << triu(x, 1) << "\n";
  });
  example("matrix", [] {
    auto rotation = [](Tensor angle) {
      return matrix({{cos(angle), -sin(angle)}, {sin(angle), cos(angle)}});
    };
    std::cout << rotation(M_PI / 6) << "\n";
    std::cout << matmul(rotation(M_PI / 6), constant({2.0, 0.0})) << "\n";
  });
  example("fftfreq, rfftfreq, fftshift, ifftshift", [] {
    Tensor f = fftfreq(5, 0.1);  // samples 0.1 s apart: Hz
    std::cout << f << " " << rfftfreq(5, 0.1) << "\n";
    std::cout << fftshift(f) << " " << ifftshift(fftshift(f)) << "\n";
  });
  example("roll", [] {
    Tensor x = constant({1, 2, 3, 4});
    std::cout << roll(x, 1, 0) << " " << roll(x, -1, 0) << "\n";
    std::cout << roll(x, 1, 0) - 2 * x + roll(x, -1, 0) << "\n";  // differences on a ring
  });
  example("tile, repeat", [] {
    Tensor x = constant({1, 2});
    std::cout << tile(x, {3}) << " " << repeat(x, 3, 0) << "\n";
    std::cout << tile(x, {2, 1}) << "\n";
  });
  example("diff", [] { std::cout << diff(constant({1, 4, 9, 16})) << "\n"; });
  example("column, at", [] {
    Tensor x = constant({{1, 2, 3}, {4, 5, 6}});
    std::cout << column(x, -1) << "\n";
    std::cout << rondo::at(x, {1, 2}) << " " << rondo::at(x, {0}) << "\n";
  });

  example("range", [] {
    Tensor x = arange(6);
    std::cout << slice(x, range(1, -1)) << "\n";       // x[1:-1]
    std::cout << slice(x, range({}, 3)) << "\n";       // x[:3]
    std::cout << slice(x, range({}, {}, -2)) << "\n";  // x[::-2]
  });
  example("slice", [] {
    Tensor x = constant({{1, 2, 3}, {4, 5, 6}});
    std::cout << slice(x, range(), 1) << "\n";             // x[:, 1]
    std::cout << slice(x, kEllipsis, range(1)) << "\n";    // x[..., 1:]
    std::cout << slice(x, 0, kNewAxis) << "\n";            // x[0, None]
    std::cout << rondo::slice(x, {0, 1}, {2, 3}) << "\n";  // starts, limits
  });
  example("update", [] {
    Tensor x = zeros(s32({2, 3}));
    std::cout << update(x, 1, constant({7, 8, 9})) << "\n";  // a row
    std::cout << update(x, {range(), -1}, 5) << "\n";        // a column
    std::cout << update(x, {0, 1}, 3) << "\n";               // an element
  });
  example("dynamic_slice, dynamic_update_slice", [] {
    auto window = [](Tensor x, Tensor start) { return rondo::dynamic_slice(x, {start}, {3}); };
    Tensor x = arange(6) * 10;
    std::cout << window(x, 1) << " " << window(x, 5) << "\n";  // 5 is clamped to 3
    std::cout << rondo::dynamic_update_slice(x, constant({-1, -2}), {2}) << "\n";
  });
  example("take", [] {
    Tensor x = constant({{1, 2, 3}, {4, 5, 6}});
    std::cout << take(x, constant({1, 0, 1})) << "\n";
    std::cout << take(x, constant({{0, 2}, {2, 9}}), 1) << "\n";  // 9 is clamped to 2
  });
  example("gather", [] {
    // Two windows of 2 x 2, from the rows and columns (0, 1) and (1, 0).
    Tensor x = reshape(arange(9), {3, 3});
    GatherDims dims{.offset_dims = {1, 2}, .start_index_map = {0, 1}, .index_vector_dim = 1};
    std::cout << gather(x, constant({{0, 1}, {1, 0}}), dims, {2, 2}) << "\n";
  });
  example("scatter", [] {
    // Each number is added at its index; 7 is out of range and dropped.
    ScatterDims dims{
        .inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1};
    Tensor sums = scatter(zeros(s32({3})), constant({0, 2, 0, 7}), constant({1, 2, 3, 4}), dims,
                          [](Tensor x, Tensor y) { return x + y; });
    std::cout << sums << "\n";
  });
  example("segment_sum, segment_prod, segment_max, segment_min", [] {
    Tensor x = constant({1, 2, 3, 4}), ids = constant({0, 2, 0, 2});
    std::cout << segment_sum(x, ids, 3) << " " << segment_prod(x, ids, 3) << "\n";
    Tensor y = convert(x, DType::kF32);  // nothing is in segment 1
    std::cout << segment_max(y, ids, 3) << " " << segment_min(y, ids, 3) << "\n";
  });
}
