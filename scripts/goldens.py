#!/usr/bin/env python3
"""Writes tests/goldens: small programs of JAX as text and as artifacts, with inputs and XLA's results.

Each folder has program.mlir (StableHLO), program.hlo.txt, program.mlirbc (a portable artifact),
program.jax_export, and in0.npy, ..., out0.npy, ... tests/text/goldens_test.cc runs them. Needs jax and
flatbuffers: build/xla-venv has jax, `pip install flatbuffers` adds the rest. Usage: scripts/goldens.py
"""
import pathlib
import shutil

import jax
import jax.numpy as jnp
import numpy as np

jax.config.update("jax_enable_x64", True)
jax.config.update("jax_hlo_source_file_canonicalization_regex", ".*/")  # no path of this machine
FOLDER = pathlib.Path(__file__).resolve().parent.parent / "tests" / "goldens"


def newton_root(x, tolerance):
    """A while loop that uses a value from outside, with a branch in its body."""

    def step(state):
        y, trips = state
        smaller = jax.lax.cond(y * y > x, lambda: y - (y * y - x) / (2 * y), lambda: y + tolerance)
        return smaller, trips + 1

    return jax.lax.while_loop(lambda s: (jnp.abs(s[0] * s[0] - x) > tolerance) & (s[1] < 50), step, (x, 0))


def recurrence_gradient(weights, xs):
    """The gradient of a scan, in f64."""

    def loss(w):
        def step(h, x):
            h = jnp.tanh(w @ h + x)
            return h, h.sum()

        return 2 * jax.lax.scan(step, jnp.ones(3), xs)[1].sum()

    return jax.grad(loss)(weights)


def order_and_places(x, places):
    """Sorting, indexing out of range, scattered sums, integers and booleans."""
    order = jnp.argsort(x)
    taken = x.at[places].get(mode="fill", fill_value=-1.0)
    return jnp.sort(x), order, taken, jnp.zeros(4).at[places].add(taken), x > jnp.median(x)


def windows(image, kernel):
    """A convolution with strides and padding, and the largest of each window of its result."""
    y = jax.lax.conv_general_dilated(image, kernel, (2, 1), [(1, 0), (1, 1)], dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return jax.lax.reduce_window(y, -jnp.inf, jax.lax.max, (1, 2, 2, 1), (1, 1, 2, 1), "VALID")


def collatz(numbers):
    """A batched while: each lane takes its own number of trips."""

    def trips(n):
        return jax.lax.while_loop(lambda s: s[0] > 1, lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1), (n, 0))[1]

    return jax.vmap(trips)(numbers)


def small_numbers(x):
    """bf16 and f16, complex numbers, bits, and constants that are no numbers."""
    z = jax.lax.complex(x, -x) * (1 + 2j)
    bits = jax.lax.bitcast_convert_type(x, jnp.uint32) ^ jnp.uint32(0x80000000)
    special = jnp.array([jnp.nan, -jnp.inf, -0.0], jnp.float32)
    return x.astype(jnp.bfloat16) * jnp.bfloat16(1.5), x.astype(jnp.float16) / 3, z, bits, x + special


def f32(*values):
    return np.array(values, np.float32)


PROGRAMS = {
    "newton_root": (newton_root, [np.float32(7), np.float32(1e-3)]),
    "recurrence_gradient": (recurrence_gradient, [np.arange(9.0).reshape(3, 3) / 10, np.linspace(-1, 1, 15).reshape(5, 3)]),
    "order_and_places": (order_and_places, [f32(3, -1, 2.5, 0, 9), np.array([4, 0, 7, 2, 0], np.int32)]),
    "windows": (windows, [np.sin(np.arange(48, dtype=np.float32)).reshape(1, 6, 4, 2), np.cos(np.arange(36, dtype=np.float32)).reshape(3, 3, 2, 2)]),
    "collatz": (collatz, [np.array([1, 7, 27, 9], np.int32)]),
    "small_numbers": (small_numbers, [f32(1.25, -3, 0.1)]),
}


def main():
    shutil.rmtree(FOLDER, ignore_errors=True)
    for name, (function, inputs) in PROGRAMS.items():
        folder = FOLDER / name
        folder.mkdir(parents=True)
        jitted = jax.jit(function)
        lowered = jitted.lower(*inputs)
        (folder / "program.mlir").write_text(lowered.as_text())
        (folder / "program.hlo.txt").write_text(lowered.compiler_ir("hlo").as_hlo_text(True))
        exported = jax.export.export(jitted)(*inputs)
        (folder / "program.mlirbc").write_bytes(exported.mlir_module_serialized)
        (folder / "program.jax_export").write_bytes(exported.serialize())
        for i, value in enumerate(inputs):
            np.save(folder / f"in{i}.npy", value)
        for i, value in enumerate(jax.tree.leaves(jitted(*inputs))):
            np.save(folder / f"out{i}.npy", np.asarray(value))
        print(name, sum(f.stat().st_size for f in folder.iterdir()), "bytes")


if __name__ == "__main__":
    main()
