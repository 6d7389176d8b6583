// Operations of StableHLO and HLO as nodes.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_map.h"
#include "ir/node.h"
#include "text/mlir/program.h"

namespace rondo::text {

struct Processes;

enum class TextFormat : std::uint8_t { kStablehlo, kHlo };

/// Attributes that follow from a list in the text alone, by that list and the op: operations with
/// equal lists share them.
using KnownAttributes =
    absl::flat_hash_map<std::pair<const void*, const ir::OpDef*>, ir::Attributes>;

/// An operation whose operands are known.
struct ReadOperation {
  TextFormat format;
  std::string_view text;  // of the whole program
  const mlir::Operation& operation;
  std::span<const Tensor> operands;
  std::span<const Function> regions;
  SourceLocation at;
  Processes* processes = nullptr;    // that run it; null: it cannot depend on them
  KnownAttributes* known = nullptr;  // of lists that live as long as it
};

/// The record of the op that the format calls so; null if there is none.
const ir::OpDef* record_of(TextFormat format, std::string_view name);

/// The attributes of an op with this record. Throws ParseError for one that is missing, of another
/// kind, or unknown.
ir::Attributes read_attributes(const ir::OpDef& op, const ReadOperation& read);

/// The results of the op on its operands. Throws ParseError, and TraceError if these do not fit it.
std::vector<Tensor> make_operation(const ir::OpDef& op, const ReadOperation& read);

/// Throws ParseError if results differ from what the text says: its last type is that of the last
/// result.
void check_results(std::string_view text, const mlir::Operation& operation,
                   std::span<const Tensor> results);

/// What an operation computes, by functions of ours; null if that is what its record says.
using ReadFunction = std::vector<Tensor> (*)(const ReadOperation&);
struct NamedReader {
  std::string_view stablehlo, hlo;  // of the operation in each format
  ReadFunction read;
};
/// Of ops that a record has for fewer types than the format.
std::span<const NamedReader> variants();
/// Of what collectives give, and of what a process sends to and receives from others and its host.
std::span<const NamedReader> collectives();
ReadFunction read_function(TextFormat format, const mlir::Operation& operation);
/// What a custom call names; empty for other operations.
std::string_view called_target(const mlir::Operation& operation);
/// Of custom calls of LAPACK's routines; null for others.
ReadFunction read_lapack(std::string_view target);

/// A location of nodes, whose strings live as long as the process: each name of a file once.
SourceLocation location_in(std::string_view file, std::uint32_t line);

/// Where operations are in a text, as locations of nodes.
class TextLines {
 public:
  /// `file` is the text's name.
  TextLines(std::string_view text, std::string_view file);
  SourceLocation at(mlir::Offset offset) const;

 private:
  std::string_view file_;  // lives as long as the process
  std::vector<std::size_t> starts_;
  mutable std::size_t last_ = 0;  // the line that was asked for: most are asked for in order
};

/// What to say if a program has no function of that name, but these.
std::string no_entry(std::string_view what, std::string_view entry,
                     std::span<const std::string_view> names);

/// Calls of functions, and regions, within each other; more is an error.
inline constexpr std::size_t kMostCalls = 200;

}  // namespace rondo::text
