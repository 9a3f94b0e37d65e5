"""Evaluation of functions on meta tensors, by which eager code checks functions before it executes them.

Input: a function and its arguments. Output: a `SubgraphResult` with shapes, dtypes, aliases and mutations.
Example:

    evaluator = MetaEvaluator()
    evaluator.evaluate(branch, (x,))

The evaluation does not change tensors or random number generators of the program. It raises
`DataDependentError` if the result depends on tensor elements. Each combination of functions and kinds of
operands is checked once.
"""

from __future__ import annotations

import types
from collections import OrderedDict
from collections.abc import Callable
from typing import Any, Final

import ts
from ts._core.tensor.tensor import Tensor
from ts._core.thread.context import TracingScope, current_tracer
from ts._higher_order_ops.aliases import Aliases
from ts._higher_order_ops.subgraph_checks import SubgraphResult, no_side_effects
from ts.errors import TorchRuntimeError, UncapturedHigherOrderOpError
from ts.tracing.meta_execution import execute, map_tensors, tensors_in
from ts.tracing.meta_tracer import MetaTracer
from ts.utils import _pytree as pytree

_MAX_CACHED_CALLS: Final = 512  # maximum number of entries of `_seen`. The oldest are removed.
# (operator, kinds of its functions and operands, grad mode) -> the error that the check raised, or None if it
# raised none
_seen: OrderedDict[Any, Exception | None] = OrderedDict()


class DataDependentError(Exception):
    """Raised if an evaluation depends on tensor elements."""


def check_once(
    operator: str, functions: tuple[Any, ...], operands: Any, check: Callable[[MetaEvaluator], None]
) -> None:
    """Call `check` once for each combination of functions and kinds (shape, dtype, device) of operands.

    Do nothing in `ts.jit.trace` and in another evaluation.
    """
    if current_tracer() is not None:
        return
    try:
        key = (operator, *map(_kind_of, functions), *map(_kind, pytree.tree_leaves(operands)))
        key = (*key, ts.is_grad_enabled())
        is_checked = key in _seen
    except TypeError:  # a part of the key is not hashable
        return
    if is_checked:
        return
    try:
        with no_side_effects(operator, functions):
            check(MetaEvaluator())
    except (UncapturedHigherOrderOpError, TorchRuntimeError):
        raise
    except Exception as error:
        # Ignore the error here. If the function raises it, it will raise it again when it is executed.
        _seen[key] = error.with_traceback(None)
    else:
        _seen[key] = None
    if len(_seen) > _MAX_CACHED_CALLS:
        _seen.popitem(last=False)


def _kind(x: Any) -> Any:
    return (x.shape, x.dtype, x.device) if isinstance(x, Tensor) else type(x)


def _kind_of(function: Any, depth: int = 3) -> Any:
    """Return a cache key of a function: its code, and the kinds of the functions and tensors it captures."""
    if isinstance(function, types.MethodType):
        return _kind_of(function.__func__), id(type(function.__self__))
    if not isinstance(function, types.FunctionType):
        return type(function)
    cells = function.__closure__ or ()
    captured_kinds = []
    for cell in cells if depth else ():
        try:
            contents = cell.cell_contents
        except ValueError:  # the closure cell is empty
            continue
        is_function = isinstance(contents, types.FunctionType | types.MethodType)
        captured_kinds.append(_kind_of(contents, depth - 1) if is_function else _kind(contents))
    return function.__code__, tuple(captured_kinds)


class MetaEvaluator(MetaTracer):
    """Tracer that replaces tensors of the program by meta tensors."""

    records_higher_order = True

    def __init__(self) -> None:
        # id of a real tensor -> (the tensor, the meta tensor that stands for it)
        self._metas: dict[int, tuple[Tensor, Tensor]] = {}
        self._own: dict[int, Tensor] = {}
        # Keys of `_metas` for tensors that did not exist before the evaluation: the evaluated functions
        # created them from numbers or as `y.data`
        self._created_ids: set[int] = set()
        self._aliases = Aliases()

    def evaluate(self, function: Callable[..., Any], args: Any) -> SubgraphResult:
        """Run a function on meta tensors, and return the result, the captured tensors and the aliases."""
        self._aliases = Aliases()
        before = set(self._metas)
        with TracingScope(self), ts.no_grad():
            meta_args = pytree.tree_map(self.as_meta, args)
            outputs = function(*meta_args)
        leaves, spec = pytree.tree_flatten(outputs)
        leaves = [self.as_meta(x) for x in leaves]
        captured = [meta for key, (_, meta) in self._metas.items() if key not in before | self._created_ids]
        outside = [x for x in pytree.tree_leaves(meta_args) if isinstance(x, Tensor)] + captured
        return SubgraphResult(leaves, spec, outside, self._aliases)

    def as_meta(self, x: Any) -> Any:
        """Return the meta tensor for a tensor of the program, or any other value unchanged."""
        if not isinstance(x, Tensor) or id(x) in self._own:
            return x
        cached = self._metas.get(id(x))
        if cached is None and x.is_meta and (format_meta := self._same_memory(x)) is not None:
            cached = self._metas[id(x)] = x, format_meta
            self._created_ids.add(id(x))
        if cached is None:
            with TracingScope(None):
                meta = ts.empty_strided(x.shape, x.stride(), dtype=x.dtype, device="meta")
            self._own[id(meta)] = meta
            cached = self._metas[id(x)] = x, meta
        return cached[1]

    def _same_memory(self, x: Tensor) -> Tensor | None:
        """Return this evaluation's meta tensor that shares the array of `x`, or None.

        For `x = y.data`, this is `y`.
        """
        return next((y for y in self._own.values() if y.array is x.array), None)

    def new_meta(self, x: Tensor, shape: Any = None) -> Tensor:
        """Create a meta tensor with the dtype of `x` and the given shape."""
        with TracingScope(None):
            meta = ts.empty(x.shape if shape is None else shape, dtype=x.dtype, device="meta")
        self._own[id(meta)] = meta
        return meta

    # ---- tracer interface

    def operator(self, operators: Any, args: tuple[Any, ...], kwargs: dict[str, Any] | None) -> Any:
        """Run an operator on meta tensors."""
        with TracingScope(None):
            op, values, _ = operators.resolve(args, kwargs or {})
        result = self._run(op, values)
        return operators.for_python(op, result) if hasattr(operators, "for_python") else result

    def _run(self, op: Any, values: list[Any]) -> Any:
        result = execute(op, values, to_meta=self.as_meta)
        self._own.update((id(y), y) for y in tensors_in([result]))
        self._aliases.record_operator(op, [map_tensors(self.as_meta, x) for x in values], result)
        return result

    def higher_order(self, operator: Any, args: tuple[Any, ...]) -> Any:
        """Evaluate a nested higher-order operator on meta tensors."""
        return operator.evaluate_meta(self, *args)

    def record_constructed(self, x: Tensor, function: str) -> None:
        """Create a meta tensor for `x`, which a function has created from Python numbers."""
        self._metas[id(x)] = x, self.new_meta(x)
        self._created_ids.add(id(x))

    def record_alias(self, x: Tensor, recorded: Tensor) -> None:
        """Let `x` have the same meta tensor as `recorded`."""
        cached = self._metas.get(id(recorded))
        if cached is not None:
            self._metas[id(x)] = x, cached[1]
        if id(recorded) in self._created_ids:
            self._created_ids.add(id(x))

    def record_escape(self, x: Tensor, kind: str, scalar: Any) -> None:
        """Raise DataDependentError, because the program tries to convert a tensor to a Python value."""
        raise DataDependentError(kind)

    def function(self, function: Any, args: tuple[Any, ...], kwargs: dict[str, Any]) -> Any:
        """Call the Python function from which a script was compiled.

        Raise DataDependentError if there is none.
        """
        python_function = getattr(function, "__wrapped__", None)
        if python_function is None:
            raise DataDependentError("compiled")
        return python_function(*args, **kwargs)
