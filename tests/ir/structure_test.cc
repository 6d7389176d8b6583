#include "ir/structure.h"

#include "ir/function_data.h"
#include "passes/check.h"

namespace rondo::testing {
namespace {

using ir::structure_of;

Function newton(int steps, float start) {
  return trace(
      [&](Tensor x) {
        return while_loop([&](Tensor i, Tensor) { return i < steps; },
                          [&](Tensor i, Tensor y) { return std::tuple(i + 1, 0.5f * (y + x / y)); },
                          std::tuple(Tensor(0), Tensor(start)));
      },
      f32());
}

TEST(Structure, EqualForTheSameProgramTracedTwice) {
  EXPECT_EQ(structure_of(newton(5, 1.0f)), structure_of(newton(5, 1.0f)));
}

TEST(Structure, ConstantsCountByContent) {
  EXPECT_NE(structure_of(newton(5, 1.0f)), structure_of(newton(6, 1.0f)));
  EXPECT_NE(structure_of(newton(5, 1.0f)), structure_of(newton(5, 1.5f)));
  // A long array whose text is shortened in the middle.
  auto with_array = [](std::int64_t odd) {
    std::vector<std::int64_t> values(1000, 1);
    values[500] = odd;
    return trace([&](Tensor x) { return x + constant(values, {1000}); }, s64({1000}));
  };
  EXPECT_EQ(structure_of(with_array(3)), structure_of(with_array(3)));
  EXPECT_NE(structure_of(with_array(3)), structure_of(with_array(4)));
}

TEST(Structure, NegativeZeroAndNanAreConstantsOfTheirOwn) {
  auto plus = [](float value) {
    return structure_of(trace([&](Tensor x) { return x + value; }, f32()));
  };
  EXPECT_NE(plus(0.0f), plus(-0.0f));
  EXPECT_EQ(plus(std::nanf("")), plus(std::nanf("")));
}

TEST(Structure, TypesOperandsAndAttributesCount) {
  const auto key = [](const TensorType& type, auto f) {
    return structure_of(trace(f, type, type));
  };
  const auto subtract = [](Tensor x, Tensor y) { return x - y; };
  EXPECT_NE(key(f32(), subtract), key(f64(), subtract));
  EXPECT_NE(key(f32({2}), subtract), key(f32({3}), subtract));
  EXPECT_NE(key(f32({2}), subtract), key(f32({2, 1}), subtract));
  EXPECT_NE(key(f32(), subtract), key(f32(), [](Tensor x, Tensor y) { return y - x; }));
  EXPECT_NE(key(f32(), subtract),
            key(f32(), [](Tensor x, Tensor y) { return std::tuple(x - y, x); }));
  EXPECT_NE(key(f32({4, 4}), [](Tensor x, Tensor) { return sum(x, {0}); }),
            key(f32({4, 4}), [](Tensor x, Tensor) { return sum(x, {1}); }));
  EXPECT_NE(key(f32({4}), [](Tensor x, Tensor) { return sum(x, {0}); }),
            key(f32({4}), [](Tensor x, Tensor) { return max(x, {0}); }));
}

TEST(Structure, NamesOfParametersPlacesAndOrderOfCreationDoNotCount) {
  const Function f =
      trace([](Tensor x, Tensor y) { return std::tuple(sin(x) + cos(y)); }, f32(), f32());
  const Function g = trace(
      [](Tensor a, Tensor b) {
        const Tensor second = cos(b);
        const Tensor first = sin(a);
        return std::tuple(first + second);
      },
      f32(), f32());
  EXPECT_EQ(structure_of(f), structure_of(g));
}

TEST(Structure, LoopNamesCountBecauseTheStatisticsShowThem) {
  auto loop = [](const std::string& name) {
    return structure_of(trace(
        [&](Tensor x) {
          return fori_loop(0, 3, [](Tensor, Tensor s) { return s + 1.0f; }, x, {.name = name});
        },
        f32()));
  };
  EXPECT_EQ(loop("a"), loop("a"));
  EXPECT_NE(loop("a"), loop("b"));
  EXPECT_NE(loop("a\", unroll=2"), loop("a\\\", unroll=2"));
}

TEST(Structure, TheOrderOfTapsCounts) {
  const auto key = [](bool swapped) {
    return structure_of(trace(
        [&](Tensor x) {
          Tensor a, b;
          if (swapped) b = tap(x, "b");
          a = tap(x, "a");
          if (!swapped) b = tap(x, "b");
          return a + b;
        },
        f32()));
  };
  EXPECT_EQ(key(true), key(true));
  EXPECT_NE(key(true), key(false));
}

TEST(Structure, EqualRegionsCountAsEqualWhetherTheyAreOneObjectOrTwo) {
  const Function body = trace([](Tensor s) { return s * 2.0f; }, f32());
  const Function twin = trace([](Tensor s) { return s * 2.0f; }, f32());
  const Function condition = trace([](Tensor s) { return s < 9.0f; }, f32());
  const Function loop = newton(3, 1);
  auto twice = [&](const Function& first, const Function& second) {
    return trace(
        [&](Tensor x) {
          const ir::Node* like = loop.body().back();
          const Tensor once = ir::make_typed(*like->op, {x}, {}, {f32()}, {}, {condition, first});
          return ir::make_typed(*like->op, {once}, {}, {f32()}, {}, {condition, second});
        },
        f32());
  };
  EXPECT_EQ(structure_of(twice(body, body)), structure_of(twice(body, twin)));
  const Function other = trace([](Tensor s) { return s * 3.0f; }, f32());
  EXPECT_NE(structure_of(twice(body, body)), structure_of(twice(body, other)));
  EXPECT_NE(structure_of(twice(body, other)), structure_of(twice(other, body)));

  ir::StructureTable table;
  EXPECT_EQ(table.number(body), table.number(twin));
  EXPECT_NE(table.number(body), table.number(other));
}

TEST(Structure, LengthAndNestingCostNoStack) {
  auto chain = [](float last) {
    return trace(
        [&](Tensor x) {
          for (int i = 0; i < 200000; i++) x = x + 1.0f;
          return x + last;
        },
        f32());
  };
  EXPECT_EQ(structure_of(chain(1)), structure_of(chain(1)));
  EXPECT_NE(structure_of(chain(1)), structure_of(chain(2)));
  auto nest = [](float innermost) {
    return trace(
        [&](Tensor x) {
          std::function<Tensor(Tensor, int)> level = [&](Tensor s, int depth) -> Tensor {
            if (depth == 0) return s * innermost;
            return fori_loop(
                0, 1, [&](Tensor, Tensor inner) { return level(inner, depth - 1); }, s);
          };
          return level(x, 300);
        },
        f32());
  };
  EXPECT_EQ(structure_of(nest(1)), structure_of(nest(1)));
  EXPECT_NE(structure_of(nest(1)), structure_of(nest(2)));
}

}  // namespace
}  // namespace rondo::testing
