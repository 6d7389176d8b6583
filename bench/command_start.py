#!/usr/bin/env python3
"""The time that the command takes to start and to run a small program, and its size.

Usage: command_start.py RONDO   Least of 50 runs each, from the start of the process to its end.
"""
import pathlib
import subprocess
import sys
import tempfile
import time

PROGRAM = """func.func @main(%x: tensor<f32>) -> tensor<f32> {
  %0 = stablehlo.while(%y = %x) : tensor<f32>
  cond {
    %c = stablehlo.constant dense<100.0> : tensor<f32>
    %p = stablehlo.compare LT, %y, %c : (tensor<f32>, tensor<f32>) -> tensor<i1>
    stablehlo.return %p : tensor<i1>
  } do {
    %z = stablehlo.add %y, %x : tensor<f32>
    stablehlo.return %z : tensor<f32>
  }
  return %0 : tensor<f32>
}
"""


def least_ms(command):
    times = []
    for _ in range(50):
        start = time.perf_counter()
        subprocess.run(command, stdout=subprocess.DEVNULL, check=True)
        times.append(time.perf_counter() - start)
    return 1e3 * min(times)


def main():
    rondo = pathlib.Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        program = pathlib.Path(folder, "f.mlir")
        program.write_text(PROGRAM, encoding="utf-8")
        for arguments in (["--version"], ["print", program], ["run", program, "3"]):
            print(f"rondo {arguments[0]}: {least_ms([rondo, *arguments]):.1f} ms")
    print(f"size: {rondo.stat().st_size / 1e6:.1f} MB")


if __name__ == "__main__":
    main()
