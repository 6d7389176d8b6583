// Lesson 12: reading the HLO.
//
// The input of XLA is readable text: names of parameters and struct fields, a hint of the trip
// count, one while per loop.
#include <iostream>

#include "rondo/rondo.h"

using rondo::Tensor;

struct Filter {
  Tensor mean, variance;
};

int main() {
  auto filter = [](Filter start, Tensor samples) {
    auto [end, means] = rondo::scan(
        [](Filter f, Tensor sample) {
          const Tensor gain = f.variance / (f.variance + 1);
          const Filter next{f.mean + gain * (sample - f.mean), f.variance * (1 - gain) + 0.1f};
          return std::pair(next, next.mean);
        },
        start, samples, {.name = "filter"});
    return std::pair(end.mean, means);
  };
  const rondo::Function program = rondo::trace(filter, Filter{0.0f, 1.0f}, rondo::f32({8}));

  // In the IR the scan is still a scan.
  std::cout << program.str() << "\n";

  // In HLO it is a while over the carry, the stack of ys and a counter. `known_trip_count` tells
  // XLA how often it runs.
  std::cout << rondo::to_hlo_text(program) << "\n";

  // StableHLO has the same program, with nested regions.
  std::cout << rondo::to_stablehlo_text(program) << "\n";

  // All of them are the same program: a running mean that weighs later samples less.
  const auto samples = rondo::Literal::from<float>({1, 2, 1, 2, 1, 2, 1, 2}, {8});
  const auto results = rondo::compile(program).run(
      {rondo::Literal::scalar(0.0f), rondo::Literal::scalar(1.0f), samples});
  std::cout << "means: " << results[1] << "\n\n";

  // Source lines on request: each op refers to the line of this file that created it.
  const std::string located = rondo::to_hlo_text(program, {.metadata = true});
  std::string line = located.substr(located.find("divide("));
  line.resize(line.find('\n'));
  // The file is named as the compiler got it; here without its folder.
  const std::size_t file = line.find("source_file=\"") + 13, folder_end = line.rfind('/');
  if (folder_end > file && folder_end != line.npos) line.erase(file, folder_end + 1 - file);
  std::cout << line << "\n";
}
