"""Writes the results as each process holds them, and joins what all have written.

rank1.json in the folder says which part of which result each of its files out0.rank1.part0.npy, ... holds.
"""
import json
import math
import os

import numpy

from arrays import dtype_of, parts_of, put_in_place, storage_of
from messages import Failure


def _index(rank):
    return f"rank{rank}.json"


def write(folder, cluster, run, types, arrays):
    rank, processes = cluster.rank, cluster.processes
    index_path = os.path.join(folder, _index(rank))
    if os.path.exists(index_path):  # what it says is not so any more
        os.unlink(index_path)
    results = []
    for number, (array_type, array) in enumerate(zip(types, arrays)):
        parts = []
        for (start, stop), part in parts_of(array, whole_mesh=True).items():
            name = f"out{number}.rank{rank}.part{len(parts)}.npy"
            stored = numpy.ascontiguousarray(part).reshape(part.shape).view(storage_of(part.dtype))
            put_in_place(os.path.join(folder, name), lambda file: numpy.save(file, stored))
            parts.append({"file": name, "start": start, "stop": stop})
        results.append({"shape": array_type.shape, "dtype": array_type.dtype, "parts": parts})
    text = json.dumps({"rank": rank, "processes": processes, "run": run, "results": results}, indent=1)
    put_in_place(index_path, lambda file: file.write(text.encode()))


def join(folder, output):
    indices = {}
    if not os.path.isdir(folder):
        raise Failure(f"--join: {folder} is no folder", "Give the folder that was --outputs of the processes.")
    for name in os.listdir(folder):
        if name.startswith("rank") and name.endswith(".json"):
            try:
                with open(os.path.join(folder, name), encoding="utf-8") as file:
                    index = json.load(file)
                indices[index["rank"]] = index
            except (OSError, ValueError, KeyError) as error:
                raise Failure(f"--join: {folder}/{name} cannot be read: {error}",
                              "Copy the files of that process again.") from None
    if not indices:
        raise Failure(f"--join: {folder} has no rank0.json", "Give the folder that was --outputs of the processes.")
    processes = max(index["processes"] for index in indices.values())
    missing = [rank for rank in range(processes) if rank not in indices]
    if missing:
        raise Failure(f"--join: {folder} has no {_index(missing[0])}: the parts of {len(missing)} of {processes} processes "
                      "are missing",
                      "Copy the files of all processes into one folder.")
    if len({index["run"] for index in indices.values()}) > 1 or len(indices) != processes:
        raise Failure(f"--join: the files in {folder} are of several runs",
                      "Copy the files of one run into a folder of their own.")
    arrays = {}
    for number, result in enumerate(indices[0]["results"]):
        array = numpy.empty(result["shape"], storage_of(dtype_of(result["dtype"])))
        filled = 0
        for index in indices.values():
            for part in index["results"][number]["parts"]:
                filled += _fill(array, part, folder)
        if filled != math.prod(result["shape"]):
            raise Failure(f"--join: {filled} of the {math.prod(result['shape'])} elements of out{number} are in {folder}",
                          "Run the program again into an empty folder.")
        arrays[f"out{number}"] = array
    os.makedirs(os.path.dirname(output) or ".", exist_ok=True)
    put_in_place(output, lambda file: numpy.savez(file, **arrays))


def _fill(array, part, folder):
    """The number of elements that the file of a part adds."""
    path = os.path.join(folder, os.path.basename(part["file"]))
    try:
        loaded = numpy.load(path, allow_pickle=False)
    except (OSError, ValueError, EOFError) as error:
        raise Failure(f"--join: {path} cannot be read: {error}", "Copy it again from the process that wrote it.") from None
    shape = tuple(stop - start for start, stop in zip(part["start"], part["stop"]))
    if loaded.shape != shape or loaded.dtype.itemsize != array.dtype.itemsize:
        raise Failure(f"--join: {path} holds {loaded.dtype}{list(loaded.shape)}, not a part of shape {list(shape)}",
                      "Copy it again from the process that wrote it.")
    array[tuple(slice(start, stop) for start, stop in zip(part["start"], part["stop"]))] = loaded.view(array.dtype)
    return loaded.size
