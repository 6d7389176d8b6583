// Concatenations and padding that are read piece by piece in the loops that use them.
#include <functional>
#include <string>
#include <utility>

#include "executor/same_bits.h"

namespace rondo::testing {
namespace {

/// Expects that no array is kept beside arguments and results, and that all executors agree.
void expect_fused(const Function& f, const std::vector<Literal>& arguments) {
  const Lowered program(f);
  EXPECT_EQ(program.arena_bytes(), 0) << program;
  expect_agreement(f, arguments);
}

TEST(Pieces, OfStencilsWithAnyBoundary) {
  const std::pair<std::string, std::function<Tensor(Tensor)>> stencils[] = {
      {"wrapped", [](Tensor u) { return roll(u, 1, 0) + roll(u, -1, 1) * 2 - u; }},
      {"far", [](Tensor u) { return roll(u, 3, 0) * roll(u, -2, 1) + roll(u, 5, 1); }},
      {"shifted in",
       [](Tensor u) {
         return concatenate({zeros(f32({1, 12})), slice(u, {0, 0}, {8, 12})}, 0) - u;
       }},
      {"of three",
       [](Tensor u) {
         return concatenate(
                    {slice(u, {0, 8}, {9, 12}), exp(slice(u, {0, 2}, {9, 7})), zeros(f32({9, 3}))},
                    1) +
                u;
       }},
      {"backwards", [](Tensor u) { return reverse(roll(u, 2, 1), {1}) + reverse(u, {0}); }},
      {"padded",
       [](Tensor u) {
         const Tensor p = pad(u, 0.5f, {1, 1}, {1, 1});
         return slice(p, {0, 1}, {9, 13}) + u;
       }},
      {"between padding",
       [](Tensor u) {
         const Tensor p = pad(u, 0.0f, {1, 1}, {1, 1});
         return slice(p, {0, 1}, {9, 13}) + slice(p, {2, 1}, {11, 13}) +
                slice(p, {1, 0}, {10, 12}) + slice(p, {1, 2}, {10, 14}) - 4 * u;
       }},
      {"of every other element",
       [](Tensor u) {
         return slice(roll(u, 3, 1), {0, 1}, {9, 12}, {1, 2}) * 2;
       }},
      {"turned", [](Tensor u) { return transpose(roll(u, 1, 0)) + transpose(u); }},
      {"of a row", [](Tensor u) { return roll(u, 1, 0)[3] + roll(u[4], 2, 0); }},
  };
  const Literal u = uneven<float>({9, 12});
  for (const auto& [name, stencil] : stencils) {
    SCOPED_TRACE(name);
    expect_fused(trace(stencil, u.type()), {u});
  }
}

TEST(Pieces, OfThreeAxesAndOfOne) {
  const auto around = [](Tensor u) {
    Tensor sum = u * -6;
    for (std::int64_t axis = 0; axis < u.rank(); axis++)
      sum = sum + roll(u, 1, axis) + roll(u, -1, axis);
    return sum;
  };
  for (const Shape& shape : {Shape({5, 6, 7}), Shape({40}), Shape({2, 3}), Shape({3, 2, 2})}) {
    const Literal u = uneven<float>(shape);
    const Function f = trace(around, u.type());
    const Literal got = expect_agreement(f, {u})[0];
    if (shape.rank() != 1) continue;
    for (std::size_t i = 0; i < 40; i++) {
      const auto at = [&](std::size_t j) { return u.data<float>()[j % 40]; };
      EXPECT_NEAR(got.data<float>()[i], at(i + 39) + at(i + 1) - 6 * at(i), 1e-5f) << i;
    }
  }
}

TEST(Pieces, InLoopsThatUpdateTheArray) {
  // The next state is written where the one before is read, beside its own place.
  const auto wave = [](Tensor u) {
    const auto step = [](Tensor, Tensor now, Tensor before) {
      const Tensor force = roll(now, 1, 0) + roll(now, -1, 0) + roll(now, 1, 1) - 3 * now;
      return std::pair(2 * now - before + 0.1f * force, now);
    };
    return fori_loop(0, 7, step, std::pair(u, u)).first;
  };
  const auto rows = [](Tensor u) {
    const auto step = [](Tensor i, Tensor u) {
      return update(u, i, 0.5f * roll(u[i], 1, 0) + roll(u[(i + 1) % 9], -2, 0));
    };
    return fori_loop(0, 9, step, u);
  };
  const auto whole = [](Tensor u) {
    return fori_loop(
        0, 9, [](Tensor, Tensor u) { return roll(u, 1, 1) * 0.5f + u; }, u);
  };
  const Literal u = uneven<float>({9, 12});
  for (const std::function<Tensor(Tensor)>& f :
       {std::function<Tensor(Tensor)>(wave), std::function<Tensor(Tensor)>(rows),
        std::function<Tensor(Tensor)>(whole)}) {
    const Function program = trace(f, u.type());
    expect_agreement(program, {u});
    expect_same_bits(program, {u});
  }
}

TEST(Pieces, OfPieces) {
  const auto corners = [](Tensor u) {
    const Tensor p = pad(pad(u, 0.5f, {1, 0}, {0, 2}), -1.0f, {0, 1}, {1, 0});
    return std::tuple(roll(roll(u, 1, 0), -1, 1) + u, roll(u * u, 1, 0) - roll(u + 1, 1, 1), p + p,
                      reverse(roll(p, 2, 1), {0}) * 2);
  };
  const Literal u = uneven<float>({9, 12});
  expect_agreement(trace(corners, u.type()), {u});
}

/// The columns x and y of points, as those of new ones.
template <class F>
auto with_columns(F f) {
  return [f](Tensor points) {
    const auto column = [&](std::int64_t i) {
      return slice(points, {0, i}, {points.dim(0), i + 1});
    };
    const auto [x, y] = f(column(0), column(1));
    return concatenate({x, y}, 1) * 0.5f;
  };
}

TEST(Pieces, ThatAreColumnsAreOneLoop) {
  const auto turned = with_columns([](Tensor x, Tensor y) { return std::pair(x + y, sin(x) - y); });
  const Literal points = uneven<float>({40, 2});
  const Function once = trace(turned, points.type());
  EXPECT_EQ(Lowered(once).count(lower::Opcode::kLanes), 1) << Lowered(once);
  EXPECT_EQ(Lowered(once).arena_bytes(), 0) << Lowered(once);
  expect_agreement(once, {points});
  // A trip may overwrite the columns that it has read, but not those of other rows.
  const auto often = [](auto step) {
    return [step](Tensor points) {
      return fori_loop(
          0, 5, [&](Tensor, Tensor p) { return step(p); }, points);
    };
  };
  const auto rolled = with_columns(
      [](Tensor x, Tensor y) { return std::pair(x + roll(y, 1, 0), roll(x, -1, 0) - y); });
  expect_agreement(trace(often(turned), points.type()), {points});
  expect_agreement(trace(often(rolled), points.type()), {points});
}

TEST(Pieces, ThatSeveralStepsReadAreKept) {
  // Each loop reads another part; one of them is a reduction.
  const auto f = [](Tensor u) {
    const Tensor turned = roll(u, 2, 0) * 1.0f, shifted = roll(u, 1, 1);
    return std::tuple(sum(shifted, {1}), slice(shifted, {0, 0}, {9, 4}) + 1, exp(turned[2]),
                      cumsum(turned, 1), matmul(shifted, transpose(shifted)));
  };
  const Literal u = uneven<float>({9, 12});
  expect_agreement(trace(f, u.type()), {u});
}

TEST(Pieces, OfNoElements) {
  const Literal none = Literal::zeros(f32({0, 4})), one = uneven<float>({1, 4});
  const auto f = [](Tensor none, Tensor one) {
    const Tensor all = concatenate({none, one, none, one * 2}, 0);
    return std::pair(all + 1, roll(none, 1, 1) + concatenate({none, none}, 0));
  };
  expect_agreement(trace(f, none.type(), one.type()), {none, one});
}

TEST(Pieces, AreNotFusedWhereTheyTakeTooMuchCode) {
  // Each shift splits both axes again.
  const auto f = [](Tensor u) {
    Tensor sum = u;
    for (int shift = 1; shift < 12; shift++)
      sum = sin(sum) + roll(u, shift, 0) * roll(u, -shift, 1);
    return sum;
  };
  const Literal u = uneven<float>({64, 64});
  const Function function = trace(f, u.type());
  const Lowered program(function);
  EXPECT_GT(program.arena_bytes(), 0);
  EXPECT_LT(program.ops(), 100'000u);
  expect_agreement(function, {u});
}

}  // namespace
}  // namespace rondo::testing
