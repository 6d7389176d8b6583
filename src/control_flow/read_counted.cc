#include "control_flow/read_counted.h"

#include <algorithm>
#include <optional>
#include <string>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "control_flow/counted.h"
#include "control_flow/index_form.h"
#include "control_flow/scan.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/region_facts.h"
#include "ops/broadcast.h"
#include "ops/dynamic_slice.h"
#include "ops/elementwise.h"
#include "rondo/detail/loops.h"
#include "rondo/ops/elementwise.h"

namespace rondo::control_flow {

namespace {

/// Whether both have the elements of a row, one after the other: a reshape, or a broadcast to a
/// leading axis of one.
bool only_adds_an_axis(const ir::Node& node) {
  if (node.op == &ops::kReshape) return true;
  if (node.op != &ops::kBroadcastInDim) return false;
  const auto& dimensions = node.attrs<ops::BroadcastAttributes>().dimensions;
  for (std::size_t i = 0; i < dimensions.size(); i++) {
    if (dimensions[i] != static_cast<std::int64_t>(i) + 1) return false;
  }
  return node.type().elements() == node.operands[0].type().elements();
}

/// A while whose counter is `counter`, before what it does is known.
class CountedReader {
 public:
  CountedReader(const ir::Node& loop, const ir::Induction& counter)
      : loop_(loop), body_(loop.regions[1]), counter_(counter), counted_(*counter.carry) {}

  std::vector<Tensor> results() {
    const std::vector<std::string> names = body_.param_names();
    for (std::size_t k = 0; k < loop_.types.size(); k++) {
      if (k == counted_) continue;
      const Tensor& param = body_.parameters()[k];
      if (body_.outputs()[k].same_as(param)) {
        stay_.push_back(k);
      } else {
        carries_.push_back(k);
        carry_names_.push_back("carry." + (names[k].empty() ? std::to_string(k) : names[k]));
      }
    }
    if (carries_.empty()) return results_of({}, counter_after_all());
    if (counter_.trips && find_rows()) return as_scan();
    return as_fori();
  }

 private:
  /// A slice or an update of one row of an array, at the trip's number.
  struct Row {
    bool reverse;  // at the last number first
  };

  const Tensor& param(std::size_t k) const { return body_.parameters()[k]; }
  /// The outer value of a parameter that is the same in all trips.
  bool is_fixed(std::size_t k) const {
    return k >= loop_.types.size() || std::find(stay_.begin(), stay_.end(), k) != stay_.end();
  }

  std::optional<Row> row_at(const Tensor& array, const Shape& part,
                            std::span<const Tensor> starts) const {
    const std::int64_t trips = *counter_.trips;
    if (array.rank() == 0 || array.dim(0) != trips || part[0] != 1) return std::nullopt;
    for (std::int64_t axis = 1; axis < array.rank(); axis++) {
      const auto start = static_bound(starts[static_cast<std::size_t>(axis)]);
      if (part[axis] != array.dim(axis) || start != 0) return std::nullopt;
    }
    const std::optional<IndexForm> at = forms_->of(starts[0]);
    if (at == IndexForm{0, 1}) return Row{false};
    if (at == IndexForm{trips - 1, -1}) return Row{true};
    return std::nullopt;
  }

  /// Finds the arrays of which each trip reads a row, and those of which each trip writes one; true
  /// if there are some, all in one direction, and the counter does nothing else.
  bool find_rows() {
    const std::optional<std::int64_t> first = static_bound(loop_.operands[counted_]);
    if (!first || *counter_.trips < 1) return false;
    forms_.emplace(body_, param(counted_), IndexForm{*first, counter_.step}, *counter_.trips);
    count_uses();
    find_read_rows();
    find_written_rows();
    return (!reads_.empty() || !written_.empty()) && !counter_is_used();
  }

  void count_uses() {
    for (const ir::Node* node : body_.body()) {
      for (const Tensor& operand : node->operands) uses_[operand.node()]++;
    }
    for (const Tensor& output : body_.outputs()) uses_[output.node()]++;
  }

  bool goes_along(Row row) {
    if (!reverse_) reverse_ = row.reverse;
    return *reverse_ == row.reverse;
  }

  void find_read_rows() {
    absl::flat_hash_map<const ir::Node*, std::size_t> fixed;
    for (std::size_t k = 0; k < body_.parameters().size(); k++) {
      if (is_fixed(k)) fixed.emplace(param(k).node(), k);
    }
    absl::flat_hash_map<std::size_t, std::size_t> place_of;
    for (const ir::Node* node : body_.body()) {
      if (node->op != &ops::kDynamicSlice) continue;
      const auto array = fixed.find(node->operands[0].node());
      if (array == fixed.end()) continue;
      const std::span<const Tensor> starts(node->operands.begin() + 1, node->operands.end());
      const std::optional<Row> row = row_at(node->operands[0], node->type().shape, starts);
      if (!row || !goes_along(*row)) continue;
      const auto [place, is_new] = place_of.emplace(array->second, arrays_.size());
      if (is_new) arrays_.push_back(array->second);
      reads_.emplace(node, place->second);
    }
  }

  void find_written_rows() {
    for (const std::size_t k : carries_) {
      const ir::Node* const node = body_.outputs()[k].node();
      if (node->op != &ops::kDynamicUpdateSlice || uses_[node] != 1 ||
          !node->operands[0].same_as(param(k)) || uses_[param(k).node()] != 1)
        continue;
      const std::span<const Tensor> starts(node->operands.begin() + 2, node->operands.end());
      const std::optional<Row> row = row_at(node->operands[0], node->operands[1].shape(), starts);
      if (row && goes_along(*row)) written_.insert(k);
    }
  }

  /// What a trip gives: the next carries and the rows that it writes.
  std::vector<Tensor> needed() const {
    std::vector<Tensor> needed;
    for (const std::size_t k : carries_) {
      const Tensor& output = body_.outputs()[k];
      needed.push_back(written_.contains(k) ? output.node()->operands[1] : output);
    }
    return needed;
  }

  bool counter_is_used() {
    absl::flat_hash_set<const ir::Node*> live;
    for (const Tensor& tensor : needed()) live.insert(tensor.node());
    const auto& nodes = body_.body();
    for (auto node = nodes.rbegin(); node != nodes.rend(); ++node) {
      if (!live.contains(*node)) continue;
      live_.push_back(*node);
      if (reads_.contains(*node)) continue;
      for (const Tensor& operand : (*node)->operands) live.insert(operand.node());
    }
    std::reverse(live_.begin(), live_.end());
    return live.contains(param(counted_).node());
  }

  Leaves init(bool with_written) const {
    Leaves init;
    for (std::size_t i = 0; i < carries_.size(); i++) {
      if (!with_written && written_.contains(carries_[i])) continue;
      init.values.push_back(loop_.operands[carries_[i]]);
      init.paths.push_back(carry_names_[i]);
    }
    return init;
  }

  /// The results of the while from those of the new loop: of the carries, in order.
  std::vector<Tensor> results_of(std::span<const Tensor> carries, const Tensor& counter) const {
    std::vector<Tensor> results(loop_.types.size());
    results[counted_] = counter;
    for (const std::size_t k : stay_) results[k] = loop_.operands[k];
    for (std::size_t i = 0; i < carries_.size(); i++) results[carries_[i]] = carries[i];
    return results;
  }

  Tensor counter_after_all() const {
    const Tensor& first = loop_.operands[counted_];
    if (counter_.trips)
      return integer(index_after(*static_bound(first), *counter_.trips, counter_.step),
                     first.dtype(), loop_.location());
    return maximum({first, loop_.location()}, {loop_.operands[*counter_.limit], loop_.location()});
  }

  std::vector<Tensor> as_fori() const {
    const SourceLocation at = loop_.location();
    const Tensor& first = loop_.operands[counted_];
    Tensor lower = first, upper = counter_after_all();
    ForiOptions options;
    options.step = counter_.step;
    if (counter_.step < 0) {  // the indices first, first + step, ... backwards
      const std::int64_t start = *static_bound(first);
      lower = integer(index_after(start, *counter_.trips - 1, counter_.step), first.dtype(), at);
      upper = integer(start + 1, first.dtype(), at);
      options.step = -counter_.step;
      options.reverse = true;
    } else if (!counter_.trips) {
      upper = loop_.operands[*counter_.limit];
    }
    const detail::RegionCallable step = [&](std::span<const Tensor> given) {
      std::vector<Tensor> arguments(loop_.operands.begin(), loop_.operands.end());
      arguments[counted_] = given[0];
      for (std::size_t i = 0; i < carries_.size(); i++) arguments[carries_[i]] = given[i + 1];
      const std::vector<Tensor> next = ir::Replay::inline_call(body_, arguments);
      Leaves out;
      for (const std::size_t k : carries_) out.values.push_back(next[k]);
      out.paths = carry_names_;
      return out;
    };
    const std::vector<Tensor> last =
        detail::fori_loop({lower, at}, {upper, at}, step, init(true), options, at);
    return results_of(last, counter_after_all());
  }

  /// The trip on the carries and the rows that it reads.
  Leaves scan_step(std::span<const Tensor> given) const {
    ir::Replay replay;
    std::size_t next = 0;
    for (std::size_t k = 0; k < body_.parameters().size(); k++) {
      if (is_fixed(k)) replay.bind(param(k), loop_.operands[k]);
    }
    for (const std::size_t k : carries_) {
      if (!written_.contains(k)) replay.bind(param(k), given[next++]);
    }
    const std::span<const Tensor> rows = given.subspan(next);
    for (const ir::Node* node : live_) {
      const auto read = reads_.find(node);
      if (read != reads_.end()) {
        const Tensor& row = rows[read->second];
        replay.bind(Tensor::of(node), ops::reshape_to(row, node->type().shape, node->location()));
      } else if (const Tensor* row = row_behind(*node, rows)) {
        replay.bind(Tensor::of(node), *row);
      } else if (!ir::is_constant(node)) {
        replay.bind_results(
            node, ir::make_typed(*node->op, replay.operands_of(node), node->attributes, node->types,
                                 node->location(), node->regions));
      }
    }
    Leaves out;
    std::vector<Tensor> ys;
    std::vector<std::string> y_names;
    for (std::size_t i = 0; i < carries_.size(); i++) {
      const Tensor& output = body_.outputs()[carries_[i]];
      if (!written_.contains(carries_[i])) {
        out.values.push_back(replay(output));
        out.paths.push_back(carry_names_[i]);
        continue;
      }
      ys.push_back(written_row(output.node()->operands[1], replay));
      y_names.push_back("y" + carry_names_[i].substr(std::string_view("carry").size()));
    }
    std::move(ys.begin(), ys.end(), std::back_inserter(out.values));
    std::move(y_names.begin(), y_names.end(), std::back_inserter(out.paths));
    return out;
  }

  /// The row that a reshape makes of a slice again.
  const Tensor* row_behind(const ir::Node& node, std::span<const Tensor> rows) const {
    if (node.op != &ops::kReshape) return nullptr;
    const auto read = reads_.find(node.operands[0].node());
    if (read == reads_.end()) return nullptr;
    const Tensor& row = rows[read->second];
    return row.type() == node.type() ? &row : nullptr;
  }

  static Tensor written_row(const Tensor& update, const ir::Replay& replay) {
    const TensorType type = slice_type(update.type(), 0);
    const ir::Node& made = *update.node();
    if (only_adds_an_axis(made) && made.operands[0].type() == type) return replay(made.operands[0]);
    return ops::reshape_to(replay(update), type.shape, made.location());
  }

  std::vector<Tensor> as_scan() const {
    const SourceLocation at = loop_.location();
    const std::vector<std::string> names = body_.param_names();
    Leaves xs;
    for (const std::size_t k : arrays_) {
      xs.values.push_back(loop_.operands[k]);
      xs.paths.push_back("xs." + (names[k].empty() ? std::to_string(k) : names[k]));
    }
    ScanOptions options;
    options.length = *counter_.trips;
    options.reverse = *reverse_;
    const std::vector<Tensor> made =
        detail::scan([this](std::span<const Tensor> given) { return scan_step(given); },
                     init(false), std::move(xs), options, at);
    std::vector<Tensor> last;
    std::size_t carry = 0, y = carries_.size() - written_.size();
    for (const std::size_t k : carries_) last.push_back(made[written_.contains(k) ? y++ : carry++]);
    return results_of(last, counter_after_all());
  }

  const ir::Node& loop_;
  const Function& body_;
  const ir::Induction counter_;
  const std::size_t counted_;             // the counter among the carries
  std::vector<std::size_t> stay_;         // carries that no trip changes
  std::vector<std::size_t> carries_;      // the others
  std::vector<std::string> carry_names_;  // of these
  std::optional<IndexForms> forms_;
  absl::flat_hash_map<const ir::Node*, std::size_t> uses_;
  std::optional<bool> reverse_;
  std::vector<std::size_t> arrays_;                          // parameters of which rows are read
  absl::flat_hash_map<const ir::Node*, std::size_t> reads_;  // slices: which of these arrays
  absl::flat_hash_set<std::size_t> written_;                 // carries
  std::vector<const ir::Node*> live_;
};

}  // namespace

std::vector<Tensor> read_counted(const ir::Node& loop) {
  std::vector<Tensor> results;
  for (std::uint32_t i = 0; i < loop.types.size(); i++) results.push_back(Tensor::of(&loop, i));
  const std::optional<ir::Induction> counter = ir::induction_of(loop);
  if (!counter || !ir::counts(loop)) return results;
  // What is observed stays where it is.
  if (ir::observes(loop.regions[0]) || ir::observes(loop.regions[1])) return results;
  return CountedReader(loop, *counter).results();
}

}  // namespace rondo::control_flow
