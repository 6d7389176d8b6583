"""Where lessons and pages use a declaration: the tests run the lessons, and compile some of the pages (docs_test.py)."""
import dataclasses
import re

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
