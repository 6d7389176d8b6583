#include "base/npy_header.h"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <system_error>
#include <vector>

#include "base/small_format.h"
#include "rondo/error.h"

namespace rondo {
namespace {

constexpr std::string_view kNpyMagic = "\x93NUMPY";
constexpr std::size_t kNpyVersionEnd = 8;
constexpr std::size_t kNpyAlignment = 64;

struct NpyDType {
  std::string_view code;
  DType dtype;
};
constexpr NpyDType kNpyDTypes[] = {
    {"b1", DType::kPred}, {"i1", DType::kS8},  {"i2", DType::kS16},  {"i4", DType::kS32},
    {"i8", DType::kS64},  {"u1", DType::kU8},  {"u2", DType::kU16},  {"u4", DType::kU32},
    {"u8", DType::kU64},  {"f2", DType::kF16}, {"V2", DType::kBF16}, {"f4", DType::kF32},
    {"f8", DType::kF64},  {"c8", DType::kC64}, {"c16", DType::kC128}};

/// Text from the file, quoted for a message.
std::string quoted_npy(std::string_view text) {
  std::string result = "'";
  for (const char c : text.substr(0, 40)) result += c >= ' ' && c <= '~' ? c : '?';
  return result += text.size() > 40 ? "...'" : "'";
}

/// Reads the dictionary of the header. Python's grammar allows more than NumPy writes; anything
/// else counts as malformed.
class NpyHeaderReader {
 public:
  NpyHeaderReader(std::string_view text, const std::string& name) : text_(text), name_(name) {}

  NpyType read() {
    expect('{');
    while (!accept('}')) {
      const std::string_view key = read_string();
      expect(':');
      if (key == "descr" && !dtype_) {
        dtype_ = read_dtype();
      } else if (key == "fortran_order" && !fortran_order_) {
        fortran_order_ = read_bool();
      } else if (key == "shape" && !shape_) {
        shape_ = read_shape();
      } else {
        fail_malformed("unexpected key " + quoted_npy(key));
      }
      if (accept('}')) break;
      expect(',');
    }
    if (next() != '\0' || position_ < text_.size())
      fail_malformed("something follows the dictionary");
    if (!dtype_) fail_malformed("the key 'descr' is missing");
    if (!fortran_order_) fail_malformed("the key 'fortran_order' is missing");
    if (!shape_) fail_malformed("the key 'shape' is missing");
    return {{*dtype_, *shape_}, *fortran_order_};
  }

 private:
  [[noreturn]] void fail_malformed(const std::string& what) const {
    fail_npy(name_, "malformed header: " + what + "\n  Write the file again with numpy.save.");
  }

  /// The next character that is not a space; 0 at the end.
  char next() {
    while (position_ < text_.size() && std::strchr(" \t\r\n", text_[position_]) != nullptr &&
           text_[position_] != '\0') {
      ++position_;
    }
    return position_ < text_.size() ? text_[position_] : '\0';
  }
  bool accept(char c) {
    if (next() != c || position_ == text_.size()) return false;
    ++position_;
    return true;
  }
  void expect(char c) {
    if (!accept(c)) {
      fail_malformed(std::string("'") + c + "' was expected at " +
                     quoted_npy(text_.substr(position_)));
    }
  }
  bool accept_word(std::string_view word) {
    next();
    if (text_.substr(position_, word.size()) != word) return false;
    position_ += word.size();
    return true;
  }

  std::string_view read_string() {
    const char quote = next();
    if (quote != '\'' && quote != '"')
      fail_malformed("a string was expected at " + quoted_npy(text_.substr(position_)));
    const std::size_t begin = position_ + 1;
    const std::size_t end = text_.find(quote, begin);
    if (end == std::string_view::npos) fail_malformed("a string without an end");
    position_ = end + 1;
    return text_.substr(begin, end - begin);
  }

  bool read_bool() {
    if (accept_word("True")) return true;
    if (accept_word("False")) return false;
    fail_malformed("True or False was expected at " + quoted_npy(text_.substr(position_)));
  }

  DType read_dtype() {
    if (next() == '[' || next() == '(') {
      fail_npy(name_,
               "the array has a structured dtype\n  Save each field as an array of its own.");
    }
    const std::string_view code = read_string();
    const std::string_view kind = code.substr(std::min<std::size_t>(1, code.size()));
    if (kind.substr(0, 1) == "O") {
      fail_npy(name_,
               "the array holds Python objects\n  Convert it with array.astype to a numeric dtype "
               "first.");
    }
    for (const NpyDType& known : kNpyDTypes) {
      if (kind != known.code) continue;
      if (code[0] == '<' || code[0] == '|') return known.dtype;
      if (code[0] == '>' && byte_width(known.dtype) == 1) return known.dtype;
      if (code[0] == '>') {
        fail_npy(name_, "the array is big-endian (dtype " + quoted_npy(code) +
                            ")\n  Convert it with array.astype(array.dtype.newbyteorder('<')).");
      }
    }
    fail_npy(name_, "dtype " + quoted_npy(code) +
                        " is unknown\n  Convert it with array.astype to bool, int8 to int64, uint8 "
                        "to uint64, float16, float32, "
                        "float64, complex64 or complex128, or to ml_dtypes.bfloat16 (V2).");
  }

  Shape read_shape() {
    expect('(');
    std::vector<std::int64_t> dims;
    bool comma = true;
    while (!accept(')')) {
      if (!comma) expect(',');
      dims.push_back(read_dimension());
      comma = accept(',');
    }
    if (dims.size() == 1 && !comma) fail_malformed("the shape is no tuple");
    try {
      return dims;
    } catch (const TraceError& error) {
      const std::string_view text = error.what();
      fail_malformed(std::string(text.substr(0, text.find('\n'))));
    }
  }

  std::int64_t read_dimension() {
    next();
    std::int64_t dim = 0;
    const char* const begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), dim);
    if (error == std::errc::result_out_of_range)
      fail_malformed("a dimension of the shape is past 2^63");
    if (error != std::errc())
      fail_malformed("a dimension was expected at " + quoted_npy(text_.substr(position_)));
    position_ += static_cast<std::size_t>(end - begin);
    accept('L');  // a Python 2 long
    return dim;
  }

  std::string_view text_;
  const std::string& name_;
  std::size_t position_ = 0;
  std::optional<DType> dtype_;
  std::optional<bool> fortran_order_;
  std::optional<Shape> shape_;
};

}  // namespace

void fail_npy(const std::string& name, const std::string& message) {
  throw ParseError(name + ": " + message, 0, 0);
}

std::optional<std::size_t> npy_header_end(std::string_view head, const std::string& name) {
  if (head.substr(0, kNpyMagic.size()) !=
      kNpyMagic.substr(0, std::min(head.size(), kNpyMagic.size()))) {
    if (head.substr(0, 4) == "PK\x03\x04") {
      fail_npy(name,
               "this is a zip archive, as numpy.savez writes\n  Read it with rondo::load_npz, or "
               "save each array to its own file with numpy.save.");
    }
    fail_npy(
        name,
        "this is no .npy file: it does not begin with \\x93NUMPY\n  Write it with numpy.save.");
  }
  if (head.size() < kNpyVersionEnd) return std::nullopt;
  const auto byte = [&](std::size_t i) {
    return static_cast<std::size_t>(static_cast<unsigned char>(head[i]));
  };
  const std::size_t version = byte(6);
  if (version < 1 || version > 3) {
    fail_npy(name,
             "version " + std::to_string(version) + '.' + std::to_string(byte(7)) +
                 " of the .npy format is unknown (1 to 3 are read)\n  Write it with numpy.save.");
  }
  const std::size_t length_bytes = version == 1 ? 2 : 4;
  const std::size_t begin = kNpyVersionEnd + length_bytes;
  if (head.size() < begin) return std::nullopt;
  std::size_t length = 0;
  for (std::size_t i = 0; i < length_bytes; ++i) length |= byte(kNpyVersionEnd + i) << (8 * i);
  if (length > kMaxNpyHeader) {
    fail_npy(name, "malformed header: its length is given as " + std::to_string(length) +
                       " bytes\n  Write the file again with numpy.save.");
  }
  return begin + length;
}

NpyType read_npy_type(std::string_view head, std::size_t end, const std::string& name) {
  const std::size_t begin = head[6] == 1 ? 10 : 12;
  return NpyHeaderReader(head.substr(begin, end - begin), name).read();
}

NpyLayout read_npy_layout(std::string_view head, std::uint64_t size, const std::string& name) {
  const std::optional<std::size_t> end = npy_header_end(head, name);
  if (!end || *end > head.size()) {
    fail_npy(name, "the header is truncated: the file has " + std::to_string(size) + " bytes" +
                       (end ? ", its header alone " + std::to_string(*end) : "") +
                       "\n  Copy or save it again.");
  }
  const NpyType told = read_npy_type(head, *end, name);
  NpyLayout layout{told.type, *end, told.fortran_order};
  const std::int64_t needed = layout.type.bytes();
  const std::uint64_t there = size - layout.data_begin;
  if (there == static_cast<std::uint64_t>(needed)) return layout;
  if (needed == std::numeric_limits<std::int64_t>::max()) {
    fail_npy(name, "malformed header: the shape overflows, as " + layout.type.str() +
                       " has more than 2^63 bytes\n  Write the file again with numpy.save.");
  }
  if (there < static_cast<std::uint64_t>(needed)) {
    fail_npy(name, "the data is truncated: " + layout.type.str() + " needs " +
                       std::to_string(needed) + " bytes, and " + std::to_string(there) +
                       " are there\n  Copy or save it again.");
  }
  fail_npy(name, std::to_string(there - static_cast<std::uint64_t>(needed)) +
                     " bytes follow the data of " + layout.type.str() +
                     "\n  Save only one array to a file, and overwrite instead of appending.");
}

std::string npy_header(const TensorType& type) {
  std::string_view code;
  for (const NpyDType& known : kNpyDTypes) {
    if (known.dtype == storage_dtype(type.dtype)) code = known.code;
  }
  // ml_dtypes.bfloat16 is written as `<V2`; numpy.load reads that as `|V2`.
  std::string header = "{'descr': '";
  header += byte_width(type.dtype) == 1 ? '|' : '<';
  header += code;
  header += "', 'fortran_order': False, 'shape': (";
  for (const std::int64_t dim : type.shape) {
    header += std::to_string(dim);
    header += ", ";
  }
  if (type.rank() > 0) header.resize(header.size() - (type.rank() == 1 ? 1 : 2));
  header += "), }";
  // NumPy leaves space for axis 0 to grow in place to a number of 21 digits.
  if (type.rank() > 0) header.append(21 - std::to_string(type.shape[0]).size(), ' ');

  // If there are too many dimensions for the 16-bit length of version 1, version 2 is used, as in
  // NumPy.
  const auto padded = [&](std::size_t prefix) {
    const std::size_t used = prefix + header.size() + 1;
    return header.size() + 1 + (kNpyAlignment - used % kNpyAlignment);
  };
  std::size_t length_bytes = 2;
  std::size_t length = padded(kNpyVersionEnd + length_bytes);
  if (length > 0xffff) {
    length_bytes = 4;
    length = padded(kNpyVersionEnd + length_bytes);
  }
  header.append(length - header.size() - 1, ' ');
  header += '\n';

  std::string result(kNpyMagic);
  result += length_bytes == 2 ? '\x01' : '\x02';
  result += '\0';
  for (std::size_t i = 0; i < length_bytes; ++i)
    result += static_cast<char>(length >> (8 * i) & 0xff);
  return result += header;
}

}  // namespace rondo
