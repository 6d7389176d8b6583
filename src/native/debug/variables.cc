#include "native/debug/variables.h"

#include <algorithm>
#include <optional>
#include <string_view>
#include <utility>

#include "absl/container/flat_hash_map.h"

namespace rondo::native_code {

namespace {

bool begins_machine_loop(Kind kind) {
  return kind == Kind::kForBegin || kind == Kind::kRepeatBegin;
}
bool ends_machine_loop(Kind kind) { return kind == Kind::kForEnd || kind == Kind::kRepeatEnd; }

/// Where units hold their values: as in live_ranges, a value that is made before a loop and read in
/// it is there to the loop's end.
class HeldRanges {
 public:
  struct Range {
    std::uint32_t begin = 0, end = 0;  // in the code; none while `end` is 0
    std::size_t depth = 0;
    bool is_written = false;
  };

  HeldRanges(const Compilation& made, std::span<const Unit> units) : made_(made) {
    for (const Unit unit : units) ranges_.try_emplace(unit);
    find_ends();
    walk();
  }
  const Range& of(Unit unit) const { return ranges_.at(unit); }

 private:
  void find_ends() {
    const std::vector<Instruction>& code = made_.code.code;
    ends_.resize(made_.code.loops.size());
    for (std::size_t i = 0; i < code.size(); i++) {
      if (ends_machine_loop(code[i].kind)) ends_[code[i].bits] = i;
    }
  }

  void walk() {
    const std::vector<Instruction>& code = made_.code.code;
    const std::vector<std::uint32_t>& positions = made_.assembled.positions;
    for (std::size_t i = 0; i < code.size(); i++) {
      for_each_read(made_.code, code[i], [&](Unit unit, bool) { read(unit, positions[i]); });
      if (code[i].kind == Kind::kForEnd) read(made_.code.loops[code[i].bits].index, positions[i]);
      if (ends_machine_loop(code[i].kind)) open_.pop_back();
      if (begins_machine_loop(code[i].kind)) open_.push_back(ends_[code[i].bits]);
      for_each_write(made_.code, code[i], [&](Unit unit) {
        const auto found = ranges_.find(unit);
        if (found == ranges_.end() || found->second.is_written) return;
        found->second.is_written = true;
        found->second.begin = positions[i + 1];
        found->second.depth = open_.size();
      });
    }
  }

  /// It is there until the instruction begins, which may overwrite it.
  void read(Unit unit, std::uint32_t position) {
    const auto found = ranges_.find(unit);
    if (found == ranges_.end() || !found->second.is_written) return;
    Range& range = found->second;
    std::uint32_t end = position + 1;
    if (open_.size() > range.depth) end = made_.assembled.positions[open_[range.depth] + 1];
    range.end = std::max(range.end, end);
  }

  const Compilation& made_;
  absl::flat_hash_map<Unit, Range> ranges_;
  std::vector<std::size_t> ends_;  // of each machine loop, in the code
  std::vector<std::size_t> open_;
};

/// The buffer that a value points to.
std::optional<lower::Buffer> buffer_of(const lower::Program& program, lower::Value value) {
  for (const lower::Op& op : program.code) {
    if (op.code == lower::Opcode::kBase && op.result == value) return program.buffers[op.bits];
  }
  return std::nullopt;
}

using Where = PlacedVariable::Where;

/// The range without what calls do in it: they save registers, and use them.
std::vector<Where> without_calls(const Compilation& made, std::uint32_t bundle,
                                 const Where& whole) {
  std::vector<Where> out{whole};
  for (std::size_t call = 0; call < made.ranges.calls.size(); call++) {
    const std::vector<std::uint32_t>& saved = made.allocation.saved[call];
    if (std::find(saved.begin(), saved.end(), bundle) == saved.end()) continue;
    const std::uint32_t position = made.ranges.calls[call];
    const std::uint32_t begin = made.assembled.positions[position] + 1;
    const std::uint32_t end = made.assembled.positions[position + 1];
    Where& last = out.back();
    if (end <= last.begin || begin >= last.end) continue;
    Where rest = last;
    last.end = begin;
    rest.begin = end;
    if (last.begin >= last.end) out.pop_back();
    if (rest.begin < rest.end) out.push_back(rest);
    if (out.empty()) break;
  }
  return out;
}

/// A name as an expression of a debugger has it.
std::string word_of(std::string_view name) {
  std::string word;
  for (const char c : name) {
    const bool is_part = (c >= '0' && c <= '9') || (c >= 'A' && c <= 'Z') || (c >= 'a' && c <= 'z');
    if (is_part)
      word += c;
    else if (!word.empty() && word.back() != '_')
      word += '_';
  }
  while (word.ends_with('_')) word.pop_back();
  return word;
}

}  // namespace

std::vector<PlacedVariable> placed_variables(const lower::Program& program,
                                             const Compilation& made) {
  absl::flat_hash_map<lower::Value, std::vector<Unit>> units_of;
  for (const lower::Variable& variable : program.variables) units_of.try_emplace(variable.value);
  std::vector<Unit> units;
  for (const auto& [value, unit] : made.code.definitions) {
    const auto found = units_of.find(value);
    if (found == units_of.end() || made.code.units[unit].constant) continue;
    found->second.push_back(unit);
    units.push_back(unit);
  }
  const HeldRanges ranges(made, units);
  std::vector<PlacedVariable> out;
  for (const lower::Variable& variable : program.variables) {
    if (variable.kind == lower::Variable::Kind::kSpare) continue;
    const bool is_array = variable.kind == lower::Variable::Kind::kArray;
    PlacedVariable placed;
    placed.name = word_of(variable.name);
    if (placed.name.empty()) continue;
    placed.loop = variable.loop;
    if (is_array) placed.array = variable.type;
    placed.type = program.types[variable.value];
    const std::vector<std::uint32_t>& positions = made.assembled.positions;
    if (const auto buffer = is_array ? buffer_of(program, variable.value) : std::nullopt) {
      placed.places.push_back({.begin = positions.front(),
                               .end = positions.back(),
                               .kind = PlacedVariable::Kind::kBuffer,
                               .buffer = *buffer});
      out.push_back(std::move(placed));
      continue;
    }
    for (const Unit unit : units_of.at(variable.value)) {
      const HeldRanges::Range& range = ranges.of(unit);
      const std::uint32_t bundle = made.ranges.bundle_of[unit];
      const Place& place = made.allocation.places[bundle];
      if (range.begin >= range.end || place.kind == Place::Kind::kNone) continue;
      const bool is_register = place.kind == Place::Kind::kRegister;
      const Where whole{
          .begin = range.begin,
          .end = range.end,
          .kind = is_register ? PlacedVariable::Kind::kRegister : PlacedVariable::Kind::kStack,
          .registers = made.ranges.bundles[bundle].register_class,
          .number = place.number,
          .offset = place.offset};
      if (!is_register) {
        placed.places.push_back(whole);
        continue;
      }
      for (const Where& where : without_calls(made, bundle, whole)) placed.places.push_back(where);
    }
    std::sort(placed.places.begin(), placed.places.end(),
              [](const Where& a, const Where& b) { return a.begin < b.begin; });
    if (!placed.places.empty()) out.push_back(std::move(placed));
  }
  return out;
}

}  // namespace rondo::native_code
