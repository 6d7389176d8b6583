#include "c/writer.h"

#include <algorithm>
#include <utility>

#include "c/types.h"
#include "lower/opcodes.h"
#include "lower/reads.h"

namespace rondo::c {

using lower::kNone;
using lower::Op;
using lower::Opcode;
using lower::Value;

namespace {

/// Threshold: Characters of an expression that is written where its value is used; a longer one
/// gets a variable. Set by reading: two of them and a name fit a line. Not measured.
constexpr std::size_t kMostInlined = 48;

}  // namespace

Writer::Writer(const lower::Program& program, const Memory& memory, std::vector<Leaf> arguments,
               std::vector<Leaf> results, Names& names, Helpers& helpers)
    : program_(program),
      memory_(memory),
      arguments_(std::move(arguments)),
      results_(std::move(results)),
      names_(names),
      helpers_(helpers),
      written_functions_(program.functions.size(), false),
      values_(program.types.size()),
      known_(program.types.size()),
      indices_(program.types.size()),
      bases_(program.types.size(), nullptr),
      tables_(program.constants.size()) {
  for (const lower::Variable& variable : program.variables) {
    if (variable.kind != lower::Variable::Kind::kIndex)  // of which i is the first
      wanted_.emplace(variable.value, &variable.name);
  }
}

void Writer::run() {
  count_uses();
  lower::Ranges ranges(program_);
  open_.push_back({Opcode::kConstant, 0, blocks_});
  ranges.walk([&](std::size_t at) {
    const Op& op = program_.code[at];
    const auto learn = [&](Value value) {
      known_[value] = lower::common(ranges.of(value), indices_[value]);
    };
    lower::for_each_read(program_, op, [&](Value value) {
      if (value != kNone && program_.types[value] != Type::kPointer) learn(value);
    });
    if (op.code >= Opcode::kFor) return control(op);
    switch (op.code) {
      case Opcode::kBase:
        bases_[op.result] = &op;
        return;
      case Opcode::kView:
        if (state(op.result).uses == 0) return;
        return define(op.result, address_of(program_.addresses[program_.views[op.bits].address]));
      case Opcode::kLoad:
        return load(op);
      case Opcode::kStore:
        return store(op);
      case Opcode::kCopy:
        return copy(op);
      default:
        return arithmetic(op);
    }
  });
  for (const std::string& text : lines_) {
    out_ += text;
    out_ += '\n';
  }
}

Expression Writer::use(Value value) {
  if (const Op* base = bases_[value]) return pointer(static_cast<std::uint32_t>(base->bits));
  ValueState& now = state(value);
  if (now.inlined && now.expression.loads) now.uses = 0;  // which was one, so it is written
  return now.expression;
}

std::string Writer::text(Value value, Precedence least) { return parenthesized(use(value), least); }

std::string Writer::name_of(Value value, std::string_view otherwise) {
  const auto found = wanted_.find(value);
  return names_.unique(found == wanted_.end() ? otherwise : *found->second, "t");
}

std::string Writer::declared_type(Value value) const {
  const Type type = program_.types[value];
  if (type != Type::kPointer)
    return std::string(is_narrow(value) ? "int32_t" : helpers_.type(type)) + " ";
  return fmt::format("{}{} *", memory_.is_const(value) ? "const " : "",
                     element_type(memory_.element(value)));
}

std::string Writer::variable(Value value, std::string_view otherwise) {
  std::string name = name_of(value, otherwise);
  values_[value].expression = {name};
  values_[value].inlined = true;
  return name;
}

void Writer::define(Value value, Expression made, std::string_view name) {
  ValueState& now = state(value);
  if (now.uses == 0) return;
  const bool is_name = made.precedence == kPrimary && made.carried.empty() && !made.loads &&
                       made.text.find_first_of("([-") == std::string::npos;
  if (is_name ||
      (now.uses == 1 && now.block == open_.back().block && made.text.size() <= kMostInlined)) {
    if (made.loads) loaded_.push_back(value);
    now.inlined = true;
    now.expression = std::move(made);
    return;
  }
  declare(value, std::move(made), name);
}

void Writer::declare(Value value, Expression made, std::string_view name) {
  line(fmt::format("{} = {};", constant_variable(value, variable(value, name)), made.text));
}

std::string Writer::constant_variable(Value value, std::string_view name) const {
  const std::string type = declared_type(value);
  if (type.back() == '*') return fmt::format("{}const {}", type, name);
  return fmt::format("const {}{}", type, name);
}

void Writer::flush_loads() {
  for (const Value value : std::exchange(loaded_, {})) {
    ValueState& now = state(value);
    if (!now.inlined || !now.expression.loads || now.uses == 0) continue;
    declare(value, std::move(now.expression));
  }
}

void Writer::line(std::string_view text) { lines_.push_back(wrapped(text, 2 * depth_)); }

}  // namespace rondo::c
