// Writes the lower program of one function: walks over its regions and their steps, and tracks
// where the value of each step is stored.
#pragma once

#include <deque>
#include <memory>
#include <optional>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "absl/functional/function_ref.h"
#include "executor/arena.h"
#include "executor/in_place.h"
#include "executor/interchange.h"
#include "executor/lowering.h"
#include "executor/names.h"
#include "executor/nest.h"
#include "executor/place.h"
#include "executor/region_plan.h"
#include "executor/tapes.h"
#include "ir/layout.h"
#include "lower/builder.h"

namespace rondo::executor {

/// Memory that values share: it is released with the last of them.
struct Storage {
  struct Piece {
    std::int64_t offset, bytes;
    std::int32_t result = -1;  // aliased: the memory of that result
  };
  absl::InlinedVector<Piece, 1> pieces;  // in the arena, or aliased; none: a result has it
  std::uint32_t values = 0;
  std::uint32_t open_loops = 0;  // open loops that carry it
  std::uint32_t tape = lower::kNoTape;
};

/// The memory of a carried array: where the value is, and where its next value may be written.
struct CarriedArray {
  std::int32_t storage = -1;
  Value now = lower::kNone;
  Value double_buffer = lower::kNone;  // none if the next value is computed in place
  std::int32_t takes = -1;             // the carry whose value, and memory, is its next value
  std::int32_t taken_by = -1;          // the carry of which this one is that
  std::uint32_t values = 0;            // carries that share the memory when the loop begins
};

struct Scope {
  enum class Role : std::uint8_t { kEntry, kCondition, kBody, kBranch } role = Role::kEntry;
  Function function;
  std::unique_ptr<RegionPlan> plan;
  std::vector<Place> places;
  std::uint32_t next = 0;
  /// Where an array is to be written, if that memory is free by then: a result's memory, or the
  /// double buffer of a carry.
  absl::flat_hash_map<std::uint32_t, Place> destinations;
  /// In a branch: the parameter whose memory holds a result that the branch does not compute by
  /// updating it. A result that was not written there is copied when the branch ends.
  struct ReusedBuffer {
    std::uint32_t parameter;
    Place memory;
  };
  absl::flat_hash_map<std::uint32_t, ReusedBuffer> reused_buffers;
  /// In the body of a loop: the memory of the carry whose next value this is, beside its double
  /// buffer.
  absl::flat_hash_map<std::uint32_t, Value> own_memory;
  /// In the body of a loop: updates whose destination has the rest of the array already.
  absl::flat_hash_set<std::uint32_t> buffered_updates;
};

/// A kernel that reads a loop-invariant operand as it was packed before the loop.
struct PackedCall {
  std::size_t operand;
  Value pointer;
  std::shared_ptr<const ir::Kernel> kernel;
};

/// The indices of a loop that counts: first, first + step, …
struct Count {
  Value first;
  std::int64_t step;
  Value trips;                 // an s64, at least 0
  Value limit = lower::kNone;  // an s64, if step is 1
};

/// A loop or conditional under construction, as a statement of the enclosing scope.
struct Construct {
  explicit Construct(const Node* of, std::uint32_t first = 0)
      : node(of), first_value(first), carried(of->types.size()) {}

  /// Of a conditional.
  struct Branches {
    std::size_t current = 0;
    std::vector<std::uint32_t> ifs;  // open
    std::vector<std::vector<Value>> values;
    Value selector = lower::kNone;
  };
  /// Factors of a loop's products that are packed before it.
  struct Products {
    std::vector<Place> packed;  // their memory
    absl::flat_hash_map<const Node*, PackedCall> calls;
  };
  /// Of the outermost loop over lanes.
  struct Lanes {
    bool asks_for_singles = false;  // scalars that are the same for all lanes are used after it
    bool is_chunk = false;          // of the trips
    std::vector<Place> made;        // arrays allocated while it runs
    Value trips = lower::kNone;     // so far, if needed: of this lane, in this chunk
  };
  /// Of a loop whose lanes make its trips in chunks (lane_chunks.cc).
  struct Chunked {
    const Interchange* form = nullptr;  // around the lanes: `lanes.trips` are those of all chunks
    Value all_trips = lower::kNone;     // around the lanes: where it is known before
    Value most_trips = lower::kNone;    // in the lanes: of this chunk; an s32
    Value most_of_lane = lower::kNone;  // the same for this lane: none, if it is done
    std::optional<Place> going_on;      // around the lanes: a pred for each, whether it is active
  };

  const Node* node;
  std::uint32_t first_value;
  std::uint32_t loop = 0;             // in the builder's table of whiles, fors or ifs
  std::optional<Count> count;         // of a loop that counts
  bool is_for = false;                // as which it is lowered; else a while
  std::vector<Place> arguments;       // of the regions; of a loop for LoopParts::operands
  std::vector<CarriedArray> carried;  // of each carry that is an array; of each branch result that
                                      // is written in an operand's memory
  std::vector<Place> results;         // arrays that the branches of a conditional write, or that a
                                      // loop over lanes writes or updates
  Branches branches;
  Products products;
  Lanes lanes;
  Chunked chunked;
};

/// The lanes that are open.
struct OpenLanes {
  Value index;  // in their innermost loop
  std::int64_t count;
  std::size_t construct;  // that opened them
  LaneNest nest = {};
  // If they are several loops:
  absl::InlinedVector<Value, 4> along = {};  // the index of a lane's first element along each axis
  std::vector<std::uint32_t> fors = {};      // the loops around the innermost
};

struct LoopParts;

class Lowerer {
 public:
  Lowerer(const MakeKernel& make_kernel, const LoweringOptions& options)
      : make_kernel_(make_kernel), options_(options), interchanges_(options.interchanges) {
    builder_.set_contracts(options.reorders);
    builder_.set_functions(options.functions);
  }
  lower::Program run(const Function& function);

 private:
  // Places and memory.
  Place& place(Scope& scope, const Tensor& value) { return scope.places[scope.plan->value(value)]; }
  std::int32_t new_storage() {
    storages_.emplace_back();
    return static_cast<std::int32_t>(storages_.size() - 1);
  }
  Value arena_place(std::int32_t storage, std::int64_t bytes);
  /// The loops that write a value, from index `first` of it on, to `to`: a nest for each box in
  /// which the concatenations that are fused into it read one part.
  struct BoxNest {
    Nest nest;
    std::vector<Nest::Sink> sinks;  // of boxes that are columns of the same rows
  };
  std::vector<BoxNest> in_boxes(Scope& scope, const Tensor& value, bool root,
                                std::span<const std::int64_t> first,
                                std::span<const std::int64_t> sizes, const Linear& to);
  static bool reads_elsewhere(std::span<const BoxNest> boxes, std::int32_t storage);
  Value viewed(const Scope& scope, const Nest& nest, std::uint32_t item, const Linear& dense,
               const Step& step);
  /// Whether memory is read-only while the region runs: that of values which a loop's body reads
  /// from outside.
  bool stays(const Scope& scope, std::int32_t storage) const;
  /// The memory that step `at` may overwrite with a result of a branch; kNone if there is none.
  Place reused_buffer(Scope& scope, std::span<const BoxNest> boxes, std::uint32_t value,
                      std::uint32_t at);
  struct CarryUse {
    bool once;           // its first value is that of no other operand
    bool in_place;       // its next value is made by writing parts
    bool changes_hands;  // its memory may be that of another carry after the loop
  };
  /// Memory for carry `i` of loop `at`: if it is unused after the loop, that of a result which is
  /// computed later, else a place in the arena.
  Value carry_place(const Scope& scope, std::int32_t storage, const Step& step, std::size_t i,
                    std::uint32_t at, const CarryUse& use);
  /// Separate memory for an array.
  Place new_array(const TensorType& type);
  void retain(const Place& place);
  void release(const Place& place);
  /// Whether step `at`, which has the last use of the array, may overwrite it.
  bool is_last_use(Scope& scope, const Tensor& value, std::uint32_t at);
  /// Where result `i` of the node is to be written.
  Place destination(Scope& scope, const Node* node, std::uint32_t i);
  void copy(Value from, Value to, std::int64_t bytes);
  static Place single(Element element) {
    Place made;
    made.kind = Place::Kind::kSingle;
    made.element = std::move(element);
    return made;
  }
  /// An array in memory, at step `at` of its scope, of a value that may be fused or scalar. A place
  /// that was allocated for it is in `made`, to be released after the step.
  Value in_memory(Scope& scope, const Tensor& value, std::vector<Place>& made);
  /// The loops of one array.
  void write_array(Scope& scope, const Tensor& value, bool root, const Place& to);

  // Scopes.
  Scope& enter(Scope::Role role, const Function& function);
  void open_entry();
  /// Result `i` is written there, and so are loop carries that become it in place: each begins with
  /// the value that the one before left.
  void write_result_in(Scope& scope, std::uint32_t i, const Place& to);
  void close();
  void close_entry();

  // Nodes.
  void step(Scope& scope, std::uint32_t at);
  /// Opens a loop or branch, whose regions come next; false for other nodes.
  bool open_construct(const Step& step, std::uint32_t at);
  /// All elements of the result of a node.
  void whole_step(Scope& scope, const Step& step, std::uint32_t at);
  /// Releases the values whose last use is step `at`.
  void end_step(Scope& scope, std::uint32_t at);
  Place constant(const Node* node);
  Element single_element(Scope& scope, const Node* node);
  void elements(Scope& scope, const Step& step, std::uint32_t at);
  /// The memory of an array whose last use is here, and of which each element is read at the index
  /// at which the result is written. `only`: this memory or none.
  Place overwritten(Scope& scope, std::span<const BoxNest> boxes, const TensorType& type,
                    std::uint32_t at, Value only = lower::kNone);
  std::int64_t array_bytes(Scope& scope, std::uint32_t value) const;
  void put_together(Scope& scope, const Step& step, std::uint32_t at);
  Value array_of_part(Scope& scope, const Tensor& part, std::vector<Place>& made);
  /// The array that step `at` makes of `kept` by writing parts of it: in the same memory, if it
  /// `may` and this is the last use of `kept`, or in a copy.
  Place updated(Scope& scope, const Step& step, const Tensor& kept, bool may, std::uint32_t at,
                std::vector<Place>& made);
  /// Sizes of the loops that write a part.
  static absl::InlinedVector<std::int64_t, 4> counts(const ir::Part& part);
  /// Offset of the elements of a part, in bytes.
  Linear part_place(Scope& scope, const Node* node, const ir::Part& part, const TensorType& type,
                    std::int64_t last_axis = -1);
  /// The loops of a part.
  std::vector<BoxNest> part_nests(Scope& scope, const Node* node, const ir::Part& part,
                                  const Linear& to);
  bool part_reads_elsewhere(Scope& scope, const Node* node, const ir::Part& part,
                            const TensorType& type, const Place& result);
  void write_part(Scope& scope, const Node* node, const ir::Part& part, const TensorType& type,
                  const Place& result, Value memory);
  /// All parts, which have the same size, in one loop nest.
  void write_joint_parts(Scope& scope, const Node* node, const ir::InsertionMap& map,
                         const Place& result);
  void fill(Scope& scope, const Node* node, const ir::InsertionMap& map, const TensorType& type,
            const Place& result);
  void reduction(Scope& scope, const Step& step);
  void running(Scope& scope, const Step& step, std::uint32_t at);
  void fold(Scope& scope, const Step& step);
  void scatter(Scope& scope, const Step& step, std::uint32_t at);
  void products(Scope& scope, const Step& step);
  /// Whether loops may compute the products of a node of strategy kKernel, with a factor packed for
  /// them.
  bool adds_packed_products(Scope& scope, const Node* node);
  void alias(Scope& scope, const Step& step);
  void call(Scope& scope, const Step& step);
  /// How a node of a loop's body is called if an operand of it was packed before the loop.
  const PackedCall* packed_call(const Scope& scope, const Node* node) const;

  // Tapes (lower_tapes.cc).
  bool is_tape(const Tensor& value) const { return tapes_.contains(value); }
  std::uint32_t innermost_loop() const { return loops_.empty() ? lower::kNoLoop : loops_.back(); }
  std::uint32_t tape_of(const Place& place) const {
    return storages_[static_cast<std::size_t>(place.storage)].tape;
  }
  Place new_tape(const TensorType& row, std::string_view loop);
  /// A tape, or an array that is the only row of one, stored at `from`.
  void assign_tape(const Place& tape, Scope& scope, const Tensor& value);
  Value tape_row(const Place& tape, Value number, bool writes);
  /// The tape of a value; one that was made for an array is in `made`.
  Place tape_place(Scope& scope, const Tensor& value, std::string_view loop,
                   std::vector<Place>& made);
  void write_row(Scope& scope, const Tensor& row, Value pointer);
  void tape_read(Scope& scope, const Step& step);
  void tape_write(Scope& scope, const Step& step, std::uint32_t at);
  /// Where a loop carries a tape, which is passed once or several times; `at` is its step.
  Place carried_tape(Scope& scope, const Node* node, std::size_t carry, bool once,
                     std::uint32_t at);
  void close_tapes(Scope& scope, Construct& construct);

  // Loops.
  /// The loop's number in the program; none for a branch represented as a loop.
  std::uint32_t begin_loop(const Node* node, const std::optional<Count>& count);
  std::optional<lower::LoopInfo> loop_info(const Node* node, const std::optional<Count>& count);
  /// Notes that something may end the run inside a trip of the open loops.
  void note_inner_safepoint();
  /// The report of a loop, whose carries are its parameters now.
  void describe_state(lower::LoopInfo& info, const Construct& construct);
  /// Writes the first value of a carried array to the memory of the carry.
  void begin_with(Scope& scope, const Tensor& value, const Place& now);
  void open_loop(const Step& step, std::uint32_t at);
  /// Nothing for a loop that evaluates a condition before each trip.
  std::optional<Count> count_of(Scope& scope, const Node& node);
  /// The index after so many trips.
  Value index_after(const Count& count, Value trips);
  /// Opens the loop, with a `for` if it counts, and makes the carries the parameters of its
  /// regions.
  void begin_trips(Construct& construct, std::span<const Value> init, std::uint32_t info);
  /// What the body of a loop takes, with the index if it counts.
  std::vector<Place> body_arguments(const Construct& construct);
  /// Whether the body of a loop updates what it carries.
  bool is_in_place(const Node& loop, std::size_t carry);
  /// Whether it could be, by what makes its next value.
  bool may_be_in_place(const Node& loop, std::size_t carry) const;
  /// Of a carry that could, the entry of first_buffered_updates().
  const Node* buffered_update(const Node& loop, std::size_t carry);
  std::vector<lower::Carry>& carries_of(const Construct& construct);
  void enter_body(const Construct& construct);
  /// The memory of carried array `i` with its first value, which the loop takes once or several
  /// times, when the loop of step `at` begins.
  Place carried_memory(Scope& scope, const Step& step, std::size_t i, std::uint32_t at,
                       const CarryUse& use);
  void take_parameters(Construct& construct);
  /// Adds variables of the innermost loop to the program, if they are asked for.
  void note_carries(const Construct& construct);
  void note_element(std::string_view name, const TensorType& type, const Element& element);
  void note_index(const Construct& construct, Value index);
  /// Packs loop-invariant matrices that the loop multiplies by, once, in the order in which
  /// products read them.
  void pack_factors(Scope& scope, Construct& construct, std::size_t carries);
  /// For loops: with the axis last that is the products' vectorized axis.
  void pack_for_lanes(Scope& scope, Construct& construct, const Node* node, std::size_t factor,
                      std::size_t parameter, const ir::Contraction& products);
  /// For a kernel, in the kernel's order. `argument`: where the factor is; null for a constant.
  void pack_for_kernel(Construct& construct, const Node* node, std::size_t factor,
                       const Place* argument);
  /// Gives the parameters of a region their places. They are retained once more, so that a region
  /// does not release values of the enclosing scope.
  void bind(Scope& scope, const std::vector<Place>& arguments);
  void close_condition();
  /// Passes the results of a loop that has ended to the enclosing scope.
  void give_results(const Construct& construct);
  /// Releases the parameters that are alive until the end of their region, or unused.
  void release_parameters(Scope& scope);
  void close_body();
  /// Passes the results of the body to the next trip: in registers, or moved to the memory of the
  /// carry.
  std::vector<Value> next_carries(Scope& scope, Construct& construct);
  /// Which carries take the memory of others with their values.
  static void take_memory(Construct& construct);
  std::pair<Value, Value> next_memory(Scope& scope, const Construct& construct, std::size_t i);
  /// The memory of carries that take one another's, as that of one.
  void join_memory(const Construct& construct);

  // Loops interchanged with their lanes: lanes around a loop whose carries are in registers, except
  // for arrays that each lane updates. All other values of its regions are few elements for a lane.
  void open_lanes(const Step& step, std::uint32_t at, const Interchange& form);
  /// Fused operands that are computed in the lanes, by value: items of a nest over these.
  using LaneItems = absl::flat_hash_map<std::uint32_t, std::uint32_t>;
  LaneItems lane_items(Nest& nest, const Node* node, const Interchange& form);
  /// Opens lanes, with `items` of a nest over them, if there are some. False, and nothing is
  /// opened, if those take more than one loop.
  bool begin_lanes(const Interchange& form, Nest* items = nullptr);
  void end_lanes();
  /// The other fused operands.
  void put_in_memory(Construct& construct, const Interchange& form, const LaneItems& items);
  /// Where the loop stores the arrays that are used later. Returns whether single elements that are
  /// the same for all lanes are used later.
  bool take_results(Construct& construct, const Step& step, std::uint32_t at,
                    const Interchange& form);
  /// A copy of an array that the lanes update, in which lanes are adjacent.
  Place with_lanes_last(Scope& scope, const Tensor& array, std::int64_t axis);
  /// Copies the contents of such a copy to the result of its loop.
  void leave_lanes_last(Scope& scope, const Construct& construct, std::size_t carry);
  /// In the lanes: the operands for this lane, and the first values of its carries.
  absl::InlinedVector<Value, 8> take_lane(Construct& construct, const Interchange& form,
                                          const Nest& nest, const LaneItems& items);
  /// The loop inside the open lanes, which is loop `reported` of the program if its trips are
  /// reported, and its condition, or without one its body.
  void enter_lane_loop(Construct construct, std::span<const Value> init, std::uint32_t reported,
                       bool has_condition = true);
  /// After `test`: the body, which may assume that the predicate holds, if there is one.
  void enter_lane_body(Construct& construct, Value predicate);
  void close_lanes(Construct& construct);
  /// The scalar carries, which are the same for all lanes, after `trips` trips; `before` gives each
  /// scalar operand before them.
  std::vector<Element> last_singles(const Construct& construct, Value trips,
                                    absl::FunctionRef<const Element&(std::size_t)> before);
  // Such loops in a program whose runs may be ended: chunks of trips around the lanes.
  void open_chunks(const Step& step, std::uint32_t at, const Interchange& form);
  void open_chunk();
  /// Opens lanes, with their operands.
  std::vector<Place> begin_chunk_lanes(const Construct& chunks);
  /// Closes lanes: whether the predicate holds in any of them.
  Value any_lane(Value predicate);
  /// Closes the lanes, in which the present one made `last_trips` trips, and the chunk.
  void close_chunk(const Construct& lanes, Value last_trips);
  /// The trip count of a loop for which it is known when the loop begins: an s64.
  Value trips_of_all_chunks(const Construct& construct, const lower::LoopInfo& info);
  /// The most trips that the next chunk makes.
  Value most_trips(const Construct& chunks);
  Value within_chunk(const Construct& lanes) {
    return builder_.less(lanes.lanes.trips, lanes.chunked.most_of_lane);
  }
  /// Stores for each lane whether it is active, if its predicate alone does not say so after a
  /// chunk.
  void remember_lanes(Construct& chunks);
  /// Whether the open lane is active, a byte of that memory.
  lower::Address going_on(const Construct& chunks) const {
    return {chunks.chunked.going_on->pointer, 0, {{lanes_->index, 1}}};
  }
  /// Whether a fused value is computed from scalars alone.
  bool spreads_singles(Scope& scope, const Tensor& value);
  /// For each fused operand, whether the lanes of each chunk compute it: it reads no memory that
  /// the loop may overwrite, and fits with the others in one loop.
  std::vector<bool> computed_in_chunks(Scope& scope, const Node& node, const Interchange& form);
  static Shape shape_of_lanes(const Node& loop, const Interchange& form);
  void lane_step(Scope& scope, const Step& step);
  /// The elements of a node for this lane: element code, the bytes of its operand, or the values of
  /// a nest.
  Element lane_code(Scope& scope, const Node* node, const LaneValue& as);
  Element lane_bytes(Scope& scope, const Node* node, const LaneValue& as);
  Element lane_nest(Scope& scope, const Node* node, const LaneValue& as);
  /// The elements of a node that concatenates: in registers, or in memory.
  Element lane_parts(Scope& scope, const Node* node, const LaneValue& as);
  void lane_update(Scope& scope, const Node* node, const LaneValue& array);
  void lane_tape_write(Scope& scope, const Node* node);
  /// The row that a node reads of a tape.
  Element lane_row(Scope& scope, const Node* node);
  LaneRules lane_rules() const { return LaneRules(lanes_->count, options_.reorders, lanes_->nest); }
  /// The elements of a value for this lane; of an array in memory those that `as` selects.
  Element lane_elements(const Place& from, const TensorType& type, const LaneValue& as);
  /// A value in registers.
  Place lane_place(Scope& scope, const Tensor& value);
  /// The address of the elements for this lane.
  std::vector<lower::Address> lane_addresses(Value pointer, const TensorType& type,
                                             const LaneValue& as);
  /// The addresses of the rows of a lane, one of several loops, in an array in which a lane's first
  /// index is at `first`; `strides` along the axes of the lanes, in units of `width` bytes.
  std::vector<lower::Address> rows_of_lane(lower::Address first,
                                           std::span<const std::int64_t> strides,
                                           std::int64_t width) const;
  static Place of_lane(Element element, const LaneValue& as) {
    Place made = single(std::move(element));
    made.kind = Place::Kind::kLane;
    made.lane = as;
    return made;
  }

  // Conditionals.
  void open_conditional(const Step& step, std::uint32_t at);
  /// The operand in whose memory result `i` may be written in every branch, if step `at` is its
  /// last and only use.
  std::optional<std::size_t> operand_to_write(Scope& scope, const Node* node, std::uint32_t i,
                                              const std::vector<bool>& once, std::uint32_t at);
  /// One after the other: `if (selector is k) branch k else …`; the last one takes all other
  /// selectors.
  void open_branch();
  /// Reuses the memory of an operand for a result of the branch that begins.
  void reuse_buffer(Scope& scope, std::size_t result, const Place& memory);
  /// Moves the results of a branch to the memory of the results, each before another one overwrites
  /// it.
  void copy_outputs(Scope& scope, const Construct& construct);
  void close_branch();

  const MakeKernel& make_kernel_;
  const LoweringOptions& options_;
  const Interchanges& interchanges_;
  std::optional<OpenLanes> lanes_;
  std::unique_ptr<const InPlace> in_place_;
  absl::flat_hash_map<const Node*, std::vector<const Node*>> buffered_updates_;  // of loops
  absl::flat_hash_map<ir::ValueKey, std::string_view> tapes_;
  lower::Builder builder_;
  Arena arena_;
  std::vector<Storage> storages_;
  std::vector<Literal> constants_;
  absl::flat_hash_map<const Node*, Value> constant_pointers_;
  std::vector<Place> result_places_;
  std::vector<bool> borrowed_;  // for each result: its memory holds another value for now
  std::vector<const Step*> first_writer_;  // for each result: writes to its memory before all
                                           // others
  std::deque<Scope> scopes_;
  std::vector<Construct> constructs_;
  std::vector<std::uint32_t> loops_;  // the open ones
};

}  // namespace rondo::executor
