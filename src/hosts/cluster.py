"""The processes of a run: JAX's distributed runtime, and what they tell one another through its key-value store."""
import json
import socket
import time

import jax

from messages import BAD_INPUT, FAILED, OTHER_ENDED, Failure

LINGERS = 10  # seconds at most, on a busy machine


class Cluster:
    def __init__(self, options):
        self.rank, self.processes = options.rank, options.processes
        self.heartbeat = options.heartbeat
        self._reach(options)
        if options.platform == "cpu":
            jax.config.update("jax_num_cpu_devices", options.devices)
            jax.config.update("jax_cpu_collectives_implementation", "gloo")
        jax.config.update("jax_platforms", options.platform)
        jax.config.update("jax_enable_x64", True)
        try:
            jax.distributed.initialize(options.coordinator, options.processes, options.rank,
                                       initialization_timeout=options.connect_timeout,
                                       heartbeat_timeout_seconds=options.heartbeat,
                                       shutdown_timeout_seconds=options.connect_timeout,
                                       cluster_detection_method="deactivate")
        except Exception as error:
            raise Failure(f"the {self.processes} processes did not all come to {options.coordinator} within "
                          f"{options.connect_timeout} s: {str(error).splitlines()[0]}",
                          "Start all of them, with the ranks 0 to N-1, or give a longer --connect-timeout.", FAILED) from None
        try:
            jax.devices()
        except Exception as error:
            raise Failure(f"--platform: JAX has no devices of {options.platform}: {str(error).strip() or repr(error)}",
                          "Install JAX for them, for example pip install jax[cuda12], or leave it out for the CPU.") from None
        from jax._src import distributed  # the key-value store has no public name
        self.client = distributed.global_state.client
        self.exchanges = 0

    def _reach(self, options):
        """A plain connection first: the errors of JAX's runtime are those of its network library."""
        host, port = options.coordinator.rsplit(":", 1)
        end = time.monotonic() + options.connect_timeout
        if options.rank == 0:
            try:
                with socket.create_server(("", int(port))):
                    return
            except OSError as error:
                raise Failure(f"--coordinator: port {port} cannot be opened: {error.strerror}",
                              "Give a port that is free on the machine of process 0.") from None
        while True:
            try:
                with socket.create_connection((host.strip("[]"), int(port)), timeout=5):
                    return
            except OSError as error:
                if time.monotonic() > end:
                    raise Failure(f"--coordinator: {options.coordinator} cannot be reached within {options.connect_timeout} s: "
                                  f"{error}",
                                  "Process 0 must run on that machine, with the same --coordinator; is a firewall between them?",
                                  FAILED) from None
            time.sleep(0.1)

    def devices(self, each):
        """Those of all processes, in the order of the processes."""
        chosen = []
        for process in range(self.processes):
            own = sorted((d for d in jax.devices() if d.process_index == process), key=lambda d: d.id)
            if len(own) < each:
                raise Failure(f"process {process} has {len(own)} devices; the mesh needs {each} of it",
                              "Start more processes, or print the program for a smaller mesh.")
            chosen += own[:each]
        return chosen

    def failures(self):
        """What processes said before they ended, by rank."""
        return {int(key.rsplit("/", 1)[1]): text for key, text in self.client.key_value_dir_get("rondo/failed/")}

    def leave(self, failure):
        """Tells the others why this process ends. The coordinator stays until they have read it, or are busy elsewhere."""
        try:
            if failure.status != OTHER_ENDED:
                self.client.key_value_set(f"rondo/failed/{self.rank}", str(failure).splitlines()[0])
            self.client.key_value_set(f"rondo/left/{self.rank}", "")
            end = time.monotonic() + LINGERS
            while self.rank == 0 and time.monotonic() < end:
                if len(self.client.key_value_dir_get("rondo/left/")) == self.processes:
                    break
                time.sleep(0.02)
        except Exception:
            pass  # the coordinator may be what ended

    def exchange(self, value):
        """What all processes give, by rank. Ends with a Failure if one of them has ended with an error."""
        self.exchanges += 1
        prefix = f"rondo/exchange/{self.exchanges}/"
        self.client.key_value_set(f"{prefix}{self.rank}", json.dumps(value))
        pause = 0.002
        while True:
            failures = self.failures()  # before the values: what a process gave before it failed is among them
            found = self.client.key_value_dir_get(prefix)
            if len(found) == self.processes:
                if self.rank == 0 and self.exchanges > 2:  # all have read the one before the last
                    self.client.key_value_delete(f"rondo/exchange/{self.exchanges - 2}/")
                return [json.loads(text) for _, text in sorted(found, key=lambda pair: int(pair[0].rsplit("/", 1)[1]))]
            self.raise_first_of_others(failures)
            time.sleep(pause)
            pause = min(2 * pause, 0.1)

    def raise_first_of_others(self, failures):
        for rank, message in failures.items():
            if rank != self.rank:
                raise Failure(f"process {rank} ended, so process {self.rank} ended too: {message}", status=OTHER_ENDED)

    def agree(self, what):
        """`what` are facts by name that must be the same in all processes."""
        for rank, other in enumerate(self.exchange(what)):
            for name, value in what.items():
                if other[name] != value:
                    raise Failure(f"process {rank} has another {name} than process {self.rank}: {other[name]}, not {value}",
                                  "Give all processes the same program and options, but for --rank.", BAD_INPUT)

    def explain(self, error):
        """Why communication failed. JAX's runtime ends this process as soon as it knows which one is missing."""
        end = time.monotonic() + (self.heartbeat + 5 if self.processes > 1 else 0)
        while time.monotonic() < end:
            try:
                self.raise_first_of_others(self.failures())
            except Failure as failure:
                return failure
            except Exception as lost:
                return Failure(f"process 0, the coordinator, ended or cannot be reached, so process {self.rank} ended too: "
                               f"{str(lost).splitlines()[0]}", status=OTHER_ENDED)
            time.sleep(0.2)
        return Failure(f"the program failed: {str(error).strip() or repr(error)}", status=FAILED)

    def close(self):
        try:
            jax.distributed.shutdown()
        except Exception:
            pass  # all have written their results: how the others end is of no interest any more
