#include "ops/threefry.h"

#include "ops/batch_rules.h"
#include "rondo/loops.h"
#include "rondo/ops/elementwise.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

InferredTypes infer_threefry(const InferContext& context) {
  Shape shape;
  for (std::size_t i = 0; i < 4; i++) {
    const TensorType& type = context.type(i);
    if (type.dtype != DType::kU32)
      context.fail(
          fmt::format("operand {} is {}; keys and counters are u32\n  Convert it: "
                      "rondo::convert(x, DType::kU32).",
                      i, type.str()));
    if (type.rank() == 0) continue;
    if (shape.rank() > 0 && shape != type.shape) {
      context.fail(
          fmt::format("operand {} is {}, another one is u32{}; each is a scalar or has the "
                      "result's shape\n  Broadcast one: rondo::broadcast_to(x, dims).",
                      i, type.str(), shape.str()));
    }
    shape = type.shape;
  }
  return {{DType::kU32, shape}, {DType::kU32, shape}};
}

void threefry_kernel(const ir::KernelRun& run) {
  const TensorType& type = run.node.type();
  const std::int64_t n = type.elements();
  const std::uint32_t* operands[4];
  std::int64_t steps[4];
  for (std::size_t i = 0; i < 4; i++) {
    operands[i] = run.operand<std::uint32_t>(i);
    steps[i] = run.node.operand_type(i).rank() == 0 ? 0 : 1;
  }
  std::uint32_t *to0 = run.result<std::uint32_t>(0), *to1 = run.result<std::uint32_t>(1);
  // Threshold: Work of a block between two polls, in additions. Not measured.
  constexpr std::int64_t kWork = 8;
  ir::Poller poller(run.host);
  if (steps[0] == 0 && steps[1] == 0 && steps[2] == 0 && n > 0) {
    // One key for many counters, whose lower words vary: a loop that vectorizes.
    const std::uint32_t k0 = *operands[0], k1 = *operands[1], high = *operands[2];
    const std::uint32_t* low = operands[3];
    if (steps[3] == 1) {
      for (std::int64_t i = 0; i < n;) {
        const std::int64_t end = std::min(n, i + ir::Poller::kBlock / kWork);
        poller.did(kWork * (end - i));
        for (; i < end; i++) {
          std::uint32_t x0 = high, x1 = low[i];
          threefry2x32(k0, k1, x0, x1);
          to0[i] = x0;
          to1[i] = x1;
        }
      }
    } else {
      to0[0] = high;
      to1[0] = *low;
      threefry2x32(k0, k1, to0[0], to1[0]);
    }
  } else {
    for (std::int64_t i = 0; i < n; i++) {
      std::uint32_t x0 = operands[2][i * steps[2]], x1 = operands[3][i * steps[3]];
      threefry2x32(operands[0][i * steps[0]], operands[1][i * steps[1]], x0, x1);
      poller.did(kWork);
      to0[i] = x0;
      to1[i] = x1;
    }
  }
}

/// Four rounds, and the keys after them.
struct ThreefryWords {
  Tensor x0, x1;
};
ThreefryWords group_of_rounds(ThreefryWords x, const int* rotations, const Tensor& key0,
                              const Tensor& key1, const Tensor& number) {
  for (int round = 0; round < 4; round++) {
    const int turn = rotations[round];
    x.x0 = x.x0 + x.x1;
    x.x1 = (shift_left(x.x1, turn) | shift_right_logical(x.x1, 32 - turn)) ^ x.x0;
  }
  return {x.x0 + key0, x.x1 + key1 + number};
}

/// The five groups of rounds take their rotations in turns: two pairs of groups, and a last one.
std::vector<Tensor> threefry_in_loops(const Node& node, std::span<const Tensor> operands) {
  const ir::LocationScope at(node.location());
  const int *even = kThreefryRotations.data(), *odd = even + 4;
  const std::vector<std::int64_t> dims = node.type().shape.vector();
  const Tensor key2 = operands[0] ^ operands[1] ^ kThreefryParity;
  const auto pair = [&](const Tensor& i, Tensor x0, Tensor x1, Tensor a, Tensor b, Tensor c) {
    const Tensor number = 2 * i + 1;
    const ThreefryWords half = group_of_rounds({x0, x1}, even, b, c, number);
    const ThreefryWords whole = group_of_rounds(half, odd, c, a, number + 1);
    return std::tuple(whole.x0, whole.x1, c, a, b);
  };
  const auto start =
      std::tuple(broadcast_to(operands[2] + operands[0], dims),
                 broadcast_to(operands[3] + operands[1], dims), operands[0], operands[1], key2);
  const auto [x0, x1, a, b, c] =
      fori_loop(0, 2, pair, start, {.name = "threefry", .index = DType::kU32});
  const ThreefryWords last =
      group_of_rounds({x0, x1}, even, b, c, full({DType::kU32, {}}, std::uint32_t{5}));
  return {last.x0, last.x1};
}

std::vector<Tensor> expand_threefry(const Node& node, std::span<const Tensor> operands) {
  const SourceLocation at = node.location();
  auto add = [&](const Tensor& a, const Tensor& b) { return Operand(a, at) + Operand(b, at); };
  auto exclusive_or = [&](const Tensor& a, const Tensor& b) {
    return Operand(a, at) ^ Operand(b, at);
  };
  auto word = [&](std::uint32_t value) { return ir::make_constant(Literal::scalar(value), at); };
  const Tensor keys[3] = {
      operands[0], operands[1],
      exclusive_or(exclusive_or(operands[0], operands[1]), word(kThreefryParity))};
  Tensor x0 = add(operands[2], keys[0]), x1 = add(operands[3], keys[1]);
  for (std::uint32_t group = 1; group <= 5; group++) {
    for (std::uint32_t round = 0; round < 4; round++) {
      const auto turn = static_cast<std::uint32_t>(kThreefryRotations[(group - 1) % 2 * 4 + round]);
      x0 = add(x0, x1);
      const Tensor turned = Operand(shift_left({x1, at}, {turn, at}), at) |
                            Operand(shift_right_logical({x1, at}, {32 - turn, at}), at);
      x1 = exclusive_or(turned, x0);
    }
    x0 = add(x0, keys[group % 3]);
    x1 = add(x1, add(keys[(group + 1) % 3], word(group)));
  }
  const Shape& shape = node.type().shape;
  return {broadcast(x0, shape, at), broadcast(x1, shape, at)};
}

}  // namespace

const ir::OpDef kThreefry2x32{.name = "threefry2x32",
                              .arity = 4,
                              .cost = ir::Cost::kElementwise,
                              .types = {.infer = infer_threefry},
                              .kernel = {.prepare = ir::prepare_function<threefry_kernel>},
                              .expansion = {.rule = expand_threefry, .in_loops = threefry_in_loops},
                              .derivative = {.zero = true},
                              .batching = {.rule = threefry_batch}};

}  // namespace rondo::ops
