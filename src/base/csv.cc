// Text files of numbers. What is accepted follows numpy.loadtxt and RFC 4180, as far as numbers
// need it: a quoted field holds no line break.
#include "rondo/csv.h"

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <type_traits>
#include <utility>
#include <vector>

#include "base/csv_field.h"
#include "base/for_dtype.h"
#include "base/number_text.h"
#include "fmt/format.h"
#include "rondo/error.h"

namespace rondo {
namespace {

bool is_csv_blank(char c) { return c == ' ' || c == '\t'; }

void check_csv_options(DType dtype, char delimiter, const char* user) {
  if (is_complex(dtype)) {
    throw TraceError(
        fmt::format("{}: a field is one number, and {} is complex\n  Use a file of the "
                    "real and one of the imaginary parts, or an .npy file.",
                    user, dtype_name(dtype)));
  }
  const bool is_in_numbers =
      std::isalnum(static_cast<unsigned char>(delimiter)) != 0 ||
      std::string_view("+-.\"\n\r\0", 7).find(delimiter) != std::string_view::npos;
  if (!is_in_numbers) return;
  throw TraceError(
      fmt::format("{}: the delimiter of code {} is part of numbers or lines\n  Use ',', "
                  "';', '\\t' or ' '.",
                  user, static_cast<int>(delimiter)));
}

/// One file, and the place in it.
class CsvReader {
 public:
  CsvReader(const std::string& name, std::string_view text, const CsvOptions& options)
      : name_(name), text_(text), options_(options) {
    if (text_.starts_with("\xEF\xBB\xBF")) text_.remove_prefix(3);
  }

  Literal read() {
    return for_any_dtype(options_.dtype, [this]<class T>() {
      if constexpr (is_complex(dtype_of<T>))
        return Literal();  // refused before
      else
        return read_rows<T>();
    });
  }

 private:
  template <class T>
  Literal read_rows() {
    std::vector<T> values;
    std::int64_t rows = 0, columns = 0, first_line = 0;
    while (next_line()) {
      if (line_number_ <= options_.skip_lines || is_ignored()) continue;
      at_ = 0;
      for (fields_ = 0; at_ <= line_.size(); fields_++) values.push_back(next_number<T>());
      if (rows++ == 0) {
        columns = fields_;
        first_line = line_number_;
      } else if (fields_ != columns) {
        fail(
            0,
            fmt::format("{} {} in this line, but {} in line {}", fields_,
                        fields_ == 1 ? "number" : "numbers", columns, first_line),
            "Give every line as many; {.skip_lines = 1} leaves out a line of names, and .delimiter "
            "says what is between the numbers.");
      }
    }
    Literal literal = Literal::uninitialized({options_.dtype, {rows, columns}});
    std::byte* to = literal.mutable_bytes();
    for (const T value : values) {  // std::vector<bool> has no bytes to copy
      std::memcpy(to, &value, sizeof(T));
      to += sizeof(T);
    }
    return literal;
  }

  bool next_line() {
    if (next_ >= text_.size()) return false;
    const std::size_t end = std::min(text_.find('\n', next_), text_.size());
    line_ = text_.substr(next_, end - next_);
    next_ = end + 1;
    line_number_++;
    if (line_.ends_with('\r')) line_.remove_suffix(1);
    // Not tabs that separate fields.
    while (!line_.empty() && is_space(line_.back())) line_.remove_suffix(1);
    return true;
  }
  bool is_ignored() const {
    const std::size_t first = after_spaces(0);
    return first == line_.size() || (options_.comment != '\0' && line_[first] == options_.comment);
  }
  bool splits_at_spaces() const { return options_.delimiter == ' '; }
  bool is_space(char c) const {
    return is_csv_blank(c) && (splits_at_spaces() || c != options_.delimiter);
  }
  bool is_delimiter(char c) const {
    return c == options_.delimiter || (splits_at_spaces() && is_csv_blank(c));
  }
  std::size_t after_spaces(std::size_t at) const {
    while (at < line_.size() && is_space(line_[at])) at++;
    return at;
  }

  /// The text of the field at at_, which moves behind its delimiter, or past the end of the line
  /// after the last field. Sets begin_.
  std::string_view next_field() {
    begin_ = after_spaces(at_);
    std::size_t end = begin_;
    std::string_view field;
    if (begin_ < line_.size() && line_[begin_] == '"') {
      const std::size_t closing = line_.find('"', begin_ + 1);
      if (closing == std::string_view::npos)
        fail(begin_, "a quote is not closed in this line", "Close it, or leave it out.");
      field = line_.substr(begin_ + 1, closing - begin_ - 1);
      end = closing + 1;
      while (end < line_.size() && is_csv_blank(line_[end]) && !is_delimiter(line_[end])) end++;
      if (end < line_.size() && !is_delimiter(line_[end]))
        fail(end, "a quoted number is followed by something else than the delimiter",
             "Quote all of the field, or leave the quotes out.");
    } else {
      while (end < line_.size() && !is_delimiter(line_[end])) end++;
      field = line_.substr(begin_, end - begin_);
      while (!field.empty() && is_csv_blank(field.back())) field.remove_suffix(1);
    }
    at_ = end == line_.size() ? end + 1 : splits_at_spaces() ? after_spaces(end) : end + 1;
    return field;
  }

  template <class T>
  T next_number() {
    const std::string_view field = next_field();
    T value{};
    if (field.empty()) {
      if (!options_.missing) {
        fail(begin_, fmt::format("field {} is empty", fields_ + 1),
             "Fill it in, or give a value for such fields: {.missing = NAN}.");
      }
      const std::optional<T> element = csv_element<T>(*options_.missing);
      if (!element) {
        fail(begin_,
             fmt::format("field {} is empty, and {} cannot hold the value for such fields, {}",
                         fields_ + 1, dtype_name(options_.dtype), *options_.missing),
             "Give another value or dtype.");
      }
      return *element;
    }
    const CsvFault fault = read_csv_number(field, value);
    if (fault != CsvFault::kNone) refuse_number(field, fault);
    return value;
  }

  [[noreturn]] void refuse_number(std::string_view field, CsvFault fault) const {
    constexpr std::size_t kShown = 40;
    const std::string shown(field.substr(0, kShown));
    const std::string quoted =
        fmt::format("field {}, `{}{}`,", fields_ + 1, shown, field.size() > kShown ? "..." : "");
    const std::string_view dtype = dtype_name(options_.dtype);
    switch (fault) {
      case CsvFault::kNoInteger:
        fail(begin_, fmt::format("{} is no integer, and the dtype is {}", quoted, dtype),
             "Load the file as floats: {.dtype = DType::kF64}.");
      case CsvFault::kNoPred:
        fail(begin_, fmt::format("{} is not 0, 1, false or true, as a pred is", quoted),
             "Load the file as numbers, and compare them.");
      case CsvFault::kTooLarge:
        fail(begin_, fmt::format("{} is beyond what {} can hold", quoted, dtype),
             "Load the file with a wider dtype.");
      default:
        fail(begin_, fmt::format("{} is no number", quoted),
             "Skip lines of names with {.skip_lines = 1}; .delimiter says what is between the "
             "numbers.");
    }
  }
  [[noreturn]] void fail(std::size_t at, const std::string& what, const char* remedy) const {
    throw ParseError(fmt::format("{}:{}:{}: {}\n  {}", name_, line_number_, at + 1, what, remedy),
                     line_number_, static_cast<std::int64_t>(at) + 1);
  }

  const std::string& name_;
  std::string_view text_;
  const CsvOptions& options_;
  std::string_view line_;
  std::size_t next_ = 0;  // where the next line begins
  std::size_t at_ = 0, begin_ = 0;
  std::int64_t line_number_ = 0, fields_ = 0;
};

struct CsvFileCloser {
  void operator()(std::FILE* file) const { std::fclose(file); }
};
using CsvFile = std::unique_ptr<std::FILE, CsvFileCloser>;

std::string csv_file_text(const std::string& path) {
  const CsvFile file(std::fopen(path.c_str(), "rb"));
  std::string text;
  if (file != nullptr) {
    constexpr std::size_t kPart = std::size_t{1} << 16;
    std::size_t read = 1;
    while (read > 0) {
      const std::size_t before = text.size();
      text.resize(before + kPart);
      read = std::fread(text.data() + before, 1, kPart, file.get());
      text.resize(before + read);
    }
  }
  if (file == nullptr || std::ferror(file.get()) != 0) {
    throw ParseError(fmt::format("{}: the file cannot be read: {}\n  Check the path and its "
                                 "permissions.",
                                 path, std::generic_category().message(errno)),
                     0, 0);
  }
  return text;
}

template <class T>
void append_csv_number(std::string& text, T value) {
  if constexpr (std::is_same_v<T, bool>) {
    text += value ? '1' : '0';
  } else if constexpr (is_floating(dtype_of<T>)) {
    if (std::isnan(static_cast<double>(value)))
      text += "nan";  // the style of programs also has the bits of a NaN
    else
      append_number(text, value);
  } else {
    append_number(text, value);
  }
}

std::string csv_text(const Literal& literal, const CsvOptions& options) {
  std::string text = options.header;
  if (!text.empty()) text += '\n';
  const std::int64_t columns = literal.shape().rank() == 2 ? literal.shape()[1] : 1;
  for_any_dtype(literal.dtype(), [&]<class T>() {
    if constexpr (!is_complex(dtype_of<T>)) {
      std::int64_t column = 0;
      for (const T value : literal.data<T>()) {
        append_csv_number(text, value);
        text += ++column == columns ? '\n' : options.delimiter;
        if (column == columns) column = 0;
      }
    }
  });
  return text;
}

}  // namespace

Literal load_csv(const std::string& path, const CsvOptions& options) try {
  check_csv_options(options.dtype, options.delimiter, "load_csv");
  const std::string text = csv_file_text(path);
  return CsvReader(path, text, options).read();
} catch (const std::bad_alloc&) {
  throw ExecutionError(path + ": out of memory while the file was read\n  Release arrays first.");
}

void save_csv(const std::string& path, const Literal& literal, const CsvOptions& options) {
  check_csv_options(literal.dtype(), options.delimiter, "save_csv");
  if (literal.shape().rank() > 2) {
    throw TraceError("save_csv: the lines and fields of a file are two axes, and the array is " +
                     literal.type().str() + "\n  Reshape it, or save an .npy file.");
  }
  if (options.header.find_first_of("\r\n") != std::string::npos)
    throw TraceError("save_csv: the header has several lines\n  Write one line.");
  if (literal.bytes() == nullptr && literal.elements() > 0)
    throw TraceError(
        "save_csv: the literal was moved from\n  Assign to it before it is used again.");
  const std::string text = csv_text(literal, options);
  CsvFile file(std::fopen(path.c_str(), "wb"));
  bool is_written =
      file != nullptr && std::fwrite(text.data(), 1, text.size(), file.get()) == text.size();
  int error = errno;
  if (file != nullptr && std::fclose(file.release()) != 0 && is_written) {
    is_written = false;  // the last bytes are written now
    error = errno;
  }
  if (!is_written) {
    throw ExecutionError(
        fmt::format("{}: {} cannot be saved: {}\n  Check the folder, its "
                    "permissions and the free space.",
                    path, literal.type().str(), std::generic_category().message(error)));
  }
}

}  // namespace rondo
