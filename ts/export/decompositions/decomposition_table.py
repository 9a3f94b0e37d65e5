"""Decomposition table: functions that compute an operator by the operators of PyTorch's core set.

A decomposition has the parameters of its operator. It returns the result, or NotImplemented to keep the
operator. There are two ways to register a decomposition:

    @decomposes("aten::t")                    registers a function
    def t(x): ...

    register_composed("aten::hstack")         registers the expression that `compose` declares for autograd

The decomposition of an alias (`OperatorRecord.same_as`) is a call of the operator that it is an alias of.
"""

from __future__ import annotations

import functools
import importlib
from collections.abc import Callable
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, Final, TypeVar

from ts._core.dispatch_layers import dispatch_modes, torch_dispatch
from ts.export.node_arguments import readable
from ts.ops import registry
from ts.ops.derivatives.formulas import define_decomposition
from ts.ops.namespace import OpOverload, overload_named

if TYPE_CHECKING:
    from ts.ops.operator_record import OperatorRecord

F = TypeVar("F", bound=Callable[..., Any])
Table = dict[str, Callable[..., Any]]

_decompositions: Final[Table] = {}
_implicit: Final[set[str]] = set()
_DECOMPOSITION_MODULES: Final = (
    "view_ops", "view_scatter", "factories", "arithmetic", "activations", "reductions", "matmul", "layers",
    "recurrent", "indexing", "losses",
)  # fmt: skip


def decomposes(*keys: str, implicit: bool = False) -> Callable[[F], F]:
    """Register a function as the decomposition of the operators `keys`, such as "aten::add.Tensor".

    implicit    True for operators that PyTorch decomposes before it calls dispatch modes. Modes receive the
                operators that the decomposition calls, not these operators
    """

    def register(function: F) -> F:
        _decompositions.update(dict.fromkeys(keys, function))
        if not implicit:
            return _operator_for_modes(keys[0], function)
        _implicit.update(keys)
        return function

    return register


class ComposedDecomposition:
    """Decomposition by the expression that `compose` declares for an operator.

    calls_scalar_overloads    True if `x * 2` in the expression calls `mul.Scalar`, as in PyTorch's C++ code
    """

    def __init__(self, key: str, calls_scalar_overloads: bool) -> None:
        self.key = key
        self.calls_scalar_overloads = calls_scalar_overloads

    @cached_property
    def function(self) -> Callable[..., Any]:
        """Python function of all arguments of the operator, in order."""
        operator = registry.operator(self.key)
        assert operator is not None
        return define_decomposition(operator.record)

    def __call__(self, *args: Any, **kwargs: Any) -> Any:
        """Run the decomposition. Omitted arguments have the defaults of the operator's schema."""
        operator = registry.operator(self.key)
        assert operator is not None
        parameters = operator.signature.parameters
        given = {p.name: x for p, x in zip(parameters, args, strict=False)} | kwargs
        return self.function(*(
            given[p.name] if p.name in given else readable(p.kind, p.default) for p in parameters
        ))  # fmt: skip


def register_composed(keys: str, implicit: bool = True) -> None:
    """Register, as decompositions of the operators `keys`, the expressions that `compose` declares for them.

    keys        operator keys, separated by spaces
    implicit    True if dispatch modes receive the operators that a decomposition calls
    """
    for key in keys.split():
        _decompositions[key] = ComposedDecomposition(key, calls_scalar_overloads=implicit)
        if implicit:
            _implicit.add(key)


def _operator_for_modes(key: str, function: F) -> F:
    """Return a function that other decompositions call instead of the operator `key`.

    The function calls the operator if a dispatch mode is active, so that the mode receives the operator.
    Otherwise, it calls the decomposition `function`.
    """

    @functools.wraps(function)
    def called(*args: Any, **kwargs: Any) -> Any:
        if dispatch_modes.is_active() or torch_dispatch.has_dispatched(args):
            name, _, overload = key.partition(".")
            return overload_named(name, overload)(*args, **kwargs)
        return function(*args, **kwargs)

    return called  # type: ignore[return-value]


def _decomposition_of_alias(record: OperatorRecord) -> OpOverload | None:
    """Return the overload named by `record.same_as`, or None if the operator is not an alias."""
    target = registry.find_alias_target(record)
    return None if target is None else overload_named(target.name, target.overload)


@cache
def _load() -> None:
    """Import the modules that register decompositions."""
    for family in _DECOMPOSITION_MODULES:
        importlib.import_module(f"{__package__}.{family}")


@cache
def core_aten_decompositions() -> Table:
    """Return all decompositions: operator key such as "aten::add.Tensor" -> function."""
    _load()
    functional = (record for record in registry.records() if not record.variant)
    aliases = {record.key: _decomposition_of_alias(record) for record in functional}
    return _decompositions | {key: overload for key, overload in aliases.items() if overload is not None}


def implicit_decomposition(op: Any) -> Callable[..., Any] | None:
    """Return the decomposition of `op` if `op` is a composite operator, otherwise None.

    PyTorch decomposes composite operators before autograd and dispatch modes.
    """
    _load()
    if op.key in _implicit:
        return _decompositions[op.key]
    return None if op.record is None else _decomposition_of_alias(op.record)
