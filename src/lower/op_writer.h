// Writes single ops to a program that is made of others: as they are said, without what Builder
// knows of them.
#pragma once

#include <cstdint>
#include <vector>

#include "lower/program.h"

namespace rondo::lower {

/// A new value.
inline Value new_value(Program& program, Type type) {
  program.types.push_back(type);
  return static_cast<Value>(program.types.size() - 1);
}

class OpWriter {
 public:
  /// Ops are added to `code`, all else to `program`.
  OpWriter(Program& program, std::vector<Op>& code) : program_(program), code_(code) {}

  Value constant(Type type, std::uint64_t bits) {
    return result({Opcode::kConstant, type, type, kNone, kNone, kNone, kNone, bits});
  }
  Value index(std::int64_t number) {
    return constant(Type::kS64, static_cast<std::uint64_t>(number));
  }
  /// Adds a buffer.
  Value base(const Buffer& buffer) {
    program_.buffers.push_back(buffer);
    return result({Opcode::kBase, Type::kPointer, Type::kPred, kNone, kNone, kNone, kNone,
                   program_.buffers.size() - 1});
  }
  Value binary(Opcode code, Type type, Value a, Value b) {
    return result({code, type, type, kNone, a, b, kNone, 0});
  }
  Value load(Type type, const Address& from) {
    program_.addresses.push_back(from);
    return result(
        {Opcode::kLoad, type, type, kNone, kNone, kNone, kNone, program_.addresses.size() - 1});
  }
  void store(Value value, const Address& to) {
    program_.addresses.push_back(to);
    const Type type = program_.types[value];
    code_.push_back(
        {Opcode::kStore, type, type, kNone, value, kNone, kNone, program_.addresses.size() - 1});
  }
  /// An op with an entry in the table of its kind.
  void with_entry(Opcode code, std::uint64_t entry) {
    code_.push_back({code, Type::kPred, Type::kPred, kNone, kNone, kNone, kNone, entry});
  }

 private:
  Value result(Op op) {
    op.result = new_value(program_, op.type);
    code_.push_back(op);
    return op.result;
  }

  Program& program_;
  std::vector<Op>& code_;
};

}  // namespace rondo::lower
