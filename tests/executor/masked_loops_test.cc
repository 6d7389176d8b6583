// Arrays that are computed in place where masks along their axes hold: loops run over the part
// where these do.
#include <gmock/gmock.h>

#include <cstdint>
#include <functional>
#include <vector>

#include "executor/agreement.h"
#include "executor/on_threads.h"

namespace rondo {
namespace {

using testing::expect_agreement;
using testing::expect_same_on_threads;
using testing::Lowered;
using testing::uneven;

/// The element changes where this holds, of the trip's number and the indices along both axes.
using MaskOfTrip =
    std::function<Tensor(const Tensor& trip, const Tensor& rows, const Tensor& columns)>;

Function changed_in_place(const TensorType& type, std::int64_t trips, const MaskOfTrip& mask) {
  const auto step = [=](Tensor trip, Tensor a) {
    const Tensor rows = expand_dims(arange(type.shape[0]), 1);
    const Tensor columns = expand_dims(arange(type.shape[1]), 0);
    // A row and a column, so that lanes are not independent.
    const Tensor added = expand_dims(a[trip], 0) - expand_dims(transpose(a)[trip], 1);
    return where(broadcast_to(mask(trip, rows, columns), type.shape), a + added, a);
  };
  return trace([=](Tensor a) { return fori_loop(0, trips, step, a); }, type);
}

/// So many axes are run in part; results are those of the reference.
void expect_parts(const MaskOfTrip& mask, std::ptrdiff_t parts) {
  for (const std::int64_t columns : {36, 64, 100}) {
    SCOPED_TRACE(::testing::Message() << columns << " columns");
    const Function f = changed_in_place(f32({48, columns}), 36, mask);
    EXPECT_EQ(Lowered(f).loops_over_parts(), parts) << Lowered(f);
    const std::vector<Literal> arguments{uneven<float>({48, columns})};
    expect_agreement(f, arguments);
    expect_same_on_threads(f, arguments);
  }
}

TEST(MaskedLoops, BelowAndAfterTheTrip) {
  expect_parts([](const Tensor& k, const Tensor& i, const Tensor& j) { return (i > k) & (j > k); },
               2);
  expect_parts([](const Tensor& k, const Tensor& i, const Tensor& j) { return (i < k) & (j <= k); },
               2);
}

TEST(MaskedLoops, OfBandsAndSinglePlaces) {
  expect_parts([](const Tensor& k, const Tensor& i,
                  const Tensor& j) { return (abs(i - k) < 3) & (abs(j - k) <= 17); },
               2);
  expect_parts(
      [](const Tensor& k, const Tensor& i, const Tensor& j) { return (i == k) & (j == 35 - k); },
      2);
}

TEST(MaskedLoops, AlongOneAxis) {
  expect_parts([](const Tensor& k, const Tensor& i, const Tensor&) { return i >= k; }, 1);
  expect_parts([](const Tensor& k, const Tensor&, const Tensor& j) { return j >= k; }, 1);
}

// Nothing, everything, and parts with gaps.
TEST(MaskedLoops, OfAnyPart) {
  expect_parts(
      [](const Tensor& k, const Tensor& i, const Tensor& j) { return (i > k + 99) & (j > k); }, 2);
  expect_parts(
      [](const Tensor& k, const Tensor& i, const Tensor& j) { return (i >= -k) & (j >= -k); }, 2);
  expect_parts([](const Tensor& k, const Tensor& i,
                  const Tensor& j) { return (rem(i, 7) == rem(k, 7)) & (rem(j, 5) != rem(k, 5)); },
               2);
}

TEST(MaskedLoops, WhereAMaskFails) {
  expect_parts(
      [](const Tensor& k, const Tensor& i, const Tensor& j) { return !((i <= k) | (j <= k)); }, 2);
  expect_parts(
      [](const Tensor& k, const Tensor& i, const Tensor& j) { return (j < k + 9) & !(i <= k); }, 2);
}

// What holds along either axis leaves nothing out.
TEST(MaskedLoops, NotWhereOneOfThemIsEnough) {
  expect_parts([](const Tensor& k, const Tensor& i, const Tensor& j) { return (i > k) | (j > k); },
               0);
}

TEST(MaskedLoops, OfEveryDtype) {
  for (const DType dtype :
       {DType::kS8, DType::kU16, DType::kS64, DType::kF16, DType::kF64, DType::kC64}) {
    SCOPED_TRACE(dtype_name(dtype));
    const TensorType type{dtype, {48, 40}};
    const Function f = changed_in_place(
        type, 36,
        [](const Tensor& k, const Tensor& i, const Tensor& j) { return (i > k) & (j > k); });
    if (!is_complex(dtype)) {
      EXPECT_EQ(Lowered(f).loops_over_parts(), 2) << Lowered(f);
    }
    const Literal numbers = uneven<float>({48, 40});
    const Function converted =
        trace([&](Tensor x) { return convert(x * 20.0f, dtype); }, numbers.type());
    const Literal start = compile(converted, {.executor = Executor::kReference}).run({numbers})[0];
    expect_agreement(f, {start});
  }
}

// Of large arrays the loops may be split over threads. The index along a row is a number in the
// elements' code.
TEST(MaskedLoops, NotOfLargeArrays) {
  constexpr std::int64_t kLarge = 520;
  const auto step = [](Tensor trip, Tensor a) {
    const Tensor after = arange(kLarge) > trip;
    const Tensor mixed = expand_dims(a[trip], 0) - expand_dims(transpose(a)[trip], 1);
    const Tensor number = convert(iota(s32({kLarge, kLarge}), 1) * trip, DType::kF32);
    return where(expand_dims(after, 1) & expand_dims(after, 0), mixed + number, a);
  };
  const Function f =
      trace([&](Tensor a) { return fori_loop(0, 5, step, a); }, f32({kLarge, kLarge}));
  EXPECT_EQ(Lowered(f).loops_over_parts(), 0) << Lowered(f);
  expect_agreement(f, {uneven<float>({kLarge, kLarge})});
  expect_same_on_threads(f, {uneven<float>({kLarge, kLarge})});
}

// Small arrays, and masks that are data.
TEST(MaskedLoops, OfMasksFromOutside) {
  const auto step = [](Tensor rows, Tensor columns) {
    return [=](Tensor trip, Tensor a) {
      const Tensor mixed = expand_dims(a[trip], 0) - expand_dims(transpose(a)[trip], 1);
      const Tensor others = arange(rows.shape()[0]) != trip;
      return where(expand_dims(rows & others, 1) & expand_dims(columns & others, 0),
                   a * 0.5f + mixed, a);
    };
  };
  for (const std::int64_t size : {8, 64}) {
    const Function f =
        trace([&](Tensor a, Tensor rows,
                  Tensor columns) { return fori_loop(0, 5, step(rows, columns), a); },
              f32({size, size}), pred({size}), pred({size}));
    EXPECT_EQ(Lowered(f).loops_over_parts(), size == 8 ? 0 : 2) << Lowered(f);
    for (const int of : {1, 3, 100}) {
      Literal rows = Literal::zeros(pred({size})), columns = rows;
      for (std::int64_t i = 0; i < size; i++) {
        rows.mutable_data<bool>()[static_cast<std::size_t>(i)] = i % of == of / 2;
        columns.mutable_data<bool>()[static_cast<std::size_t>(i)] = i % (of + 4) == 3;
      }
      expect_agreement(f, {uneven<float>({size, size}), rows, columns});
    }
  }
}

}  // namespace
}  // namespace rondo
