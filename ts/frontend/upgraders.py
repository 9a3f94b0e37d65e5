"""Operator upgraders (version upgraders, operator versioning) for backward compatibility with older archives.

Input: the name of an operator, and the format version of an archive. Output: script functions with the
semantics of this version, one for each combination of argument types. Each line shows a call and its result:

    find_upgraders("div", 3)        [div of two tensors, div of a tensor and a number, ...]
    find_upgraders("div", 4)        [], because the semantics have not changed since version 4
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache, partial
from typing import Any, Final

from ts.errors import SchemaMatchError
from ts.frontend import naming, parse
from ts.frontend.ir_emitter.emitter import Emitter
from ts.frontend.load_policy import LoadPolicy
from ts.frontend.resolve import Resolver
from ts.frontend.schema_matching import Actual, match_schemas
from ts.frontend.sugared_values.sugared import BuiltinFunction, FunctionValue, Kwargs, SugaredValue
from ts.ir.source import SourceRange

# Operator -> (first format version with the current semantics, source that implements the former semantics).
_UPGRADERS: Final[dict[str, tuple[int, str]]] = {
    # Before version 4, the quotient of integer tensors was an integer tensor.
    "div": (
        4,
        """
def tensors(self: Tensor, other: Tensor) -> Tensor:
    if self.is_floating_point() or other.is_floating_point():
        return torch.div(self, other)
    return torch.div(self, other, rounding_mode="trunc")

def number(self: Tensor, other: Union[int, float, complex]) -> Tensor:
    if self.is_floating_point() or isinstance(other, float):
        return torch.div(self, other)
    return torch.div(self, other, rounding_mode="trunc")

def into(self: Tensor, other: Tensor, out: Tensor) -> Tensor:
    if self.is_floating_point() or other.is_floating_point() or out.is_floating_point():
        return torch.div(self, other, out=out)
    return torch.div(self, other, rounding_mode="trunc", out=out)
""",
    ),
    "div_": (
        4,
        """
def tensors(self: Tensor, other: Tensor) -> Tensor:
    if self.is_floating_point() or other.is_floating_point():
        return self.div_(other)
    return self.div_(other, rounding_mode="trunc")

def number(self: Tensor, other: Union[int, float, complex]) -> Tensor:
    if self.is_floating_point() or isinstance(other, float):
        return self.div_(other)
    return self.div_(other, rounding_mode="trunc")
""",
    ),
    # Before version 5, the result was floating-point if no dtype was passed.
    "full": (
        5,
        """
def filled(
    size: List[int], fill_value: Union[int, float, complex], dtype: Optional[int] = None,
    layout: Optional[int] = None, device: Optional[Device] = None, pin_memory: Optional[bool] = None
) -> Tensor:
    if dtype is None and not isinstance(fill_value, complex):
        fill_value = float(fill_value)
    return torch.full(
        size, fill_value, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory
    )
""",
    ),
    # Before version 8, the number of steps was optional.
    "linspace": (
        8,
        """
def spaced(
    start: Union[int, float, complex], end: Union[int, float, complex], steps: Optional[int] = None,
    dtype: Optional[int] = None, layout: Optional[int] = None, device: Optional[Device] = None,
    pin_memory: Optional[bool] = None
) -> Tensor:
    count = 100 if steps is None else steps
    return torch.linspace(
        start, end, count, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory
    )

def into(
    start: Union[int, float, complex], end: Union[int, float, complex], steps: Optional[int] = None,
    *, out: Tensor
) -> Tensor:
    return torch.linspace(start, end, 100 if steps is None else steps, out=out)
""",
    ),
    "logspace": (
        9,
        """
def spaced(
    start: Union[int, float, complex], end: Union[int, float, complex], steps: Optional[int] = None,
    base: float = 10.0, dtype: Optional[int] = None, layout: Optional[int] = None,
    device: Optional[Device] = None, pin_memory: Optional[bool] = None
) -> Tensor:
    count = 100 if steps is None else steps
    return torch.logspace(
        start, end, count, base, dtype=dtype, layout=layout, device=device, pin_memory=pin_memory
    )

def into(
    start: Union[int, float, complex], end: Union[int, float, complex], steps: Optional[int] = None,
    base: float = 10.0, *, out: Tensor
) -> Tensor:
    return torch.logspace(start, end, 100 if steps is None else steps, base, out=out)
""",
    ),
}


def find_upgraders(name: str, version: int) -> Sequence[Any]:
    """Return functions with the semantics that operator `name` had in format version `version`.

    Return () if the semantics have not changed since this version.
    """
    changed, _ = _UPGRADERS.get(name, (0, ""))
    return _functions(name) if version < changed else ()


@cache
def _functions(name: str) -> tuple[Any, ...]:
    definitions = parse.module_defs(_UPGRADERS[name][1], Resolver())
    return tuple(
        naming.make_function(
            definition.name, f"__torch__.upgraders.{name}.{definition.name}", partial(_same, definition)
        )
        for definition in definitions
    )


def _same(definition: parse.ParsedFunction) -> parse.ParsedFunction:
    return definition


class LegacyOperator(SugaredValue):
    """Operator whose semantics in the archive's format version differ from its current semantics."""

    kind = "builtin"

    def __init__(self, operator: BuiltinFunction, functions: Sequence[Any], policy: LoadPolicy) -> None:
        self.operator = operator
        self.functions = functions
        self.policy = policy

    def call(
        self, em: Emitter, range: SourceRange, args: Sequence[Actual], kwargs: Kwargs, n_binders: int
    ) -> SugaredValue:
        """Emit a call of the first upgrader that accepts the arguments.

        If no upgrader accepts them, emit the operator with its current semantics.
        """
        schemas = [function.schema for function in self.functions]
        try:
            index, _ = match_schemas(schemas, em.graph, range, args, kwargs)
        except SchemaMatchError:
            return self.operator.call(em, range, args, kwargs, n_binders)
        self.policy.admit(self.functions[index].graph, range)
        return FunctionValue(self.functions[index]).call(em, range, args, kwargs, n_binders)
