#!/usr/bin/env python3
"""Measures the largest errors of the elementwise functions and writes docs/accuracy.md.

    python3 -m venv build/venv && build/venv/bin/pip install mpmath gmpy2
    build/venv/bin/python scripts/accuracy.py            # some two minutes
    build/venv/bin/python scripts/accuracy.py --only digamma,sin --show
    build/venv/bin/python scripts/accuracy.py --all      # all floats of one f32: hours

The exact values are mpmath's. Inputs are random bit patterns, numbers of the sizes that programs
have, and numbers close to zeros, poles and other hard places. With --all the functions of one
operand are run on all 2^32 f32 and all f16 and bf16; their values are then compared with the C++
library's function in f64, or Rondo's where that has none: mpmath would take years.
"""
import argparse
import array
import math
import multiprocessing
import os
import random
import struct
import subprocess
import sys
import tempfile
from pathlib import Path

import mpmath as m

import special_table as special

ROOT = Path(__file__).resolve().parent.parent
mpf, mpc = m.mpf, m.mpc
PRECISION = 180  # bits

# ---- dtypes ----

# Digits, the exponent of the least normal number, bits.
FORMATS = {"f64": (53, -1022, 64), "f32": (24, -126, 32), "f16": (11, -14, 16),
           "bf16": (8, -126, 16), "c64": (24, -126, 32), "c128": (53, -1022, 64)}
PART = {"c64": "f32", "c128": "f64"}


def from_bits(dtype, bits):
    if dtype == "bf16":
        return struct.unpack("<f", struct.pack("<I", bits << 16))[0]
    code, integer = {"f64": "dQ", "f32": "fI", "f16": "eH"}[dtype]
    return struct.unpack("<" + code, struct.pack("<" + integer, bits))[0]


def rounded(dtype, x):
    """To a number of the dtype, NaN beyond its largest."""
    if dtype == "f64":
        return x
    try:
        if dtype == "bf16":
            return from_bits(dtype, struct.unpack("<I", struct.pack("<f", x))[0] >> 16)
        code = "<f" if dtype == "f32" else "<e"
        return struct.unpack(code, struct.pack(code, x))[0]
    except OverflowError:
        return math.nan


def error_in_ulp(got, want, dtype, least=0):
    """Of a float against an exact mpf, in units in the last place of the value, or of `least`."""
    digits, least_exponent, _ = FORMATS[dtype]
    if math.isnan(got):
        return math.inf
    largest = math.ldexp(2 - math.ldexp(2, -digits), 1 - least_exponent)
    size = abs(want)
    if math.isinf(got):
        if size < largest or (got > 0) != (want > 0):
            return math.inf
        return 0
    if size > largest * (1 + mpf(2) ** (-digits - 1)):  # what rounds to infinity
        return float((size - largest) / mpf(2) ** m.floor(m.log(largest, 2))) \
            if abs(got) == largest and size < 2 * largest else math.inf
    size = max(size, least)
    exponent = max(m.mag(size) - 1 if size else least_exponent, least_exponent)
    return float(m.ldexp(abs(got - want), digits - 1 - int(exponent)))


# ---- inputs ----

def near(dtype, centre):
    """A number by a random, mostly small, distance from the centre."""
    scale = 2.0 ** -random.uniform(0, FORMATS[dtype][0] + 2)
    return rounded(dtype, centre + random.choice((-1, 1)) * scale * (abs(centre) or 1))


def numbers(dtype, count, centres=()):
    """Over the whole range, of the sizes that programs have, and near hard places."""
    digits, least_exponent, bits = FORMATS[dtype]
    special_ones = [1.0, 2.0, 0.5, 3.0, 2.0**least_exponent, 2.0 ** (least_exponent - digits + 1),
                    from_bits(dtype, (1 << (bits - 1)) - (1 << (digits - 1)) - 1)]
    result = special_ones + [-x for x in special_ones]
    while len(result) < count:
        result.append(from_bits(dtype, random.getrandbits(bits)))  # of all sizes, also subnormal
        result += [rounded(dtype, random.uniform(-r, r)) for r in (1, 8, 30)]
        result.append(near(dtype, 1.0) * random.choice((-1, 1)))
        result.append(rounded(dtype, random.choice((-1, 1)) * 2 ** random.uniform(-digits, 10)))
        result.append(rounded(dtype, random.uniform(-720, 720)))  # where exp ends
        if centres:
            result.append(near(dtype, random.choice(centres)))
            result.append(near(dtype, random.choice(centres)))
    return result


def pairs(dtype, count, centres=()):
    """Also close to each other."""
    xs, ys = numbers(dtype, count, centres), numbers(dtype, count, centres)
    random.shuffle(ys)
    for i in range(0, len(xs), 5):
        ys[i] = near(dtype, xs[i]) if math.isfinite(xs[i]) else 1.0
    return [(x, y) for x, y in zip(xs, ys)]


def complex_number(part):
    random_scale = 2.0 ** -random.uniform(0, 20)
    scale = random.choice((4, random_scale, random_scale, random_scale, random_scale, 30))
    re, im = random.choice(((0, 0), (0, 0), (1, 0), (0, 1), (-1, 0), (0, math.pi), (0, -1)))
    if scale > 1:
        re = im = 0
    return complex(rounded(part, re + scale * random.uniform(-1, 1)),
                   rounded(part, im + scale * random.uniform(-1, 1)))


def draws_of(table_name):
    """The operands that scripts/special_table.py draws, for a dtype."""
    rows = [draws for name, _, draws, _ in special.FUNCTIONS if name == table_name]

    def sample(dtype, count):
        # The draws hold f32; the same sizes with all digits.
        def one(draw):
            return rounded(dtype, draw() * (1 + random.uniform(-1, 1) * 2.0**-24))
        return [tuple(one(draw) for draw in random.choice(rows)) for _ in range(count)]
    return sample


def gamma_operands(dtype, count):
    """Also x near a large a, where P and Q are the normal distribution's."""
    def close():
        a = rounded(dtype, 2 ** random.uniform(3, 13 if dtype == "f16" else 16))
        return a, rounded(dtype, max(a + random.uniform(-9, 9) * math.sqrt(a), 0.5))
    return draws_of("gammainc")(dtype, count // 2) + [close() for _ in range(count // 2)]


# ---- functions ----

class Function:
    """An exact function, with its inputs.

    `limit` is the largest error allowed, in ulp; `inside` where it is defined; `centres` are hard
    places; `sample` other draws; `least` a size below which errors count in its units: below 0 only, for
    functions of one operand."""

    def __init__(self, exact, limit=2, inside=lambda *x: True, centres=(), count=1, sample=None,
                 least=0, of_complex=None):
        self.exact, self.limit, self.inside = exact, limit, inside
        self.centres, self.count, self.sample, self.least = centres, count, sample, least
        self.of_complex = of_complex or exact


def positive(*x):
    return all(value > 0 for value in x)


def within_one(x):
    return abs(x) <= 1


def exact_by_floats(f):
    """For functions whose value a float holds."""
    return lambda *x: mpf(f(*(float(v) for v in x)))


def round_half_away(x):
    whole = math.floor(abs(x))
    return math.copysign(whole + (abs(x) - whole >= 0.5), x)


def sign(x):
    if isinstance(x, mpc):
        return x / abs(x) if x else mpc(0)
    return mpf((x > 0) - (x < 0))


def logistic(z):
    return 1 / (1 + m.exp(-z))


def erf_inv(x):
    """By Halley's method from special_table's quantile of the normal distribution."""
    if abs(x) < 1e-8:
        root_pi = m.sqrt(m.pi)
        return root_pi / 2 * (x + m.pi * x**3 / 12)
    return m.sign(x) * -special.ndtri((1 - abs(x)) / 2) / m.sqrt(2)


def gammainc(a, x):
    """By its series for x near a large a, which mpmath's would take long for."""
    if a < 30 or abs(x - a) > 10 * m.sqrt(a):
        return special.gammainc(a, x)
    with m.workprec(400):
        term = total = mpf(1)
        k = 0
        while term > total * mpf(2) ** -300:
            k += 1
            term *= x / (a + k)
            total += term
        return total * m.exp(a * m.log(x) - x - m.loggamma(a + 1))


def gammaincc(a, x):
    if a < 30 or abs(x - a) > 10 * m.sqrt(a):
        return special.gammaincc(a, x)
    with m.workprec(400):
        return 1 - gammainc(a, x)


def power_defined(x, y):
    return x > 0 or (x < 0 and y == math.floor(y)) or (x == 0 and y > 0)


def not_pole(x):
    return x > 0 or (x != math.floor(x) and x > -1e6)


def moderate(x):
    return 1e-30 < abs(x) < 1e15 and not_pole(x)


HALF_PI = [k * math.pi / 2 for k in (1, 2, 3, 4, 5, 7, 11, 100, 1001, 123457)]
NEGATIVE = [-float(k) for k in range(0, 12)]
DIGAMMA_ROOTS = [1.4616321449683622, -0.504083008264455, -1.573498473162391, -2.6107208684441447]
LGAMMA_ROOTS = [1.0, 2.0, -2.4570247382208, -2.7476826467274126, -3.14358088834998] + [
    -k - 1 / math.factorial(k) for k in range(8, 17)]

FUNCTIONS = {
    "add": Function(lambda x, y: x + y, 1),
    "subtract": Function(lambda x, y: x - y, 1),
    "multiply": Function(lambda x, y: x * y, 1),
    "divide": Function(lambda x, y: x / y, 1, lambda x, y: y != 0),
    "remainder": Function(exact_by_floats(math.fmod), 1, lambda x, y: y != 0),
    "negate": Function(lambda x: -x, 0),
    "abs": Function(abs, 1),
    "sign": Function(sign, 1),
    "floor": Function(m.floor, 0),
    "ceil": Function(m.ceil, 0),
    "round": Function(exact_by_floats(round), 0),
    "round_half_away": Function(exact_by_floats(round_half_away), 0),
    "maximum": Function(max, 0),
    "minimum": Function(min, 0),
    "clamp": Function(lambda low, x, high: min(max(x, low), high), 0, lambda a, x, b: a <= b),
    "multiply_add": Function(lambda a, b, c: a * b + c, 1),
    "multiply_subtract": Function(lambda a, b, c: a * b - c, 1),
    "negated_multiply_add": Function(lambda a, b, c: c - a * b, 1),
    "real": Function(lambda z: z.real, 0),
    "imag": Function(lambda z: z.imag, 0),
    "complex": Function(lambda x, y: mpc(x, y), 0),
    "sqrt": Function(m.sqrt, 1, lambda x: x >= 0),
    "rsqrt": Function(lambda x: 1 / m.sqrt(x), 2, positive),
    "cbrt": Function(lambda x: m.sign(x) * m.cbrt(abs(x)), 1),
    "exp": Function(m.exp),
    "expm1": Function(m.expm1),
    "log": Function(m.log, 2, positive, [1.0]),
    "log1p": Function(m.log1p, 2, lambda x: x > -1, [-1.0]),
    "logistic": Function(logistic),
    "pow": Function(m.power, 1, power_defined, [1.0, 2.0, 0.5, 3.0]),
    "erf": Function(m.erf),
    "erfc": Function(m.erfc, sample=None),
    "erf_inv": Function(erf_inv, 4, lambda x: abs(x) < 1 and x != 0, [1.0], count=0.1),
    "sin": Function(m.sin, 2, centres=HALF_PI),
    "cos": Function(m.cos, 2, centres=HALF_PI),
    "tan": Function(m.tan, 2, centres=HALF_PI),
    "sinh": Function(m.sinh),
    "cosh": Function(m.cosh),
    "tanh": Function(m.tanh),
    "asin": Function(m.asin, 2, within_one, [1.0]),
    "acos": Function(m.acos, 2, within_one, [1.0]),
    "atan": Function(m.atan),
    "asinh": Function(m.asinh),
    "acosh": Function(m.acosh, 2, lambda x: x >= 1, [1.0]),
    "atanh": Function(m.atanh, 2, lambda x: abs(x) < 1, [1.0]),
    "atan2": Function(m.atan2, 2, lambda y, x: x != 0 or y != 0),
    "hypot": Function(m.hypot, 1),
    "lgamma": Function(special.lgamma, 4, not_pole, LGAMMA_ROOTS + NEGATIVE, 0.3, least=1),
    "digamma": Function(m.digamma, 4, moderate, DIGAMMA_ROOTS + NEGATIVE, 0.3, least=1),
    "zeta": Function(special.zeta, 4, sample=draws_of("zeta"), count=0.05),
    "bessel_i0e": Function(special.bessel(0), 4, count=0.2, sample=draws_of("bessel_i0e")),
    "bessel_i1e": Function(special.bessel(1), 4, count=0.2, sample=draws_of("bessel_i1e")),
    "ndtr": Function(lambda x: m.erfc(-x / m.sqrt(2)) / 2, 2, lambda x: abs(x) < 1e6),
    "ndtri": Function(special.ndtri, 4, lambda p: 0 < p < 1, [0.5], 0.1),
    "sinc": Function(m.sincpi, 2, lambda x: abs(x) < 1e9, NEGATIVE),
    "xlogy": Function(lambda x, y: x * m.log(y), 2, lambda x, y: y > 0, [1.0]),
    "entr": Function(lambda x: -x * m.log(x), 2, positive, [1.0]),
    "betaln": Function(special.betaln, 4, sample=draws_of("betaln"), count=0.2, least=1),
    "gammainc": Function(gammainc, 4, sample=gamma_operands, count=0.05),
    "gammaincc": Function(gammaincc, 4, sample=gamma_operands, count=0.05),
    "betainc": Function(special.betainc, 5, sample=draws_of("betainc"), count=0.03),
}


def polygamma(order):
    def exact(x):
        with m.workdps(250):  # mpmath's has an absolute error
            return m.psi(order, x)
    least = 0 if order % 2 else math.factorial(order) * 2 ** (order + 1)  # a term between poles
    return Function(exact, 4, lambda x: 1e-30 < abs(x) < 1e15 and (x > 0 or x != math.floor(x))
                    and x > -30, NEGATIVE + [0.5, 1.0, 8.0], 0.05, least=least)


for polygamma_order in (1, 2, 3, 4, 8):
    FUNCTIONS[f"polygamma_{polygamma_order}"] = polygamma(polygamma_order)

# Parts of derivatives, which no program calls by name.
INTERNAL = {"maximum_slope", "remainder_quotient", "power_base_slope", "power_exponent_slope",
            "atan2_slope", "hypot_slope", "gammainc_slope"}

COMPLEX_LIMITS = {"negate": 0, "add": 1, "subtract": 1, "abs": 1, "pow": 1, "multiply": 2}


def sample(name, arity, dtype, points):
    """Operands: a list of tuples."""
    random.seed(f"{name} {dtype}")
    function = FUNCTIONS[name]
    count = max(60, int(points * function.count))
    if dtype in PART:
        count = count // 4
        rows = [tuple(complex_number(PART[dtype]) for _ in range(arity)) for _ in range(count)]
        return [row for row in rows if all(z != 0 for z in row)]
    if dtype in ("f16", "bf16"):
        count = max(60, count // 6)
    if function.sample:
        rows = function.sample(dtype, count)
    elif arity == 1:
        rows = [(x,) for x in numbers(dtype, count, function.centres)]
    elif arity == 2:
        rows = pairs(dtype, count, function.centres)
    else:
        columns = [numbers(dtype, count) for _ in range(arity)]
        for column in columns[1:]:
            random.shuffle(column)
        rows = list(zip(*columns))
    return [row for row in rows
            if all(math.isfinite(x) and x != 0 for x in row) and function.inside(*row)]


def worst_errors(task):
    """The largest error of each executor, and its operands."""
    name, dtype, rows, results = task
    m.mp.prec = PRECISION
    function = FUNCTIONS[name]
    worst = {executor: (0, ()) for executor in results}
    is_complex = dtype in PART
    for i, row in enumerate(rows):
        try:
            want = function.exact(*((mpc if is_complex else mpf)(x) for x in row))
        except (ZeroDivisionError, ValueError, OverflowError, m.NoConvergence):
            continue
        if not is_complex and isinstance(want, mpc) and name != "complex":
            want = want.real
        least = 0 if is_complex or (len(row) == 1 and row[0] > 0) else function.least
        for executor, values in results.items():
            if len(values) == 2 * len(rows):
                error = complex_error(complex(values[2 * i], values[2 * i + 1]), want, dtype)
            else:
                error = error_in_ulp(values[i], want.real, PART.get(dtype, dtype), least)
            if error > worst[executor][0]:
                worst[executor] = (error, row)
    return name, dtype, len(rows), worst


def complex_error(got, want, dtype):
    """The distance in the plane in units in the last place of the larger part."""
    part = PART.get(dtype, dtype)
    size = max(abs(want.real), abs(want.imag))
    digits, least_exponent, _ = FORMATS[part]
    if size > mpf(2) ** -least_exponent / 2:  # near overflow
        return 0
    if math.isnan(got.real) or math.isnan(got.imag):
        return math.inf
    exponent = max(m.mag(size) - 1 if size else least_exponent, least_exponent)
    return float(abs(mpc(got) - want) * mpf(2) ** (digits - 1 - int(exponent)))


# ---- the program ----

def program():
    """The path of bench/accuracy.cc, built."""
    build = ROOT / "build" / "accuracy"
    quiet = {"stdout": subprocess.DEVNULL, "check": True, "cwd": ROOT}
    subprocess.run(["cmake", "-S", ".", "-B", build, "-G", "Ninja", "-DCMAKE_BUILD_TYPE=Release",
                    "-DRONDO_BUILD_TESTS=OFF", "-DRONDO_BUILD_EXAMPLES=OFF",
                    "-DRONDO_BUILD_BENCHMARKS=ON"], **quiet)
    subprocess.run(["cmake", "--build", build, "--target", "accuracy"], **quiet)
    return build / "bench" / "accuracy"


def listed(path):
    """Triples of a name, an arity and a dtype."""
    text = subprocess.run([path, "list"], capture_output=True, text=True, check=True).stdout
    triples = [line.split() for line in text.splitlines()]
    known = [(name, int(arity), dtype) for name, arity, dtype in triples if name not in INTERNAL]
    missing = {name for name, _, _ in known} - set(FUNCTIONS)
    if missing:
        sys.exit(f"accuracy.py: FUNCTIONS has no exact values of {', '.join(sorted(missing))}")
    return known


def computed(path, samples):
    """The results of all executors for each (name, dtype)."""
    results = {}
    with tempfile.TemporaryDirectory() as folder:
        jobs = []
        for (name, dtype), rows in samples.items():
            inputs = array.array("d")
            for column in zip(*rows):
                for x in column:
                    inputs.extend((x.real, x.imag) if dtype in PART else (x,))
            path_in = os.path.join(folder, f"{name}.{dtype}.in")
            with open(path_in, "wb") as file:
                inputs.tofile(file)
            for executor in ("compiled", "reference", "libc"):
                path_out = os.path.join(folder, f"{name}.{dtype}.{executor}")
                jobs.append((name, dtype, executor, len(rows), path_in, path_out))
        text = "".join(" ".join(str(word) for word in job) + "\n" for job in jobs)
        subprocess.run([path, "run"], input=text, text=True, check=True,
                       stdout=subprocess.DEVNULL)
        for name, dtype, executor, _, _, path_out in jobs:
            values = array.array("d")
            data = Path(path_out).read_bytes()
            values.frombytes(data)
            if len(values):
                results.setdefault((name, dtype), {})[executor] = values
    return results


# ---- the table ----

def limit_of(name, dtype):
    if dtype in PART:
        return COMPLEX_LIMITS.get(name, 6)
    return FUNCTIONS[name].limit if dtype in ("f32", "f64") else min(1, FUNCTIONS[name].limit)


def number(x):
    return "∞" if math.isinf(x) else f"{x:.2f}" if x < 10 else f"{x:.3g}"


def cell(worst):
    """Of machine code; with the reference's if it is another."""
    ours, reference = worst["compiled"][0], worst["reference"][0]
    return number(ours) if number(ours) == number(reference) else \
        f"{number(ours)}, {number(reference)}"


def rows_of(measured, dtypes):
    names = [name for name in FUNCTIONS if any((name, dtype) in measured for dtype in dtypes)]
    for name in names:
        cells = []
        for dtype in dtypes:
            worst = measured.get((name, dtype))
            cells.append(cell(worst) if worst else "")
            if dtype not in ("f16", "bf16"):
                cells.append(number(worst["libc"][0]) if worst and "libc" in worst else "")
        limit = "" if math.isinf(limit_of(name, dtypes[0])) else limit_of(name, dtypes[0])
        yield f"| `{name}` | {limit} | " + " | ".join(cells) + " |"


HEAD = """# Accuracy

Written by `scripts/accuracy.py`: the largest errors of the elementwise functions in units in the last
place (ulp), against mpmath's values; 0.5 is a correctly rounded result. The inputs are some {points} random
numbers of each function and dtype (fewer for functions whose exact values take long): bit patterns of
the whole range, subnormal ones included, numbers of common sizes, and numbers close to zeros, poles and
multiples of π/2. A larger sample may find larger errors.

Numbers are those of machine code; after a comma the reference executor's, where it is another. *glibc* is the
C++ library's function of the same dtype for the same inputs. *Limit* is what f32 and f64 must not exceed;
f16 and bf16 are computed in f32 or f64 and rounded, and stay within 1.
"""

NOTES = """
`lgamma` and `digamma` of negative numbers and `betaln` have zeros that no float hits: there errors are absolute,
values below 1 count in units of the last place of 1. The sums that `polygamma` of order n has between two poles
cancel if n is even: values below n! 2^(n + 1), the size of their terms, count in units of that. `erf_inv` has XLA's
polynomials, but keeps the digits of x near ±1 that XLA's formula loses: numbers of `random::normal` are JAX's but for
up to 60 units of the last place in f32, where they are largest.
"""


def document(measured, points, everything):
    lines = [HEAD.format(points=f"{points:,}"),
             "| function | limit | f64 | glibc | f32 | glibc | f16 | bf16 |",
             "|---|---|---|---|---|---|---|---|",
             *rows_of(measured, ("f64", "f32", "f16", "bf16")), NOTES,
             "## Complex numbers\n",
             "The distance in the plane in units of the last place of the larger part.\n",
             "| function | limit | c128 | libstdc++ | c64 | libstdc++ |", "|---|---|---|---|---|---|",
             *rows_of(measured, ("c128", "c64")), ""]
    return "\n".join(lines) + everything


EVERYTHING = "\n## All floats\n"


def all_floats(path, functions):
    """The section of functions of one operand on all inputs."""
    lines = [EVERYTHING, "`scripts/accuracy.py --all`: on all inputs of a dtype, machine code. The exact",
             "values are the C++ library's in f64, or Rondo's own where that has none.\n",
             "| function | f32 | at | f16 | bf16 | compared with |", "|---|---|---|---|---|---|"]
    for name in FUNCTIONS:
        if (name, 1, "f32") not in functions or FUNCTIONS[name].limit == 0:
            continue
        found = {}
        for dtype in ("f32", "f16", "bf16"):
            line = subprocess.run([path, "all", name, dtype], capture_output=True, text=True,
                                  check=True).stdout
            print(line, end="", flush=True)
            found[dtype] = line.split()[2:]
        error, place, by = found["f32"]
        lines.append(f"| `{name}` | {number(float(error))} | {place} | "
                     f"{number(float(found['f16'][0]))} | {number(float(found['bf16'][0]))} | "
                     f"{'glibc' if by == 'libc' else 'f64'} |")
    return "\n".join(lines) + "\n"


def main():
    parser = argparse.ArgumentParser(description=__doc__,
                                     formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--points", type=int, default=8000, help="of a function and dtype")
    parser.add_argument("--only", default="", help="functions, by commas; writes no document")
    parser.add_argument("--dtypes", default=",".join(FORMATS), help="by commas")
    parser.add_argument("--show", action="store_true", help="prints where errors are largest")
    parser.add_argument("--all", action="store_true", help="all floats of functions of one operand")
    parser.add_argument("--program", type=Path, help="bench/accuracy.cc, built")
    arguments = parser.parse_args()
    path = arguments.program or program()
    only = [name for name in arguments.only.split(",") if name]
    functions = [f for f in listed(path) if (not only or f[0] in only)
                 and f[2] in arguments.dtypes.split(",")]
    samples = {}
    for name, arity, dtype in functions:
        samples[name, dtype] = sample(name, arity, dtype, arguments.points)
    results = computed(path, samples)
    tasks = [(name, dtype, rows, results[name, dtype]) for (name, dtype), rows in samples.items()]
    measured, failures = {}, []
    with multiprocessing.Pool() as pool:
        for name, dtype, count, worst in pool.imap_unordered(worst_errors, tasks):
            measured[name, dtype] = worst
            if worst["compiled"][0] > limit_of(name, dtype):
                failures.append(f"{name} of {dtype}: {worst['compiled'][0]:.3g} ulp at "
                                f"{worst['compiled'][1]}, limit {limit_of(name, dtype)}")
            if arguments.show:
                for executor, (error, row) in worst.items():
                    print(f"{name} {dtype} {executor} {error:.3f} of {count} at "
                          + " ".join(repr(x) for x in row), flush=True)
    target = ROOT / "docs" / "accuracy.md"
    if not only:
        before = target.read_text() if target.exists() else ""
        everything = EVERYTHING + before.split(EVERYTHING)[1] if EVERYTHING in before else ""
        if arguments.all:
            everything = all_floats(path, functions)
        target.write_text(document(measured, arguments.points, everything))
    elif arguments.all:
        print(all_floats(path, functions))
    for failure in sorted(failures):
        print("over the limit:", failure)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
