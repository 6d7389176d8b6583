// Writes the statements of a lower program as C.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "absl/container/inlined_vector.h"
#include "c/helpers.h"
#include "c/memory.h"
#include "c/names.h"
#include "c/wrap.h"
#include "fmt/format.h"
#include "lower/passes/ranges.h"
#include "lower/program.h"

namespace rondo::c {

/// How strongly the operator of an expression binds. What is below kProduct is in parentheses
/// wherever an operator other than itself takes it, as compilers and readers want it.
enum Precedence : std::uint8_t {
  kChoice,    // ?:
  kBits,      // & ^ | && || << >>
  kRelation,  // < <= == ...
  kSum,
  kProduct,
  kUnary,  // and casts
  kPrimary,
};

struct Expression {
  std::string text;
  Precedence precedence = kPrimary;
  bool loads = false;                                 // reads memory that may be written
  absl::InlinedVector<lower::Value, 2> carried = {};  // the carries, by parameter, that it reads
};

/// The text, in parentheses unless it binds at least so strongly.
inline std::string parenthesized(const Expression& given, Precedence least) {
  return given.precedence >= least ? given.text : "(" + given.text + ")";
}

/// Where an argument or result is, and whether it is one element: `in->arg0.slab`. A result without
/// a place is what a function returns.
struct Leaf {
  std::string access;
  bool single;
};

class Writer {
 public:
  Writer(const lower::Program& program, const Memory& memory, std::vector<Leaf> arguments,
         std::vector<Leaf> results, Names& names, Helpers& helpers);

  /// Writes the statements of the function.
  void run();

  const std::string& body() const { return out_; }
  /// The functions of the program that it calls.
  const std::string& functions() const { return function_texts_; }
  /// The tables of constants, in the order of Program::constants; empty for those not used.
  const std::vector<std::string>& tables() const { return tables_; }
  /// Whether a loop may make more trips than was promised: the function then returns 1.
  bool may_fail() const { return may_fail_; }

 private:
  using Value = lower::Value;
  using Type = lower::Type;
  using Op = lower::Op;

  struct Open {
    lower::Opcode opened;
    std::uint32_t index;
    std::uint32_t block;
    std::size_t head = 0;                    // the line of a while, or of an else
    std::string counter = {};                // of its trips, where they are limited
    std::vector<std::string> partials = {};  // of lanes
  };
  struct ValueState {
    std::uint32_t uses = 0;
    std::uint32_t block = 0;  // of its last use
    bool inlined = false;     // `expression` is written where it is used
    bool narrow = false;      // an s64 that is an int32_t
    Expression expression;    // or the name of its variable
  };

  // Values (writer.cc).
  void count_uses();
  ValueState& state(Value value) { return values_[value]; }
  Expression use(Value value);
  std::string text(Value value, Precedence least);
  /// Gives a value its expression: written where it is used, or in a variable.
  void define(Value value, Expression made, std::string_view name = "t");
  void declare(Value value, Expression made, std::string_view name = "t");
  void flush_loads();
  std::string name_of(Value value, std::string_view otherwise);
  /// The variable of a value that statements assign to.
  std::string variable(Value value, std::string_view otherwise);
  std::string declared_type(Value value) const;
  std::string constant_variable(Value value, std::string_view name) const;
  lower::Range range(Value value) const { return known_[value]; }
  bool is_narrow(Value value) const { return values_[value].narrow; }
  void line(std::string_view text);

  // Arithmetic (write_arithmetic.cc).
  void arithmetic(const Op& op);
  Expression wide(const Op& op);
  Expression unary(const Op& op, Type type);
  Expression binary(const Op& op, Type type);
  Expression compare(const Op& op);
  Expression convert(const Op& op);
  Expression bitcast(Type to, Type from, Expression value);
  Expression shift(const Op& op, Type type);
  /// `takes_narrow`: s64 arguments, which are in range, as int32_t.
  Expression call(std::string_view function, std::initializer_list<Value> arguments,
                  bool takes_narrow = false);
  Expression operation(Value a, std::string_view symbol, Value b, Precedence precedence,
                       bool regroups);
  Expression cast(std::string_view type, Expression value);
  Expression math_call(const Op& op);
  void write_function(const lower::MathFunction& function, Type type, int operands);
  /// The type in which it is computed: s32 for an s64 that needs no more.
  Type computed_in(const Op& op) const;
  bool wraps(const Op& op, Type type) const;
  /// Two values of a reduction, as texts.
  std::string combined(lower::Opcode combine, Type type, const std::string& a,
                       const std::string& b);

  // Memory (write_memory.cc).
  Expression pointer(std::uint32_t buffer);
  std::optional<std::string> single(const lower::Address& address);
  Expression element(const lower::Address& address);
  Expression address_of(const lower::Address& address);
  Expression index_of(const lower::Address& address, std::int64_t width);
  void load(const Op& op);
  void store(const Op& op);
  void copy(const Op& op);

  // Control flow (write_control.cc).
  void control(const Op& op);
  void begin_for(const Op& op);
  void begin_lanes(const Op& op);
  void end_lanes(const Op& op);
  void begin_while(const Op& op);
  void test(const Op& op);
  void declare_carries(const std::vector<lower::Carry>& carries);
  void assign_carries(const std::vector<lower::Carry>& carries);
  bool is_needed(const lower::Carry& carry) const;
  void begin_if(const Op& op);
  void end_branch(const lower::If& branch, bool then);
  void comment(std::uint32_t loop);
  void open(const Op& op, std::string head);
  void close();
  /// Of a loop that is opened here, and at that depth of counted loops.
  std::string index_name() const;
  static std::string index_name(std::size_t depth);

  const lower::Program& program_;
  const Memory& memory_;
  std::vector<Leaf> arguments_, results_;
  Names& names_;
  Helpers& helpers_;
  std::vector<bool> written_functions_;  // of Program::functions
  std::string function_texts_;
  absl::flat_hash_map<Value, const std::string*> wanted_;  // names, from the program
  std::vector<ValueState> values_;
  std::vector<lower::Range> known_;    // at the current op
  std::vector<lower::Range> indices_;  // of the indices of loops
  std::vector<Value> loaded_;          // those with pending loads
  std::vector<const Op*> bases_;       // of pointers that are buffers
  std::vector<Open> open_;
  std::vector<std::string> lines_;
  std::uint32_t blocks_ = 0;
  std::size_t depth_ = 1;
  std::vector<std::string> tables_;
  std::string out_;
  bool may_fail_ = false;
};

}  // namespace rondo::c
