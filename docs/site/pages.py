"""The pages of the project as pages of the site: copied, with links that resolve there."""
import dataclasses
import pathlib
import posixpath
import re

FENCE = re.compile(r"^\s*(```|~~~)")
LINK = re.compile(r"(!?)\[((?:[^\[\]`]|`[^`]*`|\[[^\]]*\])*)\]\(([^()\s]+)\)")
ITEM = re.compile(r"^\s*(?:[-*+]|\d+[.])\s")
LESSON = re.compile(r"Lesson (\d+): ")


@dataclasses.dataclass
class Lesson:
    number: int
    title: str  # without its number
    source: pathlib.Path
    text: str
    code: str
    output: str

    @property
    def short_title(self):
        return re.split(r"[,:;]| \(", self.title)[0]

    @property
    def page(self):
        return f"examples/{self.source.stem}.md"


def in_prose(text, pattern, replacement):
    """A substitution that leaves `code` alone, unless the match itself holds it."""
    spans = [match.span() for match in re.finditer(r"`[^`]+`", text)]
    return pattern.sub(lambda match: match[0] if any(begin < match.start() < end for begin, end in spans)
                       else replacement(match), text)


def address(page, target, existing, is_file, repository):
    """Where a link of a page leads on the site: None for a file that is not shown there, if no repository is known.

    `existing` has the page or picture of the site for each file and folder of the project that has one. What is not
    in the project keeps its address, of which MkDocs complains.
    """
    if re.match(r"[a-z]+:|#", target):
        return target
    path, hash_mark, part = target.partition("#")
    full = posixpath.normpath(posixpath.join(posixpath.dirname(page), path))
    shown = existing.get(full)
    if shown:
        return posixpath.relpath(shown, posixpath.dirname(page) or ".") + hash_mark + part
    if not is_file(full):
        return target
    return f"{repository}/{full}{hash_mark}{part}" if repository else None


def with_links(page, text, existing, is_file, repository=""):
    """The text of a page with the links of the site; those to files that it does not show become plain text."""
    def rewrite(match):
        to = address(page, match[3], existing, is_file, repository)
        return f"{match[1]}[{match[2]}]({to})" if to else match[2]
    # Links may go on in the next line, so whole paragraphs are rewritten.
    parts = re.split(r"(^```.*?^```$|^~~~.*?^~~~$)", text, flags=re.MULTILINE | re.DOTALL)
    for i in range(0, len(parts), 2):
        parts[i] = in_prose(parts[i], LINK, rewrite)
    return "".join(parts)


def with_lists(text):
    """Lists as Python-Markdown reads them: after a blank line, and each level indented by four columns."""
    result, fenced, in_list = [], False, False
    for line in text.split("\n"):
        if FENCE.match(line):
            fenced = not fenced
        elif not fenced:
            indent = len(line) - len(line.lstrip())
            after_blank = not result or not result[-1].strip()
            if ITEM.match(line) and (in_list or indent < 4):
                if not in_list and not after_blank:
                    result.append("")
                in_list = True
            elif line.strip() and indent == 0 and after_blank:
                in_list = False
            if in_list and indent:
                line = " " * max(4, (indent + 2) // 4 * 4) + line.lstrip()
        result.append(line)
    return "\n".join(result)


def title_of(text):
    match = re.search(r"^# (.+)$", text, re.MULTILINE)
    return match[1].strip() if match else ""


def read_lesson(source):
    """A numbered example: its comment, its code and the output that a test compares with."""
    lines = source.read_text(encoding="utf-8").split("\n")
    end = next(i for i, line in enumerate(lines) if not line.startswith("//"))
    comment = "\n".join(line[3:] for line in lines[:end])
    match = LESSON.match(comment)
    if not match:
        raise ValueError(f"{source}: the first comment of a lesson begins with its number, `Lesson 7: ...`")
    body = comment[match.end():]
    title, _, rest = re.sub(r"\n(?!\n)", " ", body.split("\n\n")[0]).partition(". ")
    after = body.split("\n\n")[1:]
    title = title.removesuffix(".")
    if "_" not in title.split()[0]:  # the name of a function stays as it is
        title = title[:1].upper() + title[1:]
    text = "\n\n".join(part for part in [rest, *after] if part)
    expected = source.with_suffix(".expected")
    output = expected.read_text(encoding="utf-8") if expected.exists() else ""
    return Lesson(int(match[1]), title, source, text,
                  "\n".join(lines[end:]).strip("\n"), output.rstrip("\n"))


def lesson_page(lesson, comment_as_markdown):
    parts = [f"# Lesson {lesson.number}: {lesson.title}", comment_as_markdown(lesson.text),
             f"`examples/{lesson.source.name}`; `scripts/demo {lesson.source.stem}` builds and runs it.",
             f"```cpp\n{lesson.code}\n```"]
    if lesson.output:
        parts.append(f"## Output\n\n```text\n{lesson.output}\n```")
    return "\n\n".join(part for part in parts if part) + "\n"


def lessons_index(lessons):
    rows = "\n".join(f"| {lesson.number} | [{lesson.title}]({lesson.source.stem}.md) |" for lesson in lessons)
    return ("# Lessons\n\nComplete programs with their output, from a first trace to a Kalman filter in an Eigen "
            f"program. The tests run them and compare what they print.\n\n| | |\n|---|---|\n{rows}\n")
