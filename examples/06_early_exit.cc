// Lesson 6: searches that stop early.
//
// Binary search, non-maximum suppression and the merge of two sorted arrays: loops whose trip count
// depends on the data.
#include <algorithm>
#include <iostream>
#include <vector>

#include "rondo/rondo.h"

using rondo::Tensor;

/// Where `value` belongs in a sorted array: before (left) or after (right) equal elements.
Tensor search_sorted(Tensor sorted, Tensor value, bool right) {
  const int n = static_cast<int>(sorted.dim(0));
  auto [lo, hi] = rondo::while_loop(
      [](Tensor lo, Tensor hi) { return lo < hi; },
      [&](Tensor lo, Tensor hi) {
        const Tensor middle = lo + (hi - lo) / 2;
        const Tensor go_right = right ? sorted[middle] <= value : sorted[middle] < value;
        return std::tuple(where(go_right, middle + 1, lo), where(go_right, hi, middle));
      },
      std::tuple(0, n));
  return lo;
}

/// Intersection over union of one box [x0, y0, x1, y1] with each of many.
Tensor overlap(Tensor box, Tensor boxes) {
  auto column = [&](std::int64_t k) {
    return squeeze(slice(boxes, {0, k}, {boxes.dim(0), k + 1}), {1});
  };
  auto area = [](Tensor x0, Tensor y0, Tensor x1, Tensor y1) { return (x1 - x0) * (y1 - y0); };
  const Tensor width = maximum(minimum(column(2), box[2]) - maximum(column(0), box[0]), 0);
  const Tensor height = maximum(minimum(column(3), box[3]) - maximum(column(1), box[1]), 0);
  const Tensor both = width * height;
  return both / (area(column(0), column(1), column(2), column(3)) +
                 area(box[0], box[1], box[2], box[3]) - both);
}

struct Suppression {
  Tensor scores, picked, count;
};

/// The best boxes, none of which overlaps a better one by more than half; -1 if there are no more.
Suppression suppress(Tensor boxes, Tensor scores, int at_most) {
  return rondo::while_loop(
      [&](Suppression s) { return (s.count < at_most) & (max(s.scores) > 0); },
      [&](Suppression s) {
        const Tensor best = argmax(s.scores, 0);
        const Tensor alive =
            overlap(boxes[best], boxes) <= 0.5f;  // not the box itself, whose overlap is 1
        return Suppression{where(alive, s.scores, 0), update(s.picked, s.count, best), s.count + 1};
      },
      Suppression{scores, rondo::full(rondo::s32({at_most}), -1), 0});
}

/// Merges two sorted arrays: each trip takes the smaller head.
Tensor merge(Tensor a, Tensor b) {
  const std::int64_t n = a.dim(0), m = b.dim(0);
  struct Heads {
    Tensor i, j;
  };
  auto take = [&](Heads h) {
    // An index past the end is clamped, so reading there is safe.
    const Tensor from_a =
        (h.j >= static_cast<int>(m)) | ((h.i < static_cast<int>(n)) & (a[h.i] <= b[h.j]));
    return std::pair(Heads{where(from_a, h.i + 1, h.i), where(from_a, h.j, h.j + 1)},
                     where(from_a, a[h.i], b[h.j]));
  };
  return rondo::scan(take, Heads{0, 0}, std::tuple<>(), {.length = n + m}).second;
}

int main() {
  const std::vector<int> sorted{1, 3, 3, 3, 7, 9};
  auto left = rondo::jit([](Tensor s, Tensor v) { return search_sorted(s, v, false); });
  auto right = rondo::jit([](Tensor s, Tensor v) { return search_sorted(s, v, true); });
  for (int v : {0, 1, 3, 4, 9, 10}) {
    const int l = left(rondo::constant(sorted, {6}), v).item<int>(),
              r = right(rondo::constant(sorted, {6}), v).item<int>();
    const bool same = l == std::lower_bound(sorted.begin(), sorted.end(), v) - sorted.begin() &&
                      r == std::upper_bound(sorted.begin(), sorted.end(), v) - sorted.begin();
    std::cout << v << " belongs at " << l << " or, after its equals, at " << r
              << (same ? "" : "  differs from the standard library") << "\n";
  }

  const Tensor boxes = rondo::constant({{0.f, 0.f, 4.f, 4.f},
                                        {1.f, 0.f, 5.f, 4.f},
                                        {8.f, 8.f, 9.f, 9.f},
                                        {0.f, 0.f, 4.f, 5.f},
                                        {8.f, 8.f, 9.f, 9.5f}});
  const Tensor scores = rondo::constant({0.9f, 0.6f, 0.8f, 0.7f, 0.95f});
  const Suppression kept =
      rondo::jit([](Tensor b, Tensor s) { return suppress(b, s, 4); })(boxes, scores);
  std::cout << "kept " << kept.count.item<int>() << " boxes of 5: " << kept.picked << "\n";

  auto merged = rondo::jit([](Tensor a, Tensor b) { return merge(a, b); });
  std::cout << "merged: " << merged(rondo::constant({1, 4, 4, 9}), rondo::constant({2, 4, 10}))
            << "\n";
}
