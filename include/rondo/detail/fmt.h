// What the formatters of fmt share.
#pragma once

#include <fmt/format.h>

#include <cstddef>
#include <string_view>

#include "rondo/detail/digits.h"

namespace rondo::detail {

template <class T>
struct Formatter : fmt::formatter<std::string_view> {
  template <class Context>
  auto format(const T& value, Context& context) const {
    return fmt::formatter<std::string_view>::format(formatted(value), context);
  }
};

template <class T>
struct DigitsFormatter : Formatter<T> {
  constexpr auto parse(fmt::format_parse_context& context) {
    auto end = context.begin();
    while (end != context.end() && *end != '}') ++end;
    const std::string_view spec(context.begin(), static_cast<std::size_t>(end - context.begin()));
    return digits_.take(spec) ? end : Formatter<T>::parse(context);
  }

  template <class Context>
  auto format(const T& value, Context& context) const {
    if (!digits_.given()) return Formatter<T>::format(value, context);
    return fmt::formatter<std::string_view>::format(digits_.text_of(value), context);
  }

 private:
  Digits digits_;
};

}  // namespace rondo::detail
