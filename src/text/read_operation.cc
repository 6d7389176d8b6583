#include "text/read_operation.h"

#include <algorithm>
#include <string>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "rondo/ops.h"
#include "text/mlir/cursor.h"
#include "text/mlir/locations.h"
#include "transforms/registry.h"

namespace rondo::text {

namespace {

using Records = absl::flat_hash_map<std::string_view, const ir::OpDef*>;

Records records_of(std::string_view ir::OpText::*name) {
  Records records;
  for (const ir::OpDef* op : transforms::all_ops()) {
    const bool reads = op->text.is_read && !(op->text.*name).empty() && !op->text.sharding;
    // A construct that the format lacks is expanded to one that it has.
    if (reads && (op->construct.flow == ir::Flow::kNone || op->text.read))
      records.emplace(op->text.*name, op);
  }
  return records;
}

/// Whether the type is the one in the text, where that does not know all sizes.
bool fits(const TensorType& type, const mlir::Operation& operation, std::size_t place) {
  const TensorType& said = operation.types[place];
  if (!operation.details || type.dtype != said.dtype || type.rank() != said.rank()) return false;
  std::vector<std::int64_t> sizes = said.shape.vector();
  for (const auto& [of, axis] : operation.details->unknown)
    if (of == place) sizes[static_cast<std::size_t>(axis)] = type.shape[axis];
  return type.shape == Shape(sizes);
}

}  // namespace

const ir::OpDef* record_of(TextFormat format, std::string_view name) {
  static const Records kStablehlo = records_of(&ir::OpText::stablehlo);
  static const Records kHlo = records_of(&ir::OpText::hlo);
  if (name == "stablehlo.if") name = "stablehlo.case";  // the same with a pred
  const Records& records = format == TextFormat::kHlo ? kHlo : kStablehlo;
  const auto found = records.find(name);
  return found == records.end() ? nullptr : found->second;
}

std::vector<Tensor> make_operation(const ir::OpDef& op, const ReadOperation& read) {
  if (op.arity >= 0 && static_cast<std::size_t>(op.arity) != read.operands.size()) {
    mlir::fail(read.text, read.operation.at,
               fmt::format("{}: the number of its operands is {}, not {}\n  Give as many.",
                           read.operation.name, op.arity, read.operands.size()));
  }
  ir::Operands operands(read.operands.begin(), read.operands.end());
  if (op.structure.elementwise && !read.operation.types.empty()) {
    // A scalar beside arrays, as clamp and select may have.
    const auto longest =
        std::max_element(operands.begin(), operands.end(),
                         [](const Tensor& a, const Tensor& b) { return a.rank() < b.rank(); });
    const Shape shape = longest == operands.end() ? Shape() : longest->shape();
    for (Tensor& operand : operands) {
      if (operand.rank() == 0 && shape.rank() > 0) operand = broadcast_to(operand, shape);
    }
  }
  // A sum of products may have another dtype than what is multiplied: f8 gives f32. It is computed
  // in the wider of the two.
  const bool converts = op.derivative.linear == ir::Linear::kSeparately &&
                        !op.structure.elementwise && read.operation.types.size() == 1;
  const DType preferred = converts ? read.operation.types[0].dtype : DType::kPred;
  for (Tensor& operand : operands) {
    if (converts && bit_width(operand.dtype()) <= bit_width(preferred))
      operand = convert({operand, read.at}, preferred);
  }
  std::vector<Tensor> results = ir::make_many(op, std::move(operands), read_attributes(op, read),
                                              read.at, {read.regions.begin(), read.regions.end()});
  if (converts && results[0].dtype() != preferred)
    results[0] = convert({results[0], read.at}, preferred);
  return results;
}

void check_results(std::string_view text, const mlir::Operation& operation,
                   std::span<const Tensor> results) {
  const std::size_t known = std::min(results.size(), operation.types.size());
  for (std::size_t i = 0; i < known; i++) {
    const Tensor& result = results[results.size() - 1 - i];
    const TensorType& said = operation.types[operation.types.size() - 1 - i];
    if (result.type() == said || fits(result.type(), operation, operation.types.size() - 1 - i))
      continue;
    mlir::fail(text, operation.at,
               fmt::format("{}: its result is {}, not {} as the text says\n  Write the type that "
                           "it has.",
                           operation.name, result.type().str(), said.str()));
  }
}

SourceLocation location_in(std::string_view file, std::uint32_t line) {
  return {mlir::lasting_file(file), "main", line};
}

TextLines::TextLines(std::string_view text, std::string_view file)
    : file_(location_in(file, 0).file), starts_{0} {
  for (std::size_t at = text.find('\n'); at != text.npos; at = text.find('\n', at + 1))
    starts_.push_back(at + 1);
}

SourceLocation TextLines::at(mlir::Offset offset) const {
  const auto holds = [&](std::size_t line) {
    return line < starts_.size() && starts_[line] <= offset &&
           (line + 1 == starts_.size() || offset < starts_[line + 1]);
  };
  if (!holds(last_) && !holds(++last_)) {
    const auto next = std::upper_bound(starts_.begin(), starts_.end(), offset);
    last_ = static_cast<std::size_t>(next - starts_.begin()) - 1;
  }
  return {file_.data(), "main", static_cast<std::uint32_t>(last_ + 1)};
}

std::string no_entry(std::string_view what, std::string_view entry,
                     std::span<const std::string_view> names) {
  constexpr std::size_t kShown = 20;
  const bool all = names.size() <= kShown;
  const std::string known =
      fmt::format("{}", fmt::join(names.first(std::min(kShown, names.size())), ", "));
  return fmt::format("there is no {} {}\n  It is the program that is run. There are: {}{}", what,
                     entry, known, all ? "" : ", ...");
}

}  // namespace rondo::text
