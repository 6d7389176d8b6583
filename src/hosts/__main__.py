"""`rondo hosts`: runs a program for a mesh over several processes. See docs/scale.md."""
import argparse
import importlib.util
import os
import signal
import sys

from messages import FINE, Failure, say

TESTED = "0.10.2"


def positive(text):
    number = int(text)
    if number < 1:
        raise ValueError
    return number


class Parser(argparse.ArgumentParser):
    def error(self, message):
        raise Failure(message.replace("argument --", "--").replace("positive ", ""), "rondo hosts --help lists all options.")


def parser():
    options = Parser(prog="rondo hosts", add_help=False, allow_abbrev=False)
    options.add_argument("file", nargs="?")
    for name in ("inputs", "outputs", "coordinator", "checkpoints", "join", "output"):
        options.add_argument("--" + name)
    for name in ("processes", "devices", "every"):
        options.add_argument("--" + name, type=positive)
    options.add_argument("--rank", type=int)
    options.add_argument("--platform", default="cpu")
    options.add_argument("--heartbeat", type=positive, default=20)
    options.add_argument("--connect-timeout", type=positive, default=60)
    options.add_argument("--verbose", action="store_true")
    return options


def check(options):
    if options.join is not None:
        if options.output is None:
            raise Failure("--output is missing", "rondo hosts --join=FOLDER --output=R.npz")
        return
    for name in ("file", "coordinator", "processes", "rank"):
        if getattr(options, name) is None:
            raise Failure(f"{'FILE' if name == 'file' else '--' + name} is missing",
                          "rondo hosts f.mlir --inputs=x.npz --coordinator=HOST:PORT --processes=N --rank=I")
    if not 0 <= options.rank < options.processes:
        raise Failure(f"--rank: {options.rank} is not one of {options.processes} processes",
                      f"Give each process another number from 0 to {options.processes - 1}.")
    host, _, port = options.coordinator.rpartition(":")
    if not host or not port.isdigit() or not 0 < int(port) < 65536:
        raise Failure(f"--coordinator: {options.coordinator} is no HOST:PORT",
                      "Name the machine of process 0 and a free port there.")
    if options.every is not None and options.checkpoints is None:
        raise Failure("--every: there is no --checkpoints", "Give the folder for them, --checkpoints=FOLDER.")
    options.every = options.every or 1000
    if options.every >= 2**31:
        raise Failure(f"--every: {options.every} is too large", f"Give at most {2**31 - 1}.")
    if options.output is not None:
        raise Failure("--output: it is for --join", "The folder for the results of a run is --outputs=FOLDER.")
    try:
        with open(options.file, encoding="utf-8") as file:
            options.text = file.read()
    except OSError as error:
        raise Failure(f"{options.file}: {error.strerror}",
                      "Write it with to_stablehlo_text or rondo print --to=stablehlo.") from None
    except UnicodeDecodeError:
        raise Failure(f"{options.file} is no text", "Write it with to_stablehlo_text or rondo print --to=stablehlo.") from None


def need(*modules):
    missing = [name for name in modules if importlib.util.find_spec(name) is None]
    if missing:
        raise Failure(f"{sys.executable} has no {' and no '.join(missing)}",
                      f"pip install jax=={TESTED}, or name a Python that has it by --python or RONDO_PYTHON.")


def main(arguments):
    options = parser().parse_args(arguments)
    check(options)
    if options.join is not None:
        need("numpy", "ml_dtypes")
        import results
        results.join(options.join, options.output)
        return FINE
    need("jax", "jaxlib", "numpy", "ml_dtypes")
    import supervise
    if supervise.STATUS_FD not in os.environ:
        return supervise.Supervisor(options).run(arguments)
    supervise.end_with_parent()
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # the supervisor's
    status = supervise.status_writer()
    try:
        try:
            import run
        except (ImportError, AttributeError) as error:
            raise Failure(f"{sys.executable} has a JAX that is not known here: {error}", f"pip install jax=={TESTED}") from None
        run.work(options, status)
    except Failure:
        status(explained=True)
        raise
    return FINE


if __name__ == "__main__":
    try:
        status = main(sys.argv[1:])
    except Failure as failure:
        say(failure)
        status = failure.status
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(status)  # what the runtime does at the end of a process waits for others
