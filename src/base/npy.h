// NumPy's .npy format; Literal::load_npy and save_npy are the public side of it.
#pragma once

#include <string>
#include <string_view>

#include "rondo/literal.h"

namespace rondo {

/// The array in the bytes of an .npy file. Throws ParseError, naming the file `name`.
Literal parse_npy(std::string_view bytes, const std::string& name);
/// The bytes of an .npy file of the array, as numpy.save writes it.
std::string npy_bytes(const Literal& literal);

}  // namespace rondo
