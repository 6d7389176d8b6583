#include "ir/region.h"

#include <algorithm>
#include <utility>

#include "absl/container/flat_hash_set.h"
#include "base/stack.h"
#include "fmt/format.h"
#include "ir/after.h"
#include "ir/function_data.h"
#include "ir/lazy.h"

namespace rondo::ir {

namespace {

thread_local int trace_depth = 0;
thread_local RegionTracer* innermost = nullptr;  // whose lambda is running

/// The line of the op that uses a parameter, or of the region that returns it unchanged.
SourceLocation place_of_use(const Node* user, const RegionToken& used_in) {
  return user ? user->location() : used_in.at;
}

/// How a parameter of another region reached this one: ", through add at house.cc:12".
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

/// Nested regions are traced by nested calls, including the user's functions.
void check_depth(const std::string& what, SourceLocation at) {
  constexpr std::size_t kEnough = 128 << 10;
  if (stack_left() > kEnough) return;
  throw TraceError(
      fmt::format(
          "{} is nested in too many loops, branches and functions: this thread's "
          "stack is nearly used up\n  at {}\n  Nest fewer of them, or trace on a thread with "
          "a larger stack.",
          what, at.str()),
      at);
}

/// Whether a value belongs to the body of the region that started with `first_id`. Otherwise it is
/// captured.
bool is_inside(const Tensor& tensor, std::uint64_t first_id) {
  const Node* node = tensor.node();
  if (is_lazy(node)) return false;  // whether or not it was evaluated, whoever created it
  if (node->id >= first_id) return true;
  const Literal* value = constant_value(tensor);
  return value && value->elements() <= kCopiedConstantElements;
}

/// The result that is made to depend on observers that no result needs: a small one that the region
/// computes. A result that is forwarded unchanged is avoided, since passes rely on that.
std::size_t place_to_wait(std::span<const Tensor> results) {
  const auto cost = [](const Tensor& result) {
    const Node* node = result.node();
    return std::pair(is_parameter(node) || is_constant(node), result.type().bytes());
  };
  const auto least =
      std::min_element(results.begin(), results.end(),
                       [&](const Tensor& a, const Tensor& b) { return cost(a) < cost(b); });
  return static_cast<std::size_t>(least - results.begin());
}

}  // namespace

NodesById::NodesById(std::uint64_t first_id, std::uint64_t made, std::uint64_t end_id)
    : first_(first_id) {
  // Ids are shared by all threads: nodes that other threads created must not cost anything here.
  const std::uint64_t ids = end_id - first_id;
  if (ids <= kSparsest * made) dense_.resize(static_cast<std::size_t>(ids));
}

bool NodesById::insert_other(const Node* node) {
  if (!others_.insert(node).second) return false;
  others_in_order_.push_back(node);
  return true;
}

std::vector<const Node*> NodesById::take() {
  std::vector<const Node*>& nodes = others_in_order_;
  const auto by_id = [](const Node* a, const Node* b) { return a->id < b->id; };
  std::sort(nodes.begin(), nodes.end(), by_id);
  if (dense_.empty()) return std::move(nodes);
  // The parameters come first, so removing them by erase would move all the others.
  const auto is_kept = [](const Node* node) { return node != nullptr; };
  dense_.erase(dense_.begin(), std::find_if(dense_.begin(), dense_.end(), is_kept));
  std::erase(dense_, nullptr);
  if (nodes.empty()) return std::move(dense_);
  std::vector<const Node*> all;
  all.reserve(nodes.size() + dense_.size());
  std::merge(nodes.begin(), nodes.end(), dense_.begin(), dense_.end(), std::back_inserter(all),
             by_id);
  return all;
}

RegionTracer::RegionTracer(std::string name, std::string what, SourceLocation at)
    : name_(std::move(name)), token_(std::make_shared<RegionToken>()), made_before_(nodes_made()) {
  check_depth(what, at);
  building_.emplace();
  token_->what = std::move(what);
  token_->at = at;
  token_->first_id = next_id();
  trace_depth++;
  outer_ = std::exchange(innermost, this);
}

RegionTracer::~RegionTracer() { seal(); }

void RegionTracer::seal() noexcept {
  note_end();
  if (std::exchange(sealed_, true)) return;
  token_->open.store(false, std::memory_order_release);
  trace_depth--;
  innermost = outer_;
}

void RegionTracer::note_end() noexcept {
  if (end_id_ != 0) return;
  end_id_ = next_id();
  made_ = nodes_made() - made_before_;
}

std::string in_brackets(SourceLocation at) {
  return at.line == 0 ? "" : fmt::format(" ({})", at.str());
}

bool tracing() noexcept { return trace_depth > 0; }

void keep(const Tensor& tensor) {
  if (innermost) innermost->kept_.push_back(tensor);
}

Tensor RegionTracer::param(TensorType type, std::string name) {
  // Equal shapes compare faster if they share one object.
  if (!params_.empty() && params_.back().shape() == type.shape) type.shape = params_.back().shape();
  params_.push_back(make_parameter(std::move(type), std::move(name),
                                   static_cast<std::int64_t>(params_.size()), token_, token_->at));
  return params_.back();
}

OpenRegion RegionTracer::finish(std::vector<Tensor> results,
                                std::vector<std::string> result_names) {
  note_end();
  OpenRegion region{std::move(name_), params_, std::move(results), std::move(result_names), {}, {},
                    !kept_.empty()};
  NodesById body(token_->first_id, made_, end_id_);
  absl::flat_hash_set<ValueKey> captured;
  const std::uint64_t first_id = token_->first_id;
  // Not inlined, so that `visit` is.
  const auto visit_other = [&](const Tensor& tensor, const Node* user) __attribute__((noinline)) {
    const Node* node = tensor.node();
    if (is_parameter(node)) {
      const RegionToken& home = *node->attrs<ParameterAttributes>().region;
      if (&home == token_.get()) return;
      if (!home.open.load(std::memory_order_acquire)) escaped(node, *token_, user);
      if (node->id >= first_id) mixed(node, *token_, user);
    } else if (is_inside(tensor, first_id)) {
      body.insert(node);
      return;
    }
    if (captured.insert(tensor).second) region.captures.push_back(tensor);
  };
  // Usually they are the first nodes that were created; visit_other handles the others.
  const auto is_own_parameter = [first_id, own = std::span(params_)](const Node* node) {
    const std::uint64_t at = node->id - first_id;  // wraps for older nodes
    return at < own.size() && own[static_cast<std::size_t>(at)].node() == node;
  };
  const auto visit = [=, &body, &visit_other](const Tensor& tensor, const Node* user) {
    const Node* node = tensor.node();
    if (node->traced && node->id >= first_id && !is_parameter(node))
      body.insert(node);
    else if (!is_own_parameter(node))
      visit_other(tensor, user);
  };
  const auto walk_back = [&] {
    body.walk_back([&visit](const Node* node) {
      for (const Tensor& operand : node->operands) visit(operand, node);
    });
  };
  for (const Tensor& result : region.results)
    visit(checked(result, token_->what.c_str(), token_->at), nullptr);
  walk_back();
  std::vector<Tensor> unused = std::exchange(kept_, {});
  std::erase_if(unused, [&](const Tensor& kept) { return body.contains(kept.node()); });
  if (!unused.empty() && !region.results.empty()) {
    Tensor& result = region.results[place_to_wait(region.results)];
    result = after(result, unused);
    visit(result, nullptr);
    walk_back();
  }
  building_.reset();
  region.body = body.take();
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
  Function::Data data{std::move(region.name), std::move(region.params), std::move(region.body),
                      std::move(region.results), std::move(region.result_names)};
  if (captures.empty()) return FunctionAccess::make(std::move(data));
  auto token = std::make_shared<RegionToken>();
  token->what = data.name;
  token->open = false;
  Replay replay;
  for (const Tensor& capture : captures) {
    const auto* known = capture.node()->attributes.try_as<ParameterAttributes>();
    std::string name = known ? known->name : std::string(op_name(capture.node()));
    data.params.push_back(make_parameter(capture.type(), std::move(name),
                                         static_cast<std::int64_t>(data.params.size()), token,
                                         capture.node()->location()));
    replay.bind(capture, data.params.back());
  }
  return close(std::move(data), std::move(replay));
}

Function close_over_values(OpenRegion region, SourceLocation at, const std::string& user) {
  if (region.captures.empty()) return close_region(std::move(region), {});
  const std::vector<Literal> values = evaluate(region.captures, at, user);
  Replay replay;
  std::vector<const Node*> body;
  std::vector<Tensor> constants;
  for (std::size_t i = 0; i < values.size(); i++) {
    const Tensor& capture = region.captures[i];
    constants.push_back(is_constant(capture.node())
                            ? capture
                            : make_constant(values[i], capture.node()->location()));
    replay.bind(capture, constants.back());
    body.push_back(constants.back().node());
  }
  body.insert(body.end(), region.body.begin(), region.body.end());
  return close({std::move(region.name), std::move(region.params), std::move(body),
                std::move(region.results), std::move(region.result_names)},
               std::move(replay));
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
  for (const Tensor& capture : region.captures) {
    const Node* node = capture.node();
    if (!node->traced) continue;
    const std::string which =
        is_parameter(node) ? fmt::format(", '{}'", node->attrs<ParameterAttributes>().name) : "";
    throw TraceError(
        fmt::format("{} uses a tensor {} from outside{}{}\n  at {}\n  It may use its arguments "
                    "and constants only: "
                    "combine the other values before or after.",
                    what, capture.type().str(), which, in_brackets(node->location()), at.str()),
        at);
  }
  return close_over_values(std::move(region), at, what);
}

}  // namespace rondo::ir
