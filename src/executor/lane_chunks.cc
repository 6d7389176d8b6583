// Loops that are interchanged with their lanes in programs whose runs may be ended: the lanes make
// the trips in chunks; between chunks all lanes are at the same trip and their state is in memory.
//
// while some lane is active
// lanes: the carries of this lane; while it is active, at most a chunk of trips; back to memory
#include <algorithm>
#include <cstddef>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "executor/loop_parts.h"
#include "executor/lowerer.h"
#include "ir/function_data.h"
#include "ir/layout.h"
#include "ir/region_walk.h"
#include "lower/run_frame.h"

namespace rondo::executor {

namespace {

/// Estimates the elements that one trip computes for a lane.
struct WorkOfTrip {
  explicit WorkOfTrip(std::int64_t lanes) : lanes_(lanes) {}
  void open(const Function&, const Node* holder, std::size_t) {
    // Threshold: Trips assumed for an inner loop of unknown length, and the most that are
    // multiplied up, when the work of a trip is estimated. Not measured.
    constexpr std::int64_t kTrips = 16, kMost = std::int64_t{1} << 20;
    const auto layout = holder ? ir::region_layout(holder) : std::nullopt;
    const std::int64_t trips =
        layout && layout->is_loop() ? layout->trip_count.value_or(kTrips) : 1;
    times_.push_back(times_.empty() ? 1
                                    : std::clamp<std::int64_t>(times_.back() * trips, 1, kMost));
  }
  void close(const Function&, const Node*, std::size_t) { times_.pop_back(); }
  void node(const Node& node) {
    for (const TensorType& type : node.types)
      work += times_.back() * std::max<std::int64_t>(1, type.elements() / lanes_);
  }
  void after(const Node&) {}

  std::int64_t work = 1;

 private:
  std::int64_t lanes_;
  std::vector<std::int64_t> times_;
};

/// A chunk is long enough that the carries are rarely read and written; and short enough that a
/// block of lanes ends soon, since the run's limits are checked between blocks, and that an ended
/// run has lost little.
std::int64_t trips_of_chunk(const Node& loop, std::int64_t lanes) {
  // Threshold: Elements of a chunk, of all lanes: the memory traffic of the carries against how
  // much an ended run loses. Not measured.
  constexpr std::int64_t kOfAllLanes = std::int64_t{1} << 24;
  // Threshold: Elements of a chunk, of one lane: the same, and how soon a block of lanes ends to
  // poll. Not measured; LimitsOnLanes in bench/calls_bench.cc runs it (4 % slower with limits).
  constexpr std::int64_t kLeast = std::int64_t{1} << 11, kMost = std::int64_t{1} << 14;
  WorkOfTrip trip(lanes);
  ir::walk_nested(LoopParts(loop).body, trip);
  return std::max<std::int64_t>(1, std::clamp(kOfAllLanes / lanes, kLeast, kMost) / trip.work);
}

/// Whether a region reads its parameter `i`.
bool reads_parameter(const Function& region, std::size_t i) {
  const Tensor& parameter = region.parameters()[i];
  const auto is_it = [&](const Tensor& value) { return value.same_as(parameter); };
  return std::any_of(region.outputs().begin(), region.outputs().end(), is_it) ||
         std::any_of(region.body().begin(), region.body().end(), [&](const Node* node) {
           return std::any_of(node->operands.begin(), node->operands.end(), is_it);
         });
}

}  // namespace

bool Lowerer::spreads_singles(Scope& scope, const Tensor& value) {
  std::vector<Tensor> open{value};
  absl::flat_hash_set<ir::ValueKey> seen;
  while (!open.empty()) {
    const Tensor next = std::move(open.back());
    open.pop_back();
    if (!seen.insert(next).second) continue;
    const Place& from = place(scope, next);
    if (from.kind == Place::Kind::kInlined)
      open.insert(open.end(), next.node()->operands.begin(), next.node()->operands.end());
    else if (from.kind == Place::Kind::kArray && from.element.empty())
      return false;
  }
  return true;
}

std::vector<bool> Lowerer::computed_in_chunks(Scope& scope, const Node& node,
                                              const Interchange& form) {
  const Shape shape = shape_of_lanes(node, form);
  Nest nest(builder_, *scope.plan, scope.places, shape.dims());
  const LoopParts parts(node);
  std::vector<bool> stay(parts.operands.size(), false);
  for (std::size_t i = node.types.size(); i < stay.size(); i++) {
    const Tensor& operand = parts.operands[i];
    stay[i] =
        place(scope, operand).kind == Place::Kind::kInlined &&
        form.operands[i].kind == LaneValue::Kind::kLane && operand.shape() == shape &&
        spreads_singles(scope, operand) &&
        (node.op->construct.lane_loop || parts.counts || !reads_parameter(*parts.condition, i));
    if (stay[i]) nest.add(operand, nest.index());
  }
  // The nest computes an element for each lane, in the loops of the lanes.
  if (form.nest.empty() ? !nest.is_one_loop() : form.nest.rows > 1) stay.assign(stay.size(), false);
  return stay;
}

Value Lowerer::trips_of_all_chunks(const Construct& construct, const lower::LoopInfo& info) {
  if (construct.count) return construct.count->trips;
  return info.trip_count ? builder_.index(*info.trip_count) : lower::kNone;
}

void Lowerer::remember_lanes(Construct& chunks) {
  const Node* node = chunks.node;
  // Uniform values continue with the active lanes: the predicate of a lane that is done may hold
  // again.
  if (!node->op->construct.lane_loop) return;
  bool asks_for_singles = false;
  for (std::size_t i = 0; i < node->types.size(); i++)
    asks_for_singles =
        asks_for_singles || (is_scalar(node->types[i]) && reads_parameter(node->regions[0], i));
  if (!asks_for_singles) return;
  const std::int64_t lanes = chunks.chunked.form->lanes;
  chunks.chunked.going_on = chunks.lanes.made.emplace_back(new_array({DType::kPred, Shape{lanes}}));
  const std::uint32_t number = builder_.begin_lanes(builder_.index(lanes));
  lanes_ = OpenLanes{builder_.program().lanes[number].index, lanes, constructs_.size()};
  builder_.store(builder_.pred(true), going_on(chunks));
  end_lanes();
}

void Lowerer::open_chunks(const Step& step, std::uint32_t at, const Interchange& form) {
  const Node* node = step.node;
  const std::size_t carries = node->types.size();
  Scope& scope = scopes_.back();
  Construct construct(node, step.first_value);
  construct.chunked.form = &form;
  construct.count = count_of(scope, *node);
  const LoopParts parts(*node);
  const std::vector<bool> stay = computed_in_chunks(scope, *node, form);
  for (std::size_t i = 0; i < parts.operands.size(); i++) {
    const Tensor& operand = parts.operands[i];
    Place argument = place(scope, operand);
    argument.writable = false;
    if (argument.kind == Place::Kind::kInlined && i >= carries && !stay[i]) {
      argument.kind = Place::Kind::kArray;
      argument.storage = -1;
      argument.pointer = in_memory(scope, operand, construct.lanes.made);
    }
    construct.arguments.push_back(std::move(argument));
  }
  const std::vector<bool> once = ir::given_once(parts.operands);
  std::vector<Value> init;
  for (std::size_t i = 0; i < carries; i++) {
    Place& argument = construct.arguments[i];
    if (argument.in_registers()) {
      init.insert(init.end(), argument.element.begin(), argument.element.end());
      continue;
    }
    // Each lane reads and writes only its elements of it.
    argument = carried_memory(scope, step, i, at, {once[i], true, false});
    CarriedArray& array = construct.carried[i];
    array.storage = argument.storage;
    array.now = argument.pointer;
    Storage& storage = storages_[static_cast<std::size_t>(argument.storage)];
    array.values = storage.values;
    storage.open_loops++;
  }
  init.push_back(builder_.index(0));
  remember_lanes(construct);
  const std::uint32_t info = begin_loop(node, construct.count);
  construct.chunked.all_trips = trips_of_all_chunks(construct, builder_.program().loops[info]);
  note_inner_safepoint();
  construct.loop = builder_.begin_while(init, info);
  take_parameters(construct);
  lower::While& loop = builder_.program().whiles[construct.loop];
  construct.lanes.trips = loop.trips = loop.carries.back().param;
  describe_state(builder_.program().loops[info], construct);
  if (construct.count) {
    builder_.test(builder_.less(construct.lanes.trips, construct.chunked.all_trips));
    constructs_.push_back(std::move(construct));
    return open_chunk();
  }
  // Whether some lane is active: the condition itself, or its value in any lane.
  std::vector<Place> arguments = construct.arguments;
  for (Place& argument : arguments) argument.writable = false;
  if (node->op->construct.lane_loop) arguments = begin_chunk_lanes(construct);
  constructs_.push_back(std::move(construct));
  enter(Scope::Role::kCondition, node->regions[0]);
  bind(scopes_.back(), arguments);
}

Value Lowerer::any_lane(Value predicate) {
  const Value any = builder_.reduce(lower::Opcode::kOr, builder_.pred(false), predicate);
  end_lanes();
  return any;
}

std::vector<Place> Lowerer::begin_chunk_lanes(const Construct& chunks) {
  const Interchange& form = *chunks.chunked.form;
  const Node* node = chunks.node;
  Scope& scope = scopes_.back();
  std::vector<Place> arguments = chunks.arguments;
  Nest nest(builder_, *scope.plan, scope.places, shape_of_lanes(*node, form).dims());
  const std::span<const Tensor> operands = LoopParts(*node).operands;
  std::vector<std::pair<std::size_t, std::uint32_t>> items;  // operands that are fused
  for (std::size_t i = 0; i < arguments.size(); i++) {
    if (arguments[i].kind == Place::Kind::kInlined)
      items.emplace_back(i, nest.add(operands[i], nest.index()));
  }
  begin_lanes(form, items.empty() ? nullptr : &nest);
  for (const auto& [i, item] : items) arguments[i] = of_lane(nest.element(item), form.operands[i]);
  for (std::size_t i = 0; i < arguments.size(); i++) {
    Place& argument = arguments[i];
    argument.writable = false;
    if (form.operands[i].kind == LaneValue::Kind::kCarried)
      argument.lane = form.operands[i];
    else if (form.operands[i].kind == LaneValue::Kind::kLane && !argument.in_registers())
      argument =
          of_lane(lane_elements(argument, operands[i].type(), form.operands[i]), form.operands[i]);
  }
  return arguments;
}

Value Lowerer::most_trips(const Construct& chunks) {
  Value most = builder_.index(trips_of_chunk(*chunks.node, chunks.chunked.form->lanes));
  const auto ends_at = [&](Value trips) {
    most = builder_.min(most, builder_.subtract(trips, chunks.lanes.trips));
  };
  // If these end the loop, the state is exact.
  const Value frame =
      builder_.buffer({lower::Storage::kFrame, 0, 0, std::int64_t{sizeof(lower::RunFrame)}});
  ends_at(builder_.load(Type::kS64, {frame, offsetof(lower::RunFrame, max_iterations), {}}));
  if (const auto& promised = builder_.program().loops[loops_.back()].max_trip_count)
    ends_at(builder_.index(*promised));
  if (chunks.chunked.all_trips != lower::kNone) ends_at(chunks.chunked.all_trips);
  return most;
}

void Lowerer::open_chunk() {
  const Construct& chunks = constructs_.back();
  const Node* node = chunks.node;
  Construct construct(node);
  construct.results.resize(node->types.size());
  construct.lanes.is_chunk = true;
  construct.chunked.most_trips = most_trips(chunks);
  if (const auto& count = chunks.count)
    construct.count = {index_after(*count, chunks.lanes.trips), count->step,
                       construct.chunked.most_trips};
  else  // of s32 a vector holds as many as of f32
    construct.chunked.most_trips = builder_.convert(construct.chunked.most_trips, Type::kS32);
  const bool counts = chunks.chunked.all_trips == lower::kNone;
  if (counts)
    construct.lanes.made.push_back(new_array({DType::kS32, Shape{chunks.chunked.form->lanes}}));
  construct.arguments = begin_chunk_lanes(chunks);
  construct.chunked.most_of_lane = construct.chunked.most_trips;
  if (chunks.chunked.going_on) {
    construct.chunked.most_of_lane =
        builder_.select(builder_.load(Type::kPred, going_on(chunks)), construct.chunked.most_trips,
                        builder_.number(Type::kS32, 0));
  }
  absl::InlinedVector<Value, 8> init;
  for (std::size_t i = 0; i < node->types.size(); i++) {
    const Element& element = construct.arguments[i].element;
    init.insert(init.end(), element.begin(), element.end());
    if (!chunks.arguments[i].in_registers()) construct.results[i] = chunks.arguments[i];
  }
  if (!construct.count) construct.lanes.trips = init.emplace_back(builder_.number(Type::kS32, 0));
  loops_.push_back(loops_.back());
  enter_lane_loop(std::move(construct), init, lower::kNoLoop, counts);
}

void Lowerer::close_chunk(const Construct& lanes, Value last_trips) {
  const bool counts = !lanes.lanes.made.empty();
  // The predicate ended a lane that made fewer trips.
  if (const Construct& chunks = constructs_.back(); chunks.chunked.going_on)
    builder_.store(builder_.equal(last_trips, lanes.chunked.most_trips), going_on(chunks));
  if (counts) builder_.store(last_trips, {lanes.lanes.made[0].pointer, 0, {{lanes_->index, 4}}});
  const Value count = builder_.index(lanes_->count);
  end_lanes();
  Value trips = lanes.chunked.most_trips;
  if (counts) {
    // Separate from the loop above, whose blocks may have any number of vectors.
    const std::uint32_t number = builder_.begin_lanes(count);
    const Value lane = builder_.program().lanes[number].index;
    const Value made = builder_.load(Type::kS32, {lanes.lanes.made[0].pointer, 0, {{lane, 4}}});
    trips = builder_.reduce(lower::Opcode::kMax, builder_.number(Type::kS32, 0), made);
    builder_.end_lanes();
    release(lanes.lanes.made[0]);
  }
  trips = builder_.convert(trips, Type::kS64);
  const Construct construct = std::move(constructs_.back());
  constructs_.pop_back();
  std::vector<Value> next;
  for (const Element& element : last_singles(lanes, trips, [&](std::size_t i) -> const Element& {
         return construct.arguments[i].element;
       }))
    next.insert(next.end(), element.begin(), element.end());
  next.push_back(builder_.add(construct.lanes.trips, trips));
  builder_.end_while(next);
  loops_.pop_back();
  give_results(construct);
}

}  // namespace rondo::executor
