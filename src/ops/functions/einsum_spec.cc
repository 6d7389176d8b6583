#include "ops/functions/einsum_spec.h"

#include <algorithm>
#include <map>

namespace rondo::ops {

namespace {

constexpr std::string_view kDots = "...";

bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z'); }

/// One term: letters, with `...` at most once.
struct EinsumTerm {
  std::string letters;
  std::size_t dots = std::string::npos;  // before which letter they are

  bool has_dots() const { return dots != std::string::npos; }
  /// With `count` axes for the dots.
  std::vector<EinsumAxis> axes(std::int64_t count) const {
    std::vector<EinsumAxis> all(letters.begin(), letters.end());
    if (!has_dots()) return all;
    std::vector<EinsumAxis> further;
    for (std::int64_t i = count; i > 0; i--) further.push_back(static_cast<EinsumAxis>(-i));
    all.insert(all.begin() + static_cast<std::ptrdiff_t>(dots), further.begin(), further.end());
    return all;
  }
};

/// The terms of a spec as it was written.
class EinsumReader {
 public:
  EinsumReader(const Helper& helper, std::string_view spec) : helper_(helper), spec_(spec) {}

  [[noreturn]] void fail(const std::string& message) const {
    helper_.fail(fmt::format("\"{}\": {}", spec_, message));
  }

  void read() {
    std::string text;
    std::copy_if(spec_.begin(), spec_.end(), std::back_inserter(text),
                 [](char c) { return c != ' '; });
    std::string_view rest = text;
    const std::size_t arrow = rest.find("->");
    if (arrow != std::string_view::npos) {
      const std::string_view result = rest.substr(arrow + 2);
      if (result.find(',') != std::string_view::npos)
        fail("a comma after the arrow; there is one result\n  Write one term after ->.");
      has_result = true;
      given_result = term(result, "the result");
      rest = rest.substr(0, arrow);
    }
    for (std::size_t from = 0;;) {
      const std::size_t comma = rest.find(',', from);
      inputs.push_back(term(rest.substr(from, comma - from),
                            fmt::format("the term of operand {}", inputs.size())));
      if (comma == std::string_view::npos) break;
      from = comma + 1;
    }
  }

  std::vector<EinsumTerm> inputs;
  EinsumTerm given_result;
  bool has_result = false;

 private:
  EinsumTerm term(std::string_view text, const std::string& what) const {
    EinsumTerm read;
    for (std::size_t i = 0; i < text.size(); i++) {
      if (is_letter(text[i])) {
        read.letters += text[i];
      } else if (text.substr(i, kDots.size()) == kDots) {
        if (read.has_dots())
          fail(fmt::format("{} has ... twice\n  Write it once in a term.", what));
        read.dots = read.letters.size();
        i += kDots.size() - 1;
      } else {
        fail(
            fmt::format("{} has {:?}\n  Write a letter for each axis, ... for further axes, commas "
                        "between operands, and -> before the result: \"ij,jk->ik\".",
                        what, text[i]));
      }
    }
    return read;
  }

  const Helper& helper_;
  std::string_view spec_;
};

/// The greatest number of axes that a `...` of an operand covers.
std::int64_t check_einsum_ranks(const EinsumReader& spec, const std::vector<Tensor>& operands) {
  if (spec.inputs.size() != operands.size()) {
    spec.fail(
        fmt::format("there are {} terms for {} operands\n  Write a term for each operand, "
                    "separated by commas.",
                    spec.inputs.size(), operands.size()));
  }
  std::int64_t most = 0;
  for (std::size_t i = 0; i < operands.size(); i++) {
    const EinsumTerm& term = spec.inputs[i];
    const auto letters = static_cast<std::int64_t>(term.letters.size());
    const std::int64_t further = operands[i].rank() - letters;
    if (further < 0 || (further > 0 && !term.has_dots())) {
      spec.fail(fmt::format(
          "operand {} is {}, which has {} axes; its term names {}\n  Write a letter for each{}.", i,
          operands[i].type().str(), operands[i].rank(), letters,
          further > 0 ? ", or ... for those that broadcast" : ""));
    }
    most = std::max(most, further);
  }
  return most;
}

/// The letters that occur once, in alphabetical order.
EinsumTerm einsum_result_without_arrow(const EinsumReader& spec) {
  std::map<char, int> uses;
  for (const EinsumTerm& term : spec.inputs)
    for (const char letter : term.letters) uses[letter]++;
  EinsumTerm result;
  result.dots = 0;
  for (const auto& [letter, count] : uses)
    if (count == 1) result.letters += letter;
  return result;
}

void check_einsum_result(const EinsumReader& spec, std::int64_t further) {
  const std::string& letters = spec.given_result.letters;
  for (std::size_t i = 0; i < letters.size(); i++) {
    if (letters.find(letters[i], i + 1) != std::string::npos) {
      spec.fail(
          fmt::format("the result has {} twice\n  Name each of its axes once; rondo::diag puts "
                      "a vector on a diagonal.",
                      letters[i]));
    }
    const bool is_known = std::any_of(
        spec.inputs.begin(), spec.inputs.end(),
        [&](const EinsumTerm& term) { return term.letters.find(letters[i]) != std::string::npos; });
    if (!is_known) {
      spec.fail(
          fmt::format("the result has {}, which no operand has\n  Name axes of the operands; "
                      "rondo::broadcast_to adds others.",
                      letters[i]));
    }
  }
  if (further > 0 && !spec.given_result.has_dots()) {
    spec.fail(
        fmt::format("the operands have {} axes in ..., which the result lacks\n  Write ... "
                    "after the arrow too, or a letter for each axis to be summed over.",
                    further));
  }
}

}  // namespace

std::string einsum_axis_name(EinsumAxis axis) {
  return axis > 0 ? std::string(1, static_cast<char>(axis)) : fmt::format("axis {} of ...", axis);
}

EinsumAxes einsum_axes(const Helper& helper, std::string_view text,
                       const std::vector<Tensor>& operands) {
  EinsumReader spec(helper, text);
  spec.read();
  const std::int64_t further = check_einsum_ranks(spec, operands);
  if (spec.has_result) check_einsum_result(spec, further);
  EinsumAxes axes;
  for (std::size_t i = 0; i < operands.size(); i++) {
    const EinsumTerm& term = spec.inputs[i];
    axes.operands.push_back(
        term.axes(operands[i].rank() - static_cast<std::int64_t>(term.letters.size())));
  }
  axes.result =
      (spec.has_result ? spec.given_result : einsum_result_without_arrow(spec)).axes(further);
  return axes;
}

}  // namespace rondo::ops
