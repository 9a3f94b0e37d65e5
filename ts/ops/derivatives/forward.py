"""Forward-mode tangents of results (Jacobian-vector products), computed from derivative formulas.

The declaration of a derivative (`formula_registry`) has an argument `result`. Each line shows a value of this
argument and the resulting tangent:

    ELEMENTWISE     the gradient formula, with the tangent instead of the gradient
    LINEAR          the operator applied to the tangents
    a formula       the value of the formula
    none            double backward: the gradient J^T u is linear in u, and its backward computes J t
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any

import ts
from ts import Tensor
from ts._core.autograd.backward import grad as autograd_grad
from ts._core.dispatch_layers.level_stack import require_grad_at_level
from ts._core.tensor.tensor_metadata import detached
from ts._core.thread.context import GradMode, is_grad_enabled
from ts.ops.derivatives.formula_registry import ELEMENTWISE, LINEAR, Derivative, derivative_of, names_in
from ts.ops.derivatives.formulas import (
    FormulaParameter,
    Inputs,
    compile_source,
    get_decomposition,
    gradient,
    inputs_of,
    node_name,
)
from ts.ops.operator_record import OperatorRecord


@cache
def composite(record: OperatorRecord) -> Callable[..., Any] | None:
    """Return a function that computes an operator by other operators: its decomposition or composite kernel.

    Return None if the operator has neither, for example if it has derivative formulas.
    """
    derivative = derivative_of(record)
    if derivative is not None and derivative.decomposition and not record.variant:
        return get_decomposition(record)  # type: ignore[no-any-return]
    if derivative is None and record.tensor_kernel:
        return record.kernel
    return None


def tangents_of(
    record: OperatorRecord, primals: list[Any], tangents: list[Any], results: list[Any]
) -> list[Tensor | None]:
    """Return the tangent of each result, where None means a zero tangent.

    Raise NotImplementedError for an operator without a derivative.
    """
    derivative = derivative_of(record)
    if (derivative is not None and derivative.reason) or not any(_has_tangent(t) for t in tangents):
        return [None] * len(results)
    if derivative is None and not any(isinstance(y, Tensor) and _continuous(y) for y in results):
        return [None] * len(results)
    if derivative is None:
        raise NotImplementedError(
            f"Trying to use forward AD with {record.name.removeprefix('aten::')} that does not "
            "support it because it has not been implemented yet."
        )
    if derivative.decomposition:
        return _by_two_passes(record, primals, tangents, results)
    inputs = inputs_of(record)
    input_indices = [i for i, name in enumerate(inputs.parameters) if name in derivative.inputs]
    if not any(_has_tangent(tangents[i]) for i in input_indices):
        return [None] * len(results)
    if derivative.forward == ELEMENTWISE:
        return _elementwise(record, inputs, input_indices, primals, tangents, results)
    if derivative.forward == LINEAR:
        return _linear(record, input_indices, primals, tangents, len(results))
    if derivative.forward is not None:
        return _by_formula(record, inputs, derivative, input_indices, primals, tangents, results)
    return _by_two_passes(record, primals, tangents, results)


def is_constant(record: OperatorRecord) -> bool:
    """Return whether the results of an operator have no tangents, although they may be views: `detach`."""
    derivative = derivative_of(record)
    return derivative is not None and bool(derivative.reason)


def check_write(record: OperatorRecord) -> None:
    """Raise RuntimeError if an in-place operator is not allowed for a tensor with a tangent."""
    derivative = derivative_of(record)
    if derivative is not None and derivative.rejects_grad:
        raise RuntimeError(derivative.reason.replace("require grad", "has a forward grad"))


def _continuous(x: Tensor) -> bool:
    return x.is_floating_point() or x.is_complex()


def _has_tangent(t: Any) -> bool:
    return any(x is not None for x in t) if isinstance(t, list) else t is not None


def _or_zero(x: Any, t: Any) -> Any:
    """Return `t`, the tangent of `x`. If `t` is None, return zeros like `x`. Both may be lists."""
    if isinstance(x, list):
        return [_or_zero(a, b) for a, b in zip(x, t, strict=True)]
    if t is not None or x is None:
        return t
    return ts.zeros_like(x) if isinstance(x, Tensor) else type(x)(0)


def _linear(
    record: OperatorRecord, input_indices: list[int], primals: list[Any], tangents: list[Any], count: int
) -> list[Tensor | None]:
    args = list(primals)
    for i in input_indices:
        args[i] = _or_zero(primals[i], tangents[i])
    outputs = record.functional.operator.call_list(args)
    return list(outputs) if isinstance(outputs, (tuple, list)) else [outputs] * count


def _elementwise(
    record: OperatorRecord,
    inputs: Inputs,
    input_indices: list[int],
    primals: list[Any],
    tangents: list[Any],
    results: list[Any],
) -> list[Tensor | None]:
    names = list(inputs.parameters)
    total: Tensor | None = None
    for i in input_indices:
        if tangents[i] is None:
            continue
        function, parameters = _gradient(record, names[i])
        along = tangents[i].conj()
        values = _formula_values(inputs, primals, results)
        values |= {result.gradient: along for result in inputs.results} | {"grad": along}
        term = function(*[_value(values[read.of], read.fact) for read in parameters]).conj()
        total = term if total is None else total + term
    return [total]


@cache
def _gradient(record: OperatorRecord, name: str) -> tuple[Any, tuple[FormulaParameter, ...]]:
    """Return the gradient function of one argument, and the parameters it reads."""
    formula = gradient(record, [name])
    return formula.function(), formula.parameters


def _formula_values(inputs: Inputs, primals: list[Any], results: list[Any]) -> dict[str, Any]:
    """Return a dict that maps names in formulas to arguments and results of a call.

    An argument that is a number is converted to a tensor if the parameter has type Tensor.
    """
    values: dict[str, Any] = {}
    for (name, parameter), x in zip(inputs.parameters.items(), primals, strict=False):
        if parameter.kind == "Tensor" and x is not None and not isinstance(x, Tensor):
            x = ts.tensor(x, dtype=ts.float64 if isinstance(x, float) else None)
        values[name] = x
    if len(inputs.results) == 1 and inputs.results[0].kind == "Tensor[]":
        values[inputs.results[0].name] = results
    else:
        values |= {r.name: value for r, value in zip(inputs.results, results, strict=False)}
    return values


def _value(x: Any, fact: str) -> Any:
    if not fact:
        return x
    value = getattr(x, fact)
    value = value() if callable(value) else value
    if fact == "dtype":
        return value.code
    return list(value) if fact in ("size", "stride") else value


@cache
def _function(record: OperatorRecord, formula: str) -> tuple[Any, tuple[str, ...]]:
    """Compile a forward-mode formula. Return the function and the names of its parameters."""
    inputs = inputs_of(record)
    derivative = derivative_of(record)
    assert derivative is not None
    used = names_in(formula)
    types: dict[str, str] = {}
    for name in inputs.parameters:
        for spelled in {name, f"{name}_t"} & used:
            kind = inputs.annotation(name, False) or ""
            of_tensors = kind in ("Tensor", "List[Tensor]", "Optional[Tensor]")
            types[spelled] = kind if spelled == name or of_tensors else "Tensor"
    for result in inputs.results:
        if result.name in used:
            types.setdefault(result.name, inputs.annotation(result.name, False) or "Tensor")
    parameter_names = tuple(types)
    name = node_name(record).replace("Backward", "Forward")
    declared = ", ".join(f"{n}: {types[n]}" for n in parameter_names)
    return compile_source(
        name, f"def {name}({declared}):\n    return {formula}\n", derivative.namespace
    ), parameter_names


def _by_formula(
    record: OperatorRecord,
    inputs: Inputs,
    derivative: Derivative,
    input_indices: list[int],
    primals: list[Any],
    tangents: list[Any],
    results: list[Any],
) -> list[Tensor | None]:
    values = _formula_values(inputs, primals, results)
    for i in input_indices:
        name = list(inputs.parameters)[i]
        values[f"{name}_t"] = _or_zero(values[name], tangents[i])
    texts = derivative.forward
    if isinstance(texts, str):
        texts = {inputs.results[inputs.differentiable[0]].name: texts}
    assert texts is not None
    output_tangents: list[Tensor | None] = []
    for result in inputs.results:
        if result.name not in texts:
            output_tangents.append(None)
            continue
        function, parameter_names = _function(record, texts[result.name])
        output_tangents.append(function(*[values[name] for name in parameter_names]))
    return output_tangents if len(output_tangents) == len(results) else output_tangents * len(results)


def _by_two_passes(
    record: OperatorRecord, primals: list[Any], tangents: list[Any], results: list[Any]
) -> list[Tensor | None]:
    recorded = is_grad_enabled()
    xs: list[Tensor] = []
    ds: list[Tensor] = []
    with GradMode(True):

        def track_primal(x: Any, t: Any) -> Any:
            if isinstance(x, list):
                return [track_primal(a, b) for a, b in zip(x, t, strict=True)]
            if t is None:
                return x
            xs.append(require_grad_at_level(x))
            ds.append(t)
            return xs[-1]

        tracked_primals = [track_primal(x, t) for x, t in zip(primals, tangents, strict=True)]
        outputs = record.functional.operator.call_list(tracked_primals)
        ys = list(outputs) if isinstance(outputs, (tuple, list)) else [outputs]
        roots = [y for y in ys if isinstance(y, Tensor) and y.requires_grad]
        if not roots:
            return [None] * len(results)
        # u consists of ones instead of zeros, because some gradient formulas divide by u or compute log(u)
        us = [require_grad_at_level(ts.ones_like(detached(y))) for y in roots]
        gs = autograd_grad(roots, xs, us, create_graph=True, allow_unused=True)
        pairs = [(g, d) for g, d in zip(gs, ds, strict=True) if g is not None and g.requires_grad]
        if not pairs:
            return [None] * len(results)
        products = autograd_grad(
            [g for g, _ in pairs], us, [d for _, d in pairs], create_graph=True, allow_unused=True
        )
    needs_graph = recorded and any(x.requires_grad for x in _tensors([primals, tangents]))
    by_root = iter(products)
    answer: list[Tensor | None] = []
    for y in ys:
        t = next(by_root) if any(y is root for root in roots) else None
        answer.append(t if t is None or needs_graph else detached(t))
    return answer


def _tensors(x: Any) -> list[Tensor]:
    if isinstance(x, list):
        return [t for y in x for t in _tensors(y)]
    return [x] if isinstance(x, Tensor) else []
