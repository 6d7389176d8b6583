#!/usr/bin/env python3
"""Compares what gdb prints of values.cc with what it should print.

Usage: gdb_test.py PROGRAM FOLDER   gdb may load scripts from FOLDER, which holds the program and the library. Exit
status 77 (skipped) if there is no gdb that has Python and may run a program. In CI gdb has to be installed.
"""
import re
import sys

from run_gdb import require_gdb, run_gdb, skip_unless_run

# For each function that calls look(), in their order: expressions, and the text for each.
STOPS = {
    "literals": {
        "f32": "f32[6] {0.1, -0, 100, 1e-07, -inf, 16777216}",
        "f64": "f64[3] {0.1, 1e+300, nan}",
        "f16": "f16[2] {0.1, 65500}",
        "bf16": "bf16[2] {3.14, -1}",
        "f8": "f8e4m3fn[2] {0.3125, 448}",
        "u4": "u4[2] {15, 0}",
        "s64": "s64[] -9223372036854775808",
        "u64": "u64[] 18446744073709551615",
        "pred": "pred[2,2] {{true, false}, {true, true}}",
        "c64": "c64[1] {(0.1, -2)}",
        "c128": "c128[] (1, 0.5)",
        "longer": "s32[1000] {0, 1, 2, ..., 997, 998, 999}",
        "table": "s32[20,50] {{0, 1, 2, ..., 47, 48, 49}, {50, 51, 52, ..., 97, 98, 99}, "
                 "{100, 101, 102, ..., 147, 148, 149}, ..., {850, 851, 852, ..., 897, 898, 899}, "
                 "{900, 901, 902, ..., 947, 948, 949}, {950, 951, 952, ..., 997, 998, 999}}",
        "no_rows": "s32[2,0] {}",
        "by_default": "f32[0] {}",
        "moved_to": "f32[2] {1.5, 2.5}",
        "moved_from": "f32[] (moved from)",
        "reference": "f32[2] {1.5, 2.5}",
        "half": "0.1",
        "small": "1.25",
    },
    "tensors": {
        "empty": "(empty tensor)",
        "scalar": "f32[] 2.5 = constant at values.cc:LINE",
        "vector": "f32[3] {1, 2, 3} = constant at values.cc:LINE",
        "lazy": "f32[3] = add at values.cc:LINE, not evaluated",
        "computed": "f32[3] {2, 4, 6} = multiply at values.cc:LINE",
        "known": "f32[3] {0, 1, 2}",
        "moved_from": "(empty tensor)",
        "house": "{slab = f32[3] {1, 2, 3} = constant at values.cc:LINE, tank = (empty tensor)}",
        "street.names": 'std::map with 1 element = {["main"] = f32[] 2.5 = constant at values.cc:LINE}',
        "tree": 'tree Street, sizes {2, 1}, keys {"main"}',
        "no_tree": "(structure of no tree)",
    },
    "in_a_trace": {
        "x": "f32[2] = parameter arg0 at values.cc:LINE",
        "parts.second": "f32[] = result 1 of while at values.cc:LINE",
        "product": "f32[2] = multiply at values.cc:LINE",
        "&product": "(rondo::Tensor *) ADDRESS",
        "*&product": "f32[2] = multiply at values.cc:LINE",
    },
    "programs": {
        "shape": "[2,3]",
        "scalar_shape": "[]",
        "type": "bf16[4]",
        "dtype": "c64",
        "no_dtype": "<invalid dtype 77>",
        "here": "values.cc:LINE",
        "nowhere": "?",
        "accented": r"caf\xe9.cc:3",  # in ASCII, which the test asks for
        "program": "main(arg0: f32[2], arg1: f32[]) -> (result: f32[2]), 4 nodes",
        "named": "main(arg0.slab: f32[], arg0.tank: s32[2]) -> (result.slab: s32[2], result.tank: f32[]), 2 nodes",
        "empty": "(empty function)",
    },
    "mistakes": {
        "*(rondo::Tensor*)&zeros": "(empty tensor)",
        "*(rondo::Literal*)&zeros": "pred[] (moved from)",
        "*(rondo::Shape*)&zeros": "[]",
        "*(rondo::Function*)&zeros": "(empty function)",
        "*(rondo::SourceLocation*)&zeros": "?",
        **{f"*(rondo::{name}*)&{memory}": "<uninitialized>"
           for name in ("Tensor", "Literal", "Shape", "TensorType", "Function", "TreeStructure")
           for memory in ("ones", "itself")},
        "*(rondo::SourceLocation*)&ones": "<uninitialized>",
    },
}
RETURNED = {"doubled": "s32[2] = add at values.cc:LINE, not evaluated", "two_numbers": "f32[2] {1.5, 2.5}"}


def commands_of_all():
    """The commands, and the texts that `print` should give in their order."""
    commands, expected = ["break look"], []
    for number, texts in enumerate(STOPS.values()):
        commands += ["continue" if number else "run", "up"]
        for expression, text in texts.items():
            commands.append(f"print {expression}")
            expected.append((expression, text))
    for function, text in RETURNED.items():
        commands += [f"tbreak {function}", "continue", "finish"]
        expected.append((f"what {function}() returns", text))
    return commands, expected


def comparable(text):
    return re.sub(r"0x[0-9a-f]+", "ADDRESS", re.sub(r"(values\.cc):\d+", r"\1:LINE", text))


def main():
    program, folder = sys.argv[1:]
    require_gdb(program)
    commands, expected = commands_of_all()
    output = run_gdb(program, [f"add-auto-load-safe-path {folder}"], commands)
    skip_unless_run(output)
    printed = re.findall(r"^(?:Value returned is )?\$\d+ = (.*)$", output, re.MULTILINE)
    bad = [f"{expression} is\n  {comparable(have)}, not\n  {want}"
           for (expression, want), have in zip(expected, printed) if want != comparable(have)]
    if len(printed) != len(expected):
        bad.append(f"{len(printed)} values instead of {len(expected)}")
    if "Python Exception" in output or "Error occurred in Python" in output:
        bad.append("a printer raises")
    # Elsewhere gdb names what its user has to permit.
    refused = run_gdb(program, [], ["break look", "run"])
    if "auto-loading has been declined" not in refused:
        bad.append("gdb has not found the printers by itself:\n" + refused)
    print("\n".join([*bad, *([output] if bad else []), f"{len(printed)} values, {len(bad)} mistakes"]))
    sys.exit(bool(bad))


if __name__ == "__main__":
    main()
