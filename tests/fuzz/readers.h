// What the fuzz targets and the tests of damaged input run: each reader on bytes that may be
// anything. A reader throws ParseError or reads; everything else is a fault.
#pragma once

#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>

#include "base/npy.h"
#include "rondo/rondo.h"
#include "text/hlo/program.h"

namespace rondo::fuzz {

struct Reader {
  std::string_view name;
  void (*read)(std::string_view bytes);
};

/// A value for a parameter of a program, in the form of the command line.
inline void read_literal(std::string_view bytes) {
  for (const TensorType& type : {f32(), f32({2}), TensorType{DType::kC64, {1, 2}}, s8({2, 2})})
    text::hlo::parse_literal(bytes, 0, bytes, type);
}
inline void read_npz(std::string_view bytes) {
  // libzip reads files.
  std::string path = (std::filesystem::temp_directory_path() / "rondo_fuzz_XXXXXX").string();
  const int file = mkstemp(path.data());
  if (file < 0) return;
  close(file);
  std::ofstream(path, std::ios::binary) << bytes;
  const struct Removed {
    const std::string& path;
    ~Removed() { std::remove(path.c_str()); }
  } removed{path};
  const TensorType types[] = {f32({5}), s32({5})};
  detail::load_npz(path, {"in0", "in1"}, {types[0], types[1]});
}

inline constexpr Reader kReaders[] = {
    {"stablehlo", [](std::string_view bytes) { parse_stablehlo_text(bytes); }},
    {"hlo", [](std::string_view bytes) { parse_hlo_text(bytes); }},
    {"ir", [](std::string_view bytes) { parse_text(bytes); }},
    {"program", [](std::string_view bytes) { parse_program(bytes); }},
    {"npy", [](std::string_view bytes) { parse_npy(bytes, "a.npy"); }},
    {"npz", read_npz},
    {"literal", read_literal},
};

/// Whether the bytes are read; false: they are refused.
inline bool reads(const Reader& reader, std::string_view bytes) {
  try {
    reader.read(bytes);
    return true;
  } catch (const ParseError&) {
    return false;
  }
}

}  // namespace rondo::fuzz
