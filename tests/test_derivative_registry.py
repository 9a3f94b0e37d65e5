"""Derivative table rows: lookup, inputs of formulas, and compiled code."""

import pathlib
import re
import subprocess
import sys

import pytest

import ts
from ts.ops import registry
from ts.ops.derivatives import formula_registry, formulas
from ts.ops.derivatives.formulas import gradient
from ts.runtime.function_fingerprint import fingerprint_of


def test_a_formula_reads_what_its_text_names_and_nothing_else():
    product = registry.find("aten::mul.Tensor")
    assert [r.name for r in gradient(product, ["self"]).parameters] == ["grad", "other"]
    assert [r.name for r in gradient(product, ["self", "other"]).parameters] == ["grad", "self", "other"]


def test_variants_and_aliases_share_the_row_of_the_operator():
    row = formula_registry.derivative_of(registry.find("aten::mul.Tensor"))
    assert row is not None
    for key in ("aten::mul_.Tensor", "aten::mul.out", "aten::multiply.Tensor"):
        assert formula_registry.derivative_of(registry.find(key)) is row


def test_a_formula_computes_the_gradients():
    formula = gradient(registry.find("aten::mul.Tensor"), ["self", "other"])
    x, y = ts.tensor([1.0, 2.0]), ts.tensor([3.0, 4.0])
    of_x, of_y = formula.function()(ts.ones(2), x, y)
    assert of_x.tolist() == [3.0, 4.0]
    assert of_y.tolist() == [1.0, 2.0]
    assert formula.name == "MulBackward0"


def test_the_code_cache_stores_derivatives():
    """All derivative functions have a fingerprint, so that later processes do not compile them again."""
    count = 0
    for record in registry.records():
        row = formula_registry.derivative_of(record)
        # generators, which `rrelu` has as a parameter, have no fingerprint
        if record.variant or row is None or row.reason or record.name == "aten::rrelu":
            continue
        if row.decomposition:
            function = formulas.define_decomposition(record)
        else:
            function = formulas.define_gradient(gradient(record, [*row.inputs]))
        assert fingerprint_of(function) is not None, record.key
        count += 1
    assert count > 900


def test_a_forward_pass_compiles_no_derivatives():
    """The first backward pass compiles the formula of an operator."""
    code = """
import sys, ts
x = ts.tensor([3.0], requires_grad=True)
y = ts.mul(x, x)
print("ts.runtime.function" in sys.modules)
y.backward()
print("ts.runtime.function" in sys.modules, x.grad.item(), y.grad_fn.name())
"""
    process = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert process.stdout.split() == ["False", "True", "6.0", "MulBackward0"]


def test_a_row_is_declared_once():
    formula_registry.derivative_of(registry.find("aten::mul.Tensor"))
    with pytest.raises(ValueError, match=r"derivative of aten::mul\.Tensor is declared twice"):
        formula_registry.derive("aten::mul.Tensor", self="grad")


def test_every_row_belongs_to_an_operator_and_names_its_arguments():
    for key, row in formula_registry.all_derivatives().items():
        record = registry.find(key)
        assert record is not None, key
        names = {a.name for a in record.schema.arguments} | {"grad_"}
        assert names.issuperset(row.inputs), key


def test_derivatives_are_in_the_module_of_their_family():
    """The first use of a derivative imports the module with the name of the operator's family only."""
    declared = re.compile(r'(?:derive|compose|constant)\(\s*"((?:aten::[\w.]+ ?)+)"')
    folder = pathlib.Path(ts.__file__).parent / "ops" / "derivatives"
    count = 0
    for path in folder.glob("*.py"):
        for keys in [] if path.stem in ("__init__", "formula_registry") else declared.findall(path.read_text()):
            for key in keys.split():
                record = getattr(registry.operator(key), "record", None)
                assert record is None or registry.declaring_family(record) == path.stem, key
                count += 1
    assert count > 500
