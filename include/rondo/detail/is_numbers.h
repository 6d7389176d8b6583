// Ranges of numbers.
#pragma once

#include "rondo/array_adaptor.h"
#include "rondo/dtype.h"

namespace rondo::detail {

/// Ranges of numbers, nested or not: what rondo::constant takes.
template <class R>
inline constexpr bool kIsNumbers = false;
template <class R>
requires(!HostScalar<R> && !AdaptedArray<R>) && requires(const R& range) {
  range.begin();
  typename R::value_type;
}
inline constexpr bool kIsNumbers<R> =
    HostScalar<typename R::value_type> || kIsNumbers<typename R::value_type>;

}  // namespace rondo::detail
