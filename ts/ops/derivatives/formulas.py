"""Compilation of derivative formulas to functions that compute gradients.

Input: the record of an operator, and the names of the arguments that need a gradient. Output: a `Formula`
with the source text and the compiled function. Its gradients are not yet summed over broadcast dimensions.

Example:

    formula = gradient(record, ("self", "other"))
    formula.parameters                 # grad, self, other: in the order of the function's parameters
    formula.function()(grad, x, y)     # (gradient of self, gradient of other)

For `aten::mul`, the source text is:

    def MulBackward0(grad: Tensor, self: Tensor, other: Tensor):
        return grad * other.conj(), grad * self.conj()
"""

from __future__ import annotations

import linecache
import re
from collections.abc import Sequence
from functools import cache, cached_property
from types import FunctionType
from typing import TYPE_CHECKING, Any, Final, NamedTuple, Optional, Union
from zlib import crc32

from ts._core.dispatch.signature import Parameter, signature
from ts.ops.derivatives.formula_registry import Derivative, derivative_of, names_in

if TYPE_CHECKING:
    from ts.ops.operator_record import OperatorRecord

_SCALARS: Final = {
    "Tensor": "Tensor", "Scalar": "Union[int, float, complex]", "int": "int", "bool": "bool",
    "float": "float", "complex": "complex", "str": "str", "Device": "Device", "Generator": "Generator",
    "ScalarType": "int", "Layout": "int", "MemoryFormat": "int",
    "int[]": "List[int]", "bool[]": "List[bool]", "float[]": "List[float]",
    "Scalar[]": "List[Union[int, float, complex]]",
    "Tensor[]": "List[Tensor]", "Tensor?[]": "List[Optional[Tensor]]",
}  # fmt: skip


# Property of a tensor -> (type of the property in scripts, regular expression of its text in formulas). If
# formulas read only such properties of a tensor, the properties are saved for backward instead of the tensor.
FACTS: Final = {
    "size": ("List[int]", r"size\(\)|shape\b"),
    "stride": ("List[int]", r"stride\(\)"),
    "dim": ("int", r"dim\(\)|ndim\b"),
    "dtype": ("int", r"dtype\b"),
    "numel": ("int", r"numel\(\)"),
    "is_complex": ("bool", r"is_complex\(\)"),
    "storage_offset": ("int", r"storage_offset\(\)"),
}
_FACT: Final = re.compile(
    r"\b([A-Za-z_]\w*)\.(?:" + "|".join(f"(?P<{fact}>{text})" for fact, (_, text) in FACTS.items()) + ")"
)
_LENGTH: Final = re.compile(r"\b([A-Za-z_]\w*)\.size\(([^()]+)\)")


class Result(NamedTuple):
    """Result of an operator: its type, its name in formulas, and the name of its gradient."""

    name: str  # name of the result in formulas, such as "result", "values" or "result1"
    # name of the result's gradient in formulas, such as "grad", "grad_values", "grad1" or "grads"
    gradient: str
    kind: str  # type: "Tensor", "Tensor[]", "int" ...


class FormulaParameter(NamedTuple):
    """Parameter of a formula: an argument, a result or a gradient, or a property of one (`self.size()`)."""

    name: str  # name of the parameter, such as "self" or "self_size"
    of: str  # name of the argument, result or gradient that is read, such as "self"
    fact: str  # tensor property that is read, a key of `FACTS`, or "" for the value itself


class Formula(NamedTuple):
    """Source text of the function that computes gradients, and its parameters."""

    parameters: tuple[FormulaParameter, ...]  # the function's parameters, in order
    gradient_names: tuple[str, ...]  # names of the arguments whose gradients the function returns, in order
    text: str
    namespace: dict[str, Any]

    @property
    def name(self) -> str:
        """Name of the compiled formula function, such as "MulBackward0"."""
        return self.text.partition("(")[0].removeprefix("def ")

    def function(self) -> Any:
        """Return the compiled function. The first call compiles it."""
        return compile_source(self.name, self.text, self.namespace)


class Inputs:
    """Arguments and results of an operator, with their names in formulas."""

    def __init__(self, record: OperatorRecord) -> None:
        self.derivative = derivative_of(record)
        self.record = record.base or record
        schema = signature(self.record.schema_text)
        self.parameters = {p.name if p.name != "grad" else "grad_": p for p in schema.parameters}
        has_several = len(schema.returns) > 1
        self.results = []
        for i, r in enumerate(schema.returns):
            name = r.name or (f"result{i}" if has_several else "result")
            gradient = f"grad_{r.name}" if r.name and has_several else f"grad{i}" if has_several else "grad"
            self.results.append(Result(name, "grads" if r.kind == "Tensor[]" else gradient, r.kind))

    @cached_property
    def differentiable(self) -> tuple[int, ...]:
        """Indices of the results that have gradients."""
        assert self.derivative is not None
        names = self.derivative.differentiable
        return tuple(
            i for i, r in enumerate(self.results)
            if (r.name in names if names else r.kind in ("Tensor", "Tensor[]"))
        )  # fmt: skip

    def annotation(self, name: str, absent: bool) -> str | None:
        """Return the script type of a name in a formula, such as "List[Tensor]", or None for other names.

        If `absent`, the type of gradients is optional.
        """
        if name in self.parameters:
            return _annotation(self.parameters[name])
        for i, result in enumerate(self.results):
            if name == result.name:
                return _SCALARS[result.kind]
            if name == result.gradient or (name == "grad" and i == self.differentiable[0]):
                return _gradient_type(result.kind, absent)
        return "List[bool]" if name == "output_mask" else None


@cache
def inputs_of(record: OperatorRecord) -> Inputs:
    """Return the cached arguments and results of an operator, with their names in formulas."""
    return Inputs(record)


def _annotation(parameter: Parameter) -> str:
    annotation = _SCALARS[parameter.kind]
    return f"Optional[{annotation}]" if parameter.optional else annotation


def _gradient_type(kind: str, absent: bool) -> str:
    of_one = "Optional[Tensor]" if absent else "Tensor"
    return f"List[{of_one}]" if kind == "Tensor[]" else of_one


def gradient(record: OperatorRecord, requested: Sequence[str]) -> Formula:
    """Return the function that computes the gradients of the arguments `requested`.

    If one formula computes the gradients of a requested and of other arguments together, the function also
    returns the gradients of the other arguments.
    """
    inputs = Inputs(record)
    derivative = inputs.derivative
    assert derivative is not None
    parameters: dict[str, FormulaParameter] = {}
    expressions = [
        (names, _with_facts(formula, inputs, parameters))
        for names, formula in derivative.formulas_for(requested)
    ]
    gradient_names = tuple(name for names, _ in expressions for name in names)
    for name in _order(inputs, set().union(*(names_in(formula) for _, formula in expressions))):
        if inputs.annotation(name, derivative.absent) is not None:
            parameters[name] = FormulaParameter(name, name, "")
    types = [
        _type_of_fact(r, inputs) if r.fact else inputs.annotation(r.of, derivative.absent)
        for r in parameters.values()
    ]
    declared = ", ".join(f"{name}: {type}" for name, type in zip(parameters, types, strict=True))
    source = f"def {node_name(record)}({declared}):\n"
    if len(expressions) == 1:
        source += f"    return {expressions[0][1]}\n"
    else:
        for names, formula in expressions:
            source += f"    {', '.join(f'of_{n}' for n in names)} = {formula}\n"
        source += f"    return {', '.join(f'of_{n}' for n in gradient_names)}\n"
    return Formula(tuple(parameters.values()), gradient_names, source, derivative.namespace)


def _type_of_fact(read: FormulaParameter, inputs: Inputs) -> str:
    """Return the script type of a property, such as "int" for `dim()`, or "List[int]" for a tensor list."""
    of_one = FACTS[read.fact][0]
    return of_one if inputs.annotation(read.of, False) == "Tensor" else f"List[{of_one}]"


def _with_facts(formula: str, inputs: Inputs, parameters: dict[str, FormulaParameter]) -> str:
    """Replace each read of a tensor property in a formula by a new parameter: `self.size()` by `self_size`.

    Add the new parameters to `parameters`. Properties of gradients are not replaced. For a list of tensors,
    `tensors.size()` means the list of the sizes of each tensor.
    """
    gradients = {"grad", *(r.gradient for r in inputs.results)}

    def fact(of: str, property_name: str) -> str | None:
        kinds = ("Tensor", "List[Tensor]") if property_name == "size" else ("Tensor",)
        if of in gradients or inputs.annotation(of, False) not in kinds:
            return None
        name = f"{of}_{property_name}"
        parameters[name] = FormulaParameter(name, of, property_name)
        return name

    formula = _LENGTH.sub(lambda m: f"{name}[{m[2]}]" if (name := fact(m[1], "size")) else m[0], formula)
    return _FACT.sub(lambda m: fact(m[1], str(m.lastgroup)) or m[0], formula)


def _order(inputs: Inputs, read: set[str]) -> list[str]:
    """Sort the names `read`: gradients first, then arguments, then results."""
    results = inputs.results
    names = ["grad", *(r.gradient for r in results), *inputs.parameters, *(r.name for r in results)]
    return [name for name in dict.fromkeys([*names, "output_mask"]) if name in read]


def node_name(record: OperatorRecord) -> str:
    """Return PyTorch's name for the backward node of an operator, such as MulBackward0."""
    derivative = derivative_of(record)
    if derivative is not None and record.variant == "inplace" and derivative.inplace_name:
        return derivative.inplace_name
    if derivative is not None and derivative.name:
        return derivative.name
    base = (
        (record.base or record).name if derivative is None else derivative.key.partition(".")[0]
    ).rpartition("::")[2]
    words = "".join(word.title() for word in base.split("_"))
    return f"{words}Backward0"


def get_decomposition(record: OperatorRecord) -> Any:
    """Return the decomposition of an operator as a compiled function of the operator's arguments."""
    from ts.runtime.function import compile_function

    return compile_function(define_decomposition(record))


def define_decomposition(record: OperatorRecord) -> FunctionType:
    """Return the decomposition of an operator as a Python function of the operator's arguments."""
    inputs = Inputs(record)
    derivative = inputs.derivative
    assert derivative is not None
    declared = ", ".join(f"{name}: {_annotation(p)}" for name, p in inputs.parameters.items())
    # Without the suffix, the defined function would hide another function that has the name of the operator.
    name = record.name.rpartition("::")[2] + "_by_parts"
    source = f"def {name}({declared}):\n    return {derivative.decomposition}\n"
    return _defined(name, source, derivative.namespace)


def compile_source(name: str, source: str, namespace: dict[str, Any]) -> Any:
    """Define a Python function from source text, and return the compiled function."""
    from ts.runtime.function import compile_function

    return compile_function(_defined(name, source, namespace))


def define_gradient(formula: Formula) -> FunctionType:
    """Return the function of a formula as a Python function."""
    return _defined(formula.name, formula.text, formula.namespace)


def _defined(name: str, source: str, namespace: dict[str, Any]) -> FunctionType:
    """Define a Python function from source text, registered with `linecache`."""
    from ts import Generator, Tensor, device

    filename = f"<{name} {crc32(source.encode()):08x}>"
    global_names = {
        "Tensor": Tensor, "Device": device, "Generator": Generator,
        "List": list, "Optional": Optional, "Union": Union, **namespace,
    }  # fmt: skip
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)
    exec(compile(source, filename, "exec"), global_names)
    function = global_names[name]
    assert isinstance(function, FunctionType)
    return function
