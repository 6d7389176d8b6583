// Lesson 31: a Gaussian process. It predicts between noisy measurements, with an error for each
// prediction. One factor of the covariance, by cholesky, gives the likelihood of the measurements,
// the predictions, and, as its derivative is a rule of its own, the gradient by which the length
// scale and the noise are fitted: C. E. Rasmussen, C. K. I. Williams, "Gaussian Processes for
// Machine Learning", 2006, chapters 2 and 5.
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <numbers>
#include <string>
#include <vector>

#include "rondo/rondo.h"

using rondo::Tensor;

constexpr int kPoints = 20, kGrid = 25;

/// Logarithms, so that any number is allowed.
struct Scales {
  Tensor amplitude, length, noise;
};

/// The covariance of the function at x and y.
Tensor covariance(const Scales& s, Tensor x, Tensor y) {
  const Tensor distance = (rondo::expand_dims(x, 1) - rondo::expand_dims(y, 0)) / exp(s.length);
  return exp(2 * s.amplitude - 0.5 * square(distance));
}

struct Factored {
  Tensor factor, weights;  // l, and (l l^T)^-1 y
};

Factored factored(const Scales& s, Tensor x, Tensor y) {
  const Tensor noise = exp(2 * s.noise) * rondo::diag(rondo::ones(x.type()));
  const Tensor l = rondo::cholesky(covariance(s, x, x) + noise);
  return {l, rondo::cho_solve(l, y)};
}

/// Less the logarithm of the density of y.
Tensor negative_log_likelihood(const Scales& s, Tensor x, Tensor y) {
  const auto [l, weights] = factored(s, x, y);
  const Tensor root = sum(log(rondo::diag(l)));  // half of the logarithm of the determinant
  return 0.5 * rondo::dot(y, weights) + root + 0.5 * kPoints * std::log(2 * std::numbers::pi);
}

struct Prediction {
  Tensor mean, deviation;
};

Prediction predict(const Scales& s, Tensor x, Tensor y, Tensor at) {
  const auto [l, weights] = factored(s, x, y);
  const Tensor across = covariance(s, x, at);
  const Tensor known = sum(square(rondo::triangular_solve(l, across)), {0});
  return {rondo::dot(weights, across), sqrt(exp(2 * s.amplitude) - known)};
}

/// The same likelihood and prediction in plain C++ without a factor: Gauss-Jordan elimination
/// inverts the covariance k, whose determinant is the product of the pivots.
struct Plain {
  double loss, mean, deviation;
};
Plain plain(const std::vector<double>& x, const std::vector<double>& y, double amplitude,
            double length, double noise, double at) {
  const auto covers = [&](double a, double b) {
    return amplitude * amplitude * std::exp(-0.5 * (a - b) * (a - b) / (length * length));
  };
  const std::size_t n = x.size();
  std::vector<std::vector<double>> k(n, std::vector<double>(2 * n));  // beside it, the inverse
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t j = 0; j < n; j++) k[i][j] = covers(x[i], x[j]) + (i == j) * noise * noise;
    k[i][n + i] = 1;
  }
  Plain result{0.5 * static_cast<double>(n) * std::log(2 * std::numbers::pi), 0,
               amplitude * amplitude};
  for (std::size_t p = 0; p < n; p++) {
    const double pivot = k[p][p];
    result.loss += 0.5 * std::log(pivot);
    for (double& element : k[p]) element /= pivot;
    for (std::size_t i = 0; i < n; i++) {
      const double factor = k[i][p];
      for (std::size_t j = 0; j < 2 * n && i != p; j++) k[i][j] -= factor * k[p][j];
    }
  }
  for (std::size_t i = 0; i < n; i++) {
    for (std::size_t j = 0; j < n; j++) {
      result.loss += 0.5 * y[i] * k[i][n + j] * y[j];
      result.mean += covers(at, x[i]) * k[i][n + j] * y[j];
      result.deviation -= covers(at, x[i]) * k[i][n + j] * covers(x[j], at);
    }
  }
  result.deviation = std::sqrt(result.deviation);
  return result;
}

int main() {
  // Measurements of a sine with an error of 0.2, none of them between 5 and 8.
  const Tensor errors = 0.2 * rondo::random::normal(rondo::random::key(6), rondo::f64({kPoints}));
  const Tensor number = rondo::arange(kPoints, rondo::DType::kF64);
  const Tensor x = where(number < 10, 0.5 * number, 8 + 0.4 * (number - 10));
  const Tensor y = sin(x) + errors;

  // Descent along the gradient in one program.
  const auto fit = rondo::jit([&](Tensor steps) {
    const auto slope = rondo::grad([&](Scales s) { return negative_log_likelihood(s, x, y); });
    return rondo::fori_loop(0, steps,
                            [&](Tensor, Scales s) { return rondo::axpy(-0.02, slope(s), s); },
                            Scales{0.0, 0.0, 0.0}, {.name = "fit"});
  });
  std::printf("steps  amplitude  length  noise  log-likelihood\n");
  Scales s;
  for (const int steps : {0, 10, 50, 500}) {
    s = fit(steps);
    std::printf("%5d  %9.4f  %6.4f  %5.4f  %14.4f\n", steps, std::exp(s.amplitude.item<double>()),
                std::exp(s.length.item<double>()), std::exp(s.noise.item<double>()),
                -negative_log_likelihood(s, x, y).item<double>());
  }

  // The mean as *, two deviations on both sides as -, the measurements as o.
  const Tensor at = rondo::linspace(0.0, 12.0, kGrid, rondo::DType::kF64);
  const Prediction p = predict(s, x, y, at);
  const rondo::Literal mean = p.mean.eval(), deviation = p.deviation.eval();
  const auto numbers = [](const Tensor& t) {
    const rondo::Literal values = t.eval();
    return std::vector<double>(values.data<double>().begin(), values.data<double>().end());
  };
  const std::vector<double> xs = numbers(x), ys = numbers(y);
  const auto place = [](double value) {
    return static_cast<std::size_t>(std::clamp(std::lround(30 + 15 * value), 0L, 60L));
  };
  std::printf("\n    x   mean  deviation\n");
  for (std::size_t i = 0; i < kGrid; i++) {
    const double m = mean.data<double>()[i], d = deviation.data<double>()[i];
    const double here = 0.5 * static_cast<double>(i);
    std::string line(61, ' ');
    std::fill(line.begin() + static_cast<std::ptrdiff_t>(place(m - 2 * d)),
              line.begin() + static_cast<std::ptrdiff_t>(place(m + 2 * d)) + 1, '-');
    line[place(m)] = '*';
    for (std::size_t k = 0; k < kPoints; k++) {
      if (std::abs(xs[k] - here) < 0.25) line[place(ys[k])] = 'o';
    }
    line.erase(line.find_last_not_of(' ') + 1);
    std::printf("%5.1f %6.3f %6.3f %s\n", here, m, d, line.c_str());
  }

  const Plain same =
      plain(xs, ys, std::exp(s.amplitude.item<double>()), std::exp(s.length.item<double>()),
            std::exp(s.noise.item<double>()), 6.5);
  std::printf("\nat 6.5, by elimination in plain C++: mean %.3f, deviation %.3f\n", same.mean,
              same.deviation);
  std::printf("log-likelihood by it: %.4f\n", -same.loss);
}
