"""Pages of the reference: one for each topic, from the declarations and comments of its headers."""
import dataclasses
import re

from text import cell, first_sentence, markdown

TYPES = ("class", "struct", "enum", "concept", "typedef")


@dataclasses.dataclass
class Group:
    """A comment of a header about the declarations after it."""
    line: int
    text: str


def header_comments(source):
    """The comment at the top of a header, and those between its declarations that are not one declaration's."""
    lines = source.split("\n")
    top = []
    for line in lines:
        if not line.startswith("//"):
            break
        top.append(line[3:])
    groups = []
    i = next((n for n, line in enumerate(lines) if line.startswith("namespace rondo")), len(lines))
    while i < len(lines):
        if lines[i] == "namespace detail {":
            i = lines.index("}  // namespace detail", i)
        if not re.match(r"//(?!/)", lines[i]):
            i += 1
            continue
        start = i
        while i < len(lines) and re.match(r"//(?!/)", lines[i]):
            i += 1
        text = "\n".join(line[3:] for line in lines[start:i])
        # A comment above deleted overloads says why they are, and one right above a docstring or a class
        # is for who changes the header.
        after = lines[i] if i < len(lines) else ""
        about_code = "clang-format" in text or text.startswith("NOLINT")
        if not about_code and (after == "" or after.startswith("RONDO_API") or after.startswith("///")):
            groups.append(Group(start + 1, text))
    return "\n".join(top), groups


def anchor(declaration):
    """An id for addresses: letters, digits and hyphens, different for all that differs by its operator."""
    name = re.sub(r"[^\w]", lambda match: f"-{ord(match[0]):x}", declaration.name.replace(" ", "-"))
    scope = declaration.scope.replace("::", "-")
    return f"{scope}-{name}" if scope else name


def by_name(declarations):
    """Overloads together, in the order of the first of each name."""
    found = {}
    for declaration in declarations:
        found.setdefault((declaration.qualified, declaration.kind == "function"), []).append(declaration)
    return list(found.values())


class Page:
    """A page about some headers."""

    def __init__(self, name, title, declarations, sources, targets, examples, signatures_with, snippets=()):
        """`sources` has the text of each header, `targets` an address for names in comments. `examples` gives the
        places that use a declaration, and `signatures_with` the functions that take or return a type, both as
        [(label, address)]. `snippets` are examples to be shown, for this page and for others."""
        self.name = name
        self.title = title
        self.entries = by_name(declarations)
        self.sources = sources
        self.targets = targets
        self.examples = examples
        self.signatures_with = signatures_with
        names = [(name, snippet) for snippet in snippets for name, page in snippet.names() if page in ("", self.name)]
        self.snippets = {entry[0].qualified: [snippet for name, snippet in names if name == entry[0].qualified]
                         for entry in self.entries}
        self.groups = {header: header_comments(source)[1] for header, source in sources.items()}

    def group_of(self, declaration):
        """The comment that a declaration shares with its neighbours, or None."""
        before = [group for group in self.groups.get(declaration.file, []) if group.line < declaration.line]
        return before[-1] if before else None

    def doc_of(self, entry):
        """What the headers say about an entry: the first docstring of its overloads, or the comment of its group."""
        for declaration in entry:
            if declaration.doc:
                return declaration.doc
        group = self.group_of(entry[0])
        return group.text if group and entry[0].kind == "function" else ""

    def markdown(self):
        parts = [f"# {self.title}"]
        if any(self.snippets.values()):
            parts.append("The tests run the examples, which begin with `#include <rondo/rondo.h>` and "
                         "`using namespace rondo;`.")
        shown = None
        for header, source in self.sources.items():
            name = header.removeprefix("include/")
            parts.append("---" if header != next(iter(self.sources)) else "")
            parts.append(f"`#include <{name}>`")
            parts.append(markdown(header_comments(source)[0], self.targets_without(name)))
            for entry in self.entries:
                if entry[0].file != header:
                    continue
                group = self.group_of(entry[0])
                if group and group is not shown:
                    shown = group
                    parts.append("---\n\n" + markdown(group.text, self.targets))
                parts.extend(self.entry(entry))
        return "\n\n".join(part for part in parts if part) + "\n"

    def targets_without(self, name):
        return {target: address for target, address in self.targets.items() if target != name}

    def entry(self, overloads, level=2):
        first = overloads[0]
        yield f"{'#' * level} `{first.qualified}` {{ #{anchor(first)} data-toc-label=\"{first.name}\" }}"
        yield from self.signatures(overloads)
        for declaration in overloads:
            yield from self.members(declaration, level)
        if level == 2:
            for snippet in self.snippets[first.qualified]:
                yield f"**Example**\n\n```cpp\n{snippet.code}\n```\n\n```text\n{snippet.output}\n```"
            yield self.places("In the signatures of", self.signatures_with(first))
            yield self.places("Used in", self.examples(first))

    def signatures(self, overloads):
        """Code and comment of each overload. Neighbours without a comment share a code block."""
        blocks = []
        for declaration in overloads:
            if blocks and declaration.doc == blocks[-1][1] == "":
                blocks[-1][0].append(declaration.signature)
            else:
                blocks.append(([declaration.signature], declaration.doc))
        for code, doc in blocks:
            yield "```cpp\n" + "\n".join(code) + "\n```"
            yield markdown(doc, self.targets_without(overloads[0].name))

    def members(self, declaration, level):
        if declaration.kind == "enum":
            yield self.table(["value", "meaning"],
                             [[f"`{value.name}`", cell(value.doc, self.targets)] for value in declaration.members])
        fields = [member for member in declaration.members if member.kind == "variable"]
        if fields:
            yield self.table(["field", "type", "default", "meaning"], [self.field(member) for member in fields])
        others = by_name(member for member in declaration.members
                         if member.kind not in ("variable", "enumerator") and not member.name.startswith("operator=="))
        for entry in others:
            if any(member.doc for member in entry):
                yield from self.entry(entry, level + 1)
        plain = [member.signature for entry in others for member in entry if not any(other.doc for other in entry)]
        if plain:
            yield "Other members:" if len(plain) < len(declaration.members) else "Members:"
            yield "```cpp\n" + "\n".join(plain) + "\n```"

    def field(self, member):
        type_text = re.sub(rf"\s*\b{member.name}\b.*", "", member.signature)
        default = member.default
        return [f"`{member.name}`", f"`{type_text}`", f"`{default}`" if default else "", cell(member.doc, self.targets)]

    @staticmethod
    def table(head, rows):
        filled = [i for i in range(len(head)) if any(row[i] for row in rows)]
        head, rows = [head[i] for i in filled], [[row[i] for i in filled] for row in rows]
        escaped = [[re.sub(r"(?<!\\)\|", r"\|", text) for text in row] for row in rows]
        return "\n".join("| " + " | ".join(row) + " |" for row in [head, ["---"] * len(head)] + escaped)

    @staticmethod
    def places(head, found, most=6):
        """A line of links, [(label, address)]."""
        if not found:
            return ""
        links = ", ".join(f"[{label}]({to})" for label, to in found[:most])
        more = f" and {len(found) - most} more" if len(found) > most else ""
        return f"*{head}: {links}{more}*"


def index(pages):
    """A page with all functions and types in alphabetical order, with one line each."""
    rows = {"Functions": [], "Types and constants": []}
    for page in pages:
        for entry in page.entries:
            first = entry[0]
            head = "Functions" if first.kind == "function" else "Types and constants"
            # One line for each namespace and name; operators come last.
            name = first.qualified.lower()
            rows[head].append(((not name[0].isalpha() or first.name.startswith("operator"), name),
                               [f"[`{first.qualified}`]({page.name}.md#{anchor(first)})",
                                cell(first_sentence(page.doc_of(entry)), {}),
                                f"[{page.title}]({page.name}.md)"]))
    parts = ["# Index of names"]
    for head, found in rows.items():
        table = Page.table(["name", "", "page"], [row for _, row in sorted(found, key=lambda row: row[0])])
        parts.append(f"## {head}\n\n{table}")
    return "\n\n".join(parts) + "\n"


def missing(pages):
    """Entries about which the headers say nothing, and those with only the comment of their group."""
    nothing, shared = [], []
    for page in pages:
        for entry in page.entries:
            if any(declaration.doc for declaration in entry):
                continue
            (shared if page.doc_of(entry) else nothing).append(entry[0])
    return nothing, shared


def without_example(pages):
    """Functions for which no example is shown."""
    return [entry[0] for page in pages for entry in page.entries
            if entry[0].kind == "function" and not page.snippets[entry[0].qualified]]


def wrong_examples(pages, snippets):
    """The names in titles of examples that no entry has, or that the example does not use."""
    entries = {(page.name, name) for page in pages for name in page.snippets}
    for snippet in snippets:
        for name, page in snippet.names():
            known = (page, name) in entries if page else any(name == entry for _, entry in entries)
            bare = name.rpartition("::")[2]
            called = re.escape(bare.removeprefix("operator")) if "operator" in bare else rf"\b{bare}[(<]"
            if not known or not re.search(called, snippet.code):
                yield f"{name}, in \"{snippet.title}\""
