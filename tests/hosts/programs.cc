// Writes four programs for a mesh of four devices, their inputs, and what Rondo's own executor
// computes on one. Usage: programs FOLDER
//
//   FOLDER/NAME.mlir, FOLDER/NAME/arg0.npy, ..., FOLDER/NAME/out0.npy, ...
//
// The last argument of each is the number of trips.
#include <cstdint>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <string>
#include <utility>
#include <vector>

#include "rondo/rondo.h"

namespace {

using rondo::Function;
using rondo::Literal;
using rondo::Mesh;
using rondo::Tensor;

constexpr std::nullopt_t kWhole = std::nullopt;

/// The rows of a batch are split, the weights are whole: the gradient is summed over all devices.
Function training(const Mesh& mesh) {
  const auto loss = [](Tensor w, Tensor v, Tensor x, Tensor y) {
    return mean(square(matmul(tanh(matmul(x, w)), v) - y));
  };
  const auto train = [=](Tensor w, Tensor v, Tensor x, Tensor y, Tensor steps) {
    x = shard(x, mesh, {"data", kWhole});
    y = shard(y, mesh, {"data"});
    const auto step = [=](Tensor i, Tensor w, Tensor v, Tensor) {
      const auto [value, slopes] = rondo::value_and_grad<0, 1>(loss)(w, v, x, y);
      const auto [dw, dv] = slopes;
      return std::tuple(i + 1, w - 0.1 * dw, v - 0.1 * dv, value);
    };
    const auto [trips, end_w, end_v, last] =
        while_loop([=](Tensor i, Tensor, Tensor, Tensor) { return i < steps; }, step,
                   std::tuple(Tensor(0), w, v, Tensor(0.0f)));
    return std::tuple(end_w, end_v, last);
  };
  return trace(train, rondo::f32({6, 8}), rondo::f32({8}), rondo::f32({64, 6}), rondo::f32({64}),
               rondo::s32());
}

/// The carry is split by rows, whose edges are exchanged in each trip.
Function stencil(const Mesh& mesh) {
  const rondo::PartitionSpec rows{"data", kWhole};
  const auto heat = [=](Tensor u, Tensor steps) {
    const auto step = [=](Tensor i, Tensor c) {
      const Tensor next =
          c + 0.125 * (roll(c, 1, 0) + roll(c, -1, 0) + roll(c, 1, 1) + roll(c, -1, 1) - 4 * c);
      return std::tuple(i + 1, shard(next, mesh, rows));
    };
    const auto [trips, end] = while_loop([=](Tensor i, Tensor) { return i < steps; }, step,
                                         std::tuple(Tensor(0), shard(u, mesh, rows)));
    return shard(end, mesh, rows);
  };
  return trace(heat, rondo::f32({64, 24}), rondo::s32());
}

/// Many small systems, each with its own parameter, split over the mesh; and their mean.
Function ensemble(const Mesh& mesh) {
  const auto simulate = [=](Tensor tanks, Tensor rates, Tensor steps) {
    const auto house = [=](Tensor tank, Tensor rate) {
      return std::get<2>(while_loop([=](Tensor i, Tensor, Tensor) { return i < steps; },
                                    [=](Tensor i, Tensor hot, Tensor cold) {
                                      const Tensor flow = rate * (hot - cold);
                                      return std::tuple(i + 1, hot - 0.5 * flow, cold + flow);
                                    },
                                    std::tuple(Tensor(0), tank, 20 * ones(rondo::f32()))));
    };
    tanks = shard(tanks, mesh, {"data"});
    rates = shard(rates, mesh, {"data"});
    const Tensor slabs = rondo::vmap(house, {.axis_name = "data"})(tanks, rates);
    return std::tuple(shard(slabs, mesh, {"data"}), mean(slabs));
  };
  return trace(simulate, rondo::f32({32}), rondo::f32({32}), rondo::s32());
}

/// Two loops. What is computed before the first, between them and from the first is used later.
Function two_loops(const Mesh& mesh) {
  const auto f = [=](Tensor x, Tensor steps) {
    x = shard(x, mesh, {"data", kWhole});
    const Tensor start = 2 * x;
    const auto repeat = [=](const auto& body, const Tensor& from) {
      return std::get<1>(while_loop([=](Tensor i, Tensor) { return i < steps; },
                                    [=](Tensor i, Tensor c) { return std::tuple(i + 1, body(c)); },
                                    std::tuple(Tensor(0), from)));
    };
    const Tensor first = repeat([=](Tensor c) { return 0.5 * (c + sin(x)); }, start);
    const Tensor largest = max(first, {0});
    const Tensor second =
        repeat([=](Tensor c) { return (c + convert(largest * x, rondo::DType::kBF16)) / 2; },
               convert(first, rondo::DType::kBF16));
    return std::tuple(second, largest, first - start);
  };
  return trace(f, rondo::f32({16, 4}), rondo::s32());
}

void write(const std::filesystem::path& folder, const std::string& name, const Mesh& mesh,
           const Function& program, std::int32_t trips) {
  std::ofstream text(folder / (name + ".mlir"));
  text << to_stablehlo_text(program, {.mesh = mesh});
  std::filesystem::create_directories(folder / name);
  std::vector<Literal> arguments;
  for (const rondo::TensorType& type : program.params()) {
    const auto number = static_cast<std::uint32_t>(arguments.size());
    if (type == rondo::s32())
      arguments.push_back(Literal::scalar(trips));
    else
      arguments.push_back(rondo::random::uniform(rondo::random::key(number), type).eval());
    arguments.back().save_npy(folder / name / ("arg" + std::to_string(number) + ".npy"));
  }
  const std::vector<Literal> results = compile(program).run(arguments);
  for (std::size_t i = 0; i < results.size(); i++)
    results[i].save_npy(folder / name / ("out" + std::to_string(i) + ".npy"));
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 2) {
    std::cerr << "usage: programs FOLDER\n";
    return 2;
  }
  const std::filesystem::path folder = arguments[1];
  const Mesh mesh({{"data", 4}});
  write(folder, "training", mesh, training(mesh), 12);
  write(folder, "stencil", mesh, stencil(mesh), 12);
  write(folder, "ensemble", mesh, ensemble(mesh), 12);
  write(folder, "two_loops", mesh, two_loops(mesh), 12);
}
