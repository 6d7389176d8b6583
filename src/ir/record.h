// One record per op: everything the library knows about it.
//
// Semantics that hold for every op, and that rewrites may rely on:
// - Integers wrap. Division by zero gives all ones, remainder by zero the dividend.
// - Shifts by the width or more give 0, arithmetic ones the sign.
// - Floats are IEEE 754: no contraction, no reassociation but where a reduction says so.
// - NaN propagates through minimum, maximum and clamp.
// - Indices of dynamic slices and gathers are clamped; scatter drops updates that do not fit.
// - Ops are pure: the same operands give the same results, on every thread.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "rondo/function.h"
#include "rondo/tensor.h"

namespace rondo::ir {

struct Node;
class Attributes;
class Kernel;
class KernelCall;
struct OpDef;
// ir/element.h
struct ElementCall;
struct AxisRead;
struct IndexRange;
struct InsertionMap;
struct ElementGather;
struct ElementProducts;
struct ElementReduction;
struct ElementRunning;
struct TapeAccess;
// ir/derivative.h
struct JvpCall;
struct TransposeCall;
struct ReverseCall;
struct Jvp;
struct Reverse;
// ir/layout.h
struct Induction;
struct RegionLayout;
struct LaneLoop;
struct LoopOverSlices;
// ir/sharding.h
struct Sharding;
// ir/batch.h
class Batching;
struct BatchCall;
struct BatchValue;

/// What a type rule sees.
struct InferContext {
  const OpDef& op;
  std::span<const Tensor> operands;
  const Attributes& attributes;
  std::span<const Function> regions;
  SourceLocation at;

  const TensorType& type(std::size_t i) const { return operands[i].type(); }
  template <class T>
  const T& attrs() const {
    return attributes.template as<T>();
  }
  /// Throws TraceError: "<op>: <message>", with the user's line.
  [[noreturn]] void fail(const std::string& message) const;
};

using InferredTypes = absl::InlinedVector<TensorType, 1>;
using InferRule = InferredTypes (*)(const InferContext&);
/// Makes the kernel of a node (ir/kernel.h). Null for what executors lower to jumps, or expand.
using PrepareRule = std::unique_ptr<Kernel> (*)(const Node&);
/// Evaluates an op on literals whose values have another size than their types say (ir/kernel.h).
using KernelRule = void (*)(KernelCall&);
/// Says the op in simpler ones, as Tensor code on the given operands; one tensor per result.
using ExpandRule = std::vector<Tensor> (*)(const Node&, std::span<const Tensor> operands);
/// Appends what stands after the operands: `, dimensions={0}` in HLO; for StableHLO's generic form
/// the entries of the attribute dictionary, `dimension = 0 : i64, is_stable = true`.
using TextRule = void (*)(const Node&, std::string& out);

/// Writes one element of the result from the same element of each operand.
using ElementRule = absl::InlinedVector<std::uint32_t, 2> (*)(const ElementCall&);
/// Where an element of the result is in operand 0.
using ReadRule = absl::InlinedVector<AxisRead, 4> (*)(const Node&);
/// Which parts of the result the operands give.
using WriteRule = InsertionMap (*)(const Node&);
/// Of an op on an array whose number of rows is known to the run only.
using TapeRule = TapeAccess (*)(const Node&);
/// How loops reduce operand 0; none where only the kernel can.
using ReductionRule = std::optional<ElementReduction> (*)(const Node&);
/// How loops make running totals of operand 0; none where only the kernel can.
using RunningRule = std::optional<ElementRunning> (*)(const Node&);
/// Where elements are that an array of indices names; none where only the kernel knows.
using GatherRule = std::optional<ElementGather> (*)(const Node&);
/// The indices that an op takes when it runs, and what is in range (ir/element.h).
using IndicesRule = std::vector<IndexRange> (*)(const Node&);
/// Of a reduction by region 0, of scalars: the axes that vanish. The region makes the next totals
/// of the totals so far and an element of each operand, in row-major order; the last operands are
/// the first totals.
using FoldRule = std::vector<std::int64_t> (*)(const Node&);
/// None where the sums are added up in another order than that of the terms.
using ProductsRule = std::optional<ElementProducts> (*)(const Node&);

/// Sets of dtypes, a bit each.
using DTypes = std::uint32_t;
constexpr DTypes dtypes(auto... each) { return (0u | ... | (1u << static_cast<unsigned>(each))); }
inline constexpr DTypes kAllDTypes = (1u << kDTypeCount) - 1;
inline constexpr DTypes kRealDTypes = kAllDTypes & ~dtypes(DType::kC64, DType::kC128);
inline constexpr DTypes kFloatDTypes = dtypes(DType::kF16, DType::kBF16, DType::kF32, DType::kF64);
/// What the operands, region parameters and results of a construct mean (ir/layout.h).
using LayoutRule = RegionLayout (*)(const Node&);
/// What an executor needs to interchange a loop over lanes with them (ir/layout.h).
using LaneLoopRule = LaneLoop (*)(const Node&);
/// A loop of known length that makes an index for each trip, as one that reads it from an array.
using OverSlicesRule = LoopOverSlices (*)(const Node&);
/// The attributes of the node with what the layout says: counts of carries and xs, axis, name, trip
/// count, promise, as far as the construct keeps them.
using RelayoutRule = Attributes (*)(const Node&, const RegionLayout&);
/// How a loop counts, where it does (ir/layout.h).
using InductionRule = std::optional<Induction> (*)(const Node&);

/// How the result lies on a mesh of devices (ir/sharding.h).
using ShardingRule = const Sharding& (*)(const Node&);

/// The tangents of the results; an empty Tensor where it is zero.
using JvpRule = std::vector<Tensor> (*)(const JvpCall&);
/// The cotangents of the operands; an empty Tensor where it is zero and for those that are not
/// linear.
using TransposeRule = std::vector<Tensor> (*)(const TransposeCall&);
/// The same for constructs, which compute their results anew.
using RegionJvpRule = Jvp (*)(const JvpCall&);
using ReverseRule = Reverse (*)(const ReverseCall&);

/// The op for many lanes at once; a value for each result.
using BatchRule = std::vector<BatchValue> (*)(const BatchCall&);
/// The sum over the lanes of an op of one result, all operands of which differ by lane; for one
/// that is linear in each.
using BatchSumRule = Tensor (*)(const BatchCall&);
/// Which results differ by lane where the flagged operands do. Of ops whose results do not all.
using BatchedRule = std::vector<bool> (*)(const Node&, const std::vector<bool>& operands,
                                          Batching&);
/// Of an op that gives operand 0 with a part replaced by operand 1: that part of operand 0. The op
/// with it in the place of operand 1 undoes what the node did, to the bit.
using OverwrittenRule = Tensor (*)(const Node&);
/// Of an op that gives operand 0 with a part replaced: the same on these operands, but that lanes
/// without `active`, a pred[lanes], keep operand 0 as it is. All of them have the lanes in front.
using BlendRule = Tensor (*)(const Node&, std::span<const Tensor> operands, const Tensor& active);

/// In which operands (of those whose dtype has tangents) an op is linear. The jvp of an op that is
/// linear where its tangents are is the op itself on them.
enum class Linear : std::uint8_t {
  kNone,
  kJointly,     // in all of them together: concatenate
  kSeparately,  // in each while the others stay as they are: multiply
  kFirst,       // in operand 0
};

/// What an op costs beside a pass over its result: whether a value is worth keeping, and whether an
/// op joins the loop of its consumers.
enum class Cost : std::uint8_t {
  kElementwise,  // some arithmetic for each element of the result
  kMovement,     // each element of the result is copied from one place of an operand
  kReduction,    // each operand is read once, and gives fewer elements
  kHeavy,        // more than that: products, sorts, loops, whatever calls a region
};

/// What is no computation of a program.
enum class OpKind : std::uint8_t {
  kOrdinary,
  kParameter,
  kConstant,
  kLazy,  // a lazy tensor (ir/lazy.h); stands in no program
};

/// The control flow that executors and texts have themselves. Constructs without any expand to
/// those that have it.
enum class Flow : std::uint8_t {
  kNone,
  /// Region 0 gives one pred[], region 1 the next carry, both from all operands, of which the carry
  /// comes first. As long as the pred is true, the carry becomes the next one.
  kRepeat,
  /// Operand 0, a pred[] (true: region 0) or an s32[] in range, selects the region that runs on the
  /// other operands.
  kSelect,
};

struct OpDef {
  std::string_view name;  // in the IR's text and in errors
  /// As C++ writes an op of two operands, in errors: the operator, or the function where that has
  /// another name.
  std::string_view spelling = {};
  // For executors that write loops; without any of them an op runs by its kernel.
  ElementRule element = nullptr;
  DTypes element_dtypes = kRealDTypes;  // of operand 0, for which the rule is right
  ReadRule read = nullptr;
  GatherRule gather = nullptr;
  /// The same of an op that combines elements of operand 2 by region 0 with those of operand 0
  /// where operand 1 says, update by update: operand 2 stands for the result. Updates that do not
  /// fit are left out.
  GatherRule scatter = nullptr;
  IndicesRule indices = nullptr;  // of every op that clamps indices, or drops what they say
  WriteRule write = nullptr;
  OverwrittenRule overwritten = nullptr;
  ReductionRule reduction = nullptr;
  RunningRule running = nullptr;
  FoldRule fold = nullptr;  // where `reduction` gives none
  ProductsRule products = nullptr;
  bool same_bytes = false;    // the result is operand 0 byte by byte, of another type
  TapeRule tape = nullptr;    // operand 0 may have more elements than its type says
  std::string_view hlo = {};  // HLO opcode; empty: expanded before it is printed
  std::string_view stablehlo =
      {};          // with the dialect, `stablehlo.add`; empty: expanded before it is printed
  int arity = -1;  // number of operands; -1: any
  InferRule infer = nullptr;
  PrepareRule prepare = nullptr;
  KernelRule kernel = nullptr;
  Cost cost = Cost::kHeavy;
  ExpandRule expand = nullptr;
  ExpandRule expand_by_lane = nullptr;  // the same for executors that have loops over lanes
  /// The same where a lane that takes no part must not be seen to run: it computes on the values of
  /// one that does.
  ExpandRule expand_in_safe_lanes = nullptr;
  /// `expand` and `expand_by_lane` copy the nodes of the regions as they are, so that these may be
  /// expanded after that: each is copied once, however many levels are around it.
  bool inlines_regions = false;
  /// Which nodes these executors rather expand although there is a kernel: a call costs much beside
  /// the work of few elements, and loops do the same.
  bool (*divides)(const Node&) = nullptr;
  TextRule hlo_attributes = nullptr;
  TextRule stablehlo_attributes = nullptr;
  std::string_view hlo_regions =
      {};                  // the attribute that names each region: `to_apply`, `condition,body`
  bool hlo_tuple = false;  // in HLO several operands stand in one tuple
  /// Whether HLO and StableHLO can say this very node; null: always, if the op has a name there.
  bool (*in_text)(const Node&) = nullptr;
  /// Whether XLA's partitioner splits this very node over the devices of a mesh as it should; null:
  /// always. Texts that name a mesh have what it expands to where not.
  bool (*splits)(const Node&) = nullptr;
  OpKind kind = OpKind::kOrdinary;
  // Constructs.
  Flow flow = Flow::kNone;
  LayoutRule layout = nullptr;           // of every construct
  LaneLoopRule lane_loop = nullptr;      // of a loop whose lanes stop one by one
  RelayoutRule relayout = nullptr;       // of every construct
  InductionRule induction = nullptr;     // of loops that may count their trips
  OverSlicesRule over_slices = nullptr;  // of counted loops without xs
  bool elementwise =
      false;  // result element i depends on element i of the operands only; all of one shape
  DTypes keeps_dtypes = 0;  // of an elementwise op: of operands of these the result has the dtype
  bool commutative = false;
  bool updates = false;  // its results are its first operands with parts changed, so that it writes
                         // in place where it may
  bool observer = false;  // tap, print, progress: tells the outside what passes; never folded,
                          // merged or hoisted
  /// Of an identity that says where its value lies on a mesh. Without a kernel it is never folded.
  ShardingRule sharding = nullptr;
  // Derivatives. Every record has a jvp rule, or is linear, or says that its derivative is zero;
  // an op without any of them is differentiated as what it expands to.
  Linear linear = Linear::kNone;
  // Of an op whose region or attributes decide whether it is linear; jvp is for those that are not.
  bool (*is_linear)(const Node&) = nullptr;
  JvpRule jvp = nullptr;
  TransposeRule transpose = nullptr;  // of what is linear
  RegionJvpRule region_jvp = nullptr;
  ReverseRule reverse = nullptr;
  bool own_forward = false;  // `reverse` computes the results in another way than the regions do
  bool user_derivative =
      false;  // what the user puts in place of a derivative: a rule, stop_gradient
  bool zero_derivative = false;  // piecewise constant, or no tangent can pass: floor, compare
  bool unset = false;  // its elements are written before they are read: no loop has to set them
  // Batching. Elementwise ops have one rule for all; an op without a rule is batched as what it
  // expands to.
  BatchRule batch = nullptr;
  BatchSumRule batch_sum = nullptr;  // where that costs less than the results of the lanes
  BatchedRule batched = nullptr;     // without it every result differs by lane if an operand does
  BlendRule blend = nullptr;
  /// Of a collective: the name of the axis of lanes that the node is about.
  std::string_view (*axis_name)(const Node&) = nullptr;
  std::string_view not_batched = {};  // why it cannot be, for the error

  /// Whether an executor can run it as it stands.
  constexpr bool runs() const { return prepare != nullptr || kernel != nullptr; }
};

}  // namespace rondo::ir
