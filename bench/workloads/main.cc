// Races the workloads with their plain C++. Usage: rondo_workloads [REGULAR EXPRESSION OF NAMES
// [program | code]], with a second word prints what they are compiled to.
// Prints each as it is measured, then all of them, the worst first. Exits with 1 if a program's
// results are not those of its plain loops.
#include <algorithm>
#include <chrono>
#include <cmath>
#include <cstdio>
#include <exception>
#include <random>
#include <regex>

#include "workloads/workload.h"

namespace rondo::bench {

namespace {

/// Both alternate for so long, and at least so often; their least times count.
constexpr double kSeconds = 0.5;
constexpr int kRuns = 5;

double seconds_of(const std::function<void()>& work) {
  const auto begin = std::chrono::steady_clock::now();
  work();
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

std::vector<double> numbers(const Literal& x) {
  const auto as = [&]<class T>(T) {
    const auto elements = x.data<T>();
    return std::vector<double>(elements.begin(), elements.end());
  };
  switch (x.dtype()) {
    case DType::kF32:
      return as(float{});
    case DType::kF64:
      return as(double{});
    case DType::kS32:
      return as(std::int32_t{});
    case DType::kS64:
      return as(std::int64_t{});
    case DType::kU32:
      return as(std::uint32_t{});
    case DType::kU64:
      return as(std::uint64_t{});
    case DType::kU8:
      return as(std::uint8_t{});
    case DType::kPred:
      return as(bool{});
    default:
      throw Error("workloads give no results of this dtype");
  }
}

/// The largest difference of two results relative to the largest number of `want`.
double distance(const Literal& got, const Literal& want) {
  if (got.type() != want.type()) return HUGE_VAL;
  const std::vector<double> a = numbers(got), b = numbers(want);
  double largest = 0, difference = 0;
  for (std::size_t i = 0; i < a.size(); i++) {
    if (a[i] == b[i] || (std::isnan(a[i]) && std::isnan(b[i]))) continue;
    if (!std::isfinite(a[i]) || !std::isfinite(b[i])) return HUGE_VAL;
    difference = std::max(difference, std::abs(a[i] - b[i]));
  }
  for (const double x : b) largest = std::isfinite(x) ? std::max(largest, std::abs(x)) : largest;
  return difference == 0 ? 0 : difference / largest;
}

constexpr std::vector<Workload> (*kDomains[])() = {
    array_workloads, stencil_workloads, matrix_workloads, simulation_workloads, batch_workloads};

struct Row {
  std::string name;
  double seconds, plain_seconds;
  double ratio() const { return seconds / plain_seconds; }
};

void print(const Row& row) {
  std::printf("%-40s %10.1f us, plain %10.1f us: %6.2f\n", row.name.c_str(), row.seconds * 1e6,
              row.plain_seconds * 1e6, row.ratio());
  std::fflush(stdout);
}

template <class T>
Literal uniform(const Shape& shape, double low, double high, unsigned seed) {
  std::mt19937_64 bits(seed);
  Literal numbers = Literal::zeros({dtype_of<T>, shape});
  for (T& x : numbers.mutable_data<T>())
    x = static_cast<T>(low + (high - low) * (static_cast<double>(bits() >> 11) * 0x1p-53));
  return numbers;
}

}  // namespace

Literal uniform_floats(const Shape& shape, double low, double high, unsigned seed) {
  return uniform<float>(shape, low, high, seed);
}
Literal uniform_doubles(const Shape& shape, double low, double high, unsigned seed) {
  return uniform<double>(shape, low, high, seed);
}
Literal uniform_integers(const Shape& shape, int low, int high, unsigned seed) {
  return uniform<std::int32_t>(shape, low, high, seed);
}

namespace {

/// What the chosen workloads are compiled to.
void print_programs(const std::regex& chosen, bool as_machine_code) {
  for (const auto& workloads : kDomains) {
    for (const Workload& work : workloads()) {
      if (!std::regex_search(work.name, chosen)) continue;
      const Executable made = compile(work.program);
      const std::string text = as_machine_code ? made.disassembly() : made.program();
      std::printf("%s\n%s\n", work.name.c_str(), text.c_str());
    }
  }
}

/// False if some results differ.
bool race_all(const std::regex& chosen) {
  std::vector<Row> rows;
  bool agree = true;
  for (const auto& workloads : kDomains) {
    for (const Workload& work : workloads()) {
      if (!std::regex_search(work.name, chosen)) continue;
      const Executable program = compile(work.program);
      const Literals want = work.plain(work.arguments), got = program.run(work.arguments);
      double worst = got.size() == want.size() ? 0 : HUGE_VAL;
      for (std::size_t i = 0; i < std::min(got.size(), want.size()); i++)
        worst = std::max(worst, distance(got[i], want[i]));
      if (!(worst <= work.tolerance)) {
        std::printf("%s: results differ by %g\n", work.name.c_str(), worst);
        agree = false;
      }
      Row row{work.name, HUGE_VAL, HUGE_VAL};
      double spent = 0;
      for (int run = 0; run < kRuns || spent < kSeconds; run++) {
        const double ours = seconds_of([&] { program.run(work.arguments); });
        const double plain = seconds_of([&] { work.plain(work.arguments); });
        row.seconds = std::min(row.seconds, ours);
        row.plain_seconds = std::min(row.plain_seconds, plain);
        spent += ours + plain;
      }
      print(row);
      rows.push_back(row);
    }
  }
  std::printf("\nThe worst first:\n");
  std::sort(rows.begin(), rows.end(),
            [](const Row& a, const Row& b) { return a.ratio() > b.ratio(); });
  double logarithms = 0;
  for (const Row& row : rows) {
    print(row);
    logarithms += std::log(row.ratio());
  }
  if (!rows.empty())
    std::printf("geometric mean of %zu: %.2f\n", rows.size(),
                std::exp(logarithms / static_cast<double>(rows.size())));
  return agree;
}

}  // namespace

}  // namespace rondo::bench

int main(int argc, char** argv) try {
  const std::regex chosen(argc > 1 ? argv[1] : "");
  const std::string_view shown = argc > 2 ? argv[2] : "";
  if (!shown.empty()) return rondo::bench::print_programs(chosen, shown == "code"), 0;
  return rondo::bench::race_all(chosen) ? 0 : 1;
} catch (const std::exception& error) {
  std::fprintf(stderr, "%s\n", error.what());
  return 2;
}
