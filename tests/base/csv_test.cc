#include "rondo/csv.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <limits>
#include <string>
#include <vector>

#include "errors/message.h"
#include "rondo/error.h"

namespace rondo {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

std::string csv_path(const std::string& name = "numbers.csv") {
  return ::testing::TempDir() + name;
}

std::string write_csv(const std::string& text) {
  std::ofstream(csv_path(), std::ios::binary) << text;
  return csv_path();
}
std::string csv_file(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}
Literal csv_of(const std::string& text, const CsvOptions& options = {}) {
  return load_csv(write_csv(text), options);
}

TEST(LoadCsv, HasARowPerLine) {
  const Literal table = csv_of("1,2.5,-3\n4e2,0.125,+6\n");
  ASSERT_EQ(table.type(), f64({2, 3}));
  EXPECT_THAT(table.data<double>(), ElementsAre(1, 2.5, -3, 400, 0.125, 6));
  EXPECT_EQ(csv_of("7").type(), f64({1, 1}));
  EXPECT_EQ(csv_of("").type(), f64({0, 0}));
  EXPECT_EQ(csv_of("# nothing\n\n").type(), f64({0, 0}));
}

TEST(LoadCsv, AllowsWhatSpreadsheetsWrite) {
  const Literal table = csv_of("\xEF\xBB\xBFtime;value\r\n \"1\" ; 2\r\n\r\n3;\"4.5\"\r\n",
                               {.delimiter = ';', .skip_lines = 1});
  ASSERT_EQ(table.type(), f64({2, 2}));
  EXPECT_THAT(table.data<double>(), ElementsAre(1, 2, 3, 4.5));
  EXPECT_THAT(csv_of("1\t 2\n3\t4 \n", {.delimiter = '\t'}).data<double>(),
              ElementsAre(1, 2, 3, 4));
  EXPECT_THAT(csv_of("  1   2\t3  \n4 5 6", {.delimiter = ' '}).data<double>(),
              ElementsAre(1, 2, 3, 4, 5, 6));
  EXPECT_THAT(csv_of("1,2\n  # a note\n3,4\n").data<double>(), ElementsAre(1, 2, 3, 4));
}

TEST(LoadCsv, ReadsEachKindOfNumber) {
  EXPECT_THAT(csv_of("-128,127", {.dtype = DType::kS8}).data<std::int8_t>(),
              ElementsAre(-128, 127));
  EXPECT_THAT(csv_of("18446744073709551615,0", {.dtype = DType::kU64}).data<std::uint64_t>(),
              ElementsAre(std::numeric_limits<std::uint64_t>::max(), 0));
  EXPECT_THAT(csv_of("-9223372036854775808", {.dtype = DType::kS64}).data<std::int64_t>(),
              ElementsAre(std::numeric_limits<std::int64_t>::min()));
  EXPECT_THAT(csv_of("0,1,true,False", {.dtype = DType::kPred}).data<bool>(),
              ElementsAre(false, true, true, false));
  const Literal floats = csv_of("inf,-inf,nan,1e-60,3.4028235e38", {.dtype = DType::kF32});
  EXPECT_EQ(floats.data<float>()[1], -std::numeric_limits<float>::infinity());
  EXPECT_TRUE(std::isnan(floats.data<float>()[2]));
  EXPECT_EQ(floats.data<float>()[3], 0.0f);
  EXPECT_EQ(floats.data<float>()[4], std::numeric_limits<float>::max());
  EXPECT_EQ(csv_of("1e-400,-1e-400").data<double>()[0], 0.0);
  EXPECT_EQ(static_cast<float>(csv_of("65504", {.dtype = DType::kF16}).item<float16>()), 65504.0f);
  EXPECT_EQ(static_cast<int>(csv_of("-8", {.dtype = DType::kS4}).item<int4>()), -8);
}

TEST(LoadCsv, GivesEmptyFieldsTheValueForThem) {
  const Literal table = csv_of("1,,3\n,5,\n", {.missing = -1});
  EXPECT_THAT(table.data<double>(), ElementsAre(1, -1, 3, -1, 5, -1));
  EXPECT_TRUE(std::isnan(csv_of("1,", {.missing = NAN}).data<double>()[1]));
}

/// The file is refused at this line and column, with a text that says where.
void expect_refused_at(std::int64_t line, std::int64_t column, const std::string& text,
                       const std::vector<std::string>& parts, const CsvOptions& options = {}) {
  const std::string path = write_csv(text);
  try {
    (void)load_csv(path, options);
    ADD_FAILURE() << "accepted: " << text;
  } catch (const ParseError& error) {
    EXPECT_EQ(error.line(), line) << error.what();
    EXPECT_EQ(error.column(), column) << error.what();
    EXPECT_THAT(error.what(),
                HasSubstr(path + ":" + std::to_string(line) + ":" + std::to_string(column) + ": "));
    for (const std::string& part : parts) EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(LoadCsv, NamesLineAndColumnOfWhatIsWrong) {
  expect_refused_at(2, 3, "1,2\n3,x4\n", {"field 2", "`x4`", "no number"});
  expect_refused_at(1, 1, "time,value\n1,2\n", {"`time`", "skip_lines"});
  expect_refused_at(3, 1, "1,2\n\n3\n", {"1 number", "2 in line 1"});
  expect_refused_at(2, 1, "1\n2,3\n", {"2 numbers", "1 in line 1", "delimiter"});
  expect_refused_at(1, 3, "1,,2\n", {"field 2 is empty", "missing"});
  expect_refused_at(1, 3, "1,\n", {"field 2 is empty"});
  expect_refused_at(1, 4, "1, 300", {"`300`", "u8"}, {.dtype = DType::kU8});
  expect_refused_at(1, 1, "-1", {"`-1`", "u8"}, {.dtype = DType::kU8});
  expect_refused_at(1, 1, "2.5", {"no integer", "s32"}, {.dtype = DType::kS32});
  expect_refused_at(1, 1, "1e39", {"f32"}, {.dtype = DType::kF32});
  expect_refused_at(1, 1, "1e400", {"f64"});
  expect_refused_at(1, 1, "70000", {"f16"}, {.dtype = DType::kF16});
  expect_refused_at(1, 1, "nan", {"f4e2m1fn"}, {.dtype = DType::kF4E2M1FN});
  expect_refused_at(1, 3, "1,2", {"false or true"}, {.dtype = DType::kPred});
  expect_refused_at(1, 3, "1,\"2", {"quote"});
  expect_refused_at(1, 7, "1,\"2\" 3", {"delimiter"});
  expect_refused_at(1, 1, "1.5.2", {"no number"});
  expect_refused_at(1, 1, "0x10", {"no number"});
  expect_refused_at(1, 3, "1,", {"cannot hold"}, {.dtype = DType::kS32, .missing = NAN});
}

TEST(LoadCsv, RefusesOptionsThatReadNothing) {
  using testing::expect_parts, testing::message_of;
  const std::string path = write_csv("1");
  expect_parts(message_of([&] { (void)load_csv(path, {.dtype = DType::kC64}); }), {"c64", ".npy"});
  expect_parts(message_of([&] { (void)load_csv(path, {.delimiter = '.'}); }), {"delimiter"});
  expect_parts(message_of<ParseError>([] { (void)load_csv(csv_path("no_such_file.csv")); }),
               {"no_such_file.csv", "cannot be read"});
  expect_parts(message_of<ParseError>([] { (void)load_csv(::testing::TempDir()); }),
               {"cannot be read"});
}

TEST(SaveCsv, WritesALinePerRow) {
  const std::string path = csv_path("saved.csv");
  save_csv(path, Literal::from<double>({1, 0.1, -2, 1e300}, {2, 2}));
  EXPECT_EQ(csv_file(path), "1,0.1\n-2,1e+300\n");
  save_csv(path, Literal::from<float>({0.5f, 3}, {2}), {.header = "x"});
  EXPECT_EQ(csv_file(path), "x\n0.5\n3\n");
  save_csv(path, Literal::scalar(7));
  EXPECT_EQ(csv_file(path), "7\n");
  save_csv(path, Literal::from({true, false}, {1, 2}), {.delimiter = '\t'});
  EXPECT_EQ(csv_file(path), "1\t0\n");
}

TEST(SaveCsv, IsReadBackBitByBit) {
  const std::string path = csv_path("again.csv");
  const float least = std::numeric_limits<float>::denorm_min();
  const Literal floats = Literal::from<float>(
      {0.1f, 1.0f / 3, least, -0.0f, std::numeric_limits<float>::max(), -INFINITY}, {2, 3});
  save_csv(path, floats);
  EXPECT_TRUE(load_csv(path, {.dtype = DType::kF32}).identical(floats));
  const Literal doubles = Literal::from<double>({0.1, 1e-310, 2.0 / 3}, {3, 1});
  save_csv(path, doubles, {.header = "value"});
  EXPECT_TRUE(load_csv(path, {.skip_lines = 1}).identical(doubles));
  const Literal nan = Literal::from<double>({NAN, -NAN}, {1, 2});
  save_csv(path, nan);
  EXPECT_EQ(csv_file(path), "nan,nan\n");
  for (int i = 0; i < kDTypeCount; i++) {
    const auto dtype = static_cast<DType>(i);
    if (is_complex(dtype)) continue;
    const Literal zeros = Literal::zeros({dtype, {2, 2}});
    save_csv(path, zeros);
    EXPECT_TRUE(load_csv(path, {.dtype = dtype}).identical(zeros)) << dtype;
  }
}

TEST(SaveCsv, RefusesWhatHasNoLines) {
  using testing::expect_parts, testing::message_of;
  const std::string path = csv_path("refused.csv");
  expect_parts(message_of([&] { save_csv(path, Literal::zeros(f32({2, 2, 2}))); }), {"f32[2,2,2]"});
  expect_parts(message_of([&] { save_csv(path, Literal::zeros(c64({2}))); }), {"c64"});
  expect_parts(message_of([&] { save_csv(path, Literal::scalar(1), {.header = "a\nb"}); }),
               {"header"});
  expect_parts(
      message_of<ExecutionError>([] { save_csv("/no/such/folder/x.csv", Literal::scalar(1)); }),
      {"/no/such/folder/x.csv", "cannot be saved"});
}

}  // namespace
}  // namespace rondo
