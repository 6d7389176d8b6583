// Random numbers as in JAX: each function follows its namesake in jax.random, version 0.10, with
// jax_threefry_partitionable.
#include "rondo/ops/random.h"

#include <bit>
#include <cmath>
#include <limits>

#include "base/for_dtype.h"
#include "ops/broadcast.h"
#include "ops/threefry.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/indexing.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

struct KeyWords {
  Tensor first, second;
};

KeyWords words_of(const char* op, const Operand& operand) {
  const SourceLocation at = operand.at();
  const Tensor key = ir::checked(operand.any(), op, at);
  if (key.type() != u32({2})) {
    const bool several = key.dtype() == DType::kU32 && key.rank() > 1 && key.dim(-1) == 2;
    fail(op,
         fmt::format("the key is {}; a key is u32[2]\n  {}", key.type().str(),
                     several
                         ? "Take one of the keys: keys[i]."
                         : "Make one of a seed with random::key, more of it with random::split."),
         at);
  }
  auto word = [&](std::int64_t i) { return reshape_to(slice({key, at}, {i}, {i + 1}), {}, at); };
  return {word(0), word(1)};
}

/// The words of the blocks numbered by the elements of a shape, in row-major order.
KeyWords random_blocks(const char* op, const KeyWords& key, const Shape& shape, SourceLocation at) {
  constexpr std::int64_t kMost = std::int64_t{1} << 32;
  if (shape.elements() > kMost) {
    fail(op,
         fmt::format("{} are {} elements, the most drawn from one key are 2^32\n  Split the key.",
                     shape.str(), shape.elements()),
         at);
  }
  const Tensor zero = ir::make_constant(Literal::scalar(std::uint32_t{0}), at);
  const Tensor counter =
      shape.rank() == 0 ? zero
                        : reshape_to(iota({DType::kU32, {shape.elements()}}, 0, at), shape, at);
  const std::vector<Tensor> words =
      ir::make_many(kThreefry2x32, {key.first, key.second, zero, counter}, {}, at);
  return {words[0], words[1]};
}

/// Bits of 8, 16, 32 or 64 in the unsigned dtype of that width.
Tensor random_bits(const char* op, const KeyWords& key, std::int64_t width, const Shape& shape,
                   SourceLocation at) {
  const KeyWords words = random_blocks(op, key, shape, at);
  if (width == 64) {
    const Tensor high = convert({words.first, at}, DType::kU64),
                 low = convert({words.second, at}, DType::kU64);
    return Operand(shift_left({high, at}, {32, at}), at) | Operand(low, at);
  }
  const Tensor both = Operand(words.first, at) ^ Operand(words.second, at);
  return width == 32 ? both : convert({both, at}, width == 16 ? DType::kU16 : DType::kU8);
}

/// In [0, 1): a random mantissa under the exponent of 1, less 1.
Tensor unit_interval(const char* op, const KeyWords& key, const TensorType& type,
                     SourceLocation at) {
  struct Format {
    std::int64_t bits, mantissa;
    std::int64_t one;
  };
  const Format format = type.dtype == DType::kF16    ? Format{16, 10, 0x3c00}
                        : type.dtype == DType::kBF16 ? Format{16, 7, 0x3f80}
                        : type.dtype == DType::kF32  ? Format{32, 23, 0x3f800000}
                                                     : Format{64, 52, 0x3ff0000000000000};
  const std::int64_t drawn = format.mantissa < 8 ? 8 : format.bits;
  Tensor bits = random_bits(op, key, drawn, type.shape, at);
  if (drawn != format.bits) bits = convert({bits, at}, unsigned_dtype(format.bits / 8));
  const Tensor mantissa = shift_right_logical({bits, at}, {drawn - format.mantissa, at});
  const Tensor ones =
      bitcast_convert({Operand(mantissa, at) | Operand(format.one, at), at}, type.dtype);
  return Operand(ones, at) - Operand(1, at);
}

void check_floating(const char* op, const TensorType& type, SourceLocation at) {
  if (is_floating(type.dtype) && !is_small(type.dtype)) return;
  fail(op,
       fmt::format(
           "{} is no floating type to draw\n  Draw f32 or f64, or integers with random::randint "
           "and random::bits.",
           type.str()),
       at);
}

Tensor within(const Tensor& unit, const Tensor& low, const Tensor& high, SourceLocation at) {
  const Tensor span = Operand(high, at) - Operand(low, at);
  const Tensor scaled = Operand(Operand(unit, at) * Operand(span, at), at) + Operand(low, at);
  return maximum({low, at}, {scaled, at});
}

void check_bound_shape(const char* op, const char* which, const Tensor& bound, const Shape& shape,
                       SourceLocation at) {
  if (broadcast_shape(op, {bound.dtype(), shape}, bound.type(), at) == shape) return;
  fail(op,
       fmt::format("{} is {}, which does not broadcast to the shape {} that is drawn\n  Draw with "
                   "the type of the shape that is meant, or reshape the bound.",
                   which, bound.type().str(), shape.str()),
       at);
}

/// A bound of the type's dtype that broadcasts to its shape.
Tensor float_bound(const char* op, const char* which, const Operand& bound,
                   const TensorType& type) {
  const SourceLocation at = bound.at();
  Tensor tensor = ir::checked(bound.as(type.dtype), op, at);
  if (tensor.dtype() != type.dtype) {
    fail(op,
         fmt::format(
             "{} is {}; bounds of {} have its dtype\n  Convert it: rondo::convert(x, DType::k{}).",
             which, tensor.type().str(), type.str(), dtype_constant(type.dtype)),
         at);
  }
  check_bound_shape(op, which, tensor, type.shape, at);
  return tensor;
}

/// The least number of the dtype greater than -1.
Literal above_minus_one(DType dtype) {
  switch (dtype) {
    case DType::kF16:
      return Literal::scalar(float16::from_bits(0xbbff));
    case DType::kBF16:
      return Literal::scalar(bfloat16::from_bits(0xbf7f));
    case DType::kF32:
      return Literal::scalar(std::nextafter(-1.0f, 0.0f));
    default:
      return Literal::scalar(std::nextafter(-1.0, 0.0));
  }
}

// Bounds of randint.

struct IntegerBound {
  Tensor value;       // of the dtype that is drawn
  Tensor past_range;  // pred: it was out of the range of the dtype, and is clamped
};

template <class T>
bool below_range(const Scalar& value) {
  if (value.dtype == DType::kU64) return false;
  return std::is_unsigned_v<T>
             ? value.integer < 0
             : value.integer < static_cast<std::int64_t>(std::numeric_limits<T>::min());
}

template <class T>
bool above_range(const Scalar& value) {
  const bool unsigned_value = value.dtype == DType::kU64;
  if (!unsigned_value && value.integer < 0) return false;
  return static_cast<std::uint64_t>(value.integer) >
         static_cast<std::uint64_t>(std::numeric_limits<T>::max());
}

/// A C++ integer, or an integer tensor of any dtype, clamped to the range of `dtype`.
IntegerBound integer_bound(const char* which, const Operand& bound, DType dtype,
                           const Shape& shape) {
  const SourceLocation at = bound.at();
  const DType given = bound.is_scalar()
                          ? bound.scalar().dtype
                          : ir::checked(bound.tensor(), "random::randint", at).dtype();
  if (!is_integer(given) || is_small(given)) {
    fail("random::randint",
         fmt::format("{} is {}; the bounds are integers of 8 bits or more\n  Draw floats with "
                     "random::uniform(key, "
                     "type, low, high).",
                     which, dtype_name(given)),
         at);
  }
  if (!bound.is_scalar()) check_bound_shape("random::randint", which, bound.tensor(), shape, at);
  return for_dtype(dtype, [&]<class T>() -> IntegerBound {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>) {
      constexpr T kLeast = std::numeric_limits<T>::min(), kMost = std::numeric_limits<T>::max();
      auto constant = [&](auto value) { return ir::make_constant(Literal::scalar(value), at); };
      if (bound.is_scalar()) {
        const Scalar& scalar = bound.scalar();
        const bool above = above_range<T>(scalar);
        return {constant(above                    ? kMost
                         : below_range<T>(scalar) ? kLeast
                                                  : static_cast<T>(scalar.integer)),
                constant(above)};
      }
      // A limit of `dtype` that the tensor's dtype cannot hold is no limit.
      const Scalar least = Scalar::of(kLeast), most = Scalar::of(kMost);
      Tensor value = bound.tensor(), past = constant(false);
      for_dtype(given, [&]<class G>() {
        if constexpr (std::is_integral_v<G> && !std::is_same_v<G, bool>) {
          if (!below_range<G>(least)) value = maximum({value, at}, {kLeast, at});
          if (!above_range<G>(most)) {
            past = Operand(value, at) > Operand(kMost, at);
            value = minimum({value, at}, {kMost, at});
          }
        }
      });
      return {convert({value, at}, dtype), past};
    } else {
      throw InternalError("random integers of a dtype that is none");
    }
  });
}

/// Two draws make one of twice the width, whose remainder by the span is nearly evenly distributed.
Tensor random_integers(const KeyWords& key, DType dtype, const Shape& shape, const Tensor& low,
                       const IntegerBound& high_bound, SourceLocation at) {
  const std::int64_t width = 8 * byte_width(dtype);
  const DType bits = unsigned_dtype(width / 8);
  const KeyWords pair = random_blocks("random::randint", key, {2}, at);
  auto half = [&](std::int64_t i) {
    auto word = [&](const Tensor& words) {
      return reshape_to(slice({words, at}, {i}, {i + 1}), {}, at);
    };
    return random_bits("random::randint", {word(pair.first), word(pair.second)}, width, shape, at);
  };
  const Tensor higher = half(0), lower = half(1);
  const Tensor& high = high_bound.value;
  Tensor span = convert({Operand(high, at) - Operand(low, at), at}, bits);
  span = where({Operand(high, at) <= Operand(low, at), at}, {1, at}, {span, at});
  const Tensor open =
      Operand(high_bound.past_range, at) & Operand(Operand(high, at) > Operand(low, at), at);
  span = where({open, at}, {Operand(span, at) + Operand(1, at), at}, {span, at});
  auto remainder = [&](const Tensor& x) { return rem({x, at}, {span, at}); };
  auto product = [&](const Tensor& a, const Tensor& b) { return Operand(a, at) * Operand(b, at); };
  const Tensor power = ir::make_constant(
      ir::scalar_literal(Scalar::of(std::int64_t{1} << (width / 2)), bits, at), at);
  Tensor multiplier = remainder(power);
  multiplier = remainder(product(multiplier, multiplier));
  const Tensor offset = remainder(Operand(product(remainder(higher), multiplier), at) +
                                  Operand(remainder(lower), at));
  return Operand(low, at) + Operand(convert({offset, at}, dtype), at);
}

Tensor seed_word(const Tensor& seed, std::int64_t shift, SourceLocation at) {
  if (shift > 0 && byte_width(seed.dtype()) < 8)
    return ir::make_constant(Literal::scalar(std::uint32_t{0}), at);
  return convert({shift > 0 ? shift_right_logical({seed, at}, {shift, at}) : seed, at},
                 DType::kU32);
}

/// An integer scalar; throws TraceError for anything else.
Tensor integer_scalar(const char* op, const char* what, const Operand& operand) {
  Tensor tensor = ir::checked(operand.any(), op, operand.at());
  if (is_integer(tensor.dtype()) && tensor.rank() == 0) return tensor;
  fail(op,
       fmt::format("the {} is {}; it must be an integer scalar\n  Give a C++ integer, or an "
                   "element: seeds[i].",
                   what, tensor.type().str()),
       operand.at());
}

}  // namespace

}  // namespace rondo::ops

namespace rondo::random {

Tensor key(const Operand& seed) {
  const SourceLocation at = seed.at();
  const Tensor value = ops::integer_scalar("random::key", "seed", seed);
  return stack({ops::seed_word(value, 32, at), ops::seed_word(value, 0, at)}, 0, at);
}

Tensor split(const Operand& key, std::int64_t n) {
  const SourceLocation at = key.at();
  const ops::KeyWords from = ops::words_of("random::split", key);
  if (n < 0)
    ops::fail(
        "random::split",
        fmt::format(
            "{} keys; the number must not be negative\n  Give how many keys there are to be.", n),
        at);
  const ops::KeyWords words = ops::random_blocks("random::split", from, {n}, at);
  return stack({words.first, words.second}, 1, at);
}

Tensor fold_in(const Operand& key, const Operand& data) {
  const SourceLocation at = key.at();
  const ops::KeyWords from = ops::words_of("random::fold_in", key);
  const Tensor low =
      convert({ops::integer_scalar("random::fold_in", "data", data), at}, DType::kU32);
  const Tensor zero = ir::make_constant(Literal::scalar(std::uint32_t{0}), at);
  return stack(ir::make_many(ops::kThreefry2x32, {from.first, from.second, zero, low}, {}, at), 0,
               at);
}

Tensor bits(const Operand& key, const TensorType& type) {
  const ops::KeyWords from = ops::words_of("random::bits", key);
  if (!is_unsigned_integer(type.dtype) || is_small(type.dtype)) {
    ops::fail(
        "random::bits",
        fmt::format(
            "{} is no unsigned type\n  Draw u8, u16, u32 or u64, and convert or bitcast_convert.",
            type.str()),
        key.at());
  }
  return ops::random_bits("random::bits", from, 8 * byte_width(type.dtype), type.shape, key.at());
}

Tensor uniform(const Operand& key, const TensorType& type) {
  const ops::KeyWords from = ops::words_of("random::uniform", key);
  ops::check_floating("random::uniform", type, key.at());
  return ops::unit_interval("random::uniform", from, type, key.at());
}

Tensor uniform(const Operand& key, const TensorType& type, const Operand& low,
               const Operand& high) {
  const SourceLocation at = key.at();
  const ops::KeyWords from = ops::words_of("random::uniform", key);
  ops::check_floating("random::uniform", type, at);
  const Tensor from_low = ops::float_bound("random::uniform", "low", low, type),
               to_high = ops::float_bound("random::uniform", "high", high, type);
  return ops::within(ops::unit_interval("random::uniform", from, type, at), from_low, to_high, at);
}

Tensor normal(const Operand& key, const TensorType& type) {
  const SourceLocation at = key.at();
  const ops::KeyWords from = ops::words_of("random::normal", key);
  ops::check_floating("random::normal", type, at);
  const Tensor unit = ops::unit_interval("random::normal", from, type, at);
  const Tensor low = ir::make_constant(ops::above_minus_one(type.dtype), at);
  const Tensor one = ir::make_constant(ir::scalar_literal(Scalar::of(1), type.dtype, at), at);
  const Tensor symmetric = ops::within(unit, low, one, at);
  return Operand(std::sqrt(2.0), at) * Operand(erf_inv({symmetric, at}), at);
}

Tensor randint(const Operand& key, const TensorType& type, const Operand& low,
               const Operand& high) {
  const SourceLocation at = key.at();
  const ops::KeyWords from = ops::words_of("random::randint", key);
  if (!is_integer(type.dtype) || is_small(type.dtype)) {
    ops::fail("random::randint",
              fmt::format("{} is no integer type{}.", type.str(),
                          is_small(type.dtype) ? " of 8 bits or more\n  Draw s32 and convert"
                                               : "\n  Draw floats with random::uniform"),
              at);
  }
  if (byte_width(type.dtype) >= 4) {
    return ops::random_integers(from, type.dtype, type.shape,
                                ops::integer_bound("low", low, type.dtype, type.shape).value,
                                ops::integer_bound("high", high, type.dtype, type.shape), at);
  }
  // Narrower integers are drawn in s32, where the bounds are in the narrow range, or at most one
  // past it.
  const std::int64_t width = 8 * byte_width(type.dtype);
  const bool negative = is_signed_integer(type.dtype);
  const std::int64_t least = negative ? -(std::int64_t{1} << (width - 1)) : 0;
  const std::int64_t past = std::int64_t{1} << (negative ? width - 1 : width);
  auto bound = [&](const char* which, const Operand& given, std::int64_t most) {
    const Tensor wide = ops::integer_bound(which, given, DType::kS32, type.shape).value;
    return clamp({least, at}, {wide, at}, {most, at});
  };
  const ops::IntegerBound until{bound("high", high, past),
                                ir::make_constant(Literal::scalar(false), at)};
  const Tensor drawn =
      ops::random_integers(from, DType::kS32, type.shape, bound("low", low, past - 1), until, at);
  return convert({drawn, at}, type.dtype);
}

}  // namespace rondo::random
