#!/usr/bin/env python3
"""Runs what firmware_programs writes on an emulated Cortex-M4F. Usage: run.py FIRMWARE_PROGRAMS

Each program's test compares its results, bit for bit, with those of the machine that wrote it. It needs
gcc-arm-none-eabi, libnewlib-arm-none-eabi and qemu-system-arm; without them it ends with 77, which ctest shows as
skipped, but with 1 where CI is set.
"""
import os
import pathlib
import shutil
import subprocess
import sys
import tempfile

HERE = pathlib.Path(__file__).resolve().parent
TOOLS = {"arm-none-eabi-gcc": "gcc-arm-none-eabi libnewlib-arm-none-eabi", "qemu-system-arm": "qemu-system-arm"}
PROCESSOR = ["-mcpu=cortex-m4", "-mthumb", "-mfpu=fpv4-sp-d16", "-mfloat-abi=hard"]
STRICT = ["-std=c99", "-Wall", "-Wextra", "-Wconversion", "-Wdouble-promotion", "-Wshadow", "-pedantic", "-Werror"]
# Only what C has for a type that is passed on; no allocation, no double, none of its conversions.
ALLOWED = {"fmaf", "nearbyintf", "floorf", "ceilf", "truncf", "sqrtf", "fabsf", "memset", "memcpy"}
SECONDS = 60
MOST_STACK = 256  # bytes: arrays are in the workspace


def call(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, **options)
    if done.returncode != 0:
        sys.exit(f"{' '.join(map(str, command))}\nended with {done.returncode}\n{done.stdout}{done.stderr}")
    return done.stdout


def compiled(folder, name, optimize, test=False):
    place = folder / f"{name}{optimize}{'_test' * test}.o"
    define = [] if test else [f"-D{name.upper()}_NO_TEST_MAIN"]
    call(["arm-none-eabi-gcc", *PROCESSOR, *STRICT, "-fstack-usage", optimize, *define, "-c", folder / f"{name}.c",
          "-o", place])
    return place


def stack_of(place):
    """The largest frame of an object's functions, in bytes. They do not recurse, and call one another two deep."""
    lines = [line.split("\t") for line in place.with_suffix(".su").read_text().splitlines()]
    unbounded = [line[0] for line in lines if line[2] != "static"]
    if unbounded:
        sys.exit(f"the stack of {', '.join(unbounded)} has no bound")
    return max(int(line[1]) for line in lines)


def needs(place):
    """The names that an object takes from elsewhere."""
    return {line.split()[-1] for line in call(["arm-none-eabi-nm", "-u", place]).splitlines()}


def emulate(image, *options):
    """How main ended."""
    return subprocess.run(
        ["qemu-system-arm", "-M", "mps2-an386", "-nographic", "-monitor", "none", "-serial", "none",
         "-semihosting-config", "enable=on,target=native", *options, "-kernel", image],
        capture_output=True, text=True, timeout=SECONDS)


def link(folder, name, objects):
    image = folder / f"{name}.elf"
    call(["arm-none-eabi-gcc", *PROCESSOR, "-O2", "-nostartfiles", "-specs=nosys.specs", "-T", HERE / "m4" / "m4.ld",
          HERE / "m4" / "start.c", *objects, "-lm", "-o", image])
    return image


def check(folder, name):
    for optimize in ["-O2", "-Os"]:
        place = compiled(folder, name, optimize)
        foreign = needs(place) - ALLOWED
        if foreign:
            return f"the object needs {', '.join(sorted(foreign))}"
        if stack_of(place) > MOST_STACK:
            return f"{optimize}: a function takes {stack_of(place)} bytes of stack"
        test = compiled(folder, name, optimize, test=True)
        done = emulate(link(folder, name, [test]))
        if done.returncode != 0:
            return f"{optimize}: {done.returncode} results have other bits than here {done.stderr}"
    return ""


def main():
    missing = [package for tool, package in TOOLS.items() if not shutil.which(tool)]
    if missing:
        print(f"skipped: it needs {' '.join(missing)}")
        sys.exit(1 if os.environ.get("CI") else 77)
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        names = [line.split()[0] for line in call([sys.argv[1], folder]).splitlines()]
        wrong = {name: what for name in names if (what := check(folder, name))}
    for name, what in wrong.items():
        print(f"{name}: {what}")
    print(f"{len(names) - len(wrong)} of {len(names)} programs have the same bits on the Cortex-M4F")
    sys.exit(1 if wrong or not names else 0)


if __name__ == "__main__":
    main()
