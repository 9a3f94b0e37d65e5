"""Checks of the functions that higher-order operators call, with PyTorch's error messages.

Input: the `SubgraphResult` of a function. Output: an error if the operator does not support the function.

An export obtains the `SubgraphResult` by recording the function. Eager code obtains it by evaluating the
function on meta tensors.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, NamedTuple

from ts._core.tensor.sym_types import SymInt
from ts._core.tensor.tensor import Tensor
from ts._higher_order_ops.aliases import Aliases
from ts._higher_order_ops.side_effect_detection import SideEffectSnapshot
from ts.errors import TorchRuntimeError, UncapturedHigherOrderOpError

OPERATOR_TITLES = {
    "cond": "torch.cond",
    "while_loop": "torch.while_loop",
    "map_impl": "torch.ops.higher_order.map_impl",
    "scan": "torch.ops.higher_order.scan",
    "associative_scan": "torch.ops.higher_order.associative_scan",
}
_UNCAPTURED = (
    "This higher order operator doesn't work unless it is captured completely with torch.compile. "
    "Got graph break/error:\n\n"
)


class SubgraphResult(NamedTuple):
    """Result of a function evaluated on meta tensors.

    leaves   flattened results: tensors and numbers
    spec     tree structure of the results
    outside  tensors that the function did not create: arguments and captured tensors
    aliases  record of the tensors that share memory or were written
    """

    leaves: list[Any]
    spec: Any
    outside: Sequence[Tensor]
    aliases: Aliases


def uncaptured_error(
    operator: str, title: str, explanation: str, hint: str = ""
) -> UncapturedHigherOrderOpError:
    """Return PyTorch's error for a function that `operator` does not support.

    `title`, `explanation` (the reason) and `hint` are parts of its text.
    """
    name = OPERATOR_TITLES[operator]
    message = f"{_UNCAPTURED}{title}\n  Higher Order Operator: {name}\n  Explanation: {explanation}"
    return UncapturedHigherOrderOpError(message + (f"\n  Hint: {hint}" if hint else ""))


def failed(operator: str, operands: str, error: Exception) -> TorchRuntimeError:
    """Return PyTorch's error for a call of `operator` that raised `error`.

    `operands` is the text of its operands.
    """
    return TorchRuntimeError(
        "RuntimeError when making fake tensor call\n"
        "  Explanation: Dynamo failed to run FX node with fake tensors: "
        f"call_function {operator}(*({operands}), **{{}}): got {error!r}"
    )


def format_meta(x: Any) -> str:
    """Format a meta tensor for messages."""
    if not isinstance(x, Tensor):
        return str(x)
    sizes = f"({', '.join(map(str, x.shape))}{',' if x.ndim == 1 else ''})"
    dtype = "" if str(x.dtype) == "torch.float32" else f", dtype={x.dtype}"
    return f"FakeTensor(..., size={sizes}{dtype})"


@contextmanager
def no_side_effects(operator: str, functions: Iterable[Any]) -> Iterator[None]:
    """Context manager that raises an error if `functions` modify objects in its block.

    The objects are first restored.
    """
    snapshot = SideEffectSnapshot(functions)
    try:
        yield
    finally:
        changed = snapshot.restore()
    if changed:
        raise uncaptured_error(
            operator,
            "HOP: Unsafe side effect",
            "Mutating a variable from outside the scope of this HOP is not supported.",
        )


def check_call(operator: str, function: Any, args: Iterable[Any]) -> None:
    """Raise UncapturedHigherOrderOpError if a function does not accept the arguments."""
    arguments = list(args)
    try:
        inspect.signature(function).bind(*arguments)
    except TypeError:
        raise uncaptured_error(
            operator,
            "failed to bind arguments when attempting to inline",
            f"Argument mismatch when attempting to trace function {getattr(function, '__name__', function)}.",
        ) from None
    except ValueError:  # `inspect` cannot determine the signature of some functions written in C
        return


def check_memory(operator: str, subgraph: SubgraphResult, writable: Callable[[Tensor], bool]) -> None:
    """Raise UncapturedHigherOrderOpError for an unsupported use of memory by a function.

    A function must not return memory of outside tensors, or return the same memory twice. It may write to an
    outside tensor only if `writable` returns True for it.
    """
    aliases = subgraph.aliases
    roots = {aliases.root(x) for x in subgraph.outside}
    if any(aliases.root(x) in aliases.written and not writable(x) for x in subgraph.outside):
        raise uncaptured_error(
            operator,
            "Encountered input mutation during higher order op tracing",
            "Higher order ops do not support input mutation. Found in torch.ops.higher_order." + operator,
        )
    for kind in ("Input-to-output", "Output-to-output"):
        seen = set(roots) if kind == "Input-to-output" else set()
        for x in subgraph.leaves:
            if not isinstance(x, Tensor):
                continue
            if aliases.root(x) in seen:
                raise uncaptured_error(
                    operator,
                    "Encountered aliasing during higher order op tracing",
                    "Higher order ops do not support aliasing. Found in torch.ops.higher_order." + operator,
                    "Replace `return input` with `return input.clone()` to avoid aliasing.",
                )
            if kind == "Output-to-output":
                seen.add(aliases.root(x))


def check_numbers(operator: str, leaves: Iterable[Any]) -> None:
    """Raise UncapturedHigherOrderOpError for results other than tensors, ints and None."""
    for x in leaves:
        if not isinstance(x, Tensor | int | SymInt | None):
            raise uncaptured_error(
                operator,
                "HOP body output unsupported",
                "HigherOrderOperator body's output must consist of tensors or ints/bools only but got "
                f"{type(x)}.",
            )


def check_same(
    operator: str, left: Sequence[Any], right: Sequence[Any], left_name: str, right_name: str
) -> None:
    """Raise UncapturedHigherOrderOpError if `left` and `right` differ in length, or in shapes or dtypes."""
    end = f"\n  Higher Order Operator: {OPERATOR_TITLES[operator]}"
    if len(left) != len(right):
        raise UncapturedHigherOrderOpError(
            f"Expected {left_name} and {right_name} to have same number of outputs but got "
            f"lhs:[{', '.join(map(format_meta, left))}] and rhs:[{', '.join(map(format_meta, right))}]{end}"
        )
    differences = []
    for i, (a, b) in enumerate(zip(left, right, strict=True)):
        if isinstance(a, Tensor) and isinstance(b, Tensor):
            field_differences = [
                f"{property_name}: {x} vs {y}"
                for property_name, x, y in (("shape", a.shape, b.shape), ("dtype", a.dtype, b.dtype))
                if (not _same_sizes(x, y) if property_name == "shape" else x is not y)
            ]
            if field_differences:
                differences.append((i, repr(", ".join(field_differences)), a, b))
        elif isinstance(a, Tensor) or isinstance(b, Tensor):
            differences.append((i, repr(f"type: {format_meta(a)} vs {format_meta(b)}"), a, b))
    if differences:
        raise UncapturedHigherOrderOpError(
            f"Expected {left_name} and {right_name} to have same metadata but found:\n"
            + "\n".join(
                f"pair[{i}] differ in {property_name}, where lhs is {format_meta(a)} and rhs is "
                f"{format_meta(b)}"
                for i, property_name, a, b in differences
            )
            + end
        )


def _same_sizes(a: Any, b: Any) -> bool:
    return len(a) == len(b) and all(is_provably_equal(n, m) for n, m in zip(a, b, strict=True))


def is_provably_equal(n: Any, m: Any) -> bool:
    """Return True if two sizes are known to be equal."""
    if isinstance(n, SymInt):
        return bool(n.node.is_provably_equal(m))
    return bool(m.node.is_provably_equal(n)) if isinstance(m, SymInt) else n == m
