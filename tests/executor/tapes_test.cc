// Growing tapes: gradients of loops of unknown length.
#include <cmath>
#include <functional>
#include <string>
#include <utility>
#include <vector>

#include "control_flow/tape.h"
#include "executor/agreement.h"

namespace rondo::testing {
namespace {

const WhileOptions kTape{.checkpoint = Checkpoint::tape(), .name = "grow"};

/// n trips of y = w y - y³ / 10, where n is an argument.
Tensor cubes(Tensor y, Tensor n, Tensor w) {
  const auto [i, last] =
      while_loop([&](Tensor i, Tensor) { return i < n; },
                 [&](Tensor i, Tensor y) { return std::pair(i + 1, w * y - 0.1 * (y * y * y)); },
                 std::pair(Tensor(0), y), kTape);
  return last;
}

Literal trips(int n) { return Literal::scalar(std::int32_t{n}); }

TEST(Tapes, ALoopOfUnknownLengthIsCompiledWithItsTape) {
  const Function f = trace(grad(cubes), f64(), s32(), f64());
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Lowered lowered(f, {.executor = executor});
    EXPECT_GT(lowered.count(lower::Opcode::kTapeWrite), 0) << lowered;
  }
  for (const int n : {0, 1, 2, 3, 511, 512, 513, 3000}) {
    double y = 1.5, slope = 1;
    for (int i = 0; i < n; i++) {
      slope *= 1 - 0.3 * y * y;
      y = y - 0.1 * y * y * y;
    }
    const auto got = expect_agreement(f, {Literal::scalar(1.5), trips(n), Literal::scalar(1.0)});
    EXPECT_NEAR(got[0].item<double>(), slope, 1e-11 * std::abs(slope)) << n;
  }
}

TEST(Tapes, RowsAreArraysOfAnyDtype) {
  for (const DType dtype : {DType::kF16, DType::kBF16, DType::kF32, DType::kF64, DType::kC64}) {
    for (const std::int64_t size : {0, 1, 3, 67}) {
      const auto f = [&](Tensor x, Tensor n) {
        const auto [i, last] =
            while_loop([&](Tensor i, Tensor) { return i < n; },
                       [&](Tensor i, Tensor y) { return std::pair(i + 1, y * y * (y + 1) * 0.25); },
                       std::pair(Tensor(0), x), kTape);
        return is_complex(dtype) ? sum(real(last)) : sum(convert(last, DType::kF32));
      };
      const Function slope = trace(grad(f), TensorType{dtype, {size}}, s32());
      std::vector<float> values(static_cast<std::size_t>(size));
      for (std::size_t i = 0; i < values.size(); i++)
        values[i] = 0.9f + 0.3f * std::sin(static_cast<float>(i));
      const Tensor x = convert(Tensor(Literal::from(values, {size})), dtype);
      for (const int n : {0, 1, 2, 5}) {
        SCOPED_TRACE(::testing::Message() << dtype_name(dtype) << " " << size << " " << n);
        const std::vector<Literal> arguments{x.eval(), trips(n)};
        const Literal want = compile(slope, {.executor = Executor::kReference}).run(arguments)[0];
        for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
          const Literal got =
              compile(slope, {.contract = false, .executor = executor}).run(arguments)[0];
          EXPECT_TRUE(got.identical(want)) << got.str() << want.str();
        }
      }
    }
  }
}

TEST(Tapes, InLoopsBranchesAndLanes) {
  const auto nested = [](Tensor x, Tensor n) {
    return fori_loop(0, 4, [&](Tensor i, Tensor y) { return cubes(y, n + i, y * 0.5); }, x,
                     {.checkpoint = Checkpoint::online(2)});
  };
  const auto branched = [](Tensor x, Tensor n) {
    return cond(
        n > 2, [&] { return cubes(x, n, x + 0.25); },
        [&] { return cubes(x, n * 2, x - 0.25) * 2; });
  };
  const auto in_the_body = [](Tensor x, Tensor n) {
    const auto [i, last] = while_loop(
        [&](Tensor i, Tensor) { return i < n; },
        [&](Tensor i, Tensor y) {
          return std::pair(i + 1, cond(
                                      y > 0.4, [&] { return y * y * x; }, [&] { return y * 1.5; }));
        },
        std::pair(Tensor(0), x), kTape);
    return last;
  };
  const auto over_lanes = [](Tensor x, Tensor n) {
    const Tensor lanes = x * Tensor(Literal::from(std::vector<double>{0.5, 1, 1.5}, {3}));
    return sum(vmap([&](Tensor y) { return cubes(y, n, y); })(lanes));
  };
  const auto two_loops = [](Tensor x, Tensor n) { return cubes(x, n, x) + cubes(x * 2, n + 1, x); };
  // A branch does not pass a tape on; here it contains the backward pass.
  const auto slope_of_branched = [](Tensor x, Tensor n) {
    const auto slope = [&](Tensor m, double by) {
      return grad([&](Tensor x) { return cubes(x, m, x + by); })(x);
    };
    return cond(
        n > 2, [&] { return slope(n, 0.25); }, [&] { return slope(n * 2, -0.25) * 2; });
  };
  using F = std::function<Tensor(Tensor, Tensor)>;
  struct Case {
    const char* name;
    F value, slope, second = nullptr;
  };
  const auto twice = [](const char* name, const F& f) {
    return Case{name, f, grad(f), grad(grad(f))};
  };
  // A tape that another tape would have to keep is rejected: no second derivative of nests.
  for (const Case& c :
       {Case{"nested", nested, grad(nested)}, Case{"branched", branched, slope_of_branched},
        twice("in the body", in_the_body), twice("lanes", over_lanes),
        twice("two loops", two_loops)}) {
    SCOPED_TRACE(c.name);
    const Function slope = trace(c.slope, f64(), s32());
    const Function second = c.second ? trace(c.second, f64(), s32()) : slope;
    const Executable value = compile(trace(c.value, f64(), s32()));
    const Executable slopes = compile(slope);
    for (const int n : {0, 1, 5}) {
      SCOPED_TRACE(n);
      const auto at = [&](const Executable& of, double x) {
        return of.run({Literal::scalar(x), trips(n)})[0].item<double>();
      };
      const auto difference = [&](const Executable& of) {
        constexpr double kStep = 1e-5;
        return (at(of, 0.6 + kStep) - at(of, 0.6 - kStep)) / (2 * kStep);
      };
      const std::vector<Literal> arguments{Literal::scalar(0.6), trips(n)};
      const double first = difference(value);
      EXPECT_NEAR(expect_agreement(slope, arguments)[0].item<double>(), first,
                  1e-7 * (1 + std::abs(first)));
      if (!c.second) continue;
      const double next = difference(slopes);
      EXPECT_NEAR(expect_agreement(second, arguments)[0].item<double>(), next,
                  1e-6 * (1 + std::abs(next)));
    }
  }
}

/// Twice the trips take about twice the memory: rows are not copied between trips, and the tape of
/// a run is released after it.
TEST(Tapes, MemoryIsCountedAndBounded) {
  const Function f =
      trace(grad([](Tensor x, Tensor n) { return sum(cubes(x, n, x)); }), f64({100}), s32());
  const Literal x = Literal::from(std::vector<double>(100, 0.5), {100});
  for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
    const Executable compiled = compile(f, {.executor = executor});
    const auto peak = [&](int n) {
      RunStats stats;
      RunOptions options;
      options.stats = &stats;
      compiled.run({x, trips(n)}, options);
      return stats.peak_bytes;
    };
    const std::int64_t few = peak(3), many = peak(1000);
    // A row of 800 bytes per trip, of one or two arrays, and at most as much again while they grow.
    EXPECT_GE(many, 800 * 1000);
    EXPECT_LE(many, 3 * 2 * 800 * 1024 + 20000);
    EXPECT_LE(few, 100'000);
    EXPECT_EQ(peak(3), few);
    const Executable bounded = compile(f, {.executor = executor, .memory_limit = 100'000});
    EXPECT_NO_THROW(bounded.run({x, trips(10)}));
    try {
      bounded.run({x, trips(1000)});
      FAIL() << "nothing was thrown";
    } catch (const ExecutionError& error) {
      const std::string text = error.what();
      for (const char* part : {"'grow'", "memory_limit", "Checkpoint::online", "trip "})
        EXPECT_NE(text.find(part), std::string::npos) << part << " in\n" << text;
    }
    EXPECT_NO_THROW(bounded.run({x, trips(10)}));
  }
}

/// Programs that no gradient creates: tapes that are permuted, that are read while another version
/// is written, and rows that were never written.
TEST(Tapes, AreValuesLikeAnyOther) {
  using control_flow::empty_tape;
  using control_flow::tape_read;
  using control_flow::tape_write;
  const auto swapped = [](Tensor x, Tensor n) {
    const TensorType row = f64();
    const auto [i, a, b] =
        while_loop([&](std::tuple<Tensor, Tensor, Tensor> c) { return std::get<0>(c) < n; },
                   [&](std::tuple<Tensor, Tensor, Tensor> c) {
                     const auto& [i, a, b] = c;
                     return std::tuple(i + 1, tape_write(b, x + convert(i, DType::kF64), i, "w"),
                                       tape_write(a, x * convert(i, DType::kF64), i + 1, "w"));
                   },
                   std::tuple(Tensor(0), empty_tape(row), empty_tape(row)));
    Tensor total = x;
    for (int k = 0; k < 6; k++)
      total = total * 2 + tape_read(a, Tensor(k), "w") + tape_read(b, Tensor(k), "w") * 0.5;
    return total;
  };
  const auto kept = [](Tensor x, Tensor n) {
    const Tensor first = tape_write(empty_tape(f64()), x, Tensor(0), "w");
    const Tensor second = tape_write(first, x * 3, n, "w");
    const Tensor third = cond(
        n > 1, [&] { return tape_write(first, x * 5, Tensor(0), "w"); },
        [&] { return Tensor(second); });
    return tape_read(first, n, "w") + tape_read(second, n, "w") * 10 +
           tape_read(third, Tensor(0), "w") * 100 + tape_read(first, Tensor(1000), "w");
  };
  for (const int n : {0, 1, 2, 3, 5}) {
    SCOPED_TRACE(n);
    const std::vector<Literal> arguments{Literal::scalar(0.75), trips(n)};
    expect_agreement(trace(swapped, f64(), s32()), arguments);
    const double x = 0.75;
    const double first = n == 0 ? x : 0, third = n > 1 ? 5 * x : n == 0 ? 3 * x : x;
    EXPECT_EQ(expect_agreement(trace(kept, f64(), s32()), arguments)[0].item<double>(),
              first + 30 * x + 100 * third);
  }
}

TEST(Tapes, WhatIsNoTapeInsideRunsOnTheReferenceAndSaysWhy) {
  const Function f = trace(
      [](Tensor x) {
        return control_flow::tape_write(control_flow::empty_tape(f64()), x, Tensor(0), "w");
      },
      f64());
  const Executable compiled = compile(f, {.executor = Executor::kCompiled});
  EXPECT_NE(compiled.program().find("cannot be compiled"), std::string::npos) << compiled.program();
}

}  // namespace
}  // namespace rondo::testing
