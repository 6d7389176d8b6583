// Errors of loops whose body changes the carry's types, or whose condition is no scalar pred.
#include <map>

#include "errors/message.h"

namespace rondo {
namespace {

using testing::expect_parts;
using testing::message_of;

struct Building {
  Tensor step, slab, tank;
};

const Building kStart{0, 20.0f, 70.0f};

Tensor below(const Building& h) { return h.step < 20; }

constexpr char kRemedy[] = "rondo::convert(x, dtype)";

/// Slab becomes f64 and tank f32[1]; each on a separate line.
struct Changed {
  Building house;
  std::string slab_line, tank_line;
};
Changed changed(const Building& h) {
  Changed c;
  c.house.step = h.step + 1;
  c.house.slab = convert(h.slab, DType::kF64), c.slab_line = RONDO_HERE;
  c.house.tank = reshape(h.tank, {1}), c.tank_line = RONDO_HERE;
  return c;
}

/// Runs a loop whose body returns `changed`; both leaves must be named, with both types and lines.
template <class Loop>
void expect_both_listed(const std::string& construct, const Loop& loop) {
  Changed lines;
  auto body = [&](const Building& h) {
    lines = changed(h);
    return lines.house;
  };
  std::string at;
  const std::string message = message_of([&] { loop(body, at); });
  expect_parts(
      message,
      {"the body of " + construct + " changes the carry",
       "carry.slab: f32[] goes in, f64[] comes out (made by convert at " + lines.slab_line + ")",
       "carry.tank: f32[] goes in, f32[1] comes out (made by reshape at " + lines.tank_line + ")",
       "at " + at, kRemedy, "reshape"});
  EXPECT_EQ(message.find("carry.step"), std::string::npos) << message;
}

TEST(CarryErrors, WhileListsEveryChangedLeaf) {
  auto loop = [](const auto& body, std::string& at) {
    at = RONDO_HERE, while_loop(below, body, kStart, {.name = "house"});
  };
  expect_both_listed("while_loop 'house'", loop);
  EagerScope eager;
  expect_both_listed("while_loop 'house'", loop);
}

TEST(CarryErrors, ForiListsEveryChangedLeaf) {
  auto loop = [](const auto& body, std::string& at) {
    auto indexed = [&](Tensor, Building h) { return body(h); };
    at = RONDO_HERE, fori_loop(0, 3, indexed, kStart, {.name = "house"});
  };
  expect_both_listed("fori_loop 'house'", loop);
  EagerScope eager;
  expect_both_listed("fori_loop 'house'", loop);
}

TEST(CarryErrors, ScanListsEveryChangedLeaf) {
  auto loop = [](const auto& body, std::string& at) {
    auto step = [&](Building h, Tensor x) { return std::pair(body(h), x); };
    at = RONDO_HERE, scan(step, kStart, constant({1, 2}), {.name = "house"});
  };
  expect_both_listed("scan 'house'", loop);
  EagerScope eager;
  expect_both_listed("scan 'house'", loop);
}

TEST(CarryErrors, WhileScanListsEveryChangedLeaf) {
  auto loop = [](const auto& body, std::string& at) {
    auto step = [&](Building h) { return std::pair(body(h), h.slab); };
    at = RONDO_HERE, while_scan(below, step, kStart, {.max_trip_count = 3, .name = "house"});
  };
  expect_both_listed("while_scan 'house'", loop);
}

TEST(CarryErrors, PathsOfEveryKindOfTree) {
  const Tensor x = 1.0f;
  auto wide = [](Tensor t) { return convert(t, DType::kF64); };
  auto go = [](auto) { return Tensor(true); };
  EXPECT_REFUSED(while_loop([](Tensor t) { return t < 3; }, wide, x),
                 "carry: f32[] goes in, f64[]");
  auto second = [&](std::tuple<Tensor, Tensor> t) {
    return std::tuple(get<0>(t), wide(get<1>(t)));
  };
  EXPECT_REFUSED(while_loop(go, second, std::tuple(x, x)), "carry[1]: f32[] goes in, f64[]");
  auto third = [&](std::vector<Tensor> t) {
    t[2] = wide(t[2]);
    return t;
  };
  EXPECT_REFUSED(while_loop(go, third, std::vector<Tensor>{x, x, x}), "carry[2]: f32[] goes in");
  auto keyed = [&](std::map<std::string, Tensor> t) {
    t["b"] = wide(t["b"]);
    return t;
  };
  EXPECT_REFUSED(while_loop(go, keyed, std::map<std::string, Tensor>{{"a", x}, {"b", x}}),
                 "carry[\"b\"]: f32[] goes in");
  struct Outer {
    Tensor time;
    std::vector<Building> houses;
  };
  auto deep = [&](Outer o) {
    o.houses[1].tank = wide(o.houses[1].tank);
    return o;
  };
  EXPECT_REFUSED(while_loop(go, deep, Outer{0.0f, {kStart, kStart}}),
                 "carry.houses[1].tank: f32[] goes in, f64[] comes out");
}

TEST(CarryErrors, StructureThatShrinksOrGrows) {
  auto first = [](std::vector<Tensor> v) { return v[0] < 3; };
  auto shrink = [](std::vector<Tensor> v) {
    v.pop_back();
    return v;
  };
  auto grow = [](std::vector<Tensor> v) {
    v.push_back(v[0]);
    return v;
  };
  const std::vector<Tensor> three{1, 2, 3};
  EXPECT_REFUSED(while_loop(first, shrink, three, {.name = "list"}),
                 "the body of while_loop 'list'", "structure: 3 leaves go in, 2 come out",
                 "lost: carry[2]");
  EXPECT_REFUSED(while_loop(first, grow, three), "3 leaves go in, 4 come out", "new: carry[3]");
  using Map = std::map<std::string, Tensor>;
  auto rename = [](Map m) {
    m["c"] = m["b"];
    m.erase("b");
    return m;
  };
  EXPECT_REFUSED(while_loop([](Map m) { return m["a"] < 3; }, rename, Map{{"a", 0}, {"b", 1}}),
                 "2 leaves go in, 2 come out", "lost: carry[\"b\"]", "new: carry[\"c\"]");
}

TEST(CarryErrors, ScalarThatTheCarryCannotHold) {
  auto below3 = [](Tensor x) { return x < 3; };
  EXPECT_REFUSED(while_loop(
                     below3, [](Tensor) { return 0.5; }, 0),
                 "the body of while_loop changes the carry",
                 "carry: s32[] goes in, f64[] comes out (the C++ scalar 0.5)", kRemedy);
  auto half = [](Building h) { return Building{0.5, h.slab, expand_dims(h.tank, 0)}; };
  EXPECT_REFUSED(while_loop(below, half, kStart), "carry.step: s32[] goes in, f64[] comes out",
                 "the C++ scalar 0.5", "carry.tank: f32[] goes in, f32[1] comes out");
}

TEST(CarryErrors, ForgottenFieldIsNamed) {
  auto forgets = [](Building h) { return Building{h.step + 1, h.slab, {}}; };
  EXPECT_REFUSED(while_loop(below, forgets, kStart), "the body of while_loop",
                 "carry.tank is an empty Tensor", "Give it a value");
  const Building half{0, 1.0f, {}};
  auto same = [](Building h) { return h; };
  EXPECT_REFUSED(while_loop(below, same, half, {.name = "solve"}),
                 "the init of while_loop 'solve': carry.tank is an empty Tensor");
  auto indexed = [](Tensor, Building h) { return h; };
  EXPECT_REFUSED(fori_loop(0, 3, indexed, half), "the init of fori_loop: carry.tank is an empty");
  auto step = [](Building h, Tensor x) { return std::pair(h, x); };
  EXPECT_REFUSED(scan(step, half, constant({1})), "the init of scan: carry.tank is an empty");
  EXPECT_REFUSED(scan(step, kStart, Tensor()), "scan: xs is an empty Tensor");
  auto stepped = [](Building h) { return std::pair(h, h.step); };
  EXPECT_REFUSED(while_scan(below, stepped, half, {.max_trip_count = 2}),
                 "the init of while_scan: carry.tank is an empty");
}

TEST(ConditionErrors, MustBeAScalarPred) {
  auto same = [](Tensor x) { return x; };
  constexpr char kReduce[] = "rondo::any or rondo::all";
  EXPECT_REFUSED(while_loop(same, same, 0, {.name = "count"}),
                 "the condition of while_loop 'count' must be a scalar pred[], it is s32[]",
                 "Compare (x < y)");
  std::string compared;
  auto elements = [&](Tensor x) {
    compared = RONDO_HERE;
    return x < 3;
  };
  const std::string message = message_of([&] { while_loop(elements, same, constant({1, 2, 3})); });
  expect_parts(message, {"must be a scalar pred[], it is pred[3]", kReduce, "carry_test.cc:"});
  EXPECT_REFUSED(while_loop([](Tensor) { return 1; }, same, 0), "it is s32[] (the C++ scalar 1)");
  EXPECT_REFUSED(while_loop([](Tensor) { return Tensor(); }, same, 0),
                 "the condition of while_loop", "empty Tensor");
  auto step = [](Tensor x) { return std::pair(x, x); };
  EXPECT_REFUSED(while_scan(same, step, 0, {.max_trip_count = 3, .name = "rows"}),
                 "the condition of while_scan 'rows' must be a scalar pred[], it is s32[]");
  EagerScope eager;
  EXPECT_REFUSED(while_loop(same, same, 0, {.name = "count"}),
                 "the condition of while_loop 'count'", "it is s32[]");
}

TEST(LoopOptionErrors, NumbersOutOfRange) {
  auto less = [](Tensor x) { return x < 3; };
  auto same = [](Tensor x) { return x; };
  auto indexed = [](Tensor, Tensor x) { return x; };
  auto step = [](Tensor x) { return std::pair(x, x); };
  EXPECT_REFUSED(while_loop(less, same, 0, {.max_trip_count = -3}), "max_trip_count is -3",
                 "Give 0 or more");
  EXPECT_REFUSED(while_scan(less, step, 0, {.max_trip_count = -3}), "max_trip_count is -3",
                 "from 0 to 2147483647");
  EXPECT_REFUSED(fori_loop(0, 3, indexed, 1, {.step = 0, .name = "rows"}), "fori_loop 'rows'",
                 "step is 0", "{.reverse = true}");
  EXPECT_REFUSED(fori_loop(0, 3, indexed, 1, {.step = -1}), "step is -1");
  EXPECT_REFUSED(fori_loop(0, 3, indexed, 1, {.unroll = 0}), "unroll is 0", "rondo::kUnrollAll");
  EXPECT_REFUSED(fori_loop(0.5, 3.5, indexed, 1), "fori_loop", "the bounds must be integer scalars",
                 "f64[] and f64[]", "rondo::convert");
  EXPECT_REFUSED(fori_loop(0, constant({3}), indexed, 1), "s32[] and s32[1]", "reshape");
  const Tensor wide = std::int64_t{3};
  EXPECT_REFUSED(fori_loop(Tensor(0), wide, indexed, 1), "fori_loop", "s32[] and s64[]",
                 "rondo::convert");
  auto unrolled = [&](Tensor n) { return fori_loop(0, n, indexed, 1, {.unroll = kUnrollAll}); };
  expect_parts(message_of([&] { jit(unrolled)(3); }),
               {"fori_loop", "kUnrollAll needs constant bounds", "carry_test.cc:", "C++ integers"});
}

TEST(ScanErrors, LengthsThatDisagreeAreAllListed) {
  struct Drive {
    Tensor force, wind;
  };
  auto step = [](Tensor c, auto) { return std::pair(c, c); };
  const Drive drive{constant({1, 2, 3}), constant({{1.0f, 2.0f}, {3.0f, 4.0f}})};
  EXPECT_REFUSED(scan(step, 0, drive, {.name = "drive"}),
                 "scan 'drive': the lengths along axis 0 disagree", "xs.force: 3 (s32[3])",
                 "xs.wind: 2 (f32[2,2])", "Slice or pad");
  const std::vector<Tensor> many{constant({1}), constant({1, 2}), constant({1, 2, 3})};
  EXPECT_REFUSED(scan(step, 0, many), "xs[0]: 1", "xs[1]: 2", "xs[2]: 3");
  EXPECT_REFUSED(scan(step, 0, constant({1, 2, 3}), {.length = 4}), "length: 4", "xs: 3 (s32[3])");
  EXPECT_REFUSED(
      map([](Tensor a, Tensor) { return a; }, std::tuple(constant({1, 2}), constant({1, 2, 3}))),
      "xs[0]: 2 (s32[2])", "xs[1]: 3 (s32[3])");
  auto first = [](auto a, auto) { return a; };
  EXPECT_REFUSED(associative_scan(first, std::tuple(constant({1, 2}), constant({1}))),
                 "associative_scan", "elems[0] is s32[2]", "elems[1] is s32[1]", "one length");
}

TEST(ScanErrors, LengthAndAxis) {
  auto alone = [](Tensor c) { return std::pair(c, c); };
  auto step = [](Tensor c, auto) { return std::pair(c, c); };
  const Tensor xs = constant({1.0f, 2.0f, 3.0f});
  EXPECT_REFUSED(scan(alone, 0, std::tuple<>(), {.length = -1, .name = "rows"}),
                 "scan 'rows': length is -1", "cannot be negative", "Give 0 or more");
  EXPECT_REFUSED(scan(alone, 0, std::tuple<>()), "without xs the length is not known",
                 "{.length = n}");
  EXPECT_REFUSED(scan(step, 0, Tensor(1.5f)), "xs is f32[], which has no axis 0 to walk along",
                 "Give xs that axis");
  EXPECT_REFUSED(scan(step, 0, xs, {.axis = 1}), "xs is f32[3], which has no axis 1");
  EXPECT_REFUSED(scan(step, 0, xs, {.axis = -2}), "xs is f32[3], which has no axis -2");
  EXPECT_REFUSED(scan(step, 0, xs, {.unroll = -7}), "unroll is -7", "positive");
  const auto both = std::tuple(xs, constant({{1, 2, 3}}));
  EXPECT_REFUSED(scan(step, 0, both, {.axis = -2}), "xs[0] is f32[3], which has no axis -2");
  EXPECT_REFUSED(while_scan([](Tensor) { return true; }, alone, 0, {}),
                 "while_scan: max_trip_count is not given", "from 0 to");
  EXPECT_REFUSED(scan(alone, 0, std::tuple<>(), {.length = 3, .axis = 1}),
                 "a y of s32[] cannot be stacked along axis 1", "{.axis = 0}");
  EXPECT_REFUSED(map([](Tensor x) { return x; }, Tensor(2)), "xs is s32[]", "no axis 0");
}

TEST(AssociativeScanErrors, CombineMustKeepTheTypes) {
  const Tensor xs = constant({1.0f, 2.0f, 3.0f});
  EXPECT_REFUSED(associative_scan([](Tensor a, Tensor b) { return a > b; }, xs),
                 "associative_scan: combine of two f32[1] returns pred[1]", "shapes and dtypes");
  auto add = [](Tensor a, Tensor b) { return a + b; };
  EXPECT_REFUSED(associative_scan(add, xs, {.axis = 1}), "associative_scan", "axis 1", "-1 to 0");
  EXPECT_REFUSED(associative_scan(add, Tensor(1)), "axis 0 of a scalar");
}

}  // namespace
}  // namespace rondo
