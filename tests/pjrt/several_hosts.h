// A mesh over the devices of two processes, which two clients of the fake plugin play: each has the
// ids of all four devices and gives and takes the parts of its own two. On each shard the plugin
// computes what the test tells it; what devices exchange is XLA's part, and not here.
#pragma once

#include <cstring>
#include <utility>
#include <vector>

#include "pjrt/fake.h"

namespace rondo::testing {

using pjrt::ShardedArray;
using pjrt::ShardSlice;

inline constexpr std::int64_t kTableRows = 8, kTableColumns = 3;
inline const PartitionSpec kByRow{"data", std::nullopt};

inline Literal table_of(const TensorType& type) {
  Literal out = Literal::uninitialized(type);
  for (std::size_t i = 0; i < static_cast<std::size_t>(out.elements()); i++)
    out.mutable_data<float>()[i] = 0.5f * static_cast<float>(i) - 3;
  return out;
}

/// The elements of a slice of a matrix.
inline Literal slice_of(const Literal& whole, const ShardSlice& slice) {
  return rondo::slice(Tensor(whole), range(slice.start[0], slice.start[0] + slice.shape[0]),
                      range(slice.start[1], slice.start[1] + slice.shape[1]))
      .eval();
}

/// What each device computes of a program that works on rows by themselves: this, on its rows.
inline auto runs_on_each_shard(Function shard) {
  return [shard = std::move(shard)](const std::vector<const char*>& arguments,
                                    const std::vector<char*>& results) {
    std::vector<Literal> literals;
    for (std::size_t i = 0; i < arguments.size(); i++) {
      Literal& taken = literals.emplace_back(Literal::uninitialized(shard.params()[i]));
      std::memcpy(taken.mutable_bytes(), arguments[i],
                  static_cast<std::size_t>(taken.type().bytes()));
    }
    const auto computed = compile(shard, {.executor = Executor::kReference}).run(literals);
    for (std::size_t i = 0; i < results.size(); i++)
      std::memcpy(results[i], computed[i].bytes(),
                  static_cast<std::size_t>(computed[i].type().bytes()));
  };
}

class SeveralHosts : public Fake {
 protected:
  static pjrt::Client host(int process) {
    return pjrt::Client(pjrt::Plugin::load(RONDO_FAKE_PLUGIN),
                        {{"node_id", process}, {"num_nodes", 2}},
                        pjrt::KeyValueStore::in_process());
  }
  static Mesh mesh_of(const pjrt::Client& client) {
    return Mesh({{"data", 4}}, client.all_devices());
  }
  /// Of each row by itself.
  static Tensor scaled(const Tensor& x, const Tensor& scale) { return x * scale + tanh(x); }
  static Function rows(const Mesh& mesh) {
    return trace(
        [&](Tensor x, Tensor scale) {
          return shard(scaled(shard(x, mesh, kByRow), scale), mesh, kByRow);
        },
        f32({kTableRows, kTableColumns}), f32());
  }
  /// The same on a quarter of the rows.
  static Function rows_of_shard() {
    return trace(scaled, f32({kTableRows / 4, kTableColumns}), f32());
  }
};

}  // namespace rondo::testing
