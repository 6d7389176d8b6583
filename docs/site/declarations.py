"""Declarations of the public headers, from Doxygen's XML, as a reader would write them.

What no caller writes or reads is left out: deleted overloads, parameters for the line of the call, template
parameters that hold the text of an error, and names in detail:: where a public one means the same.
"""
import dataclasses
import re
import xml.etree.ElementTree as ElementTree

HIDDEN_SCOPES = {"detail", "ir", "std", "fmt"}
# The first is a type of detail:: that checks lambdas on the way to the second.
READABLE = [(re.compile(r"detail::loop_tree_t<\s*(\w+)[^<>]*>"), r"traced_t<\1>")]
WIDTH = 90


@dataclasses.dataclass
class Declaration:
    """A function, type, constant or concept, or a member of a type."""
    kind: str  # function, class, struct, enum, concept, typedef, variable
    scope: str  # random, pjrt; the class of a member; "" for rondo itself
    name: str
    file: str
    line: int
    signature: str
    doc: str = ""
    default: str = ""  # of a field
    members: list = dataclasses.field(default_factory=list)

    @property
    def qualified(self):
        return f"{self.scope}::{self.name}" if self.scope else self.name


def text_of(element):
    """The text of an element, with the spaces that Doxygen puts into template arguments removed."""
    text = " ".join("".join(element.itertext()).split()) if element is not None else ""
    text = re.sub(r"<\s+", "<", text)
    text = re.sub(r"(?<![-=<])\s+>(?![>=])", ">", text)
    text = re.sub(r"(\w|>|\))\s+(&&?|\*)(?=\s|$|\w|\.)", r"\1\2", text)
    for pattern, replacement in READABLE:
        text = pattern.sub(replacement, text)
    return text


def docstring(element):
    """The comment of a declaration: text that the filter made verbatim, line by line as it was written."""
    parts = [part.text or "" for part in element.iterfind("detaileddescription//verbatim")]
    return "\n\n".join(part.strip() for part in parts)


def joined(type_text, name):
    return f"{type_text} {name}".strip() if name else type_text


def parameter(param):
    text = joined(text_of(param.find("type")), param.findtext("declname") or "")
    array = param.findtext("array") or ""
    default = text_of(param.find("defval"))
    return text + array + (f" = {default}" if default else "")


def template_line(element):
    params = [parameter(param) for param in element.iterfind("templateparamlist/param")
              if text_of(param.find("type")) != "detail::Why"]
    params = [param.replace("detail::", "") for param in params]
    if not params:
        return ""
    requires = " ".join((element.findtext("requiresclause") or "").split())
    return f"template <{', '.join(params)}>\n" + (f"requires {requires}\n" if requires else "")


def function_signature(member, name):
    params = [parameter(param) for param in member.iterfind("param")
              if text_of(param.find("type")) != "SourceLocation"]
    params = [re.sub(r"detail::|\bclass (?=\w)", "", param) for param in params]
    result = text_of(member.find("type")).replace("detail::", "")
    static = "static " if member.get("static") == "yes" and "static" not in result else ""
    after = (member.findtext("argsstring") or "").rpartition(")")[2].strip()
    after = re.sub(r"\s*=\s*(default|0)$", "", after)
    after = re.sub(r"\s*(&&?)\s*", r"\1 ", after).strip() if after.startswith("const") else after
    head = joined(static + result, name)
    line = f"{head}({', '.join(params)})" + (f" {after}" if after else "")
    if len(line) > WIDTH and params:
        line = f"{head}(\n    " + ",\n    ".join(params) + ")" + (f" {after}" if after else "")
    return template_line(member) + line


def scope_of(qualified):
    """The scope without rondo, or None if it holds nothing public."""
    parts = qualified.split("::")
    if parts[0] != "rondo" or HIDDEN_SCOPES & set(parts):
        return None
    return "::".join(part for part in parts[1:] if part != "with_checks")


def place(element):
    location = element.find("location")
    return location.get("file"), int(location.get("line"))


def enumerators(member):
    return [Declaration("enumerator", member.findtext("name"), value.findtext("name"), "", 0, "", docstring(value))
            for value in member.iterfind("enumvalue")]


def member_declaration(member, scope):
    """A function, field, constant, alias or enum; None for what is not for callers."""
    kind, name, args = member.get("kind"), member.findtext("name"), member.findtext("argsstring") or ""
    if kind == "function" and re.search(r"=\s*delete$", args) or kind in ("friend", "define"):
        return None
    if "<" in name and kind == "variable":  # a specialization
        return None
    if "ir::" in args or "ir::" in text_of(member.find("type")):  # for code that walks programs
        return None
    doc = docstring(member)
    if "detail::" in args and not doc:  # overloads that exist for an error or for the compiler
        return None
    file, line = place(member)
    declaration = Declaration(kind, scope, name, file, line, "", doc)
    type_text = text_of(member.find("type"))
    if kind == "function":
        declaration.signature = function_signature(member, name)
    elif kind == "enum":
        declaration.signature = f"enum class {name}" if member.get("strong") == "yes" else f"enum {name}"
        declaration.members = enumerators(member)
    elif kind == "typedef":
        meaning = "..." if "detail::" in type_text else type_text
        declaration.signature = f"{template_line(member)}using {name} = {meaning}"
    elif kind == "variable":
        initializer = text_of(member.find("initializer"))
        if "detail::" in type_text:
            return None
        declaration.default = initializer.removeprefix("=").strip()
        shown = f" {initializer}" if initializer and "detail::" not in initializer else ""
        declaration.signature = template_line(member) + joined(type_text, name) + shown
    return declaration


def is_special(member, class_name):
    """Whether a member is a destructor, or copies or moves: nothing that has to be said."""
    name, args = member.findtext("name"), member.findtext("argsstring") or ""
    if name.startswith("~"):
        return True
    own = name in (class_name, "operator=")
    return own and re.fullmatch(rf"\((const )?{class_name}\s*&&?\s*\w*\).*", args) is not None


def class_declaration(compound):
    name = compound.findtext("compoundname")
    scope = scope_of(re.sub(r"<.*", "", name).rpartition("::")[0])
    if scope is None or compound.get("prot") != "public":
        return None
    short = re.sub(r"<.*", "", name).rpartition("::")[2].strip()
    arguments = re.search(r"<.*", name)
    shown = short + (re.sub(r"\s+", " ", arguments[0]).replace("< ", "<").replace(" >", ">") if arguments else "")
    doc = docstring(compound)
    if arguments and not doc:
        return None
    bases = [text_of(base) for base in compound.iterfind("basecompoundref")
             if base.get("prot") == "public" and "detail::" not in text_of(base)]
    file, line = place(compound)
    signature = (template_line(compound) + f"{compound.get('kind')} {shown}" +
                 (f" : {', '.join(bases).replace('rondo::', '')}" if bases else ""))
    declaration = Declaration(compound.get("kind"), scope, short, file, line, signature, doc)
    for member in compound.iterfind("sectiondef/memberdef"):
        if member.get("prot") == "public" and not is_special(member, short):
            found = member_declaration(member, declaration.qualified)
            if found:
                declaration.members.append(found)
    declaration.members.sort(key=lambda member: member.line)
    return declaration


def concept_declaration(compound):
    name = compound.findtext("compoundname")
    scope = scope_of(name.rpartition("::")[0])
    if scope is None:
        return None
    short = name.rpartition("::")[2]
    file, line = place(compound)
    return Declaration("concept", scope, short, file, line, template_line(compound) + f"concept {short}",
                       docstring(compound))


def declarations_in(root):
    """What one XML file of Doxygen declares for callers."""
    for compound in root.iterfind("compounddef"):
        kind = compound.get("kind")
        if kind in ("class", "struct"):
            found = [class_declaration(compound)]
        elif kind == "concept":
            found = [concept_declaration(compound)]
        elif kind == "namespace":
            scope = scope_of(compound.findtext("compoundname"))
            members = compound.iterfind("sectiondef/memberdef") if scope is not None else []
            found = [member_declaration(member, scope) for member in members]
        else:
            found = []
        yield from (declaration for declaration in found if declaration)


def load(folder):
    """All declarations of a folder of XML, in the order of their headers and lines."""
    found = {}
    for path in sorted(folder.glob("*.xml")):
        for declaration in declarations_in(ElementTree.parse(path).getroot()):
            # Members of an inline namespace are listed twice.
            key = (declaration.file, declaration.line, declaration.qualified, declaration.signature)
            found.setdefault(key, declaration)
    return sorted(found.values(), key=lambda declaration: (declaration.file, declaration.line))
