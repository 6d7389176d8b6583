// The part of a record on the types of an op's results.
#pragma once

#include <cstdint>
#include <span>
#include <string>

#include "absl/container/inlined_vector.h"
#include "rondo/function.h"
#include "rondo/tensor.h"

namespace rondo::ir {

class Attributes;
struct Node;
struct OpDef;

/// The arguments of a type rule.
struct InferContext {
  const OpDef& op;
  std::span<const Tensor> operands;
  const Attributes& attributes;
  std::span<const Function> regions;
  SourceLocation at;

  const TensorType& type(std::size_t i) const { return operands[i].type(); }
  template <class T>
  const T& attrs() const {
    return attributes.template as<T>();
  }
  /// Throws TraceError: "<op>: <message>", with the user's line.
  [[noreturn]] void fail(const std::string& message) const;
};

using InferredTypes = absl::InlinedVector<TensorType, 1>;
using InferRule = InferredTypes (*)(const InferContext&);

/// Sets of dtypes, a bit each.
using DTypes = std::uint32_t;
constexpr DTypes dtypes(auto... each) { return (0u | ... | (1u << static_cast<unsigned>(each))); }
inline constexpr DTypes kAllDTypes = (1u << kDTypeCount) - 1;
inline constexpr DTypes kRealDTypes = kAllDTypes & ~dtypes(DType::kC64, DType::kC128);
inline constexpr DTypes kFloatDTypes =
    kRealDTypes & ~dtypes(DType::kPred, DType::kS8, DType::kS16, DType::kS32, DType::kS64,
                          DType::kU8, DType::kU16, DType::kU32, DType::kU64, DType::kS2, DType::kU2,
                          DType::kS4, DType::kU4);

/// The results of a node with small dtypes (is_small) on the bytes of their elements: s8 or u8, as
/// those of its results.
using BytesRule = std::vector<Tensor> (*)(const Node& node, std::span<const Tensor> operands);

struct OpTypes {
  InferRule infer = nullptr;  // for every op that rewrites may recreate
  DTypes keeps_dtypes = 0;    // for an elementwise op: the operands that give the result its dtype
  /// How it computes with small dtypes, if it neither copies elements (a movement by cost, an op
  /// with regions, or one that `copies`) nor computes in the dtype that holds their numbers and
  /// rounds its results.
  BytesRule on_bytes = nullptr;
  bool copies = false;  // it copies elements, although it is no movement by cost
};

}  // namespace rondo::ir
