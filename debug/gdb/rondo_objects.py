"""Reads Rondo's objects from the memory of a program.

A library as it is released has no debug information, so objects are read at fixed offsets;
src/ir/debuggers.h checks that they are there. Whatever does not look like the object that is
expected raises Implausible, as an object does that is not constructed yet.
"""
import collections
import math
import re
import struct

import gdb
from rondo_elements import DTYPES, ArrayText, element_bytes, elements_text

ELEMENTS_OFFSET = 40  # of the pointer to them in the storage of a literal
VALUE_OFFSET = 32  # in the attributes of a node
IS_VALUE = 1  # in the word that a tensor holds: a value, and no node
CONSTANT, PARAMETER = 2, 1  # ir::OpKind
GREATEST_RANK = 64
LONGEST_TEXT = 4096
MOST_ITEMS = 1 << 20

Type = collections.namedtuple("Type", "dtype dims")
Literal = collections.namedtuple("Literal", "type storage")
Node = collections.namedtuple("Node", "op kind id cell attributes types location")  # types: addresses
Tensor = collections.namedtuple("Tensor", "type value node result")
Function = collections.namedtuple("Function", "name params body results result_names")  # lists: addresses


class Implausible(Exception):
    """There is no such object at this place."""


def require(condition):
    if not condition:
        raise Implausible


def read(address, size):
    try:
        return bytes(gdb.selected_inferior().read_memory(address, size))
    except (gdb.error, OverflowError):
        raise Implausible from None


def number(address, form="Q"):
    return struct.unpack("<" + form, read(address, struct.calcsize(form)))[0]


def members(value, *layout):
    """The numbers and pointers that an object begins with, each given as offset, format and path in debug information.

    Read from memory where the object is in memory, since a program may lack the definition of its type. Else it is a
    copy that gdb has, of a type that gdb knows.
    """
    if value.address is not None:
        return [number(int(value.address) + offset, form) for offset, form, _ in layout]
    found = []
    for _, _, path in layout:
        member = value
        for name in path.split("."):
            member = member[name]
        found.append(int(member))
    return found


def text(address, size):
    require(size <= LONGEST_TEXT)
    try:
        return read(address, size).decode()
    except UnicodeDecodeError:
        raise Implausible from None


def string(address):
    """A std::string, which has memory even if it is empty."""
    data = number(address)
    require(data != 0)
    return text(data, number(address + 8))


def c_string(address):
    found = b""
    while b"\0" not in found:
        require(len(found) < LONGEST_TEXT)
        here = address + len(found)
        found += read(here, 64 - here % 64)  # what is on the next page may not exist
    return found[:found.index(b"\0")].decode(errors="replace")


def vector(address, size):
    """The addresses of the elements of a std::vector."""
    first, last = number(address), number(address + 8)
    require(first <= last and (last - first) % size == 0 and (last - first) // size < MOST_ITEMS)
    return range(first, last, size)


def location_text(file, line):
    """As SourceLocation::str: `house.cc:12`."""
    path = c_string(file) if file else ""
    return re.split(r"[/\\]", path)[-1] + f":{line}" if path and line else "?"


def dims_of(block):
    """The dimensions in the block of a Shape, which is null for rank 0."""
    if block == 0:
        return ()
    references, rank, elements = struct.unpack("<IIq", read(block, 16))
    require(references > 0 and 0 < rank <= GREATEST_RANK)
    dims = struct.unpack(f"<{rank}q", read(block + 16, 8 * rank))
    require(min(dims) >= 0 and math.prod(dims) == elements)
    return dims


def type_of(dtype, block):
    require(dtype < len(DTYPES))
    return Type(DTYPES[dtype], dims_of(block))


def type_at(address):
    return type_of(number(address, "B"), number(address + 8))


def literal_at(address):
    return Literal(type_at(address), number(address + 16))


def literal_of(dtype, block, storage):
    return Literal(type_of(dtype, block), storage)


def node_at(address):
    record = number(address + 8)
    cell = number(address + 64)
    if cell:
        record = number(cell)  # of the op that computes the value
    op = text(number(record + 8), number(record))
    require(re.fullmatch(r"[\w.\-]+", op))
    count = number(address + 88)
    require(count < MOST_ITEMS)
    first = address + 96 if count <= 1 else number(address + 96)
    location = location_text(number(address + 112), number(address + 4, "I") & 0x7FFFFFFF)
    return Node(op, number(record + 37, "B"), number(address + 16), cell, number(address + 72),
                range(first, first + 16 * count, 16), location)


def value_of_node(node, result):
    """The literal of a constant or of a lazy tensor that was evaluated; else None."""
    if node.kind == CONSTANT and node.attributes:
        return literal_at(node.attributes + VALUE_OFFSET)
    values = number(node.cell + 32) if node.cell else 0
    if values == 0:
        return None
    # An absl::InlinedVector: twice the size, and one more if its elements are elsewhere.
    size, is_elsewhere = divmod(number(values), 2)
    require(result < size)
    return literal_at((number(values + 8) if is_elsewhere else values + 8) + 24 * result)


def is_on_device(node):
    """Whether the value of a lazy tensor is on a device, or on those of a mesh."""
    return node.cell != 0 and (number(node.cell + 8) != 0 or number(node.cell + 24) != 0)


def name_of_parameter(node):
    return string(node.attributes + VALUE_OFFSET + 24) if node.kind == PARAMETER and node.attributes else ""


def tensor_of(held, result):
    """The tensor of the words of a handle; None if it is empty."""
    if held == 0:
        return None
    if held & IS_VALUE:
        value = literal_at(held - IS_VALUE + 16)
        return Tensor(value.type, value, None, result)
    node = node_at(held)
    require(result < len(node.types))
    return Tensor(type_at(node.types[result]), value_of_node(node, result), node, result)


def tensor_at(address):
    return tensor_of(number(address), number(address + 8, "I"))


def function_at(data):
    return Function(string(data), vector(data + 32, 16), vector(data + 56, 8), vector(data + 80, 16),
                    vector(data + 104, 32))


def type_text(type_):
    return type_.dtype + shape_text(type_.dims)


def shape_text(dims):
    return "[" + ",".join(map(str, dims)) + "]"


def literal_text(literal, limit):
    """`f32[2] {1, 2.5}`, or a scalar `f32[] 1`."""
    name, (dtype, dims) = type_text(literal.type), literal.type
    if literal.storage == 0:
        # A default-constructed one has no storage and no elements either.
        return f"{name} {{}}" if math.prod(dims) == 0 else f"{name} (moved from)"
    size = element_bytes(dtype)

    def elements(first, count):
        data = read(number(literal.storage + ELEMENTS_OFFSET) + first * size, count * size)
        return elements_text(dtype, data)

    return f"{name} {ArrayText(dims, elements, limit).text()}"
