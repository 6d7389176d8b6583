#include "ir/origins.h"

#include <vector>

#include "absl/container/flat_hash_set.h"
#include "base/for_dtype.h"
#include "fmt/format.h"
#include "ir/node.h"
#include "ir/region.h"
#include "ir/spelling.h"
#include "rondo/loops.h"

namespace rondo::ir {

namespace {

/// The carries of the bodies that this thread is tracing, innermost last.
struct OpenCarry {
  std::span<const Tensor> parameters;
  const detail::Leaves* init;
};
std::vector<OpenCarry>& open_carries() {
  thread_local std::vector<OpenCarry> open;
  return open;
}

/// The C++ type of a scalar as written in the source.
const char* cpp_type_name(DType dtype) {
  switch (dtype) {
    case DType::kPred:
      return "bool";
    case DType::kS32:
      return "int";
    case DType::kS64:
      return "std::int64_t";
    case DType::kF32:
      return "float";
    case DType::kF64:
      return "double";
    default:
      return "number";
  }
}

/// The value as a C++ literal of a dtype; "" for an integer dtype that cannot represent it.
std::string cpp_literal(const Literal& value, DType wanted) {
  std::string text = for_any_dtype(value.dtype(), [&]<class T>() -> std::string {
    if constexpr (std::is_arithmetic_v<T> && !std::is_same_v<T, bool>)
      return fmt::format("{}", value.item<T>());
    else
      return value.str().substr(value.str().find(' ') + 1);
  });
  const bool has_point = text.find_first_of(".en") != std::string::npos;
  std::string real = has_point ? text : text + ".0";
  if (wanted == DType::kF32) return real + "f";
  if (wanted == DType::kF64) return real;
  if (wanted == DType::kF16) return "rondo::float16(" + real + ")";
  if (wanted == DType::kBF16) return "rondo::bfloat16(" + real + ")";
  if (is_integer(wanted) && has_point) return "";
  if (wanted == DType::kS64) return "std::int64_t{" + text + "}";
  return text;
}

/// "carry.x of the body of ... " for a parameter whose initial value was a C++ scalar.
std::string carry_origin(const Tensor& parameter, DType wanted) {
  for (const OpenCarry& open : open_carries()) {
    for (std::size_t i = 0; i < open.parameters.size() && i < open.init->values.size(); i++) {
      const Tensor& init = open.init->values[i];
      if (!open.parameters[i].same_as(parameter) || !init.is_scalar_literal()) continue;
      const RegionToken& home = *parameter.node()->attrs<ParameterAttributes>().region;
      return fmt::format("{} of {}{} began as {}", open.init->paths[i], home.what,
                         in_brackets(home.at), scalar_advice(init, wanted));
    }
  }
  return "";
}

}  // namespace

std::string scalar_code(const Scalar& value) {
  return cpp_literal(scalar_literal(value, value.dtype, {}), value.dtype);
}

std::string scalar_advice(const Tensor& scalar, DType wanted) {
  const Literal& value = *known_value(scalar);
  const std::string advised = cpp_literal(value, wanted);
  return fmt::format("the C++ {} {} at {}{}{}", cpp_type_name(value.dtype()),
                     cpp_literal(value, value.dtype()), scalar.node()->location().str(),
                     advised.empty() ? "" : ": write ", advised);
}

std::string scalar_origin(const Tensor& tensor, DType wanted) {
  if (tensor.is_scalar_literal()) return scalar_advice(tensor, wanted);
  // Searches through the ops that keep the dtype, in the open bodies; far enough for an expression.
  constexpr std::size_t kMostNodes = 1000;
  absl::flat_hash_set<const Node*> seen;
  std::vector<Tensor> stack{tensor};
  while (!stack.empty() && seen.size() < kMostNodes) {
    const Tensor next = std::move(stack.back());
    stack.pop_back();
    if (is_parameter(next.node())) {
      std::string origin = carry_origin(next, wanted);
      if (!origin.empty()) return origin;
    }
    if (!seen.insert(next.node()).second) continue;
    for (const Tensor& operand : next.node()->operands) {
      if (operand.dtype() == tensor.dtype()) stack.push_back(operand);
    }
  }
  return "";
}

}  // namespace rondo::ir

namespace rondo::detail {

CarryOrigins::CarryOrigins(std::span<const Tensor> parameters, const Leaves& init) {
  ir::open_carries().push_back({parameters, &init});
}
CarryOrigins::~CarryOrigins() { ir::open_carries().pop_back(); }

}  // namespace rondo::detail
