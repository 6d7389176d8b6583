#include "gradient_check/check_grads_text.h"

#include <algorithm>
#include <cmath>

#include "fmt/format.h"
#include "ir/function_data.h"
#include "ir/region_walk.h"

namespace rondo::gradient_check {

namespace {

/// Collects the rules that replace derivatives.
struct RuleCollector {
  std::vector<std::string> rules;

  void open(const Function&, const ir::Node*, std::size_t) {}
  void close(const Function&, const ir::Node*, std::size_t) {}
  void after(const ir::Node&) {}
  void node(const ir::Node& node) {
    if (!node.op->derivative.by_user) return;
    std::string rule = fmt::format("{} at {}", node.op->name, node.location().str());
    if (std::find(rules.begin(), rules.end(), rule) == rules.end())
      rules.push_back(std::move(rule));
  }
};

/// Whether the slopes on the two sides differ by more than those of a smooth function.
bool has_kink(const CheckFailure& failure) {
  const auto [below, above] = failure.sides;
  const double size = std::max(std::abs(below), std::abs(above));
  return std::abs(above - below) > 0.05 * size + 2 * failure.noise &&
         std::abs(above - below) > std::sqrt(failure.step) * std::max(size, std::abs(failure.have));
}

std::string rules_hint(const CheckFailure& failure) {
  if (failure.rules.empty()) {
    return "f brings no rule of its own. Check its parts one by one; if a single op is wrong at a "
           "smooth point, please report it.";
  }
  constexpr std::size_t kMost = 8;
  const std::span shown(failure.rules.data(), std::min(kMost, failure.rules.size()));
  return fmt::format("Look at what f puts in place of derivatives: {}{}.{}", fmt::join(shown, ", "),
                     failure.rules.size() > kMost ? ", ..." : "",
                     failure.against_tangent
                         ? " Forward mode is right here: the fault is in what goes backwards."
                         : "");
}

std::string hint(const CheckFailure& failure) {
  if (!std::isfinite(failure.want) && !failure.against_tangent) {
    return "f is not finite around the point. Check inside of its domain, or with a smaller .step.";
  }
  if (!std::isfinite(failure.have)) {
    return "The derivative is not finite where f is. where(p, a, b) does this: through the side "
           "that it does not take comes 0 * inf = nan. Guard that side's argument as well: "
           "where(p, log(where(p, x, 1)), b).";
  }
  if (has_kink(failure)) {
    return fmt::format(
        "The slope is {:.6g} on one side of the point and {:.6g} on the other: f has a kink or a "
        "jump there, or "
        "bends within the step. maximum, minimum, abs, clamp, sort and where have them at ties. "
        "Check at another point, or with another .step.",
        failure.sides[0] + 0.0, failure.sides[1] + 0.0);  // for -0
  }
  std::string text = rules_hint(failure);
  if (failure.coarse) {
    text +=
        "\n  In f32 and c64 differences have few digits: check in f64 or c128, or give a larger "
        ".tolerance.";
  }
  return text;
}

}  // namespace

std::vector<std::string> rules_in(const Function& function) {
  RuleCollector collector;
  ir::walk_nested(function, collector);
  for (const Function& callee : ir::called_functions(function)) ir::walk_nested(callee, collector);
  return std::move(collector.rules);
}

std::string check_text(const CheckFailure& failure) {
  const char* const have = failure.reverse ? "pullback" : "tangent";
  const char* const want = failure.against_tangent ? "tangent" : "central difference";
  const int digits = failure.coarse ? 9 : 17;
  std::string text = fmt::format("check_grads: {}: {} differs from the {}\n", failure.derivative,
                                 failure.leaf, want);
  const auto number = [](double x, int to_digits) {
    return std::isnan(x) ? "nan" : fmt::format("{:.{}g}", x + 0.0, to_digits);  // no -nan, no -0
  };
  const auto line = [&](const char* name, double x) {
    text += fmt::format("  {:<20}{}\n", name, number(x, digits));
  };
  line(have, failure.have);
  line(want, failure.want);
  const std::string difference = number(failure.have - failure.want, 3);
  if (failure.reverse) {
    text += fmt::format("  {:<20}{}\n", "difference", difference);
    line("along a direction", failure.back);
    text += fmt::format("  {:<20}{}, where a difference of {:.3g} is allowed\n", "it should be",
                        number(failure.there, digits), failure.allowed);
  } else {
    text += fmt::format("  {:<20}{}, where {:.3g} is allowed\n", "difference", difference,
                        failure.allowed);
    if (failure.numbers > 1) {
      text += fmt::format("  of the leaf's {} numbers {} {}\n", failure.numbers, failure.wrong,
                          failure.wrong == 1 ? "differs" : "differ, this one the most");
    }
  }
  if (!failure.shown_by.empty()) {
    text +=
        fmt::format("  seen with {} of {} alone\n", failure.reverse ? "the cotangent" : "a move",
                    fmt::join(failure.shown_by, ", or of "));
  }
  text += fmt::format("  order {}, {} {}", failure.order, failure.order == 1 ? "mode" : "modes",
                      failure.modes);
  if (!failure.against_tangent) text += fmt::format(", step {:.3g}", failure.step);
  return text +
         fmt::format(", seed {}\n  at {}\n  {}", failure.seed, failure.at.str(), hint(failure));
}

}  // namespace rondo::gradient_check
