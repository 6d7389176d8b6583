// Random programs on the compiled executor and on the reference.
#include "executor/agreement.h"
#include "support/program.h"
#include "support/program_check.h"

namespace rondo::testing {
namespace {

/// Equal up to the error of mathematical functions: their values are about 1, and chains of them
/// are short.
void expect_close(const Literal& got, const Literal& want) {
  ASSERT_EQ(got.type(), want.type());
  if (got.identical(want)) return;
  const auto compare = [&]<class T>(T, double tolerance) {
    for (std::size_t i = 0; i < got.data<T>().size(); i++) {
      const double a = static_cast<double>(got.data<T>()[i]),
                   b = static_cast<double>(want.data<T>()[i]);
      if (std::isnan(a) && std::isnan(b)) continue;
      ASSERT_LE(std::abs(a - b), tolerance * std::max(1.0, std::abs(b))) << "element " << i;
    }
  };
  if (got.dtype() == DType::kF32) return compare(float(), 1e-4);
  if (got.dtype() == DType::kF64) return compare(double(), 1e-12);
  FAIL() << got.str() << "\nthe reference has\n" << want.str();
}

void expect_like_the_reference(std::uint64_t seed, const ProgramSize& size) {
  const Program program = Program::random(seed, size);
  const Function f = program.traced();
  for (const bool optimize : {true, false}) {
    const std::vector<Literal> arguments = program.arguments(seed + 1);
    const auto want =
        compile(f, {.optimize = optimize, .executor = Executor::kReference}).run(arguments);
    for (const Executor executor : {Executor::kBytecode, Executor::kCompiled}) {
      const Executable compiled =
          compile(f, {.optimize = optimize, .contract = false, .executor = executor});
      const auto got = compiled.run(arguments);
      ASSERT_EQ(got.size(), want.size());
      // With guard pages all loops that can be split are.
      RunOptions on_threads;
      on_threads.threads = 3;
      const auto in_pieces = compiled.run(arguments, on_threads);
      for (std::size_t k = 0; k < got.size(); k++) {
        SCOPED_TRACE(::testing::Message()
                     << "seed " << seed << ", result " << k << ", optimize " << optimize << ", "
                     << (executor == Executor::kCompiled ? "native" : "bytecode") << "\n"
                     << f.str());
        ASSERT_NO_FATAL_FAILURE(expect_close(got[k], want[k]));
        ASSERT_NO_FATAL_FAILURE(expect_equal(in_pieces[k], got[k]));
      }
    }
  }
}

TEST(RandomProgramsOfOnce, StayRight) {
  // Memory that carries exchange, and a kept loop over lanes that lowering did not accept.
  expect_consistent(11942, {});
  expect_consistent(20183, {.statements = 60, .region_statements = 6, .depth = 3});
  for (const std::uint64_t seed : {40258u, 40669u, 9405795u}) expect_consistent(seed, kDangers);
}

class RandomPrograms : public ::testing::TestWithParam<std::uint64_t> {};

TEST_P(RandomPrograms, AgreeWithTheReference) {
  constexpr std::uint64_t kSeeds = 25;
  for (std::uint64_t i = 0; i < kSeeds; i++) {
    const std::uint64_t seed = GetParam() * kSeeds + i;
    ASSERT_NO_FATAL_FAILURE(expect_like_the_reference(seed, {}));
    ASSERT_NO_FATAL_FAILURE(expect_like_the_reference(seed, kDangers));
  }
}

INSTANTIATE_TEST_SUITE_P(Seeds, RandomPrograms, ::testing::Range<std::uint64_t>(0, 4));

}  // namespace
}  // namespace rondo::testing
