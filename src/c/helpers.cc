#include "c/helpers.h"

#include <bit>
#include <cstdint>
#include <utility>

#include "c/types.h"
#include "c/wide.h"
#include "fmt/format.h"
#include "lower/opcodes.h"
#include "rondo/error.h"

namespace rondo::c {

using lower::Type;

namespace {

enum class Of : std::uint8_t { kSigned, kUnsigned, kInteger, kFloat };

/// A function. In its text $T is the type, $N its short name, $U the unsigned type of its width, $V
/// one in which arithmetic wraps (at least 32 bits), $W its width in bits, $S the type that is
/// converted. `needs` are others of the same type; those with a type behind a colon are of that
/// one.
struct Helper {
  std::string_view what;
  Of of;
  std::vector<std::string_view> needs;
  std::string_view text;
};

const std::vector<Helper>& helpers() {
  static const std::vector<Helper> kHelpers = {
      // Integers wrap: C leaves that undefined for signed ones.
      {"add", Of::kSigned, {}, "static $T add_$N($T a, $T b) { return ($T)(($V)a + ($V)b); }\n"},
      {"subtract",
       Of::kSigned,
       {},
       "static $T subtract_$N($T a, $T b) { return ($T)(($V)a - ($V)b); }\n"},
      {"multiply",
       Of::kSigned,
       {},
       "static $T multiply_$N($T a, $T b) { return ($T)(($V)a * ($V)b); }\n"},
      {"negate", Of::kSigned, {}, "static $T negate_$N($T a) { return ($T)(0u - ($V)a); }\n"},
      {"absolute",
       Of::kSigned,
       {"negate"},
       "static $T absolute_$N($T a) { return a < 0 ? negate_$N(a) : a; }\n"},
      // Division by zero gives all ones, the remainder the dividend.
      {"divide",
       Of::kSigned,
       {"negate"},
       "static $T divide_$N($T a, $T b) {\n"
       "  if (b == 0) return -1;\n"
       "  return b == -1 ? negate_$N(a) : ($T)(a / b);\n"
       "}\n"},
      {"divide",
       Of::kUnsigned,
       {},
       "static $T divide_$N($T a, $T b) { return b == 0 ? ($T)-1 : ($T)(a / b); }\n"},
      {"remainder",
       Of::kSigned,
       {},
       "static $T remainder_$N($T a, $T b) {\n"
       "  if (b == 0) return a;\n"
       "  return b == -1 ? 0 : ($T)(a % b);\n"
       "}\n"},
      {"remainder",
       Of::kUnsigned,
       {},
       "static $T remainder_$N($T a, $T b) { return b == 0 ? a : ($T)(a % b); }\n"},
      {"min", Of::kInteger, {}, "static $T min_$N($T a, $T b) { return a < b ? a : b; }\n"},
      {"max", Of::kInteger, {}, "static $T max_$N($T a, $T b) { return a > b ? a : b; }\n"},
      // NaN propagates, and -0 is below 0.
      {"min",
       Of::kFloat,
       {"bits", "from_bits"},
       "static $T min_$N($T a, $T b) {\n"
       "  if (a != a || b != b) return a + b;\n"
       "  if (a == b) return $N_of_bits(bits_of_$N(a) | bits_of_$N(b));\n"
       "  return a < b ? a : b;\n"
       "}\n"},
      {"max",
       Of::kFloat,
       {"bits", "from_bits"},
       "static $T max_$N($T a, $T b) {\n"
       "  if (a != a || b != b) return a + b;\n"
       "  if (a == b) return $N_of_bits(bits_of_$N(a) & bits_of_$N(b));\n"
       "  return a > b ? a : b;\n"
       "}\n"},
      // A shift by the width or more leaves nothing, or the sign.
      {"shift_left",
       Of::kInteger,
       {},
       "static $T shift_left_$N($T a, $T by) {\n"
       "  return ($U)by < $W ? ($T)(($V)a << by) : 0;\n"
       "}\n"},
      {"shift_right",
       Of::kInteger,
       {},
       "static $T shift_right_$N($T a, $T by) {\n"
       "  return ($U)by < $W ? ($T)(($U)a >> by) : 0;\n"
       "}\n"},
      {"shift_sign",
       Of::kSigned,
       {},
       "static $T shift_sign_$N($T a, $T by) {\n"
       "  const int places = ($U)by < $W ? (int)by : $W - 1;\n"
       "  return ($T)(a < 0 ? ~(~a >> places) : a >> places);\n"
       "}\n"},
      {"shift_sign",
       Of::kUnsigned,
       {},
       "static $T shift_sign_$N($T a, $T by) {\n"
       "  const int places = by < $W ? (int)by : $W - 1;\n"
       "  return ($T)(a >> ($W - 1) ? ~(($T)~a >> places) : a >> places);\n"
       "}\n"},
      // Compilers have one instruction for it.
      {"rotate_left",
       Of::kInteger,
       {},
       "static $T rotate_left_$N($T a, $T by) {\n"
       "  const unsigned left = (unsigned)by % $W;\n"
       "  return ($T)(($V)a << left | ($U)a >> ($W - left) % $W);\n"
       "}\n"},
      {"popcount",
       Of::kInteger,
       {},
       "static $T popcount_$N($T a) {\n"
       "  $U rest = ($U)a;\n"
       "  $T count = 0;\n"
       "  for (; rest != 0; ++count) rest = ($U)(rest & (rest - 1));\n"
       "  return count;\n"
       "}\n"},
      {"leading_zeros",
       Of::kInteger,
       {},
       "static $T leading_zeros_$N($T a) {\n"
       "  $U rest = ($U)a;\n"
       "  $T count = $W;\n"
       "  for (; rest != 0; --count) rest = ($U)(rest >> 1);\n"
       "  return count;\n"
       "}\n"},
      {"bits",
       Of::kFloat,
       {},
       "static $U bits_of_$N($T x) {\n"
       "  union { $T value; $U bits; } both;\n"
       "  both.value = x;\n"
       "  return both.bits;\n"
       "}\n"},
      {"from_bits",
       Of::kFloat,
       {},
       "static $T $N_of_bits($U bits) {\n"
       "  union { $T value; $U bits; } both;\n"
       "  both.bits = bits;\n"
       "  return both.value;\n"
       "}\n"},
  };
  return kHelpers;
}

/// Of f16 and bf16, which are floats in variables and their bits in memory.
const std::vector<std::pair<std::string_view, Helper>>& half_helpers() {
  static const std::vector<std::pair<std::string_view, Helper>> kHelpers = {
      {"f16",
       {"load",
        Of::kFloat,
        {"from_bits:f32"},
        "static float f32_from_f16(uint16_t bits) {\n"
        "  const uint32_t sign = (uint32_t)(bits & 0x8000u) << 16;\n"
        "  const uint32_t rest = bits & 0x7fffu;\n"
        "  if (rest < 0x400u) return (sign ? -(float)rest : (float)rest) * "
        "5.9604644775390625e-8f;\n"
        "  if (rest >= 0x7c00u) return f32_of_bits(sign | 0x7f800000u | rest << 13);\n"
        "  return f32_of_bits(sign | ((rest << 13) + 0x38000000u));\n"
        "}\n"}},
      {"f16",
       {"store",
        Of::kFloat,
        {"bits:f32"},
        "static uint16_t f16_from_f32(float x) {\n"
        "  const uint32_t bits = bits_of_f32(x);\n"
        "  const uint32_t sign = bits >> 16 & 0x8000u;\n"
        "  uint32_t rest = bits & 0x7fffffffu;\n"
        "  if (rest > 0x7f800000u) return (uint16_t)(sign | 0x7e00u | (rest >> 13 & 0x3ffu));\n"
        "  if (rest >= 0x47800000u) return (uint16_t)(sign | 0x7c00u);\n"
        "  if (rest < 0x38800000u)\n"
        "    return (uint16_t)(sign | (uint32_t)nearbyintf(fabsf(x) * 16777216.0f));\n"
        "  rest += 0xfffu + (rest >> 13 & 1u);\n"
        "  return (uint16_t)(sign | (rest - 0x38000000u) >> 13);\n"
        "}\n"}},
      {"bf16",
       {"load",
        Of::kFloat,
        {"from_bits:f32"},
        "static float f32_from_bf16(uint16_t bits) { return f32_of_bits((uint32_t)bits << 16); "
        "}\n"}},
      {"bf16",
       {"store",
        Of::kFloat,
        {"bits:f32"},
        "static uint16_t bf16_from_f32(float x) {\n"
        "  const uint32_t bits = bits_of_f32(x);\n"
        "  if (x != x) return (uint16_t)(bits >> 16 | 0x40u);\n"
        "  return (uint16_t)((bits + 0x7fffu + (bits >> 16 & 1u)) >> 16);\n"
        "}\n"}},
  };
  return kHelpers;
}

/// To be rounded to fewer bits once more: a result that is not exact has its last bit set.
constexpr std::string_view kOdd =
    "static float odd_f32_from_f64(double x) {\n"
    "  const float y = (float)x;\n"
    "  const uint32_t bits = bits_of_f32(y);\n"
    "  if (x != x || (double)y == x || (bits & 1u)) return y;\n"
    "  return f32_of_bits(fabs((double)y) > fabs(x) ? bits - 1u : bits + 1u);\n"
    "}\n";

Type type_named(std::string_view name) {
  for (int at = 0; at <= static_cast<int>(Type::kPointer); at++)
    if (lower::type_name(static_cast<Type>(at)) == name) return static_cast<Type>(at);
  throw InternalError(fmt::format("C source: no type is named {}", name));
}

bool fits(Of of, Type type) {
  switch (of) {
    case Of::kSigned:
      return lower::is_integer(type) && type < Type::kU8;
    case Of::kUnsigned:
      return lower::is_integer(type) && type >= Type::kU8;
    case Of::kInteger:
      return lower::is_integer(type);
    case Of::kFloat:
      return lower::is_float(type);
  }
  return false;
}

}  // namespace

std::string Helpers::add(const std::string& name, std::string_view body, Type type, Type from) {
  if (!used_.insert(name).second) return name;
  const Type bits = lower::bits_type(type);
  const auto meaning = [&](char word) -> std::string {
    switch (word) {
      case 'T':
        return std::string(this->type(type));
      case 'N':
        return std::string(lower::type_name(type));
      case 'U':
        return std::string(variable_type(bits));
      case 'V':
        return std::string(variable_type(lower::width(bits) < 4 ? Type::kU32 : bits));
      case 'W':
        return fmt::format("{}", 8 * lower::width(type));
      default:  // S
        return std::string(variable_type(from));
    }
  };
  for (std::size_t at = 0; at < body.size(); at++) {
    if (body[at] == '$')
      text_ += meaning(body[++at]);
    else
      text_ += body[at];
  }
  return name;
}

std::string_view Helpers::type(Type type) const {
  return variable_type(is_wide_ && type == Type::kF64 ? Type::kU64 : type);
}

std::string Helpers::constant(Type type, std::uint64_t bits) const {
  return is_wide_ && type == Type::kF64 ? fmt::format("UINT64_C({:#x})", bits)
                                        : c::constant(type, bits);
}

std::string Helpers::wide(std::string_view name) {
  for (const WideHelper& helper : kWideHelpers) {
    if (helper.name != name) continue;
    if (name == "f64_from_f32") use("bits", Type::kF32);
    if (name == "f32_from_f64") use("from_bits", Type::kF32);
    if (name == "add_f64" || name == "multiply_f64") wide("rounded_f64");
    return add(std::string(name), helper.text, Type::kF32);
  }
  throw InternalError("C source: doubles are integers here, which have no such operation");
}

std::string Helpers::use(std::string_view what, Type type) {
  const bool is_half = type == Type::kF16 || type == Type::kBF16;
  if (is_half && (what == "load" || what == "store")) {
    for (const auto& [half, helper] : half_helpers()) {
      if (half != lower::type_name(type) || helper.what != what) continue;
      for (const std::string_view need : helper.needs)
        use(need.substr(0, need.find(':')), type_named(need.substr(need.find(':') + 1)));
      return add(
          what == "load" ? fmt::format("f32_from_{}", half) : fmt::format("{}_from_f32", half),
          helper.text, type);
    }
  }
  if (what == "round") {
    const std::string load = use("load", type), store = use("store", type);
    const std::string name = fmt::format("round_{}", lower::type_name(type));
    return add(name,
               fmt::format("static float {}(float x) {{ return {}({}(x)); }}\n", name, load, store),
               type);
  }
  if (is_half) type = Type::kF32;  // computed in f32
  if (what == "odd") {
    use("bits", Type::kF32);
    use("from_bits", Type::kF32);
    return add("odd_f32_from_f64", kOdd, Type::kF32);
  }
  for (const Helper& helper : helpers()) {
    if (helper.what != what || !fits(helper.of, type)) continue;
    for (const std::string_view need : helper.needs) use(need, type);
    const std::string_view short_name = lower::type_name(type);
    const std::string name = what == "bits"        ? fmt::format("bits_of_{}", short_name)
                             : what == "from_bits" ? fmt::format("{}_of_bits", short_name)
                                                   : fmt::format("{}_{}", what, short_name);
    return add(name, helper.text, type);
  }
  throw InternalError(fmt::format("C source: there is no {} of {}", what, lower::type_name(type)));
}

std::string Helpers::fold(std::string_view combine, Type type, std::string_view combined) {
  // The order of lower::Lanes::Reduction, in which what no lane went to changes nothing.
  return add(fmt::format("fold_{}_{}", combine, lower::type_name(type)),
             fmt::format("static $T fold_{}_$N($T *partial, int count) {{\n"
                         "  int half, k;\n"
                         "  for (half = {}; half > 0; half /= 2)\n"
                         "    for (k = 0; k < half && k + half < count; ++k)\n"
                         "      partial[k] = {};\n"
                         "  return partial[0];\n"
                         "}}\n",
                         combine, lower::Lanes::kPartials / 2, combined),
             type);
}

std::string Helpers::convert(Type to, Type from) {
  // A float to an integer truncates and saturates; NaN gives 0.
  const std::string name = fmt::format("{}_from_{}", lower::type_name(to), lower::type_name(from));
  const bool is_signed = to < Type::kU8;
  const int bits = static_cast<int>(8 * lower::width(to));
  const int magnitude = is_signed ? bits - 1 : bits;
  const auto power = [&](int exponent) {
    double value = 1;
    for (int i = 0; i < exponent; i++) value *= 2;
    return c::constant(from, from == Type::kF64
                                 ? std::bit_cast<std::uint64_t>(value)
                                 : std::bit_cast<std::uint32_t>(static_cast<float>(value)));
  };
  const std::uint64_t all = ~std::uint64_t{0} >> (64 - magnitude);
  const std::string most = c::constant(to, all);
  const std::string least = is_signed ? c::constant(to, ~std::uint64_t{0} << magnitude) : "0";
  const std::string low = is_signed ? "-" + power(magnitude) : power(0).replace(0, 1, "0");
  return add(name,
             fmt::format("static $T {}($S x) {{\n"
                         "  if (!(x > {})) return x <= {} ? {} : 0;\n"
                         "  return x < {} ? ($T)x : {};\n"
                         "}}\n",
                         name, low, low, least, power(magnitude), most),
             to, from);
}

}  // namespace rondo::c
