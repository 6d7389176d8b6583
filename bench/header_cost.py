#!/usr/bin/env python3
"""What `#include <rondo/rondo.h>` costs the compiler, as a multiple of five common standard headers.

Usage: header_cost.py [--compiler g++] [--runs 7] [--limit 2.1] -I DIR... ; the exit status is 1 above the limit.
The limit is on the compiler's memory, which is the same in each run to a thousandth: it grows with what the
headers declare and instantiate, as the time does. The processor time is printed for people: between two runs on
a busy machine it differs by a fifth.
"""
import argparse
import os
import pathlib
import statistics
import subprocess
import sys
import tempfile

STANDARD = "".join(f"#include <{name}>\n" for name in ("string", "vector", "functional", "map", "memory"))
RONDO = "#include <rondo/rondo.h>\n"


def cost(command):
    """Peak memory in kB and seconds of processor time of a command with the processes that it starts."""
    process = subprocess.Popen(command)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(f"{' '.join(command)} failed")
    return usage.ru_maxrss, usage.ru_utime + usage.ru_stime


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="g++")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--limit", type=float, default=2.1)
    parser.add_argument("-I", dest="include_dirs", action="append", default=[])
    arguments = parser.parse_args()
    command = [arguments.compiler, "-std=c++20", "-fsyntax-only", *(f"-I{d}" for d in arguments.include_dirs)]
    costs = {"standard": [], "rondo": []}
    with tempfile.TemporaryDirectory() as folder:
        files = {}
        for name, text in (("standard", STANDARD), ("rondo", RONDO)):
            files[name] = pathlib.Path(folder, f"{name}.cc")
            files[name].write_text(text, encoding="utf-8")
        for _ in range(arguments.runs):
            for name, file in files.items():
                costs[name].append(cost([*command, str(file)]))
    standard_memory, standard_time = (statistics.median(column) for column in zip(*costs["standard"]))
    memory, time = (statistics.median(column) for column in zip(*costs["rondo"]))
    print(f"memory: standard headers {standard_memory / 1e3:.0f} MB, rondo/rondo.h {memory / 1e3:.0f} MB: "
          f"{memory / standard_memory:.2f} times (limit {arguments.limit})")
    print(f"processor time: {standard_time * 1e3:.0f} ms, {time * 1e3:.0f} ms: {time / standard_time:.2f} times")
    sys.exit(memory / standard_memory > arguments.limit)


if __name__ == "__main__":
    main()
