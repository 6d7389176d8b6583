#include "ir/spelling.h"

#include <cctype>

#include "fmt/format.h"

namespace rondo::ir {

std::string Spelling::of(const std::string& a, const std::string& b,
                         const std::string& changed) const {
  if (code.empty()) return changed;
  const bool function = std::isalpha(static_cast<unsigned char>(code.front())) != 0;
  return function ? fmt::format("rondo::{}({}, {})", code, a, b)
                  : fmt::format("{} {} {}", a, code, b);
}

std::string converted(std::string_view x, DType dtype) {
  return fmt::format("rondo::convert({}, rondo::DType::k{})", x, dtype_constant(dtype));
}

std::string dtype_constant(DType dtype) {
  std::string name(dtype_name(dtype));
  if (dtype == DType::kPred) return "Pred";
  for (char& c : name) c = static_cast<char>(std::toupper(static_cast<unsigned char>(c)));
  return name;
}

}  // namespace rondo::ir
