#!/usr/bin/env python3
"""Writes the numbers of small dtypes, which tests/ops/small_types_test.cc compares with.

    python3 -m pip install ml_dtypes
    scripts/small_types_table.py > tests/ops/small_types_table.csv

A line `dtype,values,...` has the f32 bits of all bytes of a dtype in order, those of a line
`dtype,from_f64,...` are the bytes that ml_dtypes gives the numbers of the line `inputs,f64,...` (of
a float; for integers it has no rule of its own), and `dtype,from_s32,...` those of -300 to 299.
"""
import random

import ml_dtypes
import numpy as np

FLOATS = {
    "f4e2m1fn": ml_dtypes.float4_e2m1fn,
    "f8e3m4": ml_dtypes.float8_e3m4,
    "f8e4m3": ml_dtypes.float8_e4m3,
    "f8e4m3fn": ml_dtypes.float8_e4m3fn,
    "f8e4m3b11fnuz": ml_dtypes.float8_e4m3b11fnuz,
    "f8e4m3fnuz": ml_dtypes.float8_e4m3fnuz,
    "f8e5m2": ml_dtypes.float8_e5m2,
    "f8e5m2fnuz": ml_dtypes.float8_e5m2fnuz,
}
INTEGERS = {
    "s2": ml_dtypes.int2,
    "u2": ml_dtypes.uint2,
    "s4": ml_dtypes.int4,
    "u4": ml_dtypes.uint4,
}
BITS = {"f4e2m1fn": 4, "s2": 2, "u2": 2, "s4": 4, "u4": 4}


def row(*cells):
    print(",".join(cells))


def bytes_of(array, name):
    mask = 2 ** BITS.get(name, 8) - 1
    return [f"{byte & mask:02x}" for byte in array.view(np.uint8).tolist()]


def main():
    random.seed(8)
    inputs = [0.0, -0.0, np.inf, -np.inf, np.nan, 1e9, -1e9, 464.0, 465.0, 448.0, 61440.0, 61439.9]
    inputs += [random.choice((-1, 1)) * 2 ** random.uniform(-20, 18) for _ in range(200)]
    inputs = np.array(inputs, np.float64)
    row("inputs", "f64", *(f"{bits:016x}" for bits in inputs.view(np.uint64).tolist()))
    for name, dtype in (FLOATS | INTEGERS).items():
        count = 2 ** BITS.get(name, 8)
        values = np.arange(count, dtype=np.uint8).view(dtype).astype(np.float32)
        row(name, "values", *(f"{bits:08x}" for bits in values.view(np.uint32).tolist()))
        with np.errstate(all="ignore"):
            if name in FLOATS:
                row(name, "from_f64", *bytes_of(inputs.astype(dtype), name))
            row(name, "from_s32", *bytes_of(np.arange(-300, 300, dtype=np.int32).astype(dtype), name))


main()
