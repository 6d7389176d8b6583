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
inline constexpr DTypes kFloatDTypes = dtypes(DType::kF16, DType::kBF16, DType::kF32, DType::kF64);

struct OpTypes {
  InferRule infer = nullptr;  // for every op that rewrites may recreate
  DTypes keeps_dtypes = 0;    // for an elementwise op: the operands that give the result its dtype
};

}  // namespace rondo::ir
