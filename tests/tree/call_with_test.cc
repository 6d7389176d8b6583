#include "rondo/call_with.h"

#include <array>
#include <memory>
#include <string>
#include <tuple>
#include <type_traits>
#include <utility>

#include "gtest/gtest.h"

namespace {

using rondo::call_result_t;
using rondo::call_trailing_result_t;
using rondo::call_with;
using rondo::call_with_trailing;
using rondo::CallableWith;
using rondo::CallableWithTrailing;

struct State {
  int x, y;
};

TEST(CallWith, GivesAnythingWhole) {
  auto by_value = [](State s) { return s.x + s.y; };
  auto by_reference = [](const State& s) -> const int& { return s.y; };
  const State state{2, 3};
  EXPECT_EQ(call_with(by_value, state), 5);
  EXPECT_EQ(&call_with(by_reference, state), &state.y);
}

TEST(CallWith, SpreadsTuplesPairsAndArrays) {
  auto minus = [](int a, int b) { return a - b; };
  EXPECT_EQ(call_with(minus, std::tuple(5, 3)), 2);
  EXPECT_EQ(call_with(minus, std::pair(5, 3)), 2);
  EXPECT_EQ(call_with(minus, std::array{5, 3}), 2);
  auto single = [](int a) { return -a; };
  EXPECT_EQ(call_with(single, std::tuple(5)), -5);
  EXPECT_EQ(call_with(single, 5), -5);
}

TEST(CallWith, TriesWholeFirst) {
  auto takes_one = [](auto s) { return std::tuple_size_v<decltype(s)>; };
  EXPECT_EQ(call_with(takes_one, std::tuple(1, 2, 3)), 3u);
  auto takes_two = [](auto a, auto b) { return a * 10 + b; };
  EXPECT_EQ(call_with(takes_two, std::tuple(1, 2)), 12);
  auto takes_any = [](const auto&... all) { return sizeof...(all); };
  EXPECT_EQ(call_with(takes_any, std::tuple(1, 2, 3)), 1u);
  auto whole = [](std::tuple<int, int> s) { return std::get<1>(s); };
  EXPECT_EQ(call_with(whole, std::tuple(1, 2)), 2);
}

TEST(CallWith, SpreadsAnEmptyTupleToNothing) {
  auto nothing = [] { return 7; };
  auto empty = [](std::tuple<>) { return 8; };
  auto index_only = [](int i) { return i; };
  EXPECT_EQ(call_with(nothing, std::tuple<>()), 7);
  EXPECT_EQ(call_with(empty, std::tuple<>()), 8);
  EXPECT_EQ(call_with(index_only, 4, std::tuple<>()), 4);
}

TEST(CallWith, PutsALeadingArgumentFirst) {
  auto whole = [](int i, State s) { return i * 100 + s.x * 10 + s.y; };
  EXPECT_EQ(call_with(whole, 1, State{2, 3}), 123);
  auto spread = [](int i, int a, int b) { return i * 100 + a * 10 + b; };
  EXPECT_EQ(call_with(spread, 1, std::tuple(2, 3)), 123);
  EXPECT_EQ(call_with(spread, 1, std::array{2, 3}), 123);
  auto generic = [](auto i, auto s) { return i + std::get<0>(s); };
  EXPECT_EQ(call_with(generic, 1, std::tuple(2, 3)), 3);
  auto three = [](auto i, auto a, auto b) { return i * 100 + a * 10 + b; };
  EXPECT_EQ(call_with(three, 1, std::pair(2, 3)), 123);
}

TEST(CallWith, PutsATrailingArgumentLast) {
  auto whole = [](State s, int x) { return s.x * 100 + s.y * 10 + x; };
  EXPECT_EQ(call_with_trailing(whole, State{1, 2}, 3), 123);
  auto spread = [](int a, int b, int x) { return a * 100 + b * 10 + x; };
  EXPECT_EQ(call_with_trailing(spread, std::tuple(1, 2), 3), 123);
  auto generic = [](auto c, auto x) { return std::get<1>(c) + x; };
  EXPECT_EQ(call_with_trailing(generic, std::tuple(1, 2), 3), 5);
}

TEST(CallWith, LeavesAnEmptyTrailingTupleOut) {
  const std::tuple<> none;
  auto whole = [](State s) { return s.y; };
  EXPECT_EQ(call_with_trailing(whole, State{1, 2}, none), 2);
  auto spread = [](int a, int b) { return a - b; };
  EXPECT_EQ(call_with_trailing(spread, std::tuple(1, 2), none), -1);
  auto whole_and_none = [](State s, std::tuple<>) { return s.x; };
  EXPECT_EQ(call_with_trailing(whole_and_none, State{1, 2}, none), 1);
  auto spread_and_none = [](int a, int b, std::tuple<>) { return a + b; };
  EXPECT_EQ(call_with_trailing(spread_and_none, std::tuple(1, 2), none), 3);
}

TEST(CallWith, CallsMutableFunctionObjects) {
  auto counter = [n = 0](int step) mutable { return n += step; };
  call_with(counter, 2);
  EXPECT_EQ(call_with(counter, std::tuple(3)), 5);
}

TEST(CallWith, TellsWhatItCanCall) {
  auto two = [](int, int) {};
  using Two = decltype(two);
  static_assert(CallableWith<Two, std::tuple<int, int>> && CallableWith<Two&, std::array<int, 2>>);
  static_assert(CallableWith<const Two&, int, int> && CallableWith<Two, int, std::tuple<int>>);
  static_assert(!CallableWith<Two, int> && !CallableWith<Two, std::tuple<int>>);
  static_assert(!CallableWith<Two, std::tuple<int, int, int>>);
  static_assert(!CallableWith<Two, std::tuple<int, std::string>>);
  static_assert(CallableWithTrailing<Two, int, int>);
  static_assert(CallableWithTrailing<Two, const std::tuple<int, int>&, std::tuple<>>);
  static_assert(!CallableWithTrailing<Two, std::tuple<int, int>, int>);
  auto changes = [](State& s) { s.x = 1; };  // the state is given as const
  static_assert(!CallableWith<decltype(changes), State>);
  static_assert(!CallableWith<int, State>);
}

TEST(CallWith, NamesTheResultType) {
  auto f = [](int a, double b) { return a + b; };
  static_assert(std::is_same_v<call_result_t<decltype(f), std::tuple<int, double>>, double>);
  static_assert(std::is_same_v<call_result_t<decltype(f)&, int, std::tuple<double>>, double>);
  static_assert(
      std::is_same_v<call_trailing_result_t<decltype(f), std::tuple<int>, double>, double>);
  auto g = [](const State& s) -> const int& { return s.x; };
  static_assert(std::is_same_v<call_result_t<decltype(g), State>, const int&>);
}

}  // namespace
