#include "text/bytecode/vhlo.h"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

#include "text/mlir/values.h"

namespace rondo::text::bytecode {

namespace {

using Kind = mlir::Attribute::Kind;

/// Attributes and types within each other; more, or a cycle, is an error.
constexpr int kMostNestedEntries = 100;
/// The parts of one attribute: those that refer to others several times, which do the same, would
/// take memory without bound.
constexpr std::size_t kMostParts = 100'000;

// Codes of VHLO's attributes (stablehlo/dialect/VhloBytecode.cpp).
enum VhloAttribute : std::uint8_t {
  kArray = 1,
  kBoolean = 2,
  kDirection = 3,
  kComparisonType = 4,
  kApiVersion = 5,
  kVhloDictionary = 6,
  kFftType = 7,
  kFloat = 8,
  kInteger = 9,
  kPrecision = 11,
  kRngAlgorithm = 12,
  kRngDistribution = 13,
  kVhloString = 14,
  kTensor = 15,
  kTranspose = 16,
  kType = 17,
};
constexpr std::uint64_t kNoneType = 33, kTensorType = 20, kComplexType = 1;

// Codes of the builtin dialect (mlir/IR/BuiltinDialectBytecode.td).
constexpr std::uint64_t kBuiltinDictionary = 1, kBuiltinString = 2, kBuiltinTypedString = 3,
                        kBuiltinSymbol = 4, kCallSite = 10, kFileLocation = 11, kFused = 12,
                        kFusedWithMetadata = 13, kNameLocation = 14, kFileRange = 22,
                        kBuiltinTensorType = 13, kBuiltinComplex = 9;

struct NamedCode {
  std::uint64_t code;
  std::string_view name;
};
/// Element types of VHLO, and of the builtin dialect.
constexpr NamedCode kElements[] = {
    {0, "i1"},        {2, "bf16"},        {3, "f16"},         {4, "f32"},
    {5, "f64"},       {6, "f8E4M3FN"},    {7, "f8E5M2"},      {10, "i4"},
    {11, "i8"},       {12, "i16"},        {13, "i32"},        {14, "i64"},
    {15, "ui4"},      {16, "ui8"},        {17, "ui16"},       {18, "ui32"},
    {19, "ui64"},     {27, "f8E4M3FNUZ"}, {28, "f8E5M2FNUZ"}, {29, "f8E4M3B11FNUZ"},
    {31, "i2"},       {32, "ui2"},        {34, "tf32"},       {35, "f8E4M3"},
    {36, "f8E3M4"},   {37, "f4E2M1FN"},   {38, "f6E2M3FN"},   {39, "f6E3M2FN"},
    {40, "f8E8M0FNU"}};
constexpr NamedCode kBuiltinElements[] = {{3, "bf16"}, {4, "f16"}, {5, "f32"}, {6, "f64"}};

std::string_view name_of(std::span<const NamedCode> codes, std::uint64_t code) {
  for (const NamedCode& named : codes) {
    if (named.code == code) return named.name;
  }
  return {};
}

/// The bytes of a number of this type; 0 if that is not known.
std::size_t width_of(std::string_view element) {
  for (const std::string_view byte : {"i2", "i4", "i8", "ui2", "ui4", "ui8"}) {
    if (element == byte) return 1;
  }
  // f8E5M2, f4E2M1FN and the like
  if (element.size() > 3 && element[0] == 'f' && element[2] == 'E') return 1;
  for (const std::string_view two : {"i16", "ui16", "f16", "bf16"}) {
    if (element == two) return 2;
  }
  for (const std::string_view four : {"i32", "ui32", "f32"}) {
    if (element == four) return 4;
  }
  return element == "i64" || element == "ui64" || element == "f64" ? 8 : 0;
}

constexpr std::string_view kDirections[] = {"EQ", "NE", "GE", "GT", "LE", "LT"};
constexpr std::string_view kComparisons[] = {"NOTYPE", "FLOAT", "TOTALORDER", "SIGNED", "UNSIGNED"};
constexpr std::string_view kFfts[] = {"FFT", "IFFT", "RFFT", "IRFFT"};
constexpr std::string_view kPrecisions[] = {"DEFAULT", "HIGH", "HIGHEST"};
constexpr std::string_view kRandom[] = {"DEFAULT", "THREE_FRY", "PHILOX"};
constexpr std::string_view kDistributions[] = {"INVALID", "UNIFORM", "NORMAL"};
constexpr std::string_view kTransposes[] = {"INVALID", "NO_TRANSPOSE", "TRANSPOSE", "ADJOINT"};

/// The bytes of packed booleans as one byte each.
std::string unpacked(Bytes& data, std::string_view bytes, std::int64_t count) {
  const auto n = static_cast<std::uint64_t>(count);
  if (bytes.size() == 1 && static_cast<std::uint8_t>(bytes[0]) == 0xFF) return std::string(1, '\1');
  if (bytes.size() == (n + 7) / 8 && bytes.size() != n) {
    std::string result;
    for (std::uint64_t i = 0; i < n; i++)
      result += static_cast<char>(static_cast<std::uint8_t>(bytes[i / 8]) >> (i % 8) & 1);
    return result;
  }
  if (bytes.size() == 1) return std::string(1, bytes[0] != 0 ? '\1' : '\0');
  if (bytes.size() != n) data.fail(fmt::format("{} bytes for {} booleans", bytes.size(), n));
  return std::string(bytes);
}

}  // namespace

Entries::Entries(const Container& file, Names& names)
    : file_(file), names_(names), types_(file.types.size()), attributes_(file.attributes.size()) {}

const EncodedEntry& Entries::entry(const std::vector<EncodedEntry>& entries,
                                   std::size_t index) const {
  if (index >= entries.size())
    throw ParseError(fmt::format("entry {} of {}", index, entries.size()), 0, 0);
  return entries[index];
}

const DecodedType& Entries::type(std::size_t index) {
  entry(file_.types, index);
  DecodedType& decoded = types_[index];
  if (!decoded.text.empty()) return decoded;
  decoded.text = type_text(index, 0);
  if (decoded.text.starts_with("tensor<")) {
    mlir::Cursor cursor(decoded.text);
    mlir::KnownTypes none;
    mlir::Types types;
    mlir::parse_type(cursor, none, types, decoded.details);
    decoded.array = types[0];
    decoded.is_array = true;
  }
  return decoded;
}

const DecodedType& Entries::array_type(std::size_t index) {
  const DecodedType& decoded = type(index);
  if (!decoded.is_array)
    throw ParseError(
        fmt::format("values of the type {} are not supported, only tensors", decoded.text), 0, 0);
  return decoded;
}

std::string Entries::type_text(std::size_t index, int nested) {
  const EncodedEntry& encoded = entry(file_.types, index);
  Bytes data = encoded.data;
  if (nested > kMostNestedEntries) data.fail("types are nested too deeply");
  if (!encoded.custom) data.fail("types as text are not supported");
  const bool is_vhlo = encoded.dialect == "vhlo";
  if (!is_vhlo && encoded.dialect != "builtin")
    data.fail(fmt::format("types of the dialect {} are not supported", encoded.dialect));
  const std::uint64_t code = data.varint();
  std::string text;
  if (code == (is_vhlo ? kTensorType : kBuiltinTensorType)) {
    text = "tensor<";
    const std::size_t rank = data.count();
    for (std::size_t i = 0; i < rank; i++) {
      const std::int64_t size = data.svarint();
      text += size < 0 ? std::string("?") : std::to_string(size);
      text += 'x';
    }
    text += type_text(static_cast<std::size_t>(data.varint()), nested + 1) + '>';
  } else if (code == (is_vhlo ? kComplexType : kBuiltinComplex)) {
    text = "complex<" + type_text(static_cast<std::size_t>(data.varint()), nested + 1) + '>';
  } else if (is_vhlo) {
    text = code == kNoneType ? "none" : std::string(name_of(kElements, code));
  } else if (code == 0) {  // width and sign
    const std::uint64_t bits = data.varint();
    text = fmt::format("{}i{}", (bits & 3) == 2 ? "u" : "", bits >> 2);
  } else {
    text = std::string(name_of(kBuiltinElements, code));
  }
  if (text.empty()) data.fail(fmt::format("type {} of {} is not supported", code, encoded.dialect));
  data.expect_end("a type");
  return text;
}

void Entries::decode_elements(Bytes& data, mlir::Attribute& value) {
  const DecodedType& decoded = array_type(static_cast<std::size_t>(data.varint()));
  std::string_view bytes = data.bytes(data.varint());
  const TensorType& type = decoded.array;
  if (decoded.details) data.fail(fmt::format("elements of {}", decoded.text));
  value.kind = Kind::kElements;
  value.type = type;
  const auto count = static_cast<std::uint64_t>(type.elements());
  std::string expanded;
  if (is_pred(type.dtype)) {
    expanded = unpacked(data, bytes, type.elements());
    bytes = expanded;
  }
  const auto width = static_cast<std::size_t>(byte_width(type.dtype));
  const bool fits = width != 0 && (bytes.size() == width ||
                                   (bytes.size() % width == 0 && bytes.size() / width == count));
  if (!fits) data.fail(fmt::format("{} bytes for the elements of {}", bytes.size(), decoded.text));
  value.elements = count == 0 ? Literal::zeros(type) : mlir::elements_of_bytes(bytes, type);
}

const mlir::Attribute* Entries::attribute(std::size_t index, int nested) {
  const EncodedEntry& encoded = entry(file_.attributes, index);
  DecodedAttribute& decoded = attributes_[index];
  if (!decoded.is_decoded) {
    Bytes data = encoded.data;
    if (nested > kMostNestedEntries) data.fail("attributes are nested too deeply");
    if (encoded.dialect != "vhlo" || !encoded.custom)
      data.fail(
          fmt::format("attributes of the dialect {} are not supported here", encoded.dialect));
    decoded.says_nothing = !decode(data, decoded, nested);
    data.expect_end("an attribute");
    decoded.is_decoded = true;
  }
  return decoded.says_nothing ? nullptr : &decoded.value;
}

const mlir::Attribute* Entries::part(Bytes& data, DecodedAttribute& whole, int nested) {
  const auto index = static_cast<std::size_t>(data.varint());
  const mlir::Attribute* const value = attribute(index, nested + 1);
  whole.parts += attributes_[index].parts;
  if (whole.parts > kMostParts) data.fail("an attribute has too many parts");
  return value;
}

bool Entries::decode(Bytes& data, DecodedAttribute& decoded, int nested) {
  mlir::Attribute& value = decoded.value;
  const auto word = [&](std::span<const std::string_view> words) {
    value.kind = Kind::kWord;
    value.text = words[data.index(words.size(), "enumeration value")];
  };
  const std::uint64_t code = data.varint();
  switch (code) {
    case kArray: {
      value.kind = Kind::kList;
      const std::size_t count = data.count();
      for (std::size_t i = 0; i < count; i++) {
        const mlir::Attribute* const element = part(data, decoded, nested);
        value.list.push_back(element ? *element : mlir::Attribute());
      }
      return true;
    }
    case kBoolean:
      value.kind = Kind::kBool;
      value.integer = data.varint() != 0 ? 1 : 0;
      return true;
    case kDirection:
      word(kDirections);
      return true;
    case kComparisonType:
      word(kComparisons);
      return true;
    case kApiVersion:
      value.kind = Kind::kInteger;
      value.integer = static_cast<std::int64_t>(data.varint());
      return true;
    case kVhloDictionary: {
      value.kind = Kind::kDictionary;
      const std::size_t count = data.count();
      for (std::size_t i = 0; i < count; i++) {
        const std::string_view key = string(static_cast<std::size_t>(data.varint()));
        const mlir::Attribute* const element = part(data, decoded, nested);
        value.entries.push_back({key, element ? *element : mlir::Attribute()});
      }
      return true;
    }
    case kFftType:
      word(kFfts);
      return true;
    case kFloat: {
      const std::string& element = type(static_cast<std::size_t>(data.varint())).text;
      const std::uint64_t bits = data.bits(static_cast<unsigned>(8 * width_of(element)));
      value.kind = Kind::kFloat;
      if (element == "f32") {
        value.number = std::bit_cast<float>(static_cast<std::uint32_t>(bits));
      } else if (element == "f64") {
        value.number = std::bit_cast<double>(bits);
      } else {  // as its bits
        value.kind = Kind::kInteger;
        value.integer = static_cast<std::int64_t>(bits);
      }
      return true;
    }
    case kInteger: {
      const std::string& element = type(static_cast<std::size_t>(data.varint())).text;
      const std::size_t width = element == "none" ? 8 : width_of(element);
      if (width == 0 || width > 8) data.fail(fmt::format("an integer of the type {}", element));
      const auto unused = static_cast<unsigned>(64 - 8 * width);
      const std::uint64_t bits = data.bits(static_cast<unsigned>(8 * width));
      value.kind = Kind::kInteger;
      value.integer = element[0] == 'u' ? static_cast<std::int64_t>(bits)
                                        : static_cast<std::int64_t>(bits << unused) >> unused;
      return true;
    }
    case kPrecision:
      word(kPrecisions);
      return true;
    case kRngAlgorithm:
      word(kRandom);
      return true;
    case kRngDistribution:
      word(kDistributions);
      return true;
    case kVhloString:
      value.kind = Kind::kString;
      value.text = escaped(file_.strings[data.index(file_.strings.size(), "string")]);
      return true;
    case kTensor:
      decode_elements(data, value);
      return true;
    case kTranspose:
      word(kTransposes);
      return true;
    case kType:
      value.kind = Kind::kWord;
      value.text = names_.emplace_back(type(static_cast<std::size_t>(data.varint())).text);
      return value.text != "none";
    default:
      data.fail(fmt::format("attribute {} of vhlo is not supported (written by {})", code,
                            file_.producer));
  }
}

std::string_view Entries::escaped(std::string_view text) {
  if (text.find('\\') == text.npos) return text;
  std::string& result = names_.emplace_back();
  for (const char c : text) result += c == '\\' ? std::string("\\\\") : std::string(1, c);
  return result;
}

std::vector<std::int64_t> Entries::integers(std::size_t index) {
  const mlir::Attribute* const value = attribute(index);
  if (value && value->kind == Kind::kInteger) return {value->integer};
  constexpr std::int64_t kMost = 1000;  // more than axes
  if (!value || value->kind != Kind::kElements || value->type.dtype != DType::kS64 ||
      value->type.rank() != 1 || value->type.elements() > kMost)
    entry(file_.attributes, index).data.fail("expected a list of integers");
  const auto elements = value->elements.data<std::int64_t>();
  std::vector<std::int64_t> values(elements.begin(), elements.end());
  if (value->elements.type() != value->type)
    values.assign(static_cast<std::size_t>(value->type.elements()), elements[0]);
  return values;
}

std::string_view Entries::string(std::size_t index) const {
  for (int nested = 0; nested < kMostNestedEntries; nested++) {
    const EncodedEntry& encoded = entry(file_.attributes, index);
    Bytes data = encoded.data;
    const std::uint64_t code = encoded.custom ? data.varint() : 0;
    if (encoded.dialect == "builtin" && code == kBuiltinSymbol) {
      index = static_cast<std::size_t>(data.varint());
      continue;
    }
    const bool is_string = encoded.dialect == "vhlo"
                               ? code == kVhloString
                               : code == kBuiltinString || code == kBuiltinTypedString;
    if (!encoded.custom || !is_string) data.fail("expected a string");
    return file_.strings[data.index(file_.strings.size(), "string")];
  }
  throw ParseError("symbols refer to each other without end", 0, 0);
}

std::vector<Entries::Named> Entries::dictionary(std::size_t index) const {
  const EncodedEntry& encoded = entry(file_.attributes, index);
  Bytes data = encoded.data;
  if (encoded.dialect != "builtin" || !encoded.custom || data.varint() != kBuiltinDictionary)
    data.fail("expected a dictionary");
  std::vector<Named> named;
  const std::size_t count = data.count();
  for (std::size_t i = 0; i < count; i++) {
    const std::string_view name = string(static_cast<std::size_t>(data.varint()));
    named.push_back({name, static_cast<std::size_t>(data.varint())});
  }
  return named;
}

std::string_view Entries::name_in_location(std::size_t index) const {
  const EncodedEntry& encoded = entry(file_.attributes, index);
  Bytes data = encoded.data;
  if (encoded.dialect != "builtin" || !encoded.custom || data.varint() != kNameLocation) return {};
  return string(static_cast<std::size_t>(data.varint()));
}

mlir::FilePlace Entries::place(std::size_t index) const {
  for (int depth = 0; depth < kMostNestedEntries; depth++) {
    const EncodedEntry& encoded = entry(file_.attributes, index);
    if (encoded.dialect != "builtin" || !encoded.custom) return {};
    Bytes data = encoded.data;
    const std::uint64_t code = data.varint();
    switch (code) {
      case kCallSite:
        break;
      case kFused:
      case kFusedWithMetadata:
        if (data.count() == 0) return {};
        break;
      case kNameLocation:
        data.varint();
        break;
      case kFileLocation:
      case kFileRange: {
        const std::string_view file = string(static_cast<std::size_t>(data.varint()));
        if (code == kFileRange && data.count() == 0) return {};
        const std::uint64_t line = data.varint();
        if (line > std::numeric_limits<std::uint32_t>::max()) return {};
        return {file, static_cast<std::uint32_t>(line)};
      }
      default:
        return {};
    }
    index = static_cast<std::size_t>(data.varint());
  }
  return {};
}

}  // namespace rondo::text::bytecode
