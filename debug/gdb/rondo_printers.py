"""Printers for gdb of Rondo's types. They read memory, and call no function of the program.

A printer that raises makes gdb show a Python error in place of the value, and of those around it, so
these show `<uninitialized>` for whatever does not look like an object of theirs.
"""
import functools
import re

import gdb
import gdb.printing
import rondo_objects as objects
from rondo_elements import DTYPES, element_text, shown

LONG_LIST = 20  # parameters, results, sizes or keys: longer ones are cut in the middle


def element_limit():
    """How many elements of an array gdb's user wants to see; None for all."""
    return gdb.parameter("print elements")


def describe_dtype(value):
    dtype = int(value)
    return DTYPES[dtype] if dtype < len(DTYPES) else f"<invalid dtype {dtype}>"


def describe_number(dtype, value):
    """A float16, bfloat16 or SmallNumber."""
    bits = int(value["bits"])
    return element_text(dtype, bits.to_bytes(2 if dtype.endswith("f16") else 1, "little"))


def describe_small_number(value):
    return describe_number(DTYPES[int(value.type.strip_typedefs().template_argument(0))], value)


def describe_shape(value):
    return objects.shape_text(objects.dims_of(*objects.members(value, (0, "Q", "block_"))))


def describe_type(value):
    members = objects.members(value, (0, "B", "dtype"), (8, "Q", "shape.block_"))
    return objects.type_text(objects.type_of(*members))


def describe_location(value):
    text = objects.location_text(*objects.members(value, (0, "Q", "file"), (16, "I", "line")))
    objects.require("\ufffd" not in text)  # for bytes that are no text
    return text


def describe_literal(value):
    members = objects.members(value, (0, "B", "type_.dtype"), (8, "Q", "type_.shape.block_"), (16, "Q", "storage_"))
    return objects.literal_text(objects.literal_of(*members), element_limit())


def origin_text(node, result):
    """`add at house.cc:12`"""
    text = f"{node.op} {objects.name_of_parameter(node)}".rstrip()
    if len(node.types) > 1:
        text = f"result {result} of {text}"
    return text if node.location == "?" else f"{text} at {node.location}"


def describe_tensor(value):
    """Type, elements where they are known, and the op: `f32[3,4] = add at house.cc:12`."""
    tensor = objects.tensor_of(*objects.members(value, (0, "Q", "held_"), (8, "I", "result_")))
    if tensor is None:
        return "(empty tensor)"
    has_value = tensor.value is not None
    text = objects.literal_text(tensor.value, element_limit()) if has_value else objects.type_text(tensor.type)
    if tensor.node is None:
        return text
    text += " = " + origin_text(tensor.node, tensor.result)
    if tensor.node.cell and not has_value:
        text += ", on a device" if objects.is_on_device(tensor.node) else ", not evaluated"
    return text


def describe_node(value):
    """`%17 = add: f32[3,4] at house.cc:12`"""
    node = objects.node_at(int(value.address))
    types = ", ".join(objects.type_text(objects.type_at(at)) for at in node.types)
    text = f"%{node.id} = {node.op} {objects.name_of_parameter(node)}".rstrip() + f": {types}"
    return text if node.location == "?" else f"{text} at {node.location}"


def list_text(addresses, text_of):
    """The items at these addresses, by `text_of(index, address)`."""
    indices = shown(len(addresses), len(addresses) > LONG_LIST)
    return ", ".join("..." if i is None else text_of(i, addresses[i]) for i in indices)


def named_type_text(tensor, name):
    """`x: f32[3]`"""
    return f"{name}: " * bool(name) + objects.type_text(tensor.type)


def describe_function(value):
    """Name, parameters and results: `step(x: f32[3], n: s32[]) -> (f32[3]), 4 nodes`."""
    data, = objects.members(value, (0, "Q", "data_._M_ptr"))
    if data == 0:
        return "(empty function)"
    function = objects.function_at(data)

    def param_text(_, address):
        tensor = objects.tensor_at(address)
        return named_type_text(tensor, objects.name_of_parameter(tensor.node))

    def result_text(i, address):
        names = function.result_names
        return named_type_text(objects.tensor_at(address), objects.string(names[i]) if names else "")

    params, results = list_text(function.params, param_text), list_text(function.results, result_text)
    nodes = len(function.body)
    return f"{function.name}({params}) -> ({results}), {nodes} node{'s' * (nodes != 1)}"


def describe_structure(value):
    """The C++ type of a tree, with the sizes and keys that its vectors and maps have."""
    address = int(value.address)
    tree_type = objects.number(address)
    if tree_type == 0:
        return "(structure of no tree)"
    name = objects.c_string(objects.number(objects.number(tree_type) + 8)).lstrip("*")
    objects.require(re.fullmatch(r"[A-Za-z0-9_.$]+", name))  # of what becomes a command
    demangled = gdb.execute(f"demangle -- _ZTI{name}", to_string=True).strip()
    text = "tree " + demangled.replace("typeinfo for ", "", 1)
    sizes = list_text(objects.vector(address + 8, 8), lambda _, at: str(objects.number(at)))
    keys = list_text(objects.vector(address + 32, 32), lambda _, at: f'"{objects.string(at)}"')
    return text + f", sizes {{{sizes}}}" * bool(sizes) + f", keys {{{keys}}}" * bool(keys)


def in_host_charset(text):
    """With escapes for what gdb's terminal cannot show, of which gdb itself would make an error."""
    charset = gdb.host_charset() if hasattr(gdb, "host_charset") else "ascii"
    return text.encode(charset, "backslashreplace").decode(charset)


class TextPrinter:
    """Shows an object as the text that `describe` gives."""

    def __init__(self, describe, value):
        self.describe = describe
        self.value = value

    def to_string(self):
        try:
            value = self.value
            if value.type.strip_typedefs().code in (gdb.TYPE_CODE_REF, gdb.TYPE_CODE_RVALUE_REF):
                value = value.referenced_value()
            return "<optimized out>" if value.is_optimized_out else in_host_charset(self.describe(value))
        except Exception:  # whatever it is, gdb's user has asked about a value (see above)
            return "<uninitialized>"


PRINTERS = {
    "DType": describe_dtype,
    "float16": functools.partial(describe_number, "f16"),
    "bfloat16": functools.partial(describe_number, "bf16"),
    "SmallNumber<.*>": describe_small_number,
    "Shape": describe_shape,
    "TensorType": describe_type,
    "SourceLocation": describe_location,
    "Literal": describe_literal,
    "Tensor": describe_tensor,
    "ir::Node": describe_node,
    "Function": describe_function,
    "TreeStructure": describe_structure,
}


def register(objfile):
    """Registers the printers with what gdb has loaded them for, or with gdb itself."""
    collection = gdb.printing.RegexpCollectionPrettyPrinter("rondo")
    for name, describe in PRINTERS.items():
        collection.add_printer(name, f"^rondo::{name}$", functools.partial(TextPrinter, describe))
    gdb.printing.register_pretty_printer(objfile, collection, replace=True)
