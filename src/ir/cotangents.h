// Cotangents while they are summed up: the backward pass comes to a value once for each of its
// uses.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// A cotangent that is zero but for a part of its array: that of a table of which a row was read.
/// It is added in place, so that it costs the part and not the array, however many there are.
struct CotangentPart {
  std::function<Tensor(const Tensor& sum)> add_to;  // the sum with the part added
  std::function<Tensor()> alone;                    // the part among zeros
  SourceLocation at;
};

/// The sum of the cotangents of one value. Parts wait for the first cotangent of the whole array
/// and are added to that.
class CotangentSum {
 public:
  CotangentSum() = default;
  /// Begins with what other uses have given.
  explicit CotangentSum(Tensor sum) : whole_(std::move(sum)) {}

  /// An empty Tensor is zero and adds nothing.
  void add(const Tensor& cotangent);
  void add(CotangentPart part);
  bool empty() const { return whole_.empty() && parts_.empty(); }
  /// Was anything added?
  bool changed() const { return changed_; }
  /// The sum, or an empty Tensor where there is none; nothing is left.
  Tensor take();

 private:
  Tensor whole_;
  std::vector<CotangentPart> parts_;  // none where there is a whole
  bool changed_ = false;
};

/// The sums of several values, those of the operands of a construct or the parameters of a region:
/// what a pullback adds to. Two of them may be one, where an operand stands twice.
class Cotangents {
 public:
  Cotangents() = default;
  /// Of `sums`, which must live as long.
  explicit Cotangents(std::span<CotangentSum> sums) {
    for (CotangentSum& sum : sums) sums_.push_back(&sum);
  }
  /// The next value's sum; null where its cotangent is not wanted, so that what is added is lost.
  void append(CotangentSum* sum) { sums_.push_back(sum); }
  std::size_t size() const { return sums_.size(); }
  CotangentSum* operator[](std::size_t i) const { return sums_[i]; }
  /// Those from value `first` on.
  Cotangents from(std::size_t first) const;

  bool is_zero(std::size_t i) const { return !sums_[i] || sums_[i]->empty(); }
  void add(std::size_t i, const Tensor& cotangent) const {
    if (sums_[i]) sums_[i]->add(cotangent);
  }
  void add(std::size_t i, CotangentPart part) const {
    if (sums_[i]) sums_[i]->add(std::move(part));
  }
  /// One cotangent for each value.
  void add_all(std::span<const Tensor> cotangents) const;
  /// The sum so far of value i, for a construct that goes on with it and adds the result: nothing
  /// is left. Zeros of the type where there is none.
  Tensor take(std::size_t i, const TensorType& type) const;

 private:
  std::vector<CotangentSum*> sums_;
};

}  // namespace rondo::ir
