// The IR as a page for a browser: a program as JSON, in a page that draws it (html_page.h).
//
// Functions are in one list, the entry first, so nothing is nested as deep as the program is. A
// region that several nodes have is there once. Names of ops, types and source lines are in lists
// too, and used by number.
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "base/array_text.h"
#include "base/escape.h"
#include "base/number_text.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/html_page.h"
#include "ir/layout.h"
#include "ir/node.h"
#include "ir/print.h"
#include "ir/region_walk.h"
#include "rondo/text.h"

namespace rondo {

namespace ir {

namespace {

// As in the IR's own text.
constexpr std::int64_t kShortConstant = 4;
constexpr std::int64_t kLongestConstant = 64;

void append_html(std::string& out, std::string_view text) {
  for (const char c : text) {
    if (c == '<' || c == '>' || c == '&' || c == '"' || c == '\'') {
      out += "&#";
      append_number(out, static_cast<std::uint64_t>(c));
      out += ';';
    } else {
      out += c == '\0' ? ' ' : c;
    }
  }
}

/// Different texts in the order of their first use.
class TextList {
 public:
  std::uint64_t number_of(std::string_view text) {
    const auto [found, fresh] = numbers_.try_emplace(std::string(text), numbers_.size());
    if (fresh) {
      if (found->second > 0) json_ += ',';
      append_json(json_, text);
    }
    return found->second;
  }
  const std::string& json() const { return json_; }

 private:
  absl::flat_hash_map<std::string, std::uint64_t> numbers_;
  std::string json_;
};

class HtmlPrinter {
 public:
  struct Place : BodyPlace {
    Place(const Function& function, std::size_t index) : BodyPlace(function), number(index) {}
    std::size_t number;  // of the function
  };

  std::optional<Place> enter(const Function& function, const Node*, std::size_t) {
    const auto [found, fresh] = numbers_.try_emplace(function.identity(), functions_.size());
    if (!fresh) return std::nullopt;
    functions_.emplace_back();
    open(functions_.back(), function);
    return Place(function, found->second);
  }

  void before(Place& place, const Node& node) {
    if (is_constant(&node) && node.type().elements() <= kShortConstant) return;
    Open& function = functions_[place.number];
    const auto index = static_cast<std::int64_t>(function.values.size() - function.parameters);
    function.values.emplace(&node, index);
    std::string& out = function.json;
    out += index == 0 ? "\n[" : ",\n[";
    append_number(out, ops_.number_of(node.op->name));
    out += ',';
    append_number(out, next_number_++);
    append_list(out, node.types, [&](const TensorType& type) { append_type_number(out, type); });
    append_list(out, node.operands,
                [&](const Tensor& operand) { append_value(out, operand, function); });
    out += ',';
    std::string attributes;
    if (is_constant(&node))
      append_elements(attributes, node.attrs<ConstantAttributes>().value,
                      {.cut_above = kLongestConstant});
    else
      append_own_attributes(attributes, node);
    append_json(out, attributes.starts_with(' ') ? attributes.substr(1) : attributes);
    out += ',';
    if (node.line == 0)
      out += "-1";
    else
      append_number(out, places_.number_of(node.location().str()));
  }

  /// The regions have their numbers now.
  void after(Place& place, const Node& node) {
    if (is_constant(&node) && node.type().elements() <= kShortConstant) return;
    std::string& out = functions_[place.number].json;
    if (!node.regions.empty()) {
      const auto layout = region_layout(&node);
      const bool loops = layout ? layout->is_loop() : node.op->construct.lane_loop != nullptr;
      const bool calls = node.op->construct.flow == Flow::kCall;
      const char* const kind = loops                 ? "loop"
                               : calls               ? "call"
                               : !layout             ? "function"
                               : layout->is_branch() ? "branch"
                                                     : "call";
      ((out += ",\"") += kind) += "\",";
      append_json(out, layout ? layout->name : std::string_view());
      std::size_t index = 0;
      append_list(out, node.regions, [&](const Function& region) {
        out += '[';
        append_number(out, std::uint64_t{numbers_.at(region.identity())});
        out += ',';
        std::string label;
        append_region_label(label, node, index++);
        append_json(out, label);
        out += ']';
      });
    }
    out += ']';
  }

  void leave(Place& place) {
    Open& function = functions_[place.number];
    function.json += ']';
    function.json += ",\"results\":";
    append_items(function.json, place.function().outputs(),
                 [&](const Tensor& result) { append_value(function.json, result, function); });
    function.json += '}';
    function.values.clear();
  }

  std::string json(std::string_view title, const Profile* profile) && {
    std::string out = "{\"title\":";
    append_json(out, title);
    ((out += ",\"ops\":[") += ops_.json()) += ']';
    ((out += ",\n\"types\":[") += types_.json()) += ']';
    ((out += ",\n\"places\":[") += places_.json()) += "],\n\"functions\":[";
    for (std::size_t i = 0; i < functions_.size(); i++) {
      if (i > 0) out += ',';
      out += functions_[i].json;
      functions_[i].json = {};
    }
    out += ']';
    if (profile) append_profile(out, *profile);
    return out += '}';
  }

 private:
  struct Open {
    std::string json;
    absl::flat_hash_map<const Node*, std::int64_t> values;  // a parameter's is below 0
    std::size_t parameters = 0;
  };

  void open(Open& opened, const Function& function) {
    opened.json += "\n{\"name\":";
    append_json(opened.json, function.name().empty() ? "main" : std::string_view(function.name()));
    opened.json += ",\"params\":";
    append_items(opened.json, function.parameters(), [&](const Tensor& parameter) {
      const std::string& name = parameter.node()->attrs<ParameterAttributes>().name;
      const std::size_t index = opened.parameters++;
      opened.values.emplace(parameter.node(), -1 - static_cast<std::int64_t>(index));
      opened.json += '[';
      append_json(opened.json, printable_name(name, index));
      opened.json += ',';
      append_type_number(opened.json, parameter.type());
      opened.json += ']';
    });
    opened.json += ",\"nodes\":[";
  }

  template <class List, class Append>
  static void append_items(std::string& out, const List& list, Append&& append) {
    out += '[';
    std::string_view between;
    for (const auto& item : list) {
      out += std::exchange(between, ",");
      append(item);
    }
    out += ']';
  }
  template <class List, class Append>
  static void append_list(std::string& out, const List& list, Append&& append) {
    out += ',';
    append_items(out, list, append);
  }

  void append_type_number(std::string& out, const TensorType& type) {
    std::string text;
    append_type(text, type);
    append_number(out, types_.number_of(text));
  }

  static void append_value(std::string& out, const Tensor& tensor, const Open& function) {
    const Node* node = tensor.node();
    const auto found = function.values.find(node);
    if (found == function.values.end()) {
      std::string text = "?";  // of a program that verify() rejects
      if (is_constant(node)) {
        text.clear();
        append_elements(text, node->attrs<ConstantAttributes>().value,
                        {.cut_above = kLongestConstant});
      }
      append_json(out, text);
    } else if (node->types.size() > 1) {
      out += '[' + std::to_string(found->second) + ',' + std::to_string(tensor.result()) + ']';
    } else {
      out += std::to_string(found->second);
    }
  }

  /// A row: depth, kind, name, place, share, seconds, trips or calls, whether it was timed.
  static void append_profile(std::string& out, const Profile& profile) {
    fmt::format_to(std::back_inserter(out), ",\n\"profile\":{{\"seconds\":{:.9f},\"rows\":[",
                   profile.seconds());
    append_rows(out, profile.loops(), profile.kernels(), 0);
    out += "]}";
  }
  /// At most 256 deep.
  static void append_rows(std::string& out, const std::vector<LoopProfile>& loops,
                          const std::vector<KernelProfile>& kernels, int depth) {
    const auto append = [&](const char* kind, const auto& row, std::int64_t count, bool timed) {
      out += out.back() == '[' ? "\n[" : ",\n[";
      fmt::format_to(std::back_inserter(out), "{},\"{}\",", depth, kind);
      append_json(out, row.name.empty() ? "while" : row.name);
      out += ',';
      append_json(out, row.location.line == 0 ? "" : row.location.str());
      fmt::format_to(std::back_inserter(out), ",{:.6f},{:.9f},{},{:d}]", row.share, row.seconds,
                     count, timed);
    };
    for (const KernelProfile& kernel : kernels) append("kernel", kernel, kernel.calls, true);
    for (const LoopProfile& loop : loops) {
      append("loop", loop, loop.trips, loop.timed);
      append_rows(out, loop.children, loop.kernels, depth + 1);
    }
  }

  TextList ops_, types_, places_;
  absl::flat_hash_map<const void*, std::size_t> numbers_;
  std::vector<Open> functions_;
  std::uint64_t next_number_ = 0;
};

}  // namespace

}  // namespace ir

std::string to_html(const Function& function, const HtmlOptions& options) {
  ir::HtmlPrinter printer;
  ir::walk_regions(function, printer);
  const std::string name = function.name().empty() ? "main" : function.name();
  const std::string& title = options.title.empty() ? name : options.title;
  std::string page =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
      "style-src 'unsafe-inline'; script-src 'unsafe-inline'\">\n"
      "<meta name=\"viewport\" content=\"width=device-width\">\n<title>";
  ir::append_html(page, title);
  page += "</title>\n";
  page += ir::html_style_and_body();
  page += "<script type=\"application/json\" id=\"program\">";
  page += std::move(printer).json(title, options.profile);
  page += "</script>\n<script>";
  page += ir::html_script();
  return page += "</script>\n</body>\n</html>\n";
}

}  // namespace rondo
