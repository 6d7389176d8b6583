#include "ir/region.h"

#include <algorithm>
#include <iterator>
#include <utility>

#include "absl/container/flat_hash_map.h"
#include "absl/container/flat_hash_set.h"
#include "base/stack.h"
#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/lazy.h"

namespace rondo::ir {

namespace {

thread_local int trace_depth = 0;

/// The line of the op that uses a parameter, or of the region that returns it as it is.
SourceLocation place_of_use(const Node* user, const RegionToken& used_in) {
  return user ? user->location() : used_in.at;
}

/// How a region comes by a parameter of another: ", through add at house.cc:12".
std::string way_text(const Node* user) {
  return user ? fmt::format(", through {} at {}", user->op->name, user->location().str())
              : ", and returns it as it is";
}

[[noreturn]] void escaped(const Node* parameter, const RegionToken& used_in, const Node* user) {
  const auto& attributes = parameter->attrs<ParameterAttributes>();
  const RegionToken& home = *attributes.region;
  throw TraceError(
      fmt::format(
          "a tensor escaped: {}{} depends on '{}' of {}{}, which is finished{}\n  Return it "
          "from there as a result (a carry, a y or an output) and use what the call "
          "returns.",
          used_in.what, in_brackets(used_in.at), attributes.name, home.what, in_brackets(home.at),
          way_text(user)),
      place_of_use(user, used_in));
}

[[noreturn]] void mixed(const Node* parameter, const RegionToken& used_in, const Node* user) {
  const auto& attributes = parameter->attrs<ParameterAttributes>();
  const RegionToken& home = *attributes.region;
  throw TraceError(
      fmt::format("mixed traces: {}{} uses '{}' of {}{}, which is traced at the same time "
                  "elsewhere{}\n  Pass the tensor in as an argument.",
                  used_in.what, in_brackets(used_in.at), attributes.name, home.what,
                  in_brackets(home.at), way_text(user)),
      place_of_use(user, used_in));
}

/// A region inside a region is traced by functions that call one another, the user's among them.
void check_depth(const std::string& what, SourceLocation at) {
  constexpr std::size_t kEnough = 128 << 10;
  if (stack_left() > kEnough) return;
  throw TraceError(
      fmt::format(
          "{} stands in too many loops, branches and functions around it: this thread's "
          "stack is nearly used up\n  at {}\n  Nest fewer of them, or trace on a thread with "
          "a larger stack.",
          what, at.str()),
      at);
}

bool is_copied_constant(const Tensor& tensor) {
  const Literal* value = known_value(tensor);
  return value && value->elements() <= kCopiedConstantElements;
}

}  // namespace

RegionTracer::RegionTracer(std::string name, std::string what, SourceLocation at)
    : name_(std::move(name)), token_(std::make_shared<RegionToken>()) {
  check_depth(what, at);
  token_->what = std::move(what);
  token_->at = at;
  token_->first_id = next_id();
  trace_depth++;
}

RegionTracer::~RegionTracer() { seal(); }

void RegionTracer::seal() noexcept {
  if (std::exchange(sealed_, true)) return;
  token_->open.store(false, std::memory_order_release);
  trace_depth--;
}

std::string in_brackets(SourceLocation at) {
  return at.line == 0 ? "" : fmt::format(" ({})", at.str());
}

bool tracing() noexcept { return trace_depth > 0; }

Tensor RegionTracer::param(TensorType type, std::string name) {
  params_.push_back(make_parameter(std::move(type), std::move(name),
                                   static_cast<std::int64_t>(params_.size()), token_, token_->at));
  return params_.back();
}

OpenRegion RegionTracer::finish(std::vector<Tensor> results,
                                std::vector<std::string> result_names) {
  OpenRegion region{std::move(name_), params_, std::move(results), std::move(result_names), {}, {}};
  // The body: nodes since the region began stand by their ids, so that it comes out in order
  // without a look at most of memory; constants that are older are few.
  std::vector<const Node*> made(static_cast<std::size_t>(next_id() - token_->first_id));
  absl::flat_hash_set<const Node*> older;
  absl::flat_hash_set<std::pair<const Node*, std::uint32_t>> captured;
  std::vector<const Node*> stack;
  // What is looked at: the value itself if it is a leaf of this region, else its node, for the
  // walk.
  auto visit = [&](const Tensor& tensor, const Node* user) {
    const Node* node = tensor.node();
    if (is_parameter(node)) {
      const RegionToken& home = *node->attrs<ParameterAttributes>().region;
      if (&home == token_.get()) return;
      if (!home.open.load(std::memory_order_acquire)) escaped(node, *token_, user);
      if (node->id >= token_->first_id) mixed(node, *token_, user);
    } else if (is_constant(node) ? node->id >= token_->first_id || is_copied_constant(tensor)
                                 : node->id >= token_->first_id &&
                                       !node->values.load(std::memory_order_acquire)) {
      bool is_new = false;
      if (node->id >= token_->first_id) {
        const Node*& place = made[static_cast<std::size_t>(node->id - token_->first_id)];
        is_new = !place;
        place = node;
      } else {
        is_new = older.insert(node).second;
      }
      if (is_new) {
        node->frozen.store(true, std::memory_order_relaxed);
        stack.push_back(node);
      }
      return;
    }
    if (captured.emplace(node, tensor.result()).second) region.captures.push_back(tensor);
  };
  {
    std::lock_guard lock(lazy_mutex());
    for (const Tensor& result : region.results)
      visit(checked(result, token_->what.c_str(), token_->at), nullptr);
    while (!stack.empty()) {
      const Node* node = stack.back();
      stack.pop_back();
      for (const Tensor& operand : node->operands) visit(operand, node);
    }
  }
  region.body.assign(older.begin(), older.end());
  std::sort(region.body.begin(), region.body.end(),
            [](const Node* a, const Node* b) { return a->id < b->id; });
  std::copy_if(made.begin(), made.end(), std::back_inserter(region.body),
               [](const Node* node) { return node != nullptr; });
  return region;
}

std::vector<Tensor> union_captures(std::span<const OpenRegion> regions) {
  std::vector<Tensor> all;
  for (const OpenRegion& region : regions)
    all.insert(all.end(), region.captures.begin(), region.captures.end());
  auto key = [](const Tensor& t) { return std::pair(t.node()->id, t.result()); };
  std::sort(all.begin(), all.end(),
            [&](const Tensor& a, const Tensor& b) { return key(a) < key(b); });
  all.erase(std::unique(all.begin(), all.end(),
                        [](const Tensor& a, const Tensor& b) { return a.same_as(b); }),
            all.end());
  return all;
}

Function close_region(OpenRegion region, std::span<const Tensor> captures) {
  Function::Data data{
      std::move(region.name), std::move(region.params), {}, {}, std::move(region.result_names)};
  if (captures.empty()) {
    data.body = std::move(region.body);
    data.results = std::move(region.results);
    return FunctionAccess::make(std::move(data), true);  // by finish()
  }
  auto token = std::make_shared<RegionToken>();
  token->what = data.name;
  token->open = false;
  Replay replay;
  for (const Tensor& capture : captures) {
    const auto* known = capture.node()->attributes.try_as<ParameterAttributes>();
    std::string name = known ? known->name : std::string(capture.node()->op->name);
    data.params.push_back(make_parameter(capture.type(), std::move(name),
                                         static_cast<std::int64_t>(data.params.size()), token,
                                         capture.node()->location()));
    replay.bind(capture, data.params.back());
  }
  for (const Node* node : region.body) {
    replay.copy(node);
    data.body.push_back(replay(Tensor::of(node)).node());
  }
  for (const Tensor& result : region.results) data.results.push_back(replay(result));
  return FunctionAccess::make(std::move(data));
}

Function trace_closed(std::string name, std::string what, std::span<const TensorType> types,
                      const std::function<std::vector<Tensor>(std::span<const Tensor>)>& fn,
                      SourceLocation at) {
  EagerPause pause;
  RegionTracer tracer(std::move(name), what, at);
  std::vector<Tensor> params;
  for (std::size_t i = 0; i < types.size(); i++)
    params.push_back(tracer.param(types[i], fmt::format("p{}", i)));
  OpenRegion region = tracer.finish(fn(params));
  // Constants of any size may come along: they are copied in, though large ones count as captured.
  for (const Tensor& capture : region.captures) {
    if (!known_value(capture)) {
      const Node* node = capture.node();
      const std::string which =
          is_parameter(node) ? fmt::format(", '{}'", node->attrs<ParameterAttributes>().name) : "";
      throw TraceError(
          fmt::format("{} uses a tensor {} from outside{}{}\n  at {}\n  It may use its arguments "
                      "and constants only: "
                      "combine the other values before or after.",
                      what, capture.type().str(), which, in_brackets(node->location()), at.str()),
          at);
    }
  }
  std::vector<Tensor> results = std::move(region.results);
  return Function::make(region.name, region.params, std::move(results));
}

}  // namespace rondo::ir
