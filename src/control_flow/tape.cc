#include "control_flow/tape.h"

#include <algorithm>
#include <cstring>

#include "control_flow/scan.h"
#include "fmt/format.h"
#include "ir/derivative.h"
#include "ir/kernel.h"
#include "ir/layout.h"
#include "ops/dynamic_slice.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::control_flow {

namespace {

ir::InferredTypes infer_tape_write(const ir::InferContext& context) {
  if (context.type(0) != stacked_type(context.type(1), 0, 1)) context.fail("the row does not fit");
  return {context.type(0)};
}

ir::InferredTypes infer_tape_read(const ir::InferContext& context) {
  return {slice_type(context.type(0), 0)};
}

std::int64_t row_bytes(const TensorType& declared) { return declared.bytes(); }

void tape_write_kernel(ir::KernelCall& call) {
  const TensorType declared = call.node.type();
  const std::int64_t number = ops::index_at(call.input(2), 0);
  const std::int64_t rows = call.input(0).shape()[0], bytes = row_bytes(declared);
  if (number < 0) throw InternalError("a row of a tape below 0", call.node.location());
  Literal tape = call.take(0);
  if (number >= rows) {  // twice as many, so that n rows cost O(n)
    const std::int64_t longest = std::max(2 * rows, number + 1);
    Literal longer = Literal::zeros(stacked_type(slice_type(declared, 0), 0, longest));
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
  if (number >= call.input(0).shape()[0]) {
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

const std::string& loop_of(const ir::Node& node) { return node.attrs<TapeAttributes>().loop; }

/// As of an update: the row's cotangent is read, and then zeroed in place.
std::vector<Tensor> tape_write_transpose(const ir::TransposeCall& call) {
  std::vector<Tensor> all(3);
  if (call.linear[1]) all[1] = tape_read(call.ct(), call.x(2), loop_of(call.node));
  if (call.linear[0])
    all[0] = tape_write(call.ct(), zeros(call.type(1)), call.x(2), loop_of(call.node));
  return all;
}

/// As of a slice: the row is added to in place.
std::vector<Tensor> tape_read_transpose(const ir::TransposeCall& call) {
  const auto add_to = [row = call.ct(), number = call.x(1),
                       loop = loop_of(call.node)](const Tensor& tape) {
    return tape_write(tape, tape_read(tape, number, loop) + row, number, loop);
  };
  call.of_operands.add(
      0, {add_to, [add_to, row = call.ct().type()] { return add_to(empty_tape(row)); }, call.at()});
  return {};
}

}  // namespace

const ir::OpDef kTapeWrite{.name = "tape_write",
                           .grows = true,
                           .arity = 3,
                           .infer = infer_tape_write,
                           .kernel = tape_write_kernel,
                           .expand = tape_in_text,
                           .linear = ir::Linear::kJointly,
                           .transpose = tape_write_transpose};
const ir::OpDef kTapeRead{.name = "tape_read",
                          .grows = true,
                          .arity = 2,
                          .infer = infer_tape_read,
                          .kernel = tape_read_kernel,
                          .expand = tape_in_text,
                          .linear = ir::Linear::kFirst,
                          .transpose = tape_read_transpose};

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
  return ir::make(kTapeWrite, {tape, row, number}, TapeAttributes{loop}, {});
}

Tensor tape_read(const Tensor& tape, const Tensor& number, const std::string& loop) {
  return ir::make(kTapeRead, {tape, number}, TapeAttributes{loop}, {});
}

}  // namespace rondo::control_flow
