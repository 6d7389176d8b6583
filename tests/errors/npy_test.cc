// .npy files that cannot be read: each message names the file, what is wrong with it, and what to
// do about it.
#include <cstdio>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "errors/message.h"

namespace rondo {
namespace {

using testing::expect_parts;
using testing::message_of;

class NpyErrors : public ::testing::Test {
 protected:
  NpyErrors() : folder_(::testing::TempDir() + "rondo_npy_errors_XXXXXX") {
    if (!mkdtemp(folder_.data())) ADD_FAILURE() << "no folder " << folder_;
    const std::string path = folder_ + "/good.npy";
    Literal::from<float>({1, 2, 3, 4, 5, 6}, {2, 3}).save_npy(path);
    std::ifstream in(path, std::ios::binary);
    good.assign(std::istreambuf_iterator<char>(in), {});
  }
  ~NpyErrors() override { std::filesystem::remove_all(folder_); }

  /// Loads a file of these bytes; the message must begin with its path.
  void expect_refused(const std::string& bytes, const std::vector<std::string>& parts) const {
    const std::string path = folder_ + "/array.npy";
    std::ofstream(path, std::ios::binary | std::ios::trunc) << bytes;
    const std::string message = message_of<ParseError>([&] { Literal::load_npy(path); });
    EXPECT_EQ(message.rfind(path + ": ", 0), 0u) << message;
    expect_parts(message, parts);
  }
  /// The good file with one text of its header replaced by another of the same length.
  std::string with(const std::string& text, const std::string& other) const {
    EXPECT_EQ(text.size(), other.size());
    std::string bytes = good;
    const std::size_t at = bytes.find(text);
    EXPECT_NE(at, std::string::npos) << text;
    return at == std::string::npos ? bytes : bytes.replace(at, text.size(), other);
  }
  std::string good;

 private:
  std::string folder_;
};

TEST_F(NpyErrors, Truncated) {
  constexpr char kRemedy[] = "Copy or save it again";
  expect_refused("", {"the header is truncated", "0 bytes", kRemedy});
  expect_refused(good.substr(0, 9), {"the header is truncated", "9 bytes", kRemedy});
  expect_refused(good.substr(0, 60), {"the header is truncated", "60 bytes", "128", kRemedy});
  expect_refused(good.substr(0, good.size() - 4),
                 {"the data is truncated", "f32[2,3] needs 24 bytes, and 20 are there", kRemedy});
  expect_refused(with("(2, 3)", "(2, 9)"), {"the data is truncated", "f32[2,9]", kRemedy});
  // Every truncated file is rejected, wherever it is cut.
  for (std::size_t size = 0; size < good.size(); size++)
    expect_refused(good.substr(0, size), {"truncated"});
}

TEST_F(NpyErrors, BigEndianUnknownDtype) {
  expect_refused(with("<f4", ">f4"), {"big-endian (dtype '>f4')", "newbyteorder('<')"});
  expect_refused(with("<f4", "<U4"), {"dtype '<U4' is unknown", "array.astype", "float32"});
  expect_refused(with("<f4", "<M8"), {"dtype '<M8' is unknown", "array.astype"});
  expect_refused(with("'<f4'", "'|O' "), {"Python objects", "array.astype"});
}

TEST_F(NpyErrors, NoNpyFile) {
  expect_refused("1,2,3\n4,5,6\n7,8,9\n", {"this is no .npy file", "\\x93NUMPY", "numpy.save"});
  expect_refused("PK\003\004 the rest of an archive", {"zip archive", "numpy.savez", "numpy.save"});
  expect_parts(message_of<ParseError>([] { Literal::load_npy("/no/such/folder/x.npy"); }),
               {"/no/such/folder/x.npy: ", "cannot be opened", "No such file", "Check the path"});
  const std::string folder = ::testing::TempDir();
  expect_parts(message_of<ParseError>([&] { Literal::load_npy(folder); }), {"this is a directory"});
}

TEST_F(NpyErrors, HeaderLengthPastTheEnd) {
  std::string bytes = good;
  bytes[8] = bytes[9] = '\xff';
  expect_refused(bytes, {"the header is truncated", "its header alone 65545"});
  bytes = good;
  bytes[6] = 2;  // version 2, whose length has four bytes
  expect_refused(bytes, {"malformed header: its length is given as", "numpy.save"});
  bytes = good;
  bytes[6] = 9;
  expect_refused(bytes, {"version 9.0 of the .npy format is unknown", "1 to 3"});
}

TEST_F(NpyErrors, HeaderThatMakesNoSense) {
  expect_refused(with("descr", "desks"), {"malformed header", "unexpected key 'desks'"});
  expect_refused(with("(2, 3)", "(2,-3)"), {"malformed header", "[2,-3]", "negative"});
  expect_refused(with("(2, 3)", "(2; 3)"), {"malformed header", "numpy.save"});
  expect_refused(with("'shape'", "'descr'"), {"malformed header"});
  expect_refused(good + "xx", {"2 bytes follow the data of f32[2,3]", "one array to a file"});
}

TEST_F(NpyErrors, SavingWhereNothingCanBeSaved) {
  expect_parts(
      message_of<ExecutionError>([] { Literal::scalar(1).save_npy("/no/such/folder/x.npy"); }),
      {"/no/such/folder/x.npy: s32[] cannot be saved", "No such file", "Check the folder"});
}

}  // namespace
}  // namespace rondo
