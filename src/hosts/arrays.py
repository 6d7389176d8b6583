"""Reads parts of the inputs and writes parts of results.

Inputs are named as the parameters are numbered: arg0, arg1, ... in an .npz, where numpy.savez's own names arr_0, arr_1,
... do as well, or arg0.npy, arg1.npy, ... in a folder.
"""
import errno
import os
import struct
import zipfile
import zlib

import ml_dtypes
import numpy

from messages import Failure, list_of

DTYPES = {"i1": "bool", "bf16": "bfloat16", "complex<f32>": "complex64", "complex<f64>": "complex128"}


def dtype_of(name):
    """The NumPy dtype of an MLIR element type."""
    if name not in DTYPES and name.startswith("f8"):  # f8E4M3FN
        return numpy.dtype(getattr(ml_dtypes, "float8_" + name[2:].lower()))
    if name not in DTYPES and name.startswith("f4"):
        return numpy.dtype(getattr(ml_dtypes, "float4_" + name[2:].lower()))
    kind, bits = name.rstrip("0123456789"), name.lstrip("abcdefghijklmnopqrstuvwxyz")
    name = DTYPES.get(name) or {"f": "float", "i": "int", "ui": "uint"}[kind] + bits
    return numpy.dtype(getattr(ml_dtypes, name, name))


def storage_of(dtype):
    """What an .npy file holds for a dtype that NumPy does not know: bf16 is V2, smaller types are bytes."""
    if dtype.kind != "V" and dtype.name in numpy.sctypeDict:
        return dtype
    if dtype.itemsize == 2:
        return numpy.dtype("V2")
    return numpy.dtype("int8" if dtype.name.startswith("int") else "uint8")


class Inputs:
    def __init__(self, path):
        self.path = path
        self.archive = None
        if os.path.isdir(path):
            self.names = {name[:-4] for name in os.listdir(path) if name.endswith(".npy")}
            return
        try:
            self.archive = zipfile.ZipFile(path)
        except OSError as error:
            raise Failure(f"--inputs: {path}: {error.strerror}", "Give an .npz, or a folder of arg0.npy, arg1.npy, ...") from None
        except zipfile.BadZipFile:
            raise Failure(f"--inputs: {path} is no .npz archive",
                          "Write it with numpy.savez, or give a folder of .npy files.") from None
        self.names = {name[:-4] for name in self.archive.namelist() if name.endswith(".npy")}

    def array(self, number, wanted):
        """Parameter `number`, whose type is `wanted`. Only what is read of it is loaded, unless it is compressed."""
        name = next((n for n in (f"arg{number}", f"arr_{number}") if n in self.names), None)
        if name is None:
            raise Failure(f"--inputs: {self.path} has no arg{number}; it has {list_of(sorted(self.names))}",
                          f"Parameter {number} of the program is {wanted}.")
        try:
            array = self._load(name + ".npy")
        except (OSError, ValueError, EOFError, zipfile.BadZipFile, zlib.error) as error:
            raise Failure(f"--inputs: {self.path}: {name} cannot be read: {error}",
                          "Write it again with numpy.save or numpy.savez.") from None
        dtype = dtype_of(wanted.dtype)
        same = array.dtype == dtype or array.dtype == storage_of(dtype) or array.dtype.str == f"|V{dtype.itemsize}"
        if array.shape != wanted.shape or not same:
            raise Failure(f"--inputs: {name} is {array.dtype}{list(array.shape)}; parameter {number} of the program is "
                          f"{dtype}{list(wanted.shape)}", f"Convert {name} before it is saved.")
        return array if array.dtype == dtype else array.view(dtype)

    def _load(self, member):
        if self.archive is None:
            return numpy.load(os.path.join(self.path, member), mmap_mode="r", allow_pickle=False)
        info = self.archive.getinfo(member)
        if info.compress_type != zipfile.ZIP_STORED or info.flag_bits & 1:
            with self.archive.open(info) as stream:
                return numpy.lib.format.read_array(stream, allow_pickle=False)
        with open(self.path, "rb") as file:
            file.seek(info.header_offset + 26)  # the lengths of the name and the extra field before the content
            file.seek(sum(struct.unpack("<HH", file.read(4))), os.SEEK_CUR)
            version = numpy.lib.format.read_magic(file)
            read = numpy.lib.format.read_array_header_1_0 if version == (1, 0) else numpy.lib.format.read_array_header_2_0
            shape, fortran, dtype = read(file)
            if dtype.hasobject:
                raise ValueError("it holds Python objects")
            if 0 in shape:
                return numpy.empty(shape, dtype)
            return numpy.memmap(self.path, dtype, "r", file.tell(), shape, "F" if fortran else "C")


def bytes_of(array):
    """Its elements as an array of bytes."""
    return numpy.ascontiguousarray(array).reshape(-1).view(numpy.uint8)


def box_of(index, shape):
    """The bounds of a part, from the slices that JAX names it by."""
    bounds = [part.indices(size) for part, size in zip(index, shape)]
    return tuple(b[0] for b in bounds), tuple(b[1] for b in bounds)


def parts_of(array, whole_mesh=False):
    """The parts of a jax.Array that this process holds, each once: (start, stop), elements. With whole_mesh only those
    that no process before it holds."""
    parts = {}
    for shard in array.addressable_shards:
        box = box_of(shard.index, array.shape)
        if box not in parts and not (whole_mesh and shard.replica_id):
            parts[box] = numpy.asarray(shard.data)
    return parts


def make_folder(option, path):
    try:
        os.makedirs(path, exist_ok=True)
        if not os.access(path, os.W_OK):
            raise PermissionError(errno.EACCES, os.strerror(errno.EACCES))
    except OSError as error:
        raise Failure(f"{option}: {path}: {error.strerror}", "Give a folder that can be written.") from None


def sync(path):
    """So that a renamed file is there after a loss of power."""
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)


def put_in_place(path, write):
    """Writes a file that is there as a whole or not at all."""
    folder, name = os.path.split(path)
    temporary = os.path.join(folder, f".{name}.{os.getpid()}")
    try:
        with open(temporary, "wb") as file:
            write(file)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
    except BaseException:
        if os.path.exists(temporary):
            os.unlink(temporary)
        raise
    sync(folder or ".")
