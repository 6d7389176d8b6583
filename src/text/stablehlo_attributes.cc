#include "text/stablehlo_attributes.h"

#include "base/escape.h"
#include "base/number_text.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "ir/attribute_text.h"

namespace rondo::text {

namespace {

class StablehloAttributeWriter final : public ir::AttributeCodec {
 public:
  StablehloAttributeWriter(const ir::Node& node, TextBuffer& out) : node_(node), out_(out) {}
  bool reads() const noexcept override { return false; }

  void integer(ir::FieldName name, std::int64_t& value, Need) override {
    begin(name);
    out_ += fmt::format("{}{}", value, in_group_ ? "" : " : i64");
  }
  void flag(ir::FieldName name, bool& value, Need) override {
    begin(name);
    out_ += value ? "true" : "false";
  }
  void integers(ir::FieldName name, std::vector<std::int64_t>& values, Need) override {
    if (in_group_) {
      if (values.empty()) return;
      begin(name);
      out_ += fmt::format("[{}]", fmt::join(values, ", "));
    } else {
      begin(name);
      out_ += fmt::format("array<i64{}{}>", values.empty() ? "" : ": ", fmt::join(values, ", "));
    }
  }
  void pairs(ir::FieldName name, std::vector<std::pair<std::int64_t, std::int64_t>>& values,
             Need) override {
    begin(name);
    out_ += "dense<";
    for (std::size_t i = 0; i < values.size(); i++)
      out_ += fmt::format("{}[{}, {}]", i == 0 ? "[" : ", ", values[i].first, values[i].second);
    out_ += fmt::format("{}> : tensor<{}x2xi64>", values.empty() ? "" : "]", values.size());
  }
  void padding(std::array<ir::FieldName, 3> names,
               std::array<std::vector<std::int64_t>*, 3> lists) override {
    for (std::size_t i = 0; i < names.size(); i++) integers(names[i], *lists[i], Need::kRequired);
  }
  void word(ir::FieldName name, std::string_view kind, std::size_t,
            std::span<const std::string_view> words, std::size_t& choice, Need) override {
    begin(name);
    out_ += fmt::format("#stablehlo<{} {}>", kind, words[choice]);
  }
  void real(ir::FieldName name, float& value) override {
    begin(name);
    std::string digits;
    append_number(digits, value, NumberStyle::kMlir);
    out_ += digits + " : f32";
  }
  void text(ir::FieldName name, std::string& value, Need) override {
    begin(name);
    std::string quoted = "\"";
    append_escaped(quoted, value);
    out_ += quoted + '"';
  }
  void float_format(std::string_view, ir::FieldName exponent, int& exponent_bits,
                    ir::FieldName mantissa, int& mantissa_bits) override {
    begin(exponent);
    out_ += fmt::format("{} : i32", exponent_bits);
    begin(mantissa);
    out_ += fmt::format("{} : i32", mantissa_bits);
  }
  void group(ir::FieldName name, std::string_view kind, absl::FunctionRef<void()> fields) override {
    begin(name);
    out_ += fmt::format("#stablehlo.{}<", kind);
    in_group_ = true;
    first_ = true;
    fields();
    in_group_ = false;
    first_ = false;
    out_ += '>';
  }
  void axis_labels(ir::FieldName name, std::array<std::string, 3>& labels) override {
    begin(name);
    out_ += fmt::format("#stablehlo.conv<[{}]x[{}]->[{}]>", fmt::join(labels[0], ", "),
                        fmt::join(labels[1], ", "), fmt::join(labels[2], ", "));
  }
  void brief_product(std::string_view, std::vector<std::int64_t>&,
                     std::vector<std::int64_t>&) override {}
  void hint(ir::FieldName) override {}

  const TensorType& operand(std::size_t i) const override { return node_.operand_type(i); }
  const TensorType& result(std::size_t i) const override { return node_.types[i]; }
  std::span<const TensorType> results() const override {
    return {node_.types.data(), node_.types.size()};
  }
  std::span<const Function> regions() const override { return node_.regions; }
  [[noreturn]] void fail(const std::string& message) const override {
    throw InternalError(fmt::format("{}: {}", node_.op->name, message), node_.location());
  }

 private:
  void begin(ir::FieldName name) {
    if (!std::exchange(first_, false)) out_ += ", ";
    out_ += name.full;
    out_ += " = ";
  }

  const ir::Node& node_;
  TextBuffer& out_;
  bool first_ = true;
  bool in_group_ = false;
};

}  // namespace

void write_stablehlo_attributes(const ir::Node& node, TextBuffer& out) {
  StablehloAttributeWriter writer(node, out);
  node.op->text.attributes->write(node, writer);
}

}  // namespace rondo::text
