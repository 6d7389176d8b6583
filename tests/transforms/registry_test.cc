// The list of records is complete, and each record has what derivatives need of it.
#include "transforms/registry.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <regex>
#include <set>
#include <string>
#include <vector>

namespace rondo {
namespace {

using ir::Linear;
using ir::OpDef;

std::string text_of(const std::filesystem::path& path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

/// The names of the records that a source defines, in any formatting.
std::vector<std::string> records_in(const std::string& source) {
  static const std::regex definition(
      R"(^[ \t]*(?:static\s+|inline\s+)*(?:const|constexpr)\s+(?:\w+::)*OpDef\s+(\w+)\s*(?:=|\{|\())",
      std::regex::multiline);
  std::vector<std::string> names;
  for (std::sregex_iterator it(source.begin(), source.end(), definition), end; it != end; ++it)
    names.push_back((*it)[1]);
  return names;
}

TEST(Registry, RecordsAreFoundInEveryFormOfDefinition) {
  EXPECT_EQ(records_in("const OpDef kA{.name = \"a\"};\nconst ir::OpDef kB = f<1>({});\n"
                       "constexpr OpDef\n    kC = g();\n  static const rondo::ir::OpDef kD\n{"),
            (std::vector<std::string>{"kA", "kB", "kC", "kD"}));
  EXPECT_TRUE(records_in("extern const OpDef kA, kB;\n//     const OpDef kSin = elementwise(\n"
                         "Tensor make(const OpDef& op);\nconst OpDef* op = nullptr;\n")
                  .empty());
}

TEST(Registry, ListsEveryRecordInTheSources) {
  const std::filesystem::path src = std::filesystem::path(RONDO_SOURCE_DIR) / "src";
  // The lists of ops and of constructs; records in neither belong to the IR.
  const std::string list = text_of(src / "ops" / "families.cc") +
                           text_of(src / "control_flow" / "constructs.cc") +
                           text_of(src / "transforms" / "registry.cc");
  std::size_t defined = 0;
  for (const auto& entry : std::filesystem::recursive_directory_iterator(src)) {
    const std::string extension = entry.path().extension().string();
    if (extension != ".cc" && extension != ".h") continue;
    const std::string source = text_of(entry.path());
    // Helpers that build records (`constexpr OpDef observer(...)`) are functions, not records.
    for (const std::string& name : records_in(source)) {
      if (name[0] != 'k') continue;
      defined++;
      EXPECT_TRUE(std::regex_search(list, std::regex("&(?:ir::)?" + name + "\\b")) ||
                  std::regex_search(source, std::regex("&" + name + "[,}]")))
          << name << " of " << std::filesystem::relative(entry.path(), src)
          << " is neither in the list at the end of its file nor in its folder's";
    }
  }
  EXPECT_EQ(transforms::all_ops().size(), defined);
}

TEST(Registry, NoTwoRecordsHaveOneName) {
  std::set<std::string> names;
  for (const OpDef* op : transforms::all_ops())
    EXPECT_TRUE(names.insert(std::string(op->name)).second) << op->name;
}

TEST(Registry, EveryRecordSaysHowItIsDifferentiated) {
  for (const OpDef* op : transforms::all_ops()) {
    if (op->kind == ir::OpKind::kParameter) continue;  // its tangent is given from outside
    const bool has_rule = op->derivative.jvp || op->derivative.region_jvp ||
                          op->derivative.linear != Linear::kNone || op->derivative.reverse;
    EXPECT_TRUE(has_rule || op->expansion.rule || op->derivative.zero)
        << op->name << " has no derivative: give its record a rule, or derivative.zero";
    EXPECT_FALSE(has_rule && op->derivative.zero)
        << op->name << " has a derivative and says that it is zero";
  }
}

TEST(Registry, EveryLinearRecordHasATranspose) {
  for (const OpDef* op : transforms::all_ops()) {
    EXPECT_EQ(op->derivative.linear != Linear::kNone, op->derivative.transpose != nullptr)
        << op->name << " has one of linear and transpose without the other";
  }
}

TEST(Registry, RecordsThatAreLinearAtTimesHaveARuleForTheOthers) {
  for (const OpDef* op : transforms::all_ops()) {
    if (!op->derivative.is_linear) continue;
    EXPECT_TRUE(op->derivative.linear != Linear::kNone && op->derivative.jvp) << op->name;
  }
}

TEST(Registry, EveryRecordSaysHowItIsBatched) {
  for (const OpDef* op : transforms::all_ops()) {
    if (op->kind == ir::OpKind::kParameter || op->kind == ir::OpKind::kConstant) continue;
    // Without operands there is nothing that differs by lane.
    const bool says =
        op->batching.rule || op->structure.elementwise || op->expansion.rule || op->arity == 0;
    EXPECT_NE(says, !op->batching.why_not.empty())
        << op->name << " cannot be batched: give its record a rule, or batching.why_not";
    EXPECT_TRUE(!op->batching.varying || op->batching.rule) << op->name;
    EXPECT_TRUE(!op->batching.axis_name || op->batching.rule) << op->name;
  }
}

TEST(Registry, ConstructsThatGoBackCanGoForward) {
  for (const OpDef* op : transforms::all_ops()) {
    EXPECT_TRUE(op->derivative.region_jvp || !op->derivative.reverse) << op->name;
  }
}

}  // namespace
}  // namespace rondo
