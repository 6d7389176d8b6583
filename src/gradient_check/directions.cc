#include "gradient_check/directions.h"

#include <algorithm>
#include <cmath>
#include <span>

#include "fmt/format.h"

namespace rondo::gradient_check {

namespace {

/// How many numbers of type T a literal of a type holds; 0 if none.
std::size_t number_count(const TensorType& type) {
  switch (type.dtype) {
    case DType::kF32:
    case DType::kF64:
      return static_cast<std::size_t>(type.elements());
    case DType::kC64:
    case DType::kC128:
      return 2 * static_cast<std::size_t>(type.elements());
    default:
      return 0;
  }
}

bool has_floats(DType dtype) { return dtype == DType::kF32 || dtype == DType::kC64; }

}  // namespace

Numbers numbers_of(const Literal& literal) {
  const std::size_t count = number_count(literal.type());
  if (count == 0) return {};
  if (has_floats(literal.dtype())) {
    const std::span data(reinterpret_cast<const float*>(literal.bytes()), count);
    return {data.begin(), data.end()};
  }
  const std::span data(reinterpret_cast<const double*>(literal.bytes()), count);
  return {data.begin(), data.end()};
}

Literal literal_of(const TensorType& type, const Numbers& numbers) {
  Literal literal = Literal::zeros(type);
  if (numbers.empty()) return literal;
  if (has_floats(type.dtype)) {
    float* const to = reinterpret_cast<float*>(literal.mutable_bytes());
    std::transform(numbers.begin(), numbers.end(), to,
                   [](double x) { return static_cast<float>(x); });
  } else {
    std::copy(numbers.begin(), numbers.end(), reinterpret_cast<double*>(literal.mutable_bytes()));
  }
  return literal;
}

Numbers random_numbers(const TensorType& type, std::mt19937_64& random) {
  Numbers all(number_count(type));
  for (double& x : all) x = static_cast<double>(random() >> 11) * 0x1p-52 - 1;
  return all;
}

Numbers random_direction(const Literal& at, std::mt19937_64& random) {
  Numbers all = random_numbers(at.type(), random);
  const Numbers here = numbers_of(at);
  for (std::size_t k = 0; k < all.size(); k++) {
    const double size =
        is_complex(at.dtype()) ? std::hypot(here[k], here[k ^ 1]) : std::abs(here[k]);
    if (std::isfinite(size)) all[k] *= std::max(1.0, size);
  }
  return all;
}

Literal moved(const Literal& at, const Numbers& direction, double by) {
  Numbers to = numbers_of(at);
  if (to.empty()) return at;
  for (std::size_t k = 0; k < to.size(); k++) to[k] += by * direction[k];
  return literal_of(at.type(), to);
}

double largest(const Numbers& numbers) {
  double size = 0;
  for (const double x : numbers) {
    if (std::isfinite(x)) size = std::max(size, std::abs(x));
  }
  return size;
}

std::string element_text(const TensorType& type, std::size_t number) {
  const bool parts = is_complex(type.dtype);
  auto rest = static_cast<std::int64_t>(parts ? number / 2 : number);
  std::vector<std::int64_t> index(static_cast<std::size_t>(type.rank()));
  for (std::size_t axis = index.size(); axis-- > 0;) {
    const std::int64_t length = type.shape[axis];
    index[axis] = rest % length;
    rest /= length;
  }
  std::string text = index.empty() ? "" : fmt::format("[{}]", fmt::join(index, ", "));
  if (parts) text += number % 2 ? " (imaginary part)" : " (real part)";
  return text;
}

void Pairing::add(const TensorType& type, const Numbers& a, const Numbers& b) {
  for (std::size_t k = 0; k < a.size(); k++) {
    const double term = pairing_sign(type, k) * a[k] * b[k];
    sum += term;
    if (std::isfinite(term)) squares += term * term;
  }
}

double Pairing::size() const { return std::sqrt(squares); }

}  // namespace rondo::gradient_check
