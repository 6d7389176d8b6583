#include "passes/contract.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "ir/element.h"
#include "ir/function_data.h"
#include "ir/lazy.h"
#include "ir/node_table.h"
#include "lower/builder.h"
#include "lower/opcodes.h"
#include "ops/broadcast.h"
#include "ops/contracted.h"
#include "ops/elementwise.h"
#include "passes/cse.h"
#include "passes/rewrite.h"
#include "passes/splat.h"

namespace rondo::passes {

namespace {

using ir::Node;
using lower::Opcode;

/// Recognizes ops by the scalar code that their records generate for an element.
class ElementCodes {
 public:
  /// The lower op that computes an element of a binary f32 or f64 node from its operands; nullopt
  /// for any other code.
  std::optional<Opcode> of(const Node& node) {
    const ir::OpDef& op = *node.op;
    if (!op.structure.element || !op.structure.elementwise || node.operands.size() != 2 ||
        node.types.size() != 1)
      return std::nullopt;
    const DType dtype = node.type().dtype;
    if ((dtype != DType::kF32 && dtype != DType::kF64) || node.operand_type(0).dtype != dtype ||
        node.operand_type(1).dtype != dtype)
      return std::nullopt;
    const auto [found, is_new] = codes_.try_emplace({&op, dtype});
    if (is_new) found->second = written(node);
    return found->second;
  }

 private:
  static std::optional<Opcode> written(const Node& node) {
    lower::Builder builder;
    const lower::Value nowhere = builder.buffer({lower::Storage::kArena, 0, 0, 0});
    const lower::Element operands[] = {builder.load_element(node.type().dtype, {nowhere, 0, {}}),
                                       builder.load_element(node.type().dtype, {nowhere, 16, {}})};
    const std::size_t before = builder.program().code.size();
    const auto index = [&](std::int64_t) { return builder.index(0); };
    node.op->structure.element({node, builder, operands, index});
    const auto& code = builder.program().code;
    if (code.size() != before + 1) return std::nullopt;
    const lower::Op& only = code.back();
    if (only.a != operands[0][0] || only.b != operands[1][0] || only.c != lower::kNone)
      return std::nullopt;
    return only.code;
  }

  absl::flat_hash_map<std::pair<const ir::OpDef*, DType>, std::optional<Opcode>> codes_;
};

/// The number that all elements of a constant or a broadcast equal; for f32 and f64.
std::optional<double> number_of(const Tensor& tensor) {
  const Tensor source = ir::is_constant(tensor.node()) ? tensor : splat_source(tensor);
  if (source.empty()) return std::nullopt;
  const Literal& value = source.node()->attrs<ir::ConstantAttributes>().value;
  const std::int64_t width = byte_width(value.dtype());
  if (value.elements() == 0 ||
      std::memcmp(value.bytes(), value.bytes() + width,
                  static_cast<std::size_t>(value.type().bytes() - width)) != 0)
    return std::nullopt;
  if (value.dtype() == DType::kF32) return value.data<float>()[0];
  if (value.dtype() == DType::kF64) return value.data<double>()[0];
  return std::nullopt;
}

/// A number as the sum of two doubles, `high` being the sum rounded. Unlike long double it has the
/// same bits on every machine.
struct TwoDoubles {
  double high = 0, low = 0;
};

/// T. J. Dekker, "A floating-point technique for extending the available precision" (1971), with
/// fma for the exact error of a product.
TwoDoubles operator*(TwoDoubles a, TwoDoubles b) {
  const double product = a.high * b.high;
  const double error = std::fma(a.high, b.high, -product) + (a.high * b.low + a.low * b.high);
  const double sum = product + error;
  return {sum, error - (sum - product)};
}
TwoDoubles reciprocal(double x) {
  const double quotient = 1 / x;
  return {quotient, std::fma(-quotient, x, 1.0) / x};
}

/// The number rounded to a dtype; nullopt if it then lacks the dtype's full precision.
std::optional<double> factor(DType dtype, TwoDoubles number) {
  const auto rounded = [](auto value) -> std::optional<double> {
    if (!std::isnormal(value)) return std::nullopt;
    return static_cast<double>(value);
  };
  return dtype == DType::kF32 ? rounded(static_cast<float>(number.high)) : rounded(number.high);
}

Tensor spread_number(double number, const TensorType& type, SourceLocation at) {
  const Tensor scalar =
      ir::make_constant(type.dtype == DType::kF32 ? Literal::scalar(static_cast<float>(number))
                                                  : Literal::scalar(number),
                        at);
  return type.rank() == 0 ? scalar : ops::broadcast_axes(scalar, type.shape, {}, at);
}

/// How often the values of a node are read.
using Reads = ir::NodeTable<std::uint32_t>;

Reads reads_of(const Function& function) {
  Reads reads(function);
  const auto read = [&](const Tensor& value) {
    reads.set(value.node(), reads.get(value.node()) + 1);
  };
  for (const Node* node : function.body()) {
    for (const Tensor& operand : node->operands) read(operand);
  }
  for (const Tensor& result : function.outputs()) read(result);
  return reads;
}

/// A lower bound of how often a value is read, if that is more than its region shows. What both the
/// condition and the body of a loop compute counts as read equally often in each, so that both
/// compute the same bits: a lane that is done for the condition is also done for the body.
class ReadsInLoops {
 public:
  explicit ReadsInLoops(const Function& function) {
    for (const Function& region : ir::regions_inside_out(function)) {
      for (const Node* node : region.body()) {
        const bool repeats =
            node->op->construct.flow == ir::Flow::kRepeat || node->op->construct.lane_loop;
        if (repeats && node->regions.size() == 2) compare(node->regions[0], node->regions[1]);
      }
    }
  }
  std::uint32_t of(const Node* node) const {
    const auto found = reads_.find(node);
    return found == reads_.end() ? 0 : found->second;
  }

 private:
  void compare(const Function& condition, const Function& body) {
    ir::StructureTable structures;
    CommonExpressions met(body, structures);
    absl::flat_hash_set<const Node*> of_body;
    for (const Node* node : body.body()) {
      if (!node->regions.empty()) continue;
      met.first_equal(node);
      of_body.insert(node);
    }
    const Reads in_condition = reads_of(condition), in_body = reads_of(body);
    // The body of a loop over lanes also gets the mask of running lanes.
    const std::size_t before = body.parameters().size() - condition.parameters().size();
    ir::Replay replay;
    std::vector<Tensor> made;
    for (std::size_t i = 0; i < condition.parameters().size(); i++)
      replay.bind(condition.parameters()[i], body.parameters()[before + i]);
    for (const Node* node : condition.body()) {
      if (!node->regions.empty() || node->types.size() != 1) continue;
      const auto stays = [&](const Tensor& operand) {
        return !ir::is_constant(operand.node()) && replay(operand).same_as(operand);
      };
      if (std::any_of(node->operands.begin(), node->operands.end(), stays)) continue;
      made.push_back(ir::rebuild(node, replay.operands_of(node)));
      const Node* const same = met.first_equal(made.back().node());
      if (!of_body.contains(same)) continue;
      const Tensor here = Tensor::of(node), there = Tensor::of(same);
      replay.bind(here, there);
      const std::uint32_t most = std::max(in_condition.get(node), in_body.get(same));
      for (const Node* each : {node, same}) {
        std::uint32_t& reads = reads_[each];
        reads = std::max(reads, most);
      }
    }
  }

  absl::flat_hash_map<const Node*, std::uint32_t> reads_;
};

class Contraction {
 public:
  Contraction(const Function& function, const ReadsInLoops& in_loops, ElementCodes& codes)
      : rewrite_(function),
        in_loops_(in_loops),
        codes_(codes),
        reads_(reads_of(function)),
        product_of_(function) {}

  Function run() {
    for (const Node* node : rewrite_.source().body()) {
      const auto code = codes_.of(*node);
      Tensor made;
      if (code == Opcode::kMultiply || code == Opcode::kDivide)
        made = product(node, *code == Opcode::kDivide);
      else if (code == Opcode::kAdd || code == Opcode::kSubtract)
        made = sum(node, *code == Opcode::kSubtract);
      rewrite_.replace(node, made.empty() ? rewrite_.rebuilt(node) : made);
    }
    return rewrite_.finish();
  }

 private:
  /// A value that is another one times a number, which is not rounded yet, so that the next factor
  /// can be combined with it.
  struct Multiple {
    Tensor of;
    TwoDoubles by;
  };
  struct Product {
    Tensor a, b;  // in the new function; unset for a quotient
    std::optional<Multiple> multiple;
  };

  /// The product or quotient that defines a value, if it has no other use.
  const Product* made_for_one(const Tensor& value) const {
    const std::uint32_t number = product_of_.get(value.node());
    const bool is_read_once = reads_.get(value.node()) == 1 && in_loops_.of(value.node()) <= 1;
    return number != 0 && is_read_once ? &products_[number - 1] : nullptr;
  }
  void keep_product(const Node* node, Product&& product) {
    products_.push_back(std::move(product));
    product_of_.set(node, static_cast<std::uint32_t>(products_.size()));
  }

  /// The operand that is multiplied by a constant, with the constant.
  static std::optional<std::pair<std::size_t, TwoDoubles>> constant_beside(const Node* node,
                                                                           bool divides) {
    const auto factor_at = [&](std::size_t i) -> std::optional<TwoDoubles> {
      const auto number = number_of(node->operands[i]);
      if (!number || !std::isnormal(*number)) return std::nullopt;
      const TwoDoubles by = divides ? reciprocal(*number) : TwoDoubles{*number, 0};
      return std::isnormal(by.high) ? std::optional(by) : std::nullopt;
    };
    if (const auto second = factor_at(1)) return std::pair(0, *second);
    if (const auto first = divides ? std::nullopt : factor_at(0)) return std::pair(1, *first);
    return std::nullopt;
  }

  /// x * c * d and similar chains as x times one number, which rounds no more often. Empty if the
  /// product stays as it is.
  Tensor product(const Node* node, bool divides) {
    Product known;
    if (const auto constant = constant_beside(node, divides)) {
      const auto [other, by] = *constant;
      const Product* const inner = made_for_one(node->operands[other]);
      known.multiple = Multiple{rewrite_(node->operands[other]), by};
      if (inner && inner->multiple) {
        const TwoDoubles joined = inner->multiple->by * by;
        if (const auto number = factor(node->type().dtype, joined)) {
          const SourceLocation at = node->location();
          known.multiple = Multiple{inner->multiple->of, joined};
          known.a = inner->multiple->of;
          known.b = spread_number(*number, node->type(), at);
          Tensor made = ir::make_typed(ops::kMultiply, {known.a, known.b}, {}, {node->type()}, at);
          keep_product(node, std::move(known));
          return made;
        }
      }
    }
    if (!divides) {
      known.a = rewrite_(node->operands[0]);
      known.b = rewrite_(node->operands[1]);
    }
    keep_product(node, std::move(known));
    return {};
  }

  /// Empty if the sum stays as it is.
  Tensor sum(const Node* node, bool subtracts) const {
    const auto fused = [&](std::size_t of_product, const ir::OpDef& op) {
      const Product* const product = made_for_one(node->operands[of_product]);
      if (!product || product->a.empty()) return Tensor();
      const Tensor other = rewrite_(node->operands[1 - of_product]);
      return ir::make_typed(op, {product->a, product->b, other}, {}, {node->type()},
                            node->location());
    };
    // In a difference of two products the second is fused: c - a * b is the more common step of a
    // loop.
    Tensor one = subtracts ? fused(1, ops::kNegatedMultiplyAdd) : fused(0, ops::kMultiplyAdd);
    if (one.empty())
      one = subtracts ? fused(0, ops::kMultiplySubtract) : fused(1, ops::kMultiplyAdd);
    return one;
  }

  FunctionRewrite rewrite_;
  const ReadsInLoops& in_loops_;
  ElementCodes& codes_;
  const Reads reads_;
  std::vector<Product> products_;
  ir::NodeTable<std::uint32_t> product_of_;  // per source node: index into products_, plus 1
};

}  // namespace

Function contract(const Function& function) {
  const ir::EagerPause pause;
  const ir::BuildScope building;
  const ReadsInLoops in_loops(function);
  ElementCodes codes;
  const FunctionPass contract_region = [&](const Function& region) {
    return Contraction(region, in_loops, codes).run();
  };
  return rewrite_regions(function, nullptr, contract_region);
}

}  // namespace rondo::passes
