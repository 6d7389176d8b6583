// Reads and writes of memory as C: elements of arguments, results, tables and the workspace.
#include <algorithm>
#include <utility>

#include "c/types.h"
#include "c/writer.h"
#include "lower/opcodes.h"
#include "rondo/error.h"

namespace rondo::c {

using lower::Address;
using lower::Storage;
using lower::Type;
using lower::Value;

namespace {

/// In memory: halves as their bits.
Type stored(Type type) { return type == Type::kF16 || type == Type::kBF16 ? Type::kU16 : type; }

void add_carried(Expression& to, const Expression& from) {
  to.loads = to.loads || from.loads;
  to.carried.insert(to.carried.end(), from.carried.begin(), from.carried.end());
}

}  // namespace

Expression Writer::pointer(std::uint32_t buffer) {
  const lower::Buffer& at = program_.buffers[buffer];
  const auto of_leaf = [](const Leaf& leaf) -> Expression {
    return {leaf.single ? "&" + leaf.access : leaf.access, leaf.single ? kUnary : kPrimary};
  };
  switch (at.storage) {
    case Storage::kArgument:
      return of_leaf(arguments_[at.index]);
    case Storage::kResult:
      return of_leaf(results_[at.index]);
    case Storage::kConstant:
      if (tables_[at.index].empty()) tables_[at.index] = names_.unique("table", "table");
      return {tables_[at.index]};
    case Storage::kArena: {
      const MemberPlace& place = memory_.place(buffer);
      const std::string& name = memory_.members()[place.member].name;
      if (place.first == 0) return {fmt::format("work->{}", name)};
      return {fmt::format("work->{} + {}", name, place.first), kSum};
    }
    case Storage::kFrame:
      break;
  }
  throw InternalError("C source: a program that looks at the limits of its run");
}

std::optional<std::string> Writer::single(const Address& address) {
  const Op* base = bases_[address.base];
  if (base == nullptr || address.offset != 0 || !address.terms.empty()) return std::nullopt;
  const lower::Buffer& buffer = program_.buffers[base->bits];
  const bool argument = buffer.storage == Storage::kArgument;
  if (!argument && buffer.storage != Storage::kResult) return std::nullopt;
  const Leaf& leaf = argument ? arguments_[buffer.index] : results_[buffer.index];
  if (!leaf.single) return std::nullopt;
  return leaf.access;
}

Expression Writer::index_of(const Address& address, std::int64_t width) {
  const auto in_elements = [&](std::int64_t bytes) {
    if (bytes % width == 0) return bytes / width;
    throw TraceError(
        "C source: an array is read or written between its elements\n  Compute the value from its "
        "elements in place of bitcast_convert.");
  };
  std::int64_t offset = in_elements(address.offset);
  const Op* base = bases_[address.base];
  if (base != nullptr && program_.buffers[base->bits].storage == Storage::kArena)
    offset += memory_.place(static_cast<std::uint32_t>(base->bits)).first;
  Expression made;
  made.precedence = kPrimary;
  for (const Address::Term& term : address.terms) {
    const std::int64_t stride = in_elements(term.stride);
    Expression index = use(term.index);
    add_carried(made, index);
    const lower::Range range = this->range(term.index);
    const std::int64_t size = stride < 0 ? -stride : stride;
    std::string text = parenthesized(index, size != 1 ? kUnary : stride < 0 ? kProduct : kSum);
    if (size != 1) {
      // Not in 32 bits if the product does not fit them.
      const bool fits =
          size <= INT32_MAX && range.low >= INT32_MIN / size && range.high <= INT32_MAX / size;
      text = fmt::format("{} * {}{}", size, fits ? "" : "(int64_t)", text);
    }
    const bool first = made.text.empty();
    if (first && stride < 0) {
      made.text = fmt::format("{}", offset);
      offset = 0;
    }
    made.text += made.text.empty() ? text : fmt::format(" {} {}", stride < 0 ? "-" : "+", text);
    made.precedence = kSum;
  }
  if (made.text.empty())
    made.text = fmt::format("{}", offset);
  else if (offset != 0)
    made.text += fmt::format(" {} {}", offset < 0 ? "-" : "+", offset < 0 ? -offset : offset);
  return made;
}

Expression Writer::element(const Address& address) {
  if (auto access = single(address)) return {*std::move(access)};
  const std::int64_t width = lower::width(memory_.element(address.base));
  Expression index = index_of(address, width);
  const Op* base = bases_[address.base];
  Expression array = use(address.base);
  if (base != nullptr && program_.buffers[base->bits].storage == Storage::kArena) {
    const MemberPlace& place = memory_.place(static_cast<std::uint32_t>(base->bits));
    array = {fmt::format("work->{}", memory_.members()[place.member].name)};
  }
  if (array.precedence < kPrimary) array.text = "(" + array.text + ")";
  add_carried(index, array);
  index.text = fmt::format("{}[{}]", array.text, index.text);
  index.precedence = kPrimary;
  return index;
}

Expression Writer::address_of(const Address& address) {
  Expression made = element(address);
  made.text.insert(0, "&");
  made.precedence = kUnary;
  return made;
}

void Writer::load(const Op& op) {
  if (state(op.result).uses == 0) return;
  const Address& address = program_.addresses[op.bits];
  const Type type = memory_.element(address.base);
  Expression made = element(address);
  made.loads = made.loads || !memory_.is_const(address.base);
  if (type == op.type && stored(type) != type) {
    made.text = fmt::format("{}({})", helpers_.use("load", type), made.text);
  } else if (type != op.type) {
    made = bitcast(op.type, stored(type), std::move(made));
  }
  if (op.type == Type::kS64) state(op.result).narrow = false;
  // A variable for an argument is called what the argument is.
  const auto access = single(address);
  const bool argument = access && access->starts_with("in->");
  define(op.result, std::move(made), argument ? std::string_view(*access).substr(4) : "t");
}

void Writer::store(const Op& op) {
  const Address& address = program_.addresses[op.bits];
  const Type type = memory_.element(address.base);
  Expression value = use(op.a);
  const Expression to = element(address);
  if (type == op.type && stored(type) != type)
    value.text = fmt::format("{}({})", helpers_.use("store", type), value.text);
  else if (type != op.type)
    value = bitcast(stored(type), op.type, std::move(value));
  flush_loads();
  line(to.text.empty() ? fmt::format("return {};", value.text)
                       : fmt::format("{} = {};", to.text, value.text));
}

void Writer::copy(const Op& op) {
  const lower::Copy& copy = program_.copies[op.bits];
  Address from = program_.addresses[copy.from], to = program_.addresses[copy.to];
  const Type of_from = stored(memory_.element(from.base)), of_to = stored(memory_.element(to.base));
  const std::int64_t width = lower::width(of_to);
  if (lower::width(of_from) != width || copy.bytes % width != 0)
    throw TraceError(
        "C source: an array is copied to elements of another width\n  Compute the value from its "
        "elements in place of bitcast_convert.");
  flush_loads();
  const std::int64_t count = copy.bytes / width;
  const auto read = [&](Expression given) {
    return of_from == of_to ? std::move(given) : bitcast(of_to, of_from, std::move(given));
  };
  if (count == 1) {
    const Expression value = read(element(from));
    line(fmt::format("{} = {};", element(to).text, value.text));
    return;
  }
  // An index that no op has: written into the texts of the two elements.
  const std::string k = index_name();
  const auto at = [&](const Address& address) {
    Expression element_at = element(address);
    const std::size_t open = element_at.text.rfind('[');
    if (open == std::string::npos)
      throw InternalError("C source: a copy of several elements from one");
    const std::string index = element_at.text.substr(open + 1, element_at.text.size() - open - 2);
    element_at.text.replace(
        open, std::string::npos,
        index == "0" ? fmt::format("[{}]", k) : fmt::format("[{} + {}]", index, k));
    return element_at;
  };
  const Expression value = read(at(from)), place = at(to);
  line(fmt::format("for (int32_t {0} = 0; {0} < {1}; ++{0}) {2} = {3};", k, count, place.text,
                   value.text));
}

}  // namespace rondo::c
