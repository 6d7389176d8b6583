#include "rondo/native.h"

#include <utility>

#include "fmt/format.h"
#include "ops/support.h"
#include "rondo/detail/trace.h"

namespace rondo::detail {

NativeProgram::NativeProgram(const RegionCallable& function, std::span<const TensorType> parameters,
                             std::vector<std::string> names, std::span<const TensorType> results,
                             JitOptions options, SourceLocation at)
    : run_(std::move(options.run)) {
  const RegionCallable typed = [&](std::span<const Tensor> leaves) {
    Leaves returned = function(leaves);
    for (std::size_t i = 0; i < returned.values.size(); i++) {
      const TensorType& wanted = results[i];
      Tensor& tensor = returned.values[i];
      if (tensor.empty()) continue;  // trace reports it
      tensor = ops::adopt_dtype(tensor, wanted.dtype, at);
      const TensorType& type = tensor.type();
      if (type == wanted) continue;
      const std::string remedy =
          type.dtype != wanted.dtype
              ? fmt::format("Convert it (rondo::convert(x, DType::k{})), or return another number.",
                            ops::dtype_constant(wanted.dtype))
              : "A std::array is one tensor: its sizes are the tensor's dimensions.";
      throw TraceError(fmt::format("native: {} is {}, and the signature has {}\n  at {}\n  {}",
                                   returned.paths[i], type.str(), wanted.str(), at.str(), remedy),
                       at);
    }
    return returned;
  };
  executable_ =
      compile(detail::trace("main", typed, parameters, std::move(names), at), options.compile);
}

}  // namespace rondo::detail
