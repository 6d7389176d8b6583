// shard: the identity, its checks, and that every transform and pass preserves it.
#include "ops/shard.h"

#include <algorithm>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "errors/message.h"
#include "ir/function_data.h"
#include "ir/sharding.h"
#include "ops/vectors.h"
#include "passes/expand.h"

namespace rondo {
namespace {

using namespace testing;

const Mesh& mesh() {
  static const Mesh mesh({{"data", 4}, {"model", 2}});
  return mesh;
}

template <class Exception, class Call>
void expect_message(const Call& call, const std::vector<std::string>& parts) {
  expect_parts(message_of<Exception>(call), parts);
}

/// The specs of all shards of a program, at any depth, as `[{"data"}, {}]`.
std::vector<std::string> specs(const Function& function) {
  std::vector<std::string> found;
  for (const Function& each : ir::regions_inside_out(function)) {
    for (const ir::Node* node : each.body()) {
      if (node->op != &ops::kShard) continue;
      ir::append_shardy(found.emplace_back(), node->attrs<ir::Sharding>());
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}
using Specs = std::vector<std::string>;

TEST(Mesh, CountsItsDevices) {
  EXPECT_EQ(mesh().size(), 8);
  EXPECT_EQ(mesh().str(), "data=4, model=2");
  EXPECT_EQ(mesh(), Mesh({{"data", 4}, {"model", 2}}));
  EXPECT_NE(mesh(), Mesh({{"model", 2}, {"data", 4}}));
}

TEST(Mesh, RefusesWhatIsNoGrid) {
  expect_message<TraceError>([] { Mesh mesh({}); }, {"Mesh: it has no axis"});
  expect_message<TraceError>([] { Mesh mesh({{"", 2}}); }, {"\"\" is no name of an axis"});
  expect_message<TraceError>([] { Mesh mesh({{"a\"b", 2}}); }, {"is no name of an axis"});
  expect_message<TraceError>([] { Mesh mesh({{"a", 0}}); }, {"\"a\" has the size 0"});
  expect_message<TraceError>([] { Mesh mesh({{"a", 2}, {"a", 2}}); }, {"two axes are named \"a\""});
  expect_message<TraceError>(
      [] {
        Mesh mesh({{"a", 1 << 20}, {"b", 1 << 20}});
      },
      {"more than 2^31 - 1 devices"});
}

TEST(Shard, IsTheIdentityOfEveryDtypeAndExecutor) {
  for (int dtype = 0; dtype < kDTypeCount; dtype++) {
    const TensorType type{static_cast<DType>(dtype), {4, 2}};
    const Function f = trace([](Tensor x) { return shard(x, mesh(), {"data", "model"}); }, type);
    const Literal x =
        convert(Tensor(Literal::from<float>({0, 1, 0, 2, 3, 1, 1, 4}, {4, 2})), type.dtype).eval();
    for (const Executor executor :
         {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
      const Literal y = compile(f, {.executor = executor}).run({x})[0];
      EXPECT_TRUE(y.identical(x)) << type.str();
    }
  }
  expect_scalar(shard(2.5, mesh(), {}), 2.5);
}

TEST(Shard, CostsNothingWhereThereIsNoMesh) {
  // An array that is updated in place in a loop: exactly the program that runs without it.
  const auto f = [](bool with) {
    return trace(
        [&](Tensor x) {
          const auto body = [&](Tensor i, Tensor c) {
            const Tensor next = update(c, i, c[i] + 1);
            return with ? shard(next, mesh(), {"data"}) : next;
          };
          return fori_loop(0, 100, body, x);
        },
        f32({1000}));
  };
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    EXPECT_EQ(compile(f(true), {.executor = executor}).program(),
              compile(f(false), {.executor = executor}).program());
  }
  std::int64_t evaluations[2] = {}, bytes[2] = {};
  for (const bool with : {false, true}) {
    RunStats stats;
    RunOptions options;
    options.stats = &stats;
    (void)compile(f(with), {.executor = Executor::kReference})
        .run({Literal::zeros(f32({1000}))}, options);
    evaluations[with] = stats.op_evaluations;
    bytes[with] = stats.peak_bytes;
  }
  EXPECT_EQ(evaluations[0], evaluations[1]);
  EXPECT_EQ(bytes[0], bytes[1]);
}

TEST(Shard, RefusesASpecThatDoesNotFit) {
  const auto refused = [](const PartitionSpec& spec) {
    return [&spec] { (void)trace([&](Tensor x) { return shard(x, mesh(), spec); }, f32({8, 6})); };
  };
  expect_message<TraceError>(
      refused({"data"}),
      {"shard: the spec [{\"data\"}] has 1 entries for an array of 2 dimensions, [8,6]"});
  expect_message<TraceError>(
      refused({"rows", std::nullopt}),
      {"shard: the mesh has no axis \"rows\"", "Its axes are data=4, model=2."});
  expect_message<TraceError>(
      refused({"model", "model"}),
      {"shard: the axis \"model\" is used by dimension 0 and again by dimension 1"});
  expect_message<TraceError>(refused({{"model", "model"}, std::nullopt}),
                             {"is used by dimension 0 and again by dimension 0"});
  expect_message<TraceError>(
      refused({std::nullopt, "data"}),
      {"shard: dimension 1 of [8,6] has 6 elements, which 4 devices cannot share evenly",
       "Pad it to a multiple of 4"});
  EXPECT_NO_THROW(refused({{"data", "model"}, kUnconstrained})());
}

TEST(Shard, TakesEveryFormOfASpec) {
  const std::string name = "model";
  const auto spec_of = [](const PartitionSpec& spec, const TensorType& type) {
    return specs(trace([&](Tensor x) { return shard(x, mesh(), spec); }, type)).at(0);
  };
  EXPECT_EQ(spec_of({}, f32()), "[]");
  EXPECT_EQ(spec_of({"data"}, f32({8})), "[{\"data\"}]");
  EXPECT_EQ(spec_of({{"data", "model"}}, f32({8})), "[{\"data\", \"model\"}]");
  EXPECT_EQ(spec_of({"data", name}, f32({8, 2})), "[{\"data\"}, {\"model\"}]");
  EXPECT_EQ(spec_of({std::nullopt, std::string_view("data")}, f32({3, 4})), "[{}, {\"data\"}]");
  EXPECT_EQ(spec_of({kUnconstrained}, f32({3})), "[{?}]");
  EXPECT_EQ(spec_of(std::vector<DimPartition>(2, std::nullopt), f32({3, 3})), "[{}, {}]");
}

TEST(Shard, StaysInDerivatives) {
  const auto f = [](Tensor x) { return sum(square(shard(sin(x), mesh(), {"data", "model"}))); };
  const Function gradient = trace(grad(f), f32({4, 2}));
  EXPECT_EQ(specs(gradient), (Specs(2, "[{\"data\"}, {\"model\"}]")));
  const Function tangent =
      trace([&](Tensor x, Tensor dx) { return jvp(f, std::tuple(x), std::tuple(dx)).second; },
            f32({4, 2}), f32({4, 2}));
  EXPECT_EQ(specs(tangent), (Specs(2, "[{\"data\"}, {\"model\"}]")));
  // d/dx sum(sin(x)^2) = sin(2 x)
  const Literal x = Literal::from<float>({0, 0.5, 1, 1.5, 2, 2.5, 3, 3.5}, {4, 2});
  const Literal dx = compile(gradient).run({x})[0];
  for (std::size_t i = 0; i < 8; i++)
    EXPECT_NEAR(dx.data<float>()[i], std::sin(2 * x.data<float>()[i]), 1e-6);
}

TEST(Shard, StaysInLoopsAndTheirDerivatives) {
  const auto f = [](Tensor x) {
    return sum(scan(
                   [](Tensor c, Tensor) {
                     const Tensor next = shard(sin(c), mesh(), {"data"});
                     return std::pair(next, std::tuple<>());
                   },
                   x, zeros(f32({5})))
                   .first);
  };
  EXPECT_EQ(specs(trace(f, f32({4}))), (Specs(1, "[{\"data\"}]")));
  // The carry in the forward loop and its cotangent in the backward loop.
  const Specs kept = specs(trace(grad(f), f32({4})));
  EXPECT_GE(kept.size(), 2u);
  EXPECT_EQ(kept, Specs(kept.size(), "[{\"data\"}]"));
}

TEST(Shard, GivesALaneAxisToTheCompilerOrToTheMeshAxisOfItsName) {
  const auto f = [](Tensor x) { return shard(x * 2, mesh(), {"model"}); };
  EXPECT_EQ(specs(trace(vmap(f), f32({3, 2}))), (Specs{"[{?}, {\"model\"}]"}));
  EXPECT_EQ(specs(trace(vmap(f, {.axis_name = "lanes"}), f32({3, 2}))),
            (Specs{"[{?}, {\"model\"}]"}));
  EXPECT_EQ(specs(trace(vmap(f, {.axis_name = "data"}), f32({8, 2}))),
            (Specs{"[{\"data\"}, {\"model\"}]"}));
  // What is the same in all lanes is unchanged.
  const auto both = [&](Tensor x, Tensor w) { return x + f(w); };
  EXPECT_EQ(specs(trace(vmap(both, {.in_axes = {0, std::nullopt}, .axis_name = "data"}),
                        f32({8, 2}), f32({2}))),
            (Specs{"[{\"model\"}]"}));
  // Also inside a loop, and in both orders with grad.
  const auto loop = [&](Tensor x) {
    return sum(fori_loop(
        0, 3, [&](Tensor, Tensor c) { return f(sin(c)); }, x));
  };
  for (const Function& each :
       {trace(vmap(grad(loop), {.axis_name = "data"}), f32({8, 2})),
        trace(grad([&](Tensor x) { return sum(vmap(loop, {.axis_name = "data"})(x)); }),
              f32({8, 2}))}) {
    const Specs kept = specs(each);
    EXPECT_GE(kept.size(), 2u);
    EXPECT_EQ(kept, Specs(kept.size(), "[{\"data\"}, {\"model\"}]"));
  }
}

TEST(Shard, LeavesUpdatesOfLanesInPlace) {
  // Lanes end on different trips: the updated part is selected, not the array.
  constexpr std::int64_t kSize = 1024;
  const auto f = [](Tensor n, Tensor x) {
    return std::get<1>(while_loop([&](Tensor i, Tensor) { return i < n; },
                                  [&](Tensor i, Tensor c) {
                                    return std::tuple(i + 1, shard(update(c, i, c[i] + 1), mesh(),
                                                                   {kUnconstrained}));
                                  },
                                  std::tuple(Tensor(0), x)));
  };
  const Function lanes = trace(vmap(f), s32({3}), f32({3, kSize}));
  const Function expanded = passes::expand(lanes, passes::Target::kInterpreter);
  std::size_t whole = 0;
  for (const Function& each : ir::regions_inside_out(expanded)) {
    for (const ir::Node* node : each.body())
      whole += node->op->name == "select" && node->type().elements() >= kSize;
  }
  EXPECT_EQ(whole, 0u);
  const Literal got = compile(lanes).run(
      {Literal::from<std::int32_t>({2, 0, 5}, {3}), Literal::zeros(f32({3, kSize}))})[0];
  for (std::size_t lane = 0; lane < 3; lane++) {
    for (std::size_t i = 0; i < 8; i++) {
      const std::size_t trips[] = {2, 0, 5};
      EXPECT_EQ(got.data<float>()[lane * kSize + i], i < trips[lane] ? 1 : 0);
    }
  }
}

TEST(Shard, RefusesLanesThatDoNotFitTheMesh) {
  const auto f = [](Tensor x) { return shard(x, mesh(), {"data"}); };
  expect_message<TraceError>(
      [&] {
        (void)trace(vmap(f, {.axis_name = "data"}), f32({4, 4}));
      },
      {"shard: the lanes of vmap lie along the mesh axis \"data\", which splits a dimension"});
  expect_message<TraceError>(
      [&] {
        (void)trace(vmap(f, {.axis_name = "model"}), f32({3, 4}));
      },
      {"shard: 3 lanes of the vmap \"model\" cannot be shared evenly by the 2 devices"});
}

TEST(Shard, IsKeptByThePasses) {
  const auto kept = [](const auto& f, const auto&... specs_of_arguments) {
    return specs(compile(trace(f, specs_of_arguments...)).function());
  };
  const Specs one(1, "[{\"data\"}]");
  const auto shard_data = [](Tensor x) { return shard(x, mesh(), {"data"}); };
  EXPECT_EQ(kept(shard_data, f32({4})), one);
  // A constant, which is not folded.
  EXPECT_EQ(kept([&](Tensor x) { return x + shard_data(iota(f32({4}), 0)); }, f32({4})), one);
  // Two equal ones are merged; one with another spec is not.
  EXPECT_EQ(kept([&](Tensor x) { return shard_data(x) * shard_data(x); }, f32({4})), one);
  EXPECT_EQ(
      kept([&](Tensor x) { return shard_data(x) * shard(x, mesh(), {kUnconstrained}); }, f32({4})),
      (Specs{"[{\"data\"}]", "[{?}]"}));
  // On a carry that does not change otherwise.
  EXPECT_EQ(kept(
                [&](Tensor x, Tensor n) {
                  return while_loop(
                      [&](Tensor i, Tensor) { return i < n; },
                      [&](Tensor i, Tensor c) { return std::tuple(i + 1, shard_data(c)); },
                      std::tuple(Tensor(0), x));
                },
                f32({4}), s32()),
            one);
  // In a branch.
  EXPECT_EQ(kept(
                [&](Tensor p, Tensor x) {
                  return cond(
                      p, shard_data, [](Tensor y) { return y; }, x);
                },
                pred(), f32({4})),
            one);
}

TEST(Shard, OfAnInvariantLeavesTheLoopWithIt) {
  const Function f = trace(
      [](Tensor x, Tensor w, Tensor n) {
        return while_loop(
            [&](Tensor i, Tensor) { return i < n; },
            [&](Tensor i, Tensor c) { return std::tuple(i + 1, c + shard(w, mesh(), {"data"})); },
            std::tuple(Tensor(0), x));
      },
      f32({4}), f32({4}), s32());
  const Function optimized = compile(f).function();
  EXPECT_EQ(specs(optimized), (Specs{"[{\"data\"}]"}));
  const auto is_shard = [](const ir::Node* node) { return node->op == &ops::kShard; };
  EXPECT_EQ(std::count_if(optimized.body().begin(), optimized.body().end(), is_shard), 1);
}

TEST(Shard, TellsWhereArgumentsAndResultsOfAProgramLie) {
  const Function f = trace(
      [](Tensor x, Tensor w, Tensor b) {
        const Tensor y = shard(x, mesh(), {"data", kUnconstrained}) + b;
        return std::tuple(shard(y * w, mesh(), {std::nullopt, {"model", "data"}}), sum(y));
      },
      f32({4, 8}), f32({4, 8}), f32());
  const auto sharding = ir::program_sharding(f);
  ASSERT_TRUE(sharding);
  EXPECT_EQ(sharding->devices(), 8);
  const auto text = [](const std::vector<ir::Sharding>& all) {
    Specs texts;
    for (const ir::Sharding& each : all) ir::append_shardy(texts.emplace_back(), each);
    return texts;
  };
  // What is unconstrained inside is not split as an argument or result.
  EXPECT_EQ(text(sharding->arguments), (Specs{"[{\"data\"}, {}]", "[{}, {}]", "[]"}));
  EXPECT_EQ(text(sharding->results), (Specs{"[{}, {\"model\", \"data\"}]", "[]"}));
  EXPECT_FALSE(ir::program_sharding(trace([](Tensor x) { return x; }, f32())));
}

TEST(Shard, RefusesTwoMeshesInOneProgram) {
  const Function f = trace(
      [](Tensor x) {
        const Tensor first = shard(x, mesh(), {"data"});
        return first + shard(x, Mesh({{"data", 2}}), {"data"});
      },
      f32({4}));
  expect_message<TraceError>([&] { (void)to_stablehlo_text(f); },
                             {"shard: its mesh is data=2, and that of shard_test.cc:",
                              "is data=4, model=2", "A program runs on one mesh"});
  EXPECT_THROW((void)to_hlo_text(f), TraceError);
}

}  // namespace
}  // namespace rondo
