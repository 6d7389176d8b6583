// What the formatters of the standard library share.
#pragma once

#include <cstddef>
#include <format>
#include <string_view>

#include "rondo/detail/digits.h"

namespace rondo::detail {

template <class T>
struct StdFormatter : std::formatter<std::string_view> {
  template <class Context>
  auto format(const T& value, Context& context) const {
    return std::formatter<std::string_view>::format(formatted(value), context);
  }
};

template <class T>
struct StdDigitsFormatter : StdFormatter<T> {
  constexpr auto parse(std::format_parse_context& context) {
    auto end = context.begin();
    while (end != context.end() && *end != '}') ++end;
    const std::string_view spec(context.begin(), end);
    return digits_.take(spec) ? end : StdFormatter<T>::parse(context);
  }

  template <class Context>
  auto format(const T& value, Context& context) const {
    if (!digits_.given()) return StdFormatter<T>::format(value, context);
    return std::formatter<std::string_view>::format(digits_.text_of(value), context);
  }

 private:
  Digits digits_;
};

}  // namespace rondo::detail
