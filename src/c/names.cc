#include "c/names.h"

#include <cctype>

namespace rondo::c {

namespace {

/// The words of C99 and C++20, and what the standard headers define as macros.
bool is_word(std::string_view name) {
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
      // Macros.
      "HUGE_VAL", "HUGE_VALF", "INFINITY", "INT64_C", "INT64_MAX", "NAN", "NULL", "UINT64_C",
      "UINT64_MAX", "isfinite", "isinf", "isnormal", "isunordered", "math_errhandling"};
  return kWords.contains(name);
}

/// What <math.h> has that a program might want, and helpers and functions of a type: min_f32,
/// f32_of_bits.
bool is_function(std::string_view name) {
  static const absl::flat_hash_set<std::string_view> kFunctions = {
      "acos",      "acosh",     "asin",  "asinh",     "atan",   "atan2",  "atanh", "cbrt",
      "ceil",      "copysign",  "cos",   "cosh",      "erf",    "erfc",   "exp",   "exp2",
      "expm1",     "fabs",      "fdim",  "floor",     "fma",    "fmax",   "fmin",  "fmod",
      "frexp",     "hypot",     "ilogb", "isnan",     "ldexp",  "lgamma", "log",   "log10",
      "log1p",     "log2",      "logb",  "lrint",     "lround", "main",   "modf",  "nan",
      "nearbyint", "nextafter", "pow",   "remainder", "remquo", "rint",   "round", "scalbn",
      "signbit",   "signgam",   "sin",   "sinh",      "sqrt",   "tan",    "tanh",  "tgamma",
      "trunc",     "y0",        "y1",    "yn",        "j0",     "j1",     "jn",    "gamma"};
  static const absl::flat_hash_set<std::string_view> kTypes = {
      "s8", "s16", "s32", "s64", "u8", "u16", "u32", "u64", "f16", "bf16", "f32", "f64", "bits"};
  const std::size_t last = name.rfind('_');
  const std::string_view of_double = name.ends_with('f') ? name.substr(0, name.size() - 1) : name;
  return kFunctions.contains(name) || kFunctions.contains(of_double) ||
         (last != std::string_view::npos && kTypes.contains(name.substr(last + 1)));
}

/// i, j, … n, i6, i7, …: the writer gives these to loops by their depth.
bool is_index(std::string_view name) {
  if (name.size() == 1) return name[0] >= 'i' && name[0] <= 'n';
  return name[0] == 'i' && name.find_first_not_of("0123456789", 1) == std::string_view::npos;
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

bool Names::is_reserved(std::string_view name) const {
  return is_word(name) || (of_ == Of::kFile && (is_function(name) || is_index(name)));
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
