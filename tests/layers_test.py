#!/usr/bin/env python3
"""Fails if a folder of src/ includes a higher layer, or asks which op a node is. Usage: layers_test.py PROJECT_DIR

docs/design.md describes the layers. Public headers may be included from anywhere, and include nothing of src/. Folders
of one layer include one another in one direction only; backends do not include one another at all. Folders of
rondo::core include nothing of the other libraries, which do not include one another.

The tests of a folder are compiled together (tests/CMakeLists.txt). Compilers refuse two types or constants of one name
then, but a call may silently reach the function of another file: functions of one folder have different names.
"""
import pathlib
import re
import sys
import tempfile
import unittest

LAYERS = [  # the lowest first
    ["base"],
    ["lower"],
    ["bytecode", "c", "native", "ir"],
    ["ops", "control_flow"],
    ["transforms", "passes", "gradient_check", "device", "solvers"],
    ["text", "interpreter", "executor", "pjrt"],
    ["run", "cli"],
]
BACKENDS = set(LAYERS[-2])
LIBRARY_OF = {"bytecode": "compiler", "c": "compiler", "executor": "compiler", "lower/passes": "compiler", "native": "compiler",
              "pjrt": "pjrt"}  # all else: core
LAYER_OF = {folder: layer for layer, folders in enumerate(LAYERS) for folder in folders}
INCLUDE = re.compile(r'^[ \t]*#[ \t]*include[ \t]*(?:"([^"]+)"|<([^>]+)>)', re.M)
# Facts about an op are in its record, so only rules about particular ops may ask which op a node is.
NAMED_OP = re.compile(r"[!=]=\s*&\s*(?:\w+::)*k[A-Z]\w*")
FOLDERS_OF_RECORDS = {"ir", "ops", "control_flow"}
RULES_ABOUT_OPS = re.compile(r"src/passes/(\w+_identities|splat)\.cc")
# Who asks the processor what it can do: all else asks these, or a native_code::Target.
NAMED_PROCESSOR = re.compile(r"\bIsa\b|__builtin_cpu_\w+|\bcpuid\b")
FILES_ABOUT_PROCESSORS = ("src/base/cpu.", "src/native/x86/")
# What users need not read is in include/rondo/detail/; dtype.h needs its two blocks where they are.
DETAIL = re.compile(r"^namespace (rondo::)?detail\b", re.M)
DETAIL_EXCEPTION = "dtype.h"
PUBLIC_EXCEPTION = "implementation.h"  # the library as text: it includes all of src/
# A function defined at a file's outermost level.
FUNCTION = re.compile(r"^(?!using|namespace|return|[A-Z_]+\()[A-Za-z_][\w:<>,*& ]*?[\s&*]([a-z_]\w*)\((?!.*;\s*$)", re.M)
COMPILED_APART = {"aarch64", "compile_fail", "debuggers", "dlpack", "firmware", "fuzz", "hosts", "packaging", "support", "xla"}  # of tests/


def includes(file):
    text = file.read_text(encoding="utf-8")
    for match in INCLUDE.finditer(text):
        yield match.group(1) or match.group(2), text.count("\n", 0, match.start(0)) + 1


def folder_of_include(path, file, src):
    """The folder of src/ that an include names, or None for a file outside src/."""
    relative = (file.parent / path).resolve()
    if relative.is_relative_to(src) and relative.exists():
        return relative.relative_to(src).parts[0]
    first = pathlib.PurePosixPath(path).parts[0]
    return first if first in LAYER_OF and (src / path).exists() else None


def library_of(path):
    """The library that a file of src/ is compiled into."""
    parts = path.parts
    return LIBRARY_OF.get("/".join(parts[:2])) or LIBRARY_OF.get(parts[0], "core")


def violations(project):
    project = pathlib.Path(project).resolve()
    src, public = project / "src", project / "include"
    found, sideways = [], {}
    for file in sorted(public.rglob("*.h")):
        match = DETAIL.search(file.read_text(encoding="utf-8"))
        if match and file.parent.name != "detail" and file.name != DETAIL_EXCEPTION:
            line = match.string.count("\n", 0, match.start()) + 1
            found.append(f"{file.relative_to(project)}:{line}: namespace detail belongs in include/rondo/detail/")
        for path, line in includes(file):
            target = folder_of_include(path, file, src)
            if (target or path.startswith(("src/", "../src/"))) and file.name != PUBLIC_EXCEPTION:
                found.append(f"{file.relative_to(project)}:{line}: a public header includes {path}")
    for file in sorted(f for f in src.rglob("*") if f.suffix in (".cc", ".h", ".inc")):
        folder = file.relative_to(src).parts[0]
        name = file.relative_to(project)
        if folder not in LAYER_OF:
            found.append(f"{name}: the folder {folder} is in no layer; add it to one in tests/layers_test.py")
            continue
        if not name.as_posix().startswith(FILES_ABOUT_PROCESSORS):
            text = file.read_text(encoding="utf-8")
            for match in NAMED_PROCESSOR.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{name}:{line}: asks for the processor's features; base/cpu.h or the target should say")
        if folder not in FOLDERS_OF_RECORDS and not RULES_ABOUT_OPS.fullmatch(name.as_posix()):
            text = file.read_text(encoding="utf-8")
            for match in NAMED_OP.finditer(text):
                line = text.count("\n", 0, match.start()) + 1
                found.append(f"{name}:{line}: asks which op a node is; a field of its record should say what matters")
        for path, line in includes(file):
            target = folder_of_include(path, file, src)
            if target is None:
                continue
            included = src / path if (src / path).exists() else (file.parent / path).resolve()
            library, other = library_of(file.relative_to(src)), library_of(included.relative_to(src))
            if other not in (library, "core"):
                found.append(f"{name}:{line}: a file of rondo::{library} includes {path}, which is in rondo::{other}")
                continue
            if target == folder:
                continue
            if target not in LAYER_OF:
                found.append(f"{name}:{line}: {path} is in a folder of no layer")
            elif LAYER_OF[target] > LAYER_OF[folder]:
                found.append(f"{name}:{line}: {folder} includes {path}, which is in a higher layer")
            elif folder in BACKENDS and target in BACKENDS:
                found.append(f"{name}:{line}: {folder} includes {path}, but backends must not include one another")
            elif LAYER_OF[target] == LAYER_OF[folder]:
                sideways.setdefault((folder, target), f"{name}:{line}: {folder} includes {path}")
    owners = {}
    for file in sorted((project / "tests").glob("*/*.cc")):
        if file.parent.name in COMPILED_APART:
            continue
        for function in sorted(set(FUNCTION.findall(file.read_text(encoding="utf-8")))):
            owner = owners.setdefault((file.parent.name, function), file)
            if owner != file:
                found.append(f"{file.relative_to(project)}: {function}() is in {owner.name} as well; rename one")
    for (folder, target), text in sorted(sideways.items()):
        if folder < target and (target, folder) in sideways:
            found.append(f"{text}, and {sideways[(target, folder)]}: folders of one layer must not include each other")
    return found


class Layers(unittest.TestCase):
    project = None

    def test_project(self):
        self.assertEqual([], violations(self.project))

    def check(self, files, *expected):
        """Each string of `expected` must be in one violation, and there must be no others."""
        with tempfile.TemporaryDirectory() as project:
            for name, text in files.items():
                file = pathlib.Path(project, name)
                file.parent.mkdir(parents=True, exist_ok=True)
                file.write_text(text, encoding="utf-8")
            found = violations(project)
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
                   "src/ir/node.h:2: ir includes ops/record.h, which is in a higher layer")

    def test_upward_by_a_relative_path(self):
        self.check({"src/ir/node.h": '#include "../text/lexer.h"\n', "src/text/lexer.h": ""}, "higher layer")

    def test_backends(self):
        self.check({"src/text/a.cc": '#include "interpreter/b.h"\n', "src/interpreter/b.h": ""},
                   "backends must not include one another")

    def test_libraries(self):
        self.check({"src/run/a.cc": '#include "executor/b.h"\n', "src/executor/b.h": ""},
                   "a file of rondo::core includes executor/b.h, which is in rondo::compiler")
        self.check({"src/lower/a.cc": '#include "lower/passes/b.h"\n', "src/lower/passes/b.h": ""},
                   "which is in rondo::compiler")
        self.check({"src/executor/a.cc": '#include "lower/passes/b.h"\n', "src/lower/passes/b.h": ""})

    def test_mutual(self):
        self.check({"src/ops/a.h": '#include "control_flow/b.h"\n', "src/control_flow/b.h": '#include "ops/a.h"\n'},
                   "must not include each other")
        self.check({"src/ops/a.h": "", "src/control_flow/b.h": '#include "ops/a.h"\n'})

    def test_public_header_includes_src(self):
        self.check({"include/rondo/ops.h": '#include "ops/record.h"\n', "src/ops/record.h": ""}, "a public header")

    def test_a_kernel_that_asks_the_processor(self):
        self.check({"src/ops/a.cc": 'bool f() { return __builtin_cpu_supports("fma"); }\n',
                    "src/base/cpu.cc": 'bool f() { return __builtin_cpu_supports("fma"); }\n'},
                   "src/ops/a.cc:1: asks for the processor's features")

    def test_detail_in_a_public_header(self):
        self.check({"include/rondo/loops.h": "#pragma once\n\nnamespace rondo::detail {\n}\n",
                    "include/rondo/detail/loops.h": "namespace rondo::detail {\n}\n"},
                   "include/rondo/loops.h:3: namespace detail belongs in")

    def test_a_pass_that_names_an_op(self):
        self.check({"src/passes/a.cc": "bool f() {\n  return node.op == &ops::kAdd;\n}\n",
                    "src/passes/shape_identities.cc": "bool f() { return node.op == &ops::kSlice; }\n",
                    "src/ops/add.cc": "bool f() { return node.op != &kAdd; }\n"},
                   "src/passes/a.cc:2: asks which op a node is")

    def test_functions_of_one_name_in_tests(self):
        helper, other = "int twice(int x) {\n  return 2 * x;\n}\n", "float twice(\n    float x) {\n  return x;\n}\n"
        self.check({"tests/ir/a_test.cc": helper, "tests/ir/b_test.cc": other},
                   "tests/ir/b_test.cc: twice() is in a_test.cc as well")
        self.check({"tests/ir/a_test.cc": helper, "tests/ops/b_test.cc": other, "tests/xla/a.cc": helper,
                    "tests/xla/b.cc": other, "tests/ir/b_test.cc": "const int four = twice(2);\nint twice(int x);\n"})

    def test_unknown_folder(self):
        self.check({"src/attic/a.h": ""}, "the folder attic is in no layer")


if __name__ == "__main__":
    Layers.project = sys.argv.pop(1)
    unittest.main()
