// Arithmetic as C expressions. C has no operator for what differs between machines or is undefined
// there; those ops are calls of helpers, unless the ranges of the operands make them plain.
#include <algorithm>
#include <cmath>
#include <utility>

#include "c/types.h"
#include "c/writer.h"
#include "lower/arithmetic.h"
#include "lower/opcodes.h"
#include "lower/passes/range.h"
#include "rondo/error.h"

namespace rondo::c {

using lower::is_float;
using lower::is_integer;
using lower::kNone;
using lower::Op;
using lower::Opcode;
using lower::Range;
using lower::Type;
using lower::Value;

namespace {

constexpr Range kNarrow{INT32_MIN, INT32_MAX};

bool is_half_type(Type type) { return type == Type::kF16 || type == Type::kBF16; }
bool is_small(Type type) { return is_integer(type) && lower::width(type) < 4; }
/// Whether C's own arithmetic on the type wraps.
bool wraps_by_itself(Type type) { return type == Type::kU32 || type == Type::kU64; }

void merge(Expression& to, const Expression& from) {
  to.loads = to.loads || from.loads;
  for (const Value carry : from.carried)
    if (std::find(to.carried.begin(), to.carried.end(), carry) == to.carried.end())
      to.carried.push_back(carry);
}

Op as_type(const Op& op, Type type) {
  Op other = op;
  other.type = type;
  return other;
}

}  // namespace

Type Writer::computed_in(const Op& op) const {
  const bool is_compare = lower::info(op.code).kind == lower::OpcodeKind::kCompare;
  if (op.type != Type::kS64 || is_compare) return op.type;
  for (const Value operand : {op.a, op.b, op.c}) {
    if (operand == kNone || program_.types[operand] != Type::kS64) continue;
    if (!is_narrow(operand) && !kNarrow.contains(range(operand))) return Type::kS64;
  }
  return wraps(op, Type::kS32) ? Type::kS64 : Type::kS32;
}

bool Writer::wraps(const Op& op, Type type) const {
  const auto of = [&](Value operand) { return operand == kNone ? Range() : range(operand); };
  const auto result = lower::computed(as_type(op, type), of(op.a), of(op.b), of(op.c));
  return !result || !lower::range_of(type).contains(*result);
}

Expression Writer::cast(std::string_view type, Expression value) {
  value.text = fmt::format("({}){}", type, parenthesized(value, kUnary));
  value.precedence = kUnary;
  return value;
}

Expression Writer::call(std::string_view function, std::initializer_list<Value> arguments,
                        bool takes_narrow) {
  Expression made{fmt::format("{}(", function)};
  for (const Value argument : arguments) {
    Expression given = use(argument);
    if (takes_narrow && program_.types[argument] == Type::kS64 && !is_narrow(argument))
      given = cast("int32_t", std::move(given));
    if (made.text.back() != '(') made.text += ", ";
    made.text += given.text;
    merge(made, given);
  }
  made.text += ')';
  return made;
}

Expression Writer::operation(Value a, std::string_view symbol, Value b, Precedence precedence,
                             bool regroups) {
  const auto part = [&](const Expression& given, bool first) {
    bool bare = given.precedence > precedence || given.precedence == kPrimary;
    // Floats are added in the order of the program: only what comes first needs no parentheses.
    if (given.precedence == precedence)
      bare = (precedence == kSum || precedence == kProduct) && (first || regroups);
    if (precedence == kBits && given.precedence < kUnary) bare = false;
    if (precedence == kRelation && given.precedence < kSum) bare = false;
    return bare ? given.text : "(" + given.text + ")";
  };
  const Expression left = use(a), right = use(b);
  Expression made{fmt::format("{} {} {}", part(left, true), symbol, part(right, false)),
                  precedence};
  merge(made, left);
  merge(made, right);
  return made;
}

void Writer::arithmetic(const Op& op) {
  if (op.code == Opcode::kConstant) {
    ValueState& now = state(op.result);
    const std::string text = helpers_.constant(op.type, op.bits);
    now.expression = {text,
                      text.front() == '-' || text.starts_with("(double)") ? kUnary : kPrimary};
    now.inlined = true;
    const auto number = static_cast<std::int64_t>(op.bits);
    now.narrow = op.type == Type::kS64 && kNarrow.contains({number, number});
    return;
  }
  if (state(op.result).uses == 0) return;
  const bool is_wide = helpers_.is_wide() && (op.type == Type::kF64 || op.from == Type::kF64);
  if (is_wide && op.code != Opcode::kSelect) return define(op.result, wide(op));
  Expression made;
  const Type type = computed_in(op);
  switch (lower::info(op.code).kind) {
    case lower::OpcodeKind::kUnary:
      made = unary(op, type);
      break;
    case lower::OpcodeKind::kBinary:
      made = binary(op, type);
      break;
    case lower::OpcodeKind::kCompare:
      made = compare(op);
      break;
    case lower::OpcodeKind::kConvert:
      made = op.code == Opcode::kConvert ? convert(op) : bitcast(op.type, op.from, use(op.a));
      break;
    case lower::OpcodeKind::kMath:
      made = math_call(op);
      break;
    case lower::OpcodeKind::kTernary:
      if (op.code == Opcode::kSelect) {
        const Expression condition = use(op.a), then = use(op.b), otherwise = use(op.c);
        made = {fmt::format("{} ? {} : {}", parenthesized(condition, kRelation),
                            parenthesized(then, kSum), parenthesized(otherwise, kSum)),
                kChoice};
        for (const Expression* given : {&condition, &then, &otherwise}) merge(made, *given);
      } else {
        const Expression a = use(op.a), b = use(op.b), c = use(op.c);
        const auto minus = [](const Expression& given, bool negated) {
          return negated ? "-" + parenthesized(given, kPrimary) : given.text;
        };
        made = {fmt::format("fma{}({}, {}, {})", math_suffix(op.type),
                            minus(a, op.code == Opcode::kFnma), b.text,
                            minus(c, op.code == Opcode::kFms))};
        for (const Expression* given : {&a, &b, &c}) merge(made, *given);
      }
      break;
    default:
      throw InternalError(fmt::format("C source: there is no {} in C", lower::info(op.code).name));
  }
  const bool rounds = is_half_type(op.type) && op.code != Opcode::kSelect &&
                      op.code != Opcode::kNegate && op.code != Opcode::kAbs &&
                      op.code != Opcode::kConvert && op.code != Opcode::kBitcast;
  if (rounds) {
    made.text = fmt::format("{}({})", helpers_.use("round", op.type), made.text);
    made.precedence = kPrimary;
  }
  if (op.type == Type::kS64) {
    const auto of = [&](Value operand) { return operand == kNone ? Range() : range(operand); };
    const auto result = lower::computed(op, of(op.a), of(op.b), of(op.c));
    const bool narrow = type == Type::kS32 || (result && kNarrow.contains(*result));
    // What was computed in more than is needed.
    if (narrow && type != Type::kS32 && op.code != Opcode::kConvert)
      made = cast("int32_t", std::move(made));
    state(op.result).narrow = narrow;
  }
  define(op.result, std::move(made));
}

/// In integers (c/wide.h).
Expression Writer::wide(const Op& op) {
  if (op.code == Opcode::kConvert)
    return call(helpers_.wide(op.type == Type::kF64 ? "f64_from_f32" : "f32_from_f64"), {op.a});
  return call(helpers_.wide(op.code == Opcode::kAdd ? "add_f64" : "multiply_f64"), {op.a, op.b});
}

Expression Writer::unary(const Op& op, Type type) {
  const auto math = [&](std::string_view function) {
    return call(fmt::format("{}{}", function, math_suffix(type)), {op.a});
  };
  switch (op.code) {
    case Opcode::kNegate:
      if (is_float(type) || !wraps(op, type)) {
        Expression value = use(op.a);
        value.text = "-" + parenthesized(value, kPrimary);
        value.precedence = kUnary;
        return is_small(type) ? cast(variable_type(type), std::move(value)) : value;
      }
      if (type >= Type::kU8) {
        Expression value = cast(variable_type(Type::kU64), use(op.a));
        value.text = "0u - " + value.text;
        value.precedence = kSum;
        return cast(variable_type(type), std::move(value));
      }
      return call(helpers_.use("negate", type), {op.a});
    case Opcode::kAbs:
      if (is_float(type)) return math("fabs");
      if (type >= Type::kU8) return use(op.a);
      return call(helpers_.use("absolute", type), {op.a});
    case Opcode::kNot: {
      Expression value = use(op.a);
      value.text = (type == Type::kPred ? "!" : "~") + parenthesized(value, kUnary);
      value.precedence = kUnary;
      return is_small(type) ? cast(variable_type(type), std::move(value)) : value;
    }
    case Opcode::kSqrt:
      return math("sqrt");
    case Opcode::kFloor:
      return math("floor");
    case Opcode::kCeil:
      return math("ceil");
    case Opcode::kRoundEven:
      return math("nearbyint");
    case Opcode::kTruncate:
      return math("trunc");
    case Opcode::kPopcount:
      return call(helpers_.use("popcount", type), {op.a});
    default:  // kCountLeadingZeros
      if (op.type == Type::kS64) type = Type::kS64;
      return call(helpers_.use("leading_zeros", type), {op.a});
  }
}

Expression Writer::shift(const Op& op, Type type) {
  const bool left = op.code == Opcode::kShiftLeft, sign = op.code == Opcode::kShiftRightArithmetic;
  const Range by = range(op.b);
  const bool plain = by.low >= 0 && by.high < 8 * lower::width(type);
  // Right of a non-negative number, as of an unsigned one, and left of an unsigned one.
  const bool positive = type >= Type::kU8 ? !sign : range(op.a).low >= 0;
  if (plain && !is_small(type) && (left ? type >= Type::kU8 : positive))
    return operation(op.a, left ? "<<" : ">>", op.b, kBits, false);
  if (plain && !is_small(type) && left) {
    Expression made = cast(variable_type(lower::bits_type(type)), use(op.a));
    const Expression places = use(op.b);
    made.text += " << " + parenthesized(places, kUnary);
    made.precedence = kBits;
    merge(made, places);
    return cast(variable_type(type), std::move(made));
  }
  return call(helpers_.use(left   ? "shift_left"
                           : sign ? "shift_sign"
                                  : "shift_right",
                           type),
              {op.a, op.b});
}

Expression Writer::binary(const Op& op, Type type) {
  const bool sums = op.code == Opcode::kAdd || op.code == Opcode::kSubtract;
  const auto plain = [&](std::string_view symbol, Precedence precedence, bool regroups) {
    Expression made = operation(op.a, symbol, op.b, precedence, regroups);
    return is_small(type) ? cast(variable_type(type), std::move(made)) : made;
  };
  switch (op.code) {
    case Opcode::kAdd:
    case Opcode::kSubtract:
    case Opcode::kMultiply: {
      const bool adds = op.code == Opcode::kAdd;
      if (type == Type::kPred) return plain(adds ? "||" : "&&", kBits, false);
      const std::string_view symbol = adds ? "+" : sums ? "-" : "*";
      const Precedence precedence = sums ? kSum : kProduct;
      if (is_float(type)) return plain(symbol, precedence, false);
      if (wraps_by_itself(type)) return plain(symbol, precedence, adds);
      if (type == Type::kS64 && !wraps(op, type)) {
        Expression made = operation(op.a, symbol, op.b, precedence, false);
        // In 64 bits although both are 32 wide.
        if (is_narrow(op.a) && is_narrow(op.b)) {
          const Expression left = cast("int64_t", use(op.a));
          made.text = fmt::format("{} {} {}", left.text, symbol, text(op.b, kUnary));
        }
        return made;
      }
      if (!wraps(op, type)) return plain(symbol, precedence, false);
      if (type == Type::kU8 || type == Type::kU16) {
        Expression left = cast("uint32_t", use(op.a));
        const Expression right = use(op.b);
        merge(left, right);
        left.text = fmt::format("{} {} {}", left.text, symbol, parenthesized(right, kUnary));
        left.precedence = precedence;
        return cast(variable_type(type), std::move(left));
      }
      return call(helpers_.use(adds ? "add" : sums ? "subtract" : "multiply", type), {op.a, op.b});
    }
    case Opcode::kDivide:
    case Opcode::kRemainder: {
      const bool divides = op.code == Opcode::kDivide;
      if (is_float(type)) {
        if (divides) return plain("/", kProduct, false);
        return call(fmt::format("fmod{}", math_suffix(type)), {op.a, op.b});
      }
      const Range by = range(op.b);
      const bool safe = type != Type::kU64 && by.low > 0 && is_integer(type);
      if (safe && !(type == Type::kS64 && is_narrow(op.a) && is_narrow(op.b)))
        return plain(divides ? "/" : "%", kProduct, false);
      return call(helpers_.use(divides ? "divide" : "remainder", type), {op.a, op.b});
    }
    case Opcode::kMin:
    case Opcode::kMax: {
      const bool max = op.code == Opcode::kMax;
      if (type == Type::kPred) return plain(max ? "||" : "&&", kBits, false);
      return call(helpers_.use(max ? "max" : "min", type), {op.a, op.b}, type == Type::kS32);
    }
    case Opcode::kAnd:
      return plain(type == Type::kPred ? "&&" : "&", kBits, false);
    case Opcode::kOr:
      return plain(type == Type::kPred ? "||" : "|", kBits, false);
    case Opcode::kXor:
      if (type == Type::kPred) return plain("!=", kRelation, false);
      return plain("^", kBits, false);
    case Opcode::kRotateLeft:
      return call(helpers_.use("rotate_left", type), {op.a, op.b});
    default:
      return shift(op, type);
  }
}

Expression Writer::compare(const Op& op) {
  static constexpr std::string_view kSymbols[] = {"==", "!=", "<", "<=", ">", ">="};
  const auto at = static_cast<std::size_t>(op.code) - static_cast<std::size_t>(Opcode::kEqual);
  Expression made = operation(op.a, kSymbols[at], op.b, kRelation, false);
  if (op.from == Type::kPred && at > 1) {
    // Compilers take an order of truth values for a mistake.
    made.text =
        fmt::format("(int){} {} (int){}", text(op.a, kUnary), kSymbols[at], text(op.b, kUnary));
  }
  return made;
}

Expression Writer::convert(const Op& op) {
  const Type to = op.type, from = op.from;
  if (to == Type::kPred) {
    if (from == Type::kPred) return use(op.a);
    Expression value = use(op.a);
    value.text = parenthesized(value, kSum);
    value.text += is_float(from) ? (from == Type::kF64 ? " != 0.0" : " != 0.0f") : " != 0";
    value.precedence = kRelation;
    return value;
  }
  if (is_half_type(to)) {
    if (from == to) return use(op.a);
    if (from == Type::kF64 || lower::width(from) == 8 || lower::width(from) == 4) {
      if (from == Type::kF32) return call(helpers_.use("round", to), {op.a});
      Expression value = use(op.a);
      if (from != Type::kF64) value = cast("double", std::move(value));
      value.text = fmt::format("{}({}({}))", helpers_.use("round", to), helpers_.use("odd", from),
                               value.text);
      value.precedence = kPrimary;
      return value;
    }
    if (is_half_type(from)) return call(helpers_.use("round", to), {op.a});
    Expression value = cast("float", use(op.a));
    value.text = fmt::format("{}({})", helpers_.use("round", to), value.text);
    value.precedence = kPrimary;
    return value;
  }
  const Type given = is_half_type(from) ? Type::kF32 : from;
  if (is_float(given) && is_integer(to)) {
    Expression made = call(helpers_.convert(to, given), {op.a});
    return made;
  }
  if (given == to || (to == Type::kS32 && from == Type::kS64 && is_narrow(op.a))) return use(op.a);
  if (to == Type::kS64 && is_integer(from) && kNarrow.contains(range(op.a)) && from != Type::kU64) {
    return lower::width(from) < 4 || from == Type::kS32 ? use(op.a) : cast("int32_t", use(op.a));
  }
  return cast(variable_type(to), use(op.a));
}

Expression Writer::bitcast(Type to, Type from, Expression value) {
  if (to == from) return value;
  const auto call_of = [&](const std::string& function) {
    value.text = fmt::format("{}({})", function, value.text);
    value.precedence = kPrimary;
  };
  if (is_half_type(from))
    call_of((helpers_.use("round", from), fmt::format("{}_from_f32", lower::type_name(from))));
  else if (is_float(from))
    call_of(helpers_.use("bits", from));
  const Type bits = is_float(from) ? lower::bits_type(from) : from;
  if (!is_float(to))
    return to == bits ? std::move(value) : cast(variable_type(to), std::move(value));
  if (bits != lower::bits_type(to))
    value = cast(variable_type(lower::bits_type(to)), std::move(value));
  if (is_half_type(to))
    call_of(helpers_.use("load", to));
  else
    call_of(helpers_.use("from_bits", to));
  return value;
}

Expression Writer::math_call(const Op& op) {
  const auto& functions = program_.functions;
  const auto found = std::find_if(functions.begin(), functions.end(), [&](const auto& function) {
    return function.address == op.bits;
  });
  if (found == functions.end())
    throw InternalError("C source: a function of the C library without a name");
  const auto at = static_cast<std::size_t>(found - functions.begin());
  if (found->code && !written_functions_[at])
    write_function(*found, op.type, op.b == kNone ? 1 : 2);
  written_functions_[at] = true;
  const std::string& name = found->name;
  Expression made = op.b == kNone ? call(name, {op.a}) : call(name, {op.a, op.b});
  if (op.c == kNone) return made;
  const Expression rare = use(op.c);
  merge(made, rare);
  made.text = fmt::format("{} ? {} : {}", parenthesized(rare, kRelation), made.text,
                          op.type == Type::kF64 ? "0.0" : "0.0f");
  made.precedence = kChoice;
  return made;
}

void Writer::write_function(const lower::MathFunction& function, Type type, int operands) {
  const Memory memory(*function.code, std::vector<Type>(2, type), {type});
  Names names;
  for (const char* taken : {"a", "b"}) names.reserve(taken);
  Writer writer(*function.code, memory, {{"a", true}, {"b", true}}, {{"", true}}, names, helpers_);
  writer.run();
  const std::string_view c_type = variable_type(type);
  function_texts_ += writer.functions();
  function_texts_ += fmt::format("static {0} {1}({0} a{2}) {{\n{3}}}\n", c_type, function.name,
                                 operands > 1 ? fmt::format(", {} b", c_type) : "", writer.body());
}

std::string Writer::combined(Opcode combine, Type type, const std::string& a,
                             const std::string& b) {
  const auto made = [&]() -> std::string {
    const bool is_pred = type == Type::kPred;
    switch (combine) {
      case Opcode::kMin:
      case Opcode::kMax: {
        const bool max = combine == Opcode::kMax;
        if (is_pred) return fmt::format("{} {} {}", a, max ? "||" : "&&", b);
        return fmt::format("{}({}, {})", helpers_.use(max ? "max" : "min", type), a, b);
      }
      case Opcode::kAnd:
        return fmt::format("{} {} {}", a, is_pred ? "&&" : "&", b);
      case Opcode::kOr:
        return fmt::format("{} {} {}", a, is_pred ? "||" : "|", b);
      case Opcode::kXor:
        return fmt::format("{} {} {}", a, is_pred ? "!=" : "^", b);
      default: {
        const bool adds = combine == Opcode::kAdd;
        if (is_pred) return fmt::format("{} {} {}", a, adds ? "||" : "&&", b);
        if (type == Type::kF64 && helpers_.is_wide())
          return fmt::format("{}({}, {})", helpers_.wide(adds ? "add_f64" : "multiply_f64"), a, b);
        if (is_float(type) || wraps_by_itself(type))
          return fmt::format("{} {} {}", a, adds ? "+" : "*", b);
        if (type == Type::kU8 || type == Type::kU16)
          return fmt::format("(uint32_t){} {} {}", a, adds ? "+" : "*", b);
        return fmt::format("{}({}, {})", helpers_.use(adds ? "add" : "multiply", type), a, b);
      }
    }
  }();
  if (is_half_type(type)) return fmt::format("{}({})", helpers_.use("round", type), made);
  return is_small(type) ? fmt::format("({})({})", variable_type(type), made) : made;
}

}  // namespace rondo::c
