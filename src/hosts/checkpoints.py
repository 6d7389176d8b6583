"""Parts of a loop's carry on disk.

A checkpoint is a folder loop1-trip50 with one file of each process, rank0.npz: an index in JSON, and the bytes of the
parts. It counts if all processes have their files, so each may have a disk of its own.
"""
import glob
import json
import os
import re
import zipfile
import zlib

import numpy

from arrays import bytes_of, dtype_of, parts_of, put_in_place
from messages import Failure, say

KEPT = 2  # the newest may be unreadable
FOLDER = re.compile(r"loop(\d+)-trip(\d+)")
WHAT = {"program": "another program", "mesh": "another mesh", "processes": "another number of processes",
        "inputs": "other inputs", "jax": "another version of JAX"}


class Checkpoints:
    def __init__(self, folder, rank, identity):
        """`identity` says what the run is of, by the keys of WHAT."""
        self.folder, self.rank, self.identity = folder, rank, identity

    def _folder(self, place):
        return os.path.join(self.folder, "loop{}-trip{}".format(*place))

    def _file(self, place):
        return os.path.join(self._folder(place), f"rank{self.rank}.npz")

    def _places(self):
        places = [tuple(map(int, match.groups())) for match in map(FOLDER.fullmatch, os.listdir(self.folder)) if match]
        return sorted(place for place in places if os.path.exists(self._file(place)))

    def found(self):
        """The places of which this process has a readable file of this run."""
        return [place for place in self._places() if self._read(place) is not None]

    def _read(self, place):
        path = self._file(place)
        try:
            with numpy.load(path, allow_pickle=False) as archive:
                content = {name: archive[name] for name in archive.files}  # the archive has checksums
            index = json.loads(content["index"].tobytes())
        except (OSError, ValueError, EOFError, KeyError, zipfile.BadZipFile, zlib.error) as error:
            say(f"{path} is damaged and passed over: {error}")
            return None
        for key, text in WHAT.items():
            if index["identity"][key] != self.identity[key]:
                raise Failure(f"--checkpoints: {path} is of {text}", "Give another folder, or remove this one to begin anew.")
        return index, content

    def save(self, place, values):
        """`values` are jax.Arrays by name."""
        index, content = {"identity": self.identity, "values": []}, {}
        for name, array in values.items():
            parts = []
            for (start, stop), part in parts_of(array).items():
                parts.append({"start": start, "stop": stop, "bytes": f"part{len(content)}"})
                content[parts[-1]["bytes"]] = bytes_of(part)
            index["values"].append({"name": name, "parts": parts})
        content["index"] = numpy.frombuffer(json.dumps(index).encode(), numpy.uint8)
        try:
            os.makedirs(self._folder(place), exist_ok=True)
            put_in_place(self._file(place), lambda file: numpy.savez(file, **content))
        except OSError as error:
            raise Failure(f"--checkpoints: {self._file(place)}: {error.strerror}",
                          "Free some space, or give another folder; the checkpoint before it is still there.", status=1) from None

    def load(self, place, types):
        """For each name a function from the bounds of a part to its elements."""
        index, content = self._read(place)
        parts = {tuple(value["name"]): {(tuple(p["start"]), tuple(p["stop"])): p["bytes"] for p in value["parts"]}
                 for value in index["values"]}

        def reader(name):
            def read(box):
                shape = [stop - start for start, stop in zip(*box)]
                return numpy.frombuffer(content[parts[name][box]].tobytes(), dtype_of(types[name].dtype)).reshape(shape)
            return read

        return {name: reader(name) for name in parts}

    def remove_old(self):
        """To be called when all processes have their newest file."""
        for place in self._places()[:-KEPT]:
            os.unlink(self._file(place))
            self._remove_if_empty(self._folder(place))

    def remove_after(self, place):
        """What was written after the place from which a run goes on, and of which not all processes have their file;
        and what a process that was killed left half written."""
        for other in self._places():
            if place is None or other > place:
                os.unlink(self._file(other))
        for name in os.listdir(self.folder):
            if FOLDER.fullmatch(name):
                folder = os.path.join(self.folder, name)
                for file in glob.glob(os.path.join(glob.escape(folder), f".rank{self.rank}.npz.*")):
                    os.unlink(file)
                self._remove_if_empty(folder)

    def _remove_if_empty(self, folder):
        try:
            os.rmdir(folder)
        except OSError:
            pass  # another process's file is there still
