#include "text/mlir/values.h"

#include <algorithm>
#include <charconv>
#include <iterator>
#include <limits>
#include <utility>

#include "fmt/format.h"

namespace rondo::text::mlir {

namespace {

using Kind = Attribute::Kind;

DType parse_element_type(Cursor& cursor) {
  struct Named {
    std::string_view name;
    DType dtype;
  };
  static constexpr Named kNamed[] = {{"i1", DType::kPred},
                                     {"i8", DType::kS8},
                                     {"i16", DType::kS16},
                                     {"i32", DType::kS32},
                                     {"i64", DType::kS64},
                                     {"ui8", DType::kU8},
                                     {"ui16", DType::kU16},
                                     {"ui32", DType::kU32},
                                     {"ui64", DType::kU64},
                                     {"f16", DType::kF16},
                                     {"bf16", DType::kBF16},
                                     {"f32", DType::kF32},
                                     {"f64", DType::kF64},
                                     {"si8", DType::kS8},
                                     {"si16", DType::kS16},
                                     {"si32", DType::kS32},
                                     {"si64", DType::kS64},
                                     {"index", DType::kS64},
                                     {"i2", DType::kS2},
                                     {"ui2", DType::kU2},
                                     {"si2", DType::kS2},
                                     {"i4", DType::kS4},
                                     {"ui4", DType::kU4},
                                     {"si4", DType::kS4},
                                     {"f4E2M1FN", DType::kF4E2M1FN},
                                     {"f8E3M4", DType::kF8E3M4},
                                     {"f8E4M3", DType::kF8E4M3},
                                     {"f8E4M3FN", DType::kF8E4M3FN},
                                     {"f8E4M3B11FNUZ", DType::kF8E4M3B11FNUZ},
                                     {"f8E4M3FNUZ", DType::kF8E4M3FNUZ},
                                     {"f8E5M2", DType::kF8E5M2},
                                     {"f8E5M2FNUZ", DType::kF8E5M2FNUZ}};
  const Offset at = cursor.at();
  const std::string_view word = cursor.word();
  if (word == "complex") {
    cursor.expect("<");
    const DType part = parse_element_type(cursor);
    cursor.expect(">");
    if (part == DType::kF32) return DType::kC64;
    if (part == DType::kF64) return DType::kC128;
    fail(cursor.text(), at, "complex numbers have parts of f32 or f64");
  }
  for (const Named& named : kNamed) {
    if (named.name == word) return named.dtype;
  }
  fail(cursor.text(), at,
       word.empty() ? std::string("expected an element type")
                    : fmt::format("the element type {} is not supported", word));
}

TypeDetails& some(TypeDetailsPointer& details) {
  if (!details) details = std::make_shared<TypeDetails>();
  return *details;
}

double parse_real(Cursor& cursor) {
  const Offset at = cursor.at();
  const std::string_view digits = cursor.number();
  double value = 0;
  const auto [next, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error != std::errc() || next != digits.data() + digits.size())
    fail(cursor.text(), at, "expected a number");
  return value;
}

/// `!quant.uniform<i8<-127:127>:f32:0, {0.1:-30, 0.5}>`, from the first bracket on: the dtype of
/// the integers.
DType parse_quantized(Cursor& cursor, Quantization& meaning) {
  cursor.expect("<");
  const Offset at = cursor.at();
  const std::string_view stored = cursor.word();
  struct Stored {
    std::string_view name;
    DType dtype;
    std::int64_t least, most;
  };
  static constexpr Stored kStored[] = {
      {"i8", DType::kS8, -128, 127},
      {"u8", DType::kU8, 0, 255},
      {"i16", DType::kS16, -32768, 32767},
      {"u16", DType::kU16, 0, 65535},
      {"i32", DType::kS32, std::numeric_limits<std::int32_t>::min(),
       std::numeric_limits<std::int32_t>::max()}};
  const auto* const found = std::find_if(std::begin(kStored), std::end(kStored),
                                         [&](const Stored& type) { return type.name == stored; });
  if (found == std::end(kStored))
    fail(cursor.text(), at, fmt::format("quantized types of {} are not supported", stored));
  meaning.least = found->least;
  meaning.most = found->most;
  if (cursor.accept("<")) {
    meaning.least = cursor.integer();
    cursor.expect(":");
    meaning.most = cursor.integer();
    cursor.expect(">");
  }
  cursor.expect(":");
  meaning.expressed = parse_element_type(cursor);
  if (cursor.accept(":")) meaning.axis = cursor.integer();
  cursor.expect(",");
  const bool each = cursor.accept("{");
  do {
    meaning.scales.push_back(parse_real(cursor));
    meaning.zero_points.push_back(cursor.accept(":") ? cursor.integer() : 0);
  } while (each && cursor.accept(","));
  if (each) cursor.expect("}");
  cursor.expect(">");
  if (meaning.least < found->least || meaning.most > found->most || meaning.least > meaning.most ||
      each != (meaning.axis >= 0) || !is_floating(meaning.expressed))
    fail(cursor.text(), at, "this quantized type is not well-formed");
  return found->dtype;
}

/// `<2x?xf32>`, of the type of this number in a list; without details one of known sizes, whose
/// elements are no quantized ones.
TensorType parse_tensor(Cursor& cursor, std::size_t number, TypeDetailsPointer* details) {
  const Offset at = cursor.at();
  cursor.expect("<");
  std::vector<std::int64_t> dims;
  while (cursor.peek() == '?' || (cursor.peek() >= '0' && cursor.peek() <= '9')) {
    if (cursor.peek() == '?') {
      if (!details) cursor.fail("sizes that are not known are not supported here");
      cursor.expect("?");
      some(*details).unknown.emplace_back(number, static_cast<std::int64_t>(dims.size()));
      dims.push_back(0);
    } else {
      dims.push_back(cursor.integer());
    }
    cursor.expect("x");
  }
  DType dtype = DType::kF32;
  if (details && cursor.accept("!quant.uniform")) {
    Quantization meaning{.type = number};
    dtype = parse_quantized(cursor, meaning);
    if (meaning.axis >= 0 && (meaning.axis >= static_cast<std::int64_t>(dims.size()) ||
                              dims[static_cast<std::size_t>(meaning.axis)] !=
                                  static_cast<std::int64_t>(meaning.scales.size())))
      fail(cursor.text(), at, "a quantized type needs a scale for each index along its axis");
    some(*details).quantized.push_back(std::move(meaning));
  } else {
    dtype = parse_element_type(cursor);
  }
  if (cursor.peek() == ',') cursor.fail("encodings of tensors are not supported");
  cursor.expect(">");
  try {
    return {dtype, Shape(dims)};
  } catch (const Error& error) {
    fail(cursor.text(), at, error.what());
  }
}

[[noreturn]] void fail_type(Cursor& cursor) {
  const Offset at = cursor.at();
  const std::string_view other = cursor.peek() == '!' ? "!" : cursor.word();
  fail(cursor.text(), at,
       other.empty()
           ? std::string("expected a type, `tensor<...>`")
           : fmt::format("values of the type {}... are not supported, only tensors", other));
}

/// `1.0 : f32`, `-3 : i64`, `0x7F`.
Attribute parse_number(Cursor& cursor) {
  Attribute value = attribute_of(Kind::kInteger, cursor.at());
  const std::string_view digits = cursor.number();
  const bool hex = digits.find("0x") != digits.npos || digits.find("0X") != digits.npos;
  const char* const begin = digits.data();
  const char* const end = begin + digits.size();
  if (hex) {
    std::uint64_t bits = 0;
    const bool negative = digits.front() == '-';
    const auto [next, error] = std::from_chars(begin + (negative ? 3 : 2), end, bits, 16);
    if (error != std::errc() || next != end) fail(cursor.text(), value.at, "expected a number");
    value.integer = static_cast<std::int64_t>(negative ? 0 - bits : bits);
  } else if (digits.find_first_of(".eE") != digits.npos) {
    value.kind = Kind::kFloat;
    const auto [next, error] = std::from_chars(begin, end, value.number);
    if (error == std::errc::invalid_argument || next != end)
      fail(cursor.text(), value.at, "expected a number");
  } else {
    const auto [next, error] = std::from_chars(begin, end, value.integer);
    if (error != std::errc() || next != end)
      fail(cursor.text(), value.at, "expected a number of 64 bits");
  }
  // Its type; in the short form of an operation, that of the operation may follow: `dim = 0 :
  // tensor`.
  Cursor ahead = cursor;
  if (ahead.accept(":") && (ahead.peek() == 'i' || ahead.peek() == 'f' || ahead.sees("ui") ||
                            ahead.sees("si") || ahead.sees("bf"))) {
    ahead.word();
    cursor = ahead;
  }
  return value;
}

/// `: !type`; in the short form of an operation, that of the operation may follow.
void skip_attribute_type(Cursor& cursor) {
  Cursor ahead = cursor;
  if (!ahead.accept(":") || ahead.sees("tensor") || ahead.sees("(")) return;
  ahead.word();
  cursor = ahead;
}

Attribute parse_list(Cursor& cursor, const Aliases& aliases, int nested) {
  Attribute list = attribute_of(Kind::kList, cursor.at());
  cursor.expect("[");
  while (!cursor.accept("]")) {
    if (!list.list.empty()) cursor.expect(",");
    if (list.list.empty()) list.list.reserve(kUsualElements);
    list.list.push_back(parse_attribute(cursor, aliases, nested + 1));
  }
  return list;
}

/// `[0, 1]`, or a product of such lists.
Attribute parse_product(Cursor& cursor, const Aliases& aliases, int nested) {
  Attribute first = parse_list(cursor, aliases, nested);
  Attribute product = attribute_of(Kind::kProduct, first.at);
  product.list.push_back(std::move(first));
  while (cursor.accept("->") || cursor.sees("x [") || cursor.sees("x[")) {
    cursor.accept("x");
    product.list.push_back(parse_list(cursor, aliases, nested));
  }
  return product.list.size() == 1 ? std::move(product.list[0]) : product;
}

/// `array<i64: 0, 1>`
Attribute parse_array(Cursor& cursor, const Aliases& aliases, int nested) {
  Attribute list = attribute_of(Kind::kList, cursor.at());
  cursor.expect("<");
  cursor.word();
  if (cursor.accept(":")) {
    list.list.reserve(kUsualElements);
    do {
      list.list.push_back(parse_attribute(cursor, aliases, nested + 1));
    } while (cursor.accept(","));
  }
  cursor.expect(">");
  return list;
}

Attribute parse_dense(Cursor& cursor) {
  Attribute dense = attribute_of(Kind::kElements, cursor.at());
  const Offset inside = dense.at + 1;
  const std::string_view elements = cursor.bracketed('<');
  cursor.expect(":");
  dense.type = parse_tensor_type(cursor);
  dense.elements = parse_elements(cursor.text(), inside, elements, dense.type);
  return dense;
}

/// `dense_resource<name> : tensor<...>`
Attribute parse_dense_resource(Cursor& cursor, const Aliases& aliases) {
  Attribute dense = attribute_of(Kind::kElements, cursor.at());
  cursor.expect("<");
  const std::string_view name = cursor.peek() == '"' ? cursor.quoted() : cursor.word();
  cursor.expect(">");
  cursor.expect(":");
  dense.type = parse_tensor_type(cursor);
  const auto found = aliases.resources.find(name);
  if (found == aliases.resources.end()) {
    fail(cursor.text(), dense.at,
         fmt::format("the text has no resource {}\n  Print it with its resources, `{{-# "
                     "dialect_resources: ... #-}}`.",
                     name));
  }
  dense.elements = parse_resource(cursor.text(), found->second, dense.type);
  return dense;
}

/// `#alias`, `#stablehlo<kind WORD>`, `#stablehlo.gather<offset_dims = [0]>`.
Attribute parse_hash(Cursor& cursor, const Aliases& aliases, int nested) {
  Attribute value = attribute_of(Kind::kOther, cursor.at());
  const std::string_view name = cursor.name_after('#');
  if (!cursor.sees("<")) {
    const auto found = aliases.attributes.find(name);
    if (found == aliases.attributes.end())
      fail(cursor.text(), value.at, fmt::format("#{} is not defined", name));
    return found->second;
  }
  if (name.substr(0, name.find('.')) != "stablehlo" && name.substr(0, name.find('.')) != "chlo") {
    value.text = cursor.bracketed('<');
    return value;
  }
  cursor.expect("<");
  if (cursor.sees("[")) {
    value = parse_product(cursor, aliases, nested);
    cursor.expect(">");
    return value;
  }
  Cursor ahead = cursor;
  ahead.word();
  if (ahead.sees("=") || ahead.sees(">")) {
    value.kind = Kind::kDictionary;
    cursor.go_to(value.at + 1 + name.size());
    parse_entries(cursor, "<", ">", aliases, value.entries, nested);
    return value;
  }
  cursor.word();
  value.kind = Kind::kWord;
  value.text = cursor.word();
  cursor.expect(">");
  return value;
}

}  // namespace

TensorType parse_tensor_type(Cursor& cursor) {
  if (!cursor.accept_word("tensor")) fail_type(cursor);
  return parse_tensor(cursor, 0, nullptr);
}

void parse_type(Cursor& cursor, KnownTypes& known, Types& types, TypeDetailsPointer& details,
                int nested) {
  if (nested > kMostNested) cursor.fail(fmt::format("nested deeper than {}", kMostNested));
  if (const TensorType* const type = known.accept(cursor)) {
    types.push_back(*type);
    return;
  }
  const Offset at = cursor.at();
  if (cursor.accept_word("tensor")) {
    types.push_back(parse_tensor(cursor, types.size(), &details));
    const std::string_view text = cursor.text().substr(at, cursor.after() - at);
    if (text.find_first_of("?!") == text.npos) known.add(text, types.back());
  } else if (cursor.accept_word("tuple")) {
    std::vector<std::size_t> tuple;
    cursor.expect("<");
    bool first = true;
    while (!cursor.accept(">")) {
      if (!std::exchange(first, false)) cursor.expect(",");
      const std::size_t before = types.size();
      parse_type(cursor, known, types, details, nested + 1);
      tuple.push_back(types.size() - before);
    }
    some(details).is_tuple = true;
    details->tuple = std::move(tuple);
  } else if (cursor.accept("!stablehlo.token")) {
    types.push_back({DType::kPred, Shape({0})});
  } else {
    fail_type(cursor);
  }
}

Offset skip_location(Cursor& cursor) {
  if (!cursor.accept_word("loc")) return kNowhere;
  const Offset bracket = cursor.at();
  cursor.bracketed('(');
  return bracket;
}

void parse_entries(Cursor& cursor, std::string_view open, std::string_view close,
                   const Aliases& aliases, std::vector<Entry>& entries, int nested) {
  if (nested > kMostNested) cursor.fail(fmt::format("nested deeper than {}", kMostNested));
  cursor.expect(open);
  bool first = true;
  while (!cursor.accept(close)) {
    if (!std::exchange(first, false)) cursor.expect(",");
    Entry entry;
    entry.name = cursor.peek() == '"' ? cursor.quoted() : cursor.word();
    if (entry.name.empty()) cursor.fail("expected the name of an attribute");
    entry.value.at = cursor.at();
    if (cursor.accept("=")) entry.value = parse_attribute(cursor, aliases, nested + 1);
    if (entries.empty()) entries.reserve(kUsualEntries);
    entries.push_back(std::move(entry));
  }
}

Attribute parse_attribute(Cursor& cursor, const Aliases& aliases, int nested) {
  if (nested > kMostNested) cursor.fail(fmt::format("nested deeper than {}", kMostNested));
  Attribute value = attribute_of(Kind::kUnit, cursor.at());
  const char next = cursor.peek();
  switch (next) {
    case '"':
      value.kind = Kind::kString;
      value.text = cursor.quoted();
      skip_attribute_type(cursor);
      return value;
    case '@':
      value.kind = Kind::kSymbol;
      value.text = cursor.name_after('@');
      return value;
    case '[':
      return parse_product(cursor, aliases, nested);
    case '{':
      value.kind = Kind::kDictionary;
      parse_entries(cursor, "{", "}", aliases, value.entries, nested);
      return value;
    case '#':
      return parse_hash(cursor, aliases, nested);
    case '(': {  // the type of a function
      value.kind = Kind::kOther;
      cursor.bracketed('(');
      cursor.expect("->");
      if (cursor.peek() == '(')
        cursor.bracketed('(');
      else
        parse_tensor_type(cursor);
      return value;
    }
    case '!':
    case '<':  // of a dialect
      value.kind = Kind::kOther;
      if (next == '!') cursor.name_after('!');
      if (cursor.peek() == '<') value.text = cursor.bracketed('<');
      return value;
    default:
      break;
  }
  if (next == '-' || next == '+' || (next >= '0' && next <= '9')) return parse_number(cursor);
  const std::string_view word = cursor.word();
  if (word.empty()) cursor.fail("expected an attribute");
  if (word == "true" || word == "false") {
    value.kind = Kind::kBool;
    value.integer = word == "true" ? 1 : 0;
    return value;
  }
  if (word == "unit") return value;
  if (word == "dense") return parse_dense(cursor);
  if (word == "array") return parse_array(cursor, aliases, nested);
  if (word == "dense_resource") return parse_dense_resource(cursor, aliases);
  if (word == "sparse") fail(cursor.text(), value.at, "sparse elements are not supported");
  value.kind = Kind::kWord;
  value.text = word;
  if (word == "loc") {
    value.kind = Kind::kOther;
    cursor.bracketed('(');
  } else if (cursor.peek() == '<') {
    value.kind = Kind::kOther;
    cursor.bracketed('<');
  }
  return value;
}

}  // namespace rondo::text::mlir
