#include "passes/construct_values.h"

#include <utility>

#include "ir/region.h"

namespace rondo::passes {

using Value = ir::ValueKey;

namespace {

Value value_of(const Tensor& tensor) { return {tensor.node(), tensor.result()}; }

bool follows_from_indices(const ir::Node& node) {
  return node.operands.empty() && node.op->structure.element && !node.op->structure.unset &&
         !node.op->observer;
}

}  // namespace

const Literal* small_constant(const Tensor& tensor) {
  if (!ir::is_constant(tensor.node())) return nullptr;
  const Literal& value = tensor.node()->attrs<ir::ConstantAttributes>().value;
  return value.elements() <= ir::kCopiedConstantElements ? &value : nullptr;
}

ConstructValues::ConstructValues(const ir::RegionLayout& layout, Copies copies)
    : layout_(layout), parameters_(layout.params()), ys_(layout.ys) {
  for (std::size_t p = 0; p < parameters_.size(); p++) parameters_[p].same = p;
  for (const Function& region : layout.node->regions) {
    auto& numbers = numbers_.emplace_back();
    for (std::size_t p = 0; p < region.parameters().size(); p++)
      numbers.emplace(region.parameters()[p].node(), p);
  }
  find_equal_operands(copies);
  if (layout.carries > 0) find_carries();
  find_ys();
}

std::size_t ConstructValues::root_of(std::size_t param) const {
  while (!is_root(param)) param = parameters_[param].same;
  return param;
}

std::size_t ConstructValues::result_root(std::size_t result) const {
  if (result >= layout_.carries) return layout_.carries + ys_[result - layout_.carries].same;
  return root_of(layout_.index + result) - layout_.index;
}

const Tensor* ConstructValues::constant_result(std::size_t result) const {
  return result < layout_.carries ? nullptr : ys_[result - layout_.carries].constant;
}

std::optional<std::size_t> ConstructValues::operand_of_result(std::size_t result) const {
  if (result >= layout_.carries) {
    const auto param = ys_[result - layout_.carries].param;
    return param ? std::optional(layout_.operand_of_param(*param)) : std::nullopt;
  }
  const std::size_t root = root_of(layout_.index + result);
  return never_changes(root) ? std::optional(layout_.operand_of_param(root)) : std::nullopt;
}

bool ConstructValues::never_changes(std::size_t param) const {
  return role(param) == Role::kInvariant || kind(param) == Kind::kInvariant || is_constant(param);
}

/// The parameter that a value of a region equals, given what is known of the parameters.
std::optional<std::size_t> ConstructValues::param_of(std::size_t region,
                                                     const Tensor& value) const {
  const auto found = numbers_[region].find(value.node());
  if (found == numbers_[region].end()) return std::nullopt;
  return root_of(found->second);
}

/// The small constant that a value of a region equals.
const Literal* ConstructValues::constant_of(std::size_t region, const Tensor& value) const {
  if (const auto param = param_of(region, value))
    return is_constant(*param) ? small_constant(operand(*param)) : nullptr;
  return small_constant(value);
}

Tensor ConstructValues::copied(std::size_t param) const {
  const Tensor& from = operand(param);
  if (const Literal* constant = small_constant(from))
    return ir::make_constant(*constant, from.node()->location());
  const ir::Node& node = *from.node();
  return ir::make_typed(*node.op, {}, node.attributes, node.types, node.location());
}

const Tensor& ConstructValues::next_value(std::size_t carry) const {
  return layout_.node->regions[layout_.body()].outputs()[carry];
}

/// Xs and invariants that are passed twice, and invariants that are constants.
void ConstructValues::find_equal_operands(Copies copies) {
  absl::flat_hash_map<Value, std::size_t> first_invariant, first_x;
  for (std::size_t p = layout_.index; p < parameters_.size(); p++) {
    if (role(p) == Role::kInvariant &&
        (small_constant(operand(p)) ||
         (copies == Copies::kConstantsAndIndices && follows_from_indices(*operand(p).node()))))
      parameters_[p].kind = Kind::kConstant;
    if (role(p) != Role::kInvariant && role(p) != Role::kX) continue;
    auto& first = role(p) == Role::kX ? first_x : first_invariant;
    const auto [found, is_new] = first.try_emplace(value_of(operand(p)), p);
    if (!is_new && kind(p) == Kind::kVaries) parameters_[p] = {Kind::kAlias, found->second};
  }
}

void ConstructValues::find_carries() {
  // Threshold: Rounds in which a fact about one carry decides another: compile time; the next run
  // of the passes finds what is left. Not measured.
  constexpr int kRounds = 4;
  bool changed = true;
  for (int round = 0; changed && round < kRounds; round++) {
    changed = false;
    for (std::size_t carry = 0; carry < layout_.carries; carry++)
      changed = settle_carry(carry) || changed;
    changed = merge_carries() || changed;
  }
}

/// A carry that the body returns unchanged, or as the invariant or constant that it starts as.
bool ConstructValues::settle_carry(std::size_t carry) {
  const std::size_t p = layout_.index + carry;
  if (kind(p) != Kind::kVaries) return false;
  const Tensor& next = next_value(carry);
  if (const Literal* value = constant_of(layout_.body(), next)) {
    const Literal* init = small_constant(operand(p));
    if (!init || !init->identical(*value)) return false;
    parameters_[p].kind = Kind::kConstant;
    return true;
  }
  const auto from = param_of(layout_.body(), next);
  if (from == p) {
    parameters_[p].kind = small_constant(operand(p)) ? Kind::kConstant : Kind::kInvariant;
    return true;
  }
  if (from && never_changes(*from) && operand(*from).same_as(operand(p))) {
    parameters_[p] = {Kind::kAlias, *from};
    return true;
  }
  return false;
}

/// Merges carries with equal initial and next values.
bool ConstructValues::merge_carries() {
  bool changed = false;
  absl::flat_hash_map<std::pair<Value, Value>, std::size_t> first;
  for (std::size_t carry = 0; carry < layout_.carries; carry++) {
    const std::size_t p = layout_.index + carry;
    if (kind(p) != Kind::kVaries) continue;
    const Tensor& next = next_value(carry);
    Value after = value_of(next);
    if (const auto from = param_of(layout_.body(), next))
      after = value_of(layout_.node->regions[layout_.body()].parameters()[*from]);
    const auto [found, is_new] = first.try_emplace(std::pair(value_of(operand(p)), after), p);
    if (is_new) continue;
    parameters_[p] = {Kind::kAlias, found->second};
    changed = true;
  }
  return changed;
}

void ConstructValues::find_ys() {
  absl::flat_hash_map<std::vector<Value>, std::size_t> first;
  for (std::size_t y = 0; y < layout_.ys; y++) {
    ys_[y] = forwarded_y(layout_.carries + y);
    ys_[y].same = y;
    if (ys_[y].constant || ys_[y].param) continue;
    std::vector<Value> values;
    for (std::size_t k = 0; k < layout_.node->regions.size(); k++) {
      if (layout_.is_body(k))
        values.push_back(value_of(layout_.node->regions[k].outputs()[layout_.carries + y]));
    }
    ys_[y].same = first.try_emplace(std::move(values), y).first->second;
  }
}

/// A y that equals its x; a result that all regions of a branch return alike.
ConstructValues::Y ConstructValues::forwarded_y(std::size_t result) const {
  Y all;
  bool is_first = true, same_param = true, same_constant = layout_.is_branch();
  for (std::size_t k = 0; k < layout_.node->regions.size(); k++) {
    if (!layout_.is_body(k)) continue;
    const Tensor& value = layout_.node->regions[k].outputs()[result];
    const auto param = param_of(k, value);
    same_param = same_param && param && (is_first || param == all.param);
    if (is_first) all.param = param;
    is_first = false;
    const Literal* literal = constant_of(k, value);
    same_constant = same_constant && literal &&
                    (!all.constant || small_constant(*all.constant)->identical(*literal));
    if (same_constant && !all.constant) all.constant = param ? &operand(*param) : &value;
  }
  if (same_constant) return {std::nullopt, all.constant};
  const Role wanted = layout_.is_branch() ? Role::kInvariant : Role::kX;
  const bool forwards = same_param && role(*all.param) == wanted &&
                        operand(*all.param).type() == layout_.node->types[result];
  return {forwards ? all.param : std::nullopt};
}

}  // namespace rondo::passes
