#include "pjrt/program_text.h"

#include <string_view>

#include "fmt/format.h"
#include "rondo/error.h"

namespace rondo::pjrt {

namespace {

constexpr std::string_view kDonor = "jax.buffer_donor = true";

}  // namespace

std::vector<bool> donated_parameters(const Function& function,
                                     std::span<const std::int64_t> donate) {
  const std::size_t count = function.params().size();
  std::vector<bool> donated;
  for (const std::int64_t parameter : donate) {
    if (parameter < 0 || static_cast<std::uint64_t>(parameter) >= count) {
      throw TraceError(fmt::format(
          "compile of '{}': CompileOptions::donate has {}; the program has {} parameters\n  Give "
          "numbers of parameters (leaves of the arguments), from 0.",
          function.name(), parameter, count));
    }
    donated.resize(count);
    donated[static_cast<std::size_t>(parameter)] = true;
  }
  return donated;
}

std::string with_donors(const std::string& text, const std::vector<bool>& donated) {
  if (donated.empty()) return text;
  constexpr std::string_view kMain = "@main(";
  const std::size_t begin = text.find(kMain);
  if (begin == std::string::npos) throw InternalError("a StableHLO module without main");
  std::string out = text.substr(0, begin + kMain.size());
  std::size_t parameter = 0;
  int depth = 0;
  bool quoted = false;
  bool attributes = false;  // the parameter has some already
  std::size_t at = out.size();
  for (; at < text.size(); at++) {
    const char c = text[at];
    if (c == '"' && text[at - 1] != '\\') quoted = !quoted;
    if (!quoted && depth == 0 && (c == ',' || c == ')')) {
      if (donated[parameter++]) {
        if (attributes) out.pop_back();
        out += attributes ? ", " : " {";
        (out += kDonor) += '}';
      }
      attributes = false;
      if (c == ')') break;
    } else if (!quoted && (c == '<' || c == '{' || c == '[' || c == '(')) {
      depth++;
    } else if (!quoted && (c == '>' || c == '}' || c == ']' || c == ')')) {
      depth--;
      attributes = c == '}' && depth == 0;
    }
    out += c;
  }
  return out.append(text, at);
}

}  // namespace rondo::pjrt
