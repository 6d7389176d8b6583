// fori_loop against plain C++ loops, with every option.
#include <limits>
#include <tuple>
#include <vector>

#include "support/expect.h"

namespace rondo {
namespace {

using testing::expect_error;
using testing::expect_scalar;
using testing::expect_values;

TEST(Fori, CountsFromTwo) {
  expect_scalar(fori_loop(
                    2, 52, [](Tensor, Tensor x) { return x + 1; }, 1),
                51);
}

TEST(Fori, BoundsAsTensors) {
  const Tensor lower = constant({2}), upper = constant({52});
  expect_scalar(
      fori_loop(
          reshape(lower, {}), reshape(upper, {}), [](Tensor, Tensor x) { return x + 1; }, 1),
      51);
  auto f = jit([](Tensor n) {
    return fori_loop(
        0, n, [](Tensor i, Tensor x) { return x + i; }, 0);
  });
  expect_scalar(f(5), 10);
  expect_scalar(f(0), 0);
  expect_scalar(f(-3), 0);
}

/// The indices of a loop in the order of its trips: with bounds that are constants and with bounds
/// known only at run time, on all executors, and under an EagerScope.
template <class T>
void expect_indices(T lower, T upper, ForiOptions options, const std::vector<T>& want) {
  const int n = static_cast<int>(want.size());
  std::vector<T> padded = want;
  padded.push_back(T(0));
  const auto visit = [&](const auto& from, const auto& to, const ForiOptions& given) {
    return fori_loop(
        from, to,
        [&](Tensor i, Tensor count, Tensor seen) {
          return std::tuple{count + 1, update(seen, count, i)};
        },
        std::tuple{Tensor(0), zeros({dtype_of<T>, {n + 1}})}, given);
  };
  ForiOptions indexed = options;
  indexed.index = dtype_of<T>;
  {
    SCOPED_TRACE("eager");
    const EagerScope eager;
    const auto [count, seen] = visit(lower, upper, indexed);
    expect_scalar(count, n);
    expect_values<T>(seen.eval(), {n + 1}, padded);
  }
  const Function constant = trace([&] { return visit(lower, upper, indexed); });
  const TensorType bound{dtype_of<T>, {}};
  const Function given =
      trace([&](Tensor from, Tensor to) { return visit(from, to, options); }, bound, bound);
  for (const Executor executor : {Executor::kReference, Executor::kBytecode, Executor::kCompiled}) {
    for (const bool optimize : {true, false}) {
      SCOPED_TRACE(::testing::Message() << "executor " << static_cast<int>(executor)
                                        << (optimize ? "" : ", without passes"));
      const CompileOptions how{.optimize = optimize, .executor = executor};
      const std::vector<Literal> known = compile(constant, how).run(std::vector<Literal>{});
      EXPECT_EQ(known[0].template item<std::int32_t>(), n);
      expect_values<T>(known[1], {n + 1}, padded);
      const std::vector<Literal> unknown =
          compile(given, how).run({Literal::scalar(lower), Literal::scalar(upper)});
      EXPECT_EQ(unknown[0].template item<std::int32_t>(), n);
      expect_values<T>(unknown[1], {n + 1}, padded);
    }
  }
}

TEST(Fori, BoundsNearTheEndsOfTheirType) {
  constexpr std::int64_t kMax = std::numeric_limits<std::int64_t>::max();
  constexpr std::int64_t kMin = std::numeric_limits<std::int64_t>::min();
  expect_indices<std::int64_t>(kMax - 6, kMax, {.step = 4}, {kMax - 6, kMax - 2});
  expect_indices<std::int64_t>(5, kMax - 5, {.step = kMax / 3},
                               {5, 5 + kMax / 3, 5 + 2 * (kMax / 3)});
  expect_indices<std::int64_t>(kMin, kMin + 3, {.reverse = true}, {kMin + 2, kMin + 1, kMin});
  expect_indices<std::int64_t>(kMin, kMin + 22, {.step = 10, .reverse = true},
                               {kMin + 20, kMin + 10, kMin});
  expect_indices<std::int64_t>(kMin, kMax, {.step = kMax}, {kMin, -1, kMax - 1});
  expect_indices<std::int64_t>(kMax - 5, kMax, {.unroll = 2},
                               {kMax - 5, kMax - 4, kMax - 3, kMax - 2, kMax - 1});
  constexpr std::uint64_t kHalf = std::uint64_t{1} << 63;
  expect_indices<std::uint64_t>(kHalf - 1, kHalf + 2, {}, {kHalf - 1, kHalf, kHalf + 1});
  expect_indices<std::uint64_t>(kHalf, kHalf + 5, {.step = 2, .reverse = true},
                                {kHalf + 4, kHalf + 2, kHalf});
  constexpr std::uint64_t kEnd = std::numeric_limits<std::uint64_t>::max();
  expect_indices<std::uint64_t>(kEnd - 3, kEnd, {.step = 2}, {kEnd - 3, kEnd - 1});
  expect_indices<std::uint64_t>(0, kEnd, {.step = kMax}, {0, kHalf - 1, kEnd - 1});
  expect_indices<std::uint64_t>(0, kEnd, {.step = kMax, .reverse = true}, {kEnd - 1, kHalf - 1, 0});
  // No trips, although upper - lower overflows the type.
  expect_indices<std::int64_t>(kMax, kMin, {}, {});
  expect_indices<std::int64_t>(kMin, kMin, {}, {});
  expect_indices<std::uint64_t>(kEnd, 0, {.reverse = true}, {});
}

TEST(Fori, TheTripsDoNotDependOnWhatWasEvaluated) {
  const Tensor n = Tensor(2) + 3;
  const auto traced = [&] {
    return trace(
               [&](Tensor x) {
                 return fori_loop(
                     0, n, [](Tensor, Tensor s) { return s + 1; }, x);
               },
               s32())
        .str();
  };
  const std::string before = traced();
  EXPECT_EQ(n.item<int>(), 5);
  EXPECT_EQ(traced(), before);
}

TEST(Fori, ZeroTrips) {
  expect_scalar(fori_loop(
                    5, 5, [](Tensor, Tensor x) { return x + 1; }, 7),
                7);
  expect_scalar(fori_loop(
                    5, 2, [](Tensor, Tensor x) { return x + 1; }, 7),
                7);
}

TEST(Fori, SpreadAndWholeState) {
  auto [a, b] = fori_loop(
      0, 4, [](Tensor i, Tensor a, Tensor b) { return std::tuple(a + i, b * 2); },
      std::tuple(0, 1));
  expect_scalar(a, 6);
  expect_scalar(b, 16);
  auto [c, d] = fori_loop(
      0, 4,
      [](Tensor i, std::tuple<Tensor, Tensor> s) {
        return std::tuple(std::get<0>(s) + i, std::get<1>(s) * 2);
      },
      std::tuple(0, 1));
  expect_scalar(c, 6);
  expect_scalar(d, 16);
}

/// The dtype of the index of a loop between these bounds.
DType index_dtype(const Operand& lower, const Operand& upper, const ForiOptions& options = {}) {
  DType dtype = DType::kPred;
  (void)fori_loop(
      lower, upper,
      [&](Tensor i, Tensor x) {
        dtype = i.dtype();
        return x;
      },
      0, options);
  return dtype;
}

TEST(Fori, IndexDtypeIsTheBoundsWhereTheyAreTensors) {
  auto f = jit([](Tensor n) {
    return fori_loop(
        0, n, [](Tensor i, Tensor x) { return x + i; }, convert(0, DType::kU8));
  });
  expect_scalar(f(static_cast<std::uint8_t>(20)), static_cast<std::uint8_t>(190));
  EXPECT_EQ(index_dtype(Tensor(std::int64_t{0}), std::int64_t{3}), DType::kS64);
  EXPECT_EQ(index_dtype(0, convert(9, DType::kS16)), DType::kS16);
}

TEST(Fori, IndexOfIntegersIsS32WhereBothFit) {
  constexpr std::int64_t kMost = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t kLeast = std::numeric_limits<std::int32_t>::min();
  EXPECT_EQ(index_dtype(0, arange(5).dim(0)), DType::kS32);
  EXPECT_EQ(index_dtype(std::size_t{0}, std::size_t{4}), DType::kS32);
  EXPECT_EQ(index_dtype(std::uint8_t{0}, std::int16_t{4}), DType::kS32);
  EXPECT_EQ(index_dtype(kMost - 1, kMost), DType::kS32);
  EXPECT_EQ(index_dtype(kLeast, kLeast + 1), DType::kS32);
  EXPECT_EQ(index_dtype(kMost, kMost + 1), DType::kS64);
  EXPECT_EQ(index_dtype(kLeast - 1, kLeast), DType::kS64);
  EXPECT_EQ(index_dtype(-1, kMost + 1), DType::kS64);
  // An index is combined with results of arange and argmax.
  const Tensor x = constant({3, 1, 2});
  expect_scalar(fori_loop(
                    0, x.dim(0), [&](Tensor i, Tensor sum) { return sum + i * x[i]; }, 0),
                5);
}

TEST(Fori, IndexDtypeAsTheOptionsSay) {
  EXPECT_EQ(index_dtype(0, 3, {.index = DType::kS64}), DType::kS64);
  EXPECT_EQ(index_dtype(Tensor(std::int64_t{0}), Tensor(std::int64_t{3}), {.index = DType::kU8}),
            DType::kU8);
  expect_error([] { index_dtype(0, 300, {.index = DType::kS8}); }, {"300", "s8"});
  expect_error([] { index_dtype(0, 3, {.index = DType::kF32}); },
               {".index is f32", "integer dtype"});
}

/// The indices in the order of the trips, written as digits in base 100.
std::vector<std::int64_t> visited(std::int64_t lower, std::int64_t upper,
                                  const ForiOptions& options) {
  std::vector<std::int64_t> all;
  for (std::int64_t i = lower; i < upper; i += options.step) all.push_back(i);
  if (options.reverse) std::reverse(all.begin(), all.end());
  return all;
}

struct Case {
  std::int64_t lower, upper, step, unroll;
  bool reverse;
};

class ForiOptionsTest : public ::testing::TestWithParam<Case> {};

TEST_P(ForiOptionsTest, VisitsTheIndicesInOrder) {
  const Case c = GetParam();
  ForiOptions options{.step = c.step, .unroll = c.unroll, .reverse = c.reverse};
  const std::vector<std::int64_t> want = visited(c.lower, c.upper, options);
  // Row k of the carry gets the index of trip k.
  auto body = [](Tensor i, Tensor count, Tensor seen) {
    return std::tuple(count + 1, update(seen, count, i));
  };
  const Tensor none = full(s32({40}), -1);
  std::vector<std::int32_t> rows(40, -1);
  std::copy(want.begin(), want.end(), rows.begin());
  const int lower = static_cast<int>(c.lower), upper = static_cast<int>(c.upper);
  expect_values<std::int32_t>(
      std::get<1>(fori_loop(lower, upper, body, std::tuple(0, none), options)), {40}, rows);
  if (c.unroll != kUnrollAll) {
    auto dynamic = jit([&](Tensor lo, Tensor hi) {
      return std::get<1>(fori_loop(lo, hi, body, std::tuple(0, none), options));
    });
    expect_values<std::int32_t>(dynamic(lower, upper), {40}, rows);
  }
  EagerScope eager;
  expect_values<std::int32_t>(
      std::get<1>(fori_loop(lower, upper, body, std::tuple(0, none), options)), {40}, rows);
}

INSTANTIATE_TEST_SUITE_P(
    All, ForiOptionsTest, ::testing::ValuesIn([] {
      std::vector<Case> cases;
      for (std::int64_t lower : {-3, 0, 5}) {
        for (std::int64_t length : {-2, 0, 1, 2, 7, 12}) {
          for (std::int64_t step : {1, 3}) {
            for (std::int64_t unroll :
                 {std::int64_t{1}, std::int64_t{2}, std::int64_t{5}, kUnrollAll}) {
              for (bool reverse : {false, true})
                cases.push_back({lower, lower + length, step, unroll, reverse});
            }
          }
        }
      }
      return cases;
    }()));

TEST(Fori, EdgesOfTheIndexType) {
  // Near the ends of s8 the index itself would wrap.
  auto count = [](int lower, int upper, ForiOptions options) {
    return fori_loop(
        convert(lower, DType::kS8), convert(upper, DType::kS8),
        [](Tensor i, Tensor n, Tensor last) { return std::tuple(n + 1, i + last * 0); },
        std::tuple(0, convert(0, DType::kS8)), options);
  };
  auto literal = [](int v) { return Tensor(static_cast<std::int8_t>(v)); };
  for (bool reverse : {false, true}) {
    for (int step : {1, 7, 100}) {
      auto [n, last] = count(-128, 127, {.step = step, .reverse = reverse});
      expect_scalar(n, (127 + 128 - 1) / step + 1);
      auto [n2, last2] = fori_loop(
          literal(-128), literal(127),
          [](Tensor i, Tensor n, Tensor) { return std::tuple(n + 1, i); },
          std::tuple(0, literal(0)), ForiOptions{.step = step, .reverse = reverse});
      expect_scalar(n2, (127 + 128 - 1) / step + 1);
      expect_scalar(last2, static_cast<std::int8_t>(reverse ? -128 : -128 + 254 / step * step));
    }
  }
}

TEST(Fori, StaysOneNodeAndOneWhile) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(
            0, 1000, [](Tensor, Tensor x) { return x * 2; }, x);
      },
      f32());
  EXPECT_EQ(f.stats().ops.at("fori_loop"), 1);
  const std::string hlo = to_hlo_text(f);
  EXPECT_NE(hlo.find("\"known_trip_count\":{\"n\":\"1000\"}"), std::string::npos) << hlo;
  std::size_t loops = 0;
  for (std::size_t at = hlo.find(" while("); at != std::string::npos;
       at = hlo.find(" while(", at + 1))
    loops++;
  EXPECT_EQ(loops, 1u);
}

TEST(Fori, FullUnrollEmitsNoWhile) {
  const Function f = trace(
      [](Tensor x) {
        return fori_loop(0, 5, [](Tensor i, Tensor x) { return x * i; }, x, {.unroll = kUnrollAll});
      },
      s32());
  EXPECT_EQ(to_hlo_text(f).find(" while("), std::string::npos);
}

TEST(ForiErrors, Texts) {
  auto body = [](Tensor, Tensor x) { return x; };
  expect_error([&] { fori_loop(0, 3, body, 1, {.step = 0}); },
               {"fori_loop", "step is 0", "reverse", "fori_test.cc:"});
  expect_error([&] { fori_loop(0, 3, body, 1, {.unroll = 0}); }, {"unroll is 0", "kUnrollAll"});
  expect_error([&] { fori_loop(0.5, 3.0, body, 1); }, {"bounds must be integer scalars", "f64[]"});
  expect_error([&] { fori_loop(constant({0}), 3, body, 1); },
               {"bounds must be integer scalars", "s32[1]"});
  expect_error(
      [&] { jit([&](Tensor n) { return fori_loop(0, n, body, 1, {.unroll = kUnrollAll}); })(3); },
      {"kUnrollAll needs constant bounds"});
  expect_error(
      [&] {
        fori_loop(
            0, 3, [](Tensor i, Tensor x) { return x * convert(i, DType::kF32) + 0.0f; }, 1);
      },
      {"s32", "f32", "convert"});
  expect_error(
      [&] {
        fori_loop(
            0, 3, [](Tensor, Tensor x) { return convert(x, DType::kF32); }, 1);
      },
      {"the body of fori_loop changes the carry", "carry: s32[] goes in, f32[] comes out"});
}

}  // namespace
}  // namespace rondo
