// A mesh over the devices of two processes, which two clients of the fake plugin play: each has the
// ids of all four devices and gives and takes the parts of its own two. The fake plugin runs a
// program without communication on each shard; what devices exchange is XLA's part, and not here.
#pragma once

#include <cstring>

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

inline std::string with_replaced(std::string text, const std::string& old, const std::string& by) {
  for (std::size_t at = text.find(old); at != std::string::npos; at = text.find(old, at))
    text.replace(at, old.size(), by);
  return text;
}

/// What each device runs of a program for four devices that works on the rows by themselves: the
/// same on a quarter of the rows.
inline Function of_one_shard(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    if (text.substr(at, end - at).find("sdy.mesh") == std::string::npos)
      lines += text.substr(at, end - at);
    at = end;
  }
  for (std::size_t at = lines.find(" <@mesh"); at != std::string::npos; at = lines.find(" <@mesh"))
    lines.erase(at, lines.find('>', at) + 1 - at);
  for (const char* rank : {"[{\"data\"}, {}]", "[{}, {}]", "[]"})
    lines = with_replaced(lines,
                          " {sdy.sharding = #sdy.sharding<@mesh, " + std::string(rank) + ">}", "");
  lines = with_replaced(lines, "sdy.sharding_constraint", "stablehlo.optimization_barrier");
  return parse_stablehlo_text(with_replaced(lines, "tensor<8x", "tensor<2x"));
}

inline void run_on_shard(const std::string& text, const std::vector<const char*>& arguments,
                         const std::vector<char*>& results) {
  const Function shard = of_one_shard(text);
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
  /// Rows by themselves: x * scale + tanh(x).
  static Function rows(const Mesh& mesh) {
    return trace(
        [&](Tensor x, Tensor scale) {
          x = shard(x, mesh, kByRow);
          return shard(x * scale + tanh(x), mesh, kByRow);
        },
        f32({kTableRows, kTableColumns}), f32());
  }
};

}  // namespace rondo::testing
