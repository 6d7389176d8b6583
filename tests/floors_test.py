#!/usr/bin/env python3
"""Fails where a room of src/ includes a room on a higher floor, or asks which op a node is. Usage: floors_test.py PROJECT_DIR

docs/design.md has the plan that this checks. Public headers may be included from anywhere, and include nothing of
src/. Rooms of one floor may include one another in one direction only; the backends do not know one another at all.
"""
import pathlib
import re
import sys
import tempfile
import unittest

FLOORS = [  # from the ground up
    ["base"],
    ["lower"],
    ["bytecode", "native", "ir"],
    ["ops", "control_flow"],
    ["transforms", "passes", "gradient_check"],
    ["text", "interpreter", "executor", "pjrt"],
    ["run", "cli"],
]
BACKENDS = set(FLOORS[-2])
FLOOR_OF = {room: floor for floor, rooms in enumerate(FLOORS) for room in rooms}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)
# What is known about an op stands in its record; nothing else asks which op a node is. Rules about ops do.
NAMED_OP = re.compile(r"[!=]=\s*&\s*(?:\w+::)*k[A-Z]\w*")
ROOMS_OF_RECORDS = {"ir", "ops", "control_flow"}
RULES_ABOUT_OPS = re.compile(r"src/passes/(\w+_identities|splat)\.cc")
PUBLIC_EXCEPTION = "implementation.h"  # the library as text: it includes all of src/


def includes(file):
    text = file.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield match.group(1) or match.group(2), text.count("\n", 0, match.start(0)) + 1


def room_of_include(path, file, src):
    """The room of src/ that an include names, or None for what is outside src/."""
    relative = (file.parent / path).resolve()
    if relative.is_relative_to(src) and relative.exists():
        return relative.relative_to(src).parts[0]
    first = pathlib.PurePosixPath(path).parts[0]
    return first if first in FLOOR_OF and (src / path).exists() else None


def violations(project):
    project = pathlib.Path(project).resolve()
    src, public = project / "src", project / "include"
    found, sideways = [], {}
    for file in sorted(public.rglob("*.h")):
        for path, line in includes(file):
            target = room_of_include(path, file, src)
            if (target or path.startswith(("src/", "../src/"))) and file.name != PUBLIC_EXCEPTION:
                found.append(f"{file.relative_to(project)}:{line}: a public header includes {path}")
    for file in sorted(f for f in src.rglob("*") if f.suffix in (".cc", ".h", ".inc")):
        room = file.relative_to(src).parts[0]
        name = file.relative_to(project)
        if room not in FLOOR_OF:
            found.append(f"{name}: the room {room} is on no floor; give it one in tests/floors_test.py")
            continue
        if room not in ROOMS_OF_RECORDS and not RULES_ABOUT_OPS.fullmatch(name.as_posix()):
            text = file.read_text(encoding="utf-8")
            for match in NAMED_OP.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{name}:{line}: asks which op a node is; a field of its record should say what matters")
        for path, line in includes(file):
            target = room_of_include(path, file, src)
            if target is None or target == room:
                continue
            if target not in FLOOR_OF:
                found.append(f"{name}:{line}: {path} is in a room on no floor")
            elif FLOOR_OF[target] > FLOOR_OF[room]:
                found.append(f"{name}:{line}: {room} includes {path}, which is on a higher floor")
            elif room in BACKENDS and target in BACKENDS:
                found.append(f"{name}:{line}: {room} includes {path}, but backends do not know one another")
            elif FLOOR_OF[target] == FLOOR_OF[room]:
                sideways.setdefault((room, target), f"{name}:{line}: {room} includes {path}")
    for (room, target), text in sorted(sideways.items()):
        if room < target and (target, room) in sideways:
            found.append(f"{text}, and {sideways[(target, room)]}: rooms of a floor must not include each other")
    return found


class Floors(unittest.TestCase):
    project = None

    def test_project(self):
        self.assertEqual([], violations(self.project))

    def check(self, files, *expected):
        """Each string of `expected` must be in one violation, and there must be no others."""
        with tempfile.TemporaryDirectory() as folder:
            for name, text in files.items():
                file = pathlib.Path(folder, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            found = violations(folder)
        self.assertEqual(len(expected), len(found), found)
        for want, have in zip(expected, found):
            self.assertIn(want, have)

    def test_downward_and_public_includes_are_fine(self):
        self.check({"src/ir/node.h": "#include <rondo/tensor.h>\n#include <vector>\n",
                    "src/ops/add.cc": '#include "ir/node.h"\n#include "ops/record.h"\n',
                    "src/ops/record.h": "", "include/rondo/tensor.h": '#include "rondo/dtype.h"\n',
                    "include/rondo/implementation.h": '#include "../../src/ir/node.h"\n'})

    def test_upward(self):
        self.check({"src/ir/node.h": '\n  # include "ops/record.h"\n', "src/ops/record.h": ""},
                   "src/ir/node.h:2: ir includes ops/record.h, which is on a higher floor")

    def test_upward_by_a_relative_path(self):
        self.check({"src/ir/node.h": '#include "../text/lexer.h"\n', "src/text/lexer.h": ""}, "higher floor")

    def test_backends(self):
        self.check({"src/text/a.cc": '#include "interpreter/b.h"\n', "src/interpreter/b.h": ""},
                   "backends do not know one another")

    def test_mutual(self):
        self.check({"src/ops/a.h": '#include "control_flow/b.h"\n', "src/control_flow/b.h": '#include "ops/a.h"\n'},
                   "must not include each other")
        self.check({"src/ops/a.h": "", "src/control_flow/b.h": '#include "ops/a.h"\n'})

    def test_public_header_includes_src(self):
        self.check({"include/rondo/ops.h": '#include "ops/record.h"\n', "src/ops/record.h": ""}, "a public header")

    def test_a_pass_that_names_an_op(self):
        self.check({"src/passes/a.cc": "bool f() {\n  return node.op == &ops::kAdd;\n}\n",
                    "src/passes/shape_identities.cc": "bool f() { return node.op == &ops::kSlice; }\n",
                    "src/ops/add.cc": "bool f() { return node.op != &kAdd; }\n"},
                   "src/passes/a.cc:2: asks which op a node is")

    def test_unknown_room(self):
        self.check({"src/attic/a.h": ""}, "the room attic is on no floor")


if __name__ == "__main__":
    Floors.project = sys.argv.pop(1)
    unittest.main()
