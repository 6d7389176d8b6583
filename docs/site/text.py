"""Comments of headers as Markdown."""
import re

CODE_SPAN = re.compile(r"(`[^`]+`)")
BULLET = re.compile(r"(?:[-*]|\d+[.])\s+")
HEADER = re.compile(r"\brondo/([\w/]+\.h)\b")
PAGE = re.compile(r"\b(docs/\w+\.md)\b")
CAMEL_CASE = re.compile(r"\b[A-Z][a-z0-9]+(?:[A-Z][a-z0-9]+)+\b")


def escaped(text):
    """Prose, in which nothing but `code` is markup."""
    parts = CODE_SPAN.split(text)
    for i in range(0, len(parts), 2):
        part = parts[i].replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
        parts[i] = re.sub(r"([\\\[\]*_])", r"\\\1", part)
    return "".join(parts)


def linked(text, targets):
    """Escaped prose whose first mention of each of the targets, {name: address}, is a link."""
    seen = set()

    def link(match):
        name = match[0].replace("\\_", "_")
        if name in seen or name not in targets:
            return match[0]
        seen.add(name)
        return f"[{match[0]}]({targets[name]})"

    parts = CODE_SPAN.split(escaped(text))
    for i in range(0, len(parts), 2):
        for pattern in (r"\brondo/[\w/\\]+\.h\b", r"\bdocs/[\w\\]+\.md\b", CAMEL_CASE.pattern):
            parts[i] = re.sub(pattern, link, parts[i])
    return "".join(parts)


def blocks(text):
    """The paragraphs, lists and indented code of a comment: (kind, lines) with kind text, list or code."""
    if not text.strip():
        return
    for block in re.split(r"\n\s*\n", text.strip("\n")):
        lines = block.split("\n")
        if all(line.startswith("    ") for line in lines):
            yield "code", [line[4:] for line in lines]
        elif BULLET.match(lines[0].strip()):
            items = []
            for line in lines:
                if BULLET.match(line.strip()):
                    items.append(line.strip())
                else:
                    items[-1] += " " + line.strip()
            yield "list", items
        else:
            yield "text", [" ".join(line.strip() for line in lines)]


def markdown(text, targets):
    """A comment as Markdown, with links to what it names."""
    parts = []
    previous = None
    for kind, lines in blocks(text):
        if kind == "code" and previous == "code":
            parts[-1] = parts[-1].removesuffix("\n```") + "\n\n" + "\n".join(lines) + "\n```"
        elif kind == "code":
            parts.append("```cpp\n" + "\n".join(lines) + "\n```")
        elif kind == "list":
            marks = [BULLET.match(line)[0].strip() for line in lines]
            parts.append("\n".join(f"{'-' if mark in '-*' else mark} {linked(line[len(mark):].strip(), targets)}"
                                   for mark, line in zip(marks, lines)))
        else:
            # A line that begins like a list item, a heading or a quote is none here.
            prose = linked(lines[0], targets)
            parts.append(re.sub(r"^([#+-])", r"\\\1", prose))
        previous = kind
    return "\n\n".join(parts)


def cell(text, targets):
    """A comment as one cell of a table."""
    prose = " ".join(" ".join(lines) for _, lines in blocks(text)) if text else ""
    return linked(prose, targets).replace("|", "\\|")


def first_sentence(text):
    """The first sentence of a comment, without the explanation after a colon or a semicolon unless it is most of it."""
    for kind, lines in blocks(text):
        if kind == "text":
            sentence = re.match(r".+?(?:[.](?=\s|$)|$)", lines[0])[0]
            short = re.match(r"(.{25,}?)[:;]\s", sentence)
            return f"{short[1]}." if short else sentence
    return ""
