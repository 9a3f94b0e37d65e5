"""Tracer of `ts.jit.trace` (trace recording): records the operations of a thread as nodes of a graph.

During a trace, calls of operators, scripted functions and modules are forwarded to the tracer. The example
shows a trace on the left, and its graph on the right:

    tracer = Tracer()
    x = tracer.add_input(x, "x")
    with tracer.recording():                     graph(%x : Float(2, 3, strides=[3, 1], ...)):
        y = x * 2                         =>       %1 : Long() = prim::Constant[value={2}]() # f.py:3:0
    tracer.add_output(y)                           %2 : Float(2, 3, ...) = aten::mul(%x, %1) # f.py:3:0

Tensors are identified by object identity. A tensor from outside the trace becomes a constant. Sizes are
tensors during tracing, so computations with sizes are recorded. Other conversions to Python values (`int(x)`,
`if x:`) are recorded as guards.

Submodule calls and forks are nodes with blocks, which `ts.passes.tracing.trace_scopes` converts to methods
and tasks.
"""

from __future__ import annotations

import linecache
import sys
import warnings
from collections.abc import Callable, Iterator
from functools import cache
from importlib import import_module
from typing import Any, Final, NamedTuple

import numpy as np

from ts import devices, dtypes
from ts._core.dispatch.autocast import cast_arguments
from ts._core.dispatch.overloads import overloads
from ts._core.tensor.tensor import Size, Tensor, wrap_array
from ts._core.thread.context import TracingScope, current_tracer
from ts._core.thread.tracer_protocol import TracerProtocol
from ts._core.value.objects import Object
from ts._core.vm.future import Future
from ts.errors import FrontendError
from ts.frontend.error_aggregation import hide_internal_frames
from ts.ir.graph import Graph, Node, Value
from ts.ir.source import Source, SourceRange
from ts.ir.types import (
    ANY,
    BOOL,
    CUSTOM_CLASS_PREFIX,
    DEVICE,
    FLOAT,
    INT,
    NUMBER,
    TENSOR,
    ClassType,
    CustomClassType,
    DictType,
    FunctionType,
    FutureType,
    ListType,
    OptionalType,
    TupleType,
    Type,
    erase_shape,
)
from ts.ops import registry
from ts.runtime.function import compile_function
from ts.tracing import guards, messages, method_handlers
from ts.tracing.graph_outputs import output_value
from ts.tracing.indexing import RecordedIndexing
from ts.tracing.python_functions import record_call
from ts.tracing.source_location import program_frame
from ts.tracing.types import (
    CONVERSIONS,
    check_size,
    dtype_of_number,
    name_in,
    tensor_type,
    type_of,
)

_NUMBER_KINDS: Final[dict[str, Type]] = {
    "int": INT,
    "float": FLOAT,
    "bool": BOOL,
}  # type name in schemas -> type
_INDEXING: Final = RecordedIndexing(skips_whole_slices=False)
_TRACED_IN_PLACE: Final = registry.field_by_name("traced_in_place")


def _number_type(kind: str) -> Type:
    """Return the number type that a schema type names.

    For a list of numbers, return the type of its elements.
    """
    return _NUMBER_KINDS.get(kind.removesuffix("[]"), NUMBER)


@cache
def _trace_function(path: str) -> Callable[..., Any]:
    """Import the function that an operator record names as "module:function"."""
    module, _, name = path.partition(":")
    function: Callable[..., Any] = getattr(import_module(module), name)
    return function


class TracerWarning(Warning):
    """Warning about a trace that may be wrong for other inputs."""


class Options(NamedTuple):
    """Options of a trace."""

    # if True, the results of the traced function must not contain dicts, and a list in them causes a warning
    strict: bool = True
    force_outplace: bool = False
    guards: str = "raise"  # action if a guard fails: "raise", "warn" or "off"


DEFAULT: Final = Options()


class TracedFuture(Future[Any]):
    """Future of a `fork` in a trace. The function has finished, and `wait` is recorded."""

    def wait(self) -> Any:
        """Return the result. Record `aten::wait` if a trace is in progress."""
        tracer = current_tracer()
        result = super().wait()
        if tracer is not None:
            tracer.wait(self, result)
        return result


class Tracer(TracerProtocol):
    """Tracer of a call of a function or module."""

    is_trace = True
    records_slots = True  # `x & y` is recorded under the name of Python's method, as aten::__and__

    def __init__(self, options: Options = DEFAULT) -> None:
        self.graph = Graph()
        self.options = options
        self.paths: dict[int, str] = {}  # id of a module -> its path in the traced module
        # One dict for the trace, and one for each fork that is being recorded. A dict maps the id of an
        # object to (object, its graph value).
        self._values: list[dict[int, tuple[object, Value]]] = [{}]
        # path such as "__module.weight" -> value that reads the attribute
        self._attributes: dict[str, Value] = {}
        self._ranges: dict[tuple[str, int], SourceRange] = {}
        self.deterministic_nodes: set[Node] = set()  # nodes known not to depend on random numbers
        # True while `put` runs. Its writes are recorded as in-place operators even if `force_outplace` is set
        self._assigns_items = False
        # (tensor, constant node) for constants that are the same object in all runs of the trace
        self.shared_constants: list[tuple[Tensor, Node]] = []
        # Id of the frame that calls the tracer. Values of the trace are not named after variables of this
        # frame
        self._caller = id(program_frame())

    # ---- recording contexts --------------------------------------------------------------------------

    def recording(self) -> TracingScope:
        """Return a context manager in which the operations of this thread are recorded."""
        outer = current_tracer()
        if outer is not None:
            raise RuntimeError(outer.tracing_error)
        return TracingScope(self)

    def paused(self) -> TracingScope:
        """Return a context manager in which operations are not recorded."""
        return TracingScope(None)

    def unrecorded(self, function: Callable[..., Any], *args: Any) -> Any:
        """Return function(*args), called without recording."""
        with self.paused():
            return function(*args)

    # ---- source locations ----------------------------------------------------------------------------

    def source_range(self) -> SourceRange:
        """Return the source range of the program line that is executing."""
        frame = program_frame()
        key = frame.f_code.co_filename, frame.f_lineno
        source_range = self._ranges.get(key)
        if source_range is None:
            line = linecache.getline(*key).rstrip("\n")
            source_range = self._ranges[key] = SourceRange(Source(f"{line}\n", *key), 0, len(line))
        return source_range

    def warn(self, message: str) -> None:
        """Issue a TracerWarning at the program line that is executing."""
        frame = program_frame()
        registry = frame.f_globals.setdefault("__warningregistry__", {})
        name = frame.f_globals.get("__name__", "")
        warnings.warn_explicit(
            message, TracerWarning, frame.f_code.co_filename, frame.f_lineno, name, registry
        )

    # ---- graph values of tensors and numbers ---------------------------------------------------------

    def set_value(self, obj: object, value: Value) -> None:
        """Map `obj` to a graph value."""
        self._values[-1][id(obj)] = obj, value

    def find(self, obj: object) -> Value | None:
        """Return the graph value that was recorded for an object, or None."""
        for table in reversed(self._values):
            entry = table.get(id(obj))
            if entry is not None:
                return entry[1]
        return None

    def tensor(self, x: Tensor) -> Value:
        """Return the graph value of a tensor, named after the Python variable that holds the tensor.

        A tensor that was not recorded becomes a constant.
        """
        value = self.find(x)
        if value is None:
            return self.constant_tensor(x)
        if not value.has_debug_name():
            frame = program_frame()
            with self.paused():
                name = "" if id(frame) == self._caller else name_in(frame, x)
            value.set_debug_name(name)
        return value

    def constant_tensor(self, x: Tensor) -> Value:
        """Return a constant for a tensor from outside the trace. Raise RuntimeError if it requires grad."""
        if x.requires_grad:
            raise RuntimeError(messages.REQUIRES_GRAD.format(x))
        value = self.insert_tensor(x, self.source_range())
        self.set_value(x, value)
        return value

    def insert_tensor(self, x: Tensor, source_range: SourceRange) -> Value:
        """Insert a tensor constant into the graph."""
        # The insertion of the constant calls operators on the tensor. These calls must not be recorded.
        with self.paused():
            return self.graph.insert_constant(x, source_range, tensor_type(x))

    def wrapped_number(self, scalar: Any) -> Value:
        """Return a constant for a number: as in PyTorch, a 0-dim tensor marked as a wrapped number."""
        with self.paused():
            x = wrap_array(np.asarray(scalar, dtype_of_number(scalar)))
            x.is_wrapped_number = True  # type: ignore[attr-defined]
        return self.insert_tensor(x, self.source_range())

    def constant(self, value: Any, type: Type | None = None) -> Value:
        """Insert a constant into the graph, at the current source range."""
        return self.graph.insert_constant(value, None if value is None else self.source_range(), type)

    def number(self, x: Tensor, type: Type) -> Value:
        """Return the graph value of the number in tensor `x`.

        The conversion node is inserted directly after the node that computes `x`.
        """
        value = self.tensor(x)
        node = value.node()
        graph = self.graph
        inner = graph.create(CONVERSIONS[type], (value,))
        if node.kind() == "prim::Param":
            node.owning_block().prepend_node(inner)
        else:
            inner.insert_after(node)
        return inner.output().set_type(type)

    # ---- recording of operators ----------------------------------------------------------------------

    def operator(self, operators: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run an operator and record it."""
        with self.paused():
            op, values, raw_arguments = operators.resolve(args, kwargs)
        if op.record is not None and op.record.trace_function:
            result = _trace_function(op.record.trace_function)(op.name, *raw_arguments)
            if result is not NotImplemented:
                return result
        # The casts of arguments by autocast are recorded, so that the trace has the same result when it runs
        # outside autocast.
        cast = cast_arguments(op, values)
        raw_arguments = [g if c is v else c for g, v, c in zip(raw_arguments, values, cast, strict=True)]
        values = cast
        if self.shared_constants:
            for parameter, x in zip(op.signature.parameters, values, strict=True):
                if parameter.written and isinstance(x, Tensor):
                    method_handlers.copy_written_constants(self, x)
        inputs = self._arguments(op, values, raw_arguments)
        source_range = self.source_range()
        written = values[0] if op.name.endswith("_") and op.signature.parameters[0].written else None
        if self.options.force_outplace and isinstance(written, Tensor):
            self._warn_of_views(op.name, written)
        with self.paused():
            result = op.call_list(values)
        if self.options.force_outplace and isinstance(written, Tensor) and not self._assigns_items:
            output = method_handlers.functional_write(self, op, inputs, values)
            if output is not None:
                self.bind(output, result)
                return operators.for_python(op, result)
        self._record(op, inputs, result, source_range)
        return operators.for_python(op, result)

    def _arguments(self, op: Any, values: list[Any], raw_arguments: list[Any]) -> list[Value]:
        parameters = op.signature.parameters
        makes = not any(p.kind.startswith("Tensor") for p in parameters)
        inputs = []
        raw_arguments = [self._numbers(p.kind, raw) for p, raw in zip(parameters, raw_arguments, strict=True)]
        # True if a number as argument `other` is recorded as a tensor, as in PyTorch
        wraps = op.record is not None and op.record.wraps_numbers
        for parameter, value, raw in zip(parameters, values, raw_arguments, strict=True):
            if value is None and parameter.name == "pin_memory" and op.record.family != "to":
                value = False
            elif value is None and parameter.kind == "Device" and makes:
                value = devices.CPU
            as_tensor = wraps and parameter.name == "other"
            inputs.append(self._argument(parameter.kind, value, raw, as_tensor))
        if op.name == "aten::copy_":
            inputs[-1].node().range = None  # as in PyTorch, the last constant has no source location
        return inputs

    def _numbers(self, kind: str, raw: Any) -> Any:
        """Return the argument `raw`.

        Tensors that are passed for a parameter of a number type are replaced by recorded numbers.
        """
        if isinstance(raw, Tensor) and not kind.startswith("Tensor"):
            return self.number(raw, _number_type(kind))
        if isinstance(raw, list | tuple) and not kind.startswith("Tensor"):
            elem = _number_type(kind)
            return [self.number(x, elem) if isinstance(x, Tensor) else x for x in raw]
        return raw

    def _argument(self, kind: str, value: Any, raw: Any, as_tensor: bool) -> Value:
        """Return the graph value of an argument of schema type `kind`. `raw` is the argument as passed."""
        if value is None:
            return self.constant(None)
        if isinstance(raw, Value):
            return self.construct_list([raw] * len(value), _number_type(kind)) if kind.endswith("[]") else raw
        if kind == "Tensor" or (kind == "Scalar" and as_tensor):
            if isinstance(raw, Tensor):
                return self.tensor(raw)
            return self.tensor(value) if isinstance(value, Tensor) else self.wrapped_number(value)
        if kind in ("Tensor[]", "Tensor?[]"):
            items = [self.constant(None) if x is None else self.tensor(x) for x in value]
            return self.construct_list(items, TENSOR if kind == "Tensor[]" else OptionalType(TENSOR))
        if kind.endswith("[]"):
            raws = raw if isinstance(raw, list | tuple) and len(raw) == len(value) else value
            items = [
                r if isinstance(r, Value) else self.constant(v) for v, r in zip(value, raws, strict=True)
            ]
            return self.construct_list(items, _number_type(kind))
        if kind == "Device":
            return self.constant(value, DEVICE)
        if kind == "Generator":
            raise RuntimeError(
                "a random generator cannot be part of a trace; seed the default generator instead"
            )
        if kind.startswith(CUSTOM_CLASS_PREFIX) and (graph_value := self.find(value)) is not None:
            return graph_value
        return self.constant(value)

    def construct_list(self, items: list[Value], elem: Type) -> Value:
        """Record a node that constructs a list, and return its output."""
        node = self.graph.insert_node(self.graph.create("prim::ListConstruct", items))
        return node.output().set_type(ListType(elem))

    def _record(self, op: Any, inputs: list[Value], result: Any, source_range: SourceRange) -> None:
        node = self.graph.create(self._name(op), inputs, 0)
        node.range = source_range
        self.graph.insert_node(node)
        returns = op.signature.returns
        results = (result,) if len(returns) == 1 else result or ()
        for x in results:
            self.bind(node.add_output(), x)

    def _name(self, op: Any) -> str:
        """Return the operator name to record. `force_outplace` selects the out-of-place name if it exists."""
        name: str = op.name if op.record is None else op.record.traced_as or op.name
        if self.options.force_outplace and name.endswith("_") and not _TRACED_IN_PLACE[name]:
            outplace = name.removesuffix("_")
            if any(other.nargs == op.nargs for other in registry.lookup(outplace)):
                return outplace
        return name

    def _warn_of_views(self, name: str, written: Tensor) -> None:
        """Warn if other live tensors share the memory of `written`.

        Their values differ when the trace runs, because it does not write to them.
        """
        # number of references to `x` by the tracer: in `table`, in the variable `x`, and as argument of
        # `getrefcount`
        own = 3
        live = 0
        for table in self._values:
            for x, _ in table.values():
                if isinstance(x, Tensor) and sys.getrefcount(x) > own:
                    live += np.may_share_memory(x.array, written.array)
        if live > 1:
            operator = name.removeprefix("aten::")
            reason = " (possibly due to an assignment)" if _TRACED_IN_PLACE[name] else ""
            self.warn(messages.VIEWS.format(live, operator, reason))

    def bind(self, value: Value, x: Any) -> None:
        """Map the recorded result `x` to the graph value `value`.

        If `x` is a container, insert nodes that unpack `value`, and map the elements. If `x` is a number,
        insert a guard.
        """
        value.set_type(type_of(x))
        graph = self.graph
        if isinstance(x, Tensor | Object | Future) or isinstance(value.type(), CustomClassType):
            self.set_value(x, value)
        elif isinstance(x, tuple | list) and len(x):
            kind = "prim::TupleUnpack" if isinstance(x, tuple) else "prim::ListUnpack"
            node = graph.insert_node(graph.create(kind, (value,), 0))
            for item in x:
                self.bind(node.add_output(), item)
        elif isinstance(x, dict):
            for key, item in x.items():
                node = graph.insert_node(graph.create("aten::__getitem__", (value, self.constant(key))))
                self.bind(node.output(), item)
        elif isinstance(x, bool | int | float):
            guards.guard(self, value, x)

    # ---- recording of tensor methods -----------------------------------------------------------------

    def size(self, x: Tensor, dim: Any = None) -> Any:
        """Return `x.size(dim)` as a tensor with one element."""
        if dim is None:
            return self.shape(x)
        with self.paused():
            length = x.size(dim)
            dim = int(dim)
        return self._size("aten::size", [self.tensor(x), self.constant(dim)], length)

    def shape(self, x: Tensor) -> Any:
        """Return `x.shape`. The sizes are tensors with one element."""
        return Size([self.size(x, i) for i in range(x.ndim)])

    def numel(self, x: Tensor) -> Any:
        """Return `x.numel()` as a tensor with one element."""
        return self._size("aten::numel", [self.tensor(x)], x.array.size)

    def _size(self, kind: str, inputs: list[Value], length: int) -> Tensor:
        graph = self.graph
        node = graph.create(kind, inputs)
        node.range = self.source_range()
        graph.insert_node(node).output().set_type(INT)
        wrapped = graph.insert_node(graph.create("prim::NumToTensor", (node.output(),)))
        tensor = wrap_array(np.asarray(length, np.int64))
        self.set_value(tensor, wrapped.output().set_type(tensor_type(tensor).with_(requires_grad=None)))
        return tensor

    def get(self, x: Tensor, index: Any) -> Any:
        """Record `x[index]` and return the result."""
        return _INDEXING.get(x, index)

    def put(self, x: Tensor, index: Any, value: Any) -> None:
        """Record `x[index] = value`."""
        self._assigns_items = True
        try:
            _INDEXING.put(x, index, value)
        finally:
            self._assigns_items = False

    def iterate(self, x: Tensor) -> Iterator[Tensor]:
        """Return an iterator over `x[0]`, `x[1]`, ...

        Warn that the number of iterations is constant in the trace.
        """
        self.warn(messages.ESCAPES["iteration"])
        return iter(overloads("unbind")(x, 0))

    def warn_constructed(self, function: str) -> None:
        """Warn that the result of a constructor function becomes a constant of the trace."""
        if function in messages.CONSTRUCTORS_WITH_WARNING:
            self.warn(messages.CONSTRUCTED.format(function))

    def record_constructed(self, x: Tensor, function: str) -> None:
        """Record a tensor that a function constructed from Python values."""
        method_handlers.record_constructed(self, x, function)

    def record_alias(self, x: Tensor, recorded: Tensor) -> None:
        """Map `x` to the graph value of `recorded`."""
        value = self.find(recorded)
        if value is not None:
            self.set_value(x, value)

    def record_escape(self, x: Tensor, kind: str, python_value: Any) -> None:
        """Warn that a tensor is converted to a Python value, and record a guard."""
        guards.guard_python_value(self, x, kind, python_value)

    # ---- recording of scripted functions, forks and modules ------------------------------------------

    def function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Run a scripted function or method, and record the call."""
        schema = function.schema
        with self.paused():
            bound = function.bind(args, kwargs)
            check_size(bound)
        graph = self.graph
        values = [self.value(x, a.type) for x, a in zip(bound, schema.arguments, strict=True)]
        if bound and isinstance(bound[0], Object) and isinstance(schema.arguments[0].type, ClassType):
            node = graph.create("prim::CallMethod", values).set("name", function.name)
        else:
            callee = graph.insert_node(
                graph.create("prim::Constant").set("name", function.name, "s")
            ).output()
            node = graph.create("prim::CallFunction", (callee.set_type(FunctionType(function)), *values))
        with self.paused():
            result = function(*bound)
            check_size(result)
        graph.insert_node(node)
        self.bind(node.output(), result)
        return result

    def python_function(self, cls: Any, args: tuple[Any, ...], call: Callable[[], Any]) -> Any:
        """Run a call of an `autograd.Function`, and record it."""
        return record_call(self, cls, args, call)

    def scripted(self, function: Callable[..., Any]) -> Any:
        """Compile a function that `script_if_tracing` decorates."""
        try:
            return compile_function(function)
        except FrontendError as error:
            raise hide_internal_frames(error) from error.__cause__

    def fork(
        self, function: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> TracedFuture:
        """Run a function immediately, and record it as a forked task with its own block."""
        graph = self.graph
        node = graph.insert_node(graph.create("prim::TracedFork"))
        block = node.add_block()
        self._values.append({})
        with graph.inserting_at_end(block):
            result = function(*args, **kwargs)
            check_size(result)
            value = self.value(result)
        self._values.pop()
        block.register_output(value)
        node.output().set_type(FutureType(value.type()))
        future = TracedFuture()
        future.set_result(result)
        self.set_value(future, node.output())
        return future

    def wait(self, future: Future[Any], result: Any) -> None:
        """Record that the program waits for `future`. The forked task of `future` has the result `result`."""
        value = self.find(future)
        if value is None:
            raise RuntimeError("a future that was created outside of a trace cannot be awaited inside of it")
        graph = self.graph
        node = graph.insert_node(graph.create("aten::wait", (value,)))
        self.bind(node.output(), result)

    def forward_of(self, module: Any) -> Callable[..., Any]:
        """Return `forward` of a module. Submodules of the traced module are recorded in separate blocks."""
        path = self.paths.get(id(module))
        if path is None or module.__dict__.get("_object") is not None:
            return module.forward  # type: ignore[no-any-return]
        return lambda *args, **kwargs: self._forward(path, module.forward, args, kwargs)

    def _forward(
        self, path: str, forward: Callable[..., Any], args: tuple[Any, ...], kwargs: dict[str, Any]
    ) -> Any:
        graph = self.graph
        scope = graph.scope
        node = graph.create("prim::TracedModuleForward", (self._attributes[path],), 0).set("scope", path)
        block = graph.insert_node(node).add_block()
        graph.scope = f"{scope}/{path}" if scope else path
        try:
            with graph.inserting_at_end(block):
                return forward(*args, **kwargs)
        finally:
            graph.scope = scope

    def add_attribute(self, path: str, obj: Any, type: Type) -> None:
        """Record an attribute of the traced module, at a path such as "__module.layer.weight"."""
        node = self.graph.insert_node(self.graph.create("prim::TracedAttr").set("scope", path))
        self._attributes[path] = node.output().set_type(type)
        if obj is not None and self.find(obj) is None:
            self.set_value(obj, node.output())

    def value(self, x: Any, type: Type = ANY) -> Value:
        """Return the graph value of an argument or result, converted to the expected type."""
        graph = self.graph
        if isinstance(type, OptionalType) and x is not None:
            type = type.elem
        if isinstance(x, Tensor):
            return self.number(x, type) if type in CONVERSIONS else self.tensor(x)
        if isinstance(x, tuple) and not isinstance(type, ListType):
            element_types = type.elems if isinstance(type, TupleType) else [ANY] * len(x)
            items = [self.value(item, t) for item, t in zip(x, element_types, strict=True)]
            node = graph.insert_node(graph.create("prim::TupleConstruct", items))
            return node.output().set_type(TupleType([item.type() for item in items]))
        if isinstance(x, list | tuple):
            elem = type.elem if isinstance(type, ListType) else None
            items = [self.value(item, elem or ANY) for item in x]
            return self.construct_list(items, elem or erase_shape(items[0].type() if items else TENSOR))
        if isinstance(x, dict):
            key, item = (type.key, type.value) if isinstance(type, DictType) else (ANY, ANY)
            pairs = [
                self.value(each, t) for pair in x.items() for each, t in zip(pair, (key, item), strict=True)
            ]
            node = graph.insert_node(graph.create("prim::DictConstruct", pairs))
            dict_type = type if isinstance(type, DictType) else type_of(x)
            return node.output().set_type(dict_type)
        if isinstance(x, Object | Future):
            graph_value = self.find(x)
            if graph_value is None:
                what = f"<{x.cls.type}>" if isinstance(x, Object) else "a Future"
                raise RuntimeError(messages.NOT_TRACED.format(what))
            return graph_value
        handle = getattr(x, "_object", None)
        if isinstance(handle, Object):
            return self.value(handle)
        if isinstance(x, dtypes.dtype | dtypes.layout | dtypes.memory_format):
            x = x.code
        if isinstance(x, int) and type is FLOAT:
            x = float(x)
        value = graph.try_insert_constant(x, None if x is None else self.source_range())
        if value is None:
            raise RuntimeError(f"a value of type {x.__class__.__name__} cannot be part of a trace")
        return value

    # ---- inputs and outputs of the trace -------------------------------------------------------------

    def add_input(self, x: Any, name: str = "") -> Any:
        """Add a graph input for an argument of the traced function, and return the object to pass to it."""
        check_size(x)  # raises an error if `x` has too many elements
        value = self.graph.add_input(type=type_of(x))
        value.set_debug_name(name)
        return self._input(x, value)

    def _input(self, x: Any, value: Value) -> Any:
        """Return the object that the traced function gets for input `x`.

        If a tensor is passed several times, it is copied, so that each occurrence maps to a separate graph
        value.
        """
        graph = self.graph
        if isinstance(x, Tensor):
            if self.find(x) is not None:
                requires_grad_flag, x = x.requires_grad, wrap_array(x.array)
                x.requires_grad = requires_grad_flag
            self.set_value(x, value.set_type(tensor_type(x)))
            return x
        if isinstance(x, dict):
            result = {}
            for key, item in x.items():
                node = graph.create("aten::__getitem__", (value, self.constant(key)))
                result[key] = self._input(
                    item, graph.insert_node(node).output().set_type(erase_shape(type_of(item)))
                )
            return result
        kind = "prim::TupleUnpack" if isinstance(x, tuple) else "prim::ListUnpack"
        node = graph.insert_node(graph.create(kind, (value,), 0))
        outputs = [node.add_output(type=type_of(item)) for item in x]
        items = [self._input(item, output) for item, output in zip(x, outputs, strict=True)]
        if isinstance(x, tuple) and hasattr(x, "_fields"):
            return type(x)(*items)
        return tuple(items) if isinstance(x, tuple) else items

    def add_output(self, x: Any) -> None:
        """Register the result of the traced function as the output of the graph."""
        self.graph.register_output(output_value(self, x))
