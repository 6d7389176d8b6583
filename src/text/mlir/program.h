// A program of MLIR as it is written: operations with their operands by name, attributes and
// regions. Names and texts are views of the text that was parsed.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/inlined_vector.h"
#include "rondo/literal.h"
#include "rondo/type.h"

namespace rondo::text::mlir {

/// The place of a byte in the text.
using Offset = std::size_t;
inline constexpr Offset kNowhere = static_cast<Offset>(-1);

struct Entry;

struct Attribute {
  enum class Kind : std::uint8_t {
    kUnit,
    kBool,  // integer is 0 or 1
    kInteger,
    kFloat,
    kString,  // text: what is between the quotes
    kWord,    // text: of an enumeration
    kSymbol,  // text: without the `@`
    kList,
    kProduct,  // of lists: `[0] x [1]`, `[b, 0, f]x[0, i, o]->[b, 0, f]`
    kDictionary,
    kElements,  // `dense<...>`
    kOther,     // types, and attributes of unknown dialects
  };
  Kind kind = Kind::kUnit;
  Offset at = 0;
  std::int64_t integer = 0;
  double number = 0;
  std::string_view text = {};
  std::vector<Attribute> list = {};
  std::vector<Entry> entries;
  TensorType type = {};   // of elements
  Literal elements = {};  // of this type; or a scalar, if all of them are equal
};
struct Entry {
  std::string_view name = {};
  Attribute value;
};

inline Attribute attribute_of(Attribute::Kind kind, Offset at) {
  Attribute attribute;
  attribute.kind = kind;
  attribute.at = at;
  return attribute;
}

/// The attributes of an operation. Equal lists of a program may be one, of which each operation has
/// a copy that costs nothing.
class EntryList {
 public:
  const Entry* begin() const noexcept { return list_ ? list_->data() : nullptr; }
  const Entry* end() const noexcept { return begin() + size(); }
  std::size_t size() const noexcept { return list_ ? list_->size() : 0; }
  bool empty() const noexcept { return size() == 0; }
  /// To change them: no longer those of others.
  std::vector<Entry>& own() {
    if (!list_) list_ = std::make_shared<std::vector<Entry>>();
    if (list_.use_count() == 1 && moved_ == 0) return *list_;
    list_ = std::make_shared<std::vector<Entry>>(*list_);
    for (Entry& entry : *list_) entry.value.at += moved_;
    moved_ = 0;
    return *list_;
  }
  /// The same list for an operation in which it begins elsewhere.
  EntryList moved(Offset from, Offset to) const {
    EntryList list = *this;
    list.moved_ += to - from;
    return list;
  }
  /// Where one of its attributes is.
  Offset place_of(const Attribute& attribute) const noexcept { return attribute.at + moved_; }
  /// Of the list, if others have it too; else null.
  const void* shared_identity() const noexcept {
    return list_.use_count() > 1 ? list_.get() : nullptr;
  }

 private:
  std::shared_ptr<std::vector<Entry>> list_;
  Offset moved_ = 0;  // what is to be added to places
};

/// The number of a name among those of a function, from 0.
using ValueId = std::uint32_t;
/// A use of a value: of all results of an operation, `%2`, or of one, `%2#1`.
struct Use {
  std::string_view name = {};
  ValueId id = 0;
  std::size_t element = 0;
  Offset at = 0;
};

/// What the integers of a quantized type mean: (integer - zero point) * scale. One scale and zero
/// point, or one for each index along `axis`.
struct Quantization {
  std::size_t type = 0;  // its place among the types of the list
  DType expressed = DType::kF32;
  std::int64_t axis = -1;
  std::vector<double> scales = {};
  std::vector<std::int64_t> zero_points = {};
  std::int64_t least = 0, most = 0;  // integer
};

/// What a list of types says that the types of arrays do not. A tuple is a list of its elements'
/// arrays, a token an array without elements.
struct TypeDetails {
  std::vector<Quantization> quantized = {};
  /// Axes whose sizes the text does not know, `?`: place among the types, axis. The size is 0.
  std::vector<std::pair<std::size_t, std::int64_t>> unknown = {};
  bool is_tuple = false;                // the last type is one
  std::vector<std::size_t> tuple = {};  // how many arrays each of its elements has
};
using TypeDetailsPointer = std::shared_ptr<TypeDetails>;  // null if there is nothing to say

// Most operations have few of these, which then take no memory of their own.
using Types = absl::InlinedVector<TensorType, 2>;
using Uses = absl::InlinedVector<Use, 2>;

struct Operation;
using Operations = std::list<Operation>;  // none of which moves when more are read
struct Parameter {
  std::string_view name = {};
  ValueId id = 0;
  TensorType type = {};
  TypeDetailsPointer details = nullptr;
  Offset location = kNowhere;  // the bracket of `loc(...)`
};
struct Block {
  std::vector<Parameter> parameters = {};
  Operations operations;
  std::size_t ids = 0;  // of a function: how many its names have
};

struct Operation {
  struct Results {
    std::string_view name = {};
    ValueId id = 0;
    std::size_t count = 1;
  };
  std::string_view name = {};
  Offset at = 0;
  Offset location = kNowhere;  // the bracket of `loc(...)`
  absl::InlinedVector<Results, 1> results = {};
  Uses operands = {};
  std::vector<std::string_view> words = {};  // of the short form, without a name: `LT`, `SIGNED`
  EntryList attributes = {};
  std::vector<Block> regions = {};
  bool has_operand_types = false;
  Types operand_types = {};
  Types types = {};  // of the results, or whatever types the short form has
  TypeDetailsPointer operand_details = nullptr, details = nullptr;  // of both lists of types

  const Attribute* find(std::string_view name_of_entry) const {
    for (const Entry& entry : attributes) {
      if (entry.name == name_of_entry) return &entry.value;
    }
    return nullptr;
  }
};

}  // namespace rondo::text::mlir
