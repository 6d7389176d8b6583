// What loops_test.py stops gdb in: loops whose bodies stand on lines of their own.
#include <rondo/rondo.h>

#include <cstdio>
#include <numeric>
#include <utility>
#include <vector>

using rondo::Tensor;

/// gdb stops here when the machine code is gone.
extern "C" [[gnu::noinline]] void finished() { asm volatile("" : : : "memory"); }

Tensor heated(Tensor start) {
  return rondo::while_loop(                                                         // loop
             [](Tensor hour, Tensor room) { return (hour < 30) & (room < 40.0); },  // condition
             [](Tensor hour, Tensor room) {
               const Tensor loss = 0.1 * (room - 10.0);      // loss
               const Tensor gain = rondo::sqrt(room + 9.0);  // gain
               return std::pair(hour + 1, room + gain - loss);
             },
             std::pair(Tensor(0), start), {.name = "heating"})
      .second;
}

Tensor months(Tensor start) {
  return rondo::fori_loop(0, 3,
                          [](Tensor month, Tensor room) {
                            const Tensor outside =
                                rondo::sin(rondo::convert(month, rondo::DType::kF64));  // outside
                            return heated(room / 2.0 + outside);
                          },
                          start, {.name = "monthly"});
}

/// Carries an array, of which each trip needs all of the one before, and one that is changed in
/// place.
std::pair<Tensor, Tensor> mixed(Tensor layers, Tensor counts) {
  return rondo::fori_loop(1, 4,
                          [](Tensor round, Tensor layer, Tensor count) {
                            const Tensor next = layer + rondo::reverse(layer) * 2.0f;  // next
                            return std::pair(next,
                                             rondo::update(count, round, round * round));  // count
                          },
                          std::pair(layers, counts), {.name = "mixing"});
}

/// Has a variable, by which gdb shows that it has found this frame.
[[gnu::noinline]] double run_program(const rondo::Executable& program, double start) {
  volatile double kept = start;
  const double result = program.run({rondo::Literal::scalar(start)})[0].item<double>();
  return kept > 0 ? result : 0;  // after the program
}

int main() {
  {
    const rondo::Executable program = rondo::compile(rondo::trace(months, rondo::f64()));
    const rondo::Executable mixer =
        rondo::compile(rondo::trace(mixed, rondo::f32({100}), rondo::s32({5})));
    std::printf("%.6f\n", run_program(program, 20.0));
    std::vector<float> layers(100);
    std::iota(layers.begin(), layers.end(), 0.0f);
    const auto results = mixer.run(
        {rondo::Literal::from(layers), rondo::Literal::from(std::vector<int>{7, 7, 7, 7, 7})});
    std::printf("%g\n", static_cast<double>(results[0].data<float>()[0]));
  }
  finished();
}
