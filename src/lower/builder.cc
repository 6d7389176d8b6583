#include "lower/builder.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <utility>

#include "fmt/format.h"
#include "lower/arithmetic.h"
#include "lower/opcodes.h"

namespace rondo::lower {

Builder::Builder() {
  program_.types.push_back(Type::kPred);  // of kNone
  bits_.push_back(0);
  is_constant_.push_back(false);
  made_at_.push_back(0);
}

void Builder::reserve(std::size_t ops) {
  program_.code.reserve(ops);
  program_.types.reserve(ops);
  bits_.reserve(ops);
  made_at_.reserve(ops);
  is_constant_.reserve(ops);
  values_.reserve(ops);
  made_.reserve(ops);
}

Program Builder::finish() {
  if (!scopes_.empty()) throw InternalError("a program ends inside a loop or a branch");
  prologue_.insert(prologue_.end(), program_.code.begin(), program_.code.end());
  program_.code = std::move(prologue_);
  Program done = std::move(program_);
  *this = Builder();
  return done;
}

Value Builder::define(Type type) {
  const Value value = static_cast<Value>(program_.types.size());
  program_.types.push_back(type);
  bits_.push_back(0);
  is_constant_.push_back(false);
  made_at_.push_back(0);
  if (!program_.locations.empty()) program_.location_of.push_back(location_);
  return value;
}

void Builder::record_locations() {
  if (!program_.locations.empty()) return;
  program_.locations.emplace_back();
  program_.location_of.resize(program_.types.size());
}

std::uint32_t Builder::locate(const SourceLocation& at) {
  const std::uint32_t before = location_;
  if (program_.locations.empty()) return before;
  if (at.line == 0) {
    location_ = 0;
    return before;
  }
  const auto [found, is_new] = locations_.try_emplace({at.file, at.line}, 0);
  if (is_new) {
    found->second = static_cast<std::uint32_t>(program_.locations.size());
    program_.locations.push_back(at);
  }
  location_ = found->second;
  return before;
}

Value Builder::constant(Type type, std::uint64_t bits) {
  auto [found, is_new] = values_.try_emplace(
      Key{Opcode::kConstant, type, Type::kPred, kNone, kNone, kNone, bits}, kNone);
  if (is_new) {
    const Value value = found->second = define(type);
    prologue_.push_back({Opcode::kConstant, type, Type::kPred, value, kNone, kNone, kNone, bits});
    bits_[value] = bits;
    is_constant_[value] = true;
    return value;
  }
  return found->second;
}

Value Builder::number(Type type, double value) {
  return constant(type, for_type(type, [&]<class T>() { return to_bits<T>(converted<T>(value)); }));
}

Value Builder::index(std::int64_t value) { return constant(Type::kS64, to_bits(value)); }

std::optional<std::uint64_t> Builder::known(Value value) const {
  if (!is_constant_[value]) return std::nullopt;
  return bits_[value];
}

std::optional<std::uint64_t> Builder::fold(Opcode code, Type type, Type from, Value a, Value b,
                                           Value c) {
  const OpcodeInfo& op = info(code);
  if (!is_constant_[a] || (op.operands > 1 && !is_constant_[b]) ||
      (op.operands > 2 && !is_constant_[c]))
    return std::nullopt;
  std::optional<std::uint64_t> bits;
  const std::uint64_t x = bits_[a], y = bits_[b], z = bits_[c];
  switch (op.kind) {
    case OpcodeKind::kUnary:
      for_unary(code, [&]<Opcode of>() {
        for_type(type, [&]<class T>() {
          if constexpr (has_unary<of, T>) bits = to_bits(lower::unary<of, T>(from_bits<T>(x)));
        });
      });
      break;
    case OpcodeKind::kBinary:
      for_binary(code, [&]<Opcode of>() {
        for_type(type, [&]<class T>() {
          if constexpr (has_binary<of, T>)
            bits = to_bits(lower::binary<of, T>(from_bits<T>(x), from_bits<T>(y)));
        });
      });
      break;
    case OpcodeKind::kCompare:
      for_compare(code, [&]<Opcode of>() {
        for_type(from, [&]<class T>() {
          bits = to_bits(compared<of, T>(from_bits<T>(x), from_bits<T>(y)));
        });
      });
      break;
    case OpcodeKind::kConvert:
      if (code == Opcode::kBitcast) return x;
      for_type(from, [&]<class From>() {
        for_type(type, [&]<class To>() { bits = to_bits(converted<To>(from_bits<From>(x))); });
      });
      break;
    case OpcodeKind::kTernary:
      if (code == Opcode::kSelect) return x & 1 ? y : z;
      for_fused(code, [&]<Opcode of>() {
        for_type(type, [&]<class T>() {
          if constexpr (is_float_type<T>)
            bits = to_bits(lower::fused<of, T>(from_bits<T>(x), from_bits<T>(y), from_bits<T>(z)));
        });
      });
      break;
    default:
      break;
  }
  return bits;
}

/// What needs no op: by identities that hold for each bit of a result.
std::optional<Value> Builder::simplified(Opcode code, Type type, Value a, Value b) {
  const auto is = [&](Value value, std::int64_t integer) {
    return is_constant_[value] && bits_[value] == for_type(type, [&]<class T>() {
                                    return to_bits(converted<T>(integer));
                                  });
  };
  switch (code) {
    case Opcode::kAdd:
      if (is_integer(type) && is(b, 0)) return a;
      if (is_integer(type) && is(a, 0)) return b;
      break;
    case Opcode::kSubtract:
      if (is(b, 0)) return a;
      break;
    case Opcode::kMultiply:
      if (is(b, 1)) return a;
      if (is(a, 1)) return b;
      if (is_integer(type) && is(b, 0)) return b;
      if (is_integer(type) && is(a, 0)) return a;
      break;
    case Opcode::kAnd:
    case Opcode::kOr:
      if (a == b) return a;
      if (type == Type::kPred && is_constant_[b])
        return (bits_[b] != 0) == (code == Opcode::kAnd) ? a : b;
      if (type == Type::kPred && is_constant_[a])
        return (bits_[a] != 0) == (code == Opcode::kAnd) ? b : a;
      break;
    case Opcode::kMin:
    case Opcode::kMax:
      if (a == b) return a;
      break;
    default:
      break;
  }
  return std::nullopt;
}

/// Quotients and remainders by a constant power of two, with the same bits but without a division,
/// for which vectors of integers have no instruction.
std::optional<Value> Builder::quotient_by_power_of_two(Opcode code, Type type, Value a, Value b) {
  const bool divides = code == Opcode::kDivide;
  if ((!divides && code != Opcode::kRemainder) || !is_constant_[b]) return std::nullopt;
  const auto reciprocal = [&]<class T>(T divisor) -> std::optional<Value> {
    int exponent = 0;
    if (!divides || std::abs(std::frexp(divisor, &exponent)) != T(0.5)) return std::nullopt;
    const T inverse = 1 / divisor;
    if (!std::isnormal(inverse)) return std::nullopt;
    return multiply(a, constant(type, to_bits(inverse)));
  };
  if (type == Type::kF32) return reciprocal(from_bits<float>(bits_[b]));
  if (type == Type::kF64) return reciprocal(from_bits<double>(bits_[b]));
  const bool wide = type == Type::kS64 || type == Type::kU64;
  const bool is_signed = type == Type::kS32 || type == Type::kS64;
  if (!wide && !is_signed && type != Type::kU32) return std::nullopt;
  const std::uint64_t divisor = wide ? bits_[b] : static_cast<std::uint32_t>(bits_[b]);
  const int width = wide ? 64 : 32;
  const int shift = std::countr_zero(divisor);
  if (!std::has_single_bit(divisor) || shift == 0 || (is_signed && shift == width - 1))
    return std::nullopt;
  const auto by = [&](int bits) { return constant(type, static_cast<std::uint64_t>(bits)); };
  if (!is_signed) {
    return divides ? binary(Opcode::kShiftRightLogical, a, by(shift))
                   : bit_and(a, constant(type, divisor - 1));
  }
  // Quotients are rounded towards zero: a negative dividend is raised by the divisor - 1 first.
  const Value sign = binary(Opcode::kShiftRightArithmetic, a, by(width - 1));
  const Value raised = add(a, binary(Opcode::kShiftRightLogical, sign, by(width - shift)));
  const Value quotient = binary(Opcode::kShiftRightArithmetic, raised, by(shift));
  return divides ? quotient : subtract(a, binary(Opcode::kShiftLeft, quotient, by(shift)));
}

const Op* Builder::maker(Value value) const {
  const std::size_t at = made_at_[value];
  if (at >= program_.code.size() || program_.code[at].result != value) return nullptr;
  return &program_.code[at];
}

/// The two parts of a number that shifts in opposite directions leave, which have no bit in common.
std::optional<Value> Builder::rotation(Opcode code, Type type, Value a, Value b) {
  if (code != Opcode::kOr && code != Opcode::kXor && code != Opcode::kAdd) return std::nullopt;
  const Op *left = maker(a), *right = maker(b);
  if (left == nullptr || right == nullptr) return std::nullopt;
  if (left->code != Opcode::kShiftLeft) std::swap(left, right);
  if (left->code != Opcode::kShiftLeft || right->code != Opcode::kShiftRightLogical ||
      left->a != right->a || !is_constant_[left->b] || !is_constant_[right->b])
    return std::nullopt;
  const auto bits = static_cast<std::uint64_t>(8 * width(type));
  const std::uint64_t by = bits_[left->b];
  if (by >= bits || bits_[right->b] != bits - by) return std::nullopt;
  return emit(Opcode::kRotateLeft, type, type, left->a, left->b, kNone, 0);
}

Value Builder::emit(Opcode code, Type type, Type from, Value a, Value b, Value c,
                    std::uint64_t bits) {
  if (info(code).commutative && a > b) std::swap(a, b);
  if (const auto folded = fold(code, type, from, a, b, c)) return constant(type, *folded);
  const Key key{code, type, from, a, b, c, bits};
  auto [found, is_new] = values_.try_emplace(key, kNone);
  if (!is_new) return found->second;
  const Value result = define(type);
  found->second = result;
  made_.push_back(key);
  made_at_[result] = static_cast<std::uint32_t>(program_.code.size());
  program_.code.push_back({code, type, from, result, a, b, c, bits});
  return result;
}

Value Builder::unary(Opcode code, Value a) {
  return emit(code, type(a), type(a), a, kNone, kNone, 0);
}

namespace {

/// One opcode for what means the same of preds.
Opcode of_preds(Opcode code) {
  if (code == Opcode::kAdd || code == Opcode::kMax) return Opcode::kOr;
  if (code == Opcode::kMultiply || code == Opcode::kMin) return Opcode::kAnd;
  return code;
}

}  // namespace

Value Builder::binary(Opcode code, Value a, Value b) {
  if (type(a) != type(b))
    throw InternalError(fmt::format("lower {}: operands of {} and {}", info(code).name,
                                    type_name(type(a)), type_name(type(b))));
  if (type(a) == Type::kPred) code = of_preds(code);
  if (const auto same = simplified(code, type(a), a, b)) return *same;
  if (const auto turned = rotation(code, type(a), a, b)) return *turned;
  if (!is_constant_[a]) {
    if (const auto quotient = quotient_by_power_of_two(code, type(a), a, b)) return *quotient;
  }
  return emit(code, type(a), type(a), a, b, kNone, 0);
}

Value Builder::clamped_index(Value a, std::int64_t room) {
  const auto clamp = [&](Opcode code, Value x, Value bound) {
    if (const auto same = simplified(code, Type::kS64, x, bound)) return *same;
    return emit(code, Type::kS64, Type::kS64, x, bound, kNone, kRarelyBounds);
  };
  return clamp(Opcode::kMin, clamp(Opcode::kMax, a, index(0)), index(room));
}

Value Builder::compare(Opcode code, Value a, Value b) {
  if (type(a) != type(b))
    throw InternalError(fmt::format("lower {}: operands of {} and {}", info(code).name,
                                    type_name(type(a)), type_name(type(b))));
  return emit(code, Type::kPred, type(a), a, b, kNone, 0);
}

Value Builder::fused(Opcode code, Value a, Value b, Value c) {
  if (a > b) std::swap(a, b);  // as of products
  return emit(code, type(a), type(a), a, b, c, 0);
}

Value Builder::multiply_add(Value a, Value b, Value c) {
  return is_contracted(type(a)) ? fma(a, b, c) : add(multiply(a, b), c);
}

Value Builder::subtract_product(Value c, Value a, Value b) {
  return is_contracted(type(a)) ? fused(Opcode::kFnma, a, b, c) : subtract(c, multiply(a, b));
}

Value Builder::select(Value predicate, Value a, Value b) {
  if (a == b) return a;
  if (const auto bits = known(predicate)) return *bits & 1 ? a : b;
  return emit(Opcode::kSelect, type(a), type(a), predicate, a, b, 0);
}

Value Builder::convert(Value a, Type to) {
  if (type(a) == to) return a;
  return emit(Opcode::kConvert, to, type(a), a, kNone, kNone, 0);
}

Value Builder::bitcast(Value a, Type to) {
  if (type(a) == to) return a;
  return emit(Opcode::kBitcast, to, type(a), a, kNone, kNone, 0);
}

std::uint64_t Builder::named(std::uint64_t function, const char* name) {
  auto& known = program_.functions;
  const auto is_it = [&](const MathFunction& other) { return other.address == function; };
  if (std::none_of(known.begin(), known.end(), is_it)) known.push_back({function, name});
  return function;
}

Value Builder::math_call(Function1F32 f, const char* name, Value a, Value predicate) {
  return emit(Opcode::kMathCall, Type::kF32, Type::kF32, a, kNone, predicate,
              named(to_bits(f), name));
}
Value Builder::math_call(Function1F64 f, const char* name, Value a, Value predicate) {
  return emit(Opcode::kMathCall, Type::kF64, Type::kF64, a, kNone, predicate,
              named(to_bits(f), name));
}
Value Builder::math_call(Function2F32 f, const char* name, Value a, Value b, Value predicate) {
  return emit(Opcode::kMathCall, Type::kF32, Type::kF32, a, b, predicate, named(to_bits(f), name));
}
Value Builder::math_call(Function2F64 f, const char* name, Value a, Value b, Value predicate) {
  return emit(Opcode::kMathCall, Type::kF64, Type::kF64, a, b, predicate, named(to_bits(f), name));
}

Value Builder::call_function(const MathFunction& function, Value a, Value b) {
  return emit(Opcode::kMathCall, type(a), type(a), a, b, kNone, function.address);
}

Value Builder::buffer(const Buffer& buffer) {
  const std::uint32_t here = std::exchange(location_, 0);  // bases come first
  const Value pointer = define(Type::kPointer);
  location_ = here;
  prologue_.push_back({Opcode::kBase, Type::kPointer, Type::kPred, pointer, kNone, kNone, kNone,
                       program_.buffers.size()});
  program_.buffers.push_back(buffer);
  return pointer;
}

Value Builder::view(Address from, std::int64_t bytes) {
  const Value pointer = define(Type::kPointer);
  const std::uint32_t at = address(std::move(from));
  program_.code.push_back({Opcode::kView, Type::kPointer, Type::kPred, pointer, kNone, kNone, kNone,
                           program_.views.size()});
  program_.views.push_back({at, bytes});
  return pointer;
}

std::uint32_t Builder::address(Address&& address) {
  std::size_t kept = 0;
  for (const Address::Term& term : address.terms) {
    if (is_constant_[term.index])
      address.offset += from_bits<std::int64_t>(bits_[term.index]) * term.stride;
    else if (term.stride != 0)
      address.terms[kept++] = term;
  }
  address.terms.resize(kept);
  program_.addresses.push_back(std::move(address));
  return static_cast<std::uint32_t>(program_.addresses.size() - 1);
}

Value Builder::load(Type type, Address from) {
  const Value result = define(type);
  const std::uint32_t at = address(std::move(from));
  program_.code.push_back({Opcode::kLoad, type, type, result, kNone, kNone, kNone, at});
  return result;
}

void Builder::store(Value value, Address to) {
  const std::uint32_t at = address(std::move(to));
  program_.code.push_back(
      {Opcode::kStore, type(value), type(value), kNone, value, kNone, kNone, at});
}

Element Builder::load_element(DType dtype, Address from) {
  const Type part = type_of(dtype);
  Element element{load(part, from)};
  if (is_complex(dtype)) {
    from.offset += width(part);
    element.push_back(load(part, std::move(from)));
  }
  return element;
}

void Builder::store_element(std::span<const Value> parts, Address to) {
  for (const Value part : parts) {
    store(part, to);
    to.offset += width(type(part));
  }
}

void Builder::copy(Address from, Address to, std::int64_t bytes) {
  const std::uint32_t source = address(std::move(from)), destination = address(std::move(to));
  program_.code.push_back({Opcode::kCopy, Type::kPred, Type::kPred, kNone, kNone, kNone, kNone,
                           program_.copies.size()});
  program_.copies.push_back({source, destination, bytes});
}

void Builder::call(Call call) {
  call.location = location_;
  program_.code.push_back(
      {Opcode::kCall, Type::kPred, Type::kPred, kNone, kNone, kNone, kNone, program_.calls.size()});
  program_.calls.push_back(std::move(call));
}

std::uint32_t Builder::tape(const Tape& tape) {
  program_.tapes.push_back(tape);
  return static_cast<std::uint32_t>(program_.tapes.size() - 1);
}

Value Builder::tape_row(std::uint32_t tape, Value row, bool writes, std::uint32_t loop) {
  const Value result = define(Type::kPointer);
  program_.code.push_back({writes ? Opcode::kTapeWrite : Opcode::kTapeRead, Type::kPointer,
                           Type::kPred, result, row, kNone, kNone,
                           std::uint64_t{loop} << 32 | tape});
  return result;
}

void Builder::set_tape(const TapeSet& set) {
  program_.code.push_back({Opcode::kTapeSet, Type::kPred, Type::kPred, kNone, kNone, kNone, kNone,
                           program_.tape_sets.size()});
  program_.tape_sets.push_back(set);
}

void Builder::open(Opcode code, std::uint32_t index, std::uint32_t loop) {
  if (loop != kNoLoop) {
    for (const Scope& scope : scopes_) {
      if (scope.opened == Opcode::kLanes) program_.lanes[scope.index].loops.push_back(loop);
    }
  }
  program_.code.push_back({code, Type::kPred, Type::kPred, kNone, kNone, kNone, kNone, index});
  scopes_.push_back({code, index, made_.size()});
}

void Builder::forget(std::size_t known) {
  while (made_.size() > known) {
    values_.erase(made_.back());
    made_.pop_back();
  }
}

Builder::Scope Builder::close(Opcode opened) {
  if (scopes_.empty() || scopes_.back().opened != opened)
    throw InternalError("loops and branches of a program overlap");
  const Scope scope = scopes_.back();
  scopes_.pop_back();
  forget(scope.known);
  return scope;
}

std::uint32_t Builder::begin_for(Value lower, Value upper, std::int64_t step,
                                 std::span<const Value> init, std::uint32_t loop,
                                 std::optional<std::int64_t> trips) {
  For made{define(Type::kS64), lower, upper, step, {}, loop, trips, false};
  for (const Value value : init)
    made.carries.push_back({type(value), value, define(type(value)), kNone, kNone});
  program_.fors.push_back(std::move(made));
  const auto index = static_cast<std::uint32_t>(program_.fors.size() - 1);
  open(Opcode::kFor, index, loop);
  return index;
}

namespace {

void close_carries(std::vector<Carry>& carries, std::span<const Value> next) {
  if (carries.size() != next.size()) throw InternalError("a loop gets another number of carries");
  for (std::size_t i = 0; i < next.size(); i++) carries[i].next = next[i];
}

}  // namespace

void Builder::end_for(std::span<const Value> next) {
  const Scope scope = close(Opcode::kFor);
  close_carries(program_.fors[scope.index].carries, next);
  program_.code.push_back(
      {Opcode::kEndFor, Type::kPred, Type::kPred, kNone, kNone, kNone, kNone, scope.index});
  for (Carry& carry : program_.fors[scope.index].carries) carry.result = define(carry.type);
}

std::uint32_t Builder::begin_lanes(Value count, bool polls) {
  Lanes made{define(Type::kS64), count, std::nullopt, {}, polls, {}};
  if (const auto bits = known(count)) made.known_count = from_bits<std::int64_t>(*bits);
  program_.lanes.push_back(std::move(made));
  const auto index = static_cast<std::uint32_t>(program_.lanes.size() - 1);
  open(Opcode::kLanes, index);
  return index;
}

Value Builder::reduce(Opcode combine, Value init, Value value) {
  if (scopes_.empty() || scopes_.back().opened != Opcode::kLanes)
    throw InternalError("a reduction outside lanes");
  const Value result = define(type(value));
  program_.lanes[scopes_.back().index].reductions.push_back(
      {combine, type(value), init, value, result});
  return result;
}

void Builder::end_lanes() {
  const Scope scope = close(Opcode::kLanes);
  program_.code.push_back(
      {Opcode::kEndLanes, Type::kPred, Type::kPred, kNone, kNone, kNone, kNone, scope.index});
}

std::uint32_t Builder::begin_while(std::span<const Value> init, std::uint32_t loop) {
  While made{kNone, {}, loop};
  for (const Value value : init)
    made.carries.push_back({type(value), value, define(type(value)), kNone, kNone});
  program_.whiles.push_back(std::move(made));
  const auto index = static_cast<std::uint32_t>(program_.whiles.size() - 1);
  open(Opcode::kRepeat, index, loop);
  return index;
}

void Builder::test(Value predicate) {
  if (scopes_.empty() || scopes_.back().opened != Opcode::kRepeat)
    throw InternalError("a test outside a while");
  const std::uint32_t index = scopes_.back().index;
  program_.whiles[index].predicate = predicate;
  program_.code.push_back(
      {Opcode::kTest, Type::kPred, Type::kPred, kNone, predicate, kNone, kNone, index});
}

void Builder::end_while(std::span<const Value> next) {
  const Scope scope = close(Opcode::kRepeat);
  close_carries(program_.whiles[scope.index].carries, next);
  program_.code.push_back(
      {Opcode::kEndRepeat, Type::kPred, Type::kPred, kNone, kNone, kNone, kNone, scope.index});
  for (Carry& carry : program_.whiles[scope.index].carries) carry.result = define(carry.type);
}

std::vector<std::pair<Value, bool>> Builder::assume(Value predicate, bool truth) {
  if (scopes_.empty() || scopes_.back().opened != Opcode::kRepeat)
    throw InternalError("an assumption outside a while");
  // Operands come before what is made of them.
  absl::flat_hash_map<Value, bool> wanted{{predicate, truth}};
  const auto know = [&](const Op& op, Opcode code, bool is) {
    const Key key{code, op.type, op.from, op.a, op.b, op.c, op.bits};
    const Value constant = pred(is);
    if (values_.insert_or_assign(key, constant).second) made_.push_back(key);
  };
  const std::uint32_t loop = scopes_.back().index;
  for (std::size_t at = program_.code.size(); at-- > 0;) {
    const Op op = program_.code[at];
    if (op.code == Opcode::kRepeat && op.bits == loop) break;
    const auto found = op.result == kNone ? wanted.end() : wanted.find(op.result);
    if (found == wanted.end()) continue;
    const bool is = found->second;
    wanted.erase(found);
    know(op, op.code, is);
    if (op.code == Opcode::kEqual || op.code == Opcode::kNotEqual)
      know(op, op.code == Opcode::kEqual ? Opcode::kNotEqual : Opcode::kEqual, !is);
    if (op.code == Opcode::kNot) wanted.emplace(op.a, !is);
    if ((op.code == Opcode::kAnd && is) || (op.code == Opcode::kOr && !is)) {
      wanted.emplace(op.a, is);
      wanted.emplace(op.b, is);
    }
  }
  return {wanted.begin(), wanted.end()};
}

std::uint32_t Builder::begin_if(Value predicate) {
  program_.ifs.push_back({predicate, {}});
  const auto index = static_cast<std::uint32_t>(program_.ifs.size() - 1);
  open(Opcode::kIf, index);
  return index;
}

void Builder::begin_else() {
  if (scopes_.empty() || scopes_.back().opened != Opcode::kIf)
    throw InternalError("an else outside an if");
  forget(scopes_.back().known);
  program_.code.push_back(
      {Opcode::kElse, Type::kPred, Type::kPred, kNone, kNone, kNone, kNone, scopes_.back().index});
}

std::vector<Value> Builder::end_if(std::span<const Value> then, std::span<const Value> otherwise) {
  if (then.size() != otherwise.size()) throw InternalError("branches differ in their results");
  const Scope scope = close(Opcode::kIf);
  program_.code.push_back(
      {Opcode::kEndIf, Type::kPred, Type::kPred, kNone, kNone, kNone, kNone, scope.index});
  std::vector<Value> results;
  for (std::size_t i = 0; i < then.size(); i++) {
    results.push_back(define(type(then[i])));
    program_.ifs[scope.index].results.push_back(
        {type(then[i]), then[i], otherwise[i], results.back()});
  }
  return results;
}

}  // namespace rondo::lower
