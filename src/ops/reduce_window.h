// The records of windows that move over an array.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "ir/derivative.h"
#include "ops/support.h"
#include "rondo/function.h"
#include "rondo/ops/windows.h"

namespace rondo::ir {
class AttributeCodec;
}  // namespace rondo::ir

namespace rondo::ops {

/// Attributes: WindowDims with an entry for each axis. Operands and region as those of kReduce.
extern const ir::OpDef kReduceWindow;
/// Attributes: WindowDims without dilations. Operands: the array, the source, the initial value.
/// Regions: (selected, next) -> pred, (element, source) -> element.
extern const ir::OpDef kSelectAndScatter;

/// The window with an entry for each of `rank` axes in every list. Throws TraceError in the name of
/// `op` if a list has another number of entries.
WindowDims whole_window(const char* op, const WindowDims& window, std::int64_t rank,
                        SourceLocation at);
/// How many windows there are along each axis of an array. Throws unless sizes, strides and
/// dilations are positive and nothing overflows. `what`: the array's name in errors.
Shape window_counts(const InferContext& context, const WindowDims& window, const TensorType& array);

/// The fields of a window in texts; those that are missing are the defaults of whole_window.
void describe_window(ir::AttributeCodec& codec, WindowDims& window);

/// Combines arrays of one shape, element by element: (accumulators, elements) -> accumulators.
using CombineArrays = std::function<std::vector<Tensor>(std::span<const Tensor> both)>;
/// The combined elements of each window, as Tensor code: the accumulators begin with the first
/// element. `padding`: a scalar for each array, which changes nothing where it is combined. Along
/// each axis a window of w elements takes about 2 log2(w) steps if these are less work than w.
std::vector<Tensor> combine_windows(std::vector<Tensor> arrays, std::span<const Tensor> padding,
                                    const WindowDims& window, const CombineArrays& combine,
                                    SourceLocation at);
/// The same without such a value: what a window covers is combined by the region alone, and
/// `covered` is a pred, whether a window covers an element at all; it is empty if every window
/// does.
struct CombinedWindows {
  std::vector<Tensor> values;
  Tensor covered;
};
CombinedWindows combine_covered(std::vector<Tensor> arrays, const WindowDims& window,
                                const CombineArrays& combine, SourceLocation at);

}  // namespace rondo::ops
