// The memory of a carry's next value: that of another carry whose value it is, without a copy; or
// its own, where each element is read only where the next one is written.
#include <tuple>
#include <utility>
#include <vector>

#include "executor/same_bits.h"

namespace rondo::testing {
namespace {

constexpr std::int64_t kLength = 50;

Literal three_rows() { return ramp({3, kLength}, 0.03f, -1); }

void expect_right_without_copies(const Function& f, const std::vector<Literal>& arguments) {
  expect_no_copies(f);
  expect_agreement(f, arguments);
  expect_same_bits(f, arguments);
}

TEST(TakenMemory, OfStatesBeforeTheLast) {
  for (const int trips : {0, 1, 2, 3, 4, 5, 6, 7}) {
    SCOPED_TRACE(::testing::Message() << trips << " trips");
    const auto f = [&](Tensor x) {
      const auto step = [](Tensor, Tensor now, Tensor before, Tensor first) {
        return std::tuple(now * 0.5f + sum(before) * 0.01f - first, now, before);
      };
      return fori_loop(0, trips, step, std::tuple(x[0], x[1], x[2]));
    };
    const Literal x = three_rows();
    const Function function = trace(f, x.type());
    expect_right_without_copies(function, {x});
    std::vector<double> rows[3];
    for (std::size_t row = 0; row < 3; row++)
      for (std::size_t i = 0; i < kLength; i++)
        rows[row].push_back(x.data<float>()[row * kLength + i]);
    for (int trip = 0; trip < trips; trip++) {
      double sum = 0;
      for (const double element : rows[1]) sum += element;
      std::vector<double> next;
      for (std::size_t i = 0; i < kLength; i++)
        next.push_back(rows[0][i] * 0.5 + sum * 0.01 - rows[2][i]);
      rows[2] = std::exchange(rows[1], std::exchange(rows[0], next));
    }
    const std::vector<Literal> got = compile(function).run({x});
    for (std::size_t row = 0; row < 3; row++)
      for (std::size_t i = 0; i < kLength; i++)
        EXPECT_NEAR(got[row].data<float>()[i], rows[row][i], 1e-4) << row << ", " << i;
  }
}

TEST(TakenMemory, OfArraysThatAreExchanged) {
  const auto f = [](Tensor x, Tensor n) {
    const auto step = [](Tensor i, Tensor a, Tensor b, Tensor c) {
      return std::tuple(i + 1, b, a, c + a * 0.5f);
    };
    const auto end = while_loop([&](Tensor i, Tensor, Tensor, Tensor) { return i < n; }, step,
                                std::tuple(Tensor(0), x[0] * 2, x[1] + 1, x[2]));
    return std::tuple(std::get<1>(end) - std::get<2>(end), std::get<3>(end));
  };
  const Literal x = three_rows();
  const Function function = trace(f, x.type(), TensorType{DType::kS32, {}});
  for (const int trips : {0, 1, 2, 5})
    expect_right_without_copies(function, {x, Literal::scalar(trips)});
}

TEST(TakenMemory, LivesAsLongAsAnyOfTheCarries) {
  // After the loop one result is used, then new arrays are made while the other is alive.
  const auto f = [](Tensor x) {
    const auto step = [](Tensor, Tensor now, Tensor before) {
      return std::pair(now + before * 0.25f, now);
    };
    const auto sweep = [&](Tensor, Tensor total, Tensor row) {
      const auto [now, before] = fori_loop(0, 3, step, std::pair(row, row * 0.5f));
      const Tensor spread = exp(now) - sum(now), turned = reverse(spread, {0}) * sum(spread);
      return std::pair(total + turned + before, turned * 1e-3f);
    };
    return fori_loop(0, 4, sweep, std::pair(x[0], x[1]));
  };
  const Literal x = three_rows();
  expect_agreement(trace(f, x.type()), {x});
}

TEST(TakenMemory, OfALoopAroundTheLoopIsLeftToIt) {
  // The inner loops begin in the memory of the outer one's carries.
  const auto f = [](Tensor x, Tensor n) {
    const auto exchange = [&](Tensor i, Tensor a, Tensor b) {
      const auto step = [&](Tensor, Tensor a, Tensor b) {
        return std::pair(b, abs(update(a, i, 0.5f)));
      };
      return std::pair(a, fori_loop(2, n, step, std::pair(b, a)).second);
    };
    const auto [a, b] = fori_loop(0, n, exchange, std::pair(x[0], x[1]));
    const Tensor after = exp(x[2]) - sum(x[2]);
    return std::tuple(b, after * sum(after), a);
  };
  const auto least = [](Tensor x) {
    const auto step = [](Tensor, Tensor, Tensor b, Tensor c) {
      const auto inner = [&](Tensor, Tensor b) { return reverse(b, {0}) * 0.5f + c; };
      const Tensor other = fori_loop(0, 2, inner, b);
      const Tensor next = round(other * 0.5f);
      return std::tuple(next, minimum(other, next), other);
    };
    return fori_loop(0, 4, step, std::tuple(x[0] * 40, x[1] * 40, x[2] * 40));
  };
  const Literal x = three_rows();
  const Function function = trace(f, x.type(), TensorType{DType::kS32, {}});
  for (const int n : {0, 3, 6}) expect_agreement(function, {x, Literal::scalar(n)});
  expect_agreement(trace(least, x.type()), {x});
}

TEST(TakenMemory, IsNotThatOfAResult) {
  // A carry that is used no more when its loop ends may be in the memory of a result.
  for (const int trips : {1, 2, 3, 4, 5, 6}) {
    const auto f = [&](Tensor x) {
      const auto chain = [&](Tensor, Tensor a, Tensor b, Tensor) {
        return std::tuple(x[2] + reverse(a, {0}) * 0.5f, a, b);
      };
      const auto [unused, before, last] = fori_loop(0, trips, chain, std::tuple(x[0], x[1], x[0]));
      const Tensor now = exp(reverse(last, {0})) + sum(before);
      return std::tuple(now, reverse(now, {0}) + last, before * last);
    };
    const Literal x = three_rows();
    expect_agreement(trace(f, x.type()), {x});
  }
}

TEST(TakenMemory, IsCopiedForASecondCarry) {
  const auto f = [](Tensor x) {
    const auto step = [](Tensor, Tensor a, Tensor b, Tensor c) {
      return std::tuple(a * 0.5f + b, a, a + c * 0.0f);
    };
    const auto same = [](Tensor, Tensor a, Tensor b, Tensor c) {
      return std::tuple(a * 0.5f + b * c, a, a);
    };
    return std::pair(fori_loop(0, 5, step, std::tuple(x[0], x[1], x[2])),
                     fori_loop(0, 5, same, std::tuple(x[0], x[1], x[2])));
  };
  const Literal x = three_rows();
  expect_agreement(trace(f, x.type()), {x});
}

TEST(OwnMemory, OfCarriesThatAreUpdatedElementByElement) {
  const auto f = [](Tensor x, Tensor m) {
    const auto step = [](Tensor i, Tensor a, Tensor m) {
      return std::pair(a * 0.5f + sum(a) * 0.01f + convert(i, DType::kF32),
                       m * 0.875f + expand_dims(sum(m, {1}), 1));
    };
    return fori_loop(0, 6, step, std::pair(x[0], m));
  };
  const Literal x = three_rows(), m = ramp({32, 32}, 1e-4f, -0.05f);
  const Function function = trace(f, x.type(), m.type());
  const Lowered program(function);
  EXPECT_EQ(program.exchanged_pointers(), 0) << program;
  expect_right_without_copies(function, {x, m});
}

TEST(OwnMemory, IsNotUsedWhereTheOldValueIsReadElsewhere) {
  const auto f = [](Tensor x) {
    const auto step = [](Tensor, Tensor a, Tensor b, Tensor c) {
      // The first is read backwards, the second after its next value, the third by another carry.
      const Tensor next = b * 0.5f + c;
      return std::tuple(a * 0.5f + reverse(a, {0}), next, c * 0.25f + sum(next * reverse(b, {0})));
    };
    return fori_loop(0, 5, step, std::tuple(x[0], x[1], x[2]));
  };
  const auto handed_on = [](Tensor x) {
    const auto step = [](Tensor, Tensor a, Tensor b) { return std::pair(a * 0.5f + b, a); };
    return fori_loop(0, 5, step, std::pair(x[0], x[1]));
  };
  const auto conditional = [](Tensor x) {
    const auto step = [](Tensor a, Tensor b) {
      return std::pair(where(a[0] > b, a * 2.0f, a + b), b - a * 0.25f);
    };
    const auto small = [](Tensor a, Tensor) { return sum(abs(a)) < 1e3f; };
    return while_loop(small, step, std::pair(x[0] + 2.0f, x[1]), {.max_trip_count = 50});
  };
  const Literal x = three_rows();
  expect_agreement(trace(f, x.type()), {x});
  expect_agreement(trace(handed_on, x.type()), {x});
  expect_agreement(trace(conditional, x.type()), {x});
}

}  // namespace
}  // namespace rondo::testing
