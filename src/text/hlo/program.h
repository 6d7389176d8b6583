// A program of HLO as it is written. Names are views of the text.
#pragma once

#include <cstdint>
#include <list>
#include <string_view>
#include <vector>

#include "text/hlo/source_frames.h"
#include "text/mlir/locations.h"
#include "text/mlir/program.h"

namespace rondo::text::hlo {

/// The type of a value: an array, or a tuple of such types.
struct ValueType {
  bool is_tuple = false;
  TensorType array = {};
  std::vector<ValueType> elements;
};

struct Computation;

/// `name = type opcode(operands), attributes`
struct Instruction {
  std::string_view name;
  ValueType type;
  bool has_type = false;
  bool is_root = false;
  /// The opcode, the operands and the attributes. Its types are the arrays of the type, in order.
  mlir::Operation operation;
  std::int64_t number = 0;    // of a parameter
  std::string_view value;     // of a constant: what is between the parentheses
  mlir::Offset value_at = 0;  // where that begins
  // The computations that attributes name, in order. An empty name is the next of those inside,
  // which are written within the attributes.
  std::vector<std::string_view> called;
  std::vector<Computation> inside;
};

struct Computation {
  std::string_view name;
  mlir::Offset at = 0;
  std::list<Instruction> instructions;  // none of which moves when more are read
};

struct Module {
  SourceFrames frames;
  std::vector<Computation> computations;
  std::size_t entry = 0;
  std::int64_t replicas = 1, partitions = 1;  // that run it
};

/// Throws ParseError.
Module parse_module(std::string_view text);

/// `{ {1, 2}, {3, 4} }`, from `at` on, as an array of the type.
Literal parse_literal(std::string_view text, mlir::Offset at, std::string_view inside,
                      const TensorType& type);

}  // namespace rondo::text::hlo
