// The attributes of an operation of StableHLO or HLO, by the description in the record of its op.
#include <algorithm>
#include <optional>

#include "absl/container/inlined_vector.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "ir/attribute_text.h"
#include "text/mlir/cursor.h"
#include "text/mlir/written.h"
#include "text/read_operation.h"

namespace rondo::text {

namespace {

using mlir::Attribute;
using mlir::Entry;
using Kind = Attribute::Kind;

/// Of any operation: how exactly XLA computes it.
constexpr std::string_view kHintsOfAll[] = {"result_accuracy"};

class AttributeReader final : public ir::AttributeCodec {
 public:
  explicit AttributeReader(const ReadOperation& read)
      : read_(read), entries_(read.operation.attributes) {}
  bool reads() const noexcept override { return true; }

  void integer(ir::FieldName name, std::int64_t& value, Need need) override {
    if (const Attribute* attribute = find(name, need)) value = integer_of(*attribute, name);
  }
  void flag(ir::FieldName name, bool& value, Need need) override {
    const Attribute* attribute = find(name, need);
    if (!attribute) return;
    if (attribute->kind != Kind::kBool) fail_at(*attribute, name, "true or false");
    value = attribute->integer != 0;
  }
  void integers(ir::FieldName name, ir::Integers& values, Need need) override {
    const Attribute* attribute = find(name, group_ ? Need::kOptional : need);
    if (attribute) values = integers_of(*attribute, name);
  }
  void axis(ir::FieldName name, std::int64_t& value) override {
    integer(name, value, Need::kRequired);
  }
  void padding(const std::array<ir::FieldName, 3>& names,
               const std::array<ir::Integers*, 3>& lists) override {
    if (!is_hlo()) return slices(names, lists);
    const Attribute* attribute = find({"padding"}, Need::kRequired);
    if (attribute->kind != Kind::kList) fail_at(*attribute, {"padding"}, "like 1_0x0_2_1");
    const bool one_axis = !attribute->list.empty() && attribute->list[0].kind == Kind::kInteger;
    const auto axes = one_axis ? std::span(attribute, 1) : std::span(attribute->list);
    for (const Attribute& axis : axes) {
      std::vector<std::int64_t> numbers = integers_of(axis, {"padding"});
      if (numbers.size() == 2) numbers.push_back(0);
      if (numbers.size() != 3) fail_at(*attribute, {"padding"}, "like 1_0x0_2_1");
      for (std::size_t i = 0; i < lists.size(); i++) lists[i]->push_back(numbers[i]);
    }
  }
  void slices(const std::array<ir::FieldName, 3>& names,
              const std::array<ir::Integers*, 3>& lists) override {
    for (std::size_t i = 0; i < names.size(); i++) integers(names[i], *lists[i], Need::kRequired);
  }
  void window(const ir::WindowNames& names, const ir::WindowLists& lists, Need) override {
    const auto name = [&](ir::FieldName field, std::string_view hlo) {
      field.hlo = hlo;
      return field;
    };
    const bool has_size = !names.size.own.empty();
    if (has_size || is_hlo())
      integers(name(names.size, "size"), lists.size, has_size ? Need::kRequired : Need::kOptional);
    integers(name(names.stride, "stride"), lists.stride, Need::kOptional);
    pairs(name(names.padding, "pad"), lists.padding);
    integers(name(names.base_dilation, "lhs_dilate"), lists.base_dilation, Need::kOptional);
    integers(name(names.window_dilation, "rhs_dilate"), lists.window_dilation, Need::kOptional);
  }
  void word(ir::FieldName name, const ir::FieldWords& words, std::size_t& choice,
            Need need) override {
    const std::vector<std::string_view>& unnamed = read_.operation.words;
    const auto known = is_hlo() && !words.hlo.empty() ? words.hlo : words.names;
    std::string_view text;
    if (const Attribute* attribute = find(name, Need::kOptional)) {
      if (attribute->kind != Kind::kWord)
        fail_at(*attribute, name, fmt::format("one of {}", fmt::join(known, ", ")));
      text = attribute->text;
    } else if (words.place < unnamed.size()) {
      text = unnamed[words.place];
      words_ = std::max(words_, words.place + 1);
    } else {
      if (need == Need::kRequired) missing(name);
      return;
    }
    const auto found = std::find(known.begin(), known.end(), text);
    if (found == known.end())
      fail(fmt::format("`{}` is {}; it can be {}", said(name), text, fmt::join(known, ", ")));
    choice = static_cast<std::size_t>(found - known.begin());
  }
  void real(ir::FieldName name, float& value) override {
    const Attribute* attribute = find(name, Need::kRequired);
    const bool whole = is_hlo() && attribute->kind == Kind::kInteger;
    if (attribute->kind != Kind::kFloat && !whole)
      fail_at(*attribute, name, "a number with a point");
    value = whole ? static_cast<float>(attribute->integer) : static_cast<float>(attribute->number);
  }
  void text(ir::FieldName name, std::string& value, Need need) override {
    const Attribute* attribute = find(name, need);
    for (const Entry& entry : entries_) {  // beside an empty text
      if (entry.name == name.in_brief() && entry.value.kind == Kind::kDictionary)
        attribute = &entry.value;
    }
    if (!attribute) return;
    if (attribute->kind == Kind::kDictionary) {
      value = mlir::written(*attribute);
      return;
    }
    if (attribute->kind != Kind::kString && attribute->kind != Kind::kSymbol)
      fail_at(*attribute, name, "a string");
    value = mlir::unescaped(attribute->text);
  }
  void float_format(std::string_view brief, ir::FieldName exponent, int& exponent_bits,
                    ir::FieldName mantissa, int& mantissa_bits) override {
    std::int64_t bits[] = {0, 0};
    if (const Attribute* format = find({brief}, Need::kOptional)) {  // e5m10
      mlir::Cursor cursor(format->text);
      if (!cursor.accept("e")) fail_at(*format, {brief}, "like e5m10");
      bits[0] = cursor.integer();
      if (!cursor.accept("m")) fail_at(*format, {brief}, "like e5m10");
      bits[1] = cursor.integer();
    } else {
      integer(exponent, bits[0], Need::kRequired);
      integer(mantissa, bits[1], Need::kRequired);
    }
    for (const std::int64_t count : bits) {
      if (count < 0 || count > 64) fail("exponents and mantissas have 0 to 64 bits");
    }
    exponent_bits = static_cast<int>(bits[0]);
    mantissa_bits = static_cast<int>(bits[1]);
  }
  void group(ir::FieldName name, std::string_view, absl::FunctionRef<void()> fields) override {
    const Attribute* attribute = is_hlo() ? nullptr : find(name, Need::kOptional);
    if (!attribute) {  // HLO and artifacts have the fields side by side with others
      group_ = true;
      fields();
      group_ = false;
      return;
    }
    if (attribute->kind != Kind::kDictionary) fail_at(*attribute, name, "fields in angle brackets");
    const std::span<const Entry> outer = std::exchange(entries_, attribute->entries);
    group_ = true;
    fields();
    group_ = false;
    check_all_used();
    entries_ = outer;
  }
  void axis_labels(ir::FieldName name, std::array<std::string, 3>& labels) override {
    const Attribute* attribute = find(name, Need::kRequired);
    if (is_hlo()) {  // b01f_01io->b01f
      const std::string_view text = attribute->text;
      const std::size_t first = text.find('_'), second = text.find("->");
      if (first == text.npos || second == text.npos || second < first)
        fail_at(*attribute, name, "like b01f_01io->b01f");
      labels = {std::string(text.substr(0, first)),
                std::string(text.substr(first + 1, second - first - 1)),
                std::string(text.substr(second + 2))};
      return;
    }
    if (attribute->kind != Kind::kProduct || attribute->list.size() != labels.size())
      fail_at(*attribute, name, "three lists of axes");
    for (std::size_t i = 0; i < labels.size(); i++) {
      labels[i].clear();
      for (const Attribute& label : attribute->list[i].list)
        labels[i] +=
            label.kind == Kind::kInteger ? std::to_string(label.integer) : std::string(label.text);
    }
  }
  void axes_of_both(std::string_view brief, ir::FieldName left, ir::Integers& left_axes,
                    ir::FieldName right, ir::Integers& right_axes) override {
    integers(left, left_axes, Need::kOptional);
    integers(right, right_axes, Need::kOptional);
    const Attribute* attribute = find({brief}, Need::kOptional);
    if (!attribute) return;
    if (attribute->kind != Kind::kProduct || attribute->list.size() != 2)
      fail_at(*attribute, {brief}, "two lists, `[0] x [1]`");
    left_axes = integers_of(attribute->list[0], {brief});
    right_axes = integers_of(attribute->list[1], {brief});
  }
  void sharding(ir::Sharding&) override {}
  void hint(ir::FieldName name) override { find(name, Need::kOptional); }

  const TensorType& operand(std::size_t i) const override {
    from_entries_ = false;
    if (i >= read_.operands.size()) fail("it has too few operands");
    return read_.operands[i].type();
  }
  const TensorType& result(std::size_t i) const override {
    from_entries_ = false;
    if (i >= read_.operation.types.size()) fail("the types of its results are missing");
    return read_.operation.types[i];
  }
  std::span<const TensorType> results() const override {
    from_entries_ = false;
    return read_.operation.types;
  }
  std::span<const Function> regions() const override {
    from_entries_ = false;
    return read_.regions;
  }
  [[noreturn]] void fail(const std::string& message) const override {
    mlir::fail(read_.text, read_.operation.at,
               fmt::format("{}: {}", read_.operation.name, message));
  }

  /// Whether what was read follows from the attributes in the text alone.
  bool is_from_entries() const { return from_entries_ && read_.operation.words.empty(); }
  /// Fails for an attribute that the description does not name. Names with a point belong to other
  /// dialects.
  void check_all_used() const {
    for (const Entry& entry : entries_) {
      if (entry.name.find('.') != entry.name.npos || is_used(entry)) continue;
      if (std::find(std::begin(kHintsOfAll), std::end(kHintsOfAll), entry.name) !=
          std::end(kHintsOfAll))
        continue;
      mlir::fail(read_.text, read_.operation.attributes.place_of(entry.value),
                 fmt::format("{}: the attribute `{}` is not supported\n  Remove it, if the results "
                             "do not depend on it.",
                             read_.operation.name, entry.name));
    }
    if (words_ < read_.operation.words.size() && !group_)
      fail(fmt::format("the word {} is not supported here", read_.operation.words[words_]));
  }

 private:
  bool is_hlo() const noexcept { return read_.format == TextFormat::kHlo; }
  void pairs(ir::FieldName name, ir::IntegerPairs& values) {
    const Attribute* attribute = find(name, Need::kOptional);
    if (!attribute) return;
    std::vector<std::int64_t> numbers;
    if (is_hlo() && attribute->kind == Kind::kList && !attribute->list.empty() &&
        attribute->list[0].kind == Kind::kInteger) {  // of one axis: 1_0
      numbers = integers_of(*attribute, name);
      if (numbers.size() != 2) fail_at(*attribute, name, "pairs of integers");
    } else if (attribute->kind == Kind::kElements && attribute->type.rank() == 2 &&
               attribute->type.shape[1] == 2) {
      numbers = integers_of(*attribute, name);
    } else if (attribute->kind == Kind::kList) {
      for (const Attribute& pair : attribute->list) {
        const std::vector<std::int64_t> both = integers_of(pair, name);
        if (both.size() != 2) fail_at(*attribute, name, "pairs of integers");
        numbers.insert(numbers.end(), both.begin(), both.end());
      }
    } else {
      fail_at(*attribute, name, "pairs of integers");
    }
    values.clear();
    for (std::size_t i = 0; i + 1 < numbers.size(); i += 2)
      values.emplace_back(numbers[i], numbers[i + 1]);
  }
  bool is_used(const Entry& entry) const {
    return std::find(used_.begin(), used_.end(), &entry) != used_.end();
  }
  const Attribute* find(ir::FieldName name, Need need) {
    const std::string_view full = is_hlo() ? name.in_hlo() : name.in_stablehlo();
    const std::string_view brief = is_hlo() ? full : name.in_brief();
    for (const Entry& entry : entries_) {
      if (entry.name.empty() || (entry.name != full && entry.name != brief)) continue;
      used_.push_back(&entry);
      return &entry.value;
    }
    if (need == Need::kRequired) missing(name);
    return nullptr;
  }
  /// The name in the text.
  std::string_view said(ir::FieldName name) const {
    return is_hlo() ? name.in_hlo() : name.in_stablehlo();
  }
  [[noreturn]] void missing(ir::FieldName name) const {
    fail(fmt::format("the attribute `{}` is missing\n  Add it.", said(name)));
  }
  [[noreturn]] void fail_at(const Attribute& attribute, ir::FieldName name,
                            std::string_view meant) const {
    mlir::fail(read_.text, read_.operation.attributes.place_of(attribute),
               fmt::format("{}: `{}` must be {}", read_.operation.name, said(name), meant));
  }
  std::int64_t integer_of(const Attribute& attribute, ir::FieldName name) const {
    const bool in_braces = is_hlo() && attribute.kind == Kind::kList && attribute.list.size() == 1;
    const Attribute& value = in_braces ? attribute.list[0] : attribute;
    if (value.kind != Kind::kInteger) fail_at(attribute, name, "an integer");
    return value.integer;
  }
  std::vector<std::int64_t> integers_of(const Attribute& attribute, ir::FieldName name) const {
    std::vector<std::int64_t> values;
    if (attribute.kind == Kind::kElements && attribute.elements.dtype() == DType::kPred) {
      for (const bool value : attribute.elements.data<bool>()) values.push_back(value ? 1 : 0);
      return values;
    }
    if (attribute.kind == Kind::kElements && attribute.type.dtype == DType::kS64) {
      const auto elements = attribute.elements.data<std::int64_t>();
      values.assign(elements.begin(), elements.end());
      // One value for all of them: no more than axes, or pairs of them.
      constexpr std::int64_t kMost = 128;
      if (attribute.elements.type() != attribute.type && attribute.type.elements() <= kMost)
        values.assign(static_cast<std::size_t>(attribute.type.elements()), elements[0]);
      return values;
    }
    if (is_hlo() && attribute.kind == Kind::kInteger) return {attribute.integer};
    if (attribute.kind != Kind::kList) fail_at(attribute, name, "a list of integers");
    values.reserve(attribute.list.size());
    for (const Attribute& value : attribute.list) {
      if (value.kind != Kind::kInteger && value.kind != Kind::kBool)
        fail_at(attribute, name, "a list of integers");
      values.push_back(value.integer);
    }
    return values;
  }

  const ReadOperation& read_;
  std::span<const Entry> entries_;
  absl::InlinedVector<const Entry*, 8> used_;
  std::size_t words_ = 0;  // that were asked for
  bool group_ = false;
  mutable bool from_entries_ = true;  // so far
};

}  // namespace

ir::Attributes read_attributes(const ir::OpDef& op, const ReadOperation& read) {
  const void* const shared = read.known ? read.operation.attributes.shared_identity() : nullptr;
  if (shared) {
    const auto found = read.known->find({shared, &op});
    if (found != read.known->end()) return found->second;
  }
  AttributeReader reader(read);
  ir::Attributes attributes;
  if (op.text.attributes) attributes = op.text.attributes->read(reader);
  reader.check_all_used();
  if (shared && reader.is_from_entries()) read.known->emplace(std::pair(shared, &op), attributes);
  return attributes;
}

}  // namespace rondo::text
