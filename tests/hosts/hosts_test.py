#!/usr/bin/env python3
"""Runs sharded programs over processes on this machine. Usage: hosts_test.py RONDO PROGRAMS [CLASS]

RONDO is the command, PROGRAMS is programs.cc, compiled.
"""
import os
import pathlib
import shutil
import signal
import socket
import stat
import subprocess
import sys
import tempfile
import time
import unittest

import ml_dtypes
import numpy

rondo = None
folder = None  # of the programs, and of one more for each test
PATIENCE = 200  # seconds, for a machine that does much else
A_MINUTE = 60
HEARTBEAT = "--heartbeat=10"


def free_port():
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        return taken.getsockname()[1]


def load(path):
    array = numpy.load(path)
    return array.view(ml_dtypes.bfloat16).astype(numpy.float32) if array.dtype.kind == "V" else array


def call(*arguments, environment=None):
    """The status and the errors of one command."""
    done = subprocess.run([rondo, "hosts", *map(str, arguments)], capture_output=True, text=True, timeout=PATIENCE, check=False,
                          env={**os.environ, "RONDO_PYTHON": sys.executable, **(environment or {})})
    return done.returncode, done.stderr


class Processes:
    """Those of one run, of program.mlir."""

    def __init__(self, program, count, inputs, *options):
        """`inputs` and options may depend on the rank: functions of it."""
        each = lambda what, rank: str(what(rank) if callable(what) else what)
        address = f"127.0.0.1:{free_port()}"
        self.all = [
            subprocess.Popen([rondo, "hosts", each(program, rank), f"--inputs={each(inputs, rank)}", f"--coordinator={address}",
                              f"--processes={count}", f"--rank={rank}", *(each(option, rank) for option in options)],
                             stderr=subprocess.PIPE, text=True, env={**os.environ, "RONDO_PYTHON": sys.executable})
            for rank in range(count)]

    def wait(self, seconds=PATIENCE):
        """The statuses and the errors."""
        try:
            errors = [process.communicate(timeout=seconds)[1] for process in self.all]
        finally:
            for process in self.all:
                process.kill()
        return [process.returncode for process in self.all], errors


class Hosts(unittest.TestCase):
    def setUp(self):
        self.folder = pathlib.Path(tempfile.mkdtemp(dir=folder))

    def inputs(self, name, trips=None, change=None):
        """An archive of the inputs, perhaps with another number of trips."""
        arrays = {path.stem: numpy.load(path) for path in sorted((folder / name).glob("arg*.npy"))}
        if trips is not None:
            arrays[f"arg{len(arrays) - 1}"] = numpy.int32(trips)
        if change is not None:
            change(arrays)
        path = self.folder / f"inputs{len(list(self.folder.iterdir()))}.npz"
        numpy.savez(path, **arrays)
        return path

    def run_all(self, name, count, inputs, *options, out="out"):
        """The results of a run that ends well, joined, and the errors of its processes."""
        outputs = self.folder / out
        statuses, errors = Processes(folder / f"{name}.mlir", count, inputs, f"--outputs={outputs}", *options).wait()
        self.assertEqual(statuses, [0] * count, errors)
        joined = self.folder / f"{out}.npz"
        self.assertEqual(call(f"--join={outputs}", f"--output={joined}"), (0, ""))
        with numpy.load(joined) as archive:
            return {key: archive[key] for key in archive.files}, errors

    def assert_same_bits(self, got, wanted):
        self.assertEqual(got.keys(), wanted.keys())
        for key, array in got.items():
            self.assertEqual(array.tobytes(), wanted[key].tobytes(), key)

    def assert_equal_to_one_device(self, name, results, tolerance):
        wanted = sorted((folder / name).glob("out*.npy"))
        self.assertEqual(sorted(results), [path.stem for path in wanted])
        for path in wanted:
            got, one = results[path.stem], numpy.load(path)
            self.assertEqual((got.shape, got.dtype), (one.shape, one.dtype))
            if tolerance:  # sums in another order
                numpy.testing.assert_allclose(got, one, rtol=tolerance, atol=tolerance)
            else:
                self.assertEqual(got.tobytes(), one.tobytes())

    def wait_for_checkpoint(self, checkpoints, rank, processes):
        """Until the process has written a second file: then all have the first."""
        end = time.monotonic() + PATIENCE
        while len(list(checkpoints.glob(f"loop*-trip*/rank{rank}.npz"))) < 2:
            self.assertLess(time.monotonic(), end)
            for process in processes.all:
                self.assertIsNone(process.poll(), "it ended before it could be killed")
            time.sleep(0.002)


class OneProgramOverManyProcesses(Hosts):
    def check(self, name, tolerance):
        inputs = self.inputs(name)
        on_two, _ = self.run_all(name, 2, inputs, out="two")
        self.assert_equal_to_one_device(name, on_two, tolerance)
        on_four, errors = self.run_all(name, 4, inputs, f"--checkpoints={self.folder / 'kept'}", "--every=5", out="four")
        self.assert_equal_to_one_device(name, on_four, tolerance)
        self.assertIn("loop 1: 12 trips, ", errors[0])
        self.assertEqual(errors[1:], [""] * 3)

    def test_a_training_loop_whose_batch_is_split(self):
        self.check("training", 1e-6)

    def test_a_stencil_that_exchanges_its_edges(self):
        self.check("stencil", 0)  # all products are exact, so it does not matter which are fused with sums

    def test_an_ensemble_by_vmap(self):
        self.check("ensemble", 1e-6)  # its mean is a sum over all devices

    def test_a_host_reads_its_parts_alone(self):
        """Each has an archive in which the rows of the other are NaN."""
        def only(rank):
            def change(arrays):
                arrays["arg0"][32 * (1 - rank):32 * (2 - rank)] = numpy.nan
            return self.inputs("stencil", change=change)

        archives = [only(0), only(1)]
        results, _ = self.run_all("stencil", 2, lambda rank: archives[rank])
        self.assert_equal_to_one_device("stencil", results, 0)

    def test_a_folder_as_inputs_and_a_compressed_archive(self):
        numpy.savez_compressed(self.folder / "inputs.npz", *[numpy.load(folder / "stencil" / f"arg{i}.npy") for i in range(2)])
        results, _ = self.run_all("stencil", 2, lambda rank: [folder / "stencil", self.folder / "inputs.npz"][rank])
        self.assert_equal_to_one_device("stencil", results, 0)


class Resumed(Hosts):
    def test_after_one_process_was_killed(self):
        inputs, checkpoints = self.inputs("training", trips=400), self.folder / "kept"
        options = [f"--checkpoints={checkpoints}", "--every=2"]
        whole, _ = self.run_all("training", 2, inputs, f"--checkpoints={self.folder / 'other'}", "--every=2", out="whole")
        broken = Processes(folder / "training.mlir", 2, inputs, *options, HEARTBEAT)
        self.wait_for_checkpoint(checkpoints, 1, broken)
        broken.all[1].kill()
        start = time.monotonic()
        statuses, errors = broken.wait(A_MINUTE)
        self.assertLess(time.monotonic() - start, A_MINUTE)
        self.assertEqual(statuses, [3, -signal.SIGKILL])
        self.assertRegex(errors[0], r"process 1 ended or cannot be reached, so process 0 ended too\. It had made \d+ trips of loop 1"
                                    r"\. The same commands, for all processes, go on from the checkpoint of trip \d+\.")
        results, errors = self.run_all("training", 2, inputs, *options)
        self.assertRegex(errors[0], r"goes on from the checkpoint of trip \d+ of loop 1")
        self.assert_same_bits(results, whole)
        with self.subTest("but not with other inputs"):
            statuses, errors = Processes(folder / "training.mlir", 2, self.inputs("training", trips=401), *options).wait()
            self.assertIn(2, statuses)
            self.assertIn("is of other inputs\n  Give another folder, or remove this one", "".join(errors))

    def test_after_the_coordinator_was_stopped_and_a_file_damaged(self):
        inputs, checkpoints = self.inputs("stencil", trips=800), self.folder / "kept"
        # Each process has a folder of its own, as on machines that share no disk.
        options = [lambda rank: f"--checkpoints={checkpoints / str(rank)}", "--every=4"]
        whole, _ = self.run_all("stencil", 4, inputs, f"--checkpoints={self.folder / 'other'}", "--every=4", out="whole")
        broken = Processes(folder / "stencil.mlir", 4, inputs, *options, HEARTBEAT)
        self.wait_for_checkpoint(checkpoints / "3", 3, broken)
        broken.all[0].terminate()
        statuses, errors = broken.wait(A_MINUTE)
        self.assertEqual(statuses, [128 + signal.SIGTERM, 3, 3, 3], errors)
        self.assertIn("process 0 was stopped by SIGTERM", errors[0])
        for rank in (1, 2, 3):
            self.assertRegex(errors[rank], rf"process 0.* ended.*, so process {rank} ended too")
        newest = max((checkpoints / "2").glob("loop1-trip*"), key=lambda path: int(path.name.rsplit("trip")[1])) / "rank2.npz"
        newest.write_bytes(newest.read_bytes()[:newest.stat().st_size // 2])
        results, errors = self.run_all("stencil", 4, inputs, *options)
        self.assertIn(f"{newest} is damaged and passed over", errors[2])
        self.assertIn("goes on from the checkpoint of trip ", errors[0])
        self.assert_same_bits(results, whole)

    def test_in_the_second_of_two_loops(self):
        inputs = self.inputs("two_loops")
        options = [f"--checkpoints={self.folder / 'kept'}", "--every=5"]
        whole, errors = self.run_all("two_loops", 2, inputs, *options, out="whole")
        self.assertRegex(errors[0], "(?s)loop 1: 12 trips.*loop 2: 12 trips")
        for path in (folder / "two_loops").glob("out*.npy"):
            got = whole[path.stem]
            got = got.view(ml_dtypes.bfloat16).astype(numpy.float32) if got.dtype.kind == "V" else got
            numpy.testing.assert_allclose(got, load(path), rtol=1e-2, atol=1e-6)
        results, errors = self.run_all("two_loops", 2, inputs, *options)
        self.assertIn("goes on from the checkpoint of trip 10 of loop 2", errors[0])
        self.assert_same_bits(results, whole)


class WrongArguments(Hosts):
    def fails(self, status, message, *options, program=None, inputs=None, without=()):
        given = {"inputs": inputs or folder / "stencil", "coordinator": f"127.0.0.1:{free_port()}", "processes": 1, "rank": 0}
        for option in options:
            name, _, value = option.lstrip("-").partition("=")
            given[name] = value
        words = [f"--{name}={value}" for name, value in given.items() if name not in without]
        got, errors = call(program or folder / "stencil.mlir", *words)
        self.assertEqual((got, errors.count("rondo: ")), (status, 1), errors)
        self.assertIn(message, errors)
        self.assertIn("\n  ", errors, "it does not say what to do")

    def test_each_is_named(self):
        self.fails(2, "--rank is missing", without=["rank"])
        self.fails(2, "--rank: 2 is not one of 2 processes", "--rank=2", "--processes=2")
        self.fails(2, "--processes: invalid value: '0'", "--processes=0")
        self.fails(2, "here is no HOST:PORT", "--coordinator=here")
        self.fails(2, "--every: there is no --checkpoints", "--every=3")
        self.fails(2, "nowhere.mlir: No such file", program=folder / "nowhere.mlir")
        self.fails(2, "the mesh (data=4) has 4 devices, no multiple of 3", "--processes=3")
        self.fails(2, "1 processes of 3 devices are not the 4 of the mesh (data=4)", "--devices=3")
        self.fails(2, "--inputs is missing: the program has 2 parameters", without=["inputs"])
        self.fails(2, "nothing.npz: No such file", inputs=self.folder / "nothing.npz")
        self.fails(2, "is no .npz archive", inputs=folder / "stencil.mlir")
        self.fails(2, "arg0 is float32[6, 8]; parameter 0 of the program is float32[64, 24]", inputs=folder / "training")
        self.fails(2, "JAX has no devices of abacus", "--platform=abacus")
        self.fails(2, "--outputs: ", "--outputs=/dev/null/here")

    def test_inputs_of_another_kind(self):
        self.fails(2, "has no arg1; it has arg0",
                   inputs=self.inputs("stencil", change=lambda arrays: arrays.pop("arg1")))
        self.fails(2, "arg1 is int64[]; parameter 1 of the program is int32[]",
                   inputs=self.inputs("stencil", change=lambda arrays: arrays.update(arg1=numpy.int64(3))))
        half = self.inputs("stencil")
        half.write_bytes(half.read_bytes()[:1000])
        self.fails(2, "is no .npz archive", inputs=half)

    def test_programs_of_another_kind(self):
        def program(text):
            path = self.folder / "program.mlir"
            path.write_text(text)
            return path

        text = (folder / "stencil.mlir").read_text()
        self.fails(2, "the program cannot be read", program=program(text[:-20]))
        self.fails(2, "the program has no mesh", program=program("func.func @main() { return }"))
        self.fails(2, "the program has no loop in @main", f"--checkpoints={self.folder}",
                   program=program('sdy.mesh @mesh = <["data"=4]>\nfunc.func @main() { return }'))

    def test_processes_that_do_not_meet(self):
        self.fails(1, "cannot be reached within 1 s", "--rank=1", "--processes=2", "--connect-timeout=1")
        self.fails(1, "the 2 processes did not all come to 127.0.0.1", "--processes=2", "--connect-timeout=1")
        with socket.create_server(("", 0)) as server:
            port = server.getsockname()[1]
            self.fails(2, f"port {port} cannot be opened", f"--coordinator=127.0.0.1:{port}")

    def test_processes_that_do_not_agree(self):
        program = lambda rank: folder / ["stencil.mlir", "training.mlir"][rank]
        statuses, errors = Processes(program, 2, lambda rank: folder / ["stencil", "training"][rank]).wait()
        self.assertEqual(statuses, [2, 2])
        self.assertIn("process 1 has another program than process 0", errors[0])
        self.assertIn("process 0 has another program than process 1", errors[1])

    def test_one_that_fails_just_after_it_spoke_was_heard(self):
        sys.path.insert(0, str(pathlib.Path(__file__).resolve().parents[2] / "src" / "hosts"))
        from cluster import Cluster

        class Store:
            """The other process gives its value and fails as soon as this one has looked for values in vain."""

            def __init__(self):
                self.values = {}

            def key_value_set(self, key, value):
                self.values[key] = value

            def key_value_dir_get(self, prefix):
                found = [pair for pair in self.values.items() if pair[0].startswith(prefix)]
                if prefix.startswith("rondo/exchange/"):
                    self.values.update({prefix + "1": "8", "rondo/failed/1": "other programs"})
                return found

        cluster = Cluster.__new__(Cluster)
        cluster.rank, cluster.processes, cluster.exchanges, cluster.client = 0, 2, 0, Store()
        self.assertEqual([7, 8], cluster.exchange(7))

    def test_a_python_without_jax(self):
        bare = self.folder / "python"
        bare.write_text(f'#!/bin/sh\nexec "{sys.executable}" -S "$@"\n')
        bare.chmod(bare.stat().st_mode | stat.S_IXUSR)
        words = [folder / "stencil.mlir", "--coordinator=a:1", "--processes=1", "--rank=0"]
        status, errors = call(*words, f"--python={bare}")
        self.assertEqual(status, 2)
        self.assertRegex(errors, "has no jax.*\n  pip install jax==")
        status, errors = call(*words, environment={"RONDO_PYTHON": str(self.folder / "nothing")})
        self.assertEqual(status, 2)
        self.assertIn("nothing: No such file or directory\n  Name a Python that has jax", errors)

    def test_parts_that_do_not_join(self):
        outputs = self.folder / "out"
        self.run_all("stencil", 2, folder / "stencil")
        joined = f"--output={self.folder / 'joined.npz'}"
        self.assertEqual(call(f"--join={outputs}", joined)[0], 0)
        part = outputs / "out0.rank1.part0.npy"
        part.write_bytes(part.read_bytes()[:200])
        status, errors = call(f"--join={outputs}", joined)
        self.assertEqual(status, 2)
        self.assertIn("out0.rank1.part0.npy cannot be read", errors)
        (outputs / "rank1.json").unlink()
        status, errors = call(f"--join={outputs}", joined)
        self.assertEqual(status, 2)
        self.assertIn("has no rank1.json: the parts of 1 of 2 processes are missing\n  Copy", errors)
        self.assertIn("is no folder", call("--join=/nowhere", joined)[1])
        self.assertIn("--output is missing", call("--join=/nowhere")[1])


if __name__ == "__main__":
    rondo, programs = sys.argv.pop(1), sys.argv.pop(1)
    folder = pathlib.Path(tempfile.mkdtemp())
    try:
        subprocess.run([programs, folder], check=True)
        unittest.main(verbosity=2)
    finally:
        shutil.rmtree(folder)
