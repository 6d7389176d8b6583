#include "cli/check.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <istream>
#include <iterator>
#include <ostream>

#include "cli/command.h"
#include "fmt/format.h"
#include "rondo/checks.h"

namespace rondo::cli {

namespace {

std::string content_of(const std::string& file, std::istream& in) {
  if (file == "-") return std::string(std::istreambuf_iterator<char>(in), {});
  std::ifstream stream(file, std::ios::binary);
  std::string content((std::istreambuf_iterator<char>(stream)), {});
  if (!stream.is_open() || stream.bad()) throw ParseError(std::strerror(errno), 0, 0);
  return content;
}

}  // namespace

int check_programs(const std::vector<std::string>& files, std::istream& in, std::ostream& out,
                   std::ostream& err) {
  CheckReport sum;
  int status = kFine;
  for (const std::string& file : files) {
    try {
      // What others computed was rounded after each product.
      const CheckReport report = run_checks(content_of(file, in), {.contract = false});
      for (const CheckReport::Function& function : report.functions) {
        if (function.message.empty()) continue;
        out << fmt::format("{}:{}: @{} {}: {}\n", file, function.line, function.name,
                           function.skipped ? "skipped" : "failed", function.message);
      }
      sum.passed += report.passed;
      sum.failed += report.failed;
      sum.skipped += report.skipped;
    } catch (const ParseError& error) {
      err << fmt::format("rondo: {}: {}\n", file, error.what());
      status = kBadInput;
    }
  }
  out << fmt::format("{} passed, {} failed, {} skipped\n", sum.passed, sum.failed, sum.skipped);
  if (status == kFine && sum.failed > 0) status = kFailed;
  return status;
}

}  // namespace rondo::cli
