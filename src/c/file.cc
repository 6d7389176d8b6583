#include "c/file.h"

#include <algorithm>
#include <cctype>
#include <cstring>

#include "c/types.h"
#include "c/wide.h"
#include "c/wrap.h"
#include "fmt/format.h"
#include "lower/opcodes.h"

namespace rondo::c {

using lower::Type;

namespace {

std::string upper(std::string_view name) {
  std::string made(name);
  std::transform(made.begin(), made.end(), made.begin(),
                 [](unsigned char c) { return static_cast<char>(std::toupper(c)); });
  return made;
}

std::vector<Type> types_of(const std::vector<Field>& fields) {
  std::vector<Type> types;
  for (const Field& field : fields) types.push_back(lower::type_of(field.type.dtype));
  return types;
}

/// An array that the program only reads, as many numbers to a line as fit.
std::string table(const std::string& name, const Literal& value) {
  const Type type = lower::type_of(value.dtype());
  const std::int64_t width = lower::width(type), count = value.type().bytes() / width;
  std::string text = fmt::format("static const {} {}[{}] = {{\n", element_type(type), name,
                                 std::max<std::int64_t>(1, count));
  std::string row = "   ";
  for (std::int64_t i = 0; i < std::max<std::int64_t>(1, count); i++) {
    std::uint64_t bits = 0;
    if (i < count) std::memcpy(&bits, value.bytes() + i * width, static_cast<std::size_t>(width));
    const std::string number = element_constant(type, bits) + (i + 1 < count ? "," : "");
    if (row.size() + 1 + number.size() > 100) {
      text += row + '\n';
      row = "   ";
    }
    row += ' ' + number;
  }
  return text + row + "};\n";
}

std::string workspace_struct(const Memory& memory, const std::string& name) {
  std::string text = "typedef struct {\n";
  for (const Member& member : memory.members())
    text += fmt::format("  {} {}[{}];\n", element_type(member.type), member.name, member.count);
  return text + fmt::format("}} {}_workspace;\n\n", name);
}

}  // namespace

File write(const lower::Program& program, const std::vector<Field>& arguments,
           const std::vector<Field>& results, const FileOptions& options) {
  const std::string& name = options.name;
  const Memory memory(program, types_of(arguments), types_of(results));
  const Struct in = struct_of(arguments, name, "in"), out = struct_of(results, name, "out");
  Names names;
  for (const char* taken : {"in", "out", "work"}) names.reserve(taken);
  names.reserve(name);
  Helpers helpers;
  if (!options.has_double && can_be_wide(program)) helpers.set_wide();
  Writer writer(program, memory, in.leaves, out.leaves, names, helpers);
  writer.run();

  File file;
  file.workspace_bytes = memory.workspace_bytes();
  file.argument_leaves = in.leaves;
  file.result_leaves = out.leaves;
  file.has_arguments = !arguments.empty();
  file.has_results = !results.empty();
  file.returns_status = writer.may_fail();
  const bool has_work = !memory.members().empty();
  std::string parameters;
  const auto add = [&](const std::string& type, const char* variable) {
    parameters += (parameters.empty() ? "" : ", ") + type + " *" + variable;
    file.arguments += fmt::format("{}{}", file.arguments.empty() ? "" : ", ", variable);
  };
  if (file.has_arguments) add("const " + in.name, "in");
  if (file.has_results) add(out.name, "out");
  if (has_work && !options.static_workspace) add(name + "_workspace", "work");
  const std::string head = fmt::format("{} {}({})", writer.may_fail() ? "int" : "void", name,
                                       parameters.empty() ? "void" : parameters);

  const std::string guard = upper(name) + "_H";
  std::string& header = file.header;
  header = fmt::format(
      "{}\n#ifndef {}\n#define {}\n\n#include <stdbool.h>\n"
      "#include <stdint.h>\n\n#ifdef __cplusplus\nextern \"C\" {{\n#endif\n\n",
      wrapped(comment_line(options.program), 0), guard, guard);
  header += in.text + out.text;
  if (has_work && !options.static_workspace) {
    header += "/* Memory for a call; what is in it before does not matter. */\n";
    header += workspace_struct(memory, name);
  }
  header += fmt::format("/* Of the memory for a call{}. */\n#define {}_WORKSPACE_BYTES {}\n\n",
                        options.static_workspace ? ", which the function has" : "", upper(name),
                        file.workspace_bytes);
  if (writer.may_fail())
    header += "/* Returns 0; or 1 if a loop would make more trips than max_trip_count. */\n";
  header += head + ";\n\n#ifdef __cplusplus\n}\n#endif\n\n#endif\n";

  std::string test;
  if (options.test != nullptr) {
    std::string variables;
    const auto variable = [&](const std::string& type, const char* pointer) {
      variables +=
          fmt::format("  static {0} {1}_memory;\n  {0} *const {1} = &{1}_memory;\n", type, pointer);
    };
    if (file.has_arguments) variable(in.name, "in");
    if (file.has_results) variable(out.name, "out");
    if (has_work && !options.static_workspace) variable(name + "_workspace", "work");
    const std::string call = fmt::format("{}({})", name, file.arguments);
    Helpers others = helpers.beside();
    const std::string body = self_test(
        *options.test, arguments, in.leaves, out.leaves, variables,
        writer.may_fail() ? "  if (" + call + " != 0) return -1;\n" : "  " + call + ";\n", others);
    test = fmt::format(
        "\n/* Returns how many results have other bits than they should. */\n"
        "#ifndef {}_NO_TEST_MAIN\n{}{}#endif\n",
        upper(name), others.text(), body);
  }

  std::string& source = file.source;
  source = fmt::format("{}\n#include \"{}\"\n\n#include <math.h>\n\n",
                       wrapped(comment_line(options.program), 0), options.header);
  for (const std::string* part : {&helpers.text(), &writer.functions()})
    if (!part->empty()) source += *part + "\n";
  bool any_table = false;
  for (std::size_t i = 0; i < writer.tables().size(); i++) {
    if (writer.tables()[i].empty()) continue;
    source += table(writer.tables()[i], program.constants[i]);
    any_table = true;
  }
  if (any_table) source += '\n';
  if (has_work && options.static_workspace) {
    source += workspace_struct(memory, name);
    source += fmt::format("static {0}_workspace {0}_memory;\n\n", name);
  }
  source += head + " {\n";
  if (has_work && options.static_workspace)
    source += fmt::format("  {0}_workspace *const work = &{0}_memory;\n", name);
  const auto ignore = [&](bool has, const char* name) {
    const bool used = writer.body().find(fmt::format("{}->", name)) != std::string::npos;
    if (has && !used) source += fmt::format("  (void){};\n", name);
  };
  ignore(file.has_arguments, "in");
  ignore(file.has_results, "out");
  ignore(has_work, "work");
  source += writer.body();
  if (writer.may_fail()) source += "  return 0;\n";
  source += "}\n" + test;
  return file;
}

}  // namespace rondo::c
