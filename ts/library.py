"""Operators that programs add: declared by a schema, computed by functions of Python.

    @ts.library.custom_op("mine::scale", mutates_args=())
    def scale(x: Tensor, by: float = 2.0) -> Tensor:
        return x * by

    ts.ops.mine.scale(x)                     in eager code, scripts and graphs
    scale.register_fake(lambda x, by=2.0: ts.empty_like(x))         its result on the meta device
    scale.register_autograd(backward, setup_context=setup)          its gradients

`Library` declares and implements in steps, device by device.  What is known to PyTorch's compiler alone
(`triton_op`, dispatch below operators) refuses by name.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, TypeVar, Union, get_args, get_origin

import ts
from ts._core.tensor.tensor import Tensor
from ts.absent import names_for
from ts.autograd.function import Function
from ts.ops import registry
from ts.ops.registry import Record

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "impl", "impl_abstract",
    "infer_schema", "register_autograd", "register_fake", "register_kernel",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
_COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd")
_KEYS = frozenset({"", "CPU", "CUDA", "Meta", "Autograd", "AutogradCPU", "AutogradCUDA", *_COMPOSITE})
_TYPES = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", complex: "Scalar",
}  # fmt: skip


# ---------------------------------------------------------------- what computes an operator


class _Implementations:
    """The functions that compute one operator, by PyTorch's names of dispatch keys."""

    def __init__(self, schema: str) -> None:
        self.schema = schema
        self.name = schema.partition("(")[0]
        self.by_key: dict[str, Callable[..., Any]] = {}
        self.backward: Callable[..., Any] | None = None
        self.setup_context: Callable[..., Any] | None = None

    def __call__(self, *args: Any) -> Any:
        tensors = [
            x
            for arg in args
            for x in (arg if isinstance(arg, (list, tuple)) else [arg])
            if isinstance(x, Tensor)
        ]
        wanted = ts.is_grad_enabled() and any(x.requires_grad for x in tensors)
        if wanted and "Autograd" in self.by_key:
            return self.by_key["Autograd"](*args)
        function = self.function_for(tensors)
        if not wanted or function is self.by_key.get("CompositeImplicitAutograd"):
            return function(*args)
        return _Recorded.apply(self, function, *args)

    def function_for(self, tensors: Sequence[Tensor]) -> Callable[..., Any]:
        """The function for where the tensors are; NotImplementedError where there is none."""
        device = tensors[0].device.type if tensors else "cpu"
        key = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta"}.get(device, device)
        for known in (key, *_COMPOSITE, ""):
            if known in self.by_key:
                return self.by_key[known]
        raise NotImplementedError(
            f"Could not run '{self.name}' with arguments from the '{key}' backend: it has kernels for "
            f"{', '.join(sorted(self.by_key)) or 'none'}"
        )


class _Recorded(Function):
    """A call of such an operator that gradients are wanted of."""

    @staticmethod
    def forward(ctx: Any, custom: _Implementations, function: Callable[..., Any], *args: Any) -> Any:
        ctx.custom, ctx.count = custom, len(args)
        result = function(*args)
        if custom.backward is not None and custom.setup_context is not None:
            if {"inputs", "output"} <= inspect.signature(custom.setup_context).parameters.keys():
                custom.setup_context(ctx, inputs=args, output=result)
            else:
                custom.setup_context(ctx, args, result)
        return result

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        custom = ctx.custom
        if custom.backward is None:
            name = custom.name.replace("::", ".")
            raise RuntimeError(
                f"Trying to backward through {name}.default but no autograd formula was registered. Please "
                "use register_autograd to add one."
            )
        found = custom.backward(ctx, *gradients)
        found = found if isinstance(found, tuple) else (found,)
        if len(found) != ctx.count:
            raise RuntimeError(
                f"the gradient of {custom.name} returned an incorrect number of gradients (expected "
                f"{ctx.count}, one for each argument, got {len(found)})"
            )
        return (None, None, *found)


_custom: dict[str, _Implementations] = {}


def _declare(schema: str) -> _Implementations:
    """Enter an operator by its schema, `namespace::name(...) -> ...`."""
    made = _Implementations(schema)
    if made.name in _custom or registry.lookup(made.name.partition(".")[0]):
        raise RuntimeError(f"operator {made.name} is declared already")
    registry.add(Record(schema, made, "custom", where="", whole=True, of_program=True))
    _custom[made.name] = made
    return made


def _found(name: Any) -> _Implementations:
    name = getattr(name, "_qualname", None) or getattr(name, "qualified_name", None) or str(name)
    name = name.removesuffix(".default")
    if name not in _custom:
        raise RuntimeError(f"operator {name} does not exist: declare it by `define` or `custom_op` first")
    return _custom[name]


# ---------------------------------------------------------------- step by step


class Library:
    """Declares operators of a namespace (`"DEF"`), or computes those that are there (`"IMPL"`).

    dispatch_key    what functions of `impl` are for, where it says nothing
    """

    def __init__(self, ns: str, kind: str, dispatch_key: str = "") -> None:
        if kind not in ("DEF", "IMPL", "FRAGMENT"):
            raise ValueError(f"Unsupported kind: {kind}")
        if ns in ("aten", "prim", "prims") and kind != "IMPL":
            raise ValueError(
                f"{ns} is a reserved namespace. Please try creating a library with another name."
            )
        self.ns, self.kind, self.dispatch_key = ns, kind, dispatch_key

    def __repr__(self) -> str:
        return f"Library(kind={self.kind}, ns={self.ns}, dispatch_key={self.dispatch_key})>"

    def define(self, schema: str, alias_analysis: str = "", *, tags: Any = ()) -> str:
        """Declare an operator by its schema without the namespace; its name."""
        return _declare(f"{self.ns}::{schema.strip()}").name.partition("::")[2]

    def impl(
        self,
        op_name: Any,
        fn: Callable[..., Any],
        dispatch_key: str = "",
        *,
        allow_override: bool = False,
        **options: Any,
    ) -> None:
        """Let a function compute an operator, for a dispatch key."""
        name = op_name if isinstance(op_name, str) else op_name.qualified_name
        name = name if "::" in name else f"{self.ns}::{name}"
        _implement(name, fn, dispatch_key or self.dispatch_key or "CompositeImplicitAutograd")


def _implement(name: str, fn: Callable[..., Any], key: str) -> None:
    if key not in _KEYS:
        raise NotImplementedError(f"library: {name}: there is no dispatch key {key!r} here")
    if fn is fallthrough_kernel:
        return
    _found(name).by_key["Autograd" if key.startswith("Autograd") else key] = fn


def fallthrough_kernel() -> None:
    """For `impl`: go on to the next key, as it is done here without."""
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def define(qualname: str, schema: str, *, lib: Library | None = None, tags: Any = ()) -> None:
    """Declare the operator `namespace::name` by a schema without the name: `(Tensor x) -> Tensor`."""
    if not re.fullmatch(r"\w+::\w+(\.\w+)?", qualname):
        raise ValueError(
            f'torch.library.define: Expected `qualname` to be of the form "namespace::name", got {qualname!r}'
        )
    _declare(f"{qualname}{schema}")


def impl(
    qualname: Any, types: str | Sequence[str], func: F | None = None, *, lib: Library | None = None
) -> Any:
    """Let a function compute an operator on devices: "cpu", "cuda", "default", or dispatch keys."""

    def register(func: F) -> F:
        for kind in (types,) if isinstance(types, str) else types:
            _implement(
                _found(qualname).name,
                func,
                {"cpu": "CPU", "cuda": "CUDA", "default": _COMPOSITE[1]}.get(kind, kind),
            )
        return func

    return register if func is None else register(func)


def register_kernel(op: Any, device_types: Any, func: F | None = None, /, *, lib: Any = None) -> Any:
    """Let a function compute an operator on some devices."""
    return impl(op, "default" if device_types is None else device_types, func)


def register_fake(op: Any, func: F | None = None, /, *, lib: Any = None, allow_override: bool = False) -> Any:
    """Say by a function what an operator gives on the meta device: sizes and dtypes without elements."""

    def register(func: F) -> F:
        name = getattr(op, "_qualname", op)
        if str(name) in _custom:
            _implement(str(name), func, "Meta")
        elif registry.lookup(str(name)):
            raise RuntimeError(f"register_fake: {name} has a shape already")
        return func  # an operator in C++ that is not loaded

    return register if func is None else register(func)


impl_abstract = register_fake


def register_autograd(
    op: Any,
    backward: Callable[..., Any],
    /,
    *,
    setup_context: Callable[..., Any] | None = None,
    lib: Library | None = None,
) -> None:
    """Say how it is differentiated: `setup_context(ctx, inputs, output)`, `backward(ctx, *gradients)`."""
    custom = _found(op)
    custom.backward, custom.setup_context = backward, setup_context


# ---------------------------------------------------------------- as a function


class CustomOpDef:
    """An operator that is declared by a function with types; called, it is `ts.ops.namespace.name`."""

    def __init__(self, name: str, function: Callable[..., Any], schema: str) -> None:
        self._qualname = name
        self._init_fn = function
        self.__doc__ = function.__doc__
        namespace, _, short = name.partition("::")
        self._packet = getattr(getattr(ts.ops, namespace), short)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        return self._packet(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types: Any, fn: F | None = None, /) -> Any:
        """Let another function compute it on some devices."""
        return register_kernel(self._qualname, device_types, fn)

    def register_fake(self, fn: F, /) -> F:
        """Say what it gives on the meta device."""
        register_fake(self._qualname, fn)
        return fn

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Say how it is differentiated."""
        register_autograd(self._qualname, backward, setup_context=setup_context)


def custom_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    device_types: str | Sequence[str] | None = None,
    schema: str | None = None,
    tags: Any = None,
) -> Any:
    """Make an operator of a function whose parameters and results have types.

    mutates_args    the parameters that it writes to
    device_types    where the function computes it; None: everywhere
    schema          what it takes and gives, where the types do not say it

    ValueError for types that operators do not take.
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        text = schema or infer_schema(function, mutates_args=mutates_args)
        define(name, text)
        register_kernel(name, device_types, function)
        return CustomOpDef(name, function, text)

    return make if fn is None else make(fn)


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:
    """The schema of a function, from its types; ValueError for those that operators do not take."""
    signature = inspect.signature(prototype_function)
    hints = inspect.get_annotations(prototype_function, eval_str=True)
    written = set(signature.parameters) if mutates_args == "unknown" else {*mutates_args}
    parts, keyword_only = [], False

    def refuse(what: str) -> ValueError:
        return ValueError(f"infer_schema(func): {what} Got func with signature {signature})")

    for letter, (name, p) in enumerate(signature.parameters.items()):
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            raise refuse("We do not support positional-only args, varargs, or varkwargs.")
        if name not in hints:
            raise refuse(f"Parameter {name} must have a type annotation.")
        kind = _schema_type(hints[name])
        if kind is None:
            raise refuse(f"Parameter {name} has unsupported type {hints[name]}.")
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            parts.append("*")
        if name in written and "Tensor" in kind:
            kind = kind.replace("Tensor", f"Tensor(a{letter}!)")
        default = "" if p.default is p.empty else f"={_literal(p.default)}"
        parts.append(f"{kind} {name}{default}")
    if unknown := written - signature.parameters.keys():
        raise refuse(f"{sorted(unknown)[0]} in mutates_args was not found in the custom op's signature.")
    result = _result(hints.get("return", inspect.Signature.empty))
    if result is None:
        raise refuse(f"Return has unsupported type {hints.get('return')}.")
    return f"{op_name or ''}({', '.join(parts)}) -> {result}"


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str) else str(value)


def _schema_type(hint: Any) -> str | None:
    if hint in _TYPES:
        return _TYPES[hint]
    if hint is ts.dtype:
        return "ScalarType"
    if hint is ts.device:
        return "Device"
    origin, arguments = get_origin(hint), get_args(hint)
    if origin in (Union, types.UnionType):
        inner = [a for a in arguments if a is not type(None)]
        if set(inner) <= {int, float, bool} and len(inner) > 1:
            return "Scalar" + "?" * (len(inner) < len(arguments))
        found = _schema_type(inner[0]) if len(inner) == 1 else None
        return None if found is None else f"{found}?"
    if origin in (list, Sequence, tuple) and arguments:
        found = _schema_type(arguments[0])
        return None if found is None else f"{found}[]"
    return None


def _result(hint: Any) -> str | None:
    if hint is None or hint is type(None):
        return "()"
    if hint is inspect.Signature.empty:
        return None
    if get_origin(hint) is tuple:
        parts = [_schema_type(a) for a in get_args(hint)]
        return None if None in parts else f"({', '.join(map(str, parts))})"
    return _schema_type(hint)


__getattr__ = names_for(__name__)
