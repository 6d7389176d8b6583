#include "support/run_c.h"

#include <dlfcn.h>
#include <fmt/format.h>
#include <sys/wait.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <stdexcept>

#include "executor/c_source.h"

namespace rondo::testing {

namespace {

namespace fs = std::filesystem;

/// A folder that is removed with all in it.
class Folder {
 public:
  Folder() {
    std::string path = (fs::temp_directory_path() / "rondo_c_XXXXXX").string();
    if (mkdtemp(path.data()) == nullptr) throw std::runtime_error("no temporary folder");
    path_ = path;
  }
  ~Folder() {
    std::error_code ignored;
    fs::remove_all(path_, ignored);
  }
  Folder(const Folder&) = delete;
  Folder& operator=(const Folder&) = delete;
  fs::path operator/(const std::string& name) const { return path_ / name; }

 private:
  fs::path path_;
};

void write_file(const fs::path& path, const std::string& text) { std::ofstream(path) << text; }

std::string read_file(const fs::path& path) {
  std::stringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

/// `int call(arguments, results)` on the memory of literals.
std::string caller_of(const c::File& file, const std::vector<Literal>& arguments,
                      const std::vector<TensorType>& results) {
  std::string text = "#include <string.h>\n#include \"program.h\"\n";
  text += "#ifdef __cplusplus\nextern \"C\"\n#endif\n";
  text += "int call(const void *const *arguments, void *const *results);\n";
  text += "int call(const void *const *arguments, void *const *results) {\n";
  const auto variable = [&](const char* suffix, const char* pointer) {
    text +=
        fmt::format("  static program_{0} {1}_memory;\n  program_{0} *const {1} = &{1}_memory;\n",
                    suffix, pointer);
  };
  if (file.has_arguments) variable("in", "in");
  if (file.has_results) variable("out", "out");
  if (file.arguments.find("work") != std::string::npos) variable("workspace", "work");
  const auto move = [&](const std::vector<c::Leaf>& leaves, const std::vector<TensorType>& types,
                        bool in) {
    for (std::size_t i = 0; i < leaves.size(); i++) {
      const std::string place = (leaves[i].single ? "&" : "") + leaves[i].access;
      if (types[i].bytes() == 0) continue;
      text += in ? fmt::format("  memcpy({}, arguments[{}], {});\n", place, i, types[i].bytes())
                 : fmt::format("  memcpy(results[{}], {}, {});\n", i, place, types[i].bytes());
    }
  };
  text += "  (void)arguments;\n  (void)results;\n";
  if (file.arguments.find("work") != std::string::npos) {
    // What is in the workspace does not matter.
    text += "  memset(work, 0x5a, sizeof *work);\n";
    text += fmt::format("  if (sizeof *work != {}) return 2;\n", file.workspace_bytes);
  }
  std::vector<TensorType> types;
  for (const Literal& argument : arguments) types.push_back(argument.type());
  move(file.argument_leaves, types, true);
  const std::string made = fmt::format("program({})", file.arguments);
  text += file.returns_status ? "  if (" + made + ") return 1;\n" : "  " + made + ";\n";
  move(file.result_leaves, results, false);
  return text + "  return 0;\n}\n";
}

}  // namespace

int run_test_main(const CSource& source, const std::string& name) {
  const Folder folder;
  write_file(folder / (name + ".c"), source.source);
  write_file(folder / (name + ".h"), source.header);
  const std::string command =
      fmt::format("cd {} && cc -std=c99 -O1 {} {}.c -o test -lm > errors 2>&1",
                  (folder / "").string(), kStrict, name);
  if (std::system(command.c_str()) != 0) throw std::runtime_error(read_file(folder / "errors"));
  const int status = std::system((folder / "test").c_str());
  return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
}

bool has_c_compiler() { return std::system("cc --version > /dev/null 2>&1") == 0; }

std::vector<Literal> run_c(const Function& function, const std::vector<Literal>& arguments,
                           const COptions& given, const std::string& compiler,
                           const std::string& flags) {
  COptions options = given;
  options.name = "program";
  return run_file(executor::c_file(function, options), arguments, function.results(), compiler,
                  flags);
}

std::vector<Literal> run_file(const c::File& file, const std::vector<Literal>& arguments,
                              const std::vector<TensorType>& result_types,
                              const std::string& compiler, const std::string& flags) {
  const Folder folder;
  write_file(folder / "program.c", file.source);
  write_file(folder / "program.h", file.header);
  write_file(folder / "call.c", caller_of(file, arguments, result_types));
  const std::string path = (folder / "").string();
  const std::string command = fmt::format(
      "cd {} && {} {} {} -ffp-contract=off -fPIC -shared program.c call.c -o "
      "program.so -lm > errors 2>&1",
      path, compiler, flags, kStrict);
  if (std::system(command.c_str()) != 0)
    throw std::runtime_error(read_file(folder / "errors") + file.source);
  void* library = dlopen((folder / "program.so").c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) throw std::runtime_error(dlerror());
  using Call = int (*)(const void* const*, void* const*);
  const auto call = reinterpret_cast<Call>(dlsym(library, "call"));
  if (call == nullptr) throw std::runtime_error("the library has no function `call`");
  std::vector<const void*> from;
  for (const Literal& argument : arguments) from.push_back(argument.bytes());
  std::vector<Literal> results;
  std::vector<void*> to;
  results.reserve(result_types.size());
  for (const TensorType& type : result_types) {
    results.push_back(Literal::zeros(type));
    to.push_back(results.back().mutable_bytes());
  }
  const int status = call(from.data(), to.data());
  dlclose(library);
  if (status != 0) throw std::runtime_error(fmt::format("status {}", status));
  return results;
}

}  // namespace rondo::testing
