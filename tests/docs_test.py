#!/usr/bin/env python3
"""Compiles the C++ of documentation pages: all blocks of a page are one function, in their order.

Usage: docs_test.py --compiler c++ -I DIR... PAGE...   Whether they link and print what is beside them is not tested.
"""
import argparse
import pathlib
import re
import subprocess
import sys
import tempfile

HEADERS = ("array", "chrono", "fstream", "iostream", "span", "string", "vector", "rondo/rondo.h")


def program(page):
    """The blocks in one main(), with line directives that name the page."""
    lines = ["#include <" + name + ">" for name in HEADERS] + ["int main() {"]
    text = page.read_text(encoding="utf-8")
    for block in re.finditer(r"^```cpp\n(.*?)^```$", text, re.MULTILINE | re.DOTALL):
        lines.append(f'#line {text.count(chr(10), 0, block.start(1)) + 1} "{page.name}"')
        lines.append(block[1])
    return "\n".join(lines + ["}\n"])


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--compiler", default="c++")
    parser.add_argument("-I", dest="include_dirs", action="append", default=[])
    parser.add_argument("pages", nargs="+", type=pathlib.Path)
    arguments = parser.parse_args()
    bad = 0
    for page in arguments.pages:
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "page.cc")
            source.write_text(program(page), encoding="utf-8")
            run = subprocess.run([arguments.compiler, "-std=c++20", "-fsyntax-only",
                                  *(f"-I{name}" for name in arguments.include_dirs), source], check=False)
        print(f"{page.name}: {'does not compile' if run.returncode else 'compiles'}")
        bad += run.returncode != 0
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
