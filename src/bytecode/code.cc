#include "bytecode/code.h"

#include <algorithm>
#include <span>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "bytecode/lanes.h"
#include "lower/opcodes.h"

namespace rondo::bytecode {

using lower::kNone;
using lower::Op;
using lower::Opcode;
using lower::Value;

namespace {

constexpr std::uint64_t kNowhere = ~std::uint64_t{0};

}  // namespace

/// Decodes ops into instructions: allocates registers to values and jumps to loops.
class Decoder {
 public:
  Decoder(const lower::Program& program, Code& code)
      : program_(program), code_(code), ends_(lower_ends(program)) {
    code_.accesses_.resize(program.addresses.size());
    registers_.resize(program.types.size());
    for (std::uint32_t i = 0; i < registers_.size(); i++) registers_[i] = i * kScalarBytes;
    scalars_ = static_cast<std::uint32_t>(registers_.size()) * kScalarBytes;
    // A loop's result uses its parameter's register.
    for (const lower::For& loop : program.fors) share_registers(loop.carries);
    for (const lower::While& loop : program.whiles) share_registers(loop.carries);
  }

  void run() {
    for (std::size_t at = 0; at < program_.code.size(); at++) {
      const Op& op = program_.code[at];
      if (op.code == Opcode::kLanes) {
        at = lanes(at);
      } else {
        decode(op);
      }
    }
    emit({Control::halt});
    for (const lower::LoopInfo& loop : program_.loops) {
      Reported& reported = code_.reported_.emplace_back();
      if (loop.trips != lower::kNone) reported.trips = place(loop.trips);
      for (const lower::CarriedLeaf& leaf : loop.state) {
        for (const Value part : leaf.parts)
          reported.state.push_back({place(part), program_.types[part]});
      }
    }
    // The scalars come first, then the blocks.
    const std::uint32_t first = (scalars_ + 63) / 64 * 64;
    code_.workspace_bytes_ = first + static_cast<std::int64_t>(blocks_) * kBlockBytes;
    relocate(first);
    // They are kept as long as the executable.
    code_.code_.shrink_to_fit();
    code_.terms_.shrink_to_fit();
    code_.moves_.shrink_to_fit();
  }

 private:
  // Block registers are numbers with this bit set until their start is known.
  static constexpr std::uint32_t kBlockBit = 0x80000000u;

  void share_registers(const std::vector<lower::Carry>& carries) {
    for (const lower::Carry& carry : carries) registers_[carry.result] = registers_[carry.param];
  }

  Instruction& emit(const Instruction& instruction) {
    code_.code_.push_back(instruction);
    return code_.code_.back();
  }
  std::uint64_t here() const { return code_.code_.size(); }
  std::uint32_t place(Value value) const { return registers_[value]; }
  std::uint32_t new_scalar() {
    const std::uint32_t place = scalars_;
    scalars_ += kScalarBytes;
    return place;
  }

  /// An access without lanes.
  void uniform_access(std::uint64_t index) {
    const lower::Address& address = program_.addresses[index];
    Access& access = code_.accesses_[index];
    access = {place(address.base),
              static_cast<std::uint32_t>(code_.terms_.size()),
              static_cast<std::uint32_t>(address.terms.size()),
              address.offset,
              0,
              false};
    for (const lower::Address::Term& term : address.terms)
      code_.terms_.push_back({place(term.index), false, term.stride});
  }

  struct Moves {
    std::uint64_t first = 0;
    std::uint32_t count = 0;
  };

  /// Emits moves that act in parallel as a sequence of moves.
  template <class NewRegister>
  std::vector<Move> in_order(std::vector<Move> moves, NewRegister new_register) {
    std::erase_if(moves, [](const Move& move) { return move.to == move.from; });
    absl::flat_hash_map<std::uint32_t, std::size_t> last_read;
    for (std::size_t i = 0; i < moves.size(); i++) last_read[moves[i].from] = i;
    // Those whose source an earlier move overwrites read a copy of it.
    std::vector<Move> copies;
    absl::flat_hash_map<std::uint32_t, std::uint32_t> copied;
    for (std::size_t i = 0; i < moves.size(); i++) {
      const auto read = last_read.find(moves[i].to);
      if (read == last_read.end() || read->second <= i) continue;
      const std::uint32_t copy = new_register();
      copies.push_back({copy, moves[i].to});
      copied[moves[i].to] = copy;
    }
    for (Move& move : moves) {
      if (const auto copy = copied.find(move.from); copy != copied.end()) move.from = copy->second;
    }
    copies.insert(copies.end(), moves.begin(), moves.end());
    return copies;
  }

  void emit_moves(std::vector<Move> moves) {
    moves = in_order(std::move(moves), [this] { return new_scalar(); });
    if (moves.empty()) return;
    Instruction instruction{Control::move_scalars};
    instruction.bits = code_.moves_.size();
    instruction.a = static_cast<std::uint32_t>(moves.size());
    code_.moves_.insert(code_.moves_.end(), moves.begin(), moves.end());
    emit(instruction);
  }

  void emit_init(const std::vector<lower::Carry>& carries) {
    std::vector<Move> moves;
    for (const lower::Carry& carry : carries)
      moves.push_back({place(carry.param), place(carry.init)});
    emit_moves(std::move(moves));
  }
  void emit_next(const std::vector<lower::Carry>& carries) {
    std::vector<Move> moves;
    for (const lower::Carry& carry : carries)
      moves.push_back({place(carry.param), place(carry.next)});
    emit_moves(std::move(moves));
  }

  struct Open {
    std::uint64_t head;             // the start of the loop
    std::uint64_t exit = kNowhere;  // the instruction whose bits hold the end of the construct
  };

  void decode(const Op& op) {
    switch (lower::info(op.code).kind) {
      case lower::OpcodeKind::kConstant:
        emit({Control::constant, place(op.result), 0, 0, 0, op.bits});
        return;
      case lower::OpcodeKind::kConvert:
        emit({op.code == Opcode::kBitcast
                  ? conversion(bits_type(op.type), bits_type(op.type), false)
                  : conversion(op.from, op.type, false),
              place(op.result), place(op.a), 0, 0, 0});
        return;
      case lower::OpcodeKind::kMemory:
        return memory_op(op);
      case lower::OpcodeKind::kControl:
        return control(op);
      default:
        emit({arithmetic(op, false), place(op.result), place(op.a), place(op.b), place(op.c),
              op.bits});
    }
  }

  void memory_op(const Op& op) {
    switch (op.code) {
      case Opcode::kBase:
        emit({Control::base, place(op.result), 0, 0, 0, op.bits});
        return;
      case Opcode::kView:
        uniform_access(program_.views[op.bits].address);
        emit({Control::view, place(op.result), 0, 0, 0, program_.views[op.bits].address});
        return;
      case Opcode::kCopy:
        uniform_access(program_.copies[op.bits].from);
        uniform_access(program_.copies[op.bits].to);
        emit({Control::copy, 0, 0, 0, 0, op.bits});
        return;
      case Opcode::kTapeRead:
      case Opcode::kTapeWrite:
        emit({Control::tape_row, place(op.result), place(op.a), op.code == Opcode::kTapeWrite, 0,
              op.bits});
        return;
      case Opcode::kTapeSet:
        emit({Control::tape_set, 0, 0, 0, 0, op.bits});
        return;
      case Opcode::kCall: {
        const lower::Call& call = program_.calls[op.bits];
        Instruction instruction{Control::call, 0, 0, 0, 0, op.bits};
        instruction.a = static_cast<std::uint32_t>(call.pointers.size());
        instruction.c = static_cast<std::uint32_t>(code_.moves_.size());
        for (const Value pointer : call.pointers) code_.moves_.push_back({0, place(pointer)});
        emit(instruction);
        return;
      }
      default:
        uniform_access(op.bits);
        emit({memory(op, false), place(op.result), place(op.a), 0, 0, op.bits});
    }
  }

  void control(const Op& op) {
    switch (op.code) {
      case Opcode::kFor: {
        const lower::For& loop = program_.fors[op.bits];
        emit_init(loop.carries);
        emit_moves({{place(loop.index), place(loop.lower)}});
        begin_counting(loop.loop);
        open_.push_back({here(), here()});
        emit({Control::for_test, 0, place(loop.index), place(loop.upper), 0, 0});
        count_trip(loop.loop, loop.index);
        break;
      }
      case Opcode::kEndFor: {
        const lower::For& loop = program_.fors[op.bits];
        emit_next(loop.carries);
        emit({Control::for_next, loop.polls, place(loop.index), 0, loop_,
              static_cast<std::uint64_t>(loop.step)});
        close_loop();
        if (loop.loop != lower::kNoLoop)
          emit({Control::count_trips, 0, place(loop.upper), place(loop.lower), loop.loop, 0});
        lane_trips(loop.lane_loops);
        end_counting(loop.loop);
        break;
      }
      case Opcode::kRepeat: {
        const lower::While& loop = program_.whiles[op.bits];
        emit_init(loop.carries);
        begin_counting(loop.loop);
        open_.push_back({here(), kNowhere});
        break;
      }
      case Opcode::kTest:
        open_.back().exit = here();
        emit({Control::jump_unless, 0, place(op.a), 0, 0, 0});
        count_trip(program_.whiles[op.bits].loop, program_.whiles[op.bits].trips);
        break;
      case Opcode::kEndRepeat: {
        const lower::While& loop = program_.whiles[op.bits];
        emit_next(loop.carries);
        close_loop();
        // The parameter's register is that of the remaining trips.
        if (loop.trips != lower::kNone)
          emit({Control::count_trips, 0, place(loop.trips), 0, loop.loop, 0});
        end_counting(loop.loop);
        break;
      }
      case Opcode::kIf:
      case Opcode::kElse:
      case Opcode::kEndIf:
        branch(
            op, [this](Value value) { return place(value); },
            [this](std::vector<Move> moves) { emit_moves(std::move(moves)); });
        break;
      default:
        throw InternalError("an op of lanes outside lanes");
    }
  }

  /// An if on scalars or on lanes that all take the same side: `place_of` gives the register of a
  /// value.
  template <class PlaceOf, class EmitMoves>
  void branch(const Op& op, PlaceOf place_of, EmitMoves emit_all) {
    const lower::If& choice = program_.ifs[op.bits];
    if (op.code == Opcode::kIf) {
      open_.push_back({here(), here()});
      const Value predicate = choice.predicate;
      if (index_ && nest_.varies(predicate))
        emit({Control::jump_unless_lanes, 0, block(predicate), active_.empty() ? 0 : active_.back(),
              0, 0});
      else
        emit({Control::jump_unless, 0, place(predicate), 0, 0, 0});
      return;
    }
    const bool is_else = op.code == Opcode::kElse;
    std::vector<Move> moves;
    for (const auto& result : choice.results)
      moves.push_back(
          {place_of(result.result), place_of(is_else ? result.then : result.otherwise)});
    emit_all(std::move(moves));
    code_.code_[open_.back().exit].bits = here() + (is_else ? 1 : 0);
    open_.back().exit = here();
    if (is_else)
      emit({Control::jump});
    else
      open_.pop_back();
  }

  void begin_counting(std::uint32_t loop) {
    if (loop == lower::kNoLoop) return;
    emit({Control::begin_loop, 0, 0, 0, loop, 0});
    loop_ = loop;
  }
  void count_trip(std::uint32_t loop, Value trips = lower::kNone) {
    if (loop == lower::kNoLoop) return;
    emit({Control::count_trip, 0, trips == lower::kNone ? 0 : place(trips), 0, loop, 0});
  }
  /// Adds up the trips of loops in lanes.
  void lane_trips(std::span<const std::uint32_t> loops) {
    for (const std::uint32_t loop : loops) emit({Control::lane_trips, 0, 0, 0, loop, 0});
  }
  void end_counting(std::uint32_t loop) {
    if (loop != lower::kNoLoop) loop_ = program_.loops[loop].outer;
  }
  void close_loop() {
    emit({Control::jump, 0, 0, 0, 0, open_.back().head});
    code_.code_[open_.back().exit].bits = here();
    open_.pop_back();
  }

  // Lanes.

  /// The instructions of the lanes that begin at op `begin`; returns the position of their end.
  std::size_t lanes(std::size_t begin) {
    const std::size_t end = ends_[begin];
    const lower::Lanes& lanes = program_.lanes[program_.code[begin].bits];
    nest_ = LaneValues(program_, begin, end, ends_);
    free_.clear();
    used_ = 0;
    blocks_of_.clear();
    index_ = &lanes;
    // Values from outside that are the same for all lanes are broadcast once.
    for (const Value value : nest_.spread_at_entry()) spread(value);
    const auto first = static_cast<std::uint32_t>(code_.reductions_.size());
    const auto reductions = static_cast<std::uint32_t>(lanes.reductions.size());
    for (const lower::Lanes::Reduction& reduction : lanes.reductions) {
      code_.reductions_.push_back({new_block(), place(reduction.init), 0, place(reduction.result),
                                   reduction.combine, reduction.type});
    }
    if (reductions) emit({Control::begin_reductions, 0, reductions, 0, 0, first});
    const std::uint32_t index = nest_.reads_index() ? block(lanes.index) : 0;
    const std::uint64_t entry = here();
    emit({Control::begin_lanes, 0, place(lanes.count), index, 0, 0});
    for (std::size_t at = begin + 1; at < end; at++) {
      lane_op(program_.code[at], at);
      release(at);
    }
    for (std::uint32_t i = 0; i < reductions; i++)
      code_.reductions_[first + i].value = block(lanes.reductions[i].value);
    if (reductions) emit({Control::reduce, 0, reductions, 0, 0, first});
    for (const std::uint32_t loop : lanes.loops) emit({Control::block_trips, 0, 0, 0, loop, 0});
    emit({Control::next_block, lanes.polls, place(lanes.count), index, loop_, entry + 1});
    code_.code_[entry].bits = here();
    if (!lanes.trips_later) lane_trips(lanes.loops);
    if (reductions) emit({Control::end_reductions, 0, reductions, 0, 0, first});
    index_ = nullptr;
    return end;
  }

  std::uint32_t new_block() {
    std::uint32_t number;
    if (free_.empty()) {
      number = used_++;
      blocks_ = std::max(blocks_, used_);
    } else {
      number = free_.back();
      free_.pop_back();
    }
    return number | kBlockBit;
  }
  void free_block(std::uint32_t place) { free_.push_back(place & ~kBlockBit); }

  /// The block of a value in lanes, allocated if it has none yet.
  std::uint32_t block(Value value) {
    auto [found, is_new] = blocks_of_.try_emplace(value, 0);
    if (is_new) {
      found->second = new_block();
      ending_.push_back({nest_.last_use(value), value});
      std::push_heap(ending_.begin(), ending_.end(), std::greater<>());
    }
    return found->second;
  }

  void spread(Value value) {
    emit({Control::broadcast, block(value), place(value),
          static_cast<std::uint32_t>(lower::width(program_.types[value])), 0, 0});
  }

  /// Releases blocks whose value is not read after position `at`.
  void release(std::size_t at) {
    while (!ending_.empty() && ending_.front().first <= at) {
      std::pop_heap(ending_.begin(), ending_.end(), std::greater<>());
      const auto found = blocks_of_.find(ending_.back().second);
      ending_.pop_back();
      if (found == blocks_of_.end()) continue;
      free_block(found->second);
      blocks_of_.erase(found);
    }
  }

  /// Result and parameter of a carry share a block.
  void hand_over(const std::vector<lower::Carry>& carries, std::size_t) {
    for (const lower::Carry& carry : carries) {
      const auto param = blocks_of_.find(carry.param);
      const std::uint32_t place = param->second;
      blocks_of_.erase(param);
      blocks_of_[carry.result] = place;
      ending_.push_back({nest_.last_use(carry.result), carry.result});
      std::push_heap(ending_.begin(), ending_.end(), std::greater<>());
    }
  }

  void lane_access(std::uint64_t index) {
    const lower::Address& address = program_.addresses[index];
    Access access{place(address.base),
                  static_cast<std::uint32_t>(code_.terms_.size()),
                  0,
                  address.offset,
                  0,
                  false};
    for (const lower::Address::Term& term : address.terms) {
      if (term.index == index_->index) {
        access.lane_stride += term.stride;
        continue;
      }
      const bool by_lane = nest_.varies(term.index);
      access.gathers = access.gathers || by_lane;
      code_.terms_.push_back(
          {by_lane ? block(term.index) : place(term.index), by_lane, term.stride});
      access.terms++;
    }
    code_.accesses_[index] = access;
  }

  std::uint32_t operand(Value value) { return value == kNone ? 0 : block(value); }

  void lane_op(const Op& op, std::size_t at) {
    if (lower::info(op.code).kind == lower::OpcodeKind::kControl) return lane_control(op, at);
    const bool stores = op.code == Opcode::kStore;
    if (!stores && !nest_.varies(op.result)) {
      decode(op);
      if (nest_.must_spread(op.result)) spread(op.result);
      return;
    }
    switch (op.code) {
      case Opcode::kLoad:
        lane_access(op.bits);
        emit({memory(op, true), block(op.result), 0, 0, 0, op.bits});
        break;
      case Opcode::kStore:
        lane_access(op.bits);
        // Lanes that have ended store nothing.
        emit({memory(op, true), 0, block(op.a), active_.empty() ? 0 : active_.back(), 0, op.bits});
        break;
      case Opcode::kConvert:
        emit({conversion(op.from, op.type, true), block(op.result), block(op.a), 0, 0, 0});
        break;
      case Opcode::kBitcast:
        emit({conversion(bits_type(op.type), bits_type(op.type), true), block(op.result),
              block(op.a), 0, 0, 0});
        break;
      default: {
        const std::uint32_t a = operand(op.a), b = operand(op.b), c = operand(op.c);
        emit({arithmetic(op, true), block(op.result), a, b, c, op.bits});
      }
    }
  }

  void block_moves(std::vector<Move> moves) {
    std::vector<std::uint32_t> temporary;
    moves = in_order(std::move(moves), [&] {
      temporary.push_back(new_block());
      return temporary.back();
    });
    emit_block_moves(moves);
    for (const std::uint32_t place : temporary) free_block(place);
  }

  void emit_block_moves(const std::vector<Move>& moves) {
    if (moves.empty()) return;
    Instruction instruction{Control::move_blocks};
    instruction.bits = code_.moves_.size();
    instruction.a = static_cast<std::uint32_t>(moves.size());
    code_.moves_.insert(code_.moves_.end(), moves.begin(), moves.end());
    emit(instruction);
  }

  void block_init(const std::vector<lower::Carry>& carries) {
    std::vector<Move> moves;
    for (const lower::Carry& carry : carries)
      moves.push_back({block(carry.param), block(carry.init)});
    block_moves(std::move(moves));
  }

  /// Next values become the carry where `active` is not 0 (everywhere without it).
  void block_next(const std::vector<lower::Carry>& carries, std::uint32_t active) {
    std::vector<Move> moves;
    for (const lower::Carry& carry : carries)
      moves.push_back({block(carry.param), block(carry.next)});
    if (!active) return block_moves(std::move(moves));
    absl::flat_hash_map<std::uint32_t, std::uint32_t> widths;
    for (const lower::Carry& carry : carries)
      widths[block(carry.param)] = static_cast<std::uint32_t>(lower::width(carry.type));
    std::vector<std::uint32_t> temporary;
    moves = in_order(std::move(moves), [&] {
      temporary.push_back(new_block());
      return temporary.back();
    });
    for (const Move& move : moves) {
      const auto found = widths.find(move.to);
      if (found == widths.end())
        emit_block_moves({move});
      else
        emit({Control::move_active, move.to, move.from, active, found->second, 0});
    }
    for (const std::uint32_t place : temporary) free_block(place);
  }

  void lane_control(const Op& op, std::size_t at) {
    switch (op.code) {
      case Opcode::kFor: {
        const lower::For& loop = program_.fors[op.bits];
        if (nest_.varies(loop.upper))
          emit({Control::of_active_lane, place(loop.upper), block(loop.upper),
                active_.empty() ? 0 : active_.back(), 0, 0});
        block_init(loop.carries);
        emit_moves({{place(loop.index), place(loop.lower)}});
        begin_counting(loop.loop);
        open_.push_back({here(), here()});
        emit({Control::for_test, 0, place(loop.index), place(loop.upper), 0, 0});
        if (nest_.must_spread(loop.index)) spread(loop.index);
        count_trip(loop.loop);
        break;
      }
      case Opcode::kEndFor: {
        const lower::For& loop = program_.fors[op.bits];
        block_next(loop.carries, 0);
        emit({Control::for_next, loop.polls, place(loop.index), 0, loop_,
              static_cast<std::uint64_t>(loop.step)});
        close_loop();
        end_counting(loop.loop);
        hand_over(loop.carries, at);
        break;
      }
      case Opcode::kRepeat: {
        const lower::While& loop = program_.whiles[op.bits];
        block_init(loop.carries);
        const std::uint32_t outer = active_.empty() ? 0 : active_.back();
        active_.push_back(new_block());
        emit({Control::begin_active, active_.back(), outer, 0, 0, 0});
        begin_counting(loop.loop);
        open_.push_back({here(), kNowhere});
        break;
      }
      case Opcode::kTest:
        open_.back().exit = here();
        emit({Control::test_active, active_.back(), block(op.a), 0, 0, 0});
        count_trip(program_.whiles[op.bits].loop);
        break;
      case Opcode::kEndRepeat: {
        const lower::While& loop = program_.whiles[op.bits];
        block_next(loop.carries, active_.back());
        close_loop();
        end_counting(loop.loop);
        free_block(active_.back());
        active_.pop_back();
        hand_over(loop.carries, at);
        break;
      }
      case Opcode::kIf:
      case Opcode::kElse:
      case Opcode::kEndIf:
        branch(
            op, [this](Value value) { return block(value); },
            [this](std::vector<Move> moves) { block_moves(std::move(moves)); });
        break;
      default:
        throw InternalError("lanes in lanes");
    }
  }

  /// Moves the blocks behind the scalars.
  void relocate(std::uint32_t first) {
    const auto fix = [&](std::uint32_t& place) {
      if (place & kBlockBit) place = first + (place & ~kBlockBit) * kBlockBytes;
    };
    for (Instruction& instruction : code_.code_) {
      fix(instruction.result);
      fix(instruction.a);
      fix(instruction.b);
      if (instruction.c != lower::kNoLoop) fix(instruction.c);
    }
    for (Term& term : code_.terms_) fix(term.index);
    for (Move& move : code_.moves_) {
      fix(move.to);
      fix(move.from);
    }
    for (Reduction& reduction : code_.reductions_) {
      fix(reduction.partials);
      fix(reduction.value);
    }
  }

  const lower::Program& program_;
  Code& code_;
  std::vector<std::size_t> ends_;
  std::vector<std::uint32_t> registers_;  // of each value outside lanes
  std::uint32_t scalars_ = 0;             // bytes
  std::uint32_t blocks_ = 0;              // the most at any time
  std::vector<Open> open_;
  std::uint32_t loop_ = lower::kNoLoop;  // the innermost that counts its trips
  // For the lanes that are being decoded.
  const lower::Lanes* index_ = nullptr;
  LaneValues nest_;
  std::vector<std::uint32_t> free_;
  std::uint32_t used_ = 0;
  absl::flat_hash_map<Value, std::uint32_t> blocks_of_;
  std::vector<std::pair<std::size_t, Value>> ending_;
  std::vector<std::uint32_t> active_;
};

Code::Code(std::shared_ptr<const lower::Program> program) : program_(std::move(program)) {
  Decoder(*program_, *this).run();
}

void Code::count_held(HeldBytes& held) const {
  held.block(sizeof(*this));
  held.elements(code_);
  held.elements(accesses_);
  held.elements(terms_);
  held.elements(moves_);
  held.elements(reductions_);
  held.elements(reported_);
  for (const Reported& reported : reported_) held.elements(reported.state);
}

lower::Status Code::run(lower::RunFrame& frame, std::byte* workspace) const noexcept {
  State state{&frame,        workspace,     code_.data(),       program_.get(),  accesses_.data(),
              terms_.data(), moves_.data(), reductions_.data(), reported_.data()};
  for (const Instruction* at = code_.data(); at;) at = at->run(at, state);
  return state.status;
}

}  // namespace rondo::bytecode
