// Names of HLO and StableHLO from users' names.
#include "text/names.h"

#include <gtest/gtest.h>

#include <regex>
#include <set>
#include <string>

namespace rondo::text {
namespace {

TEST(Names, TheFirstStepOfAPathIsDropped) {
  EXPECT_EQ(identifier("arg0.slab"), "slab");
  EXPECT_EQ(identifier("arg0.house.slab"), "house.slab");
  EXPECT_EQ(identifier("carry[0].slab"), "slab");
  EXPECT_EQ(identifier("slab"), "slab");
  EXPECT_EQ(identifier("arg0[1]"), "arg0_1");
  EXPECT_EQ(identifier("arg0[\"water level\"]"), "arg0_water_level");
  EXPECT_EQ(whole_identifier("arg0.slab"), "arg0.slab");
}

TEST(Names, OnlyLettersDigitsPointsAndUnderlines) {
  EXPECT_EQ(identifier(""), "unnamed");
  EXPECT_EQ(identifier("..."), "_..");
  EXPECT_EQ(identifier("x."), "x.");
  EXPECT_EQ(identifier("7up"), "_7up");
  EXPECT_EQ(identifier("a-b c%d"), "a_b_c_d");
  EXPECT_EQ(identifier("h\xc3\xb6he"), "h_he");
  const std::regex legal("[A-Za-z_][A-Za-z0-9_.]*");
  for (int c = 0; c < 256; c++) {
    for (const std::string& text :
         {std::string(1, static_cast<char>(c)), std::string("a") + static_cast<char>(c),
          std::string("a.") + static_cast<char>(c) + "1"}) {
      EXPECT_TRUE(std::regex_match(identifier(text), legal)) << c << ": " << identifier(text);
    }
  }
}

TEST(Names, NoneEndsAsNumberedNamesDo) {
  EXPECT_EQ(identifier("add.3"), "_3");
  EXPECT_EQ(whole_identifier("add.3"), "add_3");
  EXPECT_EQ(whole_identifier("a.b.12"), "a.b_12");
  EXPECT_EQ(whole_identifier("a.b12"), "a.b12");
}

TEST(Names, WhatXlaReadsAsSomethingElseIsAvoided) {
  for (const char* word :
       {"true",       "false",      "inf",       "nan",         "HloModule",
        "ENTRY",      "ROOT",       "FileNames", "StackFrames", "maximal",
        "replicated", "manual",     "unknown",   "unreduced",   "last_tile_dim_replicate",
        "shard_as",   "shard_like", "token",     "opaque",      "pred",
        "f32",        "s8",         "u64",       "bf16",        "c64",
        "c128",       "f8e4m3fn",   "f4e2m1fn",  "s4",          "u2"}) {
    EXPECT_EQ(identifier(word), std::string(word) + "_");
  }
  EXPECT_EQ(identifier("__init"), "x__init");
  for (const char* word : {"f1", "s0", "u3", "c", "f", "tuple", "add", "while", "constant", "bf"})
    EXPECT_EQ(identifier(word), word);
}

TEST(Names, InATableAreUnique) {
  NameTable table;
  EXPECT_EQ(table.add("arg0.slab"), "slab");
  EXPECT_EQ(table.add("arg1.slab"), "arg1.slab");
  EXPECT_EQ(table.add("arg1.slab"), "arg1.slab_2");
  EXPECT_EQ(table.add("arg1.slab_2"), "slab_2");
  EXPECT_EQ(table.add("arg1.slab"), "arg1.slab_3");
  EXPECT_EQ(table.add("slab"), "slab_3");
  EXPECT_EQ(table.add("true"), "true_");
  EXPECT_EQ(table.add("true"), "true__2");
  EXPECT_EQ(table.add(""), "unnamed");
  EXPECT_EQ(table.add(""), "unnamed_2");
}

TEST(Names, ManyEqualOnesAreQuick) {
  NameTable table;
  std::set<std::string_view> seen;
  for (int i = 0; i < 200000; i++) EXPECT_TRUE(seen.insert(table.add("x")).second);
  EXPECT_TRUE(seen.contains("x_200000"));
}

}  // namespace
}  // namespace rondo::text
