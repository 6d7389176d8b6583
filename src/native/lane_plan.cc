#include "native/lane_plan.h"

#include <algorithm>
#include <bit>
#include <cstdlib>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "lower/opcodes.h"
#include "lower/reads.h"
#include "native/machine_code.h"

namespace rondo::native_code {

using lower::Opcode;
using lower::Type;
using lower::Value;

namespace {

template <class F>
void for_each_operand(const lower::Op& op, F&& f) {
  if (op.a != lower::kNone) f(op.a);
  if (op.b != lower::kNone) f(op.b);
  if (op.c != lower::kNone) f(op.c);
}

bool is_control(Opcode op) { return op >= Opcode::kFor; }

}  // namespace

LaneFacts::LaneFacts(const lower::Program& program)
    : varying(program.types.size()),
      broadcast(program.types.size()),
      units(program.types.size()),
      buffer_bytes(program.types.size()),
      reads(program.types.size()) {
  for (const lower::Op& op : program.code) {
    for_each_operand(op, [&](Value v) { reads[v]++; });
    if (op.code == Opcode::kBase) buffer_bytes[op.result] = program.buffers[op.bits].bytes;
  }
  for (const lower::Address& address : program.addresses) {
    for (const lower::Address::Term& term : address.terms) reads[term.index]++;
  }
  for (const lower::For& loop : program.fors) {
    reads[loop.lower]++, reads[loop.upper]++;
    for (const lower::Carry& carry : loop.carries) reads[carry.init]++, reads[carry.next]++;
  }
  for (const lower::While& loop : program.whiles) {
    reads[loop.predicate]++;
    for (const lower::Carry& carry : loop.carries) reads[carry.init]++, reads[carry.next]++;
  }
  for (const lower::If& branch : program.ifs) {
    reads[branch.predicate]++;
    for (const lower::If::Result& r : branch.results) reads[r.then]++, reads[r.otherwise]++;
  }
  for (const lower::Lanes& lanes : program.lanes) {
    for (const lower::Lanes::Reduction& r : lanes.reductions) reads[r.init]++, reads[r.value]++;
  }
}

LanePlan::LanePlan(const lower::Program& program, LaneFacts& facts, std::size_t begin,
                   std::size_t end, const Target& target)
    : program_(program),
      loop_(program.lanes[program.code[begin].bits]),
      facts_(facts),
      begin_(begin),
      end_(end),
      target_(target) {
  // Threshold: Ops of the code of a block, over all its vectors: code size against overlap of
  // vectors. Not measured.
  constexpr std::size_t kMostOps = 400;
  // Threshold: Vector registers left for the ops beside what the vectors of a block carry: more
  // vectors would spill. Not measured.
  constexpr int kFreeRegisters = 5;
  // Threshold: Lanes of the smallest vector; a loop of fewer lanes is scalar or, if the target has
  // masks, masked. Not measured.
  constexpr int kLeastLanes = 4;
  const bool has_masks = target.has_masks();
  find_varying();
  find_short_indices();
  if (!supported()) return;
  int lanes = target.lanes_of(wide_ ? Type::kF64 : Type::kF32);
  if (loop_.known_count) {
    const std::int64_t count = *loop_.known_count;
    const auto some = static_cast<std::uint64_t>(std::max<std::int64_t>(count, 1));
    const std::uint64_t fitting = has_masks ? std::bit_ceil(some) : std::bit_floor(some);
    if (static_cast<std::int64_t>(fitting) < lanes) lanes = static_cast<int>(fitting);
    if (lanes < std::min(kLeastLanes, target.vector_bytes / (wide_ ? 8 : 4))) {
      if (!has_masks || count < 2) return;
      lanes = kLeastLanes;
    }
  }
  lanes_ = lanes;
  // As many vectors as leave registers for the temporaries of straight-line code.
  const int registers = target.vector_registers();
  const int carried = carried_values();
  int unroll = overlapping_vectors();
  while (unroll > 1 && unroll * carried > registers - kFreeRegisters) unroll /= 2;
  const auto size = end - begin;
  while (unroll > 1 && size * static_cast<std::size_t>(unroll) > kMostOps) unroll /= 2;
  const int whole = lower::Lanes::kPartials / lanes;
  if (!loop_.reductions.empty() && size * static_cast<std::size_t>(whole) <= kMostOps &&
      whole * (static_cast<int>(loop_.reductions.size()) + carried) <= registers - kFreeRegisters)
    unroll = whole;
  if (loop_.known_count) {
    while (unroll > 1 && std::int64_t{unroll} * lanes > *loop_.known_count) unroll /= 2;
  }
  if (const int vectors = vectors_of_one_block(lanes); vectors > 0) {
    const auto copies = vectors + (has_masks ? 0 : *loop_.known_count % lanes);
    one_block_ = size * static_cast<std::size_t>(copies) <= kMostOps &&
                 vectors * (static_cast<int>(loop_.reductions.size()) + carried) <=
                     registers - kFreeRegisters;
    if (one_block_) unroll = vectors;
  }
  unroll_ = unroll;
  has_loops_ = std::any_of(
      program.code.begin() + static_cast<std::ptrdiff_t>(begin),
      program.code.begin() + static_cast<std::ptrdiff_t>(end),
      [](const lower::Op& op) { return op.code == Opcode::kRepeat || op.code == Opcode::kFor; });
  spare_registers_ = std::max(0, registers - kFreeRegisters - unroll * carried);
}

/// Without masks the last lanes are unrolled as scalars.
int LanePlan::vectors_of_one_block(int lanes) const {
  if (loop_.reductions.empty() || !loop_.known_count) return 0;
  const auto count = *loop_.known_count;
  const bool has_masks = target_.has_masks(), whole = count % lanes == 0;
  // Threshold: Lanes of a reduction in one block without masks, whose last lanes are scalar code:
  // code size against the loop. Not measured.
  constexpr int kMostByOne = 32;
  if (count > (has_masks || whole ? lower::Lanes::kPartials : kMostByOne)) return 0;
  const bool has_control =
      std::any_of(program_.code.begin() + static_cast<std::ptrdiff_t>(begin_) + 1,
                  program_.code.begin() + static_cast<std::ptrdiff_t>(end_),
                  [](const lower::Op& op) { return is_control(op.code); });
  if (!has_masks && !whole && has_control) return 0;
  return static_cast<int>((count + (has_masks ? lanes - 1 : 0)) / lanes);
}

void LanePlan::find_varying() {
  auto& varying = facts_.varying;
  auto inside = [&](Value v) {
    if (v != lower::kNone) inside_.push_back(v);
  };
  inside(loop_.index);
  for (std::size_t at = begin_ + 1; at < end_; at++) {
    const lower::Op& op = program_.code[at];
    inside(op.result);
    if (op.code == Opcode::kFor) {
      inside(program_.fors[op.bits].index);
      for (const lower::Carry& c : program_.fors[op.bits].carries)
        inside(c.param), inside(c.result);
    } else if (op.code == Opcode::kRepeat) {
      for (const lower::Carry& c : program_.whiles[op.bits].carries)
        inside(c.param), inside(c.result);
    } else if (op.code == Opcode::kIf) {
      for (const lower::If::Result& r : program_.ifs[op.bits].results) inside(r.result);
    }
  }
  varying[loop_.index] = 1;
  // Threshold: Passes that find which carries vary by lane, before all are assumed to: compile time
  // against uniform values. Not measured.
  constexpr int kMostPasses = 16;
  int passes = 0;
  while (pass()) {
    if (++passes < kMostPasses) continue;
    for (Value v : inside_) varying[v] = 1;
    break;
  }
}

bool LanePlan::pass() {
  auto& varying = facts_.varying;
  bool changed = false;
  auto mark = [&](Value v, bool does) {
    if (v != lower::kNone && does && !varying[v]) varying[v] = 1, changed = true;
  };
  for (std::size_t at = begin_ + 1; at < end_; at++) {
    const lower::Op& op = program_.code[at];
    bool does = false;
    for_each_operand(op, [&](Value v) { does |= varying[v] != 0; });
    switch (op.code) {
      case Opcode::kLoad:
        for (const auto& term : program_.addresses[op.bits].terms)
          does |= varying[term.index] && term.stride != 0;
        break;
      case Opcode::kFor:
        for (const lower::Carry& c : program_.fors[op.bits].carries) {
          const bool carry = varying[c.init] || varying[c.next];
          mark(c.param, carry), mark(c.result, carry);
        }
        continue;
      case Opcode::kRepeat: {
        const lower::While& loop = program_.whiles[op.bits];
        for (const lower::Carry& c : loop.carries) {
          // Uniform values continue with the active lanes, if their values in lanes that have ended
          // are unused.
          const bool carry = varying[c.init] || varying[c.next] ||
                             (varying[loop.predicate] && facts_.reads[c.result] != 0);
          mark(c.param, carry), mark(c.result, carry);
        }
        continue;
      }
      case Opcode::kEndIf:
        for (const lower::If::Result& r : program_.ifs[op.bits].results)
          mark(r.result, varying[r.then] || varying[r.otherwise]);
        continue;
      default:
        break;
    }
    mark(op.result, does);
  }
  return changed;
}

void LanePlan::find_short_indices() {
  auto& found = short_indices_;
  for (std::size_t at = begin_ + 1; at < end_; at++) {
    const lower::Op& op = program_.code[at];
    if (op.code == Opcode::kConvert && op.type == Type::kS64 && op.from == Type::kS32 &&
        facts_.varying[op.result] && op.a != loop_.index)
      found.emplace(op.result, op.a);
  }
  if (found.empty()) return;
  const auto forget = [&](Value v) { found.erase(v); };
  for (std::size_t at = begin_; at < end_; at++) {
    const lower::Op& op = program_.code[at];
    if (op.code != Opcode::kLoad && op.code != Opcode::kStore) {
      lower::for_each_read(program_, op, forget);
      continue;
    }
    forget(op.a);
    // An address scales its index, and does not multiply it in 32 bits.
    const lower::Address& address = program_.addresses[op.bits];
    for (const lower::Address::Term& term : address.terms) {
      const bool scales =
          term.stride == 1 || term.stride == 2 || term.stride == 4 || term.stride == 8;
      if (!scales) forget(term.index);
    }
  }
}

Value LanePlan::short_index(Value v) const {
  const auto found = short_indices_.find(v);
  return found == short_indices_.end() ? lower::kNone : found->second;
}

void LanePlan::need_vector(Value v) {
  if (v == lower::kNone || facts_.varying[v] || facts_.broadcast[v]) return;
  facts_.broadcast[v] = 1;
  marked_.push_back(v);
}

bool LanePlan::check_address(std::uint64_t number, Type type) {
  std::int64_t stride = 0;
  int others = 0;
  for (const lower::Address::Term& term : program_.addresses[number].terms) {
    if (term.index == loop_.index) {
      stride += term.stride;
    } else if (facts_.varying[term.index]) {
      others++;
    }
  }
  if (others == 0 && stride == width_of(type)) return true;
  return target_.indexed_access.has(type) && (others == 0 || (others == 1 && stride == 0)) &&
         std::abs(stride) < target_.most_lane_stride;
}

bool LanePlan::supported() {
  if (loop_.known_count && *loop_.known_count < 2) return false;
  for (std::size_t at = begin_ + 1; at < end_; at++) {
    if (!supports(at)) return false;
  }
  for (const lower::Lanes::Reduction& r : loop_.reductions) {
    if (r.value == loop_.index || !target_.vectors.has(r.combine, r.type, r.type)) return false;
    need_vector(r.value);
    wide_ |= wide(r.type);
  }
  std::vector<Value> sorted = inside_;
  std::sort(sorted.begin(), sorted.end());
  for (Value v : marked_) {
    if (!std::binary_search(sorted.begin(), sorted.end(), v)) outside_.push_back(v);
  }
  return true;
}

bool LanePlan::supports(std::size_t at) {
  const lower::Op& op = program_.code[at];
  const auto& varying = facts_.varying;
  switch (op.code) {
    case Opcode::kFor: {
      const lower::For& loop = program_.fors[op.bits];
      if (varying[loop.lower] || varying[loop.upper] || varying[loop.index]) return false;
      return supports_carries(loop.carries);
    }
    case Opcode::kRepeat:
      return supports_carries(program_.whiles[op.bits].carries);
    case Opcode::kIf:
      return !varying[program_.ifs[op.bits].predicate];
    case Opcode::kEndIf:
      for (const lower::If::Result& r : program_.ifs[op.bits].results) {
        if (r.then == loop_.index || r.otherwise == loop_.index) return false;
        if (varying[r.result]) need_vector(r.then), need_vector(r.otherwise);
        if (varying[r.result]) wide_ |= wide(r.type);
      }
      return true;
    case Opcode::kCall:
    case Opcode::kCopy:
      return false;
    case Opcode::kStore:
      return supports_store(at);
    default:
      return is_control(op.code) || !varying[op.result] || supports_value(at);
  }
}

bool LanePlan::supports_value(std::size_t at) {
  const lower::Op& op = program_.code[at];
  const auto& varying = facts_.varying;
  if (op.code == Opcode::kAnd && op.type == Type::kPred && varying[op.a] != varying[op.b] &&
      program_.code[at + 1].code == Opcode::kTest && program_.code[at + 1].a == op.result &&
      facts_.reads[op.result] == 2) {
    const bool a_varies = varying[op.a] != 0;
    split_tests_.push_back({op.result, a_varies ? op.b : op.a, a_varies ? op.a : op.b});
    return true;
  }
  if (op.code == Opcode::kLoad) return supports_load(op);
  if (short_index(op.result) != lower::kNone) return true;
  const Type operand = op.a == lower::kNone ? op.type : program_.types[op.a];
  if (!target_.vectors.has(op.code, op.type, operand)) return false;
  wide_ |= wide(op.type);
  for_each_operand(op, [&](Value v) {
    need_vector(v);
    if (op.code == Opcode::kMin || op.code == Opcode::kMax) of_extrema_.push_back(v);
    const bool short_index = v == loop_.index && op.code == Opcode::kConvert &&
                             !floating(op.type) && width_of(op.type) == 4;
    if (!short_index) wide_ |= wide(program_.types[v]);
  });
  return true;
}

bool LanePlan::supports_carries(const std::vector<lower::Carry>& carries) {
  for (const lower::Carry& c : carries) {
    if (c.init == loop_.index || c.next == loop_.index) return false;
    if (!facts_.varying[c.param]) continue;
    need_vector(c.init), need_vector(c.next);
    wide_ |= wide(c.type);
  }
  return true;
}

bool LanePlan::supports_load(const lower::Op& op) {
  if (!check_address(op.bits, op.type)) return false;
  wide_ |= wide(op.type);
  for (const auto& term : program_.addresses[op.bits].terms) {
    wide_ |= facts_.varying[term.index] && term.index != loop_.index &&
             short_index(term.index) == lower::kNone;
  }
  return true;
}

bool LanePlan::supports_store(std::size_t at) {
  const lower::Op& op = program_.code[at];
  const Type type = program_.types[op.a];
  bool by_lane = false;
  for (const auto& term : program_.addresses[op.bits].terms)
    by_lane |= facts_.varying[term.index] != 0;
  if (!by_lane || !check_address(op.bits, type) || op.a == loop_.index) return false;
  need_vector(op.a);
  wide_ |= wide(type);
  // Without masks a store cannot exclude inactive lanes.
  return target_.has_masks() || !stores_in_while(at);
}

/// In a loop that lanes leave at different trips.
bool LanePlan::stores_in_while(std::size_t at) const {
  int depth = 0;
  for (std::size_t i = at; i-- > begin_;) {
    const lower::Op& op = program_.code[i];
    if (op.code == Opcode::kEndRepeat) depth--;
    if (op.code != Opcode::kRepeat || ++depth <= 0) continue;
    if (facts_.varying[program_.whiles[op.bits].predicate]) return true;
    depth = 0;
  }
  return false;
}

/// The most values that are live at once from one straight-line part to later code.
int LanePlan::carried_values() const {
  std::size_t loops_inside = 0;
  for (std::size_t at = begin_ + 1; at < end_; at++) {
    const Opcode code = program_.code[at].code;
    if (code == Opcode::kFor || code == Opcode::kRepeat) loops_inside++;
  }
  if (loops_inside == 0) return 0;
  // Carries, and values defined before the loops and read in them.
  int most = 0, now = 0;
  std::vector<int> before;
  absl::flat_hash_set<Value> made, held;
  for (std::size_t at = begin_ + 1; at < end_; at++) {
    const lower::Op& op = program_.code[at];
    auto carries = [&](const std::vector<lower::Carry>& list) {
      int count = 0;
      for (const lower::Carry& c : list) count += facts_.varying[c.param];
      return count;
    };
    if (op.code == Opcode::kFor || op.code == Opcode::kRepeat) {
      before.push_back(now);
      // Carries around a branch are not read again by later trips.
      if (op.code == Opcode::kFor)
        now += carries(program_.fors[op.bits].carries);
      else if (!program_.whiles[op.bits].predicated)
        now += carries(program_.whiles[op.bits].carries);
      most = std::max(most, now);
    } else if (op.code == Opcode::kEndFor || op.code == Opcode::kEndRepeat) {
      now = before.back();
      before.pop_back();
    } else if (before.empty()) {
      if (facts_.varying[op.result]) made.insert(op.result);
    } else {
      for_each_operand(op, [&](Value v) {
        if (made.contains(v)) held.insert(v);
      });
    }
  }
  return std::max(most, now) + static_cast<int>(held.size());
}

/// Enough vectors that a trip of the longest chain of ops in a loop keeps the processor busy; more
/// would only make lanes wait for the longest-running one.
int LanePlan::overlapping_vectors() const {
  // Threshold: Vectors of a block: enough to hide the latency of a trip's longest chain; more make
  // finished lanes wait. Not measured alone; mandelbrot and collatz in bench/anchors run it.
  constexpr int kUsual = 4, kMost = 8;
  int ops = 0, longest = 0;
  bool in_loop = false;
  absl::flat_hash_map<Value, int> ready;
  for (std::size_t at = begin_ + 1; at < end_; at++) {
    const lower::Op& op = program_.code[at];
    const bool of_while = op.code == Opcode::kRepeat || op.code == Opcode::kEndRepeat;
    if (of_while && program_.whiles[op.bits].predicated) continue;
    if (op.code == Opcode::kFor || op.code == Opcode::kRepeat) {
      if (in_loop) return kUsual;
      in_loop = true;
    }
    if (op.code == Opcode::kEndFor || op.code == Opcode::kEndRepeat) break;
    if (op.code == Opcode::kMathCall) return kUsual;
    if (!in_loop || is_control(op.code) || !facts_.varying[op.result]) continue;
    int before = 0;
    for_each_operand(op, [&](Value v) {
      const auto found = ready.find(v);
      if (found != ready.end()) before = std::max(before, found->second);
    });
    const bool is_float = floating(op.type) && op.code != Opcode::kSelect;
    const bool compares = op.code >= Opcode::kEqual && op.code <= Opcode::kGreaterEqual;
    const Costs& costs = target_.costs;
    const int latency = is_float   ? costs.float_latency
                        : compares ? costs.compare_latency
                                   : costs.integer_latency;
    longest = std::max(longest, ready[op.result] = before + latency);
    ops++;
  }
  if (ops == 0) return kUsual;
  int unroll = kUsual;
  while (unroll < kMost && unroll * ops < longest * target_.costs.vector_units) unroll *= 2;
  return unroll;
}

const LanePlan::SplitTest* LanePlan::split_test(Value predicate) const {
  for (const SplitTest& split : split_tests_) {
    if (split.predicate == predicate) return &split;
  }
  return nullptr;
}

bool LanePlan::gains_by_register(Value v) const {
  return std::find(of_extrema_.begin(), of_extrema_.end(), v) == of_extrema_.end();
}

void LanePlan::forget() {
  for (Value v : inside_) facts_.varying[v] = 0, facts_.units[v] = 0;
  for (Value v : marked_) facts_.broadcast[v] = 0, facts_.units[v] = 0;
}

}  // namespace rondo::native_code
