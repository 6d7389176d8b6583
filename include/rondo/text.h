// A program as text.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rondo/function.h"
#include "rondo/mesh.h"
#include "rondo/profile.h"
#include "rondo/tensor.h"

namespace rondo {

/// Options of to_hlo_text.
struct HloOptions {
  bool metadata = false;  // op names and source lines as metadata={...}
  bool optimize = false;  // run the passes first; loops stay loops
};

/// Options of to_text.
struct TextOptions {
  /// Each constant has a line of its own and all its elements, so that parse_text reads the text.
  bool full = false;
};

/// The dialect in which StableHLO text writes shardings (rondo::shard).
enum class Partitioner : std::uint8_t {
  kShardy,  // sdy.mesh, sdy.sharding
  kGspmd,   // mhlo.sharding
};

/// Options of to_stablehlo_text.
struct StablehloOptions {
  bool locations = false;  // source lines as loc(...)
  bool optimize = false;   // run the passes first; loops stay loops
  Partitioner partitioner = Partitioner::kShardy;
  /// The mesh that the program is for, in case it does not name one itself: its arguments and
  /// results are then replicated.
  std::optional<Mesh> mesh = std::nullopt;
  /// Numbers of parameters over whose memory a run may write its results (`jax.buffer_donor`):
  /// their arguments are lost to the caller.
  std::vector<std::int64_t> donate = {};
};

/// The program as XLA HLO text, which XLA's parser accepts; one `while` for each loop. Entry
/// parameters and results are arrays. Throws TraceError for a growing tape (Checkpoint::tape()).
RONDO_API std::string to_hlo_text(const Function& function, const HloOptions& options = {});
/// The program as StableHLO text: a module with the function `main` and those that it calls. Throws
/// like to_hlo_text, and for a number in `donate` without a parameter.
RONDO_API std::string to_stablehlo_text(const Function& function,
                                        const StablehloOptions& options = {});
/// Options of parse_stablehlo_text, parse_hlo_text, parse_program and load_program.
struct ParseOptions {
  /// The function that is the program, without @ or %. Empty: @main of StableHLO, the entry
  /// computation of HLO.
  std::string entry = {};
  /// The name of the text in places of operations that do not say where they come from: the file's
  /// for load_program. Empty: "StableHLO text", "HLO text".
  std::string file = {};
};

/// The program of a StableHLO module, its function @main, from the text that JAX and XLA write, in
/// the generic form or the short one. A function with several calls stays one function; a `while`
/// becomes a loop, which is differentiated and run as one that was traced. Throws ParseError, with
/// line and column, for text that is not StableHLO and for what is not supported, such as sizes
/// that depend on arguments and parameters that are tuples (docs/formats.md).
RONDO_API Function parse_stablehlo_text(std::string_view text);
RONDO_API Function parse_stablehlo_text(std::string_view text, const ParseOptions& options);
/// The program of an HLO module, its entry computation, from the text that XLA writes and dumps,
/// and from ours: with layouts, metadata and shardings, which are ignored, and computations by name
/// or inline. Tuples become their arrays. Throws like parse_stablehlo_text.
RONDO_API Function parse_hlo_text(std::string_view text);
RONDO_API Function parse_hlo_text(std::string_view text, const ParseOptions& options);
/// The program of the IR's own text, as to_text writes it with TextOptions{.full = true}: equal in
/// structure, with the names that the text has, and printed as the same text again. Throws
/// ParseError, with line and column.
RONDO_API Function parse_text(std::string_view text);
/// The program of a text in any of these formats, which its content tells.
RONDO_API Function parse_program(std::string_view text);
RONDO_API Function parse_program(std::string_view text, const ParseOptions& options);
/// The program in a file of HLO or StableHLO text, or of the IR's own. Throws ParseError, with the
/// path, also if the file cannot be read.
RONDO_API Function load_program(const std::string& path);
RONDO_API Function load_program(const std::string& path, const ParseOptions& options);
/// The IR itself, with loops as loops. By default as one reads it: small constants stand where they
/// are used, without their types, and large ones are shortened.
RONDO_API std::string to_text(const Function& function, const TextOptions& options = {});
/// The IR as a Graphviz graph: nodes with their types, regions as boxes. Render it with `dot
/// -Tsvg`.
RONDO_API std::string to_dot(const Function& function);

/// Options of to_html.
struct HtmlOptions {
  std::string title = {};  // of the page; the function's name if empty
  /// Of a run of the program, to show beside its loops; may be null.
  const Profile* profile = nullptr;
};

/// The IR as a page for a browser: one file, which loads nothing. Loops, branches and calls are
/// boxes that unfold; what an op reads, its attributes and its source line show when the mouse is
/// on it. Boxes get their content when they are opened, so large programs open at once.
RONDO_API std::string to_html(const Function& function, const HtmlOptions& options = {});

// For a lazy tensor: the program that computes it, with known values as constants.
RONDO_API std::string to_hlo_text(const Tensor& lazy, const HloOptions& options = {});
RONDO_API std::string to_stablehlo_text(const Tensor& lazy, const StablehloOptions& options = {});
RONDO_API std::string to_text(const Tensor& lazy, const TextOptions& options = {});
RONDO_API std::string to_dot(const Tensor& lazy);

}  // namespace rondo
