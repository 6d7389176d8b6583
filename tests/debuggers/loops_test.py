#!/usr/bin/env python3
"""Stops gdb in the machine code of loops.cc, and looks at its names, lines and frames.

Usage: loops_test.py PROGRAM SOURCE   SOURCE is loops.cc. Exit status 77 (skipped) if there is no gdb that has Python
and may run a program, or if the machine has no native code. In CI gdb has to be installed.
"""
import pathlib
import re
import sys

from run_gdb import line_of, require_gdb, run_gdb, skip_unless_run

# At each instruction of the program, from the first to the one behind its return: whether gdb finds the way to main().
WALK = """python
import gdb
def names(frame):
    found = []
    while frame is not None and len(found) < 40:
        found.append(frame.name())
        frame = frame.older()
    return found
lost, places = [], set()
for steps in range(100000):
    pc = gdb.newest_frame().pc()
    if pc not in places:
        places.add(pc)
        frames = names(gdb.newest_frame())
        if 'run_program' not in frames or 'main' not in frames:
            lost.append('%x: %s' % (pc, frames))
        if steps > 0 and frames[0] not in ('rondo_program', 'heating', 'monthly'):
            break
    gdb.execute('stepi', to_string=True)
print('walked over', len(places), 'instructions, lost at', lost)
"""


def stops_in_body(program, loss, gain, call):
    """A breakpoint that is set before there is machine code stops where the body is traced, and then in each trip."""
    output = run_gdb(program, [], [
        "set breakpoint pending on", f"break loops.cc:{loss}", "run", "bt 1", "continue", "bt", "frame function run_program",
        "print kept", "continue", "bt 1", "delete", f"break loops.cc:{gain}", "continue", "bt 1"],
        {"RONDO_DEBUGGER": "gdb"})
    skip_unless_run(output)
    frames = re.findall(r"^#(\d+) +(?:0x[0-9a-f]+ in )?([^\n(]*).*?(?: at (\S+))?$", output, re.MULTILINE)
    at = [(int(number), name.strip(), pathlib.Path(place).name) for number, name, place in frames]
    bad = []
    in_code = [i for i, frame in enumerate(at) if frame == (0, "heating", f"loops.cc:{loss}")]
    if len(in_code) < 2:
        bad.append(f"line {loss} is stopped at {len(in_code)} times in the loop")
    if (0, "heating", f"loops.cc:{gain}") not in at:
        bad.append(f"line {gain} is not stopped at in the loop")
    if not any(name == "main" for _, name, _ in at[in_code[0] if in_code else 0:]):
        bad.append("the backtrace from the loop does not end in main()")
    if (call := f"loops.cc:{call}") not in [place for number, _, place in at if number > 0]:
        bad.append(f"the backtrace from the loop does not have {call}")
    if output.count("const Tensor loss") < 3:
        bad.append("gdb does not find the source of the loop")
    if "$1 = 20" not in output:
        bad.append("a variable of the caller is not 20")
    return bad, output


def unwinds_everywhere(program):
    output = run_gdb(program, [], ["break run_program", "run", "tbreak *rondo_program", "continue", WALK, "break finished", "continue",
                                   "info address heating", "continue"], {"RONDO_DEBUGGER": "gdb"})
    bad = []
    walked = re.search(r"walked over (\d+) instructions, lost at (.*)", output)
    if not walked or int(walked.group(1)) < 50 or walked.group(2) != "[]":
        bad.append("gdb does not find main() from every instruction")
    if 'No symbol "heating"' not in output:
        bad.append("gdb has the names of code that was destroyed")
    if "exited normally" not in output:
        bad.append("the program does not end")
    return bad, output


def is_off_by_default(program):
    output = run_gdb(program, [], ["break run_program", "run", "info address heating"])
    return [] if 'No symbol "heating"' in output else ["code is registered although nobody asked for it"], output


def main():
    program, source = sys.argv[1:]
    require_gdb(program)
    loss, gain, call = (line_of(source, mark) for mark in ("loss", "gain", "after the program"))
    bad, outputs = [], []
    for check in (lambda: stops_in_body(program, loss, gain, call - 1), lambda: unwinds_everywhere(program),
                  lambda: is_off_by_default(program)):
        mistakes, output = check()
        bad += mistakes
        outputs += [output] if mistakes else []
    print("\n".join([*outputs, *bad, f"{len(bad)} mistakes"]))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
