#include "support/compare.h"

#include <cmath>
#include <complex>
#include <cstring>
#include <limits>
#include <sstream>

#include "base/for_dtype.h"

namespace rondo::testing {

namespace {

constexpr int kDifferencesShown = 4;

template <class T>
constexpr double unit_in_last_place() {
  if constexpr (std::is_same_v<T, float16>)
    return 0x1p-10;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return 0x1p-7;
  else
    return static_cast<double>(std::numeric_limits<T>::epsilon());
}

template <class T>
constexpr double least_normal() {
  if constexpr (std::is_same_v<T, float16>)
    return 0x1p-14;
  else if constexpr (std::is_same_v<T, bfloat16>)
    return 0x1p-126;
  else
    return static_cast<double>(std::numeric_limits<T>::min());
}

bool close(double got, double want, double rtol, double atol, double tiny) {
  if (std::isnan(want) || std::isnan(got)) return std::isnan(want) && std::isnan(got);
  if (std::isinf(want) || std::isinf(got)) return got == want;
  if (std::abs(got) < tiny && std::abs(want) < tiny) return true;
  return std::abs(got - want) <= atol + rtol * std::abs(want);
}

template <class T>
bool same_bits(const T& got, const T& want) {
  if constexpr (std::is_floating_point_v<T>) {
    if (std::isnan(got) && std::isnan(want)) return true;
  } else if constexpr (is_floating(dtype_of<T>)) {
    if (std::isnan(static_cast<float>(got)) && std::isnan(static_cast<float>(want))) return true;
  }
  return std::memcmp(&got, &want, sizeof(T)) == 0;
}

template <class T>
bool same(const T& got, const T& want, const Tolerance& tolerance) {
  const bool exactly = tolerance.atol < 0;
  if constexpr (is_complex(dtype_of<T>)) {
    if (exactly) return same_bits(got.real(), want.real()) && same_bits(got.imag(), want.imag());
    using Part = typename T::value_type;
    const double rtol = tolerance.rtol.value_or(tolerance.ulps * unit_in_last_place<Part>());
    const auto finite = [](const T& z) {
      return std::isfinite(z.real()) && std::isfinite(z.imag());
    };
    if (finite(got) && finite(want)) {
      // The modulus of the error relative to that of the number; double represents all but the
      // largest.
      const std::complex<double> a(got), b(want);
      return std::abs(a - b) <= tolerance.atol + rtol * std::abs(b) + 2 * least_normal<Part>();
    }
    if (tolerance.loose_complex) {
      const auto nan = [](const T& z) { return std::isnan(z.real()) || std::isnan(z.imag()); };
      const auto inf = [](const T& z) { return std::isinf(z.real()) || std::isinf(z.imag()); };
      return (nan(got) && nan(want)) || (inf(got) && inf(want));
    }
    const auto part = [&](Part a, Part b) {
      return close(static_cast<double>(a), static_cast<double>(b), rtol, tolerance.atol,
                   least_normal<Part>());
    };
    return part(got.real(), want.real()) && part(got.imag(), want.imag());
  } else if constexpr (is_small(dtype_of<T>)) {
    return same_bits(got, want);
  } else if constexpr (is_floating(dtype_of<T>)) {
    if (exactly) return same_bits(got, want);
    const double rtol = tolerance.rtol.value_or(tolerance.ulps * unit_in_last_place<T>());
    return close(static_cast<double>(got), static_cast<double>(want), rtol, tolerance.atol,
                 least_normal<T>());
  } else {
    return got == want;
  }
}

template <class T>
void print_element(std::ostream& out, const T& value) {
  out.precision(std::is_same_v<T, double> ? 17 : 9);
  if constexpr (is_small(dtype_of<T>) || (is_floating(dtype_of<T>) && sizeof(T) == 2))
    out << static_cast<float>(value);
  else if constexpr (std::is_integral_v<T> && sizeof(T) == 1)
    out << static_cast<int>(value);
  else
    out << value;
}

std::string index_text(std::size_t position, const Shape& shape) {
  std::vector<std::int64_t> index(shape.size());
  auto rest = static_cast<std::int64_t>(position);
  for (std::size_t axis = index.size(); axis-- > 0;) {
    index[axis] = rest % shape[axis];
    rest /= shape[axis];
  }
  return Shape(index).str();
}

template <class T>
std::string element_differences(const Literal& got, const Literal& want,
                                const Tolerance& tolerance) {
  const auto a = got.data<T>(), b = want.data<T>();
  std::ostringstream out;
  int differences = 0;
  for (std::size_t i = 0; i < a.size(); i++) {
    if (same(a[i], b[i], tolerance)) continue;
    if (++differences > kDifferencesShown) continue;
    out << "element " << index_text(i, want.shape()) << " is ";
    print_element(out, a[i]);
    out << ", expected ";
    print_element(out, b[i]);
    out << "\n";
  }
  if (differences > kDifferencesShown) {
    out << "and " << differences - kDifferencesShown << " more of " << a.size() << "\n";
  }
  return out.str();
}

}  // namespace

std::string difference(const Literal& got, const Literal& want, const Tolerance& tolerance) {
  if (got.type() != want.type()) {
    return "the type is " + got.type().str() + ", expected " + want.type().str() + "\n";
  }
  return for_any_dtype(want.dtype(),
                       [&]<class T>() { return element_differences<T>(got, want, tolerance); });
}

std::string difference(const std::vector<Literal>& got, const std::vector<Literal>& want,
                       const Tolerance& tolerance) {
  if (got.size() != want.size()) {
    return std::to_string(got.size()) + " results, expected " + std::to_string(want.size()) + "\n";
  }
  std::string all;
  for (std::size_t i = 0; i < got.size(); i++) {
    const std::string one = difference(got[i], want[i], tolerance);
    if (!one.empty())
      all += "result " + std::to_string(i) + ", " + want[i].type().str() + ":\n" + one;
  }
  return all;
}

}  // namespace rondo::testing
