#!/usr/bin/env python3
"""Opens the pages of `rondo print --to=html` in headless Chromium and looks at the document that results.

Usage: browser.py RONDO [--screenshots DIR]   Exit status 77 (skipped) if there is no Chromium.
"""
import argparse
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile

SKIPPED = 77


def nest(depth):
    """HLO of counted loops within one another."""
    text = "HloModule nest\n\ncondition {\n  p = (s32[], f32[8]) parameter(0)\n" \
           "  i = s32[] get-tuple-element(p), index=0\n  n = s32[] constant(3)\n" \
           "  ROOT c = pred[] compare(i, n), direction=LT\n}\n\n"
    for level in range(depth):
        inner = "" if level == 0 else \
            "  zero = s32[] constant(0)\n  t = (s32[], f32[8]) tuple(zero, y)\n" \
            f"  w = (s32[], f32[8]) while(t), condition=condition, body=body{level - 1}\n" \
            "  z = f32[8] get-tuple-element(w), index=1\n"
        last = "y" if level == 0 else "z"
        text += f"body{level} {{\n  p = (s32[], f32[8]) parameter(0)\n" \
                "  i = s32[] get-tuple-element(p), index=0\n  x = f32[8] get-tuple-element(p), index=1\n" \
                "  one = s32[] constant(1)\n  next = s32[] add(i, one)\n  y = f32[8] sine(x)\n" + inner + \
                f"  ROOT r = (s32[], f32[8]) tuple(next, {last})\n}}\n\n"
    return text + "ENTRY main {\n  x = f32[8] parameter(0)\n  zero = s32[] constant(0)\n" \
        "  t = (s32[], f32[8]) tuple(zero, x)\n" \
        f"  w = (s32[], f32[8]) while(t), condition=condition, body=body{depth - 1}\n" \
        "  ROOT y = f32[8] get-tuple-element(w), index=1\n}\n"


def chain(ops):
    """HLO of many ops, one after another."""
    lines = [f"  v{i + 1} = f32[8] {('sine', 'cosine', 'tanh')[i % 3]}(v{i})" for i in range(ops)]
    lines[-1] = "  ROOT " + lines[-1].strip()
    return "HloModule chain\n\nENTRY main {\n  v0 = f32[8] parameter(0)\n" + "\n".join(lines) + "\n}\n"


SMALL = """func.func @main(%x: tensor<4xf32>, %n: tensor<i32>) -> tensor<4xf32> {
  %c = stablehlo.constant dense<0> : tensor<i32>
  %two = stablehlo.constant dense<2> : tensor<i32>
  %0:2 = stablehlo.while(%i = %c, %y = %x) : tensor<i32>, tensor<4xf32>
  cond {
    %p = stablehlo.compare LT, %i, %n, SIGNED : (tensor<i32>, tensor<i32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %one = stablehlo.constant dense<1> : tensor<i32>
    %next = stablehlo.add %i, %one : tensor<i32>
    %r = stablehlo.remainder %i, %two : tensor<i32>
    %z = "stablehlo.case"(%r) ({
      %a = stablehlo.sine %y : tensor<4xf32>
      stablehlo.return %a : tensor<4xf32>
    }, {
      %b = stablehlo.multiply %y, %x : tensor<4xf32>
      stablehlo.return %b : tensor<4xf32>
    }) : (tensor<i32>) -> tensor<4xf32>
    stablehlo.return %next, %z : tensor<i32>, tensor<4xf32>
  }
  %f = stablehlo.constant dense<0.0> : tensor<f32>
  %s = stablehlo.reduce(%0#1 init: %f) applies stablehlo.add across dimensions = [0] : (tensor<4xf32>, tensor<f32>) -> tensor<f32>
  %w = stablehlo.broadcast_in_dim %s, dims = [] : (tensor<f32>) -> tensor<4xf32>
  return %w : tensor<4xf32>
}
"""


# What somebody does on a page, and what is there then: (program, script, pattern in the body).
ACTIONS = [
    ("chain.hlo", 'search("%19999:");', r'class="op found"[^\n]*%19999'),
    ("chain.hlo", 'search("tanh");', r'id="count">1 of 6666<'),
    ("small.mlir", 'byId("close").click(); search("multiply"); step(1);',
     r'<details class="box branch" open="">.*class="op found"'),
    ("small.mlir", 'byId("close").click();', r'^(?!.*class="box[^"]*" open)'),
    # Deeper boxes than are drawn within one another.
    ("deep.hlo", 'search("%299:");', r'id="path"><a>main</a> .*class="op found"'),
    ("small.mlir", 'document.querySelector(".alone").click();', r'id="path"><a>main</a>'),
    ("small.mlir", 'const e = new MouseEvent("mouseover", {bubbles: true});'
     'document.querySelector(".op .value").dispatchEvent(e);',
     r'class="value lit".*id="about"><b>%1: s32\[\] = remainder %i, 2'),
]


class Browser:
    def __init__(self, chromium, rondo, folder):
        self.chromium, self.rondo, self.folder = chromium, rondo, folder

    def page(self, name, program, script=""):
        source = self.folder / name
        source.write_text(program, encoding="utf-8")
        page = self.folder / (name + ".html")
        with page.open("wb") as out:
            subprocess.run([self.rondo, "print", source, "--to=html"], stdout=out, check=True)
        text = page.read_text(encoding="utf-8")
        page.write_text(text.replace("</body>", f"<script>{script}</script></body>"), encoding="utf-8")
        return page

    def body(self, page):
        """Only what the script made: its own text is in the document too."""
        dom = self.open(page, "--dump-dom")
        return dom[dom.index("<body"):dom.index('<script type="application/json"')]

    def open(self, page, *options):
        return subprocess.run(
            [self.chromium, "--headless", "--no-sandbox", "--disable-gpu", "--disable-dev-shm-usage",
             f"--user-data-dir={self.folder / 'profile'}", "--window-size=1200,900", "--virtual-time-budget=4000",
             *options, page.as_uri()], capture_output=True, text=True, timeout=120, check=True).stdout


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("rondo")
    parser.add_argument("--screenshots", type=pathlib.Path)
    arguments = parser.parse_args()
    chromium = shutil.which("chromium") or shutil.which("google-chrome")
    if not chromium:
        print("SKIPPED: there is no Chromium (Debian: apt-get install chromium)")
        sys.exit(SKIPPED)
    programs = {"small.mlir": SMALL, "nest.hlo": nest(50), "chain.hlo": chain(20_000)}
    bad = 0
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        browser = Browser(chromium, os.path.abspath(arguments.rondo), pathlib.Path(folder))
        for name, program in programs.items():
            page = browser.page(name, program)
            if arguments.screenshots:
                picture = arguments.screenshots.resolve() / (name + ".png")
                browser.open(page, f"--screenshot={picture}", "--hide-scrollbars")
                continue
            body = browser.body(page)
            rows = len(re.findall(r'class="op"', body))
            open_boxes = len(re.findall(r'<details class="box[^"]*" open=""', body))
            expected = {  # rows, and boxes that are open
                "small.mlir": rows == 10 and open_boxes == 3,
                "nest.hlo": open_boxes == 50 and rows == 50,
                "chain.hlo": 200 <= rows < 1000 and open_boxes == 0,  # the others when they are near
            }[name]
            fine = 'data-ready="true"' in body and expected
            print(f"{name}: {rows} rows, {open_boxes} open boxes: {'fine' if fine else 'WRONG'}")
            bad += not fine
        for name, script, pattern in [] if arguments.screenshots else ACTIONS:
            body = browser.body(browser.page(name, {**programs, "deep.hlo": nest(150)}[name], script))
            fine = re.search(pattern, body, re.DOTALL) is not None
            print(f"{name}: {script} {'fine' if fine else 'WRONG'}")
            bad += not fine
    sys.exit(bad > 0)


if __name__ == "__main__":
    main()
