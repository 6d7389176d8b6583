"""Reads a StableHLO module for a mesh and says which values cross the cuts at its loops.

The cuts are at the top-level `stablehlo.while`s of @main. What lies between them are straight sections, so a program
is a sequence of sections, straight, loop, straight, ..., which hand one another the values that are used later.
"""
import dataclasses
import hashlib

from jaxlib.mlir import ir, passmanager
from jaxlib.mlir.dialects import sdy

from messages import Failure

ARGUMENT = -1  # in place of the number of the op in the key of an argument


@dataclasses.dataclass(frozen=True)
class ArrayType:
    shape: tuple
    dtype: str  # as MLIR writes it
    spec: tuple  # for each dimension the axes of the mesh that split it, the slowest first

    def __str__(self):
        return "x".join([*map(str, self.shape), self.dtype])


@dataclasses.dataclass
class Section:
    """Values are named by (number of the op, number of its result), arguments by (ARGUMENT, number). A loop's carry has the
    names of the loop's results from its beginning on: other shardings than where it comes from, and memory of its own."""
    first: int  # ops of @main, up to last
    last: int
    is_loop: bool = False
    inputs: list = dataclasses.field(default_factory=list)  # a loop: its carry, then what its regions read
    outputs: list = dataclasses.field(default_factory=list)  # names of what it computes; of the last section: none
    values: list = dataclasses.field(default_factory=list)  # what is given these names, or is a result
    constants: list = dataclasses.field(default_factory=list)


def is_main(op):
    return op.operation.name == "func.func" and ir.StringAttr(op.attributes["sym_name"]).value == "main"


def ops_of(block):
    return [op.operation for op in block.operations]


def regions_read(operation, block):
    """The values of the block that the regions of one of its ops read."""
    found = {}

    def visit(inner):
        if inner != operation:
            for operand in inner.operands:
                owner = operand.owner
                if (owner if isinstance(owner, ir.Block) else owner.operation.block) == block:
                    found[operand] = None
        return ir.WalkResult.ADVANCE

    operation.walk(visit, ir.WalkOrder.PRE_ORDER)
    return list(found)


class Program:
    def __init__(self, text, context, split):
        self.context = context
        self.text = text
        self.hash = hashlib.sha256(text.encode()).hexdigest()
        with context, ir.Location.unknown():
            module = self.parse()
            self.axes = self._mesh_of(module)
            main = self.main_of(module)
            block = main.body.blocks[0]
            operations = ops_of(block)
            self.key_of = {value: (ARGUMENT, i) for i, value in enumerate(block.arguments)}
            for number, op in enumerate(operations):
                self.key_of.update({value: (number, i) for i, value in enumerate(op.results)})
            self.constants = {(number, 0) for number, op in enumerate(operations) if op.name == "stablehlo.constant"}
            self.arguments = [(ARGUMENT, i) for i in range(len(block.arguments))]
            self.results = [self.key_of[value] for value in operations[-1].operands]
            self.sections = self._sections(operations, block, split)
            self.mlir_types = {key: value.type for value, key in self.key_of.items()}
            self._find_types(main)

    def parse(self):
        try:
            return ir.Module.parse(self.text)
        except ir.MLIRError as error:
            raise Failure(f"the program cannot be read: {' '.join(str(error).split())}",
                          "It must be StableHLO text as to_stablehlo_text prints it.") from None

    @property
    def devices(self):
        size = 1
        for extent in self.axes.values():
            size *= extent
        return size

    def mesh_text(self):
        return ", ".join(f"{name}={size}" for name, size in self.axes.items())

    def loops(self):
        return [section for section in self.sections if section.is_loop]

    def main_of(self, module):
        for op in module.body.operations:
            if is_main(op) and len(op.body.blocks) == 1:
                return op
        raise Failure("the program has no function @main", "Print it with to_stablehlo_text.")

    def _mesh_of(self, module):
        meshes = [op for op in module.body.operations if op.operation.name == "sdy.mesh"]
        if len(meshes) != 1:
            raise Failure(f"the program has {len(meshes) or 'no'} mesh{'es' if len(meshes) > 1 else ''}; it needs one",
                          "Give its arrays shardings with shard(x, mesh, spec), or print it with "
                          "to_stablehlo_text(f, {.mesh = mesh}), for Shardy.")
        self.mesh_name = ir.StringAttr(meshes[0].attributes["sym_name"]).value
        mesh = sdy.MeshAttr(meshes[0].attributes["mesh"])
        if list(mesh.device_ids):
            raise Failure("the program's mesh numbers its devices", "Print it with a mesh of names and sizes only.")
        return {axis.name: axis.size for axis in map(sdy.MeshAxisAttr, mesh.axes)}

    def _sections(self, operations, block, split):
        loops = [i for i, op in enumerate(operations) if split and op.name == "stablehlo.while"]
        sections, first = [], 0
        for loop in loops:
            sections += [Section(first, loop), Section(loop, loop + 1, is_loop=True)]
            first = loop + 1
        sections.append(Section(first, len(operations) - 1))
        for i, section in enumerate(sections):
            inside = range(section.first, section.last)
            captured = [self.key_of[value] for number in inside for value in regions_read(operations[number], block)]
            operands = [self.key_of[value] for number in inside for value in operations[number].operands]
            if section.is_loop:
                section.outputs = section.values = [(section.first, i) for i in range(len(operands))]
                read = dict.fromkeys(captured)
            else:
                following = operations[section.last].operands  # where the next loop begins, or the results
                section.values = [self.key_of[value] for value in following]
                read = dict.fromkeys([*operands, *captured, *section.values])
            # Constants are written again in each section that reads them.
            section.constants = [key for key in read if key in self.constants and key[0] not in inside]
            section.inputs = [key for key in read if key[0] not in inside and key not in self.constants]
            if section.is_loop:
                section.inputs = section.outputs + section.inputs
        for i, section in enumerate(sections[:-1]):
            if section.is_loop:
                continue
            later = dict.fromkeys(key for other in sections[i + 1:] for key in other.inputs)
            kept = [key for key in later if section.first <= key[0] < section.last]
            section.outputs = kept + sections[i + 1].outputs
            section.values = kept + section.values
        return sections

    def _find_types(self, main):
        """Shardy's propagation chooses the shardings of values that the text leaves open: those that cross a cut
        become results of the whole program, in which it sees all their uses."""
        crossing = dict.fromkeys(key for section in self.sections for key in [*section.inputs, *section.outputs])
        crossing = [key for key in crossing if key[0] != ARGUMENT]
        block = main.body.blocks[0]
        value_of = {key: value for value, key in self.key_of.items()}
        terminator = ops_of(block)[-1]
        old = [value_of[key] for key in self.results]
        extra = [value_of[key] for key in crossing]
        with ir.InsertionPoint(terminator):
            ir.Operation.create("func.return", operands=old + extra)
        terminator.erase()
        inputs = [value.type for value in block.arguments]
        main.attributes["function_type"] = ir.TypeAttr.get(
            ir.FunctionType.get(inputs, [value.type for value in old + extra]))
        given = list(main.attributes["res_attrs"]) if "res_attrs" in main.attributes else [ir.DictAttr.get({})] * len(old)
        main.attributes["res_attrs"] = ir.ArrayAttr.get(given + [ir.DictAttr.get({})] * len(extra))
        top = main.operation.parent
        self.key_of = value_of = None  # what follows rewrites the module
        passmanager.PassManager.parse("builtin.module(sdy-propagation-pipeline)").run(top)
        main = next(op for op in top.regions[0].blocks[0].operations if is_main(op))

        def types(keys, attribute):
            attributes = list(main.attributes[attribute]) if attribute in main.attributes else [None] * len(keys)
            return [self._type_of(self.mlir_types[key], attrs) for key, attrs in zip(keys, attributes)]

        self.types = dict(zip(self.arguments, types(self.arguments, "arg_attrs")))
        results = types(self.results + crossing, "res_attrs")
        self.result_types = results[:len(self.results)]
        self.types.update(zip(crossing, results[len(self.results):]))

    def _type_of(self, mlir_type, attributes):
        array = ir.RankedTensorType(mlir_type)
        shape, spec = tuple(array.shape), [()] * len(array.shape)
        if attributes is not None and "sdy.sharding" in attributes:
            sharding = sdy.TensorShardingAttr(attributes["sdy.sharding"])
            for i, part in enumerate(map(sdy.DimensionShardingAttr, sharding.dimension_shardings)):
                axes, pieces = [], 1
                for axis in map(sdy.AxisRefAttr, part.axes):
                    pieces *= self.axes[axis.name]
                    # Parts of an axis, and parts of unequal size, are only for values inside of XLA: here they are whole.
                    if axis.sub_axis_info is not None or shape[i] % pieces:
                        break
                    axes.append(axis.name)
                spec[i] = tuple(axes)
        return ArrayType(shape, str(array.element_type), tuple(spec))

    def sharding_attribute(self, array):
        dims = ", ".join("{" + ", ".join(f'"{axis}"' for axis in axes) + "}" for axes in array.spec)
        return ir.Attribute.parse(f"#sdy.sharding<@{self.mesh_name}, [{dims}]>")
