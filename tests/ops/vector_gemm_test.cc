#include "ops/kernels/vector_gemm.h"

#include <gtest/gtest.h>

#include <chrono>
#include <cmath>
#include <cstring>
#include <limits>
#include <random>
#include <stdexcept>
#include <thread>
#include <vector>

#include "base/cpu.h"
#include "ops/call_kernel.h"

namespace rondo::testing {
namespace {

class HostWithThreads final : public NoHost {
 public:
  explicit HostWithThreads(int threads) : threads_(threads) {}
  int threads() const override { return threads_; }
  void poll() override { polls++; }

  int polls = 0;

 private:
  int threads_;
};

bool has_vector_products() { return cpu().avx512; }

class VectorGemm : public ::testing::Test {
 protected:
  void SetUp() override {
    if (!has_vector_products()) GTEST_SKIP() << "products in vectors need AVX-512";
  }
};

template <class T>
std::vector<T> gemm_numbers(std::int64_t count, unsigned seed) {
  std::mt19937 random(seed);
  std::vector<T> values;
  for (std::int64_t i = 0; i < count; i++)
    values.push_back(static_cast<T>(std::ldexp(static_cast<double>(random()), -32) - 0.5));
  return values;
}

template <class T>
struct Product {
  std::int64_t m, count, n;
  bool a_swapped, b_swapped;
  std::vector<T> a = gemm_numbers<T>(m * count, 1), b = gemm_numbers<T>(count * n, 2);

  T left(std::int64_t i, std::int64_t k) const {
    return a[static_cast<std::size_t>(a_swapped ? k * m + i : i * count + k)];
  }
  T right(std::int64_t k, std::int64_t j) const {
    return b[static_cast<std::size_t>(b_swapped ? j * count + k : k * n + j)];
  }
  /// Empty on a machine without it.
  std::vector<T> run(int threads = 1) const {
    HostWithThreads host(threads);
    std::vector<T> out(static_cast<std::size_t>(m * n), T(7));
    const bool ran = ops::vector_multiply(a.data(), a_swapped, b.data(), b_swapped, m, count, n,
                                          out.data(), host);
    EXPECT_EQ(ran, has_vector_products());
    // About three polls per millisecond.
    if (threads == 1) {
      EXPECT_EQ(host.polls > 1, ran && m * count * n > std::int64_t{1} << 25);
    }
    return ran ? out : std::vector<T>();
  }
  void expect_values() const {
    SCOPED_TRACE(::testing::Message()
                 << m << " x " << count << " x " << n << ", swapped " << a_swapped << b_swapped);
    const std::vector<T> got = run();
    for (std::size_t e = 0; e < got.size(); e++) {
      const std::int64_t i = static_cast<std::int64_t>(e) / n, j = static_cast<std::int64_t>(e) % n;
      long double sum = 0;
      for (std::int64_t k = 0; k < count; k++)
        sum += static_cast<long double>(left(i, k)) * right(k, j);
      const double bound = static_cast<double>(count) * std::numeric_limits<T>::epsilon();
      ASSERT_NEAR(static_cast<double>(got[e]), static_cast<double>(sum), bound) << i << ", " << j;
    }
  }
};

template <class T>
void expect_values_of_all_forms(std::int64_t m, std::int64_t count, std::int64_t n) {
  for (const bool a_swapped : {false, true}) {
    for (const bool b_swapped : {false, true})
      Product<T>{m, count, n, a_swapped, b_swapped}.expect_values();
  }
}

/// Parts of larger matrices; what is beside them stays.
template <class T>
void expect_less_a_product(std::int64_t m, std::int64_t count, std::int64_t n, bool a_swapped,
                           bool b_swapped) {
  const Product<T> product{m, count, n, a_swapped, b_swapped};
  const std::int64_t beside = 3;
  const auto spread = [&](const std::vector<T>& x, std::int64_t row) {
    std::vector<T> rows;
    for (std::size_t i = 0; i < x.size(); i++) {
      rows.push_back(x[i]);
      if ((i + 1) % static_cast<std::size_t>(row) == 0)
        rows.insert(rows.end(), beside, std::numeric_limits<T>::quiet_NaN());
    }
    return rows;
  };
  const std::int64_t a_row = a_swapped ? m : count, b_row = b_swapped ? count : n;
  const std::vector<T> a = spread(product.a, a_row), b = spread(product.b, b_row);
  std::vector<T> out(static_cast<std::size_t>(m * (n + beside)), T(7));
  HostWithThreads host(2);
  ASSERT_EQ(
      ops::vector_subtract_product(a.data(), a_row + beside, a_swapped, b.data(), b_row + beside,
                                   b_swapped, m, count, n, out.data(), n + beside, host),
      has_vector_products());
  for (std::int64_t i = 0; i < m; i++) {
    for (std::int64_t j = 0; j < n + beside; j++) {
      double sum = 7;
      for (std::int64_t k = 0; k < count && j < n; k++)
        sum -= static_cast<double>(product.left(i, k)) * static_cast<double>(product.right(k, j));
      ASSERT_NEAR(static_cast<double>(out[static_cast<std::size_t>(i * (n + beside) + j)]), sum,
                  1e-4);
    }
  }
}

TEST_F(VectorGemm, SubtractsProductsFromParts) {
  for (const bool a_swapped : {false, true}) {
    for (const bool b_swapped : {false, true}) {
      expect_less_a_product<float>(29, 300, 37, a_swapped, b_swapped);
      expect_less_a_product<double>(29, 300, 37, a_swapped, b_swapped);
      expect_less_a_product<double>(1, 5, 1, a_swapped, b_swapped);
    }
  }
}

TEST_F(VectorGemm, RowsAndColumnsOfAnyNumber) {
  for (const std::int64_t m : {1, 4, 13, 23, 24, 35}) {
    for (const std::int64_t n : {1, 8, 17, 31, 32, 33, 64, 70}) {
      expect_values_of_all_forms<float>(m, 20, n);
      expect_values_of_all_forms<double>(m, 5, n);
    }
  }
}

TEST_F(VectorGemm, SumsAndColumnsInSeveralBlocks) {
  expect_values_of_all_forms<float>(25, 256 + 17, 40);
  expect_values_of_all_forms<float>(24, 600, 1000);  // beyond one copy of the right side
  expect_values_of_all_forms<double>(24, 300, 300);
  expect_values_of_all_forms<float>(200, 30, 33);
}

TEST_F(VectorGemm, AnElementDependsOnItsRowAndColumnAlone) {
  const std::int64_t count = 300, n = 70;
  for (const bool b_swapped : {false, true}) {
    const Product<float> all{230, count, n, false, b_swapped};
    const std::vector<float> whole = all.run();
    for (const std::int64_t rows : {1, 4, 13, 100}) {
      Product<float> part{rows, count, n, false, b_swapped};
      part.a.assign(all.a.begin() + 57 * count, all.a.begin() + (57 + rows) * count);
      part.b = all.b;
      const std::vector<float> got = part.run();
      ASSERT_EQ(got.size(), static_cast<std::size_t>(rows * n));
      EXPECT_EQ(std::memcmp(got.data(), whole.data() + 57 * n, got.size() * sizeof(float)), 0)
          << rows;
    }
  }
  const Product<float> large{500, 600, 256, true, false};  // split over threads
  const std::vector<float> alone = large.run();
  for (const int threads : {2, 3}) EXPECT_EQ(large.run(threads), alone) << threads;
}

template <class T>
void expect_same_when_packed(std::int64_t m, std::int64_t count, std::int64_t n) {
  for (const bool a_swapped : {false, true}) {
    for (const bool b_swapped : {false, true}) {
      SCOPED_TRACE(::testing::Message()
                   << m << " x " << count << " x " << n << ", swapped " << a_swapped << b_swapped);
      const Product<T> product{m, count, n, a_swapped, b_swapped};
      const std::vector<T> want = product.run();
      const std::int64_t elements = ops::packed_elements<T>(count, n);
      ASSERT_GE(elements, count * n);
      std::vector<T> packed(static_cast<std::size_t>(elements) + 1, T(-3));
      ops::pack_right_side(product.b.data(), b_swapped, count, n, packed.data());
      EXPECT_EQ(packed.back(), T(-3));
      for (const int threads : {1, 3}) {
        HostWithThreads host(threads);
        std::vector<T> got(want.size(), T(7));
        EXPECT_TRUE(ops::vector_multiply_packed(product.a.data(), a_swapped, packed.data(), m,
                                                count, n, got.data(), host));
        EXPECT_EQ(got, want) << threads << " threads";
      }
    }
  }
}

TEST_F(VectorGemm, APackedRightSideGivesTheSame) {
  for (const std::int64_t m : {1, 13, 35}) {
    for (const std::int64_t n : {1, 17, 32, 70}) {
      expect_same_when_packed<float>(m, 20, n);
      expect_same_when_packed<double>(m, 5, n);
    }
  }
  expect_same_when_packed<float>(25, 256 + 17, 40);
  expect_same_when_packed<float>(24, 600, 1000);
  expect_same_when_packed<float>(600, 300, 256);  // split over threads
  expect_same_when_packed<double>(24, 300, 300);
}

TEST_F(VectorGemm, LongProductsAskForTheEnd) {
  Product<float>{300, 512, 256, false, false}.run();  // which expects it
}

TEST_F(VectorGemm, WhatIsNotFiniteStaysInItsRowsAndColumns) {
  Product<float> product{30, 40, 50, false, false};
  product.a[5 * 40 + 3] = INFINITY;
  product.b[7 * 50 + 49] = NAN;
  const std::vector<float> got = product.run();
  for (std::size_t e = 0; e < got.size(); e++)
    EXPECT_EQ(std::isfinite(got[e]), e / 50 != 5 && e % 50 != 49) << e;
}

/// Ends the product when a helper has started, which has more to do than fits into that time.
class EndsSoon final : public NoHost {
 public:
  int threads() const override { return 2; }
  void poll() override {
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
    throw std::runtime_error("ended");
  }
};

TEST_F(VectorGemm, EndsOnAllThreads) {
  constexpr std::int64_t kSize = 3072, kCount = 256;
  const std::vector<float> a(kSize * kCount, 1.0f), b(kCount * kSize, 1.0f);
  std::vector<float> out(kSize * kSize, 7.0f);
  EndsSoon host;
  EXPECT_THROW(ops::vector_multiply(a.data(), false, b.data(), false, kSize, kCount, kSize,
                                    out.data(), host),
               std::runtime_error);
  EXPECT_EQ(out.back(), 7.0f);
}

TEST(VectorGemmByProcessor, ComputesWithAvx512Alone) {
  const Product<float> product{4, 5, 6, false, false};
  EXPECT_EQ(product.run().empty(), !has_vector_products());
  EXPECT_EQ(ops::packed_elements<float>(5, 6) != 0, has_vector_products());
}

}  // namespace
}  // namespace rondo::testing
