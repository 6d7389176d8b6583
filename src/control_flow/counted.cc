#include "control_flow/counted.h"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/for_dtype.h"
#include "control_flow/carry.h"
#include "fmt/format.h"
#include "rondo/ops/elementwise.h"

namespace rondo::control_flow {

namespace {

/// Widened to 64 bits; nullopt for a scalar that is no integer.
std::optional<std::int64_t> bits_of(const Literal& scalar) {
  if (!is_integer(scalar.dtype())) return std::nullopt;
  return for_any_dtype(scalar.dtype(), [&]<class T>() -> std::optional<std::int64_t> {
    if constexpr (is_integer(dtype_of<T>))
      return static_cast<std::int64_t>(scalar.data<T>()[0]);
    else
      return std::nullopt;
  });
}

std::int64_t largest(DType dtype) {
  if (byte_width(dtype) == 8) return std::numeric_limits<std::int64_t>::max();
  const int bits = static_cast<int>(bit_width(dtype)) - (is_signed_integer(dtype) ? 1 : 0);
  return (std::int64_t{1} << bits) - 1;
}

/// Emits loops over trip numbers or indices, and converts between the two.
class Emitter {
 public:
  Emitter(const CountedLoop& loop, const Step& step)
      : loop_(loop), step_(step), dtype_(loop.first.dtype()) {}

  std::vector<Tensor> emit(std::vector<Tensor> state) {
    const ir::LocationScope scope(loop_.at);
    const std::optional<std::int64_t> trips =
        static_trip_count(loop_.first, loop_.limit, loop_.step);
    return trips ? emit_static(*trips, std::move(state)) : emit_dynamic(std::move(state));
  }

 private:
  Tensor number(std::int64_t value, DType dtype) const { return integer(value, dtype, loop_.at); }

  std::vector<Tensor> emit_static(std::int64_t trips, std::vector<Tensor> state) {
    const std::int64_t first = *static_bound(loop_.first);
    const std::int64_t start = loop_.reverse ? index_after(first, trips - 1, loop_.step) : first;
    const std::int64_t stride = loop_.reverse ? -loop_.step : loop_.step;
    const std::int64_t per_trip =
        loop_.unroll == kUnrollAll ? std::max<std::int64_t>(trips, 1) : loop_.unroll;
    const std::int64_t whole =
        per_trip >= trips ? 0 : trips / per_trip;  // a loop of one trip is not emitted
    std::int64_t done = 0;
    if (whole > 0) {
      // The index itself is the counter if it can pass its end without wrapping and compares in
      // order. Otherwise the trip number is.
      std::int64_t end = 0;
      const bool passes = !__builtin_add_overflow(start, whole * per_trip * stride, &end);
      const std::int64_t least = is_signed_integer(dtype_) ? -largest(dtype_) : 0;
      const bool direct = passes && std::min(start, end) >= least && end <= largest(dtype_);
      const Tensor limit = direct ? number(end, dtype_) : number(whole, DType::kS64);
      const Tensor zero = direct ? number(start, dtype_) : number(0, DType::kS64);
      const std::int64_t advance = direct ? stride * per_trip : 1;
      auto index = [&](const Tensor& i, std::int64_t k) {
        const Tensor base =
            direct ? i
                   : (loop_.first.dtype() == DType::kS64
                          ? i * number(stride * per_trip, DType::kS64)
                          : convert(i * number(stride * per_trip, DType::kS64), dtype_)) +
                         number(start, dtype_);
        return k == 0 ? base : base + number(k * stride, dtype_);
      };
      state = run_for(zero, limit, advance, std::move(state), per_trip, index);
      done = whole * per_trip;
    }
    for (; done < trips; done++)
      state = step_(number(index_after(start, done, stride), dtype_), std::move(state));
    return state;
  }

  std::vector<Tensor> emit_dynamic(std::vector<Tensor> state) {
    if (!loop_.reverse && loop_.step == 1 && loop_.unroll == 1) {
      auto index = [](const Tensor& i, std::int64_t) { return i; };
      return run_for(loop_.first, loop_.limit, 1, std::move(state), 1, index);
    }
    // The trip number is the counter, unsigned and as wide as the index, so no distance between
    // bounds overflows.
    const DType wide = unsigned_dtype(byte_width(dtype_));
    const Tensor distance = convert(loop_.limit, wide) - convert(loop_.first, wide);
    const Tensor several =
        ((distance - number(1, wide)) / number(loop_.step, wide)) + number(1, wide);
    const Tensor trips = where(loop_.first < loop_.limit, several, number(0, wide));
    auto index = [&](const Tensor& trip, std::int64_t k) {
      Tensor number_of_trip = k == 0 ? trip : trip + number(k, wide);
      if (loop_.reverse) number_of_trip = (trips - number(1, wide)) - number_of_trip;
      return loop_.first + (convert(number_of_trip, dtype_) * number(loop_.step, dtype_));
    };
    Tensor from = number(0, wide);
    if (loop_.unroll > 1) {
      const Tensor whole = trips - (trips % number(loop_.unroll, wide));
      state = run_for(from, whole, loop_.unroll, std::move(state), loop_.unroll, index);
      from = whole;
    }
    return run_for(from, trips, 1, std::move(state), 1, index);
  }

  /// With so many bodies for each index; `index` gives those of the bodies.
  template <class Index>
  std::vector<Tensor> run_for(const Tensor& first, const Tensor& limit, std::int64_t step,
                              std::vector<Tensor> state, std::int64_t bodies, Index index) {
    ForAttributes attributes = loop_.attributes;
    attributes.step = step;
    attributes.source = {.first = 0, .count = loop_.carries, .bodies = bodies};
    const Leaves init{std::move(state), loop_.names};
    auto body = [&](std::span<const Tensor> leaves) {
      std::vector<Tensor> now(leaves.begin() + 1, leaves.end());
      for (std::int64_t k = 0; k < bodies; k++) now = step_(index(leaves[0], k), std::move(now));
      return Leaves{std::move(now), init.paths};
    };
    return traced_for(body, first, limit, init, std::move(attributes), loop_.at);
  }

  const CountedLoop& loop_;
  const Step& step_;
  DType dtype_;
};

}  // namespace

std::optional<std::int64_t> static_bound(const Tensor& bound) {
  const Literal* value = ir::constant_value(bound);
  return value ? bits_of(*value) : std::nullopt;
}

Tensor integer(std::int64_t value, DType dtype, SourceLocation at) {
  // As bits: the index after the last trip may wrap, as it does when the loop runs.
  return for_dtype(dtype, [&]<class T>() -> Tensor {
    if constexpr (std::is_integral_v<T> && !std::is_same_v<T, bool>)
      return ir::make_constant(Literal::scalar(static_cast<T>(value)), at);
    else
      throw InternalError("a loop index that is no integer", at);
  });
}

std::int64_t index_after(std::int64_t first, std::int64_t trips, std::int64_t step) {
  return static_cast<std::int64_t>(static_cast<std::uint64_t>(first) +
                                   static_cast<std::uint64_t>(trips) *
                                       static_cast<std::uint64_t>(step));
}

std::optional<std::int64_t> static_trip_count(const Tensor& first, const Tensor& limit,
                                              std::int64_t step) {
  if (step < 0) return static_trip_count(limit, first, -step);
  const auto from = static_bound(first), to = static_bound(limit);
  if (!from || !to) return std::nullopt;
  const std::uint64_t trips = trip_count(*from, *to, step, is_signed_integer(first.dtype()));
  if (trips > static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max()) /
                  static_cast<std::uint64_t>(step))
    return std::nullopt;
  return static_cast<std::int64_t>(trips);
}

std::uint64_t trip_count(std::int64_t first, std::int64_t limit, std::int64_t step,
                         bool is_signed) {
  const auto from = static_cast<std::uint64_t>(first), to = static_cast<std::uint64_t>(limit);
  if (is_signed ? limit <= first : to <= from) return 0;
  return (to - from - 1) / static_cast<std::uint64_t>(step) + 1;
}

std::optional<std::int64_t> trip_count(const Literal& first, const Literal& limit,
                                       std::int64_t step) {
  if (step < 0) return trip_count(limit, first, -step);
  const auto from = bits_of(first), to = bits_of(limit);
  if (!from || !to) throw InternalError("a loop counter that is no integer");
  const std::uint64_t trips = trip_count(*from, *to, step, is_signed_integer(limit.dtype()));
  if (!std::in_range<std::int64_t>(trips)) return std::nullopt;
  return static_cast<std::int64_t>(trips);
}

std::vector<Tensor> emit_counted(const CountedLoop& loop, std::vector<Tensor> state,
                                 const Step& step) {
  return Emitter(loop, step).emit(std::move(state));
}

std::int64_t checked_unroll(const char* construct, std::int64_t unroll,
                            std::optional<std::int64_t> trips, SourceLocation at) {
  const std::int64_t bodies = unroll == kUnrollAll ? trips.value_or(1)
                              : trips              ? std::min(unroll, *trips)
                                                   : unroll;
  if (bodies > kMostUnrolledBodies) {
    throw TraceError(fmt::format("{}: unrolled it has {} bodies one after the other, {} at most\n  "
                                 "at {}\n  Unroll less of it: {{.unroll = 8}}.",
                                 construct, bodies, kMostUnrolledBodies, at.str()),
                     at);
  }
  if (unroll == kUnrollAll) return unroll;
  if (unroll >= 1) return std::max<std::int64_t>(bodies, 1);
  throw TraceError(fmt::format("{}: unroll is {}\n  at {}\n  Give a positive number of bodies per "
                               "trip, or rondo::kUnrollAll.",
                               construct, unroll, at.str()),
                   at);
}

}  // namespace rondo::control_flow
