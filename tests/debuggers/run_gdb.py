"""Runs a program under gdb, for the tests of this folder."""
import os
import pathlib
import re
import shutil
import subprocess
import sys

SKIPPED = 77


def skip(reason, required=False):
    print(("Required in CI: " if required else "Skipped: ") + reason)
    sys.exit(1 if required else SKIPPED)


def run_gdb(program, before, commands, environment=None):
    """The output of gdb: `before` are commands before it reads the program, `commands` those after it."""
    arguments = ["gdb", "-nx", "-batch"]
    for command in ["set startup-with-shell off", "set width 0", *before]:
        arguments += ["-iex", command]
    for command in commands:
        arguments += ["-ex", command]
    environment = {**os.environ, "DEBUGINFOD_URLS": "", "LC_ALL": "C", **(environment or {})}
    run = subprocess.run([*arguments, program], env=environment, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                         stderr=subprocess.STDOUT, encoding="utf-8", errors="replace", timeout=100, check=False)
    return run.stdout


def require_gdb(program):
    """Ends the test if there is no gdb that has Python."""
    if not shutil.which("gdb"):
        skip("there is no gdb. On Debian: apt-get install gdb.", required="CI" in os.environ)
    if "it has Python" not in run_gdb(program, [], ["python print('it has Python')"]):
        skip("gdb has no Python")


def skip_unless_run(output):
    """Ends the test if gdb was not allowed to run the program."""
    if re.search("ptrace: Operation not permitted|Could not trace the inferior", output):
        skip("gdb may not run a program here")


def line_of(source, mark):
    """The number of the line of a C++ file that ends with the comment."""
    lines = pathlib.Path(source).read_text(encoding="utf-8").splitlines()
    return next(i + 1 for i, line in enumerate(lines) if line.endswith("// " + mark))
