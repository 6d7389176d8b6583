// One index by lane for each access of lanes.
#include "lower/passes/lane_indices.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <optional>

#include "lower/builder.h"
#include "lower/verify.h"

namespace rondo::lower {
namespace {

/// out[lane] = table[rows[lane]][columns[lane]], whose indices are clamped to [0, last].
Program looked_up(std::int64_t last, std::int64_t row_bytes) {
  Builder b;
  const Value rows = b.buffer({Storage::kArgument, 0, 0, 400});
  const Value columns = b.buffer({Storage::kArgument, 1, 0, 400});
  const Value table = b.buffer({Storage::kArgument, 2, 0, last * row_bytes + (last + 1) * 4});
  const Value out = b.buffer({Storage::kResult, 0, 0, 400});
  const std::uint32_t lanes = b.begin_lanes(b.index(100));
  const Value lane = b.index_of_lanes(lanes);
  const auto index = [&](Value from) {
    return b.clamped_index(b.convert(b.load(Type::kS32, {from, 0, {{lane, 4}}}), Type::kS64), last);
  };
  const Value row = index(rows), column = index(columns);
  b.store(b.load(Type::kF32, {table, 0, {{row, row_bytes}, {column, 4}}}), {out, 0, {{lane, 4}}});
  b.end_lanes();
  Program program = b.finish();
  combine_lane_indices(program);
  EXPECT_EQ(verify(program), "");
  return program;
}

/// The type in which the index of the table is computed; none if it has several.
std::optional<Type> type_of_index(const Program& program) {
  const auto load = std::find_if(program.code.begin(), program.code.end(), [](const Op& op) {
    return op.code == Opcode::kLoad && op.type == Type::kF32;
  });
  const Address& address = program.addresses[load->bits];
  if (address.terms.size() != 1) return std::nullopt;
  const auto made = std::find_if(program.code.begin(), program.code.end(),
                                 [&](const Op& op) { return op.result == address.terms[0].index; });
  return made->code == Opcode::kConvert ? made->from : made->type;
}

TEST(LaneIndices, OfTwoIndicesBecomeOne) {
  EXPECT_EQ(type_of_index(looked_up(127, 512)), Type::kS32);
  EXPECT_EQ(type_of_index(looked_up(99, 4 * 101)), Type::kS32);
}

TEST(LaneIndices, HaveSixtyFourBitsWhereTheyMayNeedThem) {
  EXPECT_EQ(type_of_index(looked_up((1 << 20) - 1, 4 << 20)), Type::kS64);
  EXPECT_EQ(type_of_index(looked_up(INT32_MAX, 4)), Type::kS64);
}

TEST(LaneIndices, OfTheLanesAloneStay) {
  Builder b;
  const Value in = b.buffer({Storage::kArgument, 0, 0, 4000});
  const Value out = b.buffer({Storage::kResult, 0, 0, 400});
  const std::uint32_t lanes = b.begin_lanes(b.index(100));
  const Value lane = b.index_of_lanes(lanes);
  const std::uint32_t loop = b.begin_for(b.index(0), b.index(10), 1, {});
  const Value trip = b.index_of_for(loop);
  b.store(b.load(Type::kF32, {in, 0, {{lane, 40}, {trip, 4}}}), {out, 0, {{lane, 4}}});
  b.end_for({});
  b.end_lanes();
  Program program = b.finish();
  const std::size_t ops = program.code.size();
  combine_lane_indices(program);
  EXPECT_EQ(program.code.size(), ops);
}

}  // namespace
}  // namespace rondo::lower
