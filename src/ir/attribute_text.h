// The description of an op's attributes: one function per struct names its fields to a codec, which
// writes or reads them in the IR's own text, HLO or StableHLO.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "ir/field_text.h"
#include "ir/node.h"

namespace rondo::ir {

struct Sharding;

/// What texts call a field: the IR's own, the name of the member; StableHLO in the generic form,
/// `"op"(%x) <{full = ...}>`, and in the short form, `op %x, brief = ...`; HLO `op(x), hlo=...`.
/// A name that is not given is the one before it; those of HLO and the short form are StableHLO's.
struct FieldName {
  std::string_view own;
  std::string_view stablehlo = {};
  std::string_view brief = {};
  std::string_view hlo = {};

  constexpr std::string_view in_stablehlo() const { return stablehlo.empty() ? own : stablehlo; }
  constexpr std::string_view in_brief() const { return brief.empty() ? in_stablehlo() : brief; }
  constexpr std::string_view in_hlo() const { return hlo.empty() ? in_stablehlo() : hlo; }
};

/// The words of an enumeration, in the order of its numbers.
struct FieldWords {
  std::string_view kind;  // `#stablehlo<kind WORD>`
  std::span<const std::string_view> names;
  std::span<const std::string_view> hlo = {};  // if others
  std::span<const std::string_view> own = {};  // if others
  /// In the short form words have no names: it is the one of this number among them.
  std::size_t place = 0;
  std::size_t first_in_hlo = 0;  // which does not write those before
};

using Integers = std::vector<std::int64_t>;
using IntegerPairs = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// A window that moves over an array. HLO has it as one attribute, `window={size=2x2 pad=0_1x0_1}`.
struct WindowNames {
  FieldName size = {};  // without names: only HLO has the size
  FieldName stride, padding, base_dilation, window_dilation;
};
struct WindowLists {
  Integers &size, &stride;
  IntegerPairs& padding;
  Integers &base_dilation, &window_dilation;

  static bool all_ones(const Integers& list);
  static bool all_zeros(const IntegerPairs& list);
};

/// Writes fields, or reads them. Writing changes no value. In HLO and StableHLO a field that is
/// optional is left as it is if the text lacks it; the IR's own text has all fields.
class AttributeCodec {
 public:
  /// HLO does not write what is optional and as usual: false, nothing, or the number 1.
  enum class Need : std::uint8_t { kRequired, kOptional, kOptionalInStablehlo };

  virtual ~AttributeCodec() = default;
  virtual bool reads() const noexcept = 0;
  /// For fields that only the IR's own text has; null in others.
  virtual FieldList* own() noexcept { return nullptr; }

  virtual void integer(FieldName name, std::int64_t& value, Need need = Need::kRequired) = 0;
  /// An axis, which HLO has as a list: `dimensions={0}`.
  virtual void axis(FieldName name, std::int64_t& value) = 0;
  virtual void flag(FieldName name, bool& value, Need need = Need::kRequired) = 0;
  /// In a group StableHLO does not write an empty list, and may lack it.
  virtual void integers(FieldName name, Integers& values, Need need = Need::kRequired) = 0;
  virtual void word(FieldName name, const FieldWords& words, std::size_t& choice,
                    Need need = Need::kRequired) = 0;
  virtual void real(FieldName name, float& value) = 0;
  virtual void text(FieldName name, std::string& value, Need need = Need::kRequired) = 0;
  /// Two fields, which the short form has as one word: `format = e5m10`.
  virtual void float_format(std::string_view brief, FieldName exponent, int& exponent_bits,
                            FieldName mantissa, int& mantissa_bits) = 0;
  /// Three lists, which HLO has as one, `padding=1_0x0_2_1`: low, high, interior.
  virtual void padding(const std::array<FieldName, 3>& names,
                       const std::array<Integers*, 3>& lists) = 0;
  /// Three lists, which HLO has as one, `slice={[0:4:2], [1:3]}`: starts, limits, strides.
  virtual void slices(const std::array<FieldName, 3>& names,
                      const std::array<Integers*, 3>& lists) = 0;
  /// `need`: of the dilations and the padding in StableHLO.
  virtual void window(const WindowNames& names, const WindowLists& lists, Need need) = 0;
  /// In a group, axes of the left and of the right operand, which the short form has as one
  /// attribute: `batching_dims = [0] x [1]`. HLO has those of the right operand last.
  virtual void axes_of_both(std::string_view brief, FieldName left, Integers& left_axes,
                            FieldName right, Integers& right_axes) = 0;
  /// `full = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`: a letter or digit for each axis. HLO
  /// has them after the window that follows. Not in the IR's own text.
  virtual void axis_labels(FieldName name, std::array<std::string, 3>& labels) = 0;
  /// Fields within one attribute of StableHLO, `full = #stablehlo.kind<a = [0], b = 1>`, optional
  /// when read. Other texts have them side by side with others; HLO has optional lists last.
  virtual void group(FieldName name, std::string_view kind, absl::FunctionRef<void()> fields) = 0;
  /// Written in HLO and the IR's own text; read in the latter.
  virtual void sharding(Sharding& sharding) = 0;
  /// A field on how to compute, without influence on results: not written, and ignored when read.
  virtual void hint(FieldName name) = 0;

  // What else the attributes follow from; when reading the IR's own text nothing is known.
  virtual const TensorType& operand(std::size_t i) const = 0;
  virtual const TensorType& result(std::size_t i) const = 0;
  virtual std::span<const TensorType> results() const = 0;
  virtual std::span<const Function> regions() const = 0;
  /// Throws ParseError at the op: "<op>: <message>".
  [[noreturn]] virtual void fail(const std::string& message) const = 0;

  template <class T>
  requires std::is_enum_v<T>
  void choice(FieldName name, const FieldWords& words, T& value) {
    std::size_t number = static_cast<std::size_t>(value);
    word(name, words, number);
    if (reads()) value = static_cast<T>(number);
  }
  /// A field that only the IR's own text has. In others it follows from the rest: `value()`.
  template <class T, class Value>
  void derived(std::string_view name, T& field, Value&& value) {
    if (FieldList* const list = own())
      list->field(name, field);
    else if (reads())
      field = value();
  }
};

/// The description of an op's attributes.
struct AttributeText {
  void (*write)(const Node& node, AttributeCodec& codec);
  Attributes (*read)(AttributeCodec& codec);
  bool in_stablehlo;  // which has some of the fields
};

/// From a function that describes a struct of this type.
template <class T, void (*describe)(AttributeCodec&, T&), bool kInStablehlo = true>
inline constexpr AttributeText kAttributeText = {
    [](const Node& node, AttributeCodec& codec) {
      if constexpr (std::is_same_v<T, NoAttributes>) {
        NoAttributes none;
        describe(codec, none);
      } else {
        describe(codec, const_cast<T&>(node.attrs<T>()));  // which writing does not change
      }
    },
    [](AttributeCodec& codec) -> Attributes {
      T attributes{};
      describe(codec, attributes);
      return attributes;
    },
    kInStablehlo};

template <class T>
void describe_own_fields(AttributeCodec& codec, T& attributes) {
  if (FieldList* const own = codec.own()) describe_fields(*own, attributes);
}
/// Of an op whose attributes only the IR's own text has: the members of the struct.
template <class T>
inline constexpr AttributeText kFieldText = kAttributeText<T, describe_own_fields<T>, false>;

/// Appends ` {axis=1, name="solve"}` without what is as usual; nothing if no field remains.
void append_own_attributes(std::string& out, const Node& node);
/// The attributes after the `{`.
Attributes read_own_attributes(const AttributeText& description, FieldText& text);

}  // namespace rondo::ir
