// Lesson 26: per-example gradients. A training step has only the sum of the gradients; vmap of grad
// gives each of them, so that the norm of each can be clipped before they are added, as in
// differentially private training (M. Abadi et al., "Deep learning with differential privacy",
// 2016).
#include <cstdio>
#include <string>

#include "rondo/rondo.h"

using rondo::Tensor;

struct Network {
  Tensor w1, b1, w2;
};

Tensor loss(Network net, Tensor x, Tensor y) {
  const Tensor hidden = tanh(matmul(net.w1, x) + net.b1);
  return square(dot(net.w2, hidden) - y);
}

/// The norm of a gradient, with all of its leaves as one vector.
Tensor length(Network gradient) { return norm(rondo::ravel(gradient).first); }

int main() {
  const Tensor keys = rondo::random::split(rondo::random::key(1), 3);
  const Network net{rondo::random::normal(keys[0], rondo::f32({8, 3})) / 2,
                    rondo::zeros(rondo::f32({8})),
                    rondo::random::normal(keys[1], rondo::f32({8})) / 2};
  const Tensor x = rondo::random::normal(keys[2], rondo::f32({5, 3}));
  const Tensor y = sum(x, {1});

  // The network is the same for all examples; x and y have one per lane.
  const auto gradient_of_one = rondo::grad(loss);
  const auto per_example = rondo::vmap(gradient_of_one, {.in_axes = {std::nullopt, 0, 0}});
  const Network gradients = rondo::jit(per_example)(net, x, y);
  const Tensor lengths = rondo::vmap(length)(gradients);

  std::printf("%8s  %10s  %12s\n", "example", "length", "alone");
  for (int i = 0; i < 5; i++) {
    const Network alone = rondo::jit(gradient_of_one)(net, x[i], y[i]);
    std::printf("%8d  %10.4f  %12.4f\n", i, static_cast<double>(lengths[i].item<float>()),
                static_cast<double>(length(alone).item<float>()));
  }

  // Each clipped to norm 1, then added; without clipping this is the gradient of the sum.
  const Tensor scale = rondo::minimum(1 / lengths, 1);
  const auto bounded = rondo::vmap([](Network g, Tensor by) {
    return rondo::map_leaves([&](Tensor leaf) { return leaf * by; }, g);
  });
  const auto total = [](Network all) {
    return rondo::map_leaves([](Tensor leaf) { return sum(leaf, {0}); }, all);
  };
  const auto whole_loss = [&](Network n) {
    return sum(rondo::vmap(loss, {.in_axes = {std::nullopt, 0, 0}})(n, x, y));
  };
  std::printf("sum of the gradients   %.4f\n",
              static_cast<double>(length(total(gradients)).item<float>()));
  std::printf("gradient of the sum    %.4f\n",
              static_cast<double>(length(rondo::jit(rondo::grad(whole_loss))(net)).item<float>()));
  std::printf("sum of bounded ones    %.4f\n",
              static_cast<double>(length(total(bounded(gradients, scale))).item<float>()));

  // Which lines differ by example, and which are computed once.
  std::string text =
      rondo::explain_batching(rondo::vmap(loss, {.in_axes = {std::nullopt, 0, 0}}), net, x, y);
  for (std::size_t at = text.find("26_"); at != std::string::npos; at = text.find("26_", at + 1)) {
    const std::size_t colon = text.find(':', at);
    std::printf("line %s\n", text.substr(colon + 1, text.find('\n', at) - colon - 1).c_str());
  }
}
