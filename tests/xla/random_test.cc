// Random programs in real XLA.
#include "support/program_check.h"
#include "support/xla.h"

namespace rondo::testing {
namespace {

class XlaRandomPrograms : public XlaTest {};

TEST_F(XlaRandomPrograms, GiveWhatTheInterpreterGives) {
  for (std::uint64_t seed = 0; seed < 150; seed++) expect_program_same_as_xla(seed);
}

TEST_F(XlaRandomPrograms, DeepOnesToo) {
  for (std::uint64_t seed = 1000; seed < 1030; seed++) {
    expect_program_same_as_xla(seed, {.statements = 6, .region_statements = 4, .depth = 5});
  }
}

}  // namespace
}  // namespace rondo::testing
