#!/usr/bin/env python3
"""Tests what makes the site of documentation (docs/site), on small samples, and that the project has an example for
each of its functions. Usage: site_test.py PROJECT_DIR

Needs neither Doxygen nor MkDocs: the XML is as Doxygen 1.9 writes it.
"""
import html
import importlib
import pathlib
import re
import sys
import tempfile
import unittest
import xml.etree.ElementTree as ElementTree

MODULES = ("declarations", "examples", "filter_header", "pages", "reference", "text")


def member(kind, name, type_text="Tensor", args="()", params=(), templates=(), doc="", line=1, more=""):
    """A memberdef. `params` are (type, name, default), `templates` (type, name)."""
    template = "".join(f"<param><type>{each}</type><declname>{called}</declname></param>" for each, called in templates)
    given = "".join(f"<param><type>{html.escape(each)}</type><declname>{called}</declname>" +
                    (f"<defval>{html.escape(default)}</defval>" if default else "") + "</param>"
                    for each, called, default in params)
    verbatim = f"<para><verbatim>{html.escape(doc)} </verbatim></para>" if doc else ""
    return (f'<memberdef kind="{kind}" prot="public"><templateparamlist>{template}</templateparamlist>'
            f"<type>{html.escape(type_text)}</type><argsstring>{html.escape(args)}</argsstring>"
            f"<name>{name}</name>{given}{more}"
            f"<detaileddescription>{verbatim}</detaileddescription>"
            f'<location file="include/rondo/a.h" line="{line}"/></memberdef>')


def compound(kind, name, *members, doc=""):
    return (f'<compounddef kind="{kind}" prot="public"><compoundname>{name}</compoundname>'
            f'<sectiondef>{"".join(members)}</sectiondef>'
            f"<detaileddescription><para><verbatim>{doc}</verbatim></para></detaileddescription>"
            '<location file="include/rondo/a.h" line="1"/></compounddef>')


def headings(markdown):
    return re.findall(r"^(#+) `?([^`\n{]+?)`?(?: \{.*)?$", markdown, re.MULTILINE)


def rows(markdown):
    """The tables, each a list of rows of cells."""
    tables, previous = [], False
    for line in markdown.split("\n"):
        is_row = line.startswith("|")
        if is_row:
            if not previous:
                tables.append([])
            tables[-1].append([cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]])
        previous = is_row
    return [[row for row in table if set("".join(row)) != {"-"}] for table in tables]


def code(markdown):
    return re.findall(r"^```cpp\n(.*?)\n```$", markdown, re.MULTILINE | re.DOTALL)


class Declarations(unittest.TestCase):
    def load(self, *compounds):
        return list(declarations.declarations_in(ElementTree.fromstring(f"<doxygen>{''.join(compounds)}</doxygen>")))

    def signature(self, *arguments, **given):
        return self.load(compound("namespace", "rondo", member("function", *arguments, **given)))[0].signature

    def test_a_function_is_written_without_the_line_of_the_call(self):
        self.assertEqual("Tensor tile(const Operand& x, int n = 2)", self.signature(
            "tile", params=[("const Operand &", "x", ""), ("int", "n", "2"),
                            ("SourceLocation", "at", "SourceLocation::current()")]))

    def test_a_template_is_written_without_what_only_the_compiler_reads(self):
        self.assertEqual("template <class State, class... Cond>\ntraced_t<State> loop(Cond&&... c)", self.signature(
            "loop", "detail::loop_tree_t< State, Cond >", params=[("Cond &&...", "c", "")],
            templates=[("class", "State"), ("class...", "Cond"), ("detail::Why", "kWhy")]))

    def test_a_long_signature_has_a_line_for_each_parameter(self):
        lines = self.signature("gather", params=[("const std::vector< std::int64_t > &", name * 9, "")
                                                 for name in "abc"]).split("\n")
        self.assertEqual(["Tensor gather(", "    const std::vector<std::int64_t>& aaaaaaaaa,"], lines[:2])
        self.assertEqual(4, len(lines))

    def test_a_requirement(self):
        self.assertIn("\nrequires AdaptedArray<T>\n", self.signature(
            "from", templates=[("class", "T")], more="<requiresclause>AdaptedArray&lt;T&gt;  </requiresclause>"))

    def test_what_is_not_for_callers_is_left_out(self):
        self.assertEqual([], self.load(
            compound("namespace", "rondo", member("function", "max", args="(const T &)=delete"),
                     member("function", "jit", args="(std::initializer_list< detail::NoOption >)"),
                     member("friend", "Node")),
            compound("namespace", "rondo::detail", member("function", "leaves"))))

    def test_namespaces(self):
        found = self.load(compound("namespace", "rondo::random", member("function", "key")))
        self.assertEqual(["random::key"], [declaration.qualified for declaration in found])

    def test_the_members_of_a_class(self):
        found, = self.load(compound(
            "class", "rondo::Literal", member("function", "Literal", "", "(const Literal &other)"),
            member("function", "Literal", "", "()"), member("function", "~Literal", ""),
            member("function", "operator=", "Literal &", "(Literal &&other) noexcept"),
            member("function", "bytes", "int", "() const &noexcept")))
        self.assertEqual(["Literal()", "int bytes() const& noexcept"],
                         [declared.signature for declared in found.members])

    def test_a_declaration_that_two_files_list_is_one(self):
        with tempfile.TemporaryDirectory() as folder:
            for name in ("rondo", "rondo::with_checks"):
                text = f"<doxygen>{compound('namespace', name, member('function', 'jit'))}</doxygen>"
                pathlib.Path(folder, name.replace(":", "_") + ".xml").write_text(text, encoding="utf-8")
            self.assertEqual(["jit"], [found.qualified for found in declarations.load(pathlib.Path(folder))])


class Page(unittest.TestCase):
    def page(self, *compounds, source="", targets=None, places=()):
        root = ElementTree.fromstring(f"<doxygen>{''.join(compounds)}</doxygen>")
        found = list(declarations.declarations_in(root))
        return reference.Page("a", "A page", found, {"include/rondo/a.h": source}, targets or {},
                              lambda declaration: list(places), lambda declaration: [])

    def test_overloads_are_one_entry_with_their_comments(self):
        text = self.page(compound("namespace", "rondo", member("function", "sum", doc="Of all."),
                                  member("function", "sum", "float", line=2),
                                  member("function", "prod", line=3))).markdown()
        self.assertEqual([("#", "A page"), ("##", "sum"), ("##", "prod")], headings(text))
        self.assertEqual(["Tensor sum()", "float sum()", "Tensor prod()"], code(text))
        self.assertLess(text.index("Of all."), text.index("float sum()"))  # not a comment of the second

    def test_the_fields_of_a_struct_are_a_table(self):
        text = self.page(compound(
            "struct", "rondo::Options", member("variable", "step", "int", more="<initializer>= 1</initializer>",
                                               doc="positive, a | b"),
            member("variable", "name", "std::vector< int >"))).markdown()
        self.assertEqual([[["field", "type", "default", "meaning"],
                           ["`step`", "`int`", "`1`", r"positive, a \| b"],
                           ["`name`", "`std::vector<int>`", "", ""]]], rows(text))

    def test_columns_without_content_are_left_out(self):
        text = self.page(compound("struct", "rondo::Pair", member("variable", "x"))).markdown()
        self.assertEqual([[["field", "type"], ["`x`", "`Tensor`"]]], rows(text))

    def test_the_values_of_an_enum_are_a_table(self):
        value = ("<enumvalue><name>kAdam</name><detaileddescription><para><verbatim>By moments. </verbatim></para>"
                 "</detaileddescription></enumvalue>")
        text = self.page(compound("namespace", "rondo", member("enum", "Method", more=value))).markdown()
        self.assertEqual([[["value", "meaning"], ["`kAdam`", "By moments."]]], rows(text))

    def test_methods_with_a_comment_are_entries_and_others_a_list(self):
        text = self.page(compound("class", "rondo::Mesh", member("function", "size", "int", doc="Of devices."),
                                  member("function", "str", "std::string"))).markdown()
        self.assertEqual([("#", "A page"), ("##", "Mesh"), ("###", "Mesh::size")], headings(text))
        self.assertEqual(["class Mesh", "int size()", "std::string str()"], code(text))

    def test_comments_of_a_header_come_before_what_they_are_about(self):
        source = "// All throw.\n#pragma once\nnamespace rondo {\n\n// Powers.\n\nint exp();\n// Why.\nclass X;\n}\n"
        text = self.page(compound("namespace", "rondo", member("function", "log", line=4),
                                  member("function", "exp", line=7)), source=source).markdown()
        order = [text.index(part) for part in ("All throw.", "Tensor log()", "Powers.", "Tensor exp()")]
        self.assertEqual(sorted(order), order)
        self.assertNotIn("Why.", text)

    def test_uses_are_links(self):
        text = self.page(compound("namespace", "rondo", member("function", "sum")),
                         places=[(f"Lesson {n}", f"{n}.md") for n in range(8)]).markdown()
        self.assertIn("*Used in: [Lesson 0](0.md), ", text)
        self.assertIn("[Lesson 5](5.md) and 2 more*", text)

    def test_the_index_is_alphabetical_and_has_first_sentences(self):
        page = self.page(compound("namespace", "rondo", member("function", "operator+", doc="Adds."),
                                  member("function", "sum", doc="The sum. More."),
                                  member("function", "Any", doc="s32: which of the elements it is.")))
        functions, = rows(reference.index([page]))[:1]
        self.assertEqual([["[`Any`](a.md#Any)", "s32: which of the elements it is."],
                          ["[`sum`](a.md#sum)", "The sum."], ["[`operator+`](a.md#operator-2b)", "Adds."]],
                         [row[:2] for row in functions[1:]])

    def test_missing_comments(self):
        nothing, shared = reference.missing([self.page(
            compound("namespace", "rondo", member("function", "a", line=3), member("function", "b", line=9),
                     member("function", "c", line=10, doc="Has one.")),
            source="\nnamespace rondo {\n\n\n// A group.\n\n}\n")])
        self.assertEqual((["a"], ["b"]), ([each.name for each in nothing], [each.name for each in shared]))


class Text(unittest.TestCase):
    def test_paragraphs_lists_and_code(self):
        self.assertEqual("One two.\n\n```cpp\nf(x);\n\ng(x);\n```\n\n- a b\n- c\n\nEnd.",
                         text.markdown("One\ntwo.\n\n    f(x);\n\n    g(x);\n\n- a\n  b\n- c\n\nEnd.", {}))

    def test_what_is_markup_elsewhere_is_text(self):
        self.assertEqual(r"\[\](State s) takes vector&lt;T&gt;\*, `x[0]` and a\_b", text.markdown(
            "[](State s) takes vector<T>*, `x[0]` and a_b", {}))
        self.assertEqual(r"\+ of x, # of y", text.markdown("+ of x,\n# of y", {}))

    def test_names_are_linked_once(self):
        self.assertEqual(
            "[TraceError](e.md) or TraceError, [rondo/loop\\_options.h](l.md), `TraceError`",
            text.markdown("TraceError or TraceError, rondo/loop_options.h, `TraceError`",
                          {"TraceError": "e.md", "rondo/loop_options.h": "l.md"}))


class Links(unittest.TestCase):
    EXISTING = {"docs/loops.md": "docs/loops.md", "README.md": "README.md", "examples/01_a.cc": "examples/01_a.md",
                "examples": "examples/README.md", "docs/a.svg": "docs/a.svg"}

    def rewritten(self, text, page="docs/trees.md", repository=""):
        return pages.with_links(page, text, self.EXISTING, lambda path: path == "src/a.cc", repository)

    def test_pages_of_the_site(self):
        for given, expected in [("[a](loops.md#rules)", "[a](loops.md#rules)"),
                                ("[a](../examples/01_a.cc)", "[a](../examples/01_a.md)"),
                                ("[a](../examples/)", "[a](../examples/README.md)"),
                                ("![a](a.svg)", "![a](a.svg)"), ("[a](#b)", "[a](#b)"),
                                ("[a\nb](../README.md)", "[a\nb](../README.md)"),
                                ("[`f`](../examples/01_a.cc)", "[`f`](../examples/01_a.md)"),
                                ("[a](https://b.c/d)", "[a](https://b.c/d)")]:
            self.assertEqual(expected, self.rewritten(given))

    def test_other_files_are_text_or_lead_to_the_repository(self):
        self.assertEqual("see `a.cc`", self.rewritten("see [`a.cc`](../src/a.cc)"))
        self.assertEqual("see [a](https://r/src/a.cc#L1)",
                         self.rewritten("see [a](../src/a.cc#L1)", repository="https://r"))

    def test_what_is_not_there_is_left_to_mkdocs(self):
        self.assertEqual("[a](no_such.md)", self.rewritten("[a](no_such.md)", repository="https://r"))

    def test_code_is_left_alone(self):
        for same in ("```cpp\n[x](int i)\n```", "`[&](Tensor x)` and [x](loops.md)"):
            self.assertEqual(same, self.rewritten(same))

    def test_lists_are_those_of_python_markdown(self):
        self.assertEqual("Four:\n\n1. a:\n    - b\n    c\n2. d\n\nText\n    code",
                         pages.with_lists("Four:\n1. a:\n   - b\n     c\n2. d\n\nText\n    code"))


class Lessons(unittest.TestCase):
    def test_a_lesson(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "03_fori.cc")
            source.write_text("// Lesson 3: fori_loop, and\n// bounds. More.\n//\n// Last.\n#include <a>\n",
                              encoding="utf-8")
            source.with_suffix(".expected").write_text("1 2\n", encoding="utf-8")
            lesson = pages.read_lesson(source)
        self.assertEqual((3, "fori_loop, and bounds", "fori_loop", "More.\n\nLast."),
                         (lesson.number, lesson.title, lesson.short_title, lesson.text))
        page = pages.lesson_page(lesson, lambda comment: comment)
        self.assertEqual([("#", "Lesson 3: fori_loop, and bounds"), ("##", "Output")], headings(page))
        self.assertEqual(["#include <a>"], code(page))
        self.assertIn("```text\n1 2\n```", page)

    def test_a_lesson_without_its_number(self):
        with tempfile.TemporaryDirectory() as folder:
            source = pathlib.Path(folder, "03_a.cc")
            source.write_text("// A lesson.\nint main() {}\n", encoding="utf-8")
            with self.assertRaisesRegex(ValueError, "begins with its number"):
                pages.read_lesson(source)


class Examples(unittest.TestCase):
    def uses(self, given, name, scope="", kind="function"):
        declared = declarations.Declaration(kind, scope, name, "", 0, "")
        return examples.uses(examples.Example("a", "a.md", given), declared)

    def test_calls(self):
        for given in ("y = sum(x);", "rondo::sum(x)", "y = sum<float>(x)", "return sum(x) + 1;"):
            self.assertTrue(self.uses(given, "sum"), given)
        self.assertTrue(self.uses("rondo::random::key(0)", "key", "random"))

    def test_other_things_of_that_name(self):
        for given in ("x.sum(1)", "std::sum(x)", "cumsum(x)", "// sum(x)", 'print("sum(x)");', "auto sum = f; sum(x);",
                      "Tensor sum(Tensor x) { return x; }"):
            self.assertFalse(self.uses(given, "sum"), given)
        self.assertFalse(self.uses("key(0)", "key", "random"))

    def test_types(self):
        self.assertTrue(self.uses("Mesh mesh({});", "Mesh", kind="class"))
        self.assertFalse(self.uses("struct Mesh {};", "Mesh", kind="class"))


class Snippets(unittest.TestCase):
    SOURCE = """struct Layer {
  Tensor bias;
};

int main() {
  example("sort, argsort", [] {
    sort(x, [] {
      y();
    });

    argsort(x);
  });
  example(
      "operator<< (types), "
      "f32",
      [] {
        Layer layer{f32() << 1};
      });
  example("diff", [] { diff(x); });
}
"""
    OUTPUT = "## sort, argsort\n1\n2\n## operator<< (types), f32\n## diff\n3\n"

    def snippets(self, source=SOURCE, output=OUTPUT):
        return list(examples.snippets(source, output))

    def test_titles_code_and_output(self):
        first, second, third = self.snippets()
        self.assertEqual(("sort, argsort", "sort(x, [] {\n  y();\n});\n\nargsort(x);", "1\n2"),
                         (first.title, first.code, first.output))
        self.assertEqual([("operator<<", "types"), ("f32", "")], list(second.names()))
        self.assertEqual(("diff(x);", "3"), (third.code, third.output))

    def test_structs_that_an_example_uses_are_shown(self):
        self.assertEqual("struct Layer {\n  Tensor bias;\n};\n\nLayer layer{f32() << 1};", self.snippets()[1].code)

    def test_output_of_other_examples_is_refused(self):
        with self.assertRaisesRegex(ValueError, "the output is that of"):
            self.snippets(output="## sort\n1\n")

    def pages(self):
        root = ElementTree.fromstring("<doxygen>" + compound(
            "namespace", "rondo", member("function", "sort"), member("function", "argsort", line=2),
            member("function", "operator&lt;&lt;", line=3), member("function", "unique", line=4)) + "</doxygen>")
        found = list(declarations.declarations_in(root))
        return [reference.Page("types", "A page", found, {"include/rondo/a.h": ""}, {}, lambda declaration: [],
                               lambda declaration: [], self.snippets())]

    def test_an_example_is_shown_for_each_function_that_its_title_names(self):
        blocks = code(self.pages()[0].markdown())
        self.assertEqual(2, sum("argsort(x);" in block for block in blocks))
        self.assertEqual(1, sum("Layer layer" in block for block in blocks))

    def test_functions_without_an_example(self):
        self.assertEqual(["unique"], [found.name for found in reference.without_example(self.pages())])

    def test_titles_that_name_what_is_not_there(self):
        self.assertEqual(['f32, in "operator<< (types), f32"', 'diff, in "diff"'],
                         list(reference.wrong_examples(self.pages(), self.snippets())))
        unused, = reference.wrong_examples(self.pages(), [examples.Snippet("sort", "argsort(x);", "")])
        self.assertEqual('sort, in "sort"', unused)


class Project(unittest.TestCase):
    def titles(self):
        """The names in the titles of the project's examples, which raise an error without the output of each."""
        found = set()
        for source in sorted((PROJECT / "examples" / "reference").glob("*.cc")):
            output = source.with_suffix(".expected").read_text(encoding="utf-8")
            for snippet in examples.snippets(source.read_text(encoding="utf-8"), output):
                found |= {name.rpartition("::")[2] for name, _ in snippet.names()}
        return found

    def test_each_exported_function_has_an_example(self):
        headers = [path for path in (PROJECT / "include" / "rondo").rglob("*.h") if "detail" not in path.parts]
        declared = set()
        for path in headers:
            text = re.sub(r"^namespace detail \{$.*?^\}  // namespace detail$", "", path.read_text(encoding="utf-8"),
                          flags=re.MULTILINE | re.DOTALL)
            # Members of classes are indented.
            declared |= set(re.findall(r"^(?:\[\[.*\]\] )?RONDO_API [^;({]*?(operator\W+|\w+)\(", text, re.MULTILINE))
        self.assertGreater(len(declared), 250)
        self.assertEqual([], sorted(declared - self.titles()))


class Filter(unittest.TestCase):
    def test_lines_keep_their_numbers(self):
        given = ('/// Sums.\n///\n/// More.\n[[nodiscard("use "\n  "it")]] RONDO_API Tensor sum();\n'
                 "struct S {\n  int a = 1;    // positive,\n                // and odd\n};\n")
        lines = filter_header.filtered(given).split("\n")
        self.assertEqual(given.count("\n") + 1, len(lines))
        self.assertEqual(["/** \\verbatim Sums.", "", "More. \\endverbatim */", "", " Tensor sum();"], lines[:5])
        self.assertEqual("  int a = 1;  /**< \\verbatim positive, and odd \\endverbatim */", lines[6])

    def test_lists_of_arguments_are_packs(self):
        given = ("#define RONDO_VJP(types, names, params, args) \\\n  template <class F RONDO_UNPACK types> \\\n"
                 "  auto vjp(F&& f, RONDO_UNPACK params int at);\nRONDO_FOR_UP_TO_SIX(RONDO_VJP)\n#undef RONDO_VJP")
        self.assertEqual(["", "  template <class F , class... Args>", "  auto vjp(F&& f, Args&&... args, int at);",
                          "", ""], filter_header.filtered(given).split("\n"))


if __name__ == "__main__":
    sys.dont_write_bytecode = True
    PROJECT = pathlib.Path(sys.argv.pop(1)).resolve()
    sys.path.insert(0, str(PROJECT / "docs" / "site"))
    for module in MODULES:
        globals()[module] = importlib.import_module(module)
    unittest.main()
