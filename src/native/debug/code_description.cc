#include "native/debug/code_description.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <system_error>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"

namespace rondo::native_code {

namespace {

/// Compilers name files as they were told, often from the folder in which they ran. Of such a name
/// the whole path, if it leads to a file from the current folder, or from that of the executable or
/// one above it; else the name.
std::string found_file(std::string_view name) {
  namespace fs = std::filesystem;
  const fs::path path(name);
  if (path.is_absolute()) return std::string(name);
  std::error_code failed;
  std::vector<fs::path> folders{fs::current_path(failed)};
  const fs::path executable = fs::read_symlink("/proc/self/exe", failed);
  for (fs::path folder = executable.parent_path(); folder.has_relative_path();
       folder = folder.parent_path())
    folders.push_back(folder);
  for (const fs::path& folder : folders) {
    const fs::path whole = (folder / path).lexically_normal();
    if (fs::is_regular_file(whole, failed)) return whole.string();
  }
  return std::string(name);
}

/// Collects the lines and loops of code that is walked through from its entry to its end.
class Describer {
 public:
  Describer(const lower::Program& program, const Compilation& made, const std::string& name,
            CodeDescription& out)
      : program_(program), made_(made), name_(name), out_(out) {}

  void run() {
    const std::vector<Instruction>& code = made_.code.code;
    const std::vector<std::uint32_t>& positions = made_.assembled.positions;
    begin_piece(0, lower::kNoLoop);
    std::vector<std::uint32_t> open;
    std::vector<Origin> origins;  // of each instruction
    std::uint16_t location = 0;
    for (std::size_t i = 0; i < code.size(); i++) {
      if (code[i].location != 0) location = code[i].location;
      if (code[i].kind == Kind::kTripsBegin) {
        open.push_back(static_cast<std::uint32_t>(code[i].bits));
        begin_piece(offset(positions[i]), open.back());
      }
      origins.push_back({location, open.empty() ? lower::kNoLoop : open.back()});
      if (positions[i] != positions[i + 1]) line(offset(positions[i]), location);
      if (code[i].kind == Kind::kTripsEnd) {
        open.pop_back();
        begin_piece(offset(positions[i + 1]), open.empty() ? lower::kNoLoop : open.back());
      }
    }
    for (const RarePath& path : made_.assembled.rare_paths) {
      const Origin& from = origins[path.instruction];
      begin_piece(offset(path.offset), from.loop);
      line(offset(path.offset), from.location);
    }
    end_pieces();
    for (CodeDescription::Piece& piece : out_.pieces) know_variables(piece);
  }

 private:
  struct Origin {
    std::uint16_t location;
    std::uint32_t loop;
  };

  std::uint32_t offset(std::uint32_t position) const {
    return position - static_cast<std::uint32_t>(made_.assembled.entry);
  }

  void begin_piece(std::uint32_t at, std::uint32_t loop) {
    if (!out_.pieces.empty()) {
      CodeDescription::Piece& last = out_.pieces.back();
      if (last.loop == loop) return;
      if (last.begin == at) out_.pieces.pop_back();
    }
    if (!out_.pieces.empty() && out_.pieces.back().loop == loop) return;
    CodeDescription::Piece& piece = out_.pieces.emplace_back();
    piece.begin = at;
    piece.loop = loop;
    piece.name = name_ == "main" ? "rondo_program" : name_;  // main() is the user's
    if (loop == lower::kNoLoop) return;
    const lower::LoopInfo& info = program_.loops[loop];
    piece.name = info.name.empty() ? "loop" : info.name;
    piece.at = info.at;
    if (info.at.line != 0) piece.file = file(info.at.file);
  }

  void end_pieces() {
    auto end = static_cast<std::uint32_t>(out_.code.size());
    for (auto piece = out_.pieces.rbegin(); piece != out_.pieces.rend(); ++piece) {
      piece->end = end;
      end = piece->begin;
    }
  }

  /// Those of its loop and of the loops around it, of which inner ones hide outer ones.
  void know_variables(CodeDescription::Piece& piece) const {
    absl::flat_hash_set<std::string_view> known;
    std::uint32_t loop = piece.loop;
    while (loop != lower::kNoLoop) {
      const std::size_t before = piece.variables.size();
      for (std::size_t i = 0; i < out_.variables.size(); i++) {
        const PlacedVariable& placed = out_.variables[i];
        if (placed.loop != loop || known.contains(placed.name)) continue;
        const bool is_here = std::any_of(
            placed.places.begin(), placed.places.end(), [&](const PlacedVariable::Where& where) {
              return where.begin < piece.end && piece.begin < where.end;
            });
        if (is_here) piece.variables.push_back(i);
      }
      for (std::size_t i = before; i < piece.variables.size(); i++)
        known.insert(out_.variables[piece.variables[i]].name);
      loop = program_.loops[loop].outer;
    }
  }

  void line(std::uint32_t at, std::uint16_t location) {
    CodeDescription::Line made{at, 0, 0};
    if (location != 0) {
      const SourceLocation& from = program_.locations[location];
      made.file = file(from.file);
      made.line = from.line;
    }
    if (!out_.lines.empty()) {
      const CodeDescription::Line& last = out_.lines.back();
      if (last.file == made.file && last.line == made.line) return;
    }
    out_.lines.push_back(made);
  }

  std::uint32_t file(std::string_view name) {
    const auto [found, is_new] =
        files_.try_emplace(name, static_cast<std::uint32_t>(out_.files.size()));
    if (is_new) out_.files.push_back(found_file(name));
    return found->second;
  }

  const lower::Program& program_;
  const Compilation& made_;
  const std::string& name_;
  CodeDescription& out_;
  absl::flat_hash_map<std::string_view, std::uint32_t> files_;
};

}  // namespace

std::string CodeDescription::Piece::title() const {
  return at.line == 0 ? name : fmt::format("{} at {}", name, at.str());
}

CodeDescription describe(const lower::Program& program, const Compilation& made,
                         std::span<const std::byte> placed, const Target& target,
                         const std::string& name) {
  CodeDescription out;
  out.code = placed.subspan(made.assembled.entry);
  out.numbers = target.debug;
  out.frame = made.assembled.frame;
  for (FrameLayout::Row& row : out.frame.rows)
    row.offset -= static_cast<std::uint32_t>(made.assembled.entry);
  if (!program.variables.empty()) {
    out.variables = placed_variables(program, made);
    for (PlacedVariable& variable : out.variables) {
      for (PlacedVariable::Where& where : variable.places) {
        where.begin -= static_cast<std::uint32_t>(made.assembled.entry);
        where.end -= static_cast<std::uint32_t>(made.assembled.entry);
      }
    }
  }
  Describer(program, made, name, out).run();
  return out;
}

}  // namespace rondo::native_code
