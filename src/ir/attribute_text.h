// Attributes in texts of other formats. Each attribute struct has one description of its fields,
// which writes them or reads them, as the codec does.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/functional/function_ref.h"
#include "ir/field_reader.h"
#include "ir/node.h"

namespace rondo::ir {

/// What texts call a field: StableHLO in the generic form, `"op"(%x) <{full = ...}>`, and in the
/// short form, `op %x, brief = ...`; HLO `op(x), hlo=...`. The latter two are empty if they are
/// like `full`.
struct FieldName {
  std::string_view full;
  std::string_view brief = {};
  std::string_view hlo = {};
};

/// Writes fields, or reads them. A field that is optional is left as it is if the text lacks it.
class AttributeCodec {
 public:
  enum class Need : std::uint8_t { kRequired, kOptional };

  virtual ~AttributeCodec() = default;
  virtual bool reads() const noexcept = 0;

  virtual void integer(FieldName name, std::int64_t& value, Need need = Need::kRequired) = 0;
  virtual void flag(FieldName name, bool& value, Need need = Need::kRequired) = 0;
  /// Inside a group, an empty list is not written and may be missing.
  virtual void integers(FieldName name, std::vector<std::int64_t>& values,
                        Need need = Need::kRequired) = 0;
  virtual void pairs(FieldName name, std::vector<std::pair<std::int64_t, std::int64_t>>& values,
                     Need need = Need::kRequired) = 0;
  /// Three lists of integers, which HLO has as one, `padding=1_0x0_2_1`: low, high, interior.
  virtual void padding(std::array<FieldName, 3> names,
                       std::array<std::vector<std::int64_t>*, 3> lists) = 0;
  /// One of the words of the enumeration `kind`. In the short form it has no name: it is the one of
  /// number `place` among such words.
  virtual void word(FieldName name, std::string_view kind, std::size_t place,
                    std::span<const std::string_view> words, std::size_t& choice,
                    Need need = Need::kRequired) = 0;
  virtual void real(FieldName name, float& value) = 0;
  virtual void text(FieldName name, std::string& value, Need need = Need::kRequired) = 0;
  /// Two fields of 32 bits, which the short form has as one word: `format = e5m10`.
  virtual void float_format(std::string_view brief, FieldName exponent, int& exponent_bits,
                            FieldName mantissa, int& mantissa_bits) = 0;
  /// Fields within one attribute: `full = #stablehlo.kind<a = [0], b = 1>`. Optional when read.
  virtual void group(FieldName name, std::string_view kind, absl::FunctionRef<void()> fields) = 0;
  /// `full = #stablehlo.conv<[b, 0, f]x[0, i, o]->[b, 0, f]>`: a letter or digit for each axis.
  virtual void axis_labels(FieldName name, std::array<std::string, 3>& labels) = 0;
  /// The short form's `name = [0] x [1]`, for two lists that the full form has in a group. Never
  /// written.
  virtual void brief_product(std::string_view name, std::vector<std::int64_t>& left,
                             std::vector<std::int64_t>& right) = 0;
  /// A field on how to compute, without influence on results: not written, and ignored when read.
  virtual void hint(FieldName name) = 0;

  // When reading: what else the attributes follow from.
  virtual const TensorType& operand(std::size_t i) const = 0;
  virtual const TensorType& result(std::size_t i) const = 0;
  virtual std::span<const TensorType> results() const = 0;
  virtual std::span<const Function> regions() const = 0;
  /// Throws ParseError at the op: "<op>: <message>".
  [[noreturn]] virtual void fail(const std::string& message) const = 0;
};

/// The description of an op's attributes. Other formats have fields of their own; the IR's text has
/// those of the struct.
struct AttributeText {
  void (*write)(const Node& node, AttributeCodec& codec);  // null: there is nothing to write
  Attributes (*read)(AttributeCodec& codec);  // null: other formats have no such attributes
  Attributes (*read_fields)(FieldReader& reader);
};

/// Of an op that other formats lack.
template <class T>
inline constexpr AttributeText kFieldText = {nullptr, nullptr, read_attributes<T>};

/// From `describe(codec, attributes)`, which names the fields.
template <class T, void (*describe)(AttributeCodec&, T&)>
inline constexpr AttributeText kAttributeText = {[](const Node& node, AttributeCodec& codec) {
                                                   T attributes = node.attrs<T>();
                                                   describe(codec, attributes);
                                                 },
                                                 [](AttributeCodec& codec) -> Attributes {
                                                   T attributes{};
                                                   describe(codec, attributes);
                                                   return attributes;
                                                 },
                                                 read_attributes<T>};

/// Of attributes that follow from the type of the result.
template <class T, T (*from_result)(const TensorType& result)>
inline constexpr AttributeText kAttributesOfResult = {
    nullptr, [](AttributeCodec& codec) -> Attributes { return from_result(codec.result(0)); },
    read_attributes<T>};

/// For an op without attributes of ours whose text has some.
template <void (*describe)(AttributeCodec&, NoAttributes&)>
inline constexpr AttributeText kAttributeText<NoAttributes, describe> = {
    [](const Node&, AttributeCodec& codec) {
      NoAttributes none;
      describe(codec, none);
    },
    [](AttributeCodec& codec) -> Attributes {
      NoAttributes none;
      describe(codec, none);
      return none;
    },
    read_attributes<NoAttributes>};

}  // namespace rondo::ir
