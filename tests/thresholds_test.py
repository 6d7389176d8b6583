#!/usr/bin/env python3
"""Fails where docs/decisions.md is not what scripts/thresholds makes of the code. Usage: thresholds_test.py PROJECT_DIR"""
import importlib.machinery
import importlib.util
import pathlib
import sys
import tempfile
import unittest

PROJECT = None
HELP = ("docs/decisions.md is not what the comments in src/ say. Run scripts/thresholds --write and commit the page. "
        "The first line that differs:\n  page: {}\n  code: {}")


def load_script(project):
    loader = importlib.machinery.SourceFileLoader("thresholds", str(project / "scripts" / "thresholds"))
    loader_spec = importlib.util.spec_from_loader("thresholds", loader)
    module = importlib.util.module_from_spec(loader_spec)
    sys.dont_write_bytecode = True
    loader.exec_module(module)
    return module


class Thresholds(unittest.TestCase):
    @classmethod
    def setUpClass(cls):
        cls.script = load_script(PROJECT)

    def test_the_page_says_what_the_code_says(self):
        try:
            code = self.script.page(PROJECT).split("\n")
        except self.script.BadComment as bad:
            self.fail(str(bad))
        page = (PROJECT / self.script.PAGE).read_text(encoding="utf-8").split("\n")
        for of_page, of_code in zip(page + [""] * (len(code) - len(page)), code + [""] * (len(page) - len(code))):
            if of_page != of_code:
                self.fail(HELP.format(of_page, of_code))

    def found(self, text):
        return [threshold[1:] for threshold in self.script.thresholds_in(text)]

    def test_comment_value_and_evidence(self):
        self.assertEqual(
            [(["kMost"], ["8"], "Size against speed.", "not measured")],
            self.found("// Other words.\n// Threshold: Size against\n// speed. Not measured.\n"
                       "constexpr int kMost = 8;  // not this\n"))
        self.assertEqual(
            [(["kA", "kRowBytes"], ["2^20", "32 KiB"], "One (or two): both.", "sort in bench/anchors: 3 ms")],
            self.found("  /// Threshold: One (or two): both. Set by sort in bench/anchors: 3 ms.\n"
                       "  template <class T>\n"
                       "  static constexpr std::int64_t kA = 1'048'576,\n      kRowBytes = std::int64_t{32} << 10;\n"))

    def test_values_that_are_no_single_number(self):
        values = [found[1] for found in self.found(
            "// Threshold: A. Not measured; x runs it.\nconstexpr auto kWait = std::chrono::milliseconds(20);\n"
            "// Threshold: B. Not measured.\nconstexpr Costs kCosts{.least = 1 << 20, .part = 3};\n"
            "// Threshold: C. Not measured.\nconstexpr int kLong = std::int64_t{4} * kLanes;\n")]
        self.assertEqual([["20 ms"], ["least 2^20, part 3"], ["`4 * kLanes`"]], values)

    def test_comments_that_break_the_convention(self):
        for text, message in [
                ("\n// Threshold: Size against speed.\nconstexpr int kMost = 8;\n", "2: the comment of kMost"),
                ("// Threshold: Not measured.\nconstexpr int kMost = 8;\n", "say what is weighed"),
                ("// Threshold: Size. Not measured.\n\nint f();\n", "1: no constexpr constant")]:
            with self.assertRaisesRegex(self.script.BadComment, message):
                self.found(text)

    def test_a_bad_comment_is_told_with_its_file(self):
        with tempfile.TemporaryDirectory() as folder:
            file = pathlib.Path(folder, "src", "ops", "a.cc")
            file.parent.mkdir(parents=True)
            file.write_text("// Threshold: Size.\nconstexpr int kMost = 8;\n", encoding="utf-8")
            with self.assertRaisesRegex(self.script.BadComment, "src/ops/a.cc:1: the comment of kMost"):
                self.script.page(folder)


if __name__ == "__main__":
    PROJECT = pathlib.Path(sys.argv.pop(1)).resolve()
    unittest.main()
