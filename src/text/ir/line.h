// One line of the IR's own text.
#pragma once

#include <string>
#include <string_view>

#include "ir/field_text.h"
#include "text/mlir/cursor.h"

namespace rondo::text::own {

/// A position in a line, which ends with it: nothing goes on in the next line.
class Line final : public ir::FieldText {
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

  bool accept(std::string_view piece) {
    return mlir::Cursor(cursor_).sees(piece) && cursor_.accept(piece);
  }
  void expect(std::string_view piece) { cursor_.expect(piece); }
  bool accept_word(std::string_view word) { return cursor_.accept_word(word); }
  std::int64_t integer() { return cursor_.integer(); }
  std::string_view word() { return cursor_.word(); }
  TensorType type();

  bool reads() const noexcept override { return true; }
  void piece(std::string_view piece) override { expect(piece); }
  bool piece_if(bool, std::string_view piece) override { return accept(piece); }
  void integer(std::int64_t& value) override { value = cursor_.integer(); }
  void real(double& value) override;
  void word(std::string_view& value) override { value = cursor_.word(); }
  void text(std::string& value) override { value = mlir::unescaped(cursor_.quoted()); }
  void dtype(DType& value) override;
  void shape(Shape& value) override;
  void type(TensorType& value) override { value = type(); }
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
