// Programs written twice: by Rondo's loops, and as a C++ programmer writes them. The files beside
// this one hold them by domain; main.cc compares their results and races them.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "rondo/rondo.h"

namespace rondo::bench {

using Literals = std::vector<Literal>;

struct Workload {
  std::string name;  // domain/program
  Function program;
  Literals arguments;
  /// The same computation as plain loops: the program's results from its arguments.
  std::function<Literals(const Literals&)> plain;
  /// How far results may be from those of `plain`, relative to the largest of a result.
  double tolerance = 1e-4;
};

/// Numbers of a fixed generator in [low, high).
Literal uniform_floats(const Shape& shape, double low, double high, unsigned seed = 1);
Literal uniform_doubles(const Shape& shape, double low, double high, unsigned seed = 1);
/// Integers in [low, high).
Literal uniform_integers(const Shape& shape, int low, int high, unsigned seed = 1);

std::vector<Workload> array_workloads();       // whole arrays: statistics, distances, images
std::vector<Workload> stencil_workloads();     // grids in time
std::vector<Workload> matrix_workloads();      // factorisations and iterations written as loops
std::vector<Workload> simulation_workloads();  // bodies, circuits, vehicles, populations
std::vector<Workload> batch_workloads();       // vmap of loops

}  // namespace rondo::bench
