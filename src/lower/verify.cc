#include "lower/verify.h"

#include <algorithm>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "fmt/format.h"
#include "lower/arithmetic.h"
#include "lower/opcodes.h"

namespace rondo::lower {

namespace {

struct Fault {
  std::string what;
};

template <class... A>
[[noreturn]] void fault(fmt::format_string<A...> format, A&&... arguments) {
  throw Fault{fmt::format(format, std::forward<A>(arguments)...)};
}

__extension__ using Wide = __int128;

/// The least and the greatest that an s64 can be. Anything of 2^62 and more counts as unknown.
struct Bounds {
  static constexpr std::int64_t kMost = std::int64_t{1} << 62;
  std::int64_t low = -kMost, high = kMost;
  bool known() const { return low > -kMost && high < kMost; }
};

Bounds bounds_of(Wide low, Wide high) {
  return {static_cast<std::int64_t>(std::max<Wide>(low, -Bounds::kMost)),
          static_cast<std::int64_t>(std::min<Wide>(high, Bounds::kMost))};
}

Bounds times(const Bounds& a, const Bounds& b) {
  if (!a.known() || !b.known()) return {};
  const Wide products[] = {Wide(a.low) * b.low, Wide(a.low) * b.high, Wide(a.high) * b.low,
                           Wide(a.high) * b.high};
  return bounds_of(*std::min_element(products, products + 4),
                   *std::max_element(products, products + 4));
}

class Verifier {
 public:
  explicit Verifier(const Program& program)
      : p_(program),
        state_(program.types.size(), State::kUndefined),
        bounds_(program.types.size()),
        bytes_(program.types.size(), -1),
        varies_(program.types.size(), false),
        used_fors_(program.fors.size()),
        used_lanes_(program.lanes.size()),
        used_whiles_(program.whiles.size()),
        used_ifs_(program.ifs.size()) {}

  void run() {
    tables();
    scopes_.push_back({});
    for (at_ = 0; at_ < p_.code.size(); at_++) op(p_.code[at_]);
    if (scopes_.size() != 1) fault("{} is not closed", info(scopes_.back().opened).name);
    const auto all = [&](const std::vector<bool>& used, const char* what) {
      const auto unused = std::find(used.begin(), used.end(), false);
      if (unused != used.end()) fault("{} {} has no op", what, unused - used.begin());
    };
    all(used_fors_, "for");
    all(used_lanes_, "lanes");
    all(used_whiles_, "while");
    all(used_ifs_, "if");
  }

  /// Where it stopped.
  std::string place() const {
    if (at_ >= p_.code.size()) return "at the end";
    return fmt::format("op {} ({})", at_, info(p_.code[at_].code).name);
  }

 private:
  enum class State : std::uint8_t { kUndefined, kVisible, kClosed };
  struct Scope {
    Opcode opened = Opcode::kConstant;
    std::uint64_t index = 0;
    bool tested = false;  // of a while; of an if: has its else
    bool dead = false;    // no trip is made
    std::vector<Value> values = {};
  };

  void tables() {
    const auto count = p_.types.size();
    if (count == 0) fault("there is no value 0");
    for (std::size_t i = 0; i < p_.buffers.size(); i++) {
      const Buffer& buffer = p_.buffers[i];
      if (buffer.bytes < 0 || buffer.offset < 0) fault("buffer {} has a size below 0", i);
      if (buffer.storage == Storage::kArena &&
          (buffer.offset > p_.arena_bytes || buffer.bytes > p_.arena_bytes - buffer.offset))
        fault("buffer {} leaves the arena", i);
      if (buffer.storage == Storage::kConstant &&
          (buffer.index >= p_.constants.size() ||
           buffer.offset + buffer.bytes > p_.constants[buffer.index].type().bytes()))
        fault("buffer {} leaves its constant", i);
    }
    for (std::size_t i = 0; i < p_.loops.size(); i++) {
      if (p_.loops[i].outer != kNoLoop && p_.loops[i].outer >= i)
        fault("loop {} is in a loop that comes after it", i);
    }
  }

  template <class T>
  static const T& entry(const std::vector<T>& table, std::uint64_t index, const char* what) {
    if (index >= table.size()) fault("there is no {} {}", what, index);
    return table[index];
  }

  Type type(Value value) const {
    if (value >= p_.types.size()) fault("there is no value %{}", value);
    return p_.types[value];
  }

  void read(Value value) const {
    if (value == kNone || value >= p_.types.size()) fault("there is no value %{}", value);
    if (state_[value] == State::kUndefined) fault("%{} is read before it is defined", value);
    if (state_[value] == State::kClosed)
      fault("%{} is read outside the construct that defines it", value);
  }
  void read(Value value, Type wanted) const {
    read(value);
    if (type(value) != wanted)
      fault("%{} is {}, not {}", value, type_name(type(value)), type_name(wanted));
  }

  void define(Value value, Type wanted) {
    if (value == kNone) fault("the result is no value");
    if (type(value) != wanted)
      fault("the result %{} is {}, not {}", value, type_name(type(value)), type_name(wanted));
    if (state_[value] != State::kUndefined) fault("%{} is defined twice", value);
    state_[value] = State::kVisible;
    scopes_.back().values.push_back(value);
  }

  bool in_lanes() const { return lanes_ != nullptr; }
  bool dead() const { return scopes_.back().dead; }

  void open(Opcode code, std::uint64_t index, bool dead_inside) {
    const bool is_dead = dead() || dead_inside;
    scopes_.push_back({code, index, false, is_dead});
  }
  void forget_scope() {
    for (const Value value : scopes_.back().values) state_[value] = State::kClosed;
    scopes_.back().values.clear();
  }
  void expect_open(Opcode opened, std::uint64_t index) const {
    const Scope& scope = scopes_.back();
    if (scopes_.size() == 1 || scope.opened != opened || scope.index != index)
      fault("it closes what is not open");
  }
  void close(Opcode opened) {
    const Scope& scope = scopes_.back();
    if ((opened == Opcode::kRepeat || opened == Opcode::kIf) && !scope.tested)
      fault("the {} has no {}", info(opened).name, opened == Opcode::kIf ? "else" : "test");
    forget_scope();
    scopes_.pop_back();
  }
  static void use(std::vector<bool>& used, std::uint64_t index, const char* what) {
    if (index >= used.size()) fault("there is no {} {}", what, index);
    if (used[index]) fault("{} {} begins twice", what, index);
    used[index] = true;
  }

  // Addresses.

  void address(std::uint64_t index, std::int64_t width) const {
    const Address& at = entry(p_.addresses, index, "address");
    read(at.base, Type::kPointer);
    if (varies_[at.base]) fault("the base %{} differs by lane", at.base);
    for (const Address::Term& term : at.terms) read(term.index, Type::kS64);
    const std::int64_t size = bytes_[at.base];
    if (size < 0 || dead()) return;
    Wide low = at.offset, high = low + width;
    const auto add = [&](const Bounds& of, std::int64_t stride) {
      const Bounds reach = times(of, {stride, stride});
      low += reach.low;
      high += reach.high;
      return of.known() && reach.known();
    };
    // Lanes that know their limits: the sum of the first one and the index, with one stride.
    const std::int64_t of_lane = stride_of_number(at);
    if (of_lane != 0 &&
        !add({bounds_[lanes_->first].low, bounds_[lanes_->limit].high - 1}, of_lane))
      return;
    for (const Address::Term& term : at.terms) {
      const bool is_added =
          of_lane != 0 && (term.index == lanes_->index || stride_of_first(term) != 0);
      if (!is_added && !add(bounds_[term.index], term.stride)) return;
    }
    if (low < 0 || high > size) {
      fault("bytes {} to {} of a buffer of {} bytes", static_cast<std::int64_t>(low),
            static_cast<std::int64_t>(high), size);
    }
  }

  /// The stride of Lanes::first in a term: itself, or a product of it.
  std::int64_t stride_of_first(const Address::Term& term) const {
    if (term.index == lanes_->first) return term.stride;
    const auto found = products_.find(term.index);
    return found != products_.end() && found->second.first == lanes_->first
               ? found->second.second * term.stride
               : 0;
  }
  /// The stride of Lanes::first + the index; 0 if the address has no such sum.
  std::int64_t stride_of_number(const Address& at) const {
    if (lanes_ == nullptr || lanes_->first == kNone) return 0;
    std::int64_t of_first = 0, of_index = 0;
    for (const Address::Term& term : at.terms) {
      if (term.index == lanes_->index)
        of_index += term.stride;
      else
        of_first += stride_of_first(term);
    }
    return of_first == of_index ? of_index : 0;
  }

  // Ops.

  void op(const Op& op) {
    switch (info(op.code).kind) {
      case OpcodeKind::kMemory:
        return memory(op);
      case OpcodeKind::kControl:
        return control(op);
      default:
        return compute(op);
    }
  }

  void compute(const Op& op) {
    bool varies = false;
    const auto operand = [&](Value value, Type wanted) {
      read(value, wanted);
      varies = varies || varies_[value];
    };
    const bool pointer = op.type == Type::kPointer || op.from == Type::kPointer;
    if (pointer) fault("arithmetic on pointers");
    switch (info(op.code).kind) {
      case OpcodeKind::kConstant:
        break;
      case OpcodeKind::kUnary:
        operand(op.a, op.type);
        if (!has(op, op.type)) fault("there is none of {}", type_name(op.type));
        break;
      case OpcodeKind::kConvert:
        operand(op.a, op.from);
        if (op.code == Opcode::kBitcast && width(op.from) != width(op.type))
          fault("{} and {} differ in width", type_name(op.from), type_name(op.type));
        break;
      case OpcodeKind::kMath:
        if (op.type != Type::kF32 && op.type != Type::kF64)
          fault("there is none of {}", type_name(op.type));
        operand(op.a, op.type);
        if (op.b != kNone) operand(op.b, op.type);
        if (op.c != kNone) operand(op.c, Type::kPred);
        if (op.bits == 0) fault("there is no function");
        break;
      case OpcodeKind::kBinary:
        operand(op.a, op.type);
        operand(op.b, op.type);
        if (!has(op, op.type)) fault("there is none of {}", type_name(op.type));
        break;
      case OpcodeKind::kCompare:
        operand(op.a, op.from);
        operand(op.b, op.from);
        if (op.type != Type::kPred) fault("a comparison gives a pred");
        break;
      default:
        if (op.code == Opcode::kSelect) {
          operand(op.a, Type::kPred);
          operand(op.b, op.type);
          operand(op.c, op.type);
        } else {
          if (!is_float(op.type)) fault("there is none of {}", type_name(op.type));
          for (const Value value : {op.a, op.b, op.c}) operand(value, op.type);
        }
    }
    define(op.result, op.type);
    varies_[op.result] = varies;
    if (op.type == Type::kS64) bounds_[op.result] = bounds_of(op);
    if (op.code == Opcode::kMultiply && bounds_[op.b].known() &&
        bounds_[op.b].low == bounds_[op.b].high)
      products_.emplace(op.result, std::pair(op.a, bounds_[op.b].low));
  }

  static bool has(const Op& op, Type type) {
    bool found = false;
    if (info(op.code).kind == OpcodeKind::kUnary) {
      for_unary(op.code, [&]<Opcode code>() {
        for_type(type, [&]<class T>() { found = has_unary<code, T>; });
      });
    } else {
      for_binary(op.code, [&]<Opcode code>() {
        for_type(type, [&]<class T>() { found = has_binary<code, T>; });
      });
    }
    return found;
  }

  Bounds bounds_of(const Op& op) const {
    const auto of = [&](Value value) { return value == kNone ? Bounds() : bounds_[value]; };
    const Bounds a = of(op.a), b = of(op.b);
    const bool known = a.known() && b.known();
    switch (op.code) {
      case Opcode::kConstant: {
        const auto value = from_bits<std::int64_t>(op.bits);
        return {value, value};
      }
      case Opcode::kMin:
        return {std::min(a.low, b.low), std::min(a.high, b.high)};
      case Opcode::kMax:
        return {std::max(a.low, b.low), std::max(a.high, b.high)};
      case Opcode::kAdd:
        return known ? lower::bounds_of(Wide(a.low) + b.low, Wide(a.high) + b.high) : Bounds();
      case Opcode::kSubtract:
        return known ? lower::bounds_of(Wide(a.low) - b.high, Wide(a.high) - b.low) : Bounds();
      case Opcode::kMultiply:
        return times(a, b);
      default:
        return {};
    }
  }

  void memory(const Op& op) {
    const bool whole = op.code != Opcode::kLoad && op.code != Opcode::kStore;
    if (in_lanes() && whole) fault("it is inside lanes");
    switch (op.code) {
      case Opcode::kBase:
        define(op.result, Type::kPointer);
        bytes_[op.result] = entry(p_.buffers, op.bits, "buffer").bytes;
        return;
      case Opcode::kView: {
        const View& view = entry(p_.views, op.bits, "view");
        if (view.bytes < 0) fault("{} bytes", view.bytes);
        address(view.address, view.bytes);
        define(op.result, Type::kPointer);
        bytes_[op.result] = view.bytes;
        return;
      }
      case Opcode::kLoad: {
        if (op.type == Type::kPointer) fault("pointers are not stored in memory");
        address(op.bits, width(op.type));
        define(op.result, op.type);
        const auto& terms = p_.addresses[op.bits].terms;
        varies_[op.result] =
            std::any_of(terms.begin(), terms.end(),
                        [&](const Address::Term& term) { return varies_[term.index]; });
        return;
      }
      case Opcode::kStore:
        read(op.a);
        if (type(op.a) == Type::kPointer) fault("pointers are not stored in memory");
        return address(op.bits, width(type(op.a)));
      case Opcode::kCopy: {
        const Copy& copy = entry(p_.copies, op.bits, "copy");
        if (copy.bytes < 0) fault("{} bytes", copy.bytes);
        address(copy.from, copy.bytes);
        return address(copy.to, copy.bytes);
      }
      case Opcode::kCall: {
        const Call& call = entry(p_.calls, op.bits, "call");
        if (!call.kernel) fault("there is no kernel");
        for (const Value pointer : call.pointers) read(pointer, Type::kPointer);
        return;
      }
      case Opcode::kTapeSet: {
        const TapeSet& set = entry(p_.tape_sets, op.bits, "set of a tape");
        const Tape& to = entry(p_.tapes, set.to, "tape");
        if (set.from == kNoTape) return;
        if (entry(p_.tapes, set.from, "tape").row_bytes != to.row_bytes)
          fault("the rows of tapes {} and {} differ in size", set.to, set.from);
        return;
      }
      default: {  // kTapeRead, kTapeWrite
        const Tape& tape = entry(p_.tapes, op.bits & 0xffffffffu, "tape");
        const std::uint64_t loop = op.bits >> 32;
        if (loop != kNoLoop) entry(p_.loops, loop, "loop");
        read(op.a, Type::kS64);
        define(op.result, Type::kPointer);
        bytes_[op.result] = tape.row_bytes;
      }
    }
  }

  void begin_carries(const std::vector<Carry>& carries) {
    for (const Carry& carry : carries) read(carry.init, carry.type);
  }
  void define_params(const std::vector<Carry>& carries) {
    for (const Carry& carry : carries) {
      define(carry.param, carry.type);
      varies_[carry.param] = varies_[carry.init];
      bytes_[carry.param] = bytes_[carry.init];
    }
  }
  void end_trip(const std::vector<Carry>& carries) const {
    for (const Carry& carry : carries) {
      read(carry.next, carry.type);
      // Pointers change roles; the arrays behind them are of one size.
      if (carry.type == Type::kPointer && bytes_[carry.next] < bytes_[carry.param])
        fault("%{} points to fewer bytes than %{}", carry.next, carry.param);
    }
  }
  void define_results(const std::vector<Carry>& carries) {
    for (const Carry& carry : carries) {
      define(carry.result, carry.type);
      varies_[carry.result] = varies_[carry.param] || varies_[carry.next];
      bytes_[carry.result] = bytes_[carry.param];
    }
  }
  void reported(std::uint32_t loop) const {
    if (loop == kNoLoop) return;
    const LoopInfo& of = entry(p_.loops, loop, "loop");
    if (of.trips != kNone) read(of.trips);
  }
  void state(std::uint32_t loop) const {
    if (loop == kNoLoop) return;
    for (const CarriedLeaf& leaf : p_.loops[loop].state) {
      if (leaf.parts.empty()) fault("leaf '{}' of the carry has no value", leaf.name);
      for (const Value part : leaf.parts) read(part);
    }
  }

  void control(const Op& op) {
    switch (op.code) {
      case Opcode::kFor:
        return begin_for(op);
      case Opcode::kEndFor:
        return end_loop(Opcode::kFor, op.bits, p_.fors[op.bits].carries);
      case Opcode::kLanes:
        return begin_lanes(op);
      case Opcode::kEndLanes:
        return end_lanes(op);
      case Opcode::kRepeat: {
        use(used_whiles_, op.bits, "while");
        const While& loop = p_.whiles[op.bits];
        begin_carries(loop.carries);
        reported(loop.loop);
        open(op.code, op.bits, false);
        return define_params(loop.carries);
      }
      case Opcode::kTest: {
        Scope& scope = scopes_.back();
        if (scope.opened != Opcode::kRepeat || scope.index != op.bits || scope.tested)
          fault("a test outside its while, or a second one");
        scope.tested = true;
        const While& loop = p_.whiles[op.bits];
        if (op.a != loop.predicate) fault("its operand is not the predicate");
        read(loop.predicate, Type::kPred);
        if (loop.trips != kNone) {
          read(loop.trips, Type::kS64);
          if (loop.loop == kNoLoop) fault("it counts the trips of no loop");
        }
        return state(loop.loop);
      }
      case Opcode::kEndRepeat:
        return end_loop(Opcode::kRepeat, op.bits, p_.whiles[op.bits].carries);
      case Opcode::kIf: {
        use(used_ifs_, op.bits, "if");
        read(p_.ifs[op.bits].predicate, Type::kPred);
        if (in_lanes() && varies_[p_.ifs[op.bits].predicate])
          fault("the predicate differs by lane");
        return open(op.code, op.bits, false);
      }
      case Opcode::kElse: {
        Scope& scope = scopes_.back();
        if (scope.opened != Opcode::kIf || scope.index != op.bits || scope.tested)
          fault("an else outside its if, or a second one");
        scope.tested = true;
        for (const If::Result& result : p_.ifs[op.bits].results) {
          read(result.then, result.type);
          bytes_[result.result] = bytes_[result.then];
        }
        return forget_scope();
      }
      default:  // kEndIf
        return end_if(op);
    }
  }

  void begin_for(const Op& op) {
    use(used_fors_, op.bits, "for");
    const For& loop = p_.fors[op.bits];
    read(loop.lower, Type::kS64);
    read(loop.upper, Type::kS64);
    if (loop.step <= 0) fault("its step is {}", loop.step);
    if (loop.loop != kNoLoop && loop.step != 1)
      fault("it counts its trips in steps of {}", loop.step);
    if (loop.independent && !loop.carries.empty()) fault("its trips depend on one another");
    begin_carries(loop.carries);
    reported(loop.loop);
    const Bounds low = bounds_[loop.lower], high = bounds_[loop.upper];
    const bool empty = low.known() && high.known() && low.low >= high.high;
    open(op.code, op.bits, empty);
    define(loop.index, Type::kS64);
    varies_[loop.index] = varies_[loop.lower];
    bounds_[loop.index] = {low.low, high.high >= Bounds::kMost ? high.high : high.high - 1};
    define_params(loop.carries);
    state(loop.loop);
  }

  void end_loop(Opcode opened, std::uint64_t index, const std::vector<Carry>& carries) {
    expect_open(opened, index);
    end_trip(carries);
    close(opened);
    define_results(carries);
  }

  void begin_lanes(const Op& op) {
    use(used_lanes_, op.bits, "lanes");
    if (in_lanes()) fault("lanes in lanes");
    const Lanes& lanes = p_.lanes[op.bits];
    read(lanes.count, Type::kS64);
    for (const Lanes::Reduction& reduction : lanes.reductions) read(reduction.init, reduction.type);
    const Bounds count = bounds_[lanes.count];
    if (lanes.known_count &&
        (!count.known() || count.low != *lanes.known_count || count.high != *lanes.known_count))
      fault("%{} is not {}", lanes.count, *lanes.known_count);
    if (lanes.first != kNone) {
      read(lanes.first, Type::kS64);
      read(lanes.limit, Type::kS64);
    }
    open(op.code, op.bits, count.high <= 0);
    lanes_ = &lanes;
    define(lanes.index, Type::kS64);
    varies_[lanes.index] = true;
    bounds_[lanes.index] = {0, count.high >= Bounds::kMost ? count.high : count.high - 1};
  }

  void end_lanes(const Op& op) {
    expect_open(Opcode::kLanes, op.bits);
    const Lanes& lanes = p_.lanes[op.bits];
    for (const Lanes::Reduction& reduction : lanes.reductions) {
      read(reduction.value, reduction.type);
      if (!info(reduction.combine).combines)
        fault("{} reduces nothing", info(reduction.combine).name);
    }
    close(Opcode::kLanes);
    lanes_ = nullptr;
    const bool is_counted = std::any_of(scopes_.begin(), scopes_.end(), [&](const Scope& scope) {
      return scope.opened == Opcode::kFor && p_.fors[scope.index].lane_loops == lanes.loops;
    });
    if (lanes.trips_later && !is_counted) fault("no loop around it counts the trips in it");
    for (const Lanes::Reduction& reduction : lanes.reductions)
      define(reduction.result, reduction.type);
  }

  void end_if(const Op& op) {
    expect_open(Opcode::kIf, op.bits);
    const If& branch = p_.ifs[op.bits];
    for (const If::Result& result : branch.results) read(result.otherwise, result.type);
    close(Opcode::kIf);
    for (const If::Result& result : branch.results) {
      define(result.result, result.type);
      varies_[result.result] = varies_[result.then] || varies_[result.otherwise];
      bytes_[result.result] = std::min(bytes_[result.result], bytes_[result.otherwise]);
    }
  }

  const Program& p_;
  std::size_t at_ = 0;
  std::vector<State> state_;
  std::vector<Bounds> bounds_;
  std::vector<std::int64_t> bytes_;  // behind a pointer; -1: unknown
  absl::flat_hash_map<Value, std::pair<Value, std::int64_t>> products_;  // by constants
  std::vector<bool> varies_;  // by lane, where that follows from the values before it
  std::vector<bool> used_fors_, used_lanes_, used_whiles_, used_ifs_;
  std::vector<Scope> scopes_;
  const Lanes* lanes_ = nullptr;
};

}  // namespace

std::string verify(const Program& program) {
  Verifier verifier(program);
  try {
    verifier.run();
    return {};
  } catch (const Fault& found) {
    return fmt::format("{}: {}", verifier.place(), found.what);
  }
}

}  // namespace rondo::lower
