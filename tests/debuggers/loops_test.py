#!/usr/bin/env python3
"""Stops gdb in the machine code of loops.cc, and looks at its names, lines and frames.

Usage: loops_test.py PROGRAM SOURCE   SOURCE is loops.cc. Exit status 77 (skipped) if there is no gdb that has Python
and may run a program, or if the machine has no native code. In CI gdb has to be installed.
"""
import math
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

# What is the same in all trips is computed before them.
UNTIL_MIXING = """python
while gdb.newest_frame().name() != 'mixing':
    gdb.execute('continue')
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


def numbers_of(text):
    """The numbers of what gdb prints of an array."""
    numbers = []
    for value, times in re.findall(r"(-?[\d.e+]+)(?: <repeats (\d+) times>)?", text):
        numbers += [float(value)] * int(times or 1)
    return numbers


def shows_variables(program, gain, mixture):
    """In the third trip of the inner loop, and in the second one of a loop with arrays, which may be in it twice."""
    elements = ["print carry_1", "print carry_0", "print i"]
    arrays = ["print i", "print carry_0", "print carry_1", "ptype carry_0"]
    output = run_gdb(program, [], [
        "set print elements 200", "set print repeats 200", "break run_program", "run", f"break loops.cc:{gain}", "continue",
        "continue", "continue", *elements, "delete", f"break loops.cc:{mixture}", UNTIL_MIXING, *arrays, "continue", *arrays,
        "delete", "continue"], {"RONDO_DEBUGGER": "gdb"})
    bad = []
    texts = re.findall(r"^\$\d+ = (.*)$", output, re.MULTILINE)
    in_third_trip, room = 0.0, 20.0
    for month in range(3):
        room, hour = room / 2 + math.sin(month), 0
        while hour < 30 and room < 40:
            in_third_trip = room if month == 0 and hour == 2 else in_third_trip
            room, hour = room + math.sqrt(room + 9) - 0.1 * (room - 10), hour + 1
    if f"{room:.6f}" not in output:
        bad.append(f"with breakpoints the program does not compute {room:.6f}")
    if len(texts) != 9 or "type = f32 [100]" not in output or "exited normally" not in output:
        return ["gdb does not print all variables"], output
    if not math.isclose(float(texts[0]), in_third_trip, rel_tol=1e-12) or texts[1:3] != ["2", "0"]:
        bad.append(f"room, hour and month are {texts[:3]}, not {in_third_trip}, 2 and 0")
    rounds = []
    for trip, layer_text, count_text in (texts[3:6], texts[6:9]):
        rounds.append(int(trip))
        layer = [float(i) for i in range(100)]
        for _ in range(1, int(trip)):
            layer = [here + 2 * there for here, there in zip(layer, reversed(layer))]
        if numbers_of(layer_text) != layer:
            bad.append(f"in round {trip} the array is {layer_text}, not {layer}")
        counts = [i * i if 1 <= i < int(trip) else 7 for i in range(5)]
        updated = counts[:int(trip)] + [int(trip) ** 2] + counts[int(trip) + 1:]
        if numbers_of(count_text) not in (counts, updated):
            bad.append(f"in round {trip} the array that is updated is {count_text}, not {counts}")
    if rounds[0] != 1 or rounds[1] not in (1, 2):
        bad.append(f"the rounds are {rounds}")
    return bad, output


def is_off_by_default(program):
    output = run_gdb(program, [], ["break run_program", "run", "info address heating"])
    return [] if 'No symbol "heating"' in output else ["code is registered although nobody asked for it"], output


def main():
    program, source = sys.argv[1:]
    require_gdb(program)
    loss, gain, mixture, call = (line_of(source, mark) for mark in ("loss", "gain", "next", "after the program"))
    bad, outputs = [], []
    for check in (lambda: stops_in_body(program, loss, gain, call - 1), lambda: unwinds_everywhere(program),
                  lambda: shows_variables(program, gain, mixture), lambda: is_off_by_default(program)):
        mistakes, output = check()
        bad += mistakes
        outputs += [output] if mistakes else []
    print("\n".join([*outputs, *bad, f"{len(bad)} mistakes"]))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
