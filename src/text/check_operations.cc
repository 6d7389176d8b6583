#include "text/check_operations.h"

#include "fmt/format.h"
#include "rondo/ops.h"
#include "text/mlir/cursor.h"

namespace rondo::text {

namespace {

constexpr std::string_view kDialect = "check.";

std::string_view name_of(const mlir::Operation& operation) {
  if (operation.name != "stablehlo.custom_call") return operation.name;
  const mlir::Attribute* target = operation.find("call_target_name");
  if (!target) target = operation.find("callee");
  return target ? target->text : operation.name;
}

double number_of(std::string_view text, const mlir::Operation& operation, std::string_view name,
                 double otherwise) {
  const mlir::Attribute* const value = operation.find(name);
  if (!value) return otherwise;
  if (value->kind == mlir::Attribute::Kind::kFloat) return value->number;
  if (value->kind == mlir::Attribute::Kind::kInteger) return static_cast<double>(value->integer);
  mlir::fail(text, operation.attributes.place_of(*value),
             fmt::format("`{}` is no number\n  Write it like 1.0e-6.", name));
}

std::uint64_t count_of(std::string_view text, const mlir::Operation& operation,
                       std::string_view name, std::uint64_t otherwise) {
  const mlir::Attribute* const value = operation.find(name);
  if (!value) return otherwise;
  if (value->kind != mlir::Attribute::Kind::kInteger)
    mlir::fail(text, operation.attributes.place_of(*value),
               fmt::format("`{}` is no integer\n  Write it like 3.", name));
  return static_cast<std::uint64_t>(value->integer);
}

Check kind_of(std::string_view text, const mlir::Operation& operation, const Tensor& actual) {
  const std::string_view name = name_of(operation);
  Check check;
  if (name == "check.expect_eq" || name == "check.expect_eq_const") return check;
  if (name == "check.eq") {
    const bool exact = !is_floating(actual.dtype()) && !is_complex(actual.dtype());
    check.kind = exact ? Check::Kind::kEqual : Check::Kind::kAlmostEqual;
    return check;
  }
  if (name == "check.expect_almost_eq" || name == "check.expect_almost_eq_const") {
    check.kind = Check::Kind::kAlmostEqual;
    if (operation.name != name) check.tolerance = 1e-3;  // as StableHLO's own tool
    check.tolerance = number_of(text, operation, "tolerance", check.tolerance);
    return check;
  }
  if (name == "check.expect_close") {
    check.kind = Check::Kind::kClose;
    if (operation.name != name)
      check.max_ulps = 3;  // StableHLO's own tool takes no attribute there
    check.max_ulps = count_of(text, operation, "max_ulp_difference", check.max_ulps);
    check.min_ulps = count_of(text, operation, "min_ulp_difference", check.min_ulps);
    return check;
  }
  mlir::fail(text, operation.at, fmt::format("the check {} is not supported", name));
}

}  // namespace

bool is_check(const mlir::Operation& operation) {
  return name_of(operation).substr(0, kDialect.size()) == kDialect;
}

ReadCheck read_check(std::string_view text, const mlir::Operation& operation,
                     std::span<const Tensor> operands) {
  const mlir::Attribute* const value = operation.find("value");
  const bool constant = value && value->kind == mlir::Attribute::Kind::kElements;
  if (operands.size() != (constant ? 1u : 2u))
    mlir::fail(
        text, operation.at,
        fmt::format("{} compares two values; it has {} operands", operation.name, operands.size()));
  const Tensor& actual = operands[0];
  const Tensor expected = constant ? tensor_of(*value, {}) : operands[1];
  if (actual.type() != expected.type())
    mlir::fail(text, operation.at,
               fmt::format("{}: the values are {} and {}", operation.name, actual.type().str(),
                           expected.type().str()));
  return {kind_of(text, operation, actual), actual, expected};
}

std::vector<Tensor> check_result(const mlir::Operation& operation) {
  if (operation.results.empty()) return {};
  return {Tensor(true)};
}

Tensor tensor_of(const mlir::Attribute& elements, SourceLocation at) {
  const Tensor given(elements.elements, at);
  return elements.elements.type() == elements.type ? given
                                                   : broadcast_to(given, elements.type.shape);
}

}  // namespace rondo::text
