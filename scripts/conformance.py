#!/usr/bin/env python3
"""Runs StableHLO's own tests by `rondo check`.

usage: scripts/conformance.py --rondo PATH --stablehlo DIR [--jobs N]

DIR is a clone of openxla/stablehlo, or a bare one. The tests are those files of stablehlo/testdata and
stablehlo/tests/interpret that StableHLO's interpreter runs (`--interpret` in their RUN lines). A file passes if all its
functions can be read and run and all their checks hold. Prints each file that does not pass with the first message, a
table by family, and last the numbers of files.
"""
import argparse
import collections
import concurrent.futures
import io
import pathlib
import re
import subprocess
import sys
import tarfile
import tempfile

FOLDERS = ("stablehlo/testdata", "stablehlo/tests/interpret")
SECONDS = 60  # of a file


def extract(repository, into):
    """The files of the newest commit, without a work tree."""
    archive = subprocess.run(["git", "-C", repository, "archive", "HEAD", *FOLDERS], check=True, capture_output=True)
    with tarfile.open(fileobj=io.BytesIO(archive.stdout)) as tar:
        tar.extractall(into, filter="data")
    files = [path for folder in FOLDERS for path in sorted((into / folder).glob("*.mlir"))]
    return [path for path in files if is_run(path.read_text(errors="replace"))]


def is_run(text):
    head = text[:2000]
    return "--interpret" in head and "RUN-DISABLED" not in head


def family_of(path):
    return "interpret" if path.parent.name == "interpret" else path.name.split("_")[0]


def check(rondo, path):
    """Why the file does not pass; empty if it does."""
    try:
        done = subprocess.run([rondo, "check", path], capture_output=True, text=True, errors="replace", timeout=SECONDS)
    except subprocess.TimeoutExpired:
        return f"takes more than {SECONDS} seconds"
    counts = re.findall(r"(\d+) passed, (\d+) failed", done.stdout)
    if done.returncode == 0 and counts and int(counts[-1][0]) > 0 and int(counts[-1][1]) == 0:
        return ""
    lines = (done.stderr + done.stdout).strip().split("\n")
    return lines[0].replace(str(path), path.name)


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rondo", required=True)
    parser.add_argument("--stablehlo", required=True)
    parser.add_argument("--jobs", type=int, default=2)
    args = parser.parse_args()
    with tempfile.TemporaryDirectory() as scratch:
        files = extract(args.stablehlo, pathlib.Path(scratch))
        with concurrent.futures.ThreadPoolExecutor(args.jobs) as pool:
            messages = list(pool.map(lambda path: check(args.rondo, path), files))
    families = collections.defaultdict(collections.Counter)
    for path, message in zip(files, messages):
        families[family_of(path)]["failed" if message else "passed"] += 1
        if message:
            print(f"{path.name}: {message}")
    print(f"\n{'family':24} passed failed")
    for family, counts in sorted(families.items()):
        print(f"{family:24} {counts['passed']:6} {counts['failed']:6}")
    failed = sum(map(bool, messages))
    print(f"\n{len(files) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
