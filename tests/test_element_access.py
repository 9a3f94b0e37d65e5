"""Python code reaches elements of tensors by operators. Only the modules listed here access the arrays of tensors."""

import ast
from pathlib import Path

import numpy as np
import pytest

import ts

ROOT = Path(__file__).resolve().parents[1]

# attributes of arrays that do not depend on elements
METADATA = {"shape", "ndim", "size", "dtype", "strides", "flags", "itemsize", "nbytes", "layout_name"}

# Module of `ts/_core` -> reason why it accesses arrays
MODULES = {
    "dispatch_layers/dual_tensor.py": "replaces the array of a tensor whose operand was written",
    "dispatch_layers/tensor_subclasses.py": "creates instances of subclasses that share the array",
    "tensor/conversions.py": "implements conversions between dtypes and devices",
    "tensor/factories.py": "pins memory",
    "tensor/interop.py": "shares memory with NumPy and other libraries",
    "tensor/layout.py": "implements storages and strided views of them",
    "tensor/printing.py": "formats elements in NumPy",
    "tensor/sharing.py": "moves elements to shared memory",
    "tensor/storage.py": "implements storages",
}


def accesses_of(path: Path) -> list[int]:
    """Return the lines that read the attribute `array` of a value other than a module, except for its metadata."""
    tree = ast.parse(path.read_text())
    parents = {child: node for node in ast.walk(tree) for child in ast.iter_child_nodes(node)}
    lines = []
    for node in ast.walk(tree):
        if not isinstance(node, ast.Attribute) or node.attr != "array":
            continue
        if isinstance(node.value, ast.Name) and node.value.id in {"np", "numpy", "xp"}:
            continue
        parent = parents[node]
        if not (isinstance(parent, ast.Attribute) and parent.attr in METADATA):
            lines.append(node.lineno)
    return lines


def test_modules_that_access_arrays():
    """Each module of `ts/_core` that accesses arrays is listed, and each listed module does."""
    core = ROOT / "ts/_core"
    found = {str(path.relative_to(core)) for path in sorted(core.rglob("*.py")) if accesses_of(path)}
    assert found == set(MODULES)


@pytest.mark.parametrize(
    "access", [lambda x: float(x.array[0]), lambda x: np.asarray(x.array + 1), lambda x: x.array.tolist()]
)
def test_batched_and_dual_tensors_have_no_elements(access):
    """A direct read of the elements of a batched or dual tensor raises an error, since its array has no elements."""

    def under_transform(x):
        with pytest.raises((RuntimeError, NotImplementedError, AttributeError)):
            access(x)
        return x * 2

    ts.func.vmap(under_transform)(ts.ones(3, 2))
    ts.func.jvp(under_transform, (ts.ones(1),), (ts.ones(1),))
