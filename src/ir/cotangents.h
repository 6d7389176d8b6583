// Cotangents while they are accumulated: the backward pass adds to a value's cotangent once for
// each of its uses.
#pragma once

#include <cstddef>
#include <functional>
#include <span>
#include <utility>
#include <vector>

#include "ir/node.h"

namespace rondo::ir {

/// A cotangent that is zero except in a part of its array, such as that of a table of which one row
/// was read. It is added in place, so the cost is that of the part, however many there are.
struct CotangentPart {
  std::function<Tensor(const Tensor& sum)> add_to;  // the sum with the part added
  std::function<Tensor()> alone;                    // the part in an array of zeros
  SourceLocation at;
};

/// The sum of the cotangents of one value. Parts are held back until the first cotangent of the
/// whole array, and added to that.
class CotangentSum {
 public:
  CotangentSum() = default;
  /// Starts with the sum of other uses.
  explicit CotangentSum(Tensor sum) : whole_(std::move(sum)) {}

  /// An empty Tensor is zero and adds nothing.
  void add(const Tensor& cotangent);
  void add(CotangentPart part);
  bool empty() const { return whole_.empty() && parts_.empty(); }
  /// Whether anything was added.
  bool changed() const { return changed_; }
  /// Takes the sum out; an empty Tensor if there is none.
  Tensor take();

 private:
  Tensor whole_;
  std::vector<CotangentPart> parts_;  // empty once there is a whole
  bool changed_ = false;
};

/// An array that a construct overwrites in parts, and that its backward pass restores.
struct RestoredArray {
  Tensor before;  // the construct's operand
  Tensor after;   // the construct's result
  Tensor again;   // equal to `before`, computed in the backward pass from `after`
};

/// The sums of several values, those of the operands of a construct or the parameters of a region,
/// to which a pullback adds. Two of them may be the same, if an operand occurs twice.
class Cotangents {
 public:
  Cotangents() = default;
  /// Refers to `sums`, which must outlive it.
  explicit Cotangents(std::span<CotangentSum> sums) {
    for (CotangentSum& sum : sums) sums_.push_back(&sum);
  }
  /// The next value's sum; null if its cotangent is not needed, so that additions are ignored.
  void append(CotangentSum* sum) { sums_.push_back(sum); }
  std::size_t size() const { return sums_.size(); }
  CotangentSum* operator[](std::size_t i) const { return sums_[i]; }
  /// Those from value `first` on.
  Cotangents from(std::size_t first) const;
  /// The same sums, which report restored arrays to `list`. It must outlive them.
  Cotangents telling(std::vector<RestoredArray>* list) const {
    Cotangents all = *this;
    all.restored_ = list;
    return all;
  }
  /// The same sums, which report restored arrays to the list of `other`.
  Cotangents telling_as(const Cotangents& other) const { return telling(other.restored_); }
  /// Reports an array that the backward pass has restored, for use by the enclosing backward pass.
  void tell(RestoredArray array) const {
    if (restored_) restored_->push_back(std::move(array));
  }

  bool is_zero(std::size_t i) const { return !sums_[i] || sums_[i]->empty(); }
  void add(std::size_t i, const Tensor& cotangent) const {
    if (sums_[i]) sums_[i]->add(cotangent);
  }
  void add(std::size_t i, CotangentPart part) const {
    if (sums_[i]) sums_[i]->add(std::move(part));
  }
  /// Adds one cotangent for each value.
  void add_all(std::span<const Tensor> cotangents) const;
  /// Takes out the sum so far of value i, for a construct that continues it and adds the result.
  /// Zeros of the type if there is none.
  Tensor take(std::size_t i, const TensorType& type) const;

 private:
  std::vector<CotangentSum*> sums_;
  std::vector<RestoredArray>* restored_ = nullptr;
};

}  // namespace rondo::ir
