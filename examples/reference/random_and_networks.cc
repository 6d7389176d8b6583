// Examples of the reference: random numbers, parts of networks, windows. JAX draws the same
// numbers.
#include <cmath>
#include <cstdint>

#include "example.h"
#include "rondo/rondo.h"

using namespace rondo;  // NOLINT(google-build-using-namespace): as readers have it

int main() {
  example("random::key, random::split, random::fold_in", [] {
    Tensor key = random::key(42);
    std::cout << key << "\n";
    Tensor keys = random::split(key);  // two keys, one for each draw
    std::cout << random::uniform(keys[0], f32()) << " " << random::uniform(keys[1], f32()) << "\n";
    Tensor third = random::fold_in(key, 3);  // in a loop: the key of trip 3
    std::cout << random::uniform(third, f32()) << "\n";
  });
  example("rng_bit_generator, random::bits", [] {
    auto [next, bits] = rng_bit_generator(constant({std::uint64_t{1}, std::uint64_t{0}}), u32({2}),
                                          RngAlgorithm::kPhilox);
    std::cout << next << " " << bits << "\n";  // draw from `next` next
    std::cout << random::bits(random::key(0), u8({4})) << "\n";
  });
  example("random::uniform", [] {
    Tensor key = random::key(0);
    std::cout << random::uniform(key, f32({3})) << "\n";
    std::cout << random::uniform(key, f32({3}), -1, 1) << "\n";
  });
  example("random::normal", [] {
    Tensor x = random::normal(random::key(0), f32({10000}));
    std::cout << slice(x, range(0, 3)) << "\n";
    std::cout << mean(x) << " " << stddev(x) << "\n";  // about 0 and 1
  });
  example("random::randint", [] {
    std::cout << random::randint(random::key(1), s32({8}), 1, 7) << "\n";  // dice
  });
  example("random::bernoulli", [] {
    Tensor heads = random::bernoulli(random::key(0), 0.25f, {1000});
    std::cout << sum(heads) << " of 1000\n";
  });
  example("random::exponential, random::gamma", [] {
    Tensor key = random::key(0);
    std::cout << mean(random::exponential(key, f32({10000}))) << "\n";  // about 1
    std::cout << mean(random::gamma(key, 3.0f, {10000})) << "\n";       // about 3
    auto draw = [&](Tensor a) { return random::gamma(key, a, {}); };
    std::cout << grad(draw)(3.0f) << "\n";  // of a draw at a fixed quantile
  });
  example("random::multivariate_normal", [] {
    Tensor mean = constant({1.0f, 2.0f}), covariance = constant({{2.0f, 1.0f}, {1.0f, 2.0f}});
    Tensor x = random::multivariate_normal(random::key(0), mean, covariance, {10000});
    std::cout << x.type() << " " << cov(transpose(x)) << "\n";
  });
  example("random::categorical", [] {
    Tensor logits = log(constant({0.1f, 0.2f, 0.7f}));
    Tensor draws = vmap([&](Tensor key) { return random::categorical(key, logits); })(
        random::split(random::key(0), 1000));
    std::cout << bincount(draws, 3) << "\n";
  });
  example("random::permutation, random::choice", [] {
    std::cout << random::permutation(random::key(0), 5) << "\n";
    Tensor x = constant({10, 20, 30, 40});
    std::cout << random::choice(random::key(0), x, {2}, false) << "\n";  // no element twice
  });

  example("softmax, log_softmax, logsumexp", [] {
    Tensor x = constant({0.0, std::log(3.0), -1000.0});
    std::cout << softmax(x) << " " << log_softmax(x) << "\n";
    std::cout << logsumexp(constant({1000.0, 1000.0})) << "\n";  // 1000 + log 2
  });
  example("relu, gelu, silu", [] {
    Tensor x = constant({-1.0, 0.0, 2.0});
    std::cout << relu(x) << "\n" << gelu(x, false) << "\n" << gelu(x) << "\n" << silu(x) << "\n";
  });
  example("one_hot", [] {
    Tensor labels = constant({2, 0, 7});
    std::cout << one_hot(labels, 3) << "\n";  // 7: no such class
    Tensor logits = constant({{0.0, 0.0, 5.0}});
    std::cout << -sum(one_hot(constant({2}), 3, logits) * log_softmax(logits)) << "\n";
  });
  example("batch_norm_training, batch_norm_inference, batch_norm_grad", [] {
    Tensor x = constant({{1.0f, 10.0f}, {3.0f, 30.0f}});  // two examples, two features
    auto [y, mean, variance] = batch_norm_training(x, 1, 0);
    std::cout << y << " " << mean << " " << variance << "\n";
    std::cout << batch_norm_inference(x, 2, 1, mean, variance) << "\n";
    Tensor cotangent = constant({{1.0f, 2.0f}, {3.0f, 4.0f}});  // of y
    BatchNormGradient g = batch_norm_grad(x, ones(f32({2})), mean, variance, cotangent);
    std::cout << g.scale << " " << g.offset << "\n";
  });
  example("reduce_window", [] {
    Tensor x = constant({1, 5, 2, 4, 3});
    auto add = [](Tensor a, Tensor b) { return a + b; };
    std::cout << rondo::reduce_window(x, 0, {.size = {3}}, add) << "\n";  // moving sums
    std::cout << rondo::reduce_window(x, 0, {.size = {2}, .stride = {2}}, add) << "\n";
  });
  example("select_and_scatter", [] {
    // What the gradient of max pooling does: each number goes to the greatest of its window.
    Tensor x = constant({1, 5, 2, 4}), source = constant({10, 20});
    std::cout << rondo::select_and_scatter(
                     x, source, 0, {.size = {2}, .stride = {2}},
                     [](Tensor a, Tensor b) { return a >= b; },
                     [](Tensor a, Tensor b) { return a + b; })
              << "\n";
  });
  example("max_pool, avg_pool", [] {
    Tensor image =
        reshape(arange(16, DType::kF32), {1, 4, 4, 1});  // batch, rows, columns, channels
    std::cout << reshape(rondo::max_pool(image, {2, 2}, {2, 2}), {2, 2}) << "\n";
    std::cout << reshape(rondo::avg_pool(image, {2, 2}, {2, 2}), {2, 2}) << "\n";
  });
  example("convolution", [] {
    // The differences of neighbours in a signal: batch 1, five samples, one channel.
    Tensor x = reshape(constant({1, 4, 9, 16, 25}), {1, 5, 1});
    Tensor kernel = reshape(constant({-1, 1}), {2, 1, 1});
    std::cout << convolution(x, kernel, {.layout = "b0f_0io->b0f"}) << "\n";
    std::cout << convolution(x, kernel, {.padding = {{1, 0}}, .layout = "b0f_0io->b0f"}).type()
              << "\n";
  });
}
