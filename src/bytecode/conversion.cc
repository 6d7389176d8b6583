// Conversions between any two types.
#include "bytecode/instruction.h"
#include "lower/arithmetic.h"

namespace rondo::bytecode {

namespace {

template <bool lanes, class From, class To>
const Instruction* run_convert(const Instruction* at, State& state) {
  const From* a = state.at<From>(at->a);
  To* result = state.at<To>(at->result);
  const int width = lanes ? state.width : 1;
  for (int i = 0; i < width; i++) result[i] = lower::converted<To>(a[i]);
  return at + 1;
}

}  // namespace

Run conversion(lower::Type from, lower::Type to, bool lanes) {
  Run run = nullptr;
  lower::for_type(from, [&]<class From>() {
    lower::for_type(to, [&]<class To>() {
      run = lanes ? run_convert<true, From, To> : run_convert<false, From, To>;
    });
  });
  return run;
}

}  // namespace rondo::bytecode
