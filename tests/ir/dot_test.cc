// The Graphviz graph of a program.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <map>
#include <set>
#include <string>
#include <vector>

#include "passes/optimize.h"
#include "text/programs.h"

namespace rondo {
namespace {

using namespace testing;

/// The part of the DOT language that is needed to see what belongs where
/// (https://graphviz.org/doc/info/lang.html).
struct Graph {
  std::map<std::string, std::string> labels;      // of nodes
  std::map<std::string, std::string> cluster_of;  // of nodes: the innermost cluster, by its label
  std::vector<std::string> clusters;              // labels, in order
  std::vector<std::pair<std::string, std::string>> solid, dashed, dotted;
  std::size_t deepest = 0;
};

/// Splits at blanks and punctuation; a quoted string is one token, unescaped, with a quote before
/// it.
std::vector<std::string> tokens_of(const std::string& text) {
  std::vector<std::string> tokens;
  for (std::size_t i = 0; i < text.size();) {
    if (std::isspace(static_cast<unsigned char>(text[i]))) {
      i++;
    } else if (text[i] == '"') {
      std::string token = "\"";
      for (i++; i < text.size() && text[i] != '"'; i++) {
        if (text[i] == '\\' && (text[i + 1] == '"' || text[i + 1] == '\\')) i++;
        token += text[i];
      }
      i++;
      tokens.push_back(token);
    } else if (text.compare(i, 2, "->") == 0) {
      tokens.push_back("->");
      i += 2;
    } else if (std::isalnum(static_cast<unsigned char>(text[i])) || text[i] == '_') {
      std::size_t end = i;
      while (end < text.size() &&
             (std::isalnum(static_cast<unsigned char>(text[end])) || text[end] == '_'))
        end++;
      tokens.push_back(text.substr(i, end - i));
      i = end;
    } else {
      tokens.emplace_back(1, text[i++]);
    }
  }
  return tokens;
}

Graph graph_of(const std::string& text) {
  Graph graph;
  const std::vector<std::string> tokens = tokens_of(text);
  std::vector<std::string> open;
  std::set<std::string> cluster_ids;
  const auto attributes_from = [&](std::size_t& i) {
    std::map<std::string, std::string> attributes;
    if (tokens[i] != "[") return attributes;
    for (i++; tokens[i] != "]"; i += 4) {
      EXPECT_EQ(tokens[i + 1], "=");
      attributes[tokens[i]] = tokens[i + 2];
      if (tokens[i + 3] != ",") {
        i += 3;
        break;
      }
    }
    EXPECT_EQ(tokens[i], "]");
    i++;
    return attributes;
  };
  std::size_t i = 0;
  EXPECT_EQ(tokens[i], "digraph");
  EXPECT_EQ(tokens[i + 2], "{");
  for (i = 3; i < tokens.size();) {
    const std::string& token = tokens[i];
    if (token == "}") {
      if (open.empty()) break;
      open.pop_back();
      i++;
    } else if (token == "subgraph") {
      EXPECT_TRUE(cluster_ids.insert(tokens[i + 1]).second) << tokens[i + 1] << " is written twice";
      EXPECT_TRUE(tokens[i + 1].starts_with("cluster_"));
      EXPECT_EQ(tokens[i + 3], "label");
      graph.clusters.push_back(tokens[i + 5].substr(1));
      open.push_back(graph.clusters.back());
      graph.deepest = std::max(graph.deepest, open.size());
      i += 7;  // subgraph id { label = "..." ;
    } else if (tokens[i + 1] == "->") {
      EXPECT_TRUE(open.empty()) << "an edge in a cluster pulls its ends into it";
      EXPECT_TRUE(graph.labels.contains(token)) << token;
      EXPECT_TRUE(graph.labels.contains(tokens[i + 2])) << tokens[i + 2];
      const std::pair<std::string, std::string> edge(token, tokens[i + 2]);
      i += 3;
      const auto attributes = attributes_from(i);
      const auto style = attributes.find("style");
      (style == attributes.end()   ? graph.solid
       : style->second == "dashed" ? graph.dashed
                                   : graph.dotted)
          .push_back(edge);
      i++;  // ;
    } else {
      const std::string id = token;
      i++;
      const auto attributes = attributes_from(i);
      EXPECT_EQ(tokens[i], ";");
      i++;
      if (id == "node" || id == "edge" || id == "graph") continue;
      EXPECT_TRUE(graph.labels.emplace(id, attributes.at("label").substr(1)).second)
          << id << " is written twice";
      graph.cluster_of[id] = open.empty() ? "" : open.back();
    }
  }
  EXPECT_TRUE(open.empty());
  EXPECT_EQ(i + 1, tokens.size());
  return graph;
}

TEST(Dot, RegionsAreBoxesAndCapturesDashed) {
  const Function function = trace(
      [](Tensor x, Tensor rate) {
        return while_loop([](Tensor y) { return y < 9.0f; }, [&](Tensor y) { return y * rate; }, x,
                          {.name = "grow"});
      },
      f32(), f32());
  const Graph graph = graph_of(to_dot(function));
  ASSERT_EQ(graph.clusters.size(), 3u);
  EXPECT_THAT(graph.clusters[0], ::testing::StartsWith("while {"));
  EXPECT_THAT(graph.clusters[0], ::testing::HasSubstr("name=\"grow\""));
  EXPECT_EQ(graph.clusters[1], "cond");
  EXPECT_EQ(graph.clusters[2], "body");
  EXPECT_EQ(graph.deepest, 2u);
  // The rate is passed to both regions, which have it as a parameter, and not to the node.
  ASSERT_EQ(graph.dashed.size(), 2u);
  for (const auto& [from, to] : graph.dashed) {
    EXPECT_EQ(graph.labels.at(from), "arg1\\nf32[]");
    EXPECT_EQ(graph.cluster_of.at(from), "");
    EXPECT_THAT(graph.cluster_of.at(to), ::testing::AnyOf("cond", "body"));
  }
  for (const auto& [from, to] : graph.solid)
    EXPECT_FALSE(graph.labels.at(from).starts_with("arg1") && graph.cluster_of.at(from).empty());
  // The node passes the carry to both; the predicate and the next carry are returned.
  ASSERT_EQ(graph.dotted.size(), 4u);
  for (const auto& [from, to] : graph.dotted) {
    const std::string &begin = graph.labels.at(from), &end = graph.labels.at(to);
    EXPECT_TRUE(begin.starts_with("while") ? end == "carry\\nf32[]" : begin == "return")
        << begin << end;
  }
}

TEST(Dot, OperandsThatCannotChangePlacesAreNumbered) {
  const std::string text = to_dot(trace([](Tensor x) { return (x - 1) * x; }, f32()));
  EXPECT_THAT(text, ::testing::HasSubstr("headlabel=0"));
  EXPECT_THAT(text, ::testing::HasSubstr("headlabel=1"));
  EXPECT_THAT(to_dot(trace([](Tensor x) { return x * x + x; }, f32())),
              ::testing::Not(::testing::HasSubstr("headlabel")));
}

TEST(Dot, CapturesOfAScanAreDashedAndItsXsAreNot) {
  const Function function = trace(
      [](Tensor xs, Tensor rate) {
        return scan([&](Tensor c, Tensor x) { return std::pair(c + x * rate, c); }, Tensor(0.0f),
                    xs)
            .first;
      },
      f32({3}), f32());
  const Graph graph = graph_of(to_dot(function));
  ASSERT_EQ(graph.dashed.size(), 1u);
  EXPECT_EQ(graph.labels.at(graph.dashed[0].first), "arg1\\nf32[]");
}

TEST(Dot, WhatWasHoistedOutOfALoopIsACapture) {
  const auto fori = [](Tensor x, Tensor rate) {
    return fori_loop(
        0, 5, [&](Tensor, Tensor y) { return y * sqrt(rate); }, x);
  };
  const auto scanned = [](Tensor x, Tensor rate) {
    const Tensor steps = arange(5, DType::kF32);
    return scan([&](Tensor c, Tensor i) { return std::pair(c * sqrt(rate) + i, c); }, x, steps)
        .first;
  };
  for (const Function& function : {trace(fori, f32(), f32()), trace(scanned, f32(), f32())}) {
    const Graph graph = graph_of(to_dot(passes::optimize(function)));
    ASSERT_EQ(graph.dashed.size(), 1u);
    EXPECT_THAT(graph.labels.at(graph.dashed[0].first), ::testing::StartsWith("sqrt"));
    EXPECT_EQ(graph.cluster_of.at(graph.dashed[0].first), "");
    // It is passed to its parameter, not to the node as well.
    for (const auto& [from, to] : graph.solid) EXPECT_NE(from, graph.dashed[0].first);
  }
}

TEST(Dot, EveryNodeStandsOnceWithItsType) {
  const Graph graph = graph_of(to_dot(chain_of_adds(5)));
  std::size_t adds = 0;
  for (const auto& [id, label] : graph.labels) adds += label.starts_with("add\\nf32[]");
  EXPECT_EQ(adds, 5u);
  EXPECT_EQ(graph.labels.size(), 7u);  // including x and the return
  EXPECT_EQ(graph.solid.size(), 11u);
}

TEST(Dot, LabelsAreEscaped) {
  const Tensor x = parameter(f32(), "a\"b\\c\nd\x01");
  const Graph graph = graph_of(to_dot(Function::make("f\"g", {x}, {x})));
  std::set<std::string> labels;
  for (const auto& [id, label] : graph.labels) labels.insert(label);
  EXPECT_EQ(labels, (std::set<std::string>{"a\"b\\c?d?\\nf32[]", "return"}));
}

TEST(Dot, NestingCostsNoStack) {
  on_small_stack([] {
    const Graph graph = graph_of(to_dot(nested_loops(control_flow::kForiLoop, 400, 2)));
    EXPECT_EQ(graph.deepest, 800u);  // the box of the node and that of its region
  });
}

TEST(Dot, OfALazyTensor) {
  const Tensor x = Tensor(1.0f) + Tensor(2.0f);
  EXPECT_EQ(graph_of(to_dot(x)).labels.size(), 4u);
}

}  // namespace
}  // namespace rondo
