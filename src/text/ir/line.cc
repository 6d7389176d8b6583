#include "text/ir/line.h"

#include <charconv>
#include <vector>

#include "fmt/format.h"
#include "text/hlo/program.h"

namespace rondo::text::own {

namespace {

bool ends_name(char c) {
  return static_cast<unsigned char>(c) <= ' ' || c == '\x7f' ||
         std::string_view("%,:()#").find(c) != std::string_view::npos;
}

std::string_view without_spaces(std::string_view text) {
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  while (!text.empty() && (text.back() == ' ' || text.back() == '\r')) text.remove_suffix(1);
  return text;
}

}  // namespace

bool Line::opens_region() {
  const std::string_view rest = without_spaces(cursor_.text().substr(cursor_.at()));
  return !rest.empty() && rest.front() != '%' && rest.back() == '{';
}

void Line::real(double& value) {
  const mlir::Offset at = cursor_.at();
  const std::string_view digits = cursor_.number();
  const char* const end = digits.data() + digits.size();
  const auto [next, error] = std::from_chars(digits.data(), end, value);
  if (error != std::errc() || next != end)
    mlir::fail(cursor_.text(), at, "expected a number\n  Write it like 1e-05.");
}

void Line::dtype(DType& value) {
  const mlir::Offset at = cursor_.at();
  const std::string_view word = cursor_.word();
  for (int i = 0; i < kDTypeCount; i++) {
    if (dtype_name(static_cast<DType>(i)) != word) continue;
    value = static_cast<DType>(i);
    return;
  }
  mlir::fail(cursor_.text(), at,
             fmt::format("expected a type, not `{}`\n  Write it like f32[2,3].", word));
}

void Line::shape(Shape& value) {
  const mlir::Offset at = cursor_.at();
  std::vector<std::int64_t> sizes;
  expect("[");
  if (!accept("]")) {
    do {
      sizes.push_back(integer());
    } while (accept(","));
    expect("]");
  }
  constexpr std::size_t kMostAxes = 64;
  if (sizes.size() > kMostAxes) {
    mlir::fail(cursor_.text(), at,
               fmt::format("{} axes are too many\n  Give at most {}.", sizes.size(), kMostAxes));
  }
  try {
    value = Shape(sizes);
  } catch (const TraceError& error) {
    mlir::fail(cursor_.text(), at, error.what());
  }
}

TensorType Line::type() {
  TensorType type;
  dtype(type.dtype);
  shape(type.shape);
  return type;
}

std::string_view Line::name() {
  const mlir::Offset at = cursor_.at();
  const std::string_view rest = cursor_.text().substr(at);
  std::size_t length = 0;
  while (length < rest.size() && !ends_name(rest[length])) length++;
  cursor_.go_to(at + length);
  return rest.substr(0, length);
}

std::string_view Line::label() {
  const mlir::Offset at = cursor_.at();
  const std::size_t bracket = cursor_.text().find('(', at);
  if (bracket == std::string_view::npos)
    fail("expected `(`\n  A function or region begins like `body (%x: f32[]) {`.");
  cursor_.go_to(bracket);
  return without_spaces(cursor_.text().substr(at, bracket - at));
}

Literal Line::elements(const TensorType& type) {
  const mlir::Offset at = cursor_.at();
  const std::string_view rest = cursor_.text().substr(at);
  const std::string_view inside = rest.substr(0, rest.find('/'));
  if (inside.find("...") != inside.npos) {
    mlir::fail(cursor_.text(), at + inside.find("..."),
               "the elements are left out\n  Print the program with TextOptions{.full = true}.");
  }
  Literal value = hlo::parse_literal(cursor_.text(), at, inside, type);
  cursor_.go_to(at + inside.size());
  return value;
}

SourceLocation Line::place() {
  const mlir::Offset after = cursor_.after();
  if (!cursor_.at_end()) fail("expected the end of the line\n  Give each node a line of its own.");
  const std::string_view all = cursor_.text();
  // The comment is the last thing of the line, and began after the last thing that was read.
  const std::string_view comment = without_spaces(all.substr(after));
  const std::size_t colon = comment.rfind(':');
  if (comment.substr(0, 3) != "// " || colon == comment.npos) return {};
  std::uint32_t line = 0;
  const char* const end = comment.data() + comment.size();
  const auto [next, error] = std::from_chars(comment.data() + colon + 1, end, line);
  constexpr std::uint32_t kMostLines = (std::uint32_t{1} << 31) - 1;
  if (error != std::errc() || next != end || line > kMostLines) return {};
  return {mlir::lasting_file(comment.substr(3, colon - 3)), "", line};
}

}  // namespace rondo::text::own
