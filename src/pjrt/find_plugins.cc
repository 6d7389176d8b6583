// Finds the plugins that pip packages install.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "absl/strings/str_split.h"
#include "fmt/format.h"
#include "rondo/pjrt.h"

namespace rondo::pjrt {

namespace {

namespace fs = std::filesystem;

/// Packages in site-packages. CPUs come first, since a GPU's plugin may load on a machine without a
/// GPU.
constexpr std::array<std::string_view, 8> kPackages = {
    "lammps_jax_pjrt_cpu",    "fastatomstruct_xla_cpu",
    "xla_cpu_pjrt",           "jax_plugins/xla_cuda13",
    "jax_plugins/xla_cuda12", "jax_plugins/xla_rocm7",
    "jax_plugins/xla_rocm60", "libtpu"};

/// The shared libraries in a package whose names are those of plugins.
std::vector<fs::path> plugins_in(const fs::path& package) {
  std::vector<fs::path> found;
  std::error_code error;
  for (fs::directory_iterator each(package, error), end; !error && each != end;
       each.increment(error)) {
    const std::string name = each->path().filename().string();
    if (!name.ends_with(".so")) continue;
    for (const std::string_view part : {"pjrt", "_plugin", "libtpu"}) {
      if (name.find(part) == std::string::npos) continue;
      found.push_back(each->path());
      break;
    }
  }
  std::sort(found.begin(), found.end());
  return found;
}

std::string variable(const char* name) {
  const char* value = std::getenv(name);
  return value ? value : "";
}

/// The package directories under a prefix such as that of a virtual environment: /usr/local has
/// lib/python3.11/site-packages, Debian lib/python3/dist-packages.
void add_package_folders(const fs::path& prefix, std::vector<fs::path>& folders) {
  for (const char* lib : {"lib", "local/lib", "lib64"}) {
    std::vector<fs::path> found;
    std::error_code error;
    for (fs::directory_iterator each(prefix / lib, error), end; !error && each != end;
         each.increment(error)) {
      if (!each->path().filename().string().starts_with("python3")) continue;
      for (const char* packages : {"site-packages", "dist-packages"}) {
        std::error_code ignored;
        if (fs::is_directory(each->path() / packages, ignored))
          found.push_back(each->path() / packages);
      }
    }
    std::sort(found.rbegin(), found.rend());  // directories come in any order
    folders.insert(folders.end(), found.begin(), found.end());
  }
}

}  // namespace

std::vector<std::string> find_plugins() {
  std::vector<std::string> plugins;
  const auto add = [&](const fs::path& file) {
    std::error_code error;
    const fs::path whole = fs::canonical(file, error);
    std::string path = error ? file.string() : whole.string();
    if (std::find(plugins.begin(), plugins.end(), path) == plugins.end())
      plugins.push_back(std::move(path));
  };
  const std::string named = variable("RONDO_PJRT_PLUGIN");
  for (const absl::string_view path : absl::StrSplit(named, ':', absl::SkipEmpty()))
    add(std::string(path));

  std::vector<fs::path> folders;
  for (const char* prefix : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const std::string path = variable(prefix); !path.empty())
      add_package_folders(path, folders);
  }
  add_package_folders("build/xla-venv", folders);
  if (const std::string home = variable("HOME"); !home.empty())
    add_package_folders(fs::path(home) / ".local", folders);
  const std::string search = variable("PATH");
  for (const absl::string_view each : absl::StrSplit(search, ':', absl::SkipEmpty())) {
    const fs::path folder{std::string(each)};
    std::error_code error;
    if (!fs::exists(folder / "python3", error)) continue;
    add_package_folders(folder.parent_path(), folders);
    const fs::path python = fs::canonical(folder / "python3", error);
    if (!error) add_package_folders(python.parent_path().parent_path(), folders);
  }
  for (const std::string_view package : kPackages) {
    for (const fs::path& folder : folders) {
      for (const fs::path& plugin : plugins_in(folder / package)) add(plugin);
    }
  }
  return plugins;
}

Plugin load_plugin() {
  const std::vector<std::string> plugins = find_plugins();
  if (!plugins.empty()) return Plugin::load(plugins.front());
  throw ExecutionError(
      "there is no PJRT plugin on this machine\n  Install one with `pip install --no-deps "
      "lammps-jax-pjrt-cpu`, or set RONDO_PJRT_PLUGIN to the path of one.");
}

}  // namespace rondo::pjrt
