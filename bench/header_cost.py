#!/usr/bin/env python3
"""What `#include <rondo/rondo.h>` costs the compiler, as a multiple of five common standard headers.

Usage: header_cost.py [--compiler g++] [--runs 7] [--limit 2.5] -I DIR... ; the exit status is 1 above the limit.
CPU time is measured, not the clock, so that other work on the machine disturbs little; the two are measured in turn.
"""
import argparse
import pathlib
import resource
import statistics
import subprocess
import sys
import tempfile

STANDARD = "".join(f"#include <{name}>\n" for name in ("string", "vector", "functional", "map", "memory"))
RONDO = "#include <rondo/rondo.h>\n"


def cpu_seconds(command):
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--runs", type=int, default=7)
    parser.add_argument("--limit", type=float, default=2.5)
    parser.add_argument("-I", dest="include_dirs", action="append", default=[])
    arguments = parser.parse_args()
    command = [arguments.compiler, "-std=c++20", "-fsyntax-only", *(f"-I{d}" for d in arguments.include_dirs)]
    times = {"standard": [], "rondo": []}
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, text in (("standard", STANDARD), ("rondo", RONDO)):
            files[name] = pathlib.Path(folder, f"{name}.cc")
            files[name].write_text(text, encoding="utf-8")
            cpu_seconds([*command, str(files[name])])  # warms the file cache
        for _ in range(arguments.runs):
            for name, file in files.items():
                times[name].append(cpu_seconds([*command, str(file)]))
    standard, rondo = (statistics.median(times[name]) for name in ("standard", "rondo"))
    ratio = rondo / standard
    print(f"standard headers {standard * 1e3:.0f} ms, rondo/rondo.h {rondo * 1e3:.0f} ms: "
          f"{ratio:.2f} times (limit {arguments.limit})")
    sys.exit(ratio > arguments.limit)


if __name__ == "__main__":
    main()
