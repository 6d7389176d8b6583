// One line of the IR's own text.
#pragma once

#include <string>
#include <string_view>

#include "ir/field_reader.h"
#include "text/mlir/cursor.h"

namespace rondo::text::own {

/// A position in a line, which ends with it: nothing goes on in the next line.
class Line final : public ir::FieldReader {
 public:
  /// The line of `text` that begins at `begin`.
  Line(std::string_view text, mlir::Offset begin) noexcept
      : cursor_(text.substr(0, text.find('\n', begin)), begin) {}

  mlir::Offset end() const noexcept { return cursor_.text().size(); }
  mlir::Offset at() const { return mlir::Cursor(cursor_).at(); }
  // These go past nothing, not even the comment at the end, which place() reads.
  bool at_end() const { return mlir::Cursor(cursor_).at_end(); }
  /// The next letter; 0 at the end.
  char peek() const { return mlir::Cursor(cursor_).peek(); }
  /// A region begins: the line ends with `{`, and is no node.
  bool opens_region();

  bool accept(std::string_view piece) override {
    return mlir::Cursor(cursor_).sees(piece) && cursor_.accept(piece);
  }
  void expect(std::string_view piece) override { cursor_.expect(piece); }
  bool accept_word(std::string_view word) { return cursor_.accept_word(word); }
  std::int64_t integer() override { return cursor_.integer(); }
  double real() override;
  std::string_view word() override { return cursor_.word(); }
  std::string text() override { return mlir::unescaped(cursor_.quoted()); }
  DType dtype() override;
  Shape shape() override;
  TensorType type() override;
  [[noreturn]] void fail(const std::string& message) override { cursor_.fail(message); }

  /// A name as values, parameters and results have them; empty if there is none.
  std::string_view name();
  /// What stands before `(`, without spaces at its ends.
  std::string_view label();
  /// The elements of a constant: the rest of the line.
  Literal elements(const TensorType& type);
  /// What follows a node: `// solver.cc:12`. Nothing else may follow.
  SourceLocation place();

 private:
  mlir::Cursor cursor_;
};

}  // namespace rondo::text::own
