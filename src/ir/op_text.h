// What a record says of HLO and StableHLO, and of the meshes of devices that they describe.
#pragma once

#include <string>
#include <string_view>

namespace rondo::ir {

struct Node;
struct Sharding;  // ir/sharding.h

/// Appends what stands after the operands: `, dimensions={0}` in HLO; for StableHLO's generic form
/// the entries of the attribute dictionary, `dimension = 0 : i64, is_stable = true`.
using TextRule = void (*)(const Node&, std::string& out);
/// How the result lies on a mesh of devices (ir/sharding.h).
using ShardingRule = const Sharding& (*)(const Node&);

struct OpText {
  std::string_view hlo = {};        // the opcode; empty: expanded before it is printed
  std::string_view stablehlo = {};  // with the dialect, `stablehlo.add`; empty: likewise
  TextRule hlo_attributes = nullptr;
  TextRule stablehlo_attributes = nullptr;
  std::string_view hlo_regions =
      {};                  // the attribute that names each region: `to_apply`, `condition,body`
  bool hlo_tuple = false;  // in HLO several operands stand in one tuple
  /// Whether HLO and StableHLO can express this very node; null: always, if the op has a name
  /// there.
  bool (*can_express)(const Node&) = nullptr;
  /// Whether XLA's partitioner splits this very node over the devices of a mesh as it should; null:
  /// always. Texts that name a mesh have what it expands to where not.
  bool (*can_partition)(const Node&) = nullptr;
  /// Of an identity that says where its value lies on a mesh. Without a kernel it is never folded.
  ShardingRule sharding = nullptr;
};

}  // namespace rondo::ir
