// NumPy's .npy format, described in numpy.lib.format: the magic, a version, the length of the
// header, the header (a Python dictionary of dtype, order and shape, padded so that the data is
// aligned to 64 bytes), the data.
#pragma once

#include <string>
#include <string_view>

#include "rondo/literal.h"

namespace rondo {

/// The array in the bytes of an .npy file. Throws ParseError, naming the file `name`.
Literal parse_npy(std::string_view bytes, const std::string& name);

/// All that stands before the data, as numpy.save writes it.
std::string npy_header(const TensorType& type);

}  // namespace rondo
