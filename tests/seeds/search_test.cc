// Searches that stop early, against the standard library and plain C++.
#include <algorithm>
#include <limits>
#include <numeric>
#include <random>

#include "seeds/ways.h"

namespace rondo {
namespace {

using testing::each_way;
using testing::Eager;
using testing::expect_values;
using testing::whiles_in;

using Values = std::vector<Literal>;

std::size_t size(std::int64_t n) { return static_cast<std::size_t>(n); }

/// n sorted numbers, most of them several times.
template <class T>
std::vector<T> sorted_numbers(std::mt19937& random, std::int64_t n, int range) {
  std::vector<T> numbers(size(n));
  for (T& x : numbers)
    x = static_cast<T>(static_cast<int>(random() % static_cast<unsigned>(range)) - range / 2);
  std::sort(numbers.begin(), numbers.end());
  return numbers;
}

/// x with one more element, so that x[i] can be written if x is empty; the element is never used.
Tensor with_a_spare(Tensor x) { return pad(x, 0, {0}, {1}); }

// searchsorted: a binary search for each value, a while in a map.

auto search_sorted(bool right) {
  return [right](Tensor sorted, Tensor values) {
    const Tensor spared = with_a_spare(sorted);
    return map(
        [&](Tensor value) {
          auto [lo, hi] = while_loop(
              [](Tensor lo, Tensor hi) { return lo < hi; },
              [&](Tensor lo, Tensor hi) {
                const Tensor middle = lo + (hi - lo) / 2;
                const Tensor behind = right ? spared[middle] <= value : spared[middle] < value;
                return std::tuple(where(behind, middle + 1, lo), where(behind, hi, middle));
              },
              std::tuple(0, static_cast<int>(sorted.dim(0))));
          return lo;
        },
        values);
  };
}

template <class T>
void expect_search(const std::vector<T>& sorted, const std::vector<T>& values) {
  const auto n = static_cast<std::int64_t>(sorted.size());
  const auto m = static_cast<std::int64_t>(values.size());
  SCOPED_TRACE("in " + Literal::from(sorted, {n}).str());
  std::vector<int> left, right;
  for (const T& value : values) {
    left.push_back(
        static_cast<int>(std::lower_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
    right.push_back(
        static_cast<int>(std::upper_bound(sorted.begin(), sorted.end(), value) - sorted.begin()));
  }
  const Eager eager = n <= 5 ? Eager::kYes : Eager::kNo;
  each_way(
      eager, [&](const Values& v) { expect_values<int>(v.at(0), {m}, left); }, search_sorted(false),
      Literal::from(sorted, {n}), Literal::from(values, {m}));
  each_way(
      eager, [&](const Values& v) { expect_values<int>(v.at(0), {m}, right); }, search_sorted(true),
      Literal::from(sorted, {n}), Literal::from(values, {m}));
}

TEST(SeedSearchSorted, IsLowerAndUpperBound) {
  std::mt19937 random(1);
  for (const std::int64_t n : {0, 1, 2, 3, 5, 8, 17, 64, 101}) {
    std::vector<int> values(size(14));
    std::iota(values.begin(), values.end(), -7);
    expect_search(sorted_numbers<int>(random, n, 10), values);
  }
  expect_search<int>({4, 4, 4, 4, 4, 4, 4}, {3, 4, 5});
  expect_search<int>({1, 2, 3}, {});
}

TEST(SeedSearchSorted, OfFloatsWithInfinities) {
  constexpr float kInf = std::numeric_limits<float>::infinity();
  expect_search<float>({-kInf, -2.5f, 0, 0, 0.5f, kInf, kInf}, {-kInf, -3, -0.0f, 0.25f, 7, kInf});
  std::mt19937 random(2);
  expect_search<float>(sorted_numbers<float>(random, 33, 20), {-10.5f, -3, 0, 3, 3.5f, 10});
}

TEST(SeedSearchSorted, IsTwoWhilesHoweverLong) {
  const Function f = trace(search_sorted(false), s32({1000}), s32({50}));
  EXPECT_EQ(whiles_in(to_hlo_text(f)), 2);
}

// Merge by merge path (Odeh, Green, Mwassi, Shmueli and Birk 2012): each position of the result
// finds by binary search on its diagonal how many elements before it come from `a`.

struct Merged {
  Tensor values, from_a;
};

Merged merge_path(Tensor a, Tensor b) {
  const int n = static_cast<int>(a.dim(0)), m = static_cast<int>(b.dim(0));
  const Tensor as = with_a_spare(a), bs = with_a_spare(b);
  return map(
      [&](Tensor place) {
        auto [from_a, most] =
            while_loop([](Tensor lo, Tensor hi) { return lo < hi; },
                       [&](Tensor lo, Tensor hi) {
                         const Tensor middle = (lo + hi) / 2;
                         // Of equal elements those of `a` come first.
                         const Tensor more = as[middle] <= bs[place - 1 - middle];
                         return std::tuple(where(more, middle + 1, lo), where(more, hi, middle));
                       },
                       std::tuple(maximum(place - m, 0), minimum(place, n)));
        const Tensor from_b = place - from_a;
        const Tensor take_a = (from_b >= m) | ((from_a < n) & (as[from_a] <= bs[from_b]));
        return Merged{where(take_a, as[from_a], bs[from_b]), take_a};
      },
      arange(n + m));
}

void expect_merge(const std::vector<int>& a, const std::vector<int>& b) {
  const auto n = static_cast<std::int64_t>(a.size()), m = static_cast<std::int64_t>(b.size());
  SCOPED_TRACE(Literal::from(a, {n}).str() + " and " + Literal::from(b, {m}).str());
  // The source array is carried along with each element, so the order of equal ones is visible.
  std::vector<std::pair<int, bool>> left, right, merged;
  for (const int x : a) left.emplace_back(x, true);
  for (const int x : b) right.emplace_back(x, false);
  std::merge(left.begin(), left.end(), right.begin(), right.end(), std::back_inserter(merged),
             [](const auto& x, const auto& y) { return x.first < y.first; });
  std::vector<int> values;
  std::vector<bool> from_a;
  for (const auto& [value, from] : merged) {
    values.push_back(value);
    from_a.push_back(from);
  }
  each_way(
      n + m <= 6 ? Eager::kYes : Eager::kNo,
      [&](const Values& v) {
        expect_values<int>(v.at(0), {n + m}, values);
        EXPECT_TRUE(v.at(1).identical(Literal::from(from_a, {n + m}))) << v.at(1);
      },
      [](Tensor a, Tensor b) { return merge_path(a, b); }, Literal::from(a, {n}),
      Literal::from(b, {m}));
}

TEST(SeedMergePath, IsTheStandardMerge) {
  std::mt19937 random(3);
  const std::vector<std::pair<std::int64_t, std::int64_t>> lengths = {
      {0, 0}, {0, 1}, {1, 0}, {0, 7}, {7, 0}, {1, 1}, {2, 3}, {5, 1}, {16, 16}, {33, 12}, {9, 57}};
  for (const auto& [n, m] : lengths)
    expect_merge(sorted_numbers<int>(random, n, 12), sorted_numbers<int>(random, m, 12));
  expect_merge({1, 2, 3}, {4, 5, 6});
  expect_merge({4, 5, 6}, {1, 2, 3});
  expect_merge({2, 2, 2}, {2, 2});
}

// Non-maximum suppression that stops when `at_most` boxes are kept or none is left.

struct Suppression {
  Tensor alive, kept, count;
};

/// Columns x0, y0, x1, y1 of the boxes.
std::vector<Tensor> columns(Tensor boxes) {
  std::vector<Tensor> four;
  for (std::int64_t k = 0; k < 4; k++)
    four.push_back(squeeze(slice(boxes, {0, k}, {boxes.dim(0), k + 1}), {1}));
  return four;
}

auto suppress(int at_most, float threshold) {
  return [=](Tensor boxes, Tensor scores) {
    const std::vector<Tensor> c = columns(boxes);
    const Tensor areas = (c[2] - c[0]) * (c[3] - c[1]);
    const Tensor order = arange(boxes.dim(0));
    return while_loop(
        [&](Suppression s) { return (s.count < at_most) & any(s.alive); },
        [&](Suppression s) {
          const Tensor best =
              argmax(where(s.alive, scores, -std::numeric_limits<float>::infinity()), 0);
          const Tensor box = boxes[best];
          const Tensor width = maximum(minimum(c[2], box[2]) - maximum(c[0], box[0]), 0);
          const Tensor height = maximum(minimum(c[3], box[3]) - maximum(c[1], box[1]), 0);
          const Tensor both = width * height;
          const Tensor overlap = both / (areas + areas[best] - both);
          return Suppression{s.alive & (overlap <= threshold) & (order != best),
                             update(s.kept, s.count, best), s.count + 1};
        },
        Suppression{scores == scores, full(s32({at_most}), -1), 0}, {.name = "suppress"});
  };
}

struct Box {
  float x0, y0, x1, y1;
  float area() const { return (x1 - x0) * (y1 - y0); }
};

float overlap(const Box& a, const Box& b) {
  const float width = std::max(std::min(a.x1, b.x1) - std::max(a.x0, b.x0), 0.0f);
  const float height = std::max(std::min(a.y1, b.y1) - std::max(a.y0, b.y0), 0.0f);
  return width * height / (a.area() + b.area() - width * height);
}

/// The textbook's: by falling score, a box is kept unless it overlaps one that was kept.
std::vector<int> plain_suppress(const std::vector<Box>& boxes, const std::vector<float>& scores,
                                std::size_t at_most, float threshold) {
  std::vector<int> order(boxes.size()), kept;
  std::iota(order.begin(), order.end(), 0);
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) {
    return scores[static_cast<std::size_t>(a)] > scores[static_cast<std::size_t>(b)];
  });
  for (const int i : order) {
    if (kept.size() == at_most) break;
    const bool covered = std::any_of(kept.begin(), kept.end(), [&](int k) {
      return overlap(boxes[static_cast<std::size_t>(k)], boxes[static_cast<std::size_t>(i)]) >
             threshold;
    });
    if (!covered) kept.push_back(i);
  }
  return kept;
}

TEST(SeedSuppression, IsThePlainOneAndStopsAtTheMostAsked) {
  std::mt19937 random(4);
  for (const std::int64_t n : {1, 2, 7, 40, 65}) {
    // Corners are whole numbers, so that both round alike; scores repeat.
    std::vector<Box> boxes(size(n));
    std::vector<float> scores(size(n)), corners;
    for (std::size_t i = 0; i < boxes.size(); i++) {
      auto number = [&](unsigned below) { return static_cast<float>(random() % below); };
      const float x = number(24), y = number(24);
      boxes[i] = {x, y, x + 1 + number(16), y + 1 + number(16)};
      for (const float v : {boxes[i].x0, boxes[i].y0, boxes[i].x1, boxes[i].y1})
        corners.push_back(v);
      scores[i] = number(20) / 16 - 0.5f;
    }
    for (const int at_most : {1, 3, 10, 65}) {
      for (const float threshold : {0.0f, 0.25f, 0.5f}) {
        SCOPED_TRACE(::testing::Message()
                     << n << " boxes, at most " << at_most << ", " << threshold);
        std::vector<int> want = plain_suppress(boxes, scores, size(at_most), threshold);
        const int count = static_cast<int>(want.size());
        want.resize(size(at_most), -1);
        each_way(
            n <= 2 ? Eager::kYes : Eager::kNo,
            [&](const Values& v) {
              expect_values<int>(v.at(1), {at_most}, want);
              expect_values<int>(v.at(2), {}, {count});
            },
            suppress(at_most, threshold), Literal::from(corners, {n, 4}),
            Literal::from(scores, {n}));
      }
    }
  }
}

TEST(SeedSuppression, MakesNoMoreTripsThanBoxesKept) {
  const Function f = trace(suppress(3, 0.5f), f32({10, 4}), f32({10}));
  EXPECT_EQ(whiles_in(to_hlo_text(f)), 1);
  std::vector<float> corners, scores;
  for (int i = 0; i < 10; i++) {  // side by side: none covers another
    const float x = static_cast<float>(i);
    for (const float v : {x, 0.0f, x + 1, 1.0f}) corners.push_back(v);
    scores.push_back(x);
  }
  const Executable run = compile(f);
  expect_values<int>(run.run({Literal::from(corners, {10, 4}), Literal::from(scores, {10})}).at(1),
                     {3}, {9, 8, 7});
  const RunStats stats = run.stats();
  ASSERT_EQ(stats.loops.size(), 1u);
  EXPECT_EQ(stats.loops[0].name, "suppress");
  EXPECT_EQ(stats.loops[0].trips, 3);
}

}  // namespace
}  // namespace rondo
