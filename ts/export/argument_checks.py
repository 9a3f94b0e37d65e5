"""Argument validation (input checks) of an exported program.

A wrong argument raises a RuntimeError with its location, for example `*args[0].shape[1]`.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from ts._core.tensor.tensor import Tensor
from ts.export.dim import to_int_bound
from ts.export.program import ExportedProgram
from ts.export.signature import InputKind
from ts.utils import _pytree as pytree


def check_arguments(program: ExportedProgram, leaves: Sequence[Any]) -> None:
    """Raise RuntimeError if `leaves` (flattened arguments) do not match the program's metadata.

    Raise AssertionError if `leaves` violate a guard of the program.
    """
    specs = program.graph_signature.input_specs
    nodes = [n for n in program.graph.nodes if n.op == "placeholder"]
    users = [n for n, s in zip(nodes, specs, strict=True) if s.kind is InputKind.USER_INPUT]
    example = pytree.tree_unflatten(leaves, program.call_spec.in_spec)
    paths = [path for path, _ in pytree.tree_flatten_with_path(example)[0]]
    for x, node, path in zip(leaves, users, paths, strict=True):
        _check_leaf(x, node.meta.get("val"), _format_location(path), program.range_constraints)
    for guard in program._guards:
        guard(leaves)


def _format_location(path: Sequence[Any]) -> str:
    """Format the pytree path of an argument leaf, such as `*args[0]` or `mask['a']`."""
    kind, first, *rest = path
    return (f"*args[{first.idx}]" if kind.idx == 0 else str(first.key)) + pytree.keystr(tuple(rest))


def _check_leaf(x: Any, value: Any, path: str, ranges: Any) -> None:
    if not isinstance(value, Tensor):
        if not hasattr(value, "node") and (type(x) is not type(value) or x != value):
            raise RuntimeError(f"Expected input at '{path}' to be equal to {value}, but got {x}")
        return
    if not isinstance(x, Tensor):
        raise RuntimeError(f"Expected input at {path} to be a tensor, but got {type(x)}")
    sizes = list(value.array.shape)
    if x.ndim != len(sizes):
        expected = f"torch.Size([{', '.join(map(str, sizes))}])"
        raise RuntimeError(
            f"Unexpected number of dimensions in input at {path}.shape (expected {expected}, got {x.shape})"
        )
    for dim, (n, size) in enumerate(zip(x.shape, sizes, strict=True)):
        if isinstance(size, int):
            if n != size:
                raise RuntimeError(
                    f"Expected input at {path}.shape[{dim}] to be equal to {size}, but got {n}. If you "
                    "meant for this dimension to be dynamic, please re-export and specify dynamic_shapes "
                    "(e.g. with Dim.DYNAMIC)"
                )
            continue
        range = ranges.get(size.node.expr)
        low, high = (None, None) if range is None else (to_int_bound(range.lower), to_int_bound(range.upper))
        if low is not None and low > 2 and n < low:
            raise RuntimeError(f"Expected input at {path}.shape[{dim}] to be >= {low}, but got {n}")
        if high is not None and n > high:
            raise RuntimeError(f"Expected input at {path}.shape[{dim}] to be <= {high}, but got {n}")
