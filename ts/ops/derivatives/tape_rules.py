"""Differentiation rules for the autograd tape, derived from the derivative formulas.

Input: the record of an operator. Output: a `Rule`, which compiles the formulas at the first backward pass.
"""

from __future__ import annotations

from typing import Any

from ts._core.autograd.rule import DifferentiationKind, Formula, FormulaInputKind, Rule
from ts._core.dispatch.signature import signature
from ts.fusion.program import KIND
from ts.ops.derivatives import formulas
from ts.ops.derivatives.formula_registry import Derivative
from ts.ops.derivatives.formulas import Inputs, get_decomposition, gradient, node_name
from ts.ops.operator_record import OperatorRecord

_FACTS = {
    "size": FormulaInputKind.SIZE,
    "stride": FormulaInputKind.STRIDE,
    "dim": FormulaInputKind.RANK,
    "dtype": FormulaInputKind.DTYPE,
    "numel": FormulaInputKind.COUNT,
    "is_complex": FormulaInputKind.COMPLEX,
    "storage_offset": FormulaInputKind.OFFSET,
}


def rule_of(record: OperatorRecord) -> Rule:
    """Return the rule by which the autograd tape differentiates an operator."""
    if record.name == KIND:
        return Rule(DifferentiationKind.LEFT)
    inputs = Inputs(record)
    derivative = inputs.derivative
    if derivative is not None and derivative.reason:
        return (
            Rule(DifferentiationKind.UNSUPPORTED, error_message=derivative.reason)
            if derivative.rejects_grad
            else Rule(DifferentiationKind.PLAIN)
        )
    if record.variant == "out":
        name = record.name.removeprefix("aten::")
        message = (
            f"{name}(): functions with out=... arguments don't support automatic differentiation, but one "
            "of the arguments requires grad."
        )
        return Rule(DifferentiationKind.UNSUPPORTED, error_message=message)
    if derivative is None:
        if record.promotion == "bool" and not record.variant:
            return Rule(DifferentiationKind.PLAIN)
        if record.tensor_kernel or not _gives_tensors(record):
            return Rule(DifferentiationKind.INSIDE)
        return Rule(DifferentiationKind.UNIMPLEMENTED, **_forms(record))
    if derivative.decomposition:
        return Rule(DifferentiationKind.BY_DECOMPOSITION, decomposition=get_decomposition(record))
    return _by_formula(record, inputs, derivative)


def _gives_tensors(record: OperatorRecord) -> bool:
    schema = signature(record.schema_text)
    return any(r.kind.startswith("Tensor") for r in schema.returns) or any(
        p.written for p in schema.parameters
    )


def _forms(record: OperatorRecord) -> dict[str, Any]:
    """Return the fields of a `Rule` that the schema determines.

    results    indices of the results that are tensors or lists of tensors
    written    index of the tensor argument that an in-place operator writes to, or -1
    reshapes   True for the in-place variant of a view operator
    lists      True if a result is a list of tensors
    """
    schema = signature(record.schema_text)
    in_place = record.variant or not schema.returns or record.name.endswith("_")
    written = [i for i, p in enumerate(schema.parameters) if in_place and p.written and p.kind == "Tensor"]
    return {
        "results": [i for i, r in enumerate(schema.returns) if r.kind.startswith("Tensor")],
        "written": written[0] if written else -1,
        "reshapes": record.is_inplace_view,
        "lists": any(r.kind == "Tensor[]" for r in schema.returns),
    }


def _by_formula(record: OperatorRecord, inputs: Inputs, derivative: Derivative) -> Rule:
    forms = _forms(record)
    if not record.variant:
        forms["results"] = inputs.differentiable
    numbers = [i for i, name in enumerate(inputs.parameters) if name in derivative.inputs]
    names = list(inputs.parameters)

    def build(bits: int) -> Formula:
        requested = [names[i] for k, i in enumerate(numbers) if bits >> k & 1]
        return _formula(inputs, gradient(record, requested), requested)

    return Rule(
        DifferentiationKind.BY_FORMULA, node_name(record), numbers, absent=derivative.absent, build=build,
        **forms,
    )  # fmt: skip


def _formula(inputs: Inputs, formula: formulas.Formula, requested: list[str]) -> Formula:
    names = list(inputs.parameters)
    sources = [_source(inputs, read) for read in formula.parameters]
    input_indices = tuple(names.index(name) for name in formula.gradient_names)
    return Formula(
        formula.function,
        sources,
        input_indices,
        tuple(name in requested for name in formula.gradient_names),
    )


def _source(inputs: Inputs, read: formulas.FormulaParameter) -> tuple[int, int, bool]:
    """Return where the engine finds the value of parameter `read` of a formula, as a tuple of three items.

    The first item is a `FormulaInputKind`. The second item is the index of the argument, result or gradient.
    The third item is True if the value may be a number instead of a tensor.
    """
    names = list(inputs.parameters)
    if read.fact:  # a property such as a size, of an argument or a result
        everything = [*names, *(result.name for result in inputs.results)]
        return _FACTS[read.fact], everything.index(read.of), False
    if read.of in inputs.parameters:
        parameter = inputs.parameters[read.of]
        return FormulaInputKind.ARGUMENT, names.index(read.of), parameter.kind == "Tensor"
    if read.of == "output_mask":
        return FormulaInputKind.REQUIRES_GRAD, 0, False
    for i, result in enumerate(inputs.results):
        is_list = result.kind == "Tensor[]"
        if read.of == result.name:
            return (FormulaInputKind.RESULTS if is_list else FormulaInputKind.RESULT), i, False
        if read.of == result.gradient or (read.of == "grad" and i == inputs.differentiable[0]):
            return (FormulaInputKind.GRADIENTS if is_list else FormulaInputKind.GRADIENT), i, False
    raise ValueError(f"a formula of {inputs.record.key} reads {read.of}")
