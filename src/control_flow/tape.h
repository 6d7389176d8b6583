// Arrays that grow by rows while a program runs: tapes of loops of unknown length. The declared
// type is that of one row. A tape holds as many rows as were written, and reads as zeros behind
// these, so that the cotangent of a tape is a tape. Other ops cannot use one, because they see the
// declared type only.
#pragma once

#include <string>

#include "ir/node.h"

namespace rondo::control_flow {

/// Attributes of both ops: the loop that owns the tape, for errors. In a batched tape the rows have
/// all lanes, whose axes precede that of the rows; a row is contiguous all the same.
struct TapeAttributes {
  std::string loop;
  std::int64_t row_axis = 0;
  bool operator==(const TapeAttributes&) const = default;
};

/// Operands: the tape, a row, its row number.
extern const ir::OpDef kTapeWrite;
/// Operands: the tape, a row number.
extern const ir::OpDef kTapeRead;

/// A tape without rows, for values of a type.
Tensor empty_tape(const TensorType& row);
Tensor tape_write(const Tensor& tape, const Tensor& row, const Tensor& number,
                  const std::string& loop);
Tensor tape_read(const Tensor& tape, const Tensor& number, const std::string& loop);

/// Throws TraceError if a loop would keep a growing tape as a residual: it has another size on each
/// trip.
void refuse_to_keep_tapes(const Tensor& residual);

}  // namespace rondo::control_flow
