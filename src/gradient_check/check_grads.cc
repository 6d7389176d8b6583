#include "gradient_check/check_grads.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <optional>
#include <utility>

#include "fmt/format.h"
#include "gradient_check/check_grads_text.h"
#include "gradient_check/probe.h"
#include "ir/derivative.h"
#include "ir/lazy.h"
#include "rondo/gradients.h"

namespace rondo::gradient_check {

namespace {

using detail::Leaves;
using detail::RegionCallable;

/// f, or one of its derivatives, on f's arguments.
struct Subject {
  RegionCallable call;
  std::string name;   // "the tangent of f"
  std::string modes;  // `"rev" over "fwd"`
  int order = 0;
};

/// What a pullback is compared with, along one direction.
struct Reference {
  Pairing products;                  // of the cotangents with the tangents, or differences
  std::array<double, 2> sides = {};  // the same with the slopes on either side
};

/// Results of a function at the point, a direction from it, and cotangents of the results.
struct Directions {
  Computed results;
  LeafNumbers arguments;
  LeafNumbers cotangents;
};

/// A NaN counts as the largest difference of all.
double rank_of(double difference) {
  return std::isnan(difference) ? std::numeric_limits<double>::infinity() : difference;
}

/// The leaves that have numbers, if there are several of them.
std::vector<std::size_t> several(const LeafNumbers& all) {
  std::vector<std::size_t> leaves;
  for (std::size_t i = 0; i < all.size(); i++) {
    if (!all[i].empty()) leaves.push_back(i);
  }
  if (leaves.size() == 1) leaves.clear();
  return leaves;
}

std::string mode_over(const char* mode, const std::string& modes) {
  return modes.empty() ? fmt::format("\"{}\"", mode) : fmt::format("\"{}\" over {}", mode, modes);
}

class GradientCheck {
 public:
  GradientCheck(RegionCallable f, const Leaves& arguments, const DerivativeComparison& comparison,
                SourceLocation at)
      : f_{std::move(f), "f", ""},
        probe_(arguments, at),
        comparison_(comparison),
        random_(comparison.seed) {
    require_numbers("argument", probe_.point(),
                    "Pass floats: 2.0, not 2; rondo::convert(x, DType::kF64).");
    require_numbers("result", probe_.values(f_.call), "Return what is computed from floats.");
    choose_tolerances();
  }

  /// "" or the error in f's derivatives.
  std::string failure() { return failure(f_); }

 private:
  void require_numbers(const char* kind, const Computed& leaves, const std::string& remedy) {
    const auto refuse = [&](const std::string& what, const std::string& advice) {
      const SourceLocation at = probe_.place();
      throw TraceError(fmt::format("check_grads: {}\n  at {}\n  {}", what, at.str(), advice), at);
    };
    bool any = false;
    std::string types;
    for (std::size_t i = 0; i < leaves.size(); i++) {
      const TensorType& type = leaves.type(i);
      if (is_floating(type.dtype) && byte_width(type.dtype) <= 2) {
        refuse(fmt::format("{} is {}, which has too few digits for differences", leaves.paths[i],
                           type.str()),
               "Convert to f64 for a sharp check, or to f32: rondo::convert(x, DType::kF64).");
      }
      any = any || ir::has_tangent(type);
      coarse_ = coarse_ || type.dtype == DType::kF32 || type.dtype == DType::kC64;
      types += fmt::format("\n  {}: {}", leaves.paths[i], type.str());
    }
    if (!any) {
      refuse(fmt::format("there is nothing to differentiate: no {} is a float or complex tensor{}",
                         kind, types),
             remedy);
    }
  }

  void choose_tolerances() {
    const double unit = coarse_ ? static_cast<double>(std::numeric_limits<float>::epsilon())
                                : std::numeric_limits<double>::epsilon();
    // Longer steps would lose fewer digits, as unit / step, but meet more kinks.
    const double best = std::cbrt(unit);
    if (comparison_.step == 0) comparison_.step = best;
    if (comparison_.rtol == 0) comparison_.rtol = coarse_ ? 2e-3 : 1e-6;
    // For fifth derivatives if the first is zero.
    if (comparison_.atol == 0) comparison_.atol = 10 * std::pow(best, 4);
    // Each result has an error of a few units.
    noise_ = 16 * unit / comparison_.step;
  }

  std::string failure(const Subject& f) {
    Directions along{probe_.values(f.call), {}, {}};
    for (const Literal& literal : probe_.point().values)
      along.arguments.push_back(random_direction(literal, random_));
    for (const Literal& literal : along.results.values)
      along.cotangents.push_back(random_numbers(literal.type(), random_));

    const Subject tangent{probe_.tangent_of(f.call, along.arguments), "the tangent of " + f.name,
                          mode_over("fwd", f.modes), f.order + 1};
    const Subject pullback{probe_.pullback_of(f.call, along.results, along.cotangents),
                           "the pullback of " + f.name, mode_over("rev", f.modes), f.order + 1};
    if (comparison_.forward) {
      if (auto wrong = wrong_tangent(f, tangent, along)) return text(*wrong, tangent);
    }
    if (comparison_.reverse) {
      if (auto wrong = wrong_pullback(f, pullback, along)) return text(*wrong, pullback);
    }
    if (tangent.order == comparison_.order) return "";
    if (comparison_.forward) {
      if (std::string wrong = failure(tangent); !wrong.empty()) return wrong;
    }
    return comparison_.reverse ? failure(pullback) : "";
  }

  std::string text(CheckFailure& failure, const Subject& derivative) const {
    failure.derivative = derivative.name;
    failure.modes = derivative.modes;
    failure.order = derivative.order;
    failure.step = comparison_.step;
    failure.seed = comparison_.seed;
    failure.coarse = coarse_;
    failure.at = probe_.place();
    failure.rules = rules_in(probe_.traced(f_.call));
    return check_text(failure);
  }

  LeafNumbers tangents(const Subject& f, const LeafNumbers& direction) const {
    return probe_.numbers(probe_.tangent_of(f.call, direction));
  }
  Differences differences(const Subject& f, const LeafNumbers& direction) const {
    return probe_.differences(f.call, direction, comparison_.step);
  }

  /// The rounding error of a difference of these results.
  double allowed_of_difference(const Numbers& results) const {
    return comparison_.atol + noise_ * largest(results);
  }

  /// The worst number of the tangent that does not match its difference.
  std::optional<CheckFailure> wrong_tangent(const Subject& f, const Subject& tangent,
                                            const Directions& along) const {
    std::optional<CheckFailure> worst =
        worst_tangent(probe_.numbers(tangent.call), differences(f, along.arguments), along.results);
    if (!worst) return worst;
    for (const std::size_t i : several(along.arguments)) {
      const LeafNumbers part = only(along.arguments, i);
      if (worst_tangent(tangents(f, part), differences(f, part), along.results))
        worst->shown_by.push_back(probe_.point().paths[i]);
    }
    return worst;
  }

  std::optional<CheckFailure> worst_tangent(const LeafNumbers& tangents, const Differences& around,
                                            const Computed& results) const {
    std::optional<CheckFailure> worst;
    double worst_excess = 0;
    const LeafNumbers slopes = around.slopes();
    for (std::size_t i = 0; i < tangents.size(); i++) {
      const Numbers &have = tangents[i], &want = slopes[i], &middle = results.numbers[i];
      const double allowed =
          allowed_of_difference(middle) + comparison_.rtol * std::max(largest(have), largest(want));
      std::size_t wrong = 0, worst_number = have.size();
      for (std::size_t k = 0; k < have.size(); k++) {
        const double excess = rank_of(std::abs(have[k] - want[k])) / allowed;
        if (excess <= 1) continue;
        wrong++;
        if (excess <= worst_excess) continue;
        worst_excess = excess;
        worst_number = k;
      }
      if (worst_number == have.size()) continue;
      const std::size_t k = worst_number;
      worst.emplace();
      worst->leaf = results.paths[i] + element_text(results.type(i), k);
      worst->have = have[k];
      worst->want = want[k];
      worst->allowed = allowed;
      worst->sides = {(middle[k] - around.low.numbers[i][k]) / around.step,
                      (around.high.numbers[i][k] - middle[k]) / around.step};
      worst->noise = noise_ * largest(middle);
      worst->wrong = wrong;
      worst->numbers = have.size();
    }
    return worst;
  }

  Reference reference(const Subject& f, const LeafNumbers& direction, const LeafNumbers& cotangents,
                      const Computed& results) const {
    Reference all;
    const auto paired = [&](const LeafNumbers& numbers) {
      Pairing pairing;
      for (std::size_t i = 0; i < numbers.size(); i++)
        pairing.add(results.type(i), cotangents[i], numbers[i]);
      return pairing;
    };
    if (comparison_.forward) {
      all.products = paired(tangents(f, direction));
      all.sides = {all.products.sum, all.products.sum};
    } else {
      const Differences around = differences(f, direction);
      const double middle = paired(results.numbers).sum;
      all.products = paired(around.slopes());
      all.sides = {(middle - paired(around.low.numbers).sum) / around.step,
                   (paired(around.high.numbers).sum - middle) / around.step};
    }
    return all;
  }

  Pairing pulled_along(const LeafNumbers& pulled, const LeafNumbers& direction) const {
    Pairing all;
    for (std::size_t i = 0; i < pulled.size(); i++)
      all.add(probe_.point().type(i), pulled[i], direction[i]);
    return all;
  }

  double allowed_of_pairing(const Pairing& a, const Pairing& b, const LeafNumbers& cotangents,
                            const Computed& results) const {
    const double allowed = comparison_.atol + comparison_.rtol * std::max(a.size(), b.size());
    return comparison_.forward ? allowed : allowed + allowed_of_differences(cotangents, results);
  }

  /// The allowed error of the differences of all results together.
  double allowed_of_differences(const LeafNumbers& cotangents, const Computed& results) const {
    double squares = 0;
    for (std::size_t i = 0; i < cotangents.size(); i++) {
      for (const double cotangent : cotangents[i])
        squares += std::pow(cotangent * allowed_of_difference(results.numbers[i]), 2);
    }
    return std::sqrt(squares);
  }

  std::optional<CheckFailure> wrong_pullback(const Subject& f, const Subject& pullback,
                                             const Directions& along) const {
    const LeafNumbers pulled = probe_.numbers(pullback.call);
    CheckFailure wrong;
    if (!pairing_differs(f, pulled, along, along.cotangents, &wrong)) return std::nullopt;
    wrong.reverse = true;
    wrong.against_tangent = comparison_.forward;

    const auto [leaf, number] = worst_place(f, pulled, along);
    const TensorType& type = probe_.point().type(leaf);
    const LeafNumbers part = only(along.arguments, leaf, number, number + 1);
    const Reference there = reference(f, part, along.cotangents, along.results);
    const double by = pairing_sign(type, number) * along.arguments[leaf][number];
    wrong.leaf = probe_.point().paths[leaf] + element_text(type, number);
    wrong.have = pulled[leaf][number];
    wrong.want = there.products.sum / by;
    wrong.sides = {there.sides[0] / by, there.sides[1] / by};
    wrong.noise = allowed_of_differences(along.cotangents, along.results) / std::abs(by);

    for (const std::size_t i : several(along.cotangents)) {
      const LeafNumbers one = only(along.cotangents, i);
      CheckFailure alone;
      if (pairing_differs(f, probe_.numbers(probe_.pullback_of(f.call, along.results, one)), along,
                          one, &alone))
        wrong.shown_by.push_back(along.results.paths[i]);
    }
    return wrong;
  }

  /// Whether the scalars that pullback and reference give for the whole direction differ.
  bool pairing_differs(const Subject& f, const LeafNumbers& pulled, const Directions& along,
                       const LeafNumbers& cotangents, CheckFailure* failure) const {
    const Pairing back = pulled_along(pulled, along.arguments);
    const Pairing there = reference(f, along.arguments, cotangents, along.results).products;
    failure->back = back.sum;
    failure->there = there.sum;
    failure->allowed = allowed_of_pairing(back, there, cotangents, along.results);
    return !(std::abs(back.sum - there.sum) <= failure->allowed);
  }

  /// The leaf and number of the arguments where the pullback is wrong: one that is not finite, or
  /// what remains when the worse half of the direction is bisected repeatedly.
  std::pair<std::size_t, std::size_t> worst_place(const Subject& f, const LeafNumbers& pulled,
                                                  const Directions& along) const {
    for (std::size_t i = 0; i < pulled.size(); i++) {
      const auto odd = std::find_if_not(pulled[i].begin(), pulled[i].end(),
                                        [](double x) { return std::isfinite(x); });
      if (odd != pulled[i].end()) return {i, static_cast<std::size_t>(odd - pulled[i].begin())};
    }
    const auto difference = [&](std::size_t leaf, std::size_t begin, std::size_t end) {
      const LeafNumbers part = only(along.arguments, leaf, begin, end);
      return rank_of(std::abs(pulled_along(pulled, part).sum -
                              reference(f, part, along.cotangents, along.results).products.sum));
    };
    std::size_t leaf = 0;
    double worst = -1;
    for (std::size_t i = 0; i < along.arguments.size(); i++) {
      if (along.arguments[i].empty()) continue;
      const double size = difference(i, 0, along.arguments[i].size());
      if (size <= worst) continue;
      worst = size;
      leaf = i;
    }
    std::size_t begin = 0, end = along.arguments[leaf].size();
    while (end - begin > 1) {
      const std::size_t middle = begin + (end - begin) / 2;
      if (difference(leaf, begin, middle) >= difference(leaf, middle, end))
        end = middle;
      else
        begin = middle;
    }
    return {leaf, begin};
  }

  Subject f_;
  Probe probe_;
  DerivativeComparison comparison_;
  std::mt19937_64 random_;
  bool coarse_ = false;
  double noise_ = 0;  // of a difference, relative to the results
};

}  // namespace

std::string derivative_failure(const RegionCallable& f, const Leaves& arguments,
                               const DerivativeComparison& comparison, SourceLocation at) {
  const ir::EagerPause pause;  // whole programs run faster than op by op
  return GradientCheck(f, arguments, comparison, at).failure();
}

}  // namespace rondo::gradient_check

namespace rondo::detail {

void check_grads(const RegionCallable& f, const ArgumentLeaves& arguments,
                 const CheckGradsOptions& options, SourceLocation at) {
  const auto refuse = [&](const std::string& what, const char* remedy) {
    throw TraceError(fmt::format("check_grads: {}\n  at {}\n  {}", what, at.str(), remedy), at);
  };
  gradient_check::DerivativeComparison comparison;
  comparison.order = options.order;
  comparison.step = options.step;
  comparison.rtol = options.tolerance;
  comparison.seed = options.seed;
  comparison.forward = comparison.reverse = false;
  constexpr const char* kModes =
      "The modes are \"fwd\" (jvp against differences) and \"rev\" (vjp against jvp, or against "
      "differences where \"fwd\" is not asked for).";
  if (options.modes.empty()) refuse("no mode is asked for", kModes);
  for (const std::string& mode : options.modes) {
    if (mode != "fwd" && mode != "rev")
      refuse(fmt::format("there is no mode \"{}\"", mode), kModes);
    (mode == "fwd" ? comparison.forward : comparison.reverse) = true;
  }
  if (options.order < 1) refuse(fmt::format("the order is {}", options.order), "Give 1 or more.");
  for (const auto& [name, value] :
       {std::pair("step", options.step), std::pair("tolerance", options.tolerance)}) {
    if (value >= 0 && std::isfinite(value)) continue;
    refuse(fmt::format("the {} is {}", name, value),
           "Give a positive number, or 0 for the best for the dtype.");
  }
  for (const Tensor& leaf : arguments.leaves.values) ir::checked(leaf, "check_grads", at);
  const std::string failure =
      gradient_check::derivative_failure(f, arguments.leaves, comparison, at);
  if (!failure.empty()) throw Error(failure, at);
}

}  // namespace rondo::detail
