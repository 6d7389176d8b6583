#include "rondo/tree_structure.h"

#include "absl/container/flat_hash_set.h"
#include "fmt/format.h"

namespace rondo::detail {

namespace {

/// The paths of leaves, and of nodes without entries, which are part of the structure too.
std::vector<std::string> structure_nodes(const TreeStructure& structure, std::string_view root) {
  std::vector<std::string> nodes = structure.leaf_paths(root);
  for (std::string& path : structure.empty_paths(root)) nodes.push_back(path + " (empty)");
  return nodes;
}

/// What is only in `from`.
std::string missing_nodes(const std::vector<std::string>& from,
                          const std::vector<std::string>& others) {
  const absl::flat_hash_set<std::string_view> known(others.begin(), others.end());
  std::string text;
  for (const std::string& node : from) {
    if (!known.contains(node)) text += (text.empty() ? "" : ", ") + node;
  }
  return text;
}

}  // namespace

std::string structure_difference(const TreeStructure& meant, const TreeStructure& is,
                                 std::string_view root) {
  if (meant == is) return "";
  const std::vector<std::string> before = structure_nodes(meant, root);
  const std::vector<std::string> after = structure_nodes(is, root);
  const std::string lost = missing_nodes(before, after), gained = missing_nodes(after, before);
  if (lost.empty() && gained.empty()) return "the C++ types of its nodes are others";
  if (lost.empty()) return "new: " + gained;
  return "lost: " + lost + (gained.empty() ? "" : "; new: " + gained);
}

void check_same_structure(std::string_view what, const TreeStructure& meant,
                          const TreeStructure& is, std::string_view root, SourceLocation at) {
  if (meant == is) return;
  throw TraceError(fmt::format("{} has {} leaves, {} are meant; {}\n  at {}\n  Give as many "
                               "entries, under the same keys.",
                               what, is.leaf_paths(root).size(), meant.leaf_paths(root).size(),
                               structure_difference(meant, is, root), at.str()),
                   at);
}

}  // namespace rondo::detail
