// The part of a record on HLO and StableHLO text, including meshes of devices.
#pragma once

#include <string_view>
#include <vector>

namespace rondo {
class Tensor;
}  // namespace rondo

namespace rondo::ir {

struct AttributeText;  // ir/attribute_text.h
struct Node;
struct ReadConstruct;  // ir/read_construct.h
struct Sharding;       // ir/sharding.h

/// The sharding of the result (ir/sharding.h).
using ShardingRule = const Sharding& (*)(const Node&);

/// The results of a construct in a text that is read.
using ReadConstructRule = std::vector<Tensor> (*)(const ReadConstruct&);

struct OpText {
  std::string_view hlo = {};        // the opcode; empty: expanded before it is printed
  std::string_view stablehlo = {};  // with the dialect, `stablehlo.add`; empty: likewise
  /// The function of C's <math.h> for double, if one computes the same: `tanh`.
  std::string_view c = {};
  /// The attributes in all texts; null: none.
  const AttributeText* attributes = nullptr;
  std::string_view hlo_regions =
      {};                  // the attribute that names each region: `to_apply`, `condition,body`
  bool hlo_tuple = false;  // in HLO several operands form one tuple
  /// Whether HLO and StableHLO can express this node; null: always, if the op has a name there.
  bool (*can_express)(const Node&) = nullptr;
  /// Whether XLA's partitioner splits this node correctly over the devices of a mesh; null: always.
  /// If not, texts that name a mesh have its expansion.
  bool (*can_partition)(const Node&) = nullptr;
  /// For constructs: how one of StableHLO becomes a node.
  ReadConstructRule read = nullptr;
  /// Whether an op of StableHLO's name becomes this one; if not, another record has the name too.
  bool is_read = true;
  /// For an identity that gives the sharding of its value. Without a kernel it is never folded.
  ShardingRule sharding = nullptr;
};

}  // namespace rondo::ir
