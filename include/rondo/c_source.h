// A program as C source, for machines without this library: microcontrollers, firmware.
#pragma once

#include <cstdint>
#include <string>

#include "rondo/export.h"
#include "rondo/function.h"

namespace rondo {

/// Who has the memory that a call takes beside its arguments and results.
enum class CWorkspace : std::uint8_t {
  kCaller,  // the caller: the function is reentrant
  kStatic,  // the file: no two calls at once
};

/// What mathematical functions such as exp and sin are.
enum class CMath : std::uint8_t {
  kExact,  // written out, by the definitions that all executors have: the same bits everywhere
  kLibm,   // those of <math.h>, which are smaller, and differ in their last bits by library
};

/// Options of to_c_source.
struct COptions {
  /// Of the function, and the beginning of the names of its types. Empty: that of the program.
  std::string name = {};
  /// The header as the source includes it. Empty: the name with ".h".
  std::string header = {};
  CWorkspace workspace = CWorkspace::kCaller;
  CMath math = CMath::kExact;
  /// Whether the machine computes in double. All executors keep the sums of many floats in 64 bits;
  /// a machine without double does it in integers, to the same bits, and a program in f32 then
  /// holds no double unless it calls a function that needs it, such as lgamma.
  bool has_double = false;
  /// Whether the source ends with a `main`, unless NAME_NO_TEST_MAIN is defined, that runs the
  /// program on arguments which are written there and returns how many of its results have other
  /// bits than here. It calls no function of the C library.
  bool test_main = false;
};

/// What to_c_source returns: the texts of the source file and of its header, and the bytes of
/// memory that a call takes beside its arguments and results (0 if there is none).
struct CSource {
  std::string source, header;
  std::int64_t workspace_bytes = 0;
};

/// The program as one file of C99, which C++ compilers take too, and its header. Loops stay loops,
/// with the names of their carries and the lines where they were written. The file needs nothing
/// but <math.h>, <stdbool.h> and <stdint.h>; it allocates nothing and does not recurse. Its structs
/// are named as the trees of arguments and results are; arrays are row-major, a complex number is
/// two elements, f16 and bf16 are their bits.
///
/// The results have the bits of the reference if the compiler does not contract (gcc and clang with
/// -std=c99, or -ffp-contract=off), but for sums of 16 and more products, whose order is that of
/// the array.
///
/// Throws TraceError, which names the construct and the place, for what C has no form for: arrays
/// that grow with the trips of a loop (a gradient by tape of a loop of unknown length), observers
/// such as tap and print, custom calls, collectives; and for a name that is no identifier.
RONDO_API CSource to_c_source(const Function& function, const COptions& options = {});

}  // namespace rondo
