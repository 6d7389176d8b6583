// Arrays that grow by rows while a program runs: the tape of a loop whose number of trips
// nobody knows. Their declared type is that of a single row; they hold as many as were written, and
// zeros behind these, so that the cotangent of a tape is a tape. Nothing else may be done with one:
// ops see the declared type only.
#pragma once

#include <string>

#include "ir/node.h"

namespace rondo::control_flow {

/// Of both ops: the loop whose tape it is, for errors. Of a batched tape the rows have all lanes,
/// whose axes stand in front of that of the rows; the rows lie together all the same.
struct TapeAttributes {
  std::string loop;
  std::int64_t row_axis = 0;
  bool operator==(const TapeAttributes&) const = default;
};

/// Operands: the tape, a row, its number.
extern const ir::OpDef kTapeWrite;
/// Operands: the tape, the number of a row.
extern const ir::OpDef kTapeRead;

/// A tape without rows for values of a type.
Tensor empty_tape(const TensorType& row);
Tensor tape_write(const Tensor& tape, const Tensor& row, const Tensor& number,
                  const std::string& loop);
Tensor tape_read(const Tensor& tape, const Tensor& number, const std::string& loop);

/// Throws TraceError where a value that a loop is to keep for its backward pass is such a tape,
/// which has another size on each trip.
void refuse_to_keep_tapes(const Tensor& residual);

}  // namespace rondo::control_flow
