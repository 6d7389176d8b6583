// Evaluates elementwise functions on given numbers, for scripts/accuracy.py, which compares the
// results with exact ones. Usage:
//   accuracy list                      prints the functions: NAME ARITY DTYPE of each
//   accuracy run < JOBS                a job a line: NAME DTYPE EXECUTOR COUNT INPUTS RESULTS
//   accuracy all NAME DTYPE            the largest error on all inputs of a function of one float
// EXECUTOR is reference, bytecode, compiled, or libc for the C++ library. INPUTS and RESULTS are
// files of f64, which hold the numbers of all dtypes: all of the first operand, then the others; of
// complex numbers both parts.
#include <algorithm>
#include <bit>
#include <cmath>
#include <complex>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <functional>
#include <iostream>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <type_traits>
#include <vector>

#include "ir/node.h"
#include "rondo/rondo.h"
#include "transforms/registry.h"

namespace rondo {
namespace {

using Operands = std::span<const Tensor>;

struct Named {
  std::string name;
  std::size_t arity;
  std::function<Tensor(Operands)> f;
};

/// The records of elementwise ops, and functions of several ops.
std::vector<Named> functions() {
  std::vector<Named> all;
  for (const ir::OpDef* op : transforms::all_ops()) {
    if (!op->structure.elementwise || op->observer || op->arity < 1) continue;
    all.push_back({std::string(op->name), static_cast<std::size_t>(op->arity), [op](Operands x) {
                     return ir::make(*op, {x.begin(), x.end()}, {}, {});
                   }});
  }
  for (const int order : {1, 2, 3, 4, 8}) {
    all.push_back({"polygamma_" + std::to_string(order), 1,
                   [order](Operands x) { return polygamma(order, x[0]); }});
  }
  all.push_back({"betaln", 2, [](Operands x) { return betaln(x[0], x[1]); }});
  all.push_back({"ndtr", 1, [](Operands x) { return ndtr(x[0]); }});
  all.push_back({"sinc", 1, [](Operands x) { return sinc(x[0]); }});
  return all;
}

/// Of the C++ library, for T an f32, an f64 or a complex number of them.
template <class T>
std::map<std::string, std::function<T(const T*)>> library() {
  using F = const T*;
  std::map<std::string, std::function<T(F)>> all;
  // NOLINTBEGIN(bugprone-macro-parentheses)
#define RONDO_ONE(name) all[#name] = [](F x) -> T { return std::name(x[0]); }
#define RONDO_TWO(name) all[#name] = [](F x) -> T { return std::name(x[0], x[1]); }
  RONDO_ONE(exp), RONDO_ONE(log), RONDO_ONE(sqrt), RONDO_ONE(sin), RONDO_ONE(cos), RONDO_ONE(tan);
  RONDO_ONE(sinh), RONDO_ONE(cosh), RONDO_ONE(tanh), RONDO_ONE(asin), RONDO_ONE(acos);
  RONDO_ONE(atan), RONDO_ONE(asinh), RONDO_ONE(acosh), RONDO_ONE(atanh), RONDO_ONE(abs);
  RONDO_TWO(pow);
  if constexpr (std::is_floating_point_v<T>) {
    RONDO_ONE(expm1), RONDO_ONE(log1p), RONDO_ONE(cbrt), RONDO_ONE(erf), RONDO_ONE(erfc);
    RONDO_ONE(lgamma), RONDO_TWO(atan2), RONDO_TWO(hypot);
  }
#undef RONDO_ONE
#undef RONDO_TWO
  // NOLINTEND(bugprone-macro-parentheses)
  all["add"] = [](F x) { return x[0] + x[1]; };
  all["subtract"] = [](F x) { return x[0] - x[1]; };
  all["multiply"] = [](F x) { return x[0] * x[1]; };
  all["divide"] = [](F x) { return x[0] / x[1]; };
  return all;
}

/// The result of a type, which is empty where the function has none.
std::optional<DType> result_dtype(const Named& function, DType dtype) {
  try {
    const std::vector<Tensor> operands(function.arity, zeros({dtype, {1}}));
    return function.f(operands).dtype();
  } catch (const Error&) {
    return std::nullopt;  // of other dtypes, or with attributes
  }
}

constexpr std::pair<const char*, DType> kDTypes[] = {{"f64", DType::kF64}, {"f32", DType::kF32},
                                                     {"f16", DType::kF16}, {"bf16", DType::kBF16},
                                                     {"c64", DType::kC64}, {"c128", DType::kC128}};

DType dtype_called(const std::string& name) {
  for (const auto& [text, dtype] : kDTypes) {
    if (name == text) return dtype;
  }
  throw std::runtime_error("there is no dtype " + name);
}

const Named& function_called(const std::vector<Named>& all, const std::string& name) {
  const auto found =
      std::find_if(all.begin(), all.end(), [&](const Named& f) { return f.name == name; });
  if (found == all.end()) throw std::runtime_error("there is no function " + name);
  return *found;
}

bool is_number(DType dtype) {
  return std::any_of(std::begin(kDTypes), std::end(kDTypes),
                     [&](const auto& known) { return known.second == dtype; });
}

void list() {
  for (const Named& function : functions()) {
    for (const auto& [text, dtype] : kDTypes) {
      const std::optional<DType> result = result_dtype(function, dtype);
      if (result && is_number(*result))
        std::printf("%s %zu %s\n", function.name.c_str(), function.arity, text);
    }
  }
}

/// The operands, each of `count` numbers, whose parts `values` holds.
template <class T>
std::vector<Literal> arguments(const std::vector<double>& values, std::size_t count) {
  std::vector<Literal> all;
  for (auto part = values.begin(); part != values.end();) {
    std::vector<T> numbers(count);
    for (T& x : numbers) {
      if constexpr (std::is_floating_point_v<T>) {
        x = static_cast<T>(*part++);
      } else {
        const double re = *part++;
        x = {static_cast<typename T::value_type>(re), static_cast<typename T::value_type>(*part++)};
      }
    }
    all.push_back(Literal::from(numbers, {static_cast<std::int64_t>(count)}));
  }
  return all;
}

template <class T>
std::vector<double> by_library(const std::string& name, const std::vector<Literal>& operands) {
  const auto all = library<T>();
  const auto found = all.find(name);
  std::vector<double> results;
  if (found == all.end()) return results;
  for (std::size_t i = 0; i < operands[0].data<T>().size(); i++) {
    std::vector<T> x;
    for (const Literal& operand : operands) x.push_back(operand.data<T>()[i]);
    const T y = found->second(x.data());
    if constexpr (std::is_floating_point_v<T>) {
      results.push_back(static_cast<double>(y));
    } else {
      results.push_back(static_cast<double>(y.real()));
      results.push_back(static_cast<double>(y.imag()));
    }
  }
  return results;
}

/// The function on operands of a dtype; from and to the widest dtype of the kind, f64 or c128,
/// between which and the narrow ones conversions are exact.
std::vector<double> by_rondo(const Named& function, DType dtype, Executor executor,
                             const std::vector<Literal>& operands) {
  const auto narrowed = [&](const Literal& x) {
    return compile(trace([&](Tensor t) { return convert(t, dtype); }, x.type())).run({x})[0];
  };
  std::vector<Literal> narrow;
  std::vector<TensorType> types;
  for (const Literal& x : operands) {
    narrow.push_back(narrowed(x));
    types.push_back(narrow.back().type());
  }
  const Function program =
      trace([&](const std::vector<Tensor>& x) { return function.f(x); }, types);
  const Literal result = compile(program, {.executor = executor}).run(narrow)[0];
  const bool is_complex = result.type().dtype == DType::kC64 || result.type().dtype == DType::kC128;
  const DType wide = is_complex ? DType::kC128 : DType::kF64;
  const Literal widened =
      compile(trace([&](Tensor t) { return convert(t, wide); }, result.type())).run({result})[0];
  std::vector<double> values;
  if (is_complex) {
    for (const std::complex<double> z : widened.data<std::complex<double>>()) {
      values.push_back(z.real());
      values.push_back(z.imag());
    }
  } else {
    const auto numbers = widened.data<double>();
    values.assign(numbers.begin(), numbers.end());
  }
  return values;
}

std::vector<double> results(const Named& function, const std::string& dtype_name,
                            const std::string& executor, const std::vector<double>& values,
                            std::size_t count) {
  const DType dtype = dtype_called(dtype_name);
  const bool is_complex = dtype == DType::kC64 || dtype == DType::kC128;
  if (executor == "libc") {
    switch (dtype) {
      case DType::kF64:
        return by_library<double>(function.name, arguments<double>(values, count));
      case DType::kF32:
        return by_library<float>(function.name, arguments<float>(values, count));
      case DType::kC64:
        return by_library<std::complex<float>>(function.name,
                                               arguments<std::complex<float>>(values, count));
      case DType::kC128:
        return by_library<std::complex<double>>(function.name,
                                                arguments<std::complex<double>>(values, count));
      default:
        return {};
    }
  }
  static const std::map<std::string, Executor> kExecutors = {{"reference", Executor::kReference},
                                                             {"bytecode", Executor::kBytecode},
                                                             {"compiled", Executor::kCompiled}};
  return by_rondo(function, dtype, kExecutors.at(executor),
                  is_complex ? arguments<std::complex<double>>(values, count)
                             : arguments<double>(values, count));
}

void run_jobs() {
  const std::vector<Named> all = functions();
  std::string name, dtype, executor, from, to;
  std::size_t count = 0;
  while (std::cin >> name >> dtype >> executor >> count >> from >> to) {
    const Named& function = function_called(all, name);
    const std::size_t parts = dtype[0] == 'c' ? 2 : 1;
    std::vector<double> values(count * function.arity * parts);
    std::ifstream input(from, std::ios::binary);
    input.read(reinterpret_cast<char*>(values.data()),
               static_cast<std::streamsize>(values.size() * sizeof(double)));
    if (!input) throw std::runtime_error("cannot read all numbers of " + from);
    const std::vector<double> got = results(function, dtype, executor, values, count);
    std::ofstream output(to, std::ios::binary);
    output.write(reinterpret_cast<const char*>(got.data()),
                 static_cast<std::streamsize>(got.size() * sizeof(double)));
    std::cout << "done" << std::endl;
  }
}

/// In units of the last place of a dtype of so many digits, whose least normal number is
/// 2^least_exponent.
double error_in_ulp(double got, double want, int digits, int least_exponent) {
  if (std::isnan(want)) return std::isnan(got) ? 0 : HUGE_VAL;
  if (got == want) return 0;
  const double largest = std::ldexp(2 - std::ldexp(2, -digits), 1 - least_exponent);
  const double limit = largest * (1 + std::ldexp(1, -digits - 1));
  if (std::isinf(got)) return std::abs(want) > largest && (got > 0) == (want > 0) ? 0 : HUGE_VAL;
  if (std::abs(want) > limit) return std::abs(got) == largest ? 0.5 : HUGE_VAL;
  const int exponent = std::max(want == 0 ? least_exponent : std::ilogb(want), least_exponent);
  return std::abs(got - want) / std::ldexp(1, exponent + 1 - digits);
}

/// Compares with the C++ library's function in f64, or else with Rondo's.
void all_inputs(const std::string& name, const std::string& dtype_text) {
  struct Format {
    int width, digits, least_exponent;
  };
  static const std::map<std::string, Format> kFormats = {
      {"f32", {32, 24, -126}}, {"f16", {16, 11, -14}}, {"bf16", {16, 8, -126}}};
  const auto [width, digits, least_exponent] = kFormats.at(dtype_text);
  const std::vector<Named> all = functions();
  const Named& function = function_called(all, name);
  const DType dtype = dtype_called(dtype_text);
  const auto known = library<double>();
  const auto exact = known.find(name);
  const std::int64_t block = width == 32 ? std::int64_t{1} << 20 : std::int64_t{1} << 16;
  const DType pattern = width == 32 ? DType::kU32 : DType::kU16;
  const Executable narrow = compile(
      trace(
          [&](Tensor first) {
            const Tensor x =
                bitcast_convert(convert(iota({DType::kS64, {block}}, 0) + first, pattern), dtype);
            return std::vector<Tensor>{convert(x, DType::kF64),
                                       convert(function.f(std::vector<Tensor>{x}), DType::kF64)};
          },
          TensorType{DType::kS64, {}}),
      {.executor = Executor::kCompiled});
  const Executable wide =
      compile(trace([&](Tensor x) { return function.f(std::vector<Tensor>{x}); },
                    TensorType{DType::kF64, {block}}),
              {.executor = Executor::kCompiled});
  double worst = 0, place = 0;
  for (std::int64_t first = 0; first < std::int64_t{1} << width; first += block) {
    const std::vector<Literal> both = narrow.run({Literal::scalar(first)});
    const auto x = both[0].data<double>(), got = both[1].data<double>();
    const Literal computed = exact == known.end() ? wide.run({both[0]})[0] : both[0];
    for (std::size_t i = 0; i < x.size(); i++) {
      const double want = exact == known.end() ? computed.data<double>()[i] : exact->second(&x[i]);
      const double error = error_in_ulp(got[i], want, digits, least_exponent);
      if (error <= worst) continue;
      worst = error;
      place = x[i];
    }
  }
  std::printf("%s %s %.9g %a %s\n", name.c_str(), dtype_text.c_str(), worst, place,
              exact == known.end() ? "rondo" : "libc");
}

}  // namespace
}  // namespace rondo

int main(int argc, char** argv) {
  const std::vector<std::string> words(argv + 1, argv + argc);
  try {
    if (words.size() == 1 && words[0] == "list")
      rondo::list();
    else if (words.size() == 1 && words[0] == "run")
      rondo::run_jobs();
    else if (words.size() == 3 && words[0] == "all")
      rondo::all_inputs(words[1], words[2]);
    else
      throw std::runtime_error("usage: accuracy list, accuracy run, accuracy all NAME DTYPE");
  } catch (const std::exception& error) {
    std::fprintf(stderr, "accuracy: %s\n", error.what());
    return 2;
  }
  return 0;
}
