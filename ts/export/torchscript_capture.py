"""Export of script functions: the script graph runs on fake tensors, and its operators are recorded.

Example: `export(ts.jit.load("model.pt"), (x,))` returns an ExportedProgram.

Operations on numbers, lists and strings are computed and not recorded. The example arguments decide branches
and loops. A node that cannot be exported raises an error with its source line.
"""

from __future__ import annotations

import operator
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Final

from ts import devices
from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts._core.value.ivalue import object_get
from ts._core.value.objects import Object
from ts.errors import UserError
from ts.export.input_guards import Line
from ts.export.size_operations import SCRIPT_OPERATORS
from ts.ir.types import FunctionType
from ts.ops.namespace import overload_named
from ts.ops.registry import field_by_name
from ts.passes.constant_evaluation import NOT_EVALUATED, evaluate

if TYPE_CHECKING:
    from ts._subclasses.fake_tensor import FakeTensorMode
    from ts.export.tracer import ExportTracer
    from ts.ir.graph import Block, Node, Value

_SYMBOL_FUNCTIONS: Final = {name: function for function, name in SCRIPT_OPERATORS.items()}
_READS_NUMBER: Final = field_by_name("reads_number")
# Name of an operator on lists (some also accept dictionaries or strings) -> Python function that computes it.
_LIST_FUNCTIONS: Final[dict[str, Callable[..., Any]]] = {
    "aten::append": lambda x, item: x.append(item) or x,
    "aten::extend": lambda x, items: x.extend(items),
    "aten::insert": lambda x, i, item: x.insert(i, item),
    "aten::pop": lambda x, *i: x.pop(*i),
    "aten::clear": lambda x: x.clear(),
    "aten::reverse": lambda x: x.reverse(),
    "aten::copy": lambda x: x.copy(),
    "aten::list": list,
    "aten::len": len,
    "aten::__getitem__": operator.getitem,
    "aten::_set_item": lambda x, i, item: operator.setitem(x, i, item) or x,
    "aten::__contains__": lambda x, item: item in x,
    "aten::slice": lambda x, start=None, end=None, step=1: x[start:end:step],
    "aten::add": operator.add,
    "aten::mul": operator.mul,
    "aten::keys": lambda x: list(x.keys()),
    "aten::values": lambda x: list(x.values()),
    "aten::items": lambda x: list(x.items()),
}
_MAX_ITERATIONS: Final = 100_000  # maximum number of loop iterations. The export records each of them.


def call(
    recorder: ExportTracer | FakeTensorMode, function: Any, args: Sequence[Any], kwargs: dict[str, Any]
) -> Any:
    """Record the graph of a script function and return its result.

    Raise UserError for nodes that cannot be exported.
    """
    return _Run(recorder, function).result(args, kwargs)


class _Run:
    def __init__(self, recorder: ExportTracer | FakeTensorMode, function: Any) -> None:
        self.recorder = recorder
        self.function = function
        self.values: dict[Value, Any] = {}
        self.node: Node | None = None
        self.iterations = 0
        # (object, index of an attribute) -> (node that assigned the attribute, assigned value)
        self.set: dict[tuple[Any, int], tuple[Node, Any]] = {}

    def result(self, args: Sequence[Any], kwargs: dict[str, Any]) -> Any:
        """Run the graph of the script function on fake arguments and return its result."""
        with self.recorder.paused():
            self.graph = graph = self.function.inlined_graph
        before, self.recorder.line = self.recorder.line, None
        try:
            for value, x in zip(graph.inputs(), self._bind_arguments(args, kwargs), strict=True):
                self.values[value] = x
            outputs = self._block(graph)
            self._write_attributes()
        finally:
            self.recorder.line = before
        return outputs[0] if len(outputs) == 1 else tuple(outputs)

    def _write_attributes(self) -> None:
        """Record the new values of buffers to which the script assigns.

        Raise UserError if the script assigns to an attribute that is not a buffer.
        """
        for (owner, slot), (node, value) in self.set.items():
            before = _attribute(owner, slot)
            self.node, self.recorder.line = node, _line(node)
            if not (
                isinstance(value, Tensor) and isinstance(before, Tensor) and self.recorder.is_state(before)
            ):
                raise self._unsupported(f"it sets the attribute {node.get('name')}, which is not a buffer")
            if before is not value:
                op, values, _ = overload_named("aten::copy_", "").resolve((before, value), {})
                self.recorder.run(op, values)

    def _bind_arguments(self, args: Sequence[Any], kwargs: dict[str, Any]) -> list[Any]:
        parameters = self.function.schema.arguments
        inputs = len(list(self.graph.inputs()))
        # The schema of a method omits the first argument, the object.
        bound_arguments = list(args[: inputs - len(parameters)])
        rest = list(args[len(bound_arguments) :])
        for i, parameter in enumerate(parameters):
            if i < len(rest):
                bound_arguments.append(rest[i])
            elif parameter.name in kwargs:
                bound_arguments.append(kwargs[parameter.name])
            elif parameter.has_default:
                bound_arguments.append(parameter.default)
            else:
                raise TypeError(f"{self.function.name}() is missing value for argument '{parameter.name}'")
        return bound_arguments

    def _block(self, block: Block) -> list[Any]:
        """Run a block's nodes and return its results."""
        for node in block.nodes():
            self.node = node
            self.recorder.line = _line(node)
            results = self._run(node, node.kind(), [self.values[v] for v in node.inputs()])
            for value, x in zip(node.outputs(), results, strict=False):
                self.values[value] = x
        return [self.values[v] for v in block.outputs()]

    def _run(self, node: Node, kind: str, inputs: list[Any]) -> Sequence[Any]:
        match kind:
            case "prim::Constant":
                is_function = isinstance(node.output().type(), FunctionType)
                return [None if is_function else node.output().to_ivalue()]
            case "prim::GetAttr":
                slot = inputs[0].cls.slot(node.get("name"))
                assignment = self.set.get((inputs[0], slot))
                return [_attribute(inputs[0], slot) if assignment is None else assignment[1]]
            case "prim::SetAttr":
                self.set[inputs[0], inputs[0].cls.slot(node.get("name"))] = node, inputs[1]
                return []
            case "prim::If":
                blocks = list(node.blocks())
                return self._block(blocks[0] if inputs[0] else blocks[1])
            case "prim::Loop":
                return self._loop(node, inputs)
            case "prim::RaiseException":
                raise self._unsupported(f"the script raises: {inputs[0]}")
            case "prim::Uninitialized":
                return [None]
            case "prim::unchecked_cast":
                return inputs
            case "prim::ListConstruct":
                return [list(inputs)]
            case "prim::DictConstruct":
                return [dict(zip(inputs[::2], inputs[1::2], strict=True))]
            case "prim::TupleConstruct":
                return [tuple(inputs)]
            case "prim::TupleUnpack" | "prim::ListUnpack":
                return list(inputs[0])
            case "prim::CallFunction":  # only recursive calls are not inlined
                type: Any = next(iter(node.inputs())).type()
                return [call(self.recorder, type.function, inputs[1:], {})]
            case "prim::NumToTensor":
                op, values, _ = overload_named("aten::scalar_tensor", "").resolve((inputs[0],), {})
                return [self.recorder.run(op, values)]
        return self._operator(node, kind, inputs)

    def _loop(self, node: Node, inputs: list[Any]) -> list[Any]:
        max_iterations, goes_on, *carried = inputs
        (body,) = node.blocks()
        iteration = 0
        while goes_on and iteration < max_iterations:
            self.iterations += 1
            if self.iterations > _MAX_ITERATIONS:
                raise self._unsupported(
                    "a loop has too many iterations: each iteration is exported as separate nodes"
                )
            for value, x in zip(body.inputs(), [iteration, *carried], strict=True):
                self.values[value] = x
            goes_on, *carried = self._block(body)
            iteration += 1
        return carried

    def _operator(self, node: Node, kind: str, inputs: list[Any]) -> Sequence[Any]:
        recorder = self.recorder
        if inputs and isinstance(inputs[0], Tensor):
            if kind == "aten::size":
                return [list(recorder.shape(inputs[0])) if len(inputs) == 1 else recorder.size(*inputs)]
            if kind == "aten::len":
                return [recorder.size(inputs[0], 0)]
            if kind == "aten::numel":
                return [recorder.numel(inputs[0])]
            if _READS_NUMBER[kind]:
                return [recorder.element(inputs[0])]
        list_function = _LIST_FUNCTIONS.get(kind)
        if list_function is not None and isinstance(inputs[0], list | dict | str):
            return [list_function(*inputs)]
        tensors = any(isinstance(x, Tensor) for x in _flat(inputs)) or _makes_tensors(node)
        symbols = any(isinstance(x, SymNumber) for x in _flat(inputs))
        if symbols and not tensors and kind in _SYMBOL_FUNCTIONS:
            return [_SYMBOL_FUNCTIONS[kind](*inputs)]
        op = node.operator()
        recorded = getattr(op, "record", None) is not None
        # Results of operations on numbers, strings and metadata of tensors are constants.
        if not symbols and not (tensors and recorded):
            with recorder.paused():
                evaluated_outputs = evaluate(node, inputs)
            if evaluated_outputs is not NOT_EVALUATED:
                return evaluated_outputs  # type: ignore[no-any-return]
        if op is None or not recorded:
            raise self._unsupported(f"{kind} is not supported in exported programs")
        output = recorder.run(
            recorder.of_tensors(op),
            [
                devices.as_device(x) if isinstance(x, str) and p.kind == "Device" else x
                for p, x in zip(op.signature.parameters, inputs, strict=True)
            ],
        )
        return list(output) if len(list(node.outputs())) > 1 else [output]

    def _unsupported(self, why: str) -> UserError:
        assert self.node is not None  # set while a node runs
        return UserError(f"{self.function.name} cannot be exported: {why}\n{self.node.range}")


def _attribute(owner: Object, slot: int) -> Any:
    """Return an attribute of a script object. If the value is not an object, convert it to a Python value."""
    value = object_get(owner, slot, False)
    return value if isinstance(value, Object) else object_get(owner, slot)


def _makes_tensors(node: Node) -> bool:
    return any(value.type().str().startswith("Tensor") for value in node.outputs())


def _flat(values: Any) -> list[Any]:
    elements: list[Any] = []
    for x in values.values() if isinstance(values, dict) else values:
        elements += _flat(x) if isinstance(x, list | tuple | dict) else [x]
    return elements


def _line(node: Node) -> Line | None:
    """Return the source line of a node, or None for an unknown source line."""
    source_range = node.range
    if source_range is None:
        return None
    source_range = source_range.origin() or source_range
    if not source_range.source.filename:
        return None
    source = source_range.source.text.split("\n")[source_range.source.line_index(source_range.start)].strip()
    return Line(source_range.source.filename, source_range.line, "forward", source)
