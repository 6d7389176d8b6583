// Every row of the table of identities: it applies where it should and nowhere else, and its result
// is the same value, bit by bit, for zeros of both signs, infinities, NaN and the limits of the
// integers.
#include "passes/identities.h"

#include <functional>
#include <set>

#include "base/for_dtype.h"
#include "ops/broadcast.h"
#include "ops/concatenate.h"
#include "ops/dynamic_slice.h"
#include "ops/elementwise.h"
#include "ops/pad.h"
#include "ops/permute.h"
#include "ops/slice.h"
#include "passes/check.h"

namespace rondo::testing {
namespace {

using Dtypes = std::vector<DType>;

const Dtypes kSignedDtypes{DType::kS8, DType::kS16, DType::kS32, DType::kS64};
const Dtypes kUnsignedDtypes{DType::kU8, DType::kU16, DType::kU32, DType::kU64};
const Dtypes kFloatDtypes{DType::kF16, DType::kBF16, DType::kF32, DType::kF64};
const Dtypes kComplexDtypes{DType::kC64, DType::kC128};
const Dtypes kPredDtypes{DType::kPred};
const Dtypes kNone{};

Dtypes all_of(std::initializer_list<Dtypes> sets) {
  Dtypes all;
  for (const Dtypes& set : sets) all.insert(all.end(), set.begin(), set.end());
  return all;
}
const Dtypes kIntegerDtypes = all_of({kSignedDtypes, kUnsignedDtypes});
const Dtypes kBitDtypes = all_of({kPredDtypes, kIntegerDtypes});
const Dtypes kRealDtypes = all_of({kIntegerDtypes, kFloatDtypes});
const Dtypes kNumberDtypes = all_of({kRealDtypes, kComplexDtypes});
const Dtypes kSignedNumberDtypes = all_of({kSignedDtypes, kFloatDtypes, kComplexDtypes});
const Dtypes kAllDtypes = all_of({kPredDtypes, kNumberDtypes});

/// The op itself: the public functions might simplify.
Tensor node(const ir::OpDef& op, ir::Operands operands, ir::Attributes attributes = {}) {
  return ir::make(op, std::move(operands), std::move(attributes), SourceLocation::current());
}

/// A scalar constant, repeated.
Tensor splat(const Tensor& like, double value) {
  const DType dtype = like.dtype();
  const Literal scalar = for_dtype(dtype, [&]<class T>() -> Literal {
    if constexpr (is_complex(dtype_of<T>)) {
      using Part = typename T::value_type;
      return Literal::scalar(
          T(static_cast<Part>(value), std::signbit(value) ? Part(-0.0) : Part(0)));
    } else if constexpr (std::is_same_v<T, bool>) {
      return Literal::scalar(value != 0);
    } else if constexpr (std::is_arithmetic_v<T>) {
      return Literal::scalar(std::is_integral_v<T> && value == -1 ? static_cast<T>(-1)
                                                                  : static_cast<T>(value));
    } else {
      return Literal::scalar(T(static_cast<float>(value)));
    }
  });
  return ops::broadcast_axes(ir::make_constant(scalar), like.shape(), {},
                             SourceLocation::current());
}

/// A small array of equal constants.
Tensor dense_ones(const Tensor& like) {
  return ir::make_constant(for_dtype(like.dtype(), [&]<class T>() {
    return Literal::from(std::vector<T>(static_cast<std::size_t>(like.type().elements()), T(1)),
                         like.shape());
  }));
}

Tensor comparison(ops::Direction direction, const Tensor& a, const Tensor& b,
                  bool total_order = false) {
  return node(ops::kCompare, {a, b}, ops::CompareAttributes{direction, total_order});
}

Tensor converted(const Tensor& x, DType dtype) {
  return node(ops::kConvert, {x}, ops::ConvertAttributes{dtype});
}

Tensor a_pred(const Tensor& x) { return comparison(ops::Direction::kNe, x, x); }

struct Sample {
  std::string says;
  Dtypes applies;
  Dtypes refuses;
  std::function<Tensor(Tensor x, Tensor y)> build;
};

using ops::Direction;

const std::vector<Sample>& arithmetic_samples() {
  static const std::vector<Sample> samples{
      {"x + 0 = x", kBitDtypes, all_of({kFloatDtypes, kComplexDtypes}),
       [](Tensor x, Tensor) {
         return node(ops::kAdd, {x, splat(x, 0)});
       }},
      {"x + 0 = x", kBitDtypes, kFloatDtypes,
       [](Tensor x, Tensor) {
         return node(ops::kAdd, {splat(x, 0), x});
       }},
      {"x + -0 = x", all_of({kFloatDtypes, kComplexDtypes}), kNone,
       [](Tensor x, Tensor) {
         return node(ops::kAdd, {x, splat(x, -0.0)});
       }},
      {"x + (-y) = x - y", kNumberDtypes, kNone,
       [](Tensor x, Tensor y) {
         return node(ops::kAdd, {x, node(ops::kNegate, {y})});
       }},
      {"x + (-y) = x - y", kNumberDtypes, kNone,
       [](Tensor x, Tensor y) {
         return node(ops::kAdd, {node(ops::kNegate, {y}), x});
       }},
      {"x + (-y) z = x - y z", kRealDtypes, kComplexDtypes,
       [](Tensor x, Tensor y) {
         return node(ops::kAdd, {x, node(ops::kMultiply, {node(ops::kNegate, {y}), x})});
       }},
      {"x + (-y) z = x - y z", kRealDtypes, kComplexDtypes,
       [](Tensor x, Tensor y) {
         return node(ops::kAdd, {node(ops::kMultiply, {x, node(ops::kNegate, {y})}), y});
       }},
      {"x - (-y) z = x + y z", kRealDtypes, kComplexDtypes,
       [](Tensor x, Tensor y) {
         return node(ops::kSubtract, {x, node(ops::kMultiply, {node(ops::kNegate, {y}), x})});
       }},
      {"x - 0 = x", kNumberDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kSubtract, {x, splat(x, 0)});
       }},
      {"x - 0 = x", kNone, kFloatDtypes,
       [](Tensor x, Tensor) {
         return node(ops::kSubtract, {x, splat(x, -0.0)});
       }},
      {"x - 0 = x", kNone, kNumberDtypes,
       [](Tensor x, Tensor) {
         return node(ops::kSubtract, {splat(x, 0), x});
       }},
      {"x - x = 0", kIntegerDtypes, all_of({kFloatDtypes, kComplexDtypes}),
       [](Tensor x, Tensor) {
         return node(ops::kSubtract, {x, x});
       }},
      {"x - (-y) = x + y", kNumberDtypes, kNone,
       [](Tensor x, Tensor y) {
         return node(ops::kSubtract, {x, node(ops::kNegate, {y})});
       }},
      {"x * 1 = x", all_of({kPredDtypes, kRealDtypes}), kComplexDtypes,
       [](Tensor x, Tensor) {
         return node(ops::kMultiply, {x, splat(x, 1)});
       }},
      {"x * 1 = x", kRealDtypes, kComplexDtypes,
       [](Tensor x, Tensor) {
         return node(ops::kMultiply, {dense_ones(x), x});
       }},
      {"x * 0 = 0", kBitDtypes, all_of({kFloatDtypes, kComplexDtypes}),
       [](Tensor x, Tensor) {
         return node(ops::kMultiply, {splat(x, 0), x});
       }},
      {"x / 1 = x", kRealDtypes, kComplexDtypes,
       [](Tensor x, Tensor) {
         return node(ops::kDivide, {x, splat(x, 1)});
       }},
      {"x / 1 = x", kNone, kNumberDtypes,
       [](Tensor x, Tensor) {
         return node(ops::kDivide, {splat(x, 1), x});
       }},
      {"x % 1 = 0", kIntegerDtypes, kFloatDtypes,
       [](Tensor x, Tensor) {
         return node(ops::kRemainder, {x, splat(x, 1)});
       }},
      {"x ^ 1 = x", kRealDtypes, kComplexDtypes,
       [](Tensor x, Tensor) {
         return node(ops::kPower, {x, splat(x, 1)});
       }},
      {"x ^ 0 = 1", kRealDtypes, kComplexDtypes,
       [](Tensor x, Tensor) {
         return node(ops::kPower, {x, splat(x, 0)});
       }},
      {"max(x, x) = x", all_of({kPredDtypes, kRealDtypes}), kNone,
       [](Tensor x, Tensor) {
         return node(ops::kMaximum, {x, x});
       }},
      {"min(x, x) = x", all_of({kPredDtypes, kRealDtypes}), kNone,
       [](Tensor x, Tensor) {
         return node(ops::kMinimum, {x, x});
       }},
      {"min(x, x) = x", kNone, kRealDtypes,
       [](Tensor x, Tensor y) {
         return node(ops::kMinimum, {x, y});
       }},
      {"clamp(a, clamp(a, x, b), b) = clamp(a, x, b)", kRealDtypes, kNone,
       [](Tensor x, Tensor y) {
         const Tensor high = splat(x, 3);
         return node(ops::kClamp, {y, node(ops::kClamp, {y, x, high}), high});
       }},
      {"-(-x) = x", kNumberDtypes, kNone,
       [](Tensor x, Tensor) { return node(ops::kNegate, {node(ops::kNegate, {x})}); }},
      {"abs(abs(x)) = abs(x)", all_of({kSignedDtypes, kFloatDtypes}), kNone,
       [](Tensor x, Tensor) { return node(ops::kAbs, {node(ops::kAbs, {x})}); }},
      {"abs(-x) = abs(x)", kSignedNumberDtypes, kNone,
       [](Tensor x, Tensor) { return node(ops::kAbs, {node(ops::kNegate, {x})}); }},
      {"sign(sign(x)) = sign(x)", all_of({kSignedDtypes, kFloatDtypes}), kComplexDtypes,
       [](Tensor x, Tensor) { return node(ops::kSign, {node(ops::kSign, {x})}); }},
      {"floor(round(x)) = round(x)", kFloatDtypes, kNone,
       [](Tensor x, Tensor) { return node(ops::kFloor, {node(ops::kCeil, {x})}); }},
      {"ceil(round(x)) = round(x)", kFloatDtypes, kNone,
       [](Tensor x, Tensor) { return node(ops::kCeil, {node(ops::kRound, {x})}); }},
      {"round(round(x)) = round(x)", kFloatDtypes, kNone,
       [](Tensor x, Tensor) { return node(ops::kRound, {node(ops::kFloor, {x})}); }},
      {"~~x = x", kBitDtypes, kNone,
       [](Tensor x, Tensor) { return node(ops::kNot, {node(ops::kNot, {x})}); }},
      {"!(x < y) = x >= y", kBitDtypes, kFloatDtypes,
       [](Tensor x, Tensor y) { return node(ops::kNot, {comparison(Direction::kLt, x, y)}); }},
      {"!(x < y) = x >= y", kBitDtypes, kFloatDtypes,
       [](Tensor x, Tensor y) { return node(ops::kNot, {comparison(Direction::kGe, x, y)}); }},
      {"!(x < y) = x >= y", kBitDtypes, kFloatDtypes,
       [](Tensor x, Tensor y) { return node(ops::kNot, {comparison(Direction::kGt, x, y)}); }},
      {"!(x < y) = x >= y", kAllDtypes, kNone,
       [](Tensor x, Tensor y) { return node(ops::kNot, {comparison(Direction::kEq, x, y)}); }},
      {"!(x < y) = x >= y", kAllDtypes, kNone,
       [](Tensor x, Tensor y) { return node(ops::kNot, {comparison(Direction::kNe, x, y)}); }},
      {"!(x < y) = x >= y", kFloatDtypes, kNone,
       [](Tensor x, Tensor y) {
         return node(ops::kNot, {comparison(Direction::kLe, x, y, true)});
       }},
      {"x & ones = x", kBitDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kAnd, {x, splat(x, -1)});
       }},
      {"x & 0 = 0", kBitDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kAnd, {splat(x, 0), x});
       }},
      {"x & x = x", kBitDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kAnd, {x, x});
       }},
      {"x | 0 = x", kBitDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kOr, {x, splat(x, 0)});
       }},
      {"x | ones = ones", kBitDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kOr, {x, splat(x, -1)});
       }},
      {"x | x = x", kBitDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kOr, {x, x});
       }},
      {"x ^ 0 = x", kBitDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kXor, {x, splat(x, 0)});
       }},
      {"x ^ x = 0", kBitDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kXor, {x, x});
       }},
      {"x ^ ones = ~x", kBitDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kXor, {splat(x, -1), x});
       }},
      {"x << 0 = x", kIntegerDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kShiftLeft, {x, splat(x, 0)});
       }},
      {"x >>> 0 = x", kIntegerDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kShiftRightLogical, {x, splat(x, 0)});
       }},
      {"x >> 0 = x", kIntegerDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kShiftRightArithmetic, {x, splat(x, 0)});
       }},
      {"x < x = false", all_of({kPredDtypes, kRealDtypes}), kNone,
       [](Tensor x, Tensor) { return comparison(Direction::kLt, x, x); }},
      {"x < x = false", all_of({kPredDtypes, kRealDtypes}), kNone,
       [](Tensor x, Tensor) { return comparison(Direction::kGt, x, x); }},
      {"x < x = false", kBitDtypes, all_of({kFloatDtypes, kComplexDtypes}),
       [](Tensor x, Tensor) { return comparison(Direction::kEq, x, x); }},
      {"x < x = false", kBitDtypes, all_of({kFloatDtypes, kComplexDtypes}),
       [](Tensor x, Tensor) { return comparison(Direction::kNe, x, x); }},
      {"x < x = false", kBitDtypes, kFloatDtypes,
       [](Tensor x, Tensor) { return comparison(Direction::kLe, x, x); }},
      {"x < x = false", kFloatDtypes, kNone,
       [](Tensor x, Tensor) { return comparison(Direction::kGe, x, x, true); }},
      {"p == true = p", kPredDtypes, kRealDtypes,
       [](Tensor x, Tensor) { return comparison(Direction::kEq, x, splat(x, 1)); }},
      {"p == true = p", kPredDtypes, kRealDtypes,
       [](Tensor x, Tensor) { return comparison(Direction::kNe, x, splat(x, 0)); }},
      {"p == true = p", kPredDtypes, kRealDtypes,
       [](Tensor x, Tensor) { return comparison(Direction::kEq, splat(x, 0), x); }},
      {"p == true = p", kPredDtypes, kRealDtypes,
       [](Tensor x, Tensor) { return comparison(Direction::kNe, x, splat(x, 1)); }},
      {"x % 8 == 5 = (x & (7 and the sign)) == 5", kIntegerDtypes, kFloatDtypes,
       [](Tensor x, Tensor) {
         return comparison(Direction::kEq, node(ops::kRemainder, {x, splat(x, 8)}), splat(x, 5));
       }},
      {"x % 8 == 5 = (x & (7 and the sign)) == 5", kIntegerDtypes, kFloatDtypes,
       [](Tensor x, Tensor) {
         return comparison(Direction::kNe, node(ops::kRemainder, {x, splat(x, 2)}), splat(x, 0));
       }},
      {"", kNone, kIntegerDtypes,
       [](Tensor x, Tensor) {
         return comparison(Direction::kLt, node(ops::kRemainder, {x, splat(x, 8)}), splat(x, 5));
       }},
      {"", kNone, kIntegerDtypes,
       [](Tensor x, Tensor) {
         return comparison(Direction::kEq, node(ops::kRemainder, {x, splat(x, 6)}), splat(x, 5));
       }},
      {"", kNone, kIntegerDtypes,
       [](Tensor x, Tensor) {
         return comparison(Direction::kEq, node(ops::kRemainder, {x, splat(x, 8)}), splat(x, 8));
       }},
      {"true ? x : y = x", kAllDtypes, kNone,
       [](Tensor x, Tensor y) {
         return node(ops::kSelect, {splat(a_pred(x), 1), x, y});
       }},
      {"true ? x : y = x", kAllDtypes, kNone,
       [](Tensor x, Tensor y) {
         return node(ops::kSelect, {splat(a_pred(x), 0), x, y});
       }},
      {"p ? x : x = x", kAllDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kSelect, {a_pred(x), x, x});
       }},
      {"!p ? x : y = p ? y : x", kAllDtypes, kNone,
       [](Tensor x, Tensor y) {
         return node(ops::kSelect, {node(ops::kNot, {a_pred(x)}), x, y});
       }},
      {"p ? true : false = p", kPredDtypes, kRealDtypes,
       [](Tensor x, Tensor y) {
         return node(ops::kSelect, {a_pred(y), splat(x, 1), splat(x, 0)});
       }},
      {"p ? true : false = p", kPredDtypes, kRealDtypes,
       [](Tensor x, Tensor y) {
         return node(ops::kSelect, {a_pred(y), splat(x, 0), splat(x, 1)});
       }},
      {"convert(x, dtype of x) = x", kAllDtypes, kNone,
       [](Tensor x, Tensor) { return converted(x, x.dtype()); }},
      {"bits there and back = x",
       {DType::kS32, DType::kU32},
       {DType::kF32},  // no derivative passes through bits
       [](Tensor x, Tensor) {
         const DType to = x.dtype() == DType::kF32 ? DType::kU32 : DType::kF32;
         return node(ops::kBitcastConvert,
                     {node(ops::kBitcastConvert, {x}, ops::ConvertAttributes{to})},
                     ops::ConvertAttributes{x.dtype()});
       }},
      {"real(complex(x, y)) = x",
       {DType::kF32, DType::kF64},
       kNone,
       [](Tensor x, Tensor y) {
         return node(ops::kReal, {node(ops::kComplex, {x, y})});
       }},
      {"imag(complex(x, y)) = y",
       {DType::kF32, DType::kF64},
       kNone,
       [](Tensor x, Tensor y) {
         return node(ops::kImag, {node(ops::kComplex, {x, y})});
       }},
      {"complex(real(z), imag(z)) = z", kComplexDtypes, kNone,
       [](Tensor x, Tensor) {
         return node(ops::kComplex, {node(ops::kReal, {x}), node(ops::kImag, {x})});
       }},
      {"complex(real(z), imag(z)) = z", kNone, kComplexDtypes,
       [](Tensor x, Tensor y) {
         return node(ops::kComplex, {node(ops::kReal, {x}), node(ops::kImag, {y})});
       }},
  };
  return samples;
}

ops::SliceAttributes slice_of(std::vector<std::int64_t> starts, std::vector<std::int64_t> limits,
                              std::vector<std::int64_t> strides) {
  return {std::move(starts), std::move(limits), std::move(strides)};
}

Tensor matrix(const Tensor& x) { return node(ops::kReshape, {x}, ops::ReshapeAttributes{{3, 4}}); }
Tensor repeated_scalar(const Tensor& x, Shape shape) {
  const Tensor scalar = node(ops::kReshape, {node(ops::kSlice, {x}, slice_of({2}, {3}, {1}))},
                             ops::ReshapeAttributes{{}});
  return ops::broadcast_axes(scalar, shape, {}, SourceLocation::current());
}
Tensor repeated_pred(const Tensor& like, const Shape& shape) {
  return ops::broadcast_axes(comparison(ops::Direction::kGt, repeated_scalar(like, {}),
                                        splat(repeated_scalar(like, {}), 1)),
                             shape, {}, SourceLocation::current());
}
/// Two updates of 24 elements, selected or not.
Tensor one_or_updated(const Tensor& x, const Tensor& y, bool updated_first) {
  const auto at = [](const Tensor& i) { return converted(i, DType::kS32); };
  const Tensor old = node(ops::kConcatenate, {x, y}, ops::ConcatenateAttributes{0});
  const Tensor part = node(ops::kSlice, {y}, slice_of({1}, {3}, {1}));
  const Tensor once = node(ops::kDynamicUpdateSlice, {old, part, at(repeated_scalar(x, {}))});
  const Tensor twice = node(ops::kDynamicUpdateSlice, {once, part, at(repeated_scalar(y, {}))});
  const Tensor predicate = repeated_pred(y, old.shape());
  return updated_first ? node(ops::kSelect, {predicate, twice, old})
                       : node(ops::kSelect, {predicate, old, twice});
}
/// One update of 24 elements or another one, whose part has so many elements; `again`: the first
/// one is updated twice.
Tensor one_of_two_updates(const Tensor& x, const Tensor& y, std::int64_t other, bool again) {
  const auto at = [](const Tensor& i) { return converted(i, DType::kS32); };
  const Tensor old = node(ops::kConcatenate, {x, y}, ops::ConcatenateAttributes{0});
  const auto updated = [&](const Tensor& array, const Tensor& from, std::int64_t size,
                           const Tensor& place) {
    const Tensor part = node(ops::kSlice, {from}, slice_of({1}, {1 + size}, {1}));
    return node(ops::kDynamicUpdateSlice, {array, part, at(repeated_scalar(place, {}))});
  };
  Tensor first = updated(old, y, 1, x);
  if (again) first = updated(first, x, 1, y);
  return node(ops::kSelect, {repeated_pred(y, old.shape()), first, updated(old, x, other, y)});
}
Tensor index_constant(std::int64_t i) { return ir::make_constant(Literal::scalar(i)); }

/// Dtypes do not matter to these: s32 and f64 represent all. A sample to which no row applies has
/// "" in place of the row.
const std::vector<std::pair<std::string, std::function<Tensor(Tensor x, Tensor y)>>>&
shape_samples() {
  static const std::vector<std::pair<std::string, std::function<Tensor(Tensor x, Tensor y)>>>
      samples{
          {"reshape(x, shape of x) = x",
           [](Tensor x, Tensor) { return node(ops::kReshape, {x}, ops::ReshapeAttributes{{12}}); }},
          {"reshape(reshape(x)) = reshape(x)",
           [](Tensor x, Tensor) {
             return node(ops::kReshape, {matrix(x)}, ops::ReshapeAttributes{{2, 6}});
           }},
          {"reshape(reshape(x)) = reshape(x)",
           [](Tensor x, Tensor) {
             return node(ops::kReshape, {matrix(x)}, ops::ReshapeAttributes{{12}});
           }},
          {"", [](Tensor x, Tensor) { return matrix(x); }},
          {"reshape(broadcast(scalar)) = broadcast(scalar)",
           [](Tensor x, Tensor) {
             return node(ops::kReshape, {repeated_scalar(x, {2, 3})}, ops::ReshapeAttributes{{6}});
           }},
          {"reshape(broadcast(scalar)) = broadcast(scalar)",
           [](Tensor x, Tensor) {
             return node(ops::kReshape, {repeated_scalar(x, {1, 1})}, ops::ReshapeAttributes{{}});
           }},
          {"broadcast(x, shape of x) = x",
           [](Tensor x, Tensor) { return ops::broadcast_axes(x, {12}, {0}, {}); }},
          {"broadcast(broadcast(x)) = broadcast(x)",
           [](Tensor x, Tensor) {
             return ops::broadcast_axes(ops::broadcast_axes(x, {2, 12}, {1}, {}), {2, 3, 12, 4},
                                        {0, 2}, {});
           }},
          {"",
           [](Tensor x, Tensor) {
             return ops::broadcast_axes(x, {2, 12}, {1}, {});
           }},
          {"transpose(x, 0 1 2) = x",
           [](Tensor x, Tensor) {
             return node(ops::kTranspose, {matrix(x)}, ops::TransposeAttributes{{0, 1}});
           }},
          {"transpose(transpose(x)) = transpose(x)",
           [](Tensor x, Tensor) {
             const Tensor cube = node(ops::kReshape, {x}, ops::ReshapeAttributes{{2, 3, 2}});
             const Tensor once = node(ops::kTranspose, {cube}, ops::TransposeAttributes{{1, 2, 0}});
             return node(ops::kTranspose, {once}, ops::TransposeAttributes{{0, 2, 1}});
           }},
          {"transpose(transpose(x)) = transpose(x)",
           [](Tensor x, Tensor) {
             const Tensor once =
                 node(ops::kTranspose, {matrix(x)}, ops::TransposeAttributes{{1, 0}});
             return node(ops::kTranspose, {once}, ops::TransposeAttributes{{1, 0}});
           }},
          {"",
           [](Tensor x, Tensor) {
             return node(ops::kTranspose, {matrix(x)}, ops::TransposeAttributes{{1, 0}});
           }},
          {"transpose(broadcast(scalar)) = broadcast(scalar)",
           [](Tensor x, Tensor) {
             return node(ops::kTranspose, {repeated_scalar(x, {2, 3})},
                         ops::TransposeAttributes{{1, 0}});
           }},
          {"reverse(x, no axis) = x",
           [](Tensor x, Tensor) { return node(ops::kReverse, {x}, ops::ReverseAttributes{{}}); }},
          {"reverse(x, no axis) = x",
           [](Tensor x, Tensor) {
             return node(ops::kReverse, {node(ops::kReshape, {x}, ops::ReshapeAttributes{{12, 1}})},
                         ops::ReverseAttributes{{1}});
           }},
          {"reverse(reverse(x)) = x",
           [](Tensor x, Tensor) {
             return node(ops::kReverse, {node(ops::kReverse, {x}, ops::ReverseAttributes{{0}})},
                         ops::ReverseAttributes{{0}});
           }},
          {"",
           [](Tensor x, Tensor) {
             return node(ops::kReverse,
                         {node(ops::kReverse, {matrix(x)}, ops::ReverseAttributes{{0}})},
                         ops::ReverseAttributes{{1}});
           }},
          {"reverse(broadcast(scalar)) = broadcast(scalar)",
           [](Tensor x, Tensor) {
             return node(ops::kReverse, {repeated_scalar(x, {2, 3})},
                         ops::ReverseAttributes{{0, 1}});
           }},
          {"slice(x, everything) = x",
           [](Tensor x, Tensor) { return node(ops::kSlice, {x}, slice_of({0}, {12}, {1})); }},
          {"slice(slice(x)) = slice(x)",
           [](Tensor x, Tensor) {
             return node(ops::kSlice, {node(ops::kSlice, {x}, slice_of({1}, {12}, {2}))},
                         slice_of({1}, {6}, {3}));
           }},
          {"", [](Tensor x, Tensor) { return node(ops::kSlice, {x}, slice_of({1}, {12}, {1})); }},
          {"slice(concatenate(x, y), x) = x",
           [](Tensor x, Tensor y) {
             const Tensor both = node(ops::kConcatenate, {x, y}, ops::ConcatenateAttributes{0});
             return node(ops::kSlice, {both}, slice_of({12}, {24}, {1}));
           }},
          {"",
           [](Tensor x, Tensor y) {
             const Tensor both = node(ops::kConcatenate, {x, y}, ops::ConcatenateAttributes{0});
             return node(ops::kSlice, {both}, slice_of({11}, {23}, {1}));
           }},
          {"",
           [](Tensor x, Tensor y) {
             const Tensor both = node(ops::kConcatenate, {x, y}, ops::ConcatenateAttributes{0});
             return node(ops::kSlice, {both}, slice_of({0}, {23}, {2}));
           }},
          {"slice(broadcast(scalar)) = broadcast(scalar)",
           [](Tensor x, Tensor) {
             return node(ops::kSlice, {repeated_scalar(x, {4, 3})},
                         slice_of({1, 0}, {4, 3}, {2, 2}));
           }},
          {"concatenate(x) = x",
           [](Tensor x, Tensor) {
             return node(ops::kConcatenate, {x}, ops::ConcatenateAttributes{0});
           }},
          {"concatenate(x, empty) = concatenate(x)",
           [](Tensor x, Tensor y) {
             const Tensor empty = node(ops::kSlice, {x}, slice_of({3}, {3}, {1}));
             return node(ops::kConcatenate, {x, empty, y}, ops::ConcatenateAttributes{0});
           }},
          {"",
           [](Tensor x, Tensor y) {
             return node(ops::kConcatenate, {x, y}, ops::ConcatenateAttributes{0});
           }},
          {"pad(x, 0, 0, 0) = x",
           [](Tensor x, Tensor) {
             return node(ops::kPad, {x, repeated_scalar(x, {}).node()->operands[0]},
                         ops::PadAttributes{{0}, {0}, {0}});
           }},
          {"",
           [](Tensor x, Tensor) {
             return node(ops::kPad, {x, repeated_scalar(x, {}).node()->operands[0]},
                         ops::PadAttributes{{1}, {-1}, {0}});
           }},
          {"dynamic_slice(x, i, shape of x) = x",
           [](Tensor x, Tensor) {
             const Tensor start =
                 converted(repeated_scalar(x, {}).node()->operands[0], DType::kS32);
             return node(ops::kDynamicSlice, {x, start}, ops::DynamicSliceAttributes{{12}});
           }},
          {"dynamic_slice(broadcast(scalar)) = broadcast(scalar)",
           [](Tensor x, Tensor) {
             const Tensor start =
                 converted(repeated_scalar(x, {}).node()->operands[0], DType::kS32);
             return node(ops::kDynamicSlice, {repeated_scalar(x, {9}), start},
                         ops::DynamicSliceAttributes{{4}});
           }},
          {"dynamic_slice(x, 3, size) = slice(x, 3, 3 + size)",
           [](Tensor x, Tensor) {
             return node(ops::kDynamicSlice, {x, index_constant(3)},
                         ops::DynamicSliceAttributes{{4}});
           }},
          {"dynamic_slice(x, 3, size) = slice(x, 3, 3 + size)",
           [](Tensor x, Tensor) {
             return node(ops::kDynamicSlice, {x, index_constant(100)},
                         ops::DynamicSliceAttributes{{4}});
           }},
          {"dynamic_slice(x, 3, size) = slice(x, 3, 3 + size)",
           [](Tensor x, Tensor) {
             return node(ops::kDynamicSlice, {x, index_constant(-100)},
                         ops::DynamicSliceAttributes{{4}});
           }},
          {"dynamic_update_slice(x, y of x's shape, i) = y",
           [](Tensor x, Tensor y) {
             return node(ops::kDynamicUpdateSlice, {x, y, index_constant(5)});
           }},
          {"",
           [](Tensor x, Tensor y) {
             const Tensor part = node(ops::kSlice, {y}, slice_of({0}, {5}, {1}));
             return node(ops::kDynamicUpdateSlice, {x, part, index_constant(5)});
           }},
          {"p ? update(x, y, i) : x = update(x, p ? y : x at i, i)",
           [](Tensor x, Tensor y) { return one_or_updated(x, y, true); }},
          {"p ? update(x, y, i) : x = update(x, p ? y : x at i, i)",
           [](Tensor x, Tensor y) { return one_or_updated(x, y, false); }},
          {"p ? update(x, y, i) : update(x, z, j) = update(x, p ? y : z, p ? i : j)",
           [](Tensor x, Tensor y) { return one_of_two_updates(x, y, 1, false); }},
          // Parts of other sizes, and chains: one after the other.
          {"p ? update(x, y, i) : update(x, z, j) = update(x, p ? y : z, p ? i : j)",
           [](Tensor x, Tensor y) { return one_of_two_updates(x, y, 2, false); }},
          {"p ? update(x, y, i) : update(x, z, j) = update(x, p ? y : z, p ? i : j)",
           [](Tensor x, Tensor y) { return one_of_two_updates(x, y, 1, true); }},
          // A large part of few elements.
          {"",
           [](Tensor x, Tensor y) {
             const Tensor part = node(ops::kSlice, {y}, slice_of({0}, {7}, {1}));
             const Tensor to = node(ops::kDynamicUpdateSlice, {x, part, index_constant(5)});
             return node(ops::kSelect, {repeated_pred(y, x.shape()), to, x});
           }},
      };
  return samples;
}

std::vector<passes::Identity> all_identities() {
  std::vector<passes::Identity> all;
  for (const passes::Identity& row : passes::arithmetic_identities()) all.push_back(row);
  for (const passes::Identity& row : passes::shape_identities()) all.push_back(row);
  return all;
}

/// The row that applies first to a program's result.
std::string row_that_applies(const Function& function) {
  const ir::Node* result = function.outputs()[0].node();
  for (const passes::Identity& row : all_identities()) {
    if (row.op == result->op && !row.apply(*result).empty()) return std::string(row.says);
  }
  return "";
}

Function program(DType dtype, const std::function<Tensor(Tensor, Tensor)>& build) {
  const TensorType type{dtype, {kHardValues}};
  return trace([&](Tensor x, Tensor y) { return build(x, y); }, type, type);
}

void expect_same_on_hard_values(const Function& function, DType dtype) {
  for (std::int64_t shift = 0; shift < kHardValues; shift++) {
    expect_same_results(function, {hard_values(dtype), hard_values(dtype, shift)});
  }
}

TEST(Identities, OfArithmetic) {
  for (const Sample& sample : arithmetic_samples()) {
    for (DType dtype : sample.applies) {
      SCOPED_TRACE(sample.says + " of " + std::string(dtype_name(dtype)));
      const Function f = program(dtype, sample.build);
      EXPECT_EQ(row_that_applies(f), sample.says);
      expect_same_on_hard_values(f, dtype);
    }
    for (DType dtype : sample.refuses) {
      SCOPED_TRACE("not " + sample.says + " of " + std::string(dtype_name(dtype)));
      const Function f = program(dtype, sample.build);
      EXPECT_EQ(row_that_applies(f), "");
      expect_same_on_hard_values(f, dtype);
    }
  }
}

TEST(Identities, OfShapes) {
  for (const auto& [says, build] : shape_samples()) {
    for (DType dtype : {DType::kS32, DType::kF64}) {
      SCOPED_TRACE(says);
      const Function f = program(dtype, build);
      EXPECT_EQ(row_that_applies(f), says);
      expect_same_on_hard_values(f, dtype);
    }
  }
}

TEST(Identities, EachRowHasASampleAndAReason) {
  std::set<std::string> sampled{"convert(convert(x, b), c) = convert(x, c)"};  // below
  for (const Sample& sample : arithmetic_samples()) sampled.insert(sample.says);
  for (const auto& [says, build] : shape_samples()) sampled.insert(says);
  for (const passes::Identity& row : all_identities()) {
    EXPECT_TRUE(sampled.contains(std::string(row.says))) << row.says;
    EXPECT_FALSE(row.why.empty()) << row.says;
  }
}

// All chains of two conversions, with the values on which they would differ.
TEST(Identities, OfConversions) {
  int shortened = 0;
  for (DType from : kAllDtypes) {
    for (DType between : kAllDtypes) {
      for (DType to : kAllDtypes) {
        if (is_complex(from) && !is_complex(between))
          continue;  // the public convert takes the real part first
        if (is_complex(between) && !is_complex(to)) continue;
        SCOPED_TRACE(std::string(dtype_name(from)) + " " + std::string(dtype_name(between)) + " " +
                     std::string(dtype_name(to)));
        const TensorType type{from, {kHardValues}};
        const Function f =
            trace([&](Tensor x) { return converted(converted(x, between), to); }, type);
        const Function g = expect_same_results(f, {hard_values(from)});
        if (count(g, "convert") < 2) shortened++;
      }
    }
  }
  EXPECT_GT(shortened, 500);
}

TEST(Identities, ConversionsThatLoseSomethingStay) {
  const std::vector<std::vector<DType>> chains{
      {DType::kF64, DType::kF32, DType::kF64},  {DType::kS32, DType::kF32, DType::kS32},
      {DType::kF32, DType::kBF16, DType::kF32}, {DType::kF16, DType::kBF16, DType::kF16},
      {DType::kS32, DType::kS8, DType::kS32},   {DType::kS32, DType::kF64, DType::kS8},
      {DType::kU8, DType::kF32, DType::kS8},    {DType::kS8, DType::kU16, DType::kF32},
      {DType::kF32, DType::kS32, DType::kF32},  {DType::kS32, DType::kPred, DType::kS32},
      {DType::kS64, DType::kF64, DType::kS64}};
  for (const auto& chain : chains) {
    const TensorType type{chain[0], {kHardValues}};
    const Function f =
        trace([&](Tensor x) { return converted(converted(x, chain[1]), chain[2]); }, type);
    EXPECT_EQ(count(passes::optimize(f), "convert"), 2) << f.str();
  }
}

TEST(Identities, ConversionsThatLoseNothingGo) {
  const std::vector<std::vector<DType>> chains{
      {DType::kF32, DType::kF64, DType::kF32},   {DType::kS16, DType::kF32, DType::kS16},
      {DType::kPred, DType::kS32, DType::kPred}, {DType::kU8, DType::kS16, DType::kU8},
      {DType::kS32, DType::kU64, DType::kS32},   {DType::kC64, DType::kC128, DType::kC64}};
  for (const auto& chain : chains) {
    const TensorType type{chain[0], {kHardValues}};
    const Function f =
        trace([&](Tensor x) { return converted(converted(x, chain[1]), chain[2]); }, type);
    const Function g = expect_same_results(f, {hard_values(chain[0])});
    EXPECT_TRUE(g.outputs()[0].same_as(g.parameters()[0])) << f.str();
  }
}

TEST(Identities, OneAfterTheOther) {
  // -(-x) simplifies to abs(-x), which simplifies to abs(x).
  const Function f = trace(
      [](Tensor x) {
        return node(ops::kAbs,
                    {node(ops::kNegate, {node(ops::kNegate, {node(ops::kNegate, {x})})})});
      },
      f32({kHardValues}));
  const Function g = expect_same_results(f, {hard_values(DType::kF32)});
  EXPECT_EQ(g.stats().nodes, 1);
}

TEST(Identities, ATapIsNotLostWithAFactorOfZero) {
  const Function f =
      trace([](Tensor x) { return tap(x, "x") * 0 + where(Tensor(true), x, tap(x, "y")); }, s32());
  for (const bool optimize : {false, true}) {
    int seen = 0;
    RunOptions options;
    options.on_tap = [&](std::string_view, const Literal&) { seen++; };
    EXPECT_EQ(compile(f, {.optimize = optimize}).run({Literal::scalar(3)}, options)[0].item<int>(),
              3);
    EXPECT_EQ(seen, 2);
  }
}

TEST(Identities, PlacesSurvive) {
  const Function f = trace([](Tensor x, Tensor y) { return x - (-y); }, f32(), f32());
  const std::uint32_t line = find_node(f, "subtract")->line;
  EXPECT_EQ(find_node(passes::optimize(f), "add")->line, line);
}

}  // namespace
}  // namespace rondo::testing
