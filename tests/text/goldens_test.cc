// Programs of JAX in all the forms that it writes (tests/goldens, by scripts/goldens.py), with
// XLA's results; and what is done with artifacts that are damaged.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "base/for_dtype.h"
#include "ir/node.h"
#include "rondo/rondo.h"

namespace rondo {
namespace {

namespace fs = std::filesystem;
using namespace std::string_literals;
using ::testing::HasSubstr;

const fs::path kGoldens = RONDO_SOURCE_DIR "/tests/goldens";

std::vector<Literal> arrays(const fs::path& folder, const std::string& name) {
  std::vector<Literal> arrays;
  for (int i = 0; fs::exists(folder / (name + std::to_string(i) + ".npy")); i++)
    arrays.push_back(Literal::load_npy((folder / (name + std::to_string(i) + ".npy")).string()));
  return arrays;
}

/// The largest difference, in parts of the larger number or of 1; infinite for other types and for
/// NaN beside numbers.
double difference(const Literal& got, const Literal& expected) {
  if (got.type() != expected.type()) return HUGE_VAL;
  double most = 0;
  for_any_dtype(got.dtype(), [&]<class T>() {
    const std::span<const T> a = got.data<T>(), b = expected.data<T>();
    for (std::size_t i = 0; i < a.size(); i++) {
      const auto compare = [&](double x, double y) {
        if (x == y || (std::isnan(x) && std::isnan(y))) return;
        const double apart = std::abs(x - y) / std::max({1.0, std::abs(x), std::abs(y)});
        most = apart <= HUGE_VAL ? std::max(most, apart) : HUGE_VAL;
      };
      if constexpr (is_complex(dtype_of<T>)) {
        compare(a[i].real(), b[i].real());
        compare(a[i].imag(), b[i].imag());
      } else {
        compare(static_cast<double>(a[i]), static_cast<double>(b[i]));
      }
    }
  });
  return most;
}

TEST(Goldens, RunWithXlasResultsFromEveryForm) {
  int programs = 0;
  for (const auto& entry : fs::directory_iterator(kGoldens)) {
    const std::vector<Literal> inputs = arrays(entry.path(), "in"),
                               outputs = arrays(entry.path(), "out");
    for (const char* form :
         {"program.mlir", "program.hlo.txt", "program.mlirbc", "program.jax_export"}) {
      SCOPED_TRACE((entry.path() / form).string());
      const Function program = load_program((entry.path() / form).string());
      program.verify();
      const std::vector<Literal> results = compile(program).run(inputs);
      ASSERT_EQ(results.size(), outputs.size());
      for (std::size_t i = 0; i < results.size(); i++) {
        // XLA computes 16-bit floats with more bits, or divides by a product with the reciprocal.
        const double most = byte_width(outputs[i].dtype()) == 2 ? 4e-3
                            : outputs[i].dtype() == DType::kF64 ? 1e-13
                                                                : 2e-6;
        EXPECT_LE(difference(results[i], outputs[i]), most)
            << i << ": " << results[i] << outputs[i];
      }
    }
    programs++;
  }
  EXPECT_EQ(programs, 6);
}

TEST(Goldens, ArtifactsKeepTheNamesOfArguments) {
  EXPECT_EQ(load_program((kGoldens / "newton_root/program.mlirbc").string()).param_names(),
            (std::vector<std::string>{"x", "tolerance"}));
}

TEST(Goldens, OperationsOfArtifactsNameTheLinesOfPython) {
  const Function program = load_program((kGoldens / "newton_root/program.mlirbc").string());
  const auto is_of_python = [](const ir::Node* node) {
    return std::string_view(node->location().file).ends_with("goldens.py");
  };
  EXPECT_TRUE(std::ranges::any_of(program.body(), is_of_python));
}

std::string bytes_of(const fs::path& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
/// Whether the bytes are refused; anything but a program or a ParseError fails the test.
bool is_refused(const std::string& bytes) {
  try {
    parse_program(bytes);
    return false;
  } catch (const ParseError&) {
    return true;
  }
}

TEST(Goldens, DamagedArtifactsAreRefusedOrRead) {
  const std::string whole = bytes_of(kGoldens / "windows/program.mlirbc");
  ASSERT_FALSE(is_refused(whole));
  for (std::size_t size = 1; size < whole.size(); size += 7)
    EXPECT_TRUE(is_refused(whole.substr(0, size)));
  int refused = 0, shown = 0;
  for (std::size_t at = 4; at < whole.size(); at += 3) {
    std::string damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ (at % 2 == 0 ? 0xFF : 1 << (at / 2 % 8)));
    try {
      parse_program(damaged);
    } catch (const ParseError& error) {
      refused++;
      shown +=
          error.line() > 0 && std::string(error.what()).find(" = stablehlo.") != std::string::npos;
    }
  }
  EXPECT_GT(refused, 100);  // others change constants, names or places
  EXPECT_GT(shown, 0);      // with the operation that is not as it should be
}

/// An integer in the encoding of bytecode, from 0 to 127.
char varint(int value) { return static_cast<char>(2 * value + 1); }
std::string section(int id, const std::string& data) {
  return std::string{static_cast<char>(id), varint(static_cast<int>(data.size()))} + data;
}

TEST(Goldens, AttributesThatReferToThemselvesAgainAndAgainAreRefused) {
  // Each of 20 lists has the next one 2 times, and so the last one a million times.
  constexpr int kLists = 20;
  std::string lists, sizes{varint(kLists + 1), varint(0), varint(0), varint(kLists + 1)};
  for (int i = 0; i < kLists; i++) {
    lists += {varint(1), varint(2), varint(i + 1), varint(i + 1)};
    sizes += varint(2 * 4 + 1);
  }
  lists += {varint(2), varint(1)};  // true
  sizes += varint(2 * 2 + 1);
  const std::string names = "vhlo\0reverse_v1\0"s;
  const std::string bytes =
      "ML\xEFR"s + varint(6) + "test\0"s +
      section(0, std::string{varint(2), varint(11), varint(5)} + names) +
      section(1, {varint(1), varint(0), varint(1), varint(0), varint(1), varint(2)}) +
      section(3, sizes) + section(2, lists) +
      section(4, {varint(2), varint(0), '\x40', varint(0), varint(0)}) +
      section(8, {varint(1), varint(1), varint(0)});
  try {
    parse_program(bytes);
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("too many parts"));
  }
}

TEST(Goldens, OtherBytecodeIsRefusedWithARemedy) {
  std::string bytes = bytes_of(kGoldens / "windows/program.mlirbc");
  bytes[4] = 15;  // format version 7
  try {
    parse_program(bytes);
    FAIL();
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr("bytecode version 7 is newer than 6"));
  }
}

}  // namespace
}  // namespace rondo
