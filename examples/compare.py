#!/usr/bin/env python3
"""Runs a program and compares its output with a file. Usage: compare.py [--update] PROGRAM EXPECTED

The program runs in a new folder, where it may write files.

Text and whole numbers must be equal; numbers with a point or an exponent may differ in the last digits, because
compilers and mathematical libraries round differently. --update writes the file instead.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

RELATIVE, ABSOLUTE = 2e-5, 1e-6
NUMBER = re.compile(r"(?<![\w.])[-+]?(?:\d+\.\d*|\.\d+|\d+)(?:[eE][-+]?\d+)?(?![\w.])")


def pieces(line):
    """The line's numbers, and the line with their places marked; alignment may change with a number's width."""
    numbers = NUMBER.findall(line)
    text = re.sub(r"[ \t]+", " ", NUMBER.sub("\0", line)).strip()
    return text, numbers


def same_number(left, right):
    if left == right:
        return True
    if not any(mark in left + right for mark in ".eE"):
        return False
    a, b = float(left), float(right)
    return abs(a - b) <= ABSOLUTE + RELATIVE * max(abs(a), abs(b))


def same_line(left, right):
    if left == right:
        return True
    (left_text, left_numbers), (right_text, right_numbers) = pieces(left), pieces(right)
    return left_text == right_text and all(map(same_number, left_numbers, right_numbers))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--update", action="store_true")
    parser.add_argument("program", type=pathlib.Path)
    parser.add_argument("expected", type=pathlib.Path)
    arguments = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        run = subprocess.run([arguments.program.resolve()], stdout=subprocess.PIPE, text=True, check=False, cwd=folder)
    if run.returncode != 0:
        sys.exit(f"{arguments.program} ended with status {run.returncode}; it printed:\n{run.stdout}")
    if arguments.update:
        arguments.expected.write_text(run.stdout, encoding="utf-8")
        return
    actual = run.stdout.splitlines()
    expected = arguments.expected.read_text(encoding="utf-8").splitlines()
    for number, (have, want) in enumerate(zip(actual, expected), 1):
        if not same_line(have, want):
            sys.exit(f"{arguments.expected.name}:{number}: the program printed\n  {have}\nexpected\n  {want}")
    if len(actual) != len(expected):
        sys.exit(f"the program printed {len(actual)} lines, expected {len(expected)}")
    print(f"{len(actual)} lines as expected")


if __name__ == "__main__":
    main()
