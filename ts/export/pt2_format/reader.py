"""Reader of `.pt2` archives: decodes JSON to an ExportedProgram.

Example: `read(container)` returns the program with its graph, state, constants, signature and guards.

Generated code contains the names of the file. Therefore, each name must be an identifier. Operators are
looked up by name, never imported.
"""

from __future__ import annotations

import builtins
import inspect
import io
import keyword
import operator
import pickle
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

from ts import dtypes
from ts._core.tensor.sym_types import SymBool, SymFloat, SymInt
from ts._core.tensor.tensor import Tensor
from ts.archive import torch_save
from ts.errors import ArchiveError
from ts.export import signature as kinds
from ts.export.fake import fake_array, fake_for
from ts.export.input_guards import InputGuard, Line
from ts.export.module_calls import ModuleCallEntry, ModuleCallSignature
from ts.export.program import ExportedProgram
from ts.export.pt2_format import call_targets, json_codec, pytree_specs, schema
from ts.export.pt2_format.argument_conditions import Conditions
from ts.export.pt2_format.container import Container
from ts.export.pt2_format.symbols import Symbols
from ts.export.pt2_format.tensors import TensorFolder, check_layout, device_of, dtype_of
from ts.export.signature import ExportGraphSignature, InputKind, InputSpec, OutputKind, OutputSpec
from ts.export.size_operations import ARCHIVE_TARGETS
from ts.export.unlifted_module import PROGRAM_ATTRIBUTES
from ts.export.verifier import Verifier
from ts.fx.graph import Graph
from ts.fx.graph_module import GraphModule
from ts.fx.namespace import CUSTOM_BUILTINS
from ts.fx.node import Node
from ts.nn.modules.module import Module

_MAX_NAME_CHARS: Final = 1 << 10
_MAX_GRAPH_DEPTH: Final = 20
_MEMORY_FORMATS: Final = {n: name for name, n in schema.MEMORY_FORMATS.items()}
_SIZE_KINDS: Final = {
    "as_sym_int": (kinds.SymIntArgument, "sym_int_values", (int, SymInt)),
    "as_sym_float": (kinds.SymFloatArgument, "sym_float_values", (float, SymFloat)),
    "as_sym_bool": (kinds.SymBoolArgument, "sym_bool_values", (bool, SymBool)),
}
_NUMBERS: Final = ("as_int", "as_float", "as_bool", "as_string", "as_none")


def read(container: Container, expected_opset: dict[str, int] | None = None) -> ExportedProgram:
    """Read the program of an archive."""
    record = f"models/{container.model}.json"
    program: schema.Program = json_codec.read(container.text(record), schema.Program, record)
    _check_versions(program, expected_opset)
    return _ProgramReader(container, program).program()


def _check_versions(program: schema.Program, expected_opset: dict[str, int] | None) -> None:
    major, minor = program.schema_version.major, program.schema_version.minor
    if major != schema.SCHEMA_VERSION[0]:
        raise ArchiveError(
            f"the program has schema version {major}.{minor}; ts supports version "
            f"{schema.SCHEMA_VERSION[0]}: load it with "
            "the PyTorch that wrote it, and save it with PyTorch 2.13"
        )
    newest = schema.OPSET_VERSION | (expected_opset or {})
    for namespace, version in program.opset_version.items():
        if version > newest.get(namespace, version):
            raise ArchiveError(
                f"the program needs the operators {namespace} in version {version}; "
                f"ts has version {newest[namespace]}"
            )


def check_name(name: str) -> str:
    """Return `name`. Raise ArchiveError if it is no ASCII identifier of bounded length, or a keyword."""
    is_word = name.isascii() and name.isidentifier() and not keyword.iskeyword(name)
    if len(name) > _MAX_NAME_CHARS or not is_word or name == "__debug__":
        raise ArchiveError(f"{name[:80]!r} is not a valid name of a value")
    return name


def check_path(name: str) -> str:
    """Return `name`. Raise ArchiveError if it is not a valid dotted name of a parameter or buffer."""
    segments = name.split(".")
    if len(name) > _MAX_NAME_CHARS or len(segments) > 100 or not all(segments):
        raise ArchiveError(f"{name[:80]!r} is not a valid name of a parameter or buffer")
    for segment in segments:
        if segment.startswith("__") or segment in _MODULE_ATTRIBUTES:
            raise ArchiveError(f"{name[:80]!r} is not a valid name of a parameter or buffer")
    return name


def check_state(name: str) -> str:
    """Return `name`, a parameter or buffer name.

    Raise ArchiveError if it is an attribute of exported programs.
    """
    if check_path(name).partition(".")[0] in PROGRAM_ATTRIBUTES:
        raise ArchiveError(
            f"{name[:80]!r} cannot name a parameter or buffer: it is an attribute of exported programs"
        )
    return name


_MODULE_ATTRIBUTES: Final = frozenset(dir(Module()))
# Names that values must not have: names of globals of generated code, and `self`, which is the module.
_RESERVED_NAMES: Final = frozenset(("self", *CUSTOM_BUILTINS))


class _ProgramReader:
    def __init__(self, container: Container, program: schema.Program) -> None:
        self.container = container
        self.file = program
        self.symbols = Symbols(program.range_constraints)

    def program(self) -> ExportedProgram:
        """Decode the program record."""
        written = self.file.graph_module
        graph = _GraphReader(self, written.graph, 0)
        input_specs = list(map(self.input_spec, written.signature.input_specs))
        module = graph.module(input_specs)
        for each in input_specs:
            if each.target is not None and each.target.partition(".")[0] in graph.modules:
                raise ArchiveError(
                    f"{each.target[:80]!r} cannot name a parameter or buffer: it is the name of a branch"
                )
        signature = ExportGraphSignature(
            input_specs, list(map(self.output_spec, written.signature.output_specs))
        )
        if len(graph.outputs) != len(signature.output_specs):
            raise ArchiveError("the outputs of the program do not match its signature")
        for spec, output in zip(signature.output_specs, graph.outputs, strict=True):
            graph.rename(spec, output)
        weights = TensorFolder(self.container, "weights").read()
        constants = TensorFolder(self.container, "constants").read()
        _check_state(signature, weights, constants)
        calls = self.module_calls(graph)
        call = calls[0].signature
        assert call is not None
        in_spec, out_spec, names = call.in_spec, call.out_spec, call.forward_arg_names
        users = [
            n for n, s in zip(graph.placeholders, input_specs, strict=True) if s.kind is InputKind.USER_INPUT
        ]
        results = [
            s for s in signature.output_specs if s.kind in (OutputKind.USER_OUTPUT, OutputKind.LOSS_OUTPUT)
        ]
        if in_spec.num_leaves != len(users) or out_spec.num_leaves != len(results):
            raise ArchiveError(
                "the trees of arguments and results do not match the inputs and outputs of the program"
            )
        ranges = self.symbols.range_constraints()
        conditions = Conditions(self.symbols, ranges, in_spec, names)
        checks = conditions.checks([n.meta["val"] for n in users], self.file.guards_code)
        _add_lines(checks, written.metadata.get(schema.GUARD_LINES_KEY))
        dialect = self.file.verifiers[0] if self.file.verifiers else Verifier.dialect
        program = ExportedProgram._create(
            module, signature, weights, ranges, calls, self.sample_inputs(), constants, checks,
            self.symbols.environment if self.symbols.any else None, dialect,
        )  # fmt: skip
        if self.symbols.any:
            _check_shapes(program)
        return program

    def module_calls(self, graph: _GraphReader) -> list[ModuleCallEntry]:
        """Return the entries of the module call graph, the program first."""
        entries = [
            ModuleCallEntry(e.fqn and check_path(e.fqn), self.call(e.signature, graph, e.fqn != ""))
            for e in self.file.graph_module.module_call_graph
        ]
        entries.sort(key=lambda entry: entry.fqn != "")
        if not entries or entries[0].fqn != "" or entries[0].signature is None:
            raise ArchiveError("the program has no call signature")
        return entries

    def call(
        self, written: schema.CallSignature | None, graph: _GraphReader, inside: bool
    ) -> ModuleCallSignature | None:
        """Decode the signature of a module call. `inside` is True for a call of a submodule."""
        if written is None:
            return None
        in_spec, out_spec = pytree_specs.read(written.in_spec), pytree_specs.read(written.out_spec)
        pytree_specs.check_arguments(in_spec)
        if inside:
            for name in in_spec.child(1).context:
                if check_name(str(name)) in _RESERVED_NAMES or name.startswith("_positional_arg_"):
                    raise ArchiveError(f"{name!r} cannot be the name of an argument of a module")
        names = written.forward_arg_names
        signature = ModuleCallSignature(
            list(map(self.argument, written.inputs)), list(map(self.argument, written.outputs)),
            in_spec, out_spec, None if names is None else list(map(check_name, names)),
        )  # fmt: skip
        return signature.renamed(graph.name_of)

    def sample_inputs(self) -> Any:
        """Load the sample inputs.

        Return None if the file has none or they contain classes that are not allowed.
        """
        record = f"data/sample_inputs/{self.container.model}.pt"
        if not self.container.has(record):
            return None
        data = self.container.records.bytes(record)
        try:
            inputs = torch_save.load(io.BytesIO(data), map_location="cpu") if data else None
        # The sample inputs are optional. They are omitted if they contain classes that are not allowed.
        except pickle.UnpicklingError:
            return None
        if inputs is not None and not (isinstance(inputs, tuple) and len(inputs) == 2):
            raise ArchiveError("the sample inputs are not a pair of positional and keyword arguments")
        return inputs

    def input_spec(self, written: schema.TaggedUnion) -> InputSpec:
        """Decode an input spec of the graph signature."""
        kind, value = written.kind, written.value
        if kind == "user_input":
            return InputSpec(InputKind.USER_INPUT, self.argument(value.arg), None)
        if kind == "constant_input":
            argument = kinds.ConstantArgument(check_name(value.name), _union_value(value.value))
            return InputSpec(InputKind.USER_INPUT, argument, None)
        if kind == "parameter":
            target = check_state(value.parameter_name)
            return InputSpec(InputKind.PARAMETER, _tensor(value.arg), target)
        if kind == "buffer":
            target = check_state(value.buffer_name)
            return InputSpec(InputKind.BUFFER, _tensor(value.arg), target, value.persistent)
        if kind == "tensor_constant":
            target = check_state(value.tensor_constant_name)
            return InputSpec(InputKind.CONSTANT_TENSOR, _tensor(value.arg), target)
        if kind == "token":
            return InputSpec(InputKind.TOKEN, kinds.TokenArgument(check_name(value.arg.name)), None)
        raise ArchiveError(
            f"the program contains an object of the class {value.arg.class_fqn[:80]}, which ts does not "
            "support"
        )

    def output_spec(self, written: schema.TaggedUnion) -> OutputSpec:
        """Decode an output spec of the graph signature."""
        kind, value = written.kind, written.value
        if kind == "user_output":
            return OutputSpec(OutputKind.USER_OUTPUT, self.argument(value.arg), None)
        if kind == "token":
            return OutputSpec(OutputKind.TOKEN, kinds.TokenArgument(check_name(value.arg.name)), None)
        output_kind, field = _OUTPUTS[kind]
        return OutputSpec(output_kind, _tensor(value.arg), field and getattr(value, field))

    def argument(self, written: schema.TaggedUnion) -> Any:
        """Decode a user input or output of a signature."""
        if written.kind == "as_tensor":
            return _tensor(written.value)
        if written.kind in _SIZE_KINDS and written.value.kind == "as_name":
            return _SIZE_KINDS[written.kind][0](check_name(written.value.value))
        if written.kind in _SIZE_KINDS:
            return kinds.ConstantArgument("", written.value.value)
        if written.kind in _NUMBERS:
            return kinds.ConstantArgument("", _union_value(written))
        raise ArchiveError(f"the program has an input or output of the unsupported kind {written.kind}")

    def fake(self, meta: schema.TensorMeta) -> Tensor:
        """Create a fake tensor from the metadata of a tensor."""
        check_layout(meta.layout)
        if len(meta.sizes) != len(meta.strides) or len(meta.sizes) > 64:
            raise ArchiveError("a tensor has different numbers of sizes and strides")
        sizes = list(map(self.symbols.decode_scalar, meta.sizes))
        strides = list(map(self.symbols.decode_scalar, meta.strides))
        numbers = (*sizes, *strides)
        if not all(isinstance(n, SymInt) or (type(n) is int and 0 <= n < 1 << 62) for n in numbers):
            raise ArchiveError("a tensor has an invalid size")
        dtype = dtype_of(meta.dtype)
        array = fake_array(sizes, dtype.numpy_dtype, strides)
        differentiable = dtype.is_floating_point or dtype.is_complex
        return fake_for(array, device_of(meta.device), meta.requires_grad and differentiable)


_OUTPUTS: Final = {
    "loss_output": (OutputKind.LOSS_OUTPUT, ""),
    "buffer_mutation": (OutputKind.BUFFER_MUTATION, "buffer_name"),
    "parameter_mutation": (OutputKind.PARAMETER_MUTATION, "parameter_name"),
    "gradient_to_parameter": (OutputKind.GRADIENT_TO_PARAMETER, "parameter_name"),
    "gradient_to_user_input": (OutputKind.GRADIENT_TO_USER_INPUT, "user_input_name"),
    "user_input_mutation": (OutputKind.USER_INPUT_MUTATION, "user_input_name"),
}


def _tensor(written: schema.Name) -> kinds.TensorArgument:
    return kinds.TensorArgument(check_name(written.name))


def _union_value(written: schema.TaggedUnion) -> Any:
    return None if written.kind == "as_none" else written.value


def _check_state(signature: ExportGraphSignature, weights: dict[str, Any], constants: dict[str, Any]) -> None:
    """Raise ArchiveError if the file lacks a weight or constant to which the signature refers."""
    for spec in signature.input_specs:
        if spec.target is None:
            continue
        of_state = spec.kind is InputKind.PARAMETER or (spec.kind is InputKind.BUFFER and spec.persistent)
        if spec.target not in (weights if of_state else constants):
            raise ArchiveError(f"the program requires {spec.target}, which is missing in the file")


class _GraphReader:
    """Reader of one graph. Each subgraph of a control-flow operator has a separate reader."""

    def __init__(self, reader: _ProgramReader, written: schema.Graph, depth: int) -> None:
        if depth > _MAX_GRAPH_DEPTH:
            raise ArchiveError("branches and loops are nested too deeply")
        self.reader = reader
        self.written = written
        self.depth = depth
        self.graph = Graph()
        self.nodes: dict[str, Node] = {}
        self.modules: dict[str, Any] = {}
        self.placeholders: list[Node] = []
        self.outputs: list[Any] = []

    def module(self, specs: list[InputSpec] | None = None) -> GraphModule:
        """Decode the graph and return its module."""
        if specs is not None and len(specs) != len(self.written.inputs):
            raise ArchiveError("the inputs of the program do not match its signature")
        for index, each in enumerate(self.written.inputs):
            self.input(each, None if specs is None else specs[index])
        batches = 0
        for call in self.written.nodes:
            batches += call_targets.depth_change(call.target)
            if batches < 0:
                raise ArchiveError("the program ends a vmap level that it did not begin")
            self.call(call)
        if batches:
            raise ArchiveError("the program begins a vmap level that it does not end")
        self.outputs = [self.value(each) for each in self.written.outputs]
        alone = self.written.is_single_tensor_return and len(self.outputs) == 1
        output = self.graph.output(self.outputs[0] if alone else tuple(self.outputs))
        output.meta["val"] = tuple(x.meta.get("val") if isinstance(x, Node) else x for x in self.outputs)
        return GraphModule(self.modules, self.graph)

    def named(self, name: str, node: Node, value: Any) -> None:
        """Give a node a name and a recorded value. Raise ArchiveError if another node has this name."""
        if name in self.nodes:
            raise ArchiveError(f"two values have the name {name}")
        if name == "self" and node.op != "placeholder":
            raise ArchiveError("a value has the name self, which is reserved for the module")
        # A value may have the name of a builtin function, since generated code does not call builtins.
        if node.name != name and hasattr(builtins, name):
            node.graph._graph_namespace._rename_object(node, name)
            node.name = name
        self.nodes[name] = node
        node.meta["val"] = value

    def name_of(self, written: str) -> str:
        """Return the name of the node for the value that the file calls `written`.

        Raise ArchiveError if there is no such value.
        """
        node = self.nodes.get(written)
        if node is None:
            raise ArchiveError(f"a call uses {written[:80]!r}, which is not a value")
        return node.name

    def rename(self, spec: OutputSpec, output: Any) -> None:
        """Replace the names of values in `spec`, which are from the file, by names of nodes.

        Raise ArchiveError if `spec` does not describe `output`, the graph's result.
        """
        if isinstance(spec.arg, kinds.ConstantArgument):
            same = not isinstance(output, Node) or output.op == "placeholder"
        else:
            same = isinstance(output, Node) and self.nodes.get(spec.arg.name) is output
            spec.arg.name = getattr(output, "name", "")
        if not same:
            raise ArchiveError("the outputs of the program do not match its signature")
        if spec.kind is OutputKind.USER_INPUT_MUTATION and spec.target in self.nodes:
            spec.target = self.nodes[spec.target].name

    def input(self, written: schema.TaggedUnion, spec: InputSpec | None) -> None:
        """Decode a graph input and create its placeholder."""
        if written.kind == "as_tensor":
            name = written.value.name
        elif written.kind in _SIZE_KINDS and written.value.kind == "as_name":
            name = written.value.value
        elif spec is not None and isinstance(spec.arg, kinds.ConstantArgument) and written.kind in _NUMBERS:
            name = spec.arg.name
        elif spec is not None and written.kind in _NUMBERS:
            raise ArchiveError("a constant argument has no name")
        else:
            name = f"arg_{len(self.placeholders)}"
        check_name(name)
        node = self.graph.placeholder(f"{name}_" if name in _RESERVED_NAMES else name)
        self.placeholders.append(node)
        value = _union_value(written) if written.kind in _NUMBERS else self.decode_meta(written)
        self.named(name, node, value)
        if spec is not None:
            if getattr(spec.arg, "name", name) != name:
                raise ArchiveError(f"the signature has a different name for the input {name}")
            spec.arg.name = node.name

    def decode_meta(self, written: schema.TaggedUnion) -> Any:
        """Return the metadata of a value: a fake tensor, a symbol, or a list of these."""
        kind, value = written.kind, written.value
        graph = self.written
        if kind == "as_tensor":
            meta = graph.tensor_values.get(value.name)
            if meta is None:
                raise ArchiveError(f"the tensor {value.name[:80]} has no metadata")
            return self.reader.fake(meta)
        if kind == "as_tensors":
            return [self.decode_meta(schema.Argument("as_tensor", x)) for x in value]
        if kind in _SIZE_KINDS and value.kind == "as_name":
            symbol = getattr(graph, _SIZE_KINDS[kind][1]).get(value.value)
            if symbol is None:
                raise ArchiveError(f"the number {value.value[:80]} has no metadata")
            scalar = self.reader.symbols.decode_scalar(symbol)
            if type(scalar) not in _SIZE_KINDS[kind][2]:
                raise ArchiveError(f"the type of the number {value.value[:80]} differs from its declaration")
            return scalar
        if kind in _SIZE_KINDS:
            return value.value
        if kind in _NUMBERS:
            return _union_value(written)
        raise ArchiveError(f"a value has the unsupported kind {kind}")

    def call(self, written: schema.Node) -> None:
        """Decode a call node, and create `getitem` nodes for its results."""
        target = call_targets.resolve(written.target)
        args: list[Any] = []
        options: dict[str, Any] = {}
        for each in written.inputs:
            value = self.value(each.arg)
            if each.kind == schema.KEYWORD or (each.kind is None and _is_keyword(target, each.name)):
                options[check_name(each.name)] = value
            else:
                args.append(value)
        _check_call(target, len(args), options)
        name, direct = self.result_name(written)
        node = self.graph.create_node("call_function", target, tuple(args), options, name=name)
        metadata = _metadata(written.metadata)
        node.meta.update(metadata)
        if direct is not None:
            self.named(name, node, None if direct.kind == "as_none" else self.decode_meta(direct))
            return
        if node.name in self.nodes:
            raise ArchiveError(f"two values have the name {node.name}")
        self.nodes[node.name] = node
        items = self.items(node, written.outputs, metadata)
        node.meta["val"] = items if len(written.outputs) == 1 else tuple(items)

    def result_name(self, written: schema.Node) -> tuple[str, schema.TaggedUnion | None]:
        """Return (name of a call node, result of the call).

        The result is None if the call has several results, which `getitem` nodes extract.
        """
        outputs = written.outputs
        name = written.name
        if not outputs:
            return check_name(name or "call"), schema.Argument("as_none", True)
        apart = len(outputs) > 1 or outputs[0].kind == "as_tensors"
        is_higher = written.target.startswith("torch.ops.higher_order.")
        if is_higher and outputs[0].kind != "as_none" and written.is_hop_single_tensor_return is False:
            apart = True
        if apart:
            return check_name(name or "results"), None
        if outputs[0].kind == "as_tensor":
            return check_name(outputs[0].value.name), outputs[0]
        if outputs[0].kind in _SIZE_KINDS and outputs[0].value.kind == "as_name":
            return check_name(outputs[0].value.value), outputs[0]
        return check_name(name or "call"), outputs[0]

    def items(self, node: Node, outputs: Sequence[schema.TaggedUnion], metadata: dict[str, Any]) -> list[Any]:
        """Create `getitem` nodes for the results of a call, and return the results' recorded values."""
        values = []
        for index, each in enumerate(outputs):
            if each.kind == "as_tensors":
                inside = [schema.Argument("as_tensor", x) for x in each.value]
                if len(outputs) == 1:
                    return self.items(node, inside, metadata)
                name = f"{node.name}_{index}"
                item = self.graph.create_node("call_function", operator.getitem, (node, index), {}, name=name)
                self.nodes[item.name] = item
                item.meta["val"] = self.items(item, inside, metadata)
                values.append(item.meta["val"])
                continue
            if each.kind == "as_none":
                values.append(None)
                continue
            value = self.decode_meta(each)
            values.append(value)
            name = each.value.name if each.kind == "as_tensor" else getattr(each.value, "value", "")
            if not isinstance(name, str) or not name:
                continue
            item = self.graph.create_node(
                "call_function", operator.getitem, (node, index), {}, name=check_name(name)
            )
            item.meta.update(metadata)
            self.named(name, item, value)
        return values

    def node(self, name: str) -> Node:
        """Return the node of the value `name`. Raise ArchiveError if no earlier node defines it."""
        node = self.nodes.get(name)
        if node is None:
            raise ArchiveError(f"{name[:80]!r} is used before its definition")
        return node

    def value(self, written: schema.TaggedUnion) -> Any:
        """Decode an argument of a call."""
        kind, value = written.kind, written.value
        read = _ARGUMENTS.get(kind)
        if read is not None:
            return read(self, value)
        if kind in _ENDINGS:
            return self.one(value)
        if kind.removesuffix("s") in _ENDINGS:
            return list(map(self.one, value))
        if kind == "as_none":
            return None
        if kind == "as_custom_obj":
            raise ArchiveError(
                f"the program contains an object of the class {value.class_fqn[:80]}, which ts does not "
                "support"
            )
        if kind == "as_operator":
            return call_targets.resolve(value)
        if kind in ("as_float_lists", "as_int_lists"):
            return [list(x) for x in value]
        return list(value) if isinstance(value, list) else value

    def one(self, value: schema.TaggedUnion) -> Any:
        """Decode a literal, or return the node for a value name."""
        return self.node(value.value) if value.kind == "as_name" else value.value

    def optional(self, value: schema.TaggedUnion) -> Any:
        """Decode an optional tensor."""
        return self.node(value.value.name) if value.kind == "as_tensor" else None

    def attribute(self, written: schema.SubgraphArgument) -> Node:
        """Decode the subgraph of a control-flow operator and return its `get_attr` node."""
        name = check_name(written.name)
        if name.startswith("_") or name in PROGRAM_ATTRIBUTES:
            raise ArchiveError(f"{name!r} cannot be the name of a branch")
        if name in self.modules:
            raise ArchiveError(f"two branches have the name {name}")
        self.modules[name] = _GraphReader(self.reader, written.graph, self.depth + 1).module()
        node = self.graph.create_node("get_attr", name, name=name)
        return node


_ENDINGS: Final = ("as_sym_int", "as_sym_float", "as_sym_bool")


def _memory_format(reader: _GraphReader, code: int) -> Any:
    name = _MEMORY_FORMATS.get(code)
    if name is None:
        raise ArchiveError(f"the file has the memory format {code}, which ts does not support")
    return getattr(dtypes, name)


def _layout(reader: _GraphReader, code: int) -> Any:
    check_layout(code)
    return dtypes.strided


_ARGUMENTS: Final[dict[str, Any]] = {
    "as_tensor": lambda r, v: r.node(v.name),
    "as_tensors": lambda r, v: [r.node(x.name) for x in v],
    "as_nested_tensors": lambda r, v: [[r.node(x.name) for x in each] for each in v],
    "as_optional_tensor": lambda r, v: r.optional(v),
    "as_optional_tensors": lambda r, v: list(map(r.optional, v)),
    "as_scalar_type": lambda r, v: dtype_of(v),
    "as_memory_format": _memory_format,
    "as_layout": _layout,
    "as_device": lambda r, v: device_of(v),
    "as_complex": lambda r, v: complex(v.real, v.imag),
    "as_string_to_argument": lambda r, v: {name: r.value(x) for name, x in v.items()},
    "as_graph": lambda r, v: r.attribute(v),
}


def _check_shapes(program: ExportedProgram) -> None:
    """Raise ArchiveError if the recorded shape of a node is wrong for any sizes in the symbols' ranges."""
    from ts.export.shape_check import ShapeError, check_shapes

    try:
        check_shapes(program)
    except ShapeError as error:
        raise ArchiveError(str(error)) from None


def _add_lines(checks: list[InputGuard], written: str | None) -> None:
    """Set the source lines of the guards `checks` from the JSON text `written`. Do nothing if it is None."""
    if written is None:
        return
    lines = json_codec.parse(written, "the lines of conditions")
    for check in checks:
        match lines.get(check.code) if isinstance(lines, dict) and check.code else None:
            case [str(file), int(line), str(function), str(source)]:
                check.where = Line(file, line, function, source)


def _check_call(target: Any, count: int, options: dict[str, Any]) -> None:
    """Raise ArchiveError if the arguments of a call do not fit the schema of its target."""
    if target in _FUNCTIONS:
        try:
            _signature(target).bind(*range(count), **options)
        except TypeError as error:
            name = target.__name__
            raise ArchiveError(f"the arguments of {name} do not match its signature: {error}") from None
        return
    signature = getattr(getattr(target, "operator", None), "signature", None)
    if signature is None:
        return
    parameters = signature.parameters
    positional = [p.name for p in parameters if not p.keyword_only]
    parameter_names = {p.name for p in parameters}
    if (
        count > len(positional)
        or not options.keys() <= parameter_names
        or options.keys() & set(positional[:count])
    ):
        raise ArchiveError(f"the arguments of {target} do not match its signature")


_FUNCTIONS: Final = frozenset(ARCHIVE_TARGETS.values())
_signature: Final = cache(inspect.signature)


def _is_keyword(target: Any, name: str) -> bool:
    """Return True if the operator's parameter `name` is keyword-only.

    The function is used for files of older versions, which do not state whether an argument is passed by
    keyword.
    """
    signature = getattr(getattr(target, "operator", None), "signature", None)
    return signature is not None and any(p.name == name and p.keyword_only for p in signature.parameters)


def _metadata(written: dict[str, str]) -> dict[str, Any]:
    """Decode the source metadata of a node: `stack_trace`, `nn_module_stack`, `torch_fn`."""
    metadata: dict[str, Any] = {}
    if "stack_trace" in written:
        metadata["stack_trace"] = written["stack_trace"]
    stack = written.get("nn_module_stack")
    if stack:
        entries = [entry.split(",") for entry in stack.split(";")]
        metadata["nn_module_stack"] = {e[0]: (e[1], e[2]) for e in entries if len(e) == 3}
    function = written.get("torch_fn", "").split(";")
    if len(function) == 2:
        metadata["torch_fn"] = tuple(function)
    return metadata
