// Attributes in the IR's own text.
#include "ir/attribute_text.h"

#include <algorithm>

#include "ir/sharding.h"

namespace rondo::ir {

bool WindowLists::all_ones(const Integers& list) {
  return std::all_of(list.begin(), list.end(), [](std::int64_t entry) { return entry == 1; });
}
bool WindowLists::all_zeros(const IntegerPairs& list) {
  return std::all_of(list.begin(), list.end(),
                     [](const auto& pair) { return pair.first == 0 && pair.second == 0; });
}

namespace {

class OwnAttributes final : public AttributeCodec {
 public:
  /// `node`: whose attributes are written; null when reading.
  OwnAttributes(FieldList& list, const Node* node) : list_(list), node_(node) {}
  bool reads() const noexcept override { return list_.text().reads(); }
  FieldList* own() noexcept override { return &list_; }

  void integer(FieldName name, std::int64_t& value, Need) override { list_.field(name.own, value); }
  void axis(FieldName name, std::int64_t& value) override { list_.field(name.own, value); }
  void flag(FieldName name, bool& value, Need) override { list_.field(name.own, value); }
  void integers(FieldName name, Integers& values, Need) override { list_.field(name.own, values); }
  void word(FieldName name, const FieldWords& words, std::size_t& choice, Need) override {
    list_.choice(name.own, words.own.empty() ? words.names : words.own, choice);
  }
  void real(FieldName name, float& value) override { list_.field(name.own, value); }
  void text(FieldName name, std::string& value, Need) override { list_.field(name.own, value); }
  void float_format(std::string_view, FieldName exponent, int& exponent_bits, FieldName mantissa,
                    int& mantissa_bits) override {
    list_.field(exponent.own, exponent_bits);
    list_.field(mantissa.own, mantissa_bits);
  }
  void padding(const std::array<FieldName, 3>& names,
               const std::array<Integers*, 3>& lists) override {
    for (std::size_t i = 0; i < names.size(); i++) list_.field(names[i].own, *lists[i]);
  }
  void slices(const std::array<FieldName, 3>& names,
              const std::array<Integers*, 3>& lists) override {
    padding(names, lists);
  }
  void window(const WindowNames& names, const WindowLists& lists, Need) override {
    if (!names.size.own.empty()) list_.field(names.size.own, lists.size);
    list_.field(names.stride.own, lists.stride);
    list_.field(names.padding.own, lists.padding);
    list_.field(names.base_dilation.own, lists.base_dilation);
    list_.field(names.window_dilation.own, lists.window_dilation);
  }
  void axes_of_both(std::string_view, FieldName left, Integers& left_axes, FieldName right,
                    Integers& right_axes) override {
    list_.field(left.own, left_axes);
    list_.field(right.own, right_axes);
  }
  void axis_labels(FieldName, std::array<std::string, 3>&) override {}
  void group(FieldName, std::string_view, absl::FunctionRef<void()> fields) override { fields(); }
  void sharding(Sharding& sharding) override { describe_fields(list_, sharding); }
  void hint(FieldName) override {}

  const TensorType& operand(std::size_t i) const override { return node().operand_type(i); }
  const TensorType& result(std::size_t i) const override { return node().types[i]; }
  std::span<const TensorType> results() const override {
    return {node().types.data(), node().types.size()};
  }
  std::span<const Function> regions() const override { return node().regions; }
  void fail(const std::string& message) const override { list_.text().fail(message); }

 private:
  const Node& node() const {
    if (!node_) throw InternalError("attributes of the IR's own text follow from nothing else");
    return *node_;
  }

  FieldList& list_;
  const Node* node_;
};

}  // namespace

void append_own_attributes(std::string& out, const Node& node) {
  const AttributeText* const description = node.op->text.attributes;
  if (!description) return;
  FieldPrinter printer(out);
  FieldList list(printer, " {");
  OwnAttributes codec(list, &node);
  description->write(node, codec);
  if (list.any()) list.end();
}

Attributes read_own_attributes(const AttributeText& description, FieldText& text) {
  FieldList list(text);
  OwnAttributes codec(list, nullptr);
  Attributes attributes = description.read(codec);
  list.end();
  return attributes;
}

}  // namespace rondo::ir
