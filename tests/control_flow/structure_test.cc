// Combiners and ys must return the expected structure; unrolling has a limit; literals that were
// moved from are rejected.
#include <gtest/gtest.h>

#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rondo/rondo.h"
#include "support/expect.h"

namespace rondo {
namespace {

using namespace testing;
using Vectors = std::vector<Tensor>;
using Named = std::map<std::string, Tensor>;

TEST(Structure, OfAnAssociativeScansCombiner) {
  const Vectors two{arange(4), arange(4)};
  for (const bool is_eager : {false, true}) {
    std::optional<EagerScope> scope;
    if (is_eager) scope.emplace();
    expect_error(
        [&] { associative_scan([](Vectors a, Vectors b) { return Vectors{a[0] + b[0]}; }, two); },
        {"associative_scan", "lost: elems[1]", "structure_test.cc"});
    expect_error(
        [&] {
          associative_scan(
              [](Vectors a, Vectors b) {
                return Vectors{a[0] + b[0], b[0], b[0]};
              },
              two);
        },
        {"associative_scan", "new: elems[2]"});
  }
  expect_error(
      [] {
        associative_scan(
            [](Named a, Named b) {
              return Named{{"b", a["b"]}, {"z", b["a"]}};
            },
            Named{{"a", arange(4)}, {"b", arange(4)}});
      },
      {"lost: elems[\"a\"]", "new: elems[\"z\"]"});
}

TEST(Structure, OfAReduction) {
  const Named x{{"a", arange(4)}, {"b", arange(4)}};
  const auto add = [](Named a, Named b) {
    return Named{{"a", a["a"] + b["a"]}, {"b", a["b"] + b["b"]}};
  };
  expect_error(
      [&] {
        reduce(x, Named{{"a", 0}, {"c", 0}}, {0}, add);
      },
      {"reduce", "initial values", "lost: [\"b\"]", "new: [\"c\"]"});
  expect_error(
      [&] {
        reduce(x, Named{{"a", 0}, {"b", 0}}, {0}, [](Named a, Named) {
          return Named{{"b", a["b"]}, {"z", a["a"]}};
        });
      },
      {"reduce", "combiner", "lost: [\"a\"]", "new: [\"z\"]"});
  expect_values<int>(reduce(x, Named{{"a", 0}, {"b", 1}}, {0}, add)["b"], {}, {7});
}

TEST(Structure, OfTheYsOfAnEagerScan) {
  const EagerScope eager;
  int trips = 0;
  const auto step = [&](Tensor c, Tensor x) {
    return std::pair(c, trips++ == 0 ? Vectors{x, x} : Vectors{x});
  };
  expect_error([&] { scan(step, 1, arange(4)); }, {"scan", "a later trip", "lost: y[1]"});
}

TEST(Unroll, HasALimit) {
  const auto body = [](Tensor, Tensor x) { return x + 1; };
  expect_error([&] { fori_loop(0, 1'000'000'000, body, 0, {.unroll = kUnrollAll}); },
               {"fori_loop", "1000000000 bodies", "100000 at most", "structure_test.cc"});
  expect_error([&] { fori_loop(0, sum(ones(s32({3}))), body, 0, {.unroll = INT64_MAX}); },
               {"bodies"});
  expect_scalar(fori_loop(0, 3, body, 0, {.unroll = INT64_MAX}), 3);
}

TEST(MovedLiteral, IsRefused) {
  Literal from = Literal::scalar(1);
  const Literal taken = std::move(from);
  EXPECT_EQ(taken.item<int>(), 1);
  const Executable run = compile(trace([](Tensor x) { return x + 1; }, s32()));
  // NOLINTBEGIN: use after a move is what is tested
  expect_error<ExecutionError>([&] { (void)run.run({from}); }, {"'arg0'", "moved from"});
  expect_error([&] { (void)(Tensor(from) + 1); }, {"moved from"});
  expect_error([&] { (void)trace([&](Tensor x) { return x + Tensor(from); }, s32()); },
               {"moved from"});
  EXPECT_THROW((void)jit([](Tensor x) { return x + 1; })(from), Error);
  // NOLINTEND
}

TEST(Map, NamesItselfInItsErrors) {
  expect_error([] { map([](Tensor x) { return x; }, Tensor(1.0f)); }, {"map: xs is f32[]"});
  expect_error(
      [] { map([](Tensor x, Tensor y) { return x + y; }, std::pair(arange(3), arange(4))); },
      {"map: the lengths", "xs[1]"});
}

}  // namespace
}  // namespace rondo
