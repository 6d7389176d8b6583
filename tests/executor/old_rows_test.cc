// Updates of an array in place, where values that are used later read its old rows.
#include <algorithm>
#include <cmath>
#include <tuple>
#include <vector>

#include "executor/agreement.h"

namespace rondo::testing {
namespace {

constexpr std::int64_t kSide = 24;

TEST(OldRows, OfTwoRowsThatAreRotated) {
  const auto rotate = [](Tensor i, Tensor a) {
    const Tensor upper = a[0], lower = a[i];
    const Tensor x = upper[0], y = lower[0], length = sqrt(x * x + y * y);
    const Tensor c = x / length, s = y / length;
    return update(update(a, 0, c * upper + s * lower), i, c * lower - s * upper);
  };
  const Literal a = uneven<double>({kSide, kSide});
  const Function f = trace([&](Tensor a) { return fori_loop(1, kSide, rotate, a); }, a.type());
  expect_no_copies(f);
  const Literal got = expect_agreement(f, {a})[0];

  Literal want = a;
  double* rows = want.mutable_data<double>().data();
  for (std::int64_t i = 1; i < kSide; i++) {
    double* lower = rows + i * kSide;
    const double length = std::sqrt(rows[0] * rows[0] + lower[0] * lower[0]);
    const double c = rows[0] / length, s = lower[0] / length;
    for (std::int64_t k = 0; k < kSide; k++) {
      const double x = rows[k], y = lower[k];
      rows[k] = c * x + s * y;
      lower[k] = c * y - s * x;
    }
  }
  for (std::size_t k = 0; k < want.data<double>().size(); k++)
    EXPECT_NEAR(got.data<double>()[k], want.data<double>()[k], 1e-12) << k;
}

TEST(OldRows, OfARowThatALoopOverTheOthersUses) {
  // The row is read before an inner loop updates the array, and used after it.
  const auto step = [](Tensor i, Tensor a) {
    const Tensor row = a[i] * 2.0;
    const Tensor swept = fori_loop(
        0, kSide, [&](Tensor j, Tensor b) { return update(b, j, b[j] * 0.5 + b[i] * 0.25); }, a);
    return update(swept, i, row - swept[0]);
  };
  const Literal a = uneven<double>({kSide, kSide});
  const Function f = trace([&](Tensor a) { return fori_loop(0, 5, step, a); }, a.type());
  expect_no_copies(f);
  expect_agreement(f, {a});
}

TEST(OldRows, ThroughValuesOfTheSizeOfTheArray) {
  // What is fused before the row is taken has the whole array; the row of it is what is kept.
  const auto step = [](Tensor i, Tensor a) {
    const Tensor mixed = a * 0.5 + 1.0;
    const Tensor first = mixed[0], own = mixed[i];
    return update(update(a, 0, own - first), i, first + own);
  };
  const Literal a = uneven<double>({kSide, kSide});
  const Function f = trace([&](Tensor a) { return fori_loop(1, kSide, step, a); }, a.type());
  expect_no_copies(f);
  expect_agreement(f, {a});
}

TEST(OldRows, AreNotKeptWhereTheWholeArrayIsUsed) {
  // To keep all rows is to copy the array.
  const auto step = [](Tensor i, Tensor a) {
    return update(update(a, i, a[i] + 1.0), 0, sum(a, {0}));
  };
  const Literal a = uneven<double>({kSide, kSide});
  const Function f = trace([&](Tensor a) { return fori_loop(1, kSide, step, a); }, a.type());
  expect_agreement(f, {a});
}

/// All next elements are written where the old ones are, unless another buffer is expected.
void expect_one_buffer(const Function& f, bool expected = true) {
  const Lowered lowered(f);
  EXPECT_EQ(lowered.exchanged_pointers(), expected ? 0 : 2) << lowered;
  EXPECT_EQ(lowered.count_in_loops(lower::Opcode::kCopy), 0) << lowered;
}

TEST(OldRows, OfAnArrayThatIsComputedElementByElement) {
  // The shortest paths through one node more: a row and a column are read beside each element.
  const auto shorten = [](Tensor k, Tensor a) {
    return minimum(a, expand_dims(transpose(a)[k], 1) + expand_dims(a[k], 0));
  };
  for (const std::int64_t side : {20, 33, 64}) {
    const Literal a = uneven<float>({side, side});
    const Function f = trace([&](Tensor a) { return fori_loop(0, side, shorten, a); }, a.type());
    expect_one_buffer(f);
    const Literal got = expect_agreement(f, {a})[0];
    Literal want = a;
    float* paths = want.mutable_data<float>().data();
    for (std::int64_t k = 0; k < side; k++) {
      const std::vector<float> old(paths, paths + side * side);
      const auto at = [&](std::int64_t i, std::int64_t j) {
        return old[static_cast<std::size_t>(i * side + j)];
      };
      for (std::int64_t i = 0; i < side; i++)
        for (std::int64_t j = 0; j < side; j++)
          paths[i * side + j] = std::min(at(i, j), at(i, k) + at(k, j));
    }
    EXPECT_TRUE(std::ranges::equal(got.data<float>(), want.data<float>()));
  }
}

TEST(OldRows, OfAnArrayThatIsReadAtOtherElementsToo) {
  // The rows above are no small part.
  const auto mixed = [](Tensor k, Tensor a) {
    return a[k] + a * 0.5 + concatenate(0, slice(a, range(1)), slice(a, range({}, 1)));
  };
  const Literal a = uneven<double>({kSide, kSide});
  const Function f = trace([&](Tensor a) { return fori_loop(0, 9, mixed, a); }, a.type());
  expect_one_buffer(f, false);
  expect_agreement(f, {a});
}

TEST(OldRows, OfSeveralArraysThatAreComputedTogether) {
  const auto step = [](Tensor k, Tensor a, Tensor b) {
    return std::tuple(a - b * expand_dims(a[k], 0), b + a * expand_dims(b[k], 0));
  };
  const Literal a = uneven<double>({kSide, kSide});
  const Function f = trace(
      [&](Tensor a) { return fori_loop(0, 9, step, std::tuple(0.1 * a, 0.2 * a)); }, a.type());
  expect_agreement(f, {a});
}

}  // namespace
}  // namespace rondo::testing
