"""Examples of declarations: those of examples/reference, and where lessons and pages use one.

The tests run the examples and the lessons, and compile some of the pages (docs_test.py).
"""
import dataclasses
import re
import textwrap

CODE_BLOCK = re.compile(r"^```(?:cpp|c\+\+)\n(.*?)^```$", re.MULTILINE | re.DOTALL)
COMMENT = re.compile(r"//.*$", re.MULTILINE)
STRING = re.compile(r'"(?:[^"\\\n]|\\.)*"')
# A name that is a variable, a parameter or a function of the example itself.
DEFINED = r"(?:\b(?:auto|Tensor|void|double|float|int|bool|State)[&*]?|[>&*])\s+{}\s*(?:[=({{;,)]|$)"


@dataclasses.dataclass
class Example:
    """C++ of a lesson or a page."""
    label: str
    address: str  # from a page of the reference
    code: str

    def __post_init__(self):
        self.code = COMMENT.sub("", STRING.sub('""', self.code))
        self.words = set(re.findall(r"\w+", self.code))


def code_of_page(text):
    return "\n".join(CODE_BLOCK.findall(text))


def calls(code, scope, name):
    """Whether code calls the function: by its name alone (not one of another namespace, or a member), followed by
    arguments. Functions of rondo::random and others are called with their namespace."""
    inner = scope.rpartition("::")[2]
    for match in re.finditer(rf"\b{name}\s*(?:<[^;()]*>)?\(", code):
        before = code[:match.start()]
        if before.endswith("::"):
            qualifier = re.search(r"(\w*)::$", before)[1]
            if qualifier == (inner or "rondo"):
                return True
        elif not before.endswith((".", "->")) and not inner:
            if not re.search(DEFINED.format(name), code, re.MULTILINE):
                return True
    return False


def uses(example, declaration):
    name = declaration.name
    if name not in example.words:
        return False
    if declaration.kind == "function":
        return calls(example.code, declaration.scope, name)
    return not re.search(rf"\b(?:struct|class|enum class)\s+{name}\b", example.code)


def finder(examples):
    """A function that gives the places that use a declaration, [(label, address)]."""
    def places(declaration):
        return [(example.label, example.address) for example in examples if uses(example, declaration)]
    return places


SNIPPET = re.compile(r'^  example\(\s*((?:"[^"]*"\s*)+),\s*\[\] \{(.*)$')
STRUCT = re.compile(r"^struct (\w+) \{\n.*?^\};\n", re.MULTILINE | re.DOTALL)
PAGE = re.compile(r" \((\w+)\)$")


@dataclasses.dataclass
class Snippet:
    """One of the examples of a program of examples/reference, and what it prints."""
    title: str
    code: str
    output: str

    def names(self):
        """[(name, page)] of what it is an example of; a page of "" is every page that has the name."""
        for name in self.title.split(", "):
            page = PAGE.search(name)
            yield PAGE.sub("", name), page[1] if page else ""


def bodies(source):
    """The titles and the bodies of the examples of a program, in their order: `  example("title", [] {`, then lines
    that are indented further, then `  });`; clang-format may break lines after `example(` and indents the rest."""
    lines = source.split("\n")
    i = 0
    while i < len(lines):
        if not lines[i].startswith("  example("):
            i += 1
            continue
        head, last = lines[i], i
        while not (match := SNIPPET.match(head)):
            last += 1
            if last - i > 9 or last == len(lines):
                raise ValueError(f"line {i + 1}: not `example(\"title\", [] {{`")
            head += " " + lines[last].strip()
        title = "".join(re.findall(r'"([^"]*)"', match[1]))
        if match[2].strip():  # all in one line
            yield title, match[2].strip().removesuffix("});").strip()
            i = last + 1
            continue
        end = next((n for n in range(last + 1, len(lines)) if re.fullmatch(r" {2,6}\}\);", lines[n])
                    and len(lines[n]) - 3 < len(lines[last + 1]) - len(lines[last + 1].lstrip())), None)
        if end is None:
            raise ValueError(f"line {i + 1}: the example has no end")
        yield title, textwrap.dedent("\n".join(lines[last + 1:end]))
        i = end + 1


def snippets(source, output):
    """The examples of a program, with the structs of the program that they use. `output` is what it prints: a line
    `## title` before what each example prints."""
    found = list(bodies(source))
    printed = re.split(r"^## (.*)\n", output, flags=re.MULTILINE)[1:]
    titles = [title for title, _ in found]
    if titles != printed[::2]:
        raise ValueError(f"the examples are {titles}, the output is that of {printed[::2]}")
    structs = {match[1]: match[0] for match in STRUCT.finditer(source)}
    for (title, code), text in zip(found, printed[1::2]):
        before = "".join(f"{struct}\n" for name, struct in structs.items() if re.search(rf"\b{name}\b", code))
        yield Snippet(title, before + code, text.rstrip("\n"))
