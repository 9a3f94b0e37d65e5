"""Custom operator registration (library registration, fake kernels): operators written in Python.

Example:

    @ts.library.custom_op("mine::scale", mutates_args=())
    def scale(x: Tensor, by: float = 2.0) -> Tensor:
        return x * by

    ts.ops.mine.scale(x)                                        # in eager code, scripts and graphs
    scale.register_fake(lambda x, by=2.0: ts.empty_like(x))     # shape and dtype of the result
    scale.register_autograd(backward, setup_context=setup)      # its backward function

`Library` declares operators and implements them separately for each device. Features of PyTorch's compiler,
such as Triton kernels, raise an error that names the feature.
"""

from __future__ import annotations

import inspect
import re
import types
from collections.abc import Callable, Iterable, Sequence
from typing import Any, Final, TypeVar, Union, get_args, get_origin

import ts
from ts import dtypes
from ts._core.dispatch.signature import signature
from ts._core.dispatch_layers.batched_tensor import call_rule, level_of_batch
from ts._core.late_binding import resolve
from ts._core.tensor.storage import owning_array
from ts._core.tensor.sym_types import SymNumber
from ts._core.tensor.tensor import Tensor
from ts._core.tensor.unbacked_sizes import FakeContext, FakeImplCtx, get_ctx
from ts.autograd.function import Function
from ts.ops import registry
from ts.ops.namespace import OpOverload
from ts.ops.operator_record import OperatorRecord
from ts.unsupported import names_for
from ts.utils import _pytree as pytree

__all__ = [
    "CustomOpDef", "Library", "custom_op", "define", "fallthrough_kernel", "get_ctx", "impl",
    "impl_abstract", "infer_schema", "opcheck", "register_autograd", "register_fake", "register_kernel",
    "register_vmap",
]  # fmt: skip

F = TypeVar("F", bound=Callable[..., Any])
_DEFAULTS: dict[str, Callable[..., Any]] = {"ScalarType": dtypes.as_dtype, "Device": ts.device}
_COMPOSITE = ("CompositeImplicitAutograd", "CompositeExplicitAutograd")
_KEYS = frozenset({"", "CPU", "CUDA", "Meta", "Autograd", "AutogradCPU", "AutogradCUDA", *_COMPOSITE})
_TYPES = {
    Tensor: "Tensor", int: "SymInt", float: "float", bool: "bool", str: "str", complex: "Scalar",
}  # fmt: skip


# ---------------------------------------------------------------- implementations


_ALIASES: Final = (
    "The output of this custom operator (1) must not also be an input to this custom operator and (2) may "
    "not alias any inputs to this custom operator or other returns. The most common way to trigger this "
    "error is if we have y = custom_op(x) and y and x are the same Tensor. Please instead return a clone of "
    "the offending output tensor(s) (e.g. return x.clone()) or refactor the custom operator to not return y."
)


class _Implementations:
    """Functions that implement a custom operator, by the names of PyTorch's dispatch keys."""

    def __init__(self, schema: str) -> None:
        self.schema = schema
        self.name = schema.partition("(")[0]
        self.by_key: dict[str, Callable[..., Any]] = {}
        self.backward: Callable[..., Any] | None = None
        self.setup_context: Callable[..., Any] | None = None
        self.batching_rule: Callable[..., Any] | None = None  # the argument of `register_vmap`
        self.of_function: Callable[..., Any] | None = None  # the function decorated by `custom_op`
        self.backward_function: Any = None  # subclass of `_AutogradCall`, created on first use
        declared = signature(schema)
        self.only_mutates = not declared.returns and any(p.written for p in declared.parameters)
        kinds = [p.kind for p in declared.parameters]
        self.converted = [
            (i, converter) for i, kind in enumerate(kinds) if (converter := _DEFAULTS.get(kind)) is not None
        ]

    def __call__(self, *args: Any) -> Any:
        if self.converted:
            converted_args = list(args)
            for i, convert in self.converted:
                converted_args[i] = None if converted_args[i] is None else convert(converted_args[i])
            args = tuple(converted_args)
        tensors = [
            x
            for arg in args
            for x in (arg if isinstance(arg, (list, tuple)) else [arg])
            if isinstance(x, Tensor)
        ]
        if self.batching_rule is not None and (level := level_of_batch(args)) is not None:
            return call_rule(level, self.batching_rule, args)
        needs_grad = ts.is_grad_enabled() and any(x.requires_grad for x in tensors)
        if needs_grad and "Autograd" in self.by_key:
            return self.by_key["Autograd"](*args)
        function = self.function_for(tensors)
        if function is self.of_function and tensors and tensors[0].device.type == "meta":
            function = self._without_fake
        if not needs_grad or function is self.by_key.get("CompositeImplicitAutograd"):
            result = function(*args)
        else:
            result = self._call_with_backward(function, args)
        if self.of_function is not None:
            self._check_new(result, tensors)
        return result

    def _call_with_backward(self, function: Callable[..., Any], args: tuple[Any, ...]) -> Any:
        """Call `function(*args)`, and record an autograd node that runs the registered backward function."""
        if self.backward_function is None:
            name = self.name.replace("::", "_").replace(".", "_")
            self.backward_function = type(f"GeneratedBackwardFor_{name}_default", (_AutogradCall,), {})
        nodes: list[Any] = []

        def run(*inputs: Any) -> Any:
            result = function(*inputs)
            nodes.append(_flatten(result)[1])
            return result

        leaves, layout = _flatten(args)
        flat = self.backward_function.apply(self, run, layout, *leaves)
        return pytree.tree_unflatten(list(flat), nodes[0])

    def _check_new(self, result: Any, tensors: Sequence[Tensor]) -> None:
        """Raise RuntimeError if a result aliases an argument or another result."""
        results = [result] if isinstance(result, Tensor) else pytree.tree_leaves(result)
        storage_ids = {id(owning_array(x.array)) for x in tensors}
        for x in results:
            if not isinstance(x, Tensor):
                continue
            if (storage_id := id(owning_array(x.array))) in storage_ids:
                function_module = getattr(self.of_function, "__module__", "")
                raise RuntimeError(
                    f"{self.name.partition('::')[2]} (with implementation in {function_module}): {_ALIASES}"
                )
            storage_ids.add(storage_id)

    def _without_fake(self, *args: Any) -> Any:
        """Run the function that defines the operator on fake tensors, in place of a fake implementation."""
        if self.only_mutates:
            return None
        function: Any = self.of_function
        created_symbols: set[Any] = set()  # symbols of the data-dependent sizes that the function created
        context = get_ctx()

        def new_size(min_size: int, max_size: Any) -> Any:
            size = context.new_dynamic_size(min=min_size, max=max_size)
            created_symbols.update(size.node.expr.free_symbols)
            return size

        try:
            with FakeContext(FakeImplCtx(self.name, new_size, context.new_number)):
                result = function(*args)
        except Exception as error:  # called with fake tensors, the user's function may raise any exception
            raise self._missing_fake_error() from error
        for x in pytree.tree_leaves(result) if created_symbols else ():
            sizes = x.array.shape if isinstance(x, Tensor) else (x,)
            if any(isinstance(n, SymNumber) and n.node.expr.free_symbols & created_symbols for n in sizes):
                raise self._missing_fake_error()
        return result

    def _missing_fake_error(self) -> RuntimeError:
        name = getattr(self.of_function, "__name__", "op")
        return RuntimeError(
            f"There was no fake impl registered for <CustomOpDef({self.name})>. This is necessary for "
            f"torch.compile/export/fx tracing to work. Please use `{name}.register_fake` to add an fake impl."
        )

    def function_for(self, tensors: Sequence[Tensor]) -> Callable[..., Any]:
        """Return the function for the device of `tensors`. Raise NotImplementedError if there is none."""
        device = tensors[0].device.type if tensors else "cpu"
        key = {"cpu": "CPU", "cuda": "CUDA", "meta": "Meta"}.get(device, device)
        for dispatch_key in (key, *_COMPOSITE, ""):
            if dispatch_key in self.by_key:
                return self.by_key[dispatch_key]
        if key == "Meta" and self.only_mutates:
            return self._without_fake
        if key == "Meta" and self.of_function is not None:
            raise self._missing_fake_error()
        raise NotImplementedError(
            f"Could not run '{self.name}' with arguments from the '{key}' backend: kernels are registered "
            f"for {', '.join(sorted(self.by_key)) or 'none'}"
        )


class _AutogradCall(Function):
    """Autograd function for calls of a custom operator, whose arguments may be nested lists of tensors.

    `forward(ctx, custom, function, layout, *leaves)` receives the leaves of the arguments and their tree
    structure `layout`. It returns the leaves of the results. Their tree structure is stored in
    `ctx._result_layout`.
    """

    @staticmethod
    def forward(
        ctx: Any, custom: _Implementations, function: Callable[..., Any], layout: Any, *leaves: Any
    ) -> Any:
        args = pytree.tree_unflatten(leaves, layout)
        ctx._operator, ctx._argument_layout, ctx._argument_count = custom, layout, len(args)
        ctx.needs_input_grad = _needs_gradient(args)
        result = function(*args)
        flat, ctx._result_layout = _flatten(result)
        if custom.backward is not None and custom.setup_context is not None:
            if {"inputs", "output"} <= inspect.signature(custom.setup_context).parameters.keys():
                custom.setup_context(ctx, inputs=args, output=result)
            else:
                custom.setup_context(ctx, args, result)
        return tuple(flat)

    @staticmethod
    def backward(ctx: Any, *gradients: Any) -> Any:
        custom = ctx._operator
        if custom.backward is None:
            name = custom.name.replace("::", ".")
            raise RuntimeError(
                f"Trying to backward through {name}.default but no autograd formula was registered. Please "
                "use register_autograd to add one."
            )
        structured_gradients = pytree.tree_unflatten(list(gradients), ctx._result_layout)
        grads = custom.backward(
            ctx,
            *(structured_gradients if isinstance(structured_gradients, tuple) else (structured_gradients,)),
        )
        grads = grads if isinstance(grads, tuple) else (grads,)
        if len(grads) != ctx._argument_count:
            raise RuntimeError(
                f"the gradient of {custom.name} returned an incorrect number of gradients (expected "
                f"{ctx._argument_count}, one for each argument, got {len(grads)})"
            )
        leaves, layout = _flatten(grads)
        if layout != ctx._argument_layout:
            raise RuntimeError(
                "Expected the return from backward to be of the same structure as the inputs. Got: "
                f"{layout} (return from backward), expected: {ctx._argument_layout} (inputs)"
            )
        return (None, None, None, *leaves)


def _flatten(values: Any) -> tuple[list[Any], Any]:
    """Flatten tuples and lists of tensors, and return the leaves and the tree structure."""
    leaves, layout = pytree.tree_flatten(values, is_leaf=_is_leaf)
    return list(leaves), layout


def _is_leaf(x: Any) -> bool:
    if isinstance(x, list):
        return not all(y is None or isinstance(y, Tensor) for y in x)
    return not isinstance(x, tuple)


def _needs_gradient(args: Any) -> tuple[Any, ...]:
    """Return a tuple of bools: True for each argument that requires a gradient.

    For an argument that is a list of tensors, the item is a list of bools.
    """
    return tuple(
        [isinstance(y, Tensor) and y.requires_grad for y in x]
        if isinstance(x, list) and not _is_leaf(x)
        else isinstance(x, Tensor) and x.requires_grad
        for x in args
    )


_custom: dict[str, _Implementations] = {}


def _declare(schema: str) -> _Implementations:
    """Register an operator by a schema `namespace::name(...) -> ...`."""
    implementations = _Implementations(schema)
    if implementations.name in _custom or registry.lookup(implementations.name.partition(".")[0]):
        raise RuntimeError(f"operator {implementations.name} is already declared")
    registry.add(
        OperatorRecord(schema, implementations, "custom", where="", tensor_kernel=True, of_program=True)
    )
    _custom[implementations.name] = implementations
    return implementations


def _find_implementations(name: Any) -> _Implementations:
    name = getattr(name, "_qualname", None) or getattr(name, "qualified_name", None) or str(name)
    name = name.removesuffix(".default")
    if name not in _custom:
        raise RuntimeError(f"operator {name} does not exist: declare it with `define` or `custom_op` first")
    return _custom[name]


# ------------------------------------------- declaration and implementation in separate steps


class Library:
    """Collection of operators of the namespace `ns`.

    kind            "DEF", "FRAGMENT": declare operators, "IMPL": implement existing operators
    dispatch_key    default dispatch key of `impl`
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
        """Declare an operator by a schema without the namespace, and return the name of the operator."""
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
        """Register a function as the implementation of an operator for a dispatch key."""
        name = op_name if isinstance(op_name, str) else op_name.qualified_name
        name = name if "::" in name else f"{self.ns}::{name}"
        _implement(name, fn, dispatch_key or self.dispatch_key or "CompositeImplicitAutograd")


def _implement(name: str, fn: Callable[..., Any], key: str) -> None:
    if key not in _KEYS:
        raise NotImplementedError(f"library: {name}: unsupported dispatch key {key!r}")
    if fn is fallthrough_kernel:
        return
    _find_implementations(name).by_key["Autograd" if key.startswith("Autograd") else key] = fn


def fallthrough_kernel() -> None:
    """Value to pass to `impl` instead of a kernel. `impl` then registers nothing for the dispatch key.

    `ts` continues with the next dispatch key if a key has no kernel.
    """
    raise NotImplementedError("fallthrough_kernel() should never be called.")


def define(qualname: Any, schema: str, *args: Any, lib: Library | None = None, tags: Any = ()) -> Any:
    """Declare the operator `qualname`, such as "namespace::name". `schema` is `(Tensor x) -> Tensor`.

    `define(library, "name(Tensor x) -> Tensor")` returns a decorator, which declares the operator and
    registers the decorated function as its implementation.
    """
    if isinstance(qualname, Library):
        library = qualname

        def register(func: F) -> F:
            library.impl(library.define(schema, *args, tags=tags), func)
            return func

        return register
    if not re.fullmatch(r"\w+::\w+(\.\w+)?", qualname):
        raise ValueError(
            f'torch.library.define: Expected `qualname` to be of the form "namespace::name", got {qualname!r}'
        )
    _declare(f"{qualname}{schema}")
    return None


def impl(qualname: Any, types: str | Sequence[str], func: Any = None, *, lib: Library | None = None) -> Any:
    """Register an implementation of an operator for devices ("cpu", "cuda", "default") or dispatch keys.

    `impl(library, "name", dispatch_key)` returns a decorator that calls `library.impl`.
    """
    if isinstance(qualname, Library):
        library, name, key = qualname, str(types), func or ""

        def register_by_key(function: F) -> F:
            library.impl(name, function, key)
            return function

        return register_by_key

    def register(func: F) -> F:
        for kind in (types,) if isinstance(types, str) else types:
            _implement(
                _find_implementations(qualname).name,
                func,
                {"cpu": "CPU", "cuda": "CUDA", "default": _COMPOSITE[1]}.get(kind, kind),
            )
        return func

    return register if func is None else register(func)


def register_kernel(op: Any, device_types: Any, func: F | None = None, /, *, lib: Any = None) -> Any:
    """Register a function as the implementation of an operator on `device_types`. None means all."""
    return impl(op, "default" if device_types is None else device_types, func)


def register_fake(op: Any, func: F | None = None, /, *, lib: Any = None, allow_override: bool = False) -> Any:
    """Register a fake implementation, which computes the sizes and dtypes of results without elements."""

    def register(func: F) -> F:
        name = getattr(op, "_qualname", op)
        if str(name) in _custom:
            _implement(str(name), func, "Meta")
        elif registry.lookup(str(name)):
            raise RuntimeError(f"register_fake: {name} already has a fake implementation")
        return func  # ignore an unknown operator: it is from a C++ extension, which `ts` cannot load

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
    """Register an operator's gradient: `setup_context(ctx, inputs, output)` and `backward(ctx, *grads)`."""
    custom = _find_implementations(op)
    custom.backward, custom.setup_context = backward, setup_context


def register_vmap(op: Any, func: Callable[..., Any] | None = None, /, *, lib: Any = None) -> Any:
    """Register the batching rule `func(info, in_dims, *args)`, which returns (output, out_dims).

    info       object with the attributes `batch_size` and `randomness`
    in_dims    batch dimension of each argument
    args       batched arguments of the operator
    out_dims   batch dimensions of the output
    """
    if not isinstance(op, str | OpOverload | CustomOpDef):
        raise ValueError(f"register_vmap({op}): got unexpected type for op: {type(op)}")
    name = op.name().partition(".")[0] if isinstance(op, OpOverload) else op

    def register(function: Callable[..., Any]) -> None:
        _find_implementations(name).batching_rule = function

    return register if func is None else register(func)


# ---------------------------------------------------------------- checks


def opcheck(
    op: Any,
    args: tuple[Any, ...],
    kwargs: dict[str, Any] | None = None,
    *,
    test_utils: str | Sequence[str] = "",
    raise_exception: bool = True,
    atol: float | None = None,
    rtol: float | None = None,
) -> dict[str, Any]:
    """Run consistency checks on a custom operator, and return the outcome of each check.

    `test_utils` contains the names of the checks to run, by default all:

    - `test_schema` checks mutation and aliasing.
    - `test_autograd_registration` checks that results that require grad have gradients.
    - `test_faketensor` checks the fake kernel.
    - `test_aot_dispatch_dynamic` checks export.

    Raise OpCheckError if a check fails. With `raise_exception=False`, return this error as the outcome of the
    check instead. Raise ValueError if `op` is not a custom operator.
    """
    opcheck_tests = resolve("opcheck_tests")
    name = getattr(op, "_qualname", None) or getattr(op, "qualified_name", None)
    name = op.name().partition(".")[0] if isinstance(op, OpOverload) else name
    if name not in _custom:
        raise ValueError(
            "opcheck(op, ...): op must be instance of torch._ops.OpOverload, e.g. "
            f"torch.ops.mine.scale.default, got {op if name else type(op)}"
        )
    namespace, _, short = str(name).partition("::")
    overload = getattr(getattr(ts.ops, namespace), short).default
    closeness = {} if atol is None and rtol is None else {"atol": atol, "rtol": rtol}
    outcomes: dict[str, Any] = opcheck_tests.opcheck(
        overload, _custom[str(name)], args, kwargs, test_utils, raise_exception, closeness
    )
    return outcomes


# ---------------------------------------------------------------- decorator


class CustomOpDef:
    """Custom operator that an annotated function defines. A call of this object calls the operator."""

    def __init__(self, name: str, function: Callable[..., Any], schema: str) -> None:
        self._qualname = name
        self._init_fn = function
        self.__doc__ = function.__doc__
        namespace, _, short = name.partition("::")
        self._packet = getattr(getattr(ts.ops, namespace), short)

    @property
    def _opoverload(self) -> OpOverload:
        """The operator overload `default` of this operator."""
        return self._packet.default  # type: ignore[no-any-return]

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Call the operator through the dispatcher."""
        return self._packet(*args, **kwargs)

    def __repr__(self) -> str:
        return f"<CustomOpDef({self._qualname})>"

    def register_kernel(self, device_types: Any, fn: F | None = None, /) -> Any:
        """Register an implementation of the operator on `device_types`. None means all."""
        return register_kernel(self._qualname, device_types, fn)

    def register_fake(self, fn: F, /) -> F:
        """Register the fake implementation of the operator."""
        register_fake(self._qualname, fn)
        return fn

    def register_vmap(self, func: Callable[..., Any] | None = None) -> Any:
        """Register a batching rule, as `ts.library.register_vmap` does."""
        return register_vmap(self, func)

    def register_autograd(
        self, backward: Callable[..., Any], /, *, setup_context: Callable[..., Any] | None = None
    ) -> None:
        """Register the backward function of the operator."""
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
    """Define an operator by a function with annotated parameters and result.

    mutates_args    names of the parameters that the function writes to
    device_types    device types that the function supports (None: all)
    schema          schema to use instead of the annotations

    Raises ValueError for types that operators do not support.
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        schema_text = schema or infer_schema(function, mutates_args=mutates_args)
        define(name, schema_text)
        register_kernel(name, device_types, function)
        _custom[name].of_function = function
        return CustomOpDef(name, function, schema_text)

    return make if fn is None else make(fn)


def triton_op(
    name: str,
    fn: Callable[..., Any] | None = None,
    /,
    *,
    mutates_args: str | Iterable[str],
    schema: str | None = None,
) -> Any:
    """Define an operator by a function that calls Triton kernels.

    The function is also the operator's fake implementation.
    """

    def make(function: Callable[..., Any]) -> CustomOpDef:
        operator: CustomOpDef = custom_op(name, function, mutates_args=mutates_args, schema=schema)
        operator.register_fake(function)
        return operator

    return make if fn is None else make(fn)


def infer_schema(
    prototype_function: Callable[..., Any],
    /,
    *,
    mutates_args: str | Iterable[str],
    op_name: str | None = None,
) -> str:
    """Return the schema that a function's annotations specify. Raise ValueError for unsupported types."""
    signature = inspect.signature(prototype_function)
    hints = inspect.get_annotations(prototype_function, eval_str=True)
    mutated_names = set(signature.parameters) if mutates_args == "unknown" else {*mutates_args}
    arguments, keyword_only = [], False

    def schema_error(problem: str) -> ValueError:
        return ValueError(f"infer_schema(func): {problem} Got func with signature {signature})")

    for letter, (name, p) in enumerate(signature.parameters.items()):
        if p.kind not in (p.POSITIONAL_OR_KEYWORD, p.KEYWORD_ONLY):
            raise schema_error("We do not support positional-only args, varargs, or varkwargs.")
        if name not in hints:
            raise schema_error(f"Parameter {name} must have a type annotation.")
        kind = _schema_type(hints[name])
        if kind is None:
            raise schema_error(f"Parameter {name} has unsupported type {hints[name]}.")
        if p.kind is p.KEYWORD_ONLY and not keyword_only:
            keyword_only = True
            arguments.append("*")
        if name in mutated_names and "Tensor" in kind:
            kind = kind.replace("Tensor", f"Tensor(a{letter}!)")
        default = "" if p.default is p.empty else f"={_literal(p.default)}"
        arguments.append(f"{kind} {name}{default}")
    if unknown := mutated_names - signature.parameters.keys():
        raise schema_error(
            f"{sorted(unknown)[0]} in mutates_args was not found in the custom op's signature."
        )
    result = _result(hints.get("return", inspect.Signature.empty))
    if result is None:
        raise schema_error(f"Return has unsupported type {hints.get('return')}.")
    return f"{op_name or ''}({', '.join(arguments)}) -> {result}"


def _literal(value: Any) -> str:
    return f'"{value}"' if isinstance(value, str | ts.device) else str(value).removeprefix("torch.")


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
        inner_type = _schema_type(inner[0]) if len(inner) == 1 else None
        return None if inner_type is None else f"{inner_type}?"
    if origin in (list, Sequence, tuple) and arguments:
        inner_type = _schema_type(arguments[0])
        return None if inner_type is None else f"{inner_type}[]"
    return None


def _result(hint: Any) -> str | None:
    if hint is None or hint is type(None):
        return "()"
    if hint is inspect.Signature.empty:
        return None
    if get_origin(hint) is tuple:
        element_types = [_schema_type(a) for a in get_args(hint)]
        return None if None in element_types else f"({', '.join(map(str, element_types))})"
    return _schema_type(hint)


__getattr__ = names_for(__name__)
