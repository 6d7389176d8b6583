#!/usr/bin/env python3
"""SciPy's times for the transforms of ops_bench: PocketFFT on one thread, in microseconds."""

import time

import numpy
import scipy.fft


def least_seconds(work, seconds=1.0):
    least = float("inf")
    end = time.perf_counter() + seconds
    while (start := time.perf_counter()) < end:
        work()
        least = min(least, time.perf_counter() - start)
    return least


for power in (10, 15, 20):
    n = 2**power
    v = numpy.sin(numpy.arange(n) % 9973 * 1.3)
    x = v + 1j * v * v
    print(f"fft of 2^{power}: {least_seconds(lambda: scipy.fft.fft(x, workers=1)) * 1e6:.1f} us")
