#include "c/self_test.h"

#include <cstring>

#include "c/types.h"
#include "c/wrap.h"
#include "fmt/format.h"
#include "lower/arithmetic.h"
#include "lower/opcodes.h"

namespace rondo::c {

using lower::Type;

namespace {

/// Element `k` of argument `number` is (k * 37 + number * 11) % 64 - 24, of floats in sixteenths.
std::int64_t whole(std::int64_t k, std::size_t number) {
  return (k * 37 + static_cast<std::int64_t>(number) * 11) % 64 - 24;
}

constexpr std::uint32_t kFirst = 2166136261u, kPrime = 16777619u;  // FNV-1a, of words

std::int64_t words_of(const TensorType& type) {
  return type.bytes() / lower::width(lower::type_of(type.dtype));
}

bool is_nan(Type type, std::uint64_t bits) {
  return lower::for_type(type, [&]<class T>() {
    if constexpr (lower::is_float_type<T>) {
      const auto value = static_cast<lower::Computed<T>>(lower::from_bits<T>(bits));
      return value != value;
    }
    return false;
  });
}

/// The bits of a value in words, of NaNs all ones.
std::uint32_t hash_of(const Literal& value) {
  const Type type = lower::type_of(value.dtype());
  const std::int64_t width = lower::width(type);
  std::uint32_t hash = kFirst;
  for (std::int64_t k = 0; k < words_of(value.type()); k++) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, value.bytes() + k * width, static_cast<std::size_t>(width));
    if (is_nan(type, bits)) bits = ~std::uint64_t{0} >> (64 - 8 * width);
    hash = (hash ^ static_cast<std::uint32_t>(bits)) * kPrime;
    if (width == 8) hash = (hash ^ static_cast<std::uint32_t>(bits >> 32)) * kPrime;
  }
  return hash;
}

/// An element's bits as uint32_t or uint64_t.
std::string bits_text(Type type, const std::string& element, Helpers& helpers) {
  switch (type) {
    case Type::kF16:
    case Type::kBF16: {
      const char* infinity = type == Type::kF16 ? "0x7c00u" : "0x7f80u";
      return fmt::format("({0} & 0x7fffu) > {1} ? 0xffffu : (uint32_t){0}", element, infinity);
    }
    case Type::kF32:
      return fmt::format("{0} != {0} ? 0xffffffffu : {1}({0})", element, helpers.use("bits", type));
    case Type::kF64:
      return fmt::format("{0} != {0} ? UINT64_MAX : {1}({0})", element, helpers.use("bits", type));
    default:
      return fmt::format("({}){}", variable_type(lower::bits_type(type)), element);
  }
}

std::string value_text(Type type, std::size_t number, Helpers& helpers) {
  const std::string whole_text = fmt::format("(k * 37 + {}) % 64 - 24", number * 11);
  if (type == Type::kPred) return fmt::format("({}) % 3 == 0", whole_text);
  if (!lower::is_float(type)) return fmt::format("({})({})", variable_type(type), whole_text);
  std::string value = fmt::format("(float)({}) / 16.0f", whole_text);
  if (type == Type::kF64) return fmt::format("(double)({})", value);
  if (type == Type::kF32) return value;
  return fmt::format("{}({})", helpers.use("store", type), value);
}

}  // namespace

Literal test_argument(const TensorType& type, std::size_t number) {
  Literal value = Literal::zeros(type);
  const Type element = lower::type_of(type.dtype);
  const std::int64_t width = lower::width(element);
  for (std::int64_t k = 0; k < words_of(type); k++) {
    lower::for_type(element, [&]<class T>() {
      const std::int64_t number_at = whole(k, number);
      const T made = [&] {
        if constexpr (lower::is_pred_type<T>)
          return number_at % 3 == 0;
        else if constexpr (lower::is_float_type<T>)
          return static_cast<T>(static_cast<float>(number_at) / 16.0f);
        else
          return static_cast<T>(number_at);
      }();
      std::memcpy(value.mutable_bytes() + k * width, &made, sizeof made);
    });
  }
  return value;
}

std::string self_test(const SelfTest& test, const std::vector<Field>& arguments,
                      const std::vector<Leaf>& argument_leaves,
                      const std::vector<Leaf>& result_leaves, const std::string& variables,
                      const std::string& call, Helpers& helpers) {
  std::string text = fmt::format(
      "static uint32_t hashed(uint32_t hash, uint64_t bits, int words) {{\n"
      "  hash = (hash ^ (uint32_t)bits) * {0}u;\n"
      "  return words == 1 ? hash : (hash ^ (uint32_t)(bits >> 32)) * {0}u;\n"
      "}}\n\n"
      "int main(void) {{\n{1}"
      "  uint32_t hash;\n  int32_t k;\n  int wrong = 0;\n",
      kPrime, variables);
  const auto loop = [&](std::int64_t count) {
    return fmt::format("  for (k = 0; k < {}; ++k)\n    ", count);
  };
  const auto element = [](const Leaf& leaf) {
    return leaf.single ? leaf.access : leaf.access + "[k]";
  };
  for (std::size_t i = 0; i < arguments.size(); i++) {
    const TensorType& type = arguments[i].type;
    text += loop(words_of(type));
    text += fmt::format("{} = {};\n", element(argument_leaves[i]),
                        value_text(lower::type_of(type.dtype), i, helpers));
  }
  text += call;
  for (std::size_t i = 0; i < test.results.size(); i++) {
    const Literal& want = test.results[i];
    const Type type = lower::type_of(want.dtype());
    text += fmt::format("  hash = {}u;\n", kFirst) + loop(words_of(want.type()));
    text += "hash = hashed(hash,\n" +
            wrapped(fmt::format("{}, {});", bits_text(type, element(result_leaves[i]), helpers),
                                lower::width(type) == 8 ? 2 : 1),
                    18) +
            "\n";
    text += fmt::format("  wrong += hash != {}u;\n", hash_of(want));
  }
  return text + "  return wrong;\n}\n";
}

}  // namespace rondo::c
