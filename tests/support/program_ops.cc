// The straight-line statements of random programs.
#include <algorithm>
#include <numeric>
#include <utility>

#include "rondo/ops.h"
#include "support/program_generator.h"

namespace rondo::testing {

namespace {

using Operands = std::span<const Tensor>;

/// Clamps to the range of Kind::kWhole.
Tensor held(const Tensor& x) { return clamp(-64, x, 64); }

bool is_half(const ValueType& type) {
  return type.type.dtype == DType::kF16 || type.type.dtype == DType::kBF16;
}
bool has_elements(const ValueType& type) { return type.type.elements() > 0; }

/// All dims whose product is `elements`, of rank up to 3.
std::vector<std::vector<std::int64_t>> factorizations(std::int64_t elements) {
  std::vector<std::vector<std::int64_t>> all = {{elements}, {1, elements}, {elements, 1}};
  for (std::int64_t i = 2; i < elements; i++) {
    if (elements % i == 0) all.push_back({i, elements / i});
  }
  if (elements == 1) all.push_back({});
  return all;
}

/// The shape with another size along an axis.
Shape resized(const Shape& shape, std::int64_t axis, std::int64_t size) {
  std::vector<std::int64_t> dims = shape.vector();
  dims[static_cast<std::size_t>(axis)] = size;
  return dims;
}

/// Whether the type's kind is exact, so that rounding does not matter.
bool is_exact(const ValueType& type) { return type.kind != Kind::kUnit; }

}  // namespace

bool ProgramGenerator::arithmetic() {
  const auto x = pick([](const ValueType&) { return true; });
  if (!x) return false;
  switch (type_of(*x).kind) {
    case Kind::kPred:
      return pred_arithmetic(*x);
    case Kind::kInteger:
      return integer_arithmetic(*x);
    case Kind::kWhole:
      return whole_arithmetic(*x);
    case Kind::kUnit:
      return unit_arithmetic(*x);
  }
  return false;
}

bool ProgramGenerator::pred_arithmetic(ValueId x) {
  using F = Tensor (*)(const Tensor&, const Tensor&);
  static const std::vector<F> ops = {
      [](const Tensor& a, const Tensor& b) { return a & b; },
      [](const Tensor& a, const Tensor& b) { return a | b; },
      [](const Tensor& a, const Tensor& b) { return a ^ b; },
      [](const Tensor& a, const Tensor& b) { return a == b; },
      [](const Tensor& a, const Tensor& b) { return a < b; },
      [](const Tensor& a, const Tensor& b) { return maximum(a, b); },
      [](const Tensor& a, const Tensor& b) { return minimum(a, !b); },
      [](const Tensor& a, const Tensor&) { return !a; },
      [](const Tensor& a, const Tensor& b) { return logical_or(a, logical_not(b)); },
      [](const Tensor& a, const Tensor& b) { return where(a, b, !b); },
  };
  const F f = dice_.one_of(ops);
  add_op({x, like(type_of(x))}, Kind::kPred, [f](Operands v) { return f(v[0], v[1]); });
  return true;
}

bool ProgramGenerator::integer_arithmetic(ValueId x) {
  using F = Tensor (*)(const Tensor&, const Tensor&);
  static const std::vector<F> ops = {
      [](const Tensor& a, const Tensor& b) { return a + b; },
      [](const Tensor& a, const Tensor& b) { return a + b; },
      [](const Tensor& a, const Tensor& b) { return a - b; },
      [](const Tensor& a, const Tensor& b) { return a * b; },
      [](const Tensor& a, const Tensor& b) { return a * b; },
      // XLA's constant folder crashes on a constant divided by 0 or -1, and its powers end at an
      // exponent of 63. tests/xla/elementwise_test.cc has these cases with operands it cannot fold.
      [](const Tensor& a, const Tensor& b) { return a / (abs(b) | 1); },
      [](const Tensor& a, const Tensor& b) { return a % (abs(b) | 1); },
      [](const Tensor& a, const Tensor& b) { return pow(a, b & 63); },
      [](const Tensor& a, const Tensor& b) { return a & b; },
      [](const Tensor& a, const Tensor& b) { return a | b; },
      [](const Tensor& a, const Tensor& b) { return a ^ b; },
      [](const Tensor& a, const Tensor& b) { return a << b; },
      [](const Tensor& a, const Tensor& b) { return a >> b; },
      [](const Tensor& a, const Tensor& b) { return shift_right_logical(a, b); },
      [](const Tensor& a, const Tensor& b) { return shift_right_arithmetic(a, b); },
      [](const Tensor& a, const Tensor& b) { return maximum(a, b); },
      [](const Tensor& a, const Tensor& b) { return minimum(a, b); },
      [](const Tensor& a, const Tensor& b) { return clamp(minimum(a, b), a, 5); },
      [](const Tensor& a, const Tensor&) { return -a; },
      [](const Tensor& a, const Tensor&) { return ~a; },
      [](const Tensor& a, const Tensor&) { return abs(a); },
      [](const Tensor& a, const Tensor&) { return sign(a); },
      [](const Tensor& a, const Tensor&) { return square(a) + 1; },
      [](const Tensor& a, const Tensor&) { return popcount(a); },
      // XLA folds those of a negative constant to -32.
      [](const Tensor& a, const Tensor&) { return count_leading_zeros(shift_right_logical(a, 1)); },
      [](const Tensor& a, const Tensor&) { return a + 1; },
      [](const Tensor& a, const Tensor&) { return 3 - a; },
      [](const Tensor& a, const Tensor&) { return a * 7 % 31; },
      [](const Tensor& a, const Tensor&) { return a + 0; },
      [](const Tensor& a, const Tensor&) { return a - a; },
      [](const Tensor& a, const Tensor&) { return tap(a, "watched"); },
  };
  F f = dice_.one_of(ops);
  if (f == ops.back() && !size_.taps) f = ops.front();
  add_op({x, like(type_of(x))}, Kind::kInteger, [f](Operands v) { return f(v[0], v[1]); });
  return true;
}

bool ProgramGenerator::whole_arithmetic(ValueId x) {
  using F = Tensor (*)(const Tensor&, const Tensor&);
  static const std::vector<F> ops = {
      [](const Tensor& a, const Tensor& b) { return held(a + b); },
      [](const Tensor& a, const Tensor& b) { return held(a - b); },
      [](const Tensor& a, const Tensor& b) { return maximum(a, b); },
      [](const Tensor& a, const Tensor& b) { return minimum(a, b); },
      [](const Tensor& a, const Tensor&) { return -a; },
      [](const Tensor& a, const Tensor&) { return abs(a); },
      [](const Tensor& a, const Tensor&) { return sign(a); },
      [](const Tensor& a, const Tensor&) { return floor(a * 0.5); },
      [](const Tensor& a, const Tensor&) { return ceil(a * 0.5); },
      [](const Tensor& a, const Tensor&) { return round(a * 0.5); },
      [](const Tensor& a, const Tensor&) { return a * 1; },
      [](const Tensor& a, const Tensor& b) { return where(is_finite(a), a, b); },
      [](const Tensor& a, const Tensor& b) { return held(a * 2 - b); },
  };
  static const std::vector<F> not_of_halves = {
      [](const Tensor& a, const Tensor& b) { return held(a * b); },
      [](const Tensor& a, const Tensor& b) { return held(a * b + a); },
      [](const Tensor& a, const Tensor&) { return held(square(a)); },
  };
  const F f = dice_.one_of(!is_half(type_of(x)) && dice_.chance(25) ? not_of_halves : ops);
  add_op({x, like(type_of(x))}, Kind::kWhole, [f](Operands v) { return f(v[0], v[1]); });
  return true;
}

// None of these leaves [-1, 1], and none amplifies a change of its operands.
bool ProgramGenerator::unit_arithmetic(ValueId x) {
  using F = Tensor (*)(const Tensor&, const Tensor&);
  static const std::vector<F> ops = {
      [](const Tensor& a, const Tensor& b) { return (a + b) * 0.5; },
      [](const Tensor& a, const Tensor& b) { return (a - b) / 2; },
      [](const Tensor& a, const Tensor& b) { return a * b * 0.5; },
      [](const Tensor& a, const Tensor& b) { return maximum(a, b); },
      [](const Tensor& a, const Tensor& b) { return minimum(a, b); },
      [](const Tensor& a, const Tensor& b) { return hypot(a, b) * 0.5; },
      [](const Tensor& a, const Tensor& b) { return clamp(minimum(a, b), a, 0.5); },
      [](const Tensor& a, const Tensor&) { return sin(a); },
      [](const Tensor& a, const Tensor&) { return cos(a); },
      [](const Tensor& a, const Tensor&) { return tanh(a); },
      [](const Tensor& a, const Tensor&) { return atan(a); },
      [](const Tensor& a, const Tensor&) { return erf(a) * 0.5; },
      [](const Tensor& a, const Tensor&) { return logistic(a); },
      [](const Tensor& a, const Tensor&) { return exp(-abs(a)); },
      [](const Tensor& a, const Tensor&) { return log1p(abs(a)); },
      [](const Tensor& a, const Tensor&) { return sqrt(abs(a) + 1) * 0.5; },
      [](const Tensor& a, const Tensor&) { return square(a) * 0.5; },
      [](const Tensor& a, const Tensor&) { return asinh(a); },
      [](const Tensor& a, const Tensor&) { return 1 - abs(a); },
      [](const Tensor& a, const Tensor&) { return -a; },
      [](const Tensor& a, const Tensor&) { return abs(a); },
  };
  const F f = dice_.one_of(ops);
  add_op({x, like(type_of(x))}, Kind::kUnit, [f](Operands v) { return f(v[0], v[1]); });
  return true;
}

bool ProgramGenerator::comparison() {
  using F = Tensor (*)(const Tensor&, const Tensor&);
  static const std::vector<F> ops = {
      [](const Tensor& a, const Tensor& b) { return a < b; },
      [](const Tensor& a, const Tensor& b) { return a <= b; },
      [](const Tensor& a, const Tensor& b) { return a > b; },
      [](const Tensor& a, const Tensor& b) { return a >= b; },
      [](const Tensor& a, const Tensor& b) { return a == b; },
      [](const Tensor& a, const Tensor& b) { return a != b; },
      [](const Tensor& a, const Tensor&) { return a > 2; },
  };
  const auto x = pick([](const ValueType& type) {
    return type.kind == Kind::kInteger || type.kind == Kind::kWhole;
  });
  if (!x) return false;
  const F f = dice_.one_of(ops);
  add_op({*x, like(type_of(*x))}, Kind::kPred, [f](Operands v) { return f(v[0], v[1]); });
  return true;
}

bool ProgramGenerator::choice() {
  const auto x = pick([](const ValueType&) { return true; });
  if (!x) return false;
  const ValueType type = type_of(*x);
  const auto chosen = pick([&](const ValueType& other) {
    return other.kind == Kind::kPred &&
           (other.type.rank() == 0 || other.type.shape == type.type.shape);
  });
  if (!chosen) return false;
  add_op({*chosen, *x, like(type)}, type.kind, [](Operands v) { return where(v[0], v[1], v[2]); });
  return true;
}

bool ProgramGenerator::conversion() {
  const auto x = pick([](const ValueType&) { return true; });
  if (!x) return false;
  const ValueType from = type_of(*x);
  const ValueType to = random_type();
  const DType dtype = to.type.dtype;
  if (from.type.dtype == dtype) return false;
  if (to.kind == Kind::kUnit) {
    if (from.kind == Kind::kUnit) {
      add_op({*x}, Kind::kUnit, [dtype](Operands v) { return convert(v[0], dtype); });
    } else if (from.kind == Kind::kWhole) {
      add_op({*x}, Kind::kUnit, [dtype](Operands v) { return convert(v[0], dtype) * (1.0 / 64); });
    } else {
      return false;
    }
    return true;
  }
  if (from.kind == Kind::kUnit) return false;
  if (to.kind == Kind::kWhole && from.kind == Kind::kInteger) {
    const int low = is_signed_integer(from.type.dtype) ? -64 : 0;
    add_op({*x}, to.kind, [=](Operands v) { return convert(clamp(low, v[0], 64), dtype); });
  } else if (to.kind == Kind::kInteger && from.kind == Kind::kInteger &&
             byte_width(dtype) == byte_width(from.type.dtype) && dice_.chance(50)) {
    add_op({*x}, to.kind, [=](Operands v) { return bitcast_convert(v[0], dtype); });
  } else {
    add_op({*x}, to.kind, [=](Operands v) { return convert(v[0], dtype); });
  }
  return true;
}

bool ProgramGenerator::reshaping() {
  const auto x = pick([](const ValueType&) { return true; });
  if (!x) return false;
  const ValueType type = type_of(*x);
  const std::int64_t rank = type.type.rank();
  Op op;
  switch (dice_.number(0, 5)) {
    case 0: {
      if (!has_elements(type)) return false;
      const auto dims = dice_.one_of(factorizations(type.type.elements()));
      op = [dims](Operands v) { return reshape(v[0], dims); };
      break;
    }
    case 1: {
      if (rank < 2) return false;
      std::vector<std::int64_t> perm(static_cast<std::size_t>(rank));
      std::iota(perm.begin(), perm.end(), 0);
      std::swap(perm[0], perm[static_cast<std::size_t>(dice_.number(1, rank - 1))]);
      op = [perm](Operands v) { return transpose(v[0], perm); };
      break;
    }
    case 2: {
      if (rank > 2) return false;
      std::vector<std::int64_t> dims = type.type.shape.vector();
      dims.insert(dims.begin(), dice_.number(1, 3));
      op = [dims](Operands v) { return broadcast_to(v[0], dims); };
      break;
    }
    case 3: {
      const std::int64_t axis = dice_.number(0, rank);
      if (rank > 2) return false;
      op = [axis](Operands v) { return expand_dims(v[0], axis); };
      break;
    }
    case 4: {
      if (rank == 0) return false;
      const std::int64_t axis = dice_.number(0, rank - 1);
      op = [axis](Operands v) { return reverse(v[0], {axis}); };
      break;
    }
    default:
      op = [](Operands v) { return squeeze(v[0]); };
  }
  add_op({*x}, type.kind, std::move(op));
  return true;
}

bool ProgramGenerator::slicing() {
  const auto x = pick([](const ValueType& type) { return type.type.rank() > 0; });
  if (!x) return false;
  const ValueType type = type_of(*x);
  const std::int64_t rank = type.type.rank();
  if (dice_.chance(40)) {
    std::vector<std::int64_t> starts, limits, strides;
    for (const std::int64_t size : type.type.shape) {
      starts.push_back(dice_.number(0, size));
      limits.push_back(dice_.number(starts.back(), size));
      strides.push_back(dice_.number(1, 2));
    }
    add_op({*x}, type.kind, [=](Operands v) { return slice(v[0], starts, limits, strides); });
  } else if (dice_.chance(50)) {
    const std::int64_t axis = dice_.number(0, rank - 1);
    ValueType part = type;
    if (dice_.chance(50)) part.type.shape = resized(type.type.shape, axis, 0);
    add_op({*x, like(part)}, type.kind, [=](Operands v) {
      return concatenate({v[0], v[1], v[0]}, axis);
    });
  } else {
    std::vector<std::int64_t> low, high, interior;
    for (const std::int64_t size : type.type.shape) {
      low.push_back(dice_.number(-1, 2));
      high.push_back(dice_.number(-1, 1));
      interior.push_back(dice_.number(0, 1));
      const std::int64_t spread = size + std::max<std::int64_t>(size - 1, 0) * interior.back();
      if (spread + low.back() + high.back() < 0 || spread + low.back() < 0 ||
          spread + high.back() < 0)
        return false;
    }
    const ValueId filler = like({{type.type.dtype, {}}, type.kind});
    add_op({*x, filler}, type.kind,
           [=](Operands v) { return pad(v[0], v[1], low, high, interior); });
  }
  return true;
}

bool ProgramGenerator::indexing() {
  const auto x =
      pick([](const ValueType& type) { return type.type.rank() > 0 && has_elements(type); });
  if (!x) return false;
  const ValueType type = type_of(*x);
  const std::vector<std::int64_t> dims = type.type.shape.vector();
  switch (dice_.number(0, 4)) {
    case 0:
      add_op({*x, scalar_index()}, type.kind, [](Operands v) { return v[0][v[1]]; });
      break;
    case 1: {
      const ValueType row{
          {type.type.dtype, std::vector<std::int64_t>(dims.begin() + 1, dims.end())}, type.kind};
      add_op({*x, scalar_index(), like(row)}, type.kind,
             [](Operands v) { return update(v[0], v[1], v[2]); });
      break;
    }
    case 2: {
      const auto indices =
          pick([](const ValueType& other) { return other.kind == Kind::kInteger; });
      if (!indices) return false;
      const std::int64_t axis = dice_.number(0, type.type.rank() - 1);
      add_op({*x, *indices}, type.kind, [axis](Operands v) { return take(v[0], v[1], axis); });
      break;
    }
    default: {
      const bool writes = dice_.chance(50);
      std::vector<std::int64_t> sizes;
      for (const std::int64_t size : dims) sizes.push_back(dice_.number(writes ? 1 : 0, size));
      if (dice_.chance(15))
        sizes[static_cast<std::size_t>(dice_.number(0, type.type.rank() - 1))] = 0;
      Ids operands{*x};
      // Starts are all of one dtype.
      const ValueId first = scalar_index();
      for (std::size_t i = 0; i < dims.size(); i++)
        operands.push_back(i == 0 ? first : like(type_of(first)));
      if (writes) operands.push_back(like({{type.type.dtype, sizes}, type.kind}));
      const std::size_t rank = dims.size();
      add_op(operands, type.kind, [=](Operands v) {
        const std::vector<Tensor> starts(v.begin() + 1,
                                         v.begin() + 1 + static_cast<std::ptrdiff_t>(rank));
        return writes ? dynamic_update_slice(v[0], v.back(), starts)
                      : dynamic_slice(v[0], starts, sizes);
      });
    }
  }
  return true;
}

bool ProgramGenerator::reduction() {
  using Axes = std::vector<std::int64_t>;
  const auto x = pick([](const ValueType& type) { return type.type.rank() > 0; });
  if (!x) return false;
  const ValueType type = type_of(*x);
  Axes axes;
  for (std::int64_t axis = 0; axis < type.type.rank(); axis++) {
    if (dice_.chance(60)) axes.push_back(axis);
  }
  const bool keep = dice_.chance(30);
  const std::int64_t which = dice_.number(0, 5), axis = dice_.number(0, type.type.rank() - 1);
  if (type.kind == Kind::kPred) {
    add_op({*x}, Kind::kPred,
           [=](Operands v) { return which < 3 ? any(v[0], axes, keep) : all(v[0], axes, keep); });
    return true;
  }
  if (which <= 1 && has_elements(type)) {
    add_op({*x}, type.kind,
           [=](Operands v) { return which == 0 ? max(v[0], axes, keep) : min(v[0], axes, keep); });
  } else if (which == 2 && has_elements(type) && is_exact(type)) {
    add_op({*x}, Kind::kInteger,
           [=](Operands v) { return keep ? argmin(v[0], axis) : argmax(v[0], axis); });
  } else if (type.kind == Kind::kInteger) {
    add_op({*x}, type.kind,
           [=](Operands v) { return which == 3 ? prod(v[0], axes, keep) : sum(v[0], axes, keep); });
  } else if (type.kind == Kind::kWhole && !is_half(type)) {
    add_op({*x}, type.kind, [=](Operands v) { return held(sum(v[0], axes, keep)); });
  } else if (type.kind == Kind::kUnit && has_elements(type)) {
    add_op({*x}, type.kind, [=](Operands v) { return mean(v[0], axes, keep); });
  } else {
    return false;
  }
  return true;
}

bool ProgramGenerator::running_total() {
  const auto x = pick([](const ValueType& type) {
    return type.type.rank() > 0 &&
           (type.kind == Kind::kInteger || (type.kind == Kind::kWhole && !is_half(type)));
  });
  if (!x) return false;
  const ValueType type = type_of(*x);
  const std::int64_t axis = dice_.number(0, type.type.rank() - 1), which = dice_.number(0, 3);
  const bool backward = dice_.chance(40);
  add_op({*x}, type.kind, [=, kind = type.kind](Operands v) {
    if (which == 0) return cummax(v[0], axis, backward);
    if (which == 1) return cummin(v[0], axis, backward);
    if (kind == Kind::kWhole) return held(cumsum(v[0], axis, backward));
    return which == 2 ? cumsum(v[0], axis, backward) : cumprod(v[0], axis, backward);
  });
  return true;
}

bool ProgramGenerator::ordering() {
  const auto x = pick([](const ValueType& type) { return type.type.rank() > 0 && is_exact(type); });
  if (!x) return false;
  const ValueType type = type_of(*x);
  const std::int64_t axis = dice_.number(0, type.type.rank() - 1);
  switch (dice_.number(0, 2)) {
    case 0:
      add_op({*x}, type.kind, [=](Operands v) { return sort(v[0], axis); });
      break;
    case 1:
      add_op({*x}, Kind::kInteger, [=](Operands v) { return argsort(v[0], axis); });
      break;
    default:
      if (type.kind == Kind::kPred) return false;
      add_op({*x, like(type)}, type.kind, [=](Operands v) {
        return sort_by(std::vector<Tensor>{v[0], v[1]}, axis,
                       [](const std::vector<Tensor>& a, const std::vector<Tensor>& b) {
                         return a[0] > b[0];
                       })[1];
      });
  }
  return true;
}

bool ProgramGenerator::product() {
  const auto x = pick([](const ValueType& type) {
    return type.type.rank() > 0 && type.type.rank() < 3 &&
           (type.kind == Kind::kInteger || type.kind == Kind::kWhole) && !is_half(type);
  });
  if (!x) return false;
  const ValueType type = type_of(*x);
  const std::int64_t inner = type.type.shape[type.type.rank() - 1];
  const auto y = pick([&](const ValueType& other) {
    return other.type.dtype == type.type.dtype && other.kind == type.kind &&
           other.type.rank() > 0 && other.type.rank() < 3 && other.type.shape[0] == inner;
  });
  const ValueId second = y ? *y : like({{type.type.dtype, {inner, 2}}, type.kind});
  add_op({*x, second}, type.kind, [kind = type.kind](Operands v) {
    const Tensor p = matmul(v[0], v[1]);
    return kind == Kind::kWhole ? held(p) : p;
  });
  return true;
}

bool ProgramGenerator::creation() {
  const ValueType type = random_type();
  if (dice_.chance(50) && type.type.rank() > 0 &&
      (type.kind == Kind::kInteger || type.kind == Kind::kWhole)) {
    const std::int64_t axis = dice_.number(0, type.type.rank() - 1);
    add_op({}, type.kind, [=](Operands) { return iota(type.type, axis); });
  } else if (dice_.chance(50)) {
    add_constant(type);
  } else {
    const bool one = dice_.chance(50);
    add_op({}, type.kind, [=](Operands) { return one ? ones(type.type) : zeros(type.type); });
  }
  return true;
}

bool ProgramGenerator::random_bits() {
  const ValueType type = random_type();
  const ValueId seed = scalar_index();
  if (type.kind == Kind::kInteger && is_unsigned_integer(type.type.dtype)) {
    add_op({seed}, type.kind, [=](Operands v) {
      const Tensor keys = random::split(random::key(v[0]), 2);
      return random::bits(keys[1], type.type);
    });
  } else if (type.kind == Kind::kInteger) {
    add_op({seed}, type.kind,
           [=](Operands v) { return random::randint(random::key(v[0]), type.type, -3, 9); });
  } else if (type.kind == Kind::kUnit) {
    add_op({seed}, type.kind,
           [=](Operands v) { return random::uniform(random::key(v[0]), type.type); });
  } else {
    return false;
  }
  return true;
}

bool ProgramGenerator::scattering() {
  const auto x = pick(
      [](const ValueType& type) { return type.type.rank() == 1 && type.kind == Kind::kInteger; });
  const auto indices = pick(
      [](const ValueType& type) { return type.type.rank() == 1 && type.kind == Kind::kInteger; });
  if (!x || !indices) return false;
  const ValueId places = dice_.chance(25) ? like({{DType::kS32, {0}}, Kind::kInteger}) : *indices;
  const ValueType updates{{type_of(*x).type.dtype, type_of(places).type.shape}, Kind::kInteger};
  const std::int64_t which = dice_.number(0, 2);
  add_op({*x, places, like(updates)}, Kind::kInteger, [which](Operands v) {
    return scatter(v[0], expand_dims(v[1], 1), v[2],
                   {.update_window_dims = {},
                    .inserted_window_dims = {0},
                    .scatter_dims_to_operand_dims = {0},
                    .index_vector_dim = 1,
                    .input_batching_dims = {},
                    .scatter_indices_batching_dims = {}},
                   [which](const Tensor& a, const Tensor& b) {
                     return which == 0 ? a + b : which == 1 ? maximum(a, b) : b;
                   });
  });
  return true;
}

}  // namespace rondo::testing
