"""Modules of their own for the sections of a program."""
from jaxlib.mlir import ir
from jaxlib.mlir.dialects import func, stablehlo

from program import ARGUMENT, ArrayType, ops_of

COUNTER = ArrayType((), "i32", ())


def module_of(program, section):
    """The section's text and the types of its parameters and results.

    A straight section takes its inputs and returns its outputs. A loop takes the most trips that it may make before them,
    and returns the trips that it made after the carry."""
    with program.context, ir.Location.unknown():
        module = program.parse()
        main = program.main_of(module)
        block = main.body.blocks[0]
        operations = ops_of(block)

        def value(key):
            return block.arguments[key[1]] if key[0] == ARGUMENT else operations[key[0]].results[key[1]]

        ends = section is program.sections[-1]
        inputs = [program.types[key] for key in section.inputs]
        outputs = program.result_types if ends else [program.types[key] for key in section.outputs]
        input_types = [program.mlir_types[key] for key in section.inputs]
        output_types = [program.mlir_types[key] for key in section.values]
        if section.is_loop:
            counter = ir.RankedTensorType.get([], ir.IntegerType.get_signless(32))
            inputs, input_types = [COUNTER, *inputs], [counter, *input_types]
            outputs, output_types = [*outputs, COUNTER], [*output_types, counter]
        with ir.InsertionPoint(main):
            piece = func.FuncOp("piece", (input_types, output_types))
        new = piece.add_entry_block()
        parameters = list(new.arguments)
        for key in section.constants:
            operations[key[0]].detach_from_parent()
            new.append(operations[key[0]])
        if section.is_loop:
            results = _segment(operations[section.first], new, parameters)
            carried = len(section.outputs)
            for key, parameter in zip(section.inputs[carried:], parameters[1 + carried:]):
                value(key).replace_all_uses_with(parameter)
        else:
            for op in operations[section.first:section.last]:
                op.detach_from_parent()
                new.append(op)
            for key, parameter in zip(section.inputs, parameters):
                value(key).replace_all_uses_with(parameter)
            position = dict(zip(section.inputs, parameters))
            results = [position[key] if key in position else value(key) for key in section.values]
        with ir.InsertionPoint(new):
            func.ReturnOp(results)
        main.erase()
        piece.attributes["sym_name"] = ir.StringAttr.get("main")
        carry = range(1, 1 + len(section.outputs)) if section.is_loop else ()
        piece.attributes["arg_attrs"] = _attributes(program, inputs, donated=carry)
        piece.attributes["res_attrs"] = _attributes(program, outputs)
        module.operation.verify()
        return str(module), inputs, outputs


def _attributes(program, types, donated=()):
    attributes = [{"sdy.sharding": program.sharding_attribute(array)} for array in types]
    for i in donated:  # the run writes over it
        attributes[i]["jax.buffer_donor"] = ir.BoolAttr.get(True)
    return ir.ArrayAttr.get([ir.DictAttr.get(each) for each in attributes])


def _segment(old, block, parameters):
    """The loop with one more carry, which counts trips and ends it at the most that it may make."""
    counter = parameters[0].type
    carry = len(old.operands)
    with ir.InsertionPoint(block):
        zero = _integer(counter, 0)
        start = [*parameters[1:1 + carry], zero]
        loop = ir.Operation.create("stablehlo.while", results=[value.type for value in start], operands=start, regions=2)
    regions = []
    for source, target in zip(old.regions, loop.regions):
        source.blocks[0].append_to(target)
        body = target.blocks[0]
        trips = body.add_argument(counter, ir.Location.unknown())
        regions.append((body, trips, ops_of(body)[-1]))
    (_, trips, end), (_, made, last) = regions
    with ir.InsertionPoint(end):
        fewer = stablehlo.CompareOp(trips, parameters[0], stablehlo.ComparisonDirectionAttr.get("LT"),
                                    compare_type=stablehlo.ComparisonTypeAttr.get("SIGNED")).result
        both = stablehlo.AndOp(end.operands[0], fewer).result
        stablehlo.ReturnOp([both])
    end.erase()
    with ir.InsertionPoint(last):
        next_trip = stablehlo.AddOp(made, _integer(counter, 1)).result
        stablehlo.ReturnOp([*last.operands, next_trip])
    last.erase()
    return list(loop.results)


def _integer(tensor_type, number):
    element = ir.RankedTensorType(tensor_type).element_type
    return stablehlo.ConstantOp(ir.DenseElementsAttr.get_splat(tensor_type, ir.IntegerAttr.get(element, number))).result
