"""Consistency of the operator records, and absence of operator names outside of them."""

import ast
import re
from pathlib import Path

import numpy as np
import pytest

import ts
from ts._core.builtin_ops import registry as prims
from ts.ops import result_strides, registry
from ts.ops.derivatives import formula_registry
from ts.ops.vmap_rules import rule_registry

ROOT = Path(__file__).resolve().parent.parent
RECORDS = registry.records()
MIN_TABLE_NAMES = 8  # minimum number of operator names for a literal to count as a table of operators

# Modules with such tables, with the reason why the tables contain no properties of tensor operators.
EXCEPTIONS = {
    "backends/cuda/namespace.py": "functions of CuPy",
    "backends/meta/array.py": "functions of NumPy",
    "backends/meta/namespace.py": "functions of NumPy",
    "ts/_core/builtin_ops/properties.py": "operators on numbers, strings and containers, written in C: they have no record",
    "ts/_core/builtin_ops/op_index.py": "made from what modules written in C have, as are the directories of records and kernels",
    "ts/_core/tensor/tensor_conversion_methods.py": "attributes that are False of every tensor here",
    "ts/_core/tensor/layout.py": "methods and attributes of tensors by the names of their functions: the language",
    "ts/export/size_operations.py": "the table of the functions of numbers",
    "ts/utils/_device.py": "functions of the package whose default device a program sets, as in PyTorch: not all factories",
    "ts/export/torchscript_capture.py": "operators on lists and numbers, written in C: they have no record",
    "ts/frontend/ir_emitter/operators.py": "Python's operators: the language",
    "ts/frontend/sugared_values/python_objects.py": "functions of `math`, `cmath` and `builtins`: the language",
    "ts/frontend/sugared_values/sugared.py": "attributes of tensors in scripts: the language",
    "ts/fx/torch_function_forwarding.py": "arguments of functions that PyTorch has in Python, as it hands them on: the texts of graphs",
    "ts/fx/torch_names.py": "modules where PyTorch's functions stand: the texts of graphs",
    "ts/nn/functional/__init__.py": "where functions of `nn.functional` that are written in Python stand",
    "ts/nn/init.py": "names of nonlinearities, an argument of `calculate_gain`",
    "ts/nn/parameter.py": "attributes of parameters that have no memory yet",
}


def test_every_result_has_its_layout():
    """Every layout rule in a record exists, and each record has one rule per result or none."""
    for record in RECORDS:
        assert set(record.layout) <= set(result_strides.RULES), record.key
        assert len(record.layout) in (0, len(record.schema.returns)), record.key


def test_refusals_name_kinds_of_dtypes():
    for record in RECORDS:
        for kinds, message in (record.dtype_errors or {}).items():
            assert kinds and set(kinds) <= set("bihfcn") and message, record.key


def test_orders_name_overloads():
    """An overload order lists existing overloads, each once."""
    for name, order in registry._orders.items():
        overloads = {operator.overload or "-" for operator in registry.lookup(name)}
        listed = order.split()
        assert len(set(listed)) == len(listed) and set(listed) <= overloads, name


def test_orders_are_needed():
    """An overload order differs from the declaration order; otherwise it is redundant."""
    for name, order in registry._orders.items():
        declared = [r.overload or "-" for r in registry.records(name)]
        declared += [o.overload or "-" for o in prims.named(name)]
        assert declared != [operator.overload or "-" for operator in registry.lookup(name)], name


def test_aliases_refer_to_an_operator():
    """`same_as` refers to an operator that is not an alias."""
    for record in RECORDS:
        if record.same_as:
            assert registry.records(record.same_as) and registry.canonical(record.same_as) == record.same_as, record.key
    assert registry.canonical("aten::absolute_") == "aten::abs_"
    assert registry.canonical("aten::abs") == "aten::abs"


def test_aliases_have_no_own_rules():
    """An alias has the derivative and the batching rule of the operator that it is an alias of."""
    own = set(formula_registry.all_derivatives()) | {f"aten::{key}" for key in rule_registry.all_rules()}
    aliases = {record.key for record in RECORDS if record.same_as and not record.variant}
    assert own & aliases == {"aten::swapaxes"}  # its batching rule reads arguments with other names


def test_operator_flags_override_kernel_facts():
    """`facts` apply to all records of a kernel unless `op` overrides them."""
    conv2d, conv3d = registry.find("aten::conv2d"), registry.find("aten::conv3d")
    assert conv2d.kernel is conv3d.kernel and conv2d.layout == conv3d.layout == ("any_channels",)
    assert conv2d.dtype_errors != conv3d.dtype_errors


@pytest.mark.parametrize("kernel, record", [
    (np.add, registry.find("aten::add.Tensor")),
    (lambda a: a, registry.find("aten::embedding_renorm_")),
])  # fmt: skip
def test_kernels_with_rejected_arguments_are_guarded(kernel, record):
    assert (record.guarded(kernel) is kernel) == (record.dtype_errors is None)


@pytest.mark.parametrize("name, arguments", [
    ("select_copy", (0, 0)), ("slice_copy", ()), ("detach_copy", ()), ("t_copy", ()), ("view_copy", ([4],)),
    ("view_as_complex_copy", ()),
])  # fmt: skip
def test_copies_reject_outputs_of_another_dtype(name, arguments):
    with pytest.raises(RuntimeError, match=r"Expected out tensor to have dtype .*, but got long int instead"):
        getattr(ts, name)(ts.ones(2, 2), *arguments, out=ts.empty(0, dtype=ts.int64))


@pytest.mark.parametrize("name, text", [
    ("erf", "\"erf_vml_cpu\" not implemented for 'ComplexFloat'"),
    ("special_ndtr", "\"erf_vml_cpu\" not implemented for 'ComplexFloat'"),
    ("ceil", "ceil is not supported for complex inputs"),
    ("sign", "Unlike NumPy, torch.sign is not intended to support complex numbers. Please use torch.sgn instead."),
    ("relu", "clamp is not supported for complex types"),
])  # fmt: skip
def test_errors_equal_pytorch(name, text):
    x = ts.ones(2, dtype=ts.complex64)
    function = getattr(ts.special, name.removeprefix("special_")) if name.startswith("special_") else getattr(ts, name)
    with pytest.raises(NotImplementedError) as refusal:
        function(x)
    assert str(refusal.value) == text


def test_dispatch_core_contains_no_operator_names():
    """The dispatch core contains no operator names; facts about operators are fields of the record."""
    for path in sorted((ROOT / "ts/_core/dispatch").glob("*.pyx")):
        named = [name for name in re.findall(r"aten::(\w+)", code_without_comments(path.read_text())) if name in NAMES]
        assert not named, f"{path.name} names {named}"


def code_without_comments(source):
    """Return the code of a module without docstrings and comments."""
    return re.sub(r'"""(?:.|\n)*?"""|#.*', "", source)


def test_filling_operators_have_a_factory():
    """The operator in `filled_like` has the arguments of the filling operator and the five factory
    arguments."""
    filling = [record for record in RECORDS if record.filled_like and record.variant == ""]
    assert {record.name for record in filling} == {"aten::fill", "aten::zero"}
    for record in filling:
        (like,) = registry.records(record.filled_like)[:1]
        assert len(like.schema.arguments) == len(record.schema.arguments) + 5


# ---- tables by operator name ---------------------------------------------------------------------------------


def _names():
    return {name.partition("::")[2] for name in (*registry.names(), *(o.name for o in prims.operators()))}


NAMES = _names()


def _operators(words):
    """Return the distinct operators in a list of words if they are more than 60 % of the words, else an empty
    set."""
    plain = [word.rpartition("::")[2].partition(".")[0] for word in words]
    results = [word for word in plain if word in NAMES]
    return set(results) if len(results) > 0.6 * len(plain) else set()


def lines_of_operator_tables(path):
    """Yield the line numbers of literals that list many operators."""
    text = path.read_text()
    if path.suffix == ".pyx":
        for group in re.finditer(r"[({\[][^(){}\[\]]*[)}\]]", text):
            words = [word for quoted in re.findall(r'"([^"\n]*)"', group.group()) for word in quoted.split()]
            if len(_operators(words)) >= MIN_TABLE_NAMES:
                yield text.count("\n", 0, group.start()) + 1
        return
    for node in ast.walk(ast.parse(text)):
        if isinstance(node, (ast.Dict, ast.Set, ast.Tuple, ast.List)):
            constants = [x.value for x in ast.walk(node) if isinstance(x, ast.Constant) and isinstance(x.value, str)]
            if len(_operators([word for constant in constants for word in constant.split()])) >= MIN_TABLE_NAMES:
                yield node.lineno


def _files():
    for folder in ("ts", "backends"):
        for path in sorted((ROOT / folder).rglob("*.py*")):
            path_text = str(path.relative_to(ROOT))
            families = path_text.startswith("ts/ops/") and path.stem in (*registry.FAMILIES, "op_index", "doc_data")
            if path.suffix in (".py", ".pyx") and not families and not path_text.startswith("backends/cpu/"):
                yield path_text


@pytest.mark.parametrize("path", list(_files()))
def test_no_table_by_operator_name(path):
    """Facts about operators are fields of their records, not tables by operator name; backends list their own
    kernels."""
    results = list(lines_of_operator_tables(ROOT / path))
    if path in EXCEPTIONS:
        assert results, f"{path} has no table of operators any more"
    else:
        assert not results, f"{path}, lines {results}: a table of operators; the fact belongs into their records"


# ---- constants with operator names ---------------------------------------------------------------------------

MIN_INLINE_NAMES = 2  # an inline literal with this number of names is a list

# Constants with names of operators, and the reason why they state no property of an operator on tensors. Rules
# of the rewriter, and dictionaries from operator to function, need no line here.
CONSTANTS = {
    "ts/_core/builtin_ops/properties.py": "properties of operators on numbers and containers, which have no record",
    "ts/bytecode/opcodes.py": "the operators of each opcode, which are the opcode table",
    "ts/export/size_operations.py": "Python functions of numbers and the operators that compile them",
    "ts/export/python_operators.py": "Python's operator symbols",
    "ts/frontend/ir_emitter/operators.py": "Python's operators",
    "ts/frontend/schema_matching.py": "implicit conversions of the language",
    "ts/frontend/sugared_values/python_objects.py": "Python's functions",
    "ts/ir/python_print.py": "Python's names of operators in PyTorch's archives",
    "ts/tracing/types.py": "conversions to the number types of the language",
}


def _names_in(node):
    """Return the operator names in a literal, except for rules and dictionaries from operator to function."""
    for inner in ast.walk(node):
        if isinstance(inner, ast.Call) and getattr(inner.func, "id", "") in ("Rule", "RuleSet"):
            return set()
        if isinstance(inner, ast.Dict):
            handled = [value for value in inner.values if not isinstance(value, (ast.Constant, ast.Tuple, ast.List))]
            if handled:
                return set()
    constants = [x.value for x in ast.walk(node) if isinstance(x, ast.Constant) and isinstance(x.value, str)]
    return {name for name in constants if re.fullmatch(r"aten::\w+(\.\w+)?", name)}


def constants_with_operator_names(path):
    """Yield the lines of constants and inline literals that list operator names."""
    tree = ast.parse(path.read_text())
    for scope in (x for x in ast.walk(tree) if isinstance(x, (ast.Module, ast.ClassDef))):
        for statement in scope.body:
            value = getattr(statement, "value", None) if isinstance(statement, (ast.Assign, ast.AnnAssign)) else None
            if value is not None and not isinstance(value, ast.Constant) and len(_names_in(value)) >= 2:
                yield statement.lineno
    for node in ast.walk(tree):
        if isinstance(node, (ast.Set, ast.Tuple, ast.List)) and len(_names_in(node)) >= MIN_INLINE_NAMES:
            yield node.lineno


@pytest.mark.parametrize("path", [p for p in _files() if p.startswith("ts/") and p.endswith(".py")])
def test_no_constant_with_operator_names(path):
    """Modules outside of `ts/ops` read properties of operators from records (`registry.field_by_name`)."""
    if path.startswith("ts/ops/"):
        return
    results = sorted(set(constants_with_operator_names(ROOT / path)))
    if not any(path.startswith(exception) for exception in CONSTANTS):
        assert not results, f"{path}, lines {results}: a constant with operator names; add a field of OperatorRecord"


@pytest.mark.parametrize("exception", CONSTANTS)
def test_exceptions_have_constants(exception):
    path = ROOT / exception
    files = [path] if path.is_file() else path.glob("*.py")
    assert any(list(constants_with_operator_names(file)) for file in files), f"{exception} needs no exception"
