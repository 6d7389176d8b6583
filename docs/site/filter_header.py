#!/usr/bin/env python3
"""Prints a public header as Doxygen should read it. Usage: filter_header.py HEADER

Lines keep their numbers. Comments become verbatim text: in `@main`, `%add` or `|x|` Doxygen would see commands.
Comments at the end of a field's line are its documentation. Attributes and the macros that write out lists of
arguments, which no reader needs, are gone.
"""
import pathlib
import re
import sys

NODISCARD = re.compile(r"\[\[\s*nodiscard\s*(?:\(\s*(?:\"(?:[^\"\\]|\\.)*\"\s*)+\))?\s*\]\]")
CLASS_ATTRIBUTES = re.compile(r"\b(class|struct)\s*\[\[.*?\]\]", re.DOTALL)
DOCSTRING = re.compile(r"^( *)/// ?(.*)$")
TRAILING = re.compile(r"^(  +[^/\s].*?[;,\w{}])(  +)// (.*)$")
CONTINUED = re.compile(r"^( +)// (.*)$")
DEFINE = re.compile(r"^#define (RONDO_\w+)\(types, names, params, args\)")


def blank(match):
    """As many lines as the match has, empty."""
    return "\n" * match[0].count("\n")


def without_attributes(text):
    text = NODISCARD.sub(blank, text)
    text = CLASS_ATTRIBUTES.sub(lambda match: match[1] + blank(match), text)
    return re.sub(r"\bRONDO_API ", "", text)


def with_packs(lines):
    """Functions that a macro declares once for each number of arguments, declared once with a pack."""
    macro = None
    for line in lines:
        if start := DEFINE.match(line):
            macro = start[1]
            yield ""
        elif macro and (line == f"RONDO_FOR_UP_TO_SIX({macro})" or line == f"#undef {macro}"):
            yield ""
        elif macro:
            line = line.replace("RONDO_UNPACK types", ", class... Args")
            yield line.replace("RONDO_UNPACK params", "Args&&... args,").removesuffix("\\").rstrip()
        else:
            yield line


def verbatim(lines):
    """Docstrings, and comments at the end of a line, as verbatim text for Doxygen."""
    lines = list(lines)
    for i, line in enumerate(lines):
        if match := DOCSTRING.match(line):
            begins = i == 0 or not DOCSTRING.match(lines[i - 1])
            ends = i + 1 == len(lines) or not DOCSTRING.match(lines[i + 1])
            yield (f"{match[1]}/** \\verbatim " if begins else "") + match[2] + (" \\endverbatim */" if ends else "")
        elif match := TRAILING.match(line):
            text = [match[3]]
            for following in lines[i + 1:]:
                more = CONTINUED.match(following)
                if not more or len(more[1]) != len(match[1] + match[2]):
                    break
                text.append(more[2])
            yield f"{match[1]}  /**< \\verbatim {' '.join(text)} \\endverbatim */"
        else:
            yield line


def filtered(text):
    return "\n".join(verbatim(with_packs(without_attributes(text).split("\n"))))


if __name__ == "__main__":
    sys.stdout.write(filtered(pathlib.Path(sys.argv[1]).read_text(encoding="utf-8")))
