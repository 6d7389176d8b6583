// Arrays of other libraries without a copy, by DLPack: the struct in which NumPy, PyTorch, JAX,
// CuPy and others hand arrays to one another.
//
// The structs are those of <dlpack/dlpack.h> if a program has it. A copy of that header in another
// place must be included before this one.
#pragma once

#if !defined(DLPACK_DLPACK_H_) && __has_include(<dlpack/dlpack.h>)
#include <dlpack/dlpack.h>
#endif

#include "rondo/detail/dlpack_abi.h"
#include "rondo/export.h"
#include "rondo/literal.h"

namespace rondo {

/// The literal's elements for another library: on the CPU, dense, with strides. Its storage is
/// shared, and lives until the consumer calls `deleter`, which it does once. The consumer must not
/// write to it, since other literals may share it: the versioned struct, of DLPack 1, says so by
/// its flag; of the other NumPy makes a read-only array, PyTorch does not. A later write to this
/// literal does not change it. A pred is a bool of 8 bits. Throws TraceError for dtypes of 2 and 4
/// bits, which DLPack packs, and for a literal that was moved from.
[[nodiscard(
    "rondo: what to_dlpack returns has to be given to a consumer, or released by its "
    "deleter")]] RONDO_API DLManagedTensor*
to_dlpack(const Literal& literal);

/// to_dlpack, as the struct of DLPack 1: of version 1.1, read-only, in Python a capsule named
/// "dltensor_versioned" for consumers that pass a max_version from 1 on.
[[nodiscard(
    "rondo: what to_dlpack_versioned returns has to be given to a consumer, or released by its "
    "deleter")]] RONDO_API DLManagedTensorVersioned*
to_dlpack_versioned(const Literal& literal);

/// The array of another library. Takes ownership of `tensor`: its deleter is called once, when no
/// literal needs the memory any more, on the thread that releases the last; when the elements were
/// copied, or the tensor is refused, before this returns or throws.
///
/// A dense row-major array whose elements are aligned as their host type is kept without a copy,
/// and must not be written to from then on, as with Literal::sharing. Any other, also with strides
/// that are negative or 0, is copied. Throws TraceError, naming what does not fit, for a null
/// pointer, memory that is not the CPU's, a dtype that Rondo has not, lanes other than 1, negative
/// sizes, and sizes or strides beyond the address space; ExecutionError if there is not enough
/// memory.
RONDO_API Literal from_dlpack(DLManagedTensor* tensor);

/// The same for the struct of DLPack 1. Read-only arrays are fine: a literal that is written to
/// copies first. Throws TraceError also for another major version than 1, whose other fields are
/// not looked at.
RONDO_API Literal from_dlpack(DLManagedTensorVersioned* tensor);

}  // namespace rondo
