// Checks that a program is well formed.
#include <string>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/node.h"

namespace rondo {

namespace {

/// Checks one function, not the regions inside it.
class FunctionVerifier {
 public:
  explicit FunctionVerifier(const Function& function) : function_(function) {}

  void run() {
    for (std::size_t i = 0; i < function_.parameters().size(); i++) check_parameter(i);
    for (position_ = 0; position_ < function_.body().size(); position_++) {
      const ir::Node* node = function_.body()[position_];
      if (!node || !node->op) fail(nullptr, "has no op");
      check_node(*node);
      if (!known_.insert(node).second) fail(node, "is in the body twice");
    }
    for (const Tensor& result : function_.outputs()) {
      if (const std::string why = why_unknown(result); !why.empty()) {
        throw InternalError(fmt::format("{}: a result {}", where(), why));
      }
    }
    const std::size_t names = function_.result_names().size();
    if (names != 0 && names != function_.outputs().size()) {
      throw InternalError(
          fmt::format("{}: {} names for {} results", where(), names, function_.outputs().size()));
    }
  }

 private:
  std::string where() const { return fmt::format("verify: in '{}'", function_.name()); }

  [[noreturn]] void fail(const ir::Node* node, const std::string& what) const {
    const SourceLocation at = node ? node->location() : SourceLocation{};
    throw InternalError(fmt::format("{}: node {} ({}, {}) {}", where(), position_,
                                    node ? node->op->name : "null", at.str(), what),
                        at);
  }

  void check_parameter(std::size_t i) {
    const Tensor& parameter = function_.parameters()[i];
    if (parameter.empty() || !ir::is_parameter(parameter.node())) {
      throw InternalError(fmt::format("{}: parameter {} is no parameter node", where(), i));
    }
    if (!known_.insert(parameter.node()).second) {
      throw InternalError(fmt::format("{}: parameter {} is listed twice", where(), i));
    }
  }

  /// Why the value is not available at this point; empty if it is.
  std::string why_unknown(const Tensor& tensor) const {
    if (tensor.empty()) return "is empty";
    const ir::Node* node = tensor.node();
    if (!known_.contains(node)) {
      return fmt::format("({}, {}) comes from outside or is computed later", node->op->name,
                         node->location().str());
    }
    if (tensor.result() >= node->types.size()) {
      return fmt::format("is result {} of {}, which has {}", tensor.result(), node->op->name,
                         node->types.size());
    }
    return "";
  }

  void check_node(const ir::Node& node) const {
    const ir::OpDef& op = *node.op;
    if (op.kind == ir::OpKind::kParameter) fail(&node, "is a parameter of another function");
    for (std::size_t i = 0; i < node.operands.size(); i++) {
      if (const std::string why = why_unknown(node.operands[i]); !why.empty()) {
        fail(&node, fmt::format("has an operand {} that {}", i, why));
      }
    }
    if (op.arity >= 0 && static_cast<std::size_t>(op.arity) != node.operands.size()) {
      fail(&node, fmt::format("has {} operands, the op takes {}", node.operands.size(), op.arity));
    }
    for (const Function& region : node.regions) {
      if (region.empty()) fail(&node, "has an empty region");
    }
    check_types(node);
  }

  void check_types(const ir::Node& node) const {
    if (!node.op->types.infer) fail(&node, "is of an op without a type rule");
    ir::InferredTypes types;
    try {
      types = node.op->types.infer(
          {*node.op, node.operands, node.attributes, node.regions, node.location()});
    } catch (const Error& error) {
      fail(&node,
           fmt::format("does not fit its operands, attributes or regions: {}", error.what()));
    }
    if (types.size() != node.types.size()) {
      fail(&node, fmt::format("has {} results, its op infers {}", node.types.size(), types.size()));
    }
    for (std::size_t i = 0; i < types.size(); i++) {
      if (types[i] == node.types[i]) continue;
      fail(&node, fmt::format("has result {} of type {}, its op infers {}", i, node.types[i].str(),
                              types[i].str()));
    }
  }

  const Function& function_;
  std::size_t position_ = 0;
  absl::flat_hash_set<const ir::Node*> known_;
};

}  // namespace

void Function::verify() const {
  for (const Function& function : ir::regions_inside_out(*this)) FunctionVerifier(function).run();
}

}  // namespace rondo
