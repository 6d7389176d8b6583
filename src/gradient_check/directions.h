// Float and complex leaves as vectors of numbers, with which the derivative checks compute on the
// host.
#pragma once

#include <cstddef>
#include <random>
#include <string>
#include <vector>

#include "rondo/literal.h"

namespace rondo::gradient_check {

/// The numbers of one leaf in row-major order, a complex element as two; empty for an integer or
/// pred.
using Numbers = std::vector<double>;

/// For f32, f64, c64 and c128; empty for others.
Numbers numbers_of(const Literal& literal);
/// The inverse; zeros if the dtype has no numbers.
Literal literal_of(const TensorType& type, const Numbers& numbers);

/// From -1 to 1, as many as a literal of the type has.
Numbers random_numbers(const TensorType& type, std::mt19937_64& random);
/// Random numbers between -1 and 1 times max(1, |element|), so that a step moves large elements by
/// more than their rounding.
Numbers random_direction(const Literal& at, std::mt19937_64& random);

/// at + by * direction.
Literal moved(const Literal& at, const Numbers& direction, double by);

/// The largest magnitude of a finite number; 0 if there is none.
double largest(const Numbers& numbers);

/// `[1, 2]` for the element to which a number belongs, with its part if that is complex; "" for a
/// real scalar.
std::string element_text(const TensorType& type, std::size_t number);

/// The sum of the products of two leaves, and the magnitude of its terms: the root of the sum of
/// the squares of those that are finite.
struct Pairing {
  double sum = 0;
  double squares = 0;

  /// The real part of the products without conjugation, as in transposition.
  void add(const TensorType& type, const Numbers& a, const Numbers& b);
  double size() const;
};

/// The sign of the imaginary part in a product without conjugation: -1; else 1.
inline double pairing_sign(const TensorType& type, std::size_t number) {
  return is_complex(type.dtype) && number % 2 ? -1 : 1;
}

}  // namespace rondo::gradient_check
