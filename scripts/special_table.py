#!/usr/bin/env python3
"""Writes values of the special functions, which tests/ops/special_test.cc compares with.

    python3 -m pip install mpmath
    scripts/special_table.py > tests/ops/special_table.csv
    scripts/special_table.py --points 3000 > more.csv     # for RONDO_SPECIAL_TABLE=more.csv

Each line is a function, its operands, which an f32 holds, and its value, correctly rounded to f64,
all in hexadecimal. The last column is the number whose unit in the last place errors are counted
in, if the value is smaller: near a zero that no float hits, errors are absolute.
"""
import argparse
import random
import struct

import mpmath as m

m.mp.dps = 50
mpf = m.mpf


def single(x):
    return struct.unpack("f", struct.pack("f", x))[0]


def uniform(low, high):
    return lambda: single(random.uniform(low, high))


def powers(low, high):
    """Of all sizes from 2^low to 2^high."""
    return lambda: single(2 ** random.uniform(low, high))


def signed(draw):
    return lambda: random.choice((-1, 1)) * draw()


def lgamma(x):
    return m.log(abs(m.gamma(x))) if abs(x) < 1000 else m.loggamma(x).real


def zeta(s, q):
    """mpmath's has an absolute error."""
    with m.workdps(250):
        return m.zeta(s, q)


def gammainc(a, x):
    return m.gammainc(a, 0, x, regularized=True)


def gammaincc(a, x):
    return m.gammainc(a, x, m.inf, regularized=True)


def betainc(a, b, x):
    return m.betainc(a, b, 0, x, regularized=True)


def betaln(a, b):
    return m.loggamma(a) + m.loggamma(b) - m.loggamma(a + b)


def ndtri(p):
    t = m.sqrt(-2 * m.log(min(p, 1 - p)))
    x = -(t - m.log(t) / t - mpf("0.92") / t) if min(p, 1 - p) < 0.1 else (min(p, 1 - p) - mpf(1) / 2) * 2.5
    if p == 0.5:
        return mpf(0)
    for _ in range(60):
        step = (m.erfc(-x / m.sqrt(2)) / 2 - min(p, 1 - p)) * m.exp(x * x / 2) * m.sqrt(2 * m.pi)
        step /= 1 + x * step / 2
        x -= step
        if abs(step) < mpf(10) ** -40 * abs(x):
            break
    return x if p < 0.5 else -x


def bessel(order):
    return lambda x: m.besseli(order, x) * m.exp(-abs(x))


def sinc(x):
    return m.sincpi(x)


# name, function, draws of its operands, what errors are relative to at least
FUNCTIONS = [
    ("lgamma", lgamma, [powers(-60, 60)], 0),
    ("lgamma", lgamma, [uniform(0, 12)], 0),
    ("lgamma", lgamma, [uniform(-12, 0)], 1),
    ("lgamma", lgamma, [uniform(-150, -12)], 1),
    ("digamma", m.digamma, [powers(-60, 60)], 0),
    ("digamma", m.digamma, [uniform(0, 12)], 0),
    ("digamma", m.digamma, [uniform(-12, 0)], 1),
    ("trigamma", lambda x: m.psi(1, x), [uniform(0, 20)], 0),
    ("trigamma", lambda x: m.psi(1, x), [uniform(-9, 0)], 0),
    ("polygamma 4", lambda x: m.psi(4, x), [uniform(0, 20)], 0),
    ("polygamma 4", lambda x: m.psi(4, x), [uniform(-9, 0)], 100),
    ("zeta", zeta, [uniform(1, 20), uniform(0, 20)], 0),
    ("zeta", zeta, [uniform(1, 60), powers(-6, 12)], 0),
    ("bessel_i0e", bessel(0), [uniform(-30, 30)], 0),
    ("bessel_i0e", bessel(0), [powers(-30, 16)], 0),
    ("bessel_i1e", bessel(1), [uniform(-30, 30)], 0),
    ("bessel_i1e", bessel(1), [powers(-30, 16)], 0),
    ("xlogy", lambda x, y: x * m.log(y), [uniform(-9, 9), powers(-30, 30)], 0),
    ("entr", lambda x: -x * m.log(x), [uniform(0, 4)], 0),
    ("ndtr", lambda x: m.erfc(-x / m.sqrt(2)) / 2, [uniform(-4, 9)], 0),
    ("ndtr", lambda x: m.erfc(-x / m.sqrt(2)) / 2, [uniform(-12, -4)], 0),
    ("ndtri", ndtri, [uniform(0, 1)], 0),
    ("ndtri", ndtri, [powers(-120, -1)], 0),
    ("sinc", sinc, [uniform(-3, 3)], 0),
    ("sinc", sinc, [uniform(-1000, 1000)], 0),
    ("betaln", betaln, [uniform(0, 30), uniform(0, 30)], 1),
    ("betaln", betaln, [powers(-10, 40), powers(-10, 40)], 1),
    ("gammainc", gammainc, [uniform(0, 30), uniform(0, 30)], 0),
    ("gammainc", gammainc, [powers(-10, 12), powers(-10, 12)], 0),
    ("gammaincc", gammaincc, [uniform(0, 30), uniform(0, 30)], 0),
    ("gammaincc", gammaincc, [powers(-10, 12), powers(-10, 12)], 0),
    ("betainc", betainc, [uniform(0, 30), uniform(0, 30), uniform(0, 1)], 0),
    ("betainc", betainc, [powers(-8, 9), powers(-8, 9), uniform(0, 1)], 0),
]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--points", type=int, default=16, help="of each line of FUNCTIONS")
    parser.add_argument("--only", default="", help="functions whose names begin so")
    arguments = parser.parse_args()
    random.seed(20261128)
    for name, f, draws, unit in FUNCTIONS:
        for _ in range(arguments.points):
            operands = [draw() for draw in draws]
            if not name.startswith(arguments.only) or 0 in operands:
                continue
            value = float(m.re(f(*(mpf(x) for x in operands))))
            if value != 0 and (abs(value) < 2.0**-1000 or abs(value) > 2.0**1000):
                continue
            print(",".join([name] + [x.hex() for x in operands] + [value.hex(), str(unit)]))


if __name__ == "__main__":
    main()
