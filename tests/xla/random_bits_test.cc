// Random numbers in real XLA: the expansions in the texts, and rng-bit-generator itself.
#include <string>
#include <tuple>
#include <vector>

#include "xla/edge_values.h"

namespace rondo::testing {
namespace {

class XlaRandom : public XlaTest {};

TEST_F(XlaRandom, KeysBitsAndSplits) {
  check(
      [](Tensor seed) {
        const Tensor key = random::key(seed);
        std::vector<Tensor> results{key, random::split(key), random::split(key, 5),
                                    random::fold_in(key, seed)};
        for (const DType dtype : {DType::kU8, DType::kU16, DType::kU32, DType::kU64}) {
          for (const Shape& shape : {Shape{}, Shape{5}, Shape{3, 4}, Shape{0}})
            results.push_back(random::bits(key, {dtype, shape}));
        }
        return results;
      },
      Literal::scalar(42));
}

TEST_F(XlaRandom, Distributions) {
  check(
      [](Tensor seed) {
        const Tensor key = random::key(seed);
        std::vector<Tensor> results;
        for (const DType dtype : kFloats) {
          results.push_back(random::uniform(key, {dtype, {7}}));
          results.push_back(random::uniform(key, {dtype, {2, 3}}, -2, 5));
          results.push_back(random::normal(key, {dtype, {3, 4}}));
        }
        for (const DType dtype : kIntegers) {
          results.push_back(random::randint(key, {dtype, {9}}, 3, 100));
          results.push_back(random::randint(key, {dtype, {4}}, 5, 5));
        }
        return results;
      },
      Literal::scalar(std::int64_t{1} << 40 | 7));
}

TEST_F(XlaRandom, BitGenerator) {
  for (const RngAlgorithm algorithm : {RngAlgorithm::kThreeFry, RngAlgorithm::kPhilox}) {
    check(
        [&](Tensor state) {
          std::vector<Tensor> results;
          for (const DType dtype : kIntegers) {
            for (const Shape& shape : {Shape{}, Shape{5}, Shape{2, 3}, Shape{3, 3}}) {
              const auto [next, bits] = rng_bit_generator(state, {dtype, shape}, algorithm);
              results.push_back(next);
              results.push_back(bits);
            }
          }
          return results;
        },
        row<std::uint64_t>({1, 2}));
  }
  check(
      [&](Tensor state) {
        const auto [next, bits] = rng_bit_generator(state, u32({5}), RngAlgorithm::kPhilox);
        return std::tuple(next, bits);
      },
      row<std::uint64_t>({1, 2, 3}));
}

TEST_F(XlaRandom, KeysInALoop) {
  check(
      [](Tensor seed) {
        return fori_loop(
            0, 5,
            [&](Tensor i, Tensor total) {
              return total + sum(random::uniform(random::fold_in(random::key(seed), i), f32({4})));
            },
            Tensor(0.0f));
      },
      Literal::scalar(3));
}

}  // namespace
}  // namespace rondo::testing
