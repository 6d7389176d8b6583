#include "support/program_generator.h"

#include <algorithm>
#include <utility>

#include "rondo/ops.h"
#include "rondo/transforms.h"

namespace rondo::testing {

namespace {

constexpr std::int64_t kMostElements = 48, kMostElementsWithDangers = 256;
constexpr std::size_t kMostResults = 10;
// Beyond a block of 64 lanes: each mask of a tail.
constexpr std::int64_t kLongest = 67;

const std::vector<Shape>& shapes() {
  static const std::vector<Shape> all = {{},     {},     {},     {},  {3},       {3}, {4},
                                         {2, 3}, {2, 3}, {3, 2}, {1}, {2, 1, 3}, {0}, {2, 0}};
  return all;
}

const std::vector<ValueType>& element_types() {
  static const std::vector<ValueType> all = [] {
    std::vector<ValueType> types;
    const auto add = [&](Kind kind, std::initializer_list<DType> dtypes) {
      for (const DType dtype : dtypes) types.push_back({{dtype, {}}, kind});
    };
    using enum DType;
    add(Kind::kPred, {kPred, kPred});
    add(Kind::kInteger, {kS32, kS32, kS32, kS32, kS64, kS16, kS8, kU8, kU16, kU32, kU32, kU64});
    add(Kind::kWhole, {kF32, kF32, kF64, kF16, kBF16});
    add(Kind::kUnit, {kF32, kF32, kF32, kF64});
    return types;
  }();
  return all;
}

}  // namespace

ProgramGenerator::ProgramGenerator(std::uint64_t seed, const ProgramSize& size)
    : dice_(seed), size_(size), shapes_(shapes()), most_elements_(kMostElements) {
  shapes_.insert(shapes_.end(), size.shapes.begin(), size.shapes.end());
  if (size.dangers == 0) return;
  most_elements_ = kMostElementsWithDangers;
  long_ = dice_.number(0, kLongest);
  for (int i = 0; i < 8; i++) shapes_.push_back({long_});
  for (const Shape& shape : {Shape{long_, 3}, Shape{3, long_}}) shapes_.push_back(shape);
}

ValueType ProgramGenerator::random_type() { return random_row(1); }

ValueType ProgramGenerator::random_row(std::int64_t length) {
  ValueType type = dice_.one_of(element_types());
  if (size_.units > 0 && dice_.chance(size_.units))
    type = {{dice_.chance(50) ? DType::kF32 : DType::kF64, {}}, Kind::kUnit};
  type.type.shape = dice_.one_of(shapes_);
  if (elementwise_ && type.type.rank() > 0) type.type.shape = *elementwise_;
  if (size_.dangers > 0 && type.type.elements() * length > most_elements_) type.type.shape = {};
  return type;
}

ValueId ProgramGenerator::new_value(const ValueType& type) {
  types_.push_back(type);
  visible_.push_back(types_.size() - 1);
  return types_.size() - 1;
}

ProgramGenerator::Types ProgramGenerator::types_of(const Ids& ids) const {
  Types types;
  for (const ValueId id : ids) types.push_back(type_of(id));
  return types;
}

std::optional<ValueId> ProgramGenerator::pick(const Accept& accept) {
  Ids candidates;
  for (const ValueId id : visible_) {
    const ValueType& type = type_of(id);
    if (elementwise_ && type.type.rank() > 0 && type.type.shape != *elementwise_) continue;
    if (accept(type)) candidates.push_back(id);
  }
  if (candidates.empty()) return std::nullopt;
  const auto last = static_cast<std::int64_t>(candidates.size()) - 1;
  // The better of two draws: recent values are used most.
  const std::int64_t chosen = std::max(dice_.number(0, last), dice_.number(0, last));
  return candidates[static_cast<std::size_t>(chosen)];
}

ValueId ProgramGenerator::like(const ValueType& type) {
  if (dice_.chance(85)) {
    if (const auto id = pick([&](const ValueType& other) { return other == type; })) return *id;
  }
  return add_constant(type);
}

ValueId ProgramGenerator::scalar_index() {
  const auto id = pick([&](const ValueType& type) {
    return type.kind == Kind::kInteger && type.type.rank() == 0 &&
           (type.type.dtype == DType::kS32 || dice_.chance(30));
  });
  return id ? *id : add_constant({s32(), Kind::kInteger});
}

ProgramGenerator::Ids ProgramGenerator::random_carry() {
  Ids carry;
  const std::int64_t size = dice_.number(depth_ > 1 ? 1 : 0, 3);  // of inner ones, less often none
  for (std::int64_t i = 0; i < size; i++) {
    if (const auto id = pick([](const ValueType&) { return true; })) carry.push_back(*id);
  }
  return carry;
}

std::optional<ValueId> ProgramGenerator::constructed(const ValueType& type) const {
  const auto found = std::find_if(visible_.rbegin(), visible_.rend(), [&](ValueId id) {
    return constructed_.contains(id) && type_of(id) == type;
  });
  return found == visible_.rend() ? std::nullopt : std::optional(*found);
}

ValueId ProgramGenerator::fresh(const ValueType& type) {
  const std::size_t before = visible_.size();
  // Values that no result depends on are not in the program, so a block preferably returns these.
  std::optional<ValueId> x = dice_.chance(90) ? constructed(type) : std::nullopt;
  if (!x) x = pick([&](const ValueType& other) { return other == type; });
  if (x) {
    bool made = false;
    if (dice_.chance(80)) {
      switch (type.kind) {
        case Kind::kPred:
          made = pred_arithmetic(*x);
          break;
        case Kind::kInteger:
          made = integer_arithmetic(*x);
          break;
        case Kind::kWhole:
          made = whole_arithmetic(*x);
          break;
        case Kind::kUnit:
          made = unit_arithmetic(*x);
          break;
      }
    }
    if (made && visible_.size() > before && type_of(visible_.back()) == type)
      return visible_.back();
    return *x;
  }
  return add_constant(type);
}

Block ProgramGenerator::block(const Types& params, const std::optional<Types>& results,
                              int statements) {
  Block made;
  Block* const outer = std::exchange(current_, &made);
  const std::size_t outer_values = visible_.size();
  for (const ValueType& type : params) made.params.push_back(new_value(type));
  for (int i = 0; i < statements; i++) random_statement();
  if (results) {
    for (const ValueType& type : *results) made.results.push_back(fresh(type));
  } else {
    for (std::size_t i = visible_.size(); i-- > 0 && made.results.size() < kMostResults;) {
      made.results.push_back(visible_[i]);
    }
  }
  visible_.resize(outer_values);
  current_ = outer;
  return made;
}

ProgramGenerator::Ids ProgramGenerator::add(
    Ids operands, const Types& results,
    std::function<std::vector<Tensor>(std::span<const Tensor>, Environment&)> action) {
  Ids ids;
  for (const ValueType& type : results) ids.push_back(new_value(type));
  current_->statements.push_back({std::move(operands), ids, std::move(action)});
  return ids;
}

ValueId ProgramGenerator::add_op(Ids operands, Kind kind, Op op) {
  std::vector<TensorType> types;
  for (const ValueId id : operands) types.push_back(type_of(id).type);
  const Function traced =
      trace([&](const std::vector<Tensor>& values) { return op(values); }, types);
  const TensorType type = traced.results()[0];
  if (type.elements() > most_elements_) return operands.front();
  auto action = [op = std::move(op)](std::span<const Tensor> values, Environment&) {
    return std::vector<Tensor>{op(values)};
  };
  return add(std::move(operands), {{type, kind}}, std::move(action))[0];
}

ValueId ProgramGenerator::add_constant(const ValueType& type) {
  const Literal value = random_literal(dice_, type);
  auto action = [value](std::span<const Tensor>, Environment&) {
    return std::vector<Tensor>{value};
  };
  return add({}, {type}, std::move(action))[0];
}

void ProgramGenerator::random_statement() {
  using Maker = bool (ProgramGenerator::*)();
  using G = ProgramGenerator;
  static const std::vector<Maker> makers = {
      &G::arithmetic, &G::arithmetic, &G::arithmetic, &G::arithmetic, &G::comparison,
      &G::choice,     &G::conversion, &G::conversion, &G::reshaping,  &G::reshaping,
      &G::slicing,    &G::indexing,   &G::indexing,   &G::reduction,  &G::running_total,
      &G::ordering,   &G::product,    &G::creation,   &G::scattering, &G::random_bits};
  static const std::vector<Maker> elementwise_makers = {&G::arithmetic, &G::arithmetic,
                                                        &G::comparison, &G::choice, &G::conversion};
  constexpr int kTries = 20;
  const bool is_dangerous = size_.dangers > 0 && dice_.chance(size_.dangers);
  if (depth_ < size_.depth && (is_dangerous || dice_.chance(45))) {
    const std::size_t before = visible_.size();
    if (is_dangerous ? danger() : construct()) {
      constructed_.insert(visible_.begin() + static_cast<std::ptrdiff_t>(before), visible_.end());
      return;
    }
  }
  for (int i = 0; i < kTries; i++) {
    if ((this->*dice_.one_of(elementwise_ ? elementwise_makers : makers))()) return;
  }
}

}  // namespace rondo::testing
