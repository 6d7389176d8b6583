#include "rondo/detail/fitting_array.h"

#include <string>

#include "fmt/format.h"

namespace rondo::detail {
namespace {

/// `f32[4,?]`; a size of at most 8 is `<=8`.
std::string fitting_text(const FittingArrays& fitting) {
  std::string text(dtype_name(fitting.dtype));
  text += '[';
  for (std::size_t axis = 0; axis < fitting.sizes.size(); axis++) {
    if (axis > 0) text += ',';
    if (fitting.sizes[axis] >= 0)
      text += std::to_string(fitting.sizes[axis]);
    else if (fitting.most[axis] >= 0)
      text += "<=" + std::to_string(fitting.most[axis]);
    else
      text += '?';
  }
  return text += ']';
}

std::string line_of(SourceLocation at) { return at.line == 0 ? "" : "\n  at " + at.str(); }

bool has_fitting_sizes(const Shape& shape, const FittingArrays& fitting) {
  if (shape.size() != fitting.sizes.size()) return false;
  for (std::size_t axis = 0; axis < shape.size(); axis++) {
    if (fitting.sizes[axis] >= 0 && shape[axis] != fitting.sizes[axis]) return false;
    if (fitting.most[axis] >= 0 && shape[axis] > fitting.most[axis]) return false;
  }
  return true;
}

}  // namespace

void check_fits(const Literal& array, const FittingArrays& fitting, const char* user,
                SourceLocation at) {
  const TensorType& is = array.type();
  if (array.bytes() == nullptr && is.elements() > 0) {
    throw TraceError(
        fmt::format("{}: the literal was moved from{}\n  Assign to it before it is used "
                    "again.",
                    user, line_of(at)),
        at);
  }
  const bool same_dtype = is.dtype == fitting.dtype;
  if (same_dtype && has_fitting_sizes(is.shape, fitting)) return;
  std::string remedy;
  if (!same_dtype) {
    remedy = fmt::format("Name a type with elements of {}, or convert the tensor to {} first.",
                         dtype_name(is.dtype), dtype_name(fitting.dtype));
  } else if (is.rank() != static_cast<std::int64_t>(fitting.sizes.size())) {
    remedy = fmt::format(
        "The tensor has {} axes and the type {}: reshape the tensor first, or name "
        "a type of as many axes.",
        is.rank(), fitting.sizes.size());
  } else {
    remedy = "Name a type of the tensor's sizes, or one whose sizes are dynamic.";
  }
  throw TraceError(
      fmt::format("{}: the tensor is {}, and the type that was asked for holds {}{}\n  {}", user,
                  is.str(), fitting_text(fitting), line_of(at), remedy),
      at);
}

}  // namespace rondo::detail
