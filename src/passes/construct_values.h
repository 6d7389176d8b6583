// What is known of the values of one loop or branch: which of its parameters and results are equal
// to others, never change, or are constants.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/layout.h"

namespace rondo::passes {

/// The constant, if it is small enough to be copied into a region.
const Literal* small_constant(const Tensor& tensor);
/// What is copied into regions: small constants, and arrays whose elements follow from their
/// indices alone, as those of an iota, which loops compute where they are used.
enum class Copies { kConstants, kConstantsAndIndices };

class ConstructValues {
 public:
  ConstructValues(const ir::RegionLayout& layout, Copies copies);

  // Parameters by number, without indices.
  enum class Kind {
    kVaries,     // by trip or by input
    kInvariant,  // a carry that never changes
    kConstant,   // its operand, which is copied into the regions: a small constant, or elements
                 // that follow from their indices
    kAlias,      // has the value of another parameter
  };
  Kind kind(std::size_t param) const { return parameters_[param].kind; }
  bool is_constant(std::size_t param) const { return kind(param) == Kind::kConstant; }
  bool is_root(std::size_t param) const { return parameters_[param].same == param; }
  /// The representative of all parameters with this value.
  std::size_t root_of(std::size_t param) const;
  const Tensor& operand(std::size_t param) const {
    return layout_.node->operands[layout_.operand_of_param(param)];
  }
  /// The operand of a constant parameter, as a new node.
  Tensor copied(std::size_t param) const;
  /// The number of a parameter of a region.
  std::size_t number_of(std::size_t region, const ir::Node* parameter) const {
    return numbers_[region].at(parameter);
  }

  // Results of the construct.
  /// The representative of all results with this value.
  std::size_t result_root(std::size_t result) const;
  /// The small constant that the result equals, else null.
  const Tensor* constant_result(std::size_t result) const;
  /// The operand of the construct that the result equals.
  std::optional<std::size_t> operand_of_result(std::size_t result) const;
  /// Whether its value is known without the construct.
  bool is_known(std::size_t result) const {
    return constant_result(result) || operand_of_result(result);
  }

 private:
  using Role = ir::RegionLayout::Role;
  struct Parameter {
    Kind kind = Kind::kVaries;
    std::size_t same = 0;  // a parameter with the same value; itself unless it is an alias
  };
  struct Y {
    std::optional<std::size_t> param;  // the one that it forwards
    const Tensor* constant = nullptr;
    std::size_t same = 0;  // an earlier equal y, or itself
  };

  Role role(std::size_t param) const { return layout_.role_of_param(param); }
  bool never_changes(std::size_t param) const;
  std::optional<std::size_t> param_of(std::size_t region, const Tensor& value) const;
  const Literal* constant_of(std::size_t region, const Tensor& value) const;
  const Tensor& next_value(std::size_t carry) const;
  void find_equal_operands(Copies copies);
  void find_carries();
  bool settle_carry(std::size_t carry);
  bool merge_carries();
  void find_ys();
  Y forwarded_y(std::size_t result) const;

  ir::RegionLayout layout_;
  std::vector<absl::flat_hash_map<const ir::Node*, std::size_t>> numbers_;  // of each region
  std::vector<Parameter> parameters_;
  std::vector<Y> ys_;
};

}  // namespace rondo::passes
