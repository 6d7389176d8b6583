// Examples of the reference: reductions, statistics, sorting, searching.
#include <cmath>
#include <utility>

#include "example.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

int main() {
  example("sum, prod", [] {
    Tensor x = constant({{1, 2, 3}, {4, 5, 6}});
    std::cout << sum(x) << " " << sum(x, 0) << " " << sum(x, -1) << "\n";
    std::cout << prod(x, 1) << " " << prod(x, 1, true)
              << "\n";                // true: the axis stays, with size 1
    std::cout << sum(x > 2) << "\n";  // preds are counted
  });
  example("max, min", [] {
    Tensor x = constant({{1, 7, 3}, {4, 5, 6}});
    std::cout << max(x) << " " << min(x) << "\n";
    std::cout << rondo::max(x, {1}) << " " << rondo::min(x, {0}) << "\n";
  });
  example("mean", [] {
    Tensor x = constant({{1.0f, 2.0f}, {3.0f, 6.0f}});
    std::cout << mean(x) << " " << mean(x, 0) << "\n";
    std::cout << x - mean(x, 1, true) << "\n";  // each row without its mean
  });
  example("any, all", [] {
    Tensor x = constant({{1, 0}, {2, 3}});
    std::cout << any(x == 0) << " " << all(x == 0) << "\n";
    std::cout << all(x, 1) << "\n";  // what is not 0 is true
  });
  example("argmax, argmin", [] {
    Tensor x = constant({{1, 7, 7}, {4, 5, 3}});
    std::cout << argmax(x, 1) << " " << argmin(x, 1) << "\n";  // the first of equal ones
  });
  example("cumsum, cumprod, cummax, cummin", [] {
    Tensor x = constant({3, 1, 4, 2});
    std::cout << cumsum(x, 0) << " " << cumsum(x, 0, true) << "\n";  // true: from the end
    std::cout << cumprod(x, 0) << " " << cummax(x, 0) << " " << cummin(x, 0) << "\n";
  });
  example("reduce", [] {
    // The greatest of each row together with its position: two arrays at once.
    Tensor x = constant({{3, 9, 5}, {8, 2, 1}});
    auto [value, place] =
        rondo::reduce(std::pair{x, iota(x.type(), 1)}, std::pair{-1, -1}, {1},
                      [](std::pair<Tensor, Tensor> best, std::pair<Tensor, Tensor> next) {
                        Tensor better = next.first > best.first;
                        return std::pair{where(better, next.first, best.first),
                                         where(better, next.second, best.second)};
                      });
    std::cout << value << " " << place << "\n";
  });
  example("norm", [] {
    Tensor x = constant({{3.0, 4.0}, {0.0, 0.0}});
    std::cout << norm(x, 1) << "\n";
    std::cout << grad([](Tensor x) { return norm(x); })(zeros(f64({2}))) << "\n";  // 0, not NaN
  });
  example("var, stddev", [] {
    Tensor x = constant({1.0, 2.0, 3.0, 6.0});
    std::cout << var(x) << " " << stddev(x) << "\n";
    std::cout << rondo::var(x, {}, false, 1) << "\n";  // divided by n - 1
  });
  example("nansum, nanmean, nanmax, nanmin, nanvar", [] {
    Tensor x = constant({1.0f, NAN, 3.0f, 5.0f});
    std::cout << nansum(x) << " " << nanmean(x) << " " << nanmax(x) << " " << nanmin(x) << " "
              << nanvar(x) << "\n";
    std::cout << nanmean(constant({{1.0f, NAN}, {3.0f, 4.0f}}), 0) << "\n";
  });
  example("median, quantile", [] {
    Tensor x = constant({5.0, 1.0, 2.0, 4.0});
    std::cout << median(x, 0) << " " << quantile(x, 0.5, 0) << "\n";
    std::cout << quantile(x, constant({0.0, 0.25, 1.0}), 0) << "\n";
  });
  example("cov", [] {
    Tensor variables = constant({{1.0, 2.0, 3.0}, {2.0, 4.0, 9.0}});
    std::cout << cov(variables) << "\n";
  });

  example("sort, argsort", [] {
    Tensor x = constant({3, 1, 2});
    std::cout << sort(x) << " " << argsort(x) << " " << take(x, argsort(x)) << "\n";
    std::cout << sort(constant({{2.0f, NAN, 1.0f}, {0.0f, -1.0f, 5.0f}}), 1) << "\n";  // NaN last
  });
  example("top_k", [] {
    auto [values, indices] = top_k(constant({{3, 9, 5}, {8, 2, 8}}), 2);
    std::cout << values << " " << indices << "\n";
  });
  example("argpartition", [] {
    Tensor x = constant({5, 1, 4, 2, 3});
    Tensor places = argpartition(x, 2);
    Tensor y = take(x, places);
    std::cout << y[2] << "\n";  // the third least
    std::cout << all(slice(y, range({}, 2)) <= y[2]) << " " << all(slice(y, range(3)) >= y[2])
              << "\n";
  });
  example("sort_by", [] {
    struct Entry {
      Tensor year, name;
    };
    Entry sorted = sort_by(Entry{constant({1999, 1970, 1999}), constant({1, 2, 0})}, 0,
                           [](Entry a, Entry b) {  // by year, then by name
                             return (a.year < b.year) | ((a.year == b.year) & (a.name < b.name));
                           });
    std::cout << sorted.year << " " << sorted.name << "\n";
  });
  example("searchsorted, digitize", [] {
    Tensor limits = constant({1.0, 2.0, 5.0}), x = constant({0.5, 2.0, 9.0});
    std::cout << searchsorted(limits, x) << " " << searchsorted(limits, x, Side::kRight) << "\n";
    std::cout << digitize(x, limits) << "\n";  // bin i: from limits[i - 1] to below limits[i]
  });
  example("bincount, histogram", [] {
    std::cout << bincount(constant({0, 2, 2, 1, 2, 9}), 3) << "\n";
    std::cout << histogram(constant({0.1, 0.2, 0.6, 1.0, 7.0}), 2, 0.0, 1.0) << "\n";
  });
  example("unique, unique_counts", [] {
    Unique found = unique(constant({3, 1, 3, 7, 1, 3}), 4, -1);  // at most 4, then -1
    std::cout << found.values << " " << found.counts << " " << found.inverse << "\n";
    auto [values, counts] = unique_counts(constant({1, 1, 3, 3, 3, 7}));  // of a sorted vector
    std::cout << values << " " << counts << "\n";
  });
  example("argwhere, isin", [] {
    Tensor x = constant({{0, 5}, {6, 0}});
    std::cout << argwhere(x, 3, -1) << "\n";  // three rows: two places, one fill
    std::cout << isin(x, constant({5, 7})) << "\n";
  });
  example("interp", [] {
    Tensor hours = constant({0.0, 6.0, 12.0}), degrees = constant({10.0, 8.0, 20.0});
    std::cout << interp(constant({3.0, 9.0, 99.0}), hours, degrees) << "\n";  // constant outside
  });
}
