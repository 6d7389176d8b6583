#include "text/write_attributes.h"

#include "absl/container/inlined_vector.h"
#include "base/escape.h"
#include "base/number_text.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/sharding.h"

namespace rondo::text {

namespace {

using ir::AttributeCodec;
using ir::FieldName;
using ir::IntegerPairs;
using ir::Integers;

/// What the writers of both formats share.
class AttributeWriter : public AttributeCodec {
 public:
  AttributeWriter(const ir::Node& node, TextBuffer& out) : out_(out), node_(node) {}
  bool reads() const noexcept override { return false; }
  void hint(FieldName) override {}

  const TensorType& operand(std::size_t i) const override { return node_.operand_type(i); }
  const TensorType& result(std::size_t i) const override { return node_.types[i]; }
  std::span<const TensorType> results() const override {
    return {node_.types.data(), node_.types.size()};
  }
  std::span<const Function> regions() const override { return node_.regions; }
  [[noreturn]] void fail(const std::string& message) const override {
    throw InternalError(fmt::format("{}: {}", node_.op->name, message), node_.location());
  }

 protected:
  void append(const Integers& values, std::string_view comma) {
    for (std::size_t i = 0; i < values.size(); i++) {
      if (i > 0) out_ += comma;
      out_.append_integer(values[i]);
    }
  }
  void append_quoted(std::string_view text) {
    out_ += '"';
    append_escaped(out_, text);
    out_ += '"';
  }

  TextBuffer& out_;

 private:
  const ir::Node& node_;
};

class HloAttributes final : public AttributeWriter {
 public:
  using AttributeWriter::AttributeWriter;

  void integer(FieldName name, std::int64_t& value, Need need) override {
    if (need == Need::kOptional && value == 1) return;
    begin(name.in_hlo());
    out_.append_integer(value);
  }
  void axis(FieldName name, std::int64_t& value) override {
    begin(name.in_hlo());
    out_ += '{';
    out_.append_integer(value);
    out_ += '}';
  }
  void flag(FieldName name, bool& value, Need need) override {
    if (need == Need::kOptional && !value) return;
    begin(name.in_hlo());
    out_ += value ? "true" : "false";
  }
  void integers(FieldName name, Integers& values, Need need) override {
    if (need == Need::kOptional && values.empty()) return;
    if (need == Need::kOptional && in_group_) return later_.push_back({name, &values});
    begin(name.in_hlo());
    out_ += '{';
    append(values, ", ");
    out_ += '}';
  }
  void word(FieldName name, const ir::FieldWords& words, std::size_t& choice, Need) override {
    if (choice < words.first_in_hlo) return;
    begin(name.in_hlo());
    out_ += (words.hlo.empty() ? words.names : words.hlo)[choice];
  }
  void real(FieldName name, float& value) override {
    begin(name.in_hlo());
    append_number(out_, value);
  }
  void text(FieldName name, std::string& value, Need need) override {
    if (need == Need::kOptional && value.empty()) return;
    begin(name.in_hlo());
    append_quoted(value);
  }
  void float_format(std::string_view, FieldName exponent, int& exponent_bits, FieldName mantissa,
                    int& mantissa_bits) override {
    begin(exponent.in_hlo());
    out_.append_integer(exponent_bits);
    begin(mantissa.in_hlo());
    out_.append_integer(mantissa_bits);
  }
  void padding(const std::array<FieldName, 3>&, const std::array<Integers*, 3>& lists) override {
    const auto& [low, high, interior] = lists;
    begin("padding");
    for (std::size_t i = 0; i < low->size(); i++) {
      if (i > 0) out_ += 'x';
      append_pair((*low)[i], (*high)[i]);
      if ((*interior)[i] == 0) continue;
      out_ += '_';
      out_.append_integer((*interior)[i]);
    }
  }
  void slices(const std::array<FieldName, 3>&, const std::array<Integers*, 3>& lists) override {
    const auto& [starts, limits, strides] = lists;
    begin("slice");
    out_ += '{';
    for (std::size_t i = 0; i < starts->size(); i++) {
      out_ += i > 0 ? ", [" : "[";
      out_.append_integer((*starts)[i]);
      out_ += ':';
      out_.append_integer((*limits)[i]);
      if ((*strides)[i] != 1) {
        out_ += ':';
        out_.append_integer((*strides)[i]);
      }
      out_ += ']';
    }
    out_ += '}';
  }
  void window(const ir::WindowNames&, const ir::WindowLists& lists, Need) override {
    begin("window");
    out_ += '{';
    const auto list = [&](std::string_view name, const Integers& values) {
      out_ += name;
      append(values, "x");
    };
    if (!lists.size.empty()) list("size=", lists.size);
    if (!lists.all_ones(lists.stride)) list(" stride=", lists.stride);
    if (!lists.all_zeros(lists.padding)) {
      out_ += " pad=";
      for (std::size_t i = 0; i < lists.padding.size(); i++) {
        if (i > 0) out_ += 'x';
        append_pair(lists.padding[i].first, lists.padding[i].second);
      }
    }
    if (!lists.all_ones(lists.base_dilation)) list(" lhs_dilate=", lists.base_dilation);
    if (!lists.all_ones(lists.window_dilation)) list(" rhs_dilate=", lists.window_dilation);
    out_ += '}';
    out_ += labels_;
  }
  void axes_of_both(std::string_view, FieldName left, Integers& left_axes, FieldName right,
                    Integers& right_axes) override {
    if (!left_axes.empty()) integers(left, left_axes, Need::kRequired);
    integers(right, right_axes, Need::kOptional);
  }
  void axis_labels(FieldName name, std::array<std::string, 3>& labels) override {
    labels_ = fmt::format(", {}={}_{}->{}", name.in_hlo(), labels[0], labels[1], labels[2]);
  }
  void group(FieldName, std::string_view, absl::FunctionRef<void()> fields) override {
    in_group_ = true;
    fields();
    in_group_ = false;
    for (const auto& [name, values] : later_) integers(name, *values, Need::kRequired);
    later_.clear();
  }
  void sharding(ir::Sharding& sharding) override {
    begin("custom_call_target");
    out_ += "\"Sharding\"";
    begin("sharding");
    ir::append_gspmd(out_, sharding);
    std::string unconstrained;
    ir::append_gspmd_unconstrained(unconstrained, sharding);
    if (unconstrained.empty()) return;
    begin("backend_config");
    append_quoted(unconstrained);
  }

 private:
  void begin(std::string_view name) { ((out_ += ", ") += name) += '='; }
  void append_pair(std::int64_t low, std::int64_t high) {
    out_.append_integer(low);
    out_ += '_';
    out_.append_integer(high);
  }

  bool in_group_ = false;
  absl::InlinedVector<std::pair<FieldName, Integers*>, 2> later_;  // of the group
  std::string labels_;                                             // after the window
};

class StablehloAttributes final : public AttributeWriter {
 public:
  using AttributeWriter::AttributeWriter;

  void integer(FieldName name, std::int64_t& value, Need) override {
    begin(name);
    out_.append_integer(value);
    if (!in_group_) out_ += " : i64";
  }
  void axis(FieldName name, std::int64_t& value) override { integer(name, value, Need::kRequired); }
  void flag(FieldName name, bool& value, Need) override {
    begin(name);
    out_ += value ? "true" : "false";
  }
  void integers(FieldName name, Integers& values, Need) override {
    if (in_group_ && values.empty()) return;
    begin(name);
    out_ += in_group_ ? "[" : values.empty() ? "array<i64" : "array<i64: ";
    append(values, ", ");
    out_ += in_group_ ? ']' : '>';
  }
  void word(FieldName name, const ir::FieldWords& words, std::size_t& choice, Need) override {
    begin(name);
    ((out_ += "#stablehlo<") += words.kind) += ' ';
    (out_ += words.names[choice]) += '>';
  }
  void real(FieldName name, float& value) override {
    begin(name);
    append_number(out_, value, NumberStyle::kMlir);
    out_ += " : f32";
  }
  void text(FieldName name, std::string& value, Need) override {
    begin(name);
    append_quoted(value);
  }
  void float_format(std::string_view, FieldName exponent, int& exponent_bits, FieldName mantissa,
                    int& mantissa_bits) override {
    begin(exponent);
    out_.append_integer(exponent_bits);
    out_ += " : i32";
    begin(mantissa);
    out_.append_integer(mantissa_bits);
    out_ += " : i32";
  }
  void padding(const std::array<FieldName, 3>& names,
               const std::array<Integers*, 3>& lists) override {
    for (std::size_t i = 0; i < names.size(); i++) integers(names[i], *lists[i], Need::kRequired);
  }
  void slices(const std::array<FieldName, 3>& names,
              const std::array<Integers*, 3>& lists) override {
    padding(names, lists);
  }
  void window(const ir::WindowNames& names, const ir::WindowLists& lists, Need need) override {
    const bool all = need == Need::kRequired;
    if (!names.size.own.empty()) integers(names.size, lists.size, need);
    integers(names.stride, lists.stride, need);
    if (all || !lists.all_zeros(lists.padding)) pairs(names.padding, lists.padding);
    if (all || !lists.all_ones(lists.base_dilation))
      integers(names.base_dilation, lists.base_dilation, need);
    if (all || !lists.all_ones(lists.window_dilation))
      integers(names.window_dilation, lists.window_dilation, need);
  }
  void axes_of_both(std::string_view, FieldName left, Integers& left_axes, FieldName right,
                    Integers& right_axes) override {
    integers(left, left_axes, Need::kOptional);
    integers(right, right_axes, Need::kOptional);
  }
  void axis_labels(FieldName name, std::array<std::string, 3>& labels) override {
    begin(name);
    out_ += "#stablehlo.conv<";
    for (std::size_t i = 0; i < labels.size(); i++) {
      out_ += i == 0 ? "[" : i == 1 ? "x[" : "->[";
      for (std::size_t axis = 0; axis < labels[i].size(); axis++) {
        if (axis > 0) out_ += ", ";
        out_ += labels[i][axis];
      }
      out_ += ']';
    }
    out_ += '>';
  }
  void group(FieldName name, std::string_view kind, absl::FunctionRef<void()> fields) override {
    begin(name);
    ((out_ += "#stablehlo.") += kind) += '<';
    in_group_ = true;
    first_ = true;
    fields();
    in_group_ = false;
    first_ = false;
    out_ += '>';
  }
  void sharding(ir::Sharding&) override {}

 private:
  void begin(FieldName name) {
    if (!std::exchange(first_, false)) out_ += ", ";
    (out_ += name.in_stablehlo()) += " = ";
  }
  void pairs(FieldName name, const IntegerPairs& values) {
    begin(name);
    out_ += "dense<";
    for (std::size_t i = 0; i < values.size(); i++) {
      out_ += i == 0 ? "[[" : ", [";
      out_.append_integer(values[i].first);
      out_ += ", ";
      out_.append_integer(values[i].second);
      out_ += ']';
    }
    out_ += values.empty() ? "> : tensor<" : "]> : tensor<";
    out_.append_count(values.size());
    out_ += "x2xi64>";
  }

  bool first_ = true;
  bool in_group_ = false;
};

}  // namespace

void write_hlo_attributes(const ir::Node& node, TextBuffer& out) {
  HloAttributes writer(node, out);
  node.op->text.attributes->write(node, writer);
}

void write_stablehlo_attributes(const ir::Node& node, TextBuffer& out) {
  StablehloAttributes writer(node, out);
  node.op->text.attributes->write(node, writer);
}

}  // namespace rondo::text
