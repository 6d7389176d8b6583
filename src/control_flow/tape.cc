#include "control_flow/tape.h"

#include <algorithm>
#include <cstring>

#include "control_flow/scan.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/batch.h"
#include "ir/derivative.h"
#include "ir/kernel.h"
#include "ir/layout.h"
#include "ir/loop_nest.h"
#include "ops/dynamic_slice.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

ir::InferredTypes infer_tape_write(const ir::InferContext& context) {
  const std::int64_t axis = context.attrs<TapeAttributes>().row_axis;
  if (context.type(0) != stacked_type(context.type(1), axis, 1))
    context.fail(
        fmt::format("a row of {} does not fit a tape of {}\n  Give one of the tape's dtype, "
                    "and of its shape without axis {}.",
                    context.type(1).str(), context.type(0).str(), axis));
  return {context.type(0)};
}

ir::InferredTypes infer_tape_read(const ir::InferContext& context) {
  return {slice_type(context.type(0), context.attrs<TapeAttributes>().row_axis)};
}

std::int64_t row_bytes(const TensorType& declared) { return declared.bytes(); }

void tape_write_kernel(ir::KernelCall& call) {
  const TensorType declared = call.node.type();
  const std::int64_t number = ops::index_at(call.input(2), 0);
  const std::int64_t axis = call.attrs<TapeAttributes>().row_axis;
  const std::int64_t rows = call.input(0).shape()[axis], bytes = row_bytes(declared);
  if (number < 0) throw InternalError("a row of a tape below 0", call.node.location());
  Literal tape = call.take(0);
  if (number >= rows) {  // doubled, so that n rows cost O(n)
    const std::int64_t longest = std::max(2 * rows, number + 1);
    Literal longer = Literal::zeros(stacked_type(slice_type(declared, axis), axis, longest));
    if (bytes > 0)
      std::memcpy(longer.mutable_bytes(), tape.bytes(), static_cast<std::size_t>(rows * bytes));
    tape = std::move(longer);
  }
  if (bytes > 0) {
    std::memcpy(tape.mutable_bytes() + number * bytes, call.input(1).bytes(),
                static_cast<std::size_t>(bytes));
  }
  call.output() = std::move(tape);
}

void tape_read_kernel(ir::KernelCall& call) {
  const TensorType& type = call.output_type();
  const std::int64_t number = ops::index_at(call.input(1), 0);
  if (number < 0) throw InternalError("a row of a tape below 0", call.node.location());
  if (number >= call.input(0).shape()[call.attrs<TapeAttributes>().row_axis]) {
    call.output() = Literal::zeros(type);
    return;
  }
  Literal row = Literal::uninitialized(type);
  if (type.bytes() > 0) {
    std::memcpy(row.mutable_bytes(), call.input(0).bytes() + number * type.bytes(),
                static_cast<std::size_t>(type.bytes()));
  }
  call.output() = std::move(row);
}

template <bool writes>
ir::LoopNest tape_loops(const ir::Node& node) {
  return ir::TapeAccess{writes, node.attrs<TapeAttributes>().loop};
}

[[noreturn]] void own_rows(const ir::BatchCall& call) {
  call.fail(
      "the lanes of a vmap are at rows of their own\n  Promise the loop's number of trips with "
      "{.max_trip_count = n}.");
}

ir::Attributes with_lanes_in_front(const ir::BatchCall& call) {
  TapeAttributes attributes = call.node.attrs<TapeAttributes>();
  attributes.row_axis++;
  return attributes;
}

ir::BatchValues tape_write_batch(const ir::BatchCall& call) {
  if (call.batched(2)) own_rows(call);
  return ir::all_batched({ir::make(kTapeWrite, {call.full(0), call.full(1), call.x(2)},
                                   with_lanes_in_front(call), call.at())});
}

ir::BatchValues tape_read_batch(const ir::BatchCall& call) {
  if (call.batched(1)) own_rows(call);
  return ir::all_batched(
      {ir::make(kTapeRead, {call.x(0), call.x(1)}, with_lanes_in_front(call), call.at())});
}

/// Rows of lanes that are done are never read.
Tensor tape_write_blend(const ir::Node& node, std::span<const Tensor> operands, const Tensor&) {
  return ir::make(kTapeWrite, ir::Operands(operands.begin(), operands.end()), node.attributes,
                  node.location());
}

[[noreturn]] void tape_failure(const ir::Node& node, const char* what) {
  throw TraceError(
      fmt::format(
          "{}: its checkpoint policy is tape(), and {} needs to know the number of trips\n  "
          "at {}\n  Give a fori_loop C++ integers as bounds, promise a while_loop's with "
          "{{.max_trip_count = n}}, or use Checkpoint::online(n), which needs none.",
          node.attrs<TapeAttributes>().loop, what, node.location().str()),
      node.location());
}

std::vector<Tensor> tape_in_text(const ir::Node& node, std::span<const Tensor>) {
  tape_failure(node, "the text of a program");
}

/// A read or write of the tape that a node reads or writes.
Tensor read_like(const ir::Node& node, const Tensor& tape, const Tensor& number) {
  return ir::make(kTapeRead, {tape, number}, node.attributes, node.location());
}
Tensor write_like(const ir::Node& node, const Tensor& tape, const Tensor& row,
                  const Tensor& number) {
  return ir::make(kTapeWrite, {tape, row, number}, node.attributes, node.location());
}

/// Like that of an update: the row's cotangent is read, and then zeroed in place.
std::vector<Tensor> tape_write_transpose(const ir::TransposeCall& call) {
  std::vector<Tensor> all(3);
  if (call.linear[1]) all[1] = read_like(call.node, call.ct(), call.x(2));
  if (call.linear[0]) all[0] = write_like(call.node, call.ct(), zeros(call.type(1)), call.x(2));
  return all;
}

/// Like that of a slice: the row is added to in place.
std::vector<Tensor> tape_read_transpose(const ir::TransposeCall& call) {
  const auto add_to = [handle = Tensor::of(&call.node), row = call.ct(),
                       number = call.x(1)](const Tensor& tape) {
    const ir::Node& node = *handle.node();
    return write_like(node, tape, read_like(node, tape, number) + row, number);
  };
  call.of_operands.add(
      0, {add_to, [add_to, type = call.type(0)] { return add_to(zeros(type)); }, call.at()});
  return {};
}

}  // namespace

const ir::OpDef kTapeWrite{
    .name = "tape_write",
    .arity = 3,
    .types = {.infer = infer_tape_write, .copies = true},
    .structure = {.loops = tape_loops<true>},
    .kernel = {.on_literals = tape_write_kernel},
    .expansion = {.rule = tape_in_text},
    .derivative = {.linear = ir::Linear::kJointly, .transpose = tape_write_transpose},
    .batching = {.rule = tape_write_batch, .blend = tape_write_blend},
    .text = {.attributes = &ir::kFieldText<TapeAttributes>}};
const ir::OpDef kTapeRead{
    .name = "tape_read",
    .arity = 2,
    .types = {.infer = infer_tape_read, .copies = true},
    .structure = {.loops = tape_loops<false>},
    .kernel = {.on_literals = tape_read_kernel},
    .expansion = {.rule = tape_in_text},
    .derivative = {.linear = ir::Linear::kFirst, .transpose = tape_read_transpose},
    .batching = {.rule = tape_read_batch},
    .text = {.attributes = &ir::kFieldText<TapeAttributes>}};

void refuse_to_keep_tapes(const Tensor& residual) {
  std::vector<Tensor> open{residual};
  while (!open.empty()) {
    const Tensor value = std::move(open.back());
    open.pop_back();
    const ir::Node* node = value.node();
    if (node->op == &kTapeWrite) tape_failure(*node, "a loop around it");
    const auto layout = ir::region_layout(node);
    for (std::size_t k = 0; layout && !layout->is_call() && k < node->regions.size(); k++) {
      if (layout->is_body(k)) open.push_back(node->regions[k].outputs()[value.result()]);
    }
  }
}

Tensor empty_tape(const TensorType& row) { return zeros(stacked_type(row, 0, 1)); }

Tensor tape_write(const Tensor& tape, const Tensor& row, const Tensor& number,
                  const std::string& loop) {
  return ir::make(kTapeWrite, {tape, row, number}, TapeAttributes{loop, 0}, {});
}

Tensor tape_read(const Tensor& tape, const Tensor& number, const std::string& loop) {
  return ir::make(kTapeRead, {tape, number}, TapeAttributes{loop, 0}, {});
}

}  // namespace rondo::control_flow
