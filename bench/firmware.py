#!/usr/bin/env python3
"""Code size, memory and instructions of programs on a Cortex-M4F, beside CasADi's C of the same programs. Memory is the
workspace and the largest stack frame.

Usage: firmware.py FIRMWARE_PROGRAMS   (build/release/tests/firmware_programs)

It needs the compiler and the emulator that tests/firmware/run.py needs, and casadi from PyPI. Instructions are those of
qemu, which counts no cycles: one is a nanosecond of its clock (-icount shift=0), read by the processor's own timer,
which a loop of known length calibrates. CasADi writes floats (casadi_real), gcc makes both with -O2.
"""
import importlib.util
import os
import pathlib
import sys
import tempfile

import casadi as ca
import numpy as np

HERE = pathlib.Path(__file__).resolve().parent
spec = importlib.util.spec_from_file_location("run", HERE.parent / "tests" / "firmware" / "run.py")
m4 = importlib.util.module_from_spec(spec)
spec.loader.exec_module(m4)

MAIN = """
#include <stdint.h>
void put(const char *text);
%s
static volatile uint32_t *const timer = (volatile uint32_t *)0xE000E010u;
static uint32_t ticks(void) { return 0xffffffu - timer[2]; }
static void number(uint32_t n) {
  char text[12]; int at = 11;
  text[at] = 0;
  do { text[--at] = (char)('0' + n %% 10u); n /= 10u; } while (n);
  put(text + at);
  put(" ");
}
int main(void) {
  uint32_t begin, end;
  int k;
  timer[1] = 0xffffffu; timer[2] = 0; timer[0] = 5u;
  begin = ticks();
  __asm__ volatile("movw r2, #50000\\n1: subs r2, r2, #1\\nbne 1b" ::: "r2", "cc");
  end = ticks();
  number((end - begin) & 0xffffffu);
%s
  begin = ticks();
  for (k = 0; k < %d; ++k) call();
  end = ticks();
  number((end - begin) & 0xffffffu);
  return 0;
}
"""
CALIBRATION = 100_001  # instructions


def thermal(steps):
    s = ca.SX.sym("s", 3)
    slab, water, tank = ca.vertsplit(s)
    power, flow = (tank - water) * 0.63 * 41.84, (water - slab) * 7.4
    step = ca.Function("step", [s], [ca.vertcat(slab + flow * 5e-6, water + (power - flow) * 7e-6, tank - power * 3e-7)])
    x = ca.MX.sym("x", 3)
    loss = (step.fold(steps)(x)[0] - 27.344767) ** 2
    return ca.Function("f", [x], [loss, ca.gradient(loss, x)])


def filter_step(x, p, z):
    f = ca.DM([[1, 0, 0.1, 0], [0, 1, 0, 0.1], [0, 0, 1, 0], [0, 0, 0, 1]])
    h = ca.DM([[1, 0, 0, 0], [0, 1, 0, 0]])
    x, p = f @ x, f @ p @ f.T + 0.01 * ca.DM.eye(4)
    s = h @ p @ h.T + 0.25 * ca.DM.eye(2)
    gain = ca.solve(s, h @ p).T
    return x + gain @ (z - h @ x), p - gain @ h @ p


def kalman():
    x, p, z = ca.SX.sym("x", 4), ca.SX.sym("p", 4, 4), ca.SX.sym("z", 2)
    return ca.Function("f", [x, p, z], list(filter_step(x, p, z)))


def track():
    s, z = ca.SX.sym("s", 20), ca.SX.sym("z", 2)
    x, p = filter_step(s[:4], ca.reshape(s[4:], 4, 4), z)
    step = ca.Function("step", [s, z], [ca.vertcat(x, ca.reshape(p, 16, 1))])
    all_z = ca.MX.sym("z", 2, 20)
    start = ca.vertcat(ca.DM.zeros(4), ca.reshape(ca.DM.eye(4), 16, 1))
    return ca.Function("f", [all_z], [step.fold(20)(ca.densify(start), all_z)])


def network():
    def weights(rows, columns):
        return np.array([((i * 29 + rows) % 31 - 15) / 40 for i in range(rows * columns)]).reshape(rows, columns)
    x = ca.MX.sym("x", 8)
    y = x
    for at, (rows, columns) in enumerate([(16, 8), (16, 16), (4, 16)]):
        y = ca.DM(weights(rows, columns)) @ y + ca.DM(weights(1, rows).reshape(-1))
        if at < 2:
            y = ca.tanh(y)
    return ca.Function("f", [x], [y])


PROGRAMS = {"heating20": lambda: thermal(20), "heating1000": lambda: thermal(1000), "kalman": kalman, "track": track,
            "network": network}
REPEATS = {"heating1000": 3, "track": 20, "heating20": 400, "kalman": 100}


def sections(place):
    """Bytes of code and constants."""
    text, data, bss = m4.call(["arm-none-eabi-size", place]).splitlines()[1].split()[:3]
    assert data == bss == "0", f"{place} has writable data"
    return int(text)


def measured(folder, name, objects, declarations, fill):
    (folder / "main.c").write_text(MAIN % (declarations, fill, REPEATS.get(name, 50)))
    m4.call(["arm-none-eabi-gcc", *m4.PROCESSOR, "-O2", "-w", f"-I{folder}", "-c", folder / "main.c", "-o",
             folder / "main.o"])
    done = m4.emulate(m4.link(folder, f"{name}_timed", [folder / "main.o", *objects]), "-icount", "shift=0")
    calibration, ticks = map(int, done.stderr.split())
    return round(ticks / REPEATS.get(name, 50) * CALIBRATION / calibration)


def of_rondo(folder, name, workspace):
    place = m4.compiled(folder, name, "-O2")
    work = ", &work" if workspace else ""
    declarations = f'#include "{name}.h"\nstatic {name}_in in; static {name}_out out;\n'
    if workspace:
        declarations += f"static {name}_workspace work;\n"
    declarations += f"static void call(void) {{ {name}(&in, &out{work}); }}\n"
    fill = "  for (k = 0; k < (int)(sizeof in / 4); ++k) ((float *)&in)[k] = (float)(k % 7 + 1) * 0.25f;"
    lines = (folder / f"{name}.c").read_text().split("\n/* Returns how many")[0].count("\n")
    return lines, sections(place), workspace + m4.stack_of(place), measured(folder, name, [place], declarations, fill)


def of_casadi(folder, name):
    function = PROGRAMS[name]()
    os.chdir(folder)
    function.generate(f"{name}_ca.c", {"casadi_real": "float", "casadi_int": "int", "with_header": True})
    place = folder / f"{name}_ca.o"
    m4.call(["arm-none-eabi-gcc", *m4.PROCESSOR, "-std=c99", "-fstack-usage", "-O2", "-c", folder / f"{name}_ca.c",
             "-o", place])
    inputs = sum(function.nnz_in(i) for i in range(function.n_in()))
    outputs = sum(function.nnz_out(i) for i in range(function.n_out()))
    declarations = f'#include "{name}_ca.h"\nstatic float in[{inputs}], out[{outputs}], w[f_SZ_W + 1];\n'
    declarations += "static int iw[f_SZ_IW + 1]; static const float *arg[f_SZ_ARG]; static float *res[f_SZ_RES];\n"
    declarations += "static void call(void) {\n"
    for kind, count, size, memory in [("arg", function.n_in(), function.nnz_in, "in"),
                                      ("res", function.n_out(), function.nnz_out, "out")]:
        at = 0
        for i in range(count):
            declarations += f"  {kind}[{i}] = {memory} + {at};\n"
            at += size(i)
    declarations += "  f(arg, res, iw, w, 0);\n}\n"
    fill = f"  for (k = 0; k < {inputs}; ++k) in[k] = (float)(k % 7 + 1) * 0.25f;"
    workspace = 4 * function.sz_w() + 4 * function.sz_iw() + 4 * (function.sz_arg() + function.sz_res())
    lines = (folder / f"{name}_ca.c").read_text().count("\n")
    return lines, sections(place), workspace + m4.stack_of(place), measured(folder, name, [place], declarations, fill)


def main():
    print("| program | | lines | code and constants, bytes | memory, bytes | instructions |\n|---|---|---|---|---|---|")
    with tempfile.TemporaryDirectory() as place:
        folder = pathlib.Path(place)
        for line in m4.call([os.path.abspath(sys.argv[1]), folder]).splitlines():
            name, workspace = line.split()
            for who, (lines, code, memory, count) in [("Rondo", of_rondo(folder, name, int(workspace))),
                                                      ("CasADi", of_casadi(folder, name))]:
                print(f"| {name} | {who} | {lines} | {code} | {memory} | {count} |", flush=True)


if __name__ == "__main__":
    main()
