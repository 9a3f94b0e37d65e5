"""Conversion of hyperparameters (one number, or one number per dimension) to tuples.

The functions have the names of private functions in PyTorch.

>>> _pair(3), _triple([1, 2, 3]), _reverse_repeat_tuple((1, 2), 2)
((3, 3), (1, 2, 3), (2, 2, 1, 1))
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

from ts.nn.modules.ntuple import to_ntuple

__all__ = ["consume_prefix_in_state_dict_if_present"]


def _ntuple(n: int, name: str = "parse") -> Callable[[Any], tuple[Any, ...]]:
    """Return a function that converts a number to a tuple of `n` equal numbers."""

    def parse(x: Any) -> tuple[Any, ...]:
        return to_ntuple(x, n)

    parse.__name__ = name
    return parse


_single = _ntuple(1, "_single")
_pair = _ntuple(2, "_pair")
_triple = _ntuple(3, "_triple")
_quadruple = _ntuple(4, "_quadruple")


def _reverse_repeat_tuple(t: Sequence[Any], n: int) -> tuple[Any, ...]:
    """Return the elements of `t` in reverse order, each repeated `n` times, as the padding of `F.pad`."""
    return tuple(x for x in reversed(t) for _ in range(n))


def _list_with_default(out_size: Sequence[int | None], defaults: Sequence[int]) -> list[int]:
    """Replace None in `out_size` by sizes from `defaults`, which is aligned with `out_size` at the end.

    For example, `out_size` [None, 5] and `defaults` [2, 3, 4] give [3, 5].
    """
    if isinstance(out_size, int):
        return [out_size]
    if len(defaults) <= len(out_size):
        raise ValueError(f"Input dimension should be at least {len(out_size) + 1}")
    last = defaults[-len(out_size) :]
    return [
        requested if requested is not None else size for requested, size in zip(out_size, last, strict=True)
    ]


def consume_prefix_in_state_dict_if_present(state_dict: dict[str, Any], prefix: str) -> None:
    """Remove a prefix such as "module." (of a DataParallel) from the names in a state dict, in place."""
    for key in list(state_dict):
        if key.startswith(prefix):
            state_dict[key[len(prefix) :]] = state_dict.pop(key)
    metadata: dict[str, Any] = getattr(state_dict, "_metadata", {})
    for key in list(metadata):
        if key in (prefix[:-1], prefix) or key.startswith(prefix):
            metadata[key[len(prefix) :]] = metadata.pop(key)
