#include "base/npy.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <complex>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/npy_header.h"

namespace rondo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;
using ::testing::ThrowsMessage;

using namespace std::string_literals;

/// A file of version `version` with this dictionary and data.
std::string npy(int version, const std::string& dictionary, const std::string& data) {
  const std::string header = dictionary + "\n";
  std::string file = "\x93NUMPY"s + static_cast<char>(version) + '\0';
  for (int i = 0; i < (version == 1 ? 2 : 4); ++i)
    file += static_cast<char>(header.size() >> (8 * i) & 255);
  return file + header + data;
}
std::string npy(const std::string& descr, const std::string& shape, const std::string& data) {
  return npy(1, "{'descr': '" + descr + "', 'fortran_order': False, 'shape': " + shape + ", }",
             data);
}

/// parse_npy on a copy of the exact size, so that a sanitizer detects a read past the end.
Literal parse(const std::string& file) {
  const std::unique_ptr<char[]> exact(new char[file.size()]);
  std::copy(file.begin(), file.end(), exact.get());
  return parse_npy({exact.get(), file.size()}, "a.npy");
}

void expect_error(const std::string& file, const std::vector<std::string>& parts) {
  try {
    parse(file);
    ADD_FAILURE() << "no error: " << parts[0];
  } catch (const ParseError& error) {
    EXPECT_THAT(error.what(), StartsWith("a.npy: "));
    for (const std::string& part : parts) EXPECT_THAT(error.what(), HasSubstr(part));
    EXPECT_EQ(error.line(), 0);
    EXPECT_EQ(error.column(), 0);
  }
}

class NpyFile : public ::testing::Test {
 protected:
  NpyFile() {
    std::string pattern = ::testing::TempDir() + "rondo_npy_XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~NpyFile() override { std::filesystem::remove_all(folder_); }
  std::string path(const std::string& name) const { return folder_ + "/" + name; }
  std::string write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
    return path(name);
  }
  static std::string read(const std::string& file) {
    std::ifstream in(file, std::ios::binary);
    return {std::istreambuf_iterator<char>(in), {}};
  }

 private:
  std::string folder_;
};

// What NumPy 2 wrote for numpy.save(file, numpy.arange(3, dtype='float32')), and for a scalar and
// two axes.
TEST(NpyHeader, IsNumPysByteForByte) {
  EXPECT_EQ(npy_header(f32({3})),
            "\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (3,), }"s +
                std::string(60, ' ') + "\n");
  EXPECT_EQ(npy_header(f32()),
            "\x93NUMPY\x01\0v\0{'descr': '<f4', 'fortran_order': False, 'shape': (), }"s +
                std::string(62, ' ') + "\n");
  EXPECT_EQ(npy_header(f64({2, 3})),
            "\x93NUMPY\x01\0v\0{'descr': '<f8', 'fortran_order': False, 'shape': (2, 3), }"s +
                std::string(58, ' ') + "\n");
  // If the header with its padding for growth already ends on a multiple of 64, NumPy adds 64 more.
  for (std::int64_t rank = 0; rank < 60; ++rank) {
    const std::vector<std::int64_t> dims(static_cast<std::size_t>(rank), 1);
    const std::string header = npy_header({DType::kS8, dims});
    EXPECT_EQ(header.size() % 64, 0u);
    const std::size_t bare = header.find_last_not_of(" \n") + 1 + (rank > 0 ? 20 : 0);
    EXPECT_GT(header.size(), bare);
    EXPECT_LE(header.size(), bare + 65);
  }
}

TEST(NpyHeader, DescribesEachDType) {
  const std::vector<std::pair<DType, std::string>> codes = {
      {DType::kPred, "|b1"},
      {DType::kS8, "|i1"},
      {DType::kS16, "<i2"},
      {DType::kS32, "<i4"},
      {DType::kS64, "<i8"},
      {DType::kU8, "|u1"},
      {DType::kU16, "<u2"},
      {DType::kU32, "<u4"},
      {DType::kU64, "<u8"},
      {DType::kF16, "<f2"},
      {DType::kBF16, "<V2"},
      {DType::kF32, "<f4"},
      {DType::kF64, "<f8"},
      {DType::kC64, "<c8"},
      {DType::kC128, "<c16"},
      // The bytes of what NumPy has no name for.
      {DType::kS2, "|i1"},
      {DType::kU2, "|u1"},
      {DType::kS4, "|i1"},
      {DType::kU4, "|u1"},
      {DType::kF4E2M1FN, "|u1"},
      {DType::kF8E3M4, "|u1"},
      {DType::kF8E4M3, "|u1"},
      {DType::kF8E4M3FN, "|u1"},
      {DType::kF8E4M3B11FNUZ, "|u1"},
      {DType::kF8E4M3FNUZ, "|u1"},
      {DType::kF8E5M2, "|u1"},
      {DType::kF8E5M2FNUZ, "|u1"}};
  ASSERT_EQ(codes.size(), static_cast<std::size_t>(kDTypeCount));
  for (const auto& [dtype, code] : codes) {
    EXPECT_THAT(npy_header({dtype, {}}), HasSubstr("{'descr': '" + code + "', 'fortran_order'"));
  }
}

TEST(NpyHeader, TooLongForVersionOneTakesVersionTwo) {
  const std::vector<std::int64_t> dims(30000, 1);
  const std::string header = npy_header({DType::kF32, dims});
  EXPECT_EQ(header.substr(6, 2), "\x02\0"s);
  EXPECT_EQ(header.size() % 64, 0u);
  EXPECT_EQ(parse(header + "\0\0\x80?"s).type(), (TensorType{DType::kF32, dims}));
}

TEST(ParseNpy, Versions) {
  for (const int version : {1, 2, 3}) {
    const Literal literal =
        parse(npy(version, "{'descr': '<i2', 'fortran_order': False, 'shape': (2, 2), }",
                  "\1\0\2\0\xff\xff\0\x80"s));
    EXPECT_EQ(literal.type(), s16({2, 2}));
    EXPECT_THAT(literal.data<std::int16_t>(), ElementsAre(1, 2, -1, -32768));
  }
}

TEST(ParseNpy, EachDType) {
  EXPECT_THAT(parse(npy("|i1", "(2,)", "\x7f\x80")).data<std::int8_t>(), ElementsAre(127, -128));
  EXPECT_THAT(parse(npy("<i4", "(1,)", "\xfe\xff\xff\xff")).data<std::int32_t>(), ElementsAre(-2));
  EXPECT_THAT(parse(npy("<i8", "(1,)", "\1\0\0\0\0\0\0\x80"s)).data<std::int64_t>(),
              ElementsAre(INT64_MIN + 1));
  EXPECT_THAT(parse(npy("|u1", "(1,)", "\xff")).data<std::uint8_t>(), ElementsAre(255));
  EXPECT_THAT(parse(npy("<u2", "(1,)", "\xff\xfe")).data<std::uint16_t>(), ElementsAre(0xfeff));
  EXPECT_THAT(parse(npy("<u4", "(1,)", "\0\0\0\x80"s)).data<std::uint32_t>(),
              ElementsAre(0x80000000u));
  EXPECT_THAT(parse(npy("<u8", "(1,)", "\xff\xff\xff\xff\xff\xff\xff\xff")).data<std::uint64_t>(),
              ElementsAre(UINT64_MAX));
  EXPECT_EQ(parse(npy("<f2", "()", "\0\x3c"s)).item<float16>().bits, 0x3c00);
  EXPECT_EQ(parse(npy("|V2", "()", "\x80?")).item<bfloat16>().bits, 0x3f80);
  EXPECT_EQ(parse(npy("<V2", "()", "\x80?")).type(), bf16());
  EXPECT_EQ(parse(npy("<f4", "()", "\0\0 \xc0"s)).item<float>(), -2.5f);
  EXPECT_EQ(parse(npy("<f8", "()", "\0\0\0\0\0\0\x04@"s)).item<double>(), 2.5);
  EXPECT_EQ(parse(npy("<c8", "()", "\0\0\x80?\0\0\0\xc0"s)).item<std::complex<float>>(),
            std::complex<float>(1, -2));
  EXPECT_EQ(
      parse(npy("<c16", "()", "\0\0\0\0\0\0\xf0?\0\0\0\0\0\0\0\xc0"s)).item<std::complex<double>>(),
      std::complex<double>(1, -2));
  // The byte order of single bytes does not matter.
  EXPECT_EQ(parse(npy("<i1", "()", "\x05")).item<std::int8_t>(), 5);
  EXPECT_EQ(parse(npy(">u1", "()", "\x05")).item<std::uint8_t>(), 5);
}

TEST(ParseNpy, PredBytesBecomeZeroOrOne) {
  const Literal literal = parse(npy("|b1", "(4,)", "\0\1\2\xff"s));
  EXPECT_THAT(literal.reinterpreted(u8({4})).data<std::uint8_t>(), ElementsAre(0, 1, 1, 1));
}

TEST(ParseNpy, Shapes) {
  EXPECT_EQ(parse(npy("|u1", "()", "a")).shape(), Shape());
  EXPECT_EQ(parse(npy("|u1", "(1,)", "a")).shape(), (Shape{1}));
  EXPECT_EQ(parse(npy("|u1", "(2, 3)", "abcdef")).shape(), (Shape{2, 3}));
  EXPECT_EQ(parse(npy("|u1", "(2,3,)", "abcdef")).shape(), (Shape{2, 3}));
  EXPECT_EQ(parse(npy("|u1", "(3L, 1L)", "abc")).shape(), (Shape{3, 1}));
  EXPECT_EQ(parse(npy("|u1", "(0,)", "")).shape(), (Shape{0}));
  EXPECT_EQ(parse(npy("<c16", "(9223372036854775807, 0, 4)", "")).elements(), 0);
}

TEST(ParseNpy, DictionariesInOtherForms) {
  for (const std::string dictionary :
       {"{'shape':(2,),'fortran_order':False,'descr':'|u1'}",
        "{ \"descr\" : \"|u1\", \"fortran_order\" : False, \"shape\" : ( 2 , ) }",
        "  {\n'descr': '|u1',\t'fortran_order': False,\r\n'shape': (2,),\n}   "}) {
    EXPECT_EQ(parse(npy(1, dictionary, "ab")).type(), u8({2})) << dictionary;
  }
}

TEST(ParseNpyError, TruncatedHeader) {
  const std::string file = npy("<f4", "(2,)", "12345678");
  for (const std::size_t size : {0u, 1u, 6u, 7u, 8u, 9u}) {
    expect_error(file.substr(0, size),
                 {"the header is truncated: the file has " + std::to_string(size) + " bytes",
                  "Copy or save it again"});
  }
  const std::size_t header = file.size() - 8;
  expect_error(file.substr(0, 20),
               {"the file has 20 bytes, its header alone " + std::to_string(header)});
  expect_error(file.substr(0, header - 1), {"the header is truncated"});
  expect_error("\x93NUMPY\x02\0\1\0"s, {"the header is truncated"});
}

TEST(ParseNpyError, TruncatedData) {
  const std::string file = npy("<f4", "(2, 3)", std::string(24, 'x'));
  expect_error(file.substr(0, file.size() - 4), {"the data is truncated: f32[2,3] needs 24 bytes, "
                                                 "and 20 are there\n  Copy or save it again."});
  expect_error(file.substr(0, file.size() - 24), {"f32[2,3] needs 24 bytes, and 0 are there"});
}

TEST(ParseNpyError, TrailingBytes) {
  expect_error(npy("|u1", "(2,)", "abc"),
               {"1 bytes follow the data of u8[2]", "Save only one array to a file"});
  const std::string file = npy("<f4", "()", "1234");
  expect_error(file + file, {std::to_string(file.size()) + " bytes follow the data of f32[]"});
}

TEST(ParseNpy, FortranOrderIsTransposed) {
  // numpy.asfortranarray([[1, 2, 3], [4, 5, 6]], dtype='u1'): column by column.
  const Literal two =
      parse(npy(1, "{'descr': '|u1', 'fortran_order': True, 'shape': (2, 3), }", "\1\4\2\5\3\6"));
  EXPECT_THAT(two.data<std::uint8_t>(), ElementsAre(1, 2, 3, 4, 5, 6));
  // numpy.arange(24).reshape(2, 3, 4).ravel('F'): element (i, j, k) is at i + 2 (j + 3 k).
  std::string data(24 * 2, '\0');
  for (int i = 0; i < 2; i++) {
    for (int j = 0; j < 3; j++) {
      for (int k = 0; k < 4; k++)
        data[static_cast<std::size_t>(2 * (i + 2 * (j + 3 * k)))] =
            static_cast<char>(12 * i + 4 * j + k);
    }
  }
  const Literal three =
      parse(npy(1, "{'descr': '<i2', 'fortran_order': True, 'shape': (2, 3, 4), }", data));
  for (int i = 0; i < 24; i++)
    EXPECT_EQ(three.data<std::int16_t>()[static_cast<std::size_t>(i)], i);
  // It is written in C order again.
  EXPECT_THAT(npy_bytes(three), HasSubstr("'fortran_order': False, 'shape': (2, 3, 4)"));
  EXPECT_TRUE(parse(npy_bytes(three)).identical(three));
  const Literal flags =
      parse(npy(1, "{'descr': '|b1', 'fortran_order': True, 'shape': (2, 2), }", "\1\0\2\0"s));
  EXPECT_THAT(flags.data<bool>(), ElementsAre(true, true, false, false));
  EXPECT_EQ(
      parse(npy(1, "{'descr': '<f4', 'fortran_order': True, 'shape': (0, 3), }", "")).elements(),
      0);
}

TEST(ParseNpyError, BigEndian) {
  expect_error(npy(">f4", "()", "1234"), {"the array is big-endian (dtype '>f4')",
                                          "array.astype(array.dtype.newbyteorder('<'))"});
}

TEST(ParseNpyError, UnknownDType) {
  for (const std::string code :
       {"<U5", "|S3", "<M8[ns]", "<f16", "<c32", "|V4", "f4", "=f4", "", "<", "i", "<b1x"}) {
    expect_error(npy(code, "()", "1234"),
                 {"dtype '" + code + "' is unknown", "array.astype to bool, int8"});
  }
}

TEST(ParseNpyError, StructuredDType) {
  expect_error(
      npy(1, "{'descr': [('x', '<f4'), ('y', '<i4')], 'fortran_order': False, 'shape': (1,), }",
          "12345678"),
      {"the array has a structured dtype\n  Save each field as an array of its own."});
  expect_error(
      npy(1, "{'descr': ('<f4', (2,)), 'fortran_order': False, 'shape': (1,), }", "12345678"),
      {"structured dtype"});
}

TEST(ParseNpyError, ObjectArray) {
  expect_error(npy("|O", "(1,)", "x"),
               {"the array holds Python objects\n  Convert it with array.astype"});
}

TEST(ParseNpyError, MalformedHeader) {
  const std::string ok = "'descr': '|u1', 'fortran_order': False, 'shape': (1,)";
  const std::vector<std::pair<std::string, std::string>> cases = {
      {"", "'{' was expected at ''"},
      {"[]", "'{' was expected at '[]?'"},
      {"{}", "the key 'descr' is missing"},
      {"{'descr': '|u1', 'shape': (1,)}", "the key 'fortran_order' is missing"},
      {"{'descr': '|u1', 'fortran_order': False}", "the key 'shape' is missing"},
      {"{" + ok, "',' was expected at ''"},
      {"{" + ok + ", 'extra': 1}", "unexpected key 'extra'"},
      {"{" + ok + ", 'shape': (1,)}", "unexpected key 'shape'"},
      {"{" + ok + "} x", "something follows the dictionary"},
      {"{" + ok + "}\0"s, "something follows the dictionary"},
      {"{'descr': '|u1' 'fortran_order': False, 'shape': (1,)}",
       "',' was expected at ''fortran_order'"},
      {"{'descr' '|u1'}", "':' was expected"},
      {"{descr: '|u1'}", "a string was expected at 'descr"},
      {"{'descr: 1}", "a string without an end"},
      {"{'descr': 4}", "a string was expected at '4}"},
      {"{'descr': '|u1', 'fortran_order': 0, 'shape': (1,)}", "True or False was expected at '0,"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': 1}", "'(' was expected at '1}"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1)}", "the shape is no tuple"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1.5,)}", "',' was expected at '.5,"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (,)}", "a dimension was expected"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1,,)}", "a dimension was expected"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (True,)}",
       "a dimension was expected at 'True"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1, 2", "',' was expected"},
      {"{'descr': '|u1', 'fortran_order': False, 'shape': (1 2)}", "',' was expected at '2)"},
  };
  for (const auto& [dictionary, what] : cases) {
    SCOPED_TRACE(dictionary);
    expect_error(npy(1, dictionary, "a"),
                 {"malformed header: ", what, "Write the file again with numpy.save"});
  }
  expect_error("\x93NUMPY\x02\0\0\0\0\x40"s + std::string(100, ' '),
               {"malformed header: its length is given as 1073741824"});
}

TEST(ParseNpyError, Shape) {
  expect_error(npy("|u1", "(2, -1)", "ab"),
               {"malformed header: shape [2,-1]: dimension 1 is negative"});
  expect_error(npy("|u1", "(9223372036854775808,)", ""),
               {"malformed header: a dimension of the shape is past 2^63"});
  expect_error(npy("|u1", "(4611686018427387904, 4)", ""), {"has more than 2^62 elements"});
  expect_error(npy("<c16", "(4611686018427387904,)", ""),
               {"the shape overflows, as c128[4611686018427387904] has more than"});
  expect_error(npy("<f4", "(1000000000000,)", "abcd"),
               {"f32[1000000000000] needs 4000000000000 bytes, and 4 are there"});
}

TEST(ParseNpyError, NotNumPy) {
  expect_error("hello, world", {"this is no .npy file", "Write it with numpy.save."});
  expect_error("\x93NUMPX\1\0"s, {"this is no .npy file"});
  expect_error("PK\x03\x04 and so on",
               {"this is a zip archive", "save each array to its own file"});
  expect_error("\x93NUMPY\4\0v\0"s, {"version 4.0 of the .npy format is unknown"});
  expect_error("\x93NUMPY\0\0v\0"s, {"version 0.0"});
}

TEST_F(NpyFile, SavedArraysLoadTheSame) {
  std::vector<Literal> literals = {Literal::from({true, false, true}, {3}),
                                   Literal::from<std::int8_t>({-1, 2}, {2, 1}),
                                   Literal::scalar(std::int16_t{-300}),
                                   Literal::from({1, -2, 3, -4}, {2, 2}),
                                   Literal::from<std::int64_t>({INT64_MIN}, {1}),
                                   Literal::scalar(std::uint8_t{200}),
                                   Literal::scalar(std::uint16_t{60000}),
                                   Literal::scalar(4000000000u),
                                   Literal::scalar(UINT64_MAX),
                                   Literal::from({float16(1.5f), float16::from_bits(0x7e01)}, {2}),
                                   Literal::from({bfloat16(-0.0f)}, {1}),
                                   Literal::from({1.5f, -0.0f}, {2}),
                                   Literal::scalar(3.25),
                                   Literal::scalar(std::complex<float>(1, 2)),
                                   Literal::from({std::complex<double>(-1, 0.5)}, {1, 1, 1}),
                                   Literal::zeros(f32({0, 5})),
                                   Literal(),
                                   Literal::zeros(s32({100, 101}))};
  for (const Literal& literal : literals) {
    const std::string file = path("a.npy");
    literal.save_npy(file);
    EXPECT_TRUE(Literal::load_npy(file).identical(literal)) << literal;
    EXPECT_EQ(std::filesystem::file_size(file),
              npy_header(literal.type()).size() + static_cast<std::size_t>(literal.type().bytes()));
  }
}

TEST_F(NpyFile, SaveWritesHeaderAndData) {
  Literal::from<std::int32_t>({1, -1}, {2}).save_npy(path("a.npy"));
  EXPECT_EQ(read(path("a.npy")), npy_header(s32({2})) + "\1\0\0\0\xff\xff\xff\xff"s);
}

TEST_F(NpyFile, LoadsHeadersLongerThanTheFirstRead) {
  const std::string file = write(
      "a.npy",
      npy(2, "{'descr': '|u1', 'fortran_order': False, 'shape': (3,), }" + std::string(9000, ' '),
          "abc"));
  EXPECT_THAT(Literal::load_npy(file).data<std::uint8_t>(), ElementsAre('a', 'b', 'c'));
  const std::string cut = write("b.npy", read(file).substr(0, 6000));
  EXPECT_THAT([&] { Literal::load_npy(cut); },
              ThrowsMessage<ParseError>(HasSubstr("the header is truncated: the file has 6000")));
}

TEST_F(NpyFile, LoadErrorsNameTheFile) {
  EXPECT_THAT([&] { Literal::load_npy(path("missing.npy")); },
              ThrowsMessage<ParseError>(
                  path("missing.npy") +
                  ": the file cannot be opened: No such file or directory\n  Check the path."));
  EXPECT_THAT([&] { Literal::load_npy(path("")); },
              ThrowsMessage<ParseError>(
                  path("") + ": this is a directory\n  Give the path of an .npy file in it."));
  const std::string cut = write("cut.npy", npy("<f8", "(2,)", "12345678"));
  EXPECT_THAT([&] { Literal::load_npy(cut); },
              ThrowsMessage<ParseError>(cut + ": the data is truncated: f64[2] needs 16 bytes, and "
                                              "8 are there\n  Copy or save it again."));
  const std::string empty = write("empty.npy", "");
  EXPECT_THAT(
      [&] { Literal::load_npy(empty); },
      ThrowsMessage<ParseError>(HasSubstr("the header is truncated: the file has 0 bytes")));
  const std::string pred_file = write("pred.npy", npy("|b1", "(2,)", "\0\x7f"s));
  EXPECT_THAT(Literal::load_npy(pred_file).reinterpreted(u8({2})).data<std::uint8_t>(),
              ElementsAre(0, 1));
}

TEST_F(NpyFile, LoadsFromAPipe) {
  const std::string pipe = path("pipe");
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  const Literal big = Literal::zeros(s32({5000}));
  std::thread writer([&] { big.save_npy(pipe); });
  const Literal loaded = Literal::load_npy(pipe);
  writer.join();
  EXPECT_TRUE(loaded.identical(big));
}

TEST_F(NpyFile, DevicesWithoutEndAreRefused) {
  EXPECT_THAT([] { Literal::load_npy("/dev/zero"); },
              ThrowsMessage<ParseError>(HasSubstr("this is no .npy file")));
}

TEST_F(NpyFile, SaveErrorsNameFileTypeAndReason) {
  const Literal literal = Literal::zeros(f32({2}));
  EXPECT_THAT([&] { literal.save_npy(path("no/such/folder.npy")); },
              ThrowsMessage<ExecutionError>(
                  AllOf(StartsWith(path("no/such/folder.npy") + ": f32[2] cannot be saved: "),
                        HasSubstr("No such file or directory"), HasSubstr("Check the folder"))));
  EXPECT_THROW(literal.save_npy(path("")), ExecutionError);
  EXPECT_THAT([&] { literal.save_npy("/dev/full"); },
              ThrowsMessage<ExecutionError>(HasSubstr("No space left on device")));
  EXPECT_THAT([&] { Literal::zeros(f32({1 << 20})).save_npy("/dev/full"); },
              ThrowsMessage<ExecutionError>(HasSubstr("No space left on device")));
}

// Whatever the bytes, the result is an array or a ParseError.
TEST(ParseNpy, SurvivesMutations) {
  std::vector<std::string> valid;
  for (const int version : {1, 2, 3}) {
    valid.push_back(npy(version, "{'descr': '<f4', 'fortran_order': False, 'shape': (2, 3), }",
                        std::string(24, 'x')));
  }
  for (const TensorType& type : {pred({5}), s8(), u16({3, 0}), bf16({2}), c128({1, 2}), s64({})}) {
    valid.push_back(npy_header(type) + std::string(static_cast<std::size_t>(type.bytes()), '\1'));
  }
  valid.push_back(npy(
      1, "{'descr': [('x', '<f4')], 'fortran_order': True, 'shape': (9223372036854775807, 2), }",
      ""));
  for (const std::string& file : valid) {
    for (std::size_t size = 0; size < file.size(); ++size)
      EXPECT_THROW(parse(file.substr(0, size)), ParseError) << size;
  }

  const std::string alphabet = "{}()[]'\",:|<>=0123456789-LTrueFalsdcO \n\\\x80\xff";
  std::mt19937 random(2024);
  const auto below = [&](std::size_t n) {
    return std::uniform_int_distribution<std::size_t>(0, n - 1)(random);
  };
  int arrays = 0;
  int errors = 0;
  for (int round = 0; round < 40000; ++round) {
    std::string file = valid[below(valid.size())];
    for (std::size_t edits = 1 + below(4); edits > 0 && !file.empty(); --edits) {
      const std::size_t at = below(file.size());
      const std::size_t near_front = std::min(at, below(80));
      switch (below(7)) {
        case 0:
          file[at] = static_cast<char>(random());
          break;
        case 1:
          file[near_front] = alphabet[below(alphabet.size())];
          break;
        case 2:
          file.resize(at);
          break;
        case 3:
          file.erase(near_front, 1 + below(3));
          break;
        case 4:
          file.insert(near_front, 1 + below(3), alphabet[below(alphabet.size())]);
          break;
        case 5:
          file += static_cast<char>(random());
          break;
        default:
          file[file.size() - 1 - std::min(file.size() - 1, below(24))] =
              static_cast<char>(random());  // data
          break;
      }
    }
    try {
      const Literal literal = parse(file);
      ASSERT_LE(static_cast<std::size_t>(literal.type().bytes()), file.size());
      ASSERT_FALSE(literal.str().empty());
      ++arrays;
    } catch (const ParseError&) {
      ++errors;
    }
  }
  EXPECT_GT(arrays, 1000);
  EXPECT_GT(errors, 1000);
}

}  // namespace
}  // namespace rondo
