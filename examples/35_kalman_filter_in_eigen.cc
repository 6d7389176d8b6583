// Lesson 35: in an Eigen program. A Kalman filter whose matrices are Eigen's.
//
// A tracker follows a target by noisy measurements of its position (R. E. Kalman, "A New Approach
// to Linear Filtering and Prediction Problems", 1960). Its state is a struct of Eigen matrices. One
// step is written once, with tensors. It becomes
//
//   - a function of Eigen's types, that the program calls for each measurement (native);
//   - the likelihood of all measurements, with its gradient and Hessian in the variances of the
//     noise (jit). Eigen solves for Newton's step: each library does what it is made for.
#include <rondo/eigen.h>
#include <rondo/rondo.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <numbers>
#include <utility>

using rondo::Tensor;

/// What is known of position and velocity: of Eigen's types in the program, of tensors where a step
/// is traced.
template <class Vector, class Matrix>
struct TrackOf {
  Vector mean;
  Matrix covariance;
};
using Track = TrackOf<Eigen::Vector2d, Eigen::Matrix2d>;
using TracedTrack = TrackOf<Tensor, Tensor>;

const Eigen::Matrix2d kMotion = (Eigen::Matrix2d() << 1, 1, 0, 1).finished();
const Eigen::Matrix2d kDrift = (Eigen::Matrix2d() << 0.25, 0.5, 0.5, 1).finished();

/// The track after a measurement, and minus the logarithm of the measurement's likelihood. `noise`
/// has the logarithms of the variances of the acceleration and of the measurement.
std::pair<TracedTrack, Tensor> step(const TracedTrack& track, const Tensor& measured,
                                    const Tensor& noise) {
  const Tensor motion = rondo::from_eigen(kMotion);
  const Tensor mean = matmul(motion, track.mean);
  const Tensor covariance = matmul(matmul(motion, track.covariance), transpose(motion)) +
                            exp(noise[0]) * rondo::from_eigen(kDrift);
  const Tensor variance = covariance[0][0] + exp(noise[1]);
  const Tensor surprise = measured - mean[0];
  const Tensor gain = covariance[0] / variance;
  return {{mean + gain * surprise, covariance - outer(gain, covariance[0])},
          0.5 * (log(variance) + square(surprise) / variance + std::log(2 * std::numbers::pi))};
}

/// The same step in Eigen alone.
Track step_in_eigen(const Track& track, double measured, const Eigen::Vector2d& noise) {
  const Eigen::Vector2d mean = kMotion * track.mean;
  const Eigen::Matrix2d covariance =
      kMotion * track.covariance * kMotion.transpose() + std::exp(noise[0]) * kDrift;
  const double variance = covariance(0, 0) + std::exp(noise[1]);
  const Eigen::Vector2d gain = covariance.col(0) / variance;
  return {mean + gain * (measured - mean[0]), covariance - gain * covariance.row(0)};
}

/// Positions of a target that accelerates at random, measured with noise. The numbers are about
/// normal: sums of twelve uniform ones.
Eigen::VectorXd measurements(Eigen::Index n, double acceleration, double error) {
  std::uint32_t bits = 1;
  const auto normal = [&bits] {
    double sum = -6;
    for (int i = 0; i < 12; i++) {
      bits = bits * 1664525u + 1013904223u;
      sum += bits / 4294967296.0;
    }
    return sum;
  };
  Eigen::Vector2d state(0, 1);
  Eigen::VectorXd measured(n);
  for (Eigen::Index i = 0; i < n; i++) {
    state = kMotion * state + Eigen::Vector2d(0.5, 1) * (acceleration * normal());
    measured[i] = state[0] + error * normal();
  }
  return measured;
}

int main() {
  const Eigen::VectorXd measured = measurements(200, 0.2, 1.5);
  const Track start{Eigen::Vector2d::Zero(), 10 * Eigen::Matrix2d::Identity()};
  Eigen::Vector2d noise(0, 0);  // a first guess

  // One step as a function of Eigen's types. Matrix2d is column-major, tensors are row-major: the
  // four numbers are reordered on the way, and nothing is allocated.
  const auto filter = rondo::native<Track(const Track&, double, const Eigen::Vector2d&)>(
      [](TracedTrack track, Tensor position, Tensor variances) {
        return step(track, position, variances).first;
      });
  Track track = start, in_eigen = start;
  for (const double position : measured) {
    track = filter(track, position, noise);
    in_eigen = step_in_eigen(in_eigen, position, noise);
  }
  std::printf("position %.6f, velocity %.6f; in Eigen alone %.6f, %.6f\n", track.mean[0],
              track.mean[1], in_eigen.mean[0], in_eigen.mean[1]);

  // All steps as a scan, differentiated twice. The arguments are Eigen's, and so are the results.
  const auto loss = [](Tensor variances, TracedTrack first, Tensor positions) {
    auto [last, losses] =
        rondo::scan([&](TracedTrack t, Tensor position) { return step(t, position, variances); },
                    first, positions, {.name = "filter"});
    return sum(losses);
  };
  const auto slope = rondo::jit(rondo::value_and_grad(loss));
  const auto curvature = rondo::jit([loss](Tensor variances, TracedTrack first, Tensor positions) {
    const auto of_variances = [&](Tensor v) { return loss(v, first, positions); };
    return rondo::hessian(of_variances)(variances);
  });
  for (int i = 0; i < 8; i++) {
    const auto [value, gradient] = slope(noise, start, measured);
    const Eigen::Vector2d g = gradient;
    const Eigen::Matrix2d h = curvature(noise, start, measured);
    std::printf("step %d: loss %.4f, acceleration %.4f, error %.4f\n", i, value.item<double>(),
                std::exp(noise[0] / 2), std::exp(noise[1] / 2));
    // Where the loss is not convex, the gradient alone.
    const Eigen::LLT<Eigen::Matrix2d> factors(h);
    Eigen::Vector2d change =
        factors.info() == Eigen::Success ? Eigen::Vector2d(factors.solve(g)) : g;
    if (change.norm() > 1) change.normalize();
    noise -= change;
  }
}
