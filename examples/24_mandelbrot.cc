// Lesson 24: the Mandelbrot set. Each point of the plane is a separate lane: it iterates z = z^2 +
// c until it escapes, and stops at its own time.
//
// The code is a function of one point. vmap makes it a picture; run with a file name to write it as
// PPM.
#include <cmath>
#include <cstdio>
#include <fstream>
#include <string>
#include <vector>

#include "rondo/rondo.h"

using rondo::Tensor;

constexpr int kMostSteps = 200;

/// Steps until |z| > 2, at most kMostSteps.
Tensor escape_time(Tensor x, Tensor y) {
  struct State {
    Tensor step, re, im;
  };
  const auto wants_more = [](State s) {
    return (s.step < kMostSteps) & (s.re * s.re + s.im * s.im <= 4);
  };
  const auto next = [&](State s) {
    return State{s.step + 1, s.re * s.re - s.im * s.im + x, 2 * s.re * s.im + y};
  };
  return rondo::while_loop(wants_more, next, State{0, 0.0, 0.0}).step;
}

/// The same in plain C++, for comparison.
int plain_escape_time(double x, double y) {
  double re = 0, im = 0;
  int step = 0;
  while (step < kMostSteps && re * re + im * im <= 4) {
    const double real = re * re - im * im + x;
    im = 2 * re * im + y;
    re = real;
    step++;
  }
  return step;
}

void write_picture(const std::string& file, std::span<const int> steps, int width, int height) {
  std::ofstream out(file, std::ios::binary);
  out << "P6\n" << width << ' ' << height << "\n255\n";
  for (const int n : steps) {
    const double t = std::sqrt(static_cast<double>(n) / kMostSteps);
    const auto colour = [&](double share) {
      return static_cast<char>(n == kMostSteps ? 0 : static_cast<int>(255 * share));
    };
    out << colour(9 * (1 - t) * t * t * t) << colour(15 * (1 - t) * (1 - t) * t * t)
        << colour(8.5 * (1 - t) * (1 - t) * (1 - t) * t);
  }
}

int main(int argc, char** argv) {
  // Lanes for x inside lanes for y.
  const auto picture = rondo::jit(rondo::vmap(
      rondo::vmap(escape_time, {.in_axes = {0, std::nullopt}}), {.in_axes = {std::nullopt, 0}}));
  const int width = argc > 1 ? 600 : 60, height = argc > 1 ? 400 : 24;
  std::vector<double> xs, ys;
  for (int i = 0; i < width; i++) xs.push_back(-2.2 + 3.2 * i / (width - 1));
  for (int i = 0; i < height; i++) ys.push_back(-1.2 + 2.4 * i / (height - 1));
  const rondo::Literal steps =
      picture(rondo::constant(xs, {width}), rondo::constant(ys, {height})).eval();
  const std::span<const int> data = steps.data<int>();
  int differ = 0;
  for (int row = 0; row < height; row++) {
    for (int column = 0; column < width; column++) {
      const auto at = static_cast<std::size_t>(row * width + column);
      differ += data[at] != plain_escape_time(xs[static_cast<std::size_t>(column)],
                                              ys[static_cast<std::size_t>(row)]);
    }
  }
  if (argc > 1) {
    write_picture(argv[1], data, width, height);
  } else {
    for (int row = 0; row < height; row++) {
      std::string line;
      for (int column = 0; column < width; column++) {
        const int n = data[static_cast<std::size_t>(row * width + column)];
        line += n == kMostSteps ? '#' : n > 12 ? '+' : n > 5 ? '.' : ' ';
      }
      std::printf("%s\n", line.substr(0, line.find_last_not_of(' ') + 1).c_str());
    }
  }
  std::printf("%d points, %d differ from the plain loop\n", width * height, differ);
}
