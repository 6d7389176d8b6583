#include "ops/custom_call.h"

#include <map>
#include <memory>
#include <mutex>
#include <utility>

#include "base/escape.h"
#include "ir/attribute_text.h"
#include "ops/batch_rules.h"
#include "ops/derivative_rules.h"
#include "rondo/loops.h"
#include "rondo/ops/custom_call.h"

namespace rondo::ops {

namespace {

/// The functions by name. Never destroyed: programs may run while the process ends.
class CallRegistry {
 public:
  static CallRegistry& shared() {
    static auto* const registry = new CallRegistry;
    return *registry;
  }
  /// False if the name has been taken.
  bool add(std::string name, CallRule rule) {
    const std::lock_guard lock(mutex_);
    return rules_.try_emplace(std::move(name), std::move(rule)).second;
  }
  /// Null if there is none. A rule stays where it is.
  const CallRule* find(std::string_view name) const {
    const std::lock_guard lock(mutex_);
    const auto found = rules_.find(name);
    return found == rules_.end() ? nullptr : &found->second;
  }

 private:
  mutable std::mutex mutex_;
  std::map<std::string, CallRule, std::less<>> rules_;
};

const CallRule* rule_of(const Node& node) {
  return CallRegistry::shared().find(node.attrs<CalledFunction>().name);
}

InferredTypes infer_custom_call(const InferContext& context) {
  const auto& types = context.attrs<CalledFunction>().types;
  return {types.begin(), types.end()};
}

class CustomCallKernel final : public ir::Kernel {
 public:
  CustomCallKernel(const Node& node, const CallRule& rule) : node_(node), rule_(rule) {
    for (std::size_t i = 0; i < node.operands.size(); i++)
      operand_types_.push_back(node.operand_type(i));
  }
  std::size_t bytes() const noexcept override {
    return sizeof(*this) + operand_types_.capacity() * sizeof(TensorType);
  }
  void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
    const auto& called = node_.attrs<CalledFunction>();
    host.poll();
    rule_.run(Call({.name = called.name,
                    .config = called.config,
                    .operand_types = operand_types_,
                    .result_types = called.types,
                    .operands = operands.data(),
                    .results = results.data(),
                    .host = &host}));
  }

 private:
  const Node& node_;
  const CallRule& rule_;
  std::vector<TensorType> operand_types_;
};

std::unique_ptr<ir::Kernel> prepare_custom_call(const Node& node) {
  const CallRule* rule = rule_of(node);
  if (rule && rule->run) return std::make_unique<CustomCallKernel>(node, *rule);
  throw ExecutionError(
      fmt::format("custom_call: {} `{}`\n  at {}\n  Call rondo::register_call(\"{}\", {{.run = "
                  "...}}) before the program is compiled.",
                  rule ? "there is no `run` in the rule of" : "no C++ function is registered as",
                  node.attrs<CalledFunction>().name, node.location().str(),
                  node.attrs<CalledFunction>().name),
      node.location());
}

/// What a rule of the user has given, one for each result of the types that `type` gives.
template <class C, class TypeOf>
std::vector<Tensor> checked_results(const C& c, const char* rule, std::vector<Tensor> given,
                                    TypeOf type) {
  const auto& called = c.node.template attrs<CalledFunction>();
  if (given.size() != called.types.size()) {
    c.fail(fmt::format("the {} rule of `{}` gives {} arrays, of {} results\n  Return one for each.",
                       rule, called.name, given.size(), called.types.size()));
  }
  for (std::size_t i = 0; i < given.size(); i++) {
    const std::optional<TensorType> meant = type(called.types[i]);
    if (!meant) {
      given[i] = Tensor();
      continue;
    }
    given[i] = adopt_dtype(ir::checked(given[i], "custom_call", c.at()), meant->dtype, c.at());
    if (given[i].type() == *meant) continue;
    c.fail(
        fmt::format("the {} rule of `{}` gives {} for result {}, where {} is meant\n  Return "
                    "that type.",
                    rule, called.name, given[i].type().str(), i, meant->str()));
  }
  return given;
}

std::vector<Tensor> custom_call_jvp(const JvpCall& c) {
  const auto& called = c.node.attrs<CalledFunction>();
  const CallRule* rule = rule_of(c.node);
  if (!rule || !rule->jvp) {
    c.fail(
        fmt::format("`{}` has no derivative, and one is asked for here\n  Give the rule of "
                    "rondo::register_call a `jvp`, or pass the value through "
                    "rondo::stop_gradient or a rondo::custom_vjp.",
                    called.name));
  }
  std::vector<Tensor> tangents;
  for (std::size_t i = 0; i < c.operands.size(); i++) tangents.push_back(c.full(i));
  return checked_results(c, "jvp", rule->jvp({c.operands, c.results, tangents, called.config}),
                         [](const TensorType& type) {
                           return ir::has_tangent(type) ? std::optional(type) : std::nullopt;
                         });
}

BatchValues custom_call_batch(const BatchCall& c) {
  const auto& called = c.node.attrs<CalledFunction>();
  const CallRule* rule = rule_of(c.node);
  if (rule && rule->batch) {
    std::vector<Tensor> operands;
    for (std::size_t i = 0; i < c.operands.size(); i++) operands.push_back(c.x(i));
    const std::vector<bool> batched = c.batched();
    return ir::all_batched(checked_results(
        c, "batch", rule->batch({operands, batched, c.lanes(), called.config}),
        [&](const TensorType& type) { return std::optional(ir::with_lanes(type, c.lanes())); }));
  }
  detail::Leaves lanes;
  for (std::size_t i = 0; i < c.operands.size(); i++) {
    if (!c.batched(i)) continue;
    lanes.values.push_back(c.x(i));
    lanes.paths.push_back(fmt::format("xs[{}]", i));
  }
  const detail::RegionCallable one_lane = [&](std::span<const Tensor> given) {
    ir::Operands operands;
    std::size_t next = 0;
    for (std::size_t i = 0; i < c.operands.size(); i++)
      operands.push_back(c.batched(i) ? given[next++] : c.x(i));
    detail::Leaves out;
    out.values = ir::make_many(kCustomCall, std::move(operands), c.node.attributes, c.at());
    for (std::size_t i = 0; i < out.values.size(); i++)
      out.paths.push_back(fmt::format("y[{}]", i));
    return out;
  };
  return ir::all_batched(detail::scan(one_lane, {}, lanes, {.name = "custom_call"}, c.at()));
}

void describe_custom_call(ir::AttributeCodec& codec, CalledFunction& a) {
  codec.text({"name", "call_target_name", "callee", "custom_call_target"}, a.name);
  // What jax.ffi passes is a dictionary beside a text that is empty.
  codec.text({"config", "backend_config", "mhlo.backend_config", "backend_config"}, a.config,
             ir::AttributeCodec::Need::kOptional);
  codec.hint({"api_version"});
  // Of arrays in memory; those of ours are row by row.
  for (const char* layout : {"operand_layouts", "result_layouts", "output_operand_aliases"})
    codec.hint({layout});
  codec.hint({"has_side_effect", "", "", "custom_call_has_side_effect"});
  codec.derived("types", a.types, [&] {
    return std::vector<TensorType>(codec.results().begin(), codec.results().end());
  });
}

}  // namespace

const OpDef kCustomCall{
    .name = "custom_call",
    .types = {.infer = infer_custom_call},
    .kernel = {.prepare = prepare_custom_call},
    .derivative = {.jvp = custom_call_jvp},
    .batching = {.rule = custom_call_batch},
    .text = {.hlo = "custom-call",
             .stablehlo = "stablehlo.custom_call",
             .attributes = &ir::kAttributeText<CalledFunction, describe_custom_call>}};

}  // namespace rondo::ops

namespace rondo {

void Call::poll() const { static_cast<ir::Host*>(parts_.host)->poll(); }

std::size_t Call::checked_size(std::span<const TensorType> types, const char* what, std::size_t i,
                               DType dtype) const {
  if (i >= types.size()) {
    throw ExecutionError(fmt::format("custom_call: `{}` asks for {} {}, and there are {}",
                                     parts_.name, what, i, types.size()));
  }
  if (types[i].dtype != dtype) {
    throw ExecutionError(
        fmt::format("custom_call: `{}` asks for the elements of {} {} as {}; it is {}", parts_.name,
                    what, i, dtype_name(dtype), types[i].str()));
  }
  return static_cast<std::size_t>(types[i].elements());
}

void register_call(std::string name, CallRule rule, SourceLocation at) {
  if (name.empty()) ir::fail("register_call", "the name is empty\n  Give one.", at);
  if (!ops::CallRegistry::shared().add(name, std::move(rule))) {
    ir::fail("register_call",
             fmt::format("`{}` has been registered\n  Programs may have its function already: give "
                         "this one another name.",
                         name),
             at);
  }
}

std::vector<Tensor> custom_call(std::string_view name, const std::vector<Tensor>& operands,
                                const std::vector<TensorType>& types, std::string_view config,
                                SourceLocation at) {
  const auto fail = [&](const std::string& message) { ir::fail("custom_call", message, at); };
  std::vector<TensorType> operand_types, results = types;
  for (const Tensor& operand : operands)
    operand_types.push_back(ir::checked(operand, "custom_call", at).type());
  const CallRule* rule = ops::CallRegistry::shared().find(name);
  if (rule && rule->infer) {
    results = rule->infer(operand_types);
    if (!types.empty() && types != results) {
      std::string inferred;
      for (const TensorType& type : results) inferred += " " + type.str();
      fail(fmt::format("the results of `{}` are{}; other types are given\n  Leave them out.", name,
                       inferred));
    }
  }
  if (results.empty()) {
    fail(
        fmt::format("the results of `{}` are not known\n  Give their types: custom_call(\"{}\", "
                    "{{x}}, {{x.type()}}), or register it with a rule that infers them.",
                    name, name));
  }
  return ir::make_many(ops::kCustomCall, ir::Operands(operands.begin(), operands.end()),
                       ops::CalledFunction{std::string(name), std::string(config), results}, at);
}

}  // namespace rondo
