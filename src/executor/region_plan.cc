#include "executor/region_plan.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "absl/container/inlined_vector.h"
#include "executor/element_code.h"
#include "executor/interchange.h"
#include "executor/loop_parts.h"
#include "executor/names.h"
#include "executor/rematerialize.h"
#include "executor/terms.h"
#include "ir/kernel.h"
#include "ir/layout.h"
#include "ir/order.h"

namespace rondo::executor {

namespace {

// The step that reads a value, identified by its first value: none yet, or several.
constexpr std::uint32_t kNoReader = 0xffffffffu, kManyReaders = 0xfffffffeu;

bool forwards_all(const Node& node) {
  if (node.types.size() != node.operands.size()) return false;
  for (std::size_t i = 0; i < node.types.size(); i++) {
    if (node.types[i] != node.operand_type(i)) return false;
  }
  return true;
}

/// How a step reads an operand: whether the operand can be fused into its loops, and if so whether
/// its elements are read more than once there.
struct OperandReads {
  bool fits = true;
  bool repeated = false;
};

OperandReads reads_of(const Step& step, std::size_t i, const Interchange* lanes) {
  const Node& node = *step.node;
  switch (step.form) {
    case Strategy::kElement:
    case Strategy::kWrite:
      return {};
    case Strategy::kRead:
      return {.repeated = i == 0 && node.type().elements() > node.operand_type(0).elements()};
    case Strategy::kTapeWrite:
      return {.fits = i == 1};
    case Strategy::kReduction:
    case Strategy::kPrefixScan:
      return {.fits = i == 0};
    case Strategy::kGather: {
      // All elements of a slice read the same indices.
      const auto components =
          static_cast<std::int64_t>(ir::loops_as<ir::Gather>(node)->components.size());
      return {.fits = i != 0,
              .repeated = node.type().elements() * components > node.operand_type(1).elements()};
    }
    case Strategy::kUnrolledContraction:
    case Strategy::kContraction: {
      const std::size_t factors = ir::has_loops<ir::Contraction>(node) ? 2 : 1;
      return {.fits = i<factors, .repeated = factors> 1};
    }
    case Strategy::kLoop:
    case Strategy::kLaneLoop:
      // A carry's first value is written in the memory of the carry; lanes read their elements.
      return {.fits = i - LoopParts(node).fixed < node.types.size() ||
                      (lanes && node.operand_type(i).elements() == lanes->lanes)};
    default:
      return {.fits = false};
  }
}

/// Parts of one size, adjacent: loops could write them together.
bool has_equal_parts(const Node& node) {
  const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(node);
  if (map.kept >= 0 || map.fill >= 0 || map.parts.size() < 2 || map.parts.size() > kMostParts)
    return false;
  const auto fits = [&](const ir::Part& part) {
    for (std::size_t i = 0; i < part.axes.size(); i++) {
      const ir::AxisWrite& axis = part.axes[i];
      if (axis.first != 0 || axis.dynamic >= 0 || axis.count != map.parts[0].axes[i].count)
        return false;
    }
    return true;
  };
  return std::all_of(map.parts.begin(), map.parts.end(), fits);
}

/// Whether an index map changes nothing but axes of one element.
bool keeps_order(const Node& node) {
  const TensorType& from = node.operand_type(0);
  if (node.type().elements() != from.elements()) return false;
  std::int64_t last = -1;
  const ir::AccessMap map = read_map(node);
  for (std::size_t i = 0; i < map.size(); i++) {
    if (from.shape[static_cast<std::int64_t>(i)] == 1) continue;
    if (map[i].axis <= last || map[i].start != 0 || map[i].step != 1 || map[i].moves())
      return false;
    last = map[i].axis;
  }
  return true;
}

/// In whose loops values are read, by the numbers of steps' first values. The loops of parts of one
/// size may be merged, if they read the same values.
class Readers {
 public:
  explicit Readers(std::size_t values)
      : reader_(values, kNoReader), together_(values, kNoReader), steps_(values, nullptr) {}

  bool is_one(std::uint32_t value) const { return reader_[value] < kManyReaders; }
  void add(std::uint32_t value, std::uint32_t reader) {
    std::uint32_t& readers = reader_[value];
    if (readers == kNoReader || readers == reader)
      readers = reader;
    else
      readers = together(readers) == together(reader) ? together(reader) : kManyReaders;
  }
  /// The step could write its parts together.
  void may_join(Step& step) {
    together_[step.first_value] = step.first_value;
    steps_[step.first_value] = &step;
  }
  /// The loops that write a value that is fused into its only reader: for a part its separate
  /// loops, unless they are merged. Merges the ones that need the value twice.
  std::uint32_t loops_of(std::uint32_t value, std::uint32_t uses) {
    const std::uint32_t reader = reader_[value];
    if (reader >= kManyReaders || !steps_[reader]) return reader;
    if (uses > 1) {
      steps_[reader]->joint = true;
      return reader;
    }
    together_[value] = reader;
    return value;
  }

 private:
  /// Which loops may be merged with others, or computed separately.
  std::uint32_t together(std::uint32_t reader) const {
    const bool joins = reader < kManyReaders && together_[reader] != kNoReader;
    return joins ? together_[reader] : reader;
  }

  std::vector<std::uint32_t> reader_, together_;
  std::vector<Step*> steps_;  // that may be merged
};

}  // namespace

bool regroups_nothing(const Node& node) {
  const auto next = [](const Shape& shape, std::int64_t& axis) {
    while (axis < shape.rank() && shape[axis] == 1) axis++;
    return axis < shape.rank() ? shape[axis] : -1;
  };
  const TensorType &from = node.operand_type(0), &to = node.type();
  if (from.dtype != to.dtype) return false;
  for (std::int64_t i = 0, j = 0;; i++, j++) {
    const std::int64_t size = next(from.shape, i);
    if (size != next(to.shape, j)) return false;
    if (size < 0) return true;
  }
}

ir::AccessMap read_map(const Node& node) {
  if (auto read = ir::loops_as<ir::AccessMap>(node)) return *std::move(read);
  ir::AccessMap map;
  const Shape &from = node.operand_type(0).shape, &to = node.type().shape;
  std::int64_t axis = 0;
  for (std::int64_t i = 0; i < from.rank(); i++) {
    if (from[i] == 1) {
      map.push_back({});
      continue;
    }
    while (to[axis] == 1) axis++;
    map.push_back({axis++, 0, 1, -1, 0});
  }
  return map;
}

std::optional<ir::Contraction> products_in_lanes(const Node& node) {
  if (node.type().rank() == 0) return std::nullopt;
  if (node.type().shape.dims().back() < kLeastLanes) return std::nullopt;
  return ir::loops_as<ir::Contraction>(node);
}

Strategy strategy_of(const Node& node, bool reorders) {
  const ir::OpDef& op = *node.op;
  if (ir::is_constant(&node)) return Strategy::kConstant;
  if (op.construct.flow == ir::Flow::kRepeat || op.construct.flow == ir::Flow::kCount)
    return Strategy::kLoop;
  if (op.construct.flow == ir::Flow::kSelect) return Strategy::kBranch;
  const ir::LoopNest loops = ir::loop_nest(node);
  if (const auto* tape = std::get_if<ir::TapeAccess>(&loops))
    return tape->writes ? Strategy::kTapeWrite : Strategy::kTapeRead;
  if (op.construct.lane_loop) return Strategy::kLaneLoop;
  if (op.kernel.prepare == ir::prepare_forwarding && forwards_all(node)) return Strategy::kForward;
  if (std::holds_alternative<ir::SameBytes>(loops) &&
      node.type().bytes() == node.operand_type(0).bytes())
    return Strategy::kAlias;
  if (op.structure.element && node.types.size() == 1) {
    const DType dtype = node.operands.empty() ? node.type().dtype : node.operand_type(0).dtype;
    if (op.structure.element_dtypes >> static_cast<unsigned>(dtype) & 1) return Strategy::kElement;
  }
  if (std::holds_alternative<ir::AccessMap>(loops)) return Strategy::kRead;
  if (std::holds_alternative<ir::Gather>(loops) && !is_scalar(node.operand_type(0)))
    return Strategy::kGather;
  if (std::holds_alternative<ir::InsertionMap>(loops)) return Strategy::kWrite;
  if (few_terms(node, reorders && fits_in_lanes(node.type())))
    return Strategy::kUnrolledContraction;
  if (std::holds_alternative<ir::Reduction>(loops)) return Strategy::kReduction;
  if (std::holds_alternative<ir::PrefixScan>(loops)) return Strategy::kPrefixScan;
  if (std::holds_alternative<ir::CustomReduction>(loops) && is_element_code(node.regions[0]))
    return Strategy::kCustomReduction;
  if (std::holds_alternative<ir::Scatter>(loops) && !is_scalar(node.type()) &&
      is_element_code(node.regions[0]))
    return Strategy::kScatter;
  if (const auto products = products_in_lanes(node); products && products->as_kernel)
    return Strategy::kContraction;
  return Strategy::kKernel;
}

RegionPlan::RegionPlan(const Function& region, const Interchanges& interchanges, bool reorders,
                       bool repeats)
    : numbers_(region) {
  // Steps that read the old state of an array run before those that write its next one in place
  // (write after read).
  const std::vector<const Node*> order = ir::reads_before_writes(region);
  for (const Tensor& parameter : region.parameters())
    numbers_.set(parameter.node(), {values_++, 0});
  steps_.reserve(order.size());
  for (const Node* node : order) {
    steps_.push_back({node, strategy_of(*node, reorders), false, false, values_});
    numbers_.set(node, {values_, static_cast<std::uint32_t>(steps_.size())});
    values_ += static_cast<std::uint32_t>(node->types.size());
  }
  uses_.resize(values_);
  for (const Node* node : order) {
    for (const Tensor& operand : node->operands) uses_[value(operand)]++;
  }
  for (const Tensor& result : region.outputs()) uses_[value(result)]++;
  only_read_.assign(values_, true);
  for (const Tensor& result : region.outputs()) only_read_[value(result)] = false;
  for (const Step& step : steps_) {
    for (std::size_t i = 0; i < step.node->operands.size(); i++) {
      if (step.form != Strategy::kTapeRead || i != 0)
        only_read_[value(step.node->operands[i])] = false;
    }
  }
  choose_inlined(region, interchanges);
  fuse_pieces(region);
  find_last_uses(region);
  if (keep_old_parts(region, repeats)) find_last_uses(region);
}

/// Fused reads of an array's old state move to where their values are used, which may be after the
/// step that writes its next state, or in it. Those of parts of it are computed before that step
/// after all, so that it needs no other memory.
bool RegionPlan::keep_old_parts(const Function& region, bool repeats) {
  const std::vector<Overwriting> writes = overwriting_steps(region, repeats);
  if (writes.empty()) return false;
  std::vector<absl::InlinedVector<std::uint32_t, 2>> readers(values_);
  for (std::uint32_t at = 0; at < steps_.size(); at++) {
    for (const Tensor& operand : steps_[at].node->operands) readers[value(operand)].push_back(at);
  }
  bool found = false;
  for (const Overwriting& write : writes) {
    // Values that are read late, and whether each element is read where it is written.
    std::vector<std::pair<std::uint32_t, bool>> late{{value(write.array), write.by_element}};
    std::vector<std::uint32_t> parts;  // steps
    std::int64_t elements = 0;
    absl::flat_hash_set<std::uint32_t> seen;
    bool all = true;
    while (all && !late.empty()) {
      const auto [read, in_place] = late.back();
      late.pop_back();
      for (const std::uint32_t at : readers[read]) {
        const Step& step = steps_[at];
        if (at == write.step && write.by_element) {
          all = all && in_place;
          continue;
        }
        const std::uint32_t last = step.inlined ? last_use_[step.first_value] : at;
        const bool is_late = last > write.step || (last == write.step && write.by_element);
        if (!is_late || !seen.insert(at).second) continue;
        const std::int64_t size = step.node->type().elements();
        if (!step.inlined || at > write.step || size > write.array.type().elements()) {
          all = false;
        } else if (size < write.array.type().elements()) {
          parts.push_back(at);
          elements += size;
        } else {
          late.emplace_back(step.first_value, in_place && step.form == Strategy::kElement);
        }
      }
    }
    // Threshold: Of an array that is computed element by element, parts of up to this share are
    // stored; more costs as much as a second buffer. Not measured alone.
    constexpr std::int64_t kLeastShare = 8;
    const std::int64_t most = write.array.type().elements() / (write.by_element ? kLeastShare : 1);
    if (!all || parts.empty() || elements >= most) continue;
    for (const std::uint32_t at : parts) steps_[at].inlined = false;
    found = true;
  }
  return found;
}

/// The steps that write the next state of an array where its old one is, or could if it were read
/// for the last time.
std::vector<RegionPlan::Overwriting> RegionPlan::overwriting_steps(const Function& region,
                                                                   bool repeats) const {
  std::vector<Overwriting> writes;
  for (std::uint32_t at = 0; at < steps_.size(); at++) {
    for (const std::size_t operand : ir::written_operands(steps_[at].node)) {
      const Tensor& array = steps_[at].node->operands[operand];
      const std::uint32_t last = last_use_[value(array)];
      if (last > at && last != kAtEnd) writes.push_back({at, array, false});
    }
  }
  if (!repeats) return writes;
  absl::flat_hash_set<std::uint32_t> results;
  for (const Tensor& result : region.outputs()) results.insert(value(result));
  for (const Tensor& parameter : region.parameters()) {
    const std::uint32_t last = last_use_[value(parameter)];
    if (last >= steps_.size() || is_scalar(parameter.type())) continue;
    const Step& step = steps_[last];
    if (step.form == Strategy::kElement && !step.inlined && results.contains(step.first_value) &&
        step.node->type() == parameter.type())
      writes.push_back({last, parameter, true});
  }
  return writes;
}

/// A node is fused into the loops of its consumers if these read each of its elements once and it
/// has no other use: one consumer, or several that are written in the same loops; or if it costs
/// little to compute it in each. Index maps cost nothing, and are fused into all their consumers.
void RegionPlan::choose_inlined(const Function& region, const Interchanges& interchanges) {
  std::vector<bool> fits(values_, true);       // all consumers can compute it in their loops
  std::vector<bool> repeated(values_, false);  // and compute its elements more than once there
  // In whose loops all consumers read the element at the same index.
  Readers readers(values_);
  Rematerialization rematerialized(*this);
  for (const Tensor& result : region.outputs()) fits[value(result)] = false;
  for (auto step = steps_.rbegin(); step != steps_.rend(); ++step) {
    const Node& node = *step->node;
    const std::uint32_t result = step->first_value;
    const bool in_loops = node.type().elements() > 1 && fits[result];
    // A bitcast costs nothing in memory, nor in loops.
    if (step->form == Strategy::kAlias && in_loops && regroups_nothing(node))
      step->form = Strategy::kRead;
    const bool reads = step->form == Strategy::kRead;
    const bool computed = step->form == Strategy::kElement ||
                          step->form == Strategy::kUnrolledContraction ||
                          step->form == Strategy::kGather;
    if ((computed || reads) && in_loops) {
      const bool once = uses_[result] == 1 || readers.is_one(result);
      step->inlined = reads || node.operands.empty() || (once && !repeated[result]) ||
                      rematerialized.is_part(result) ||
                      (!repeated[result] && rematerialized.pays(*step));
    }
    const bool again =
        step->inlined && (repeated[result] || (uses_[result] > 1 && !readers.is_one(result)));
    const Interchange* lanes = interchanges.of(&node);
    if (lanes && lanes->lanes == 1) lanes = nullptr;
    // A fused value reads its operands where it is read: with others there, or separately.
    std::uint32_t reads_it = kManyReaders;
    const std::uint32_t loops = step->inlined ? readers.loops_of(result, uses_[result]) : result;
    if (step->form == Strategy::kElement || step->form == Strategy::kReduction ||
        step->form == Strategy::kPrefixScan || (reads && step->inlined && keeps_order(node)) ||
        lanes) {
      const bool alone = !step->inlined || uses_[result] == 1;
      if (loops < kManyReaders)
        reads_it = loops;
      else if (alone)
        reads_it = result;
    } else if (step->form == Strategy::kWrite && has_equal_parts(node)) {
      readers.may_join(*step);
      reads_it = result;
    }
    for (std::size_t i = 0; i < node.operands.size(); i++) {
      const std::uint32_t operand = value(node.operands[i]);
      const OperandReads read = reads_of(*step, i, lanes);
      if (!read.fits) fits[operand] = false;
      if (read.repeated || again) repeated[operand] = true;
      readers.add(operand, reads_it);
      if (!is_scalar(node.operands[i].type())) rematerialized.add_reader(operand, *step);
    }
    // A value that is updated in place has a separate place.
    if (step->form == Strategy::kWrite) {
      const ir::InsertionMap map = *ir::loops_as<ir::InsertionMap>(node);
      if (map.kept >= 0) fits[value(node.operands[static_cast<std::size_t>(map.kept)])] = false;
    }
  }
}

void RegionPlan::find_last_uses(const Function& region) {
  const auto count = static_cast<std::uint32_t>(steps_.size());
  last_use_.assign(values_, kNoPlace);
  for (const Tensor& result : region.outputs()) last_use_[value(result)] = kAtEnd;
  const auto use = [&](std::uint32_t value, std::uint32_t at) {
    std::uint32_t& last = last_use_[value];
    last = last == kNoPlace ? at : std::max(last, at);
  };
  for (std::uint32_t at = count; at-- > 0;) {
    const Step& step = steps_[at];
    // A fused value reads its operands where it is read.
    std::uint32_t place = at;
    if (step.inlined && last_use_[step.first_value] != kNoPlace)
      place = last_use_[step.first_value];
    for (const Tensor& operand : step.node->operands) use(value(operand), place);
  }
  for (std::uint32_t at = 0; at < count; at++) {
    for (std::uint32_t i = 0; i < steps_[at].node->types.size(); i++) {
      std::uint32_t& last = last_use_[steps_[at].first_value + i];
      if (last == kNoPlace) last = at;
    }
  }
  for (std::uint32_t& last : last_use_) {
    if (last == kNoPlace) last = kAtEnd;  // an unused parameter
  }
  ending_first_.assign(count + 1, 0);
  for (const std::uint32_t last : last_use_) {
    if (last < count) ending_first_[last + 1]++;
  }
  for (std::uint32_t at = 0; at < count; at++) ending_first_[at + 1] += ending_first_[at];
  ending_.resize(ending_first_[count]);
  std::vector<std::uint32_t> next(ending_first_.begin(), ending_first_.end() - 1);
  for (std::uint32_t value = 0; value < values_; value++) {
    if (last_use_[value] < count) ending_[next[last_use_[value]]++] = value;
  }
}

}  // namespace rondo::executor
