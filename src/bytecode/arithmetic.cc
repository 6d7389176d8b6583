// Instructions on values: one template per kind of op, once for a value and once for a block.
#include "lower/arithmetic.h"

#include "bytecode/instruction.h"
#include "lower/opcodes.h"

namespace rondo::bytecode {

namespace {

using lower::Opcode;
using lower::Type;

/// Calls f(i) for each lane of the block. No block register is both read and written.
template <bool lanes, class F>
inline void each(const State& state, F&& f) {
  if constexpr (!lanes) {
    f(0);
  } else {
    const int width = state.width;
    for (int i = 0; i < width; i += kStep) {
      for (int j = 0; j < kStep; j++) f(i + j);
    }
  }
}

template <bool lanes, Opcode code, class T>
const Instruction* run_unary(const Instruction* at, State& state) {
  const T* a = state.at<T>(at->a);
  T* result = state.at<T>(at->result);
  each<lanes>(state, [&](int i) { result[i] = lower::unary<code, T>(a[i]); });
  return at + 1;
}

template <bool lanes, Opcode code, class T>
const Instruction* run_binary(const Instruction* at, State& state) {
  const T* a = state.at<T>(at->a);
  const T* b = state.at<T>(at->b);
  T* result = state.at<T>(at->result);
  each<lanes>(state, [&](int i) { result[i] = lower::binary<code, T>(a[i], b[i]); });
  return at + 1;
}

template <bool lanes, Opcode code, class T>
const Instruction* run_compare(const Instruction* at, State& state) {
  const T* a = state.at<T>(at->a);
  const T* b = state.at<T>(at->b);
  bool* result = state.at<bool>(at->result);
  each<lanes>(state, [&](int i) { result[i] = lower::compared<code, T>(a[i], b[i]); });
  return at + 1;
}

template <bool lanes, Opcode code, class T>
const Instruction* run_fused(const Instruction* at, State& state) {
  const T* a = state.at<T>(at->a);
  const T* b = state.at<T>(at->b);
  const T* c = state.at<T>(at->c);
  T* result = state.at<T>(at->result);
  each<lanes>(state, [&](int i) { result[i] = lower::fused<code, T>(a[i], b[i], c[i]); });
  return at + 1;
}

template <bool lanes, class T>
const Instruction* run_select(const Instruction* at, State& state) {
  const bool* chosen = state.at<bool>(at->a);
  const T* b = state.at<T>(at->b);
  const T* c = state.at<T>(at->c);
  T* result = state.at<T>(at->result);
  each<lanes>(state, [&](int i) { result[i] = chosen[i] ? b[i] : c[i]; });
  return at + 1;
}

template <bool lanes, class T, int operands, bool masked>
const Instruction* run_math(const Instruction* at, State& state) {
  const T* a = state.at<T>(at->a);
  const T* b = state.at<T>(at->b);
  const bool* where = state.at<bool>(at->c);
  T* result = state.at<T>(at->result);
  const int count = lanes ? state.lanes : 1;
  for (int i = 0; i < count; i++) {
    if (masked && !where[i]) {
      result[i] = 0;
      continue;
    }
    if constexpr (operands == 1)
      result[i] = reinterpret_cast<T (*)(T)>(at->bits)(a[i]);
    else
      result[i] = reinterpret_cast<T (*)(T, T)>(at->bits)(a[i], b[i]);
  }
  for (int i = count; lanes && i < state.width; i++) result[i] = 0;
  return at + 1;
}

template <bool lanes, class T>
Run math(const lower::Op& op) {
  const bool masked = op.c != lower::kNone;
  if (op.b == lower::kNone)
    return masked ? run_math<lanes, T, 1, true> : run_math<lanes, T, 1, false>;
  return masked ? run_math<lanes, T, 2, true> : run_math<lanes, T, 2, false>;
}

template <bool lanes>
Run arithmetic_of(const lower::Op& op) {
  Run run = nullptr;
  switch (lower::info(op.code).kind) {
    case lower::OpcodeKind::kUnary:
      lower::for_unary(op.code, [&]<Opcode code>() {
        lower::for_type(op.type, [&]<class T>() {
          if constexpr (lower::has_unary<code, T>) run = run_unary<lanes, code, T>;
        });
      });
      return run;
    case lower::OpcodeKind::kBinary:
      lower::for_binary(op.code, [&]<Opcode code>() {
        lower::for_type(op.type, [&]<class T>() {
          if constexpr (lower::has_binary<code, T>) run = run_binary<lanes, code, T>;
        });
      });
      return run;
    case lower::OpcodeKind::kCompare:
      lower::for_compare(op.code, [&]<Opcode code>() {
        lower::for_type(op.from, [&]<class T>() { run = run_compare<lanes, code, T>; });
      });
      return run;
    case lower::OpcodeKind::kMath:
      return op.type == Type::kF32 ? math<lanes, float>(op) : math<lanes, double>(op);
    case lower::OpcodeKind::kTernary:
      if (op.code == Opcode::kSelect) {
        switch (lower::width(op.type)) {
          case 1:
            return run_select<lanes, std::uint8_t>;
          case 2:
            return run_select<lanes, std::uint16_t>;
          case 4:
            return run_select<lanes, std::uint32_t>;
          default:
            return run_select<lanes, std::uint64_t>;
        }
      }
      lower::for_fused(op.code, [&]<Opcode code>() {
        lower::for_type(op.type, [&]<class T>() {
          if constexpr (lower::is_float_type<T>) run = run_fused<lanes, code, T>;
        });
      });
      return run;
    default:
      return nullptr;
  }
}

}  // namespace

Run arithmetic(const lower::Op& op, bool lanes) {
  return lanes ? arithmetic_of<true>(op) : arithmetic_of<false>(op);
}

}  // namespace rondo::bytecode
