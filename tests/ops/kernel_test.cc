// What every executor relies on: kernels that are prepared once, results that overwrite operands,
// and library kernels that agree with plain loops.
#include "ir/kernel.h"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>
#include <numeric>
#include <random>

#include "ops/call_kernel.h"
#include "support/expect.h"

namespace rondo {
namespace {

using namespace testing;

TEST(Kernels, RunOftenOnOtherPlaces) {
  const Tensor made = iota(f32({4, 3}), 0) + slice(zeros(f32({8, 3})), {0, 0}, {8, 3}, {2, 1});
  const Tensor sliced = definition_of(definition_of(made).node()->operands[1]);
  const ir::Node& node = *sliced.node();
  ASSERT_EQ(node.op->name, "slice");
  const std::unique_ptr<ir::Kernel> kernel = ir::prepare(node);
  for (int round = 0; round < 3; round++) {
    std::vector<float> x(24), out(12, -1.0f);
    std::iota(x.begin(), x.end(), static_cast<float>(100 * round));
    const std::byte* operand = reinterpret_cast<const std::byte*>(x.data());
    std::byte* result = reinterpret_cast<std::byte*>(out.data());
    NoHost host;
    kernel->run({&operand, 1}, {&result, 1}, host);
    for (std::size_t i = 0; i < 12; i++) EXPECT_EQ(out[i], x[i / 3 * 6 + i % 3]);
  }
}

/// Counts how often it is polled.
class PolledHost : public NoHost {
 public:
  void poll() override { polls++; }
  int polls = 0;
};

/// The most polls of one kernel of a program, each run on zeros.
int most_polls(const Function& function) {
  int most = 0;
  for (const ir::Node* node : function.body()) {
    const std::unique_ptr<ir::Kernel> kernel = ir::prepare(*node);
    if (!kernel) continue;
    std::vector<Literal> inputs, outputs;
    std::vector<const std::byte*> operands;
    std::vector<std::byte*> results;
    for (const Tensor& operand : node->operands) inputs.push_back(Literal::zeros(operand.type()));
    for (const TensorType& type : node->types) outputs.push_back(Literal::uninitialized(type));
    for (const Literal& input : inputs) operands.push_back(input.bytes());
    for (Literal& output : outputs) results.push_back(output.mutable_bytes());
    PolledHost host;
    kernel->run(operands, results, host);
    most = std::max(most, host.polls);
  }
  return most;
}

TEST(Kernels, PollBetweenBlocks) {
  using Op = Tensor (*)(Tensor);
  const std::pair<const char*, Op> moves[] = {
      {"transpose",
       [](Tensor x) {
         return transpose(x, {1, 0});
       }},
      {"slice",
       [](Tensor x) {
         return slice(x, {1, 0}, {1024, 1024}, {1, 1});
       }},
      {"strided slice",
       [](Tensor x) {
         return slice(x, {0, 0}, {1024, 1024}, {1, 2});
       }},
      {"broadcast",
       [](Tensor x) {
         return broadcast_to(x, {2, 1024, 1024});
       }},
      {"fill",
       [](Tensor x) {
         return broadcast_to(sum(x), {1024, 1024});
       }},
      {"pad",
       [](Tensor x) {
         return pad(x, 0.0, {1, 1}, {1, 1});
       }},
      {"concatenate",
       [](Tensor x) {
         return concatenate({x, x}, 0);
       }},
      {"dynamic_slice",
       [](Tensor x) {
         return dynamic_slice(x, {Tensor(0), Tensor(1)}, {1024, 1000});
       }},
      {"dynamic_update_slice",
       [](Tensor x) {
         return dynamic_update_slice(x, zeros(f64({1024, 1000})), {Tensor(0), Tensor(1)});
       }},
      {"iota",
       [](Tensor) {
         return iota(f64({1024, 1024}), 1);
       }},
      {"argmax", [](Tensor x) { return argmax(reshape(x, {1024 * 1024}), 0); }},
      {"argmax by column", [](Tensor x) { return argmax(x, 0); }},
      {"random bits",
       [](Tensor) {
         return random::bits(constant({0u, 1u}), {DType::kU32, {1024, 1024}});
       }},
      {"rng_bit_generator", [](Tensor) {
         return rng_bit_generator(zeros({DType::kU64, {3}}), {DType::kU64, {1024, 256}},
                                  RngAlgorithm::kPhilox)
             .second;
       }}};
  for (const auto& [name, op] : moves)
    EXPECT_GE(most_polls(trace([op = op](Tensor x) { return op(x); }, f64({1024, 1024}))), 2)
        << name;
}

TEST(Kernels, AnUpdateInPlaceTouchesItsPartAlone) {
  const Tensor made =
      definition_of(dynamic_update_slice(zeros(f32({6})), zeros(f32({2})), {Tensor(0)}));
  const std::unique_ptr<ir::Kernel> kernel = ir::prepare(*made.node());
  EXPECT_EQ(kernel->overwrites(0), 1u);
  EXPECT_FALSE(kernel->forwards());
  std::vector<float> array = {0, 1, 2, 3, 4, 5};
  const std::vector<float> part = {10, 11};
  const std::int32_t start = 9;  // clamped to 4
  const std::byte* operands[] = {reinterpret_cast<const std::byte*>(array.data()),
                                 reinterpret_cast<const std::byte*>(part.data()),
                                 reinterpret_cast<const std::byte*>(&start)};
  std::byte* result = reinterpret_cast<std::byte*>(array.data());
  NoHost host;
  kernel->run(operands, {&result, 1}, host);
  EXPECT_EQ(array, (std::vector<float>{0, 1, 2, 3, 10, 11}));
}

/// Floats of all kinds: NaNs of either sign and with payloads, zeros of either sign, infinities,
/// numbers that are equal.
template <class T>
std::vector<T> awkward(std::size_t n, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values(n);
  for (T& x : values) {
    switch (random() % 8) {
      case 0:
        x = std::numeric_limits<T>::quiet_NaN();
        break;
      case 1:
        x = -std::numeric_limits<T>::quiet_NaN();
        break;
      case 2:
        x = T(0);
        break;
      case 3:
        x = -T(0);
        break;
      case 4:
        x = std::numeric_limits<T>::infinity() * (random() % 2 ? 1 : -1);
        break;
      default:
        x = static_cast<T>(static_cast<int>(random() % 2000) - 1000) / T(8);
    }
  }
  return values;
}

template <class T>
void expect_sorted_as_std(const std::vector<T>& values) {
  const auto n = static_cast<std::int64_t>(values.size());
  std::vector<std::int32_t> places(values.size());
  std::iota(places.begin(), places.end(), 0);
  const auto at = [&](std::int32_t i) { return values[static_cast<std::size_t>(i)]; };
  std::stable_sort(places.begin(), places.end(), [&](std::int32_t a, std::int32_t b) {
    const T x = at(a), y = at(b);
    return std::isnan(y) ? !std::isnan(x) : x < y;
  });
  std::vector<T> want;
  for (const std::int32_t i : places) want.push_back(at(i));
  const Literal x = Literal::from(values);
  EXPECT_TRUE(sort(x, 0).eval().identical(Literal::from(want))) << n;
  EXPECT_TRUE(argsort(x, 0).eval().identical(Literal::from(places))) << n;
}

TEST(SortKernels, KeepZerosAndNansInTheirOrder) {
  for (const std::size_t n : {2u, 3u, 17u, 63u, 64u, 65u, 511u, 1023u, 1024u, 5000u}) {
    expect_sorted_as_std(awkward<float>(n, static_cast<unsigned>(n)));
    expect_sorted_as_std(awkward<double>(n, static_cast<unsigned>(n) + 1));
  }
  // In blocks that are merged.
  expect_sorted_as_std(awkward<double>(200'000, 3));
}

TEST(SortKernels, OfNarrowAndSignedIntegers) {
  std::mt19937 random(5);
  std::vector<std::int8_t> narrow(3000);
  for (auto& x : narrow) x = static_cast<std::int8_t>(random());
  std::vector<std::int64_t> wide(3000);
  for (auto& x : wide) x = static_cast<std::int64_t>(random()) - (std::int64_t{1} << 31);
  auto expected = [](auto values) {
    std::sort(values.begin(), values.end());
    return Literal::from(values);
  };
  EXPECT_TRUE(sort(Literal::from(narrow), 0).eval().identical(expected(narrow)));
  EXPECT_TRUE(sort(Literal::from(wide), 0).eval().identical(expected(wide)));
}

TEST(SortKernels, ThePassesDoNotHideTheOrder) {
  // A comparator called as a region would be evaluated thousands of times.
  const auto f = [](Tensor x) { return std::tuple(sort(x, 0), argsort(x, 0), -x); };
  const Literal x = Literal::from(awkward<float>(2000, 1));
  for (const bool optimize : {false, true}) {
    const Executable run =
        compile(trace(f, x.type()), {.optimize = optimize, .executor = Executor::kReference});
    (void)run.run({x});
    EXPECT_LT(run.stats().op_evaluations, 10);
  }
  const auto descending = [](Tensor v) {
    return sort_by(v, 0, [](Tensor a, Tensor b) { return a > b; });
  };
  const Executable run =
      compile(trace(descending, s32({1000})), {.executor = Executor::kReference});
  std::vector<int> values(1000);
  std::iota(values.begin(), values.end(), 0);
  const Literal sorted = run.run({Literal::from(values)})[0];
  std::reverse(values.begin(), values.end());
  EXPECT_TRUE(sorted.identical(Literal::from(values)));
  EXPECT_LT(run.stats().op_evaluations, 10);
}

/// Small integers, so that every order of summation gives the same result.
template <class T>
void expect_kernel_product(std::int64_t m, std::int64_t k, std::int64_t n, bool a_swapped,
                           bool b_swapped) {
  std::mt19937 random(static_cast<unsigned>(m * 1000 + k * 10 + n));
  auto filled = [&](std::int64_t count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    for (T& x : values) x = static_cast<T>(static_cast<int>(random() % 17) - 8);
    return values;
  };
  const std::vector<T> a = filled(m * k), b = filled(k * n);
  auto element = [](const std::vector<T>& x, std::int64_t row, std::int64_t column,
                    std::int64_t rows, std::int64_t columns, bool swapped) {
    return x[static_cast<std::size_t>(swapped ? column * rows + row : row * columns + column)];
  };
  std::vector<T> want(static_cast<std::size_t>(m * n), T(0));
  for (std::int64_t i = 0; i < m; i++)
    for (std::int64_t j = 0; j < n; j++)
      for (std::int64_t l = 0; l < k; l++)
        want[static_cast<std::size_t>(i * n + j)] +=
            element(a, i, l, m, k, a_swapped) * element(b, l, j, k, n, b_swapped);
  DotDims dims;
  dims.lhs_contracting = {a_swapped ? 0 : 1};
  dims.rhs_contracting = {b_swapped ? 1 : 0};
  const Tensor x = Literal::from(a, a_swapped ? Shape({k, m}) : Shape({m, k}));
  const Tensor y = Literal::from(b, b_swapped ? Shape({n, k}) : Shape({k, n}));
  EXPECT_TRUE(dot_general(x, y, dims).eval().identical(Literal::from(want, {m, n})))
      << m << ' ' << k << ' ' << n << ' ' << a_swapped << b_swapped;
}

TEST(DotKernels, OfSizesOnBothSidesOfTheLibrarys) {
  for (const bool a_swapped : {false, true}) {
    for (const bool b_swapped : {false, true}) {
      for (const std::int64_t size : {1, 3, 4, 16, 33, 70}) {
        expect_kernel_product<float>(size, 40, 21, a_swapped, b_swapped);
        expect_kernel_product<double>(19, size, 50, a_swapped, b_swapped);
        expect_kernel_product<float>(30, 64, size, a_swapped, b_swapped);
      }
    }
  }
}

}  // namespace
}  // namespace rondo
