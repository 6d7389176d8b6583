#!/usr/bin/env python3
"""Reads what loops.cc writes for perf: the file jit-PID.dump (version 1 of jitdump).

Usage: dump_test.py PROGRAM SOURCE   SOURCE is loops.cc. Exit status 77 (skipped) if the machine has no native code.
"""
import os
import pathlib
import struct
import subprocess
import sys
import tempfile

from run_gdb import SKIPPED, line_of

LOAD, DEBUG_INFO = 0, 2


def text_at(content, at):
    return content[at:content.index(b"\0", at)].decode()


def records(content):
    magic, version, at = struct.unpack_from("<III", content)
    assert magic == 0x4A695444 and version == 1, "the header is wrong"
    while at < len(content):
        kind, size = struct.unpack_from("<II", content, at)
        yield kind, content[at:at + size]
        at += size
    assert at == len(content), "the last record is cut off"


def lines_by_name(content):
    """The lines that have code, by the name of the function."""
    found, lines = {}, set()
    for kind, record in records(content):
        if kind == DEBUG_INFO:
            at, (count,) = 32, struct.unpack_from("<Q", record, 24)
            for _ in range(count):
                (line,) = struct.unpack_from("<I", record, at + 8)
                file = text_at(record, at + 16)
                lines.add((pathlib.Path(file).name, line))
                at += 17 + len(file.encode())
        elif kind == LOAD:
            name = text_at(record, 56)
            (size,) = struct.unpack_from("<Q", record, 40)
            assert len(record) == 57 + len(name.encode()) + size, f"the record of {name} has another length"
            found.setdefault(name, set()).update(lines)
            lines = set()
    return found


def run(program, folder, **environment):
    environment = {**os.environ, "JITDUMPDIR": str(folder), **environment}
    done = subprocess.run([program], env=environment, stdout=subprocess.PIPE, stderr=subprocess.PIPE, check=True, text=True)
    return done.stdout, done.stderr


def main():
    program, source = sys.argv[1:]
    bad = []
    with tempfile.TemporaryDirectory() as folder:
        plain, _ = run(program, folder)
        if list(pathlib.Path(folder).iterdir()):
            bad.append("a file is written although nobody asked for it")
        profiled, complaint = run(program, folder, RONDO_PROFILER="perf")
        files = list(pathlib.Path(folder).iterdir())
        if not files and not complaint:
            print("Skipped: the machine has no native code")
            sys.exit(SKIPPED)
        if plain != profiled:
            bad.append(f"the program computes {profiled} instead of {plain}")
        lines = lines_by_name(files[0].read_bytes()) if files else {}
        name = f"heating at loops.cc:{line_of(source, 'loop')}"
        for mark in ("loss", "gain", "condition"):
            if ("loops.cc", line_of(source, mark)) not in lines.get(name, set()):
                bad.append(f"{name} has no code of the line that computes the {mark}: {lines}")
        unwritten, complaint = run(program, pathlib.Path(folder) / "missing", RONDO_PROFILER="perf")
        if unwritten != plain or complaint.count("cannot be opened") != 1 or "JITDUMPDIR" not in complaint:
            bad.append(f"without the folder the program says {unwritten}, {complaint}")
    for variable, tool in ("RONDO_DEBUGGER", "gdb"), ("RONDO_PROFILER", "perf"):
        refused = subprocess.run([program], env={**os.environ, variable: "other"}, capture_output=True, text=True, check=False)
        if refused.returncode == 0 or f"{variable} is 'other'" not in refused.stderr or tool not in refused.stderr:
            bad.append(f"with {variable}=other the program says {refused.stderr}")
    print("\n".join([*bad, f"{len(bad)} mistakes"]))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
