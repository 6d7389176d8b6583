// Writes a Program op by op: knows the types, folds constants, and gives an op that exists already
// where its value can be used instead of writing it again.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "lower/program.h"

namespace rondo::lower {

/// One element: a value, or the real and the imaginary part of a complex number.
using Element = absl::InlinedVector<Value, 2>;

class Builder {
 public:
  Builder();

  /// Room for about so many ops.
  void reserve(std::size_t ops);
  /// The program; the builder is empty afterwards. Constants and bases are at its beginning, each
  /// once.
  Program finish();
  /// The tables so far.
  Program& program() noexcept { return program_; }
  Type type(Value value) const { return program_.types[value]; }

  // Constants.
  Value constant(Type type, std::uint64_t bits);
  /// The number in any type but kPointer, as a conversion from double gives it.
  Value number(Type type, double value);
  Value index(std::int64_t value);  // s64
  Value pred(bool value) { return constant(Type::kPred, value); }
  /// The bits of a constant; none for what is computed.
  std::optional<std::uint64_t> known(Value value) const;

  // Arithmetic. The operands have one type; comparisons give a pred.
  Value unary(Opcode code, Value a);
  Value binary(Opcode code, Value a, Value b);
  Value compare(Opcode code, Value a, Value b);
  /// kFma, kFnma or kFms, of floats.
  Value fused(Opcode code, Value a, Value b, Value c);
  Value fma(Value a, Value b, Value c) { return fused(Opcode::kFma, a, b, c); }
  /// Whether these round once, of f32 and f64, or as a product and a sum do. An op's code says so
  /// where it has products that only a sum in it needs; those of several ops are one op before code
  /// is written (passes/contract.h).
  void set_contracts(bool contracts) { contracts_ = contracts; }
  /// What ops of several steps on single numbers are: the steps, in every place; or, for C source,
  /// calls of a function of the program or of libm.
  enum class Functions : std::uint8_t { kInlined, kOfProgram, kOfLibrary };
  void set_functions(Functions functions) { functions_ = functions; }
  Functions functions() const { return functions_; }
  bool contracts() const { return contracts_; }
  /// From here on the program has the locations of values (Program::location_of).
  void record_locations();
  /// Values that are made from here on have this location, if locations are recorded. Gives that of
  /// the values before, in Program::locations.
  std::uint32_t locate(const SourceLocation& at);
  /// The same with a location that it gave.
  void locate_again(std::uint32_t location) noexcept { location_ = location; }
  Value multiply_add(Value a, Value b, Value c);      // a b + c
  Value subtract_product(Value c, Value a, Value b);  // c - a b
  Value select(Value predicate, Value a, Value b);
  Value convert(Value a, Type to);
  Value bitcast(Value a, Type to);  // of one width
  /// A function of libm, with its name in C. With a predicate it is called only where that holds; 0
  /// elsewhere.
  Value math_call(Function1F32 f, const char* name, Value a, Value predicate = kNone);
  Value math_call(Function1F64 f, const char* name, Value a, Value predicate = kNone);
  Value math_call(Function2F32 f, const char* name, Value a, Value b, Value predicate = kNone);
  Value math_call(Function2F64 f, const char* name, Value a, Value b, Value predicate = kNone);
  /// One of Program::functions, of one or two operands; the result has their type.
  Value call_function(const MathFunction& function, Value a, Value b = kNone);

  Value add(Value a, Value b) { return binary(Opcode::kAdd, a, b); }
  Value subtract(Value a, Value b) { return binary(Opcode::kSubtract, a, b); }
  Value multiply(Value a, Value b) { return binary(Opcode::kMultiply, a, b); }
  Value divide(Value a, Value b) { return binary(Opcode::kDivide, a, b); }
  Value remainder(Value a, Value b) { return binary(Opcode::kRemainder, a, b); }
  Value min(Value a, Value b) { return binary(Opcode::kMin, a, b); }
  Value max(Value a, Value b) { return binary(Opcode::kMax, a, b); }
  /// An s64 clamped to [0, room], where it nearly always is.
  Value clamped_index(Value a, std::int64_t room);
  Value negate(Value a) { return unary(Opcode::kNegate, a); }
  Value abs(Value a) { return unary(Opcode::kAbs, a); }
  Value sqrt(Value a) { return unary(Opcode::kSqrt, a); }
  Value floor(Value a) { return unary(Opcode::kFloor, a); }
  Value logical_not(Value a) { return unary(Opcode::kNot, a); }
  Value bit_and(Value a, Value b) { return binary(Opcode::kAnd, a, b); }
  Value bit_or(Value a, Value b) { return binary(Opcode::kOr, a, b); }
  Value bit_xor(Value a, Value b) { return binary(Opcode::kXor, a, b); }
  Value equal(Value a, Value b) { return compare(Opcode::kEqual, a, b); }
  Value not_equal(Value a, Value b) { return compare(Opcode::kNotEqual, a, b); }
  Value less(Value a, Value b) { return compare(Opcode::kLess, a, b); }
  Value less_equal(Value a, Value b) { return compare(Opcode::kLessEqual, a, b); }
  Value greater(Value a, Value b) { return compare(Opcode::kGreater, a, b); }
  Value greater_equal(Value a, Value b) { return compare(Opcode::kGreaterEqual, a, b); }

  // Memory.
  /// Adds a buffer and gives the pointer to it.
  Value buffer(const Buffer& buffer);
  Value load(Type type, Address address);
  void store(Value value, Address address);
  /// All parts of an element, which lie behind one another.
  Element load_element(DType dtype, Address address);
  void store_element(std::span<const Value> parts, Address address);
  void copy(Address from, Address to, std::int64_t bytes);
  void call(Call call);
  std::uint32_t tape(const Tape& tape);
  /// A pointer to bytes that stay as they are while it is read from.
  Value view(Address from, std::int64_t bytes);
  /// A pointer to a row, an s64, to be read or, with `writes`, to be written. `loop`: around it.
  Value tape_row(std::uint32_t tape, Value row, bool writes, std::uint32_t loop);
  void set_tape(const TapeSet& set);

  // Control flow. What `begin…` gives is the index in the table of its kind, which has index,
  // parameters and results; the reference to a table entry lasts until the next one is added.
  std::uint32_t begin_for(Value lower, Value upper, std::int64_t step, std::span<const Value> init,
                          std::uint32_t loop = kNoLoop,
                          std::optional<std::int64_t> trips = std::nullopt);
  void end_for(std::span<const Value> next);
  /// The op that computes a value; null if it was not written by a function of the builder, or
  /// moved since.
  const Op* maker(Value value) const;
  Value index_of_for(std::uint32_t loop) const { return program_.fors[loop].index; }
  const Carry& carry_of_for(std::uint32_t loop, std::size_t i) const {
    return program_.fors[loop].carries[i];
  }
  std::uint32_t begin_lanes(Value count, bool polls = true);
  Value index_of_lanes(std::uint32_t lanes) const { return program_.lanes[lanes].index; }
  /// Of the lanes that are open; the result is known after end_lanes.
  Value reduce(Opcode combine, Value init, Value value);
  void end_lanes();
  std::uint32_t begin_while(std::span<const Value> init, std::uint32_t loop = kNoLoop);
  const Carry& carry_of_while(std::uint32_t loop, std::size_t i) const {
    return program_.whiles[loop].carries[i];
  }
  void test(Value predicate);
  void end_while(std::span<const Value> next);
  /// From here to the end of the while that is open, a predicate of its condition has this value,
  /// and so have those that follow from it: where their ops are written again, they are constants.
  /// Gives those that no op of the condition made, for the caller to replace.
  std::vector<std::pair<Value, bool>> assume(Value predicate, bool truth);
  std::uint32_t begin_if(Value predicate);
  void begin_else();
  /// Gives the results, as many as there are in each branch.
  std::vector<Value> end_if(std::span<const Value> then, std::span<const Value> otherwise);

 private:
  struct Key {
    Opcode code;
    Type type, from;
    Value a, b, c;
    std::uint64_t bits;
    bool operator==(const Key&) const = default;
    template <class H>
    friend H AbslHashValue(H h, const Key& k) {
      return H::combine(std::move(h), k.code, k.type, k.from, k.a, k.b, k.c, k.bits);
    }
  };
  struct Scope {
    Opcode opened;
    std::uint32_t index;    // in the table of its kind
    std::size_t known = 0;  // of made_, when it was opened
  };

  Value define(Type type);
  std::uint64_t named(std::uint64_t function, const char* name);
  std::uint32_t address(Address&& address);
  Value emit(Opcode code, Type type, Type from, Value a, Value b, Value c, std::uint64_t bits);
  std::optional<std::uint64_t> fold(Opcode code, Type type, Type from, Value a, Value b, Value c);
  std::optional<Value> simplified(Opcode code, Type type, Value a, Value b);
  std::optional<Value> quotient_by_power_of_two(Opcode code, Type type, Value a, Value b);
  std::optional<Value> rotation(Opcode code, Type type, Value a, Value b);
  void open(Opcode code, std::uint32_t index, std::uint32_t loop = kNoLoop);
  Scope close(Opcode opened);
  void forget(std::size_t known);

  bool is_contracted(Type type) const {
    return contracts_ && (type == Type::kF32 || type == Type::kF64);
  }

  bool contracts_ = false;
  std::uint32_t location_ = 0;  // in Program::locations
  absl::flat_hash_map<std::pair<std::string_view, std::uint32_t>, std::uint32_t> locations_;
  Functions functions_ = Functions::kInlined;
  Program program_;
  std::vector<Op> prologue_;
  std::vector<std::uint64_t> bits_;     // of each value
  std::vector<bool> is_constant_;       // of each value
  std::vector<std::uint32_t> made_at_;  // of each value: where emit() has put its op
  absl::flat_hash_map<Key, Value> values_;
  std::vector<Key> made_;  // in order, to be forgotten when their scope closes
  std::vector<Scope> scopes_;
};

/// While it exists, values have a location.
class Located {
 public:
  Located(Builder& builder, const SourceLocation& at)
      : builder_(builder), before_(builder.locate(at)) {}
  ~Located() { builder_.locate_again(before_); }
  Located(const Located&) = delete;
  Located& operator=(const Located&) = delete;

 private:
  Builder& builder_;
  std::uint32_t before_;
};

}  // namespace rondo::lower
