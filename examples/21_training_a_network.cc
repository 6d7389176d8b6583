// Lesson 21: training a small recurrent network.
//
// The network reads a wave of unknown frequency and phase, sample by sample, and predicts the next
// one. Training is one program: a fori_loop of Adam's steps (D. Kingma, J. Ba, "Adam", 2015) that
// contains the gradient of a scan over time. The caller gets reports of its progress, and the loss
// curve as a picture: 21_training_a_network [FILE.svg].
#include <cmath>
#include <cstdio>
#include <fstream>
#include <map>
#include <span>
#include <string>
#include <tuple>

#include "rondo/rondo.h"

using rondo::DType;
using rondo::Tensor;

constexpr std::int64_t kBatch = 16, kTime = 24, kHidden = 16;
constexpr int kSteps = 400;

/// Any tree can be differentiated and carried; a map gives its leaves names: carry["hidden"].
using Weights = std::map<std::string, Tensor>;

Weights first_weights(Tensor key) {
  const Tensor keys = rondo::random::split(key, 3);
  auto normal = [&](int k, std::int64_t rows, std::int64_t columns) {
    return rondo::random::normal(keys[k], rondo::f64({rows, columns})) /
           std::sqrt(static_cast<double>(rows));
  };
  return {{"input", normal(0, 1, kHidden)},
          {"hidden", normal(1, kHidden, kHidden)},
          {"output", normal(2, kHidden, 1)},
          {"bias", rondo::zeros(rondo::f64({kHidden}))}};
}

/// Waves of random frequency and phase: f64[time, batch, 1], a sample longer than is read.
Tensor waves(Tensor key) {
  const Tensor keys = rondo::random::split(key, 2);
  const Tensor frequency = rondo::random::uniform(keys[0], rondo::f64({kBatch, 1}), 0.2, 0.8);
  const Tensor phase = rondo::random::uniform(keys[1], rondo::f64({kBatch, 1}), 0.0, 6.28);
  const Tensor time = rondo::iota(rondo::f64({kTime + 1, 1, 1}), 0);
  return sin(frequency * time + phase);
}

/// The mean squared error of the predictions, after four samples.
Tensor loss(Weights w, Tensor wave) {
  auto read = [&](Tensor memory, Tensor now) {
    const Tensor next = tanh(matmul(now, w["input"]) + matmul(memory, w["hidden"]) + w["bias"]);
    return std::pair(next, matmul(next, w["output"]));
  };
  const Tensor heard = slice(wave, {0, 0, 0}, {kTime, kBatch, 1});
  const Tensor coming = slice(wave, {1, 0, 0}, {kTime + 1, kBatch, 1});
  auto [memory, predicted] = rondo::scan(read, rondo::zeros(rondo::f64({kBatch, kHidden})), heard);
  const Tensor error = slice(predicted - coming, {4, 0, 0}, {kTime, kBatch, 1});
  return mean(square(error));
}

struct Training {
  Weights weights, mean, square;  // Adam's running means of the gradient and of its square
  Tensor losses;                  // f64[steps]
};

Training adam_step(Tensor i, Training t, Tensor key) {
  auto [value, gradient] =
      rondo::value_and_grad(loss)(t.weights, waves(rondo::random::fold_in(key, i)));
  const Tensor n = convert(rondo::progress(i + 1, kSteps), DType::kF64);
  for (auto& [name, weight] : t.weights) {
    const Tensor& g = gradient[name];
    Tensor &m = t.mean[name], &s = t.square[name];
    m = 0.9 * m + 0.1 * g;
    s = 0.999 * s + 0.001 * g * g;
    const Tensor step = m / (1 - pow(0.9, n)) / (sqrt(s / (1 - pow(0.999, n))) + 1e-8);
    weight = weight - 0.01 * step;
  }
  t.losses = update(t.losses, i, rondo::tap(value, "loss"));
  return t;
}

/// The curve over the steps, with a logarithmic scale.
void write_svg(const std::string& path, std::span<const double> losses) {
  std::ofstream svg(path);
  const double steps = static_cast<double>(losses.size());
  auto x = [&](double step) { return 70 + 410 * step / steps; };
  auto y = [](double value) { return 30 - 55 * std::log10(value); };
  auto text = [&](double left, double top, const char* anchor, const auto& what) {
    svg << "<text x=\"" << left << "\" y=\"" << top << "\" text-anchor=\"" << anchor << "\">"
        << what << "</text>\n";
  };
  svg << R"(<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 500 300" font-family="sans-serif" )"
      << "font-size=\"11\">\n<rect width=\"500\" height=\"300\" fill=\"white\"/>\n";
  for (const char* value : {"1", "0.1", "0.01", "0.001", "0.0001"}) {
    svg << "<path d=\"M70," << y(std::stod(value)) << "H480\" stroke=\"#ccc\"/>";
    text(64, y(std::stod(value)) + 4, "end", value);
  }
  for (int quarter = 0; quarter <= 4; quarter++)
    text(x(steps * quarter / 4), 268, "middle", steps * quarter / 4);
  svg << "<path d=\"M70,30V250H480\" fill=\"none\" stroke=\"black\"/>";
  text(275, 288, "middle", "step of Adam");
  text(70, 20, "middle", "mean squared error");
  svg << "<path fill=\"none\" stroke=\"#06c\" d=\"";
  for (std::size_t i = 0; i < losses.size(); i++)
    svg << (i == 0 ? 'M' : 'L') << x(static_cast<double>(i)) << ',' << y(losses[i]) << '\n';
  svg << "\"/>\n</svg>\n";
}

int main(int argc, char** argv) {
  const std::string path = argc > 1 ? argv[1] : "loss_curve.svg";
  auto train = [](Tensor key) {
    const Weights start = first_weights(key);
    Weights none;
    for (const auto& [name, weight] : start) none[name] = rondo::zeros(weight.type());
    const Training first{start, none, none, rondo::zeros(rondo::f64({kSteps}))};
    auto step = [&](Tensor i, Training t) { return adam_step(i, t, key); };
    return rondo::fori_loop(0, kSteps, step, first, {.name = "training"}).losses;
  };

  // Taps and progress report to the caller of the program. What depends on time goes to stderr.
  rondo::RunOptions options;
  int taps = 0;
  options.on_tap = [&](std::string_view, const rondo::Literal& value) {
    if (++taps % 50 == 0 || taps == 1)
      std::printf("step %3d: loss %.5f\n", taps, value.item<double>());
  };
  options.on_progress = [](const rondo::Progress& p) {
    if (p.loop == "progress" && p.trip % 40 == 0)
      std::fprintf(stderr, "\r%3d %%", static_cast<int>(100 * p.trip / *p.of));
  };
  const rondo::Literal key = rondo::random::key(7).eval();
  const rondo::Executable program = rondo::compile(rondo::trace(train, key));
  const rondo::Literal losses = program.run({key}, options)[0];
  std::fprintf(stderr, "\n");

  write_svg(path, losses.data<double>());
  std::printf("the curve is in %s\n", path.c_str());
}
