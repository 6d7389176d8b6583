#include "text/mlir/written.h"

#include <vector>

#include "fmt/format.h"

namespace rondo::text::mlir {

namespace {

/// Depth is bounded: the reader allows kMostNested lists and dictionaries within each other.
void append(std::string& out, const Attribute& attribute) {
  using Kind = Attribute::Kind;
  const auto append_all = [&](const auto& parts, const char* between, auto&& append_part) {
    for (std::size_t i = 0; i < parts.size(); i++) {
      if (i > 0) out += between;
      append_part(parts[i]);
    }
  };
  const auto append_part = [&](const Attribute& part) { append(out, part); };
  switch (attribute.kind) {
    case Kind::kUnit:
      out += "unit";
      break;
    case Kind::kBool:
      out += attribute.integer != 0 ? "true" : "false";
      break;
    case Kind::kInteger:
      out += std::to_string(attribute.integer);
      break;
    case Kind::kFloat:
      out += fmt::format("{}", attribute.number);
      break;
    case Kind::kString:
      out += fmt::format("\"{}\"", attribute.text);
      break;
    case Kind::kSymbol:
      out += fmt::format("@{}", attribute.text);
      break;
    case Kind::kWord:
    case Kind::kOther:
      out += attribute.text;
      break;
    case Kind::kList:
      out += '[';
      append_all(attribute.list, ", ", append_part);
      out += ']';
      break;
    case Kind::kProduct:
      append_all(attribute.list, " x ", append_part);
      break;
    case Kind::kDictionary:
      out += '{';
      append_all(attribute.entries, ", ", [&](const Entry& entry) {
        out += entry.name;
        if (entry.value.kind == Kind::kUnit) return;
        out += " = ";
        append(out, entry.value);
      });
      out += '}';
      break;
    case Kind::kElements:
      out += attribute.elements.str();
      break;
  }
}

}  // namespace

std::string written(const Attribute& attribute) {
  std::string out;
  append(out, attribute);
  return out;
}

}  // namespace rondo::text::mlir
