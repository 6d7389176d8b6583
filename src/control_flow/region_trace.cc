#include "control_flow/region_trace.h"

#include <algorithm>
#include <functional>
#include <utility>

#include "fmt/format.h"
#include "ir/lazy.h"

namespace rondo::control_flow {

std::string construct_name(const char* construct, const std::string& name) {
  return name.empty() ? construct : fmt::format("{} '{}'", construct, name);
}

std::vector<std::string> short_names(std::span<const std::string> paths) {
  std::vector<std::string> names;
  for (const std::string& path : paths) {
    const std::size_t dot = path.find('.');
    names.push_back(dot == std::string::npos ? path : path.substr(dot + 1));
  }
  return names;
}

std::vector<TensorType> types_of(std::span<const Tensor> tensors) {
  std::vector<TensorType> types;
  for (const Tensor& tensor : tensors) types.push_back(tensor.type());
  return types;
}

RegionTrace::RegionTrace(std::string name, const std::string& what,
                         std::span<const TensorType> types, std::span<const std::string> names,
                         const RegionCallable& callable, SourceLocation at)
    : tracer_(std::make_unique<ir::RegionTracer>(std::move(name), what, at)) {
  ir::EagerPause pause;
  std::vector<Tensor> params;
  for (std::size_t i = 0; i < types.size(); i++)
    params.push_back(tracer_->param(types[i], names[i]));
  try {
    out_ = callable(params);
  } catch (const std::bad_function_call&) {
    throw TraceError(fmt::format("{} is an empty std::function, or calls one\n  at {}\n  Give it "
                                 "a function before it is called here.",
                                 what, at.str()),
                     at);
  }
  tracer_->seal();
}

ir::OpenRegion RegionTrace::finish() {
  return tracer_->finish(std::move(out_.values), std::move(out_.paths));
}

std::vector<Tensor> make_construct(const ir::OpDef& op, ir::Operands operands,
                                   ir::Attributes attributes, std::vector<ir::OpenRegion> regions,
                                   SourceLocation at) {
  const std::vector<Tensor> captures = ir::union_captures(regions);
  const bool keeps = std::any_of(regions.begin(), regions.end(),
                                 [](const ir::OpenRegion& region) { return region.keeps; });
  operands.insert(operands.end(), captures.begin(), captures.end());
  std::vector<Function> closed;
  for (ir::OpenRegion& region : regions)
    closed.push_back(ir::close_region(std::move(region), captures));
  std::vector<Tensor> results =
      ir::make_many(op, std::move(operands), std::move(attributes), at, std::move(closed));
  if (keeps && !results.empty()) ir::keep(results[0]);
  return results;
}

}  // namespace rondo::control_flow
