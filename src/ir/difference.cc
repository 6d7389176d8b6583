#include "ir/difference.h"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <iterator>
#include <utility>
#include <vector>

#include "absl/container/flat_hash_set.h"
#include "fmt/format.h"
#include "ir/attribute_text.h"
#include "ir/canonical_order.h"
#include "ir/print.h"
#include "ir/structure.h"

namespace rondo::ir {

namespace {

std::string described(const Node& node) {
  std::string text(node.op->name);
  for (std::size_t i = 0; i < node.types.size(); i++) {
    text += i == 0 ? " " : ", ";
    append_type(text, node.types[i]);
  }
  if (is_constant(&node))
    text += fmt::format(" {{value={}}}", node.attrs<ConstantAttributes>().value.str());
  append_own_attributes(text, node);
  return text;
}

/// The index of the first element that differs, for arrays that are too long to be shown whole.
std::string first_other_element(const Literal& before, const Literal& now) {
  if (before.type() != now.type() || now.shape().empty()) return {};
  const std::byte* const end = now.bytes() + now.type().bytes();
  const std::byte* const place = std::mismatch(now.bytes(), end, before.bytes()).first;
  if (place == end) return {};
  return fmt::format(" (they differ from element {} on)",
                     (place - now.bytes()) * now.elements() / now.type().bytes());
}

/// Finds what differs between the nodes of two functions, without their regions.
class Comparison {
 public:
  Comparison(const Function& before, const Function& now) : before_(before), now_(now) {}

  std::optional<Difference> find(std::vector<std::pair<Function, Function>>& regions) const {
    const std::size_t both = std::min(before_.nodes.size(), now_.nodes.size());
    for (std::size_t i = 0; i < both; i++) {
      const Node& was = *before_.nodes[i];
      const Node& is = *now_.nodes[i];
      if (auto found = in_nodes(was, is)) return found;
      for (std::size_t r = 0; r < is.regions.size(); r++)
        regions.emplace_back(was.regions[r], is.regions[r]);
    }
    if (before_.nodes.size() == now_.nodes.size()) return std::nullopt;
    const bool more = now_.nodes.size() > both;
    const Node& other = more ? *now_.nodes[both] : *before_.nodes[both];
    return Difference{fmt::format("{} {}", described(other), more ? "is new" : "is gone"),
                      other.location()};
  }

 private:
  std::optional<Difference> in_nodes(const Node& was, const Node& is) const {
    if (is_constant(&was) && is_constant(&is)) {
      const Literal& old = was.attrs<ConstantAttributes>().value;
      const Literal& value = is.attrs<ConstantAttributes>().value;
      if (old.identical(value)) return std::nullopt;
      const Node* const user = user_of(is);
      return Difference{
          fmt::format("{} the constant {}, and {} {}{}",
                      user ? std::string(user->op->name) + " takes" : "a result is", value.str(),
                      user ? "took" : "was", old.str(), first_other_element(old, value)),
          user ? user->location() : is.location()};
    }
    const bool same = was.op == is.op && std::ranges::equal(was.types, is.types) &&
                      was.attributes == is.attributes && was.regions.size() == is.regions.size();
    if (!same)
      return Difference{fmt::format("{} is in the place of {}", described(is), described(was)),
                        is.location()};
    const auto wired_alike = [this](const Tensor& a, const Tensor& b) {
      return before_.numbers.at(a.node()) == now_.numbers.at(b.node()) && a.result() == b.result();
    };
    if (!std::ranges::equal(was.operands, is.operands, wired_alike))
      return Difference{fmt::format("{} takes other values than it took", described(is)),
                        is.location()};
    return std::nullopt;
  }

  const Node* user_of(const Node& constant) const {
    for (const Node* node : now_.nodes) {
      for (const Tensor& operand : node->operands) {
        if (operand.node() == &constant) return node;
      }
    }
    return nullptr;
  }

  CanonicalOrder before_, now_;
};

}  // namespace

std::optional<Difference> difference(const Function& before, const Function& now) {
  if (structure_of(before) == structure_of(now)) return std::nullopt;
  std::vector<std::pair<Function, Function>> open = {{before, now}};
  absl::flat_hash_set<std::pair<const void*, const void*>> seen;
  while (!open.empty()) {
    const auto [was, is] = std::move(open.back());
    open.pop_back();
    if (was.same_as(is) || !seen.emplace(was.identity(), is.identity()).second) continue;
    std::vector<std::pair<Function, Function>> regions;
    if (auto found = Comparison(was, is).find(regions)) return found;
    std::move(regions.rbegin(), regions.rend(), std::back_inserter(open));
  }
  return Difference{
      "its results, or the order of its observers and loops, are others",
      now.outputs().empty() ? SourceLocation{} : now.outputs().front().node()->location()};
}

}  // namespace rondo::ir
