"""One process of a run: what the supervisor starts."""
import hashlib
import secrets
import time

import jax
import numpy
from jax._src.interpreters import mlir
from jax.sharding import Mesh, NamedSharding, PartitionSpec
from jaxlib import _jax

import results
from arrays import Inputs, box_of, bytes_of, make_folder
from checkpoints import Checkpoints
from cluster import Cluster
from messages import Failure, say
from pieces import module_of
from program import Program


class Piece:
    """A compiled section."""

    def __init__(self, run, section):
        text, self.inputs, self.outputs = module_of(run.program, section)
        self.section = section
        options = _jax.CompileOptions()
        build = options.executable_build_options
        options.num_replicas = build.num_replicas = 1
        options.num_partitions = build.num_partitions = len(run.devices)
        build.use_spmd_partitioning = build.use_shardy_partitioner = True
        ids = numpy.array([[device.id for device in run.devices]])
        options.device_assignment = build.device_assignment = _jax.DeviceAssignment.create(ids)
        try:
            self.executable = run.devices[0].client.compile_and_load(text, _jax.DeviceList(tuple(run.devices)), options)
        except Exception as error:
            raise Failure(f"XLA refuses the program: {error}",
                          "Does it run on one host, with rondo::jit and {.mesh = mesh}?") from None
        self.shardings = [run.sharding(output) for output in self.outputs]

    def __call__(self, arguments):
        buffers = self.executable.execute_sharded(arguments).disassemble_into_single_device_arrays()
        return [jax.make_array_from_single_device_arrays(output.shape, sharding, list(parts))
                for output, sharding, parts in zip(self.outputs, self.shardings, buffers)]


class Run:
    def __init__(self, options, status):
        self.options, self.status = options, status
        self.program = Program(options.text, mlir.make_ir_context(), split=options.checkpoints is not None)
        size = self.program.devices
        if size % options.processes:
            raise Failure(f"--processes: the mesh ({self.program.mesh_text()}) has {size} devices, no multiple of "
                          f"{options.processes}",
                          f"Start a number of processes that divides {size}, or print the program for another mesh.")
        if options.devices is None:
            options.devices = size // options.processes
        if options.devices * options.processes != size:
            raise Failure(f"--devices: {options.processes} processes of {options.devices} devices are not the {size} of the mesh "
                          f"({self.program.mesh_text()})", f"Leave it out, or give {size // options.processes}.")
        if options.checkpoints is not None and not self.program.loops():
            raise Failure("--checkpoints: the program has no loop in @main outside of other loops and branches", "Leave it out.")
        for option, folder in (("--outputs", options.outputs), ("--checkpoints", options.checkpoints)):
            if folder is not None:
                make_folder(option, folder)
        self.arrays = self._open_inputs()

    def _open_inputs(self):
        if not self.program.arguments:
            return []
        if self.options.inputs is None:
            raise Failure(f"--inputs is missing: the program has {len(self.program.arguments)} parameters",
                          "Give an .npz with arg0, arg1, ..., or a folder of arg0.npy, arg1.npy, ...")
        inputs = Inputs(self.options.inputs)
        return [inputs.array(number, self.program.types[key]) for number, key in enumerate(self.program.arguments)]

    def say(self, text):
        if self.options.rank == 0 or self.options.verbose:
            say(text if self.options.rank == 0 else f"process {self.options.rank}: {text}")

    def sharding(self, array_type):
        return NamedSharding(self.mesh, PartitionSpec(*(axes or None for axes in array_type.spec)))

    def _read(self, name):
        """The parts of a parameter that the devices here need."""
        array, array_type = self.arrays[name[1]], self.program.types[name]
        self.digest.update(repr((name, array_type)).encode())
        parts = {}

        def part(index):
            box = box_of(index, array.shape)
            if box not in parts:
                parts[box] = numpy.ascontiguousarray(array[index]).reshape([b - a for a, b in zip(*box)])
                if self.options.checkpoints is not None:
                    self.digest.update(repr(box).encode())
                    self.digest.update(bytes_of(parts[box]))
            return parts[box]

        return jax.make_array_from_callback(array.shape, self.sharding(array_type), part, dtype=array.dtype)

    def work(self, cluster):
        cluster.agree({"program": self.program.hash[:12], "number of processes": self.options.processes,
                       "version of JAX": jax.__version__, "--every": self.options.every if self.options.checkpoints else 0,
                       "--outputs (given or not)": self.options.outputs is not None,
                       "--checkpoints (given or not)": self.options.checkpoints is not None})
        self.devices = cluster.devices(self.options.devices)
        axes = self.program.axes
        self.mesh = Mesh(numpy.array(self.devices).reshape(tuple(axes.values())), tuple(axes))
        self.digest = hashlib.sha256()
        self.values = {name: self._read(name) for name in self.program.arguments}
        place = self._agreed_place(cluster)
        self.pieces = [Piece(self, section) for section in self.program.sections]
        run = cluster.exchange(secrets.token_hex(8))[0]  # all have compiled
        outputs = self._go(cluster, place)
        if self.options.outputs is not None:
            results.write(self.options.outputs, cluster, run, self.program.result_types, outputs)
        cluster.exchange("written")

    def _agreed_place(self, cluster):
        """The newest checkpoint that all processes have."""
        if self.options.checkpoints is None:
            return None
        identity = {"program": self.program.hash, "mesh": self.program.mesh_text(), "processes": self.options.processes,
                    "inputs": self.digest.hexdigest(), "jax": jax.__version__}
        self.checkpoints = Checkpoints(self.options.checkpoints, self.options.rank, identity)
        found = [set(map(tuple, places)) for places in cluster.exchange(self.checkpoints.found())]
        place = max(set.intersection(*found), default=None)
        self.checkpoints.remove_after(place)
        if place is not None:
            self.say(f"goes on from the checkpoint of trip {place[1]} of loop {place[0]}")
            self.status(loop=place[0], checkpoint=place[1])
        return place

    def _go(self, cluster, place):
        """Runs the sections from a checkpoint. What the first section computes is computed again."""
        carries = {name for section in self.program.loops() for name in section.outputs}
        self.saved_never = {*self.program.arguments, *self.program.sections[0].outputs} - carries
        loop = 0
        for number, piece in enumerate(self.pieces):
            section = piece.section
            loop += section.is_loop
            if place is not None and number > 0 and loop < place[0]:
                continue
            if section.is_loop:
                self._trips(cluster, piece, loop, number, place)
                place = None
            else:
                outputs = piece([self.values[name] for name in section.inputs])
                if number == len(self.pieces) - 1:
                    return outputs
                self.values.update(zip(section.outputs, outputs))
            if place is None:
                later = {name for other in self.program.sections[number + 1:] for name in other.inputs}
                self.values = {name: array for name, array in self.values.items() if name in later}

    def _trips(self, cluster, piece, loop, number, place):
        carry, every = piece.section.outputs, self.options.every
        trips = 0
        if place is not None:
            trips = place[1]
            for name, read in self.checkpoints.load(place, self.program.types).items():
                array_type = self.program.types[name]
                self.values[name] = jax.make_array_from_callback(
                    array_type.shape, self.sharding(array_type), lambda index: read(box_of(index, array_type.shape)))
        captured = piece.section.inputs[len(carry):]
        limit_type = piece.inputs[0]
        limit = jax.make_array_from_callback((), self.sharding(limit_type), lambda index: numpy.array(every, numpy.int32))
        later = {name for other in self.program.sections[number:] for name in other.inputs}
        while True:
            start = time.monotonic()
            *state, made = piece([limit, *(self.values[name] for name in [*carry, *captured])])
            self.values.update(zip(carry, state))
            made = int(numpy.asarray(made.addressable_shards[0].data))
            seconds = time.monotonic() - start
            trips += made
            self.status(loop=loop, trip=trips)
            if made:
                self.say(f"loop {loop}: {trips} trips, {1000 * seconds / made:.3g} ms each")
            if made < every:
                return
            kept = {name: array for name, array in self.values.items() if name in later and name not in self.saved_never}
            self.checkpoints.save((loop, trips), kept)
            cluster.exchange(trips)  # before the older ones go
            self.checkpoints.remove_old()
            self.status(loop=loop, checkpoint=trips)


def work(options, status):
    """The exit status."""
    run = Run(options, status)
    cluster = Cluster(options)
    status(connected=True)
    try:
        run.work(cluster)
    except Failure as failure:
        cluster.leave(failure)
        raise
    except Exception as error:
        failure = cluster.explain(error)
        cluster.leave(failure)
        raise failure from error
    cluster.close()
    if options.outputs is not None and options.rank == 0:
        say(f"done; rondo hosts --join={options.outputs} --output=R.npz puts the parts together")
