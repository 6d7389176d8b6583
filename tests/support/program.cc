#include "support/program.h"

#include "base/for_dtype.h"
#include "rondo/gradients.h"
#include "rondo/ops.h"
#include "rondo/transforms.h"
#include "support/program_generator.h"

namespace rondo::testing {

std::uint64_t Dice::bits() {
  std::uint64_t z = state_ += 0x9e3779b97f4a7c15;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
  z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
  return z ^ (z >> 31);
}

std::int64_t Dice::number(std::int64_t low, std::int64_t high) {
  return low + static_cast<std::int64_t>(bits() % static_cast<std::uint64_t>(high - low + 1));
}

Literal random_literal(Dice& dice, const ValueType& type) {
  Literal literal = Literal::uninitialized(type.type);
  for_dtype(type.type.dtype, [&]<class T>() {
    for (T& element : literal.mutable_data<T>()) {
      if constexpr (std::is_same_v<T, bool>) {
        element = dice.chance(50);
      } else if constexpr (std::is_integral_v<T>) {
        // Small numbers, which make good indices, beside any numbers at all.
        element = dice.chance(70) ? static_cast<T>(dice.number(std::is_signed_v<T> ? -4 : 0, 7))
                                  : static_cast<T>(dice.bits());
      } else if constexpr (is_floating(dtype_of<T>)) {
        const double value = type.kind == Kind::kWhole
                                 ? static_cast<double>(dice.number(-64, 64))
                                 : static_cast<double>(dice.number(-1000, 1000)) / 1000;
        element = static_cast<T>(value);
      }
    }
  });
  return literal;
}

std::vector<Tensor> Block::run(std::span<const Tensor> arguments, Environment& environment) const {
  for (std::size_t i = 0; i < params.size(); i++) environment.set(params[i], arguments[i]);
  for (const Statement& statement : statements) {
    std::vector<Tensor> operands;
    for (const ValueId id : statement.operands) operands.push_back(environment[id]);
    std::vector<Tensor> made = statement.action(operands, environment);
    for (std::size_t i = 0; i < statement.results.size(); i++) {
      environment.set(statement.results[i], std::move(made[i]));
    }
  }
  std::vector<Tensor> values;
  for (const ValueId id : results) values.push_back(environment[id]);
  return values;
}

Program Program::random(std::uint64_t seed, const ProgramSize& size) {
  ProgramGenerator generator(seed, size);
  Program program;
  const std::int64_t params = generator.dice().number(2, 5);
  for (std::int64_t i = 0; i < params; i++) program.param_types_.push_back(generator.random_type());
  program.entry_ = generator.block(program.param_types_, std::nullopt, size.statements);
  program.values_ = generator.values();
  return program;
}

std::vector<TensorType> Program::params() const {
  std::vector<TensorType> types;
  for (const ValueType& type : param_types_) types.push_back(type.type);
  return types;
}

std::vector<Literal> Program::arguments(std::uint64_t seed) const {
  Dice dice(seed);
  std::vector<Literal> values;
  for (const ValueType& type : param_types_) values.push_back(random_literal(dice, type));
  return values;
}

std::vector<Tensor> Program::operator()(std::span<const Tensor> arguments) const {
  Environment environment(values_);
  return entry_.run(arguments, environment);
}

Tensor Program::loss(std::span<const Tensor> arguments) const {
  Tensor total = 0.0;
  double weight = 1;
  for (const Tensor& result : (*this)(arguments)) {
    if (!is_floating(result.dtype())) continue;
    total += weight * sum(sin(convert(result, DType::kF64)));
    weight = -0.75 * weight;
  }
  return total;
}

std::vector<Tensor> Program::gradient(std::span<const Tensor> arguments) const {
  detail::ArgumentLeaves leaves;
  std::vector<std::size_t> all;
  for (std::size_t i = 0; i < arguments.size(); i++) {
    leaves.leaves.values.push_back(arguments[i]);
    leaves.leaves.paths.push_back("arg" + std::to_string(i));
    leaves.owner.push_back(i);
    if (is_floating(arguments[i].dtype())) all.push_back(i);
  }
  if (all.empty()) return {};
  const detail::RegionCallable on_leaves = [this](std::span<const Tensor> given) {
    return detail::Leaves{{loss(given)}, {"result"}};
  };
  return detail::gradient(on_leaves, leaves, all, SourceLocation::current()).gradients;
}

Function Program::traced(const Place& place) const {
  return trace(
      [&](const std::vector<Tensor>& arguments) {
        Environment environment(values_, place);
        return entry_.run(arguments, environment);
      },
      params());
}

Function Program::traced_result(std::size_t result) const {
  return trace([&](const std::vector<Tensor>& arguments) { return (*this)(arguments)[result]; },
               params());
}

}  // namespace rondo::testing
