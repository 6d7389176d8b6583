#include "text/bytecode/vhlo.h"

#include <array>
#include <bit>

#include "base/escape.h"
#include "base/number_text.h"

namespace rondo::text::bytecode {

namespace {

/// Attributes and types within each other; more, or a cycle, is an error.
constexpr int kMostNestedEntries = 100;

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
                        kBuiltinSymbol = 4, kNameLocation = 14, kBuiltinTensorType = 13,
                        kBuiltinComplex = 9;

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

/// The bytes of an element in the data of a tensor; 0 if that is not known.
std::size_t width_of(std::string_view element) {
  if (element.substr(0, 8) == "complex<")
    return 2 * width_of(element.substr(8, element.size() - 9));
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

std::string quoted(std::string_view text) {
  std::string result = "\"";
  append_escaped(result, text);
  return result + '"';
}

std::string word_of(Bytes& data, std::string_view kind, std::span<const std::string_view> words) {
  return fmt::format("#stablehlo<{} {}>", kind,
                     words[data.index(words.size(), "enumeration value")]);
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

Entries::Entries(const Container& file) : file_(file), types_(file.types.size()) {}

const EncodedEntry& Entries::entry(const std::vector<EncodedEntry>& entries,
                                   std::size_t index) const {
  if (index >= entries.size())
    throw ParseError(fmt::format("entry {} of {}", index, entries.size()), 0, 0);
  return entries[index];
}

const std::string& Entries::type(std::size_t index) {
  entry(file_.types, index);
  if (types_[index].empty()) types_[index] = type_text(index, 0);
  return types_[index];
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

std::string Entries::tensor(Bytes& data) {
  const std::string& text = type(static_cast<std::size_t>(data.varint()));
  std::string_view bytes = data.bytes(data.varint());
  // tensor<2x3xf32>
  constexpr std::string_view kStart = "tensor<";
  if (text.substr(0, kStart.size()) != kStart) data.fail(fmt::format("elements of {}", text));
  std::string_view inside = std::string_view(text).substr(kStart.size());
  inside.remove_suffix(1);
  std::int64_t count = 1;
  while (!inside.empty() && inside[0] >= '0' && inside[0] <= '9') {
    std::int64_t size = 0;
    const std::size_t end = inside.find('x');
    for (const char digit : inside.substr(0, end)) size = 10 * size + (digit - '0');
    if (__builtin_mul_overflow(count, size, &count)) data.fail("too many elements");
    inside.remove_prefix(end + 1);
  }
  std::string expanded;
  if (inside == "i1") {
    expanded = unpacked(data, bytes, count);
    bytes = expanded;
  } else {
    const std::size_t width = width_of(inside);
    const bool fits =
        width != 0 &&
        (bytes.size() == width ||
         (bytes.size() % width == 0 && bytes.size() / width == static_cast<std::uint64_t>(count)));
    if (!fits) data.fail(fmt::format("{} bytes for the elements of {}", bytes.size(), text));
  }
  if (count == 0) return "dense<> : " + text;
  std::string result = "dense<\"0x";
  append_hex_digits(result, bytes);
  return result + "\"> : " + text;
}

std::optional<std::string> Entries::attribute(std::size_t index, int nested) {
  const EncodedEntry& encoded = entry(file_.attributes, index);
  Bytes data = encoded.data;
  if (nested > kMostNestedEntries) data.fail("attributes are nested too deeply");
  if (encoded.dialect != "vhlo" || !encoded.custom)
    data.fail(fmt::format("attributes of the dialect {} are not supported here", encoded.dialect));
  const std::uint64_t code = data.varint();
  std::string text;
  switch (code) {
    case kArray: {
      text = "[";
      const std::size_t count = data.count();
      for (std::size_t i = 0; i < count; i++) {
        const auto element = attribute(static_cast<std::size_t>(data.varint()), nested + 1);
        text += (i > 0 ? ", " : "") + element.value_or("unit");
      }
      text += ']';
      break;
    }
    case kBoolean:
      text = data.varint() != 0 ? "true" : "false";
      break;
    case kDirection:
      text = word_of(data, "comparison_direction", kDirections);
      break;
    case kComparisonType:
      text = word_of(data, "comparison_type", kComparisons);
      break;
    case kApiVersion:
      text = fmt::format("{} : i32", data.varint());
      break;
    case kVhloDictionary: {
      text = "{";
      const std::size_t count = data.count();
      for (std::size_t i = 0; i < count; i++) {
        const std::string_view key = string(static_cast<std::size_t>(data.varint()));
        const auto value = attribute(static_cast<std::size_t>(data.varint()), nested + 1);
        text += (i > 0 ? ", " : "") + quoted(key) + " = " + value.value_or("unit");
      }
      text += '}';
      break;
    }
    case kFftType:
      text = word_of(data, "fft_type", kFfts);
      break;
    case kFloat: {
      const std::string& element = type(static_cast<std::size_t>(data.varint()));
      const std::size_t width = 8 * width_of(element);
      const std::uint64_t bits = data.bits(static_cast<unsigned>(width));
      if (element == "f32")
        append_number(text, std::bit_cast<float>(static_cast<std::uint32_t>(bits)),
                      NumberStyle::kMlir);
      else if (element == "f64")
        append_number(text, std::bit_cast<double>(bits), NumberStyle::kMlir);
      else
        text = fmt::format("0x{:X}", bits);
      text += " : " + element;
      break;
    }
    case kInteger: {
      const std::string& element = type(static_cast<std::size_t>(data.varint()));
      const std::size_t width = element == "none" ? 8 : width_of(element);
      if (width == 0 || width > 8) data.fail(fmt::format("an integer of the type {}", element));
      const auto unused = static_cast<unsigned>(64 - 8 * width);
      const std::uint64_t bits = data.bits(static_cast<unsigned>(8 * width));
      text = element[0] == 'u'
                 ? fmt::format("{} : {}", bits, element)
                 : fmt::format("{} : {}", static_cast<std::int64_t>(bits << unused) >> unused,
                               element);
      break;
    }
    case kPrecision:
      text = word_of(data, "precision", kPrecisions);
      break;
    case kRngAlgorithm:
      text = word_of(data, "rng_algorithm", kRandom);
      break;
    case kRngDistribution:
      text = word_of(data, "rng_distribution", kDistributions);
      break;
    case kVhloString:
      text = quoted(file_.strings[data.index(file_.strings.size(), "string")]);
      break;
    case kTensor:
      text = tensor(data);
      break;
    case kTranspose:
      text = word_of(data, "transpose", kTransposes);
      break;
    case kType: {
      const std::string& named = type(static_cast<std::size_t>(data.varint()));
      data.expect_end("an attribute");
      if (named == "none") return std::nullopt;
      return named;
    }
    default:
      data.fail(fmt::format("attribute {} of vhlo is not supported (written by {})", code,
                            file_.producer));
  }
  data.expect_end("an attribute");
  return text;
}

std::vector<std::int64_t> Entries::integers(std::size_t index) {
  const EncodedEntry& encoded = entry(file_.attributes, index);
  Bytes data = encoded.data;
  const std::uint64_t code = encoded.dialect == "vhlo" && encoded.custom ? data.varint() : 0;
  if (code != kInteger && code != kTensor) data.fail("expected integers");
  const std::string& text = type(static_cast<std::size_t>(data.varint()));
  if (code == kInteger) {
    if (text != "i64") data.fail(fmt::format("an integer of the type {}", text));
    return {static_cast<std::int64_t>(data.bits(64))};
  }
  std::string_view inside = text;
  std::uint64_t count = 0;
  constexpr std::string_view kStart = "tensor<", kEnd = "xi64>";
  if (inside.size() < kStart.size() + kEnd.size() ||
      inside.substr(inside.size() - kEnd.size()) != kEnd)
    data.fail(fmt::format("expected integers, not {}", text));
  inside = inside.substr(kStart.size(), inside.size() - kStart.size() - kEnd.size());
  for (const char digit : inside) {
    if (digit < '0' || digit > '9' || count > 1000)
      data.fail(fmt::format("a list of the type {}", text));
    count = 10 * count + static_cast<std::uint64_t>(digit - '0');
  }
  const std::uint64_t size = data.varint();
  if (size != 8 * count && size != 8) data.fail(fmt::format("{} bytes for {}", size, text));
  std::vector<std::int64_t> values;
  for (std::uint64_t i = 0; i < size / 8 && count > 0; i++)
    values.push_back(static_cast<std::int64_t>(data.little(8)));
  if (values.size() == 1) values.resize(static_cast<std::size_t>(count), values[0]);
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

}  // namespace rondo::text::bytecode
