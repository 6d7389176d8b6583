// The lower IR: a program of loops over scalars and buffers, which the bytecode machine and the
// native back ends run. What is known about fusing, buffers and loops is decided before a Program
// exists; what is known about machines comes after it.
//
// - A program is one flat list of ops. Control flow is structured: `kFor … kEndFor`, `kLanes …
//   kEndLanes`, `kRepeat … kTest … kEndRepeat`, `kIf … kElse … kEndIf`, properly nested. A position
//   in the list is a point of time for live ranges; a loop is the range between its two ends.
// - Values are typed scalars in virtual registers, each defined once: by an op, as the parameter of
//   a loop, or as the result of a loop or an if. A value may be used after its definition, inside
//   the construct that encloses the definition.
// - What a loop carries is in its table entry: `init` is read on entry, `param` is the value in
//   a trip, `next` becomes it at the end of the trip (all at once: carries may be swapped),
//   `result` is what is left after the loop.
// - Inside `kLanes` every value that depends on the lane index is one value per lane; what is
//   defined outside is the same for all lanes. Lanes are independent and may run in any order, W at
//   a time, unless Lanes::ascending is set. There is no kLanes inside a kLanes.
// - Arithmetic is that of ir/record.h: integers wrap; division by zero gives all ones, remainder by
//   zero the dividend; shifts by the width or more give 0, arithmetic ones the sign; rotations are
//   by the amount modulo the width; floats are IEEE 754, each op rounds once; f16 and bf16 are
//   computed in f32 and rounded by each op; kMin and kMax propagate NaN and order -0 below 0.
// - Memory: places in the arena, arguments, results and constants are 64-byte aligned and do not
//   overlap. Addresses are in bytes and have been clamped by the program itself.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "base/held_bytes.h"
#include "rondo/dtype.h"
#include "rondo/error.h"
#include "rondo/literal.h"

namespace rondo::lower {

/// A virtual register. 0 is none.
using Value = std::uint32_t;
inline constexpr Value kNone = 0;

/// The types of values. Complex numbers are pairs of values; a pred is 0 or 1.
enum class Type : std::uint8_t {
  kPred,
  kS8,
  kS16,
  kS32,
  kS64,
  kU8,
  kU16,
  kU32,
  kU64,
  kF16,
  kBF16,
  kF32,
  kF64,
  kPointer,  // the address of the first byte of a buffer, a view or a row
};

enum class Opcode : std::uint8_t {
  // result = constant: `bits` holds the value, zero-extended.
  kConstant,
  // One operand `a`; operand and result have `type` except where said.
  kNegate,
  kAbs,
  kNot,  // kNot: of a pred logical, of an integer bitwise
  kSqrt,
  kFloor,
  kCeil,
  kRoundEven,
  kTruncate,
  kPopcount,
  kCountLeadingZeros,
  kConvert,  // from `from` to `type`, as HLO's convert: float to integer truncates, saturates, NaN
             // 0
  kBitcast,  // from `from` to `type`, of one width
  // A scalar function of libm on a, and on b if there is one, all f32 or all f64; `bits` is its
  // address. With a pred c it is called only where c holds, and the result is 0 elsewhere: so
  // element
  // code sends its rare arguments there.
  kMathCall,
  // Two operands of `type`.
  kAdd,
  kSubtract,
  kMultiply,
  kDivide,
  kRemainder,
  kMin,  // of these two, `bits` may be kRarelyBounds
  kMax,
  kAnd,
  kOr,
  kXor,
  kShiftLeft,
  kShiftRightLogical,
  kShiftRightArithmetic,
  kRotateLeft,
  // Two operands of `from`, a pred. Floats: false where one is NaN, but kNotEqual true.
  kEqual,
  kNotEqual,
  kLess,
  kLessEqual,
  kGreater,
  kGreaterEqual,
  // Three operands, floats, rounded once: a * b + c, c - a * b, a * b - c.
  kFma,
  kFnma,
  kFms,
  kSelect,  // pred a ? b : c; `bits` may be kAwaited
  // Memory: `address` in Program::addresses.
  kBase,   // a pointer to buffer `bits`
  kView,   // a pointer to views[bits]
  kLoad,   // of `type`
  kStore,  // a
  kCopy,   // copies[bits]
  kCall,   // of calls[bits]: a library kernel on buffers
  // Tapes. kTapeRead and kTapeWrite give a pointer to row `a`, an s64, of tape `bits` & 0xffffffff,
  // which holds until the next kTapeWrite or kTapeSet of that tape; the loop around is `bits`
  // >> 32.
  // Rows that were never written are zeros. Not inside lanes.
  kTapeRead,   // only to read from
  kTapeWrite,  // of a tape that is made longer where the row is behind its end
  kTapeSet,    // tape_sets[bits]
  // Control flow: `bits` is the index in the table of its kind.
  kFor,
  kEndFor,
  kLanes,
  kEndLanes,
  kRepeat,
  kTest,
  kEndRepeat,
  kIf,
  kElse,
  kEndIf,
};

/// base + offset + sum of index * stride, all in bytes but the indices (s64 values; for a load or
/// store in lanes the lane index may be one of them).
struct Address {
  struct Term {
    Value index;
    std::int64_t stride;
  };
  Value base = kNone;  // kPointer
  std::int64_t offset = 0;
  absl::InlinedVector<Term, 3> terms;
};

/// `bits` of a kMin or kMax: one operand is a constant, and the result is nearly always the other.
inline constexpr std::uint64_t kRarelyBounds = 1;
/// `bits` of a kSelect outside lanes: much waits for its predicate, so machine code should branch.
inline constexpr std::uint64_t kAwaited = 1;

using Function1F32 = float (*)(float);
using Function1F64 = double (*)(double);
using Function2F32 = float (*)(float, float);
using Function2F64 = double (*)(double, double);

struct Op {
  Opcode code;
  Type type = Type::kPred;  // of the result
  Type from = Type::kPred;  // of the operands, of conversions and comparisons
  Value result = kNone;
  Value a = kNone, b = kNone, c = kNone;
  std::uint64_t bits = 0;  // a constant, a function's address, or an index in a table
};

/// What a loop hands from trip to trip. All of `init`, `param`, `next`, `result` have `type`.
struct Carry {
  Type type;
  Value init, param, next, result;
};

inline constexpr std::uint32_t kNoLoop = 0xffffffffu;

/// Trips with index lower, lower + step, … while below upper.
struct For {
  Value index;         // s64, the parameter
  Value lower, upper;  // s64
  std::int64_t step = 1;
  std::vector<Carry> carries;
  /// In Program::loops: counted and polled. The trip with index i is number i + 1, step is 1, and
  /// upper at least lower.
  std::uint32_t loop = kNoLoop;
  std::optional<std::int64_t> trips;  // where known
  bool polls = false;        // of a loop that is none of those: looks whether to end the run
  bool independent = false;  // its trips may run in any order, and at once
  /// Where these are given, as s64, `upper` is limit - first, at least 0: so first + index is below
  /// `limit` in each trip. Facts for analyses; nothing reads the values.
  Value first = kNone, limit = kNone;
  /// In Program::loops, inside lanes that are in this loop (Lanes::trips_later): each makes as many
  /// trips as the block of lanes that makes most, of all trips of this loop.
  std::vector<std::uint32_t> lane_loops = {};
};

/// Lanes with index 0 … count - 1.
struct Lanes {
  /// The combination over all lanes of `value`, starting from `init`. The order is fixed: lane i
  /// goes to partial i mod kPartials, in order of i; then partial j takes partial j + kPartials /
  /// 2, and so on by halves; last comes combine(init, partial 0). Partials begin with the op's
  /// identity.
  struct Reduction {
    Opcode combine;  // kAdd, kMultiply, kMin, kMax, kAnd, kOr, kXor
    Type type;
    Value init, value, result;
  };
  static constexpr int kPartials = 64;
  Value index;  // s64, the parameter
  Value count;  // s64
  std::optional<std::int64_t> known_count;
  std::vector<Reduction> reductions;
  bool polls = true;
  std::vector<std::uint32_t> loops;  // in Program::loops, that are inside them
  /// A lane may store what an op before the store loads in a lane before it: they run from the
  /// first to the last, W at a time and op by op.
  bool ascending = false;
  /// A loop around the lanes, For::lane_loops, counts the trips of `loops`: for lanes that are the
  /// last axis of several.
  bool trips_later = false;
  /// As For::first and For::limit: `count` is limit - first, and first + index is below `limit`.
  Value first = kNone, limit = kNone;
};

/// Ops before kTest compute `predicate` from the parameters, those after it one trip. Inside lanes
/// a while whose predicate differs by lane keeps the carries of a lane that is done.
struct While {
  Value predicate;
  std::vector<Carry> carries;
  std::uint32_t loop = kNoLoop;
  bool predicated = false;  // a lane makes at most one trip
  /// Where one trip of this loop makes several of loop `loop`: the parameter, an s64, that says how
  /// many there have been.
  Value trips = kNone;
};

/// Two branches; `result` is `then` or `otherwise`. Inside lanes the predicate is the same for all.
struct If {
  struct Result {
    Type type;
    Value then, otherwise, result;
  };
  Value predicate;
  std::vector<Result> results;
};

enum class Storage : std::uint8_t {
  kArgument,
  kResult,
  kConstant,
  kArena,
  kFrame,  // the run's RunFrame, to read its limits
};

/// A piece of memory known when compiling.
struct Buffer {
  Storage storage;
  std::uint32_t index = 0;  // of the argument, result or constant
  std::int64_t offset = 0;  // in the arena, a multiple of 64
  std::int64_t bytes = 0;
};

struct RunFrame;  // lower/run_frame.h
struct Program;

/// A kernel that runs on buffers. Returns false where the run has to end; the run's frame then has
/// the reason. Never throws.
class Kernel {
 public:
  virtual ~Kernel() = default;
  virtual bool run(std::byte* const* buffers, RunFrame& frame) const noexcept = 0;
  /// Adds the object and what it holds.
  virtual void count_held(HeldBytes& held) const = 0;
};

struct Call {
  std::shared_ptr<const Kernel> kernel;
  std::vector<Value> pointers;  // operands, then results, in the kernel's order
  std::string_view name = {};   // of the op, to read
  std::uint32_t location = 0;   // in Program::locations
};

/// A move of whole bytes between places that do not overlap.
struct Copy {
  std::uint32_t from, to;  // addresses
  std::int64_t bytes;
};

/// Bytes side by side in memory that stays as it is while they are read.
struct View {
  std::uint32_t address;
  std::int64_t bytes;
};

/// Rows of `row_bytes` bytes, as many as a run writes: memory of the run's (lower/run_tapes.h). It
/// has none before it is set.
struct Tape {
  std::int64_t row_bytes = 0;
  std::string_view loop = {};  // whose backward pass reads it, for errors; owned by a node
};

inline constexpr std::uint32_t kNoTape = 0xffffffffu;

/// Tape `to` becomes a copy of `from`, or has no rows where that is kNoTape; then its memory is
/// kept for the rows that follow, unless it is released.
struct TapeSet {
  std::uint32_t to;
  std::uint32_t from = kNoTape;
  bool releases = false;
  std::uint32_t loop = kNoLoop;  // around it
};

/// A leaf of the user's carry between two trips: single elements as values, the memory of arrays.
struct CarriedLeaf {
  std::string name;
  TensorType type;
  /// A pointer, or the elements; of complex numbers, both parts of each.
  absl::InlinedVector<Value, 2> parts;
};

/// What a loop of the user's carries, or the number of its trip, by the user's name.
struct Variable {
  enum class Kind : std::uint8_t {
    kElement,  // `value` is the element, or a part of a complex one
    kArray,    // a pointer to the first element
    kSpare,    // the same of the memory in which the next trip's array is written
    kIndex,    // the number of the trip
  };
  std::string name;
  Kind kind = Kind::kElement;
  std::uint32_t loop = kNoLoop;  // in Program::loops, in which it is known
  Value value = kNone;
  TensorType type = {};  // of the array, or of the element
};

/// What the statistics, limits and errors of a run know of a loop of the user's.
struct LoopInfo {
  std::string name;
  SourceLocation at;
  std::int64_t bodies = 1;  // of the user's trips in one of these
  std::optional<std::int64_t> trip_count;
  /// Otherwise the trip count, if it is known when the loop begins: an s64.
  Value trips = kNone;
  /// Of a loop that no other is around: what is left of a run that is ended in it.
  std::vector<CarriedLeaf> state;
  bool in_lanes = false;        // its trips are those of the block of lanes that makes most
  bool trips_in_lanes = false;  // its own trips are lanes
  bool polls = true;            // looks at the limits of a run on each trip
  /// A trip may be ended before its end: by a loop, a kernel or lanes in it.
  bool ends_inside = false;
  std::optional<std::int64_t> max_trip_count;  // a promise: more trips are an error
  std::optional<std::int64_t> promised;        // the promise as the user made it, where it differs
  std::uint32_t outer = kNoLoop;
};

/// A function that ops of kMathCall call: of libm, as C calls it; or of the program, which only C
/// source has (Builder::set_functions).
struct MathFunction {
  std::uint64_t address;  // of one of the program: its number, counted from 1
  std::string name;
  std::shared_ptr<const Program> code = nullptr;  // on arguments 0 and 1, with one result
};

struct Program {
  std::vector<Op> code;
  std::vector<Type> types;  // of each value; types[0] is unused
  std::vector<Address> addresses;
  std::vector<For> fors;
  std::vector<Lanes> lanes;
  std::vector<While> whiles;
  std::vector<If> ifs;
  std::vector<Call> calls;
  std::vector<Copy> copies;
  std::vector<View> views;
  std::vector<Tape> tapes;
  std::vector<TapeSet> tape_sets;
  std::vector<Buffer> buffers;
  std::vector<Literal> constants;
  std::vector<LoopInfo> loops;
  std::vector<MathFunction> functions;
  std::vector<Variable> variables;  // if they were asked for
  /// Where the user's program computes the values, if that was asked for (Builder::locate): of each
  /// value an index in `locations`, of which the first is unknown. Values that passes add have none
  /// at the end of the list.
  std::vector<std::uint32_t> location_of;
  std::vector<SourceLocation> locations;
  std::int64_t arena_bytes = 0;

  /// In `locations`.
  std::uint32_t location(Value value) const {
    return value < location_of.size() ? location_of[value] : 0;
  }

  /// Adds what the lists hold, kernels and constants among it.
  void count_held(HeldBytes& held) const;
};

}  // namespace rondo::lower
