// A field of a text file as a number.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "rondo/dtype.h"

namespace rondo {

/// Why a field is no element of a dtype.
enum class CsvFault : std::uint8_t { kNone, kNoNumber, kNoInteger, kNoPred, kTooLarge };

/// Reads all of `text` as an element of T's dtype, not a complex one.
template <HostScalar T>
CsvFault read_csv_number(std::string_view text, T& value) noexcept;

/// The element of the number, if the dtype has it, or rounds to it.
template <HostScalar T>
std::optional<T> csv_element(double number) noexcept;

}  // namespace rondo
