#include "rondo/type.h"

#include <ostream>

namespace rondo {

std::string TensorType::str() const { return std::string(dtype_name(dtype)) += shape.str(); }

std::ostream& operator<<(std::ostream& out, const TensorType& type) { return out << type.str(); }
std::ostream& operator<<(std::ostream& out, const Shape& shape) { return out << shape.str(); }
std::ostream& operator<<(std::ostream& out, DType dtype) { return out << dtype_name(dtype); }

}  // namespace rondo
