// The manual and the completions.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <array>
#include <cstdio>

#include "cli/outcome.h"

namespace rondo {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsSupersetOf;
using ::testing::StartsWith;

constexpr const char* kVerbs[] = {"print", "run", "check", "grad", "bench", "explain", "hosts"};

TEST_F(Command, EveryVerbHasHelpWithExamples) {
  const std::string all = command({"--help"}).out;
  const std::string manual = command({"describe", "man"}).out;
  EXPECT_THAT(manual, AllOf(StartsWith(".TH RONDO 1"), HasSubstr(".SH EXIT STATUS")));
  for (const std::string verb : kVerbs) {
    EXPECT_THAT(all, HasSubstr("\n  " + verb + " "));
    const Outcome help = command({verb, "--help"});
    EXPECT_EQ(help.status, 0);
    EXPECT_THAT(help.out, HasSubstr("Examples:\n  rondo " + verb + " "));
    EXPECT_THAT(manual, AllOf(HasSubstr(".SS rondo " + verb + "\n"), HasSubstr("  rondo " + verb)));
  }
  EXPECT_THAT(manual, HasSubstr("\\-\\-max\\-iterations=N"));
  fails({"describe", "fish"}, 2, HasSubstr("fish"));
}

class Completion : public Command {
 protected:
  /// What bash offers for a line.
  std::vector<std::string> completed(const std::string& line) const {
    file("rondo.bash", command({"describe", "bash"}).out);
    // As readline does it: words are split at spaces and at COMP_WORDBREAKS' `=`.
    file("ask.bash", R"sh(source rondo.bash || exit 1
COMP_LINE=$1 COMP_POINT=${#1}
read -ra COMP_WORDS <<< "${1//=/ = }"
[[ $1 == *' ' || $1 == *= ]] && COMP_WORDS+=('')
COMP_CWORD=$((${#COMP_WORDS[@]} - 1))
_rondo
printf '%s\n' "${COMPREPLY[@]}"
)sh");
    const std::string asked = "cd '" + path("") + "' && bash ask.bash '" + line + "' 2>&1";
    std::vector<std::string> words;
    FILE* const answer = popen(asked.c_str(), "r");
    if (!answer) return words;
    std::array<char, 4096> buffer;
    while (std::fgets(buffer.data(), buffer.size(), answer)) {
      words.emplace_back(buffer.data());
      words.back().pop_back();
    }
    pclose(answer);
    return words;
  }
};

TEST_F(Completion, OfBashOffersVerbsOptionsChoicesAndFiles) {
  EXPECT_THAT(completed("rondo ex"), ElementsAre("explain"));
  EXPECT_THAT(completed("rondo "), IsSupersetOf(kVerbs));
  EXPECT_THAT(completed("rondo run --max"), ElementsAre("--max-iterations="));
  EXPECT_THAT(completed("rondo print --"), IsSupersetOf({"--to=", "--entry=", "--optimize"}));
  EXPECT_THAT(completed("rondo print f.mlir --to=st"), ElementsAre("stablehlo"));
  EXPECT_THAT(completed("rondo grad f.mlir --to h"), IsSupersetOf({"hlo", "html"}));
  file("loss.mlir", "");
  EXPECT_THAT(completed("rondo run lo"), ElementsAre("loss.mlir"));
  EXPECT_THAT(completed("rondo run --out=lo"), ElementsAre("loss.mlir"));
}

TEST_F(Command, CompletionOfZshHasAllVerbsAndOptions) {
  const std::string text = command({"describe", "zsh"}).out;
  EXPECT_THAT(text, StartsWith("#compdef rondo\n"));
  for (const std::string verb : kVerbs) EXPECT_THAT(text, HasSubstr("    " + verb + ")\n"));
  EXPECT_THAT(text, AllOf(HasSubstr("--max-iterations=["), HasSubstr(":format:(hlo stablehlo ")));
}

}  // namespace
}  // namespace rondo
