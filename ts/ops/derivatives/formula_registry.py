"""Registry of derivative formulas (backward formulas), which are text in the script language.

One module per operator family declares formulas. `derivative_of(record)` returns the formulas of an operator.
These are the kinds of declarations:

    derive("aten::mul.Tensor", self="grad * other.conj()", other="grad * self.conj()",
           result="self_t * other + self * other_t")
    derive("aten::tanh", self="grad * (1 - result * result).conj()", result=ELEMENTWISE)
    compose("aten::linear", "_linear(input, weight, bias)")           # derivative of a decomposition
    constant("aten::zeros_like", "does not depend on the elements")   # no derivative

A formula is an expression for the gradient of one argument. It may contain these names:

    self, dim, ...        the arguments of the schema, except that an argument `grad` is `grad_`
    result                the result. Several results have their names, or result0, result1 ...
    grad                  the gradient of the result, or of the first differentiable result
    grad_values, grad0    the gradients of several results by name, by index
    grads                 the gradients if the result is a list
    output_mask           for a formula of several arguments: List[bool], True for each required gradient
    other names           names of the module or the language, such as functions for longer formulas

The autograd engine saves the values that a formula names. It sums gradients over broadcast dimensions and
converts them to the dtype of the argument. It calls the formulas if at least one result has a gradient. The
gradients of the other results are zeros, or None (Optional[Tensor]) if `absent` is set.

The argument `result` of `derive` defines forward mode:

    ELEMENTWISE           an element of the result depends only on the same element of each argument
    LINEAR                the operator is linear in all differentiable arguments together
    a formula             an expression with the tangents self_t, other_t ... of the differentiable arguments
"""

from __future__ import annotations

import importlib
import re
import sys
from collections.abc import Iterable, Mapping
from functools import cache
from importlib.util import find_spec
from typing import TYPE_CHECKING, Any, Final

if TYPE_CHECKING:
    from ts.ops.operator_record import OperatorRecord

ELEMENTWISE: Final = "elementwise"
LINEAR: Final = "linear"

_NAME: Final = re.compile(r"(?<![\w.\"'])[A-Za-z_]\w*")


class Derivative:
    """Derivative of an operator.

    name            name of the backward node if PyTorch's name depends on the overload: "SumBackward1"
    inplace_name    name of the backward node of the in-place variant if PyTorch's name differs from `name`
    formulas        dict from a tuple of argument names to a formula for the gradients of these arguments. For
                    several names, the formula returns a tuple
    forward         ELEMENTWISE, LINEAR, a formula, a dict from result to formula, or None if unknown
    absent          True if gradients of unused results are None, False if they are zeros
    differentiable  names of the differentiable results. () stands for all floating-point results
    decomposition   expression that computes the same by differentiable operators, or ""
    reason          text that states why the operator has no derivative, or ""
    rejects_grad    True if the operator raises an error with `reason` for tensors that require grad
    """

    def __init__(
        self,
        key: str,
        formulas: Mapping[tuple[str, ...], str],
        module_name: str,
        *,
        name: str = "",
        inplace_name: str = "",
        forward: str | Mapping[str, str] | None = None,
        absent: bool = False,
        differentiable: tuple[str, ...] = (),
        decomposition: str = "",
        reason: str = "",
        rejects_grad: bool = False,
    ) -> None:
        self.key = key
        self.name = name
        self.inplace_name = inplace_name
        self.formulas = formulas
        self.module_name = module_name
        self.forward = forward
        self.absent = absent
        self.differentiable = differentiable
        self.decomposition = decomposition
        self.reason = reason
        self.rejects_grad = rejects_grad

    def __repr__(self) -> str:
        return f"<derivative of {self.key}>"

    @property
    def namespace(self) -> dict[str, Any]:
        """Global names of the module that declares the formulas. Formulas may contain these names."""
        return vars(sys.modules[self.module_name])

    @property
    def inputs(self) -> tuple[str, ...]:
        """Names of the arguments that have a gradient formula."""
        return tuple(name for names in self.formulas for name in names)

    def formulas_for(self, inputs: Iterable[str]) -> list[tuple[tuple[str, ...], str]]:
        """Return the formulas that compute gradients of the given arguments."""
        inputs = set(inputs)
        return [(names, formula) for names, formula in self.formulas.items() if not inputs.isdisjoint(names)]


def names_in(formula: str) -> set[str]:
    """Return the names that a formula reads, without attributes: `"grad * x.sum()" -> {"grad", "x"}`."""
    return set(_NAME.findall(formula))


_derivatives: dict[str, Derivative] = {}


def _add(derivative: Derivative) -> None:
    if derivative.key in _derivatives:
        raise ValueError(f"the derivative of {derivative.key} is declared twice")
    _derivatives[derivative.key] = derivative


def _caller() -> str:
    return str(sys._getframe(2).f_globals["__name__"])


def derive(
    keys: str,
    joint: Mapping[str, str] | None = None,
    /,
    *,
    result: str | Mapping[str, str] | None = None,
    name: str = "",
    inplace_name: str = "",
    absent: bool = False,
    differentiable: str = "",
    **formulas: str,
) -> None:
    """Declare the derivative formulas of one or several operators.

    joint            dict from names of several arguments to a formula that returns a tuple of their
                     gradients: {"input, weight": "..."}
    differentiable   names of the results that have gradients, by default all floating-point results
    """
    for key in keys.split():
        by_inputs: dict[tuple[str, ...], str] = {(name,): formula for name, formula in formulas.items()}
        by_inputs |= {tuple(names.split(", ")): formula for names, formula in (joint or {}).items()}
        derivative = Derivative(
            key, by_inputs, _caller(), name=name, inplace_name=inplace_name, forward=result,
            absent=absent, differentiable=tuple(differentiable.split()),
        )  # fmt: skip
        _add(derivative)


def compose(keys: str, formula: str, /) -> None:
    """Declare a decomposition for differentiation: `formula` is an equivalent expression."""
    for key in keys.split():
        _add(Derivative(key, {}, _caller(), decomposition=formula))


def constant(keys: str, reason: str, /) -> None:
    """Declare that an operator has no gradient although its results are floating-point."""
    for key in keys.split():
        _add(Derivative(key, {}, _caller(), reason=reason))


def reject_grad(keys: str, reason: str, /) -> None:
    """Declare that an operator raises RuntimeError with `reason` for tensors that require grad."""
    for key in keys.split():
        _add(Derivative(key, {}, _caller(), reason=reason, rejects_grad=True))


@cache
def _load(family: str) -> None:
    """Import the derivative module of an operator family, if it exists."""
    name = f"{__package__}.{family}"
    if find_spec(name) is not None:
        importlib.import_module(name)


def derivative_of(record: OperatorRecord) -> Derivative | None:
    """Return the derivative declared for an operator, or None without a declaration.

    If the operator has none itself, use that of its base operator, or of the operator that it is an alias of.
    """
    from ts.ops import registry

    _load(registry.declaring_family(record))
    if record.variant == "inplace":
        inplace_row = _derivatives.get(f"{record.same_as or record.name}.{record.overload}".removesuffix("."))
        if inplace_row is not None:
            return inplace_row
    record = record.base or record
    derivative = _derivatives.get(record.key)
    if derivative is None:
        other = registry.find_alias_target(record)
        return None if other is None else _renamed(derivative_of(other), other, record)
    return derivative


@cache
def _renamed(
    derivative: Derivative | None, before: OperatorRecord, record: OperatorRecord
) -> Derivative | None:
    """Return `derivative`, which belongs to operator `before`, for the operator `record`, an alias of it.

    In the formulas, names of arguments of `before` are replaced by those of `record`.
    """
    old, new = ([a.name for a in r.schema.arguments] for r in (before, record))
    if derivative is None or old == new or len(old) != len(new):
        return derivative
    names = dict(zip(old, new, strict=True))
    names |= {f"{a}_t": f"{b}_t" for a, b in names.items()}

    def rename(formula: str) -> str:
        return _NAME.sub(lambda match: names.get(match[0], match[0]), formula)

    forward = derivative.forward
    if isinstance(forward, str) and forward not in (ELEMENTWISE, LINEAR):
        forward = rename(forward)
    elif isinstance(forward, Mapping):
        forward = {result: rename(formula) for result, formula in forward.items()}
    formulas = {
        tuple(names[i] for i in inputs): rename(formula) for inputs, formula in derivative.formulas.items()
    }
    return Derivative(
        derivative.key, formulas, derivative.module_name, name=derivative.name,
        inplace_name=derivative.inplace_name, forward=forward, absent=derivative.absent,
        differentiable=derivative.differentiable,
        decomposition=rename(derivative.decomposition), reason=derivative.reason,
        rejects_grad=derivative.rejects_grad,
    )  # fmt: skip


def all_derivatives() -> Mapping[str, Derivative]:
    """Return all derivative records by operator key."""
    from ts.ops import registry

    for family in registry.FAMILIES:
        _load(family)
    return _derivatives
