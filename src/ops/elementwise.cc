#include "ops/elementwise.h"

#include <algorithm>
#include <string>
#include <utility>

#include "ops/kernels/elementwise_kernels.h"

namespace rondo::ops {

namespace {

std::string kinds_text(Kinds kinds) {
  std::vector<std::string_view> names;
  if (kinds & kPreds) names.push_back("pred");
  if ((kinds & kIntegers) == kIntegers)
    names.push_back("integers");
  else if (kinds & kSigned)
    names.push_back("signed integers");
  else if (kinds & kUnsigned)
    names.push_back("unsigned integers");
  if ((kinds & kFloats) == kFloats)
    names.push_back("floats");
  else if (kinds & kFullFloats)
    names.push_back("f32, f64");
  if (kinds & kComplexes) names.push_back("complex numbers");
  std::string text(names[0]);
  for (std::size_t i = 1; i < names.size(); i++) {
    text += i + 1 == names.size() ? " and " : ", ";
    text += names[i];
  }
  return text;
}

std::string_view kinds_remedy(Kinds given, Kinds taken) {
  if (given & kComplexes)
    return "Take a real number of it: rondo::real(x), rondo::imag(x) or "
           "rondo::abs(x).";
  if (given & kFloats) {
    if (taken & kFloats) return "Convert it first: rondo::convert(x, DType::kF32).";
    if (taken & kComplexes) return "Make a complex number of it: rondo::convert(x, DType::kC64).";
    return "Convert it to an integer first: rondo::convert(x, DType::kS32), or "
           "take its bits: "
           "rondo::bitcast_convert(x, DType::kS32).";
  }
  if (taken & (given == kPreds ? kIntegers : kSigned))
    return "Convert it to an integer first: rondo::convert(x, DType::kS32).";
  return "Convert it to a float first: rondo::convert(x, DType::kF32).";
}

void refuse(const InferContext& context, Kinds kinds) {
  const TensorType& first = context.type(0);
  for (std::size_t i = 1; i < context.operands.size(); i++) {
    if (context.type(i) == first) continue;
    context.fail(fmt::format("operand 0 is {}, operand {} is {}; the types must be equal\n  {}",
                             first.str(), i, context.type(i).str(),
                             first.dtype == context.type(i).dtype
                                 ? "Broadcast one: rondo::broadcast_to(x, dims)."
                                 : conversion_remedy(first.dtype, context.type(i).dtype,
                                                     "operand 0", fmt::format("operand {}", i))));
  }
  context.fail(fmt::format("takes {}; the operand is {}\n  {}", kinds_text(kinds), first.str(),
                           kinds_remedy(kind_of(first.dtype), kinds)));
}

constexpr std::array<Kinds, kDTypeCount> kKinds = [] {
  std::array<Kinds, kDTypeCount> kinds{};
  for (std::size_t i = 0; i < kinds.size(); i++) kinds[i] = kind_of(static_cast<DType>(i));
  return kinds;
}();

}  // namespace

void check_elementwise(const InferContext& context, Kinds kinds) {
  const TensorType& first = ir::type_of(context.operands[0]);
  bool fits = (kinds & kKinds[static_cast<std::size_t>(first.dtype)]) != 0;
  for (std::size_t i = 1; i < context.operands.size(); i++)
    fits = fits && ir::type_of(context.operands[i]) == first;
  if (!fits) refuse(context, kinds);
}

Tensor unary_op(const OpDef& op, const Operand& x) {
  ir::Operands operands;
  operands.push_back(x.any());
  return make(op, std::move(operands), {}, x.at());
}

Tensor matched_op(const OpDef& op, const Operand& a, const Operand& b) {
  const std::array<Tensor, 2> both = matched(op, a, b);
  return ir::make_of_equals(op, both[0], both[1], a.at());
}

}  // namespace rondo::ops
