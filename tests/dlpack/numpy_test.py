#!/usr/bin/env python3
"""Hands arrays to and from NumPy, and PyTorch where there is one, by DLPack. Usage: numpy_test.py MODULE

MODULE is tests/dlpack/module.cc as a shared library.
"""
import ctypes
import gc
import sys
import unittest
import weakref

import numpy

try:
    import torch
except ImportError:
    torch = None

library = None
python = ctypes.pythonapi
python.PyCapsule_GetPointer.restype = ctypes.c_void_p
python.PyCapsule_GetPointer.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_IsValid.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_SetName.argtypes = [ctypes.py_object, ctypes.c_char_p]
python.PyCapsule_New.restype = ctypes.py_object
python.PyCapsule_New.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_void_p]
NAME, VERSIONED = b"dltensor", b"dltensor_versioned"  # the second is that of the struct of DLPack 1
USED = {NAME: b"used_dltensor", VERSIONED: b"used_dltensor_versioned"}  # a capsule does not copy its name
BITS_OFFSET = 21  # of dtype.bits in a DLTensor


def load(path):
    module = ctypes.CDLL(path)
    module.rondo_take.argtypes = [ctypes.c_void_p, ctypes.c_char_p, ctypes.c_size_t]
    module.rondo_take_versioned.argtypes = module.rondo_take.argtypes
    module.rondo_text.argtypes = [ctypes.c_int, ctypes.c_char_p, ctypes.c_size_t]
    module.rondo_address.restype = ctypes.c_void_p
    module.rondo_give.restype = ctypes.c_void_p
    module.rondo_give_versioned.restype = ctypes.c_void_p
    return module


class Literal:
    """A literal of the module, from any object with __dlpack__, and with one itself."""

    def __init__(self, array, bits=None, major=None, **options):
        """`options` are those of __dlpack__. `bits` and `major` are written to the struct: NumPy itself refuses what it
        cannot describe."""
        self.number = -1
        capsule = array.__dlpack__(**options)
        versioned = python.PyCapsule_IsValid(capsule, VERSIONED)
        name, take = (VERSIONED, library.rondo_take_versioned) if versioned else (NAME, library.rondo_take)
        pointer = python.PyCapsule_GetPointer(capsule, name)
        if bits:
            ctypes.c_uint8.from_address(pointer + BITS_OFFSET).value = bits
        if major:
            ctypes.c_uint32.from_address(pointer).value = major
        error = ctypes.create_string_buffer(1000)
        self.number = take(pointer, error, len(error))
        python.PyCapsule_SetName(capsule, USED[name])  # refused arrays are released too
        if self.number < 0:
            raise ValueError(error.value.decode())

    def __del__(self):
        if self.number >= 0:
            library.rondo_forget(self.number)

    def __str__(self):
        text = ctypes.create_string_buffer(1000)
        library.rondo_text(self.number, text, len(text))
        return text.value.decode()

    def address(self):
        return library.rondo_address(self.number)

    versions = (0, 1)  # the major versions that __dlpack__ has

    def __dlpack__(self, max_version=None, **_):
        if min(max(self.versions), max_version[0] if max_version else 0) < 1:
            return python.PyCapsule_New(library.rondo_give(self.number), NAME, None)
        return python.PyCapsule_New(library.rondo_give_versioned(self.number), VERSIONED, None)

    def __dlpack_device__(self):
        return 1, 0


VERSIONS = ({}, {"max_version": (1, 0)}) if tuple(map(int, numpy.__version__.split(".")[:2])) >= (2, 1) else ({},)


class FromNumPy(unittest.TestCase):
    def test_a_dense_array_is_shared(self):
        array = numpy.arange(6, dtype=numpy.float32).reshape(2, 3)
        for version in VERSIONS:
            literal = Literal(array, **version)
            self.assertEqual(str(literal), "f32[2,3] {{0, 1, 2}, {3, 4, 5}}")
            self.assertEqual(literal.address(), array.ctypes.data)

    @unittest.skipIf(len(VERSIONS) < 2, "NumPy before 2.1 has no versioned struct")
    def test_a_read_only_array_is_shared_and_released(self):
        array = numpy.arange(3, dtype=numpy.float32)
        array.flags.writeable = False
        watched = weakref.ref(array)
        literal = Literal(array, max_version=(1, 0))
        self.assertEqual(literal.address(), array.ctypes.data)
        library.rondo_change(literal.number)
        self.assertEqual(str(literal), "f32[3] {1, 1, 2}")
        self.assertEqual(array[0], 0)
        del array, literal
        gc.collect()
        self.assertIsNone(watched())

    @unittest.skipIf(len(VERSIONS) < 2, "NumPy before 2.1 has no versioned struct")
    def test_another_major_version_is_refused_and_released(self):
        array = numpy.zeros(2)
        watched = weakref.ref(array)
        with self.assertRaisesRegex(ValueError, r"DLPack 2\."):
            Literal(array, major=2, max_version=(1, 0))
        del array
        gc.collect()
        self.assertIsNone(watched())

    def test_the_array_lives_as_long_as_the_literal(self):
        array = numpy.arange(100, dtype=numpy.float64)
        watched = weakref.ref(array)
        literal = Literal(array)
        del array
        gc.collect()
        self.assertIsNotNone(watched())
        del literal
        gc.collect()
        self.assertIsNone(watched())

    def test_a_write_does_not_reach_the_array(self):
        array = numpy.zeros(3, dtype=numpy.float32)
        literal = Literal(array)
        library.rondo_change(literal.number)
        self.assertEqual(str(literal), "f32[3] {1, 0, 0}")
        self.assertEqual(array[0], 0)

    def test_strides_of_all_kinds_are_copied(self):
        array = numpy.arange(24, dtype=numpy.int32).reshape(2, 3, 4)
        views = [array.T, array[:, ::-1], array[1], array[:, 1, 1:3], array[::-1, :, ::2],
                 numpy.lib.stride_tricks.as_strided(array, (2, 4), (0, 4))]
        for view in views:
            literal = Literal(view)
            numpy.testing.assert_array_equal(numpy.from_dlpack(literal), view)
        self.assertEqual(Literal(array[1]).address(), array[1].ctypes.data)  # dense, at an offset

    def test_each_dtype_has_its_own(self):
        names = {"int8": "s8", "int16": "s16", "int32": "s32", "int64": "s64", "uint8": "u8", "uint16": "u16", "uint32": "u32",
                 "uint64": "u64", "float16": "f16", "float32": "f32", "float64": "f64", "complex64": "c64", "complex128": "c128",
                 "bool": "pred"}
        for numpy_name, name in names.items():
            array = numpy.array([0, 1, 1], dtype=numpy_name)
            literal = Literal(array)
            self.assertTrue(str(literal).startswith(name + "[3]"), str(literal))
            again = numpy.from_dlpack(literal)
            self.assertEqual(again.dtype, array.dtype)
            numpy.testing.assert_array_equal(again, array)

    def test_scalars_and_empty_arrays(self):
        self.assertEqual(str(Literal(numpy.array(2.5))), "f64[] 2.5")
        self.assertEqual(str(Literal(numpy.zeros((2, 0), dtype=numpy.int8))), "s8[2,0] {{}, {}}")

    def test_what_has_no_dtype_is_refused_and_released(self):
        array = numpy.zeros(2, dtype=numpy.float64)
        watched = weakref.ref(array)
        with self.assertRaisesRegex(ValueError, "float of 128 bits"):
            Literal(array, bits=128)
        del array
        gc.collect()
        self.assertIsNone(watched())


class ToNumPy(unittest.TestCase):
    def test_the_storage_is_shared_and_read_only(self):
        literal = Literal(numpy.arange(4, dtype=numpy.float32)[::-1])  # copied: the module's own memory
        for versions in (0,), (0, 1):
            literal.versions = versions
            array = numpy.from_dlpack(literal)
            self.assertEqual(array.ctypes.data, literal.address())
            self.assertFalse(array.flags.writeable)
            numpy.testing.assert_array_equal(array, [3, 2, 1, 0])

    def test_the_array_outlives_the_literal(self):
        literal = Literal(numpy.arange(1000, dtype=numpy.float64)[::-1])
        array = numpy.from_dlpack(literal)
        del literal
        gc.collect()
        numpy.testing.assert_array_equal(array, numpy.arange(1000)[::-1])

    def test_a_later_write_to_the_literal_does_not_change_the_array(self):
        literal = Literal(numpy.zeros(3, dtype=numpy.float32)[::-1])
        array = numpy.from_dlpack(literal)
        library.rondo_change(literal.number)
        self.assertEqual(array[0], 0)


@unittest.skipIf(torch is None, "no PyTorch")
class WithPyTorch(unittest.TestCase):
    def test_there_and_back(self):
        tensor = torch.arange(6, dtype=torch.float32).reshape(2, 3)
        literal = Literal(tensor)
        self.assertEqual(literal.address(), tensor.data_ptr())
        self.assertEqual(str(Literal(tensor.T)), "f32[3,2] {{0, 3}, {1, 4}, {2, 5}}")
        for versions in (0,), (0, 1):
            literal.versions = versions
            again = torch.from_dlpack(literal)
            self.assertEqual(again.data_ptr(), tensor.data_ptr())
            self.assertTrue(torch.equal(again, tensor))

    def test_bfloat16(self):
        tensor = torch.tensor([1.5, -2], dtype=torch.bfloat16)
        literal = Literal(tensor)
        self.assertEqual(str(literal), "bf16[2] {1.5, -2}")
        self.assertTrue(torch.equal(torch.from_dlpack(literal), tensor))


if __name__ == "__main__":
    library = load(sys.argv.pop(1))
    unittest.main()
