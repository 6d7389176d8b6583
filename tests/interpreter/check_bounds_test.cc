// RunOptions::check_bounds.
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "gtest/gtest.h"
#include "rondo/rondo.h"

namespace rondo::testing {
namespace {

/// The error message of the run; empty if there is none.
template <class F, class... A>
std::string failure(const F& jitted, const A&... arguments) {
  try {
    jitted.with({.check_bounds = true})(arguments...);
  } catch (const ExecutionError& error) {
    EXPECT_NE(std::string(error.location().file).find("check_bounds_test.cc"), std::string::npos);
    return error.what();
  }
  return "";
}

#define EXPECT_FAILURE(text, ...)                                               \
  do {                                                                          \
    const std::string message = failure(__VA_ARGS__);                           \
    EXPECT_NE(message.find(text), std::string::npos) << "message: " << message; \
  } while (false)

Tensor numbers(std::int64_t n) { return convert(arange(n), DType::kF32); }
/// f of one array and each of many integers.
template <class F>
auto over_lanes(F f) {
  return [f](Tensor x, Tensor each) { return vmap([&](Tensor i) { return f(x, i); })(each); };
}

Tensor integer(int i) { return Tensor(i); }

TEST(CheckBounds, NamesTheOpTheIndexTheAxisTheTripsAndTheLine) {
  int line = 0;
  const auto f = jit([&](Tensor x, Tensor n) {
    return fori_loop(0, n,
                     [&](Tensor i, Tensor sum) {
                       line = __LINE__ + 1;
                       return sum + x[i];
                     },
                     0.0f, {.name = "rows"});
  });
  EXPECT_EQ(failure(f, numbers(4), integer(4)), "");
  const std::string message = failure(f, numbers(4), integer(9));
  for (const std::string& part :
       {std::string("dynamic_slice: index 4 along axis 0 of size 4 is out of range: 0 to 3"),
        std::string("It would be clamped"), std::string("'rows'"), std::string("trip 5"),
        "check_bounds_test.cc:" + std::to_string(line)})
    EXPECT_NE(message.find(part), std::string::npos) << part << " in " << message;
  EXPECT_EQ(f(numbers(4), integer(9)).item<float>(), 6 + 5 * 3);
}

TEST(CheckBounds, EveryOpThatTakesIndices) {
  const auto take_rows = jit([](Tensor x, Tensor i) { return take(x, i); });
  EXPECT_FAILURE("gather: index -1 (element 1 of the indices s32[2]) along axis 0", take_rows,
                 numbers(3), constant({2, -1}));
  EXPECT_EQ(failure(take_rows, numbers(3), constant({2, 0})), "");
  const auto take_one = jit([](Tensor x, Tensor i) { return take(x, i); });
  EXPECT_FAILURE("index 3 along axis 0 of size 3", take_one, numbers(3), integer(3));
  const auto part = jit([](Tensor x, Tensor i) { return dynamic_slice(x, {i}, {2}); });
  EXPECT_FAILURE("index 2 along axis 0 of size 3 is out of range: 0 to 1, where 2 elements fit",
                 part, numbers(3), integer(2));
  const auto put_part = jit([](Tensor x, Tensor i) {
    return dynamic_update_slice(x, constant({1.0f, 2.0f}), {i});
  });
  EXPECT_FAILURE("dynamic_update_slice: index 2", put_part, numbers(3), integer(2));
  const auto put = jit([](Tensor x, Tensor i) { return update(x, i, 7); });
  EXPECT_FAILURE("dynamic_update_slice: index -4", put, numbers(3), integer(-4));
  const auto element = jit([](Tensor x, Tensor i) { return at(x, {i, i}); });
  EXPECT_FAILURE("index 2 along axis 0 of size 2", element, reshape(numbers(6), {2, 3}),
                 integer(2));
  const auto put_element = jit([](Tensor x, Tensor i) { return update(x, {Tensor(0), i}, 7); });
  EXPECT_FAILURE("index 3 along axis 1 of size 3", put_element, reshape(numbers(6), {2, 3}),
                 integer(3));
  const auto middle = jit([](Tensor x, Tensor i) { return column(x, i); });
  EXPECT_FAILURE("index 5 along axis 1 of size 3", middle, reshape(numbers(6), {2, 3}), integer(5));
  const auto gathered = jit([](Tensor x, Tensor i) {
    return gather(
        x, i, {.collapsed_slice_dims = {0, 1}, .start_index_map = {0, 1}, .index_vector_dim = 1},
        {1, 1});
  });
  EXPECT_EQ(failure(gathered, reshape(numbers(6), {2, 3}), constant({{1, 2}, {0, 0}})), "");
  EXPECT_FAILURE("index 3 (element 3 of the indices s32[2,2]) along axis 1 of size 3", gathered,
                 reshape(numbers(6), {2, 3}), constant({{1, 2}, {0, 3}}));
  const auto scattered = jit([](Tensor x, Tensor i) {
    return scatter(
        x, i, constant({1.0f, 1.0f}),
        {.inserted_window_dims = {0}, .scatter_dims_to_operand_dims = {0}, .index_vector_dim = 1},
        [](Tensor a, Tensor b) { return a + b; });
  });
  EXPECT_FAILURE("scatter: index 3", scattered, numbers(3), constant({0, 3}));
  EXPECT_FAILURE("would be left out", scattered, numbers(3), constant({0, 3}));
  EXPECT_EQ(failure(scattered, numbers(3), constant({0, INT32_MIN})), "");
  const auto chosen = jit([](Tensor i) {
    return switch_case(i, std::vector<std::function<Tensor()>>{[] { return Tensor(1.0f); },
                                                               [] { return Tensor(2.0f); }});
  });
  EXPECT_FAILURE("switch_case: index 2 of 2 branches is out of range: 0 to 1", chosen, integer(2));
  EXPECT_FAILURE("switch_case: index -1", chosen, integer(-1));
  EXPECT_EQ(failure(chosen, integer(1)), "");
}

TEST(CheckBounds, IndicesThatAreKnownWhenTheProgramIsWritten) {
  EXPECT_FAILURE("index 7 along axis 0",
                 jit([](Tensor x) { return dynamic_slice(x, {Tensor(7)}, {1}); }), numbers(3));
  EXPECT_FAILURE("index 7 along axis 0", jit([](Tensor x) { return x[Tensor(3) + 4]; }),
                 numbers(3));
}

TEST(CheckBounds, DerivativesFailWhereTheirProgramDoes) {
  const auto of_take = [](Tensor x, Tensor i) { return sum(take(x, i) * 2); };
  EXPECT_FAILURE("gather: index 3", jit(grad(of_take)), numbers(3), constant({0, 3}));
  EXPECT_EQ(failure(jit(grad(of_take)), numbers(3), constant({0, 2})), "");
  const auto of_row = [](Tensor x, Tensor i) { return x[i] * x[i]; };
  EXPECT_FAILURE("index 3", jit(grad(of_row)), numbers(3), integer(3));
  EXPECT_EQ(failure(jit(grad(of_row)), numbers(3), integer(2)), "");
}

TEST(CheckBounds, DerivativesOfLoopsAreInRange) {
  const auto walk = [](Tensor x, Tensor n) {
    return while_loop([&](std::pair<Tensor, Tensor> c) { return c.first < n; },
                      [&](std::pair<Tensor, Tensor> c) {
                        return std::pair(c.first + 1, c.second * x[c.first] + 1);
                      },
                      std::pair<Tensor, Tensor>(0, 1.0f))
        .second;
  };
  EXPECT_EQ(failure(jit(grad(walk)), numbers(5), integer(5)), "");
  EXPECT_FAILURE("index 5", jit(grad(walk)), numbers(5), integer(6));
  for (const Checkpoint policy : {Checkpoint::periodic(2), Checkpoint::tape(),
                                  Checkpoint::revolve(2), Checkpoint::online(2)}) {
    const auto fold = [&](Tensor x) {
      return fori_loop(0, 5, [&](Tensor i, Tensor c) { return sin(c) * x[i]; }, 1.0f,
                       {.checkpoint = policy});
    };
    EXPECT_EQ(failure(jit(grad(fold)), numbers(5)), "");
  }
}

TEST(CheckBounds, AWhileScanMayEndBeforeItsLastRow) {
  const auto some = jit([](Tensor x, Tensor n) {
    return while_scan([&](Tensor i) { return i < n; },
                      [&](Tensor i) { return std::pair(i + 1, x[i]); }, 0, {.max_trip_count = 8})
        .ys;
  });
  EXPECT_EQ(failure(some, numbers(5), integer(5)), "");
}

TEST(CheckBounds, LanesThatTakeNoPartDoNotCount) {
  // Each lane guards its index: by a branch, and by the end of its loop.
  const auto guarded = [](Tensor x, Tensor i) {
    return cond(
        i < 4, [&] { return x[i]; }, [&] { return x[i - 4]; });
  };
  const auto lanes = jit(over_lanes(guarded));
  EXPECT_EQ(failure(lanes, numbers(4), constant({0, 3, 4, 7})), "");
  EXPECT_FAILURE("index 4 (element 3 of the indices s64[4]) along axis 0 of size 4", lanes,
                 numbers(4), constant({0, 3, 4, 8}));
  const auto walk = [](Tensor x, Tensor n) {
    return while_loop([&](std::pair<Tensor, Tensor> c) { return c.first < n; },
                      [&](std::pair<Tensor, Tensor> c) {
                        return std::pair(c.first + 1, c.second + x[c.first]);
                      },
                      std::pair<Tensor, Tensor>(0, 0.0f))
        .second;
  };
  const auto walks = jit(over_lanes(walk));
  EXPECT_EQ(failure(walks, numbers(4), constant({1, 4, 0})), "");
  EXPECT_FAILURE("index 4", walks, numbers(4), constant({1, 5, 0}));
  const auto gradients = jit(over_lanes(grad(walk)));
  EXPECT_EQ(failure(gradients, numbers(4), constant({1, 4, 0})), "");
  const auto of_lanes = jit(grad([&](Tensor x, Tensor n) { return sum(over_lanes(walk)(x, n)); }));
  EXPECT_EQ(failure(of_lanes, numbers(4), constant({1, 4, 0})), "");
}

TEST(CheckBounds, UpdatesOfLanesThatTakeNoPartAreLeftOutOnPurpose) {
  const auto fill = [](Tensor x, Tensor n) {
    return while_loop([&](std::pair<Tensor, Tensor> c) { return c.first < n; },
                      [&](std::pair<Tensor, Tensor> c) {
                        return std::pair(c.first + 1, update(c.second, c.first, 7));
                      },
                      std::pair<Tensor, Tensor>(0, x))
        .second;
  };
  const auto fills = jit(vmap(fill));
  EXPECT_EQ(failure(fills, zeros(f32({2, 4})), constant({4, 1})), "");
  EXPECT_FAILURE("index 4 along axis 1 of size 4", fills, zeros(f32({2, 4})), constant({5, 1}));
}

TEST(CheckBounds, UpdatesOfLanesAtPlacesOfTheirOwn) {
  const auto put = jit(vmap([](Tensor x, Tensor i) { return update(x, i, 7); }));
  EXPECT_EQ(failure(put, zeros(f32({2, 4})), constant({0, 3})), "");
  EXPECT_FAILURE(
      "dynamic_update_slice: index 4 (element 1 of the indices s64[2]) along axis 0 of size 4", put,
      zeros(f32({2, 4})), constant({0, 4}));
  const auto put_twice = jit(vmap([](Tensor x, Tensor i) {
    return while_loop([](std::pair<Tensor, Tensor> c) { return c.first < 4; },
                      [](std::pair<Tensor, Tensor> c) {
                        return std::pair(c.first + 2, update(c.second, c.first, 7));
                      },
                      std::pair<Tensor, Tensor>(i, x))
        .second;
  }));
  EXPECT_EQ(failure(put_twice, zeros(f32({3, 4})), constant({0, 3, 9})), "");
  EXPECT_FAILURE("index -1", put_twice, zeros(f32({2, 4})), constant({0, -1}));
}

TEST(CheckBounds, SearchesThatAreOverAreInRange) {
  const auto places = jit([](Tensor x, Tensor v) { return searchsorted(x, v); });
  EXPECT_EQ(failure(places, numbers(5), constant({-1.0f, 2.0f, 9.0f})), "");
}

TEST(CheckBounds, WhatALoopWithoutTripsWouldReadDoesNotCount) {
  const auto f = jit([](Tensor x, Tensor i, Tensor n) {
    return while_loop(
               [&](std::pair<Tensor, Tensor> c) { return c.first < n; },
               [&](std::pair<Tensor, Tensor> c) { return std::pair(c.first + 1, c.second + x[i]); },
               std::pair<Tensor, Tensor>(0, 0.0f))
        .second;
  });
  EXPECT_EQ(failure(f, numbers(4), integer(9), integer(0)), "");
  EXPECT_FAILURE("index 9", f, numbers(4), integer(9), integer(1));
}

TEST(CheckBounds, HoldsInScopesInOptionsOfJitAndForLazyTensors) {
  const Tensor x = constant({1.0f, 2.0f}), i = Tensor(2) + 0;
  const auto row = [](Tensor values, Tensor place) { return values[place]; };
  EXPECT_EQ(jit(row)(x, i).item<float>(), 2);
  EXPECT_THROW(jit(row, {.run = {.check_bounds = true}})(x, i), ExecutionError);
  const RunScope outer({.check_bounds = true});
  const RunScope inner({.max_iterations = 100});
  EXPECT_THROW(jit(row)(x, i), ExecutionError);
  EXPECT_THROW(jit(row).with({.threads = 2})(x, i), ExecutionError);
  EXPECT_THROW(x[i].eval(), ExecutionError);
  EXPECT_THROW(compile(trace(row, f32({2}), s32()))
                   .run({Literal::from<float>({1, 2}, {2}), Literal::scalar(2)}),
               ExecutionError);
}

TEST(CheckFinite, HoldsInScopesAroundOptions) {
  const RunScope outer({.check_finite = true});
  const RunScope inner({.max_iterations = 100});
  EXPECT_THROW(jit([](Tensor x) { return log(x); })(-1.0f), ExecutionError);
}

}  // namespace
}  // namespace rondo::testing
