// Lesson 30: a convolutional network. It learns to tell pictures of horizontal bars from vertical
// ones; training is one loop, so one program. The kernels that it has learned are shown at the end.
#include <cstdio>

#include "rondo/rondo.h"

using rondo::Tensor;

constexpr int kPictures = 32, kSize = 8, kFeatures = 4;

/// Pictures with one bar of random place and noise around it; the labels are 1 for vertical bars.
struct Pictures {
  Tensor images, labels;
};

Pictures pictures(Tensor key) {
  const Tensor keys = rondo::random::split(key, 3);
  const Tensor place =
      rondo::random::randint(rondo::take(keys, 0), rondo::s32({kPictures, 1, 1}), 0, kSize);
  const Tensor vertical =
      rondo::random::uniform(rondo::take(keys, 1), rondo::f32({kPictures, 1, 1})) < 0.5f;
  const auto along = [](std::int64_t axis) {
    return rondo::iota(rondo::s32({kPictures, kSize, kSize}), axis);
  };
  const Tensor bar = rondo::where(vertical, along(2), along(1)) == place;
  const Tensor noise =
      rondo::random::normal(rondo::take(keys, 2), rondo::f32({kPictures, kSize, kSize}));
  return {
      rondo::reshape(rondo::where(bar, 1.5f, 0.0f) + 0.4f * noise, {kPictures, kSize, kSize, 1}),
      rondo::convert(rondo::reshape(vertical, {kPictures}), rondo::DType::kF32)};
}

struct Weights {
  Tensor kernel, dense, bias;
};

/// Convolution, pooling over pairs, the mean over the picture, and one linear layer.
Tensor logits(const Weights& w, Tensor images) {
  const Tensor features =
      rondo::relu(rondo::convolution(images, w.kernel, {.padding = {{1, 1}, {1, 1}}}));
  const Tensor pooled = rondo::max_pool(features, {2, 2}, {2, 2});
  return rondo::dot(rondo::mean(pooled, {1, 2}), w.dense) + w.bias;
}

Tensor loss(const Weights& w, const Pictures& p) {
  const Tensor z = logits(w, p.images);
  return rondo::mean(rondo::log1p(rondo::exp(-rondo::abs(z))) + rondo::maximum(z, 0) -
                     z * p.labels);
}

Tensor accuracy(const Weights& w, const Pictures& p) {
  return rondo::mean(
      rondo::convert((logits(w, p.images) > 0) == (p.labels > 0.5f), rondo::DType::kF32));
}

int main() {
  const auto train = rondo::jit([](Tensor steps) {
    const Tensor keys = rondo::random::split(rondo::random::key(7), 3);
    const Weights start{
        0.5f * rondo::random::normal(rondo::take(keys, 0), rondo::f32({3, 3, 1, kFeatures})),
        rondo::random::normal(rondo::take(keys, 1), rondo::f32({kFeatures})), 0.0f};
    const auto step = [&](Tensor i, Weights w) {
      const Pictures p = pictures(rondo::random::fold_in(rondo::take(keys, 2), i));
      const Weights slope = rondo::grad([&](Weights v) { return loss(v, p); })(w);
      return rondo::axpy(-0.5f, slope, w);
    };
    return rondo::fori_loop(0, steps, step, start, {.name = "training"});
  });
  const Pictures test = pictures(rondo::random::key(99));
  for (const int steps : {0, 40, 160}) {
    const Weights w = train(steps);
    std::printf("%3d steps: loss %.2f, %3.0f%% of new pictures right\n", steps,
                loss(w, test).item<float>(), 100 * accuracy(w, test).item<float>());
  }
  const Weights w = train(160);
  const rondo::Literal kernel = w.kernel.eval();
  std::printf("\nthe kernels (+ above 0.5, - below -0.5):\n");
  for (std::size_t row = 0; row < 3; row++) {
    for (std::size_t feature = 0; feature < kFeatures; feature++) {
      std::printf("   ");
      for (std::size_t column = 0; column < 3; column++) {
        const float v = kernel.data<float>()[(row * 3 + column) * kFeatures + feature];
        std::printf(" %c", v > 0.5f ? '+' : v < -0.5f ? '-' : '.');
      }
    }
    std::printf("\n");
  }
}
