#include "c/interface.h"

#include <algorithm>
#include <cstdint>

#include "absl/container/flat_hash_map.h"
#include "c/types.h"
#include "lower/opcodes.h"

namespace rondo::c {

namespace {

/// A struct, or a leaf.
struct Part {
  std::string name;
  Names names{Names::Of::kStruct};  // of its members
  std::vector<std::size_t> parts;   // empty for a leaf
  const Field* field = nullptr;     // of a leaf
};

/// Fields of fields; elements and keys are a part of a name: `arg0`, `layers[2]`, `w`.
std::vector<std::string> steps_of(std::string_view path) {
  std::vector<std::string> steps{""};
  bool quoted = false;
  for (const char c : path) {
    if (c == '"') quoted = !quoted;
    if (c == '.' && !quoted)
      steps.emplace_back();
    else
      steps.back() += c;
  }
  std::erase(steps, "");
  if (steps.empty()) steps.emplace_back("value");
  return steps;
}

std::string declaration(const Part& leaf) {
  const TensorType& type = leaf.field->type;
  const bool is_complex = type.dtype == DType::kC64 || type.dtype == DType::kC128;
  const std::string_view element = element_type(lower::type_of(type.dtype));
  const std::int64_t parts = is_complex ? 2 : 1;
  std::string text = fmt::format("{} {}", element, leaf.name);
  // C has no arrays without elements.
  if (type.rank() > 0 || is_complex)
    text += fmt::format("[{}]", std::max<std::int64_t>(1, parts * type.elements()));
  text += ";";
  const std::string& meaning = leaf.field->meaning;
  const bool is_said =
      type.rank() == 0 && !is_complex && element != "uint16_t" && meaning == type.str();
  if (!is_said) text += fmt::format(" /* {} */", meaning);
  return text;
}

}  // namespace

Struct struct_of(const std::vector<Field>& fields, std::string_view prefix,
                 std::string_view suffix) {
  std::vector<Part> parts(1);
  parts[0].name = fmt::format("{}_{}", prefix, suffix);
  absl::flat_hash_map<std::pair<std::size_t, std::string>, std::size_t> known;
  Struct made{parts[0].name, "", {}};
  for (const Field& field : fields) {
    std::size_t at = 0;
    std::string access;
    const std::vector<std::string> steps = steps_of(field.path);
    for (std::size_t i = 0; i < steps.size(); i++) {
      const bool is_leaf = i + 1 == steps.size();
      const auto found = known.find({at, steps[i]});
      if (found != known.end() && !is_leaf && parts[found->second].field == nullptr) {
        at = found->second;
      } else {
        Part part;
        part.name = parts[at].names.unique(steps[i], "value");
        if (is_leaf) part.field = &field;
        parts[at].parts.push_back(parts.size());
        known.insert_or_assign({at, steps[i]}, parts.size());
        at = parts.size();
        parts.push_back(std::move(part));
      }
      access += (access.empty() ? "" : ".") + parts[at].name;
    }
    const bool is_complex = field.type.dtype == DType::kC64 || field.type.dtype == DType::kC128;
    access.insert(0, fmt::format("{}->", suffix));
    made.leaves.push_back({access, field.type.rank() == 0 && !is_complex});
  }
  // Children come after their parents, so backwards each struct is there before it is used.
  std::vector<std::string> types(parts.size());
  Names taken;
  types[0] = taken.unique(parts[0].name, "in");
  for (std::size_t i = 1; i < parts.size(); i++)
    if (parts[i].field == nullptr)
      types[i] = taken.unique(fmt::format("{}_{}", parts[0].name, parts[i].name), "part");
  for (std::size_t i = parts.size(); i-- > 0;) {
    if (parts[i].field != nullptr || (i == 0 && parts[i].parts.empty())) continue;
    made.text += "typedef struct {\n";
    for (const std::size_t child : parts[i].parts)
      made.text += parts[child].field != nullptr
                       ? fmt::format("  {}\n", declaration(parts[child]))
                       : fmt::format("  {} {};\n", types[child], parts[child].name);
    made.text += fmt::format("}} {};\n\n", types[i]);
  }
  return made;
}

}  // namespace rondo::c
