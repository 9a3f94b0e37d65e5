"""Proxy objects, which stand for values during tracing, and record operations by operator overloading.

Example:

    x = Proxy(graph.placeholder("x"))
    y = ts.relu(x) + 1              # adds two nodes. y is the proxy of the second one
    y.shape[0], y.sum(dim=1)        # adds further nodes

Python operators, methods of tensors and functions with `__torch_function__` become nodes. Operations that
need the value itself (`if`, `for`, `len`) raise an error, unless the tracer overrides them.
"""

from __future__ import annotations

import collections
import copy
import dataclasses
import dis
import enum
import logging
import operator
import os
import sys
import traceback
import types
from collections.abc import Callable, Iterator
from typing import Any, Final

import ts
from ts._core.dispatch.overloads import OverloadSet
from ts._core.tensor.tensor import Tensor
from ts.fx import traceback as fx_traceback
from ts.fx.graph import Graph
from ts.fx.node import Node, Target, map_aggregate, map_arg
from ts.fx.op_locations import is_tensor_method
from ts.fx.operator_formats import magic_methods, reflectable_magic_methods
from ts.fx.operator_schemas import check_for_mutable_operation
from ts.fx.torch_function_forwarding import forwarded_call, is_method_inside
from ts.fx.torch_names import simple_name
from ts.nn.parameter import Parameter
from ts.ops.namespace import OpOverload, Packet, overload_of_call
from ts.unsupported import names_for

__all__ = [
    "Attribute", "GraphAppendingTracer", "ParameterProxy", "Proxy", "Scope", "ScopeContextManager",
    "TraceError", "TracerBase", "assert_fn",
]  # fmt: skip

log = logging.getLogger(__name__)

_HERE: Final = os.path.dirname(__file__)
_COPIED_META: Final = (
    "nn_module_stack", "torch_fn", "source_fn_stack", "original_aten", "recompute", "ac_graph_id",
    "has_backward_hook", "from_node", "quantization_tag", "_numeric_debug_handle", "custom",
    "partitioner_tag",
)  # fmt: skip
base_types: Final = (
    str, int, float, bool, complex, ts.dtype, Tensor, ts.device, ts.memory_format, ts.layout,
)  # fmt: skip


class TraceError(ValueError):
    """Raised for an operation on a proxy that needs the value itself, such as `if proxy`."""


class Scope:
    """Module whose code is being traced: dotted name and class."""

    def __init__(self, module_path: str, module_type: Any) -> None:
        self.module_path = module_path
        self.module_type = module_type


class ScopeContextManager:
    """Context manager that copies `current_scope` to `scope`, and restores `scope` at its end."""

    def __init__(self, scope: Scope, current_scope: Scope) -> None:
        self._before = copy.copy(scope)
        scope.module_path = current_scope.module_path
        scope.module_type = current_scope.module_type
        self._scope = scope

    def __enter__(self) -> Scope:
        return self._scope

    def __exit__(self, *_: object) -> None:
        self._scope.module_path = self._before.module_path
        self._scope.module_type = self._before.module_type


class TracerBase:
    """Base class of tracers. A tracer creates nodes for operations on proxies.

    record_stack_traces         record the program's stack trace in nodes
    check_mutable_operations    raise an error for calls that mutate arguments
    trace_asserts               record `assert proxy` as a node
    proxy_buffer_attributes     create proxies for buffers, as for parameters
    traced_func_name            name of the root module's method that is traced
    """

    graph: Graph
    record_stack_traces = False
    _record_forward_stack_traces_only = False
    check_mutable_operations = False
    trace_asserts = False
    proxy_buffer_attributes = False
    traced_func_name = "forward"
    scope: Scope
    module_stack: collections.OrderedDict[str, tuple[str, Any]]
    node_name_to_scope: dict[str, tuple[str, Any]]

    def create_node(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
    ) -> Node:
        """Append a node to the graph and record its metadata."""
        if kind == "call_function" and self.check_mutable_operations:
            check_for_mutable_operation(target, args, kwargs)  # type: ignore[arg-type]
        node = self.graph.create_node(kind, target, args, kwargs, name, type_expr)
        self.node_name_to_scope[node.name] = self.scope.module_path, self.scope.module_type
        if fx_traceback.has_preserved_node_meta():
            self._copy_current_meta(node)
        elif self.module_stack:
            node.meta["nn_module_stack"] = copy.copy(self.module_stack)
        if self.record_stack_traces and not node.stack_trace:
            frames = self._filter_traceback_frames(traceback.extract_stack())
            if frames:
                node.stack_trace = "".join(frames.format()).strip()
        return node

    def _copy_current_meta(self, node: Node) -> None:
        """Copy the current metadata of `ts.fx.traceback` to `meta` of a node."""
        current = fx_traceback.get_current_meta()
        if current.get("stack_trace"):
            node.stack_trace = current["stack_trace"]
        for field in _COPIED_META:
            if field in current:
                node.meta[field] = copy.copy(current[field])
        if "in_grad_fn" in current:
            node.meta["seq_nr"] = current["grad_fn_seq_nr"][-1]
        elif "seq_nr" in current:
            node.meta["seq_nr"] = current["seq_nr"]
        replayed = fx_traceback.get_current_replay_node()
        if replayed is not None:
            node.meta["is_functional_regenerated"] = True
            node.meta.update(
                {k: replayed.meta[k] for k in ("custom", "stack_trace", "seq_nr") if k in replayed.meta}
            )
        if current.get("autograd_backward", False):
            node.meta["autograd_backward"] = True

    def _filter_traceback_frames(self, user_stack_summary: traceback.StackSummary) -> traceback.StackSummary:
        """Return the outermost frame of a function named `forward` and all frames inside it.

        With `_record_forward_stack_traces_only`, return only frames of functions named `forward`. In both
        cases, omit frames of the tracer.
        """
        frames = list(user_stack_summary)
        if self._record_forward_stack_traces_only:
            frames = [f for f in frames if f.name == "forward"]
        else:
            first = next((i for i, f in enumerate(frames) if f.name == "forward"), len(frames))
            frames = frames[first:]
        return traceback.StackSummary.from_list([f for f in frames if not f.filename.startswith(_HERE)])

    def _find_user_frame(self) -> types.FrameType | None:
        """Return the innermost frame of the code that is traced."""
        frame: types.FrameType | None = sys._getframe(1)
        while frame is not None and frame.f_code.co_filename.startswith(_HERE):
            frame = frame.f_back
        return frame

    def proxy(self, node: Node) -> Proxy:
        """Return a proxy for the value of `node`."""
        return Proxy(node, self)

    def create_proxy(
        self,
        kind: str,
        target: Target,
        args: tuple[Any, ...],
        kwargs: dict[str, Any],
        name: str | None = None,
        type_expr: Any = None,
        proxy_factory_fn: Callable[[Node], Proxy] | None = None,
    ) -> Proxy:
        """Create a node whose arguments may contain proxies, and return a proxy for its value.

        proxy_factory_fn   creates the proxy, instead of the method `proxy`
        """
        new_args, new_kwargs = self.create_arg(args), self.create_arg(kwargs)
        if not isinstance(new_args, tuple):
            raise AssertionError(f"Expected args_ to be tuple, got {type(new_args)}")
        if not isinstance(new_kwargs, dict):
            raise AssertionError(f"Expected kwargs_ to be dict, got {type(new_kwargs)}")
        node = self.create_node(kind, target, new_args, new_kwargs, name, type_expr)
        return proxy_factory_fn(node) if proxy_factory_fn else self.proxy(node)

    def create_arg(self, a: Any) -> Any:
        """Convert a value to an argument of a node. Raise NotImplementedError if its type is not allowed."""
        if isinstance(a, Proxy):
            return a.node
        if hasattr(a, "__fx_create_arg__"):
            return a.__fx_create_arg__(self)
        if isinstance(a, tuple):
            items = [self.create_arg(x) for x in a]
            return type(a)(*items) if hasattr(a, "_fields") else type(a)(items)
        if isinstance(a, list):
            return [self.create_arg(x) for x in a]
        if isinstance(a, dict):
            return {self._key(k): self.create_arg(v) for k, v in a.items()}
        if isinstance(a, slice):
            return slice(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, range):
            return range(self.create_arg(a.start), self.create_arg(a.stop), self.create_arg(a.step))
        if isinstance(a, OpOverload | Packet):
            return a
        if isinstance(a, OverloadSet):
            raise NotImplementedError(f"argument of type: {type(a)}")
        if dataclasses.is_dataclass(a):
            fields = {f.name: self.create_arg(getattr(a, f.name)) for f in dataclasses.fields(a)}
            return self.create_node("call_function", type(a), (), fields)
        if isinstance(a, (*base_types, enum.Enum)) or a is None or a is ...:
            return a
        raise NotImplementedError(f"argument of type: {type(a)}")

    def _key(self, key: Any) -> Any:
        def raise_error(node: Node) -> None:
            raise RuntimeError(
                f"Keys for dictionaries used as an argument cannot contain a Node. Got key: {node}"
            )

        if not isinstance(key, str):
            key = self.create_arg(key)
            map_arg(key, raise_error)
        return key

    def to_bool(self, obj: Proxy) -> bool:
        """Return the truth value of a proxy.

        This class raises TraceError, but programs may override the method.
        """
        raise TraceError("symbolically traced variables cannot be used as inputs to control flow")

    def iter(self, obj: Proxy) -> Iterator[Any]:
        """Return an iterator over a proxy.

        This class raises TraceError, but programs may override the method.
        """
        raise TraceError(
            "Proxy object cannot be iterated. This can be attempted when the Proxy is used in a loop or"
            " as a *args or **kwargs function argument. See the torch.fx docs on pytorch.org for a "
            "more detailed explanation of what types of control flow can be traced, and check out the"
            " Proxy docstring for help troubleshooting Proxy iteration errors"
        )

    def keys(self, obj: Proxy) -> Any:
        """Return the keys of proxy `obj` for `**obj`.

        This class records a call of `obj.keys()` and returns its proxy, but programs may override the method.
        """
        return Attribute(obj, "keys")()


class GraphAppendingTracer(TracerBase):
    """Tracer that appends nodes to an existing graph."""

    def __init__(self, graph: Graph) -> None:
        super().__init__()
        self.graph = graph
        self.scope = Scope("", None)
        self.module_stack = collections.OrderedDict()
        self.node_name_to_scope = {}


def assert_fn(x: object) -> None:
    """Raise AssertionError if `x` is false. Traced `assert` statements call this function."""
    if not x:
        raise AssertionError("Assertion failed")


def _instruction(frame: types.FrameType) -> tuple[list[dis.Instruction], int]:
    """Return the bytecode instructions of a frame, and the list index of the instruction being executed."""
    every = [
        i for i in dis.get_instructions(frame.f_code) if i.offset <= frame.f_lasti or i.opname != "CACHE"
    ]
    return every, max(k for k, i in enumerate(every) if i.offset <= frame.f_lasti)


class Proxy:
    """Stands for the value of a node, as in the example of the module docstring."""

    def __init__(self, node: Node, tracer: TracerBase | None = None) -> None:
        self.tracer = GraphAppendingTracer(node.graph) if tracer is None else tracer
        self.node = node

    def __repr__(self) -> str:
        return f"Proxy({self.node.name})"

    def __getattr__(self, k: str) -> Attribute:
        # No node is created yet. A call of the `Attribute` creates a `call_method` node, and any other use of
        # the `Attribute` creates a node that calls `getattr`.
        return Attribute(self, k)

    def __getstate__(self) -> dict[str, Any]:
        return self.__dict__

    def __setstate__(self, d: dict[str, Any]) -> None:
        self.__dict__ = d

    def __deepcopy__(self, memo: dict[int, Any]) -> Proxy:
        fields = {}
        for name, value in self.__dict__.items():
            try:
                fields[name] = copy.deepcopy(value, memo)
            except Exception:
                log.warning(
                    "Shallow copy %s of Proxy because it cannot be deepcopied. Proxy is created for node %s",
                    name,
                    self.node.name,
                )
                fields[name] = copy.copy(value)
        copied = Proxy(fields["node"], fields["tracer"])
        copied.__dict__.update(fields)
        return copied

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        """Record a `call_method` node for `__call__`."""
        return self.tracer.create_proxy("call_method", "__call__", (self, *args), kwargs)

    def __iter__(self) -> Iterator[Any]:
        instructions, at = _instruction(sys._getframe(1))
        # The caller executes `a, b = proxy`. The argument of the instruction is the number of targets.
        if instructions[at].opname == "UNPACK_SEQUENCE":
            return (self[i] for i in range(instructions[at].argval))  # type: ignore[index]
        return self.tracer.iter(self)

    def __abs__(self) -> Proxy:
        return self.tracer.create_proxy("call_function", operator.abs, (self,), {})

    def __bool__(self) -> bool:
        if self.tracer.trace_asserts and _is_asserted(sys._getframe(1)):
            self.tracer.create_proxy("call_function", assert_fn, (self,), {})
            return True
        return self.tracer.to_bool(self)

    def keys(self) -> Any:
        """Return `tracer.keys(self)`, by default a `call_method` node."""
        return self.tracer.keys(self)

    def __len__(self) -> int:
        raise RuntimeError(
            "'len' is not supported in symbolic tracing by default. If you want this call to be recorded, "
            "please call torch.fx.wrap('len') at module scope"
        )

    @classmethod
    def __torch_function__(
        cls,
        orig_method: Callable[..., Any],
        types: tuple[type, ...],
        args: tuple[Any, ...] | None = None,
        kwargs: dict[str, Any] | None = None,
    ) -> Any:
        args, kwargs = args or (), kwargs or {}
        tracers: dict[TracerBase, None] = {}

        def collect(x: Any) -> None:
            if isinstance(x, cls):
                tracers[x.tracer] = None

        map_aggregate((args, kwargs), collect)
        if len(tracers) > 1:
            raise RuntimeError(
                f"Found multiple different tracers {list(tracers)} while trying to trace operations "
                f"{orig_method}"
            )
        tracer = next(iter(tracers))
        if is_tensor_method(orig_method) or _is_operator(sys._getframe(1)):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        if is_method_inside(orig_method):
            return tracer.create_proxy("call_method", orig_method.__name__, args, kwargs)
        if (overload := overload_of_call(orig_method)) is not orig_method:
            orig_method = overload
        else:
            orig_method, args, kwargs = forwarded_call(orig_method, args, kwargs)
        name = tracer.graph._target_to_str(simple_name(orig_method))
        return tracer.create_proxy("call_function", orig_method, args, kwargs, name=name)


_OPERATORS: Final = frozenset({"BINARY_OP", "COMPARE_OP", "BINARY_SUBSCR", "UNARY_NEGATIVE", "UNARY_INVERT"})


def _is_operator(frame: types.FrameType) -> bool:
    """Return True if a frame executes a Python operator, as in `tensor + proxy`."""
    return dis.opname[frame.f_code.co_code[frame.f_lasti]] in _OPERATORS


def _is_asserted(frame: types.FrameType) -> bool:
    """Return True if a frame executes `assert x`.

    The current instruction is then a conditional jump, followed by an instruction that loads AssertionError.
    """
    instructions, at = _instruction(frame)
    if not instructions[at].opname.startswith("POP_JUMP") or "IF_TRUE" not in instructions[at].opname:
        return False
    following = [i for i in instructions[at + 1 :] if i.opname != "CACHE"]
    return bool(following) and following[0].opname == "LOAD_ASSERTION_ERROR"


class Attribute(Proxy):
    """Attribute of a proxy: its call becomes a `call_method` node, any other use a `getattr` node."""

    def __init__(self, root: Proxy, attr: str) -> None:
        self.root = root
        self.attr = attr
        self.tracer = root.tracer
        self._node: Node | None = None

    @property
    def node(self) -> Node:  # type: ignore[override]
        """Node that reads the attribute, created at the first access."""
        if self._node is None:
            self._node = self.tracer.create_proxy("call_function", getattr, (self.root, self.attr), {}).node
        return self._node

    def __call__(self, *args: Any, **kwargs: Any) -> Proxy:
        """Record a `call_method` node for the attribute, instead of a `getattr` node."""
        return self.tracer.create_proxy("call_method", self.attr, (self.root, *args), kwargs)


class ParameterProxy(Proxy):
    """Proxy of a parameter, with the parameter's shape."""

    def __init__(self, tracer: TracerBase, node: Node, name: str, param: Any) -> None:
        super().__init__(node, tracer)
        if not isinstance(param, Parameter):
            raise AssertionError(f"Expected Parameter, got {type(param)}")
        self.param = param
        self.name = name

    def __repr__(self) -> str:
        return f"ParameterProxy({self.name})"

    @property
    def shape(self) -> Any:
        """Shape of the parameter."""
        return self.param.shape

    def size(self) -> Any:
        """Return the parameter's shape."""
        return self.param.size()

    def dim(self) -> int:
        """Return the parameter's number of dimensions."""
        return int(self.param.dim())

    @property
    def ndim(self) -> int:
        """Number of dimensions of the parameter."""
        return int(self.param.dim())

    def numel(self) -> int:
        """Return the parameter's number of elements."""
        return int(self.param.numel())

    def nelement(self) -> int:
        """Return the parameter's number of elements."""
        return int(self.param.numel())


def _add_operator(name: str) -> None:
    """Define a Python operator on `Proxy`, and its reflected method if there is one."""
    target: Any = getattr(operator, name, None)

    def left(*args: Any, **kwargs: Any) -> Any:
        return args[0].tracer.create_proxy("call_function", target, args, kwargs)

    def right(self: Proxy, rhs: Any) -> Any:
        return self.tracer.create_proxy("call_function", target, (rhs, self), {})

    left.__name__ = name
    setattr(Proxy, f"__{name.strip('_')}__", left)
    if name in reflectable_magic_methods:
        right.__name__ = right.__qualname__ = f"__r{name.strip('_')}__"
        setattr(Proxy, right.__name__, right)


for _name in magic_methods:
    _add_operator(_name)

__getattr__ = names_for(__name__)
