#!/usr/bin/env python3
"""Exports programs from JAX, runs them with the command `rondo`, and compares the results.

usage: scripts/jax_programs.py --rondo PATH [--only NAME] [--keep DIR]

The programs are what people write with JAX: losses and their gradients, optimisers, solvers of differential
equations, filters, small networks. Each goes through StableHLO text, HLO text and jax.export's blob. Needs jax
(build/xla-venv has it) and flatbuffers. Prints each difference, and last the numbers of programs.
"""
import argparse
import pathlib
import subprocess
import sys
import tempfile

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax, random

PROGRAMS = {}


def program(*arguments, tolerance=2e-4):
    """Registers a function with arguments to run it on, and how far results may be, relative to them."""

    def register(function):
        PROGRAMS[function.__name__] = (function, [np.asarray(a) for a in arguments], tolerance)
        return function

    return register


def normal(seed, *shape):
    return np.random.default_rng(seed).normal(size=shape).astype(np.float32)


def positive(seed, *shape):
    return np.abs(normal(seed, *shape)) + np.float32(0.1)


def whole(seed, high, *shape):
    return np.random.default_rng(seed).integers(0, high, size=shape).astype(np.int32)


# Losses and their gradients.
@program(normal(1, 8, 5), normal(2, 5), normal(3, 8))
def least_squares_gradient(x, w, y):
    return jax.grad(lambda w: jnp.mean((x @ w - y) ** 2))(w)


@program(normal(1, 8, 3), whole(2, 3, 8))
def cross_entropy(logits, labels):
    return -jnp.mean(jnp.take_along_axis(jax.nn.log_softmax(logits), labels[:, None], 1))


@program(normal(1, 8, 5), normal(2, 5), whole(3, 2, 8).astype(np.float32))
def logistic_regression_hessian(x, w, y):
    loss = lambda w: jnp.sum(jax.nn.softplus(x @ w) - y * (x @ w))
    return jax.hessian(loss)(w)


@program(normal(1, 6), normal(2, 6))
def huber_gradient(x, y):
    loss = lambda a: jnp.sum(jnp.where(jnp.abs(a - y) < 1, 0.5 * (a - y) ** 2, jnp.abs(a - y) - 0.5))
    return jax.value_and_grad(loss)(x)


@program(normal(1, 4, 6), normal(2, 4, 6))
def contrastive(a, b):
    a, b = (v / jnp.linalg.norm(v, axis=1, keepdims=True) for v in (a, b))
    return jax.nn.logsumexp(a @ b.T / 0.1, axis=1) - jnp.diag(a @ b.T) / 0.1


@program(positive(1, 5), positive(2, 5))
def divergence(p, q):
    p, q = p / p.sum(), q / q.sum()
    return jnp.sum(jax.scipy.special.rel_entr(p, q))


@program(normal(1, 3, 4))
def jacobians(x):
    f = lambda v: jnp.stack([jnp.sin(v).sum(), jnp.prod(v), v[0] * v[-1]])
    return jax.vmap(jax.jacfwd(f))(x), jax.vmap(jax.jacrev(f))(x)


# Optimisers.
def rosenbrock(x):
    return jnp.sum(100 * (x[1:] - x[:-1] ** 2) ** 2 + (1 - x[:-1]) ** 2)


@program(normal(1, 4))
def gradient_descent(x):
    return lax.fori_loop(0, 50, lambda i, x: x - 1e-3 * jax.grad(rosenbrock)(x), x)


@program(normal(1, 4))
def momentum(x):
    def step(state, _):
        x, v = state
        v = 0.9 * v - 1e-4 * jax.grad(rosenbrock)(x)
        return (x + v, v), rosenbrock(x)

    return lax.scan(step, (x, jnp.zeros_like(x)), None, length=40)


@program(normal(1, 4))
def adam(x):
    def step(i, state):
        x, m, v = state
        g = jax.grad(rosenbrock)(x)
        m, v = 0.9 * m + 0.1 * g, 0.999 * v + 0.001 * g * g
        t = i + 1.0
        return x - 0.01 * (m / (1 - 0.9**t)) / (jnp.sqrt(v / (1 - 0.999**t)) + 1e-8), m, v

    return lax.fori_loop(0, 30, step, (x, jnp.zeros_like(x), jnp.zeros_like(x)))[0]


@program(np.float32(7.0))
def newton_until_close(a):
    return lax.while_loop(lambda x: jnp.abs(x * x - a) > 1e-4, lambda x: x - (x * x - a) / (2 * x), a)


@program(normal(1, 4))
def line_search(x):
    g = jax.grad(rosenbrock)(x)
    decrease = lambda t: rosenbrock(x - t * g) > rosenbrock(x) - 0.5 * t * (g @ g)
    return lax.while_loop(decrease, lambda t: t * 0.5, jnp.float32(1.0))


@program(normal(1, 5, 5), normal(2, 5))
def conjugate_gradients(m, b):
    a = m @ m.T + 5 * jnp.eye(5)
    return jax.scipy.sparse.linalg.cg(lambda v: a @ v, b, maxiter=20)[0]


@program(normal(1, 3))
def projected_descent(x):
    step = lambda i, x: jnp.clip(x - 0.1 * jax.grad(lambda v: jnp.sum((v - 2) ** 2))(x), -1, 1)
    return lax.fori_loop(0, 25, step, x)


@program(normal(1, 12, 2), normal(2, 3, 2))
def k_means(points, centres):
    def step(centres, _):
        nearest = jnp.argmin(jnp.sum((points[:, None] - centres[None]) ** 2, -1), 1)
        counts = jnp.zeros(3).at[nearest].add(1.0)
        return jnp.zeros((3, 2)).at[nearest].add(points) / jnp.maximum(counts, 1)[:, None], nearest

    return lax.scan(step, centres, None, length=5)


# Differential equations.
def pendulum(y):
    return jnp.stack([y[1], -jnp.sin(y[0])])


def runge_kutta(f, y, h):
    a = f(y)
    b = f(y + h / 2 * a)
    c = f(y + h / 2 * b)
    return y + h / 6 * (a + 2 * b + 2 * c + f(y + h * c))


@program(np.float32([1.0, 0.5]))
def pendulum_path(y):
    return lax.scan(lambda y, _: (runge_kutta(pendulum, y, 0.1), y), y, None, length=50)


@program(np.float32([1.0, 0.5]))
def pendulum_sensitivity(y):
    return jax.jacrev(lambda y: lax.fori_loop(0, 20, lambda i, y: runge_kutta(pendulum, y, 0.1), y))(y)


@program(np.float32([1.0, 2.0]))
def adaptive_steps(y):
    def step(state):
        t, y, h, count = state
        one = runge_kutta(pendulum, y, h)
        two = runge_kutta(pendulum, runge_kutta(pendulum, y, h / 2), h / 2)
        error = jnp.max(jnp.abs(one - two))
        good = error < 1e-4
        return jnp.where(good, t + h, t), jnp.where(good, two, y), jnp.where(good, h * 1.5, h * 0.5), count + 1

    return lax.while_loop(lambda s: (s[0] < 3.0) & (s[3] < 200), step, (jnp.float32(0), y, jnp.float32(0.5), 0))


@program(positive(1, 16, 16))
def heat(u):
    def step(i, u):
        inner = u[1:-1, 1:-1]
        around = u[:-2, 1:-1] + u[2:, 1:-1] + u[1:-1, :-2] + u[1:-1, 2:]
        return u.at[1:-1, 1:-1].set(inner + 0.2 * (around - 4 * inner))

    return lax.fori_loop(0, 10, step, u)


@program(normal(1, 32))
def advection_rolls(u):
    return lax.fori_loop(0, 20, lambda i, u: u - 0.3 * (u - jnp.roll(u, 1)), u)


@program(normal(1, 5, 3), normal(2, 5, 3))
def three_bodies(x, v):
    def force(x):
        d = x[None] - x[:, None]
        return jnp.sum(d / (jnp.sum(d * d, -1) + 0.1)[..., None] ** 1.5, 1)

    def step(state, _):
        x, v = state
        v = v + 0.01 * force(x)
        return (x + 0.01 * v, v), jnp.sum(v * v)

    return lax.scan(step, (x, v), None, length=20)


@program(normal(1, 16))
def spectral_derivative(u):
    k = jnp.fft.fftfreq(16, 1 / 16) * 1j
    return jnp.fft.ifft(k * jnp.fft.fft(u)).real


@program(positive(1, 9), normal(2, 9))
def tridiagonal(d, b):
    def forward(carry, row):
        c, r = carry
        d, b = row
        w = 1 / (d + 2 - 0.5 * c)
        return (0.5 * w, (b - 0.5 * r) * w), (0.5 * w, (b - 0.5 * r) * w)

    _, (c, r) = lax.scan(forward, (0.0, 0.0), (d, b))
    return lax.scan(lambda x, row: ((row[1] - row[0] * x), (row[1] - row[0] * x)), 0.0, (c, r), reverse=True)[1]


# Filters and probability.
@program(normal(1, 20), np.float32(0.3))
def exponential_average(x, a):
    return lax.scan(lambda m, x: (m + a * (x - m),) * 2, x[0], x)[1]


@program(normal(1, 15, 2))
def kalman(z):
    f, h = jnp.array([[1, 0.1], [0, 1]]), jnp.eye(2)
    q, r = 0.01 * jnp.eye(2), 0.5 * jnp.eye(2)

    def step(state, z):
        x, p = state
        x, p = f @ x, f @ p @ f.T + q
        k = jnp.linalg.solve(h @ p @ h.T + r, h @ p).T
        x, p = x + k @ (z - h @ x), p - k @ h @ p
        return (x, p), x

    return lax.scan(step, (jnp.zeros(2), jnp.eye(2)), z)


@program(positive(1, 3, 3), positive(2, 3), whole(3, 3, 10))
def hidden_markov(transition, start, seen):
    transition = transition / transition.sum(1, keepdims=True)

    def step(alpha, symbol):
        alpha = (alpha @ transition) * jnp.where(jnp.arange(3) == symbol, 0.8, 0.1)
        return alpha / alpha.sum(), jnp.log(alpha.sum())

    return lax.scan(step, start / start.sum(), seen)


@program(positive(1, 3, 3), whole(3, 3, 8))
def viterbi(transition, seen):
    score = jnp.log(transition)

    def forward(best, symbol):
        all_ = best[:, None] + score
        return jnp.max(all_, 0) + jnp.where(jnp.arange(3) == symbol, 0.0, -2.0), jnp.argmax(all_, 0)

    last, back = lax.scan(forward, jnp.zeros(3), seen)
    return lax.scan(lambda s, b: (b[s], s), jnp.argmax(last), back, reverse=True)


@program(np.uint32([0, 42]))
def monte_carlo_pi(key):
    inside = jnp.sum(random.uniform(key, (500, 2)) ** 2, 1) < 1
    return 4 * jnp.mean(inside.astype(jnp.float32))


@program(np.uint32([0, 7]), np.float32(0.5))
def metropolis(key, x):
    def step(x, key):
        a, b = random.split(key)
        y = x + random.normal(a)
        return jnp.where(jnp.log(random.uniform(b)) < 0.5 * (x * x - y * y), y, x), x

    return lax.scan(step, x, random.split(key, 30))


@program(np.uint32([0, 3]), positive(1, 6))
def resampling(key, weights):
    return jnp.searchsorted(jnp.cumsum(weights) / weights.sum(), (jnp.arange(6) + random.uniform(key)) / 6)


@program(normal(1, 6, 2), normal(2, 6), normal(3, 4, 2))
def gaussian_process(x, y, at):
    k = lambda a, b: jnp.exp(-0.5 * jnp.sum((a[:, None] - b[None]) ** 2, -1))
    factor = jax.scipy.linalg.cho_factor(k(x, x) + 0.1 * jnp.eye(6))
    mean = k(at, x) @ jax.scipy.linalg.cho_solve(factor, y)
    return mean, jnp.diag(k(at, at) - k(at, x) @ jax.scipy.linalg.cho_solve(factor, k(x, at)))


@program(normal(1, 5, 3), tolerance=1e-3)
def all_singular_vectors(a):
    u, s, vt = jnp.linalg.svd(a)
    return jnp.abs(u[:, :3]), u @ u.T, (u[:, :3] * s) @ vt


@program(normal(1, 3, 5, 3), tolerance=1e-3)
def batched_reflections(a):
    q, r = jnp.linalg.qr(a)
    return q, r, jax.grad(lambda a: jnp.sum(jnp.linalg.qr(a)[1] ** 3))(a)


@program(normal(1, 2, 5, 4) + 1j * normal(2, 2, 5, 4), tolerance=1e-3)
def complex_reflections(a):
    q, r = jnp.linalg.qr(a)
    return q, r


@program(normal(1, 6), normal(2, 6), normal(3, 6), normal(4, 2, 6, 3), tolerance=1e-3)
def three_diagonals(l, d, u, b):
    solve = lambda d, b: lax.linalg.tridiagonal_solve(l.at[0].set(0), d, u.at[5].set(0), b)
    return jax.vmap(lambda b: solve(d, b))(b), jax.grad(lambda d: jnp.sum(jnp.tanh(solve(d, b[0]))))(d)


@program(positive(1, 4))
def derivatives_of_lgamma(x):
    trigamma = jax.grad(jax.scipy.special.digamma)
    return jax.vmap(trigamma)(x), jax.vmap(jax.grad(trigamma))(x), jax.scipy.special.polygamma(jnp.arange(4), x)


@program(positive(1, 7))
def special_functions(x):
    s = jax.scipy.special
    return s.gammaln(x), s.digamma(x), s.erf(x), s.ndtri(x / (1 + x)), s.betainc(x, x + 1, x / (1 + x))


# Networks.
def dense(x, w, b):
    return x @ w + b


@program(normal(1, 4, 5), normal(2, 5, 8), normal(3, 8), normal(4, 8, 1))
def perceptron_gradient(x, w, b, v):
    return jax.grad(lambda p: jnp.sum((jax.nn.relu(dense(x, *p[:2])) @ p[2]) ** 2))((w, b, v))


@program(normal(1, 2, 8, 8, 3), normal(2, 3, 3, 3, 4))
def convolution_and_pool(x, k):
    y = lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))
    return lax.reduce_window(jax.nn.relu(y), -jnp.inf, lax.max, (1, 2, 2, 1), (1, 2, 2, 1), "VALID")


@program(normal(1, 1, 6, 6, 2), normal(2, 3, 3, 2, 3))
def convolution_gradient(x, k):
    f = lambda k: jnp.sum(jnp.tanh(lax.conv_general_dilated(x, k, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC"))))
    return jax.grad(f)(k)


@program(normal(1, 7, 3), normal(2, 3, 12), normal(3, 3, 12))
def lstm(xs, w, u):
    def step(state, x):
        h, c = state
        i, f, g, o = jnp.split(x @ w + h @ u, 4)
        c = jax.nn.sigmoid(f) * c + jax.nn.sigmoid(i) * jnp.tanh(g)
        h = jax.nn.sigmoid(o) * jnp.tanh(c)
        return (h, c), h

    return lax.scan(step, (jnp.zeros(3), jnp.zeros(3)), xs)


@program(normal(1, 6, 3), normal(2, 3, 9), normal(3, 3, 9))
def gru_gradient(xs, w, u):
    def loss(u):
        def step(h, x):
            (r1, z1, n1), (r2, z2, n2) = jnp.split(x @ w, 3), jnp.split(h @ u, 3)
            r, z = jax.nn.sigmoid(r1 + r2), jax.nn.sigmoid(z1 + z2)
            return (1 - z) * jnp.tanh(n1 + r * n2) + z * h, None

        return jnp.sum(lax.scan(step, jnp.zeros(3), xs)[0])

    return jax.grad(loss)(u)


@program(normal(1, 5, 8), normal(2, 8, 8), normal(3, 8, 8), normal(4, 8, 8))
def attention(x, q, k, v):
    scores = (x @ q) @ (x @ k).T / jnp.sqrt(8.0)
    mask = jnp.tril(jnp.ones((5, 5), bool))
    return jax.nn.softmax(jnp.where(mask, scores, -1e9)) @ (x @ v)


@program(normal(1, 2, 5, 8), normal(2, 2, 8, 8))
def attention_of_heads(x, w):
    return jnp.einsum("bth,bhk,bsk->bts", x, w, x)


@program(normal(1, 4, 6), normal(2, 6), normal(3, 6))
def layer_norm_gradient(x, scale, bias):
    def f(x):
        centred = x - x.mean(-1, keepdims=True)
        return jnp.sum(jnp.sin(centred / jnp.sqrt(centred.var(-1, keepdims=True) + 1e-5) * scale + bias))

    return jax.grad(f)(x)


@program(normal(1, 10, 4), whole(2, 10, 6))
def embedding_gradient(table, tokens):
    return jax.grad(lambda t: jnp.sum(t[tokens] ** 2))(table)


@program(normal(1, 4, 5))
def activations(x):
    return jax.nn.gelu(x), jax.nn.silu(x), jax.nn.elu(x), jax.nn.softplus(x), jax.nn.log_sigmoid(x), jax.nn.leaky_relu(x)


@program(normal(1, 6, 4), normal(2, 4, 4))
def residual_blocks(x, w):
    return lax.scan(lambda x, w: (x + jnp.tanh(x @ w), None), x, jnp.stack([w, 0.5 * w, -w]))[0]


@program(np.uint32([0, 5]), normal(1, 4, 6))
def dropout(key, x):
    return jnp.where(random.bernoulli(key, 0.7, x.shape), x / 0.7, 0)


@program(normal(1, 3, 4))
def batched_training(x):
    def fit(x):
        return lax.fori_loop(0, 10, lambda i, w: w - 0.1 * jax.grad(lambda w: jnp.sum((w - x) ** 2))(w), jnp.zeros(4))

    return jax.vmap(fit)(x)


@program(normal(1, 6, 3), normal(2, 3, 3))
def checkpointed(x, w):
    block = jax.checkpoint(lambda x, w: jnp.tanh(x @ w))
    return jax.grad(lambda w: jnp.sum(block(block(x, w), w)))(w)


# Order, indices, integers.
@program(normal(1, 10))
def order(x):
    return jnp.sort(x), jnp.argsort(-x), lax.top_k(x, 3), jnp.median(x), jnp.percentile(x, 30.0)


@program(normal(1, 4, 5), whole(2, 4, 3), whole(3, 5, 3))
def indexing(x, i, j):
    return x[i], x[i, j], x[:, j], x.at[i, j].set(7.0), x.at[i].add(1.0), x[::-1, ::2]


@program(normal(1, 9), whole(2, 3, 9))
def segments(x, ids):
    return jax.ops.segment_sum(x, ids, 4), jax.ops.segment_max(x, ids, 3), jnp.bincount(ids, length=5)


@program(whole(1, 100, 12))
def integers(n):
    return n % 7, n // 3, n << 2, n ^ (n >> 1), lax.population_count(n), lax.clz(n), jnp.bitwise_not(n), -n // 4


@program(whole(1, 1000, 8))
def collatz(n):
    step = lambda s: (jnp.where(s[0] % 2 == 0, s[0] // 2, 3 * s[0] + 1), s[1] + 1)
    return jax.vmap(lambda n: lax.while_loop(lambda s: (s[0] > 1) & (s[1] < 300), step, (n + 1, 0))[1])(n)


@program(normal(1, 6), normal(2, 4))
def polynomials(x, c):
    return jnp.polyval(c, x), jnp.convolve(x, c), jnp.interp(jnp.float32([0.1, 0.5]), jnp.sort(x), x), jnp.diff(x)


@program(normal(1, 4, 6))
def cumulative(x):
    return jnp.cumsum(x, 1), jnp.cumprod(x, 0), lax.cummax(x, 1), lax.cumlogsumexp(x, 1), lax.associative_scan(jnp.multiply, x)


@program(np.float32(0.7), whole(1, 4))
def branches(x, i):
    several = lax.switch(i, [lambda x: x, jnp.sin, lambda x: x * x, jnp.exp], x)
    return several, lax.cond(x > 0.5, lambda x: x + 1, lambda x: x - 1, x), jax.grad(lambda x: lax.cond(x > 0, jnp.sin, jnp.cos, x))(x)


# Linear algebra and spectra.
@program(normal(1, 4, 4), normal(2, 4, 2))
def factorisations(m, b):
    s = m @ m.T + 4 * jnp.eye(4)
    l = jnp.linalg.cholesky(s)
    return l, jax.scipy.linalg.solve_triangular(l, b, lower=True), jnp.linalg.solve(s, b), jnp.linalg.inv(s)


@program(normal(1, 5, 3), normal(2, 5))
def orthogonal_factors(m, b):
    q, r = jnp.linalg.qr(m)
    return q @ r, jnp.abs(jnp.diag(r)), jnp.linalg.lstsq(m, b)[0]


@program(normal(1, 4, 4))
def eigenvalues(m):
    values, vectors = jnp.linalg.eigh(m + m.T)
    return values, jnp.abs(vectors), jax.grad(lambda m: jnp.sum(jnp.linalg.eigvalsh(m + m.T) ** 3))(m)


@program(normal(1, 5, 3))
def singular_values(m):
    u, s, vt = jnp.linalg.svd(m, full_matrices=False)
    return s, (u * s) @ vt, jnp.linalg.norm(m, 2), jnp.linalg.pinv(m)


@program(normal(1, 3, 4, 4), normal(2, 3, 4))
def batched_solves(m, b):
    return jnp.linalg.solve(m + 4 * jnp.eye(4), b[..., None]), jnp.linalg.cholesky(m @ m.swapaxes(1, 2) + jnp.eye(4))


@program(normal(1, 4, 4))
def determinant_gradient(m):
    return tuple(jnp.linalg.slogdet(m @ m.T + jnp.eye(4))), jax.grad(lambda m: jnp.linalg.det(m))(m)


@program(normal(1, 3, 3))
def matrix_exponential(m):
    return lax.fori_loop(1, 12, lambda k, s: (s[0] + s[1] @ m / k, s[1] @ m / k), (jnp.eye(3), jnp.eye(3)))[0]


@program(normal(1, 12))
def spectra(x):
    return jnp.abs(jnp.fft.rfft(x)), jnp.fft.irfft(jnp.fft.rfft(x)), jnp.angle(jnp.fft.fft(x)[1:4])


@program(normal(1, 4), normal(2, 4))
def complex_numbers(a, b):
    z = a + 1j * b
    return jnp.abs(z), jnp.exp(z).real, (z * jnp.conj(z)).real, jnp.sqrt(z).imag, jnp.sum(z**3).real


@program(normal(1, 4, 4).astype(np.float16), normal(2, 4, 4), tolerance=1e-2)
def narrow_floats(h, x):
    b = x.astype(jnp.bfloat16)
    return (h @ h).astype(jnp.float32), (b @ b).astype(jnp.float32), (b + 1).astype(jnp.float32), jnp.float32(h.sum())


def leaves_of(function, arguments):
    return [np.asarray(leaf) for leaf in jax.tree.leaves(jax.jit(function)(*arguments))]


def difference(found, expected, tolerance):
    """What differs; empty if nothing does. Floats may be rounded otherwise at each step of a loop."""
    if len(found) != len(expected):
        return f"{len(found)} results, not {len(expected)}"
    for k, (a, b) in enumerate(zip(found, expected)):
        if a.shape != b.shape or a.dtype != b.dtype:
            return f"result {k} is {a.dtype}{list(a.shape)}, not {b.dtype}{list(b.shape)}"
        exact = not np.issubdtype(b.dtype, np.inexact)
        if not (np.array_equal(a, b) if exact else np.allclose(a, b, rtol=tolerance, atol=tolerance / 10, equal_nan=True)):
            return f"result {k} differs by {np.max(np.abs(a.astype(np.float64) - b.astype(np.float64))):g}"
    return ""


def forms_of(function, arguments):
    kept = jax.jit(function, keep_unused=True)
    exported, lowered = jax.export.export(kept)(*arguments), kept.lower(*arguments)
    yield "stablehlo", exported.mlir_module().encode()
    yield "hlo", lowered.compiler_ir(dialect="hlo").as_hlo_text().encode()
    yield "blob", bytes(exported.serialize())


def run(rondo, name, folder):
    function, arguments, tolerance = PROGRAMS[name]
    expected = leaves_of(function, arguments)
    paths = []
    for k, argument in enumerate(arguments):
        paths.append(folder / f"{name}.in{k}.npy")
        np.save(paths[-1], argument)
    messages = []
    for form, content in forms_of(function, arguments):
        file, out = folder / f"{name}.{form}", folder / f"{name}.{form}.out"
        file.write_bytes(content)
        done = subprocess.run([rondo, "run", file, *paths, f"--out={out}"], capture_output=True, text=True, timeout=60)
        if done.returncode:
            messages.append(f"{name}, {form}: {done.stderr.strip().splitlines()[0] if done.stderr else done.returncode}")
            continue
        found = [np.load(out / f"out{k}.npy") for k in range(len(list(out.glob("out*.npy"))))]
        if message := difference(found, expected, tolerance):
            messages.append(f"{name}, {form}: {message}")
    return messages


def main():
    parser = argparse.ArgumentParser(description=__doc__.split("\n\n")[0])
    parser.add_argument("--rondo", required=True)
    parser.add_argument("--only", default="")
    parser.add_argument("--keep", help="leave the programs in this folder")
    args = parser.parse_args()
    failed, names = 0, [name for name in PROGRAMS if args.only in name]
    with tempfile.TemporaryDirectory() as scratch:
        folder = pathlib.Path(args.keep or scratch)
        folder.mkdir(parents=True, exist_ok=True)
        for name in names:
            messages = run(args.rondo, name, folder)
            failed += bool(messages)
            for message in messages:
                print(message, flush=True)
    print(f"{len(names) - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
