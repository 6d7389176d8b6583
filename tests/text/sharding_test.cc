// Meshes and shardings in texts, in the notations of Shardy and GSPMD.
#include "ir/sharding.h"

#include <gtest/gtest.h>

#include <string>

#include "support/expect.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;

Function stepped() {
  const Mesh mesh({{"data", 4}, {"model", 2}});
  return trace(
      [&](Tensor x, Tensor n) {
        return while_loop([&](Tensor i, Tensor) { return i == n; },
                          [&](Tensor i, Tensor c) {
                            return std::tuple(i, shard(-c, mesh, {"model", kUnconstrained}));
                          },
                          std::tuple(n, shard(x, mesh, {"data", std::nullopt})));
      },
      f32({8, 6}), s32());
}

std::string without_compare(const std::string& text) {
  std::string lines;
  for (std::size_t at = 0; at < text.size();) {
    const std::size_t end = text.find('\n', at) + 1;
    const std::string line = text.substr(at, end - at);
    if (line.find("compare") == std::string::npos) lines += line;
    at = end;
  }
  return lines;
}

TEST(ShardingText, OfShardy) {
  EXPECT_EQ(
      without_compare(to_stablehlo_text(stepped())),
      R"(module @main attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  sdy.mesh @mesh = <["data"=4, "model"=2]>
  func.func public @main(%arg0: tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{"data"}, {}]>}, %arg1: tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}) -> (tensor<i32> {sdy.sharding = #sdy.sharding<@mesh, []>}, tensor<8x6xf32> {sdy.sharding = #sdy.sharding<@mesh, [{}, {}]>}) {
    %0 = sdy.sharding_constraint %arg0 <@mesh, [{"data"}, {}]> : tensor<8x6xf32>
    %1:2 = stablehlo.while(%carry_0 = %arg1, %carry_1 = %0) : tensor<i32>, tensor<8x6xf32>
    cond {
      stablehlo.return %2 : tensor<i1>
    } do {
      %3 = stablehlo.negate %carry_1 : tensor<8x6xf32>
      %4 = sdy.sharding_constraint %3 <@mesh, [{"model"}, {?}]> : tensor<8x6xf32>
      stablehlo.return %carry_0, %4 : tensor<i32>, tensor<8x6xf32>
    }
    return %1#0, %1#1 : tensor<i32>, tensor<8x6xf32>
  }
}
)");
}

TEST(ShardingText, OfGspmd) {
  EXPECT_EQ(
      without_compare(to_stablehlo_text(stepped(), {.partitioner = Partitioner::kGspmd})),
      R"(module @main attributes {mhlo.num_partitions = 8 : i32, mhlo.num_replicas = 1 : i32} {
  func.func public @main(%arg0: tensor<8x6xf32> {mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"}, %arg1: tensor<i32> {mhlo.sharding = "{replicated}"}) -> (tensor<i32> {mhlo.sharding = "{replicated}"}, tensor<8x6xf32> {mhlo.sharding = "{replicated}"}) {
    %0 = stablehlo.custom_call @Sharding(%arg0) {backend_config = "", mhlo.sharding = "{devices=[4,1,2]<=[8] last_tile_dim_replicate}"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
    %1:2 = stablehlo.while(%carry_0 = %arg1, %carry_1 = %0) : tensor<i32>, tensor<8x6xf32>
    cond {
      stablehlo.return %2 : tensor<i1>
    } do {
      %3 = stablehlo.negate %carry_1 : tensor<8x6xf32>
      %4 = stablehlo.custom_call @Sharding(%3) {backend_config = "unspecified_dims=[1]", mhlo.sharding = "{devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}"} : (tensor<8x6xf32>) -> tensor<8x6xf32>
      stablehlo.return %carry_0, %4 : tensor<i32>, tensor<8x6xf32>
    }
    return %1#0, %1#1 : tensor<i32>, tensor<8x6xf32>
  }
}
)");
}

TEST(ShardingText, IsReadAsTheProgramOfOneDevice) {
  for (const Partitioner partitioner : {Partitioner::kShardy, Partitioner::kGspmd}) {
    const Function read =
        parse_stablehlo_text(to_stablehlo_text(stepped(), {.partitioner = partitioner}));
    EXPECT_EQ(read.params(), stepped().params());
    EXPECT_EQ(to_stablehlo_text(read).find("mesh"), std::string::npos);
  }
  EXPECT_EQ(parse_hlo_text(to_hlo_text(stepped())).params(), stepped().params());
}

TEST(ShardingText, OfHlo) {
  EXPECT_EQ(
      without_compare(to_hlo_text(stepped())),
      R"(HloModule main, entry_computation_layout={(f32[8,6], s32[])->(s32[], f32[8,6])}, num_partitions=8

while_cond {
  carry.1 = (s32[], f32[8,6], s32[]) parameter(0)
  carry_0 = s32[] get-tuple-element(carry.1), index=0
  arg1 = s32[] get-tuple-element(carry.1), index=2
}

while_body {
  carry.1 = (s32[], f32[8,6], s32[]) parameter(0)
  carry_1 = f32[8,6] get-tuple-element(carry.1), index=1
  negate.2 = f32[8,6] negate(carry_1)
  custom-call.3 = f32[8,6] custom-call(negate.2), custom_call_target="Sharding", sharding={devices=[2,1,4]<=[4,2]T(1,0) last_tile_dim_replicate}, backend_config="unspecified_dims=[1]"
  carry_0 = s32[] get-tuple-element(carry.1), index=0
  arg1 = s32[] get-tuple-element(carry.1), index=2
  ROOT tuple.4 = (s32[], f32[8,6], s32[]) tuple(carry_0, custom-call.3, arg1)
}

ENTRY main {
  arg0 = f32[8,6] parameter(0), sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  arg1 = s32[] parameter(1), sharding={replicated}
  custom-call.1 = f32[8,6] custom-call(arg0), custom_call_target="Sharding", sharding={devices=[4,1,2]<=[8] last_tile_dim_replicate}
  tuple.2 = (s32[], f32[8,6], s32[]) tuple(arg1, custom-call.1, arg1)
  while.3 = (s32[], f32[8,6], s32[]) while(tuple.2), condition=while_cond, body=while_body
  carry_0.4 = s32[] get-tuple-element(while.3), index=0
  carry_1.5 = f32[8,6] get-tuple-element(while.3), index=1
  ROOT tuple.6 = (s32[], f32[8,6]) tuple(carry_0.4, carry_1.5), sharding={{replicated}, {replicated}}
}
)");
}

TEST(ShardingText, OfTileAssignments) {
  const auto gspmd = [](ir::MeshAxes mesh, std::vector<ir::DimSharding> dims) {
    std::string text;
    ir::append_gspmd(text, {std::move(mesh), std::move(dims)});
    return text;
  };
  const ir::MeshAxes mesh{{"a", 2}, {"b", 3}, {"c", 5}};
  EXPECT_EQ(gspmd(mesh, {}), "{replicated}");
  EXPECT_EQ(gspmd(mesh, {{}, {{}, true}}), "{replicated}");
  EXPECT_EQ(gspmd(mesh, {{{"a"}}, {{"b"}}, {{"c"}}}), "{devices=[2,3,5]<=[30]}");
  EXPECT_EQ(gspmd(mesh, {{{"c", "a"}}, {}}),
            "{devices=[10,1,3]<=[2,3,5]T(2,0,1) last_tile_dim_replicate}");
  EXPECT_EQ(gspmd(mesh, {{}, {{"b"}}}),
            "{devices=[1,3,10]<=[2,3,5]T(1,0,2) last_tile_dim_replicate}");
  EXPECT_EQ(gspmd({{"a", 1}, {"b", 4}}, {{{"a"}}, {{"b"}}}), "{devices=[1,4]<=[4]}");
  EXPECT_EQ(gspmd({{"a", 1}}, {{{"a"}}}), "{replicated}");
}

TEST(ShardingText, ProgramsWithoutAMeshSayNothingOfIt) {
  const Function f = trace([](Tensor x) { return x + 1; }, f32());
  for (const std::string& text : {to_stablehlo_text(f), to_hlo_text(f)}) {
    EXPECT_EQ(text.find("partition"), std::string::npos);
    EXPECT_EQ(text.find("shard"), std::string::npos);
  }
}

}  // namespace
}  // namespace rondo
