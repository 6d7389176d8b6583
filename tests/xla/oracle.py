"""Real XLA as a judge: accepts programs as text, runs them on arrays, says what went wrong.

Serves a test program through its standard input and output, one JSON object a line:

    {"form": "hlo" or "stablehlo", "program": FILE, "arguments": [FILE.npy, ...], "results": PREFIX}

compiles the program and writes its results to PREFIX0.npy, PREFIX1.npy, ... The answer is

    {"ok": true, "results": COUNT}   or
    {"ok": false, "stage": "parse", "verify", "compile" or "run", "message": TEXT}

Without "arguments" and "results" the program is compiled and not run. The first line that is
written, {"ok": true, ...} or why not, says whether XLA could be loaded at all.

HLO text goes through XLA's parser; XLA's verifier looks at the very module that was parsed; then
the module is converted to StableHLO, which is the only thing that jaxlib compiles. XLA ends the
process on some faulty programs, so it runs in a child process, which is replaced when it crashes.

    oracle.py FILE...            accepts files, told apart by their content, and says so for each.
    oracle.py --listen SOCKET    serves every program that connects to the socket: returns when it
                                 listens, and goes on in the background, with JAX loaded once.
    oracle.py --stop SOCKET      ends it.
"""

import contextlib
import json
import multiprocessing
import os
import re
import signal
import socket
import sys
import tempfile

SECONDS_FOR_ONE_PROGRAM = 120
PROGRAMS_KEPT = 8
SECONDS_WITHOUT_CALLER = 3600
STOP = "stop"  # the first line of a connection that ends the server; others say hello


def load():
    """Imports what is needed of JAX. Nothing of it starts a thread, so the parent may fork after it:
    a new child is there at once."""
    os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
    global jax, numpy, _hlo, _jax, ir, mlir
    import jax
    import jax.extend.xla
    import numpy
    from jax.interpreters import mlir
    from jaxlib import _hlo, _jax
    from jaxlib.mlir import ir

    jax.config.update("jax_platforms", "cpu")
    jax.config.update("jax_enable_x64", True)


def is_small_integer(dtype):
    return re.fullmatch("u?int[24]", dtype.name) is not None


def is_small(dtype):
    """Whether .npy has no name for it, and the files hold bytes."""
    return is_small_integer(dtype) or re.match("float[48]_", dtype.name) is not None


class Xla:
    """Lives in the child: XLA itself starts here."""

    def __init__(self):
        self.context = mlir.make_ir_context()
        self.devices = jax.devices("cpu")[:1]
        self.compiled = {}  # the last programs by their text: most run with several arguments

    def compile(self, stablehlo):
        # These options differ from XLA's defaults in one point: minimum, maximum and clamp propagate
        # NaN.
        options = _jax.CompileOptions()
        return self.devices[0].client.compile_and_load(stablehlo, self.devices, options)

    def verify(self, module, stablehlo):
        """XLA's verifier on the module as it was parsed. There is no direct way to ask for that, but
        XLA verifies what a transformation made: the module takes the place of the one that was
        converted, after that has been scheduled. It has no schedule, so nothing is compiled."""
        proto = module.as_serialized_hlo_module_proto()
        place = {"name": "rondo", "stage": jax.extend.xla.PipelineStage.POST_SCHEDULER,
                 "platforms": "cpu"}
        jax.extend.xla.register_hlo_module_transformation(lambda _: proto, **place)
        try:
            self.compile(stablehlo)
        except Exception as error:
            if not re.search("must be scheduled|in both a parallel", str(error)):
                raise
        else:
            raise RuntimeError("XLA did not look at the module")
        finally:
            jax.extend.xla.clear_hlo_module_transformation(**place)

    def load(self, file, shape):
        array = numpy.load(file)
        dtype = numpy.dtype(shape.numpy_dtype())
        if array.dtype.kind == "V":
            array = array.view(dtype)  # bf16, for which .npy has no name
        elif is_small(dtype):
            array = array.astype(dtype) if is_small_integer(dtype) else array.view(dtype)
        if array.dtype != dtype or array.shape != tuple(shape.dimensions()):
            raise ValueError(f"{file} is {array.dtype}{list(array.shape)}, the parameter {shape}")
        return jax.device_put(array, self.devices[0])

    def answer(self, request, begin):
        begin("parse")
        with open(request["program"], encoding="utf-8") as file:
            text = file.read()
        if text not in self.compiled:
            if len(self.compiled) >= PROGRAMS_KEPT:
                self.compiled.pop(next(iter(self.compiled)))
            self.compiled[text] = self.accept(text, request, begin)
        executable, shapes = self.compiled[text]
        if "results" not in request:
            return 0
        begin("run")
        files = request["arguments"]
        if len(files) != len(shapes):
            raise ValueError(f"{len(files)} arguments for {len(shapes)} parameters")
        arguments = [self.load(file, shape) for file, shape in zip(files, shapes)]
        results = executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        for number, (result,) in enumerate(results):
            array = numpy.asarray(result)
            if array.dtype.name == "bfloat16":
                array = array.view("V2")
            elif is_small_integer(array.dtype):
                array = array.astype("u1" if array.dtype.name.startswith("u") else "i1")
            elif is_small(array.dtype):
                array = array.view("u1")
            numpy.save(f"{request['results']}{number}.npy", array)
        return len(results)

    def accept(self, text, request, begin):
        """The executable of a program and the shapes of its parameters."""
        if request["form"] == "hlo":
            module = _hlo.hlo_module_from_text(text)
            begin("convert")
            computation = _hlo.XlaComputation(module.as_serialized_hlo_module_proto())
            text = _jax.mlir.xla_computation_to_mlir_module(computation)
            if request.get("verify", True):
                begin("verify")
                self.verify(module, text)
        else:
            ir.Module.parse(text, context=self.context)  # with the verifiers of all dialects
        begin("compile")
        executable = self.compile(text)
        computation = _jax.mlir.mlir_module_to_xla_computation(text)
        return executable, computation.program_shape().parameter_shapes()


def child_main(connection, parents_end, log):
    parents_end.close()  # so that reading ends when the parent is gone
    os.dup2(log.fileno(), 1)
    os.dup2(log.fileno(), 2)
    try:
        load()
        xla = Xla()
    except Exception as error:
        connection.send({"ok": False, "stage": "start", "message": str(error) or repr(error)})
        return
    connection.send({"ok": True, "results": 0})
    stage = None

    def begin(name):
        nonlocal stage
        stage = name
        connection.send(stage)

    while True:
        try:
            request = connection.recv()
        except EOFError:
            return
        try:
            connection.send({"ok": True, "results": xla.answer(request, begin)})
        except Exception as error:
            message = str(error).strip() or repr(error)
            connection.send({"ok": False, "stage": stage, "message": message})


class Oracle:
    """The parent's side: answers whatever happens to the child."""

    def __init__(self):
        with contextlib.suppress(Exception):
            load()  # the child says why not
        self.start()

    def start(self):
        self.log = tempfile.TemporaryFile("w+", errors="replace")
        self.connection, theirs = multiprocessing.Pipe()
        self.child = multiprocessing.get_context("fork").Process(
            target=child_main, args=(theirs, self.connection, self.log), daemon=True)
        self.child.start()
        theirs.close()
        self.greeting = self.receive("start")
        return self.greeting

    def receive(self, stage):
        """The answer of the child, or how it ended."""
        try:
            while self.connection.poll(SECONDS_FOR_ONE_PROGRAM):
                answer = self.connection.recv()
                if isinstance(answer, dict):
                    return answer
                stage = answer
            message = f"no answer in {SECONDS_FOR_ONE_PROGRAM} s"
            self.child.kill()
        except (EOFError, ConnectionError):
            message = None
        self.child.join()
        if message is None:
            self.log.seek(0)
            fatal = re.findall("^.*(?:Check failed|LLVM ERROR|Error:).*$", self.log.read(), re.M)
            message = "; ".join([f"XLA died with exit code {self.child.exitcode}", *fatal[-1:]])
        return {"ok": False, "stage": stage, "message": message, "died": True}

    def ask(self, request):
        if not self.child.is_alive() and not self.start()["ok"]:
            return self.greeting
        try:
            self.connection.send(request)
        except OSError:
            pass  # it has crashed; receive says how
        answer = self.receive("start")
        if answer.pop("died", False) and answer["stage"] == "verify" and request.get("verify", True):
            # The stages after the verifier crash on some valid modules that no pass has processed.
            return self.ask({**request, "verify": False})
        return answer


def accept(files):
    oracle = Oracle()
    failures = 0
    for file in files:
        with open(file, encoding="utf-8") as opened:
            form = "stablehlo" if re.search(r"\bfunc\.func\b", opened.read()) else "hlo"
        answer = oracle.ask({"form": form, "program": file})
        failures += not answer["ok"]
        why = "" if answer["ok"] else f": {answer['stage']}: {answer['message']}"
        print(f"{'accepted' if answer['ok'] else 'REFUSED'} {file}{why}", flush=True)
    return 1 if failures else 0


def serve():
    oracle = Oracle()
    print(json.dumps(oracle.greeting), flush=True)
    if not oracle.greeting["ok"]:
        return 1
    for line in sys.stdin:
        print(json.dumps(oracle.ask(json.loads(line))), flush=True)
    return 0


def listen(path):
    folder, name = os.path.split(path)
    os.chdir(folder)  # the name of a socket has at most 107 characters
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)
    with contextlib.suppress(Exception):
        load()  # each child says why not
    server = socket.socket(socket.AF_UNIX)
    server.bind(name)
    server.listen(64)
    if os.fork():
        return 0
    os.setsid()
    nothing = os.open(os.devnull, os.O_RDWR)
    for descriptor in range(3):
        os.dup2(nothing, descriptor)
    signal.signal(signal.SIGCHLD, signal.SIG_IGN)  # no zombies
    server.settimeout(SECONDS_WITHOUT_CALLER)
    while True:
        try:
            connection, _ = server.accept()
        except TimeoutError:
            return 0
        if os.fork():
            connection.close()
            continue
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        server.close()
        connection.setblocking(True)
        os.dup2(connection.fileno(), 0)
        os.dup2(connection.fileno(), 1)
        first = sys.stdin.readline()
        if first.strip() == STOP:
            os.kill(os.getppid(), signal.SIGTERM)
            return 0
        return serve()


def stop(path):
    folder, name = os.path.split(path)
    os.chdir(folder)
    with contextlib.suppress(OSError), socket.socket(socket.AF_UNIX) as connection:
        connection.connect(name)
        connection.sendall(f"{STOP}\n".encode())
        connection.recv(1)  # until it has ended
    with contextlib.suppress(FileNotFoundError):
        os.unlink(name)
    return 0


def main(arguments):
    match arguments:
        case []:
            return serve()
        case ["--listen", path]:
            return listen(path)
        case ["--stop", path]:
            return stop(path)
    return accept(arguments)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
