#include "native/multiply_quotients.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <tuple>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/arithmetic.h"
#include "lower/opcodes.h"
#include "native/machine_code.h"

namespace rondo::native_code {

namespace {

using lower::Op;
using lower::Opcode;
using lower::Type;
using lower::Value;

bool is_quotient(const Op& op, const Target& target) {
  return (op.code == Opcode::kDivide || op.code == Opcode::kRemainder) &&
         lower::is_integer(op.type) && !wide(op.type) &&
         !target.vectors.has(op.code, op.type, op.type);
}

bool begins_scope(Opcode code) {
  return code == Opcode::kLanes || code == Opcode::kFor || code == Opcode::kRepeat ||
         code == Opcode::kIf || code == Opcode::kElse;
}
bool ends_scope(Opcode code) {
  return code == Opcode::kEndLanes || code == Opcode::kEndFor || code == Opcode::kEndRepeat ||
         code == Opcode::kEndIf || code == Opcode::kElse;
}

/// All values except large ones and those at positions that the code's runs refer to.
lower::Program tables_of(const lower::Program& program) {
  lower::Program to;
  to.types = program.types;
  to.addresses = program.addresses;
  to.fors = program.fors;
  to.lanes = program.lanes;
  to.whiles = program.whiles;
  to.ifs = program.ifs;
  to.calls = program.calls;
  to.copies = program.copies;
  to.views = program.views;
  to.tapes = program.tapes;
  to.buffers = program.buffers;
  to.loops = program.loops;
  to.variables = program.variables;
  to.location_of = program.location_of;
  to.locations = program.locations;
  to.arena_bytes = program.arena_bytes;
  return to;
}

class QuotientMultiplier {
 public:
  QuotientMultiplier(const lower::Program& from, const Target& target)
      : from_(from), target_(target), to_(tables_of(from)) {}

  lower::Program run() {
    find_divisors();
    // Values of the program whose first use is here are computed here.
    walk([&](const Op& op) {
      if (const auto key = key_of(op)) later_.try_emplace({scopes_.back(), *key}, op.result);
    });
    walk([&](const Op& op) {
      const auto key = key_of(op);
      if (key && known(*key) == op.result) return;
      if (is_replaced(op)) return replace(op);
      if (key) remember(*key, op.result);
      code_.push_back(op);
    });
    to_.code = std::move(constants_);
    to_.code.insert(to_.code.end(), code_.begin(), code_.end());
    return std::move(to_);
  }

 private:
  enum class Step : std::uint8_t { kConvert, kProduct, kQuotient };
  using Key = std::tuple<Step, Value, Value>;

  void find_divisors() {
    for (const Op& op : from_.code) {
      if (op.code != Opcode::kConstant) continue;
      if (op.type == Type::kF64) numbers_.try_emplace(op.bits, op.result);
      if (!lower::is_integer(op.type) || wide(op.type)) continue;
      const double divisor = lower::for_type(
          op.type, [&]<class T>() { return static_cast<double>(lower::from_bits<T>(op.bits)); });
      if (std::abs(divisor) >= 2) divisors_[op.result] = divisor;
    }
  }

  bool is_replaced(const Op& op) const {
    return in_lanes_ && is_quotient(op, target_) && divisors_.contains(op.b);
  }

  /// For a value that is a step of some quotient.
  std::optional<Key> key_of(const Op& op) const {
    if (op.code == Opcode::kDivide && is_replaced(op)) return Key{Step::kQuotient, op.a, op.b};
    if (in_lanes_ && op.code == Opcode::kConvert && op.type == Type::kF64)
      return Key{Step::kConvert, op.a, op.a};
    return std::nullopt;
  }

  /// Visits the ops in order. Values that were made in a loop or branch are forgotten at its end.
  template <class F>
  void walk(F&& visit) {
    std::uint32_t number = 0;
    scopes_.assign(1, 0);
    std::vector<std::size_t> marks;
    for (const Op& op : from_.code) {
      if (ends_scope(op.code)) {
        scopes_.pop_back();
        for (; made_.size() > marks.back(); made_.pop_back()) values_.erase(made_.back());
        marks.pop_back();
      }
      if (op.code == Opcode::kEndLanes) in_lanes_ = false;
      visit(op);
      if (op.code == Opcode::kLanes) in_lanes_ = true;
      if (begins_scope(op.code)) {
        scopes_.push_back(++number);
        marks.push_back(made_.size());
      }
    }
  }

  void remember(const Key& key, Value value) {
    if (values_.try_emplace(key, value).second) made_.push_back(key);
  }
  Value known(const Key& key) const {
    const auto found = values_.find(key);
    return found == values_.end() ? lower::kNone : found->second;
  }

  Value new_value(Type type) {
    to_.types.push_back(type);
    return static_cast<Value>(to_.types.size() - 1);
  }
  /// For a step, the program's existing one if there is one.
  Value new_value(const Key& key, Type type) {
    const auto later = later_.find({scopes_.back(), key});
    return later == later_.end() ? new_value(type) : later->second;
  }
  Value emit(Opcode code, Type type, Type from, Value result, Value a, Value b = lower::kNone,
             std::uint64_t bits = 0) {
    if (lower::info(code).commutative && a > b) std::swap(a, b);
    code_.push_back({code, type, from, result, a, b, lower::kNone, bits});
    return result;
  }
  Value number(double value) {
    const auto bits = std::bit_cast<std::uint64_t>(value);
    const auto [found, is_new] = numbers_.try_emplace(bits, lower::kNone);
    if (is_new) {
      found->second = new_value(Type::kF64);
      constants_.push_back({Opcode::kConstant, Type::kF64, Type::kPred, found->second, lower::kNone,
                            lower::kNone, lower::kNone, bits});
    }
    return found->second;
  }

  /// The dividend times the reciprocal, in f64. The reciprocal is not rounded towards zero, so that
  /// multiples of the divisor give their quotient or slightly more; other dividends are further
  /// from the next quotient than the product's error.
  Value product(const Op& op) {
    const Key key{Step::kProduct, op.a, op.b};
    if (const Value made = known(key); made != lower::kNone) return made;
    const double divisor = divisors_.at(op.b);
    double reciprocal = 1 / divisor;
    if (std::fma(reciprocal, divisor, -1.0) < 0)
      reciprocal = std::nextafter(reciprocal, std::copysign(1.0, divisor));
    const Key converts{Step::kConvert, op.a, op.a};
    Value dividend = known(converts);
    if (dividend == lower::kNone) {
      dividend = emit(Opcode::kConvert, Type::kF64, op.type, new_value(converts, Type::kF64), op.a);
      remember(converts, dividend);
    }
    const Value by = number(reciprocal);
    const Value made =
        emit(Opcode::kMultiply, Type::kF64, Type::kF64, new_value(Type::kF64), dividend, by);
    remember(key, made);
    return made;
  }

  void replace(const Op& op) {
    const Key key{Step::kQuotient, op.a, op.b};
    const bool divides = op.code == Opcode::kDivide;
    Value quotient = known(key);
    if (divides || quotient == lower::kNone) {
      const Value whole = product(op);
      quotient = divides ? op.result : new_value(key, op.type);
      emit(Opcode::kConvert, op.type, Type::kF64, quotient, whole, lower::kNone, kFits);
      remember(key, quotient);
    }
    if (divides) return;
    const Value taken =
        emit(Opcode::kMultiply, op.type, op.type, new_value(op.type), quotient, op.b);
    emit(Opcode::kSubtract, op.type, op.type, op.result, op.a, taken);
  }

  const lower::Program& from_;
  const Target& target_;
  lower::Program to_;
  std::vector<Op> constants_, code_;
  absl::flat_hash_map<Value, double> divisors_;                      // constants that are replaced
  absl::flat_hash_map<std::uint64_t, Value> numbers_;                // constants of f64
  absl::flat_hash_map<std::pair<std::uint32_t, Key>, Value> later_;  // by the enclosing loop or
                                                                     // branch
  absl::flat_hash_map<Key, Value> values_;
  std::vector<Key> made_;              // keys of values_, in order
  std::vector<std::uint32_t> scopes_;  // numbers of the enclosing loops and branches
  bool in_lanes_ = false;
};

}  // namespace

std::optional<lower::Program> multiply_quotients(const lower::Program& program,
                                                 const Target& target) {
  bool in_lanes = false;
  for (const Op& op : program.code) {
    if (op.code == Opcode::kLanes) in_lanes = true;
    if (op.code == Opcode::kEndLanes) in_lanes = false;
    if (in_lanes && is_quotient(op, target)) return QuotientMultiplier(program, target).run();
  }
  return std::nullopt;
}

}  // namespace rondo::native_code
