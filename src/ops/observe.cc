// Identities that report the values that pass through them. The text for other compilers has their
// operand instead.
#include "ops/observe.h"

#include "base/memory.h"
#include "ir/attribute_text.h"
#include "ir/region.h"
#include "ops/batch_rules.h"
#include "ops/derivative_rules.h"
#include "ops/support.h"
#include "rondo/ops/observe.h"
#include "rondo/ops/shape.h"

namespace rondo::ops {

namespace {

struct TapAttributes {
  std::string name;
  bool operator==(const TapAttributes&) const = default;
};
struct PrintAttributes {
  std::string format;
  bool operator==(const PrintAttributes&) const = default;
};

InferredTypes infer_observer(const InferContext& context) { return {context.type(0)}; }

std::vector<Tensor> expand_to_operand(const Node&, std::span<const Tensor> operands) {
  return {operands[0]};
}

/// Reports operand 0 to the host, and returns it.
template <void (*tell)(const ir::KernelRun&)>
std::unique_ptr<ir::Kernel> prepare_observer(const Node& node) {
  class ObserverKernel final : public ir::Kernel {
   public:
    std::size_t bytes() const noexcept override { return sizeof(*this); }
    explicit ObserverKernel(const Node& called) : node_(called) {}
    void run(ir::OperandPlaces operands, ir::ResultPlaces results, ir::Host& host) const override {
      tell({node_, operands, results, host});
      if (results[0] == operands[0]) return;
      ir::Poller poller(host);
      ir::copy_in_blocks(results[0], operands[0], node_.type().bytes(), poller);
    }
    bool forwards() const override { return true; }

   private:
    const Node& node_;
  };
  return std::make_unique<ObserverKernel>(node);
}

void tell_tap(const ir::KernelRun& run) {
  run.host.tap(run.attrs<TapAttributes>().name, run.node.type(), run.operands[0]);
}

void tell_print(const ir::KernelRun& run) {
  run.host.print(run.attrs<PrintAttributes>().format, run.node.type(), run.operands[0]);
}

InferredTypes infer_progress(const InferContext& context) {
  for (std::size_t i = 0; i < 2; i++) {
    const TensorType& type = context.type(i);
    if (type.rank() == 0 && is_integer(type.dtype)) continue;
    context.fail(fmt::format(
        "{} is {}; it must be an integer scalar\n  Give the number of the step and the number "
        "of steps: progress(i, n).",
        i == 0 ? "i" : "n", type.str()));
  }
  return {context.type(0)};
}

std::int64_t integer_at(const ir::KernelRun& run, std::size_t operand, std::int64_t i) {
  return for_dtype(run.node.operand_type(operand).dtype, [&]<class T>() -> std::int64_t {
    if constexpr (std::is_integral_v<T>)
      return static_cast<std::int64_t>(run.operand<T>(operand)[i]);
    else
      throw InternalError("progress of a number that is no integer");
  });
}

void tell_progress(const ir::KernelRun& run) {
  run.host.progress(integer_at(run, 0, 0), integer_at(run, 1, 0));
}

// Only values are observed; tangents and cotangents pass unobserved.
std::vector<Tensor> observer_jvp(const JvpCall& c) { return {c.dx(0)}; }
std::vector<Tensor> observer_transpose(const TransposeCall& c) { return {c.ct()}; }

/// A value that is the same in all lanes is reported once; else each active lane reports its value.
BatchValues observer_batch(const ir::BatchCall& c);

template <class Attributes>
constexpr OpDef observer(std::string_view name, ir::PrepareRule prepare) {
  return {.name = name,
          .arity = 1,
          .cost = ir::Cost::kMovement,
          .observer = true,
          .types = {.infer = infer_observer},
          .kernel = {.prepare = prepare},
          .expansion = {.rule = expand_to_operand},
          .derivative = {.linear = Linear::kJointly,
                         .jvp = observer_jvp,
                         .transpose = observer_transpose},
          .batching = {.rule = observer_batch},
          .text = {.attributes = &ir::kFieldText<Attributes>}};
}

enum class Tells : std::uint8_t { kProgress, kTap, kPrint };
std::span<const std::string_view> field_words(Tells) {
  static constexpr std::string_view kNames[] = {"progress", "tap", "print"};
  return kNames;
}

/// A batched observer. Operands: the value, with the lanes in front (the axes of several vmaps, the
/// outermost first); pred[lanes], those that report; for progress the number of steps.
struct TellLanesAttributes {
  Tells tells = Tells::kProgress;
  std::string text;  // the name of a tap, the format of a print
  std::int64_t lane_axes = 1;
  bool operator==(const TellLanesAttributes&) const = default;
};

Tensor active_lanes(const ir::BatchCall& c) {
  const Tensor& active = c.batching.active();
  return active.empty() ? full({DType::kPred, {c.lanes()}}, true) : active;
}

/// `[3]`, `[3, 1]`: the number of a lane along each axis.
std::string lane_text(std::int64_t lane, const Shape& lanes) {
  std::string text = "]";
  for (std::int64_t axis = lanes.rank() - 1; axis >= 0; axis--) {
    text.insert(0, fmt::format("{}{}", axis == 0 ? "[" : ", ", lane % lanes[axis]));
    lane /= lanes[axis];
  }
  return text;
}

void tell_lanes(const ir::KernelRun& run) {
  const auto& a = run.attrs<TellLanesAttributes>();
  const Shape& lanes = run.node.operand_type(1).shape;
  const TensorType& type = run.node.type();
  const TensorType row{type.dtype, Shape(type.shape.dims().subspan(lanes.size()))};
  const bool* tells = run.operand<bool>(1);
  for (std::int64_t lane = 0; lane < lanes.elements(); lane++) {
    if (!tells[lane]) continue;
    const std::string number = lane_text(lane, lanes);
    const std::byte* value = run.operands[0] + lane * row.bytes();
    switch (a.tells) {
      case Tells::kTap:
        run.host.tap(a.text + number, row, value);
        break;
      case Tells::kPrint:
        run.host.print(number + " " + a.text, row, value);
        break;
      case Tells::kProgress:
        run.host.progress_of_lane(number, integer_at(run, 0, lane), integer_at(run, 2, lane));
        break;
    }
  }
}

std::vector<Tensor> tell_lanes_transpose(const TransposeCall& c) {
  std::vector<Tensor> all(c.operands.size());
  all[0] = c.ct();
  return all;
}

BatchValues tell_lanes_batch(const ir::BatchCall& c);

/// The length of the field that `text` begins with, `{}` or `{:.3f}` with f, e or g; 0 if none.
std::size_t field_length(std::string_view text) {
  if (text.starts_with("{}")) return 2;
  if (!text.starts_with("{:.")) return 0;
  std::size_t end = 3;
  while (end < text.size() && end < 5 && text[end] >= '0' && text[end] <= '9') end++;
  const bool is_field = end > 3 && end + 1 < text.size() &&
                        std::string_view("feg").find(text[end]) != std::string_view::npos &&
                        text[end + 1] == '}';
  return is_field ? end + 2 : 0;
}

/// Throws TraceError unless the format has one field for the value and no other braces but {{ and
/// }}.
void check_format(std::string_view format, SourceLocation at) {
  const auto refuse = [&](const std::string& why) {
    fail("print",
         fmt::format("the format \"{}\" {}\n  Write one {{}} for the value, or {{:.3f}} with f, e "
                     "or g for its digits, and {{{{ or }}}} for a brace: print(x, \"x = {{}}\").",
                     format, why),
         at);
  };
  bool shows = false;
  for (std::size_t i = 0; i < format.size(); i++) {
    if (format[i] != '{' && format[i] != '}') continue;
    const char next = i + 1 < format.size() ? format[i + 1] : '\0';
    if (const std::size_t field = field_length(format.substr(i)); field > 0) {
      if (std::exchange(shows, true))
        refuse(fmt::format("has a second {{}} at column {}; there is one value", i + 1));
      i += field - 2;  // and one for the other brace, below
    } else if (format[i] == '{' && next != '{') {
      refuse(fmt::format("has a {{ at column {} that is not followed by }}", i + 1));
    } else if (format[i] == '}' && next != '}') {
      refuse(fmt::format("has a }} at column {} that closes nothing", i + 1));
    }
    i++;
  }
  if (!shows) refuse("has no {} for the value");
}

}  // namespace

const OpDef kTap = observer<TapAttributes>("tap", prepare_observer<tell_tap>);
const OpDef kPrint = observer<PrintAttributes>("print", prepare_observer<tell_print>);
const OpDef kProgress{.name = "progress",
                      .arity = 2,
                      .cost = ir::Cost::kMovement,
                      .observer = true,
                      .types = {.infer = infer_progress},
                      .kernel = {.prepare = prepare_observer<tell_progress>},
                      .expansion = {.rule = expand_to_operand},
                      .derivative = {.zero = true},
                      .batching = {.rule = observer_batch}};
const OpDef kTellLanes{.name = "tell_lanes",
                       .cost = ir::Cost::kMovement,
                       .observer = true,
                       .types = {.infer = infer_observer},
                       .kernel = {.prepare = prepare_observer<tell_lanes>},
                       .expansion = {.rule = expand_to_operand},
                       .derivative = {.linear = Linear::kFirst,
                                      .jvp = observer_jvp,
                                      .transpose = tell_lanes_transpose},
                       .batching = {.rule = tell_lanes_batch},
                       .text = {.attributes = &ir::kFieldText<TellLanesAttributes>}};

namespace {

BatchValues observer_batch(const ir::BatchCall& c) {
  TellLanesAttributes a;
  if (const auto* tap = c.node.attributes.try_as<TapAttributes>()) {
    a.tells = Tells::kTap;
    a.text = tap->name;
  } else if (const auto* print = c.node.attributes.try_as<PrintAttributes>()) {
    a.tells = Tells::kPrint;
    a.text = print->format;
  }
  ir::Operands operands{c.full(0), active_lanes(c)};
  if (a.tells == Tells::kProgress) operands.push_back(c.full(1));
  return ir::all_batched({make(kTellLanes, std::move(operands), a, c.at())});
}

BatchValues tell_lanes_batch(const ir::BatchCall& c) {
  TellLanesAttributes a = c.node.attrs<TellLanesAttributes>();
  a.lane_axes++;
  ir::Operands operands = c.all_full();
  operands[1] = Operand(operands[1], c.at()) &
                Operand(ir::broadcast_lanes(active_lanes(c), operands[1].shape(), c.at()), c.at());
  return ir::all_batched({make(kTellLanes, std::move(operands), a, c.at())});
}

}  // namespace

}  // namespace rondo::ops

namespace rondo {

namespace {

/// A user's function that requests reports gets them whether or not their result is used.
Tensor kept(Tensor observer) {
  ir::keep(observer);
  return observer;
}

}  // namespace

Tensor tap(const Operand& x, std::string_view name) {
  return kept(ops::make(ops::kTap, {x.any()}, ops::TapAttributes{std::string(name)}, x.at()));
}

Tensor print(const Operand& x, std::string_view format) {
  ops::check_format(format, x.at());
  return kept(ops::make(ops::kPrint, {x.any()}, ops::PrintAttributes{std::string(format)}, x.at()));
}

Tensor progress(const Operand& i, const Operand& n) {
  return kept(ops::make(ops::kProgress, {i.any(), n.any()}, {}, i.at()));
}

}  // namespace rondo
