#include "cli/argument.h"

#include <optional>
#include <string_view>

#include "base/small_format.h"
#include "fmt/format.h"
#include "rondo/detail/tree_tools.h"
#include "text/hlo/program.h"

namespace rondo::cli {

namespace {

[[noreturn]] void fail(const std::string& name, const std::string& message) {
  throw ParseError(fmt::format("the argument for '{}': {}", name, message), 0, 0);
}

/// The array that `path.npz:name` names; nothing for another text.
std::optional<Literal> array_of_npz(std::string_view text, const TensorType& type) {
  constexpr std::string_view kArchive = ".npz:";
  const std::size_t colon = text.rfind(kArchive);
  if (colon == text.npos) return std::nullopt;
  return detail::load_from_npz(std::string(text.substr(0, colon + kArchive.size() - 1)),
                               std::string(text.substr(colon + kArchive.size())), type);
}

}  // namespace

Literal parse_argument(const std::string& text, const TensorType& type, const std::string& name) {
  std::optional<Literal> array = array_of_npz(text, type);
  if (!array && text.ends_with(".npy")) array = Literal::load_npy(text);
  if (array && is_small(type.dtype) &&
      array->type() == TensorType{storage_dtype(type.dtype), type.shape})
    return array->reinterpreted(type);
  if (array && array->type() != type)
    fail(name,
         fmt::format("{} holds {}; the program takes {}", text, array->type().str(), type.str()));
  if (array) return *std::move(array);
  if (text.ends_with(".npz"))
    fail(name, fmt::format("{} is an archive; name one of its arrays, {}:NAME", text, text));
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

std::vector<Literal> arguments_of(const Function& program, const std::vector<std::string>& texts) {
  const std::vector<TensorType> types = program.params();
  const std::vector<std::string> names = program.param_names();
  if (texts.size() != types.size()) {
    std::string wanted;
    for (std::size_t i = 0; i < types.size(); i++)
      wanted += fmt::format("\n  {}: {}", names[i], types[i].str());
    throw ParseError(fmt::format("the program takes {} arguments, and gets {}{}", types.size(),
                                 texts.size(), wanted),
                     0, 0);
  }
  std::vector<Literal> arguments;
  for (std::size_t i = 0; i < types.size(); i++)
    arguments.push_back(parse_argument(texts[i], types[i], names[i]));
  return arguments;
}

}  // namespace rondo::cli
