#include "lower/passes/affine.h"

#include <algorithm>

#include "lower/opcodes.h"

namespace rondo::lower {

namespace {

/// Threshold: Depth of arithmetic that is followed to write an index as a sum: compile time against
/// indices that are understood. Not measured.
constexpr int kDeepestSum = 12;
/// Threshold: Terms of such a sum, from which on a value is a term by itself: compile time against
/// indices that are understood. Not measured.
constexpr std::size_t kMostTerms = 8;

}  // namespace

std::int64_t Affine::stride_of(Value index) const {
  for (const Address::Term& term : terms) {
    if (term.index == index) return term.stride;
  }
  return 0;
}

bool Affine::has_terms_of(const Affine& other) const {
  return terms.size() == other.terms.size() &&
         std::all_of(terms.begin(), terms.end(), [&](const Address::Term& term) {
           return other.stride_of(term.index) == term.stride;
         });
}

bool Affine::add(Value index, std::int64_t stride) {
  if (stride == 0) return true;
  const auto found = std::find_if(terms.begin(), terms.end(),
                                  [&](const Address::Term& term) { return term.index == index; });
  if (found == terms.end()) {
    terms.push_back({index, stride});
    return true;
  }
  if (__builtin_add_overflow(found->stride, stride, &found->stride)) return false;
  if (found->stride == 0) terms.erase(found);
  return true;
}

bool Affine::add(const Affine& other, std::int64_t factor) {
  std::int64_t product = 0;
  if (__builtin_mul_overflow(other.constant, factor, &product) ||
      __builtin_add_overflow(constant, product, &constant))
    return false;
  return std::all_of(other.terms.begin(), other.terms.end(), [&](const Address::Term& term) {
    return !__builtin_mul_overflow(term.stride, factor, &product) && add(term.index, product);
  });
}

AffineForms::AffineForms(const Program& program, const Ranges& ranges)
    : program_(program), ranges_(ranges), maker_(program.types.size(), nullptr) {
  for (const Op& op : program.code) {
    if (op.result != kNone) maker_[op.result] = &op;
  }
}

Affine AffineForms::of(Value value) const {
  Affine form;
  if (add(form, value, 1, 0)) return form;
  return {0, {{value, 1}}};
}

bool AffineForms::add(Affine& to, Value value, std::int64_t factor, int depth) const {
  const Op* const op = maker_[value];
  const Range known = ranges_.of(value);
  if (known.low == known.high) {
    std::int64_t product = 0;
    return !__builtin_mul_overflow(known.low, factor, &product) &&
           !__builtin_add_overflow(to.constant, product, &to.constant);
  }
  const bool follows = op != nullptr && depth < kDeepestSum && to.terms.size() < kMostTerms &&
                       computed(*op, ranges_.of(op->a), ranges_.of(op->b), Range());
  if (!follows) return to.add(value, factor);
  switch (op->code) {
    case Opcode::kConvert:
      return add(to, op->a, factor, depth + 1);
    case Opcode::kAdd:
      return add(to, op->a, factor, depth + 1) && add(to, op->b, factor, depth + 1);
    case Opcode::kSubtract:
      return factor != INT64_MIN && add(to, op->a, factor, depth + 1) &&
             add(to, op->b, -factor, depth + 1);
    case Opcode::kMultiply: {
      const Range a = ranges_.of(op->a), b = ranges_.of(op->b);
      std::int64_t product = 0;
      if (b.low == b.high)
        return !__builtin_mul_overflow(b.low, factor, &product) &&
               add(to, op->a, product, depth + 1);
      if (a.low == a.high)
        return !__builtin_mul_overflow(a.low, factor, &product) &&
               add(to, op->b, product, depth + 1);
      return to.add(value, factor);
    }
    default:
      return to.add(value, factor);
  }
}

std::optional<Affine> AffineForms::bytes(const Address& address) const {
  Affine form{address.offset, {}};
  for (const Address::Term& term : address.terms) {
    if (!add(form, term.index, term.stride, 0)) return std::nullopt;
  }
  return form;
}

std::optional<AffineForms::Place> AffineForms::place(const Address& address) const {
  Place place{address.base, {}};
  for (const Address* at = &address;;) {
    const std::optional<Affine> more = bytes(*at);
    if (!more || !place.bytes.add(*more, 1)) return std::nullopt;
    const Op* const op = maker_[place.base];
    if (op == nullptr || op->code != Opcode::kView) return place;
    at = &program_.addresses[program_.views[op->bits].address];
    place.base = at->base;
  }
}

std::optional<Range> AffineForms::range(const Affine& form) const {
  Range sum{form.constant, form.constant};
  for (const auto& [index, stride] : form.terms) {
    const Range of_index = ranges_.of(index);
    Range part;
    if (__builtin_mul_overflow(of_index.low, stride, &part.low) ||
        __builtin_mul_overflow(of_index.high, stride, &part.high))
      return std::nullopt;
    if (stride < 0) std::swap(part.low, part.high);
    if (__builtin_add_overflow(sum.low, part.low, &sum.low) ||
        __builtin_add_overflow(sum.high, part.high, &sum.high))
      return std::nullopt;
  }
  return sum;
}

}  // namespace rondo::lower
