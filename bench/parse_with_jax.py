#!/usr/bin/env python3
"""The time that jaxlib takes to parse the programs of texts_bench.

    RONDO_TEXTS=DIR build/release/bench/texts_bench --benchmark_filter=Read    # writes the programs
    python3 bench/parse_with_jax.py DIR

Prints a line for each file, with rates as texts_bench has them: MB and lines per second of processor time, the
best of several times. Artifacts (`*.mlirbc`) of the folder are parsed too, with the lines of their text; with
`--artifacts` the StableHLO texts are first written as such.
"""

import pathlib
import sys
import time

import jax
from jax._src.interpreters import mlir
from jax._src.lib import _jax
from jaxlib import _hlo
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import stablehlo


def parse_stablehlo(data):
    with mlir.make_ir_context():
        return ir.Module.parse(data)


def parse_artifact(data):
    with mlir.make_ir_context() as context:
        return stablehlo.deserialize_portable_artifact(context, data)


def write_artifact(path):
    oldest = "1.0.0"  # of the versions that a reader of any 1.x accepts
    with mlir.make_ir_context():
        module = ir.Module.parse(path.read_text())
        path.with_suffix(".mlirbc").write_bytes(_jax.mlir.serialize_portable_artifact(module, oldest, True))


PARSERS = {".hlo": _hlo.hlo_module_from_text, ".mlir": parse_stablehlo, ".mlirbc": parse_artifact}


def seconds(parse, data):
    """The least processor time of one call, of five or of a second's worth."""
    times = []
    while len(times) < 5 or (sum(times) < 1 and len(times) < 100):
        start = time.process_time()
        parse(data)
        times.append(time.process_time() - start)
    return min(times)


def main():
    print(f"jax {jax.__version__}")
    folder = pathlib.Path(sys.argv[1])
    if "--artifacts" in sys.argv:
        for path in folder.glob("*.mlir"):
            write_artifact(path)
    for path in sorted(folder.iterdir()):
        parse = PARSERS.get(path.suffix)
        if not parse:
            continue
        data = path.read_bytes()
        if path.suffix != ".mlirbc":
            data = data.decode()
        lines = (str(parse(data)) if path.suffix == ".mlirbc" else data).count("\n")
        time_taken = seconds(parse, data)
        print(f"{path.name:24} {1e3 * time_taken:8.2f} ms {len(data) / time_taken / 1e6:8.1f} MB/s "
              f"{lines / time_taken / 1e3:8.0f} k/s")


if __name__ == "__main__":
    main()
