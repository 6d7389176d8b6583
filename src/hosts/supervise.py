"""Starts the process that works, and says what happened when it or another one ended.

XLA's runtime ends a process by an abort when another one is missing. A parent can tell the user.
"""
import ctypes
import json
import os
import re
import signal
import subprocess
import sys
import threading

from messages import FAILED, FINE, OTHER_ENDED, say

STATUS_FD = "RONDO_HOSTS_STATUS_FD"
UNHEALTHY = re.compile(r"tasks are unhealthy[^\n]*\n((?:.*\n)*?)The tasks have crashed")
PR_SET_PDEATHSIG = 1


def end_with_parent():
    """For the child: it ends when its parent is killed."""
    parent = os.getppid()
    ctypes.CDLL(None).prctl(PR_SET_PDEATHSIG, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(FAILED)


def status_writer():
    """For the child: a function that tells the parent where the run is."""
    pipe = os.fdopen(int(os.environ[STATUS_FD]), "w", buffering=1)
    return lambda **facts: pipe.write(json.dumps(facts) + "\n")


class Supervisor:
    def __init__(self, options):
        self.options = options
        self.facts, self.lines, self.ended_by = {}, [], None

    def run(self, arguments):
        reading, writing = os.pipe()
        environment = {**os.environ, STATUS_FD: str(writing)}
        environment.setdefault("TF_CPP_MIN_LOG_LEVEL", "0" if self.options.verbose else "1")
        command = [sys.executable, "-B", os.path.dirname(os.path.abspath(__file__)), *arguments]
        self.worker = subprocess.Popen(command, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                       stderr=subprocess.STDOUT, pass_fds=[writing], env=environment)
        os.close(writing)
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) != signal.SIG_IGN:  # as nohup leaves it
                signal.signal(number, self._stop)
        threads = [threading.Thread(target=self._read_status, args=[reading], daemon=True),
                   threading.Thread(target=self._read_lines, daemon=True)]
        for thread in threads:
            thread.start()
        status = self.worker.wait()
        for thread in threads:
            thread.join(5)
        return self._report(status)

    def _stop(self, number, _):
        self.ended_by = signal.Signals(number)
        self.worker.kill()  # files are put in place as a whole, so there is nothing to tidy

    def _read_status(self, descriptor):
        with os.fdopen(descriptor) as pipe:
            for line in pipe:
                self.facts.update(json.loads(line))

    def _read_lines(self):
        for line in self.worker.stdout:
            line = line.decode(errors="replace").rstrip("\n")
            ours = line.startswith("rondo: ") or (self.lines and self.lines[-1][0] and line.startswith("  "))
            self.lines = [*self.lines[-199:], (ours, line)]
            if ours or self.options.verbose:
                sys.stderr.write(line + "\n")
                sys.stderr.flush()

    def _report(self, status):
        if self.ended_by is not None:
            say(f"process {self.options.rank} was stopped by {self.ended_by.name}. {self._remedy()}")
            return 128 + self.ended_by
        if status == OTHER_ENDED:
            say(self._remedy())
            return status
        if status == FINE or self.facts.get("explained"):
            return status
        runtime = [line for ours, line in self.lines if not ours and line.strip()]
        if status < 0 and any("oordination" in line or "heartbeat" in line or "distributed service" in line for line in runtime):
            if not self.facts.get("connected"):
                say(f"the {self.options.processes} processes did not all come to {self.options.coordinator} within "
                    f"{self.options.connect_timeout} s\n  Start all of them, with the ranks 0 to {self.options.processes - 1}, "
                    "or give a longer --connect-timeout.")
                return FAILED
            say(f"{self._missing(runtime)}, so process {self.options.rank} ended too. {self._remedy()}")
            return OTHER_ENDED
        how = f"signal {signal.Signals(-status).name}" if status < 0 else f"status {status}"
        say("\n  ".join([f"process {self.options.rank} ended with {how}. {self._remedy()}", *runtime[-10:]]))
        return FAILED

    def _missing(self, runtime):
        named = UNHEALTHY.search("\n".join(runtime))
        tasks = sorted({int(task.rsplit(":", 1)[-1]) for task in re.split(r"[,\s]+", named.group(1)) if task}) if named else []
        if tasks == [self.options.rank]:
            return f"process {tasks[0]} was silent for {self.options.heartbeat} s"
        tasks = [task for task in tasks if task != self.options.rank]
        if tasks:
            return f"process {' and process '.join(map(str, tasks))} ended or cannot be reached"
        if self.options.rank != 0:
            return "process 0, the coordinator, ended or cannot be reached"
        return "another process ended or cannot be reached"

    def _remedy(self):
        loop, trip, checkpoint = (self.facts.get(name) for name in ("loop", "trip", "checkpoint"))
        if self.options.checkpoints is None:
            return "Nothing was saved: with --checkpoints=FOLDER a run can go on where it was."
        if checkpoint is None:
            return "There was no checkpoint yet: the same commands begin anew."
        reached = "" if trip is None else f"It had made {trip} trips of loop {loop}. "
        return f"{reached}The same commands, for all processes, go on from the checkpoint of trip {checkpoint}."
