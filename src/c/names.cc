#include "c/names.h"

#include <cctype>

namespace rondo::c {

namespace {

/// The words of C99 and C++20, and what <math.h>, <stdbool.h> and <stdint.h> have without a suffix
/// that a program might want.
bool is_reserved(std::string_view name) {
  static const absl::flat_hash_set<std::string_view> kWords = {
      // Of C99.
      "auto", "break", "case", "char", "const", "continue", "default", "do", "double", "else",
      "enum", "extern", "float", "for", "goto", "if", "inline", "int", "long", "register",
      "restrict", "return", "short", "signed", "sizeof", "static", "struct", "switch", "typedef",
      "union", "unsigned", "void", "volatile", "while",
      // Of C++ alone.
      "alignas", "alignof", "and", "and_eq", "asm", "bitand", "bitor", "bool", "catch", "class",
      "co_await", "co_return", "co_yield", "compl", "concept", "consteval", "constexpr",
      "constinit", "const_cast", "decltype", "delete", "dynamic_cast", "explicit", "export",
      "false", "friend", "mutable", "namespace", "new", "noexcept", "not", "not_eq", "nullptr",
      "operator", "or", "or_eq", "private", "protected", "public", "reinterpret_cast", "requires",
      "static_assert", "static_cast", "template", "this", "thread_local", "throw", "true", "try",
      "typeid", "typename", "using", "virtual", "wchar_t", "xor", "xor_eq",
      // Of the libraries.
      "acos", "acosh", "asin", "asinh", "atan", "atan2", "atanh", "cbrt", "ceil", "copysign", "cos",
      "cosh", "erf", "erfc", "exp", "exp2", "expm1", "fabs", "fdim", "floor", "fma", "fmax", "fmin",
      "fmod", "frexp", "hypot", "ilogb", "isnan", "ldexp", "lgamma", "log", "log10", "log1p",
      "log2", "logb", "lrint", "lround", "main", "modf", "nan", "nearbyint", "nextafter", "pow",
      "remainder", "remquo", "rint", "round", "scalbn", "signbit", "signgam", "sin", "sinh", "sqrt",
      "tan", "tanh", "tgamma", "trunc", "y0", "y1", "yn", "j0", "j1", "jn", "gamma"};
  // Helpers and functions of a type: min_f32, f32_of_bits.
  const std::size_t last = name.rfind('_');
  static const absl::flat_hash_set<std::string_view> kTypes = {
      "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "bits"};
  return kWords.contains(name) ||
         (last != std::string_view::npos && kTypes.contains(name.substr(last + 1)));
}

}  // namespace

std::string identifier(std::string_view text) {
  std::string name;
  for (const char c : text) {
    if (std::isalnum(static_cast<unsigned char>(c)))
      name += c;
    else if (!name.empty() && name.back() != '_')
      name += '_';
  }
  while (!name.empty() && name.back() == '_') name.pop_back();
  return name;
}

std::string Names::unique(std::string_view text, std::string_view otherwise) {
  std::string wanted = identifier(text);
  if (wanted.empty()) wanted = otherwise;
  if (std::isdigit(static_cast<unsigned char>(wanted.front()))) wanted.insert(0, "n");
  if (!is_reserved(wanted) && taken_.insert(wanted).second) return wanted;
  int& number = numbers_.try_emplace(wanted, 2).first->second;
  for (;;) {
    std::string name = wanted + "_" + std::to_string(number++);
    if (taken_.insert(name).second) return name;
  }
}

}  // namespace rondo::c
