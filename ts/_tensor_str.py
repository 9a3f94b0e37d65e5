"""PyTorch's private module for formatting tensors, with the helpers that other packages use.

Example of two helpers:

>>> _tensor_str(ts.ones(2), 0), _add_suffixes("tensor(1", ["a=1"], 0, False)
('[1., 1.]', 'tensor(1, a=1)')
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import asdict
from typing import Any

from ts._core.tensor.printing import OPTIONS as PRINT_OPTS
from ts._core.tensor.printing import elements_text, set_printoptions, tensor_text, with_suffixes
from ts._core.tensor.tensor import Tensor
from ts.unsupported import names_for

__all__ = ["PRINT_OPTS", "get_printoptions", "printoptions", "set_printoptions"]
__getattr__ = names_for(__name__)


def get_printoptions() -> dict[str, Any]:
    """Return the print options as a dictionary."""
    return asdict(PRINT_OPTS)


@contextmanager
def printoptions(**kwargs: Any) -> Iterator[None]:
    """Change print options during a `with` block."""
    before = get_printoptions()
    set_printoptions(**kwargs)
    try:
        yield
    finally:
        set_printoptions(**before)


def _tensor_str(self: Tensor, indent: int) -> str:
    """Return the formatted elements of a tensor."""
    return elements_text(self, indent)


def _str_intern(inp: Tensor, *, tensor_contents: str | None = None) -> str:
    """Return the `repr` of a tensor."""
    return tensor_text(inp)


def _str(self: Tensor, *, tensor_contents: str | None = None) -> str:
    """Return the `repr` of a tensor."""
    return tensor_text(self)


def _add_suffixes(tensor_str: str, suffixes: list[str], indent: int, force_newline: bool) -> str:
    """Append suffixes, on new lines if the line becomes too long, and a closing parenthesis."""
    return with_suffixes(tensor_str, suffixes, indent, first_on_new_line=force_newline)
