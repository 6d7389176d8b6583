// Examples of the reference: trees, their leaves and their files.
#include <cstdint>
#include <map>
#include <string>
#include <tuple>
#include <utility>

#include "example.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

struct Layer {
  Tensor weights, bias;
};

int main() {
  example("for_each_leaf, leaf_count, leaf_paths", [] {
    std::map<std::string, Layer> model = {{"in", {ones(f32({2, 3})), zeros(f32({3}))}},
                                          {"out", {ones(f32({3, 1})), zeros(f32({1}))}}};
    std::cout << leaf_count(model) << " leaves\n";
    for (const std::string& path : leaf_paths(model, "model")) std::cout << path << "\n";
    std::int64_t numbers = 0;
    for_each_leaf(model, [&](const Tensor& leaf) { numbers += leaf.type().elements(); });
    std::cout << numbers << " numbers\n";
  });
  example("transform_leaves, rebuild_tree", [] {
    std::tuple numbers(1, std::pair(2.5f, 4.0));
    auto types = transform_leaves<TensorType>(numbers, [](auto number) {
      return TensorType{dtype_of<decltype(number)>, {}};
    });
    std::cout << std::get<0>(types) << " " << std::get<1>(types).first << " "
              << std::get<1>(types).second << " ";
    int next = 0;
    auto numbered = rebuild_tree<int>(numbers, [&] { return next++; });
    std::cout << std::get<0>(numbered) << " " << std::get<1>(numbered).first << " ";
    std::cout << std::get<1>(numbered).second << "\n";
  });
  example("tree_cast", [] {
    auto tree = tree_cast<std::pair<Tensor, Tensor>>(std::pair(1, 2.5f));
    std::cout << tree.first << " " << tree.second << "\n";
  });
  example("map_leaves", [] {
    Layer layer{ones(f32({2})), ones(f32())};
    Layer gradient{constant({1.0f, 2.0f}), Tensor(3.0f)};
    layer = map_leaves([](Tensor p, Tensor g) { return p - 0.1 * g; }, layer, gradient);
    std::cout << layer.weights << " " << layer.bias << "\n";
  });
  example("ravel", [] {
    auto [vector, unravel] = ravel(Layer{constant({{1.0, 2.0}, {3.0, 4.0}}), constant({5.0})});
    std::cout << vector << "\n";
    Layer twice = unravel(2 * vector);
    std::cout << twice.weights << " " << twice.bias << "\n";
  });
  example("save_npz, load_npz", [] {
    Layer layer{constant({{1.0f, 2.0f}}), constant({0.5f})};
    save_npz("layer.npz", layer);               // numpy.load("layer.npz")["weights"]
    Layer read = load_npz("layer.npz", layer);  // a prototype gives the types
    std::cout << read.weights << " " << read.bias << "\n";
  });
  example("axpy, dot_of, norm_of", [] {
    Layer x{constant({1.0, 2.0}), constant({2.0})}, y{constant({10.0, 10.0}), constant({10.0})};
    Layer z = axpy(0.5, x, y);  // 0.5 x + y
    std::cout << z.weights << " " << z.bias << "\n";
    std::cout << dot_of(x, y) << " " << norm_of(x) << "\n";
  });
  example("zeros_like, ones_like", [] {
    Layer layer{constant({{1.0f, 2.0f}}), constant({1, 2})};
    std::cout << zeros_like(layer).weights << " " << ones_like(layer).bias << "\n";
  });
  example("take_of", [] {
    Layer stacked{constant({{1, 2}, {3, 4}, {5, 6}}), constant({10, 20, 30})};
    Layer last = take_of(stacked, 2);
    std::cout << last.weights << " " << last.bias << "\n";
  });
  example("field_count, field_name, fields_of", [] {
    struct Point {
      double x, y;
    };
    Point p{1, 2};
    std::get<1>(fields_of(p)) = 7;  // references to the fields
    std::cout << field_count<Point>() << " fields: " << field_name<Point>(0) << " = " << p.x;
    std::cout << ", " << field_name<Point>(1) << " = " << p.y << "\n";
  });
  example("call_with, call_with_trailing", [] {
    auto add = [](int a, int b) { return a + b; };
    std::cout << call_with(add, std::pair(1, 2)) << "\n";   // spread
    std::cout << call_with(add, 1, std::tuple(2)) << "\n";  // a leading argument
    auto f = [](std::pair<int, int> carry, int a, int b) { return carry.first + a * b; };
    std::cout << call_with_trailing(f, std::pair(1, 0), std::pair(3, 4)) << "\n";
  });
}
