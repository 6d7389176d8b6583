"""Names in the unnamed namespaces of sources that are compiled as one unit are unique.

Which sources share a unit depends on the build (the stage tsan leaves most out), so a clash may show
in one stage of CI only. Usage: unique_names_test.py REPOSITORY
"""

import collections
import pathlib
import re
import sys

CONSTANT = re.compile(r"^(?:inline |static |thread_local )*(?:constexpr|constinit|const)\b[^(;]*?\b(\w+)\s*(?:\[[^]]*\])?\s*[={]")
TYPE = re.compile(r"^(?:class|struct|enum class|enum|union)\s+(\w+)\s*(?:final\s*)?[:{]|^using\s+(\w+)\s*=")
FUNCTION = re.compile(r"^(?!using|return|namespace|#|//)[\w:<>,&*\[\] ]+?[ &*>](\w+)(\([^;{]*\))[^;{]*\{")


def names(source):
    """(name, parameters, the line of an alias) of what the unnamed namespaces of a source define."""
    inside = False
    around = ""
    lines = source.read_text().splitlines()
    for number, line in enumerate(lines):
        if re.match(r"^namespace (?:\w+(?:::\w+)* )?\{$", line):
            inside = line == "namespace {"
            if not inside:
                around = line.split()[1] + "::"
        elif re.match(r"^\}  // namespace$", line):
            inside = False
        if not inside or not line or line[0] in " }#/":
            continue
        if match := CONSTANT.match(line):
            yield around + match[1], "", ""
            for other in re.findall(r", (\w+) = ", line):
                yield around + other, "", ""
        elif match := TYPE.match(line):
            # An alias of the same type is no clash.
            yield around + (match[1] or match[2]), "", line if match[2] else ""
        elif match := FUNCTION.match(" ".join(each.strip() for each in lines[number : number + 6])):
            # Overloads are no clash; the names of parameters are no difference.
            yield around + match[1], re.sub(r"\s*\b\w+(?=[,)])", "", match[2]), ""


def units(repository):
    """Sources that some build compiles as one: a folder of tests, a library, the command."""
    for folder in sorted((repository / "tests").iterdir()):
        if folder.is_dir() and folder.name not in ("compile_fail", "packaging", "fuzz", "support"):
            yield folder, [each for each in sorted(folder.rglob("*.cc")) if "fake_plugin" not in each.parts]
    for folder in sorted((repository / "src").iterdir()):
        if folder.is_dir():
            yield folder, sorted(folder.rglob("*.cc"))


def main(repository):
    clashes = []
    sources_read = 0
    for folder, sources in units(repository):
        places = collections.defaultdict(list)
        for source in sources:
            sources_read += 1
            for name, parameters, alias in sorted(set(names(source))):
                places[name + parameters].append((source.relative_to(repository), alias))
        for name, found in sorted(places.items()):
            aliases = {alias for _, alias in found}
            if len(found) > 1 and (len(aliases) > 1 or "" in aliases):
                clashes.append(f"{name} is defined in " + " and ".join(str(source) for source, _ in found))
    if sources_read < 100:
        clashes.append(f"only {sources_read} sources were read: is {repository} the repository?")
    for clash in clashes:
        print(clash)
    print(f"{sources_read} sources, {len(clashes)} clashes; a clash needs another name, or one shared definition")
    return 1 if clashes else 0


if __name__ == "__main__":
    sys.exit(main(pathlib.Path(sys.argv[1])))
