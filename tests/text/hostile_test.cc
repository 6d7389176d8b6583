// Input that no program wrote: damaged, truncated, or made to take time or memory.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <iterator>
#include <string>
#include <vector>

#include "fmt/format.h"
#include "fuzz/readers.h"
#include "text/programs.h"

namespace rondo {
namespace {

using fuzz::kReaders;
using fuzz::Reader;
using fuzz::reads;
using ::testing::HasSubstr;

std::string contents(const std::string& name) {
  std::ifstream file(RONDO_SOURCE_DIR "/tests/goldens/" + name, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

const Reader& reader(std::string_view name) {
  for (const Reader& one : kReaders) {
    if (one.name == name) return one;
  }
  ADD_FAILURE() << name;
  return kReaders[0];
}

/// Reads it cut off, with bytes changed and with parts doubled, moved or lost; the same each time.
void damage(const Reader& reader, const std::string& whole, int tries) {
  EXPECT_TRUE(reads(reader, whole));
  std::uint64_t state = 0x9E3779B97F4A7C15u;
  const auto below = [&](std::size_t limit) {
    state = state * 6364136223846793005u + 1442695040888963407u;
    return static_cast<std::size_t>((state >> 33) % limit);
  };
  constexpr std::string_view kLetters = "0123456789-{}[]()<>,:=%#\"x \n";
  for (int i = 0; i < tries; i++) {
    std::string bytes = whole;
    for (std::size_t change = 0; change <= below(3); change++) {
      const std::size_t at = below(bytes.size()), length = 1 + below(20);
      switch (below(5)) {
        case 0:
          bytes.resize(at + 1);
          break;
        case 1:
          bytes[at] = static_cast<char>(below(256));
          break;
        case 2:
          bytes[at] = kLetters[below(kLetters.size())];
          break;
        case 3:
          bytes.insert(below(bytes.size()), bytes.substr(at, length));
          break;
        default:
          if (bytes.size() > length) bytes.erase(std::min(at, bytes.size() - length), length);
      }
    }
    try {
      reads(reader, bytes);
    } catch (const std::exception& error) {
      ADD_FAILURE() << reader.name << ": " << error.what() << "\nof\n" << bytes;
      return;
    }
  }
}

TEST(Hostile, DamagedProgramsAreRefusedOrRead) {
  damage(reader("stablehlo"), contents("windows/program.mlir"), 150);
  damage(reader("stablehlo"), contents("newton_root/program.mlir"), 100);
  damage(reader("hlo"), contents("windows/program.hlo.txt"), 150);
  damage(reader("hlo"), contents("newton_root/program.hlo.txt"), 100);
  for (const char* name : {"windows/program.mlir", "newton_root/program.mlir"})
    damage(reader("ir"), to_text(parse_program(contents(name)), {.full = true}), 150);
  damage(reader("program"), contents("newton_root/program.jax_export"), 50);
}

TEST(Hostile, DamagedArraysAreRefusedOrRead) {
  damage(reader("npy"), contents("windows/in0.npy"), 300);
  for (const char* text :
       {"", "1", "{1, 2}", "{{1, 2}, {3, 4}}", "nan(0x7f)", "{(1, 2)}", "-", "{"})
    EXPECT_FALSE(reads(reader("literal"), text)) << text;  // not of all types
}

std::string repeated(std::string_view piece, int times) {
  std::string text;
  for (int i = 0; i < times; i++) text += piece;
  return text;
}
void expect_refused(std::string_view name, const std::string& text, const char* why) {
  try {
    reader(name).read(text);
    ADD_FAILURE() << name << " read " << text.substr(0, 200);
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), HasSubstr(why));
    EXPECT_GT(error.line(), 0);
  }
}

TEST(Hostile, NestingDoesNotExhaustTheStack) {
  testing::on_small_stack([] {
    constexpr int kDeep = 100000;
    const std::string in = "func.func @main() {\n", module = "module {\n";
    expect_refused("stablehlo", repeated(module, kDeep), "");
    expect_refused("stablehlo", in + repeated("\"stablehlo.while\"() ({\n", kDeep), "");
    expect_refused("stablehlo", in + "%0 = stablehlo.constant dense<" + repeated("[", kDeep), "");
    expect_refused("stablehlo", in + "%0 = \"a\"() {b = " + repeated("[", kDeep), "");
    expect_refused("stablehlo", in + "%0 = \"a\"() {b = " + repeated("{b = ", kDeep), "");
    expect_refused("stablehlo", "func.func @main(%x: " + repeated("tuple<", kDeep), "");
    expect_refused("hlo", "HloModule m\nENTRY e {\n x = " + repeated("(", kDeep), "");
    expect_refused("hlo", "HloModule m\nENTRY e {\n x = f32[] constant(" + repeated("{", kDeep),
                   "");
    expect_refused("hlo", "HloModule m\nENTRY e {\n x = f32[] add(), a=" + repeated("{", kDeep),
                   "");
    expect_refused("ir",
                   "func main() -> () {\n" + repeated("  %0 = conditional\n  a () {\n", kDeep / 10),
                   "does not end");
    expect_refused("ir", "func main() -> () {\n  %0: f32[] = constant " + repeated("{", kDeep), "");
  });
}

TEST(Hostile, SizesThatAreOnlyDeclaredTakeNoMemory) {
  const std::string type = "tensor<1073741824x2xf32>";  // 8 GiB
  expect_refused("stablehlo",
                 "func.func @main() -> " + type + " {\n  %0 = stablehlo.constant dense<[1.0]> : " +
                     type + "\n  return %0 : " + type + "\n}\n",
                 "");
  expect_refused("stablehlo",
                 "func.func @main() -> " + type +
                     " {\n  %0 = stablehlo.constant dense<\"0x00\"> : " + type +
                     "\n  return %0 : " + type + "\n}\n",
                 "");
  expect_refused("hlo", "HloModule m\nENTRY e {\n ROOT x = f32[1073741824,2] constant({1})\n}\n",
                 "fewer elements");
  expect_refused("ir",
                 "func main() -> (f32[1073741824,2]) {\n  %0: f32[1073741824,2] = constant {1}\n",
                 "fewer elements");
  expect_refused("ir", "func main(%x: f32[4611686018427387904,2]) -> () {\n", "2^62");
}

TEST(Hostile, ManyParameters) {
  std::string ir = "func main(";
  for (int i = 0; i < 5000; i++) ir += fmt::format("%x{}: f32[], ", i);
  expect_refused("ir", ir, "expected");
}

}  // namespace
}  // namespace rondo
