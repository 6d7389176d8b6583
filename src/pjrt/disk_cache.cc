// One file for each program: its complete key (plugin, processor, options, text), so that no two
// programs can be confused, and the plugin's bytes with a checksum, since a plugin that loads other
// bytes may terminate the process. Files are created by a rename and are read whole, so processes
// need no lock.
#include "pjrt/disk_cache.h"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <charconv>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <sstream>
#include <vector>

#include "fmt/format.h"

namespace rondo::pjrt {

namespace {

namespace fs = std::filesystem;

constexpr std::string_view kMagic = "rondo compiled program 1\n";
constexpr std::string_view kSuffix = ".rondo-xla";
constexpr std::string_view kUnfinished = ".part";
constexpr std::uint64_t kDefaultBytes = std::uint64_t{1} << 30;

struct Counters {
  std::atomic<std::int64_t> hits{0}, misses{0}, failures{0};
};
Counters& counters() {
  static Counters all;
  return all;
}

/// FNV-1a with another start: unlike absl::Hash it is the same in every process.
std::uint64_t stable_hash(std::string_view bytes, std::uint64_t start) {
  std::uint64_t hash = 0xcbf29ce484222325u ^ start;
  for (const char c : bytes) {
    hash ^= static_cast<unsigned char>(c);
    hash *= 0x100000001b3u;
  }
  return hash;
}

void add_part(std::string& out, std::string_view part) {
  std::array<char, 8> size{};
  const std::uint64_t bytes = part.size();
  std::memcpy(size.data(), &bytes, size.size());
  out.append(size.data(), size.size());
  out += part;
}

/// Removes the next part from the front; nothing if there is no complete one.
std::optional<std::string_view> take_part(std::string_view& in) {
  std::uint64_t bytes = 0;
  if (in.size() < sizeof bytes) return std::nullopt;
  std::memcpy(&bytes, in.data(), sizeof bytes);
  in.remove_prefix(sizeof bytes);
  if (bytes > in.size()) return std::nullopt;
  const std::string_view part = in.substr(0, bytes);
  in.remove_prefix(bytes);
  return part;
}

/// Empty if it cannot be read completely.
std::string read_file(const fs::path& path) {
  std::ifstream in(path, std::ios::binary);
  std::ostringstream out;
  out << in.rdbuf();  // fails by its state, where an iterator of the buffer throws
  return out ? out.str() : std::string();
}

/// The properties of this machine that code is compiled for.
const std::string& processor() {
  static const std::string lines = [] {
    std::ifstream in("/proc/cpuinfo");
    std::string out, line;
    while (std::getline(in, line) && !line.empty()) {  // those of the first core
      if (line.starts_with("model") || line.starts_with("flags") || line.starts_with("Features") ||
          line.starts_with("CPU "))
        out += line + "\n";
    }
    return out;
  }();
  return lines;
}

/// Identifies the plugin's file: path, size, modification time.
std::string plugin_file(const std::string& path) {
  struct stat status {};
  if (stat(path.c_str(), &status) != 0) return path;
  return fmt::format("{} {} {}.{}", path, status.st_size, status.st_mtim.tv_sec,
                     status.st_mtim.tv_nsec);
}

std::string key_of_program(const std::string& text, const ProgramOptions& options,
                           const PluginClient& client) {
  const api::Api::Version& version = client.plugin->api->version;
  std::string key;
  add_part(key, plugin_file(client.plugin->path));
  add_part(key, fmt::format("{}.{} {} {} of {} devices", version.major, version.minor,
                            client.platform, client.version, client.devices.size()));
  if (client.devices.size() > client.addressable)  // a program is loaded for its process's devices
    add_part(key, fmt::format("process {}", client.process_index));
  add_part(key, client.devices[DeviceAccess::index(options.devices.front())].kind);
  add_part(key, processor());
  add_part(key, compile_options(options));
  add_part(key, text);
  return key;
}

std::uint64_t most_bytes() {
  const char* given = std::getenv("RONDO_CACHE_BYTES");
  std::uint64_t bytes = 0;
  if (!given) return kDefaultBytes;
  const char* end = given + std::strlen(given);
  const auto [last, error] = std::from_chars(given, end, bytes);
  if (error != std::errc() || last != end || last == given) {
    throw ExecutionError(fmt::format(
        "RONDO_CACHE_BYTES is '{}'\n  Set it to a number of bytes, or leave it out.", given));
  }
  return bytes;
}

class Folder {
 public:
  Folder(fs::path path, std::string key) : path_(std::move(path)), key_(std::move(key)) {
    file_ = path_ /
            fmt::format("{:016x}{:016x}{}", stable_hash(key_, 0), stable_hash(key_, 1), kSuffix);
  }

  /// The plugin's bytes; empty if the directory has none for the key.
  std::string read() const {
    const std::string whole = read_file(file_);
    std::string_view rest = whole;
    if (!rest.starts_with(kMagic)) return {};
    rest.remove_prefix(kMagic.size());
    const auto key = take_part(rest);
    const auto bytes = key ? take_part(rest) : std::nullopt;
    const auto checksum = bytes ? take_part(rest) : std::nullopt;
    if (!checksum || *key != key_ || *checksum != checksum_of(*bytes)) return {};
    std::error_code ignored;
    fs::last_write_time(file_, fs::file_time_type::clock::now(), ignored);  // was used last
    return std::string(*bytes);
  }

  bool write(std::string_view bytes) const {
    const std::uint64_t most = most_bytes();
    std::string whole(kMagic);
    add_part(whole, key_);
    add_part(whole, bytes);
    add_part(whole, checksum_of(bytes));
    if (whole.size() > most) return true;
    std::error_code error;
    fs::create_directories(path_, error);
    std::string unfinished = file_.string() + "-XXXXXX" + std::string(kUnfinished);
    const int descriptor = mkstemps(unfinished.data(), static_cast<int>(kUnfinished.size()));
    if (descriptor < 0) return false;
    close(descriptor);
    std::ofstream out(unfinished, std::ios::binary);
    out << whole;
    out.close();
    if (out.fail()) {
      fs::remove(unfinished, error);
      return false;
    }
    fs::rename(unfinished, file_, error);
    if (error) {
      fs::remove(unfinished, error);
      return false;
    }
    shrink(most);
    return true;
  }

 private:
  static std::string checksum_of(std::string_view bytes) {
    return fmt::format("{:016x}", stable_hash(bytes, 2));
  }

  /// Removes the least recently used files until the rest are few enough, and unfinished files of
  /// processes that were terminated.
  void shrink(std::uint64_t most) const {
    struct File {
      fs::path path;
      fs::file_time_type time;
      std::uint64_t bytes;
    };
    std::vector<File> files;
    std::uint64_t total = 0;
    std::error_code error;
    for (fs::directory_iterator each(path_, error), end; !error && each != end;
         each.increment(error)) {
      const std::string name = each->path().filename().string();
      const bool unfinished = name.ends_with(kUnfinished) && name.find(kSuffix) != name.npos;
      if (!name.ends_with(kSuffix) && !unfinished) continue;
      std::error_code gone;  // other processes may remove it at any time
      const auto time = each->last_write_time(gone);
      const auto bytes = gone ? 0 : each->file_size(gone);
      if (gone) continue;
      if (!unfinished) {
        files.push_back({each->path(), time, bytes});
        total += bytes;
      } else if (time < fs::file_time_type::clock::now() - std::chrono::hours(1)) {
        fs::remove(each->path(), gone);
      }
    }
    std::sort(files.begin(), files.end(),
              [](const File& a, const File& b) { return a.time < b.time; });
    for (const File& file : files) {
      if (total <= most) return;
      std::error_code gone;
      if (file.path != file_ && fs::remove(file.path, gone)) total -= file.bytes;
    }
  }

  fs::path path_;
  std::string key_;
  fs::path file_;
};

/// Null if the plugin does not accept the bytes.
std::unique_ptr<const Program> from_bytes(const std::string& bytes, const ProgramOptions& options,
                                          const PluginClient& client) {
  api::ExecutableDeserializeAndLoad args;
  args.client = client.client;
  args.bytes = bytes.data();
  args.byte_count = bytes.size();
  try {
    client.plugin->call(args, "loading a compiled program");
    return std::make_unique<Program>(options, args.executable);
  } catch (const PluginError&) {  // compiled anew, which reports its errors
    return nullptr;
  }
}

}  // namespace

DiskCacheStats disk_cache() {
  const Counters& all = counters();
  return {all.hits.load(), all.misses.load(), all.failures.load()};
}

std::unique_ptr<const Program> cached_program(const std::string& text, ProgramOptions options) {
  const char* folder = std::getenv("RONDO_CACHE_DIR");
  const std::shared_ptr<const PluginClient> client = plugin_client(options.devices.front());
  if (!folder || !*folder || !client->plugin->has<api::ExecutableDeserializeAndLoad>() ||
      !client->plugin->has<api::ExecutableSerialize>())
    return std::make_unique<Program>(text, std::move(options));
  client->check_process();
  const Folder cache(folder, key_of_program(text, options, *client));
  if (const std::string bytes = cache.read(); !bytes.empty()) {
    if (auto program = from_bytes(bytes, options, *client)) {
      counters().hits++;
      return program;
    }
    counters().failures++;
  }
  counters().misses++;
  auto program = std::make_unique<Program>(text, std::move(options));
  if (const std::string bytes = program->serialized(); !bytes.empty()) {
    if (!cache.write(bytes)) counters().failures++;
  }
  return program;
}

}  // namespace rondo::pjrt
