// NumPy's .npz: a zip archive of .npy files, one per array and named after it.
#include <algorithm>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "base/npy.h"
#include "base/npy_header.h"
#include "fmt/format.h"
#include "fmt/ranges.h"
#include "rondo/tree_tools.h"

#if defined(RONDO_HAS_LIBZIP)
#include <zip.h>
#endif

namespace rondo::detail {

#if defined(RONDO_HAS_LIBZIP)

namespace {

std::string zip_error_text(int code) {
  zip_error_t error;
  zip_error_init_with_code(&error, code);
  std::string text = zip_error_strerror(&error);
  zip_error_fini(&error);
  return text;
}

struct ZipDiscard {
  void operator()(zip_t* archive) const { zip_discard(archive); }
};
using Zip = std::unique_ptr<zip_t, ZipDiscard>;
struct ZipFileClose {
  void operator()(zip_file_t* file) const { zip_fclose(file); }
};

[[noreturn]] void fail_save_npz(const std::string& path, const std::string& why) {
  throw ExecutionError(path + ": the arrays cannot be saved: " + why +
                       "\n  Check the folder, its permissions and the free space.");
}

/// The archive's names without `.npy`, in its order.
std::vector<std::string> names_in_npz(zip_t* archive) {
  std::vector<std::string> names;
  const zip_int64_t count = zip_get_num_entries(archive, 0);
  for (zip_int64_t i = 0; i < count; i++) {
    const char* name = zip_get_name(archive, static_cast<zip_uint64_t>(i), 0);
    std::string text = name ? name : "";
    if (text.ends_with(".npy")) text.resize(text.size() - 4);
    names.push_back(std::move(text));
  }
  return names;
}

void check_npz_names(const std::string& path, const std::vector<std::string>& wanted,
                     const std::vector<std::string>& there) {
  const auto missing = [](const std::vector<std::string>& from,
                          const std::vector<std::string>& others) {
    std::vector<std::string> names;
    for (const std::string& name : from) {
      if (std::find(others.begin(), others.end(), name) == others.end()) names.push_back(name);
    }
    return names.empty() ? std::string("none") : fmt::format("{}", fmt::join(names, ", "));
  };
  std::vector<std::string> a = wanted, b = there;
  std::sort(a.begin(), a.end());
  std::sort(b.begin(), b.end());
  if (a == b) return;
  fail_npy(path, fmt::format("its arrays are not those of the tree; missing: {}; unknown: {}\n  "
                             "Give a prototype of the structure that was saved: the arrays are "
                             "named after its fields.",
                             missing(wanted, there), missing(there, wanted)));
}

Zip open_npz(const std::string& path) {
  int error = 0;
  Zip archive(zip_open(path.c_str(), ZIP_RDONLY, &error));
  if (!archive) {
    fail_npy(path, "the file cannot be read as an .npz: " + zip_error_text(error) +
                       "\n  Check the path; numpy.savez and rondo::save_npz write such files.");
  }
  return archive;
}

/// An array of an archive. Throws ParseError, with the last two, unless it has the wanted type.
Literal array_in_npz(zip_t* archive, const std::string& path, const std::string& name,
                     const TensorType& wanted, const char* who, const char* remedy) {
  const std::string file_name = name + ".npy", called = path + ": " + file_name;
  zip_stat_t stat;
  zip_stat_init(&stat);
  if (zip_stat(archive, file_name.c_str(), 0, &stat) != 0 || (stat.valid & ZIP_STAT_SIZE) == 0)
    fail_npy(called, std::string("cannot be read: ") + zip_strerror(archive) +
                         "\n  Copy or save it again.");
  // A file larger than the expected array with the longest header holds another array: an archive
  // may claim any size.
  const auto most = static_cast<std::uint64_t>(wanted.bytes()) + kMaxNpyHeader + 16;
  std::string bytes(static_cast<std::size_t>(std::min<std::uint64_t>(stat.size, most)), '\0');
  const std::unique_ptr<zip_file_t, ZipFileClose> file(zip_fopen(archive, file_name.c_str(), 0));
  if (!file)
    fail_npy(called, std::string("cannot be read: ") + zip_strerror(archive) +
                         "\n  Copy or save it again.");
  if (zip_fread(file.get(), bytes.data(), bytes.size()) != static_cast<zip_int64_t>(bytes.size()))
    fail_npy(called, "is damaged\n  Copy or save it again.");
  const std::optional<std::size_t> end = npy_header_end(bytes, called);
  if (end && *end <= bytes.size()) {
    const TensorType type = read_npy_type(bytes, *end, called).type;
    if (type != wanted)
      fail_npy(called, fmt::format("is {}, {} {}{}", type.str(), who, wanted.str(), remedy));
  }
  return parse_npy(bytes, called);
}

}  // namespace

void save_npz(const std::string& path, const std::vector<std::string>& names,
              const std::vector<Literal>& values) {
  std::vector<std::string> files;  // libzip reads them when the archive is closed
  for (const Literal& value : values) files.push_back(npy_bytes(value));
  int error = 0;
  Zip archive(zip_open(path.c_str(), ZIP_CREATE | ZIP_TRUNCATE, &error));
  if (!archive) fail_save_npz(path, zip_error_text(error));
  for (std::size_t i = 0; i < files.size(); i++) {
    zip_source_t* source = zip_source_buffer(archive.get(), files[i].data(), files[i].size(), 0);
    if (!source) fail_save_npz(path, zip_strerror(archive.get()));
    const zip_int64_t index =
        zip_file_add(archive.get(), (names[i] + ".npy").c_str(), source, ZIP_FL_ENC_UTF_8);
    if (index < 0) {
      zip_source_free(source);
      fail_save_npz(path, zip_strerror(archive.get()));
    }
    // As numpy.savez: not compressed.
    zip_set_file_compression(archive.get(), static_cast<zip_uint64_t>(index), ZIP_CM_STORE, 0);
  }
  if (zip_close(archive.get()) != 0) fail_save_npz(path, zip_strerror(archive.get()));
  (void)archive.release();  // closed
}

std::vector<Literal> load_npz(const std::string& path, const std::vector<std::string>& names,
                              const std::vector<TensorType>& types) {
  const Zip archive = open_npz(path);
  check_npz_names(path, names, names_in_npz(archive.get()));
  std::vector<Literal> values;
  for (std::size_t i = 0; i < names.size(); i++)
    values.push_back(array_in_npz(archive.get(), path, names[i], types[i],
                                  "the prototype's leaf is",
                                  "\n  Give a prototype with the types that were saved."));
  return values;
}

Literal load_from_npz(const std::string& path, const std::string& name, const TensorType& type) {
  const Zip archive = open_npz(path);
  const std::vector<std::string> names = names_in_npz(archive.get());
  if (std::find(names.begin(), names.end(), name) == names.end())
    fail_npy(path,
             fmt::format("it has no array '{}'\n  It has: {}.", name, fmt::join(names, ", ")));
  return array_in_npz(archive.get(), path, name, type, "the program takes", "");
}

#else

namespace {

[[noreturn]] void refuse_npz(const std::string& path) {
  throw ExecutionError(path +
                       ": this library was built without libzip, which .npz files need\n  "
                       "Install libzip-dev and build again, or save each array by save_npy.");
}

}  // namespace

void save_npz(const std::string& path, const std::vector<std::string>&,
              const std::vector<Literal>&) {
  refuse_npz(path);
}
std::vector<Literal> load_npz(const std::string& path, const std::vector<std::string>&,
                              const std::vector<TensorType>&) {
  refuse_npz(path);
}
Literal load_from_npz(const std::string& path, const std::string&, const TensorType&) {
  refuse_npz(path);
}

#endif

}  // namespace rondo::detail
