#include "support/derivative_check.h"

#include <algorithm>
#include <cmath>
#include <complex>
#include <limits>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <tuple>

#include "rondo/gradients.h"

namespace rondo::testing {

namespace {

bool is_perturbable(DType dtype) { return is_floating(dtype) || is_complex(dtype); }

/// The elements as doubles, a complex one as two; none of an integer.
std::span<const double> doubles_of(const Literal& literal) {
  if (!is_perturbable(literal.dtype())) return {};
  if (literal.dtype() != DType::kF64 && literal.dtype() != DType::kC128)
    throw std::invalid_argument("derivatives are checked in f64 and c128 only");
  const std::size_t parts = literal.dtype() == DType::kC128 ? 2 : 1;
  return {reinterpret_cast<const double*>(literal.bytes()),
          static_cast<std::size_t>(literal.elements()) * parts};
}

std::span<double> mutable_doubles_of(Literal& literal) {
  const std::size_t n = doubles_of(literal).size();
  return {reinterpret_cast<double*>(literal.mutable_bytes()), n};
}

std::vector<Literal> random_like(const std::vector<Literal>& prototypes, std::mt19937_64& random) {
  std::vector<Literal> all;
  for (const Literal& prototype : prototypes) {
    all.push_back(Literal::zeros(prototype.type()));
    if (!is_perturbable(prototype.dtype())) continue;
    for (double& x : mutable_doubles_of(all.back()))
      x = static_cast<double>(random() >> 11) * 0x1p-52 - 1;  // from -1 to 1
  }
  return all;
}

std::vector<Literal> moved(const std::vector<Literal>& at, const std::vector<Literal>& direction,
                           double by) {
  std::vector<Literal> all = at;
  for (std::size_t i = 0; i < all.size(); i++) {
    if (!is_perturbable(all[i].dtype())) continue;
    const std::span<double> to = mutable_doubles_of(all[i]);
    const std::span<const double> along = doubles_of(direction[i]);
    for (std::size_t k = 0; k < to.size(); k++) to[k] += by * along[k];
  }
  return all;
}

std::vector<Tensor> tensors(const std::vector<Literal>& literals) {
  return {literals.begin(), literals.end()};
}

std::vector<Literal> values(const TensorsFunction& f, const std::vector<Literal>& at) {
  std::vector<Literal> all;
  for (const Tensor& result : f(tensors(at))) all.push_back(result.eval());
  return all;
}

double largest(const Literal& literal) {
  double size = 0;
  for (const double x : doubles_of(literal)) size = std::max(size, std::abs(x));
  return size;
}

/// The real part of the sum of products, without conjugation.
double pairing(const std::vector<Literal>& a, const std::vector<Literal>& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.size(); i++) {
    const std::span<const double> x = doubles_of(a[i]), y = doubles_of(b[i]);
    const bool pairs = is_complex(a[i].dtype());
    for (std::size_t k = 0; k < x.size(); k++) sum += (pairs && k % 2 ? -1 : 1) * x[k] * y[k];
  }
  return sum;
}

class Checker {
 public:
  explicit Checker(const DerivativeCheck& check) : check_(check), random_(check.seed) {}

  /// `what` is how f came from the function that is checked: "", "the pullback of the tangent of ".
  std::string error(const TensorsFunction& f, const std::vector<Literal>& at,
                    const std::string& what, int order) {
    const std::vector<Literal> direction = random_like(at, random_);
    const std::vector<Literal> results = values(f, at);
    const std::vector<Literal> cotangents = random_like(results, random_);
    const TensorsFunction tangent = [f, direction](const std::vector<Tensor>& x) {
      return jvp(f, std::tuple{x}, std::tuple{tensors(direction)}).second;
    };
    const TensorsFunction pullback = [f, cotangents](const std::vector<Tensor>& x) {
      return std::get<0>(vjp(f, x).second(tensors(cotangents)));
    };

    const std::vector<Literal> tangents = values(tangent, at);
    if (std::string wrong = compare_with_differences(f, at, direction, results, tangents);
        !wrong.empty())
      return "the tangent of " + what + "f: " + wrong;

    const std::vector<Literal> pulled = values(pullback, at);
    const double forward = pairing(cotangents, tangents), backward = pairing(pulled, direction);
    double scale = std::abs(forward);
    for (const Literal& literal : tangents) scale = std::max(scale, largest(literal));
    if (!(std::abs(forward - backward) <= check_.atol + check_.rtol * scale)) {
      std::ostringstream out;
      out.precision(17);
      out << "the pullback of " << what << "f gives " << backward << ", its tangent " << forward;
      return out.str();
    }

    if (order <= 1) return "";
    if (std::string wrong = error(tangent, at, "the tangent of " + what, order - 1); !wrong.empty())
      return wrong;
    return error(pullback, at, "the pullback of " + what, order - 1);
  }

 private:
  std::string compare_with_differences(const TensorsFunction& f, const std::vector<Literal>& at,
                                       const std::vector<Literal>& direction,
                                       const std::vector<Literal>& results,
                                       const std::vector<Literal>& tangents) const {
    const std::vector<Literal> before = values(f, moved(at, direction, -check_.step));
    const std::vector<Literal> after = values(f, moved(at, direction, check_.step));
    for (std::size_t i = 0; i < results.size(); i++) {
      if (tangents[i].type() != results[i].type()) {
        return "result " + std::to_string(i) + " is " + results[i].type().str() +
               ", its tangent is " + tangents[i].type().str();
      }
      const double scale = std::max(largest(results[i]), largest(tangents[i]));
      const std::span<const double> have = doubles_of(tangents[i]);
      const std::span<const double> low = doubles_of(before[i]), high = doubles_of(after[i]);
      for (std::size_t k = 0; k < have.size(); k++) {
        const double want = (high[k] - low[k]) / (2 * check_.step);
        if (std::abs(have[k] - want) <= check_.atol + check_.rtol * scale) continue;
        std::ostringstream out;
        out.precision(17);
        out << "number " << k << " of result " << i << " is " << have[k] << ", differences give "
            << want;
        return out.str();
      }
    }
    return "";
  }

  const DerivativeCheck check_;
  std::mt19937_64 random_;
};

}  // namespace

std::string derivative_error(const TensorsFunction& f, const std::vector<Literal>& at,
                             const DerivativeCheck& check) {
  return Checker(check).error(f, at, "", check.order);
}

}  // namespace rondo::testing
