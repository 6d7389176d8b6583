#include "ops/shard.h"

#include <utility>

#include "ir/attribute_text.h"
#include "ir/batch.h"
#include "ir/sharding.h"
#include "ops/derivative_rules.h"
#include "ops/support.h"
#include "rondo/ops/shard.h"

namespace rondo::ops {

namespace {

InferredTypes infer_shard(const InferContext& context) {
  const std::string fault =
      ir::sharding_fault(context.attrs<ir::Sharding>(), context.type(0).shape);
  if (!fault.empty()) context.fail(fault);
  return {context.type(0)};
}

/// On one device it has no effect: the executors never see it.
std::vector<Tensor> expand_to_value(const Node&, std::span<const Tensor> operands) {
  return {operands[0]};
}

const ir::Sharding& sharding_of_shard(const Node& node) { return node.attrs<ir::Sharding>(); }

std::vector<Tensor> shard_transpose(const TransposeCall& c) {
  return {make(kShard, {c.ct()}, c.node.attributes, c.at())};
}

/// The compiler chooses the sharding of the lanes, or it is the mesh axis whose name the vmap has.
ir::BatchValues shard_batch(const ir::BatchCall& c) {
  ir::Sharding sharding = sharding_of_shard(c.node);
  ir::DimSharding lanes{{}, true};
  const std::string& name = c.batching.axis_name();
  const std::int64_t devices = name.empty() ? 0 : sharding.axis_size(name);
  if (devices > 0) {
    if (sharding.uses(name)) {
      c.fail(
          fmt::format("the lanes of vmap lie along the mesh axis \"{}\", which splits a "
                      "dimension here already\n  Use another axis inside of the vmap, or "
                      "another axis_name.",
                      name));
    }
    if (c.lanes() % devices != 0) {
      c.fail(
          fmt::format("{} lanes of the vmap \"{}\" cannot be shared evenly by the {} devices "
                      "along that axis of the mesh\n  Give it a multiple of {} lanes, or "
                      "another axis_name.",
                      c.lanes(), name, devices, devices));
    }
    lanes = {{name}, false};
  }
  sharding.dims.insert(sharding.dims.begin(), std::move(lanes));
  return ir::batch_with(c, std::move(sharding));
}

/// It replaces no part of its operand, so that an update after it is still made in place.
Tensor shard_blend(const Node& node, std::span<const Tensor> operands, const Tensor&) {
  return make(kShard, {operands[0]}, node.attributes, node.location());
}

void describe_shard(ir::AttributeCodec& codec, ir::Sharding& sharding) { codec.sharding(sharding); }

}  // namespace

const OpDef kShard{.name = "shard",
                   .arity = 1,
                   .cost = ir::Cost::kMovement,
                   .types = {.infer = infer_shard},
                   .expansion = {.rule = expand_to_value},
                   .derivative = {.linear = Linear::kJointly, .transpose = shard_transpose},
                   .batching = {.rule = shard_batch, .blend = shard_blend},
                   .text = {.hlo = "custom-call",
                            .stablehlo = "sdy.sharding_constraint",
                            .attributes = &ir::kAttributeText<ir::Sharding, describe_shard, false>,
                            .sharding = sharding_of_shard}};

}  // namespace rondo::ops

namespace rondo {

Tensor shard(const Operand& x, const Mesh& mesh, const PartitionSpec& spec) {
  return ops::make(ops::kShard, {x.any()}, ir::sharding_of(mesh, spec), x.at());
}

}  // namespace rondo
