#include "cli/argument.h"

#include "fmt/format.h"
#include "text/hlo/program.h"

namespace rondo::cli {

namespace {

[[noreturn]] void fail(const std::string& name, const std::string& message) {
  throw ParseError(fmt::format("the argument for '{}': {}", name, message), 0, 0);
}

bool ends_with(std::string_view text, std::string_view end) {
  return text.size() >= end.size() && text.substr(text.size() - end.size()) == end;
}

}  // namespace

Literal parse_argument(const std::string& text, const TensorType& type, const std::string& name) {
  if (ends_with(text, ".npy")) {
    Literal value = Literal::load_npy(text);
    if (value.type() == type) return value;
    fail(name,
         fmt::format("{} holds {}; the program takes {}", text, value.type().str(), type.str()));
  }
  std::string_view elements = text;
  const std::string prefix = type.str();
  if (elements.substr(0, prefix.size()) == prefix) {
    elements.remove_prefix(prefix.size());
  } else if (const std::size_t bracket = elements.find('[');
             bracket != elements.npos && bracket < elements.find('{')) {
    fail(name, fmt::format("`{}` is of another type than {}", text, prefix));
  }
  try {
    return text::hlo::parse_literal(elements, 0, elements, type);
  } catch (const ParseError& error) {
    fail(name, fmt::format("`{}` is no {}, and no .npy file\n{}", text, prefix, error.what()));
  }
}

}  // namespace rondo::cli
