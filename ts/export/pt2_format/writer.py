"""Writer of `.pt2` archives: encodes an ExportedProgram as JSON and tensor records.

Example: `write(program, writer, None)`.

A node is encoded as the operator's name, the named arguments, and the names of the results. Nodes that
extract the results of an operator (`getitem`) are omitted.
"""

from __future__ import annotations

import io
import itertools
import json
import operator
from typing import Any, Final

from ts import devices, dtypes
from ts._core.tensor.sym_types import SymBool, SymFloat, SymInt, SymNumber
from ts._core.tensor.tensor import Tensor
from ts.archive import torch_save
from ts.errors import ArchiveError
from ts.export import signature as kinds
from ts.export.dim import to_int_bound
from ts.export.fake import device_of
from ts.export.module_calls import ModuleCallSignature
from ts.export.program import ExportedProgram
from ts.export.pt2_format import call_targets, json_codec, lift_constants, pytree_specs, schema
from ts.export.pt2_format.container import ContainerWriter
from ts.export.pt2_format.schema import Argument
from ts.export.pt2_format.symbols import chosen
from ts.export.pt2_format.tensors import WrittenFolder, dtype_code, meta_of
from ts.export.signature import InputKind, InputSpec, OutputKind, OutputSpec
from ts.fx.graph_module import GraphModule
from ts.fx.node import Node
from ts.ops.namespace import OpOverload

MODEL: Final = "model"
_OR_NAME: Final = {
    "as_sym_int": schema.IntOrName, "as_sym_float": schema.FloatOrName, "as_sym_bool": schema.BoolOrName,
}  # fmt: skip
_PLAIN: Final = {int: "as_int", float: "as_float", bool: "as_bool", str: "as_string"}
# element type of a list parameter in the schema -> key with which an empty list is encoded
_EMPTY_LIST_KINDS: Final = {
    "Tensor": "as_tensors", "int": "as_ints", "SymInt": "as_ints", "float": "as_floats", "bool": "as_bools",
    "str": "as_strings", "Tensor?": "as_optional_tensors",
}  # fmt: skip


def write(program: ExportedProgram, writer: ContainerWriter, opset_version: dict[str, int] | None) -> None:
    """Write all records of a program."""
    program = lift_constants.lift_constants(program)
    model_json = json_codec.write(_program(program, opset_version))
    weights, constants = WrittenFolder(writer, "weights"), WrittenFolder(writer, "constants")
    for name, x in program.state_dict.items():
        weights.add(name, x)
    for name, x in program.constants.items():
        if not isinstance(x, Tensor):
            raise ArchiveError(f"the constant {name} is a {type(x).__name__}, and cannot be saved")
        constants.add(name, x)
    weights.write(MODEL)
    constants.write(MODEL)
    writer.record(f"models/{MODEL}.json", model_json)
    data = io.BytesIO()
    if program.example_inputs is not None:
        torch_save.save(program.example_inputs, data)
    # Write the record even without example inputs. The record is empty in this case.
    writer.record(f"data/sample_inputs/{MODEL}.pt", data.getvalue())


def _program(program: ExportedProgram, opset_version: dict[str, int] | None) -> schema.Program:
    calls = program.module_call_graph
    specs = [s for call in calls if call.signature for s in (call.signature.in_spec, call.signature.out_spec)]
    signature = program.graph_signature
    graph = _GraphWriter(program.graph_module, {s.arg.name: s for s in signature.input_specs}).graph()
    fields = {name: schema.NamedTuple(f) for name, f in pytree_specs.named_tuples(*specs).items()}
    module = schema.GraphModule(
        graph,
        schema.Signature(
            list(map(_input_spec, signature.input_specs)),
            [_output_spec(spec, signature) for spec in signature.output_specs],
        ),
        [schema.CallEntry(call.fqn, _call(call.signature)) for call in calls],
        _lines_of_guards(program),
        fields,
    )
    ranges = {
        str(s): schema.Range(to_int_bound(r.lower), to_int_bound(r.upper))
        for s, r in program.range_constraints.items()
        # Omit symbols that equal expressions have replaced, because the graph does not contain these symbols.
        if s not in program.environment.replaced
    }
    codes = [check.code for check in program._guards if getattr(check, "code", "")]
    return schema.Program(
        module,
        schema.OPSET_VERSION | (opset_version or {}),
        ranges,
        schema.Version(*schema.SCHEMA_VERSION),
        [program.dialect],
        schema.TORCH_VERSION,
        list(dict.fromkeys(codes)),
    )


def _lines_of_guards(program: ExportedProgram) -> dict[str, str]:
    """Encode the source lines of guards as a metadata field that PyTorch ignores."""
    lines = {check.code: list(check.where) for check in program._guards if check.code and check.where}
    return {schema.GUARD_LINES_KEY: json.dumps(lines)} if lines else {}


def _call(signature: ModuleCallSignature | None) -> schema.CallSignature | None:
    """Encode a module call signature."""
    if signature is None:
        return None
    return schema.CallSignature(
        list(map(_of_signature, signature.inputs)), list(map(_of_signature, signature.outputs)),
        pytree_specs.write(signature.in_spec), pytree_specs.write(signature.out_spec),
        signature.forward_arg_names,
    )  # fmt: skip


def _input_spec(spec: InputSpec) -> schema.InputSpec:
    kind, target = spec.kind, str(spec.target)
    if kind is InputKind.USER_INPUT:
        if isinstance(spec.arg, kinds.ConstantArgument):
            plain = _constant(spec.arg.value)
            value = schema.Constant(plain.kind, plain.value)
            return schema.InputSpec("constant_input", schema.ConstantInput(spec.arg.name, value))
        return schema.InputSpec("user_input", schema.UserSpec(_of_signature(spec.arg)))
    name = schema.Name(spec.arg.name)
    if kind is InputKind.PARAMETER:
        return schema.InputSpec("parameter", schema.Parameter(name, target))
    if kind is InputKind.BUFFER:
        return schema.InputSpec("buffer", schema.Buffer(name, target, bool(spec.persistent)))
    if kind is InputKind.CONSTANT_TENSOR:
        return schema.InputSpec("tensor_constant", schema.TensorConstant(name, target))
    if kind is InputKind.TOKEN:
        return schema.InputSpec("token", schema.Token(name))
    raise ArchiveError(f"{target} is an object of the class {spec.arg.class_fqn}, and cannot be saved")


_OUTPUTS: Final = {
    OutputKind.LOSS_OUTPUT: ("loss_output", schema.Loss),
    OutputKind.BUFFER_MUTATION: ("buffer_mutation", schema.BufferMutation),
    OutputKind.PARAMETER_MUTATION: ("parameter_mutation", schema.Parameter),
    OutputKind.GRADIENT_TO_PARAMETER: ("gradient_to_parameter", schema.Parameter),
    OutputKind.GRADIENT_TO_USER_INPUT: ("gradient_to_user_input", schema.UserInputMutation),
    OutputKind.USER_INPUT_MUTATION: ("user_input_mutation", schema.UserInputMutation),
    OutputKind.TOKEN: ("token", schema.Token),
}


def _output_spec(spec: OutputSpec, signature: Any) -> schema.OutputSpec:
    if spec.kind is OutputKind.USER_OUTPUT:
        return schema.OutputSpec("user_output", schema.UserSpec(_of_signature(spec.arg)))
    kind, spec_class = _OUTPUTS[spec.kind]
    name = schema.Name(spec.arg.name)
    return schema.OutputSpec(kind, spec_class(name) if spec.target is None else spec_class(name, spec.target))


def _of_signature(argument: Any) -> Argument:
    """Encode a user input or output of a signature."""
    match argument:
        case kinds.TensorArgument(name=name):
            return Argument("as_tensor", schema.Name(name))
        case kinds.SymIntArgument(name=name):
            return Argument("as_sym_int", schema.IntOrName("as_name", name))
        case kinds.SymFloatArgument(name=name):
            return Argument("as_sym_float", schema.FloatOrName("as_name", name))
        case kinds.SymBoolArgument(name=name):
            return Argument("as_sym_bool", schema.BoolOrName("as_name", name))
        case kinds.ConstantArgument(value=value):
            return _constant(value)
    raise ArchiveError(f"the program has an input or output {argument!r}, which cannot be saved")


def _constant(value: Any) -> Argument:
    """Encode a number, string or None."""
    if value is None:
        return Argument("as_none", True)
    kind = _PLAIN.get(type(value))
    if kind is None:
        raise ArchiveError(f"{value!r} cannot be saved")
    return Argument(kind, value)


class _GraphWriter:
    """Writer of one graph. Each subgraph has a separate writer."""

    def __init__(self, module: GraphModule, specs: dict[str, InputSpec] | None) -> None:
        self.module = module
        self.specs = specs
        self.written = schema.Graph([], [], [], {}, {}, {})

    def graph(self) -> schema.Graph:
        """Encode the graph."""
        written = self.written
        for node in self.module.graph.nodes:
            if node.op == "placeholder":
                written.inputs.append(self.input(node))
            elif node.op == "call_function":
                if not _is_getitem_of_call(node):
                    written.nodes.append(self.call(node))
            elif node.op == "output":
                (results,) = node.args
                if not isinstance(results, list | tuple):
                    written.is_single_tensor_return = True
                    results = [results]
                written.outputs += [self.argument(x, None) for x in results]
            elif node.op != "get_attr":
                raise ArchiveError(f"{node.op} of {node.target} cannot be saved")
        return written

    def input(self, node: Node) -> Argument:
        """Encode a graph input."""
        value = node.meta.get("val")
        if isinstance(value, Tensor | SymNumber):
            return self.result(node.name, value)
        return _constant(value)

    def result(self, name: str, value: Any) -> Argument:
        """Encode the value `name` and record its metadata."""
        if isinstance(value, Tensor):
            array = value.array
            item = value.dtype.itemsize
            self.written.tensor_values[name] = meta_of(
                value.dtype, array.shape, [s // item for s in array.strides], 0, device_of(value),
                value.requires_grad,
            )  # fmt: skip
            return Argument("as_tensor", schema.Name(name))
        if isinstance(value, SymInt | int) and not isinstance(value, bool):
            self.written.sym_int_values[name] = chosen(schema.SymInt, value, "as_int")
            return Argument("as_sym_int", schema.IntOrName("as_name", name))
        if isinstance(value, SymFloat | float):
            self.written.sym_float_values[name] = chosen(schema.SymFloat, value, "as_float")
            return Argument("as_sym_float", schema.FloatOrName("as_name", name))
        if isinstance(value, SymBool | bool):
            self.written.sym_bool_values[name] = chosen(schema.SymBool, value, "as_bool")
            return Argument("as_sym_bool", schema.BoolOrName("as_name", name))
        if value is None:
            return Argument("as_none", True)
        raise ArchiveError(f"the value {name} is a {type(value).__name__}, and cannot be saved")

    def results(self, node: Node) -> list[Argument]:
        """Encode the results of a call."""
        value = node.meta.get("val")
        if isinstance(node.target, OpOverload) and not node.target._schema.returns:
            return []
        if not isinstance(value, list | tuple):
            return [self.result(node.name, value)]
        names = {user.args[1]: user for user in node.users if _is_getitem_of_call(user)}
        items: list[Argument] = []
        for index, item in enumerate(value):
            user = names.get(index)
            name = user.name if user is not None else f"{node.name}_unused_{index}"
            items.append(self.item(user, name, item))
        if _returns_list(node) and all(x.kind == "as_tensor" for x in items):
            return [Argument("as_tensors", [x.value for x in items])]
        return items

    def item(self, user: Node | None, name: str, value: Any) -> Argument:
        """Encode one result of a call that has several results. `value` may be a list of tensors.

        `user` is the `getitem` node of the result, or None if the result is unused.
        """
        if not isinstance(value, list | tuple):
            return self.result(name, value)
        inner = {} if user is None else {u.args[1]: u.name for u in user.users if _is_getitem_of_call(u)}
        tensors = [self.result(inner.get(i, f"{name}_unused_{i}"), x) for i, x in enumerate(value)]
        return Argument("as_tensors", [x.value for x in tensors])

    def call(self, node: Node) -> schema.Node:
        """Encode a call node."""
        target: Any = node.target
        higher = call_targets.is_of_functions(target)
        single = not isinstance(node.meta.get("val"), list | tuple) if higher else None
        return schema.Node(
            call_targets.name_of(target),
            list(self.inputs(node)),
            self.results(node),
            _metadata(node),
            single,
            node.name,
        )

    def inputs(self, node: Node) -> Any:
        """Encode call arguments with parameter names and kinds."""
        target: Any = node.target
        parameters = list(target.operator.signature.parameters) if isinstance(target, OpOverload) else []
        higher = call_targets.is_of_functions(target)
        names = "ab" if not parameters and not higher else ""
        for index, x in enumerate(node.args):
            parameter = parameters[index] if index < len(parameters) else None
            name = parameter.name if parameter is not None else names[index : index + 1]
            kind = parameter.kind if parameter is not None else "Tensor[]" if higher else None
            yield schema.NamedArgument(name, self.argument(x, kind), schema.POSITIONAL)
        types = {p.name: p.kind for p in parameters}
        for name, x in node.kwargs.items():
            yield schema.NamedArgument(name, self.argument(x, types.get(name)), schema.KEYWORD)

    def argument(self, x: Any, kind: str | None) -> Argument:
        """Encode an argument.

        `kind` is the type of the argument's parameter in the schema, or None if unknown.
        """
        if isinstance(x, Node):
            return self.node(x)
        if isinstance(x, list | tuple):
            return self.sequence(list(x), kind)
        if isinstance(x, dict):
            return Argument("as_string_to_argument", {str(k): self.argument(v, None) for k, v in x.items()})
        if isinstance(x, complex):
            return Argument("as_complex", schema.Complex(x.real, x.imag))
        if isinstance(x, dtypes.dtype):
            return Argument("as_scalar_type", dtype_code(x))
        if isinstance(x, dtypes.layout):
            return Argument("as_layout", schema.STRIDED_LAYOUT_CODE)
        if isinstance(x, dtypes.memory_format):
            return Argument("as_memory_format", schema.MEMORY_FORMATS[str(x).rpartition(".")[2]])
        if isinstance(x, OpOverload):
            return Argument("as_operator", call_targets.name_of(x))
        if isinstance(x, devices.device):
            return Argument("as_device", schema.Device(x.type, x.index))
        if isinstance(x, SymNumber):
            raise ArchiveError(f"{x} is not the result of a node, and cannot be saved")
        return _constant(x)

    def node(self, x: Node) -> Argument:
        """Encode an argument node: by the name of its value, or as a subgraph or constant."""
        if x.op == "get_attr":
            inner: Any = self.module
            for atom in str(x.target).split("."):
                inner = getattr(inner, atom)
            if not isinstance(inner, GraphModule):
                raise ArchiveError(f"the attribute {x.target} is not a graph, and cannot be saved")
            return Argument("as_graph", schema.SubgraphArgument(x.name, _GraphWriter(inner, None).graph()))
        value = x.meta.get("val")
        if isinstance(value, SymInt) or (type(value) is int and x.op == "call_function"):
            return Argument("as_sym_int", schema.IntOrName("as_name", x.name))
        if isinstance(value, SymFloat) or (type(value) is float and x.op == "call_function"):
            return Argument("as_sym_float", schema.FloatOrName("as_name", x.name))
        if isinstance(value, SymBool) or (type(value) is bool and x.op == "call_function"):
            return Argument("as_sym_bool", schema.BoolOrName("as_name", x.name))
        if x.op == "placeholder" and not isinstance(value, Tensor):
            return _constant(value)
        return Argument("as_tensor", schema.Name(x.name))

    def sequence(self, items: list[Any], kind: str | None) -> Argument:
        """Encode a list. If the list is empty, `kind`, the type of the parameter, determines the encoding."""
        element = None if kind is None else _element(kind)
        if not items:
            return Argument(_EMPTY_LIST_KINDS.get(element or "int", "as_ints"), [])
        if all(isinstance(x, list | tuple) for x in items):
            return self.nested([list(x) for x in items])
        written = [self.argument(x, element) for x in items]
        kinds = {x.kind for x in written}
        if kinds <= {"as_tensor", "as_none"} and ("as_none" in kinds or element == "Tensor?"):
            optional = [schema.OptionalTensor(x.kind, x.value) for x in written]
            return Argument("as_optional_tensors", optional)
        if kinds == {"as_tensor"}:
            return Argument("as_tensors", [x.value for x in written])
        if element == "Tensor" and "as_tensor" in kinds and kinds <= {"as_tensor", "as_sym_int", "as_int"}:
            return Argument("as_tensors", [self.named(x) for x in written])
        for kind_of_symbol, plain, list_kind in (
            ("as_sym_int", "as_int", "as_ints"),
            ("as_sym_float", "as_float", "as_floats"),
            ("as_sym_bool", "as_bool", "as_bools"),
        ):
            if kinds == {plain}:
                return Argument(list_kind, [x.value for x in written])
            if kinds <= {kind_of_symbol, plain}:
                cls = _OR_NAME[kind_of_symbol]
                mixed = [x.value if x.kind == kind_of_symbol else cls(plain, x.value) for x in written]
                return Argument(f"{kind_of_symbol}s", mixed)
        if kinds == {"as_string"}:
            return Argument("as_strings", [x.value for x in written])
        if kinds <= {"as_int", "as_float"}:
            return Argument("as_floats", [float(x.value) for x in written])
        raise ArchiveError(f"a list of {', '.join(sorted(kinds))} cannot be saved")

    def named(self, x: Argument) -> schema.Name:
        """Return the name of the value `x`, which is an element of a tensor list.

        If `x` is a literal number, add a node that computes the number, and return the name of its result.
        """
        if x.kind == "as_tensor":
            return x.value  # type: ignore[no-any-return]
        if x.kind == "as_sym_int":
            return schema.Name(x.value.value)
        used_names = {n.name for n in self.module.graph.nodes} | self.written.sym_int_values.keys()
        name = next(candidate for i in itertools.count() if (candidate := f"number_{i}") not in used_names)
        arguments = [
            schema.NamedArgument(which, Argument("as_int", n), schema.POSITIONAL)
            for which, n in (("a", x.value), ("b", 0))
        ]
        result = self.result(name, x.value)
        self.written.nodes.append(
            schema.Node(call_targets.name_of(operator.add), arguments, [result], {}, None, name)
        )
        return schema.Name(name)

    def nested(self, items: list[list[Any]]) -> Argument:
        """Encode a list of lists."""
        flat = [x for each in items for x in each]
        if all(isinstance(x, Node) for x in flat) and flat:
            return Argument("as_nested_tensors", [[schema.Name(x.name) for x in each] for each in items])
        if all(type(x) is int for x in flat):
            return Argument("as_int_lists", items)
        if all(type(x) in (int, float) for x in flat):
            return Argument("as_float_lists", [[float(x) for x in each] for each in items])
        raise ArchiveError("a list of lists can only be saved if it contains tensors or numbers")


def _is_getitem_of_call(node: Node) -> bool:
    """Return True if the node is a `getitem` that extracts one of several results of a call."""
    if node.op != "call_function" or node.target is not operator.getitem or len(node.args) != 2:
        return False
    first, index = node.args
    return isinstance(first, Node) and first.op == "call_function" and type(index) is int


def _returns_list(node: Node) -> bool:
    """Return True if the only result of an operator is a list."""
    if not isinstance(node.target, OpOverload):
        return False
    returns = node.target._schema.returns
    return len(returns) == 1 and returns[0].type.str().endswith("[]")


def _element(kind: str) -> str | None:
    """Return the element type of a list type (`int[2]`, `SymInt[]?`, `Tensor?[]`), or None for others."""
    kind = kind.removesuffix("?")
    return kind.rpartition("[")[0] if kind.endswith("]") else None


def _metadata(node: Node) -> dict[str, str]:
    """Encode source metadata of a node: `stack_trace`, `nn_module_stack`, `torch_fn`."""
    metadata = {}
    if node.meta.get("stack_trace"):
        metadata["stack_trace"] = node.meta["stack_trace"]
    stack = node.meta.get("nn_module_stack")
    if stack:
        metadata["nn_module_stack"] = ";".join(
            f"{key},{path},{_class_name(kind)}" for key, (path, kind) in stack.items()
        )
    if node.meta.get("torch_fn"):
        metadata["torch_fn"] = ";".join(node.meta["torch_fn"])
    return metadata


def _class_name(kind: Any) -> str:
    return kind if isinstance(kind, str) else f"{kind.__module__}.{kind.__qualname__}"
