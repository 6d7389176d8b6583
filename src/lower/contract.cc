#include "lower/contract.h"

#include <cmath>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "absl/container/btree_map.h"
#include "lower/arithmetic.h"
#include "lower/reads.h"

namespace rondo::lower {

namespace {

bool is_contracted(Type type) { return type == Type::kF32 || type == Type::kF64; }

/// The number rounded to a type; none where it has not the type's full precision.
std::optional<std::uint64_t> factor_bits(Type type, long double number) {
  const auto bits = [&]<class T>(T rounded) -> std::optional<std::uint64_t> {
    if (!std::isnormal(rounded)) return std::nullopt;
    return to_bits(rounded);
  };
  return type == Type::kF32 ? bits(static_cast<float>(number)) : bits(static_cast<double>(number));
}
double number_of(Type type, std::uint64_t bits) {
  return type == Type::kF32 ? from_bits<float>(bits) : from_bits<double>(bits);
}

class Contraction {
 public:
  explicit Contraction(Program& program)
      : program_(program),
        reads_(program.types.size(), 0),
        maker_(program.types.size(), kNowhere),
        numbers_(program.types.size(), kNoNumber),
        gone_(program.code.size(), false) {
    for_each_read(program, [&](Value value) { reads_[value]++; });
  }

  void run() {
    for (std::size_t at = 0; at < program_.code.size(); at++) {
      Op& op = program_.code[at];
      if (!is_contracted(op.type)) continue;
      switch (op.code) {
        case Opcode::kConstant:
          numbers_[op.result] = number_of(op.type, op.bits);
          break;
        case Opcode::kMultiply:
        case Opcode::kDivide:
          maker_[op.result] = at;
          join_factors(op);
          break;
        case Opcode::kAdd:
          if (!fuse(op, Opcode::kFma, op.a, op.b)) fuse(op, Opcode::kFma, op.b, op.a);
          break;
        case Opcode::kSubtract:
          // Of two products the second one: c - a * b is more often a step of a loop.
          if (!fuse(op, Opcode::kFnma, op.b, op.a)) fuse(op, Opcode::kFms, op.a, op.b);
          break;
        default:
          break;
      }
    }
    write();
  }

 private:
  static constexpr std::size_t kNowhere = ~std::size_t{0};
  static constexpr long double kNoNumber = std::numeric_limits<long double>::quiet_NaN();

  /// A value that is another one times a constant.
  struct Multiple {
    Value of = kNone;
    long double by = 0;
  };

  /// The product or quotient that a value is, where nothing else reads it.
  Op* made_for_one(Value value) {
    const bool is_made = maker_[value] != kNowhere && reads_[value] == 1;
    return is_made ? &program_.code[maker_[value]] : nullptr;
  }
  std::optional<Multiple> multiple(const Op& op) const {
    const long double a = numbers_[op.a], b = numbers_[op.b];
    if (std::isnormal(b)) return Multiple{op.a, op.code == Opcode::kMultiply ? b : 1 / b};
    if (std::isnormal(a) && op.code == Opcode::kMultiply) return Multiple{op.b, a};
    return std::nullopt;
  }

  /// x * c * d and the like as x times one constant: it rounds no more often than they do.
  void join_factors(Op& op) {
    const auto outer = multiple(op);
    const Op* const first = outer ? made_for_one(outer->of) : nullptr;
    const auto inner = first ? multiple(*first) : std::nullopt;
    if (!inner) return;
    const long double by = inner->by * outer->by;
    const auto bits = factor_bits(op.type, by);
    if (!bits) return;
    gone_[maker_[outer->of]] = true;
    op.code = Opcode::kMultiply;
    op.a = inner->of;
    op.b = constant(op.type, *bits, by);
  }

  /// Makes `fused` of a sum or difference of a product and another value. False where it is none.
  bool fuse(Op& sum, Opcode fused, Value value, Value other) {
    const Op* const product = made_for_one(value);
    if (!product || product->code != Opcode::kMultiply) return false;
    gone_[maker_[value]] = true;
    sum.code = fused;
    sum.a = product->a;
    sum.b = product->b;
    sum.c = other;
    return true;
  }

  /// The number is not rounded yet: the next factor may be joined to it.
  Value constant(Type type, std::uint64_t bits, long double number) {
    const auto [found, is_new] = constants_.try_emplace(std::pair(type, bits), kNone);
    if (is_new) {
      found->second = static_cast<Value>(program_.types.size());
      program_.types.push_back(type);
      reads_.push_back(0);
      maker_.push_back(kNowhere);
      numbers_.push_back(number);
    }
    return found->second;
  }

  void write() {
    std::vector<Op> code;
    code.reserve(program_.code.size() + constants_.size());
    for (const auto& [constant, value] : constants_) {
      Op& op = code.emplace_back(Op{Opcode::kConstant, constant.first});
      op.result = value;
      op.bits = constant.second;
    }
    for (std::size_t at = 0; at < program_.code.size(); at++) {
      if (!gone_[at]) code.push_back(program_.code[at]);
    }
    program_.code = std::move(code);
  }

  Program& program_;
  std::vector<std::uint32_t> reads_;  // of each value
  std::vector<std::size_t> maker_;    // the op that makes it, of products and quotients
  std::vector<long double> numbers_;  // of constants
  std::vector<bool> gone_;            // of each op
  absl::btree_map<std::pair<Type, std::uint64_t>, Value> constants_;  // that were made here
};

}  // namespace

void contract(Program& program) { Contraction(program).run(); }

}  // namespace rondo::lower
