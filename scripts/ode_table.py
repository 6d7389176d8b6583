#!/usr/bin/env python3
"""Solutions of published differential equations by diffrax, which tests/solvers/ode_diffrax_test.cc compares with.

    python3 -m pip install diffrax==0.7.2 jax==0.10.2
    scripts/ode_table.py [PROBLEM...]

A line has the problem, the method, the tolerance (rtol, and the factor of it that atol is), the steps with those that
were rejected, the solution at the last time, and its derivative by the parameter: backward through the steps for
Dopri5, forward for Kvaerno5, an implicit method of order 5, whose error at its tolerance is far below that of the
method that is compared.
"""
import sys

import diffrax
import jax
import jax.numpy as jnp

jax.config.update("jax_enable_x64", True)


def arenstorf(_, y, mu):
    nu = 1 - mu
    near, far = ((y[0] + mu) ** 2 + y[2] ** 2) ** 1.5, ((y[0] - nu) ** 2 + y[2] ** 2) ** 1.5
    return jnp.stack([y[1], y[0] + 2 * y[3] - nu * (y[0] + mu) / near - mu * (y[0] - nu) / far,
                      y[3], y[2] - 2 * y[1] - nu * y[2] / near - mu * y[2] / far])


def lotka_volterra(_, y, rate):
    return jnp.stack([rate * y[0] - y[0] * y[1], y[0] * y[1] - 3 * y[1]])


def van_der_pol(_, y, scale):
    """With mu = 1000 in the time of Hairer and Wanner's collection, for a scale of 1."""
    return jnp.stack([y[1], ((1 - y[0] ** 2) * y[1] - y[0]) * 1e6 * scale])


def robertson(_, y, rate):
    slow, mixed, fast = rate * y[0], 1e4 * y[1] * y[2], 3e7 * y[1] ** 2
    return jnp.stack([mixed - slow, slow - mixed - fast, fast])


# (equation, start, last time, parameter, [(method, rtol, atol / rtol)])
EXPLICIT = [("Dopri5", tolerance, 1) for tolerance in (1e-6, 1e-8, 1e-10)]
PROBLEMS = {
    "arenstorf": (arenstorf, [0.994, 0, 0, -2.00158510637908252240537862224], 17.0652165601579625588917206249,
                  0.012277471, EXPLICIT),
    "lotka_volterra": (lotka_volterra, [10.0, 5.0], 15.0, 1.5, EXPLICIT),
    "robertson": (robertson, [1.0, 0, 0], 40.0, 0.04, [("Kvaerno5", 1e-9, 1e-4)]),
    "van_der_pol": (van_der_pol, [2.0, -0.66], 2.0, 1.0, [("Kvaerno5", 1e-7, 1)]),
}


def solve(problem, method, rtol, atol, parameter):
    equation, start, last = PROBLEMS[problem][:3]
    adjoint = diffrax.RecursiveCheckpointAdjoint() if method == "Dopri5" else diffrax.ForwardMode()
    return diffrax.diffeqsolve(
        diffrax.ODETerm(equation), getattr(diffrax, method)(), 0.0, last, None, jnp.array(start), args=parameter,
        stepsize_controller=diffrax.PIDController(rtol=rtol, atol=atol), max_steps=1000000, adjoint=adjoint)


def main():
    for problem in sys.argv[1:] or PROBLEMS:
        *_, parameter, methods = PROBLEMS[problem]
        for method, rtol, factor in methods:
            def end(p):
                solution = solve(problem, method, rtol, rtol * factor, p)
                return solution.ys[-1], solution

            derivative = (jax.jacrev if method == "Dopri5" else jax.jacfwd)(end, has_aux=True)
            slope, solution = jax.jit(lambda p: derivative(p))(parameter)
            steps, rejected = (int(solution.stats[name]) for name in ("num_steps", "num_rejected_steps"))
            print(f"{problem} {method} {rtol:g} {factor:g}: {steps} steps, {rejected} rejected,",
                  [float(x) for x in solution.ys[-1]], "by the parameter", [float(x) for x in slope], flush=True)


if __name__ == "__main__":
    main()
