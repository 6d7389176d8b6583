#!/usr/bin/env python3
"""Compares what bits_of_programs prints here with what it prints on another processor.

Usage: compare.py NATIVE OTHER ARGUMENT... -- EMULATOR...
NATIVE and OTHER are the program for this machine and for the other one, ARGUMENT are its arguments, EMULATOR is the
command that runs OTHER. Programs marked "(library)" may differ: the last bits of the C library's
functions depend on the processor. Without NATIVE it ends with 77, which ctest shows as skipped, but with 1 where CI is set.
"""
import os
import pathlib
import subprocess
import sys

MOST_SHOWN = 10


def lines_of(process):
    output = process.communicate()[0]
    if process.returncode != 0:
        sys.exit(f"{' '.join(process.args)} ended with {process.returncode}")
    return output.splitlines()


def differences(line, other):
    """The names of the numbers that differ; each line is a name, ": ", and pairs of a name and a number."""
    (name, _, numbers), (other_name, _, other_numbers) = line.partition(": "), other.partition(": ")
    if name != other_name:
        return [f"{name} is {other_name} there"]
    words, other_words = numbers.split(), other_numbers.split()
    return [words[i] for i in range(0, len(words), 2) if words[i : i + 2] != other_words[i : i + 2]]


def main():
    end = sys.argv.index("--")
    (native, other, *arguments), emulator = sys.argv[1:end], sys.argv[end + 1 :]
    if not pathlib.Path(native).exists():
        print(f"There is no {native}: build bits_of_programs for this machine, or set RONDO_NATIVE_BUILD.")
        return 1 if "CI" in os.environ else 77
    commands = [native, *arguments], [*emulator, other, *arguments]
    processes = [subprocess.Popen(command, stdout=subprocess.PIPE, text=True) for command in commands]
    here, there = (lines_of(process) for process in processes)
    if not here or len(here) != len(there):
        print(f"{len(here)} lines here, {len(there)} there")
        return 1
    both = [(line, other) for line, other in zip(here, there) if "(" not in line or "(" not in other]
    differing = [(line, differences(line, other)) for line, other in both if line != other]
    for line, names in differing[:MOST_SHOWN]:
        print(f"{line.partition(':')[0]}: {', '.join(names)}")
    print(f"{len(both)} programs, of which {len(differing)} differ; {len(here) - len(both)} more use the C library's functions")
    return 1 if differing or not both else 0


if __name__ == "__main__":
    sys.exit(main())
