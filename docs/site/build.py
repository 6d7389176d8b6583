#!/usr/bin/env python3
"""Writes the Markdown of the site, and what MkDocs should do with it. Usage: build.py XML OUT [--missing]

XML is the folder of Doxygen's XML, OUT gets src/ and mkdocs.json. With --missing it lists entries without a docstring
and functions without an example on stderr, and writes nothing. Run in the root of the project (scripts/docs does).
"""
import json
import pathlib
import re
import shutil
import sys

import contents
import declarations
import examples
import pages
import reference
from text import markdown

ROOT_PAGES = ["README.md", "CONTRIBUTING.md", "CHANGELOG.md", "bench/README.md"]
# MkDocs takes a README.md of a section for the section's own page.
RENAMED = {"bench/README.md": "bench/benchmarks.md"}


def repository_files(project):
    """Where the project's files can be read: CMake's HOMEPAGE_URL, if it names a repository."""
    match = re.search(r'HOMEPAGE_URL\s+"?(https://[^\s"]+)', (project / "CMakeLists.txt").read_text(encoding="utf-8"))
    return f"{match[1]}/blob/main" if match else ""


class Site:
    def __init__(self, project, xml):
        self.project = project
        self.sections = contents.REFERENCE
        self.guides = [f"docs/{name}.md" for _, names in contents.GUIDES for name in names]
        self.internals = [f"docs/{name}.md" for name in contents.INTERNALS]
        self.copied = ROOT_PAGES + self.guides + self.internals
        self.check_contents()
        self.lessons = [pages.read_lesson(source) for source in sorted((project / "examples").glob("[0-9]*.cc"))]
        self.page_of = {f"include/rondo/{header}.h": name
                        for _, found in self.sections for name, _, headers in found for header in headers}
        self.declarations = [found for found in declarations.load(xml) if found.file in self.page_of]
        self.snippets = list(self.read_snippets())
        self.shared = self.targets(), examples.finder(self.examples()), self.signatures_with, self.snippets
        self.reference = [self.reference_page(*page) for _, found in self.sections for page in found]
        if wrong := list(reference.wrong_examples(self.reference, self.snippets)):
            sys.exit(f"examples/reference: no entry, or not used in its example: {'; '.join(wrong)}")

    def check_contents(self):
        """Fails where a page or a header of the project is missing on the site."""
        headers = [header for _, found in self.sections for _, _, names in found for header in names]
        include = self.project / "include" / "rondo"
        public = {path.relative_to(include).with_suffix("").as_posix() for path in include.rglob("*.h")
                  if "detail" not in path.parts} - contents.WITHOUT_PAGE
        docs = {path.relative_to(self.project).as_posix() for path in (self.project / "docs").glob("*.md")}
        wrong = sorted(public ^ set(headers)) + sorted(docs ^ set(self.guides + self.internals))
        if wrong or len(headers) != len(set(headers)):
            sys.exit(f"docs/site/contents.py: not in the project, or without a place on the site: {', '.join(wrong)}")

    def read(self, path):
        return (self.project / path).read_text(encoding="utf-8")

    def is_file(self, path):
        return (self.project / path).exists()

    def targets(self):
        """Addresses, from a page of the reference, of what comments name: headers, pages, types."""
        found = {path: f"../{path}" for path in self.guides + self.internals}
        for _, section in self.sections:
            for name, _, headers in section:
                found |= {f"rondo/{header}.h": f"{name}.md" for header in headers}
        for declaration in self.declarations:
            if declaration.kind in reference.TYPES:
                found.setdefault(declaration.name, self.address(declaration))
        return found

    def address(self, declaration):
        """Of an entry, from a page of the reference."""
        return f"{self.page_of[declaration.file]}.md#{reference.anchor(declaration)}"

    def signatures_with(self, declaration, most=6):
        """The functions that take or return a type. None for types that are in most signatures."""
        if declaration.kind not in reference.TYPES:
            return []
        pattern = re.compile(rf"(?<!::)\b{declaration.name}\b")
        found = {f"`{other.qualified}`": self.address(other) for other in self.declarations
                 if other.kind == "function" and pattern.search(other.signature)}
        return list(found.items()) if len(found) <= most else []

    def examples(self):
        found = [examples.Example(f"Lesson {lesson.number}", f"../{lesson.page}", lesson.code)
                 for lesson in self.lessons]
        for path in ["README.md"] + self.guides:
            text = self.read(path)
            found.append(examples.Example(pages.title_of(text), f"../{path}", examples.code_of_page(text)))
        return found

    def read_snippets(self):
        for source in sorted((self.project / "examples" / "reference").glob("*.cc")):
            try:
                yield from examples.snippets(source.read_text(encoding="utf-8"),
                                             source.with_suffix(".expected").read_text(encoding="utf-8"))
            except ValueError as error:
                sys.exit(f"{source}: {error}")

    def reference_page(self, name, title, headers):
        files = [f"include/rondo/{header}.h" for header in headers]
        found = [declaration for file in files for declaration in self.declarations if declaration.file == file]
        sources = {file: self.read(file) for file in files}
        return reference.Page(name, title, found, sources, *self.shared)

    def existing(self):
        """The page of the site for each file and folder of the project that has one."""
        found = {path: RENAMED.get(path, path) for path in self.copied}
        found |= {f"examples/{lesson.source.name}": lesson.page for lesson in self.lessons}
        found |= {"examples": "examples/README.md", "bench": RENAMED["bench/README.md"], "docs": "README.md"}
        return found | {path.relative_to(self.project).as_posix(): path.relative_to(self.project).as_posix()
                        for path in (self.project / "docs").glob("*.svg")}

    def write(self, out):
        source = out / "src"
        shutil.rmtree(source, ignore_errors=True)
        existing, repository = self.existing(), repository_files(self.project)
        written = {}
        for path in self.copied:
            text = pages.with_links(path, self.read(path), existing, self.is_file, repository)
            written[existing[path]] = pages.with_lists(text)
        for lesson in self.lessons:
            written[lesson.page] = pages.lesson_page(lesson, lambda text: markdown(text, {}))
        written["examples/README.md"] = pages.lessons_index(self.lessons)
        for page in self.reference:
            written[f"reference/{page.name}.md"] = page.markdown()
        written["reference/names.md"] = reference.index(self.reference)
        written["README.md"] = "---\nhide:\n  - navigation\n---\n" + written["README.md"]
        for path, text in written.items():
            (source / path).parent.mkdir(parents=True, exist_ok=True)
            (source / path).write_text(text, encoding="utf-8")
        for picture in (self.project / "docs").glob("*.svg"):
            shutil.copy(picture, source / "docs")
        shutil.copytree(self.project / "docs" / "site" / "assets", source / "assets")
        (out / "mkdocs.json").write_text(json.dumps(self.settings(), indent=1), encoding="utf-8")

    def settings(self):
        """MkDocs' settings with the navigation."""
        lessons = ["examples/README.md"] + [{f"{lesson.number}. {lesson.short_title}": lesson.page}
                                            for lesson in self.lessons]
        guides = [{section: [f"docs/{name}.md" for name in names]} for section, names in contents.GUIDES]
        found = [{"Index of names": "reference/names.md"}]
        found += [{section: [{title: f"reference/{name}.md"} for name, title, _ in listed]}
                  for section, listed in self.sections]
        project = self.internals + ["CONTRIBUTING.md", RENAMED["bench/README.md"], "CHANGELOG.md"]
        return {"INHERIT": "../../docs/site/mkdocs.yml", "docs_dir": "src", "site_dir": "../site",
                "nav": [{"Start": "README.md"}, {"Lessons": lessons}, {"Guides": guides}, {"Reference": found},
                        {"Internals": project}]}


def report_missing(site):
    nothing, shared = reference.missing(site.reference)
    for head, found in [("without a comment", nothing), ("with only the comment of their group", shared),
                        ("functions without an example", reference.without_example(site.reference))]:
        print(f"{len(found)} {head}:", file=sys.stderr)
        for declaration in found:
            print(f"  {declaration.file}:{declaration.line}: {declaration.kind} {declaration.qualified}",
                  file=sys.stderr)


def main():
    xml, out = (pathlib.Path(argument) for argument in sys.argv[1:3])
    site = Site(pathlib.Path.cwd(), xml)
    entries = [entry for page in site.reference for entry in page.entries]
    functions = sum(entry[0].kind == "function" for entry in entries)
    if "--missing" in sys.argv[3:]:
        report_missing(site)
    else:
        site.write(out)
    print(f"{len(site.reference)} pages of the reference: {functions} functions, "
          f"{len(entries) - functions} types and constants")


if __name__ == "__main__":
    main()
